"""The factor that a probability without a closed form needs: enclosed from both sides, with the digits asked for.

Where (1 - Pr)/beta is largest is guessed, by Newton's method on its Taylor series. Its value there, enclosed, is one
that is needed. That a factor greater by some 10^-n of it suffices is decided as any claim is, for every eps; and where
the claim with the needed factor holds, nothing needs more: so the places that do are enclosed, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial

import flint

from dipc.algebra.exppoly import Closed, ExpPoly, dyadic
from dipc.algebra.limits import LimitReached, OutsideFragment, Undecided
from dipc.decide.engine import Engine
from dipc.decide.obligation import Bound, Obligation, Verdict
from dipc.frozen import frozen
from dipc.measure.measure import EnclosedForm, series_of
from dipc.measure.power_series import coefficients, precision
from dipc.sign.interval import Interval
from dipc.sign.optimum import Number, Peak, decimal_cell
from dipc.sign.piecewise import BetaForm, PiecewiseForm

#: More digits than are asked for, by which a factor that suffices is greater than one that is needed.
_MORE = 14

#: Values of eps that are looked at, at first: powers of 2 and between.
_GRID = tuple([Fraction(2) ** (k // 4) * (4 + k % 4) / 4 for k in range(-60, 60)])

#: Newton's steps, and bits of numbers.
_STEPS, _COARSE_BITS = 12, 64

#: The digits to which the place of the greatest value is enclosed, tried one after the other.
_DIGITS = (12, 9, 6, 3, 2, 1)


class EnclosedNumber(Number):
    """A number that is known between two rationals, and not to be known better."""

    __slots__ = ()

    def __init__(self, low: Fraction, high: Fraction) -> None:
        self.low, self.high = low, high

    def narrow(self) -> None:
        raise LimitReached(None, "the factor is only enclosed, to fewer digits than it takes to compare it")

    def recognize(self, digits: int = 40) -> None:
        """It is not known to be rational."""

    def is_exactly(self, value: Fraction) -> bool:  # noqa: ARG002 - it is not known
        return False


@frozen(eq=False)
class EnclosedPeak(Peak):
    """`at` is near all eps that need as much, and these are `within` two."""

    within: tuple[Fraction, Fraction]


def enclosed_peak(
    form: EnclosedForm, bound: Bound, beta: BetaForm, intervals: Sequence[Interval], engine: Engine, digits: int
) -> EnclosedPeak:
    """The peak of (1 - Pr)/beta over all eps of the intervals, its value enclosed to more than so many digits. Raises
    Undecided where it is not found, or is none inside of an interval."""
    closed = beta.closed
    if closed is None or not isinstance(closed.value, ExpPoly):
        raise OutsideFragment("the factor is only looked for where beta is one exponential polynomial")
    needed = partial(_needed, form, closed.value)
    bits = 8 * (digits + _MORE)
    place = _highest(needed, intervals, bits)
    with precision(bits, 1):
        (ball,) = coefficients(needed(place), 1)
        low = dyadic(ball.lower())
    if low <= 0:
        raise OutsideFragment("no factor above 0 is seen to be needed")
    high = low * (1 + Fraction(1, 10 ** (digits + _MORE)))
    if not suffices(high, closed.value, bound, intervals, engine):
        raise OutsideFragment(f"a factor near {float(low):.12g} is needed, and that it suffices is not shown")
    within = _place(place, low, closed.value, bound, intervals, engine)
    return EnclosedPeak(place, True, EnclosedNumber(low, high), within)


def _needed(form: EnclosedForm, beta: ExpPoly, eps: Fraction) -> flint.arb_series:
    """The Taylor series of (1 - Pr)/beta there."""
    return (1 - form.bound.series(eps)) / series_of(beta, eps)


def _highest(needed: partial[flint.arb_series], intervals: Sequence[Interval], bits: int) -> Fraction:
    """About where it is largest. Raises Undecided where that is an end of an interval."""
    best: tuple[float, Fraction] | None = None
    with precision(_COARSE_BITS, 1):
        for eps in _candidates(intervals):
            try:
                (ball,) = coefficients(needed(eps), 1)
            except LimitReached:
                continue  # such as a sum of too many terms next to 0
            # Where beta is tiny nothing is known of the quotient.
            value = float(ball.lower()) if ball.is_finite() else 0.0
            if best is None or value > best[0]:
                best = value, eps
    if best is None:
        raise OutsideFragment("no eps is looked at")
    place = best[1]
    for _ in range(_STEPS):
        with precision(bits, 3):
            _, slope, curvature = coefficients(needed(place), 3)
            if not curvature < 0:
                raise OutsideFragment("the factor that is needed has no peak inside of the intervals")
            step = dyadic((-slope / (2 * curvature)).mid())
        place += step
        if not any(place in interval for interval in intervals):
            raise OutsideFragment("the factor that is needed is largest next to an end of the eps")
        place = Fraction(round(place * 2**bits), 2**bits)
        if abs(step) < place / 2 ** (bits // 3):
            break
    return place


def _candidates(intervals: Sequence[Interval]) -> Iterator[Fraction]:
    for interval in intervals:
        yield from (eps for eps in _GRID if eps in interval)
        yield from (end for end in (interval.lower, interval.upper) if end is not None and end in interval)


def suffices(factor: Fraction, beta: Closed, bound: Bound, intervals: Sequence[Interval], engine: Engine) -> bool:
    """Whether it is proved that the factor is enough on the intervals."""
    obligation = Obligation(bound, PiecewiseForm(beta * factor), tuple(intervals))
    return engine.decide(obligation).verdict is Verdict.ACCURATE


def _place(
    place: Fraction, low: Fraction, beta: ExpPoly, bound: Bound, intervals: Sequence[Interval], engine: Engine
) -> tuple[Fraction, Fraction]:
    """Around all eps at which as much is needed."""
    for digits in _DIGITS:
        ends = decimal_cell(place, digits)
        if suffices(low, beta, bound, _without(intervals, ends), engine):
            return ends
    raise Undecided("where the factor is needed is not known")


def _without(intervals: Sequence[Interval], ends: tuple[Fraction, Fraction]) -> list[Interval]:
    """The parts of the intervals that are not between the ends."""
    result = []
    for interval in intervals:
        if interval.lower < ends[0]:
            upper = ends[0] if interval.upper is None else min(ends[0], interval.upper)
            result.append(Interval(interval.lower, upper, interval.lower_closed, True))
        if interval.upper is None or interval.upper > ends[1]:
            low = max(ends[1], interval.lower)
            result.append(Interval(low, interval.upper, True, interval.upper_closed))
    return result
