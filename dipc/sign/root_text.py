"""Where on the line of eps something is, in the words of diagnostics."""

from __future__ import annotations

from fractions import Fraction

from dipc.algebra.decimals import decimal, magnitude, round_down, round_up
from dipc.algebra.limits import Limits
from dipc.sign import Root, refine

_DIGITS = 6


def refined(root: Root, limits: Limits) -> Root:
    """The root, known well enough to be shown."""
    return refine(root, root.upper / 10 ** (2 * _DIGITS), limits)


def place_text(root: Root) -> str:
    """`at eps = 1` or, for a root that is not rational, `at eps = 0.693147…`."""
    return f"at eps = {root.lower}" if root.is_exact else f"at eps = {number_text(root.lower, root.upper)}"


def number_text(low: Fraction, high: Fraction) -> str:
    """The number known to lie in [low, high], exactly where it is a short one, else its first digits and `…`."""
    if low == high and len(str(low)) <= 2 * _DIGITS:
        return str(low)
    if low < 0:
        return "-" + number_text(-high, -low)
    digits = max(_DIGITS, magnitude(low) + 1) if low else _DIGITS
    cut = round_down(low, digits) if low else low
    if cut != (round_down(high, digits) if high else high):
        return f"{decimal(cut)} to {decimal(round_up(high, digits))}"
    return f"{decimal(cut)}…"
