"""Laplace noise: density (a·eps/2)·e^{-a·eps·|x|}."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dipc.noise.law import Draws, Law, Piece, Sides

if TYPE_CHECKING:
    from dipc.noise.lazy import LazyReal, RandomBits

_ZERO, _HALF = Fraction(0), Fraction(1, 2)


class Laplace(Law):
    """`Lap(a*eps, mean)`."""

    keyword = "Lap"
    name = "Laplace"
    checker_name = "laplace"
    is_positive = symmetric = unimodal = log_concave = scales = exponential_tails = True

    def pieces(self, rate: Fraction) -> tuple[Piece, ...]:
        return Piece(_ZERO, None, ((rate / 2, 0, -rate),)), Piece(None, _ZERO, ((rate / 2, 0, rate),))

    def sides(self, rate: Fraction) -> Sides:
        return Sides(rate, rate)

    def tail_bound(self, rate: Fraction, reach: Fraction, *, upward: bool, strict: bool) -> tuple[Fraction, Fraction]:
        return rate * reach, _HALF

    def greatest_density(self, rate: Fraction) -> Fraction:
        return rate / 2

    def variation(self, disk: Fraction) -> Fraction:
        """The total variation is |eps|/Re eps, see `dipc.measure.measure`."""
        return 1 / (1 - disk**2)

    def shift_cost(self, rate: Fraction) -> Fraction:
        return rate

    def drawn(self, draws: Draws, rate: float, size: int) -> Any:
        return draws.laplace(size) / rate

    def sampled(self, bits: RandomBits, rate: Fraction) -> LazyReal:
        return bits.laplace()


LAPLACE = Laplace()
