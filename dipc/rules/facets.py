"""Half-spaces that contain the inputs of a region at a distance of at least alpha from any other answer.

Let u lie in a region R = { a_j·u >= b_j } (some of the inequalities strict), and let w_j be the dual norm of a_j for
the norm of the inputs (linf: Σ|a|, l1: max|a|).

**Lemma.** Going from u straight across facet j, along a unit vector d with a_j·d = w_j, leaves R after (a_j·u -
b_j)/w_j: u'(η) = u - ((a_j·u - b_j)/w_j + η)·d is outside R for every η > 0. If det gives another answer at u'(η) for
arbitrarily small η, and the metric puts u and u'(η) no further apart than the norm does, then

    dd(u) <= (a_j·u - b_j)/w_j,  so that dd(u) >= alpha implies a_j·u - b_j >= alpha·w_j.

Over ints, where forms are integers at integers, u' = u - k·d for k = floor((a_j·u - b_j)/w_j) + 1 is outside, so that

    dd(u) <= floor((a_j·u - b_j)/w_j) + 1,  and dd(u) >= alpha implies a_j·u - b_j + w_j >= alpha·w_j.

If no other region has det's answer on R, every way out of R leads to another answer. Otherwise it must be proved of
each other region with the same answer that the way out does not lead into it. A facet for which that is not proved does
not move with alpha. The class then has fewer half-spaces than possible, which only makes bounds less sharp. With a
precondition (`requires`), the values outside are treated as regions with the same answer: no input there gives another
answer.

**Inner points suffice.** Let det have the same answer on all of R, and R inner points. The distance of u from the fixed
set of inputs with another answer is continuous in u, and so is (a_j·u - b_j)/w_j. So the lemma holds on R if it holds
at the inner points of R. There the way out may leave the precondition later than at a corner of R.

The converse is not claimed: the distance of a given input is computed for that input, by `dipc.program.ideal`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, product
from math import comb, floor, gcd, lcm, prod

from dipc.algebra.limits import LimitReached, NotApplicable
from dipc.chain.flow import slots_read
from dipc.chain.state import (
    Affine,
    Answer,
    Constraint,
    combination,
    connected,
    constraint,
    contradict,
    entails,
    slots_in,
)
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace, equation
from dipc.linear.program import Infeasible, Least, NotConfirmed, Unbounded, minimum, solution
from dipc.program.ideal import Ideal, Region
from dipc.program.metric import Norm
from dipc.program.nearness import AllOf, AnyOf, Formula
from dipc.rules.halfspaces import inwards, step_of, still
from dipc.rules.input_classes import finite_cases
from dipc.text import program as syntax
from dipc.text.ast import CompareOp
from dipc.text.core import Value

_ZERO, _ONE = Fraction(0), Fraction(1)


@frozen
class Way:
    """The shortest straight way out of a region across one of its facets.

    `facet` is the form f of the facet f(u) >= 0, `direction` a unit vector along the way, and `width` the dual norm of
    f: the way meets the facet at the distance f(u)/width from u.
    """

    facet: Affine
    direction: Mapping[int, Fraction]
    width: Fraction


#: Whether the metric can put an input of the region further apart from one just across the facet than the norm does.
MayBeApart = Callable[[Region, Way], bool]


@frozen
class FacetMetric:
    """The properties of the distance of inputs that facets need.

    `norm` is the norm of the inputs. `apart` decides whether an input of a region may be infinitely far from an input
    just across a facet; it is None if no inputs are infinitely far apart.
    """

    norm: Norm
    apart: MayBeApart | None = None


def way_out(facet: Affine, norm: Norm) -> Way:
    """Return the shortest straight way to the other side of `facet`, with lengths measured in `norm`, LINF or L1.

    The direction of the way, and the factor `width` between distance and value of the form, are equal at all inputs.
    """
    assert norm is not Norm.DISCRETE
    steepest = [max(facet.inputs, key=lambda term: abs(term[1]))] if norm is Norm.L1 else facet.inputs
    direction = {slot: Fraction(1 if c > 0 else -1) for slot, c in steepest}
    return Way(facet, direction, norm.steepness(facet.inputs))


def facets(
    region: Region,
    others: Sequence[Region],
    metric: FacetMetric,
    outside: Sequence[Region] = (),
    *,
    fixed: bool = False,
) -> tuple[Affine, ...]:
    """Return one facet for each guard of `region`, such that every input u with dd(u) >= alpha is behind all of them.

    The facets are in the order of the guards, u is an input of the region, and dd is the distance by `metric`. `others`
    are the other regions in which det may give the answer of this region, and `outside` the sets excluded by
    `requires`. `fixed` states that the outputs of det that dd compares are constant on the region.
    """
    inner: list[Halfspace] | None = None
    if outside and fixed and metric.apart is None:
        inner = [guard.guard if guard.whole else replace(guard.guard, strict=True) for guard in region.guards]
        if isinstance(solution(inner), Infeasible):
            inner = None
    facets = []
    for guard in region.guards:
        if not guard.form.inputs or metric.norm is Norm.DISCRETE:
            facets.append(guard.form)
            continue
        leaving = way_out(guard.form, metric.norm)
        proved = not any(_may_reach(region, leaving, other, whole=guard.whole) for other in others)
        if inner is None or guard.whole:
            proved = proved and not any(_may_reach(region, leaving, gap, whole=guard.whole) for gap in outside)
        else:
            proved = proved and not any(_touches(inner, leaving, gap) for gap in outside)
        if proved and metric.apart is not None:
            proved = not metric.apart(region, leaving)
        facets.append(_retreating(guard, leaving.width) if proved else guard.form)
    return tuple(facets)


def _retreating(guard: Constraint, width: Fraction) -> Affine:
    """Return the half-space of inputs that are at least alpha away from all inputs at which `guard` fails.

    `width` is the dual norm of the guard's form.
    """
    return inwards(guard.form.shifted(width) if guard.whole else guard.form, width)


def _may_reach(region: Region, leaving: Way, other: Region, *, whole: bool) -> bool:
    """Return False only if no input of `region` enters the region `other` just after it leaves `region` across a facet.

    `leaving` is the facet, with the direction of the straight way across it. A point just after the facet is
    arbitrarily close to it. If `whole`, the facet is a condition on ints; then such a point is at most 1 away from the
    facet, whose form is at most -1 there.
    """
    if _separated(leaving.facet, other.guards, leaving.width if whole else _ZERO):
        return False
    beyond = 1 + max(slot for g in (*region.guards, *other.guards) for slot, _ in g.form.inputs)
    # u' = u - (facet(u)/width + η)·d: form(u') = form(u) - form(d)·(facet(u)/width + η), form(d) without the constant.
    depth = leaving.facet.scaled(1 / leaving.width) + Affine.input(beyond)
    system = [Halfspace(((beyond, _ONE),), _ZERO), *(guard.guard.closure() for guard in region.guards)]
    system += _after(leaving, depth, other)
    if whole:
        # facet(u') = -width·η.
        system.append(Halfspace(((beyond, leaving.width),), -_ONE))
        system.append(Halfspace(((beyond, -_ONE),), _ONE))
        return not isinstance(solution(system), Infeasible)
    match minimum(Halfspace(((beyond, _ONE),), _ZERO), system):
        case Infeasible():
            return False
        case Least(value, _, _):
            return value <= 0
        case Unbounded():
            raise NotConfirmed  # η is not negative


def _touches(inner: Sequence[Halfspace], leaving: Way, gap: Region) -> bool:
    """Return False only if no input enters the closure of the region `gap` at the point where it crosses a facet.

    The inputs are those in the half-spaces `inner`. Each moves straight in the direction of `leaving`, across its
    facet.
    """
    there = _after(leaving, leaving.facet.scaled(1 / leaving.width), gap)
    return not isinstance(solution([*inner, *there]), Infeasible)


def _after(leaving: Way, depth: Affine, region: Region) -> Iterator[Halfspace]:
    """Yield half-spaces of the inputs u for which u - s·d is in the closure of `region`.

    Here d is the direction of `leaving`, and s is the value of the form `depth` at u.
    """
    for guard in region.guards:
        rise = sum((c * leaving.direction.get(slot, _ZERO) for slot, c in guard.form.inputs), _ZERO)
        form = guard.form - depth.scaled(rise)
        yield Halfspace(form.inputs, form.constant)


def _separated(facet: Affine, guards: Sequence[Constraint], across: Fraction) -> bool:
    """Return True if some guard in `guards` alone implies `facet` >= 0 or `facet` < -`across`.

    At inputs that satisfy the guards, no value v of `facet` then satisfies -`across` <= v < 0.
    """
    for guard in guards:
        form = guard.form
        if form.inputs == facet.inputs and form.constant <= facet.constant:
            return True
        if form.inputs == (-facet).inputs and form.constant < -facet.constant - across:
            return True
    return False


# --- rivals ---------------------------------------------------------------------------------------
#
# Classes that are not convex at a distance, covered by convex ones: one for each choice of facets of the regions with
# other answers.
#
# If dd(u) >= alpha, every region with another answer is at least alpha away from u. By the duality of linear programs
# the distance of u from Q = { a_j·v >= b_j } is the greatest Σ λ_j·(b_j - a_j·u) of all λ >= 0 for which Σ λ_j·a_j has
# the dual norm at most 1, and is attained at one of finitely many of these. So u is behind at least one moving facet
# -Σ λ_j·side_j(u) >= alpha·width of each such region, and the class is covered by the convex sets that one facet of
# each leaves. For a box in the norm linf, and a half-space in any, the facets are their own sides.
#
# Over ints the least distance may be greater than this maximum. It is not for a box with integer ends, whose sides have
# width 1, and from a half-space a·v >= b it is ceil((b - a·u)/w), so that b - a·u + w - 1 >= alpha·w. So it is from a
# strip b <= a·v <= c in the norm linf, if every value between can be reached, and from bounds and differences of two
# inputs with integer ends: together with the bounds |v_i - u_i| <= k they have a totally unimodular matrix, so that an
# integer point of Q is within k if a real one is, and alpha is at most the least distance rounded up. Other regions are
# made narrower by w/2 on each side: a real point of what is left has integers of the region within 1/2 (in the norm
# linf), so that u is at least alpha - 1/2 away from what is left, if anything is.

#: The most convex sets that a class is covered by.
MOST_CHOICES = 64

#: The largest number of systems of equations solved for the facets of one region.
_MOST_SYSTEMS = 400


def choices(
    region: Region, rivals: Sequence[Region], metric: FacetMetric, *, slanted: bool = False
) -> tuple[tuple[Affine, ...], ...]:
    """Return sets of facets such that every input u of `region` with dd(u) >= alpha is behind all facets of one set.

    `rivals` must be all regions with another answer; dd is the distance by `metric`. A set has one facet for each
    rival. Rivals without known facets are left out. With `slanted`, facets may also be sums of a rival's guards, so
    that fewer rivals are left out. The result is empty if no input of the region is at least alpha away from all
    rivals.

    The result is a single empty set if no rival is left or there would be too many sets. It is also for the discrete
    norm, and if inputs may be infinitely far apart.
    """
    if metric.apart is not None or metric.norm is Norm.DISCRETE:
        return ((),)
    sides = [
        _weakest(region, facets)
        for rival in rivals
        if (facets := _sides(region, rival, metric.norm, slanted=slanted)) is not None
    ]
    if any(not side for side in sides):
        return ()
    if prod(map(len, sides)) > MOST_CHOICES:
        return ((),)
    return tuple(tuple(dict.fromkeys(choice)) for choice in product(*sides) if not contradict(_static(region, choice)))


def _sides(region: Region, rival: Region, norm: Norm, *, slanted: bool) -> list[Affine] | None:
    """Return facets such that each input of `region` that is at least alpha away from `rival` is behind one of them.

    Distances are in `norm`. A facet says that a guard of the rival fails, by a margin that grows with alpha. With
    `slanted`, sums of guards are used as well. Facets that no input of the region is behind are left out. The result is
    None if no such facets are known.
    """
    guards = [guard.form for guard in rival.guards]
    box = norm is Norm.LINF and all(len(form.inputs) == 1 for form in guards)
    whole = any(guard.whole for guard in rival.guards)
    strip = whole and norm is Norm.LINF and _is_strip(guards)
    if not box and not strip and len(guards) != 1:
        if not slanted or _systems(guards, norm) > _MOST_SYSTEMS:
            return None
        if whole and norm is Norm.LINF and _is_unimodular(rival.guards):
            sums = [_integral(form) for form in _slanted(tuple(guards), norm)]
            forms = [form for form in (*guards, *sums) if form.inputs]
            return _with_inputs_behind(region, [_side(form, norm.steepness(form.inputs), whole=True) for form in forms])
        if whole:
            if norm is Norm.L1:
                return None
            guards = [_inner(guard) for guard in rival.guards]
            if contradict([constraint(form, CompareOp.GE) for form in guards]):
                return None
        guards += _slanted(tuple(guards), norm)
        if whole:
            moved = [(form, norm.steepness(form.inputs)) for form in guards if form.inputs]
            return _with_inputs_behind(region, [inwards((-form).shifted(width / 2), width) for form, width in moved])
    facets = [_side(form, norm.steepness(form.inputs), whole=whole) for form in guards if form.inputs]
    return _with_inputs_behind(region, facets)


def _is_unimodular(guards: Sequence[Constraint]) -> bool:
    """Return True if each of `guards` bounds an int or a difference of two ints by an integer.

    Some inputs may be negated first, so that x + y <= 1 counts as x - z <= 1 with z = -y.
    """
    pairs: list[tuple[int, int, bool]] = []
    for guard in guards:
        terms = guard.form.inputs
        if (
            not guard.whole
            or guard.form.constant.denominator != 1
            or len(terms) > 2
            or any(abs(c) != 1 for _, c in terms)
        ):
            return False
        if len(terms) == 2:
            (one, c), (other, d) = terms
            pairs.append((one, other, c == d))
    negated: dict[int, bool] = {}
    for start in dict.fromkeys(one for one, _, _ in pairs):
        negated.setdefault(start, False)
        pending = [start]
        while pending:
            slot = pending.pop()
            for one, other, opposite in pairs:
                if slot not in (one, other):
                    continue
                far, side = other if slot == one else one, negated[slot] != opposite
                if far not in negated:
                    pending.append(far)
                if negated.setdefault(far, side) != side:
                    return False
    return True


def _integral(form: Affine) -> Affine:
    """Return a form with integer coefficients that is >= 0 at the same int inputs as `form`.

    The coefficients are coprime, and the constant is an integer too.
    """
    factor = Fraction(lcm(*(c.denominator for _, c in form.inputs)), 1)
    factor /= gcd(*(int(c * factor) for _, c in form.inputs))
    scaled = form.scaled(factor)
    return scaled.shifted(floor(scaled.constant) - scaled.constant)


def _inner(guard: Constraint) -> Affine:
    """Return a form that is negative at each input within 1/2, in linf, of an int input at which `guard` fails."""
    form = guard.form
    return form.shifted(-Norm.LINF.steepness(form.inputs) / 2) if guard.whole else form


def _with_inputs_behind(region: Region, facets: Sequence[Affine]) -> list[Affine]:
    return [facet for facet in dict.fromkeys(facets) if not contradict(_static(region, [facet]))]


def _weakest(region: Region, facets: Sequence[Affine]) -> list[Affine]:
    """Return some of `facets` such that each input of `region` behind one of `facets` is behind one of the result."""
    kept: list[Affine] = []
    for index, facet in enumerate(facets):
        others = [*kept, *facets[index + 1 :]]
        if not any(_implies(region, facet, other) for other in others):
            kept.append(facet)
    return kept


def _implies(region: Region, one: Affine, other: Affine) -> bool:
    """Return True if, at every alpha, each input of `region` behind the facet `one` is behind `other`."""
    more = other.scaled(1 / step_of(other)) - one.scaled(1 / step_of(one))
    return more.constant >= 0 if more.is_number else entails(region.guards, constraint(more, CompareOp.GE))


def _is_strip(forms: Sequence[Affine]) -> bool:
    """Return True if `forms` bound a single form of ints that one step can change by every integer from -w to w.

    A step changes each int by -1, 0 or 1, and w is the sum of the absolute values of the form's coefficients. So k
    steps can change the form by every integer from -k·w to k·w.
    """
    if len({form.inputs for form in forms} | {(-form).inputs for form in forms}) > 2:
        return False
    reached = 0
    for size in sorted(abs(c) for _, c in forms[0].inputs):
        if size > 2 * reached + 1:
            return False
        reached += int(size)
    return True


def _side(form: Affine, width: Fraction, *, whole: bool) -> Affine:
    # In a box all widths are 1, those of reals, too.
    return inwards((-form).shifted(width - 1) if whole else -form, width)


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
    return tuple(_each_slanted(forms, norm))


def _each_slanted(forms: Sequence[Affine], norm: Norm) -> Iterator[Affine]:
    """Yield sums Σ λ·form of two or more of the `forms`, with factors λ > 0, for use as facets.

    Let w_i be the coefficients of a sum. Its dual norm is Σ |w_i| for the `norm` linf, and max |w_i| for l1. Up to
    scaling, the factors are the vertices of the set of all λ >= 0 for which the sum has the dual norm 1. For linf, a
    vertex with k forms has w_i = 0 for k - 1 inputs. For l1, k of the |w_i| are equal to the maximum.
    """
    slots = _slots(forms)
    for k in range(2, min(len(forms), len(slots) + 1) + 1):
        for chosen in combinations(forms, k):
            for rows in combinations(slots, k if norm is Norm.L1 else k - 1):
                for signs in product((_ONE, -_ONE), repeat=k - 1) if norm is Norm.L1 else ((),):
                    weights = _weights(chosen, rows, (_ONE, *signs) if norm is Norm.L1 else None)
                    if weights is not None:
                        total = combination(list(zip(weights, chosen, strict=True)), _ZERO)
                        if total.inputs:
                            yield total


def _weights(chosen: Sequence[Affine], rows: Sequence[int], signs: Sequence[Fraction] | None) -> list[Fraction] | None:
    """Return weights λ > 0 with sum 1 such that Σ λ·form has coefficient 0 at the inputs `rows`; None if none exist.

    `chosen` are the forms, one for each weight. If `signs` is given, with a sign for each of the `rows`, the
    coefficients need not be 0: instead, sign·coefficient must be the same for all rows. If there are many solutions,
    any is returned.
    """
    system = [Halfspace(((j, _ONE),), _ZERO, strict=True) for j in range(len(chosen))]
    system += equation([(j, _ONE) for j in range(len(chosen))], -_ONE)
    by_row = [[dict(form.inputs).get(slot, _ZERO) for form in chosen] for slot in rows]
    if signs is not None:
        signed = [[sign * c for c in row] for sign, row in zip(signs, by_row, strict=True)]
        by_row = [[a - b for a, b in zip(signed[0], row, strict=True)] for row in signed[1:]]
    for row in by_row:
        system += equation([(j, c) for j, c in enumerate(row) if c], _ZERO)
    result = solution(system, range(len(chosen)))
    return None if isinstance(result, Infeasible) else [result[j] for j in range(len(chosen))]


def _static(region: Region, facets: Sequence[Affine]) -> list[Constraint]:
    return [*region.guards, *(constraint(still(facet), CompareOp.GE) for facet in facets)]


# --- facet metric ---------------------------------------------------------------------------------
#
# The metric of a program, as far as classes of all real inputs are concerned.

#: A formula with more conjunctions than this is not looked into.
_MOST_CONJUNCTIONS = 2_000

#: The most combinations of finite inputs for which formulas are examined.
_MOST_CASES = 64


def facet_metric(ideal: Ideal) -> FacetMetric:
    """Return the norm of the inputs of `ideal`, with a test of whether inputs may be infinitely far apart.

    There is no test if the `metric` block of the ideal puts no inputs infinitely far apart.
    """
    metric = ideal.metric
    if metric.core.apart is None:
        return FacetMetric(metric.norm)
    cases: Sequence[Mapping[int, Value]] = ()
    with suppress(LimitReached):
        cases = finite_cases(ideal)
    if not 0 < len(cases) <= _MOST_CASES:
        return FacetMetric(metric.norm, lambda _region, _way: True)
    every = [_may_be_apart(ideal, finite, metric.core.apart) for finite in cases]
    return FacetMetric(metric.norm, lambda region, leaving: any(test(region, leaving) for test in every))


def _may_be_apart(ideal: Ideal, finite: Mapping[int, Value], apart: syntax.Formula) -> MayBeApart:
    """Return a test of whether inputs may have an infinite distance to points on their way out of a region.

    The test takes the region and its way out, which leads straight from an input u across one facet. It is False only
    if each u of the region has a finite distance to all points on its way out. `apart` is the condition under which the
    `metric` block of `ideal` makes a distance infinite. `finite` has the finite inputs of u by slot.
    """
    here: dict[int, Answer] = {**finite, **{slot: Affine.input(slot) for slot in ideal.symbolic_inputs}}
    # A condition that reads no changed input is False, unless it may be True if no input changes.
    reading: dict[int, set[int]] = {}
    of_itself: set[int] = set()
    for position, condition in enumerate(apart.conditions):
        if ideal.metric.far_condition(here, here, _no_ints, [position]) is not False:
            of_itself.add(position)
        for slot in slots_in(slots_read(condition)):
            if apart.places[slot].primed:
                reading.setdefault(apart.places[slot].slot, set()).add(position)

    def may_be_apart(region: Region, leaving: Way) -> bool:
        depth = Affine.input(len(ideal.program.core.slots))  # s, with a number that no slot has
        changed = {slot: Affine.input(slot) - depth.scaled(step) for slot, step in leaving.direction.items()}
        among = of_itself.union(*(reading.get(slot, ()) for slot in changed))
        formula = ideal.metric.far_condition(here, {**here, **changed}, _no_ints, among)
        beyond = constraint(depth.scaled(leaving.width) - leaving.facet, CompareOp.GT)
        known = [*region.guards, beyond, constraint(depth, CompareOp.GE)]
        try:
            return any(not contradict([*case, *connected(case, known)]) for case in _cases(formula))
        except NotApplicable:
            return True

    return may_be_apart


def _no_ints(_: Affine) -> bool:
    return False


def _cases(formula: Formula) -> Iterator[tuple[Constraint, ...]]:
    for count, case in enumerate(_disjuncts(formula)):
        if count >= _MOST_CONJUNCTIONS:
            raise NotApplicable
        yield case


def _disjuncts(formula: Formula) -> Iterator[tuple[Constraint, ...]]:
    match formula:
        case bool():
            if formula:
                yield ()
        case Constraint():
            yield (formula,)
        case AnyOf(parts=formulas):
            for inner in formulas:
                yield from _disjuncts(inner)
        case AllOf(parts=()):
            yield ()
        case AllOf(parts=(first, *rest)):
            for left in _disjuncts(first):
                for right in _disjuncts(AllOf(tuple(rest))):
                    yield (*left, *right)
