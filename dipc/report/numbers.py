"""Numbers for people: every digit shown is proved."""

from __future__ import annotations

from fractions import Fraction

from dipc.algebra.decimals import decimal, magnitude, round_down, round_up

#: How many significant digits a text shows unless more are needed to tell two numbers apart.
DIGITS = 10

#: Exact rationals are written as p/q up to this many characters.
_LONGEST_FRACTION = 24


def shown(low: Fraction, high: Fraction, digits: int = DIGITS) -> str:
    """The number known to lie in [low, high]: its leading digits followed by `…` (the number is at least what is
    shown, in absolute value, and less than one unit of the last digit away), or `0.9 ± 1e-20` where the enclosure has
    less than three digits in common. An exact decimal number stands as it is."""
    if low == high:
        return exact(low, digits)
    for count in range(_with_whole_part(low, digits), 2, -1):
        leading = _common_digits(low, high, count)
        if leading is not None and count > magnitude(leading):
            return f"{decimal_padded(leading, count)}…"
    middle = _rounded((low + high) / 2, digits)
    return f"{decimal(middle)} ± {decimal(round_up(max(high - middle, middle - low), 1))}"


def exact(value: Fraction, digits: int = DIGITS) -> str:
    """An exactly known number as a decimal of at most `digits` digits, with `…` where it was cut off."""
    digits = _with_whole_part(value, digits)
    cut = truncated(value, digits)
    return decimal(cut) if cut == value else f"{decimal_padded(cut, digits)}…"


def cell_text(low: Fraction, high: Fraction) -> str:
    """A number cut off after its last known digit, `low`, where `high` is one unit of that digit more: all its digits
    and `…`. An exact one (low == high) stands as `rational` writes it."""
    if low == high:
        return rational(low)
    return f"{decimal_padded(low, magnitude(low) - magnitude(high - low) + 1)}…"


def rational(value: Fraction, digits: int = DIGITS) -> str:
    """`17/10 = 1.7`, `3`, `1/3 = 0.3333333333…`: exactly, and as a decimal."""
    if value.denominator == 1:
        return str(value)
    return f"{value} = {exact(value, digits)}" if len(str(value)) <= _LONGEST_FRACTION else str(value)


def _with_whole_part(value: Fraction, digits: int) -> int:
    """At least so many digits that none before the decimal point is cut off."""
    return max(digits, magnitude(value) + 1) if value else digits


def truncated(value: Fraction, digits: int) -> Fraction:
    """`value` cut off after `digits` significant digits, towards zero."""
    return round_up(value, digits) if value < 0 else round_down(value, digits)


def agreement(first: tuple[Fraction, Fraction], second: tuple[Fraction, Fraction]) -> int:
    """How many significant digits tell two disjoint enclosures apart, with three to spare."""
    gap = max(second[0] - first[1], first[0] - second[1])
    size = max(abs(end) for end in (*first, *second))
    if gap <= 0 or not size:
        return DIGITS
    return max(DIGITS, magnitude(size) - magnitude(gap) + 3)


def decimal_padded(value: Fraction, digits: int) -> str:
    """The decimal number `value` with `digits` significant digits, zeros included."""
    text = decimal(value)
    if not value or "e" in text:
        return text
    have = len(text.lstrip("-").replace(".", "").lstrip("0"))
    if "." not in text:
        whole = len(text.lstrip("-"))
        return text if whole >= digits else f"{text}.{'0' * (digits - whole)}"
    return text + "0" * (digits - have)


def _rounded(value: Fraction, digits: int) -> Fraction:
    """A decimal number of at most about `digits` digits nearest to `value`."""
    return truncated(value + (value - truncated(value, digits)), digits) if value else value


def _common_digits(low: Fraction, high: Fraction, digits: int) -> Fraction | None:
    """The `digits` leading digits that all numbers of [low, high] share."""
    if low <= 0 <= high:
        return None
    cut = truncated(low, digits)
    return cut if cut == truncated(high, digits) else None
