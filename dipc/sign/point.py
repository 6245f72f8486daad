"""The sign of F at a rational point, and enclosures of its value there."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction

from dipc.sign.budget import Budget
from dipc.sign.exponential import LOG2E_LOW, LOG2E_SCALE
from dipc.sign.polynomial import Layout

#: Significant bits by default.
_FIRST_BITS = 24


@dataclass(frozen=True, slots=True)
class PointValue:
    """F(t)·scale lies within `error` of `value`; `sign` is the sign of F(t)."""

    value: int
    error: int
    scale: Fraction
    sign: int


def point_value(layout: Layout, t: Fraction, budget: Budget, precision: int = _FIRST_BITS) -> PointValue:
    """F at a rational t > 0 to about `precision` significant bits, with its sign, 0 only where F(t) = 0 exactly.

    e^{-t} is transcendental (Lindemann), so F(t, e^{-t}) = 0 only if F(t, z) is the zero polynomial in z, and otherwise
    enough precision separates the value from 0.
    """
    numerator, denominator = t.numerator, t.denominator
    coefficients = _coefficients_of_z(layout, numerator, denominator)
    unit = Fraction(denominator**layout.degree)
    if len(coefficients) == 1 or not any(coefficients):
        value = coefficients[0]
        return PointValue(value, 0, unit, (value > 0) - (value < 0))
    size = sum(map(abs, coefficients)).bit_length()
    bits = precision - coefficients[0].bit_length() if coefficients[0] else precision - size
    while True:
        # Exponents j with e^{-jt} <= 2^-(size + bits + 1) are left out: less than a unit together.
        cut = max(1, -(-(size + bits + 1) * LOG2E_SCALE * denominator // (LOG2E_LOW * numerator)))
        kept = bisect_left(layout.exponents, cut)
        work = max(64, size + bits + layout.power_errors[kept - 1].bit_length())
        budget.check_bits(work)
        powers = layout.powers(numerator, denominator, work, kept)
        value = sum(map(int.__mul__, coefficients, powers)) >> (work - bits)
        # The errors of the powers together, of what is left out, and of rounding are below a unit each.
        error = 3
        missing = precision - abs(value).bit_length()
        if abs(value) > error and missing <= 0:
            scale = unit * (1 << bits) if bits >= 0 else unit / (1 << -bits)
            return PointValue(value, error, scale, 1 if value > 0 else -1)
        bits += missing + 2 if abs(value) > error else max(precision, (size + bits) // 4)


def sign_at_point(layout: Layout, t: Fraction, budget: Budget) -> int:
    """The sign of F at a rational t > 0; 0 only where F(t) = 0 exactly."""
    return point_value(layout, t, budget).sign


def magnitude_at(layout: Layout, t: Fraction, budget: Budget) -> int:
    """About log2 |F(t)| at a rational t > 0 with F(t) != 0: within 2."""
    found = point_value(layout, t, budget)
    scale = found.scale
    return abs(found.value).bit_length() - scale.numerator.bit_length() + scale.denominator.bit_length()


def _coefficients_of_z(layout: Layout, numerator: int, denominator: int) -> list[int]:
    """The coefficients of F(t, z)·denominator^degree at the powers of z."""
    degree = layout.degree
    result = [0] * len(layout.exponents)
    for k, (positions, coefficients) in enumerate(layout.columns):
        factor = numerator**k * denominator ** (degree - k)
        for i, c in zip(positions, coefficients, strict=True):
            result[i] += c * factor
    return result
