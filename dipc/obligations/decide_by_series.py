"""Decisions about a bound whose closed form is too long to be written out: by Taylor polynomials in ball arithmetic.

The slack (bound - 1 + beta)·denominator is followed from cell to cell of eps, each of which has a Taylor polynomial
with a proved remainder (`dipc.measure.series`). There are finitely many cells only away from 0 and infinity. Where beta
is at least 1 nothing is left to show; next to 0 and to infinity the bound has closed forms below it that are short:

  * With centered noises scaled by eps each half-space is A·N + eps·s >= 0. It changes with eps by an event of a
    probability of at most eps·|s| times the greatest density of A·N, which is at most that of each of its terms. So
    Pr[event] >= Pr[event at eps = 0] - eps·Σ |s|·min (rate/2)/|coefficient|.
  * Pr[event] >= 1 - Σ Pr[not c] over its half-spaces c; of those with noises alike that with the least s is the least
    probable.

All of them are closed forms, decided as any other. What is left is compact, or stays undecided.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import flint

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.combine import total
from dipc.algebra.decimals import outward
from dipc.algebra.exppoly import ExpPoly, to_fmpq
from dipc.algebra.limits import Limits, Undecided
from dipc.algebra.quotient import Closed
from dipc.linear.halfspace import Halfspace
from dipc.measure.bound import Bound, BoundMeasurer
from dipc.measure.event import Event, Noise
from dipc.measure.series import DISK, UnexpandedBound, coefficients, left_out, majorant_of, series_of
from dipc.measure.series_pieces import precision
from dipc.obligations.decide import DIGITS, decide
from dipc.obligations.decision import Decision
from dipc.obligations.obligation import Obligation
from dipc.obligations.verdict import Counterexample, Verdict
from dipc.sign import Interval
from dipc.sign.piecewise import FormCell
from dipc.sign.simplest import simplest_between

#: The first cells reach so far, in parts of the disk's radius; a cell that is not decided is halved so often at most,
#: and a polynomial looked at on so small parts of it.
SHARE = Fraction(1, 3)
MOST_HALVINGS, MOST_PARTS = 6, 7

#: Cells that one obligation may take.
MOST_CELLS = 200

#: What remainders are at first, in bits; and balls, before a cell is tried with more precision.
_REMAINDER, _FIRST_BITS, _MOST_BITS = 24, 192, 6_000

#: Where it is looked whether a claim fails, before anything is proved.
_SAMPLES = [Fraction(n) for n in (1, 2, 4, 8, 16, 32)] + [Fraction(1, n) for n in (2, 4, 8, 32, 128, 1024)]

_ZERO = Fraction(0)


def decide_by_series(obligation: Obligation, bounds: BoundMeasurer, limits: Limits, too_long: Undecided) -> Decision:
    """Whether the bound is at least 1 - beta on the intervals, where its closed form is `too_long`.

    ACCURATE only with that proved for every eps of the intervals, INACCURATE only with an eps of them at which it is
    refuted, else UNDECIDED, for the reason that it is too long where this way is no way.
    """
    try:
        unexpanded = UnexpandedBound.of(obligation.bound, bounds.measurer, limits)
        return _Search(obligation, unexpanded, bounds, limits, too_long).decided()
    except Undecided:
        return Decision.undecided(too_long.reason)


class _Refuted(Exception):
    """The claim fails."""

    def __init__(self, example: Counterexample) -> None:
        super().__init__()
        self.example = example


class _Open(Exception):
    """Nothing was found out around this eps."""

    def __init__(self, eps: Fraction) -> None:
        super().__init__()
        self.eps = eps


@dataclass
class _Search:
    obligation: Obligation
    unexpanded: UnexpandedBound
    bounds: BoundMeasurer
    limits: Limits
    too_long: Undecided
    cells: int = 0

    def decided(self) -> Decision:
        """The decision. Raises Undecided where there is no such series."""
        try:
            for sample in _SAMPLES:
                self._look_at(sample)
            for interval in self.obligation.intervals:
                for cell in self.obligation.beta.cells(interval, self.limits):
                    for part in self._open_parts(cell.hull):
                        self._follow(part, cell)
        except _Refuted as found:
            return Decision(Verdict.INACCURATE, None, found.example)
        except _Open as found:
            reason = f"{self.too_long.reason}, and near eps = {float(found.eps):.3g} its Taylor polynomials do not tell"
            return Decision.undecided(reason)
        return Decision(Verdict.ACCURATE)

    def _look_at(self, eps: Fraction) -> None:
        """Raises _Refuted where the claim is about this eps, and fails there."""
        if not any(eps in interval for interval in self.obligation.intervals):
            return
        probability = self.unexpanded.enclosure(eps, 4 * DIGITS)
        numerator, denominator = self.obligation.beta.fraction_at(eps)
        above, below = (part.enclosure(eps, 2 * DIGITS) for part in (denominator - numerator, denominator))
        ends = [over / under for over in above for under in below]
        shown, required = outward(*probability, DIGITS), outward(min(ends), max(ends), DIGITS)
        if shown[1] < required[0]:
            raise _Refuted(Counterexample(eps, shown, required))

    # --- the ends -------------------------------------------------------------------------------------

    def _open_parts(self, interval: Interval) -> list[Interval]:
        """What short closed forms below the bound leave open."""
        parts = list(self._failing(ClosedForm(ExpPoly.zero()), interval))
        if any(part.upper is None for part in parts):
            parts = [left for part in parts for left in self._failing(self._next_to_infinity(), part)]
        if any(not part.lower for part in parts):
            parts = [left for part in parts for left in self._failing(self._next_to_zero(), part)]
        return parts

    def _failing(self, form: ClosedForm, interval: Interval) -> Iterator[Interval]:
        """Intervals that hold all eps at which the form is less than 1 - beta."""
        try:
            found = decide(form, self.obligation.beta, [interval], self.limits)
        except Undecided:
            yield interval
            return
        if found.verdict is not Verdict.ACCURATE and not found.failing:
            yield interval
        for failing in found.failing:
            low, high = failing.start.low, failing.end.high
            yield Interval(low, high, low > 0, high is not None)

    def _events(self) -> tuple[Event, ...]:
        """The events that the bound is the probability of. Raises Undecided for other bounds."""
        match self.obligation.bound:
            case Bound(shares=(share,), constant=constant) if share.weight is None and not constant:
                return share.events
        raise self.too_long

    def _next_to_infinity(self) -> ClosedForm:
        """A closed form that is at most the bound, and near it for large eps."""
        alike: dict[object, list[tuple[Fraction, Event, Halfspace]]] = {}
        for event in self._events():
            for item in event.constraints:
                laws = sorted((abs(c), event.noises[place].rate) for place, c in item.coefficients)
                alike.setdefault(tuple(laws), []).append((_slack(event, item), event, item))
        missed: list[Closed] = [ExpPoly.zero()]
        for members in alike.values():
            _, event, item = min(members, key=lambda member: member[0])
            missed.append(len(members) * (1 - self.bounds.measurer.measure(Event(event.noises, (item,)))))
        return ClosedForm(1 - total(missed))

    def _next_to_zero(self) -> ClosedForm:
        """A closed form that is at most the bound, and near it for small eps."""
        product: Closed = ExpPoly.one()
        slope = _ZERO
        for event in self._events():
            noises = tuple(Noise(noise.family, noise.rate, _ZERO) for noise in event.noises)
            scaled = tuple(Halfspace(item.coefficients, _ZERO, item.strict) for item in event.constraints)
            product = product * self.bounds.measurer.measure(Event(noises, scaled))
            slope += sum((_change(event, item) for item in event.constraints), _ZERO)
        return ClosedForm(product - ExpPoly.term(slope, 1, _ZERO))

    # --- cells ----------------------------------------------------------------------------------------

    def _follow(self, part: Interval, beta: FormCell) -> None:
        """That the claim holds on the part, where beta is a quotient. Raises _Refuted, _Open."""
        if not part.lower or part.upper is None:
            raise _Open(part.lower)
        left = part.lower
        step = DISK * SHARE
        while True:
            right = min(part.upper, left * (1 + step) / (1 - step))
            self._cell(left, right, beta, MOST_HALVINGS)
            if right == part.upper:
                return
            left = right

    def _cell(self, left: Fraction, right: Fraction, beta: FormCell, halvings: int) -> None:
        """That the slack is positive between the ends. Raises _Refuted, _Open."""
        self.cells += 1
        center = (left + right) / 2
        radius = (right - left) / 2
        if self.cells > MOST_CELLS:
            raise _Open(center)
        doubtful = self._doubtful(center, radius, beta)
        if not doubtful:
            return
        for place, reach in doubtful:
            low, high = center + radius * (place - reach), center + radius * (place + reach)
            self._look_at(simplest_between(low, high, lower_closed=True, upper_closed=True))
        if not halvings or left == right:
            raise _Open(center + radius * doubtful[0][0])
        self._cell(left, center, beta, halvings - 1)
        self._cell(center, right, beta, halvings - 1)

    def _doubtful(self, center: Fraction, radius: Fraction, beta: FormCell) -> list[tuple[Fraction, Fraction]]:
        """Where the slack is not seen to be positive: parts place ± reach of the cell, as multiples of its radius."""
        share = max(radius / (DISK * center), Fraction(1, 2**16))
        bits = _FIRST_BITS + 4 * sum(factor.noises for factor in self.unexpanded.factors)
        while bits <= _MOST_BITS:
            with precision(bits, 1):
                majorant = self._majorant(center, beta)
                length = _length(majorant, share)
            with precision(bits, length):
                # (bound - 1 + beta)·denominator, which is positive where the slack is.
                below = series_of(beta.denominator, center)
                slack = (self.unexpanded.series(center) - 1) * below + series_of(beta.numerator, center)
                scaled = [c * flint.arb(to_fmpq(radius)) ** k for k, c in enumerate(coefficients(slack, length))]
                blurred = sum((c.rad() for c in scaled), flint.arb(0))
                if all(c.is_finite() for c in scaled) and blurred < flint.arb(2) ** -40:
                    rest = left_out(majorant, share, length)
                    return list(_not_positive(flint.arb_poly(scaled), rest, _ZERO, Fraction(1), MOST_PARTS))
            bits *= 2
        raise _Open(center)

    def _majorant(self, center: Fraction, beta: FormCell) -> flint.arb:
        bound = self.unexpanded.majorant(center) + 1
        return (bound * majorant_of(beta.denominator, center) + majorant_of(beta.numerator, center)).upper()


def _length(majorant: flint.arb, share: Fraction) -> int:
    """So many coefficients that little is left out."""
    wanted = (majorant * 2**_REMAINDER).log() / -flint.arb(to_fmpq(share)).log()
    return max(2, ceil(float(wanted.upper())) + 1)


def _not_positive(
    polynomial: flint.arb_poly, rest: flint.arb, place: Fraction, reach: Fraction, halvings: int
) -> Iterator[tuple[Fraction, Fraction]]:
    """Intervals place ± reach inside [-1, 1] on which the polynomial is not seen to be more than the rest; it is given
    on [-1, 1] as a function of where in place ± reach its argument is."""
    first, *others = polynomial.coeffs() or [flint.arb(0)]
    if first - sum((abs(c) for c in others), flint.arb(0)) > rest:
        return
    if not halvings or first < -rest:
        yield place, reach
        return
    for side in (-1, 1):
        part = polynomial(flint.arb_poly([flint.arb(side) / 2, flint.arb(1) / 2]))
        yield from _not_positive(part, rest, place + side * reach / 2, reach / 2, halvings - 1)


def _slack(event: Event, item: Halfspace) -> Fraction:
    """What the form of the half-space is where each noise has its mean."""
    return item.constant + sum((c * event.noises[place].mean for place, c in item.coefficients), _ZERO)


def _change(event: Event, item: Halfspace) -> Fraction:
    """How fast the probability of a half-space changes with eps at most. The noises are Laplace noises."""
    if not item.coefficients:
        return _ZERO
    return abs(_slack(event, item)) * min(event.noises[place].rate / (2 * abs(c)) for place, c in item.coefficients)
