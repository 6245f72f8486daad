"""Decide bounds whose closed form is too long, by Taylor polynomials in ball arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil, floor, gcd, lcm

import flint

from dipc.algebra.exppoly import Closed, ClosedForm, ExpPoly, fraction_of, total
from dipc.algebra.limits import LimitReached, Limits, OutsideFragment, Undecided
from dipc.algebra.numbers import outward, to_fmpq
from dipc.algebra.reals import Real
from dipc.decide.obligation import DIGITS, Counterexample, Decision, Obligation, Verdict, decide
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Happening, Noise
from dipc.measure.measure import (
    Bound,
    BoundMeasurer,
    EnclosedForm,
    Share,
    left_out,
    majorant_of,
    series_of,
)
from dipc.measure.normal import normal_measure
from dipc.measure.power_series import DISK, coefficients, precision
from dipc.sign.interval import Interval, simplest_between
from dipc.sign.normal import NormalBeta, NormalSum, normal_function
from dipc.sign.piecewise import FormCell, PiecewiseForm

#: The size of the first cells, in parts of the disk's radius; the most halvings of an undecided cell; and the most
#: halvings of the parts of a cell on which a polynomial is examined, usually and where it is positive in the middle.
SHARE = Fraction(1, 3)
MOST_HALVINGS, MOST_PARTS, MOST_FINE_PARTS = 6, 7, 100

#: The most exponents of tails that are kept; more are rounded to multiples of the least one divided by this number.
_FEW_TAILS, _STEPS = 4, 8

#: The most cells of one obligation.
MOST_CELLS = 200

#: The bits of remainders: the first, and those where the slack may be very small; balls are smaller by _BLUR bits.
_REMAINDERS, _BLUR = (24, 96, 192), 16

#: The greatest precision of balls.
_MOST_BITS = 6_000

#: Values of eps that are tested first for a counterexample.
_SAMPLES = [Fraction(n) for n in (1, 2, 4, 8, 16, 32, 128, 1024)] + [Fraction(1, n) for n in (2, 4, 8, 32, 128, 1024)]

#: Digits of the numbers that are compared at one eps, and at the ends.
_DIGITS_AT_ONE = (DIGITS, 3 * DIGITS, 9 * DIGITS)

#: An interval is short if its upper end is less than _SHORT times its lower end. An unbounded interval is sampled up to
#: _FAR times its lower end, in _PARTS parts.
_SHORT, _FAR, _PARTS = 8, 64, 4

#: Multiples of the lower end from which an unbounded interval is sampled, each up to twice that.
_NEAR = (1, 2, 4)

#: The values of eps at which a bound of the tails of normal noise may begin.
STARTS = tuple([Fraction(2) ** n for n in (*range(-10, 21), *range(24, 65, 4))])

#: The precision of probabilities near 0, in bits.
_BITS_AT_ZERO = 64

_ZERO, _ONE = Fraction(0), Fraction(1)


def decide_by_series(obligation: Obligation, bounds: BoundMeasurer, limits: Limits) -> Decision:
    """Decide `obligation` by Taylor series of its bound, without a closed form of the bound.

    ACCURATE comes only with a proof for every eps of the intervals, INACCURATE only with an eps in them that refutes
    the inequality. Otherwise the decision is UNDECIDED, and its reason says near which eps the sign is not known. The
    reason is empty if the method does not apply. `bounds` measures events, and `limits` bound the work.
    """
    try:
        return SeriesDecision(obligation, bounds, limits).decide()
    except Undecided as undecided:
        # Where there is a closed form, its own reason is reported instead.
        return Decision.undecided(undecided.reason if obligation.bound.is_without_form else "")


def too_long(undecided: Undecided, tried: Decision) -> Decision:
    """Return an UNDECIDED decision for an obligation that neither a closed form nor Taylor series decide.

    `undecided` says why there is no closed form. `tried` is the decision by Taylor series. The result has both reasons.
    """
    return Decision.undecided(f"{undecided.reason}, and {tried.reason}" if tried.reason else undecided.reason)


class _Refuted(Exception):
    def __init__(self, example: Counterexample) -> None:
        super().__init__()
        self.example = example


class SignNotFound(Exception):
    """Raised if the sign of the slack bound + beta - 1 is not found near `eps`.

    If `is_beyond` is True, the sign is not found at greater eps either.
    """

    def __init__(self, eps: Fraction, *, is_beyond: bool = False) -> None:
        super().__init__()
        self.eps = eps
        self.is_beyond = is_beyond


@dataclass
class SeriesDecision:
    """A decision about an `obligation` by Taylor series of its slack, bound - 1 + beta, without a closed form.

    Each series is used on a short interval of eps, a cell; `cells` counts the cells so far. `bounds` measures events,
    and `limits` bound the work.
    """

    obligation: Obligation
    bounds: BoundMeasurer
    limits: Limits
    cells: int = 0

    def decide(self) -> Decision:
        """Decide the obligation. Raises Undecided if the bound has no Taylor series."""
        slack = self.normal_slack()
        if slack is not None and slack.is_zero:
            return Decision(Verdict.ACCURATE)  # with equality
        intervals = tuple(
            each
            for each in self.obligation.intervals
            if slack is None or not (each.is_point and slack.is_zero_at(each.lower))
        )
        if intervals and self.is_number():
            # The claim does not depend on eps: one eps decides it.
            sample = samples(intervals)[0]
            intervals = (Interval(sample, sample, True, True),)
        try:
            left = [
                (open_part, cell)
                for interval in intervals
                for cell in self.plain_beta.cells(interval, self.limits)
                for open_part in self._open_intervals(cell.hull(interval), slack)
            ]
            for sample in samples([open_part for open_part, _ in left]):
                self._holds_visibly(sample)
            for open_part, cell in left:
                self._follow(open_part, cell)
        except _Refuted as found:
            return Decision(Verdict.INACCURATE, None, found.example)
        except SignNotFound as found:
            if found.is_beyond:
                return Decision.undecided(
                    f"beyond eps = {float(found.eps):.3g} the bounds of tails are too weak to decide"
                )
            return Decision.undecided(
                f"near eps = {float(found.eps):.3g} its Taylor polynomials are too coarse to "
                f"decide{self._equality_clause(found.eps)}"
            )
        return Decision(Verdict.ACCURATE)

    def _equality_clause(self, eps: Fraction) -> str:
        """Return a clause for a message, which says that the probability and 1 - beta seem to be equal near `eps`.

        It is "" if they do not seem to be equal.
        """
        point = eps or min(_SAMPLES)
        numerator, denominator = self.plain_beta.fraction_at(point)
        below, above = (poly.enclosure(point, DIGITS) for poly in (numerator, denominator))
        probability = self.form.dyadic_enclosure(point, 4 * DIGITS)[0]
        more = _ZERO if self.normal is None else self.normal.enclosure(point, 4 * DIGITS)[0]
        if abs(probability - 1 + below[0] / above[0] + more) < Fraction(1, 10**15):
            return (
                ": there the probability equals 1 - beta to 15 digits, and enclosures cannot prove that two "
                "numbers are equal"
            )
        return ""

    def _holds_visibly(self, eps: Fraction, digits: int = DIGITS) -> bool:
        """Return True if enclosures of `digits` digits show that the claim holds at `eps`.

        The result is False if the enclosures overlap, or if the claim is not about `eps`. Raises _Refuted if the claim
        fails at `eps`.
        """
        if not _is_in(eps, self.obligation.intervals):
            return False
        probability = self.form.dyadic_enclosure(eps, 4 * digits)
        numerator, denominator = self.plain_beta.fraction_at(eps)
        above, below = (poly.enclosure(eps, 2 * digits) for poly in (denominator - numerator, denominator))
        least, most = (_ZERO, _ZERO) if self.normal is None else self.normal.enclosure(eps, 8 * digits)
        ends = [over / under for over in above for under in below]
        enclosed, required = outward(*probability, digits), outward(min(ends) - most, max(ends) - least, digits)
        if enclosed[1] < required[0]:
            raise _Refuted(Counterexample(eps, enclosed, required))
        return enclosed[0] > required[1]

    @cached_property
    def form(self) -> EnclosedForm:
        """The obligation's bound, of which series are computed. Raises Undecided if it has none."""
        return EnclosedForm.from_bound(self.obligation.bound, self.bounds.measurer, self.limits)

    # --- functions of the normal distribution -----------------------------------------------------------

    @cached_property
    def normal(self) -> NormalSum | None:
        """The terms of beta that contain functions of the normal distribution; None if beta has no such terms."""
        beta = self.obligation.beta
        return NormalSum(ExpPoly.ZERO, beta.sum.terms) if isinstance(beta, NormalBeta) else None

    @cached_property
    def plain_beta(self) -> PiecewiseForm:
        """The terms of beta without functions of the normal distribution."""
        beta = self.obligation.beta
        return PiecewiseForm(beta.sum.plain) if isinstance(beta, NormalBeta) else beta

    def _least_beta(self, *, near_zero: bool = False) -> PiecewiseForm:
        """Return a function that is at most beta, and contains no functions of the normal distribution.

        With `near_zero`, the function is close to beta for small eps. Raises OutsideFragment if no such function is
        known.
        """
        if self.normal is None:
            return self.plain_beta
        below = self.normal.lower_bound(near_zero=near_zero)
        if below is None:
            raise OutsideFragment("the sign of a weight in beta is not known")
        assert isinstance(self.obligation.beta, NormalBeta)
        return PiecewiseForm(self.obligation.beta.sum.plain + below)

    def is_number(self) -> bool:
        """Return True only if neither the bound nor beta depends on eps, as far as their expressions show."""
        beta, shares = self.obligation.beta, self.obligation.bound.shares
        if isinstance(beta, NormalBeta):
            plain = beta.sum.is_number
        else:
            value = None if beta.closed is None else beta.closed.value
            plain = isinstance(value, ExpPoly) and NormalSum.collect(value, ()).is_number
        noises = [noise for share in shares for event in share.events for noise in event.noises]
        return plain and all(share.weight is None for share in shares) and all(noise.law.fixed for noise in noises)

    def normal_slack(self) -> NormalSum | None:
        """Return the slack bound - 1 + beta as a sum of functions of the normal distribution.

        If beta is a quotient, the slack is multiplied by its positive denominator. The result is None if the slack is
        not a sum of this form.
        """
        beta = self.obligation.beta
        below = ExpPoly.ONE
        if isinstance(beta, NormalBeta):
            above = beta.sum
        elif beta.closed is not None:
            numerator, below = fraction_of(beta.closed.value)
            above = NormalSum.collect(numerator, ())
        else:
            return None
        noises = (noise for share in self.obligation.bound.shares for event in share.events for noise in event.noises)
        if isinstance(beta, NormalBeta) and all(noise.law.has_form for noise in noises):
            with suppress(Undecided):
                closed = BoundMeasurer(self.bounds.measurer.brief).measure(self.obligation.bound).value
                return above + NormalSum.collect(closed - 1, ()) if isinstance(closed, ExpPoly) else None
            return None
        functions = self.form.functions()
        return (
            None
            if functions is None
            else above + (functions + NormalSum.collect(ExpPoly.constant(-1), ())).times(below)
        )

    def _tail_bound(self) -> NormalSum | None:
        """Return a lower bound of the slack: beta minus the probabilities that single half-spaces fail.

        The result is None unless beta has normal terms and the bound is one probability, or one product of
        probabilities, of events over normal noises. It is also None if no upper bound is known for the probability that
        some half-space fails.
        """
        beta = self.obligation.beta
        if not isinstance(beta, NormalBeta):
            return None
        try:
            events = self._events()
        except OutsideFragment:
            return None
        total = beta.sum
        for event in events:
            for item in event.constraints:
                tail = _tail_loss(event, item)
                if tail is None:
                    return None
                total = total + tail
        return total

    def _next_to_ends(self, interval: Interval, slack: NormalSum | None) -> Interval | None:
        """Return the part of `interval` that is left after the claim was proved next to 0 and to infinity.

        Next to 0, the claim is proved by `slack`, which is Pr - 1 + beta as a sum of functions of the normal
        distribution. Next to infinity, it is proved by `slack` or by the tails of single half-spaces. The result is
        None if nothing is left.
        """
        if slack is not None and slack.is_number and slack.enclosure(_ONE, 4 * DIGITS)[0] > 0:
            return None
        if not interval.lower and slack is not None:
            start = slack.positive_from_zero()
            if start is not None:
                if interval.upper is not None and start >= interval.upper:
                    return None
                interval = replace(interval, lower=start, lower_closed=True)
        if interval.upper is None:
            for far in filter(None, (slack, self._tail_bound())):
                if far.is_zero:
                    return None
                end = next((start for start in STARTS if far.positive_to_infinity(start)), None)
                if end is not None:
                    return None if end <= interval.lower else replace(interval, upper=end, upper_closed=True)
        return interval

    # --- the ends -------------------------------------------------------------------------------------

    def _open_intervals(self, whole: Interval, slack: NormalSum | None) -> list[Interval]:
        """Return the parts of `whole` on which simple lower bounds of the probability do not prove the claim.

        `slack` is Pr - 1 + beta as a sum of functions of the normal distribution, or None.
        """
        interval = self._next_to_ends(whole, slack)
        if interval is None:
            return []
        open_on = list(self._failing(ClosedForm(ExpPoly.ZERO), interval))
        if any(interval.upper is None for interval in open_on):
            open_on = [left for interval in open_on for left in self._far_out(interval)]
        if any(not interval.lower for interval in open_on):
            open_on = [
                left for interval in open_on for left in self._failing(self.next_to_zero(), interval, near_zero=True)
            ]
        return open_on

    def _far_out(self, interval: Interval) -> Iterator[Interval]:
        """Yield parts of `interval` that contain all eps at which the claim is not yet proved.

        If `interval` is unbounded, the claim is proved for large eps by a lower bound of the probability. A bounded
        interval is yielded as a whole.
        """
        if interval.upper is not None:
            yield interval
        elif all(
            noise.law.has_form
            for share in self.obligation.bound.shares
            for event in share.events
            for noise in event.noises
        ):
            yield from self._failing(self.next_to_infinity(), interval)
        else:
            # Normal tails are exponentials in eps²: from `start` on they are at most exponentials in start·eps.
            for start in STARTS:
                if start <= interval.lower:
                    continue
                beyond = list(self._failing(self.from_start_on(start), Interval(start, None, True, False)))
                if all(left.upper is not None for left in beyond):
                    yield replace(interval, upper=start, upper_closed=True)
                    yield from beyond
                    return
            yield interval

    def _failing(self, form: ClosedForm, interval: Interval, *, near_zero: bool = False) -> Iterator[Interval]:
        """Yield intervals that together contain each eps of `interval` at which `form` < 1 - beta.

        `form` is a lower bound of the probability. With `near_zero`, beta is replaced by a lower bound that is sharp
        near 0.
        """
        try:
            decision = decide(form, self._least_beta(near_zero=near_zero), [interval], self.limits)
        except Undecided:
            yield interval
            return
        if decision.verdict is not Verdict.ACCURATE and not decision.failing:
            yield interval
        for failing in decision.failing:
            low, high = failing.start.low, failing.end.high
            yield Interval(low, high, low > 0, high is not None)

    def _events(self) -> tuple[Event, ...]:
        """Return the independent events whose joint probability is the bound.

        Raises OutsideFragment if the bound is not such a probability.
        """
        match self.obligation.bound:
            case Bound(shares=(share,), constant=constant) if share.weight is None and not constant:
                return share.conjunctions
        raise OutsideFragment("near 0 and infinity, bounds are known only for a single product of probabilities")

    def from_start_on(self, start: Fraction) -> ClosedForm:
        """Return a closed form that is at most the obligation's bound for eps >= `start`.

        It is close to the bound for large eps.

        If the tail of each half-space of an event is bounded, the event fails with at most the sum of these bounds. Any
        other event of positive weight is replaced by the probability 0. The probability of an event of negative weight
        is at most that of one of its half-spaces. Raises Undecided if a weight depends on eps.
        """
        least: list[Closed] = [ExpPoly.constant(self.obligation.bound.constant)]
        for share in self.obligation.bound.shares:
            weight = self._weight(share)
            if share.events and all(noise.law.fixed for event in share.events for noise in event.noises):
                least.append(self._number(share, weight))
                continue
            fails = [_failure(event, item, start) for event in share.conjunctions for item in event.constraints]
            if weight > 0 and all(exponent for exponent, _ in fails):
                lost = ExpPoly.from_terms((0, -exponent, w) for exponent, w in _coarsened(fails))
                least.append(weight * (1 - lost))
            elif weight < 0:
                opposites = (
                    (event, Halfspace(tuple((noise, -c) for noise, c in item.coefficients), -item.constant, False))
                    for event in share.conjunctions
                    for item in event.constraints
                )
                held = (_failure(event, opposite, start) for event, opposite in opposites)
                exponent, w = max(held, key=lambda tail: tail[0], default=(_ZERO, _ONE))
                least.append(ExpPoly.term(weight * (w if exponent else _ONE), 0, -exponent))
        return ClosedForm(total(least))

    def _number(self, share: Share, weight: Fraction) -> Closed:
        """Return a lower bound of `weight` times the probability that all events of `share` happen.

        The probability must not depend on eps. `share` is a product of its own weight, which is not used here, and the
        probabilities of independent events.
        """
        return ExpPoly.constant(weight * self._probability_at_one(share.events)[0 if weight > 0 else 1])

    def _probability_at_one(self, events: tuple[Happening, ...]) -> tuple[Fraction, Fraction]:
        """Return rationals between 0 and 1 that enclose the joint probability of `events` at eps = 1."""
        bound = Bound((Share(None, events),))
        form = EnclosedForm.from_bound(bound, self.bounds.measurer, self.limits)
        low, high = form.dyadic_enclosure(_ONE, _BITS_AT_ZERO)
        return max(_ZERO, low), min(_ONE, high)

    def _weight(self, share: Share) -> Fraction:
        if share.weight is None:
            return _ONE
        if not isinstance(share.weight, ExpPoly) or any(
            power or exponent for power, exponent, _ in share.weight.terms()
        ):
            raise OutsideFragment("near 0 and infinity, no bound is known for a weight that depends on eps")
        return sum((c for _, _, c in share.weight.terms()), _ZERO)

    def next_to_infinity(self) -> ClosedForm:
        """Return a closed form that is at most the obligation's bound, and close to it for large eps."""
        alike: dict[object, list[tuple[Fraction, bool, Event, Halfspace]]] = {}
        tails: list[tuple[Fraction, Fraction]] = []
        for event in self._events():
            for item in event.constraints:
                if len(item.coefficients) == 1:
                    tails.append(_tail(event, item))
                    continue
                scaled = [(event.noises[noise], c) for noise, c in item.coefficients]
                # A symmetric noise has the same law with the coefficients c and -c.
                laws = sorted((n.law.identity, abs(c) if n.law.symmetric else c, n.rate) for n, c in scaled)
                member = _slack_at_means(event, item), not item.strict, event, item
                alike.setdefault(tuple(laws), []).append(member)
        missed: list[Closed] = [ExpPoly.from_terms((0, -exponent, weight) for exponent, weight in _coarsened(tails))]
        for members in alike.values():
            _, _, event, item = min(members, key=lambda member: member[:2])
            missed.append(len(members) * self._missed(event, item))
        return ClosedForm(1 - total(missed))

    def _missed(self, event: Event, item: Halfspace) -> Closed:
        """Return the probability that the half-space `item` fails, or an upper bound if its closed form is too long.

        `event` has the noises of the half-space.
        """
        try:
            return 1 - self.bounds.measurer.measure(Event(event.noises, (item,)))
        except LimitReached:
            exponent, weight = _failure(event, item, _ONE)
            return ExpPoly.term(weight, 0, -exponent)

    def next_to_zero(self) -> ClosedForm:
        """Return a closed form that is at most the obligation's bound, and close to it for small eps."""
        least: list[Closed] = [ExpPoly.constant(self.obligation.bound.constant)]
        slope = _ZERO
        for share in self.obligation.bound.shares:
            weight = self._weight(share)
            if share.events and all(noise.law.fixed for event in share.events for noise in event.noises):
                least.append(self._number(share, weight))
                continue
            product: Closed = ExpPoly.constant(weight)
            alone = self._symmetric(share, least=weight > 0)
            if alone is not None:
                least.append(product * alone)
                continue
            for event in share.conjunctions:
                noises = tuple(Noise(noise.law.continuous_neighbor()[0], noise.rate, _ZERO) for noise in event.noises)
                scaled = tuple(Halfspace(item.coefficients, _ZERO, item.strict) for item in event.constraints)
                product = product * self._at_every_eps(Event(noises, scaled), least=weight > 0)
                changes = (_change(event, item, falls=weight > 0) for item in event.constraints)
                slope += abs(weight) * sum(changes, _ZERO)
            least.append(product)
        return ClosedForm(total(least) - ExpPoly.term(slope, 1, _ZERO))

    def _symmetric(self, share: Share, *, least: bool) -> Closed | None:
        """Return a bound of the probability of `share` if it is a single event N >= m of one symmetric integer noise N.

        `share` is a product of a weight, which is not used here, and the probabilities of independent events. The
        result is a lower bound if `least`, else an upper bound. For m <= 0, Pr[N >= m] is (1 + Pr[|N| <= -m])/2. For m
        >= 1 it is (1 - Pr[|N| <= m - 1])/2. The result is None for other events, or if the law of N states no bounds of
        Pr[|N| <= k].
        """
        match share.events:
            case (Event(constraints=(Halfspace(coefficients=((place, c),)) as item,)) as event,):
                noise = event.noises[place]
            case _:
                return None
        if not noise.law.whole or not noise.law.symmetric:
            return None
        edge = -_slack_at_means(event, item) / abs(c)
        first = floor(edge) + 1 if item.strict else ceil(edge)
        bounds = noise.law.central_mass(noise.rate, -first if first <= 0 else first - 1)
        if bounds is None:
            return None
        mass = bounds[0 if (first <= 0) is least else 1]
        return (1 + mass) * Fraction(1, 2) if first <= 0 else (1 - mass) * Fraction(1, 2)

    def _at_every_eps(self, event: Event, *, least: bool) -> Closed:
        """Return a bound of the probability of `event` that holds for every eps.

        It is a lower bound if `least`, else an upper bound, and the probability itself if that has a short closed form.
        """
        try:
            # A number with many terms is enclosed instead.
            return self.bounds.measurer.brief.measure(event)
        except Undecided:
            if not all(noise.law.scales for noise in event.noises):
                return self.bounds.measurer.measure(event)
            return ExpPoly.constant(self._probability_at_one((event,))[0 if least else 1])

    # --- cells ----------------------------------------------------------------------------------------

    def _follow(self, interval: Interval, beta: FormCell) -> None:
        """Prove the claim on `interval`, cell by cell; `beta` is the closed form of `plain_beta` on the whole interval.

        Raises _Refuted if the claim fails at some eps, and SignNotFound if the proof fails.
        """
        if not interval.lower or interval.upper is None:
            raise SignNotFound(interval.lower, is_beyond=interval.lower > 0)
        for end in dict.fromkeys((interval.lower, interval.upper)):
            seen = any(self._holds_visibly(end, digits) for digits in _DIGITS_AT_ONE)
            if interval.is_point and not seen:
                raise SignNotFound(end)
        if interval.is_point:
            return
        left = interval.lower
        step = DISK * SHARE
        while True:
            right = min(interval.upper, left * (1 + step) / (1 - step))
            self._cell(left, right, beta, MOST_HALVINGS)
            if right == interval.upper:
                return
            left = right

    def _cell(self, left: Fraction, right: Fraction, beta: FormCell, halvings: int) -> None:
        """Prove that the slack is positive for eps from `left` to `right`.

        `beta` is the closed form of `plain_beta` on this interval. If the sign is not found, both halves of the
        interval are tried. The interval is halved at most `halvings` times. Raises _Refuted if the claim fails at some
        eps, and SignNotFound.
        """
        self.cells += 1
        center = (left + right) / 2
        radius = (right - left) / 2
        if self.cells > MOST_CELLS:
            raise SignNotFound(center)
        doubtful: list[_CellPart] = []
        for remainder in _REMAINDERS:
            doubtful = self._doubtful(center, radius, beta, remainder)
            if not doubtful:
                return
            if any(piece.negative for piece in doubtful):
                break
        for piece in doubtful:
            # The simplest number may be too far from a negative middle.
            for near in (1, 4, 16, 64) if piece.negative else (1,):
                low, high = (center + radius * (piece.place + side * piece.reach / near) for side in (-1, 1))
                self._holds_visibly(simplest_between(low, high, lower_closed=True, upper_closed=True))
        # Where the slack is as small as the least remainder, half of the cell decides nothing either.
        if not any(piece.negative for piece in doubtful) or not halvings or left == right:
            raise SignNotFound(center + radius * doubtful[0].place)
        self._cell(left, center, beta, halvings - 1)
        self._cell(center, right, beta, halvings - 1)

    def _doubtful(self, center: Fraction, radius: Fraction, beta: FormCell, remainder: int) -> list[_CellPart]:
        """Return the parts of a cell on which a Taylor polynomial does not show that the slack is positive.

        The cell is the interval of eps from `center` - `radius` to `center` + `radius`. On it, `beta` is the closed
        form of `plain_beta`. Positions of parts are relative: -1 and 1 are the ends of the cell. The polynomial differs
        from the slack by approximately 2^-`remainder` or less; a proved bound of the difference is used.
        """
        share = max(radius / (DISK * center), Fraction(1, 2**16))
        # Integrals have errors of half of the bits.
        bits = 2 * (remainder + _BLUR) + 2 * sum(product.noises for product in self.form.products)
        while bits <= _MOST_BITS:
            with precision(bits, 1):
                majorant = self.majorant(center, beta)
                length = _length(majorant, share, remainder)
            with precision(bits, length):
                slack = self.slack_series(center, beta)
                scaled = [c * flint.arb(to_fmpq(radius)) ** k for k, c in enumerate(coefficients(slack, length))]
                blurred = sum((c.rad() for c in scaled), flint.arb(0))
                if all(c.is_finite() for c in scaled) and blurred < flint.arb(2) ** -(remainder + _BLUR):
                    # Balls grow with each change of the argument, so their radii are added once.
                    rest = (left_out(majorant, share, length) + blurred).upper()
                    middles = flint.arb_poly([c.mid() for c in scaled])
                    return list(_not_positive(middles, rest, _CellPart(_ZERO, Fraction(1)), MOST_PARTS))
            bits *= 2
        raise SignNotFound(center)

    def slack_series(self, center: Fraction, beta: FormCell) -> flint.arb_series:
        """Return the Taylor series around `center` of the slack, multiplied by the denominator of `beta`.

        `beta` is the closed form of `plain_beta` near `center`. Its denominator is positive, so that the series has the
        sign of the slack.
        """
        below = series_of(beta.denominator, center)
        slack = (self.form.series(center) - 1) * below + series_of(beta.numerator, center)
        return slack if self.normal is None else slack + self.normal.series(center) * below

    def majorant(self, center: Fraction, beta: FormCell) -> flint.arb:
        """Return an upper bound of |s|, where s is the function whose Taylor series is `slack_series`.

        The bound holds for all complex eps at a distance of at most DISK·`center` from `center`. `beta` is the closed
        form of `plain_beta` near `center`.
        """
        bound = self.form.majorant(center) + 1
        if self.normal is not None:
            bound += self.normal.majorant(center, DISK * center)
        return (bound * majorant_of(beta.denominator, center) + majorant_of(beta.numerator, center)).upper()


def samples(intervals: Sequence[Interval]) -> list[Fraction]:
    """Return some eps in `intervals`, small and large ones, to be tested for a counterexample; simple ones first.

    Most are from a fixed list. An interval that is short, or contains no eps of the list, is divided, and each part
    adds its simplest eps.
    """
    points: set[Fraction] = set()
    for interval in intervals:
        usual = [eps for eps in _SAMPLES if eps in interval]
        points.update(usual)
        high = _FAR * (interval.lower + 1) if interval.upper is None else interval.upper
        low = max(interval.lower, high / _FAR)
        if interval.upper is None:
            # For large eps both sides are 1 to all digits, so a failure is visible only near the start.
            points.update(
                simplest_between(low * times, 2 * low * times, lower_closed=False, upper_closed=True) for times in _NEAR
            )
        if not usual or high < _SHORT * low:
            ends = [low + (high - low) * step / _PARTS for step in range(_PARTS + 1)]
            points.update(
                simplest_between(start, end, lower_closed=True, upper_closed=True) for start, end in pairwise(ends)
            )
    inside = [eps for eps in points if _is_in(eps, intervals)]
    return sorted(inside, key=lambda eps: (eps.denominator, eps.numerator))


def _is_in(eps: Fraction, intervals: Sequence[Interval]) -> bool:
    return any(eps in interval for interval in intervals)


def _length(majorant: flint.arb, share: Fraction, remainder: int) -> int:
    """Return a number of Taylor coefficients after which the rest of the series is close to 2^-`remainder`, or less.

    The function is at most `majorant` on a disk, and the series is used up to `share` times the radius of the disk. The
    number is an estimate, which proves no bound.
    """
    wanted = (majorant * 2**remainder).log() / -flint.arb(to_fmpq(share)).log()
    return max(2, ceil(float(wanted.upper())) + 1)


@frozen
class _CellPart:
    """A part of a cell, which is an interval of eps: the part from `place` - `reach` to `place` + `reach`.

    Positions in the cell are from -1 to 1. The part is `negative` if the slack Pr - 1 + beta is proved to be negative
    at `place`.
    """

    place: Fraction
    reach: Fraction
    negative: bool = False


def _not_positive(polynomial: flint.arb_poly, rest: flint.arb, piece: _CellPart, halvings: int) -> Iterator[_CellPart]:
    """Yield parts of `piece` such that `polynomial` > `rest` is proved outside of them.

    `polynomial` is a function of the position in `piece`, whose ends have the positions -1 and 1. Parts are halved at
    most `halvings` times.
    """
    first, *others = polynomial.coeffs() or [flint.arb(0)]
    if first - sum((abs(c) for c in others), flint.arb(0)) > rest:
        return
    negative = first < -rest
    if negative or halvings <= MOST_PARTS - MOST_FINE_PARTS or (halvings <= 0 and not first > rest):
        yield replace(piece, negative=negative)
        return
    reach = piece.reach / 2
    for side in (-1, 1):
        half = polynomial(flint.arb_poly([flint.arb(side) / 2, flint.arb(1) / 2]))
        yield from _not_positive(half, rest, _CellPart(piece.place + side * reach, reach), halvings - 1)


def _slack_at_means(event: Event, item: Halfspace) -> Fraction:
    return item.constant + sum((c * event.noises[noise].mean for noise, c in item.coefficients), _ZERO)


def _tail(event: Event, item: Halfspace) -> tuple[Fraction, Fraction]:
    """Return (q, w) such that the half-space `item`, over a single noise, fails with probability at most w·e^{-q·eps}.

    `event` has the noise.
    """
    ((i, c),) = item.coefficients
    noise = event.noises[i]
    reach = _slack_at_means(event, item) / abs(c)
    if reach < 0:
        return _ZERO, Fraction(1)
    return noise.law.tail_bound(noise.rate, reach, upward=c < 0, strict=item.strict)


def _tail_loss(event: Event, item: Halfspace) -> NormalSum | None:
    """Return a lower bound of -p, where p is the probability that the half-space `item` of `event` fails.

    The bound is a sum of functions of the normal distribution. It is equal to -p for normal noises, and at most -p for
    discrete normal noises. The result is None for other noises.
    """
    if all(event.noises[i].law.whole for i, _ in item.coefficients):
        tail = _squared_tail(event, item)
        if tail is None:
            return None
        rate, weight = tail
        functions = [(-weight * c, f) for c, f in normal_function("exp", Real.from_rational(-rate), Fraction(2))]
    else:
        try:
            known = normal_measure(Event(event.noises, (item,))).functions()
        except OutsideFragment:
            return None
        if known is None:
            return None
        functions = [*known, (-_ONE, None)]
    total = NormalSum.collect(ExpPoly.ZERO, ())
    for c, function in functions:
        total = total + NormalSum.single(ExpPoly.constant(c), function)
    return total


def _least_deviation(event: Event, item: Halfspace) -> Fraction:
    """Return the least x such that the half-space `item` can fail if the sum of its noises is x below its mean.

    `event` has the noises; in the sum, they have the coefficients of the half-space. For integer noises, the sum has
    only certain values, and x is rounded up accordingly.
    """
    slack = _slack_at_means(event, item)
    noises = [(event.noises[i], c) for i, c in item.coefficients]
    if not noises or not all(noise.law.whole for noise, _ in noises):
        return slack
    # Sums of multiples of integers are multiples of a unit, so the deviation is rounded to the unit.
    unit = Fraction(gcd(*(c.numerator for _, c in noises)), lcm(*(c.denominator for _, c in noises)))
    return ceil(slack / unit) * unit if item.strict else (floor(slack / unit) + 1) * unit


def _squared_tail(event: Event, item: Halfspace) -> tuple[Fraction, Fraction] | None:
    """Return (r, w) with r > 0 such that the half-space `item` of `event` fails with probability at most w·e^{-r·eps²}.

    It fails only if the sum of its noises is s or more below its mean; let S/eps be the standard deviation of the sum.
    For normal noises the probability is Φ(-s·eps/S), and Φ(-x) <= e^{-x²/2}/2 for x >= 0. For other subgaussian noises
    it is at most e^{-(s·eps/S)²/2} (Chernoff). The result is None if s is not positive, or if a noise is not
    subgaussian or its deviation does not depend on eps.
    """
    slack = _least_deviation(event, item)
    noises = [(event.noises[i], c) for i, c in item.coefficients]
    if slack <= 0 or not noises or not all(noise.law.is_subgaussian and not noise.law.fixed for noise, _ in noises):
        return None
    variance = sum((c**2 * noise.law.deviation(noise.rate)[1] ** 2 for noise, c in noises), _ZERO)
    return slack**2 / (2 * variance), max(noise.law.subgaussian_weight for noise, _ in noises)


def _failure(event: Event, item: Halfspace, start: Fraction) -> tuple[Fraction, Fraction]:
    """Return (q, w) such that the half-space `item` of `event` fails with probability at most w·e^{-q·eps}.

    This holds for every eps >= `start`. q is 0 if no bound is known, and w is 0 if the half-space never fails.
    """
    slack = _least_deviation(event, item)
    noises = [(event.noises[i], c) for i, c in item.coefficients]
    if slack <= 0:
        return _ZERO, _ONE
    if not noises:
        return _ONE, _ZERO
    if any(noise.law.fixed for noise, _ in noises):
        return _ZERO, _ONE
    squared = _squared_tail(event, item)
    if squared is not None:
        return start * squared[0], squared[1]
    if len(noises) == 1:
        exponent, weight = _tail(event, item)
        return (exponent, weight) if exponent and weight else (_ZERO, _ONE) if weight else (_ONE, _ZERO)
    # The half-space fails only if some noise exceeds its share of the slack.
    tails = []
    for noise, c in noises:
        reach = slack / (len(noises) * abs(c))
        if noise.law.is_subgaussian:
            variance = noise.law.deviation(noise.rate)[1] ** 2
            tails.append((start * reach**2 / (2 * variance), noise.law.subgaussian_weight))
        else:
            tails.append(noise.law.tail_bound(noise.rate, reach, upward=c < 0, strict=True))
    exponent, weight = min(q for q, _ in tails), sum((w for _, w in tails), _ZERO)
    return (exponent, weight) if exponent and weight else (_ZERO, _ONE)


def _coarsened(tails: Sequence[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """Return pairs (q, w) whose sum Σ w·e^{-q·eps} is at least that over the pairs `tails`, with fewer different q.

    The exponents q are multiples of one number. Exponents with many different denominators would give a polynomial of
    an enormous degree.
    """
    if len({q for q, _ in tails}) <= _FEW_TAILS:
        return list(tails)
    step = min(q for q, _ in tails if q) / _STEPS
    return [(min(q // step, _STEPS**2) * step, w) for q, w in tails]


def _change(event: Event, item: Halfspace, *, falls: bool) -> Fraction:
    """Return an upper bound of how fast the probability of the half-space `item` changes with eps.

    It bounds the rate of decrease if `falls`, else the rate of increase. `event` has the noises of the half-space.
    """
    if not item.coefficients:
        return _ZERO
    noises = [(event.noises[i], abs(c)) for i, c in item.coefficients]
    slack = _slack_at_means(event, item)
    missing = sum((c * noise.law.continuous_neighbor()[1] for noise, c in noises), -slack if falls else slack)
    return max(_ZERO, missing) * min(noise.law.greatest_density(noise.rate) / c for noise, c in noises)
