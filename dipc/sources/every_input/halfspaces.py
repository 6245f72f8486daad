"""Half-spaces of inputs that move with a distance, and what they imply of linear forms.

A `Moving` half-space is { u : form(u) >= alpha·step }: a wall of a class of inputs that retreats as the distance to
disagreement alpha grows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dipc.chain.affine import Affine, combination

_ZERO = Fraction(0)
_ONE = Fraction(1)

#: Milliseconds for one linear program.
_PATIENCE = 10_000


@dataclass(frozen=True, slots=True)
class Moving:
    """form(u) >= alpha·step, where `form` is about inputs alone and step >= 0."""

    form: Affine
    step: Fraction


@dataclass(frozen=True, slots=True)
class Bound:
    """What `walls` imply of a form: form(u) >= base + alpha·slope for every alpha >= 0 and every u behind all walls.

    `weights` is the proof: form = base + Σ weight · walls[k].form with weights > 0, and slope is the same sum of the
    steps.
    """

    base: Fraction
    slope: Fraction
    weights: tuple[tuple[int, Fraction], ...]

    def at(self, alpha: Fraction) -> Fraction:
        return self.base + alpha * self.slope


def bound_of(form: Affine, walls: Sequence[Moving], weights: Sequence[tuple[int, Fraction]]) -> Bound | None:
    """The bound that these weights prove (Farkas): None where Σ weight·wall differs from `form` by more than a
    constant, or where a weight is negative.

    Σ weight·walls[k].form(u) >= alpha · Σ weight·walls[k].step holds because each summand does; the rest is the base.
    """
    used = [(k, weight) for k, weight in weights if weight]
    if any(weight < 0 for _, weight in used):
        return None
    rest = combination([(_ONE, form), *((-weight, walls[k].form) for k, weight in used)], _ZERO)
    if not rest.is_number:
        return None
    slope = sum((weight * walls[k].step for k, weight in used), _ZERO)
    return Bound(rest.constant, slope, tuple(used))


def single_bound(form: Affine, walls: Sequence[Moving], alpha: Fraction | None) -> Bound | None:
    """The best bound that one wall alone proves, None where none does; see `best_bound` for what is best."""
    if not form.inputs:
        return Bound(form.constant, _ZERO, ())
    slots = tuple([slot for slot, _ in form.inputs])
    found: Bound | None = None
    for k, wall in enumerate(walls):
        if len(wall.form.inputs) != len(slots) or wall.form.inputs[0][0] != slots[0]:
            continue
        weight = form.inputs[0][1] / wall.form.inputs[0][1]
        bound = bound_of(form, walls, [(k, weight)])
        if bound is not None and (found is None or _rank(bound, alpha) > _rank(found, alpha)):
            found = bound
    return found


def best_bound(form: Affine, walls: Sequence[Moving], alpha: Fraction | None) -> Bound | None:
    """The best bound that the walls prove, None where the form is not bounded below behind them.

    With a number `alpha` the best is the greatest at that alpha (and then the least of the form there is, by the
    duality of linear programs, if some input lies behind the walls). With None it is the steepest of those with
    base >= 0, else the one with the greatest base. The solver only proposes the weights: the bound is computed from
    them exactly, so that a wrong proposal costs sharpness, never truth.
    """
    if not form.inputs:
        return Bound(form.constant, _ZERO, ())
    signs = {(slot, c > 0) for wall in walls for slot, c in wall.form.inputs}
    if any((slot, c > 0) not in signs for slot, c in form.inputs):
        return None  # no wall pulls this input that way
    if alpha is not None:
        return _solved(form, walls, lambda base, slope: [base + alpha * slope])
    steepest = _solved(form, walls, lambda base, slope: [slope, base], nonnegative_base=True)
    return steepest if steepest is not None else _solved(form, walls, lambda base, slope: [base, slope])


def _rank(bound: Bound, alpha: Fraction | None) -> tuple[bool, Fraction, Fraction]:
    if alpha is not None:
        return True, bound.at(alpha), _ZERO
    return bound.base >= 0, bound.slope if bound.base >= 0 else bound.base, bound.base


def _solved(form: Affine, walls: Sequence[Moving], goals: Any, nonnegative_base: bool = False) -> Bound | None:
    """Weights by linear programming, for the goals in lexicographic order."""
    import z3

    weights = [z3.Real(f"w{k}") for k in range(len(walls))]
    optimizer = patient(z3.Optimize())
    optimizer.add(*(weight >= 0 for weight in weights))
    wanted = dict(form.inputs)
    sums: dict[int, list[Any]] = {slot: [] for slot in wanted}
    for weight, wall in zip(weights, walls, strict=True):
        for slot, coefficient in wall.form.inputs:
            sums.setdefault(slot, []).append(weight * number(coefficient))
    for slot, terms in sums.items():
        optimizer.add(z3.Sum(terms) == number(wanted.get(slot, _ZERO)) if terms else z3.BoolVal(False))
    base = number(form.constant) - z3.Sum(
        [number(_ZERO), *(w * number(wall.form.constant) for w, wall in zip(weights, walls, strict=True))]
    )
    slope = z3.Sum([number(_ZERO), *(w * number(wall.step) for w, wall in zip(weights, walls, strict=True))])
    if nonnegative_base:
        optimizer.add(base >= 0)
    for goal in goals(base, slope):
        optimizer.maximize(goal)
    if optimizer.check() != z3.sat:
        return None
    model = optimizer.model()
    return bound_of(form, walls, [(k, rational(model.eval(w, True))) for k, w in enumerate(weights)])


def patient(solver: Any) -> Any:
    """The solver, which gives up after some seconds: what it then does not propose is not used."""
    solver.set("timeout", _PATIENCE)
    return solver


def number(value: Fraction) -> Any:
    """A rational as a term of the solver."""
    import z3

    return z3.Q(value.numerator, value.denominator)


def rational(value: Any) -> Fraction:
    """The rational that a term of the solver is."""
    return Fraction(value.as_string())
