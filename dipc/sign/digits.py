"""Numbers to so many digits: the digits are those of the number itself, so that more digits only add some.

A decimal cell is a pair (low, high): low is the number cut off after the digits asked for and high is one unit of the
last digit more, or both are the number, which is rational then.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from dipc.algebra.decimals import magnitude, round_down

if TYPE_CHECKING:
    from dipc.algebra.limits import Limits
    from dipc.sign import Root
    from dipc.sign.optimum import Number

#: More digits than this are not asked for: the limits on numbers allow no more.
MOST_DIGITS = 2000

#: Digits beyond those asked for that an enclosure has at first.
_SPARE = 3

Cell = tuple[Fraction, Fraction]


def number_cell(number: Number, digits: int) -> Cell:
    """The cell of a number >= 0. Raises LimitReached.

    It ends: where an enclosure holds a decimal number on the edge of two cells, it is decided exactly whether that is
    the number.
    """
    spare = _SPARE
    while True:
        low, high = number.enclosure(digits + spare)
        exact = number.exact()
        if exact is not None:
            return exact, exact
        edge = round_down(high, digits)
        if low >= edge:
            return _cell(edge, digits)
        if not number.is_exactly(edge):
            spare *= 2


def root_cell(root: Root, digits: int, limits: Limits | None = None) -> Cell:
    """The cell of a root. Raises LimitReached. It ends, because a root that is not known to be rational is none."""
    from dipc.sign import refine

    spare = _SPARE
    while not root.is_exact:
        root = refine(root, root.upper / 10 ** (digits + spare), limits)
        edge = round_down(root.upper, digits)
        if root.lower >= edge:
            return _cell(edge, digits)
        # Next time the edge is no longer inside.
        spare *= 2
    return root.lower, root.upper


def _cell(low: Fraction, digits: int) -> Cell:
    return low, low + Fraction(10) ** (magnitude(low) - digits + 1)
