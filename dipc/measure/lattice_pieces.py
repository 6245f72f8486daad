"""Piecewise exponential polynomials on the integers, over products of cyclotomic polynomials.

With y = e^{eps} a function of an integer x is N(x)/Π Φ_d(y)^{m_d}, where N has pieces Σ c·y^q·x^n·y^{l·x} with integer
q and l; piece i holds at breaks[i-1] <= x < breaks[i]. The class is closed under product, shift by an integer and sums
over ranges: the sum of x^n·y^{lx} is a polynomial in x for l = 0, and one times y^{lx} over (y^|l| - 1)^{n+1} otherwise
(`geometric`). As y^a - 1 = Π Φ_d(y) over the divisors d of a, one denominator serves all pieces, and every divisor it
has in common with them is found by trial division: each Φ_d is irreducible. Since y > 1, every Φ_d(y) is positive: no
zero of Φ_d lies on the real line beyond 1, and its leading coefficient is 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from math import comb

import flint
from flint.utils.flint_exceptions import DomainError

from dipc.algebra.effort import Meter
from dipc.algebra.exppoly import ExpPoly, to_fmpq
from dipc.algebra.limits import OutsideFragment
from dipc.algebra.quotient import Quotient
from dipc.measure.geometric import geometric_sum, power_sum
from dipc.measure.pieces import Piece, Piecewise, Terms

#: Denominators of a higher degree are left to elimination, which does not write them out.
_MOST_DEGREE = 20_000

#: The powers m of the polynomials Φ_d(y) by d.
Powers = Mapping[int, int]

#: A sum of terms, those under (w, m) over (y^w - 1)^m; those under (0, 0) as they are.
_Sum = dict[tuple[int, int], Terms]


@dataclass(frozen=True, slots=True)
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

    def within(self, low: int | None, high: int | None, meter: Meter) -> LatticePiecewise:
        """x -> the sum of the function over the z with x + low <= z <= x + high (None: unbounded), where low <= high.

        The function must decay at both ends. Raises LimitReached like `times`, OutsideFragment like `integral`.
        """
        grown, (*constants, total) = self._indefinite_sums()
        more = _poles_of(grown)
        sums = [_over(more, each, meter).plus(_over(more, c, meter)) for each, c in zip(grown, constants, strict=True)]
        below = Piecewise(self.numerator.breaks, tuple(sums))
        upper = Piecewise((), (_over(more, total, meter),)) if high is None else _shifted(below, high)
        numerator = upper if low is None else upper.minus(_shifted(below, low - 1))
        return _reduced(numerator, _added(self.poles, more))

    def integral(self, meter: Meter) -> Quotient:
        """The sum over all integers of a function that decays at both ends.

        Raises LimitReached like `times`, OutsideFragment where polynomials in y would be long for their degree alone.
        """
        _, (*_, total) = self._indefinite_sums()
        more = _poles_of([total])
        found = _reduced(Piecewise((), (_over(more, total, meter),)), _added(self.poles, more))
        terms = found.numerator.pieces[0].terms()
        above = ExpPoly.from_integer_exponents({(0, q): c for (_, q, _, _), c in terms.items()})
        below = ExpPoly.from_integer_exponents({(0, q): c for q, c in _coefficients(_product(found.poles)).items()})
        # What is left of the poles has no divisor in common with the numerator.
        return Quotient.coprime(above, below)

    def _indefinite_sums(self) -> tuple[list[_Sum], list[_Sum]]:
        """For each piece an indefinite sum, and the constant with which it is the sum of the whole function from -∞ on;
        in the end the sum over all integers, if the function decays."""
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
    if sum(w * m for w, m in groups) > _MOST_DEGREE:
        raise OutsideFragment("rates differ too much for polynomials in the exponential of their common unit")
    found: dict[int, int] = {}
    for w, m in groups:
        for d in _divisors(w):
            found[d] = max(found.get(d, 0), m)
    return found


def _added(left: Powers, right: Powers) -> Powers:
    return {d: left.get(d, 0) + right.get(d, 0) for d in {*left, *right}}


def _indefinite_sum(piece: Piece) -> _Sum:
    """S with S(x) - S(x - 1) the piece; S vanishes at ±∞ where the terms of the piece decay."""
    found: _Sum = {}
    for (_, q, n, l), c in piece.terms().items():
        if l:
            w = abs(l)
            sums = [((w, m), (0, q + w * (m - s), power, l), f) for (power, s, m), f in geometric_sum(n, l > 0)]
        else:
            sums = [((0, 0), (0, q, power, 0), f) for power, f in power_sum(n)]
        for group, exponents, factor in sums:
            part = found.setdefault(group, {})
            part[exponents] = part.get(exponents, 0) + c * to_fmpq(factor)
    return found


def _add_value(total: _Sum, grown: _Sum, x: int, sign: int) -> None:
    """total += sign·grown(x), a function constant in x."""
    for group, terms in grown.items():
        part = total.setdefault(group, {})
        for (_, q, n, l), c in terms.items():
            key = (0, q + l * x, 0, 0)
            part[key] = part.get(key, 0) + c * (sign * x**n)


def _over(poles: Powers, found: _Sum, meter: Meter) -> Piece:
    """The numerator of a sum over Π Φ_d(y)^m for (d, m) in `poles`, which its own denominators divide."""
    total = Piece.zero()
    for (w, m), terms in found.items():
        cofactor = _product({d: k - m if w and w % d == 0 else k for d, k in poles.items()})
        total = total.plus(Piece.of_terms(terms).times(_in_y(cofactor), meter))
    return total


def _shifted(function: Piecewise, offset: int) -> Piecewise:
    """x -> f(x + offset)."""
    pieces = []
    for piece in function.pieces:
        found: Terms = {}
        for (_, q, n, l), c in piece.terms().items():
            for m in range(n + 1):
                key = (0, q + l * offset, m, l)
                found[key] = found.get(key, 0) + c * (comb(n, m) * offset ** (n - m))
        pieces.append(Piece.of_terms(found))
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
    return LatticePiecewise(Piecewise(numerator.breaks, pieces), left)


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
