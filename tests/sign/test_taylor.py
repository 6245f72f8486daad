"""The heart of the proofs: a model never claims to be nearer to F, or to F', than it is."""

from fractions import Fraction
from math import comb, factorial

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dipc.sign.polynomial import Layout, Polynomial
from dipc.sign.taylor import TaylorModel, least_order, needed_bits, taylor_model
from tests.sign.oracle import polynomial_terms, terms_value
from tests.sign.strategies import polynomials

lowers = st.one_of(
    st.builds(Fraction, st.integers(1, 400), st.integers(1, 64)),
    st.builds(lambda n: Fraction(1, 1 << n), st.integers(0, 30)),
)
widths = st.one_of(
    st.builds(Fraction, st.integers(1, 300), st.integers(1, 100)), st.sampled_from([Fraction(1, 10**9), Fraction(1)])
)
precisions = st.sampled_from([-40, 0, 5, 20, 60, 150, 400])
positions = st.lists(st.builds(Fraction, st.integers(-64, 64), st.just(64)), min_size=1, max_size=4).map(
    lambda inside: [Fraction(-1), *inside, Fraction(1)]
)

BITS = 3000


def model_of(layout: Layout, lower: Fraction, upper: Fraction, bits: int) -> TaylorModel | None:
    need = needed_bits(layout, upper, bits)
    order = least_order(layout, lower, upper, need, 400)
    return None if order is None else taylor_model(layout, lower, upper, bits, need, order)


def check(polynomial: Polynomial, lower: Fraction, upper: Fraction, bits: int, where: list[Fraction]) -> None:
    model = model_of(Layout(polynomial), lower, upper, bits)
    if model is None:
        return
    terms = polynomial_terms(polynomial)
    # F' = Σ c·(k·t^{k-1} - j·t^k)·e^{-jt}
    slope_terms = [(k - 1, q, c * k) for k, q, c in terms if k] + [(k, q, c * q) for k, q, c in terms if q]
    radius, middle = (upper - lower) / 2, (lower + upper) / 2
    for u in where:
        t = middle + radius * u
        p = sum(c * u**n for n, c in enumerate(model.coefficients))
        slope = sum(n * c * u ** (n - 1) for n, c in enumerate(model.coefficients) if n)
        with mpmath.workprec(BITS):
            unit = mpmath.power(2, model.bits)
            exact = terms_value(terms, t, BITS) * unit
            exact_slope = terms_value(slope_terms, t, BITS) * unit * radius.numerator / radius.denominator
            assert abs(exact - mpmath.mpf(p.numerator) / p.denominator) <= model.value_error
            assert abs(exact_slope - mpmath.mpf(slope.numerator) / slope.denominator) <= model.slope_error


@given(polynomials(), lowers, widths, precisions, positions)
def test_the_model_is_as_near_as_it_says(
    polynomial: Polynomial, lower: Fraction, width: Fraction, bits: int, where: list[Fraction]
) -> None:
    check(polynomial, lower, lower + width, bits, where)


@given(polynomials(most_power=40, most_exponent=3), lowers, widths, precisions, positions)
def test_high_powers_of_t(
    polynomial: Polynomial, lower: Fraction, width: Fraction, bits: int, where: list[Fraction]
) -> None:
    check(polynomial, lower, lower + width, bits, where)


@given(polynomials(most_power=0, most_exponent=60), lowers, precisions, positions)
def test_wide_intervals(polynomial: Polynomial, lower: Fraction, bits: int, where: list[Fraction]) -> None:
    check(polynomial, lower, 2 * lower, bits, where)
    check(polynomial, lower, 8 * lower, bits, where)


@given(polynomials(), lowers, widths, precisions, positions)
def test_large_exponents(
    polynomial: Polynomial, lower: Fraction, width: Fraction, bits: int, where: list[Fraction]
) -> None:
    """The powers of large exponents are rounded one after the other.

    Where the interval is as small, F is of the same size.
    """
    by = 10**40 + 1
    large = Polynomial(tuple((j * by, k, c) for j, k, c in polynomial.terms))
    check(large, lower / by, (lower + width) / by, bits, where)
    several = Polynomial(tuple((j * by + 7 * (j > 0), k, c) for j, k, c in polynomial.terms))
    check(several, lower / by, (lower + width) / by, bits, where)


@pytest.mark.parametrize(("power", "bits"), [(100, 20), (200, -180)])
@pytest.mark.parametrize("lower", [Fraction(1, 50), Fraction(3)])
def test_coefficients_much_longer_than_their_sum(power: int, bits: int, lower: Fraction) -> None:
    """Products of (1 + e^-t)^power·(1 - e^-t)^2 are rounded, and the last bits of its coefficients left out."""
    terms = [(j + k, 0, comb(power, j) * c) for j in range(power + 1) for k, c in enumerate((1, -2, 1))]
    polynomial = Polynomial.from_terms(terms)
    check(polynomial, lower, 2 * lower, bits, [Fraction(-1), Fraction(1, 4)])


@given(polynomials(), lowers, widths, st.integers(1, 300))
def test_the_order_makes_the_remainder_small(
    polynomial: Polynomial, lower: Fraction, width: Fraction, need: int
) -> None:
    layout = Layout(polynomial)
    order = least_order(layout, lower, lower + width, need, 200)
    if order is None:
        return
    assert 1 <= order <= 200
    small = Fraction(1, 1 << need)
    radius = width / 2
    by_ratio = (radius / lower) ** order <= small
    by_factorial = (layout.exponents[-1] * radius) ** order / factorial(order) <= small
    assert by_ratio or by_factorial


@pytest.mark.parametrize("guess", [1, 2, 7, 50])
def test_a_wrong_guess_of_the_order_does_no_harm(guess: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dipc.sign.taylor._guess_order", lambda *_: guess)
    layout = Layout(Polynomial.from_terms([(0, 0, 1), (3, 0, -2)]))
    lower, upper, need = Fraction(1), Fraction(3, 2), 60
    order = least_order(layout, lower, upper, need, 100)
    assert order is not None
    small = Fraction(1, 1 << need)
    by_ratio = Fraction(1, 4) ** order <= small
    assert by_ratio or Fraction(3, 4) ** order / factorial(order) <= small
    assert least_order(layout, lower, upper, need, 10) is None


@given(polynomials(most_power=12), lowers, st.integers(-60, 300))
def test_the_needed_bits_leave_a_remainder_below_a_unit(polynomial: Polynomial, upper: Fraction, bits: int) -> None:
    need = needed_bits(Layout(polynomial), upper, bits)
    size = sum(abs(c) * upper**k for _, k, c in polynomial.terms)
    assert size * Fraction(2) ** -need <= Fraction(2) ** -bits / 4


def test_an_error_that_is_not_trivial() -> None:
    """The models are close, not merely wide: 20 requested bits are 20 correct bits."""
    layout = Layout(Polynomial.from_terms([(0, 0, 3), (1, 2, -7), (5, 1, 11)]))
    model = model_of(layout, Fraction(1), Fraction(2), 20)
    assert model is not None
    assert Fraction(model.value_error, 1 << model.bits) <= Fraction(8, 1 << 20)
    assert model.order < 30
