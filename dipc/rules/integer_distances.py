"""Claims about int inputs at all distances to disagreement beyond some start, decided at once.

Over ints alpha = dd(u) is an integer k, and the probabilities of integer noise are not functions of k·eps. So no single
obligation decides all distances, as one does for real inputs. Small distances are decided one by one. Beyond some
start, every slack is at least base + slope·k, and the bound of a rule is a closed form in eps and k (see
`lattice_trend`). The claim holds if this closed form is nowhere less than 1 - beta (see `never_negative` and
`partial_sums.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import count
from typing import TYPE_CHECKING

from dipc.algebra.exppoly import Closed, ExpPoly, fraction_of
from dipc.algebra.limits import OutsideFragment, Undecided
from dipc.algebra.parametric import Compound, Operator, Parametric, Selected, TooLarge
from dipc.chain.state import Affine
from dipc.decide.obligation import Asking, Bound, Obligation, Share
from dipc.frozen import LazyModule, frozen
from dipc.measure.event import Event
from dipc.rules.centered_exits import DISTANCE, Level, NoiseComponent, connected, is_whole
from dipc.rules.clamps import CLAMPS
from dipc.rules.complement import complement
from dipc.rules.goal import LEAST_SLACKS, ConvexClass, Goal, Proof, least_slacks
from dipc.rules.halfspaces import step_of, still
from dipc.rules.joint_tails import joint_tails
from dipc.rules.rule import Bounds, Derivation, Farkas, Requirement
from dipc.rules.vertices import vertices
from dipc.sign.partial_sums import has_nonnegative_partial_sums
from dipc.sign.piecewise import proved_quotient
from dipc.sign.polynomial import NUMBER, never_negative

if TYPE_CHECKING:
    from dipc.claims import conditions
    from dipc.measure import lattice
else:
    conditions = LazyModule("dipc.claims.conditions")
    lattice = LazyModule("dipc.measure.lattice")

_ZERO, _ONE = Fraction(0), Fraction(1)


#: The most distances that are decided one by one, and the increases of the start that are tried after a failed proof.
MOST_SINGLE = 24
_MORE = (0, 2, 5)

#: How much further than the start the best bounds of slacks are chosen.
_FURTHER = (0, 100)

#: The number of distances decided before one proof for all others is tried.
_FIRST = 2

#: The most noises of one component: sums over more of them take too long.
_MOST_NOISES = 4


@frozen
class _Ratio:
    """A function of eps and an integer k: `numerator` divided by positive functions of eps.

    `below` maps each of these functions to how often it divides.
    """

    numerator: Parametric
    below: Counter[ExpPoly]

    @staticmethod
    def from_closed(value: Closed) -> _Ratio:
        above, below = fraction_of(value)
        return _Ratio(Parametric.from_exppoly(above), Counter() if below == 1 else Counter([below]))

    def __add__(self, other: _Ratio) -> _Ratio:
        common = self.below | other.below
        return _Ratio(self._numerator_over(common) + other._numerator_over(common), common)

    def __mul__(self, other: _Ratio) -> _Ratio:
        return _Ratio(self.numerator * other.numerator, self.below + other.below)

    def _numerator_over(self, below: Counter[ExpPoly]) -> Parametric:
        result = self.numerator
        for factor in (below - self.below).elements():
            result = result * Parametric.from_exppoly(factor)
        return result


_Bounding = Callable[[Goal], Bounds | None]


def _start_of_all(goal: Goal, distances: Requirement) -> int | None:
    """Return an integer d such that the claim of `goal` is proved at all integer distances >= d; None if none is found.

    `distances` has alpha and gamma as functions of the distance. Each slack is bounded by a function of the distance:
    in the first attempt by the one that is greatest at d, in further attempts by one that is greatest far beyond d.
    """
    claim = goal.setting.claim
    if goal.setting.program.core.only_at is not None:
        return None
    beta = claim.beta.value(claim.names(), open_divisors=True)
    starts = (_proved(goal, distances, rule, further, beta) for further in _FURTHER for rule in _RULES)
    return next((start for start in starts if start is not None), None)


def _proved(goal: Goal, distances: Requirement, rule: _Bounding, further: int, beta: Selected) -> int | None:
    """Return an integer d such that bounds of `rule` prove `goal` with `beta` at all integer distances >= d, or None.

    `distances` has alpha and gamma as functions of the distance. Each slack is bounded by the function that is greatest
    at d + `further` among the bounds that hold at every distance >= d.
    """
    start = 1
    for more in _MORE:
        try:
            start, ratios = _bounds_from(goal, distances, rule, start + more, further)
        except (Undecided, TooLarge):
            return None
        if not ratios:
            return None
        with suppress(TooLarge):
            if all(_meets(goal, each, beta, start) for each in ratios):
                return start
    return None


def _bounds_from(
    goal: Goal, distances: Requirement, rule: _Bounding, start: int, further: int
) -> tuple[int, Sequence[_Ratio]]:
    """Return an integer d >= `start`, and functions that bound the probability at every integer distance >= d.

    The functions depend on eps and the distance. At each integer distance >= d, one of them is at most the probability
    of the answer in the class of `goal`. `distances` has alpha and gamma as functions of the distance. The bounds come
    from `rule`; there are none if the rule does not apply. Each slack is bounded by the function that is greatest at d
    + `further` among the bounds that hold at every distance >= d. Raises Undecided if no d is found.
    """
    while start <= MOST_SINGLE:
        bounds = rule(goal.united.requiring(replace(distances, start=start, further=further)))
        try:
            return start, [] if bounds is None else [_ratio(goal, function, start) for function in bounds.functions]
        except lattice.Unsettled as small:
            start = max(small.enough, start + 1)
    raise OutsideFragment("the probability follows one formula only at large distances")


def _meets(goal: Goal, ratio: _Ratio, beta: Selected, start: int) -> bool:
    match beta:
        case Parametric():
            wanted = _of_beta(goal, beta)
            if wanted is None:
                return False
            rest = ratio + wanted + _Ratio.from_closed(ExpPoly.constant(-_ONE))
            about = rest.numerator, start, goal.setting.claim.intervals
            return never_negative(*about) or has_nonnegative_partial_sums(*about, goal.setting.program.limits)
        case Compound(Operator.MIN, arguments):
            return all(_meets(goal, ratio, each, start) for each in arguments)
        case Compound(Operator.MAX, arguments):
            return any(_meets(goal, ratio, each, start) for each in arguments)
        case _:
            return False


def _of_beta(goal: Goal, beta: Parametric) -> _Ratio | None:
    over = proved_quotient(ExpPoly.ONE, beta.denominator, goal.setting.claim.intervals)
    if over is None or len(beta.unknowns()) > 1:
        return None
    own = Parametric(beta.numerator, ExpPoly.ONE)
    numerator = own.substituted({name: Parametric.unknown(NUMBER) for name in beta.unknowns()})
    assert numerator is not None, "an unknown can be replaced by another"
    return _Ratio(numerator, Counter()) * _Ratio.from_closed(over)


def _ratio(goal: Goal, bound: Bound, start: int) -> _Ratio:
    ratio = _Ratio.from_closed(ExpPoly.constant(bound.constant))
    for share in bound.shares:
        each = _Ratio.from_closed(ExpPoly.ONE if share.weight is None else share.weight)
        for event in share.conjunctions:
            each = each * _probability(goal, event, start)
        ratio = ratio + each
    return ratio


def _probability(goal: Goal, moving: Event, start: int) -> _Ratio:
    slopes = [half.coefficient(DISTANCE) for half in moving.constraints]
    event = Event(moving.noises, tuple([half.with_values({DISTANCE: _ZERO}) for half in moving.constraints]))
    if not any(slopes):
        return _Ratio.from_closed(goal.setting.program.measurer.measure(event))
    whole = all(noise.law.whole for noise in event.noises)
    if not whole and len(event.noises) == len(slopes) == 1 and event.noises[0].law.exponential_tails:
        return _tail(event, slopes[0], start)
    if not whole or len(event.noises) > _MOST_NOISES:
        raise OutsideFragment("too many integer noises, or several real noises, are compared with each other")
    trend = lattice.lattice_trend(event, slopes, start, goal.setting.program.limits)
    ratio = _Ratio.from_closed(ExpPoly.ZERO)
    for summand, c in trend.summands.items():
        growth = _term(c, summand.exponent, summand.slopes[trend.place], summand.powers[trend.place])
        ratio = ratio + _Ratio(growth, Counter({_less(d): power for d, power in summand.poles}))
    for rate in trend.rates:
        ratio = ratio * _Ratio(Parametric.from_exppoly(_less(rate)), Counter([1 + ExpPoly.term(1, 0, -rate)]))
    return ratio


def _tail(event: Event, slope: Fraction, start: int) -> _Ratio:
    """Return the probability of c·N + base + `slope`·k >= 0 as a function of eps and k, for integers k >= `start`.

    `event` is c·N + base >= 0, where the real noise N has exponential tails. Raises Unsettled unless base + slope·k is
    on one side of 0 for all k >= start, and does not come nearer to 0 as k grows.
    """
    (half,), (noise,) = event.constraints, event.noises
    ((_, c),) = half.coefficients
    base = half.constant + c * noise.mean
    rate = noise.rate / abs(c)
    if base + slope * start >= 0 and slope >= 0:
        return _Ratio(Parametric.number(1) + _term(-_ONE / 2, -rate * base, -rate * slope), Counter())
    if base + slope * start <= 0 and slope <= 0:
        return _Ratio(_term(_ONE / 2, rate * base, rate * slope), Counter())
    raise lattice.Unsettled(start + 1)


def _term(c: Fraction, rate: Fraction, slope: Fraction, power: int = 0) -> Parametric:
    """Return the function `c` · k^`power` · exp((`rate` + `slope`·k)·eps) of eps and of an integer k."""
    factors = ((NUMBER, power, slope),) if power or slope else ()
    return Parametric({factors: ExpPoly.term(c, 0, rate)}, ExpPoly.ONE)


def _less(rate: Fraction) -> ExpPoly:
    return ExpPoly.ONE - ExpPoly.term(1, 0, -rate)


def _unions(goal: Goal) -> Bounds | None:
    """Return a lower bound of the probability for `goal`, measuring only small groups of related noises.

    A group of more than `_MOST_NOISES` noises is replaced by a union bound: the probability that some half-space of the
    group fails is at most the sum of the probabilities with which each of them fails. The result is None unless each
    exit in the bound has exactly one such group.
    """
    distances, shares = goal.required, []
    for centered in goal.exits:
        kept = tuple([joint for joint in centered.parts if len(joint.noises) <= _MOST_NOISES])
        for share in least_slacks(goal, [replace(centered, parts=kept)]).bound.shares:
            if len(kept) != len(centered.parts) - 1:
                return None
            (large,) = [joint for joint in centered.parts if joint not in kept]
            slacks = [goal.slack_bound(half) for half in large.halfspaces]
            missed = [
                _missed(large, half, distances.level(slack))
                for half, slack in zip(large.halfspaces, slacks, strict=True)
                if slack is not None
            ]
            if len(missed) == len(slacks):
                weight = ExpPoly.ONE if share.weight is None else share.weight
                shares += [share, *[Share(-weight, (*share.events, event)) for event in missed]]
    return Bounds((Bound(tuple(shares)),), None)


def _missed(component: NoiseComponent, half: Affine, level: Level) -> Event:
    """Return an event at least as probable as the failure of `half`, one of the half-spaces of `component`.

    `level` is the pair (base, slope): the slack of `half` is at least base + slope·distance.
    """
    (alone,) = connected(component, [half])
    beyond = -alone.halfspaces[0]
    numbers = [*level, *[c for _, c in beyond.noises], *[noise.mean for noise in alone.noises]]
    whole = is_whole(alone) and all(number.denominator == 1 for number in numbers)
    # An integer below 0 is at most -1.
    return replace(alone, halfspaces=(beyond,)).event([(-level[0] - whole, -level[1])])


#: The rules whose bounds are tried, cheapest first.
_RULES: tuple[_Bounding, ...] = (LEAST_SLACKS.bounds, CLAMPS.bounds, _unions, complement, vertices, joint_tails)


# --- one distance after the other -------------------------------------------------------------------

#: Returns a proof of a goal about one distance, or None if there is no proof.
Proving = Callable[[Goal], Asking[Proof | None]]


def at_every_integer(goal: Goal, proving: Proving, start: int) -> Asking[Proof | Fraction | None]:
    """Prove `goal` at each integer distance, small distances one by one and all others at once.

    The goal leaves a distance open, and its class has int inputs. `proving` proves a goal about one distance. If all
    distances from other answers are integers, only those >= `start` are proved.

    Return the proof at the least distance, or the first distance at which `proving` failed. The result is None if no
    proof for all large distances at once is found.
    """
    if not goal.required.alpha_rate:
        return (yield from _by_rounded_gammas(goal, proving))
    if not goal.convex.inputs.integral:
        return (yield from _by_rounded_distances(goal, proving))
    return (yield from _at_every_distance(goal, proving, start))


def _by_rounded_gammas(goal: Goal, proving: Proving) -> Asking[Proof | Fraction | None]:
    """Prove `goal` for every gamma: one proof for each integer k covers all gammas with k - 1 <= gamma < k.

    `proving` proves a goal about one k. For these gammas, the probability is at least the one at gamma = k - 1. If beta
    never grows with gamma, beta is at least its value at gamma = k.

    If all k are proved, return the proof for the least k, which represents them; else the first k for which `proving`
    failed. The result is None if this method does not apply, or if no proof for all large k at once is found.
    """
    claim, distances = goal.setting.claim, goal.required
    if not conditions.trend(claim.beta, "gamma", claim.names(), claim.intervals).falls:
        return None

    def wanted(number: Fraction) -> Requirement:
        return Requirement.fixed(distances.alpha_base, number - 1, claim.at_gamma(number))

    rounded = replace(distances, gamma_base=-_ONE, gamma_rate=_ONE)
    return (yield from _one_by_one(goal, wanted, rounded, None, proving))


def _by_rounded_distances(goal: Goal, proving: Proving) -> Asking[Proof | Fraction | None]:
    """Prove `goal` for every distance: one proof for each integer k covers all u with k - 1 < dd(u) <= k.

    `proving` proves a goal about one k. At these inputs, facets of ints have moved as far as for dd(u) = k, and other
    facets as far as for dd(u) = k - 1. If beta never grows with the distance, beta is at least its value at k.

    If all k are proved, return the proof for the least k, which represents them; else the first k for which `proving`
    failed. The result is None if this method does not apply, if the goal is not proved at the distance 0, or if no
    proof for all large k at once is found.
    """
    claim, required = goal.setting.claim, goal.required
    if required.gamma_rate or not conditions.trend(claim.beta, "alpha", claim.names(), claim.intervals).falls:
        return None
    near = goal.requiring(claim.at_number(_ZERO))
    if near.empty is not None or (yield from proving(near)) is None:
        return None
    rounded = Goal(goal.setting, replace(goal.convex, facets=tuple(_rounded_facets(goal.convex))), required)
    if rounded.empty is not None:
        return None
    return (yield from _at_every_distance(rounded, proving))


def _rounded_facets(convex: ConvexClass) -> Iterator[Affine]:
    """Yield one half-space for each facet of `convex`; each moves with an integer k >= 1.

    All inputs of `convex` with k - 1 < dd(u) <= k are in these half-spaces.
    """
    inputs = convex.inputs
    for index, facet in enumerate(convex.facets):
        step, form = step_of(facet), still(facet)
        whole = all(slot in inputs.whole for slot, _ in form.inputs)
        # A facet of the region is crossed after an integer distance. An integer that is at least alpha is at least k.
        integers = [form.constant, *(c for _, c in form.inputs)]
        exact = index < len(inputs.region.guards) or (step == 1 and all(number.denominator == 1 for number in integers))
        yield facet if whole and exact else facet.shifted(step)


def at_distance(goal: Goal, distance: Fraction) -> Goal:
    """Return `goal` for the single value `distance` of the distance from other answers."""
    return goal.requiring(goal.setting.claim.at_number(distance))


def _at_every_distance(goal: Goal, proving: Proving, start: int = 1) -> Asking[Proof | Fraction | None]:
    wanted, distances = goal.setting.claim.at_number, goal.required
    return (yield from _one_by_one(goal, wanted, distances, goal.greatest, proving, start))


def _one_by_one(
    goal: Goal,
    wanted: Callable[[Fraction], Requirement],
    distances: Requirement,
    greatest: Fraction | None,
    proving: Proving,
    start: int = 1,
) -> Asking[Proof | Fraction | None]:
    """Prove `goal` with the requirement `wanted(d)` at each integer distance d from `start` to `greatest`.

    `proving` proves a goal at one d. If `greatest` is large, or None because there is no greatest distance, only a few
    small distances are proved one by one, and all others at once. Alpha and gamma are then the functions of d in
    `distances`. Return the proof at the first d, or the d at which `proving` failed, or None if the others are not
    proved.
    """
    last: int | None = None
    first: Proof | None = None
    for distance in count(start):
        if greatest is not None and distance > greatest:
            break
        if distance == start + _FIRST and (greatest is None or greatest > MOST_SINGLE):
            last = _start_of_all(goal, distances)
            if last is None:
                return None
        if last is not None and distance >= last:
            break
        each = goal.requiring(wanted(Fraction(distance)))
        if each.empty is not None:
            break
        proved = yield from proving(each)
        if proved is None:
            return Fraction(distance)
        first = first or proved
    if first is None:
        least = wanted(_ONE)
        assert least.beta is not None, "beta is known at a number"
        obligation = Obligation(Bound(()), least.beta, goal.setting.claim.intervals)
        first = Proof(goal, None, (obligation,), Farkas(Derivation.WAYS, ()))
    return first
