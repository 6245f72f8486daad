"""Logarithms of rationals, enclosed."""

from __future__ import annotations

from fractions import Fraction

import flint

from dipc.algebra.decimals import outward
from dipc.algebra.exppoly import dyadic, to_fmpq


def log_enclosure(low: Fraction, high: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Decimal numbers of at most `digits` significant digits around the logarithms of [low, high], 0 < low <= high."""
    if low == high == 1:
        return Fraction(0), Fraction(0)
    with flint.ctx.workprec(64 + 8 * digits):
        below, above = flint.arb(to_fmpq(low)).log(), flint.arb(to_fmpq(high)).log()
        return outward(dyadic(below.lower()), dyadic(above.upper()), digits)
