"""Intervals of eps."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Interval:
    """A nonempty interval of positive numbers with rational ends; `upper` None means infinity.

    0 may be an open end, never a point of the interval. Raises ValueError otherwise.
    """

    lower: Fraction
    upper: Fraction | None
    lower_closed: bool
    upper_closed: bool

    def __post_init__(self) -> None:
        if self.lower < 0 or (self.lower == 0 and self.lower_closed):
            raise ValueError(f"{self} has points that are not positive")
        if self.upper is None:
            if self.upper_closed:
                raise ValueError("infinity is not a point of an interval")
        elif self.upper < self.lower or (self.upper == self.lower and not (self.lower_closed and self.upper_closed)):
            raise ValueError(f"{self} is empty")

    @classmethod
    def positive(cls) -> Interval:
        """(0, inf)."""
        return cls(Fraction(0), None, False, False)

    @classmethod
    def open(cls, lower: Fraction | int, upper: Fraction | int | None) -> Interval:
        """(lower, upper)."""
        return cls(Fraction(lower), None if upper is None else Fraction(upper), False, False)

    @classmethod
    def closed(cls, lower: Fraction | int, upper: Fraction | int | None) -> Interval:
        """[lower, upper], or [lower, inf)."""
        return cls(Fraction(lower), None if upper is None else Fraction(upper), True, upper is not None)

    @property
    def is_point(self) -> bool:
        """Whether the interval is a single point."""
        return self.lower == self.upper

    @property
    def inner_point(self) -> Fraction:
        """A rational of the interval: inside, unless the interval is a point."""
        return self.lower + 1 if self.upper is None else (self.lower + self.upper) / 2

    def __contains__(self, value: Fraction) -> bool:
        above = value > self.lower or (value == self.lower and self.lower_closed)
        below = self.upper is None or value < self.upper or (value == self.upper and self.upper_closed)
        return above and below

    def scaled(self, factor: Fraction) -> Interval:
        """The image under multiplication by `factor` > 0."""
        upper = None if self.upper is None else self.upper * factor
        return Interval(self.lower * factor, upper, self.lower_closed, self.upper_closed)

    def __str__(self) -> str:
        left = "[" if self.lower_closed else "("
        right = "]" if self.upper_closed else ")"
        return f"{left}{self.lower}, {'inf' if self.upper is None else self.upper}{right}"
