"""Decimal cells: the digits are those of the number."""

from __future__ import annotations

from fractions import Fraction

import mpmath
from hypothesis import given
from hypothesis import strategies as st

from dipc.algebra.exppoly import ExpPoly
from dipc.sign.chart import isolate_roots
from dipc.sign.interval import Interval
from dipc.sign.optimum import QuotientValue, number_cell, root_cell
from tests.sign.strategies import EPS, e

ONE = ExpPoly.ONE


def digits_of(truth: mpmath.mpf, count: int) -> Fraction:
    """The number > 0 cut off after so many significant digits, by mpmath."""
    with mpmath.workdps(120):
        power = int(mpmath.floor(mpmath.log10(truth))) - count + 1
        return Fraction(int(mpmath.floor(truth * mpmath.mpf(10) ** -power))) * Fraction(10) ** power


@given(st.integers(2, 400), st.integers(1, 60))
def test_roots_are_cut_off_where_logarithms_are(n: int, digits: int) -> None:
    (root,) = isolate_roots(e(1) - n, Interval.POSITIVE)
    with mpmath.workdps(120):
        truth = digits_of(mpmath.log(n), digits)
    low, high = root_cell(root, digits)
    assert low == truth
    assert high - low == Fraction(10) ** (_magnitude(low) - digits + 1)


@given(st.integers(2, 400), st.integers(1, 60))
def test_values_are_cut_off_where_those_of_mpmath_are(n: int, digits: int) -> None:
    (root,) = isolate_roots(e(1) - n, Interval.POSITIVE)
    with mpmath.workdps(120):
        truth = digits_of(mpmath.log(n) / n, digits)
    assert number_cell(QuotientValue(EPS, e(1), root), digits)[0] == truth


@given(st.integers(1, 10**6), st.integers(0, 8), st.integers(1, 12))
def test_a_decimal_number_on_the_edge_of_two_cells_is_found_out(n: int, places: int, digits: int) -> None:
    """n/10^places at ln 2, as a function that does not look rational."""
    (root,) = isolate_roots(e(1) - 2, Interval.POSITIVE)
    number = QuotientValue(e(1) * Fraction(n, 2 * 10**places), ONE, root)
    low, high = number_cell(number, digits)
    exact = Fraction(n, 10**places)
    assert low <= exact <= high
    assert low == high == exact or exact - low < high - low


def test_exact_numbers_stand_as_they_are() -> None:
    assert number_cell(QuotientValue.rational(Fraction(1, 3)), 5) == (Fraction(1, 3), Fraction(1, 3))
    (root,) = isolate_roots(3 * EPS - 2, Interval.POSITIVE)
    assert root_cell(root, 5) == (Fraction(2, 3), Fraction(2, 3))


def _magnitude(value: Fraction) -> int:
    return int(mpmath.floor(mpmath.log10(mpmath.mpf(value.numerator) / value.denominator)))
