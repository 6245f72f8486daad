"""Suprema with known values, and suprema of random quotients against the sign procedure and dense grids."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import mpmath
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import LimitReached, Limits, Undecided
from dipc.sign.chart import decide_nonnegative
from dipc.sign.interval import Interval
from dipc.sign.optimum import Far, Peak, supremum
from dipc.sign.roots import Root
from tests.sign.oracle import value
from tests.sign.strategies import EPS, e, exp_polys, positive_factors

ONE = ExpPoly.ONE
EVERYWHERE = Interval.POSITIVE


class SupremumFound(NamedTuple):
    low: Fraction | None
    high: Fraction | None
    peaks: tuple[Peak, ...]
    proved: bool
    attained: bool | None


def sup(
    numerator: ExpPoly,
    denominator: ExpPoly = ONE,
    interval: Interval = EVERYWHERE,
    digits: int = 30,
    limits: Limits | None = None,
) -> SupremumFound:
    best = supremum(numerator, denominator, interval, digits, limits)
    low, high = (None, None) if best.is_infinite else best.enclosure(digits)
    return SupremumFound(low, high, best.peaks, best.proved, best.attained)


def places(found: SupremumFound) -> list[object]:
    """The places of the peaks, with roots as floats."""
    return [float(peak.place.lower) if isinstance(peak.place, Root) else peak.place for peak in found.peaks]


# --- known suprema ---------------------------------------------------------------------------------


def test_an_interior_maximum_whose_value_is_recognized() -> None:
    found = sup(e(-1) * (1 - e(-1)))
    assert found.low == found.high == Fraction(1, 4)
    assert found.attained is True
    (root,) = [peak.place for peak in found.peaks]
    assert isinstance(root, Root)
    assert root.lower < Fraction(69315, 100000)
    assert root.upper > Fraction(69314, 100000)


def test_an_interior_maximum_that_is_no_rational() -> None:
    found = sup(EPS * e(-1), digits=50)
    assert found.low is not None
    assert found.high is not None
    with mpmath.workdps(70):
        truth = mpmath.exp(-1)
        assert mpmath.mpf(found.low.numerator) / found.low.denominator <= truth
        assert truth <= mpmath.mpf(found.high.numerator) / found.high.denominator
    assert 0 < found.high - found.low <= Fraction(1, 10**50)
    assert places(found) == [Fraction(1)]


@pytest.mark.parametrize("power", [2, 3, 6])
def test_a_maximum_where_the_derivative_has_a_root_of_odd_multiplicity(power: int) -> None:
    """1 - (e^eps - 2)^(2·power): the derivative vanishes at ln 2 with multiplicity 2·power - 1."""
    found = sup(1 - (e(1) - 2) ** (2 * power), interval=Interval.open(Fraction(1, 4), 2))
    assert (found.low, found.high, found.attained) == (1, 1, True)


def test_an_inflection_is_no_maximum() -> None:
    """(e^eps - 2)^3 rises through ln 2, where its derivative is 0."""
    found = sup((e(1) - 2) ** 3, interval=Interval.closed(Fraction(1, 4), 1))
    assert places(found) == [Fraction(1)]
    assert found.attained is True


def test_a_value_that_only_touches_zero_from_below() -> None:
    found = sup(-((e(1) - 2) ** 2))
    assert (found.low, found.high, found.attained) == (0, 0, True)


@pytest.mark.parametrize(
    ("numerator", "denominator", "limit"),
    [
        (1 - e(-1), EPS, 1),
        (1 - e(-3), 2 - 2 * e(-1), Fraction(3, 2)),
        (1 - e(-1) - EPS * e(-1), EPS**2, Fraction(1, 2)),
        (e(-1), ONE, 1),
    ],
)
def test_a_supremum_at_zero(numerator: ExpPoly, denominator: ExpPoly, limit: Fraction | int) -> None:
    found = sup(numerator, denominator)
    assert (found.low, found.high) == (limit, limit)
    assert places(found) == [Far.ZERO]
    assert found.attained is False


@pytest.mark.parametrize(
    ("numerator", "denominator", "limit"),
    [
        (1 - e(-1), ONE, 1),
        (3 * e(2) - e(1), 2 * e(2) + 7, Fraction(3, 2)),
        (-e(-1), ONE, 0),
        (2 * EPS, EPS + 1, 2),
    ],
)
def test_a_supremum_at_infinity(numerator: ExpPoly, denominator: ExpPoly, limit: Fraction | int) -> None:
    found = sup(numerator, denominator)
    assert (found.low, found.high) == (limit, limit)
    assert places(found) == [Far.INFINITY]
    assert found.attained is False


@pytest.mark.parametrize(
    ("interval", "place", "attained"),
    [
        (Interval.closed(2, 3), 2, True),
        (Interval.open(2, 3), 2, False),
        (Interval.closed(Fraction(1, 3), Fraction(2, 3)), Fraction(2, 3), True),
        (Interval.open(Fraction(1, 3), Fraction(2, 3)), Fraction(2, 3), False),
        (Interval.closed(5, 5), 5, True),
    ],
)
def test_a_supremum_at_a_rational_end(interval: Interval, place: Fraction | int, attained: bool) -> None:
    """eps·e^-eps rises up to 1 and falls from there on."""
    found = sup(EPS * e(-1), interval=interval)
    assert places(found) == [place]
    assert found.attained is attained
    assert found.low is not None
    assert found.high is not None
    low, high = (EPS * e(-1)).enclosure(Fraction(place), 40)
    assert found.low <= high
    assert low <= found.high


def test_a_constant_quotient() -> None:
    found = sup(3 * e(1) * (EPS + 1), 2 * e(1) * (EPS + 1))
    assert (found.low, found.high, found.attained) == (Fraction(3, 2), Fraction(3, 2), True)
    assert places(found) == [Far.EVERYWHERE]


def test_the_zero_function() -> None:
    found = sup(ExpPoly.ZERO, EPS)
    assert (found.low, found.high, found.attained) == (0, 0, True)


@pytest.mark.parametrize(
    ("numerator", "denominator", "place", "attained"),
    [
        (EPS, e(-1), Far.INFINITY, False),
        (ONE, EPS, Far.ZERO, False),
        (ONE, (e(1) - 2) ** 2, None, True),
        (ONE, (EPS - 2) ** 2, Fraction(2), True),
        (e(1) - 2, (e(1) - 2) ** 2, None, False),  # 0/0 at ln 2, and without bound next to it
    ],
)
def test_an_infinite_supremum(numerator: ExpPoly, denominator: ExpPoly, place: object, attained: bool) -> None:
    found = sup(numerator, denominator)
    assert found.low is None
    assert found.high is None
    assert found.attained is attained
    (peak,) = found.peaks
    if place is None:
        assert isinstance(peak.place, Root)
    else:
        at = peak.place.lower if isinstance(peak.place, Root) and peak.place.is_exact else peak.place
        assert at == place


def test_a_pole_downwards_is_none() -> None:
    found = sup(-ONE, (e(1) - 2) ** 2)
    assert (found.low, found.high) == (0, 0)
    assert places(found) == [Far.INFINITY]


def test_where_both_vanish_the_limit_is_approached_but_not_attained() -> None:
    """(e^eps - 2)²·(1 - (e^eps - 2)²) / (e^eps - 2)²: 1 at ln 2, where the quotient has no value."""
    u = (e(1) - 2) ** 2
    found = sup(u * (1 - u), u, Interval.open(Fraction(1, 4), 1))
    assert (found.low, found.high, found.attained) == (1, 1, False)


def test_two_maxima_of_the_same_rational_value_are_proved_equal() -> None:
    found = sup(1 - ((e(1) - 2) * (e(1) - 3)) ** 2, interval=Interval.open(Fraction(1, 2), 2))
    assert (found.low, found.high, found.proved, len(found.peaks)) == (1, 1, True, 2)


def test_two_maxima_that_differ_only_far_behind_the_point() -> None:
    """1 - (e^eps - 2)²(e^eps - 3)² + e^eps/10^40: with enough digits only the second maximum counts."""
    f = 1 - ((e(1) - 2) * (e(1) - 3)) ** 2 + e(1) * Fraction(1, 10**40)
    interval = Interval.open(Fraction(1, 2), 2)
    few = sup(f, interval=interval)
    assert (len(few.peaks), few.proved) == (2, False)
    assert few.low is not None
    assert few.high is not None
    assert few.low <= 1 + Fraction(31, 10**41)
    assert 1 + Fraction(3, 10**40) <= few.high
    (peak,) = sup(f, interval=interval, digits=50).peaks
    assert isinstance(peak.place, Root)
    assert peak.place.lower > 1


def test_equal_irrational_maxima_end_in_a_tie_that_is_not_called_proved() -> None:
    """u(9 - u)² for u = y² + b/y² ... by y -> b/y the two maxima are equal; nothing here knows that."""
    y = e(1)
    u = y + 6 * e(-1)  # 5 at ln 2 and at ln 3, least between them
    f = 7 * u - u**3 * Fraction(1, 18)  # greatest at u = sqrt(42)
    found = sup(f, interval=Interval.open(Fraction(1, 10), 3))
    assert len(found.peaks) == 2
    assert found.proved is False
    assert found.attained is True
    assert found.low is not None
    assert found.high is not None
    truth = mpmath.mpf(14) / 3 * mpmath.sqrt(42)
    assert abs(float(found.low) - float(truth)) < 1e-12


def test_a_limit_that_ties_with_a_maximum_is_decided_exactly() -> None:
    """1 - e^-eps·(e^-eps - 1/2)² is 1 at ln 2 and tends to 1."""
    found = sup(1 - e(-1) * (e(-1) - Fraction(1, 2)) ** 2)
    assert (found.low, found.high, found.proved, found.attained) == (1, 1, True, True)
    assert len(found.peaks) == 2


def test_no_value_anywhere() -> None:
    with pytest.raises(ValueError, match="no value"):
        sup(EPS - 2, EPS - 2, Interval.closed(2, 2))
    with pytest.raises(ValueError, match="zero function"):
        sup(EPS, ExpPoly.ZERO)


def test_limits_are_kept() -> None:
    with pytest.raises(LimitReached):
        sup(EPS * e(-1) + EPS**2 * e(-2), ONE, EVERYWHERE, 3000, Limits(bits=2000))
    with pytest.raises(LimitReached, match="too large or too small"):
        sup(e(1), interval=Interval.closed(10**7, 10**7))
    with pytest.raises(LimitReached, match="too large or too small"):
        sup((10**30 - EPS) * e(1))  # e^(10^30 - 1)


# --- random quotients ------------------------------------------------------------------------------

intervals = st.one_of(
    st.just(EVERYWHERE),
    st.builds(
        lambda low, width, left, right: Interval(low, low + width, left, right),
        st.builds(Fraction, st.integers(1, 9), st.integers(1, 6)),
        st.builds(Fraction, st.integers(1, 9), st.integers(1, 4)),
        st.booleans(),
        st.booleans(),
    ),
    st.builds(lambda high: Interval.open(0, high), st.builds(Fraction, st.integers(1, 9), st.integers(1, 6))),
)


def _grid(interval: Interval, count: int = 60) -> list[Fraction]:
    low = interval.lower or Fraction(1, 1000)
    high = interval.upper if interval.upper is not None else Fraction(40)
    points = [low + (high - low) * n / count for n in range(count + 1)]
    return [point for point in points if point in interval]


@given(exp_polys(most_terms=5), positive_factors, intervals)
def test_the_supremum_is_the_least_factor(numerator: ExpPoly, denominator: ExpPoly, interval: Interval) -> None:
    """The factor f = high suffices and a slightly smaller one does not, by the sign procedure.

    The sign procedure knows nothing of maxima. The quotient is nowhere above high on a grid.
    """
    limits = Limits(bits=4000)
    try:
        found = sup(numerator, denominator, interval, 12, limits)
        if found.low is None or found.high is None:
            assert decide_nonnegative(10**6 * denominator - numerator, interval, limits).witness is not None
            return
        assert decide_nonnegative(found.high * denominator - numerator, interval, limits).witness is None
        lower = found.low - max(abs(found.low), Fraction(1, 10**6)) / 10**6
        assert decide_nonnegative(lower * denominator - numerator, interval, limits).witness is not None
    except Undecided:
        assume(False)
    for x in _grid(interval):
        assert (
            value(numerator, x) / value(denominator, x)
            <= mpmath.mpf(found.high.numerator) / found.high.denominator + mpmath.mpf(10) ** -100
        )


@given(exp_polys(most_terms=4), positive_factors, intervals)
def test_more_digits_only_narrow_the_enclosure(numerator: ExpPoly, denominator: ExpPoly, interval: Interval) -> None:
    limits = Limits(bits=4000)
    try:
        few, some, many = (sup(numerator, denominator, interval, n, limits) for n in (3, 12, 40))
    except Undecided:
        assume(False)
    if few.low is None:
        assert some.low is None
        assert many.low is None
        return
    assert few.high is not None
    assert some.low is not None
    assert some.high is not None
    assert many.low is not None
    assert many.high is not None
    assert few.low <= some.low <= many.low <= many.high <= some.high <= few.high
    for found, digits in ((few, 3), (some, 12), (many, 40)):
        assert found.low is not None
        assert found.high is not None
        assert found.high - found.low <= max(abs(found.low), abs(found.high)) / 10**digits


@given(exp_polys(most_terms=4), positive_factors, st.builds(Fraction, st.integers(1, 5), st.integers(1, 5)))
def test_the_scale_of_eps_moves_the_place_and_keeps_the_value(f: ExpPoly, g: ExpPoly, factor: Fraction) -> None:
    limits = Limits(bits=4000)
    try:
        here = sup(f, g, EVERYWHERE, 15, limits)
        there = sup(f.scaled(factor), g.scaled(factor), EVERYWHERE, 15, limits)
    except Undecided:
        assume(False)
    if here.low is None or there.low is None:
        assert here.low is None
        assert there.low is None
        return
    assert here.high is not None
    assert there.high is not None
    assert here.low <= there.high
    assert there.low <= here.high
    assert here.attained == there.attained
