"""How far an input inside a convex region is from the inputs outside it, in the largest-difference distance (linf)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import floor

from dipc.chain.constraints import Constraint
from dipc.sources.symmetry.blocks import Position

_ZERO = Fraction(0)


def escape(
    guards: Sequence[Constraint], inputs: Mapping[int, Fraction], positions: Mapping[int, Position]
) -> Fraction | None:
    """inf { max_i |u_i - w_i| : w violates some guard }, over all w whose values lie in the declared domains; None for
    infinity. `inputs` is u, which satisfies all guards.

    With the guards of the only region where det gives some constant answer, this is dd(u).

    What lies outside a conjunction is the union of what lies outside each guard, so it is the least of the distances
    to them; redundant guards change nothing. Raises ValueError where one guard mixes int inputs with others.
    """
    found = [_beyond(guard, inputs, positions) for guard in guards]
    finite = [radius for radius in found if radius is not None]
    return min(finite, default=None)


def _beyond(guard: Constraint, inputs: Mapping[int, Fraction], positions: Mapping[int, Position]) -> Fraction | None:
    """The distance to where the guard is violated: to where form < 0, or form <= 0 if the guard is strict."""
    terms = guard.form.inputs
    slack = guard.form.at(inputs)
    kinds = {_kind(positions[slot]) for slot, _ in terms}
    if not terms:
        return None
    if kinds == {"real"}:
        return slack / sum(abs(coefficient) for _, coefficient in terms)
    if kinds == {"int"}:
        # At radius r the form can be as small as slack - r·Σ|coefficient|, and r is an integer.
        steps = slack / sum(abs(coefficient) for _, coefficient in terms)
        whole = floor(steps)
        return Fraction(whole if guard.strict and steps == whole else whole + 1)
    if "int" in kinds:
        raise ValueError("int inputs and others in one comparison")
    return _stepwise(guard, slack, inputs, positions)


def _kind(position: Position) -> str:
    if position.domain is not None:
        return "listed"
    return "int" if position.any_integer else "real"


def _stepwise(
    guard: Constraint, slack: Fraction, inputs: Mapping[int, Fraction], positions: Mapping[int, Position]
) -> Fraction | None:
    """The same where some inputs have listed domains: these help in steps, real inputs continuously."""
    slope = sum(
        (abs(coefficient) for slot, coefficient in guard.form.inputs if positions[slot].domain is None), start=_ZERO
    )
    gains: dict[Fraction, Fraction] = {_ZERO: _ZERO}
    for slot, coefficient in guard.form.inputs:
        for radius, gain in _gains(coefficient, inputs[slot], positions[slot].domain or ()):
            gains[radius] = gains.get(radius, _ZERO) + gain
    level = slack
    steps = sorted(gains)
    for at, radius in enumerate(steps):
        level -= gains[radius]
        reached = level - slope * radius
        if reached < 0 or (reached == 0 and (guard.strict or slope)):
            return radius
        following = steps[at + 1] if at + 1 < len(steps) else None
        if slope and (following is None or level / slope < following):
            return level / slope
    return None


def _gains(coefficient: Fraction, value: Fraction, domain: Sequence[Fraction]) -> list[tuple[Fraction, Fraction]]:
    """(radius, by how much the term can fall further there), radii increasing."""
    found: list[tuple[Fraction, Fraction]] = []
    so_far = _ZERO
    for other in sorted(domain, key=lambda other: abs(other - value)):
        fall = coefficient * (value - other)
        if fall > so_far:
            found.append((abs(other - value), fall - so_far))
            so_far = fall
    return found
