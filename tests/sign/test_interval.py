from fractions import Fraction

import pytest

from dipc.sign.interval import Interval


def test_membership_and_text() -> None:
    half_open = Interval(Fraction(1, 2), Fraction(3), True, False)
    assert Fraction(1, 2) in half_open
    assert Fraction(3) not in half_open
    assert Fraction(1, 3) not in half_open
    assert str(half_open) == "[1/2, 3)"
    assert str(Interval.POSITIVE) == "(0, inf)"
    assert Fraction(10**9) in Interval.POSITIVE
    assert Fraction(0) not in Interval.POSITIVE
    assert Interval.closed(2, 2).is_point
    assert str(half_open.scaled(Fraction(2))) == "[1, 6)"


@pytest.mark.parametrize(
    ("lower", "upper", "left", "right"),
    [(-1, 1, False, False), (0, 1, True, True), (0, 0, False, False), (2, 1, True, True), (1, 1, True, False)],
)
def test_no_other_sets(lower: int, upper: int, left: bool, right: bool) -> None:
    with pytest.raises(ValueError, match=r"is empty|not positive"):
        Interval(Fraction(lower), Fraction(upper), left, right)


def test_infinity_is_not_a_point() -> None:
    with pytest.raises(ValueError, match="infinity"):
        Interval(Fraction(1), None, True, True)
