"""Decisions about a bound whose closed form is too long to be written out: by Taylor polynomials in ball arithmetic.

The slack (bound - 1 + beta)·denominator is followed from cell to cell of eps, each of which has a Taylor polynomial
with a proved remainder (`dipc.measure.series`). There are finitely many cells only away from 0 and infinity. Where beta
is at least 1 nothing is left to show; next to 0 and to infinity the bound has closed forms below it that are short:

  * A half-space is A·N + s >= 0 for centered noises N. A discrete Laplace noise is the difference of the floors of two
    exponential variables, and so nearer than 1 to the difference of these, a Laplace noise X of the same rate. So the
    half-space holds where A·X >= t does, for the sum t of the |coefficients| of discrete noises, less s. Scaled by eps
    that is A·X >= eps·t, and what it leaves out of A·X >= 0 has a probability of at most eps·max(0, t) times the
    greatest density of A·X, which is at most that of each of its terms. So Pr[event] is at least the probability of all
    A·X >= 0, which is the same for every eps, less eps·Σ max(0, t)·min (greatest density)/|coefficient|.
  * Pr[event] >= 1 - Σ Pr[not c] over its half-spaces c. Of one noise that is at most an exponential function. Of those
    over several noises alike that with the least s is the least probable.

All of them are closed forms, decided as any other. What is left is compact, or stays undecided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor
from typing import assert_never

import flint

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.combine import total
from dipc.algebra.decimals import outward
from dipc.algebra.exppoly import ExpPoly, to_fmpq
from dipc.algebra.limits import Limits, Undecided
from dipc.algebra.quotient import Closed
from dipc.linear.halfspace import Halfspace
from dipc.measure.bound import Bound, BoundMeasurer
from dipc.measure.event import Event, Family, Noise
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

#: Up to so many exponents of tails are kept as they are; of more each is a multiple of so many parts of the least one.
_FEW_TAILS, _STEPS = 4, 8

#: What a noise scaled by eps is like for small eps.
_DENSE = {
    Family.LAPLACE: Family.LAPLACE,
    Family.ONE_SIDED: Family.ONE_SIDED,
    Family.DISCRETE_LAPLACE: Family.LAPLACE,
}

#: Cells that one obligation may take.
MOST_CELLS = 200

#: What remainders are, in bits: at first, and where the slack may be as small; balls are smaller by so many bits.
_REMAINDERS, _BLUR = (24, 96), 16

#: The precision of balls at first, and at most.
_FIRST_BITS, _MOST_BITS = 192, 6_000

#: Where it is looked whether a claim fails, before anything is proved.
_SAMPLES = [Fraction(n) for n in (1, 2, 4, 8, 16, 32, 128, 1024)] + [Fraction(1, n) for n in (2, 4, 8, 32, 128, 1024)]

_ZERO = Fraction(0)


def decide_by_series(obligation: Obligation, bounds: BoundMeasurer, limits: Limits, too_long: Undecided) -> Decision:
    """Whether the bound is at least 1 - beta on the intervals, where its closed form is `too_long`.

    ACCURATE only with that proved for every eps of the intervals, INACCURATE only with an eps of them at which it is
    refuted, else UNDECIDED, for the reason that it is too long where this way is no way.
    """
    try:
        unexpanded = UnexpandedBound.of(obligation.bound, bounds.measurer, limits)
        return Search(obligation, unexpanded, bounds, limits, too_long).decided()
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
class Search:
    """How one obligation is decided."""

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
            parts = [left for part in parts for left in self._failing(self.next_to_infinity(), part)]
        if any(not part.lower for part in parts):
            parts = [left for part in parts for left in self._failing(self.next_to_zero(), part)]
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

    def next_to_infinity(self) -> ClosedForm:
        """A closed form that is at most the bound, and near it for large eps."""
        alike: dict[object, list[tuple[Fraction, bool, Event, Halfspace]]] = {}
        tails: list[tuple[Fraction, Fraction]] = []
        for event in self._events():
            for item in event.constraints:
                if len(item.coefficients) == 1:
                    tails.append(_tail(event, item))
                    continue
                laws = sorted(_law(event.noises[place], c) for place, c in item.coefficients)
                place = _slack(event, item), not item.strict, event, item
                alike.setdefault(tuple(laws), []).append(place)
        missed: list[Closed] = [ExpPoly.from_terms((0, -exponent, weight) for exponent, weight in _coarse(tails))]
        for members in alike.values():
            _, _, event, item = min(members, key=lambda member: member[:2])
            missed.append(len(members) * (1 - self.bounds.measurer.measure(Event(event.noises, (item,)))))
        return ClosedForm(1 - total(missed))

    def next_to_zero(self) -> ClosedForm:
        """A closed form that is at most the bound, and near it for small eps."""
        product: Closed = ExpPoly.one()
        slope = _ZERO
        for event in self._events():
            noises = tuple(Noise(_DENSE[noise.family], noise.rate, _ZERO) for noise in event.noises)
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
        doubtful: list[_Part] = []
        for remainder in _REMAINDERS:
            doubtful = self._doubtful(center, radius, beta, remainder)
            if not doubtful:
                return
            if any(part.negative for part in doubtful):
                break
        for part in doubtful:
            # Where the middle is negative the simplest number may be too far from it.
            for near in (1, 4, 16, 64) if part.negative else (1,):
                low, high = (center + radius * (part.place + side * part.reach / near) for side in (-1, 1))
                self._look_at(simplest_between(low, high, lower_closed=True, upper_closed=True))
        if not halvings or left == right:
            raise _Open(center + radius * doubtful[0].place)
        self._cell(left, center, beta, halvings - 1)
        self._cell(center, right, beta, halvings - 1)

    def _doubtful(self, center: Fraction, radius: Fraction, beta: FormCell, remainder: int) -> list[_Part]:
        """Where the slack is not seen to be positive: parts of the cell, as multiples of its radius."""
        share = max(radius / (DISK * center), Fraction(1, 2**16))
        bits = _FIRST_BITS + remainder + 4 * sum(product.noises for product in self.unexpanded.products)
        while bits <= _MOST_BITS:
            with precision(bits, 1):
                majorant = self._majorant(center, beta)
                length = _length(majorant, share, remainder)
            with precision(bits, length):
                # (bound - 1 + beta)·denominator, which is positive where the slack is.
                below = series_of(beta.denominator, center)
                slack = (self.unexpanded.series(center) - 1) * below + series_of(beta.numerator, center)
                scaled = [c * flint.arb(to_fmpq(radius)) ** k for k, c in enumerate(coefficients(slack, length))]
                blurred = sum((c.rad() for c in scaled), flint.arb(0))
                if all(c.is_finite() for c in scaled) and blurred < flint.arb(2) ** -(remainder + _BLUR):
                    rest = left_out(majorant, share, length)
                    return list(_not_positive(flint.arb_poly(scaled), rest, _Part(_ZERO, Fraction(1)), MOST_PARTS))
            bits *= 2
        raise _Open(center)

    def _majorant(self, center: Fraction, beta: FormCell) -> flint.arb:
        bound = self.unexpanded.majorant(center) + 1
        return (bound * majorant_of(beta.denominator, center) + majorant_of(beta.numerator, center)).upper()


def _length(majorant: flint.arb, share: Fraction, remainder: int) -> int:
    """So many coefficients that little is left out."""
    wanted = (majorant * 2**remainder).log() / -flint.arb(to_fmpq(share)).log()
    return max(2, ceil(float(wanted.upper())) + 1)


@dataclass(frozen=True, slots=True)
class _Part:
    """place - reach to place + reach; `negative` if the slack is so in the middle."""

    place: Fraction
    reach: Fraction
    negative: bool = False


def _not_positive(polynomial: flint.arb_poly, rest: flint.arb, part: _Part, halvings: int) -> Iterator[_Part]:
    """Parts of a part of [-1, 1] on which the polynomial is not seen to be more than the rest; it is given as a
    function of where in the part its argument is, from -1 to 1."""
    first, *others = polynomial.coeffs() or [flint.arb(0)]
    if first - sum((abs(c) for c in others), flint.arb(0)) > rest:
        return
    negative = first < -rest
    if not halvings or negative:
        yield replace(part, negative=negative)
        return
    reach = part.reach / 2
    for side in (-1, 1):
        half = polynomial(flint.arb_poly([flint.arb(side) / 2, flint.arb(1) / 2]))
        yield from _not_positive(half, rest, _Part(part.place + side * reach, reach), halvings - 1)


def _slack(event: Event, item: Halfspace) -> Fraction:
    """What the form of the half-space is where each noise has its mean."""
    return item.constant + sum((c * event.noises[place].mean for place, c in item.coefficients), _ZERO)


def _law(noise: Noise, c: Fraction) -> tuple[str, Fraction, Fraction]:
    """What the law of c·N depends on, for the centered noise N."""
    return noise.family.value, c if noise.family is Family.ONE_SIDED else abs(c), noise.rate


def _tail(event: Event, item: Halfspace) -> tuple[Fraction, Fraction]:
    """An exponent q and a weight w such that the half-space, of one noise, fails with a probability of at most
    w·e^{-q·eps} for every eps."""
    ((place, c),) = item.coefficients
    noise = event.noises[place]
    reach = _slack(event, item) / abs(c)
    if reach < 0:
        return _ZERO, Fraction(1)
    match noise.family:
        case Family.LAPLACE:
            return noise.rate * reach, Fraction(1, 2)
        case Family.DISCRETE_LAPLACE:
            # The masses from k >= 1 on are z^k/(1 + z) together, those from 0 on 1/(1 + z).
            return noise.rate * (ceil(reach) if item.strict else floor(reach) + 1), Fraction(1)
        case Family.ONE_SIDED:
            return (noise.rate * reach, Fraction(1)) if c < 0 else (_ZERO, _ZERO)
    assert_never(noise.family)


def _coarse(tails: Sequence[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """Exponents and weights of as large a sum; the exponents are few multiples of a part of the least that is not 0.

    Many exponents of which each has another denominator would make a polynomial of an enormous degree.
    """
    if len({q for q, _ in tails}) <= _FEW_TAILS:
        return list(tails)
    step = min(q for q, _ in tails if q) / _STEPS
    return [(min(q // step, _STEPS**2) * step, w) for q, w in tails]


def _change(event: Event, item: Halfspace) -> Fraction:
    """How fast the probability of a half-space falls with eps at most."""
    if not item.coefficients:
        return _ZERO
    noises = [(event.noises[place], abs(c)) for place, c in item.coefficients]
    missing = sum((c for noise, c in noises if noise.family is Family.DISCRETE_LAPLACE), -_slack(event, item))
    return max(_ZERO, missing) * min(_greatest_density(noise) / c for noise, c in noises)


def _greatest_density(noise: Noise) -> Fraction:
    """Of the noise scaled by eps, or of the continuous one near it."""
    return noise.rate if noise.family is Family.ONE_SIDED else noise.rate / 2
