from fractions import Fraction
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dipc.sign.interval import simplest_between


def by_search(lower: Fraction, upper: Fraction | None, lower_closed: bool, upper_closed: bool) -> Fraction:
    denominator = 1
    while True:
        numerator = lower.numerator * denominator // lower.denominator
        for candidate in (Fraction(numerator, denominator), Fraction(numerator + 1, denominator)):
            above = candidate > lower or (lower_closed and candidate == lower)
            below = upper is None or candidate < upper or (upper_closed and candidate == upper)
            if above and below:
                return candidate
        denominator += 1


ends = st.builds(Fraction, st.integers(0, 60), st.integers(1, 25))


@given(ends, ends, st.booleans(), st.booleans())
def test_least_denominator_then_least_numerator(a: Fraction, b: Fraction, left: bool, right: bool) -> None:
    lower, upper = min(a, b), max(a, b)
    if lower == upper:
        left = right = True
    found = simplest_between(lower, upper, lower_closed=left, upper_closed=right)
    assert found == by_search(lower, upper, left, right)


def test_all_small_intervals() -> None:
    points = sorted({Fraction(n, d) for d in range(1, 7) for n in range(2 * d + 1)})
    for lower, upper in combinations(points, 2):
        for left, right in product([False, True], repeat=2):
            found = simplest_between(lower, upper, lower_closed=left, upper_closed=right)
            assert found == by_search(lower, upper, left, right)


@given(ends, st.booleans())
def test_unbounded(lower: Fraction, closed: bool) -> None:
    assert simplest_between(lower, None, lower_closed=closed) == by_search(lower, None, closed, False)


def test_very_narrow_intervals_need_no_recursion() -> None:
    golden = Fraction(1)
    for _ in range(5000):
        golden = 1 + 1 / golden
    found = simplest_between(golden - Fraction(1, 10**2000), golden + Fraction(1, 10**2000))
    assert abs(found - golden) < Fraction(1, 10**2000)
    assert found.denominator < 10**1001


@pytest.mark.parametrize(
    ("lower", "upper", "closed"), [(2, 1, True), (1, 1, False), (-1, 1, True)], ids=["reversed", "empty", "negative"]
)
def test_impossible_intervals_are_refused(lower: int, upper: int, closed: bool) -> None:
    with pytest.raises(ValueError, match="simplest rational"):
        simplest_between(Fraction(lower), Fraction(upper), lower_closed=closed, upper_closed=closed)
