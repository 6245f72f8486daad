"""Decimal numbers that enclose where a property of gamma begins to hold."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dipc.algebra.decimals import magnitude
from dipc.algebra.limits import LimitReached

Property = Callable[[Fraction], bool]


#: Smaller numbers than 10 to the power of this are not tried.
_LEAST_POWER = -300


def neighboring_powers(holds: Property, greatest: int) -> tuple[Fraction, Fraction]:
    """Powers of ten, one ten times the other, such that it holds at the larger and not at the smaller.

    Raises LimitReached where there are none from 10^-300 to 10^greatest.
    """
    power = 0
    step = -1 if holds(Fraction(1)) else 1
    while _LEAST_POWER < power < greatest:
        power += step
        if holds(Fraction(10) ** power) == (step > 0):
            low = power if step < 0 else power - 1
            return Fraction(10) ** low, Fraction(10) ** (low + 1)
    side = "greater" if step > 0 else "less"
    raise LimitReached(None, f"the least gamma, if there is one, is {side} than 10^{power}")


def narrowed(holds: Property, low: Fraction, high: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Decimal numbers of so many digits, one unit of the last digit apart, such that it holds at the larger only; it
    holds at `high`, which is no more than ten times `low`, and not at `low`, a power of ten."""
    unit = Fraction(10) ** (magnitude(low) + 1 - digits)
    below, above = bisected(lambda number: holds(number * unit), int(low / unit), int(high / unit))
    return below * unit, above * unit


def bisected(holds: Callable[[int], bool], below: int, above: int) -> tuple[int, int]:
    """Neighboring integers between `below`, at which it does not hold, and `above`, at which it does; alike."""
    while above - below > 1:
        middle = (above + below) // 2
        if holds(middle):
            above = middle
        else:
            below = middle
    return below, above
