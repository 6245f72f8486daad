"""Gaussian noise: normal with standard deviation 1/(a·eps)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dipc.noise.law import Draws, Law, NoClosedForm, Piece, Sides

if TYPE_CHECKING:
    from dipc.noise.lazy import LazyReal, RandomBits


class Gaussian(Law):
    """`Gauss(1/(a*eps), mean)`."""

    keyword = "Gauss"
    name = "Gaussian"
    by_deviation = True
    is_normal = True
    is_positive = symmetric = unimodal = log_concave = scales = True

    def pieces(self, rate: Fraction) -> tuple[Piece, ...]:
        raise NoClosedForm("probabilities of Gaussian noise have no closed form")

    def sides(self, rate: Fraction) -> Sides:
        raise NoClosedForm("probabilities of Gaussian noise have no closed form")

    def normal_variance(self, rate: Fraction) -> Fraction:
        return 1 / rate**2

    def greatest_density(self, rate: Fraction) -> Fraction:
        """1/√(2π) is less than 2/5."""
        return rate * Fraction(2, 5)

    def drawn(self, draws: Draws, rate: float, size: int) -> Any:
        return draws.normal(size) / rate

    def sampled(self, bits: RandomBits, rate: Fraction) -> LazyReal:
        return bits.normal()


GAUSSIAN = Gaussian()
