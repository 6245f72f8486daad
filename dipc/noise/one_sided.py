"""One-sided exponential noise: density a·eps·e^{-a·eps·x} for x >= 0."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from dipc.noise.law import DensityPiece, Law, SideRates

if TYPE_CHECKING:
    from dipc.noise.lazy import LazyReal, RandomBits

_ZERO, _ONE = Fraction(0), Fraction(1)


class OneSided(Law):
    """The law of one-sided exponential noise, `Expo(a*eps)`: the density at x >= 0 is a·eps·e^{-a·eps·x}."""

    keyword = "Expo"
    name = "one-sided"
    checker_name = "one-sided"
    takes_mean = False
    least = _ZERO
    is_positive = unimodal = log_concave = scales = True

    def pieces(self, rate: Fraction) -> tuple[DensityPiece, ...]:
        return (DensityPiece(_ZERO, None, ((rate, 0, -rate),)),)

    def sides(self, rate: Fraction) -> SideRates:
        return SideRates(None, rate)

    def tail_bound(self, rate: Fraction, reach: Fraction, *, upward: bool, strict: bool) -> tuple[Fraction, Fraction]:
        return (rate * reach, _ONE) if upward else (_ZERO, _ZERO)

    def greatest_density(self, rate: Fraction) -> Fraction:
        return rate

    def variation_bound(self, disk: Fraction) -> Fraction:
        # The total variation at complex eps is |eps|/Re eps, as for Laplace noise.
        return 1 / (1 - disk**2)

    def shift_cost(self, rate: Fraction) -> Fraction:
        return rate

    def draw_exactly(self, bits: RandomBits, rate: Fraction) -> LazyReal:
        return bits.exponential()


ONE_SIDED = OneSided()
