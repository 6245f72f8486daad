from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dipc.algebra.limits import DecisionBudget, LimitReached, Limits
from dipc.sign.chart import isolate_roots
from dipc.sign.interval import Interval
from dipc.sign.roots import Root, refine, separate
from tests.sign.strategies import EPS, Planted, e, normal, planted


@given(planted(), st.sampled_from([1, 5, 40, 200]))
def test_refined_to_any_width(case: Planted, digits: int) -> None:
    with mpmath.workdps(2 * digits + 30):
        for root, (value, _) in zip(isolate_roots(case.f, Interval.POSITIVE), case.roots(), strict=True):
            narrow = refine(root, Fraction(1, 10**digits))
            assert narrow.width <= Fraction(1, 10**digits)
            assert root.lower <= narrow.lower <= narrow.upper <= root.upper
            assert narrow.multiplicity == root.multiplicity
            low = mpmath.mpf(narrow.lower.numerator) / narrow.lower.denominator
            high = mpmath.mpf(narrow.upper.numerator) / narrow.upper.denominator
            slack = mpmath.mpf(10) ** (-2 * digits - 20)
            assert low - slack <= value <= high + slack


def test_a_thousand_digits_of_log_2() -> None:
    (root,) = isolate_roots(e(1) - 2, Interval.POSITIVE)
    narrow = refine(root, Fraction(1, 10**1000))
    with mpmath.workdps(1100):
        middle = (narrow.lower + narrow.upper) / 2
        assert abs(mpmath.mpf(middle.numerator) / middle.denominator - mpmath.log(2)) < mpmath.mpf(10) ** -1000


def test_refining_has_a_limit() -> None:
    (root,) = isolate_roots(e(1) - 2, Interval.POSITIVE)
    with pytest.raises(LimitReached):
        refine(root, Fraction(1, 10**1000), Limits(bits=500))


def test_roots_of_different_factors_are_separated() -> None:
    """log 2 and a rational very near to it, in isolating intervals that overlap."""
    near = Fraction(693147180559945309417232121458, 10**30)
    factor = normal(e(1) - 2).polynomial
    linear = normal(EPS - near).polynomial
    wide = Root(Fraction(1, 2), Fraction(1), 1, factor, Fraction(1))
    exact = Root(near, near, 2, linear, Fraction(1))
    other = Root(Fraction(3, 5), Fraction(7, 10), 1, normal(e(1000) - 2**1000 - 1).polynomial, Fraction(1000))
    found = separate([wide, exact, other], DecisionBudget(Limits()))
    assert [root.polynomial for root in found] == [linear, factor, other.polynomial]
    assert all(a.upper <= b.lower for a, b in pairwise(found))
    assert found[0].is_exact
    assert near < found[1].lower


def test_equal_roots_are_never_called_separated() -> None:
    """Forbidden by the contract; the budget ends it."""
    factor = normal(e(1) - 2).polynomial
    same = [Root(Fraction(1, 2), Fraction(1), 1, factor, Fraction(1))] * 2
    with pytest.raises(LimitReached):
        separate(same, DecisionBudget(Limits(intervals=50)))
