from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import LimitReached, Limits
from dipc.sign.chart import SignChart, isolate_roots, sign_chart
from dipc.sign.interval import Interval
from dipc.sign.roots import refine
from tests.sign.oracle import count_roots_of_z, sign
from tests.sign.strategies import EPS, Planted, e, exp_polys, normal, planted, small_rationals


def number(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


def check_against_points(f: ExpPoly, chart: SignChart) -> None:
    """The structure of the chart, and its signs at points in every gap, next to the roots above all."""
    interval = chart.interval
    assert len(chart.signs) == len(chart.roots) + 1
    for first, second in pairwise(chart.roots):
        assert first.upper <= second.lower
    for root in chart.roots:
        assert interval.lower <= root.lower <= root.upper
        assert interval.upper is None or root.upper <= interval.upper
        assert not root.is_exact or (interval.lower < root.lower and sign(f, root.lower, 4096) == 0)
    last = chart.roots[-1].upper if chart.roots else interval.lower
    upper = interval.upper if interval.upper is not None else 3 * last + 5
    lows = [interval.lower, *(root.upper for root in chart.roots)]
    highs = [*(root.lower for root in chart.roots), upper]
    for low, high, expected in zip(lows, highs, chart.signs, strict=True):
        for part in (Fraction(1, 10**6), Fraction(1, 7), Fraction(1, 2), Fraction(999_999, 10**6)):
            point = low + (high - low) * part
            if low < high:
                assert sign(f, point) == expected


@given(planted())
def test_planted_roots_are_found_with_their_multiplicities(case: Planted) -> None:
    chart = sign_chart(case.f, Interval.POSITIVE)
    expected = case.roots()
    assert [root.multiplicity for root in chart.roots] == [multiplicity for _, multiplicity in expected]
    for root, (value, _) in zip(chart.roots, expected, strict=True):
        slack = mpmath.mpf(10) ** -12
        assert number(root.lower) - slack <= value <= number(root.upper) + slack
    check_against_points(case.f, chart)


@given(planted(), small_rationals(0, 30), small_rationals(1, 20), st.booleans(), st.booleans())
def test_other_intervals(case: Planted, lower: Fraction, width: Fraction, left: bool, right: bool) -> None:
    interval = Interval(lower, lower + width, left and lower > 0, right)
    chart = sign_chart(case.f, interval)
    inside = [
        multiplicity
        for value, multiplicity in case.roots()
        if number(interval.lower) + mpmath.mpf(10) ** -12 < value < number(lower + width) - mpmath.mpf(10) ** -12
    ]
    assert [root.multiplicity for root in chart.roots] == inside
    check_against_points(case.f, chart)
    for end, closed, found in (
        (interval.lower, interval.lower_closed, chart.lower_sign),
        (lower + width, right, chart.upper_sign),
    ):
        if closed:
            assert found is not None
            exact = any(place.p == end and not place.a for place, _ in case.places)
            assert found == (0 if exact else sign(case.f, end))
        else:
            assert found is None
    roots = isolate_roots(case.f, interval)
    at_ends = sum(
        1
        for end in {interval.lower, lower + width}
        if end in interval and any(p.p == end and not p.a for p, _ in case.places)
    )
    assert len(roots) == len(chart.roots) + at_ends
    assert all(a.upper <= b.lower for a, b in pairwise(roots))


@given(exp_polys(most_power=3))
def test_any_function(f: ExpPoly) -> None:
    if f.is_zero():
        return
    check_against_points(f, sign_chart(f, Interval.POSITIVE))


@given(exp_polys(most_power=0))
def test_number_of_roots_agrees_with_sturm(f: ExpPoly) -> None:
    """Exponentials alone: a polynomial in one variable, for which there is an older method."""
    if f.is_zero():
        return
    polynomial = normal(f).polynomial
    if polynomial.degree_z <= 60:
        assert len(sign_chart(f, Interval.POSITIVE).roots) == count_roots_of_z(polynomial)


@given(exp_polys(most_power=2, most_terms=4), exp_polys(most_power=1, most_terms=3))
def test_squares_have_even_roots(f: ExpPoly, g: ExpPoly) -> None:
    """f²·g has the roots of f with even multiplicity more."""
    if f.is_zero() or g.is_zero():
        return
    product = f * f * g
    try:
        chart = sign_chart(product, Interval.POSITIVE, Limits(bits=1000))
    except LimitReached:
        reject()
    check_against_points(product, chart)
    assert len(chart.roots) >= len(sign_chart(f, Interval.POSITIVE).roots)
    odd = [root for root in chart.roots if root.multiplicity % 2]
    of_g = [root for root in sign_chart(g, Interval.POSITIVE).roots if root.multiplicity % 2]
    assert len(odd) == len(of_g)


def test_a_root_between_the_radius_at_zero_and_a_small_lower_end() -> None:
    f = (e(1) - Fraction(201, 200)) * (e(1) - 3)
    (root, _) = sign_chart(f, Interval.POSITIVE).roots
    assert refine(root, Fraction(1, 1000)).upper < Fraction(1, 100)
    chart = sign_chart(f, Interval.open(Fraction(1, 100), 1))
    assert (chart.roots, chart.signs) == ((), (-1,))


def test_a_point() -> None:
    chart = sign_chart((EPS - 2) * e(1), Interval.closed(2, 2))
    assert (chart.roots, chart.signs, chart.lower_sign, chart.upper_sign) == ((), (), 0, 0)
    (root,) = isolate_roots((EPS - 2) ** 3 * e(1), Interval.closed(2, 2))
    assert (root.lower, root.multiplicity) == (2, 3)


def test_the_zero_function() -> None:
    chart = sign_chart(EPS - EPS, Interval.closed(1, 2))
    assert (chart.roots, chart.signs, chart.lower_sign, chart.upper_sign) == ((), (0,), 0, 0)
    with pytest.raises(ValueError, match="zero function"):
        isolate_roots(EPS - EPS, Interval.POSITIVE)


def test_rational_and_transcendental_roots_next_to_each_other() -> None:
    near = Fraction(693147180559945309417232121458, 10**30)  # log 2 = 0.693147180559945309417232121458176...
    f = (e(1) - 2) ** 2 * (EPS - near) * (EPS - near - Fraction(1, 10**28)) ** 3
    chart = sign_chart(f, Interval.POSITIVE)
    assert [(root.is_exact, root.multiplicity) for root in chart.roots] == [(True, 1), (False, 2), (True, 3)]
    assert chart.signs == (1, -1, -1, 1)


def test_irrational_algebraic_roots() -> None:
    f = (EPS**2 - 2) ** 3 * (EPS**2 - EPS - 1) * (e(1) - 5)
    chart = sign_chart(f, Interval.POSITIVE)
    assert [(root.is_exact, root.multiplicity) for root in chart.roots] == [(False, 3), (False, 1), (False, 1)]
    assert chart.signs == (-1, 1, -1, 1)


def test_many_roots() -> None:
    f = ExpPoly.ONE
    for n in range(1, 13):
        f = f * (e("1/3") - n)
    chart = sign_chart(f, Interval.POSITIVE)
    assert len(chart.roots) == 11  # log 1 = 0 is not positive
    check_against_points(f, chart)


def test_polynomials_in_eps_alone() -> None:
    f = (EPS - 10**20) * (EPS**2 - 3) * (EPS - Fraction(1, 10**20)) ** 2
    chart = sign_chart(f, Interval.POSITIVE)
    assert [root.multiplicity for root in chart.roots] == [2, 1, 1]
    assert chart.signs == (1, 1, -1, 1)
