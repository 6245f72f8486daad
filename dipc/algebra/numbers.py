"""Exact numbers from strings and from Python values; enclosures as decimal strings; logarithms."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from operator import index
from typing import Any

import flint

from dipc.algebra.limits import LimitReached

# --- Exact numbers from Python values: where the library takes a rational ---------------------------------------------

#: The longest run of digits, and the largest power of ten, that a number may be written with.
DIGIT_LIMIT = 1000

_RATIONAL = re.compile(
    r"(?P<sign>[+-]?)(?:(?P<numerator>[0-9]+)/(?P<denominator>[0-9]+)|"
    r"(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?(?:[eE](?P<power>[+-]?[0-9]+))?)",
    re.ASCII,
)


class NotExact(ValueError):
    """Raised if a text is not an exact number.

    `reason` completes a sentence that begins with the text, such as "is not a rational number".
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def parse_rational(text: str) -> Fraction:
    """The exact value of a `text` such as `-1`, `1/3`, `0.25` (1/4) or `1e-3` (1/1000).

    Raises NotExact for anything else: "nan", "inf", "0x10", "1_000", digits outside ASCII, "1/0", more than DIGIT_LIMIT
    digits.
    """
    if len(text) > 2 * DIGIT_LIMIT + 2:
        raise NotExact(f"has more than {DIGIT_LIMIT} digits")
    match = _RATIONAL.fullmatch(text)
    if match is None:
        raise NotExact("is not a rational number")
    sign, numerator, denominator, whole, part, power_text = match.groups(default="")
    if numerator:
        if max(len(numerator), len(denominator)) > DIGIT_LIMIT:
            raise NotExact(f"has more than {DIGIT_LIMIT} digits")
        below = int(denominator)
        if not below:
            raise NotExact("divides by zero")
        above = int(numerator)
        return Fraction(-above if sign == "-" else above, below)
    digits = whole + part
    if not digits:
        raise NotExact("is not a rational number")
    if len(digits) > DIGIT_LIMIT or len(power_text) > 6 or abs(int(power_text or "0")) > DIGIT_LIMIT:
        raise NotExact(f"has more than {DIGIT_LIMIT} digits")
    power = int(power_text or "0") - len(part)
    above = -int(digits) if sign == "-" else int(digits)
    return Fraction(above * 10**power) if power >= 0 else Fraction(above, 10**-power)


def exact_rational(value: object, what: str) -> Fraction:
    """`value` as a Fraction; `what` names it in error messages.

    Raises TypeError for floats and other inexact values, ValueError for a text that is not a rational number.
    """
    match value:
        case bool():
            raise TypeError(f"{what} must be a number, not a truth value")
        case Fraction() | int():
            return Fraction(value)
        case Decimal() if value.is_finite():
            return Fraction(value)
        case str():
            try:
                return parse_rational(value.strip())
            except NotExact as error:
                raise ValueError(f"{what}: {value!r} {error.reason}") from None
        case float():
            suggested = repr(value) if value == value and abs(value) != float("inf") else "1/3"
            raise TypeError(
                f"{what} = {value!r} is a binary floating-point number, which is not exact: "
                f'give a text such as "{suggested}" or a fractions.Fraction'
            )
    rational = _foreign_rational(value)
    if rational is not None:
        return rational
    raise TypeError(f"{what} must be an int, a fractions.Fraction or a text such as '1/3', not {type(value).__name__}")


def exact_eps(value: object) -> Fraction:
    """`value` as a positive Fraction.

    Raises TypeError for inexact values, ValueError for a text that is not a rational number and for a number <= 0.
    """
    eps = exact_rational(value, "eps")
    if eps <= 0:
        raise ValueError(f"eps must be positive, not {eps}")
    return eps


def exact_confidence(value: object) -> Fraction:
    """`value` as a Fraction strictly between 0 and 1.

    Raises TypeError for inexact values, ValueError for a text that is not a rational number and for any other number.
    """
    confidence = exact_rational(value, "confidence")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, but it is {confidence}")
    return confidence


_GRID_POWER = re.compile(r"\s*([0-9]{1,9})\s*(?:\^|\*\*)\s*(-?[0-9]{1,4})\s*")


def exact_grid(given: Fraction | int | str) -> Fraction:
    """Return the distance of neighboring points of a grid, `given` as a number or a text such as "1/1024" or "2^-20".

    Raises TypeError for floats, ValueError for a number that is not positive.
    """
    power = _GRID_POWER.fullmatch(given) if isinstance(given, str) else None
    if power is not None and int(power[1]):
        return Fraction(int(power[1])) ** int(power[2])
    value = exact_rational(given, "grid")
    if value <= 0:
        raise ValueError(f"the grid must be positive, not {value}")
    return value


def _foreign_rational(value: object) -> Fraction | None:
    """`value` as a Fraction if it is an integer of another library or a SymPy rational; else None."""
    try:
        return Fraction(index(value))  # type: ignore[arg-type]
    except TypeError:
        pass
    p, q = getattr(value, "p", None), getattr(value, "q", None)
    if isinstance(p, int) and isinstance(q, int) and q > 0:
        return Fraction(p, q)
    return None


# --- Decimal texts of enclosures: rounded outwards, so that the text itself is a proved bound -------------------------

#: Powers of ten of the leading digit; beyond them the text uses scientific notation, as `1.25e-30`.
_LEAST_PLAIN = -7
_GREATEST_PLAIN = 21


def round_down(value: Fraction, digits: int) -> Fraction:
    """The greatest decimal with at most `digits` significant digits that is <= `value`."""
    if not value:
        return value
    quantum = Fraction(10) ** (magnitude(value) - digits + 1)
    return Fraction(value // quantum) * quantum


def round_up(value: Fraction, digits: int) -> Fraction:
    """The least decimal with at most `digits` significant digits that is >= `value`."""
    return -round_down(-value, digits)


def magnitude(value: Fraction) -> int:
    """The power of ten of the leading digit of a nonzero `value`: the e with 10^e <= |`value`| < 10^(e+1)."""
    numerator, denominator = abs(value.numerator), value.denominator
    # The number of bits gives the power up to an error of one, which exact comparisons correct.
    power = (numerator.bit_length() - denominator.bit_length()) * 30103 // 100000
    while Fraction(numerator, denominator) >= Fraction(10) ** (power + 1):
        power += 1
    while Fraction(numerator, denominator) < Fraction(10) ** power:
        power -= 1
    return power


def _decimals(denominator: int) -> int:
    """The number of decimals of 1/`denominator`. Raises ValueError if they do not end."""
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
    """The exact decimal text of `value`. Raises ValueError if the value has no finite decimal expansion."""
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
    """The exact text of `value`: a decimal if its expansion is finite, else `p/q`."""
    try:
        return decimal(value)
    except ValueError:
        return str(value)


def outward(low: Fraction, high: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """The ends of an interval around [`low`, `high`], as decimals of at most `digits` significant digits."""
    return round_down(low, digits), round_up(high, digits)


# --- Logarithms of rationals, enclosed --------------------------------------------------------------------------------


def log_enclosure(low: Fraction, high: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Decimals of at most `digits` digits, below log(`low`) and above log(`high`), where 0 < low <= high."""
    if low == high == 1:
        return Fraction(0), Fraction(0)
    with flint.ctx.workprec(64 + 8 * digits):
        below, above = flint.arb(to_fmpq(low)).log(), flint.arb(to_fmpq(high)).log()
        return outward(dyadic(below.lower()), dyadic(above.upper()), digits)


# --- Numbers of FLINT -------------------------------------------------------------------------------------------------

#: Numbers above 2^n or below 2^-n, for this n, are not written out: an exact text would fill the memory.
_MOST_MAGNITUDE = 5_000_000


def to_fmpq(value: Fraction | int) -> flint.fmpq:
    """The rational number `value` as FLINT's type."""
    return flint.fmpq(value.numerator, value.denominator)


def to_fraction(value: Any) -> Fraction:
    """The rational number `value`, of FLINT's type, as a Fraction."""
    return Fraction(int(value.p), int(value.q))


def dyadic(exact: flint.arb) -> Fraction:
    """The value of `exact`, a ball of radius 0. Raises LimitReached if writing it out would fill the memory."""
    mantissa, exponent = exact.man_exp()
    if mantissa != 0 and abs(int(exponent) + int(mantissa).bit_length()) > _MOST_MAGNITUDE:
        raise LimitReached(None, "a number is too large or too small to be written out")
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
