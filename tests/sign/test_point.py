from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import DecisionBudget, LimitReached, Limits
from dipc.sign.chart import sign_at
from dipc.sign.polynomial import Layout, Polynomial, magnitude_at, point_value
from tests.sign.oracle import polynomial_terms, sign, terms_value
from tests.sign.strategies import EPS, Planted, e, exp_polys, planted, polynomials

points = st.one_of(
    st.builds(Fraction, st.integers(1, 60), st.integers(1, 12)),
    st.sampled_from([Fraction(1, 10**15), Fraction(5000), Fraction(10**30), Fraction(69314718055994530942, 10**20)]),
)


@given(exp_polys(most_power=4), points)
def test_sign_at_rationals(f: ExpPoly, eps: Fraction) -> None:
    found = sign_at(f, eps)
    if found:
        if eps <= 5000:
            assert found == sign(f, eps)
    else:
        # 0 only if f is a combination of (powers of eps at this eps): the terms of each exponent cancel.
        by_exponent: dict[Fraction, Fraction] = {}
        for k, q, c in f.terms():
            by_exponent[q] = by_exponent.get(q, Fraction(0)) + c * eps**k
        assert not any(by_exponent.values())


@given(planted())
def test_exact_zeros(case: Planted) -> None:
    for place, _ in case.places:
        if not place.a and place.p > 0:
            assert sign_at(case.f, place.p) == 0
            assert sign_at(case.f, place.p + Fraction(1, 10**30)) != 0


@given(polynomials(most_power=5), points.filter(lambda t: t < 100), st.sampled_from([24, 60, 200]))
def test_values_and_their_errors(polynomial: Polynomial, t: Fraction, precision: int) -> None:
    found = point_value(Layout(polynomial), t, DecisionBudget(Limits()), precision)
    exact = terms_value(polynomial_terms(polynomial), t, 1500)
    with mpmath.workprec(1500):
        scaled = exact * found.scale.numerator / found.scale.denominator
        assert abs(scaled - found.value) <= found.error + abs(scaled) * mpmath.mpf(2) ** -800
        if found.sign:
            assert exact * found.sign > 0
            assert found.error == 0 or abs(found.value).bit_length() >= precision
            assert abs(magnitude_at(Layout(polynomial), t, DecisionBudget(Limits())) - mpmath.log(abs(exact), 2)) <= 3


def test_values_that_are_tiny_but_not_zero() -> None:
    log2 = mpmath.log(2)
    with mpmath.workprec(4000):
        log2 = mpmath.log(2)
        below = Fraction(int(mpmath.floor(log2 * 10**1000)), 10**1000)
    assert sign_at(e(1) - 2, below) == -1
    assert sign_at(e(1) - 2, below + Fraction(1, 10**1000)) == 1
    assert sign_at((e(1) - 2) ** 2, below) == 1
    assert sign_at(e(-(10**6)), Fraction(10**6)) == 1
    assert sign_at(e(-1) - e(-1) + e(-2) * EPS, Fraction(1, 7)) == 1


def test_zero_function_and_bad_arguments() -> None:
    assert sign_at(ExpPoly.ZERO, Fraction(1)) == 0
    with pytest.raises(ValueError, match="positive"):
        sign_at(e(1), Fraction(0))


def test_precision_has_a_limit() -> None:
    with mpmath.workprec(4000):
        near = Fraction(int(mpmath.floor(mpmath.log(2) * 10**1000)), 10**1000)
    with pytest.raises(LimitReached, match="numbers of 1000 bits"):
        sign_at(e(1) - 2, near, Limits(bits=1000))
