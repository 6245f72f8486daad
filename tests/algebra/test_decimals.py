from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dipc.algebra.numbers import decimal, exact_text, magnitude, outward, round_down, round_up


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(1, 4), "0.25"),
        (Fraction(-1, 8), "-0.125"),
        (Fraction(12300), "12300"),
        (Fraction(10) ** 30, "1e30"),
        (Fraction(-25, 10**31), "-2.5e-30"),
        (Fraction(1, 10**7), "0.0000001"),
        (Fraction(1, 10**8), "1e-8"),
        (Fraction(1, 3), "1/3"),
    ],
)
def test_texts(value: Fraction, text: str) -> None:
    assert exact_text(value) == text


@given(st.integers(-(10**40), 10**40), st.integers(0, 60))
def test_decimal_texts_are_exact(mantissa: int, places: int) -> None:
    value = Fraction(mantissa, 10**places)
    assert Fraction(decimal(value)) == value


@given(st.fractions().filter(bool))
def test_magnitude_is_the_leading_digit(value: Fraction) -> None:
    power = magnitude(value)
    assert Fraction(10) ** power <= abs(value) < Fraction(10) ** (power + 1)


@given(st.fractions(), st.integers(1, 30))
def test_rounding_is_outward_and_tight(value: Fraction, digits: int) -> None:
    low, high = round_down(value, digits), round_up(value, digits)
    assert low <= value <= high
    if value:
        assert high - low <= Fraction(10) ** (magnitude(value) - digits + 1)
    assert len(decimal(low).lstrip("-0.").replace(".", "").split("e")[0].rstrip("0")) <= digits


@given(st.fractions(), st.fractions(), st.integers(1, 20))
def test_outward_encloses(a: Fraction, b: Fraction, digits: int) -> None:
    low, high = outward(min(a, b), max(a, b), digits)
    assert low <= min(a, b)
    assert max(a, b) <= high


@pytest.mark.parametrize("places", [*range(70), 127, 128, 129, 1000])
def test_powers_of_five_below_are_counted_exactly(places: int) -> None:
    assert Fraction(decimal(Fraction(3, 5**places))) == Fraction(3, 5**places)
