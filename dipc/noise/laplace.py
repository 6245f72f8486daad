"""Laplace noise: density (a·eps/2)·e^{-a·eps·|x|}."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from dipc.noise.law import DensityPiece, Law, SideRates

if TYPE_CHECKING:
    from dipc.noise.lazy import LazyReal, RandomBits

_ZERO, _HALF = Fraction(0), Fraction(1, 2)


class Laplace(Law):
    """The law of Laplace noise, `Lap(a*eps, mean)`: the density at mean + x is (a·eps/2)·e^{-a·eps·|x|}."""

    keyword = "Lap"
    name = "Laplace"
    checker_name = "laplace"
    is_positive = symmetric = unimodal = log_concave = scales = exponential_tails = True

    def pieces(self, rate: Fraction) -> tuple[DensityPiece, ...]:
        return DensityPiece(_ZERO, None, ((rate / 2, 0, -rate),)), DensityPiece(None, _ZERO, ((rate / 2, 0, rate),))

    def laplace_rate(self, rate: Fraction) -> Fraction | None:
        return rate

    def sides(self, rate: Fraction) -> SideRates:
        return SideRates(rate, rate)

    def tail_bound(self, rate: Fraction, reach: Fraction, *, upward: bool, strict: bool) -> tuple[Fraction, Fraction]:
        return rate * reach, _HALF

    def greatest_density(self, rate: Fraction) -> Fraction:
        return rate / 2

    def variation_bound(self, disk: Fraction) -> Fraction:
        """An upper bound of the square of |eps|/Re eps for all complex eps with |eps - e| <= `disk`·e, for any e > 0.

        At complex eps the density p is complex, and |eps|/Re eps is the total variation ∫ |p(x)| dx of the law.
        `dipc.measure.measure` has the proof. `disk` is less than 1.
        """
        return 1 / (1 - disk**2)

    def shift_cost(self, rate: Fraction) -> Fraction:
        return rate

    def draw_exactly(self, bits: RandomBits, rate: Fraction) -> LazyReal:
        return bits.laplace()


LAPLACE = Laplace()
