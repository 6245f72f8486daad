"""The places where a quotient has a local maximum between two ends, or is largest as an end is approached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import pairwise

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits
from dipc.sign.budget import Budget
from dipc.sign.chart import sign_at, sign_chart
from dipc.sign.decide import RegionEnd
from dipc.sign.interval import Interval
from dipc.sign.optimum.limit import Infinite, Limit, limit_at_infinity, limit_at_zero
from dipc.sign.optimum.number import Number
from dipc.sign.optimum.ratio import Ratio
from dipc.sign.optimum.shared_root import order, vanishes_at
from dipc.sign.root import Root


class Far(Enum):
    """Places that are no single eps: next to 0, towards infinity, and everywhere, where the quotient is constant."""

    ZERO = "0+"
    INFINITY = "inf"
    EVERYWHERE = "everywhere"


#: A rational eps, an isolated one, or a place that is no single eps.
Where = Fraction | Root | Far


@dataclass(frozen=True, slots=True, eq=False)
class Peak:
    """The quotient has this value at `at` (`attained`), or approaches it there. `value` None is infinity: the quotient
    exceeds every bound near `at`, or, where `attained`, its denominator is 0 there and its numerator positive."""

    at: Where
    attained: bool
    value: Number | None


def ends_of(interval: Interval) -> tuple[RegionEnd, RegionEnd]:
    """The ends of an interval."""
    return RegionEnd(interval.lower, interval.lower_closed), RegionEnd(interval.upper, interval.upper_closed)


def peaks(ratio: Ratio, lower: RegionEnd, upper: RegionEnd, limits: Limits | None = None) -> list[Peak]:
    """Peaks of the quotient among the eps between the ends, so that the greatest of their values is its supremum.

    Both ends are positive, or 0 for the lower and infinity for the upper one; the lower comes first, or they are the
    same closed rational. The denominator that was given must be at least 0 between them; where both that and the
    numerator are 0 the quotient has no value and counts for nothing.

    If a peak is infinite, the supremum is. Empty only where the quotient has a value nowhere, or is minus infinity at
    the only point. Raises LimitReached.
    """
    return _Search(ratio, lower, upper, limits or Limits()).peaks()


class _Search:
    def __init__(self, ratio: Ratio, lower: RegionEnd, upper: RegionEnd, limits: Limits) -> None:
        self.ratio = ratio
        self.lower = _plain(lower)
        self.upper = _plain(upper)
        self.limits = limits
        self.budget = Budget(limits)

    def peaks(self) -> list[Peak]:
        if self.lower.value == self.upper.value:
            assert isinstance(self.lower.value, Fraction)
            return list(self._at_point(self.lower.value))
        slope = self.ratio.slope()
        if slope.is_zero():
            # The derivative is 0, so the quotient is constant: its limit is its value everywhere.
            value = limit_at_infinity(self.ratio.numerator, self.ratio.denominator)
            assert isinstance(value, Fraction)
            return [Peak(Far.EVERYWHERE, True, Number.rational(value))]
        poles = list(self._poles())
        if poles:
            return poles
        return [*self._ends(), *self._maxima(slope)]

    # --- at a place -------------------------------------------------------------------------------

    def _peak(self, at: Fraction | Root, closed: bool) -> Peak:
        """The peak at a place where the reduced denominator is not 0."""
        attained = closed and not self.ratio.is_gap(at, self.limits)
        return Peak(at, attained, Number(self.ratio.numerator, self.ratio.denominator, at, self.limits))

    def _at_point(self, eps: Fraction) -> Iterator[Peak]:
        if self.ratio.is_gap(eps):
            return
        if not self.ratio.denominator.value_is_zero(eps):
            yield self._peak(eps, closed=True)
        elif sign_at(self.ratio.numerator * self.ratio.common, eps, self.limits) > 0:
            yield Peak(eps, True, None)

    def _ends(self) -> Iterator[Peak]:
        """What the quotient approaches at the ends, where that is not minus infinity or at a pole."""
        numerator, denominator = self.ratio.numerator, self.ratio.denominator
        for end in (self.lower, self.upper):
            match end.value:
                case None:
                    yield from _limit_peak(Far.INFINITY, limit_at_infinity(numerator, denominator))
                case Fraction() if end.value == 0:
                    yield from _limit_peak(Far.ZERO, limit_at_zero(numerator, denominator, self.limits))
                case Fraction():
                    if not denominator.value_is_zero(end.value):
                        yield self._peak(end.value, end.closed)
                case Root():
                    if _one_sign(denominator) or not vanishes_at(denominator, end.value, self.limits):
                        yield self._peak(end.value, end.closed)

    # --- roots between the ends -------------------------------------------------------------------

    def _outer(self) -> Interval:
        """A rational open interval that holds all that is between the ends, and perhaps a little more."""
        low, high = self.lower.value, self.upper.value
        assert low is not None
        return Interval.open(
            low.lower if isinstance(low, Root) else low, high.upper if isinstance(high, Root) else high
        )

    def _places(self, f: ExpPoly) -> list[tuple[Root, int, tuple[int, int]]]:
        """The roots of f in the closed region as (root, side, signs of f before and after it); `side` is -1 at the
        lower end, 1 at the upper, 0 between them. Rational ends are left out."""
        if _one_sign(f):
            return []
        chart = sign_chart(f, self._outer(), self.limits)
        found = []
        for root, signs in zip(chart.roots, pairwise(chart.signs), strict=True):
            after = order(root, self.lower.value, self.budget) if isinstance(self.lower.value, Root) else 1
            before = order(root, self.upper.value, self.budget) if isinstance(self.upper.value, Root) else -1
            if after >= 0 and before <= 0:
                found.append((root, -1 if after == 0 else 1 if before == 0 else 0, signs))
        return found

    def _poles(self) -> Iterator[Peak]:
        """The places in the closed region where the quotient grows beyond every bound, 0 and infinity apart."""
        numerator, denominator = self.ratio.numerator, self.ratio.denominator
        for root, side, (before, after) in self._places(denominator):
            inside = {-1: (after,), 0: (before, after), 1: (before,)}[side]
            sign = self._sign_near(numerator, root)
            if any(sign * s > 0 for s in inside):
                closed = side == 0 or (self.lower if side < 0 else self.upper).closed
                yield Peak(root, closed and not self.ratio.is_gap(root, self.limits), None)
        for end, at_start in ((self.lower, True), (self.upper, False)):
            if isinstance(end.value, Fraction) and end.value and denominator.value_is_zero(end.value):
                chart = sign_chart(denominator, self._outer(), self.limits)
                sign = sign_at(numerator, end.value, self.limits)
                if sign * chart.signs[0 if at_start else -1] > 0:
                    yield Peak(end.value, end.closed and not self.ratio.is_gap(end.value, self.limits), None)

    def _sign_near(self, f: ExpPoly, root: Root) -> int:
        """The sign of f at a root of another function, where f is not 0."""
        number = Number(f, ExpPoly.one(), root, self.limits)
        return number.against(Fraction(0))

    def _maxima(self, slope: ExpPoly) -> Iterator[Peak]:
        """The maxima strictly between the ends: there the derivative changes from plus to minus."""
        for root, side, signs in self._places(slope):
            if side == 0 and signs == (1, -1):
                at = root.lower if root.is_exact else root
                yield self._peak(at, closed=True)


def _limit_peak(at: Far, limit: Limit) -> Iterator[Peak]:
    match limit:
        case Infinite.PLUS:
            yield Peak(at, False, None)
        case Infinite.MINUS:
            pass
        case Fraction():
            yield Peak(at, False, Number.rational(limit))


def _one_sign(f: ExpPoly) -> bool:
    """True only if f, which must not be zero, has no root eps > 0, seen by its coefficients."""
    signs = {c > 0 for _, _, c in f.terms()}
    return len(signs) == 1


def _plain(end: RegionEnd) -> RegionEnd:
    """The same end, as a rational where it is known to be one."""
    return RegionEnd(end.value.lower, end.closed) if isinstance(end.value, Root) and end.value.is_exact else end
