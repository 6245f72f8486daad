"""Exact numbers from the Python side: what may be given where the program wants a rational."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from operator import index

#: The longest run of digits (and the largest power of ten) taken for one number.
DIGIT_LIMIT = 1000

_RATIONAL = re.compile(
    r"(?P<sign>[+-]?)(?:(?P<numerator>[0-9]+)/(?P<denominator>[0-9]+)|"
    r"(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?(?:[eE](?P<power>[+-]?[0-9]+))?)",
    re.ASCII,
)


class NotExact(ValueError):
    """A text that is no exact number; `reason` is the predicate of a sentence about it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def parse_rational(text: str) -> Fraction:
    """The exact value of `-1`, `1/3`, `0.25` (1/4) or `1e-3` (1/1000).

    Raises NotExact for anything else: `nan`, `inf`, `0x10`, `1_000`, digits beyond ASCII, `1/0`, numbers beyond
    DIGIT_LIMIT digits.
    """
    if len(text) > 2 * DIGIT_LIMIT + 2:
        raise NotExact(f"has more than {DIGIT_LIMIT} digits")
    match = _RATIONAL.fullmatch(text)
    if match is None:
        raise NotExact("is not a rational number")
    groups = match.groupdict()
    if groups["numerator"] is not None:
        if max(len(groups["numerator"]), len(groups["denominator"])) > DIGIT_LIMIT:
            raise NotExact(f"has more than {DIGIT_LIMIT} digits")
        if not int(groups["denominator"]):
            raise NotExact("divides by zero")
        value = Fraction(int(groups["numerator"]), int(groups["denominator"]))
        return -value if groups["sign"] == "-" else value
    digits = (groups["whole"] or "") + (groups["part"] or "")
    if not digits:
        raise NotExact("is not a rational number")
    power_text = groups["power"] or "0"
    if len(digits) > DIGIT_LIMIT or len(power_text) > 6 or abs(int(power_text)) > DIGIT_LIMIT:
        raise NotExact(f"has more than {DIGIT_LIMIT} digits")
    power = int(power_text) - len(groups["part"] or "")
    value = Fraction(int(digits)) * Fraction(10) ** power
    return -value if groups["sign"] == "-" else value


def exact_rational(value: object, what: str) -> Fraction:
    """`value` as a Fraction; `what` names it in the error.

    Raises TypeError for floats and other inexact things, ValueError for a text that is not a rational.
    """
    match value:
        case bool():
            raise TypeError(f"{what} is a number, not a truth value")
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
            raise TypeError(
                f"{what} = {value!r} is a binary floating-point number, which is not exact; "
                f'give a text such as "{_suggest(value)}" or a fractions.Fraction'
            )
    rational = _foreign_rational(value)
    if rational is not None:
        return rational
    raise TypeError(f"{what} must be an int, a fractions.Fraction or a text such as '1/3', not {type(value).__name__}")


def _suggest(value: float) -> str:
    return repr(value) if value == value and abs(value) != float("inf") else "1/3"


def _foreign_rational(value: object) -> Fraction | None:
    """Integers of other libraries, and SymPy's rationals, which carry integers p and q; nothing is imported for it."""
    try:
        return Fraction(index(value))  # type: ignore[arg-type]
    except TypeError:
        pass
    p, q = getattr(value, "p", None), getattr(value, "q", None)
    if isinstance(p, int) and isinstance(q, int) and q > 0:
        return Fraction(p, q)
    return None
