"""Independent and simple: values by mpmath, roots of polynomials in e^{-t} alone by SymPy's Sturm sequences."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import mpmath
import sympy

from dipc.algebra.exppoly import ExpPoly
from dipc.sign.polynomial import Polynomial


def terms_value(terms: Iterable[tuple[int, Fraction, Fraction]], x: Fraction, bits: int) -> mpmath.mpf:
    """Σ c·x^k·e^{q·x} in floating point with that many bits."""
    with mpmath.workprec(bits):
        total = mpmath.mpf(0)
        for k, q, c in terms:
            exponent = q * x
            total += (
                _mpf(c) * mpmath.power(_mpf(x), k) * mpmath.exp(mpmath.mpf(exponent.numerator) / exponent.denominator)
            )
        return total


def value(f: ExpPoly, x: Fraction, bits: int = 400) -> mpmath.mpf:
    return terms_value(f.terms(), x, bits)


def polynomial_terms(polynomial: Polynomial) -> list[tuple[int, Fraction, Fraction]]:
    return [(k, Fraction(-j), Fraction(c)) for j, k, c in polynomial.terms]


def sign(f: ExpPoly, x: Fraction, most_bits: int = 1 << 16) -> int:
    """The sign of f(x) as found with ever more bits; 0 where even `most_bits` do not tell it from 0."""
    terms = f.terms()
    bits = 256
    while bits <= most_bits:
        result = terms_value(terms, x, bits)
        with mpmath.workprec(bits):
            size = mpmath.fsum(abs(_mpf(c)) * mpmath.power(_mpf(x), k) * mpmath.exp(_mpf(q * x)) for k, q, c in terms)
            if abs(result) > mpmath.ldexp(size, -bits // 2):
                return 1 if result > 0 else -1
        bits *= 4
    return 0


def _mpf(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


def count_roots_of_z(polynomial: Polynomial) -> int:
    """The number of different roots with 0 < z < 1 of a polynomial in z alone: of t > 0 for z = e^{-t}. Slow."""
    assert polynomial.degree_t == 0
    z = sympy.Symbol("z")
    p = sympy.Poly.from_dict({(j,): c for j, _, c in polynomial.terms}, z)
    inside = p.count_roots(0, 1)
    return int(inside) - (p.eval(0) == 0) - (p.eval(1) == 0)
