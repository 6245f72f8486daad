"""Numbers known by enclosures: exact questions about them, and common roots of functions."""

from __future__ import annotations

from fractions import Fraction

import mpmath
from hypothesis import given
from hypothesis import strategies as st

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import DecisionBudget, Limits
from dipc.sign.chart import isolate_roots
from dipc.sign.interval import Interval
from dipc.sign.optimum import QuotientValue, compare, order, root_function, vanishes_at
from dipc.sign.roots import Root
from tests.sign.strategies import EPS, Place, e, places, small_rationals

ONE = ExpPoly.ONE


def root_of(f: ExpPoly) -> Root:
    (root,) = isolate_roots(f, Interval.POSITIVE)
    return root


LN2 = root_of(e(1) - 2)
OMEGA = root_of(EPS * e(1) - 1)


def test_values_at_roots() -> None:
    number = QuotientValue(EPS, ONE, LN2)
    low, high = number.enclosure(60)
    with mpmath.workdps(80):
        truth = mpmath.log(2)
        assert mpmath.mpf(low.numerator) / low.denominator <= truth <= mpmath.mpf(high.numerator) / high.denominator
    assert 0 < high - low <= high / 10**60


def test_rational_values_are_found_out() -> None:
    number = QuotientValue(e(2) + 1, e(1) + 5, LN2)
    assert number.exact() is None
    number.recognize()
    assert number.exact() == Fraction(5, 7)
    other = QuotientValue(EPS, ONE, LN2)
    other.recognize()
    assert other.exact() is None


def test_against_rationals_near_and_equal() -> None:
    exactly = QuotientValue(e(1) * EPS, ONE, OMEGA)
    assert exactly.compare_to(Fraction(1)) == 0
    assert exactly.exact() == 1
    close = QuotientValue(e(1) * EPS + EPS * Fraction(1, 10**90), ONE, OMEGA)
    assert close.compare_to(Fraction(1)) == 1
    assert QuotientValue(e(1) * EPS - EPS * Fraction(1, 10**90), ONE, OMEGA).compare_to(Fraction(1)) == -1


def test_a_value_that_is_zero() -> None:
    assert QuotientValue(e(2) - 4, ONE, LN2).exact() == 0
    assert QuotientValue(EPS - 2, ONE, Fraction(2)).exact() == 0
    assert QuotientValue(e(1) - 2 + EPS * Fraction(1, 10**60), ONE, LN2).compare_to(Fraction(0)) == 1


def test_rational_points() -> None:
    assert QuotientValue(EPS**2 + 1, ONE, Fraction(1, 2)).exact() == Fraction(5, 4)
    number = QuotientValue(3 * e(1) - 3, 2 * e(1) - 2, Fraction(5))
    number.recognize()
    assert number.exact() == Fraction(3, 2)


def test_compare() -> None:
    ln2, one = QuotientValue(EPS, ONE, LN2), QuotientValue.rational(Fraction(1))
    assert compare(ln2, one, 30) == (-1, True)
    assert compare(one, ln2, 30) == (1, True)
    assert compare(ln2, ln2, 30) == (0, True)
    assert compare(QuotientValue(e(1), ONE, LN2), QuotientValue.rational(Fraction(2)), 30) == (0, True)
    assert compare(QuotientValue(e(1), ONE, LN2), QuotientValue(e(2), 2 * ONE, LN2), 30) == (0, True)
    assert compare(ln2, QuotientValue(EPS * e(1), 2 * ONE, LN2), 30) == (0, False)
    assert compare(ln2, QuotientValue(EPS + Fraction(1, 10**50), ONE, LN2), 60) == (-1, True)


@given(places, places, st.sampled_from([ONE, e(-1) + 1, EPS + 1]))
def test_common_roots(first: Place, second: Place, other: ExpPoly) -> None:
    """log(p)/a against log(r)/b and rationals: equal or not, by mpmath with many digits."""
    if first.value() <= 0 or second.value() <= 0:
        return
    f, g = first.factor() * other, second.factor()
    left, right = root_of(first.factor()), root_of(second.factor())
    with mpmath.workdps(200):
        difference = first.value() - second.value()
        truth = 0 if abs(difference) < mpmath.mpf(10) ** -150 else int(mpmath.sign(difference))
    assert order(left, right, DecisionBudget(Limits())) == truth
    assert vanishes_at(g, left) == (truth == 0)
    assert vanishes_at(f, left)
    assert vanishes_at(f, right) == (truth == 0)


@given(places)
def test_the_function_of_a_root_vanishes_there(place: Place) -> None:
    if place.value() > 0:
        root = root_of(place.factor())
        assert vanishes_at(root_function(root), root)
        assert vanishes_at(place.factor(), root)


@given(small_rationals(), small_rationals())
def test_rational_places(first: Fraction, second: Fraction) -> None:
    assert vanishes_at(EPS - first, second) == (first == second)
    assert not vanishes_at(e(1) - first, second)
