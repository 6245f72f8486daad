"""Decimal texts of enclosures: rounded outwards, so that the text itself is a proved bound."""

from __future__ import annotations

from fractions import Fraction

#: Beyond these the text uses scientific notation, as `1.25e-30`.
_LEAST_PLAIN = -7
_GREATEST_PLAIN = 21


def round_down(value: Fraction, digits: int) -> Fraction:
    """The greatest decimal with at most `digits` significant digits that is <= value."""
    if not value:
        return value
    quantum = Fraction(10) ** (magnitude(value) - digits + 1)
    return Fraction(value // quantum) * quantum


def round_up(value: Fraction, digits: int) -> Fraction:
    """The least decimal with at most `digits` significant digits that is >= value."""
    return -round_down(-value, digits)


def magnitude(value: Fraction) -> int:
    """The power of ten of the leading digit: 10^e <= |value| < 10^(e+1). `value` is not zero."""
    numerator, denominator = abs(value.numerator), value.denominator
    # The number of bits gives the power within one; exact comparison settles it.
    power = (numerator.bit_length() - denominator.bit_length()) * 30103 // 100000
    while Fraction(numerator, denominator) >= Fraction(10) ** (power + 1):
        power += 1
    while Fraction(numerator, denominator) < Fraction(10) ** power:
        power -= 1
    return power


def _decimals(denominator: int) -> int:
    """The least n >= 0 with denominator | 10^n; raises ValueError where there is none."""
    twos = (denominator & -denominator).bit_length() - 1
    fives, rest = 0, denominator >> twos
    # Whole powers 5^(2^k) at a time: one 5 at a time is quadratic, and denominators may have a million digits.
    powers = [5]
    while rest % powers[-1] == 0:
        rest //= powers[-1]
        fives += 1 << (len(powers) - 1)
        powers.append(powers[-1] ** 2)
    for k in reversed(range(len(powers))):
        if rest % powers[k] == 0:
            rest //= powers[k]
            fives += 1 << k
    if rest != 1:
        raise ValueError("not a decimal number")
    return max(twos, fives)


def decimal(value: Fraction) -> str:
    """The decimal text of a decimal number exactly; ValueError for other rationals."""
    if not value:
        return "0"
    power = -_decimals(value.denominator)
    scaled = value * 10**-power
    digits = str(abs(scaled.numerator))
    stripped = digits.rstrip("0")
    power += len(digits) - len(stripped)
    sign = "-" if value < 0 else ""
    leading = power + len(stripped) - 1
    if not _LEAST_PLAIN <= leading <= _GREATEST_PLAIN:
        mantissa = stripped[0] + ("." + stripped[1:] if len(stripped) > 1 else "")
        return f"{sign}{mantissa}e{leading}"
    if power >= 0:
        return sign + stripped + "0" * power
    if len(stripped) > -power:
        return f"{sign}{stripped[:power]}.{stripped[power:]}"
    return f"{sign}0.{'0' * (-power - len(stripped))}{stripped}"


def exact_text(value: Fraction) -> str:
    """The number exactly: as a decimal where it is one with a moderate number of digits, else as `p/q`."""
    try:
        return decimal(value)
    except ValueError:
        return str(value)


def outward(low: Fraction, high: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Decimal numbers of at most `digits` significant digits that enclose [low, high]."""
    return round_down(low, digits), round_up(high, digits)
