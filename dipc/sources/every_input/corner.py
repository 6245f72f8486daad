"""Corners: inputs at which several facets are met at once, as a function of the distance alpha."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dipc.linear.halfspace import Halfspace, equation
from dipc.linear.program import Infeasible, Least, Unbounded, minimum, solution
from dipc.sources.every_input.halfspaces import ALPHA, Moving

_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class Corner:
    """The input u(alpha) = base + alpha·slope, a value for every real input by slot."""

    base: Mapping[int, Fraction]
    slope: Mapping[int, Fraction]

    def at(self, alpha: Fraction) -> dict[int, Fraction]:
        return {slot: value + alpha * self.slope[slot] for slot, value in self.base.items()}


def corner(
    facets: Sequence[Moving], tight: Iterable[int], slots: Sequence[int], alpha: Fraction | None
) -> Corner | None:
    """An input behind all facets at which every facet of `tight` is met: form = alpha·step.

    With a number `alpha` it is so at this alpha (and the slope is 0); with None at every alpha >= 0. None where no such
    input was found: then there is none, but for an alpha left open, where one that is not linear in alpha may exist.
    """
    met = sorted(set(tight))
    found = _eliminated(facets, met, slots, alpha)
    if found is not None and _behind(facets, met, found, alpha):
        return found
    found = _solved(facets, met, slots, alpha)
    return found if found is not None and _behind(facets, met, found, alpha) else None


def _behind(facets: Sequence[Moving], met: Sequence[int], found: Corner, alpha: Fraction | None) -> bool:
    """Whether u(alpha) is where it should be: for every alpha >= 0, form(u(alpha)) - alpha·step is linear in alpha, and
    not negative if neither its value at 0 nor its slope is."""
    tight = set(met)
    for k, facet in enumerate(facets):
        start = facet.form.at(found.base)
        rise = sum((c * found.slope[slot] for slot, c in facet.form.inputs), _ZERO) - facet.step
        if alpha is not None:
            start, rise = start + alpha * rise, _ZERO
        if start < 0 or rise < 0 or (k in tight and (start or rise)):
            return False
    return True


def _eliminated(
    facets: Sequence[Moving], met: Sequence[int], slots: Sequence[int], alpha: Fraction | None
) -> Corner | None:
    """The solution of the equations in which the inputs that they leave free are 0; None where there is none."""
    # Each row: coefficients by slot, and the right side as (constant, multiple of alpha).
    solved: dict[int, tuple[dict[int, Fraction], Fraction, Fraction]] = {}
    for k in met:
        facet = facets[k]
        coefficients = dict(facet.form.inputs)
        constant, multiple = -facet.form.constant, facet.step
        if alpha is not None:
            constant, multiple = constant + alpha * multiple, _ZERO
        for slot in list(coefficients):
            if slot in solved and slot in coefficients:
                factor = coefficients[slot]
                row, row_constant, row_multiple = solved[slot]
                _subtract(coefficients, row, factor)
                constant -= factor * row_constant
                multiple -= factor * row_multiple
        if not coefficients:
            if constant or multiple:
                return None
            continue
        pivot, scale = next(iter(coefficients.items()))
        row = {slot: c / scale for slot, c in coefficients.items()}
        constant, multiple = constant / scale, multiple / scale
        for other, (others, other_constant, other_multiple) in list(solved.items()):
            if pivot in others:
                factor = others[pivot]
                _subtract(others, row, factor)
                solved[other] = (others, other_constant - factor * constant, other_multiple - factor * multiple)
        solved[pivot] = (row, constant, multiple)
    base = {slot: solved[slot][1] if slot in solved else _ZERO for slot in slots}
    slope = {slot: solved[slot][2] if slot in solved else _ZERO for slot in slots}
    return Corner(base, slope)


def _subtract(target: dict[int, Fraction], row: Mapping[int, Fraction], factor: Fraction) -> None:
    for slot, c in row.items():
        left = target.get(slot, _ZERO) - factor * c
        if left:
            target[slot] = left
        else:
            target.pop(slot, None)


def _solved(
    facets: Sequence[Moving], met: Sequence[int], slots: Sequence[int], alpha: Fraction | None
) -> Corner | None:
    """A corner by linear programming, over base and slope together."""
    tight = set(met)
    starts: list[Halfspace] = []
    rises: list[Halfspace] = []
    for k, facet in enumerate(facets):
        start = facet.form.constant - (_ZERO if alpha is None else alpha * facet.step)
        for system, constant in ((starts, start), (rises, -facet.step)):
            half = Halfspace(facet.form.inputs, constant)
            system += equation(half.coefficients, constant) if k in tight else [half]
    base = solution(starts, slots)
    slope = dict.fromkeys(slots, _ZERO) if alpha is not None else solution(rises, slots)
    if isinstance(base, Infeasible) or isinstance(slope, Infeasible):
        return None
    return Corner(base, slope)


def least(
    form_facets: Sequence[Moving], form: Moving, slots: Sequence[int], alpha: Fraction
) -> dict[int, Fraction] | None:
    """An input behind all facets at this alpha where `form` is least, or any if it falls without bound there; None
    where there is none."""
    match minimum(form.at(_ZERO), [facet.at(alpha) for facet in form_facets], slots):
        case Infeasible():
            return None
        case Least(_, point, _) | Unbounded(point, _):
            return dict(point)


@dataclass(frozen=True, slots=True)
class Ceiling:
    """alpha is at most this for every input behind some half-spaces: the sum of these weights times their forms is a
    constant (Farkas)."""

    alpha: Fraction
    weights: tuple[tuple[int, Fraction], ...]


def greatest_alpha(facets: Sequence[Moving]) -> Ceiling | None:
    """The greatest alpha at which some input is behind all facets; None where it grows without bound, or where no input
    is behind them at any alpha.

    The number is proved to be an upper bound, by weights on the facets. Below 0: no input is behind the facets at all.
    """
    found = minimum(Halfspace(((ALPHA, -_ONE),), _ZERO), [facet.halfspace for facet in facets])
    if not isinstance(found, Least):
        return None
    return Ceiling(-found.value, tuple(sorted((k, weight) for k, weight in found.weights.items() if weight)))
