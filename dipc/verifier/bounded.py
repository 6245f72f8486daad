"""Noise on an interval [low, high] of offsets, whose density is Σ c·e^{slope·X} on pieces of it, over a normalizer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

from dipc.verifier.functions import Ring

#: The term c·e^{slope·eps·x} for `low` <= x <= `high`, as (low, high, c, slope).
Window = tuple[Fraction, Fraction, Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class Bounded(ABC):
    """A law of noise X on [low, high], where low < high."""

    low: Fraction
    high: Fraction

    @abstractmethod
    def windows(self, rate: Fraction) -> list[Window]:
        """The density of eps·X times `normalizer`, in pieces that meet in points at most."""

    @abstractmethod
    def normalizer(self, rate: Fraction) -> Ring:
        """The integral of `windows` over eps·X, which is positive for every eps > 0."""
