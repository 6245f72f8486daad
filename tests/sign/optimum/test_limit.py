"""Limits at 0 and at infinity, against SymPy."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
import sympy
from hypothesis import given

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import LimitReached, Limits
from dipc.sign.optimum import leading_at_infinity, leading_at_zero, limit_at_infinity, limit_at_zero
from tests.sign.oracle import value
from tests.sign.strategies import EPS, e, exp_polys


def sympy_of(f: ExpPoly) -> sympy.Expr:
    x = sympy.Symbol("x", positive=True)
    return sympy.Add(
        *(
            sympy.Rational(c.numerator, c.denominator)
            * x**k
            * sympy.exp(sympy.Rational(q.numerator, q.denominator) * x)
            for k, q, c in f.terms()
        )
    )


@pytest.mark.parametrize(
    ("numerator", "denominator"),
    [
        (1 - e(-1), EPS),
        (e(1) - 1 - EPS, EPS**2 * 3),
        (EPS**3, e(1) - 1 - EPS - EPS**2 * Fraction(1, 2)),
        (e(2) + EPS, e(2) * 5 - e(1)),
        (EPS * e(-1) + e(-2), EPS * e(-1) * 7),
        (e(-3), e(-2)),
        (e(-2) - 5, e(-1) * EPS),
        (1 - e(-1), EPS**2),
        (e(-1) - 1, EPS**2),
    ],
)
def test_limits_are_those_of_sympy(numerator: ExpPoly, denominator: ExpPoly) -> None:
    x = sympy.Symbol("x", positive=True)
    quotient = sympy_of(numerator) / sympy_of(denominator)
    for found, at in (
        (limit_at_zero(numerator, denominator), 0),
        (limit_at_infinity(numerator, denominator), sympy.oo),
    ):
        truth = sympy.limit(quotient, x, at, "+" if at == 0 else "-")
        assert truth == (sympy.Rational(found) if isinstance(found, Fraction) else sympy.sympify(found)), at


@given(exp_polys())
def test_the_leading_terms_are_asymptotic(f: ExpPoly) -> None:
    if f.is_zero():
        return
    n, c = leading_at_zero(f)
    small = Fraction(1, 10**40)
    with mpmath.workprec(4000):
        lead = mpmath.mpf(c.numerator) / c.denominator * mpmath.mpf(10) ** (-40 * n)
        assert abs(value(f, small, 4000) / lead - 1) < 1e-3
    (q, k), c = leading_at_infinity(f)
    assert (k, q, c) in f.terms()
    assert all((other_q, other_k) <= (q, k) for other_k, other_q, _ in f.terms())


def test_too_many_vanishing_taylor_coefficients() -> None:
    with pytest.raises(LimitReached, match="Taylor"):
        leading_at_zero((e(1) - 1) ** 30, Limits(order=10))


def test_orders_at_zero() -> None:
    assert leading_at_zero((e(1) - 1) ** 4 * 3) == (4, 3)
    assert leading_at_zero(EPS**2 * e(-5)) == (2, 1)
    assert leading_at_zero(e(1) - e(Fraction(1, 3))) == (1, Fraction(2, 3))
