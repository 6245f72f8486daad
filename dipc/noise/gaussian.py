"""Gaussian noise, normal with a standard deviation s/eps or s, and discrete Gaussian noise on the integers."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from dipc.algebra.exppoly import ExpPoly, Quotient
from dipc.algebra.reals import ONE, Real
from dipc.noise.law import DensityPiece, Law, Measure, NoClosedForm, SideRates

if TYPE_CHECKING:
    from dipc.noise.lazy import LazyReal, RandomBits


#: Bounds of √(2π).
_ROOT_LOW, _ROOT_HIGH = Fraction(25066, 10000), Fraction(25067, 10000)


class Deviating(Law):
    """A law of normal or discrete normal noise, whose parameter is the standard deviation.

    The standard deviation is `unit`/(rate·eps), or `unit`/rate for every eps if the law is `fixed`. The law has the
    number `unit`, which may be irrational, such as √2. The rational rate is a parameter of each method. The masses of
    discrete noise are proportional to e^{-k²/(2d²)}, where d takes the place of the standard deviation.
    """

    by_deviation = True
    #: For the discrete law E[e^{t·N}] = e^{t²s²/2}·Σ e^{-(k - t·s²)²/(2s²)} / Σ e^{-k²/(2s²)}, and such a sum over all
    #: k is greatest when its center is an integer (Poisson summation).
    is_subgaussian = True
    is_positive = symmetric = unimodal = log_concave = True

    def __init__(self, unit: Real = ONE, fixed: bool = False) -> None:
        self.parameters = unit, fixed
        self.unit = unit
        self.fixed = fixed
        self.scales = not fixed and not self.whole

    @property
    def identity(self) -> str:
        return f"{self.keyword}{'' if self.unit == ONE else f'[{self.unit}]'}{'!' if self.fixed else ''}"

    def with_deviation(self, factor: Real, *, fixed: bool) -> tuple[Law, Fraction]:
        """Return (law, rate) whose noise has the standard deviation `factor`/eps, or `factor` for every eps if `fixed`.

        The law that is returned has the same class as this law. Its `unit` is the irrational part of `factor`, and
        1/rate is the rational part.
        """
        outside, inside, rest = factor.split()
        return type(self)(Real.from_rational(inside).sqrt() * rest, fixed=fixed), 1 / outside

    @property
    def is_checked(self) -> bool:
        """True if the checker of certificates knows the law.

        The checker knows the law if `unit` is built from rationals, roots, exp and log without sums: √2·exp(1/3), but
        not 1 + √2.
        """
        return self.unit.is_product

    def scale_text(self, rate: Fraction) -> str:
        text = str(self.unit / Real.from_rational(rate))
        if self.fixed:
            return text
        above, slash, below = text.partition("/")
        if not slash:
            return f"{text}/eps"
        return f"{above}/({below.removeprefix('(').removesuffix(')')}*eps)" if above.isdigit() else f"{text}/eps"

    def pieces(self, rate: Fraction) -> tuple[DensityPiece, ...]:
        raise NoClosedForm(f"probabilities of {self.name} noise have no closed form")

    def sides(self, rate: Fraction) -> SideRates:
        raise NoClosedForm(f"probabilities of {self.name} noise have no closed form")

    def rate_at(self, rate: Fraction, eps: Fraction) -> Fraction:
        return rate if self.fixed else rate * eps

    def deviation(self, rate: Fraction) -> tuple[Fraction, Fraction]:
        low, high = self.unit.enclosure()
        return low / rate, high / rate

    def greatest_density(self, rate: Fraction) -> Fraction:
        """An upper bound, for this `rate` and every eps > 0, of the density of eps·N, for the noise N.

        If the law is discrete, N is normal noise of the same standard deviation. Raises Missing if the law is fixed.
        The proof is that 1/√(2π) < 2/5.
        """
        if self.fixed:
            self._lacks("a density that scales with eps")
        return Fraction(2, 5) / self.deviation(rate)[0]


class Gaussian(Deviating):
    """The law of Gaussian noise, `Gauss(s/eps, mean)` or `Gauss(s, mean)`: s/eps or s is the standard deviation."""

    keyword = "Gauss"
    name = "Gaussian"
    checker_name = "normal"
    measure = Measure.INTEGRALS
    subgaussian_weight = Fraction(1, 2)

    def normal_variance(self, rate: Fraction) -> Fraction:
        return self.unit.split()[1] / rate**2

    @property
    def normal_unit(self) -> Real:
        return self.unit.split()[2]

    def rate_at(self, rate: Fraction, eps: Fraction) -> Fraction:
        if self.unit != ONE:
            self._lacks("an exact sampler where its standard deviation is irrational")
        return super().rate_at(rate, eps)

    def draw_exactly(self, bits: RandomBits, rate: Fraction) -> LazyReal:
        return bits.normal()


class DiscreteGaussian(Deviating):
    """The law of discrete Gaussian noise, `DGauss(s/eps, mean)` or `DGauss(s, mean)`: integers around an integer mean.

    The mass at an integer i is proportional to exp(-(i - mean)²/(2·d²)), where d is s/eps or s.
    """

    keyword = "DGauss"
    name = "discrete Gaussian"
    checker_name = "discrete-normal"
    whole = True
    measure = Measure.SUMS

    def normal_variance(self, rate: Fraction) -> Fraction:
        return 1 / rate**2

    @property
    def normal_unit(self) -> Real:
        return self.unit

    def continuous_neighbor(self) -> tuple[Law, Fraction]:
        """Return (the law of normal noise, 3/2): the two noises of one rate can be coupled to differ by less than 3/2.

        Let N be the discrete noise with the parameter s, and N' normal noise with the standard deviation s.

        1. Let g(x) = e^{-x²/(2s²)}. The sum of all g(k) is between √(2π)·s (Poisson summation) and 1 + √(2π)·s.
        2. For m >= 1 the sum of g(k) over k >= m is at most ∫ g from m - 1 to ∞, so Pr[N >= m] <= Pr[N' >= m - 1].
        3. This sum is also at least ∫ g from m to ∞. So Pr[N >= m] >= Pr[N' >= m + 1/2] if ∫ g from m to m + 1/2 is at
           least Pr[N' >= m + 1/2]. The integral is at least g(m + 1/2)/2, and Pr[N' >= x] <= g(x)/2 for x >= 0.
        4. Couple N as a monotone function of N'. Then N = m >= 1 has m - 1 <= N' < m + 3/2, and N = 0 has |N'| < 3/2.
        """
        return Gaussian(self.unit, fixed=self.fixed), Fraction(3, 2)

    def central_mass(self, rate: Fraction, reach: int) -> tuple[Quotient, Quotient] | None:
        """Return (lower, upper), bounds of Pr[|N| <= `reach`] as functions of eps, or None if the law is fixed.

        N is the noise for this `rate`, before its mean is added. Proof: let s be the parameter and g(k) =
        e^{-k²/(2s²)}. Pr[N = 0] is between 1/(1 + √(2π)·s) and 1/(√(2π)·s), and Pr[N = k] is Pr[N = 0]·g(k), where 1 -
        k²/(2s²) <= g(k) <= 1.
        """
        if self.fixed:
            return None
        low, high = self.deviation(rate)
        eps = ExpPoly.term(1, 1)
        share = ExpPoly.constant(1 + 2 * reach) - ExpPoly.term(sum(k**2 for k in range(1, reach + 1)) / low**2, 2)
        at_least = Quotient(eps * share, eps + _ROOT_HIGH * high)
        return at_least, Quotient.convert(eps * ((1 + 2 * reach) / (_ROOT_LOW * low)))

    def variation_bound(self, disk: Fraction) -> Fraction:
        """An upper bound of (Σ |p(k)|)² for all complex eps with |eps - e| <= `disk`·e, for any e > 0.

        p(k) is the mass at the integer k, a complex number at complex eps, and the sum over all k is the total
        variation. Raises Missing for `disk` > 1/2. `dipc.measure.summed` has the proof.
        """
        if disk > Fraction(1, 2):
            self._lacks("a bound on so large a disk")
        return Fraction(1) if self.fixed else Fraction(14, 5) ** 2

    def draw_exactly(self, bits: RandomBits, rate: Fraction) -> int:
        _, square, rest = self.unit.split()
        if rest != ONE:
            self._lacks("an exact sampler where its variance is irrational")
        return bits.discrete_normal(square / rate**2)


GAUSSIAN = Gaussian()
DISCRETE_GAUSSIAN = DiscreteGaussian()
