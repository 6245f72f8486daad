"""How little the objective of `dipc tune` may be at all: bounds over cells of the constants that vary.

The objective at the values s of some constants is f(s) = K(s)·t(s), or t(s) alone: t is the least t = alpha·eps, or
eps, for which the claim holds, K the least constant of privacy. The constants occur in rates of noise alone, which are
affine functions a_i(s) of them.

**Lemma (rates).** *Let a_i <= b_i be rates, and c = Π a_i/b_i. Then t for the rates a_i is at least t for the rates b_i
with beta/c in place of beta.* A Laplace density, one-sided or discrete noise of rate a <= b is at least a/b times that
of rate b at every point: (a/b)·e^{(b-a)·|x|} >= a/b, and tanh(a·eps/2)/tanh(b·eps/2) >= a/b, as tanh(x)/x falls. A
noise is drawn at most once on a path. So every event is at least c times as likely as with the rates b_i, and where
with these an answer is wrong with more than beta/c at some input of a distance, it is with more than beta. Of one input
only the noises need be counted in c on which it depends whether its answer is wrong. ∎

**Lemma (cells).** *Let a cell be the convex hull of its corners v, κ_v > 0 such that Σ λ_v·κ_v <= K(s) for each s = Σ
λ_v·v of it, b_i at least the greatest of the rates a_i(v)/κ_v, and c the least of the products Π_i a_i(v)/(κ_v·b_i).
Then f is for no s of the cell less than t for the rates b_i with beta/c in place of beta.* Rates multiplied by a number
divide t by it; so f(s) is at least t for the rates a_i(s)/Σ λ_v·κ_v, which are a convex combination of the vectors
a(v)/κ_v. The logarithm of their product is concave, and least at a corner; use the lemma of rates. ∎

Numbers κ_v come from least costs; for t alone they are 1. In a cell at some of whose corners a rate is too small, only
the part is meant where none is: there a_i is between its least and greatest value, κ is one number for the whole cell,
and c the product of the quotients of these values.

**What t is at least** for given rates is seen at one input: at one that needs the most at some values of the constants
the probability of the answer is known for all rates, as the event does not depend on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise, product
from math import ceil, isinf, prod
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
from dipc.rules.rule import Posed, Variable
from dipc.sign.interval import Interval
from dipc.sign.piecewise import PiecewiseForm
from dipc.text.core import SampleNoise

_ZERO, _ONE = Fraction(0), Fraction(1)

#: Values of the constants, in their order; and the rates of all noises, in the order of the instructions that draw.
Values = tuple[Fraction, ...]
Rates = tuple[Fraction, ...]

#: By how much less than what is hoped for the bounds of parts of a cell are, and how many parts there are at most.
_HOPE, _PARTS = 0.9, 16

#: How near to the place where the claim begins to hold it is shown to fail, and bits of guesses.
_NEAR, _BITS = Fraction(1, 10**6), 192

#: What may be seen to need the most needs this share of the most, at least, at the rates that were looked at last.
_LIKELY = Fraction(9, 10)

#: Inequalities that are looked at for one cell, at most.
_TRIED = 12

#: A smaller share of the probability of a wrong answer is not looked at.
_FAR = Fraction(1, 10**6)

#: Steps that a root is looked for in.
_STEPS = 60

#: t that is looked for at most.
_MOST = Fraction(2) ** 40


class AffineRates:
    """The rates of all noises as affine functions of the constants, known at values next to one another."""

    def __init__(self, known: Sequence[tuple[Values, Rates]]) -> None:
        """The first values, and such that differ from them in one constant each."""
        (self._base, self.own), *others = known
        self._slopes = [
            [(rate - own) / (values[n] - self._base[n]) for own, rate in zip(self.own, rates, strict=True)]
            for n, (values, rates) in enumerate(others)
        ]

    def at(self, values: Values) -> Rates:
        """The rates for these values of the constants, whatever their sign."""
        moves = [value - base for value, base in zip(values, self._base, strict=True)]
        return tuple(
            [
                own + sum((move * slopes[n] for move, slopes in zip(moves, self._slopes, strict=True)), _ZERO)
                for n, own in enumerate(self.own)
            ]
        )

    @property
    def are_told_apart(self) -> bool:
        """Whether noises of one rate have that for all values."""
        functions = set(zip(self.own, *self._slopes, strict=True))
        return len(functions) == len(set(self.own))


def rates_of(program: Program) -> Rates:
    """The rates of all noises."""
    return tuple([each.rate for each in program.core.instructions if isinstance(each, SampleNoise)])


class Needed(Protocol):
    """What t is at least, for all rates."""

    def guess(self, rates: Rates) -> Fraction:
        """About the least t. Raises Undecided."""

    def learn(self, rates: Rates) -> None:
        """Is told of rates near which guesses will be asked for. Raises Undecided."""

    def at_least(self, rates: Rates, shares: Sequence[Rates], enough: Fraction | None) -> Fraction:
        """A lower bound of t for all rates a_i = s_i·rates_i where log s is at least a convex combination of the
        logarithms of `shares`, all at most 1. The search for a better one ends at `enough`. Raises Undecided.
        """


class Thresholds:
    """Lower bounds of t, for all rates: the inequalities of a claim at hard inputs, with the rates left open."""

    def __init__(self, question: Question, variable: Variable, rates: AffineRates) -> None:
        """The question is about a program with rates that are told apart. Raises Undecided where nothing is known,
        DiagnosticError for claims that make no sense.
        """
        self._limits: Limits = question.program.limits
        self._bounds = BoundMeasurer(question.program.measurer)
        self._places = {rate: index for index, rate in enumerate(rates.own)}
        exact: list[Posed] = []
        for case in question.source().cases():
            try:
                exact += [one for one in case.posed() if one.why.exact and one.variable is variable]
            except Undecided:
                continue
        #: Probabilities, with the betas that they are claimed for.
        self._posed = [
            (one.obligation.bound, beta.closed)
            for one in exact
            if (beta := one.obligation.beta).closed is not None and self._is_open(one)
        ]
        if not self._posed:
            raise OutsideFragment("no single input is known to need the most for all splits")
        #: By the number of an inequality the places of the rates of its noises, as often as there are such.
        self._drawn = [
            [self._places[noise.rate] for share in bound.shares for event in share.events for noise in event.noises]
            for bound, _ in self._posed
        ]
        #: By the number of an inequality where its claim began to hold last.
        self._last: dict[int, Fraction] = {}
        #: Those that guesses look at; of none, all.
        self._chosen: set[int] = set()

    def _is_open(self, posed: Posed) -> bool:
        """Whether the bound is known for all rates."""
        obligation = posed.obligation
        noises = [noise for share in obligation.bound.shares for event in share.events for noise in event.noises]
        return (
            obligation.intervals == (Interval.POSITIVE,)
            and all(share.weight is None for share in obligation.bound.shares)
            and all(noise.rate in self._places and noise.law.has_form for noise in noises)
        )

    def guess(self, rates: Rates) -> Fraction:
        """About the least t, of all inequalities."""
        numbers = self._chosen or range(len(self._posed))
        return max(self._begin(number, self._form(number, rates), _ONE) for number in numbers)

    def learn(self, rates: Rates) -> None:
        """Looks at all inequalities for these rates, so that guesses near them need to look at few."""
        begins = [self._begin(number, self._form(number, rates), _ONE) for number in range(len(self._posed))]
        self._chosen |= {number for number, begin in enumerate(begins) if begin >= max(begins) * _LIKELY}

    def at_least(self, rates: Rates, shares: Sequence[Rates], enough: Fraction | None) -> Fraction:
        """As in `Needed`: only the noises count of which it depends whether an answer is wrong there."""
        best = _ZERO
        for number in sorted(range(len(self._posed)), key=lambda number: -self._last.get(number, _MOST))[:_TRIED]:
            drawn = self._drawn[number]
            least = min(prod((share[index] for index in drawn), start=_ONE) for share in shares)
            if least < _FAR:
                continue
            # A factor that is a little greater is as good, and shorter.
            factor = _rounded_up(1 / least) * (1 + _NEAR)
            form = self._form(number, rates)
            begin = round_to(self._begin(number, form, factor) * (1 - _NEAR))
            if begin > best and self._fails_up_to(begin, form, self._posed[number][1].value * factor):
                best = begin
            if enough is not None and best >= enough:
                break
        return best

    def _form(self, number: int, rates: Rates) -> ClosedForm:
        """The probability of an inequality, with these rates."""
        bound = self._posed[number][0]

        def moved(own: Fraction) -> Fraction:
            return rates[self._places[own]]

        shares = [
            replace(
                share,
                events=tuple(
                    [
                        replace(event, noises=tuple([replace(noise, rate=moved(noise.rate)) for noise in event.noises]))
                        for event in share.events
                    ]
                ),
            )
            for share in bound.shares
        ]
        return self._bounds.measure(Bound(tuple(shares), bound.constant))

    def _begin(self, number: int, form: ClosedForm, factor: Fraction) -> Fraction:
        """About where Pr >= 1 - factor·beta begins to hold, if it does not before; a guess."""
        missing = _Guessed([(-_ONE, form.value), (-factor, self._posed[number][1].value)])
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
            # The secant, and the middle now and then.
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
        """Whether Pr <= 1 - beta is proved on (0, end]."""
        interval = Interval(_ZERO, end, False, True)
        try:
            return holds_in_cells((1 - form).value, PiecewiseForm(ExpPoly.ONE - beta), interval, self._limits)
        except Undecided:
            return False


class _Guessed:
    """1 and some functions with factors, summed up: about, but more exactly than by floats, and soon."""

    def __init__(self, summands: Sequence[tuple[Fraction, Closed]]) -> None:
        self._sums = []
        for factor, value in summands:
            above, below = fraction_of(value)
            self._sums.append((_balls(above * factor), _balls(below)))

    def __call__(self, eps: Fraction) -> float:
        with precision(_BITS, 1):
            point = flint.arb(to_fmpq(eps))
            total = flint.arb(1)
            for above, below in self._sums:
                total += _sum(above, point) / _sum(below, point)
            return float(total.mid())


def _balls(value: ExpPoly) -> list[tuple[flint.arb, int, flint.arb]]:
    with precision(_BITS, 1):
        return [(flint.arb(to_fmpq(c)), k, flint.arb(to_fmpq(q))) for k, q, c in value.terms()]


def _sum(terms: Sequence[tuple[flint.arb, int, flint.arb]], eps: flint.arb) -> flint.arb:
    return sum((c * eps**k * (q * eps).exp() for c, k, q in terms), flint.arb(0))


def round_to(value: Fraction) -> Fraction:
    """A short number that is a little less."""
    unit = Fraction(1)
    while unit > value / 10**7 and unit > Fraction(1, 10**30):
        unit /= 16
    return value // unit * unit


@frozen
class Cell:
    """The values between two, in each constant."""

    low: Values
    high: Values

    @property
    def corners(self) -> Iterator[Values]:
        return product(*[dict.fromkeys(pair) for pair in zip(self.low, self.high, strict=True)])

    @property
    def middle(self) -> Values:
        return tuple([(low + high) / 2 for low, high in zip(self.low, self.high, strict=True)])

    def parts(self, constant: int, count: int) -> Iterator[Cell]:
        """Equal parts along one constant."""
        low, high = self.low[constant], self.high[constant]
        ends = [low + (high - low) * n / count for n in range(count + 1)]
        for one, two in pairwise(ends):
            start, end = list(self.low), list(self.high)
            start[constant], end[constant] = one, two
            yield Cell(tuple(start), tuple(end))


class Objective:
    """The objective over all values of the constants, from below."""

    def __init__(
        self, thresholds: Needed, rates: AffineRates, least: Sequence[Fraction], costs: LeastCosts | None
    ) -> None:
        """Where some rate is less than its `least` value nothing is meant; without `costs` privacy is nominal."""
        self._thresholds = thresholds
        self._rates = rates
        self._least = least
        self._costs = costs
        self._candidates: list[Candidate] = []
        self._reached: dict[tuple[int, bool, Rates], Reached | None] = {}

    def learn(self, values: Values, candidate: Candidate | None) -> None:
        """Looks at values near which guesses will be asked for, and a pair that needs the greatest constant there.
        Raises Undecided.
        """
        self._thresholds.learn(self._rates.at(values))
        if self._costs is not None and candidate is not None:
            same = (candidate.input, candidate.adjacent, candidate.output, candidate.balls)
            if all(same != (c.input, c.adjacent, c.output, c.balls) for c in self._candidates):
                self._candidates.append(candidate)

    def guess(self, values: Values) -> float:
        """About the objective, as far as the pairs that are known need it; infinite where a rate is too small."""
        rates = self._rates.at(values)
        if any(rate < least for rate, least in zip(rates, self._least, strict=True)):
            return float("inf")
        try:
            constants = max((each[0] for each in self._constants([rates], [rates], rates)), default=_ZERO)
            return float(constants * self._thresholds.guess(rates))
        except Undecided:
            return float("inf")

    def at_least(self, cell: Cell, enough: Fraction | None = None) -> Fraction | None:
        """What it is at least in a cell; None where no part of it is meant. Raises Undecided."""
        corners = [self._rates.at(corner) for corner in cell.corners]
        most = [max(column) for column in zip(*corners, strict=True)]
        if any(rate <= least for rate, least in zip(most, self._least, strict=True)) and len(corners) > 1:
            return None
        lowest = [
            max(min(column), least) for column, least in zip(zip(*corners, strict=True), self._least, strict=True)
        ]
        whole = all(rate >= least for rates in corners for rate, least in zip(rates, self._least, strict=True))
        if whole:
            kappas = self._constants(corners, corners, self._rates.at(cell.middle))
        else:
            kappas = self._constants([tuple(lowest)], [tuple(most)], tuple(most))
            corners = [tuple(most)]
        best = _ZERO
        for each in sorted(kappas, key=min, reverse=True)[:2]:
            if min(each) <= 0:
                continue
            scaled = [tuple([rate / k for rate in rates]) for rates, k in zip(corners, each, strict=True)]
            largest = tuple([max(column) for column in zip(*scaled, strict=True)])
            # Rates that are a little greater are as good, and shorter.
            rates = tuple([_rounded_up(rate) for rate in largest])
            shares = scaled if whole else [tuple([low / each[0] for low in lowest])]
            quotients = [tuple(map(_quotient, share, rates)) for share in shares]
            best = max(best, self._thresholds.at_least(rates, quotients, enough))
            if enough is not None and best >= enough:
                break
        return best

    def _constants(self, far: Sequence[Rates], near: Sequence[Rates], center: Rates) -> list[list[Fraction]]:
        """Numbers κ for the corners, for each of the pairs: what the output costs at u' with the rates `far`, less what
        noises cost at u with the rates `near`; these noises cost the least with the rates `center`, or with `near`.
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

    def widest(self, cell: Cell) -> int:
        """The constant along which rates change the most."""
        middle = self._rates.at(cell.middle)

        def change(constant: int) -> Fraction:
            ends = []
            for side in (cell.low, cell.high):
                values = list(cell.middle)
                values[constant] = side[constant]
                ends.append(self._rates.at(tuple(values)))
            terms = zip(*ends, middle, self._least, strict=True)
            return sum((abs(high - low) / max(rate, least) for low, high, rate, least in terms), _ZERO)

        return max(range(len(cell.low)), key=change)


def _quotient(one: Fraction, two: Fraction) -> Fraction:
    return one / two


def _rounded_up(value: Fraction) -> Fraction:
    """A short number that is at least as great, by a part of a million at most."""
    unit = Fraction(1)
    while unit > value / 2**20:
        unit /= 2
    return ceil(value / unit) * unit


class Cells:
    """Cell after cell, the one with the least bound first, until all are bounded by what is asked for."""

    def __init__(self, objective: Objective, whole: Cell) -> None:
        self._objective = objective
        self.looked_at = 0
        self._heap: list[tuple[Fraction, int, Cell]] = [(_ZERO, 0, whole)]

    @property
    def lower(self) -> Fraction:
        """What the objective is at least everywhere, as far as is known."""
        return self._heap[0][0] if self._heap else _ZERO

    def run(self, enough: Fraction, most: int) -> Iterator[int]:
        """Tries cells until `lower` is enough, at most this many; yields how many were tried. Raises Undecided."""
        while self._heap and self._heap[0][0] < enough and self.looked_at < most:
            bound, _, cell = self._heap[0]
            bounded = []
            for smaller in cell.parts(self._objective.widest(cell), self._count(cell, float(bound), float(enough))):
                self.looked_at += 1
                yield self.looked_at
                known = self._objective.at_least(smaller, enough)
                if known is not None:
                    bounded.append((max(known, bound), self.looked_at, smaller))
            heappop(self._heap)
            for one in bounded:
                heappush(self._heap, one)

    def _count(self, cell: Cell, bound: float, enough: float) -> int:
        """Parts of a cell of which it is to be hoped that their bounds are enough."""
        middle = self._objective.guess(cell.middle)
        if not bound or isinf(middle):
            return 4
        return _PARTS if middle <= enough else max(2, min(_PARTS, ceil((middle - bound) / (middle - enough) / _HOPE)))
