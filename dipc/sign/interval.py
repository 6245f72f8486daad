"""Intervals of eps, and the simplest rational in an interval."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from dipc.frozen import frozen

# --- Intervals of eps -------------------------------------------------------------------------------------------------


@frozen
class Interval:
    """A nonempty interval of positive numbers with rational ends `lower` and `upper`; an `upper` of None is infinity.

    An end belongs to the interval if `lower_closed` or `upper_closed` says so. 0 may be an end, but does not belong to
    the interval. Raises ValueError if the ends do not make such an interval.
    """

    lower: Fraction
    upper: Fraction | None
    lower_closed: bool
    upper_closed: bool

    #: (0, inf).
    POSITIVE: ClassVar[Interval]

    def __post_init__(self) -> None:
        if self.lower < 0 or (self.lower == 0 and self.lower_closed):
            raise ValueError(f"{self} has points that are not positive")
        if self.upper is None:
            if self.upper_closed:
                raise ValueError("infinity is not a point of an interval")
        elif self.upper < self.lower or (self.upper == self.lower and not (self.lower_closed and self.upper_closed)):
            raise ValueError(f"{self} is empty")

    @classmethod
    def open(cls, lower: Fraction | int, upper: Fraction | int | None) -> Interval:
        """The interval (`lower`, `upper`); an `upper` of None is infinity."""
        return cls(Fraction(lower), None if upper is None else Fraction(upper), False, False)

    @classmethod
    def closed(cls, lower: Fraction | int, upper: Fraction | int | None) -> Interval:
        """The interval [`lower`, `upper`], or [`lower`, inf) for an `upper` of None."""
        return cls(Fraction(lower), None if upper is None else Fraction(upper), True, upper is not None)

    def subinterval(self, low: Fraction, high: Fraction | None) -> Interval:
        """The subinterval from `low` to `high`, which are points or ends of this interval.

        An end of the result belongs to the result exactly if it belongs to this interval.
        """
        return Interval(low, high, low != self.lower or self.lower_closed, high != self.upper or self.upper_closed)

    @property
    def is_point(self) -> bool:
        """True if the interval is a single point."""
        return self.lower == self.upper

    @property
    def inner_point(self) -> Fraction:
        """A rational number strictly inside the interval, or the point itself if the interval is a point."""
        return self.lower + 1 if self.upper is None else (self.lower + self.upper) / 2

    def __contains__(self, value: Fraction) -> bool:
        above = value > self.lower or (value == self.lower and self.lower_closed)
        below = self.upper is None or value < self.upper or (value == self.upper and self.upper_closed)
        return above and below

    def covers(self, other: Interval) -> bool:
        """True if this interval contains all of `other`."""
        left = (other.lower, not other.lower_closed) >= (self.lower, not self.lower_closed)
        if self.upper is None or other.upper is None:
            return left and self.upper is None
        return left and (other.upper, other.upper_closed) <= (self.upper, self.upper_closed)

    def scaled(self, factor: Fraction) -> Interval:
        """The interval with both ends multiplied by `factor` > 0."""
        upper = None if self.upper is None else self.upper * factor
        return Interval(self.lower * factor, upper, self.lower_closed, self.upper_closed)

    def __str__(self) -> str:
        left = "[" if self.lower_closed else "("
        right = "]" if self.upper_closed else ")"
        return f"{left}{self.lower}, {'inf' if self.upper is None else self.upper}{right}"


Interval.POSITIVE = Interval(Fraction(0), None, False, False)


# --- The simplest rational of an interval: the one that the Stern-Brocot tree reaches first ---------------------------


def simplest_between(
    lower: Fraction, upper: Fraction | None, *, lower_closed: bool = False, upper_closed: bool = False
) -> Fraction:
    """The rational in a nonempty interval with the least denominator, and among these the least numerator.

    The interval is from `lower` >= 0 to `upper`, where None is infinity. `lower_closed` and `upper_closed` tell
    whether the ends belong to it. Raises ValueError if it is empty or reaches below 0.

    >>> simplest_between(Fraction(31, 10), Fraction(32, 10))
    Fraction(19, 6)
    """
    if lower < 0:
        raise ValueError("the simplest rational is known only in intervals without negative numbers")
    if upper is not None and (upper < lower or (upper == lower and not (lower_closed and upper_closed))):
        raise ValueError("an empty interval has no simplest rational")
    quotients: list[int] = []
    while True:
        floor = lower.numerator // lower.denominator
        first = floor if lower_closed and lower == floor else floor + 1
        if upper is None or first < upper or (first == upper and upper_closed):
            break
        # Every point is strictly between `floor` and `floor + 1`, except possibly a closed end that `first` covered.
        # Write the point as floor + 1/y and continue with y, whose ends change places.
        quotients.append(floor)
        new_upper = None if lower == floor else 1 / (lower - floor)
        lower, upper = 1 / (upper - floor), new_upper
        lower_closed, upper_closed = upper_closed, lower_closed and new_upper is not None
    result = Fraction(first)
    for quotient in reversed(quotients):
        result = quotient + 1 / result
    return result
