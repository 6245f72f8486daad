from decimal import Decimal
from fractions import Fraction

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from dipc.algebra.numbers import DIGIT_LIMIT, NotExact, exact_rational, parse_rational


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-1", Fraction(-1)),
        ("1/3", Fraction(1, 3)),
        ("0.25", Fraction(1, 4)),
        ("0.1", Fraction(1, 10)),
        ("1e-3", Fraction(1, 1000)),
        ("1E+2", Fraction(100)),
        ("-2.5e1", Fraction(-25)),
        ("+7", Fraction(7)),
        (".5", Fraction(1, 2)),
        ("-0", Fraction(0)),
        ("007", Fraction(7)),
        ("-6/4", Fraction(-3, 2)),
        ("9" * DIGIT_LIMIT, Fraction(10**DIGIT_LIMIT - 1)),
        ("1e-1000", Fraction(1, 10**1000)),
    ],
)
def test_exact_numbers(text: str, value: Fraction) -> None:
    assert parse_rational(text) == value


NO_NUMBERS = ["", "-", ".", "e3", "1e", "1.5/2", "1/-3", "1/2/3", "--1", "1 2", "nan", "inf", "-inf", "0x10", "1_000"]
NO_NUMBERS += ["1,5", "²", "１", "٣", "−1", "1/³", "true"]

INEXACT = (
    'm = {} is a binary floating-point number, which is not exact: give a text such as "{}" or a fractions.Fraction'
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        *((text, "is not a rational number") for text in NO_NUMBERS),
        ("1/0", "divides by zero"),
        ("0/0", "divides by zero"),
        ("9" * (DIGIT_LIMIT + 1), f"has more than {DIGIT_LIMIT} digits"),
        ("1/" + "9" * (DIGIT_LIMIT + 1), f"has more than {DIGIT_LIMIT} digits"),
        ("1e1001", f"has more than {DIGIT_LIMIT} digits"),
        ("1e-999999999", f"has more than {DIGIT_LIMIT} digits"),
        ("1" * 10**6, f"has more than {DIGIT_LIMIT} digits"),
    ],
)
def test_everything_else_is_refused(text: str, reason: str) -> None:
    with pytest.raises(NotExact) as caught:
        parse_rational(text)
    assert caught.value.reason == reason


@given(st.fractions())
def test_every_rational_is_read_back(value: Fraction) -> None:
    assert parse_rational(str(value)) == value


@given(st.decimals(allow_nan=False, allow_infinity=False, places=6, min_value=-(10**9), max_value=10**9))
def test_every_decimal_is_read_exactly(value: Decimal) -> None:
    assert parse_rational(str(value)) == Fraction(value)


@pytest.mark.parametrize(
    ("given_value", "value"),
    [
        (3, Fraction(3)),
        (Fraction(1, 3), Fraction(1, 3)),
        (" 1/3 ", Fraction(1, 3)),
        (Decimal("0.1"), Fraction(1, 10)),
        (sympy.Rational(2, 3), Fraction(2, 3)),
        (sympy.Integer(5), Fraction(5)),
    ],
)
def test_exact_things_from_python(given_value: object, value: Fraction) -> None:
    assert exact_rational(given_value, "m") == value


@pytest.mark.parametrize(
    ("given_value", "error", "message"),
    [
        (0.1, TypeError, INEXACT.format("0.1", "0.1")),
        (float("nan"), TypeError, INEXACT.format("nan", "1/3")),
        (True, TypeError, "m must be a number, not a truth value"),
        (None, TypeError, "m must be an int, a fractions.Fraction or a text such as '1/3', not NoneType"),
        (sympy.pi, TypeError, "m must be an int, a fractions.Fraction or a text such as '1/3', not Pi"),
        ("nan", ValueError, "m: 'nan' is not a rational number"),
        ("1/0", ValueError, "m: '1/0' divides by zero"),
    ],
)
def test_inexact_things_from_python(given_value: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        exact_rational(given_value, "m")
    assert str(caught.value) == message
