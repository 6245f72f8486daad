"""The ring of exponential polynomials, against a model: a dictionary of the coefficients by (k, q)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import LimitReached

Model = dict[tuple[int, Fraction], Fraction]

coefficients = st.fractions(min_value=-5, max_value=5, max_denominator=6)
exponents = st.fractions(min_value=-3, max_value=3, max_denominator=6)
models = st.dictionaries(st.tuples(st.integers(0, 3), exponents), coefficients, max_size=5)
positive = st.fractions(min_value=Fraction(1, 20), max_value=10, max_denominator=30)


def make(model: Model) -> ExpPoly:
    return ExpPoly.from_terms((k, q, c) for (k, q), c in model.items())


def read(f: ExpPoly) -> Model:
    return {(k, q): c for k, q, c in f.terms()}


def clean(model: Model) -> Model:
    return {key: c for key, c in model.items() if c}


def plus(left: Model, right: Model) -> Model:
    return clean({key: left.get(key, Fraction(0)) + right.get(key, Fraction(0)) for key in left | right})


def times(left: Model, right: Model) -> Model:
    found: Model = {}
    for (k, q), c in left.items():
        for (m, r), d in right.items():
            found[k + m, q + r] = found.get((k + m, q + r), Fraction(0)) + c * d
    return clean(found)


def value(model: Model, eps: Fraction | mpmath.mpf) -> mpmath.mpf:
    """The value of `model` at `eps`, to the current precision of mpmath."""
    if isinstance(eps, Fraction):
        eps = mpmath.mpf(eps.numerator) / eps.denominator
    return mpmath.fsum(
        mpmath.mpf(c.numerator) / c.denominator * eps**k * mpmath.exp(mpmath.mpf(q.numerator) / q.denominator * eps)
        for (k, q), c in model.items()
    )


def rational(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


# --- arithmetic ----------------------------------------------------------------------------------------


@given(models)
def test_terms_are_what_it_was_made_of(f: Model) -> None:
    assert read(make(f)) == clean(f)
    assert len(make(f)) == len(clean(f))
    assert make(f).is_zero() == (not clean(f))
    assert make(f).terms() == sorted(make(f).terms())


@given(models, models)
def test_arithmetic_is_that_of_the_model(f: Model, g: Model) -> None:
    minus_g = {key: -c for key, c in g.items()}
    assert read(make(f) + make(g)) == plus(f, g)
    assert read(make(f) - make(g)) == plus(f, minus_g)
    assert read(make(f) * make(g)) == times(f, g)
    assert read(-make(g)) == clean(minus_g)


@given(models, models, models)
def test_ring_laws(f_terms: Model, g_terms: Model, h_terms: Model) -> None:
    f, g, h = make(f_terms), make(g_terms), make(h_terms)
    assert f + g == g + f
    assert (f + g) + h == f + (g + h)
    assert f * g == g * f
    assert (f * g) * h == f * (g * h)
    assert f * (g + h) == f * g + f * h
    assert f + 0 == f == f * 1
    assert (f - f).is_zero()
    assert (f * ExpPoly.ZERO).is_zero()


@given(models, st.integers(0, 4))
def test_powers_are_repeated_products(f: Model, n: int) -> None:
    product = ExpPoly.ONE
    for _ in range(n):
        product = product * make(f)
    assert make(f) ** n == product


@given(models, coefficients)
def test_rational_numbers_stand_on_either_side(f: Model, c: Fraction) -> None:
    g = make(f)
    constant = ExpPoly.constant(c)
    assert g + c == c + g == g + constant
    assert c - g == constant - g
    assert g - c == g - constant
    assert g * c == c * g == g * constant


@pytest.mark.parametrize(
    "operation", [lambda f: f + 0.5, lambda f: f * 0.5, lambda f: "x" + f, lambda f: f - None, lambda f: [] * f]
)
def test_other_operands_are_refused(operation: Callable[[ExpPoly], object]) -> None:
    with pytest.raises(TypeError):
        operation(ExpPoly.ONE)


def test_negative_powers_are_refused() -> None:
    with pytest.raises(ValueError, match="no negative powers"):
        ExpPoly.ONE**-1


# --- equality and hash depend on the function only -----------------------------------------------------


@given(models, models, exponents, positive)
def test_equal_functions_are_equal_however_they_were_made(f: Model, g: Model, q: Fraction, s: Fraction) -> None:
    plain = make(f)
    for other in (
        (make(f) + make(g)) - make(g),
        (make(f) * ExpPoly.term(1, 0, q)) * ExpPoly.term(1, 0, -q),
        make(f).scaled(s).scaled(1 / s),
        ExpPoly.from_terms([(k, q, c / 2) for (k, q), c in f.items()] * 2),
        make(f) + ExpPoly.term(1, 1, q) - ExpPoly.term(1, 1, q),
    ):
        assert plain == other
        assert hash(plain) == hash(other)
        assert plain.terms() == other.terms()


@given(models, models)
def test_unequal_functions_are_unequal(f: Model, g: Model) -> None:
    assert (make(f) == make(g)) == (clean(f) == clean(g))
    assert (hash(make(f)) == hash(make(g))) or clean(f) != clean(g)


def test_the_unit_is_reduced_although_the_lowest_exponent_is_gone() -> None:
    half = ExpPoly.term(1, 0, Fraction(-1, 2))
    f = half + 1 + ExpPoly.term(1, 0, 1) - half
    assert f == ExpPoly.ONE + ExpPoly.term(1, 0, 1)
    assert hash(f) == hash(ExpPoly.ONE + ExpPoly.term(1, 0, 1))


@pytest.mark.parametrize("c", [0, 1, -3, Fraction(2, 7)])
def test_a_constant_equals_and_hashes_like_the_number(c: Fraction | int) -> None:
    f = ExpPoly.constant(c) * ExpPoly.term(1, 0, Fraction(1, 3)) * ExpPoly.term(1, 0, Fraction(-1, 3))
    assert f == c
    assert hash(f) == hash(c)
    assert {f: "known"}[c] == "known"
    assert f != c + 1
    assert f != "c"


# --- change of eps, derivative -------------------------------------------------------------------------


@given(models, positive)
def test_scaled_is_substitution(f: Model, s: Fraction) -> None:
    assert read(make(f).scaled(s)) == clean({(k, q * s): c * s**k for (k, q), c in f.items()})


@given(models, positive)
def test_the_derivative_is_the_limit_of_difference_quotients(f: Model, eps: Fraction) -> None:
    with mpmath.workdps(80):
        h = mpmath.mpf(10) ** -25
        x = rational(eps)
        quotient = (value(f, x + h) - value(f, x - h)) / (2 * h)
        derivative = value(read(make(f).derivative()), x)
        assert abs(quotient - derivative) <= mpmath.mpf(10) ** -35 * (1 + mpmath.exp(4 * x)) * 10**8


@given(models, models)
def test_leibniz(f: Model, g: Model) -> None:
    left, right = make(f), make(g)
    assert (left * right).derivative() == left.derivative() * right + left * right.derivative()


# --- values --------------------------------------------------------------------------------------------


@given(models, positive, st.sampled_from([5, 30, 80]))
def test_enclosures_are_rigorous_and_narrow(f: Model, eps: Fraction, digits: int) -> None:
    low, high = make(f).enclosure(eps, digits)
    assert low <= high
    with mpmath.workdps(3 * digits + 60):
        exact = value(f, eps)
        slack = value({key: abs(c) for key, c in f.items()}, eps) * mpmath.mpf(10) ** (-2 * digits - 30)
        assert rational(low) <= exact + slack
        assert exact - slack <= rational(high)
    assert high - low <= Fraction(1, 10**digits) * max(abs(low), abs(high))


@pytest.mark.parametrize("eps", [Fraction(1, 10**40), Fraction(1, 7), Fraction(10**4)])
def test_enclosures_survive_cancellation(eps: Fraction) -> None:
    f = (ExpPoly.term(1, 0, Fraction(1, 3)) - 1 - ExpPoly.term(Fraction(1, 3), 1)) ** 3
    low, high = f.enclosure(eps, 40)
    with mpmath.workdps(600):
        x = rational(eps) / 3
        exact = (mpmath.expm1(x) - x) ** 3
        assert 0 < rational(low) <= exact <= rational(high)
    assert (high - low) * 10**40 <= high


@given(models, models, positive)
def test_a_planted_zero_is_seen(f: Model, g: Model, eps: Fraction) -> None:
    """(eps - r)·f vanishes at r and is enclosed by (0, 0)."""
    planted = make(f) * (ExpPoly.term(1, 1) - eps)
    assert planted.value_is_zero(eps)
    assert planted.enclosure(eps) == (0, 0)
    # By Lindemann the value of g at r != 0 is 0 only if its coefficients at each exponential cancel.
    sums: dict[Fraction, Fraction] = {}
    for (k, q), c in g.items():
        sums[q] = sums.get(q, Fraction(0)) + c * eps**k
    assert (planted + make(g)).value_is_zero(eps) == (not any(sums.values()))


def test_zeros_that_are_none() -> None:
    near = ExpPoly.term(1, 0, 1) - Fraction(mpmath.nstr(mpmath.e, 15))
    assert not near.value_is_zero(Fraction(1))
    low, high = near.enclosure(Fraction(1))
    assert low * high > 0
    assert not ExpPoly.term(1, 0, 1).value_is_zero(Fraction(0))
    assert (ExpPoly.term(1, 0, 1) - 1).value_is_zero(Fraction(0))
    assert ExpPoly.term(1, 2, 5).value_is_zero(Fraction(0))


@given(models)
def test_coefficient_bits_bound_the_coefficients(f: Model) -> None:
    bits = make(f).coefficient_bits()
    assert all(abs(c.numerator).bit_length() <= bits and c.denominator.bit_length() <= bits for c in f.values() if c)


def test_a_long_sum_of_unlike_denominators_is_made_at_once() -> None:
    """A term at a time would rewrite all others for each new denominator."""
    primes = [p for p in range(2, 8000) if all(p % d for d in range(2, int(p**0.5) + 1))]
    f = ExpPoly.from_terms((0, Fraction(p), Fraction(1, p)) for p in primes)
    assert len(f) == len(primes) > 1000
    assert f.terms()[-1] == (0, primes[-1], Fraction(1, primes[-1]))


def test_text() -> None:
    f = ExpPoly.from_terms([(1, Fraction(-1, 2), Fraction(3)), (0, Fraction(0), Fraction(1))])
    assert str(f) == "(1)*eps^0*exp(0*eps) + (3)*eps^1*exp(-1/2*eps)"
    assert repr(f) == f"ExpPoly({f})"
    assert str(ExpPoly.ZERO) == "0"


@pytest.mark.parametrize("power", [10**6, 2**62, 2**63, 2**64 + 2, 10**40])
@pytest.mark.parametrize("other", [1, 2**61])
def test_common_divisors_with_polynomials_in_eps(power: int, other: int) -> None:
    """The divisor of sparse functions with exponents of any size, as rationals near irrational numbers have them."""
    divisor = ExpPoly.term(1, 1, 0) + 3
    product = divisor * (ExpPoly.term(1, 0, power) + ExpPoly.term(5, 1, other) - 2)
    for one, two in ((product, divisor), (divisor, product)):
        found = one.common_divisor(two)
        assert found.exact_quotient(divisor).is_unit()
        assert product.exact_quotient(found) * found == product
    assert (product + 1).common_divisor(divisor).is_unit()
    assert divisor.common_divisor(product + 1).is_unit()


def test_a_common_divisor_that_may_leave_a_dense_quotient_is_refused() -> None:
    """gcd(1 - 2y^n, 1 + y) takes time and memory in proportion to n."""
    one, y = ExpPoly.ONE, ExpPoly.term(1, 0, -1)
    with pytest.raises(LimitReached, match="of degree 1000000000"):
        (one - ExpPoly.term(2, 0, -(10**9))).common_divisor(one + y)
    assert (one - ExpPoly.term(2, 0, -(10**9))).common_divisor(ExpPoly.term(1, 1, 0) - 1).is_unit()
