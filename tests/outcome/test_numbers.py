from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dipc.outcome.words import agreement, enclosed_text, exact, rational

RATIONALS = st.fractions(min_value=-(10**9), max_value=10**9, max_denominator=10**12)


def ends(text: str) -> tuple[Fraction, Fraction]:
    """The numbers that a text with `…` can stand for."""
    if " ± " in text:
        middle, radius = map(Fraction, text.split(" ± "))
        return middle - radius, middle + radius
    if not text.endswith("…"):
        return Fraction(text), Fraction(text)
    body = text[:-1]
    mantissa, _, exponent = body.partition("e")
    unit = Fraction(1, 10 ** len(mantissa.partition(".")[2])) * Fraction(10) ** int(exponent or 0)
    value = Fraction(body)
    return (value - unit, value) if body.startswith("-") else (value, value + unit)


@given(RATIONALS, st.fractions(min_value=0, max_value=1, max_denominator=10**20), st.integers(3, 25))
def test_every_digit_shown_is_proved(low: Fraction, width: Fraction, digits: int) -> None:
    high = low + abs(low) * width / 10**6
    least, greatest = ends(enclosed_text(low, high, digits))
    assert least <= low
    assert high <= greatest


@given(RATIONALS, st.integers(1, 30))
def test_exact_numbers_say_whether_they_were_cut(value: Fraction, digits: int) -> None:
    text = exact(value, digits)
    least, greatest = ends(text)
    assert least <= value <= greatest
    if not text.endswith("…"):
        assert least == greatest == value


@given(RATIONALS, RATIONALS)
def test_agreement_tells_disjoint_enclosures_apart(first: Fraction, second: Fraction) -> None:
    assume(first != second)
    digits = agreement((first, first), (second, second))
    assert exact(first, digits) != exact(second, digits)


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        ("0.30706871526", "0.30706871527", "0.3070687152…"),
        ("0.1", "0.1", "0.1"),
        ("0", "0", "0"),
        ("-0.25004", "-0.25001", "-0.2500…"),
        ("0.99", "1.01", "1 ± 0.01"),
        ("-0.5", "0.5", "0 ± 0.5"),
        ("0.89999999999999999999", "0.90000000000000000001", "0.9 ± 1e-20"),
        ("1.2345e-30", "1.2346e-30", "1.234e-30…"),
        ("1.5", "1.5000001", "1.500000…"),
        ("1234567.25", "1234567.26", "1234567.2…"),
        ("123456789012345", "123456789012345", "123456789012345"),
    ],
)
def test_enclosures(low: str, high: str, text: str) -> None:
    assert enclosed_text(Fraction(low), Fraction(high)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("3", "3"),
        ("17/10", "17/10 = 1.7"),
        ("1/3", "1/3 = 0.3333333333…"),
        ("-1/8", "-1/8 = -0.125"),
        ("123456789012345678901234567/2", "123456789012345678901234567/2"),
    ],
)
def test_rationals(value: str, text: str) -> None:
    assert rational(Fraction(value)) == text
