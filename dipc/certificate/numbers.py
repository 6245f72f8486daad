"""Exact numbers as the texts of a certificate."""

from __future__ import annotations

from fractions import Fraction

import flint

#: Bits from which on FLINT writes a number sooner than Python, and which Python writes whatever its limit is set to.
_LONG = 1_200


def digits(number: int) -> str:
    """The decimal text of an integer of any length, whatever limit Python has for that."""
    return str(number) if number.bit_length() <= _LONG else str(flint.fmpz(number))


def rational(number: Fraction) -> str:
    """`p/q` in lowest terms, or `p`."""
    above = digits(number.numerator)
    return above if number.denominator == 1 else f"{above}/{digits(number.denominator)}"
