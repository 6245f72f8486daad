from fractions import Fraction

import mpmath
import pytest
import sympy
from hypothesis import given

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import DecisionBudget, LimitReached, Limits
from dipc.sign.polynomial import Polynomial, is_surely_square_free, rational_root, split_content, square_free_parts
from tests.sign.strategies import EPS, Planted, e, normal, planted, polynomials

T, Z = sympy.symbols("t z")


def budget() -> DecisionBudget:
    return DecisionBudget(Limits())


def expression(polynomial: Polynomial) -> sympy.Expr:
    return sympy.Add(*(c * T**k * Z**j for j, k, c in polynomial.terms))


def polynomial_of(f: ExpPoly) -> Polynomial:
    return normal(f).polynomial


@given(polynomials(most_power=4, most_exponent=6))
def test_content_multiplies_back(polynomial: Polynomial) -> None:
    if polynomial.degree_z > 100:
        return
    content = split_content(polynomial, budget())
    product = sympy.Integer(content.sign)
    for factor in content.factors:
        assert factor.polynomial.degree_z == 0
        product *= expression(factor.polynomial) ** factor.multiplicity
    if content.primitive is not None:
        product *= expression(content.primitive)
    assert sympy.expand(product - expression(polynomial)) == 0


@given(planted())
def test_planted_multiplicities(case: Planted) -> None:
    polynomial = polynomial_of(case.f)
    content = split_content(polynomial, budget())
    linear = {
        rational_root(factor.polynomial): factor.multiplicity
        for factor in content.factors
        if rational_root(factor.polynomial) is not None
    }
    scale = normal(case.f).scale
    for root, multiplicity in case.roots():
        exact = [
            place.p for place, _ in case.places if not place.a and abs(place.value() - root) < mpmath.mpf(10) ** -12
        ]
        if exact:
            assert linear[exact[0] * scale] == multiplicity
    if content.primitive is None or content.primitive.degree_z == 0:
        return
    sign, parts = square_free_parts(content.primitive, budget())
    product = sympy.Integer(sign)
    for part in parts:
        product *= expression(part.polynomial) ** part.multiplicity
        assert is_surely_square_free(part.polynomial) or part.polynomial.degree_z == 0
    assert sympy.expand(product - expression(content.primitive)) == 0
    assert is_surely_square_free(content.primitive) == all(part.multiplicity == 1 for part in parts)


@pytest.mark.parametrize(
    ("f", "square_free"),
    [
        ((e(1) - 2) ** 2, False),
        ((e(1) - 2) * (e(1) - 3), True),
        ((EPS - e(-1)) ** 2, False),
        ((EPS - e(-1)) * (EPS + e(-1)), True),
        ((EPS - e(-1)) ** 2 + Fraction(1, 10**60), True),
        ((EPS * e(1) - 2) ** 3 * (e(1) - 2), False),
        ((1 - e(-1)) ** 2 - e(-7), True),
    ],
)
def test_square_free(f: ExpPoly, square_free: bool) -> None:
    assert is_surely_square_free(polynomial_of(f)) is square_free
    _, parts = square_free_parts(polynomial_of(f), budget())
    assert all(part.multiplicity == 1 for part in parts) is square_free


def test_a_leading_coefficient_that_vanishes_where_it_is_tried() -> None:
    vanishing = (EPS - 3) * (EPS - 5) * (EPS - 8)
    square = polynomial_of((vanishing * e(-1) - 1) ** 2)
    assert not is_surely_square_free(square)
    # F(t0, z) has a lower degree at those t0, and nothing can be said of F from them.
    assert not is_surely_square_free(polynomial_of(vanishing * e(-1) - 1))


def test_parts_of_a_mixed_product() -> None:
    mixed, other = EPS * e(1) - 2, e(1) - 3
    sign, parts = square_free_parts(polynomial_of(-(mixed**3) * other**2), budget())
    found = sorted((part.multiplicity, part.polynomial.degree_t) for part in parts)
    assert found == [(2, 0), (3, 1)]
    assert sign in (1, -1)


def test_rational_root() -> None:
    assert rational_root(Polynomial.from_terms([(0, 0, -3), (0, 1, 2)])) == Fraction(3, 2)
    assert rational_root(Polynomial.from_terms([(0, 0, -3), (0, 2, 2)])) is None
    assert rational_root(Polynomial.from_terms([(0, 0, -3), (1, 1, 2)])) is None
    assert rational_root(Polynomial.from_terms([(0, 0, -3), (1, 0, 2)])) is None


def test_the_degree_has_a_limit() -> None:
    f = (e(1) - 2) ** 2 * (e(100) - 3)
    with pytest.raises(LimitReached, match="degree 102, but only polynomials of degree at most 50"):
        square_free_parts(polynomial_of(f), DecisionBudget(Limits(degree=50)))
