"""The inputs of a region at a distance of at least alpha from any other answer, inside half-spaces.

Let u lie in a region R = { a_j·u >= b_j } (some of them strict), and let w_j be the norm dual to that of the inputs
(linf: Σ|a|, l1: max|a|). Going from u straight across facet j, along a unit vector d with a_j·d = w_j, leaves R after
(a_j·u - b_j)/w_j: u'(η) = u - ((a_j·u - b_j)/w_j + η)·d is outside R for every η > 0. If det gives another answer at
u'(η) for arbitrarily small η, and the metric sets u and u'(η) no further apart than the norm does, then

    dd(u) <= (a_j·u - b_j)/w_j,  so that dd(u) >= alpha implies a_j·u - b_j >= alpha·w_j.

Over ints, where forms are integers at integers, u' = u - k·d for k = floor((a_j·u - b_j)/w_j) + 1 is outside, so that

    dd(u) <= floor((a_j·u - b_j)/w_j) + 1,  and dd(u) >= alpha implies a_j·u - b_j + w_j >= alpha·w_j.

Where det's answer on R is given nowhere else, every way out leads to another one; else the other regions with the same
answer are ruled out one by one, and a facet for which that fails keeps step 0: the class is then described by fewer
half-spaces than it could be, which loses sharpness only. In the other direction nothing is claimed here: that an input
has some distance is computed for that input, by `dipc.ideal.distance`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dipc.chain.affine import Affine
from dipc.chain.constraints import Constraint
from dipc.ideal.ideal import Region
from dipc.ideal.norm import Norm
from dipc.linear.halfspace import Halfspace
from dipc.linear.program import Infeasible, Least, NotConfirmed, Unbounded, minimum, solution
from dipc.sources.every_input.halfspaces import Moving

_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class Way:
    """The straight way out across a facet: its form, the unit vector d as `direction`, the dual norm as `width`."""

    facet: Affine
    direction: Mapping[int, Fraction]
    width: Fraction


#: Whether the metric may set an input of the region further apart from one just across the facet than the norm does.
MayBeApart = Callable[[Region, Way], bool]


@dataclass(frozen=True, slots=True)
class Metric:
    """The distance of inputs, as far as facets need to know it: a norm, and what may be further apart."""

    norm: Norm
    apart: MayBeApart | None = None


def way_out(facet: Affine, norm: Norm) -> Way:
    """The shortest straight way across a facet in the norm LINF or L1."""
    assert norm is not Norm.DISCRETE
    steepest = [max(facet.inputs, key=lambda term: abs(term[1]))] if norm is Norm.L1 else facet.inputs
    direction = {slot: Fraction(1 if c > 0 else -1) for slot, c in steepest}
    return Way(facet, direction, norm.steepness(facet.inputs))


def facets(region: Region, others: Sequence[Region], metric: Metric) -> tuple[Moving, ...]:
    """One facet for each guard of the region, in order; `others` are the other regions that may give the same answer.

    Every input u of the region with dd(u) >= alpha is behind all of them.
    """
    found = []
    for guard in region.guards:
        if not guard.form.inputs or metric.norm is Norm.DISCRETE:
            found.append(Moving(guard.form, _ZERO))
            continue
        way = way_out(guard.form, metric.norm)
        proved = not any(_may_reach(region, way, other, whole=guard.whole) for other in others)
        if proved and metric.apart is not None:
            proved = not metric.apart(region, way)
        found.append(_retreating(guard, way.width) if proved else Moving(guard.form, _ZERO))
    return tuple(found)


def _retreating(guard: Constraint, width: Fraction) -> Moving:
    """The facet behind which inputs are at a distance of at least alpha from its other side."""
    return Moving(guard.form.shifted(width) if guard.whole else guard.form, width)


def _may_reach(region: Region, way: Way, other: Region, *, whole: bool = False) -> bool:
    """Whether inputs just across the facet may lie in `other`: False only if, from each u of the region, all beyond the
    facet up to some distance do not; of a facet of ints (`whole`), the first one beyond.

    The least η >= 0 for which u in the closure of the region has u'(η) in the closure of `other` is found exactly; if
    it is positive, no smaller η reaches it. Of ints the first beyond has 0 < η <= 1 and -width <= facet(u') <= -1.
    """
    if _separated(way.facet, other.guards, way.width if whole else _ZERO):
        return False
    beyond = 1 + max(slot for g in (*region.guards, *other.guards) for slot, _ in g.form.inputs)
    # u' = u - (facet(u)/width + η)·d: form(u') = form(u) - form(d)·(facet(u)/width + η), form(d) without the constant.
    depth = way.facet.scaled(1 / way.width) + Affine.input(beyond)
    system = [Halfspace(((beyond, _ONE),), _ZERO), *(guard.guard.closure() for guard in region.guards)]
    for guard in other.guards:
        rise = sum((c * way.direction.get(slot, _ZERO) for slot, c in guard.form.inputs), _ZERO)
        after = guard.form - depth.scaled(rise)
        system.append(Halfspace(after.inputs, after.constant))
    if whole:
        # facet(u') = -width·η.
        system.append(Halfspace(((beyond, way.width),), -_ONE))
        system.append(Halfspace(((beyond, -_ONE),), _ONE))
        return not isinstance(solution(system), Infeasible)
    match minimum(Halfspace(((beyond, _ONE),), _ZERO), system):
        case Infeasible():
            return False
        case Least(value, _, _):
            return value <= 0
        case Unbounded():
            raise NotConfirmed  # η is not negative


def _separated(facet: Affine, guards: Sequence[Constraint], across: Fraction) -> bool:
    """Whether a guard says that the inputs are well beyond the facet: facet <= -margin with a margin > `across`, or on
    its inner side. Either way they are not just across it."""
    for guard in guards:
        form = guard.form
        if form.inputs == facet.inputs and form.constant <= facet.constant:
            return True
        if form.inputs == (-facet).inputs and form.constant < -facet.constant - across:
            return True
    return False
