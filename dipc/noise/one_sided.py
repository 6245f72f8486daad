"""One-sided exponential noise: density a·eps·e^{-a·eps·x} for x >= 0."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dipc.noise.law import Draws, Law, Piece, Sides

if TYPE_CHECKING:
    from dipc.noise.lazy import LazyReal, RandomBits

_ZERO, _ONE = Fraction(0), Fraction(1)


class OneSided(Law):
    """`Expo(a*eps)`."""

    keyword = "Expo"
    name = "one-sided"
    checker_name = "one-sided"
    takes_mean = False
    least = _ZERO
    is_positive = unimodal = log_concave = scales = True

    def pieces(self, rate: Fraction) -> tuple[Piece, ...]:
        return (Piece(_ZERO, None, ((rate, 0, -rate),)),)

    def sides(self, rate: Fraction) -> Sides:
        return Sides(None, rate)

    def tail_bound(self, rate: Fraction, reach: Fraction, *, upward: bool, strict: bool) -> tuple[Fraction, Fraction]:
        return (rate * reach, _ONE) if upward else (_ZERO, _ZERO)

    def greatest_density(self, rate: Fraction) -> Fraction:
        return rate

    def variation(self, disk: Fraction) -> Fraction:
        """The total variation is |eps|/Re eps, see `dipc.measure.measure`."""
        return 1 / (1 - disk**2)

    def shift_cost(self, rate: Fraction) -> Fraction:
        return rate

    def drawn(self, draws: Draws, rate: float, size: int) -> Any:
        return draws.exponential(size) / rate

    def sampled(self, bits: RandomBits, rate: Fraction) -> LazyReal:
        return bits.exponential()


ONE_SIDED = OneSided()
