"""The sign next to 0 and near infinity."""

from fractions import Fraction
from math import factorial

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import DecisionBudget, LimitReached, Limits
from dipc.sign.chart import sign_chart
from dipc.sign.interval import Interval
from dipc.sign.polynomial import Layout, Polynomial
from dipc.sign.roots import _prove, _tail, at_infinity, near_zero
from tests.sign.oracle import polynomial_terms, terms_value
from tests.sign.strategies import EPS, e, normal, polynomials


def budget() -> DecisionBudget:
    return DecisionBudget(Limits())


def exact(polynomial: Polynomial, t: Fraction) -> mpmath.mpf:
    return terms_value(polynomial_terms(polynomial), t, 6000)


def taylor_coefficient(polynomial: Polynomial, n: int) -> Fraction:
    return sum((Fraction(c * (-j) ** (n - k), factorial(n - k)) for j, k, c in polynomial.terms if k <= n), Fraction(0))


@given(polynomials(most_power=6, most_exponent=20), st.integers(1, 64))
def test_near_zero(polynomial: Polynomial, part: int) -> None:
    found = near_zero(Layout(polynomial), budget())
    assert all(taylor_coefficient(polynomial, n) == 0 for n in range(found.power))
    assert taylor_coefficient(polynomial, found.power) != 0
    with mpmath.workprec(6000):
        for t in (found.bound, found.bound * Fraction(part, 64), found.bound / 10**9):
            assert exact(polynomial, t) * found.sign > 0


@given(polynomials(most_power=4, most_exponent=12), st.integers(-6, 12), st.integers(0, 6), st.integers(0, 60))
def test_the_tail_of_the_taylor_series_is_bounded(polynomial: Polynomial, shift: int, extra: int, bits: int) -> None:
    layout = Layout(polynomial)
    order = near_zero(layout, budget()).power
    last = max(order, layout.degree) + extra
    bound = _tail(layout, order, last, shift, bits)
    radius = Fraction(2) ** -shift
    if bound is None:
        assert layout.exponents[-1] * radius > (last + 2 - layout.degree) / Fraction(2) - 1
        return
    some = sum(abs(taylor_coefficient(polynomial, n)) * radius ** (n - order) for n in range(last + 1, last + 40))
    # What is left out of the sum is positive, but so is what the bound has in reserve.
    assert bound >= some * 2**bits


@given(polynomials(most_power=4, most_exponent=12), st.integers(-6, 12), st.integers(0, 3), st.integers(1, 64))
def test_a_radius_is_proved_only_where_the_sign_holds(
    polynomial: Polynomial, shift: int, extra: int, part: int
) -> None:
    """Few enough Taylor coefficients are used for the tail and the roundings to matter."""
    layout = Layout(polynomial)
    order = near_zero(layout, budget()).power
    last = max(order, layout.degree) + extra
    numbers = [int(taylor_coefficient(polynomial, n) * factorial(n)) for n in range(order, last + 1)]
    found = _prove(layout, numbers, order, last, shift)
    if found is not None:
        for t in (found.bound, found.bound * Fraction(part, 64), found.bound * Fraction(1, 10**9)):
            assert exact(polynomial, t) * found.sign > 0


def test_a_tail_that_decides() -> None:
    """F = 1 - 10^6·(1 - e^{-t}) begins with 1, and everything depends on what follows."""
    layout = Layout(Polynomial.from_terms([(0, 0, 1 - 10**6), (1, 0, 10**6)]))
    for shift in range(-4, 20):
        assert _prove(layout, [1], 0, 0, shift) is None
        assert _prove(layout, [1, -(10**6)], 0, 1, shift) is None
    assert _prove(layout, [1], 0, 0, 22) is not None


@pytest.mark.parametrize("order", [0, 1, 2, 3, 5, 10, 20, 30])
def test_order_at_zero_of_the_exponential_less_its_taylor_polynomial(order: int) -> None:
    f = e(1)
    for n in range(order):
        f = f - EPS**n * Fraction(1, factorial(n))
    found = near_zero(Layout(normal(f).polynomial), budget())
    assert found.power == order
    assert found.sign == 1
    assert near_zero(Layout(normal(-f).polynomial), budget()).sign == -1


def test_order_at_zero_of_a_high_power() -> None:
    f = (1 - e(-1)) ** 40 * (e(-2) - Fraction(1, 2))
    found = near_zero(Layout(normal(f).polynomial), budget())
    assert (found.power, found.sign) == (40, 1)
    assert found.bound < Fraction(35, 100)


def test_the_order_has_a_limit() -> None:
    f = (1 - e(-1)) ** 40
    with pytest.raises(LimitReached, match="first 10 Taylor coefficients"):
        near_zero(Layout(normal(f).polynomial), DecisionBudget(Limits(order=10)))


def test_a_radius_does_not_reach_over_a_root() -> None:
    for root in (Fraction(1, 10**6), Fraction(1, 3), Fraction(17)):
        f = (EPS - root) * (e(-1) + 1)
        assert near_zero(Layout(normal(f).polynomial), budget()).bound < root


@given(polynomials(most_power=6, most_exponent=20), st.integers(0, 640))
def test_at_infinity(polynomial: Polynomial, step: int) -> None:
    found = at_infinity(Layout(polynomial), budget())
    with mpmath.workprec(6000):
        for t in (found.bound, found.bound * (1 + Fraction(step, 64)), found.bound * 10**6):
            assert exact(polynomial, t) * found.sign > 0


@pytest.mark.parametrize(
    ("f", "sign"),
    [
        (1 - e(-1), 1),
        (e(-100), 1),
        (EPS**5 * e(-1) - e(-2), 1),
        (e(-1) - EPS * Fraction(1, 10**40), -1),
        (EPS**7 * e(-1) * 10**50 - Fraction(1, 10**50), -1),
        (EPS**3 - EPS**2 * 10**9, 1),
        (e("1/1000") - EPS**9, 1),
        (e(3) - 10**1000, 1),
        (-e(3) * Fraction(1, 10**300) + EPS**20, -1),
    ],
)
def test_sign_at_infinity(f: ExpPoly, sign: int) -> None:
    form = normal(f)
    found = at_infinity(Layout(form.polynomial), budget())
    assert found.sign == sign
    with mpmath.workprec(6000):
        assert exact(form.polynomial, found.bound) * sign > 0


@pytest.mark.parametrize(("power", "size"), [(50, 40), (20, 14), (9, 4)])
def test_a_term_that_still_grows_is_not_dominated(power: int, size: int) -> None:
    """10^-size·t^power·e^{-t} is small at t = 4 and has its maximum, far above 1, at t = power."""
    f = 1 - EPS**power * e(-1) * Fraction(1, 10**size)
    form = normal(f)
    assert at_infinity(Layout(form.polynomial), budget()).bound > power
    assert sign_chart(f, Interval.POSITIVE).signs == (1, -1, 1)


def test_the_bound_is_not_far_too_large() -> None:
    form = normal(e(3) - 10**300)
    found = at_infinity(Layout(form.polynomial), budget())
    assert 690 < found.bound < 3 * 690
