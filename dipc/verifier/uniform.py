"""Uniform noise: density 1/(high - low) on [low, high]. Its rate is 1, and nothing depends on it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dipc.verifier.bounded import Bounded, Window
from dipc.verifier.functions import Ring

_ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class Uniform(Bounded):
    """The law of uniform noise; its normalizer is the length (high - low)·eps of the support of eps·X."""

    def windows(self, rate: Fraction) -> list[Window]:
        del rate
        return [(self.low, self.high, Fraction(1), _ZERO)]

    def normalizer(self, rate: Fraction) -> Ring:
        del rate
        return {(1, _ZERO): self.high - self.low}
