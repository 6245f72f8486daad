from fractions import Fraction

import mpmath
from hypothesis import given
from hypothesis import strategies as st

from dipc.sign.polynomial import Layout, Polynomial, exp_minus
from tests.sign.oracle import polynomial_terms, terms_value, value
from tests.sign.strategies import EPS, e, exp_polys, normal, polynomials

points = st.one_of(
    st.builds(Fraction, st.integers(1, 200), st.integers(1, 50)), st.sampled_from([Fraction(1, 10**12), Fraction(999)])
)


@given(polynomials(most_exponent=70), points, st.sampled_from([64, 100, 333, 1000]))
def test_powers_are_within_their_errors(polynomial: Polynomial, t: Fraction, bits: int) -> None:
    layout = Layout(polynomial)
    powers = layout.powers(t.numerator, t.denominator, bits, len(layout.exponents))
    assert len(powers) == len(layout.exponents)
    with mpmath.workprec(4000):
        for j, found, error in zip(layout.exponents, powers, layout.power_errors, strict=True):
            exact = mpmath.exp(-j * mpmath.mpf(t.numerator) / t.denominator) * mpmath.power(2, bits)
            assert abs(found - exact) <= error


@given(polynomials(most_power=12), points)
def test_size(polynomial: Polynomial, t: Fraction) -> None:
    layout = Layout(polynomial)
    exact = sum(abs(c) * t**k for _, k, c in polynomial.terms)
    assert exact <= Fraction(2) ** layout.size_bits(t.numerator, t.denominator) <= 4 * exact + 4


@given(exp_polys(most_power=4), points)
def test_normal_form_is_the_same_function(f, t: Fraction) -> None:
    if f.is_zero():
        return
    form = normal(f)
    assert form.factor > 0
    assert form.scale > 0
    x = t
    with mpmath.workprec(1000):
        outer = terms_value([(form.power, form.exponent, form.factor)], x, 1000)
        inner = terms_value(polynomial_terms(form.polynomial), x * form.scale, 1000)
        assert mpmath.almosteq(
            outer * inner, value(f, x, 1000), rel_eps=mpmath.mpf(2) ** -600, abs_eps=mpmath.mpf(2) ** -600
        )


def test_normal_form_is_small_and_independent_of_scale() -> None:
    f = e("3/7") * 6 - EPS**2 * e("1/7") * 4 + EPS**3 * e("2/7") * 10
    form = normal(f * EPS * Fraction(1, 9) * e(5))
    assert form.scale == Fraction(1, 7)
    assert form.power == 1
    assert form.exponent == Fraction(38, 7)
    assert normal(f.scaled(Fraction(22, 13))).polynomial == form.polynomial
    assert normal(ExpConstant).polynomial.terms == ((0, 0, 1),)
    assert normal(-ExpConstant).polynomial.terms == ((0, 0, -1),)


ExpConstant = e(0) * Fraction(22, 7)


def test_wide_gaps_are_not_filled() -> None:
    layout = Layout(normal(e("1000003/7") + e("1/11") + e("1/13")).polynomial)
    assert len(layout.exponents) == 3
    assert layout.powers(1, 10**9, 64, 3)[1] == exp_minus(layout.exponents[1], 10**9, 64)
