"""Privacy claims about probabilities that have no closed form, only enclosures: at one eps, and on intervals of eps.

At a pair the least delta is δ(eps) = Σ_o max(0, f_o) with f_o = p_o - e^{budget}·p'_o, where p_o and p'_o are the
probabilities of answer o. On a cell, an interval of eps, each f_o is a Taylor polynomial with a proved remainder. On
part of a cell f_o is proved positive, or proved negative, or replaced by an upper bound. For eps next to 0 and for
large eps, f_o <= p_o - p'_o is used: this difference has bounds with few terms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from math import ceil, floor

import flint

from dipc.algebra.exppoly import Closed, ClosedForm, ExpPoly, fraction_of
from dipc.algebra.limits import OutsideFragment, Undecided
from dipc.algebra.numbers import dyadic, log_enclosure, outward, to_fmpq
from dipc.decide.obligation import Counterexample, Obligation, Verdict, decide
from dipc.decide.series import STARTS, SeriesDecision, SignNotFound, samples
from dipc.measure.measure import (
    Bound,
    EnclosedForm,
    Probability,
    Share,
    left_out,
    majorant_of,
    series_of,
)
from dipc.measure.power_series import DISK, coefficients, precision
from dipc.questions.privacy.adjacency import Pairs
from dipc.questions.privacy.laws import LeastDelta, Subject, TableLaws
from dipc.questions.privacy.loss import IMPOSSIBLE, WITHOUT_FORM, LawTable, Loss, Moment
from dipc.questions.privacy.outcome import (
    Answer,
    Ends,
    PrivacyClaim,
    PrivacyCounterexample,
    Proved,
    power,
)
from dipc.sign.interval import Interval
from dipc.sign.normal import series_at
from dipc.sign.piecewise import PiecewiseForm

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The bits of balls, the number of Taylor coefficients, and how often a cell, and a part of a cell, is halved at most.
_BITS, _LENGTH, _MOST_HALVINGS, _MOST_PARTS = 256, 32, 6, 6

#: Bits of the enclosures that are tried first.
_FEW_BITS = 24

#: Significant digits of counterexamples.
_DIGITS = 20


class EnclosedLaws(TableLaws):
    """The laws of a table in which some probabilities have no closed form, only enclosures."""

    def __init__(self, subject: Subject, table: LawTable, pairs: Pairs) -> None:
        super().__init__(subject, table, pairs)
        self._bounds = subject.engine.bounds
        self._expanded: dict[tuple[int, Fraction], tuple[flint.arb_series, flint.arb]] = {}
        self._searches: dict[tuple[int, int], list[SeriesDecision]] = {}

    # --- at one eps -----------------------------------------------------------------------------------

    def loss(self, eps: Fraction, digits: int) -> Loss:
        best: tuple[Ends, tuple[int, int], int] | None = None
        highest = _ONE
        for pair in self.different:
            for answer, (ours, theirs) in enumerate(self.table.at_pair(pair)):
                if ours in (theirs, IMPOSSIBLE):
                    continue
                if theirs == IMPOSSIBLE:
                    return self._loss(eps, None, pair, answer, "inf")
                (p, more), (q, most) = self._positive(ours, eps, digits), self._positive(theirs, eps, digits)
                ratio = p / most, more / q
                highest = max(highest, ratio[1])
                if best is None or ratio[0] > best[0][0]:
                    best = ratio, pair, answer
        if best is None:
            return self._loss(eps, (_ZERO, _ZERO), self.pairs.ordered[0], 0, WITHOUT_FORM)
        value = log_enclosure(max(_ONE, best[0][0]), highest, digits)
        return self._loss(eps, value, best[1], best[2], WITHOUT_FORM)

    def _moment(self, pair: tuple[int, int], order: int, eps: Fraction, digits: int) -> Moment | None:
        low = high = _ZERO
        for ours, theirs in self.table.at_pair(pair):
            if ours == IMPOSSIBLE:
                continue
            if theirs == IMPOSSIBLE:
                return None
            (p, more), (q, most) = (self._positive(each, eps, order * digits) for each in (ours, theirs))
            low, high = low + p**order / most ** (order - 1), high + more**order / q ** (order - 1)
        return None, (low, high)

    def supremum(self, claim: PrivacyClaim, digits: int) -> LeastDelta:
        """Return bounds of the least delta on the intervals of `claim`, and an eps at which it is at least the lower.

        To lower the upper bound, the interval with the greatest upper bound of all pairs is halved, again and again.
        The search ends when this bound is little more than a delta found at some eps. The bounds have `digits` digits.
        Raises Undecided.
        """
        if self._are_constant:
            return self._supremum_of_constants(claim, digits)
        places = samples(claim.intervals)
        places += [end for i in claim.intervals for end in (i.lower, i.upper) if end is not None and end in i]
        tried = [(self.greatest(claim.budget, eps, digits), eps) for eps in dict.fromkeys(places)]
        best, place = max(tried, key=lambda each: each[0].value[0])

        def result(high: Fraction) -> LeastDelta:
            low, where = best.value[0], self.outputs_of(best)
            known = True if low == high else None
            return self._enclosed_delta(claim, outward(low, high, digits), known, (place, place), where)

        if all(interval.is_point for interval in claim.intervals):
            return result(max(needed.value[1] for needed, _ in tried))
        if any(interval.upper is None for interval in claim.intervals):
            return result(_ONE)
        heap: list[tuple[Fraction, tuple[int, int], Ends]] = []

        def push(pair: tuple[int, int], cell: Ends) -> None:
            functions = self.polynomials(pair, claim.budget, cell)
            with precision(_BITS, _LENGTH):
                most = _at_most(functions, (flint.arb_poly([0]), flint.arb(0)))
                heappush(heap, (-dyadic(most), pair, cell))

        enough = max(best.value[0], _NOTHING)
        for interval in claim.intervals:
            assert interval.upper is not None
            for pair in self.different:
                lower = interval.lower
                if not lower:
                    # For eps next to 0 a smaller delta is needed than elsewhere.
                    most = ClosedForm(self.near_zero(pair))
                    lower = next((end for end in _TO_ZERO if most.enclosure(end)[1] <= enough), _ZERO)
                    if not lower:
                        return result(_ONE)
                for cell in _cells(lower, max(lower, interval.upper)):
                    push(pair, cell)
        for _ in range(_MOST_STEPS):
            if not heap or heap[0][0] >= -max(best.value[0] * _NEAR, _NOTHING):
                break
            _, pair, (left, right) = heappop(heap)
            middle = (left + right) / 2
            there = self.needed(pair, claim.budget, middle, 4 * digits)
            if there.value[0] > best.value[0]:
                best, place = there, middle
            for half in ((left, middle), (middle, right)):
                push(pair, half)
        skipped = enough if any(not interval.lower for interval in claim.intervals) else _ZERO
        return result(min(_ONE, max(-heap[0][0] if heap else _ZERO, best.value[1], skipped)))

    def _supremum_of_constants(self, claim: PrivacyClaim, digits: int) -> LeastDelta:
        lowest = min(claim.intervals, key=lambda interval: (interval.lower, not interval.lower_closed))
        at_zero = not claim.budget or not lowest.lower
        needed = self.greatest(_ZERO if at_zero else claim.budget, lowest.lower or _ONE, digits)
        numbers = [self.table.rows[needed.pair[1]][answer] for answer in needed.answers]
        everywhere = not claim.budget or all(number == IMPOSSIBLE for number in numbers)
        place: Ends | str = "everywhere" if everywhere else (lowest.lower, lowest.lower) if lowest.lower else "0+"
        attained = everywhere or lowest.lower_closed
        return self._enclosed_delta(claim, outward(*needed.value, digits), attained, place, self.outputs_of(needed))

    @property
    def _are_constant(self) -> bool:
        """True if each probability is the same number for every eps.

        Then no p - e^{K·eps}·p' grows with eps, so the least delta for a budget K·eps never grows. If K or each p' is
        0, the least delta is the same for every eps.
        """
        shares = [share for bound in self.table.bounds.values() for share in bound.shares]
        weights: list[Closed] = [share.weight for share in shares if share.weight is not None]
        weights += [form.value for form in self.table.forms if isinstance(form, ClosedForm)]
        return not any(
            k or q for weight in weights for part in fraction_of(weight) for k, q, _ in part.terms()
        ) and all(noise.law.fixed for share in shares for event in share.events for noise in event.noises)

    def needing(self, claim: PrivacyClaim) -> Iterator[tuple[tuple[int, int], tuple[int, ...]]]:  # noqa: ARG002
        raise OutsideFragment(WITHOUT_FORM)

    def sides(
        self, pair: tuple[int, int], answers: tuple[int, ...], claim: PrivacyClaim
    ) -> tuple[Probability, Probability]:
        ours, theirs = ([self.table.rows[point][answer] for answer in answers] for point in pair)
        return self.of_set(ours), self.of_set(theirs, power(claim.budget), claim.delta.value)

    def _positive(self, number: int, eps: Fraction, digits: int) -> Ends:
        """Return an enclosure of the probability with index `number` at `eps` to `digits` significant digits.

        Raises Undecided if the probability is so small that the enclosure would need too many bits.
        """
        bits = 4 * digits + 8
        while bits < _TINY:
            low, high = self.value(number, eps, bits)
            if low > 0 and (high - low) * 10 ** (digits + 4) < low:
                return low, high
            bits *= 2
        raise OutsideFragment("a probability is too small to be enclosed")

    def of_set(self, numbers: Sequence[int], factor: ExpPoly | None = None, more: Closed | None = None) -> EnclosedForm:
        """Return `factor`·Pr[an answer whose probability has an index in `numbers`] + `more` as a function of eps.

        By default `factor` is 1 and `more` is 0.
        """
        shares = [share for number in numbers for share in self._shares(number, 1)]
        if factor is not None:
            shares = [Share(factor if each.weight is None else factor * each.weight, each.events) for each in shares]
        if more is not None:
            shares.append(Share(more, ()))
        bound = Bound(tuple(shares))
        return EnclosedForm.from_bound(bound, self._bounds.measurer, self._limits, WITHOUT_FORM)

    # --- on intervals ---------------------------------------------------------------------------------

    def decide(self, claim: PrivacyClaim) -> Answer:
        for eps in samples(claim.intervals):
            for pair in self.different:
                refuted = self._refuted(pair, claim, eps)
                if refuted is not None:
                    return refuted
        for pair in self.different:
            try:
                for interval in claim.intervals:
                    self._require_on(pair, claim, interval)
            except SignNotFound as stopped:
                refuted = self._refuted(pair, claim, stopped.eps) if stopped.eps else None
                return refuted or Undecided(
                    f"probabilities have no closed form, and near eps = {float(stopped.eps):.3g} their "
                    "enclosures are too wide to decide"
                )
            except Undecided as undecided:
                return undecided
        return Proved(self.pairs.proof)

    def _refuted(self, pair: tuple[int, int], claim: PrivacyClaim, eps: Fraction) -> PrivacyCounterexample | None:
        found = failure_at(self, pair, claim, eps)
        return None if found is None else self.refuted(pair, found[0], claim, found[1])

    def _require_on(self, pair: tuple[int, int], claim: PrivacyClaim, interval: Interval) -> None:
        """Raise SignNotFound unless `claim` is proved at one pair of inputs for all eps of `interval`.

        `pair` has the indices of both inputs. Also raises Undecided.
        """
        if interval.is_point:
            delta = claim.delta.enclosure(interval.lower, _DIGITS)[0]
            needed = (self.needed(pair, claim.budget, interval.lower, bits) for bits in (_FEW_BITS, 4 * _DIGITS))
            if all(each.value[1] > delta for each in needed):
                raise SignNotFound(interval.lower)
            return
        lower, upper = interval.lower, interval.upper
        if not lower:
            most = self.near_zero(pair)
            lower = next(
                (end for end in reversed(STARTS) if self._holds(most, claim, Interval(_ZERO, end, False, True))), _ZERO
            )
            if upper is not None and lower >= upper:
                return
        if upper is None:
            beyond = (Interval(start, None, True, False) for start in STARTS if start > lower)
            upper = next(
                (each.lower for each in beyond if self._holds(self.far_out(pair, each.lower), claim, each)), None
            )
        if not lower or upper is None:
            raise SignNotFound(lower)
        for cell in _cells(lower, upper):
            self._cell(pair, claim, cell, _MOST_HALVINGS)

    def near_zero(self, pair: tuple[int, int]) -> ExpPoly:
        """Return an upper bound of the least delta at `pair` for every eps and every budget >= 0.

        The bound is the sum of upper bounds of max(0, p_o - p'_o), for the probabilities p_o and p'_o of answer o at
        both inputs. It is tight for small eps.
        """
        return self._most(each.next_to_zero() for each in self._differences(pair))

    def far_out(self, pair: tuple[int, int], start: Fraction) -> ExpPoly:
        """Return an upper bound of the least delta at `pair` for every eps >= `start` and every budget >= 0.

        The bound is the sum of upper bounds of max(0, p_o - p'_o), for the probabilities p_o and p'_o of answer o at
        both inputs. It is tight for large eps if the probability of one answer tends to 1 at both inputs.
        """
        return self._most(each.from_start_on(start) for each in self._differences(pair))

    @staticmethod
    def _most(least: Iterable[ClosedForm]) -> ExpPoly:
        """Return an upper bound of Σ max(0, -f) over the functions f in `least`. Raises OutsideFragment."""
        total = ExpPoly.ZERO
        for each in least:
            if not isinstance(each.value, ExpPoly):
                raise OutsideFragment("for small or large eps, the bound of a probability has a denominator")
            total += ExpPoly.from_terms((k, q, -c) for k, q, c in each.value.terms() if c < 0)
        return total

    def _holds(self, most: ExpPoly, claim: PrivacyClaim, interval: Interval) -> bool:
        try:
            decision = decide(ClosedForm(1 - most), PiecewiseForm(claim.delta.value), [interval], self._limits)
        except Undecided:
            return False
        return decision.verdict is Verdict.ACCURATE

    def _differences(self, pair: tuple[int, int]) -> list[SeriesDecision]:
        """Return p' - p for each answer, for its probabilities p and p' at the first and second input of `pair`."""
        if pair not in self._searches:
            self._searches[pair] = []
            for ours, theirs in self.table.at_pair(pair):
                shares = *self._shares(theirs, 1), *self._shares(ours, -1)
                nothing = Obligation(Bound(shares), PiecewiseForm(ExpPoly.ONE), (Interval.POSITIVE,))
                self._searches[pair].append(SeriesDecision(nothing, self._bounds, self._limits))
        return self._searches[pair]

    def _shares(self, number: int, sign: int) -> Iterator[Share]:
        form, bound = self.table.forms[number], self.table.bounds.get(number)
        if bound is not None:
            for share in bound.shares:
                yield Share(sign * (ExpPoly.ONE if share.weight is None else share.weight), share.events)
        elif isinstance(form, ClosedForm):
            yield Share(sign * form.value, ())

    def _series(self, number: int, center: Fraction) -> tuple[flint.arb_series, flint.arb]:
        """Return (Taylor series at `center` of the probability with index `number`, a bound of the probability).

        The probability is a function of eps. The bound is an upper bound of the function's absolute value on a complex
        disk around `center`.
        """
        key = number, center
        if key not in self._expanded:
            form = self.table.forms[number]
            function = form if isinstance(form, EnclosedForm) else self.of_set((number,))
            with precision(_BITS, 1):
                majorant = function.majorant(center)
            with precision(_BITS, _LENGTH):
                self._expanded[key] = function.series(center), majorant
        return self._expanded[key]

    def polynomials(self, pair: tuple[int, int], budget: Fraction, cell: Ends) -> list[Polynomial]:
        """Return, for each answer o at `pair`, a polynomial for p_o - e^{`budget`·eps}·p'_o on the interval `cell`.

        The variable of each polynomial runs from -1 to 1 while eps runs over the cell. Each polynomial has an error
        bound. Raises Undecided.
        """
        center, radius = (cell[0] + cell[1]) / 2, (cell[1] - cell[0]) / 2
        scale = power(budget)
        functions = []
        for ours, theirs in self.table.at_pair(pair):
            (p, most), (q, more) = self._series(ours, center), self._series(theirs, center)
            with precision(_BITS, _LENGTH):
                series = p - q * series_of(scale, center)
                majorant = (most + more * majorant_of(scale, center)).upper()
                functions.append(_scaled(series, majorant, center, radius))
        return functions

    def _cell(self, pair: tuple[int, int], claim: PrivacyClaim, cell: Ends, halvings: int) -> None:
        """Raise SignNotFound unless `claim` is proved at one pair of inputs for all eps of the interval `cell`.

        `pair` has the indices of both inputs. The interval is halved up to `halvings` times. Also raises Undecided.
        """
        center, radius = (cell[0] + cell[1]) / 2, (cell[1] - cell[0]) / 2
        if not isinstance(claim.delta.value, ExpPoly):
            raise OutsideFragment("delta has a denominator")
        functions = self.polynomials(pair, claim.budget, cell)
        with precision(_BITS, _LENGTH):
            series, majorant = series_of(claim.delta.value, center), majorant_of(claim.delta.value, center)
            open_at = _first_open(_scaled(series, majorant, center, radius), functions, _MOST_PARTS)
        if open_at is None:
            return
        place = center + radius * open_at
        if not halvings or self._refuted(pair, claim, place) is not None:
            raise SignNotFound(place)
        self._cell(pair, claim, (cell[0], center), halvings - 1)
        self._cell(pair, claim, (center, cell[1]), halvings - 1)


def failure_at(
    laws: TableLaws, pair: tuple[int, int], claim: PrivacyClaim, eps: Fraction
) -> tuple[tuple[int, ...], Counterexample] | None:
    """Return (indices of answers that refute `claim` at `pair` and `eps`, the failure with enclosures of both sides).

    None if the enclosures by `laws` refute nothing. As in `TableLaws.refuted`, the fields of the failure are exchanged:
    the probability in it is the one that the claim allows, and the bound in it is the probability of the answers.
    """
    delta, bits = claim.delta.enclosure(eps, _DIGITS), 4 * _DIGITS
    if laws.needed(pair, claim.budget, eps, _FEW_BITS).value[1] <= delta[0]:
        return None
    needed = laws.needed(pair, claim.budget, eps, bits)
    if needed.value[0] <= delta[1]:
        return None
    ours, theirs = (
        [
            sum(ends)
            for ends in zip(*(laws.value(laws.table.rows[u][o], eps, bits) for o in needed.answers), strict=True)
        ]
        for u in pair
    )
    factor = ClosedForm(power(claim.budget)).enclosure(eps, 2 * _DIGITS)
    allowed = outward(theirs[0] * factor[0] + delta[0], theirs[1] * factor[1] + delta[1], _DIGITS)
    probability = outward(ours[0], ours[1], _DIGITS)
    if allowed[1] >= probability[0]:
        return None
    return needed.answers, Counterexample(eps, allowed, probability)


def most_on_cell(table: LawTable, pair: tuple[int, int], claim: PrivacyClaim) -> Fraction:
    """Return an upper bound of Σ max(0, p - e^{budget·eps}·p') - delta at `pair`, for the budget and delta of `claim`.

    The sum is over all answers of `table`, whose probabilities are closed forms. The bound holds for every eps of the
    claim's one interval, which has positive ends. Taylor polynomials of the second order give it.
    """
    (interval,) = claim.intervals
    assert interval.upper is not None, "the interval is bounded"
    cell = interval.lower, interval.upper
    with precision(_BITS, 3):
        scale, radius = _expansions(power(claim.budget), cell), flint.arb(to_fmpq((cell[1] - cell[0]) / 2))
        certain, rest = [-each for each in _second_order(_expansions(claim.delta.value, cell))], flint.arb(0)
        for ours, theirs in table.at_pair(pair):
            first, second = (_expansions(table.closed(number), cell) for number in (ours, theirs))
            excess = _second_order([p - q * c for p, q, c in zip(first, second, scale, strict=True)])
            low, high = _range_of(excess, radius)
            if low >= 0:
                certain = [total + each for total, each in zip(certain, excess, strict=True)]
            elif high > 0:
                rest += high
        return dyadic((_range_of(certain, radius)[1] + rest).upper())


#: A function on a cell: its value and derivative at the center, and half of its second derivative on all of the cell.
_SecondOrder = list[flint.arb]


def _second_order(expansions: Sequence[flint.arb_series]) -> _SecondOrder:
    near, far = (coefficients(series, 3) for series in expansions)
    return [near[0], near[1], far[2]]


def _expansions(value: Closed, cell: Ends) -> list[flint.arb_series]:
    """Return two series: the Taylor series of `value` at the center of `cell`, and an enclosure.

    The enclosure contains the Taylor series of `value` at every point of the cell. The number of terms is FLINT's
    current setting, `flint.ctx.cap`.
    """
    parts = fraction_of(value)
    return [_quotient(*(series_at(part, eps) for part in parts)) for eps in _eps_on(cell)]


def _eps_on(cell: Ends) -> list[flint.arb_series]:
    """Return two Taylor series of the function eps: at the center of `cell`, and at all points of `cell` at once.

    The second series has as its first coefficient a ball that contains all these points.
    """
    center, radius = (flint.arb(to_fmpq((cell[0] + sign * cell[1]) / 2)) for sign in (1, -1))
    return [flint.arb_series([place, 1]) for place in (center, flint.arb(center, abs(radius)))]


def _quotient(above: flint.arb_series, below: flint.arb_series) -> flint.arb_series:
    if coefficients(below, 1)[0].contains(0):
        raise OutsideFragment("a divisor is not proved to be positive on an interval of eps")
    return above / below


def _range_of(function: _SecondOrder, radius: flint.arb) -> tuple[flint.arb, flint.arb]:
    """Return a lower and an upper bound of `function` on an interval with this `radius` around its center.

    `function` has the value and the slope at the center, and an enclosure of half its second derivative.
    """
    value, slope, half = function
    spread = abs(slope) * radius
    low = value - spread + min(half.lower(), flint.arb(0)) * radius**2
    high = value + spread + max(half.upper(), flint.arb(0)) * radius**2
    return low.lower(), high.upper()


def exponents_on(one: Closed, other: Closed, cell: Ends) -> Ends:
    """Return dyadic numbers that enclose log(`one`/`other`)/eps for every eps of the interval `cell`.

    The ends of the interval are positive. Raises OutsideFragment if a function is not proved positive there.
    """
    with precision(_BITS, 2):
        every = zip(_expansions(one, cell), _expansions(other, cell), _eps_on(cell), strict=True)
        near, far = (coefficients(_quotient(p, q).log() / eps, 2) for p, q, eps in every)
        spread = abs(far[1]) * flint.arb(to_fmpq((cell[1] - cell[0]) / 2))
        low, high = (near[0] - spread).lower(), (near[0] + spread).upper()
        if not (low.is_finite() and high.is_finite()):
            raise OutsideFragment("a density is not proved to be positive on an interval of eps")
        ends = dyadic(low), dyadic(high)
    unit = _ONE
    while 8 * unit > max(ends[1] - ends[0], _FINEST):
        unit /= 2
    return floor(ends[0] / unit) * unit, ceil(ends[1] / unit) * unit


#: The finest grid for the ends of an enclosed exponent.
_FINEST = Fraction(1, 2**60)


#: A polynomial on [-1, 1], and a bound of its distance from the function.
Polynomial = tuple[flint.arb_poly, flint.arb]


def _scaled(series: flint.arb_series, majorant: flint.arb, center: Fraction, radius: Fraction) -> Polynomial:
    share = max(radius / (DISK * center), Fraction(1, 2**16))
    scaled = [c * flint.arb(to_fmpq(radius)) ** k for k, c in enumerate(coefficients(series, _LENGTH))]
    return flint.arb_poly(scaled), left_out(majorant, share, _LENGTH)


def _cells(lower: Fraction, upper: Fraction) -> Iterator[Ends]:
    """Yield intervals that cover the range from `lower` to `upper`; all inner ends are powers of `_RATIO`.

    All pairs of inputs thus have the same intervals, so that series can be used again.
    """
    left = _ONE
    while left > lower:
        left /= _RATIO
    while left * _RATIO <= lower:
        left *= _RATIO
    while left < upper:
        yield max(left, lower), min(left * _RATIO, upper)
        left *= _RATIO


#: The ratio of a cell's upper end to its lower end.
_RATIO = Fraction(3, 2)


#: The number of bits at which a probability not yet separated from 0 is given up.
_TINY = 20_000


def _first_open(delta: Polynomial, functions: Sequence[Polynomial], halvings: int) -> Fraction | None:
    """Return a point of [-1, 1] near which `delta` >= Σ max(0, f) is not proved, for the functions f in `functions`.

    None if this is proved on all of [-1, 1]. The interval and its parts are halved up to `halvings` times.
    """
    if _at_most(functions, delta) <= 0:
        return None
    if not halvings:
        return _ZERO
    for side in (-1, 1):
        halves = [_half(function, side) for function in functions]
        open_at = _first_open(_half(delta, side), halves, halvings - 1)
        if open_at is not None:
            return (open_at + side) / 2
    return None


def _half(function: Polynomial, side: int) -> Polynomial:
    polynomial, error = function
    return polynomial(flint.arb_poly([flint.arb(side) / 2, flint.arb(1) / 2])), error


def _at_most(functions: Sequence[Polynomial], delta: Polynomial) -> flint.arb:
    """Return an upper bound of Σ max(0, f) - `delta` on [-1, 1], where f are the `functions`."""
    total, rest = -delta[0], delta[1]
    for polynomial, error in functions:
        low, high = _range(polynomial)
        if low - error > 0:
            total, rest = total + polynomial, rest + error
        elif not high + error <= 0:
            rest += (high + error).upper()
    return (_range(total)[1] + rest).upper()


def _range(polynomial: flint.arb_poly) -> tuple[flint.arb, flint.arb]:
    """Return a lower bound of the least and an upper bound of the greatest value of `polynomial` on [-1, 1]."""
    first, *others = polynomial.coeffs() or [flint.arb(0)]
    spread = sum((abs(c) for c in others), flint.arb(0)).upper()
    return first.lower() - spread, first.upper() + spread


#: The greatest number of halvings for a supremum, and the ratio of its bound to a delta found at which the search ends.
_MOST_STEPS, _NEAR = 400, 1 + Fraction(1, 10**4)

#: A delta that counts as 0, and the values of eps that bound the part next to 0.
_NOTHING, _TO_ZERO = Fraction(1, 10**6), tuple([Fraction(2) ** -k for k in range(-3, 60)])
