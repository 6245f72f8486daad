"""Exact numbers as the texts of a certificate."""

from __future__ import annotations

from fractions import Fraction

#: Bits of the integers that Python writes whatever its limit is set to.
_SAFE_BITS = 1_900


def digits(number: int) -> str:
    """The decimal text of an integer of any length, whatever limit Python has for that."""
    if number < 0:
        return "-" + digits(-number)
    if number.bit_length() <= _SAFE_BITS:
        return str(number)
    half = number.bit_length() * 30103 // 200000
    above, below = divmod(number, 10**half)
    return digits(above) + digits(below).zfill(half)


def rational(number: Fraction) -> str:
    """`p/q` in lowest terms, or `p`."""
    above = digits(number.numerator)
    return above if number.denominator == 1 else f"{above}/{digits(number.denominator)}"
