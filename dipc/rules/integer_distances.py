"""Int inputs at all distances to disagreement from some one on, at once.

Over ints alpha = dd(u) is an integer k, and the probabilities of integer noise are no functions of k·eps: the single
obligation that decides all distances of real inputs does not exist. Small distances are decided one by one. From some
start on every slack is at least base + slope·k, the probability at these bounds is a closed form in eps and k (see
`lattice_trend`), and that less 1 - beta is to be nowhere negative (see `never_negative`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import count
from math import ceil
from typing import TYPE_CHECKING, TypeVar

from dipc.algebra.exppoly import Closed, ExpPoly, fraction_of
from dipc.algebra.limits import OutsideFragment, Undecided
from dipc.algebra.parametric import Kind, Parametric, Selected, Selection
from dipc.chain.state import Affine
from dipc.claims.conditions import trend
from dipc.decide.obligation import Bound, Decision, Obligation
from dipc.frozen import Later, frozen
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event
from dipc.measure.measure import Measurer
from dipc.rules.centered_exits import CenteredExit, NoiseComponent, ShiftedHalfspace, connected
from dipc.rules.class_claim import ClassClaim, Fixed
from dipc.rules.goal import ConvexClass, Goal, Requirement, at_zero, fixed_requirement
from dipc.rules.halfspaces import Moving, best_bound
from dipc.rules.joint_tails import front_of, is_tail, total_of
from dipc.rules.least_slacks import slack_of
from dipc.rules.rule import ClaimedDistances, Farkas, Instance, Posed
from dipc.rules.vertices import Certain, End, box_of
from dipc.sign.piecewise import over_positive
from dipc.sign.polynomial import Growth, Trend, never_negative, of_ring, times, total

if TYPE_CHECKING:
    from dipc.measure import lattice
else:
    lattice = Later("dipc.measure.lattice")

_ZERO, _ONE = Fraction(0), Fraction(1)


R = TypeVar("R")

#: Distances that are decided one by one, at most, and by how many more are tried where a proof fails.
MOST_SINGLE = 24
_MORE = (0, 2, 5)

#: How much further away bounds of slacks are compared.
_FURTHER = (0, 100)

#: How many are decided before one proof for all others is tried.
_FIRST = 2

#: Noises of one part: the sums over more of them take too long.
_MOST_NOISES = 4


@frozen
class _Ratio:
    """A function of eps and k: numerator over the product of these functions with these powers, positive ones."""

    numerator: Trend
    below: Mapping[ExpPoly, int]

    @staticmethod
    def of(value: Closed) -> _Ratio:
        above, below = fraction_of(value)
        return _Ratio(of_ring(above), {} if below == 1 else {below: 1})

    def __add__(self, other: _Ratio) -> _Ratio:
        common = {
            factor: max(self.below.get(factor, 0), other.below.get(factor, 0))
            for factor in self._all_denominators(other)
        }
        return _Ratio(total([self._over(common), other._over(common)]), common)

    def __mul__(self, other: _Ratio) -> _Ratio:
        both = {
            factor: self.below.get(factor, 0) + other.below.get(factor, 0) for factor in self._all_denominators(other)
        }
        return _Ratio(times(self.numerator, other.numerator), both)

    def _all_denominators(self, other: _Ratio) -> list[ExpPoly]:
        return list(dict.fromkeys([*self.below, *other.below]))

    def _over(self, below: Mapping[ExpPoly, int]) -> Trend:
        """The numerator over a multiple of the denominator."""
        result = self.numerator
        for factor, power in below.items():
            for _ in range(power - self.below.get(factor, 0)):
                result = times(result, of_ring(factor))
        return result


_Bounding = Callable[[int], Sequence[_Ratio]]


@frozen
class FarAway:
    """What is claimed of an instance with int inputs at integer distances; `only_at` is the one eps that the program is
    for, where it is."""

    claim: ClassClaim
    instance: Instance
    measurer: Measurer
    only_at: Fraction | None = None
    #: How much further away than where it is used a bound is the best.
    further: int = 0

    def start(self) -> int | None:
        """A distance from which on the claim is proved for all inputs of the class; None where none is found. Of the
        bounds of a slack that is taken which is best there, or which is best further away."""
        if self.only_at is not None:
            return None
        result = (replace(self, further=further)._start() for further in _FURTHER)  # noqa: SLF001 - of the same kind
        return next((start for start in result if start is not None), None)

    def _start(self) -> int | None:
        beta = self.claim.beta.value(self.claim.names(), open_divisors=True)
        for bounds in (
            self._to_answer,
            self._whatever_exit,
            self._from_unions,
            self._to_others,
            self._from_vertices,
            self._from_tails,
        ):
            least = 1
            for more in _MORE:
                try:
                    least, ratios = self._settled(bounds, least + more)
                except Undecided:
                    break
                if not ratios:
                    break
                if all(self._meets(each, beta, least) for each in ratios):
                    return least
        return None

    def _settled(self, bound: _Bounding, start: int) -> tuple[int, Sequence[_Ratio]]:
        """The bounds from some distance on, which is at least `start`. Raises Undecided."""
        while start <= MOST_SINGLE:
            try:
                return start, bound(start)
            except lattice.Unsettled as small:
                start = max(small.enough, start + 1)
        raise OutsideFragment("the probability is one function of the distance only for large distances")

    def _meets(self, ratio: _Ratio, beta: Selected, start: int) -> bool:
        match beta:
            case Parametric():
                wanted = self._of_beta(beta)
                if wanted is None:
                    return False
                rest = ratio + wanted + _Ratio.of(ExpPoly.constant(-_ONE))
                return never_negative(rest.numerator, start, self.claim.intervals)
            case Selection(kind=Kind.MIN, arguments=arguments):
                return all(self._meets(ratio, each, start) for each in arguments)
            case Selection(kind=Kind.MAX, arguments=arguments):
                return any(self._meets(ratio, each, start) for each in arguments)
            case _:
                return False

    def _of_beta(self, beta: Parametric) -> _Ratio | None:
        over = over_positive(ExpPoly.ONE, beta.denominator, self.claim.intervals)
        if over is None:
            return None
        numerator: list[Trend] = []
        for k, q, factors, c in beta.terms():
            if len(factors) > 1:
                return None
            ((_, degree, rate),) = factors or (("", 0, _ZERO),)
            numerator.append({Growth(k, degree, -q, -rate): c})
        return _Ratio(total(numerator), {}) * _Ratio.of(over)

    # --- bounds of the probability: at every distance it is at least one of them; none where none is known --------

    def _to_answer(self, start: int, *, by_unions: bool = False) -> Sequence[_Ratio]:
        """The sum over the exits with the answer, at lower bounds of their slacks; those without one count as 0."""
        ratio = _Ratio({}, {})
        for centered in self.instance.exits:
            if centered.in_balls and not self.instance.distances.gamma_base and not self.instance.distances.gamma_rate:
                continue
            if all(self._is_near(point, start) for point in centered.points):
                each = self._by_union(centered, start) if by_unions else self._ratio(centered, start, least=True)
                ratio = ratio if each is None else ratio + each
        return [ratio]

    def _whatever_exit(self, start: int) -> Sequence[_Ratio]:
        """One event of the noises (see `clamps`)."""
        distances = self.instance.distances
        if distances.gamma_rate < 0:
            return ()
        near = self.instance.find_near(distances.gamma_base + start * distances.gamma_rate)
        ratio = None if near is None else self._ratio(near, start, least=True)
        return () if ratio is None else [ratio]

    def _from_unions(self, start: int) -> Sequence[_Ratio]:
        """The same where one part has too many noises to be measured: it fails with no more than the probabilities
        together that one of its half-spaces does."""
        return self._to_answer(start, by_unions=True)

    def _by_union(self, centered: CenteredExit, start: int) -> _Ratio | None:
        large = [joint for joint in centered.parts if len(joint.noises) > _MOST_NOISES]
        if len(large) != 1:
            # The product of two bounds that may be negative is none.
            raise OutsideFragment("no part has many noises, or several have")
        (component,) = large
        kept = tuple(each for each in centered.parts if each is not component)
        rest = self._ratio(replace(centered, parts=kept), start, least=True)
        bounds = [(half, self._slack(half, start, least=True)) for half in component.halfspaces]
        if rest is None or any(slack is None for _, slack in bounds):
            return None
        missed = [self._missed(component, half, slack, start) for half, slack in bounds if slack is not None]
        return rest * self._without(missed)

    def _missed(
        self, component: NoiseComponent, half: ShiftedHalfspace, slack: tuple[Fraction, Fraction], start: int
    ) -> _Ratio:
        """At least the probability that one half-space does not hold, where its slack is this one at least."""
        (alone,) = connected(component, [half])
        beyond = replace(half, coefficients=tuple([(noise, -c) for noise, c in alone.halfspaces[0].coefficients]))
        numbers = [*slack, *[c for _, c in beyond.coefficients], *[noise.mean for noise in alone.noises]]
        whole = not component.continuous and all(number.denominator == 1 for number in numbers)
        # What is an integer, and below 0, is at most -1.
        opposite = -slack[0] - whole, -slack[1]
        return self._measure(replace(alone, halfspaces=(beyond,)), [(beyond, opposite)], start)

    def _to_others(self, start: int) -> Sequence[_Ratio]:
        """1 less the sum over all exits with other answers, at upper bounds of their slacks."""
        if self.instance.others is None:
            return ()
        every = self.instance.possible_others
        return [self._without([self._greatest(centered, centered.parts, start) for centered in every])]

    def _from_vertices(self, start: int) -> Sequence[_Ratio]:
        """The sums over the exits at the vertices of a box (see `vertices`)."""
        box = box_of(self.instance.exits)
        if box is None:
            return ()

        def ends(joint: NoiseComponent) -> list[End]:
            (half,) = joint.halfspaces
            least, most = self._slack(half, start, least=True), self._slack(half, start, least=False)
            return [Certain(one=False) if least is None else least, Certain(one=True) if most is None else most]

        result = []
        for vertex in box.vertices(ends):
            total = _Ratio({}, {})
            for centered, compared in vertex:
                each = _weight(centered)
                for component, slack in compared:
                    each = each * self._measure(component, [(component.halfspaces[0], slack)], start)
                total = total + each
            result.append(total)
        return result

    def _from_tails(self, start: int) -> Sequence[_Ratio]:
        """As from other answers, where tails are put together (see `joint_tails`)."""
        if self.instance.others is None:
            return ()
        wrong, joined = [], False
        for centered in self.instance.possible_others:
            tails = [component for component in centered.parts if self._is_tail(component, start)]
            amount = self._bound(total_of(tails), start) if len(tails) > 1 else None
            if amount is None or amount[0] + amount[1] * start < 0 or amount[1] < 0:
                tails = []
            each = self._greatest(
                centered, [component for component in centered.parts if component not in tails], start
            )
            if tails:
                assert amount is not None
                joined = True
                each = each * _Ratio.of(front_of(tails)) * _Ratio({Growth(0, 0, *amount): _ONE}, {})
            wrong.append(each)
        return [self._without(wrong)] if joined else ()

    def _is_tail(self, component: NoiseComponent, start: int) -> bool:
        if not is_tail(component):
            return False
        bound = self._bound(-component.halfspaces[0].slack, start)
        return bound is not None and bound[1] >= 0 and bound[0] + bound[1] * start >= 0

    def _greatest(self, centered: CenteredExit, components: Sequence[NoiseComponent], start: int) -> _Ratio:
        ratio = self._ratio(replace(centered, parts=tuple(components)), start, least=False)
        assert ratio is not None, "constraints without a bound are left out"
        return ratio

    @staticmethod
    def _without(wrong: Sequence[_Ratio]) -> _Ratio:
        ratio = _Ratio.of(ExpPoly.ONE)
        for each in wrong:
            ratio = ratio + _Ratio.of(ExpPoly.constant(-_ONE)) * each
        return ratio

    def _is_near(self, point: Affine, start: int) -> bool:
        """Whether one side of an output without noise is within gamma of det's at all these distances."""
        slack = self._bound(point, start)
        if slack is None:
            return False
        base = slack[0] + self.instance.distances.gamma_base
        slope = slack[1] + self.instance.distances.gamma_rate
        return slope >= 0 and base + slope * start >= 0

    def _ratio(self, centered: CenteredExit, start: int, *, least: bool) -> _Ratio | None:
        ratio = _weight(centered)
        for component in centered.parts:
            bounds = [self._slack(half, start, least=least) for half in component.halfspaces]
            if least and None in bounds:
                return None
            kept = [
                (half, bound) for half, bound in zip(component.halfspaces, bounds, strict=True) if bound is not None
            ]
            ratio = ratio * self._measure(component, kept, start)
        return ratio

    def _measure(
        self, component: NoiseComponent, kept: Sequence[tuple[ShiftedHalfspace, tuple[Fraction, Fraction]]], start: int
    ) -> _Ratio:
        slopes = [slope for _, (_, slope) in kept]
        constraints = [Halfspace(half.coefficients, base) for half, (base, _) in kept]
        event = Event(component.noises, tuple(constraints))
        if not any(slopes):
            return _Ratio.of(self.measurer.measure(event))
        if (
            len(component.noises) == 1
            and len(kept) == 1
            and component.continuous
            and component.noises[0].law.exponential_tails
        ):
            return self._tail(component, *kept[0], start)
        if component.continuous or len(component.noises) > _MOST_NOISES:
            raise OutsideFragment("too many noises are compared with each other")
        trend = lattice.lattice_trend(event, slopes, start, self.measurer.limits)
        ratio = _Ratio({}, {})
        for summand, c in trend.summands.items():
            growth = Growth(0, summand.powers[trend.place], -summand.exponent, -summand.slopes[trend.place])
            ratio = ratio + _Ratio({growth: c}, {_less(d): power for d, power in summand.poles})
        for rate in trend.rates:
            decay = ExpPoly.term(1, 0, -rate)
            ratio = ratio * _Ratio(of_ring(1 - decay), {1 + decay: 1})
        return ratio

    def _tail(
        self, component: NoiseComponent, half: ShiftedHalfspace, slack: tuple[Fraction, Fraction], start: int
    ) -> _Ratio:
        """Pr[c·N + base + slope·k >= 0] for one real noise with exponential tails: on one side for all k >= start."""
        ((_, c),) = half.coefficients
        (noise,) = component.noises
        base, slope = slack[0] + c * noise.mean, slack[1]
        rate = noise.rate / abs(c)
        if base + slope * start >= 0 and slope >= 0:
            return _Ratio({Growth(0, 0, _ZERO, _ZERO): _ONE, Growth(0, 0, rate * base, rate * slope): -_ONE / 2}, {})
        if base + slope * start <= 0 and slope <= 0:
            return _Ratio({Growth(0, 0, -rate * base, -rate * slope): _ONE / 2}, {})
        raise lattice.Unsettled(start + 1)

    def _slack(self, half: ShiftedHalfspace, start: int, *, least: bool) -> tuple[Fraction, Fraction] | None:
        """(base, slope) such that the slack is always at least, or at most, base + slope·k; None where it has none."""
        bound = self._bound(half.slack if least else -half.slack, start)
        if bound is None:
            return None
        sign = 1 if least else -1
        radius = half.radius
        return (
            sign * bound[0] + radius * self.instance.distances.gamma_base,
            sign * bound[1] + radius * self.instance.distances.gamma_rate,
        )

    def _bound(self, form: Affine, start: int) -> tuple[Fraction, Fraction] | None:
        """(base, slope) such that form(u) >= base + slope·k for every u of the class with dd(u) >= k."""
        alpha = self.instance.distances.alpha
        bound = best_bound(form, self.instance.facets, Fraction(start + self.further) if alpha is None else alpha)
        if bound is None:
            return None
        if alpha is not None:
            # It is gamma that is left open.
            at_alpha = ClaimedDistances(alpha, _ZERO, _ZERO, _ZERO)
            return slack_of(form, bound, 0, at_alpha, self.instance.whole).base, _ZERO
        # At integers k a form of ints differs from slope·k by its constant and an integer, if the slope is one.
        integers = all(slot in self.instance.whole and c.denominator == 1 for slot, c in form.inputs)
        whole = form.inputs and integers and bound.slope.denominator == 1
        base = form.constant + ceil(bound.base - form.constant) if whole else bound.base
        return base, bound.slope


def _weight(centered: CenteredExit) -> _Ratio:
    return _Ratio.of(ExpPoly.ONE if centered.weight is None else centered.weight)


def _less(rate: Fraction) -> ExpPoly:
    return ExpPoly.ONE - ExpPoly.term(1, 0, -rate)


# --- one distance after the other -------------------------------------------------------------------

#: Asks for decisions, and returns the result.
Asking = Generator[Obligation | Bound, Decision, R]

#: Gives what proves a goal about one distance, None where nothing does.
Proving = Callable[[Goal], Asking[Posed | None]]


@frozen
class ByIntegers:
    """A goal proved at each integer distance, or gamma: `posed` proves it at the least one. Else `posed` is None and
    `failing` the first distance without a proof; None where it is the proof for all large ones at once that fails."""

    posed: Posed | None
    failing: Fraction | None = None


_NOTHING = ByIntegers(None)


def at_every_integer(goal: Goal, proving: Proving, start: int = 1) -> Asking[ByIntegers]:
    """A goal about a class with int inputs that leaves a distance open, by one integer after the other, and all that
    are left at once; of integer distances alone only those from `start` on."""
    if not goal.required.distances.alpha_rate:
        return (yield from _by_rounded_gammas(goal, proving))
    if not goal.convex.inputs.integral:
        return (yield from _by_rounded_distances(goal, proving))
    return (yield from _at_every_distance(goal, proving, start))


def _by_rounded_gammas(goal: Goal, proving: Proving) -> Asking[ByIntegers]:
    """Where k - 1 <= gamma < k, the probability is at least that at k - 1, and beta at least that at k, if it never
    grows."""
    claim, distances = goal.setting.claim, goal.required.distances
    if not trend(claim.beta, "gamma", claim.names(), claim.intervals).falls:
        return _NOTHING
    alpha = distances.alpha_base

    def wanted(number: Fraction) -> Requirement:
        return fixed_requirement(Fixed(alpha, number - 1, claim.at_gamma(number)))

    rounded = replace(distances, gamma_base=-_ONE, gamma_rate=_ONE)
    return (yield from _one_by_one(goal, wanted, _far_away(goal, rounded), None, proving))


def _by_rounded_distances(goal: Goal, proving: Proving) -> Asking[ByIntegers]:
    """Where k - 1 < dd(u) <= k, facets of ints are as far as k and others as k - 1, and beta is at least what it is at
    k, if it never grows."""
    claim, required = goal.setting.claim, goal.required
    if required.distances.gamma_rate or not trend(claim.beta, "alpha", claim.names(), claim.intervals).falls:
        return _NOTHING
    near = goal.requiring(at_zero(claim))
    if near.empty is not None or (yield from proving(near)) is None:
        return _NOTHING
    rounded = Goal(goal.setting, replace(goal.convex, facets=tuple(_rounded_facets(goal.convex))), required)
    if rounded.empty is not None:
        return _NOTHING
    return (yield from _at_every_distance(rounded, proving))


def _rounded_facets(convex: ConvexClass) -> Iterator[Moving]:
    """What is true at k of all inputs of the class with k - 1 < dd(u) <= k, for every integer k >= 1."""
    inputs = convex.inputs
    for index, facet in enumerate(convex.facets):
        whole = all(slot in inputs.whole for slot, _ in facet.form.inputs)
        # A facet of the region is passed after an integer distance; and what is an integer, and at least alpha, is at
        # least k.
        integers = [facet.form.constant, *(c for _, c in facet.form.inputs)]
        exact = index < len(inputs.region.guards) or (
            facet.step == 1 and all(number.denominator == 1 for number in integers)
        )
        yield facet if whole and exact else Moving(facet.form.shifted(facet.step), facet.step)


def at_distance(goal: Goal, distance: Fraction) -> Goal:
    """What the goal says of inputs that are so far from other answers."""
    return goal.requiring(fixed_requirement(goal.setting.claim.at_number(distance), str(distance)))


def _at_every_distance(goal: Goal, proving: Proving, start: int = 1) -> Asking[ByIntegers]:
    """For every integer from `start` on that is the distance of an input of the class."""
    claim = goal.setting.claim

    def wanted(distance: Fraction) -> Requirement:
        return fixed_requirement(claim.at_number(distance), str(distance))

    far = _far_away(goal, goal.required.distances)
    return (yield from _one_by_one(goal, wanted, far, goal.greatest, proving, start))


def _one_by_one(
    goal: Goal,
    wanted: Callable[[Fraction], Requirement],
    far: FarAway,
    greatest: Fraction | None,
    proving: Proving,
    start: int = 1,
) -> Asking[ByIntegers]:
    """What is wanted at each integer from `start` on, up to the greatest that inputs of the class have: where they have
    none, nothing is."""
    last: int | None = None
    posed: Posed | None = None
    for distance in count(start):
        if greatest is not None and distance > greatest:
            break
        if distance == start + _FIRST and (greatest is None or greatest > MOST_SINGLE):
            last = far.start()
            if last is None:
                return _NOTHING
        if last is not None and distance >= last:
            break
        each = goal.requiring(wanted(Fraction(distance)))
        if each.empty is not None:
            break
        proved = yield from proving(each)
        if proved is None:
            return ByIntegers(None, Fraction(distance))
        posed = posed or proved
    if posed is None:
        least = wanted(_ONE)
        assert least.beta is not None, "at a number"
        obligation = Obligation(Bound(()), least.beta, goal.setting.claim.intervals)
        posed = Posed(obligation, least.variable, Farkas(goal.convex.facets, least.distances, ()))
    return ByIntegers(posed)


def _far_away(goal: Goal, distances: ClaimedDistances) -> FarAway:
    program = goal.setting.program
    return FarAway(goal.setting.claim, goal.united.at(distances), program.measurer, program.core.only_at)
