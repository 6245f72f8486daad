"""Lower bounds of the objective of `dipc tune`, over boxes of values of the constants that vary.

The objective at the values s of the constants is f(s) = K(s)·t(s), or t(s) alone. Here t is the least t = alpha·eps, or
eps, for which the claim holds, and the program is K·eps-private, with the least such K. The constants occur only in the
rates of noises, and the rates are affine functions a_i(s) of the constants.

**Lemma (rates).** *Let a_i <= b_i be rates, and c = Π a_i/b_i. Then t for the rates a_i is at least t for the rates b_i
with beta/c in place of beta.*

Proof. A Laplace density, one-sided or discrete noise of rate a <= b is at least a/b times that of rate b at every
point: (a/b)·e^{(b-a)·|x|} >= a/b, and tanh(a·eps/2)/tanh(b·eps/2) >= a/b, since tanh(x)/x decreases. A noise is drawn
at most once on a path. So every event is at least c times as likely as with the rates b_i. If with the rates b_i the
answer at some input is wrong with probability above beta/c, it is wrong with probability above beta with the rates
a_i. ∎

For one input, c need only count the noises that can make its answer wrong.

**Lemma (cells).** *Let a cell be the convex hull of its corners v. Let κ_v > 0 be such that Σ λ_v·κ_v <= K(s) for each
s = Σ λ_v·v of the cell. Let b_i be at least the greatest of the rates a_i(v)/κ_v, and c the least of the products Π_i
a_i(v)/(κ_v·b_i). Then for every s of the cell f(s) is at least t for the rates b_i with beta/c in place of beta.*

Proof. Rates multiplied by a number divide t by it. So f(s) is at least t for the rates a_i(s)/Σ λ_v·κ_v, which are a
convex combination of the vectors a(v)/κ_v. The logarithm of their product is concave, and least at a corner. Use the
lemma of rates. ∎

The numbers κ_v come from least costs; they are 1 if the objective is t alone. If a rate is below its limit at some
corner of a cell (see `Objective`), the bound is for the part of the cell where no rate is. In this part a_i is between
its least and greatest value, κ is one number for the whole cell, and c is the product of the quotients of these values.

**Bounds of t** for given rates come from one input. For an input that is the hardest at some values of the constants,
the probability of the answer is known for all rates, since its event does not depend on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise, product
from math import ceil, isinf, prod
from operator import truediv
from typing import Protocol

import flint

from dipc.algebra.exppoly import Closed, ClosedForm, ExpPoly, fraction_of
from dipc.algebra.limits import Limits, OutsideFragment, Undecided
from dipc.algebra.numbers import to_fmpq
from dipc.decide.obligation import holds_in_cells
from dipc.frozen import frozen
from dipc.inverse.question import Question
from dipc.measure.measure import Bound, BoundMeasurer
from dipc.measure.power_series import precision
from dipc.program.program import Program
from dipc.questions.privacy.constant import Candidate
from dipc.questions.privacy.onwards import LeastCosts, Reached
from dipc.rules.rule import ProofStep, Variable
from dipc.sign.interval import Interval
from dipc.sign.optimum import value_ball
from dipc.sign.piecewise import PiecewiseForm
from dipc.text.core import SampleNoise

_ZERO, _ONE = Fraction(0), Fraction(1)

#: Values of the constants, in their order, and rates of all noises, in the order of the instructions that draw them.
Values = tuple[Fraction, ...]
Rates = tuple[Fraction, ...]

#: The share of the expected gain that bounds of parts of a box reach, and the most parts of one box.
_HOPE, _PARTS = 0.9, 16

#: The relative distance below a threshold at which the claim is shown to fail, and the bits of guesses.
_NEAR, _BITS = Fraction(1, 10**6), 192

#: Inequalities with at least this share of the greatest threshold, at the rates examined last, are examined for
#: guesses.
_LIKELY = Fraction(9, 10)

#: The most inequalities that are examined for one box.
_TRIED = 12

#: Inequalities for which c is smaller than this are skipped.
_FAR = Fraction(1, 10**6)

#: The most steps of a search for a root.
_STEPS = 60

#: The greatest t that is tried.
_MOST = Fraction(2) ** 40


class AffineRates:
    """The rates of all noises of a program, as affine functions of the constants that vary."""

    def __init__(self, known: Sequence[tuple[Values, Rates]]) -> None:
        (self._base, self.own), *others = known
        self._slopes = [
            [(rate - own) / (values[n] - self._base[n]) for own, rate in zip(self.own, rates, strict=True)]
            for n, (values, rates) in enumerate(others)
        ]

    def evaluate(self, values: Values) -> Rates:
        """Return the rates of all noises at these `values` of the constants, in the order of the noises.

        Some of these rates may be 0 or negative.
        """
        moves = [value - base for value, base in zip(values, self._base, strict=True)]
        return tuple(
            [
                own + sum((move * slopes[n] for move, slopes in zip(moves, self._slopes, strict=True)), _ZERO)
                for n, own in enumerate(self.own)
            ]
        )

    @property
    def are_distinguishable(self) -> bool:
        """True if any two noises with equal rates at the first values of the constants have equal rates at all values.

        An `AffineRates` is made from several vectors of values, each with its rates; the *first values* are the first
        vector.
        """
        functions = set(zip(self.own, *self._slopes, strict=True))
        return len(functions) == len(set(self.own))


def rates_of(program: Program) -> Rates:
    """Return the rates of all noises of `program`, in multiples of eps.

    The rates are in the order of the instructions that draw the noises.
    """
    return tuple([each.rate for each in program.core.instructions if isinstance(each, SampleNoise)])


class ThresholdBounds(Protocol):
    """Lower bounds of the threshold t, for any rates of the noises.

    The threshold is the least alpha·eps (or eps) for which the claim holds. Every method may raise Undecided.
    """

    def guess(self, rates: Rates) -> Fraction:
        """Return an approximation of the threshold t for these `rates` of the noises, without a guarantee."""

    def learn(self, rates: Rates) -> None:
        """Prepare `guess` for rates close to `rates`, so that it approximates their thresholds faster."""

    def at_least(self, rates: Rates, shares: Sequence[Rates], enough: Fraction | None) -> Fraction:
        """Return a lower bound of the threshold t that holds for a whole set of vectors of rates.

        `shares` are vectors of factors, at most 1. A vector of rates is in the set if its entries are s_i·`rates`[i],
        where the vector s is one of `shares` or lies between them. *Between* means that the vector of the log s_i is at
        least a convex combination of the logarithms of `shares`. If `enough` is given, the search for a better bound
        ends once the bound reaches `enough`.
        """


class Thresholds:
    """Lower bounds of the threshold t, as functions of the rates of the noises.

    The threshold is the least alpha·eps (or eps) for which the claim holds. The bounds come from the claim at single
    inputs.
    """

    def __init__(self, question: Question, variable: Variable, rates: AffineRates) -> None:
        """Collect the inequalities of `question` in `variable` that its claim needs, whatever the rates are.

        `rates` gives the rates as functions of the constants. At the constants of `question`, two noises may have equal
        rates only if they have equal rates for all constants. Raises Undecided if there is no inequality, and
        DiagnosticError for an invalid claim.
        """
        self._limits: Limits = question.program.limits
        self._bounds = BoundMeasurer(question.program.measurer)
        self._places = {rate: index for index, rate in enumerate(rates.own)}
        exact: list[ProofStep] = []
        for case in question.source().cases():
            try:
                exact += [one for one in case.steps() if one.exact and one.variable is variable]
            except Undecided:
                continue
        #: Probabilities, with the betas that they are claimed for.
        self._posed = [
            (one.obligation.bound, beta.closed)
            for one in exact
            if (beta := one.obligation.beta).closed is not None and self._is_open(one)
        ]
        if not self._posed:
            raise OutsideFragment("no single input is known to be the hardest for all values of the constants")
        #: For each inequality, the indices of the rates of its noises, with repetitions.
        self._drawn = [
            [self._places[noise.rate] for share in bound.shares for event in share.events for noise in event.noises]
            for bound, _ in self._posed
        ]
        #: For each inequality, the threshold found last.
        self._last: dict[int, Fraction] = {}
        #: The inequalities that guesses examine; all, if there are none.
        self._chosen: set[int] = set()

    def _is_open(self, posed: ProofStep) -> bool:
        obligation = posed.obligation
        noises = [noise for share in obligation.bound.shares for event in share.events for noise in event.noises]
        return (
            obligation.intervals == (Interval.POSITIVE,)
            and all(share.weight is None for share in obligation.bound.shares)
            and all(noise.rate in self._places and noise.law.has_form for noise in noises)
        )

    def guess(self, rates: Rates) -> Fraction:
        numbers = self._chosen or range(len(self._posed))
        return max(self._begin(number, self._form(number, rates), _ONE) for number in numbers)

    def learn(self, rates: Rates) -> None:
        begins = [self._begin(number, self._form(number, rates), _ONE) for number in range(len(self._posed))]
        self._chosen |= {number for number, begin in enumerate(begins) if begin >= max(begins) * _LIKELY}

    def at_least(self, rates: Rates, shares: Sequence[Rates], enough: Fraction | None) -> Fraction:
        best = _ZERO
        for number in sorted(range(len(self._posed)), key=lambda number: -self._last.get(number, _MOST))[:_TRIED]:
            # Only the rates of the inequality's own noises matter.
            least = min(prod((share[index] for index in self._drawn[number]), start=_ONE) for share in shares)
            if least < _FAR:
                continue
            # A slightly greater factor is almost as good, and has fewer digits.
            factor = _rounded_up(1 / least) * (1 + _NEAR)
            form = self._form(number, rates)
            begin = round_to(self._begin(number, form, factor) * (1 - _NEAR))
            if begin > best and self._fails_up_to(begin, form, self._posed[number][1].value * factor):
                best = begin
            if enough is not None and best >= enough:
                break
        return best

    def _form(self, number: int, rates: Rates) -> ClosedForm:
        bound = self._posed[number][0]

        def new_rate(own: Fraction) -> Fraction:
            return rates[self._places[own]]

        shares = [
            replace(
                share,
                events=tuple(
                    [
                        replace(
                            event, noises=tuple([replace(noise, rate=new_rate(noise.rate)) for noise in event.noises])
                        )
                        for event in share.events
                    ]
                ),
            )
            for share in bound.shares
        ]
        return self._bounds.measure(Bound(tuple(shares), bound.constant))

    def _begin(self, number: int, form: ClosedForm, factor: Fraction) -> Fraction:
        """Return an approximation of the t at which `form` + `factor`·beta - 1 changes from negative to positive.

        The beta is that of the inequality with the index `number`. The search starts near the last t found for this
        inequality.
        """
        missing = _approximation([(-_ONE, form.value), (-factor, self._posed[number][1].value)])
        last = self._last.get(number, _ONE)
        low, high = last * Fraction(31, 32), last * Fraction(33, 32)
        while (at_high := missing(high)) > 0:
            low, high = high, 2 * high
            if high > _MOST:
                return _MOST
        while (at_low := missing(low)) <= 0:
            low, high, at_high = low / 2, low, at_low
            if low < 1 / _MOST:
                return _ZERO
        for step in range(_STEPS):
            if high - low < high * _NEAR:
                break
            # Use the secant, and every third time the middle.
            share = Fraction(at_low / (at_low - at_high)) if step % 3 < 2 else Fraction(1, 2)
            middle = round_to(low + (high - low) * share)
            if not low < middle < high:
                middle = (low + high) / 2
            there = missing(middle)
            if there > 0:
                low, at_low = middle, there
            else:
                high, at_high = middle, there
        self._last[number] = low
        return low

    def _fails_up_to(self, end: Fraction, form: ClosedForm, beta: Closed) -> bool:
        interval = Interval(_ZERO, end, False, True)
        try:
            return holds_in_cells((1 - form).value, PiecewiseForm(ExpPoly.ONE - beta), interval, self._limits)
        except Undecided:
            return False


def _approximation(summands: Sequence[tuple[Fraction, Closed]]) -> Callable[[Fraction], float]:
    """Return a function that approximates 1 + Σ factor·summand at any eps.

    `summands` has pairs (factor, summand). The function computes with slightly more precision than floats have, but no
    error is proved.
    """
    fractions = [fraction_of(value * factor) for factor, value in summands]

    def approximate(eps: Fraction) -> float:
        with precision(_BITS, 1):
            point = flint.arb(to_fmpq(eps))
            quotients = (value_ball(above, point) / value_ball(below, point) for above, below in fractions)
            return float(sum(quotients, flint.arb(1)).mid())

    return approximate


def round_to(value: Fraction) -> Fraction:
    """Return a number with few digits that is at most `value`.

    The result is less than `value` by at most the larger of value/10^7 and 10^-30, or by less than 1 if `value` exceeds
    10^7.
    """
    unit = Fraction(1)
    while unit > value / 10**7 and unit > Fraction(1, 10**30):
        unit /= 16
    return value // unit * unit


@frozen
class ConstantBox:
    """A box of values of the constants that vary: each value lies between its entries in `low` and in `high`."""

    low: Values
    high: Values

    @property
    def corners(self) -> Iterator[Values]:
        return product(*[dict.fromkeys(pair) for pair in zip(self.low, self.high, strict=True)])

    @property
    def middle(self) -> Values:
        return tuple([(low + high) / 2 for low, high in zip(self.low, self.high, strict=True)])

    def split(self, constant: int, count: int) -> Iterator[ConstantBox]:
        """Yield `count` boxes of equal size, which divide this box along the constant with the index `constant`."""
        low, high = self.low[constant], self.high[constant]
        ends = [low + (high - low) * n / count for n in range(count + 1)]
        for one, two in pairwise(ends):
            start, end = list(self.low), list(self.high)
            start[constant], end[constant] = one, two
            yield ConstantBox(tuple(start), tuple(end))


class Objective:
    """The function of the constants that `dipc tune` minimizes: K·t, or t alone.

    Lower bounds over boxes of constants are proved. K is the least constant of privacy: the program is K·eps-private,
    and not with a smaller K. The threshold t is the least alpha·eps (or eps) for which the claim holds. Each rate of a
    noise has a lower limit; a rate below its limit is *too small*, and values of the constants with such a rate are
    excluded.
    """

    def __init__(
        self, thresholds: ThresholdBounds, rates: AffineRates, least: Sequence[Fraction], costs: LeastCosts | None
    ) -> None:
        """Take lower bounds of t from `thresholds`, and of K from `costs`; if `costs` is None, K is 1.

        `rates` gives the rates of the noises as functions of the constants, and `least` the lower limit of each rate.
        """
        self._thresholds = thresholds
        self._rates = rates
        self._least = least
        self._costs = costs
        self._candidates: list[Candidate] = []
        self._reached: dict[tuple[int, bool, Rates], Reached | None] = {}

    def learn(self, values: Values, candidate: Candidate | None) -> None:
        """Record `candidate`, and prepare guesses of the objective for constants close to `values`.

        The candidate is the pair of inputs, with an output, that needs the greatest K at these values; None if none is
        known. Raises Undecided.
        """
        self._thresholds.learn(self._rates.evaluate(values))
        if self._costs is not None and candidate is not None:
            same = (candidate.input, candidate.adjacent, candidate.output, candidate.balls)
            if all(same != (c.input, c.adjacent, c.output, c.balls) for c in self._candidates):
                self._candidates.append(candidate)

    def guess(self, values: Values) -> float:
        """Return an approximation of the objective at `values`; infinity if a rate is too small there.

        The constant K is approximated from the recorded pairs of inputs alone.
        """
        rates = self._rates.evaluate(values)
        if any(rate < least for rate, least in zip(rates, self._least, strict=True)):
            return float("inf")
        try:
            constants = max((each[0] for each in self._constants([rates], [rates], rates)), default=_ZERO)
            return float(constants * self._thresholds.guess(rates))
        except Undecided:
            return float("inf")

    def at_least(self, cell: ConstantBox, enough: Fraction | None = None) -> Fraction | None:
        """Return a number that is at most the objective at all values in the box `cell` where no rate is too small.

        A rate is too small if it is below its lower limit. The result is None if some rate exceeds its limit nowhere in
        the box, unless the box is a single point. If `enough` is given, the search for a better bound ends once the
        bound reaches `enough`. Raises Undecided.
        """
        corners = [self._rates.evaluate(corner) for corner in cell.corners]
        most = [max(column) for column in zip(*corners, strict=True)]
        if any(rate <= least for rate, least in zip(most, self._least, strict=True)) and len(corners) > 1:
            return None
        lowest = [
            max(min(column), least) for column, least in zip(zip(*corners, strict=True), self._least, strict=True)
        ]
        whole = all(rate >= least for rates in corners for rate, least in zip(rates, self._least, strict=True))
        if whole:
            kappas = self._constants(corners, corners, self._rates.evaluate(cell.middle))
        else:
            kappas = self._constants([tuple(lowest)], [tuple(most)], tuple(most))
            corners = [tuple(most)]
        best = _ZERO
        for each in sorted(kappas, key=min, reverse=True)[:2]:
            if min(each) <= 0:
                continue
            scaled = [tuple([rate / k for rate in rates]) for rates, k in zip(corners, each, strict=True)]
            largest = tuple([max(column) for column in zip(*scaled, strict=True)])
            # Slightly greater rates are almost as good, and have fewer digits.
            rates = tuple([_rounded_up(rate) for rate in largest])
            shares = scaled if whole else [tuple([low / each[0] for low in lowest])]
            quotients = [tuple(map(truediv, share, rates)) for share in shares]
            best = max(best, self._thresholds.at_least(rates, quotients, enough))
            if enough is not None and best >= enough:
                break
        return best

    def _constants(self, far: Sequence[Rates], near: Sequence[Rates], center: Rates) -> list[list[Fraction]]:
        """Return lower bounds of the constant of privacy K, in one list for each recorded candidate that gives bounds.

        A list has one bound for each corner of a box of rates; `far` and `near` have the rates at each corner. A
        candidate is a pair of adjacent inputs with an output. Its bound is a difference of two costs of noises:

        - the least cost of noises that give the output at the second input, with the rates of `far`;
        - less the cost, with the rates of `near`, of some noises that give the output at the first input. These noises
          are the cheapest ones for the rates `center`, or for the rates at one corner in `near`.
        """
        if self._costs is None:
            return [[_ONE] * len(far)]
        result = []
        for number in range(len(self._candidates)):
            others = [self._reach(number, rates, first=False) for rates in far]
            for start in dict.fromkeys((center, *near)):
                here = self._reach(number, start, first=True)
                if here is None or None in others:
                    continue
                spent = [here.cost_at(self._by_own(rates)) for rates in near]
                result.append([other.cost - cost for other, cost in zip(others, spent, strict=True) if other])
        return result

    def _reach(self, number: int, rates: Rates, *, first: bool) -> Reached | None:
        key = number, first, rates
        if key not in self._reached:
            assert self._costs is not None
            candidate = self._candidates[number]
            inputs = candidate.input if first else candidate.adjacent
            self._reached[key] = self._costs.reaching(candidate, inputs, self._by_own(rates), likely=first)
        return self._reached[key]

    def _by_own(self, rates: Rates) -> Mapping[Fraction, Fraction]:
        return dict(zip(self._rates.own, rates, strict=True))

    def widest(self, cell: ConstantBox) -> int:
        """Return the index of the constant whose range in the box `cell` changes the rates most."""
        middle = self._rates.evaluate(cell.middle)

        def change(constant: int) -> Fraction:
            ends = []
            for side in (cell.low, cell.high):
                values = list(cell.middle)
                values[constant] = side[constant]
                ends.append(self._rates.evaluate(tuple(values)))
            terms = zip(*ends, middle, self._least, strict=True)
            return sum((abs(high - low) / max(rate, least) for low, high, rate, least in terms), _ZERO)

        return max(range(len(cell.low)), key=change)


def _rounded_up(value: Fraction) -> Fraction:
    """Return a number with few digits that is at least `value`, and at most (1 + 2^-20)·`value`."""
    unit = Fraction(1)
    while unit > value / 2**20:
        unit /= 2
    return ceil(value / unit) * unit


class BoxSearch:
    """A search for a lower bound of an objective over a box of values of the constants, by branch and bound.

    Each step splits the box with the least lower bound. Invariant: the current boxes contain all values of the whole
    box where no rate is too small (see `Objective`), and each box has a proved lower bound of the objective.
    """

    def __init__(self, objective: Objective, whole: ConstantBox) -> None:
        self._objective = objective
        self.looked_at = 0
        self._heap: list[tuple[Fraction, int, ConstantBox]] = [(_ZERO, 0, whole)]

    @property
    def lower(self) -> Fraction:
        """The proved lower bound of the objective over the whole box of the search."""
        return self._heap[0][0] if self._heap else _ZERO

    def refine(self, enough: Fraction, most: int) -> Iterator[int]:
        """Split boxes until `lower` is at least `enough`, or until `most` boxes in total have been examined.

        Before each box is examined, yield the number of boxes examined so far, this one included. Raises Undecided if
        no lower bound is known for some box.
        """
        while self._heap and self._heap[0][0] < enough and self.looked_at < most:
            bound, _, cell = self._heap[0]
            bounded = []
            for smaller in cell.split(self._objective.widest(cell), self._count(cell, float(bound), float(enough))):
                self.looked_at += 1
                yield self.looked_at
                known = self._objective.at_least(smaller, enough)
                if known is not None:
                    bounded.append((max(known, bound), self.looked_at, smaller))
            heappop(self._heap)
            for one in bounded:
                heappush(self._heap, one)

    def _count(self, cell: ConstantBox, bound: float, enough: float) -> int:
        middle = self._objective.guess(cell.middle)
        if not bound or isinf(middle):
            return 4
        return _PARTS if middle <= enough else max(2, min(_PARTS, ceil((middle - bound) / (middle - enough) / _HOPE)))
