"""Classes that are not convex at a distance: covered by convex ones, a choice of facets of the other answers' regions.

If dd(u) >= alpha, every region with another answer is at least alpha away from u. By the duality of linear programs the
distance of u from Q = { a_j·v >= b_j } is the greatest Σ λ_j·(b_j - a_j·u) of all λ >= 0 for which Σ λ_j·a_j has the
dual norm at most 1, and is attained at one of finitely many of these. So u is behind at least one moving facet
-Σ λ_j·side_j(u) >= alpha·width of each such region, and the class is covered by the convex sets that one facet of each
leaves. For a box in the norm linf, and a half-space in any, the facets are their own sides.

Over ints the least distance may be greater than this maximum. It is not for a box with integer ends, whose sides have
width 1, and from a half-space a·v >= b it is ceil((b - a·u)/w), so that b - a·u + w - 1 >= alpha·w. So it is from a
strip b <= a·v <= c in the norm linf, if every value between can be reached. Other regions are made narrower by w/2 on
each side: a real point of what is left has integers of the region within 1/2 (in the norm linf), so that u is at least
alpha - 1/2 away from what is left, if anything is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from math import comb, prod

from dipc.chain.affine import Affine, combination
from dipc.chain.constraints import Constraint, constraint
from dipc.chain.entailment import contradict, entails
from dipc.ideal.ideal import Region
from dipc.ideal.norm import Norm
from dipc.lang.ast import CompareOp
from dipc.linear.halfspace import Halfspace, equation
from dipc.linear.program import Infeasible, solution
from dipc.sources.every_input.facets import Metric
from dipc.sources.every_input.halfspaces import Moving

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The most convex sets that a class is covered by.
MOST_CHOICES = 64

#: The most systems of equations that are solved for the facets of one region.
_MOST_SYSTEMS = 400


def choices(
    region: Region, rivals: Sequence[Region], metric: Metric, *, slanted: bool = False
) -> tuple[tuple[Moving, ...], ...]:
    """Sets of facets: every u of the region with dd(u) >= alpha is behind all facets of one of them, if `rivals` are
    all regions with another answer. One empty set where nothing of the kind is known.

    Without `slanted` only rivals whose own sides are enough are looked at.
    """
    if metric.apart is not None or metric.norm is Norm.DISCRETE:
        return ((),)
    sides = [
        _weakest(region, found)
        for rival in rivals
        if (found := _sides(region, rival, metric.norm, slanted=slanted)) is not None
    ]
    if any(not side for side in sides):
        return ()
    if prod(map(len, sides)) > MOST_CHOICES:
        return ((),)
    return tuple(tuple(dict.fromkeys(choice)) for choice in product(*sides) if not contradict(_static(region, choice)))


def _sides(region: Region, rival: Region, norm: Norm, *, slanted: bool) -> list[Moving] | None:
    """The facets of which u is behind one, None where that is not known of the rival. Facets that no u of the region is
    behind are left out."""
    guards = [guard.form for guard in rival.guards]
    box = norm is Norm.LINF and all(len(form.inputs) == 1 for form in guards)
    whole = any(guard.whole for guard in rival.guards)
    strip = whole and norm is Norm.LINF and _is_strip(guards)
    if not box and not strip and len(guards) != 1:
        if not slanted or _systems(guards, norm) > _MOST_SYSTEMS:
            return None
        if whole:
            if norm is Norm.L1:
                return None
            guards = [_inner(guard) for guard in rival.guards]
            if contradict([constraint(form, CompareOp.GE) for form in guards]):
                return None
        guards += _slanted(tuple(guards), norm)
        if whole:
            moved = [(form, norm.steepness(form.inputs)) for form in guards if form.inputs]
            return _behind(region, [Moving((-form).shifted(width / 2), width) for form, width in moved])
    facets = [_side(form, norm.steepness(form.inputs), whole=whole) for form in guards if form.inputs]
    return _behind(region, facets)


def _inner(guard: Constraint) -> Affine:
    """The guard so that it holds of all inputs whose ints are within 1/2 of those where this form is not negative."""
    form = guard.form
    return form.shifted(-Norm.LINF.steepness(form.inputs) / 2) if guard.whole else form


def _behind(region: Region, facets: Sequence[Moving]) -> list[Moving]:
    """Those that some u of the region is behind."""
    return [facet for facet in dict.fromkeys(facets) if not contradict(_static(region, [facet]))]


def _weakest(region: Region, facets: Sequence[Moving]) -> list[Moving]:
    """Those that no other is implied by: whoever is behind one of the facets is behind one of these."""
    kept: list[Moving] = []
    for place, facet in enumerate(facets):
        others = [*kept, *facets[place + 1 :]]
        if not any(_implies(region, facet, other) for other in others):
            kept.append(facet)
    return kept


def _implies(region: Region, one: Moving, other: Moving) -> bool:
    """Whether every u of the region that is behind one facet is behind the other, at every distance."""
    more = other.form.scaled(1 / other.step) - one.form.scaled(1 / one.step)
    return more.constant >= 0 if more.is_number else entails(region.guards, constraint(more, CompareOp.GE))


def _is_strip(forms: Sequence[Affine]) -> bool:
    """Whether the forms say between which values one form of ints is, and steps of -1, 0 and 1 of all coordinates
    change that by every integer from -w to w: then k such steps change it by every one from -k·w to k·w."""
    if len({form.inputs for form in forms} | {(-form).inputs for form in forms}) > 2:
        return False
    reached = 0
    for size in sorted(abs(c) for _, c in forms[0].inputs):
        if size > 2 * reached + 1:
            return False
        reached += int(size)
    return True


def _side(form: Affine, width: Fraction, *, whole: bool) -> Moving:
    # In a box all widths are 1, those of reals, too.
    return Moving((-form).shifted(width - 1) if whole else -form, width)


def _systems(forms: Sequence[Affine], norm: Norm) -> int:
    places = len(_slots(forms))
    most = min(len(forms), places + 1)
    if norm is Norm.L1:
        return sum(comb(len(forms), k) * comb(places, k) * 2 ** (k - 1) for k in range(2, most + 1))
    return sum(comb(len(forms), k) * comb(places, k - 1) for k in range(2, most + 1))


def _slots(forms: Sequence[Affine]) -> list[int]:
    return sorted({slot for form in forms for slot, _ in form.inputs})


@lru_cache(maxsize=256)
def _slanted(forms: tuple[Affine, ...], norm: Norm) -> tuple[Affine, ...]:
    """The slanted facets of one region, which is the rival of many."""
    return tuple(_each_slanted(forms, norm))


def _each_slanted(forms: Sequence[Affine], norm: Norm) -> Iterator[Affine]:
    """Sums Σ λ·form of two forms or more for all λ > 0, up to a factor, that are corners of the λ of dual norm 1.

    For linf the dual norm is the sum of all |w_i|, w = Σ λ·a, so that in a corner with k forms all but one degree of
    freedom are coordinates w_i = 0; for l1 it is the greatest, and k of the |w_i| are equal to it.
    """
    slots = _slots(forms)
    for k in range(2, min(len(forms), len(slots) + 1) + 1):
        for chosen in combinations(forms, k):
            for rows in combinations(slots, k if norm is Norm.L1 else k - 1):
                for signs in product((_ONE, -_ONE), repeat=k - 1) if norm is Norm.L1 else ((),):
                    found = _weights(chosen, rows, (_ONE, *signs) if norm is Norm.L1 else None)
                    if found is not None:
                        total = combination(list(zip(found, chosen, strict=True)), _ZERO)
                        if total.inputs:
                            yield total


def _weights(chosen: Sequence[Affine], rows: Sequence[int], signs: Sequence[Fraction] | None) -> list[Fraction] | None:
    """λ > 0 with sum 1 and w_i = 0 in all rows, or, with `signs`, sign_i·w_i the same in all rows; None if there is
    none, and any where there are many: then the forms are no corner, and others are."""
    system = [Halfspace(((j, _ONE),), _ZERO, strict=True) for j in range(len(chosen))]
    system += equation([(j, _ONE) for j in range(len(chosen))], -_ONE)
    by_row = [[dict(form.inputs).get(slot, _ZERO) for form in chosen] for slot in rows]
    if signs is not None:
        signed = [[sign * c for c in row] for sign, row in zip(signs, by_row, strict=True)]
        by_row = [[a - b for a, b in zip(signed[0], row, strict=True)] for row in signed[1:]]
    for row in by_row:
        system += equation([(j, c) for j, c in enumerate(row) if c], _ZERO)
    found = solution(system, range(len(chosen)))
    return None if isinstance(found, Infeasible) else [found[j] for j in range(len(chosen))]


def _static(region: Region, facets: Sequence[Moving]) -> list[Constraint]:
    return [*region.guards, *(constraint(facet.form, CompareOp.GE) for facet in facets)]
