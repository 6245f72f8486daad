"""Enclose probabilities of events over normal noises, which have no closed form, to any precision.

With X = eps·N the noises are normal with fixed variances, and eps occurs in the half-spaces alone: Σ c·X + eps·d >= 0.
Two kinds of deviations are reduced to this case:

* Standard deviations with a common irrational factor κ are written as multiples of κ. Then P(eps) is the probability
  below at eps/κ.
* Standard deviations that do not depend on eps. Then P is the same for every eps: the probability below at 1/κ.

Noises that matter only through one linear combination are merged into one value. If one value is left, P is given by
the normal distribution function. Otherwise there must be a value t, the center, such that each half-space relates
another value, a leaf, to t, or bounds a single value. Given t the leaves are independent, so with t = eps·u

    P(eps) = ∫ eps·φ(eps·u) Π_i p_i du,    p_i = Φ(x) or Φ(x) + Φ(x') - 1,    x = eps·(a·u + d)/√v.

Here φ is the density of the center, of variance v_0, v is the variance of the leaf, and x, x' are its nearest bounds.
The nearest bounds of a leaf, and whether they leave room, depend on u alone. So there are finitely many pieces of the
line, with rational ends. On each piece the integrand is entire in u and eps.

**Lemma.** Let e > 0, |eps - e| <= e/2, R = Re eps², I = Im eps² and u = x + iy. Let V = 1/v_0 + Σ a²/v, with the
greater of two a² for a leaf with two bounds. Let K be the product over the leaves of 3/2, or 3 for a leaf with two
bounds. Then:

1. The integrand is at most K·|eps|·(2π·v_0)^{-1/2}·exp(2R·y²·V), and its integral over x is at most √2·K·exp(2R·y²·V).
   In particular |P| <= √2·K on the disk.
2. The integral beyond u = U > 0 is at most K/√2·erfc(U·√(R/(2·v_0))).
3. For eps = e alone, 1 and 2 hold with the factors 1 for √2, R/2 for 2R and K/2 for K/√2, and K is the product of 1, or
   2 for a leaf with two bounds.

*Proof.* The disk gives |arg eps| <= 30°, so R >= |eps|²/2 > 0, |I| <= √3·R and e²/4 <= R <= 9e²/4.

1. |eps·φ(eps·u)| = |eps|·(2π·v_0)^{-1/2}·exp(-(R·(x - y·I/R)² - (R + I²/R)·y²)/(2·v_0)), with R + I²/R <= 4R. The
   integral of this over x is at most √2·exp(2R·y²/v_0).
2. Φ(x) = erfc(z)/2 with z = -x/√2. Where Re z >= 0, |erfc(z)| <= |e^{-z²}|, because |w(iz)| <= 1. So |erfc(z)| is at
   most 2 + |e^{-z²}| everywhere. As in 1, Re z² >= -4R·a²y²/(2v), so |Φ| <= 3/2·exp(2R·a²y²/v).
3. For eps = e, |Φ(s + iw)| <= exp(w²/2).

**Quadrature on a finite piece.** A piece of half-length r is integrated by Gauss-Legendre quadrature with n nodes. Take
the ellipse of parameter ρ > 1, in which |y| <= r·(ρ - 1/ρ)/2, and let M bound r times the integrand there. Then the
error is at most 8·M·ρ^{-2n}/(1 - 1/ρ). Indeed, the Chebyshev series cut off beyond degree 2n - 1 has an error of at
most 2·M·ρ^{1-2n}/(ρ - 1). The rule is exact for the rest, and its weights are positive with the sum 2.

**Quadrature on the whole line.** If there is one piece, the trapezoid rule in t itself applies. Under the integral |φ(s
+ iw)| = exp(w²/2)·φ(s), so |Φ(s + iw)| <= exp(w²/2)·Φ(s). Let |Im t| = y and |Im eps| <= ν. The integrand is at most
F·φ(Re t)·exp(ν²·D2/2 + ν·y·D1 + y²·V/2), with D1 = Σ |a·d|/v and D2 = Σ d²/v (the greater of two), where F is 2 to the
number of leaves with two bounds.

1. With M = F·exp(ν²·D2/2 + ν·y·D1 + y²·V/2), the sum h·Σ_k f(k·h) differs from ∫ f by at most 2·M/(e^{2πy/h} - 1)
   (Trefethen and Weideman 2014, Theorem 5.1).
2. The terms with |t| > n·h add up to at most F·exp(ν²·D2/2)·erfc(n·h/√(2·v_0)), as φ falls.
3. On the disk |P| <= F·exp(ν²·D2/2). If no leaf has two bounds, |P| <= exp(ν²·W/2) with the least W of τ²/v_0 + Σ (d +
   a·τ)²/v, because the path of t may be moved by i·τ·Im eps. That W is D2 - (Σ a·d/v)²/V.

**Taylor series.** Each error above is a function of eps that is analytic on the disk and bounded there as stated. By
Cauchy's estimate its coefficient of (eps - e)^k is at most that bound over (e/2)^k.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import ceil, gcd, lcm, log, sqrt
from typing import TypeVar

import flint

from dipc.algebra.limits import LimitReached, OutsideFragment
from dipc.algebra.numbers import to_fmpq
from dipc.algebra.reals import ONE, Real
from dipc.frozen import frozen
from dipc.linear.halfspace import number_between, proportional_columns
from dipc.measure.event import Event, Noise
from dipc.measure.power_series import DISK, coefficients, precision
from dipc.noise.law import Measure, Missing
from dipc.sign.normal import NormalFunction, normal_function

#: The most nodes of an integral, and on one panel of it, and the most pieces of one event.
MOST_STEPS, MOST_NODES, MOST_PIECES = 20_000, 200, 200

#: The extra bits that a value is computed with, beyond those of its error.
_GUARD = 24

#: The parameters ρ of the ellipses on which the error of Gauss and Legendre's rule is bounded.
ELLIPSES = (Fraction(9, 8), Fraction(5, 4), Fraction(3, 2), *(Fraction(2) ** k for k in range(1, 12)))

#: Each parameter ρ with ρ - 1, (ρ - 1/ρ)² and 2·log ρ.
_ELLIPSE_SIZES = tuple([(r, float(r - 1), float(r - 1 / r) ** 2, 2 * log(r)) for r in ELLIPSES])

#: The numbers of panels that an integral may be divided into.
PANELS = tuple([2**k for k in range(12)])

_ZERO, _ONE = Fraction(0), Fraction(1)

#: A rational below and one above some number.
Ends = tuple[Fraction, Fraction]

#: The pair (a, d) of a bound a·u + d.
Line = tuple[Fraction, Fraction]


@frozen
class Normal:
    """The normal law with mean 0 and this `variance`, as one of the two kinds of laws in a `NormalMeasure`.

    The methods `below` and `density` take a real number that may depend on eps, as its Taylor series in eps. They
    return a Taylor series, too.
    """

    variance: Fraction

    @property
    def curvature(self) -> Fraction:
        """1/`variance`: the c for which |density| at x + iy is e^{c·y²/2} times the density at x."""
        return 1 / self.variance

    @property
    def linear(self) -> Fraction:
        """Return 0: for this law, `curvature` alone bounds the growth of |density|.

        For a Laplace law, adding a complex z to the argument multiplies |density| by at most e^{c·|z|}, and this
        property is the number c.
        """
        return _ZERO

    def below(self, x: flint.arb_series, nonnegative: bool) -> flint.arb_series:  # noqa: ARG002
        """Return Pr[L <= `x`] as a series in eps, for a random value L with this law.

        `nonnegative` makes no difference. `Exponential` has the same method, which needs the sign of `x`.
        """
        return (x / -(2 * self._ball()).sqrt()).erfc() / 2

    def density(self, t: flint.arb_series, nonnegative: bool) -> flint.arb_series:  # noqa: ARG002
        return (t * t / (-2 * self._ball())).exp() / (2 * flint.arb.pi() * self._ball()).sqrt()

    def density_ratio(self, t: flint.arb) -> flint.arb:
        """Return the density at `t` divided by the density at 0."""
        value: flint.arb = (t * t / (-2 * self._ball())).exp()
        return value

    def peak(self) -> flint.arb:
        return 1 / (2 * flint.arb.pi() * self._ball()).sqrt()

    def two_sided_tail(self, reach: flint.arb) -> flint.arb:
        """Return Pr[|L| > `reach`] for a random value L with this law."""
        return (reach / (2 * self._ball()).sqrt()).erfc()

    def far(self, wanted: float) -> float:
        """Return x > 0 such that a value with this law exceeds x with probability approximately e^-`wanted`."""
        return sqrt(2 * float(self.variance) * wanted)

    def _ball(self) -> flint.arb:
        return flint.arb(to_fmpq(self.variance))


@frozen
class Exponential:
    """The Laplace law with mean 0 and this `rate`, as one of the two kinds of laws in a `NormalMeasure`.

    The density is (rate/2)·e^{-rate·|x|}. Density and distribution function are exponentials on each side of 0.
    """

    rate: Fraction

    @property
    def curvature(self) -> Fraction:
        """Return 0, the c of the factor e^{c·y²/2} by which |density| may grow when iy is added to its argument.

        It is 0 because `linear` alone bounds the growth.
        """
        return _ZERO

    @property
    def linear(self) -> Fraction:
        """The `rate`: adding a complex z to the argument multiplies |density| by at most e^{rate·|z|}."""
        return self.rate

    def below(self, x: flint.arb_series, nonnegative: bool) -> flint.arb_series:
        """Return Pr[L <= `x`] as a series in eps, for a value L with this law; `nonnegative` says whether `x` >= 0."""
        side = (x * (-self._ball() if nonnegative else self._ball())).exp() / 2
        return 1 - side if nonnegative else side

    def density(self, t: flint.arb_series, nonnegative: bool) -> flint.arb_series:
        """Return the density at `t` as a series in eps; `nonnegative` says whether `t` >= 0."""
        return (t * (-self._ball() if nonnegative else self._ball())).exp() * self._ball() / 2

    def peak(self) -> flint.arb:
        return self._ball() / 2

    def two_sided_tail(self, reach: flint.arb) -> flint.arb:
        """Return Pr[|L| > `reach`] for a random value L with this law."""
        return (-reach * self._ball()).exp()

    def far(self, wanted: float) -> float:
        """Return x > 0 such that a value with this law exceeds x with probability approximately e^-`wanted`."""
        return wanted / float(self.rate)

    def _ball(self) -> flint.arb:
        return flint.arb(to_fmpq(self.rate))


#: The law of a value.
Spread = Normal | Exponential


@frozen
class Leaf:
    """A random value L with the law `spread`, and the bounds on L for a given value t of the center.

    The `lower` bound (a, d) means L + a·t + d·eps >= 0. The `upper` bound (a, d) means L <= a·t + d·eps; it is None if
    L has a lower bound only. `signs` says for the lower and for the upper bound whether a·t + d·eps >= 0; only Laplace
    noise needs the signs.
    """

    spread: Spread
    lower: Line
    upper: Line | None
    signs: tuple[bool, bool] = (True, True)

    @property
    def slope(self) -> Fraction:
        """The greatest |a| over the bounds of the leaf, each of which is a pair (a, d) for a·t + d·eps."""
        return max(abs(a) for a, _ in self.lines)

    @property
    def reach(self) -> Fraction:
        """The greatest |d| over the bounds of the leaf, each of which is a pair (a, d) for a·t + d·eps."""
        return max(abs(d) for _, d in self.lines)

    @property
    def lines(self) -> tuple[Line, ...]:
        """The one or two bounds of the leaf, each as its pair (a, d)."""
        return (self.lower,) if self.upper is None else (self.lower, self.upper)

    @property
    def turned(self) -> Leaf:
        """The leaf that has the same bounds on L for the center -t as this leaf has for t; its law must be normal."""
        (a, d), upper = self.lower, self.upper
        return Leaf(self.spread, (-a, d), None if upper is None else (-upper[0], upper[1]))

    def conditional_probability(self, t: flint.arb_series, eps: flint.arb_series) -> flint.arb_series:
        """Return the probability that L is within the bounds of this leaf, if the center has the value `t`.

        `t`, `eps` and the result are Taylor series in eps.
        """
        first = self.spread.below(_line_value(self.lower, t, eps), self.signs[0])
        if self.upper is None:
            return first
        return first + self.spread.below(_line_value(self.upper, t, eps), self.signs[1]) - 1


_Value = TypeVar("_Value", flint.arb, flint.arb_series, "flint.arb | flint.arb_series")


def power(value: _Value, count: int) -> _Value:
    """Return `value` to the power `count` >= 1.

    FLINT's own power of a series takes logarithms, which do not exist where the series may be 0.
    """
    result = value
    for digit in f"{count:b}"[1:]:
        result = result * result * value if digit == "1" else result * result
    return result


def _line_value(line: Line, t: flint.arb_series, eps: flint.arb_series) -> flint.arb_series:
    a, d = line
    return t * flint.arb(to_fmpq(a)) + eps * flint.arb(to_fmpq(d))


#: Leaves, each with its multiplicity.
Leaves = tuple[tuple[Leaf, int], ...]


@frozen
class NormalPiece:
    """The center's values between `low`·eps and `high`·eps, for which every leaf has the same bounds.

    A `low` or `high` of None is infinite. `leaves` has pairs (leaf, number of equal leaves). `nonnegative` says whether
    the center is at least 0 in this interval; only a center of Laplace noise needs it.
    """

    low: Fraction | None
    high: Fraction | None
    leaves: Leaves
    nonnegative: bool = True

    @property
    def kinked(self) -> bool:
        """True if some leaf is Laplace noise."""
        return any(isinstance(leaf.spread, Exponential) for leaf, _ in self.leaves)

    def probabilities(self, count: int, twice: _Twice) -> Sequence[flint.arb]:
        """Return the probability that all leaves are within their bounds, for each of `count` values of the center.

        The leaves must be normal. The function `twice` takes the law of a leaf and one of its bounds, and returns twice
        the probability that the leaf is within this bound, for each of the values.
        """
        result = [flint.arb(1)] * count
        for leaf, often in self.leaves:
            assert isinstance(leaf.spread, Normal)
            values, *others = [twice(leaf.spread, line) for line in leaf.lines]
            for other in others:
                values = [first + second - 2 for first, second in zip(values, other, strict=True)]
            if often > 1:
                values = [value**often for value in values]
            result = [known * value for known, value in zip(result, values, strict=True)]
        scale = flint.arb(2) ** -sum(often for _, often in self.leaves)
        return [value * scale for value in result]

    def conditional_probability(self, t: flint.arb_series, eps: flint.arb_series) -> flint.arb_series:
        """Return the probability that all leaves are within their bounds, if the center has the value `t`.

        `t`, `eps` and the result are Taylor series in eps.
        """
        total = flint.arb_series([1])
        for leaf, count in self.leaves:
            total = total * power(leaf.conditional_probability(t, eps), count)
        return total


@frozen
class NormalMeasure:
    """The probability that a random value t, the center, is in one of `pieces`, and every leaf within its bounds there.

    `center` is the law of t. If it is None, there is a single piece with a single leaf, whose bounds do not depend on
    t. All standard deviations are given as multiples of `unit`/eps, or as multiples of `unit` if `fixed`.
    """

    center: Spread | None
    pieces: tuple[NormalPiece, ...]
    #: The common factor κ of the standard deviations.
    unit: Real = ONE
    #: Whether the standard deviations are the same for every eps.
    fixed: bool = False

    def series(self, center: Fraction) -> flint.arb_series:
        """Return the Taylor series of the probability in eps at `center` > 0; each coefficient is an enclosure.

        The number of coefficients and their precision are those that FLINT is set to. Raises LimitReached.
        """
        return series_in_unit(self._series, center, self.unit, fixed=self.fixed)

    def _series(self, eps: flint.arb_series, near: Ends, center: Fraction) -> flint.arb_series:
        """Return the Taylor series in eps of this probability at eps = `center`; each coefficient is an enclosure.

        `eps` is the Taylor series of eps/`unit`, where `unit` is a field of this measure. `near` is a pair of
        rationals, one below and one above the value of eps/`unit` at `center`.
        """
        if self.center is None:
            return self.pieces[0].conditional_probability(flint.arb_series([0]), eps)
        length = flint.ctx.cap
        bits = wanted_bits(length)
        total, error = flint.arb_series([0]), flint.arb(0)
        for piece in self.pieces:
            # A series of length 1 is a value at one eps, and needs no bounds on the disk.
            rule = _rule(_Sizes.estimate(self.center, piece, near, wide=length > 1), bits)
            error += rule.error
            if length == 1 and isinstance(self.center, Normal) and not piece.kinked:
                (number,) = coefficients(eps, 1)
                places = [number * node if rule.scaled else node for node, _ in rule.nodes]
                twice = rule.grid.twice() if rule.grid else _at_each(places, number)
                value = flint.arb(0)
                for place, (_, weight), product in zip(
                    places, rule.nodes, piece.probabilities(len(places), twice), strict=True
                ):
                    value += product * (self.center.density_ratio(place) * weight)
                value *= self.center.peak()
                total = total + (value * number if rule.scaled else value)
                continue
            if isinstance(self.center, Normal) and not piece.kinked:
                total = total + _normal_integral(self.center, piece, rule, eps)
                continue
            for node, weight in rule.nodes:
                t = eps * node if rule.scaled else flint.arb_series([node])
                density = self.center.density(t, piece.nonnegative) * weight
                total = total + piece.conditional_probability(t, eps) * (density * eps if rule.scaled else density)
        return blurred(total, error, center)

    def functions(self) -> Sequence[tuple[Fraction, NormalFunction | None]] | None:
        """Return the probability as a sum Σ c·f of constants and error functions of eps, given as pairs (c, f).

        An f of None is the constant 1. The result is None if the probability is an integral over a center, or if its
        leaf is not normal.
        """
        if self.center is not None:
            return None if self.pieces else ()
        ((leaf, _),) = self.pieces[0].leaves
        if not isinstance(leaf.spread, Normal):
            return None
        result = list(self._half_erfc(leaf, -leaf.lower[1], _ONE))
        return result if leaf.upper is None else [*result, *self._half_erfc(leaf, leaf.upper[1], -_ONE)]

    def _half_erfc(self, leaf: Leaf, d: Fraction, sign: Fraction) -> Sequence[tuple[Fraction, NormalFunction | None]]:
        """Return `sign`/2·erfc(`d`·x/√(2·v)) as a sum Σ c·f given as pairs (c, f); an f of None is the constant 1.

        v is the variance of the normal value `leaf`. The variable x is eps/`unit`, or 1/`unit` if the deviations are
        `fixed`; `unit` and `fixed` are fields of this measure.
        """
        assert isinstance(leaf.spread, Normal)
        scale = Real.from_rational(d) / Real.from_rational(2 * leaf.spread.variance).sqrt() / self.unit
        return [(sign * c / 2, f) for c, f in normal_function("erfc", scale, _ZERO if self.fixed else _ONE)]

    def majorant(self, center: Fraction) -> flint.arb:
        """Return an upper bound of |probability| for all complex eps with |eps - `center`| <= DISK·`center`."""
        if self.fixed:
            return flint.arb(1)
        total = flint.arb(0)
        near = _enclosure(center, self.unit)
        for piece in self.pieces:
            sizes = _Sizes.estimate(self.center, piece, near, wide=True)
            most = flint.arb(2).sqrt() * flint.arb(to_fmpq(sizes.count))
            if sizes.straight:
                radius = sizes.radius
                grown: flint.arb = flint.arb(to_fmpq(radius**2 * sizes.shifted / 2)).exp() * sizes.twice
                most = min(most, grown)
            total += most
        return total.upper()


def _normal_integral(center: Normal, piece: NormalPiece, rule: _Rule, eps: flint.arb_series) -> flint.arb_series:
    """Return the integral over `piece` as the quadrature `rule` computes it: a series in eps, without the rule's error.

    The variable of integration is a value with the law `center`, and `piece` is an interval of it. The integrand is the
    density of this value times the probabilities of the leaves of `piece`: normal values with bounds that depend on the
    variable. `eps` is the Taylor series of eps/unit.
    """
    leaves = []
    for leaf, often in piece.leaves:
        assert isinstance(leaf.spread, Normal)
        below = -(2 * flint.arb(to_fmpq(leaf.spread.variance))).sqrt()
        turned = [(flint.arb(to_fmpq(a)) / below, flint.arb(to_fmpq(d)) / below) for a, d in leaf.lines]
        leaves.append(([(slope, start, eps * start) for slope, start in turned], often))
    falling = -1 / (2 * flint.arb(to_fmpq(center.variance)))
    squared = eps * eps
    result = flint.arb_series([0])
    for node, weight in rule.nodes:
        exponent = node * node * falling
        product = (squared * exponent).exp() * weight if rule.scaled else flint.arb_series([exponent.exp() * weight])
        for lines, often in leaves:
            twice = flint.arb_series([2 - 2 * len(lines)])
            for slope, start, moved in lines:
                twice = twice + (eps * (slope * node + start) if rule.scaled else moved + slope * node).erfc()
            product = product * power(twice, often)
        result = result + product
    scale = center.peak() * flint.arb(2) ** -sum(often for _, often in leaves)
    return result * (eps * scale) if rule.scaled else result * scale


def series_in_unit(
    measured: Callable[[flint.arb_series, Ends, Fraction], flint.arb_series],
    center: Fraction,
    unit: Real,
    *,
    fixed: bool,
) -> flint.arb_series:
    """Return the Taylor series, in eps at `center` > 0, of a function that depends on eps through e = eps/`unit` alone.

    `measured` computes it from three arguments: the series of e in eps, a pair of rationals around the value of e, and
    `center`. If `fixed`, the function is constant in eps: it has the value at e = 1/`unit` everywhere.
    """
    ball = unit.ball()
    if fixed:
        with precision(flint.ctx.prec, 1):
            value = coefficients(measured(flint.arb_series([1 / ball]), _enclosure(_ONE, unit), _ONE), 1)
        return flint.arb_series(value)  # the other coefficients are 0
    eps = flint.arb_series([flint.arb(to_fmpq(center)) / ball, 1 / ball])
    return measured(eps, _enclosure(center, unit), center)


def _enclosure(center: Fraction, unit: Real) -> Ends:
    low, high = unit.enclosure(flint.ctx.prec)
    return center / high, center / low


def wanted_bits(length: int) -> int:
    """Return b such that integrals for a series of `length` coefficients have errors of approximately 2^-b.

    For a single coefficient nothing cancels, so that nearly all bits of FLINT's precision can be used.
    """
    return flint.ctx.prec // 2 if length > 1 else flint.ctx.prec - _GUARD


def blurred(series: flint.arb_series, error: flint.arb, center: Fraction) -> flint.arb_series:
    """Return `series` with coefficients widened so that they also enclose the Taylor series at `center` of f + g.

    f is the function that `series` encloses. g may be any analytic function with |g| <= `error` for all complex eps
    with |eps - `center`| <= DISK·`center`.
    """
    length, error = flint.ctx.cap, error.upper()
    radius = flint.arb(to_fmpq(DISK * center))
    return flint.arb_series(
        [c + flint.arb(0, error / radius**k if k else error) for k, c in enumerate(coefficients(series, length))]
    )


@frozen
class _Sizes:
    """The constants in the bounds that the module's lemma states for the integral over a `piece` of the center.

    The integral is over the value t of the center, a noise with the law `center`. The number e = eps/unit, where unit
    is a field of `NormalMeasure`, is called eps in the lemma; it is between the fields `least` and `eps`. The leaves
    are noises that are bounded by a·t + d·e. The bounds of the integral hold at e and, if `wide`, on the disk of
    complex numbers around e. In the sums below, v_0 is the variance of the center and v that of a leaf. If a leaf has
    two bounds, the greater |a| and the greater |d| are taken.

    - `curvature`: V = 1/v_0 + Σ a²/v.
    - `drift`: D1 = Σ |a·d|/v.
    - `spread`: D2 = Σ d²/v.
    - `shifted`: W, which is D2 - (Σ a·d/v)²/V if no leaf has two bounds, else D2.
    - `twice`: F, which is 2 to the number of leaves with two bounds.
    - `count`: K = F·(3/2)^n, where n is the number of leaves, or of Laplace leaves if not `wide`.
    - `linear`: the sum of the rates of Laplace noises, each multiplied by |a| if the noise is a leaf. Laplace noises
      add nothing to V, D1 and D2.
    """

    center: Spread
    piece: NormalPiece
    least: Fraction
    eps: Fraction
    wide: bool
    curvature: Fraction
    drift: Fraction
    spread: Fraction
    shifted: Fraction
    twice: int
    count: Fraction
    linear: Fraction

    @staticmethod
    def estimate(center: Spread | None, piece: NormalPiece, near: Ends, *, wide: bool) -> _Sizes:
        center = Normal(_ONE) if center is None else center
        curvature, linear = center.curvature, center.linear
        drift = spread = signed = _ZERO
        twice, count = 1, _ONE
        for leaf, times in piece.leaves:
            inverse = leaf.spread.curvature
            curvature += times * leaf.slope**2 * inverse
            linear += times * leaf.slope * leaf.spread.linear
            drift += times * leaf.slope * leaf.reach * inverse
            spread += times * leaf.reach**2 * inverse
            signed += times * leaf.lower[0] * leaf.lower[1] * inverse
            twice *= 1 if leaf.upper is None else 2**times
            count *= (_ONE if isinstance(leaf.spread, Normal) and not wide else Fraction(3, 2)) ** times
        shifted = spread - signed**2 / curvature if twice == 1 and curvature else spread
        return _Sizes(
            center,
            piece,
            *near,
            wide,
            curvature,
            drift,
            spread,
            shifted,
            twice,
            count * twice,
            linear,
        )

    @property
    def straight(self) -> bool:
        whole = self.piece.low is None and self.piece.high is None
        return whole and not self.piece.kinked and isinstance(self.center, Normal)

    @property
    def radius(self) -> Fraction:
        """The greatest |Im z| on the disk of complex z around e where the bounds hold; 0 if they hold at e alone."""
        return DISK * self.eps if self.wide else _ZERO

    @property
    def nearest(self) -> Fraction:
        """A lower bound of |z| on the disk of complex z around e where the bounds hold."""
        return self.least - (DISK * self.least if self.wide else 0)

    @property
    def growth(self) -> Fraction:
        """An upper bound of 2·Re z² on the disk of complex z around e, or of e²/2 if the bounds hold at e alone.

        At t = (x + iy)·z the integrand is at most a constant times exp(growth·`curvature`·y²), if all noises are
        normal.
        """
        return self.eps**2 * (Fraction(9, 2) if self.wide else Fraction(1, 2))

    @property
    def farthest(self) -> Fraction:
        """An upper bound of |z| on the disk of complex z around e where the bounds hold."""
        return self.eps + self.radius


@frozen
class _Rule:
    """A quadrature rule for an integral over the center t: `nodes` has the pairs (u, weight).

    `error` is an upper bound of the rule's error. If `scaled`, the rule evaluates the integrand at t = u·eps, else at t
    = u. `grid` tells which values of the integrand's factors are equal; it is None if they are all computed one by one.
    """

    nodes: Sequence[tuple[flint.arb, flint.arb]]
    scaled: bool
    error: flint.arb
    #: Given if the nodes and the arguments of all leaves are multiples of one number.
    grid: _NodeGrid | None = None


@frozen
class _NodeGrid:
    """The nodes `step`·k, with |k| <= `reach`, of a trapezoid rule at one eps, where several bounds have equal values.

    A bound a·t + d·eps is a·(t + s) with s = d·eps/a. So the probabilities of bounds with equal laws and equal a are
    one function of t + s. If their s differ by multiples of `step`, the function is evaluated at the numbers of one
    arithmetic progression, called a column.

    `places` maps each bound (law, a, d) to its column and to the index in the column where its values start. `longer`
    maps each column to the number of its values beyond the 2·reach + 1 that a single bound needs.
    """

    step: Fraction
    reach: int
    places: Mapping[tuple[Normal, Fraction, Fraction], tuple[_Column, int]]
    longer: Mapping[_Column, int]

    @staticmethod
    def choose(piece: NormalPiece, step: Fraction, reach: int, eps: Fraction) -> _NodeGrid | None:
        """Return a grid for `piece` at `eps` whose step is at most `step`, or None if a grid would not save time.

        Without a grid there are `reach` nodes on each side of 0, `step` apart.
        """
        bounds = [(leaf.spread, *line) for leaf, _ in piece.leaves for line in leaf.lines]
        if len(bounds) < _MANY:
            return None
        alike: dict[tuple[Normal, Fraction], dict[Fraction, Fraction]] = {}
        for spread, a, d in bounds:
            if not a or not isinstance(spread, Normal):
                return None
            alike.setdefault((spread, a), {})[d] = d * eps / a
        # The s of bounds with the same law and a differ by multiples of `unit`; the step is a multiple of it, too.
        unit = _common(s - next(iter(each.values())) for each in alike.values() for s in each.values())
        unit = unit / ceil(unit / step) if unit else step
        in_units = int(step / unit)
        more = ceil(reach * step / (in_units * unit))
        grid = _NodeGrid(in_units * unit, more, {}, {})
        places, longer = {}, {}
        for (spread, a), each in alike.items():
            starts: dict[int, Fraction] = {}
            least = min(each.values())
            for d, s in sorted(each.items(), key=lambda item: item[1]):
                start = starts.setdefault(int((s - least) / unit) % in_units, s)
                longer[spread, a, start] = place = int((s - start) / grid.step)
                places[spread, a, d] = (spread, a, start), place
        size = sum(2 * more + 1 + length for length in longer.values())
        # A product takes a tenth of the time of a value.
        if size + len(bounds) * more // 5 >= 2 * len(bounds) * reach:
            return None
        return replace(grid, places=places, longer=longer)

    def twice(self) -> _Twice:
        h, count = flint.arb(to_fmpq(self.step)), 2 * self.reach + 1
        columns = {}
        for (spread, a, s), longer in self.longer.items():
            nodes = [h * k for k in range(-self.reach, self.reach + longer + 1)]
            columns[spread, a, s] = _twice_at(nodes, flint.arb(to_fmpq(a * s)), spread, a)

        def tails(spread: Normal, line: Line) -> Sequence[flint.arb]:
            column, place = self.places[spread, *line]
            return columns[column][place : place + count]

        return tails


#: A column: a law, a slope a, and the least s.
_Column = tuple[Normal, Fraction, Fraction]

#: A function that gives twice the probability of a bound under a law, at each of several t.
_Twice = Callable[[Normal, Line], Sequence[flint.arb]]


def _at_each(places: Sequence[flint.arb], eps: flint.arb) -> _Twice:
    """Return a function that takes a law and a bound (a, d), and computes twice the probability that the bound holds.

    The result of this function is a list: for each t of `places`, 2·Pr[L <= a·t + d·`eps`] for a value L of the law.
    """
    return lambda law, line: _twice_at(places, eps * flint.arb(to_fmpq(line[1])), law, line[0])


def _twice_at(places: Iterable[flint.arb], start: flint.arb, law: Normal, a: Fraction) -> Sequence[flint.arb]:
    """Return twice the probability that a value of `law` is at most `a`·t + `start`, at each t of `places`."""
    below = -(2 * flint.arb(to_fmpq(law.variance))).sqrt()
    slope, start = flint.arb(to_fmpq(a)) / below, start / below
    return [(t * slope + start).erfc() for t in places]


#: The least number of bounds for which a grid is tried.
_MANY = 6


def _common(numbers: Iterable[Fraction]) -> Fraction:
    result = _ZERO
    for number in numbers:
        below = lcm(result.denominator, number.denominator)
        result = Fraction(gcd(int(result * below), int(number * below)), below)
    return result


def _rule(sizes: _Sizes, bits: int) -> _Rule:
    """Return a quadrature rule with an error of approximately 2^-`bits` for the integral whose constants are `sizes`.

    Raises LimitReached if the rule needs too many nodes.
    """
    try:
        wanted = 0.7 * (bits + 4) + log(sizes.count)
        whole = sizes.straight
        by_steps = sizes.center, sizes.curvature, sizes.radius * sizes.drift, sizes.radius**2 * sizes.spread / 2
        step, nodes = _trapezoid(*by_steps, wanted) if whole else (_ONE, MOST_STEPS)
        if whole and not sizes.wide and sizes.least == sizes.eps and nodes <= MOST_STEPS // 2:
            grid = _NodeGrid.choose(sizes.piece, step, nodes, sizes.eps)
            if grid is not None:
                return replace(_trapezoid_rule(*by_steps, sizes.twice, grid.step, grid.reach), grid=grid)
        if whole and nodes <= MOST_NODES:
            return _trapezoid_rule(*by_steps, sizes.twice, step, nodes)
        finite = _Finite.from_sizes(sizes, wanted)
    except (OverflowError, ZeroDivisionError):
        raise LimitReached(None, "an integral over Gaussian noise needs numbers that are too large") from None
    if min(finite.total, nodes if whole else finite.total) > MOST_STEPS:
        raise LimitReached(None, f"an integral over Gaussian noise takes more than {MOST_STEPS} nodes")
    if whole and nodes < finite.total:
        return _trapezoid_rule(*by_steps, sizes.twice, step, nodes)
    return finite.rule(sizes)


@frozen
class _Finite:
    """A quadrature rule on `interval`, cut into `panels` of equal length with `nodes` Gauss-Legendre nodes each.

    `ellipse` is the parameter ρ > 1 of the ellipse around each panel on which the integrand is bounded. `ends` has an
    item for each tail of the integral that is left out: the distance from 0, in multiples of eps, at which the tail
    begins. If `interval` is None, the whole integral is in the tails.
    """

    interval: tuple[Fraction, Fraction] | None
    ends: tuple[Fraction, ...]
    panels: int
    ellipse: Fraction
    nodes: int

    @staticmethod
    def from_sizes(sizes: _Sizes, wanted: float) -> _Finite:
        far = Fraction(sizes.center.far(wanted)) / sizes.nearest
        piece = sizes.piece
        low = -far if piece.low is None else max(piece.low, -far)
        high = far if piece.high is None else min(piece.high, far)
        ends = [far] * ((piece.low is None or piece.low < -far) + (piece.high is None or piece.high > far))
        if low >= high:
            return _Finite(None, tuple(ends), 0, _ONE, 0)
        size = wanted + 4 + max(0.0, log(float((high - low) * sizes.farthest) / sizes.center.far(0.5)))
        length, growth = float(high - low), float(sizes.growth * sizes.curvature)
        leaning = float(sizes.linear * sizes.farthest) * length
        # If no number of panels suffices, this one has more nodes than the limit allows.
        least = _Finite((low, high), tuple(ends), MOST_STEPS, _ONE, MOST_STEPS)
        for panels in PANELS:
            steepness = (length / (4 * panels)) ** 2 * growth
            for ellipse, beyond, squared, twice_log in _ELLIPSE_SIZES:
                nodes = ceil((size + steepness * squared + leaning * beyond / (2 * panels)) / twice_log)
                # A multiple of 4, so that more integrals share the roots of one Legendre polynomial.
                nodes = -(-nodes // 4) * 4
                if nodes <= MOST_NODES and panels * nodes < least.total:
                    least = _Finite((low, high), tuple(ends), panels, ellipse, nodes)
        return least

    @property
    def total(self) -> int:
        return self.panels * self.nodes

    def rule(self, sizes: _Sizes) -> _Rule:
        count = flint.arb(to_fmpq(sizes.count))
        nearest = flint.arb(to_fmpq(sizes.nearest))
        error = flint.arb(0)
        for end in self.ends:
            beyond = sizes.center.two_sided_tail(flint.arb(to_fmpq(end)) * nearest)
            error += beyond * count / (flint.arb(2).sqrt() if sizes.wide else 2)
        if self.interval is None:
            return _Rule((), True, error.upper())
        low, high = self.interval
        half = (high - low) / (2 * self.panels)
        y = half * (self.ellipse - 1 / self.ellipse) / 2
        most = flint.arb(to_fmpq(sizes.growth * sizes.curvature * y**2)).exp() * count * flint.arb(to_fmpq(half))
        # The distance by which the ellipse exceeds the panel.
        over = half * ((self.ellipse + 1 / self.ellipse) / 2 - 1)
        most *= flint.arb(to_fmpq(sizes.linear * sizes.farthest * (over + y))).exp()
        most *= flint.arb(to_fmpq(sizes.farthest)) * sizes.center.peak()
        ratio = flint.arb(to_fmpq(self.ellipse))
        error += self.panels * 8 * most * ratio ** (-2 * self.nodes) / (1 - 1 / ratio)
        length, nodes = flint.arb(to_fmpq(half)), []
        for panel in range(self.panels):
            middle = flint.arb(to_fmpq(low + (2 * panel + 1) * half))
            nodes += [(middle + length * x, length * w) for x, w in legendre(self.nodes, flint.ctx.prec)]
        return _Rule(nodes, True, error.upper())


@lru_cache(maxsize=512)
def legendre(nodes: int, bits: int) -> Sequence[tuple[flint.arb, flint.arb]]:
    """Return the pairs (node, weight) of the Gauss-Legendre rule with `nodes` nodes on [-1, 1].

    They are computed to `bits` bits, which must be FLINT's current precision. `bits` is a parameter so that the cache
    distinguishes precisions.
    """
    assert bits == flint.ctx.prec
    return [flint.arb.legendre_p_root(nodes, k, weight=True) for k in range(nodes)]


def _trapezoid(
    law: Spread, curvature: Fraction, drift: Fraction, grown: Fraction, wanted: float
) -> tuple[Fraction, int]:
    """Return (step, nodes): the step of a trapezoid rule, and the number of its nodes on each side of 0.

    The error of the rule is approximately e^-`wanted`. At a complex number t = x + iy the integrand must be at most a
    constant times e^{`grown` + `drift`·y + `curvature`·y²/2} times the density of `law` at x.
    """
    wanted += float(grown)
    turn = float(drift) + sqrt(2 * float(curvature) * wanted)
    step = Fraction(2 * 3.1415 / turn)
    return step, ceil(law.far(wanted) / float(step)) + 1


def _trapezoid_rule(
    law: Spread, curvature: Fraction, drift: Fraction, grown: Fraction, twice: int, step: Fraction, nodes: int
) -> _Rule:
    h, v, moved = flint.arb(to_fmpq(step)), flint.arb(to_fmpq(curvature)), flint.arb(to_fmpq(drift))
    turn = 2 * flint.arb.pi() / h
    y = ((turn - moved) / v).mid()
    if not y > 0:
        raise LimitReached(None, "the step of an integral over Gaussian noise is too wide")
    larger = flint.arb(to_fmpq(grown))
    error = 2 * (larger + moved * y + y * y * v / 2 - turn * y).exp() / (1 - (-turn * y).exp())
    error += larger.exp() * law.two_sided_tail(h * nodes)
    return _Rule([(h * k, h) for k in range(-nodes, nodes + 1)], False, (error * twice).upper())


# --- From events ------------------------------------------------------------------------------------------------------


def values_of(event: Event) -> tuple[Sequence[Spread], _Rows, Real, bool]:
    """Return (laws, rows, unit, fixed): the constraints of `event` as half-spaces over independent random values.

    laws has the law of each value, and rows the half-spaces. The standard deviations are given as multiples of
    unit/eps, or as multiples of unit if fixed. Raises OutsideFragment if there is no such unit, if some deviations
    depend on eps and others do not, or for noise that is neither normal nor Laplace.
    """
    kinds = {
        (noise.law.normal_unit, noise.law.fixed) if noise.law.measure is Measure.INTEGRALS else (ONE, False)
        for noise in event.noises
    }
    if len(kinds) > 1:
        raise OutsideFragment(
            "Gaussian noise is compared with noise whose scale differs by a factor that is irrational or depends "
            "on eps, which is not covered"
        )
    ((unit, fixed),) = kinds
    return *_merged(event), unit, fixed


def normal_measure(event: Event) -> NormalMeasure:
    """Return the probability of a connected `event` over normal noises, or normal and Laplace noises.

    Raises OutsideFragment unless some value, the center, occurs in every half-space over two values. Raises
    LimitReached for too many pieces.
    """
    values, rows, unit, fixed = values_of(event)
    center, pieces = _pieces(values, rows)
    return NormalMeasure(center, pieces, unit, fixed)


def _pieces(values: Sequence[Spread], rows: _Rows) -> tuple[Spread | None, tuple[NormalPiece, ...]]:
    """Return (law, pieces): the law of the *center*, the value to integrate over, and the pieces of the integral.

    `values` has the laws of independent values, and `rows` the half-spaces over them. If there is a single value, no
    integral is needed, and the law is None. But if the half-spaces leave no room for that value, there are no pieces,
    and the law is arbitrary. If several values can be the center, the one with the fewest pieces is chosen.
    """
    if any(len(row) > 2 for row, _ in rows):
        raise OutsideFragment("a comparison relates three sums of Gaussian noises, which is not covered yet")
    if len(values) == 1:
        nearest = _nearest([(_ZERO, row[0], d) for row, d in rows], _ZERO)
        if nearest is None:
            return Normal(_ONE), ()
        return None, (NormalPiece(None, None, ((_leaf(values[0], *nearest, _ZERO), 1),)),)
    centers = [i for i in range(len(values)) if all(i in row or len(row) == 1 for row, _ in rows)]
    if not centers:
        raise OutsideFragment("Gaussian noises are compared with each other, but no single one with all others")
    stars = [(values[center], _canonical(values[center], _star(values, rows, center))) for center in centers]
    return min(stars, key=lambda star: (len(star[1]), str(star) if len(stars) > 1 else ""))


def _canonical(center: Spread, pieces: tuple[NormalPiece, ...]) -> tuple[NormalPiece, ...]:
    """Return `pieces`, or the pieces for -t in place of the center t, whichever come first in a fixed order.

    So an event and its mirror image get the same result, if all laws are normal and the integral is over the whole
    line. Otherwise `pieces` are returned unchanged. `center` is the law of t.
    """
    match pieces:
        case (NormalPiece(low=None, high=None, leaves=leaves),) if isinstance(center, Normal):
            if all(isinstance(leaf.spread, Normal) for leaf, _ in leaves):
                turned = Counter({leaf.turned: count for leaf, count in leaves})
                return (NormalPiece(None, None, min(_ordered(leaves), _ordered(turned.items()), key=str)),)
    return pieces


def _ordered(leaves: Iterable[tuple[Leaf, int]]) -> Leaves:
    return tuple(sorted(leaves, key=str))


#: Half-spaces Σ c·X + eps·d >= 0, each as the coefficients c by the positions of the values X, and d.
_Rows = Sequence[tuple[Mapping[int, Fraction], Fraction]]

#: The triple (a, b, d) of a half-space b·L + a·t + d·eps >= 0.
_Bound = tuple[Fraction, Fraction, Fraction]


def _merged(event: Event) -> tuple[list[Spread], _Rows]:
    """Return (laws, rows): laws of independent values, and the constraints of `event` as half-spaces over these values.

    Normal noises whose coefficients in all constraints are proportional become one value. In its first constraint the
    value has the sign that the first of these noises has there, so a difference of two noises stays a difference of two
    values. The sign does not change the law of the value, because all laws are symmetric.
    """
    noises = event.noises
    rows: list[tuple[dict[int, Fraction], Fraction]] = [
        ({}, item.constant + sum((c * noises[i].mean for i, c in item.coefficients), _ZERO))
        for item in event.constraints
    ]
    # A sum of normal noises is normal; other noises stay alone.
    groups = proportional_columns(
        [item.coefficients for item in event.constraints],
        lambda i: noises[i].law.measure is not Measure.INTEGRALS,
    )
    laws: list[Spread] = []
    for direction, members in groups:
        spread, *others = [_spread(noises[i], factor) for i, factor in members]
        if isinstance(spread, Normal):
            spread = Normal(sum([each.variance for each in others if isinstance(each, Normal)], spread.variance))
        for position, c in direction:
            rows[position][0][len(laws)] = c if members[0][1] > 0 else -c
        laws.append(spread)
    return laws, _without_implied(rows)


def _without_implied(rows: Sequence[tuple[dict[int, Fraction], Fraction]]) -> _Rows:
    """Return `rows` without the half-spaces x - y + d >= 0 that two others of this form imply.

    The half-spaces x - z + a >= 0 and z - y + b >= 0 imply x - y + d >= 0 if a + b <= d.
    """
    differences: dict[tuple[int, int], Fraction] = {}
    others: list[tuple[dict[int, Fraction], Fraction]] = []
    for row, d in rows:
        (x, a), (y, b) = (*row.items(), (-1, _ZERO), (-1, _ZERO))[:2]
        if len(row) == 2 and a == -b:
            pair = (x, y) if a > 0 else (y, x)
            differences[pair] = min(d / abs(a), differences.get(pair, d / abs(a)))
        else:
            others.append((row, d))
    kept = dict(differences)
    for (x, y), d in differences.items():
        through = (z for z, end in kept if end == y and z != x and (x, z) in kept)
        if any(kept[x, z] + kept[z, y] <= d for z in through):
            del kept[x, y]
    return [*others, *(({x: _ONE, y: -_ONE}, d) for (x, y), d in kept.items())]


def _spread(noise: Noise, factor: Fraction) -> Spread:
    """Return the law of `factor`·N, where N is `noise` minus its mean.

    Raises OutsideFragment if that law is neither normal nor Laplace.
    """
    if noise.law.measure is Measure.INTEGRALS:
        return Normal(noise.law.normal_variance(noise.rate) * factor**2)
    refused = OutsideFragment(f"{noise.law.name} noise is compared with Gaussian noise, which is not covered yet")
    try:
        sides = noise.law.sides(noise.rate)
    except Missing:
        raise refused from None
    if noise.law.whole or sides.left is None or sides.left != sides.right:
        raise refused
    return Exponential(sides.left / abs(factor))


def _star(values: Sequence[Spread], rows: _Rows, center: int) -> tuple[NormalPiece, ...]:
    """Return the pieces of the integral over one value, the center, whose index is `center`.

    `values` has the laws of all values. `rows` has half-spaces over one value, or over the center and one other value.
    A piece is an interval of the center on which the same half-spaces bound the other values.
    """
    own: list[tuple[Fraction, Fraction]] = []
    bounds: dict[int, list[_Bound]] = {}
    for row, d in rows:
        others = row.keys() - {center}
        if not others:
            own.append((row[center], d))
        for place in others:
            bounds.setdefault(place, []).append((row.get(center, _ZERO), row[place], d))
    low = max((-d / c for c, d in own if c > 0), default=None)
    high = min((-d / c for c, d in own if c < 0), default=None)
    if low is not None and high is not None and low >= high:
        return ()
    laplace = isinstance(values[center], Exponential)
    own_kinks = {_ZERO} if laplace else set()
    others_kinks = (_kinks(each, isinstance(values[place], Exponential)) for place, each in bounds.items())
    kinks = sorted(own_kinks.union(*others_kinks))
    inside = [u for u in kinks if (low is None or low < u) and (high is None or u < high)]
    if len(inside) >= MOST_PIECES:
        raise LimitReached(None, f"comparisons of Gaussian noise fall into more than {MOST_PIECES} pieces")
    pieces: list[NormalPiece] = []
    for start, end in pairwise([low, *inside, high]):
        middle = number_between(start, end)
        leaves = _leaves(values, bounds, middle)
        if leaves is None:
            continue
        side = middle >= 0 or not laplace
        if pieces and (pieces[-1].leaves, pieces[-1].nonnegative, pieces[-1].high) == (leaves, side, start):
            start = pieces.pop().low
        pieces.append(NormalPiece(start, end, leaves, side))
    return tuple(pieces)


def _leaves(values: Sequence[Spread], bounds: Mapping[int, Sequence[_Bound]], u: Fraction) -> Leaves | None:
    """Return all values but the center, each with the bounds that are decisive if the center t is `u`·eps, or None.

    Such a value L is called a leaf, and `values` has its law. `bounds` maps the index of each leaf to its half-spaces,
    triples (a, b, d) for b·L + a·t + d·eps >= 0. No two bounds of a leaf may be equal at `u`. The result is None if the
    bounds of some leaf contradict each other at `u`.
    """
    leaves = []
    for place, each in bounds.items():
        nearest = _nearest(each, u)
        if nearest is None:
            return None
        leaves.append(_leaf(values[place], *nearest, u))
    return tuple(Counter(leaves).items())


def _lines(bounds: Sequence[_Bound]) -> tuple[set[Line], set[Line]]:
    """Return (lower, upper): the bounds on a value L that the half-spaces `bounds` give, as sets of pairs (a, d).

    A half-space is a triple (a, b, d) for b·L + a·t + d·eps >= 0, where t is another value. A lower bound (a, d) means
    L + a·t + d·eps >= 0, an upper bound (a, d) means L <= a·t + d·eps.
    """
    lower = {(a / b, d / b) for a, b, d in bounds if b > 0}
    return lower, {(-a / b, -d / b) for a, b, d in bounds if b < 0}


def _kinks(bounds: Sequence[_Bound], laplace: bool) -> Iterator[Fraction]:
    """Yield each number u such that, if a value t is u·eps, two bounds of another value L are equal.

    `bounds` has the half-spaces of L, as triples (a, b, d) for b·L + a·t + d·eps >= 0. If L is `laplace` noise, yield
    also each u for which a bound is 0.
    """
    lower, upper = _lines(bounds)
    if laplace:
        yield from (-d / a for a, d in {*lower, *upper} if a)
    level = [*lower, *((-a, -d) for a, d in upper)]
    for position, (a, d) in enumerate(level):
        for b, e in level[position + 1 :]:
            if a != b:
                yield (e - d) / (a - b)


def _nearest(bounds: Sequence[_Bound], u: Fraction) -> tuple[Line | None, Line | None] | None:
    """Return (lower, upper): the greatest lower and the least upper bound of a value L if a value t is `u`·eps.

    `bounds` has half-spaces, as triples (a, b, d) for b·L + a·t + d·eps >= 0. A bound of the result is a pair (a, d)
    for L + a·t + d·eps >= 0 or L <= a·t + d·eps, and None if no half-space is on its side. Return None instead of the
    pair if the two bounds are equal or contradict each other.
    """
    lower, upper = _lines(bounds)
    nearest = [min(lines, key=lambda line: (line[0] * u + line[1], line), default=None) for lines in (lower, upper)]
    first, second = nearest
    if first is not None and second is not None and (first[0] + second[0]) * u + first[1] + second[1] <= 0:
        return None
    return first, second


def _leaf(spread: Spread, lower: Line | None, upper: Line | None, u: Fraction) -> Leaf:
    if lower is None:
        # -L has the same law.
        lower, upper = upper, None
    assert lower is not None
    if isinstance(spread, Normal):
        return Leaf(spread, lower, upper)
    first, second = (line is None or line[0] * u + line[1] >= 0 for line in (lower, upper))
    return Leaf(spread, lower, upper, (first, second))
