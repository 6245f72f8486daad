"""The field of quotients with positive denominators."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dipc.algebra.exppoly import ExpPoly, Quotient
from dipc.algebra.limits import LimitReached
from tests.patience import examples

rationals = st.fractions(min_value=-3, max_value=3, max_denominator=4)
rings = st.lists(st.tuples(st.integers(0, 2), rationals, rationals), max_size=4).map(ExpPoly.from_terms)
#: Sums with positive coefficients and products of 1 - e^{-d·eps}: what programs make denominators of.
positive = st.one_of(
    st.lists(st.tuples(rationals, st.integers(1, 4)), min_size=1, max_size=3).map(
        lambda parts: ExpPoly.from_terms((0, q, Fraction(c)) for q, c in parts)
    ),
    st.fractions(min_value=Fraction(1, 3), max_value=3, max_denominator=3).map(lambda d: 1 - ExpPoly.term(1, 0, -d)),
)
quotients = st.builds(Quotient, rings, positive)


@settings(max_examples=examples(8), deadline=None)
@given(quotients, quotients, quotients)
def test_field_laws(a: Quotient, b: Quotient, c: Quotient) -> None:
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a * (b + c) == a * b + a * c
    assert a - a == 0
    assert hash((a + b) - b) == hash(a)


@settings(max_examples=examples(8), deadline=None)
@given(rings, positive, positive)
def test_equal_functions_have_one_form(numerator: ExpPoly, denominator: ExpPoly, factor: ExpPoly) -> None:
    small, large = Quotient(numerator, denominator), Quotient(numerator * factor, denominator * factor)
    assert small == large
    assert hash(small) == hash(large)
    assert small.numerator == large.numerator


@settings(max_examples=examples(8), deadline=None)
@given(quotients, quotients, st.fractions(min_value=Fraction(1, 5), max_value=5, max_denominator=7))
def test_values_follow_and_denominators_stay_positive(a: Quotient, b: Quotient, eps: Fraction) -> None:
    for value in (a + b, a * b, -a, a - b):
        assert value.denominator.enclosure(eps, 5)[0] > 0
    (a_low, a_high), (b_low, b_high) = a.enclosure(eps, 20), b.enclosure(eps, 20)
    low, high = (a + b).enclosure(eps, 20)
    assert low <= a_high + b_high
    assert a_low + b_low <= high


def test_a_quotient_that_is_in_the_ring_says_so() -> None:
    r = ExpPoly.term(1, 0, -1)
    assert Quotient(1 - r**2, 1 - r).in_ring() == 1 + r
    assert Quotient(ExpPoly.ONE, 1 + r).in_ring() is None
    assert 1 - Quotient(r, 1 + r) == Quotient(ExpPoly.ONE, 1 + r)


def test_a_common_divisor_of_huge_degrees_is_given_up_at_once() -> None:
    # Over their unit both denominators have degrees near 10^18, and FLINT would abort the process.
    unit = 10**18 + 9
    left = Quotient(ExpPoly.ONE, 1 + ExpPoly.term(1, 0, Fraction(-unit - 1, unit)))
    right = Quotient(ExpPoly.ONE, 2 + ExpPoly.term(1, 0, Fraction(-unit - 2, unit)))
    with pytest.raises(LimitReached):
        left + right


def test_common_divisors_of_functions_with_different_units_are_coarse() -> None:
    # Over the common unit both denominators have degrees near 10^18.
    left = Quotient(ExpPoly.ONE, 1 + ExpPoly.term(1, 0, Fraction(-1, 10**9)))
    right = Quotient(ExpPoly.ONE, 2 + ExpPoly.term(1, 0, Fraction(-1, 10**9 + 1)))
    low, high = (left + right).enclosure(Fraction(1), 20)
    assert low <= Fraction(1, 2) + Fraction(1, 3) + Fraction(1, 10**9)
    assert high >= Fraction(1, 2) + Fraction(1, 3)
    assert len((left + right).denominator) == 4
