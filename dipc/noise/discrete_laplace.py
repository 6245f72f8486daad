"""Discrete Laplace noise: mass (1-z)/(1+z)·z^|i| at every integer i, with z = e^{-a·eps}."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from dipc.noise.laplace import LAPLACE
from dipc.noise.law import Law, SideRates

if TYPE_CHECKING:
    from dipc.noise.lazy import RandomBits

_ONE = Fraction(1)


class DiscreteLaplace(Law):
    """The law of discrete Laplace noise, `DLap(a*eps, mean)`: integers around an integer mean.

    The mass at mean + k is proportional to e^{-a·eps·|k|}.
    """

    keyword = "DLap"
    name = "discrete Laplace"
    checker_name = "discrete-laplace"
    whole = True
    is_positive = symmetric = unimodal = log_concave = exponential_tails = True

    def sides(self, rate: Fraction) -> SideRates:
        return SideRates(rate, rate)

    def tail_bound(self, rate: Fraction, reach: Fraction, *, upward: bool, strict: bool) -> tuple[Fraction, Fraction]:
        """Return (q, w) such that Pr[N > `reach`] <= w·e^{-q·eps} for every eps > 0.

        The noise N has the rate `rate`·eps, its mean is not added, and `reach` >= 0. If `strict`, the bound holds for
        Pr[N >= reach], too. `upward` makes no difference, since Pr[N < -reach] is the same by symmetry. Proof: with z =
        e^{-rate·eps}, the masses of all k >= n add up to z^n/(1 + z) <= z^n for n >= 1, and to 1/(1 + z) <= 1 for n =
        0.
        """
        return rate * (ceil(reach) if strict else floor(reach) + 1), _ONE

    def greatest_density(self, rate: Fraction) -> Fraction:
        return LAPLACE.greatest_density(rate)

    def continuous_neighbor(self) -> tuple[Law, Fraction]:
        """Return (the law of Laplace noise, 1): the two noises of one rate can be coupled to differ by less than 1.

        Discrete Laplace noise is the difference of the floors of two exponential variables. It differs by less than 1
        from the difference of the variables themselves, which is Laplace noise.
        """
        return LAPLACE, _ONE

    def variation_bound(self, disk: Fraction) -> Fraction:
        """An upper bound of (Σ |p(k)|)² for all complex eps with |eps - e| <= `disk`·e, for any e > 0.

        p(k) is the mass at the integer k, a complex number at complex eps, and the sum over all k is the total
        variation. `disk`² must be less than 2/3. `dipc.measure.measure` has the proof.
        """
        assert disk**2 < Fraction(2, 3)
        return 1 / (1 - 3 * disk**2 / 2)

    def shift_cost(self, rate: Fraction) -> Fraction:
        return rate

    def draw_exactly(self, bits: RandomBits, rate: Fraction) -> int:
        return bits.two_sided(rate.numerator, rate.denominator)


DISCRETE_LAPLACE = DiscreteLaplace()
