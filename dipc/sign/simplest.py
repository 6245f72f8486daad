"""The simplest rational of an interval: the one that the Stern-Brocot tree reaches first."""

from __future__ import annotations

from fractions import Fraction


def simplest_between(
    lower: Fraction, upper: Fraction | None, *, lower_closed: bool = False, upper_closed: bool = False
) -> Fraction:
    """The rational of the nonempty interval with 0 <= lower with the least denominator, and then the least numerator.

    `upper` None means infinity. Raises ValueError where the interval is empty or reaches below 0.

    >>> simplest_between(Fraction(31, 10), Fraction(32, 10))
    Fraction(19, 6)
    """
    if lower < 0:
        raise ValueError("the simplest rational is asked for nonnegative intervals only")
    if upper is not None and (upper < lower or (upper == lower and not (lower_closed and upper_closed))):
        raise ValueError("an empty interval has no simplest rational")
    quotients: list[int] = []
    while True:
        floor = lower.numerator // lower.denominator
        first = floor if lower_closed and lower == floor else floor + 1
        if upper is None or first < upper or (first == upper and upper_closed):
            break
        # Every point is strictly between `floor` and `floor + 1`, except possibly a closed end that `first` covered:
        # write it floor + 1/y and go on with y, whose ends change places.
        quotients.append(floor)
        new_upper = None if lower == floor else 1 / (lower - floor)
        lower, upper = 1 / (upper - floor), new_upper
        lower_closed, upper_closed = upper_closed, lower_closed and new_upper is not None
    result = Fraction(first)
    for quotient in reversed(quotients):
        result = quotient + 1 / result
    return result
