"""The greatest of some peaks, and the supremum of a quotient on an interval."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits
from dipc.sign.interval import Interval
from dipc.sign.optimum.number import Number, compare
from dipc.sign.optimum.peaks import Peak, ends_of, peaks
from dipc.sign.optimum.ratio import Ratio

#: Significant digits of a supremum unless more are asked for.
DIGITS = 30


@dataclass(frozen=True, slots=True, eq=False)
class Highest:
    """The peaks with the greatest value, in the order given. Their values are equal, or, unless `proved`, agree at
    least to the digits asked for, while all other peaks are lower for certain."""

    peaks: tuple[Peak, ...]
    proved: bool

    @property
    def numbers(self) -> tuple[Number, ...]:
        """The values, of which the greatest is the maximum; empty where it is infinite."""
        return tuple(peak.value for peak in self.peaks if peak.value is not None)

    @property
    def is_infinite(self) -> bool:
        """Whether the values are infinite."""
        return self.peaks[0].value is None

    def enclosure(self, digits: int = DIGITS) -> tuple[Fraction, Fraction]:
        """Rationals low <= maximum <= high, high - low at most 10^-digits times the larger of |low|, |high| where
        `proved`, else about so. The maximum must be finite. Raises LimitReached."""
        ends = [number.enclosure(digits) for number in self.numbers]
        return max(low for low, _ in ends), max(high for _, high in ends)

    def against(self, value: Fraction) -> int:
        """The sign of maximum - value, exactly; the maximum must be finite. Raises LimitReached."""
        return max(number.against(value) for number in self.numbers)


def highest(candidates: Iterable[Peak], digits: int = DIGITS) -> Highest | None:
    """The greatest of the candidates; None where there are none. Raises LimitReached."""
    best: list[Peak] = []
    proved = True
    for peak in candidates:
        sign, certain = _compare(peak, best[0], digits) if best else (1, True)
        if sign > 0:
            best, proved = [peak], True
        elif sign == 0:
            best.append(peak)
            proved = proved and certain
    return Highest(tuple(best), proved) if best else None


def _compare(first: Peak, second: Peak, digits: int) -> tuple[int, bool]:
    if first.value is None or second.value is None:
        return (first.value is None) - (second.value is None), True
    return compare(first.value, second.value, digits)


@dataclass(frozen=True, slots=True, eq=False)
class QuotientSupremum:
    """The supremum of a quotient: `low` <= supremum <= `high`, both None where it is infinite.

    `peaks` are the places where it is attained or approached, all of them but for gaps of the quotient next to each
    other; where there are several, their values are equal if `proved`, and agree to the digits asked for if not.
    `attained` is None where it is not known which of those is the greatest.
    """

    low: Fraction | None
    high: Fraction | None
    peaks: tuple[Peak, ...]
    proved: bool

    @property
    def attained(self) -> bool | None:
        """Whether the quotient has this value somewhere."""
        found = [peak.attained for peak in self.peaks]
        if self.proved:
            return any(found)
        return found[0] if len(set(found)) == 1 else None


def supremum(
    numerator: ExpPoly,
    denominator: ExpPoly,
    interval: Interval,
    digits: int = DIGITS,
    limits: Limits | None = None,
) -> QuotientSupremum:
    """The supremum of numerator/denominator on the interval: the least f with f·denominator >= numerator everywhere.

    The denominator must not be the zero function, and at least 0 on the interval; where it is 0, a positive numerator
    makes the supremum infinite and any other counts for nothing. high - low <= 10^-digits·max(|low|, |high|), where
    the places are not unproved ties; more digits only make the enclosure narrower.

    Raises LimitReached, and ValueError where the quotient has a value nowhere on the interval.
    """
    found = highest(peaks(Ratio.of(numerator, denominator), *ends_of(interval), limits), digits)
    if found is None:
        raise ValueError("the quotient has no value on the interval")
    for number in found.numbers:
        number.recognize()
    low, high = (None, None) if found.is_infinite else found.enclosure(digits)
    return QuotientSupremum(low, high, found.peaks, found.proved)
