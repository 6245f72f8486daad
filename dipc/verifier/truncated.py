"""Truncated Laplace noise: density proportional to e^{-rate·eps·|x|} on [low, high]."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dipc.verifier.bounded import Bounded, Window
from dipc.verifier.functions import Ring, collected

_ZERO, _ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True)
class Truncated(Bounded):
    """The law of truncated Laplace noise, whose density has one piece on each side of 0."""

    def windows(self, rate: Fraction) -> list[Window]:
        found = []
        if self.low < 0:
            found.append((self.low, min(self.high, _ZERO), rate, rate))
        if self.high > 0:
            found.append((max(self.low, _ZERO), self.high, rate, -rate))
        return found

    def normalizer(self, rate: Fraction) -> Ring:
        """Return the integral of `windows` over eps·X at the given `rate`, in multiples of eps.

        The integral of rate·e^{slope·Y} over eps·[low, high] is ±(e^{slope·high·eps} - e^{slope·low·eps}).
        """
        terms = []
        for low, high, _, slope in self.windows(rate):
            sign = _ONE if slope > 0 else -_ONE
            terms += [(0, slope * high, sign), (0, slope * low, -sign)]
        return collected(terms)
