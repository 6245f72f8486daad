"""Laws of bounded noise, whose density is a sum of terms c·e^{slope·eps·x} on intervals, divided by a normalizer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

from dipc.verifier.functions import Ring

#: The term c·e^{slope·eps·x} for `low` <= x <= `high`, as (low, high, c, slope).
Window = tuple[Fraction, Fraction, Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class Bounded(ABC):
    """A law of noise X whose values lie in [low, high], where low < high."""

    low: Fraction
    high: Fraction

    @abstractmethod
    def windows(self, rate: Fraction) -> list[Window]:
        """Return the density of eps·X at the given `rate`, times `normalizer`, as terms c·e^{slope·eps·x}.

        The intervals of two terms share at most an end point. The rate counts multiples of eps.
        """

    @abstractmethod
    def normalizer(self, rate: Fraction) -> Ring:
        """Return the integral of `windows` over eps·X at the given `rate`, a function positive for every eps > 0."""
