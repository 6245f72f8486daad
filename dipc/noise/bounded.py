"""Laws whose support is an interval [low, high] of offsets from the mean."""

from __future__ import annotations

from fractions import Fraction

from dipc.noise.law import Law

_ONE = Fraction(1)


class Bounded(Law):
    """A law of noise whose values are between `low` and `high`, both included, before its mean is added.

    The density is 0 outside of [low, high]. That is why the bound that `Law.shift_cost` states for the densities at x
    and at x + t holds only where both are in [low, high].
    """

    takes_ends = True

    def __init__(self, low: Fraction = -_ONE, high: Fraction = _ONE) -> None:
        assert low < high
        self.parameters = low, high
        self.low = self.least = low
        self.high = self.greatest = high
        self.symmetric = low == -high

    def with_ends(self, low: Fraction, high: Fraction) -> Law:
        return type(self)(low, high)

    def times(self, factor: Fraction) -> Law:
        return self.with_ends(self.low * factor, self.high * factor)

    @property
    def identity(self) -> str:
        return f"{self.keyword}[{self.low}, {self.high}]"

    def shown(self, rate: Fraction, mean: str) -> str:
        return self.draw_text(self.scale_text(rate), mean, str(self.low), str(self.high))
