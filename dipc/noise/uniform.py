"""Uniform noise: density 1/(high - low) for low <= x <= high."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from dipc.noise.bounded import Bounded
from dipc.noise.law import DensityPiece, Normalizer

if TYPE_CHECKING:
    from dipc.noise.lazy import LazyReal, RandomBits

_ZERO, _ONE = Fraction(0), Fraction(1)


class Uniform(Bounded):
    """The law of uniform noise, `Unif(low, high, mean)`: mean + x, where x is uniform on [`low`, `high`]."""

    keyword = "Unif"
    name = "uniform"
    checker_name = "uniform"
    takes_rate = False
    fixed = unimodal = log_concave = True

    def pieces(self, rate: Fraction) -> tuple[DensityPiece, ...]:
        return (DensityPiece(self.low, self.high, ((_ONE, 0, _ZERO),)),)

    def normalizer(self, rate: Fraction) -> Normalizer:
        """The length (high - low)·eps of the interval of X = eps·N, as the single term of a function of eps.

        The law has no rate, so `rate` makes no difference. A term (k, q, c) means c·eps^k·e^{q·eps}.
        """
        return ((1, _ZERO, self.high - self.low),)

    def tail_bound(self, rate: Fraction, reach: Fraction, *, upward: bool, strict: bool) -> tuple[Fraction, Fraction]:
        """Return (0, p), where p is Pr[N > `reach`] if `upward`, else Pr[N < -`reach`], before the mean is added to N.

        p does not depend on eps. `rate` and `strict` make no difference, as N has no rate, and it has a density.
        """
        low, high = (self.low, self.high) if upward else (-self.high, -self.low)
        return _ZERO, max(_ZERO, high - max(reach, low)) / (high - low)

    def shift_cost(self, rate: Fraction) -> Fraction:
        return _ZERO

    def variation_bound(self, disk: Fraction) -> Fraction:
        """Return 1, the square of the total variation of this law, for every `disk`.

        The density is nonnegative and does not depend on eps.
        """
        return _ONE

    def rate_at(self, rate: Fraction, eps: Fraction) -> Fraction:
        return rate

    def draw_exactly(self, bits: RandomBits, rate: Fraction) -> LazyReal:
        return bits.uniform(self.low * rate, self.high * rate)

    def draw_text(self, scale: str, mean: str, low: str = "low", high: str = "high") -> str:
        return f"{self.keyword}({low}, {high}, {mean})"

    @property
    def usage(self) -> str:
        return "`Unif` takes the two ends of its support and a mean, for example `Unif(-1, 1, 0)`"


UNIFORM = Uniform()
