"""Integer noises: piecewise geometric sums, and constraint sets over them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from math import comb, factorial, gcd, lcm
from typing import TypeVar

import flint
from flint.utils.flint_exceptions import DomainError

from dipc.algebra.exppoly import ExpPoly, Quotient
from dipc.algebra.limits import LimitReached, Limits, Meter, OutsideFragment, Undecided, weight
from dipc.algebra.numbers import to_fmpq
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace
from dipc.linear.program import Interiors
from dipc.measure.event import Event
from dipc.measure.pieces import Piece, Piecewise, Terms
from dipc.noise.law import SideRates

# --- Sums of exponential polynomials over integers: summands x^n·e^{l·eps·x} and their indefinite sums ----------------
#
# Summing leads out of the ring, but only to products of 1/(1 - e^{-d·eps}) with d > 0, which are positive for every
# eps > 0. They are kept formal, as `poles`, and brought over one denominator at the very end.


@frozen
class Summand:
    """e^{exponent·eps} · Π (1 - e^{-d·eps})^{-m} over poles (d, m) · Π x_v^{powers[v]} · e^{slopes[v]·eps·x_v}."""

    exponent: Fraction
    poles: tuple[tuple[Fraction, int], ...]
    powers: tuple[int, ...]
    slopes: tuple[Fraction, ...]

    def multiplied(
        self, exponent: Fraction, poles: tuple[tuple[Fraction, int], ...], variable: int, power: int
    ) -> Summand:
        """Times e^{exponent·eps} and the poles, with another power of one variable."""
        powers = (*self.powers[:variable], power, *self.powers[variable + 1 :])
        return Summand(self.exponent + exponent, merged(self.poles, poles), powers, self.slopes)


_Term = TypeVar("_Term")

#: A linear combination of summands.
Summands = dict[Summand, Fraction]


def merged(
    left: tuple[tuple[Fraction, int], ...], right: tuple[tuple[Fraction, int], ...]
) -> tuple[tuple[Fraction, int], ...]:
    """The product of two products of poles."""
    if not right:
        return left
    powers = dict(left)
    for d, m in right:
        powers[d] = powers.get(d, 0) + m
    return tuple(sorted(powers.items()))


def add_to(total: dict[_Term, Fraction], more: Mapping[_Term, Fraction]) -> None:
    """total += more, in place, dropping what cancels."""
    for term, c in more.items():
        value = total.get(term, Fraction(0)) + c
        if value:
            total[term] = value
        else:
            total.pop(term, None)


def summed(summands: Summands, variable: int) -> Summands:
    """F with F(x) - F(x - 1) the given summands, in one variable; F vanishes at ±∞ where they decay."""
    result: Summands = {}
    for summand, c in summands.items():
        n, slope = summand.powers[variable], summand.slopes[variable]
        if not slope:
            for power, factor in power_sum(n):
                add_to(result, {summand.multiplied(Fraction(0), (), variable, power): c * factor})
            continue
        for (power, shift, poles), factor in geometric_sum(n, slope > 0):
            d = abs(slope)
            moved = summand.multiplied(-d * shift, ((d, poles),), variable, power)
            add_to(result, {moved: c * factor})
    return result


@cache
def power_sum(n: int) -> tuple[tuple[int, Fraction], ...]:
    """The polynomial S with S(x) - S(x-1) = x^n and S(0) = 0, as (power, coefficient) pairs."""
    # x^{n+1} - (x-1)^{n+1} = Σ_{j<=n} C(n+1, j)·(-1)^{n-j}·x^j, so S_n follows from the S_j below it.
    total = {n + 1: Fraction(1)}
    for j in range(n):
        for power, c in power_sum(j):
            total[power] = total.get(power, Fraction(0)) - comb(n + 1, j) * (-1) ** (n - j) * c
    return tuple((power, c / (n + 1)) for power, c in sorted(total.items()) if c)


@cache
def geometric_sum(n: int, growing: bool) -> tuple[tuple[tuple[int, int, int], Fraction], ...]:
    """p with p(x) - e^{-l}·p(x-1) = x^n, so that e^{lx}·p(x) sums x^n·e^{lx}; l > 0 if `growing`, else l < 0.

    The keys of its terms are (power of x, s, m) for x^power·e^{-|l|·s}·(1 - e^{-|l|})^{-m}.
    """
    # With G = 1/(1 - e^{-l}) and T p = p(x) - e^{-l}·p(x-1): p_n = G·(x^n + e^{-l}·Σ_{j<n} C(n,j)(-1)^{n-j} p_j).
    # For l < 0, G = -e^{l}/(1 - e^{l}) and e^{-l}·G = -1/(1 - e^{l}).
    sign, first, second = (1, 0, 1) if growing else (-1, 1, 0)
    total = {(n, first, 1): Fraction(sign)}
    for j in range(n):
        for (power, shift, poles), c in geometric_sum(j, growing):
            key = (power, shift + second, poles + 1)
            total[key] = total.get(key, Fraction(0)) + sign * comb(n, j) * (-1) ** (n - j) * c
    return tuple(total.items())


def closed_form(summands: Summands) -> Quotient:
    """The quotient that a combination without variables stands for."""
    highest: dict[Fraction, int] = {}
    for summand in summands:
        for d, m in summand.poles:
            highest[d] = max(highest.get(d, 0), m)
    factors = {d: ExpPoly.ONE - ExpPoly.term(1, 0, -d) for d in highest}
    by_poles: dict[tuple[tuple[Fraction, int], ...], list[tuple[int, Fraction, Fraction]]] = {}
    for summand, c in summands.items():
        by_poles.setdefault(summand.poles, []).append((0, summand.exponent, c))
    numerator = ExpPoly.ZERO
    for poles, terms in by_poles.items():
        have = dict(poles)
        poly = ExpPoly.from_terms(terms)
        for d, m in highest.items():
            poly = poly * factors[d] ** (m - have.get(d, 0))
        numerator = numerator + poly
    denominator = ExpPoly.ONE
    for d, m in highest.items():
        denominator = denominator * factors[d] ** m
    return Quotient(numerator, denominator)


# --- Piecewise exponential polynomials on the integers, over products of cyclotomic polynomials -----------------------
#
# With y = e^{eps} a function of an integer x is N(x)/Π Φ_d(y)^{m_d}, where N has pieces Σ c·y^q·x^n·y^{l·x} with
# integer q and l; piece i holds at breaks[i-1] <= x < breaks[i]. The class is closed under product, shift by an integer
# and sums over ranges: the sum of x^n·y^{lx} is a polynomial in x for l = 0, and one times y^{lx} over (y^|l| -
# 1)^{n+1} otherwise (`geometric`). As y^a - 1 = Π Φ_d(y) over the divisors d of a, one denominator serves all pieces,
# and every divisor it has in common with them is found by trial division: each Φ_d is irreducible. Since y > 1, every
# Φ_d(y) is positive: no zero of Φ_d lies on the real line beyond 1, and its leading coefficient is 1.

#: Denominators of a higher degree are left to elimination, which does not write them out.
MOST_DEGREE = 20_000

#: A piece with this many values for each power of x has them added up one by one.
_FEW_VALUES = 4

#: The powers m of the polynomials Φ_d(y) by d.
Powers = Mapping[int, int]

#: A sum of terms, those under (w, m) over (y^w - 1)^m; those under (0, 0) as they are.
_Sum = dict[tuple[int, int], Terms]


@frozen
class LatticePiecewise:
    """`numerator`(x) over Π Φ_d(y)^m for (d, m) in `poles`, at integers x. No pole divides all pieces."""

    numerator: Piecewise
    poles: Powers = field(default_factory=dict)

    @classmethod
    def laplace(cls, rate: int, mean: int) -> LatticePiecewise:
        """The masses of discrete Laplace noise: (y^a - 1)/(y^a + 1)·y^{-a|x - mean|} for the rate a."""
        left = Terms({(0, rate - rate * mean, 0, rate): flint.fmpq(1), (0, -rate * mean, 0, rate): flint.fmpq(-1)})
        right = {(0, q + 2 * rate * mean, n, -l): c for (_, q, n, l), c in left.items()}
        # y^a + 1 = (y^2a - 1)/(y^a - 1).
        poles = {d: 1 for d in _divisors(2 * rate) if rate % d}
        return cls(Piecewise((mean,), (Piece.of_terms(left), Piece.of_terms(right))), poles)

    @classmethod
    def sum_of_laplace(cls, rate: int, count: int, meter: Meter) -> LatticePiecewise:
        """The masses of the sum of this many discrete Laplace noises of one rate around 0. Raises LimitReached before a
        long computation.

        With z = y^{-rate} that is the difference of two sums of k = count geometric variables. So its mass at x >= 0 is
        (1 - z)^{2k}·Σ_j C(x + j + k - 1, k - 1)·C(j + k - 1, k - 1)·z^{2j + x}. By Vandermonde's identity the first
        factor is Σ_i C(x, i)·C(j + k - 1, k - 1 - i), and by Euler's transformation of hypergeometric series

            Σ_j C(j + k - 1, k - 1 - i)·C(j + k - 1, k - 1)·t^j = (1 - t)^{i + 1 - 2k}·p_i(t)

        for p_i(t) = Σ_j C(k - 1 - i, j)·C(k - 1, i + j)·t^j. Hence with t = z² the mass is
        (1 - z)/(1 + z)^{2k - 1}·z^x·Σ_i C(x, i)·(1 - z²)^i·p_i(z²).
        """
        k = count
        bits = 2 * k * k.bit_length()
        meter.size(2 * k * k * weight(bits))
        meter.product(k, 2 * k * k, 0, bits)
        minus = flint.fmpz_poly([1, 0, -1])
        #: By power of x a polynomial in z, over (k - 1)!.
        by_power = [flint.fmpz_poly([])] * k
        falling = flint.fmpz_poly([1])  # x·(x - 1)···(x - i + 1)
        for i in range(k):
            even = [comb(k - 1 - i, j) * comb(k - 1, i + j) for j in range(k - i)]
            spread = flint.fmpz_poly([even[q // 2] if q % 2 == 0 else 0 for q in range(2 * len(even) - 1)])
            share = spread * minus**i * (factorial(k - 1) // factorial(i))
            by_power = [total + share * falling[n] for n, total in enumerate(by_power)]
            falling *= flint.fmpz_poly([-i, 1])
        whole = factorial(k - 1)
        right: Terms = {}
        for n, in_z in enumerate(by_power):
            # Times (1 - z), and above and below times y^{rate·(2k - 1)}.
            for q, c in enumerate((in_z * flint.fmpz_poly([1, -1])).coeffs()):
                right[0, rate * (2 * k - 1 - q), n, -rate] = flint.fmpq(c, whole)
        left = {(p, q, n, -l): (-c if n % 2 else c) for (p, q, n, l), c in right.items()}
        poles = {d: 2 * k - 1 for d in _divisors(2 * rate) if rate % d}
        return cls(Piecewise((0,), (Piece.of_terms(left), Piece.of_terms(right))), poles)

    def restricted(self, low: int | None, high: int | None) -> LatticePiecewise:
        """The function times the indicator of low <= x <= high (None: unbounded)."""
        return LatticePiecewise(self.numerator.restricted(low, None if high is None else high + 1), self.poles)

    def times(self, other: LatticePiecewise, meter: Meter) -> LatticePiecewise:
        """The product; raises LimitReached, if it can before a long computation."""
        return LatticePiecewise(self.numerator.times(other.numerator, meter), _added(self.poles, other.poles))

    def to_power(self, exponent: int, meter: Meter) -> LatticePiecewise:
        """The function to the power `exponent` >= 1; raises LimitReached like `times`."""
        return LatticePiecewise(
            self.numerator.to_power(exponent, meter), {d: m * exponent for d, m in self.poles.items()}
        )

    def shifted(self, offset: int) -> LatticePiecewise:
        """x -> f(x + offset)."""
        return LatticePiecewise(_shifted(self.numerator, offset), self.poles)

    def plus(self, other: LatticePiecewise, meter: Meter) -> LatticePiecewise:
        """The sum of two functions."""
        poles = {d: max(self.poles.get(d, 0), other.poles.get(d, 0)) for d in {*self.poles, *other.poles}}
        left, right = (_times(f.numerator, _cofactor(poles, f.poles), meter) for f in (self, other))
        return _reduced(left.minus(_times(right, flint.fmpz_poly([-1]), meter)), poles)

    def reflected(self) -> LatticePiecewise:
        """x -> f(-x)."""
        pieces = [
            Piece.of_terms({(k, q, n, -l): (-c if n % 2 else c) for (k, q, n, l), c in piece.terms().items()})
            for piece in reversed(self.numerator.pieces)
        ]
        # b <= -x < b' where 1 - b' <= x < 1 - b.
        breaks = tuple([1 - b for b in reversed(self.numerator.breaks)])
        return LatticePiecewise(Piecewise(breaks, tuple(pieces)), self.poles)

    def smoothed(self, rate: int, meter: Meter) -> LatticePiecewise:
        """x -> the sum of f(c)·P[N = x - c] over c, for discrete Laplace noise N of that rate around 0.

        The function must be bounded. If it has the masses of C, the result has those of C + N. Raises like `within`.
        """
        upward = self.weighed_below(rate, 0, meter)
        downward = self.reflected().weighed_below(rate, -1, meter).reflected()
        mass = flint.fmpz_poly([-1, *[0] * (rate - 1), 1])  # y^a - 1, over y^a + 1 = (y^2a - 1)/(y^a - 1)
        both = upward.plus(downward, meter)
        poles = _added(both.poles, {d: 1 for d in _divisors(2 * rate) if rate % d})
        return _reduced(_times(both.numerator, mass, meter), poles)

    def weighed_below(self, rate: int, high: int, meter: Meter) -> LatticePiecewise:
        """x -> the sum of f(c)·y^{-rate·(x - c)} over c <= x + high."""
        # The sum decays at -∞ with the weights; what it does at +∞ is no matter, as no sum goes there.
        return self.tilted(rate).window_integral(None, high, meter).tilted(-rate)

    def tilted(self, rate: int) -> LatticePiecewise:
        """x -> f(x)·y^{rate·x}."""
        tilted = [Piece(p.poly, p.low_y, p.low_X + rate, p.bits) for p in self.numerator.pieces]
        return LatticePiecewise(Piecewise(self.numerator.breaks, tuple(tilted)), self.poles)

    def window_integral(self, low: int | None, high: int | None, meter: Meter) -> LatticePiecewise:
        """x -> the sum of the function over the z with x + low <= z <= x + high (None: unbounded), where low <= high.

        The function must decay at both ends. Raises LimitReached like `times`, OutsideFragment like `integral`.
        """
        grown, (*constants, total) = self._indefinite_sums()
        more = _poles_of(grown)
        sums = [
            _numerator_over(more, each, meter).plus(_numerator_over(more, c, meter))
            for each, c in zip(grown, constants, strict=True)
        ]
        below = Piecewise(self.numerator.breaks, tuple(sums))
        upper = Piecewise((), (_numerator_over(more, total, meter),)) if high is None else _shifted(below, high)
        numerator = upper if low is None else upper.minus(_shifted(below, low - 1))
        return _reduced(numerator, _added(self.poles, more))

    def integral(self, meter: Meter) -> Quotient:
        """The sum over all integers of a function that decays at both ends.

        Raises LimitReached like `times`, OutsideFragment where polynomials in y would be long for their degree alone.
        """
        total = self._sum_of_all()
        more = _poles_of([total])
        piecewise = _reduced(Piecewise((), (_numerator_over(more, total, meter),)), _added(self.poles, more))
        terms = piecewise.numerator.pieces[0].terms()
        above = ExpPoly.from_integer_exponents({(0, q): c for (_, q, _, _), c in terms.items()})
        below = ExpPoly.from_integer_exponents({(0, q): c for q, c in _coefficients(_product(piecewise.poles)).items()})
        # What is left of the poles has no divisor in common with the numerator.
        return Quotient.coprime(above, below)

    def _sum_of_all(self) -> _Sum:
        """The sum over all integers, if the function decays: of short pieces value by value."""
        breaks = self.numerator.breaks
        total: _Sum = {}
        for piece, low, high in zip(self.numerator.pieces, (None, *breaks), (*breaks, None), strict=True):
            terms = piece.terms()
            highest = max((n for _, _, n, _ in terms), default=0)
            if low is not None and high is not None and high - low <= _FEW_VALUES * (1 + highest):
                for x in range(low, high):
                    _add_value(total, {(0, 0): terms}, x, 1)
                continue
            grown = _indefinite_sum(piece)
            if high is not None:
                _add_value(total, grown, high - 1, 1)
            if low is not None:
                _add_value(total, grown, low - 1, -1)
        return total

    def _indefinite_sums(self) -> tuple[list[_Sum], list[_Sum]]:
        """For each piece an indefinite sum, and the constant with which it is the sum of the whole function from -∞ on;
        in the end the sum over all integers, if the function decays.
        """
        grown = [_indefinite_sum(piece) for piece in self.numerator.pieces]
        constants: list[_Sum] = [{}]
        for b, (before, after) in zip(self.numerator.breaks, pairwise(grown), strict=True):
            constant = {group: dict(terms) for group, terms in constants[-1].items()}
            _add_value(constant, before, b - 1, 1)
            _add_value(constant, after, b - 1, -1)
            constants.append(constant)
        # The last piece decays, so at +∞ its constant alone is left.
        return grown, [*constants, constants[-1]]


def _poles_of(sums: list[_Sum]) -> Powers:
    """The least powers of all Φ_d over which the sums can be written."""
    groups = {key for each in sums for key in each}
    if sum(w * m for w, m in groups) > MOST_DEGREE:
        raise OutsideFragment("rates of integer noise differ too much: their common unit makes polynomials too long")
    result: dict[int, int] = {}
    for w, m in groups:
        for d in _divisors(w):
            result[d] = max(result.get(d, 0), m)
    return result


def _cofactor(poles: Powers, own: Powers) -> flint.fmpz_poly:
    """Π Φ_d^m over the poles less its own, which must be among them."""
    return _product({d: m - own.get(d, 0) for d, m in poles.items()})


def _times(function: Piecewise, factor: flint.fmpz_poly, meter: Meter) -> Piecewise:
    """The function times factor(y)."""
    constant = _in_y(factor)
    return Piecewise(function.breaks, tuple([piece.times(constant, meter) for piece in function.pieces]))


def _added(left: Powers, right: Powers) -> Powers:
    return {d: left.get(d, 0) + right.get(d, 0) for d in {*left, *right}}


def _indefinite_sum(piece: Piece) -> _Sum:
    """S with S(x) - S(x - 1) the piece; S vanishes at ±∞ where the terms of the piece decay."""
    # By power and slope of x, the functions of y that stand before them: those are multiplied as a whole.
    before: dict[tuple[int, int], dict[int, flint.fmpq]] = {}
    for (_, q, n, l), c in piece.terms().items():
        before.setdefault((n, l), {})[q] = c
    sums: dict[tuple[int, int], dict[tuple[int, int, int], flint.fmpq_poly]] = {}
    for (n, l), by_power in before.items():
        low = min(by_power)
        factor = flint.fmpq_poly([by_power.get(q, 0) for q in range(low, max(by_power) + 1)])
        w = abs(l)
        if not l:
            for power, f in power_sum(n):
                _add_product(sums, (0, 0), (power, 0, low), factor, to_fmpq(f))
            continue
        for (power, s, m), share in _geometric_sum(n, l > 0):
            _add_product(sums, (w, m), (power, l, low + w * (m - s)), factor, share)
    return {
        group: _collected(((0, low + q, n, l), c) for (n, l, low), poly in polys.items() for q, c in _terms_of(poly))
        for group, polys in sums.items()
    }


def _add_product(
    sums: dict[tuple[int, int], dict[tuple[int, int, int], flint.fmpq_poly]],
    group: tuple[int, int],
    key: tuple[int, int, int],
    factor: flint.fmpq_poly,
    by: flint.fmpq,
) -> None:
    terms = sums.setdefault(group, {})
    product = factor * by
    terms[key] = terms[key] + product if key in terms else product


def _terms_of(poly: flint.fmpq_poly) -> Iterator[tuple[int, flint.fmpq]]:
    return ((q, c) for q, c in enumerate(poly.coeffs()) if c != 0)


def _collected(terms: Iterable[tuple[tuple[int, int, int, int], flint.fmpq]]) -> Terms:
    result: Terms = {}
    for exponents, c in terms:
        result[exponents] = result.get(exponents, 0) + c
    return result


@cache
def _geometric_sum(n: int, growing: bool) -> tuple[tuple[tuple[int, int, int], flint.fmpq], ...]:
    return tuple([(exponents, to_fmpq(factor)) for exponents, factor in geometric_sum(n, growing)])


def _add_value(total: _Sum, grown: _Sum, x: int, sign: int) -> None:
    """total += sign·grown(x), a function constant in x."""
    for group, terms in grown.items():
        coefficients = total.setdefault(group, {})
        for (_, q, n, l), c in terms.items():
            key = (0, q + l * x, 0, 0)
            coefficients[key] = coefficients.get(key, 0) + c * (sign * x**n)


def _numerator_over(poles: Powers, numerator: _Sum, meter: Meter) -> Piece:
    """The numerator of a sum over Π Φ_d(y)^m for (d, m) in `poles`, which its own denominators divide."""
    total = Piece.zero()
    for (w, m), terms in numerator.items():
        cofactor = _product({d: k - m if w and w % d == 0 else k for d, k in poles.items()})
        total = total.plus(Piece.of_terms(terms).times(_in_y(cofactor), meter))
    return total


def _shifted(function: Piecewise, offset: int) -> Piecewise:
    """x -> f(x + offset)."""
    if not offset:
        return function
    pieces = []
    for piece in function.pieces:
        terms: Terms = {}
        for (_, q, n, l), c in piece.terms().items():
            for m in range(n + 1):
                key = (0, q + l * offset, m, l)
                terms[key] = terms.get(key, 0) + c * (comb(n, m) * offset ** (n - m))
        pieces.append(Piece.of_terms(terms))
    return Piecewise(tuple([b - offset for b in function.breaks]), tuple(pieces))


def _reduced(numerator: Piecewise, poles: Powers) -> LatticePiecewise:
    """The quotient without the divisors that the poles have in common with all pieces."""
    pieces, left = numerator.pieces, dict[int, int]()
    for d, m in poles.items():
        divisor = _in_y(_cyclotomic(d))
        while m:
            try:
                pieces = tuple([piece.exact_quotient(divisor) for piece in pieces])
            except DomainError:
                break
            m -= 1
        if m:
            left[d] = m
    return LatticePiecewise(_merge_points(Piecewise(numerator.breaks, pieces)), left)


def _merge_points(function: Piecewise) -> Piecewise:
    """The function without pieces that hold at one integer only, where a neighbour says the same."""
    breaks, pieces = list(function.breaks), list(function.pieces)
    position = 1
    while position < len(breaks):
        x = breaks[position - 1]
        if breaks[position] == x + 1:
            here = _value(pieces[position], x)
            if here == _value(pieces[position - 1], x):
                del breaks[position - 1], pieces[position]
                continue
            if here == _value(pieces[position + 1], x):
                del breaks[position], pieces[position]
                continue
        position += 1
    return Piecewise(tuple(breaks), tuple(pieces))


def _value(piece: Piece, x: int) -> Terms:
    """The terms of its value at x, a function of y."""
    total: _Sum = {}
    _add_value(total, {(0, 0): piece.terms()}, x, 1)
    return Piece.of_terms(total[0, 0]).terms()


@cache
def _divisors(number: int) -> tuple[int, ...]:
    return tuple([d for d in range(1, number + 1) if number % d == 0])


@cache
def _cyclotomic(d: int) -> flint.fmpz_poly:
    return flint.fmpz_poly.cyclotomic(d)


def _product(powers: Powers) -> flint.fmpz_poly:
    """Π Φ_d^m."""
    total = flint.fmpz_poly([1])
    for d, m in powers.items():
        total *= _cyclotomic(d) ** m
    return total


def _coefficients(poly: flint.fmpz_poly) -> dict[int, flint.fmpq]:
    return {q: flint.fmpq(c) for q, c in enumerate(poly.coeffs()) if c != 0}


def _in_y(poly: flint.fmpz_poly) -> Piece:
    """The function poly(y), constant in x."""
    return Piece.of_terms({(0, q, 0, 0): c for q, c in _coefficients(poly).items()})


# --- The measure of any set of linear constraints over independent integer noises, one noise at a time ----------------
#
# The discrete counterpart of `polyhedral`: the sum over x_v of a summand between its greatest lower and its least upper
# bound is F(least upper) - F(greatest lower - 1) for an indefinite sum F; which bound is the one is settled by cases,
# ties going to the first. Where a coefficient of x_v is not ±1, the other variables are split by residue classes first,
# so that every bound is an integer wherever it is used. Both halves of a discrete Laplace are separate cases.

_ZERO = Fraction(0)


@frozen
class IntegerInequality:
    """Σ coefficient · x_variable + constant >= 0 over integers; coefficients coprime, nonzero, variables increasing."""

    coefficients: tuple[tuple[int, int], ...]
    constant: int

    def coefficient(self, variable: int) -> int:
        return next((c for v, c in self.coefficients if v == variable), 0)

    def relaxed(self) -> Halfspace:
        """A half-space whose interior holds the same integer points."""
        return Halfspace(tuple((v, Fraction(c)) for v, c in self.coefficients), Fraction(2 * self.constant + 1, 2))


def inequality(coefficients: dict[int, int], constant: int) -> IntegerInequality:
    """The inequality over integers in its strongest form with coprime coefficients."""
    kept = sorted((v, c) for v, c in coefficients.items() if c)
    common = gcd(*(c for _, c in kept)) or 1
    return IntegerInequality(tuple((v, c // common) for v, c in kept), constant // common)


def lattice_measure(event: Event, limits: Limits | None = None) -> Quotient:
    """Pr[every constraint of the event holds] for every eps > 0, exactly. All noises are discrete Laplace.

    Raises LimitReached past a limit.
    """
    return _Summation(event, limits or Limits()).total()


@frozen
class LatticeTrend:
    """The measure of an event whose constants grow with an integer k, for every k from some one on: the sum of
    `summands`, in which k is the variable `place`, times (1 - e^{-d·eps})/(1 + e^{-d·eps}) for each of the `rates`.
    """

    summands: Summands
    place: int
    rates: tuple[Fraction, ...]


class Unsettled(Undecided):
    """The measure is another function of k for some k from the given one on; `enough` is one from which on this case is
    the same for all.
    """

    def __init__(self, enough: int) -> None:
        super().__init__("the probability follows another formula at small distances")
        self.enough = enough


def lattice_trend(event: Event, slopes: Sequence[Fraction], start: int, limits: Limits | None = None) -> LatticeTrend:
    """The measure of the event with k·slope added to each of its constraints, for all integers k >= start >= 0.

    All noises are discrete Laplace. Raises Unsettled for a `start` that is too small, LimitReached past a limit,
    OutsideFragment where it depends on k by residue classes.
    """
    return _Summation(event, limits or Limits()).trend(slopes, start)


class _Summation:
    def __init__(self, event: Event, limits: Limits) -> None:
        assert all(n.law.whole and n.mean.denominator == 1 for n in event.noises)
        for noise in event.noises:
            if noise.law.sides(noise.rate) != SideRates(noise.rate, noise.rate):
                raise OutsideFragment("the mass of an integer noise falls at different rates on its two sides")
        self._event = event
        self._limits = limits
        self._feasibility = Interiors(limits.cells)
        #: The variable that is not summed over, from `_start` on.
        self._parameter: int | None = None
        self._start = 0

    def total(self) -> Quotient:
        system = self._system([_ZERO] * len(self._event.constraints))
        used = frozenset(v for c in system for v, _ in c.coefficients)
        result = closed_form(self._sum(self._constant_one(), system, used, used))
        for v in used:
            decay = ExpPoly.term(1, 0, -self._event.noises[v].rate)
            result = result * Quotient(1 - decay, 1 + decay)
        return result

    def trend(self, slopes: Sequence[Fraction], start: int) -> LatticeTrend:
        self._parameter = parameter = len(self._event.noises)
        self._start = start
        system = self._system(slopes)
        used = frozenset(v for c in system for v, _ in c.coefficients) - {parameter}
        summands = self._sum(self._constant_one(), [*system, inequality({parameter: 1}, -start)], used, used)
        return LatticeTrend(summands, parameter, tuple([self._event.noises[v].rate for v in sorted(used)]))

    def _constant_one(self) -> Summands:
        width = len(self._event.noises) + 1
        return {Summand(_ZERO, (), (0,) * width, (_ZERO,) * width): Fraction(1)}

    def _system(self, slopes: Sequence[Fraction]) -> list[IntegerInequality]:
        """The constraints over integers, with a multiple of the variable after the noises."""
        system = []
        for c, slope in zip(self._event.constraints, slopes, strict=True):
            terms = [*c.coefficients, (len(self._event.noises), slope)]
            whole = lcm(c.constant.denominator, *(x.denominator for _, x in terms))
            # Over integers, f > 0 is f - 1 >= 0 once all coefficients and the constant are integers.
            system.append(inequality({v: int(x * whole) for v, x in terms}, int(c.constant * whole) - c.strict))
        return system

    def _sum(
        self, summands: Summands, system: Sequence[IntegerInequality], left: frozenset[int], whole: frozenset[int]
    ) -> Summands:
        """The sum over the variables `left`; the masses of those in `whole` are still to be multiplied in."""
        if len(summands) > self._limits.integrand:
            raise LimitReached("integrand", f"a sum has more than {self._limits.integrand} terms")
        if any(not h.coefficients and h.constant < 0 for h in system):
            return {}
        system = [h for h in dict.fromkeys(system) if h.coefficients]
        if not summands or not self._feasibility.has_interior([h.relaxed() for h in system]):
            return {}
        if not left:
            if self._parameter is not None:
                self._require_settled(system)
            return summands
        v = min(left, key=lambda v: self._effort(v, system))
        mixed = [h for h in system if abs(h.coefficient(v)) > 1]
        partners = {w for h in mixed for w, c in h.coefficients if w != v and c % h.coefficient(v)}
        if self._parameter in partners:
            raise OutsideFragment("the probability depends on the residue class of the distance")
        unsplit = (partners | {v}) & whole
        if unsplit:
            w = min(unsplit)
            total: Summands = {}
            for case, half in self._halves(w, summands):
                add_to(total, self._sum(case, [*system, half], left, whole - {w}))
            return total
        if not mixed:
            return self._eliminated(v, summands, system, left - {v}, whole)
        total = {}
        modulus = lcm(*(abs(h.coefficient(v)) for h in mixed))
        for case, classes in self._residues(sorted(partners), modulus, summands, system):
            add_to(total, self._eliminated(v, case, classes, left - {v}, whole))
        return total

    def _require_settled(self, system: Sequence[IntegerInequality]) -> None:
        """What is left is about the parameter alone, and should hold of all its values, or of none."""
        for h in system:
            ((_, sign),) = h.coefficients
            if sign < 0:
                raise Unsettled(h.constant + 1)
            if h.constant < -self._start:
                raise Unsettled(-h.constant)

    @staticmethod
    def _effort(v: int, system: Sequence[IntegerInequality]) -> tuple[int, int, int]:
        coefficients = [h.coefficient(v) for h in system]
        return max((abs(c) for c in coefficients), default=0), sum(1 for c in coefficients if c), v

    def _halves(self, v: int, summands: Summands) -> Iterator[tuple[Summands, IntegerInequality]]:
        """The summands times each half of the mass of noise v (except for its constant factor), and where it holds."""
        noise = self._event.noises[v]
        rate, mean = noise.rate, int(noise.mean)
        for sign, edge in ((-1, inequality({v: 1}, -mean)), (1, inequality({v: -1}, mean - 1))):
            half_summands = {
                Summand(
                    s.exponent - sign * rate * mean,
                    s.poles,
                    s.powers,
                    (*s.slopes[:v], s.slopes[v] + sign * rate, *s.slopes[v + 1 :]),
                ): c
                for s, c in summands.items()
            }
            yield half_summands, edge

    def _residues(
        self, partners: Sequence[int], modulus: int, summands: Summands, system: Sequence[IntegerInequality]
    ) -> Iterator[tuple[Summands, list[IntegerInequality]]]:
        """The cases x_w = modulus·x_w' + residue for all partners w."""
        if modulus ** len(partners) > self._limits.classes:
            raise LimitReached("classes", f"a constraint needs more than {self._limits.classes} residue classes")
        for residues in product(range(modulus), repeat=len(partners)):
            substituted, classes = summands, list(system)
            for w, residue in zip(partners, residues, strict=True):
                substituted = _affine(substituted, w, {w: modulus}, residue)
                classes = [_substituted(h, w, {w: modulus}, residue) for h in classes]
            yield substituted, classes

    def _eliminated(
        self,
        v: int,
        summands: Summands,
        system: Sequence[IntegerInequality],
        left: frozenset[int],
        whole: frozenset[int],
    ) -> Summands:
        bounds = [h for h in system if h.coefficient(v)]
        assert all(abs(h.coefficient(v)) == 1 for h in bounds)
        rest = [h for h in system if not h.coefficient(v)]
        grown = summed(summands, v)
        total: Summands = {}
        for position, bound in enumerate(bounds):
            here = bound.coefficient(v)
            slopes = {w: -here * c for w, c in bound.coefficients if w != v}
            constant = -here * bound.constant
            cases = list(rest)
            for other_at, other in enumerate(bounds):
                if other is bound:
                    continue
                # Subtract before the inequality is brought to lowest terms: its constant is rounded there.
                ties_lose = other_at < position and other.coefficient(v) == here
                cases.append(_substituted(other, v, slopes, constant, int(ties_lose)))
            # here = 1: the bound is a lower one, x_v >= ..., and the sum starts there.
            boundary = _affine(grown, v, slopes, constant - (here > 0))
            if here > 0:
                boundary = {s: -c for s, c in boundary.items()}
            add_to(total, self._sum(boundary, cases, left, whole))
        return total


def _substituted(
    h: IntegerInequality, v: int, slopes: dict[int, int], constant: int, less: int = 0
) -> IntegerInequality:
    """The inequality Σ.. + constant - less >= 0 with x_v := Σ slopes·x_w + constant."""
    here = h.coefficient(v)
    if not here:
        assert not less
        return h
    total = {w: c for w, c in h.coefficients if w != v}
    for w, slope in slopes.items():
        total[w] = total.get(w, 0) + here * slope
    return inequality(total, h.constant + here * constant - less)


def _affine(summands: Summands, v: int, slopes: dict[int, int], constant: int) -> Summands:
    """The summands with x_v := Σ slopes·x_w + constant; v itself may be among the w."""
    result: Summands = {}
    for s, c in summands.items():
        n, slope = s.powers[v], s.slopes[v]
        moved = list(s.slopes)
        moved[v] = Fraction(0)
        for w, by in slopes.items():
            moved[w] += slope * by
        powers = list(s.powers)
        powers[v] = 0
        expanded = {Summand(s.exponent + slope * constant, s.poles, tuple(powers), tuple(moved)): c}
        for _ in range(n):
            expanded = _times_affine(expanded, slopes, constant)
        add_to(result, expanded)
    return result


def _times_affine(summands: Summands, slopes: dict[int, int], constant: int) -> Summands:
    result: Summands = {}
    for s, c in summands.items():
        if constant:
            add_to(result, {s: c * constant})
        for w, by in slopes.items():
            powers = (*s.powers[:w], s.powers[w] + 1, *s.powers[w + 1 :])
            add_to(result, {Summand(s.exponent, s.poles, powers, s.slopes): c * by})
    return result
