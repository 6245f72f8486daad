"""Values of claim expressions with min, max and abs: trees of selections and arithmetic over forms.

A value is a Form where it can be one. Constant factors and summands are moved into min and max, and arguments that are
never selected are dropped, so that most betas come to one selection of forms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import assert_never

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.form import FLAT, Form, TooLarge

#: Forms that one value may come to.
MOST_CANDIDATES = 64


class Kind(StrEnum):
    """What is selected from the arguments; the name is SymPy's."""

    MIN = "Min"
    MAX = "Max"
    ABS = "Abs"


class Operation(StrEnum):
    """Arithmetic that could not be moved into a selection."""

    SUM = "+"
    PRODUCT = "*"
    QUOTIENT = "/"


@dataclass(frozen=True, slots=True)
class Selection:
    """The least or the greatest argument at each eps, or the absolute value of the only one."""

    kind: Kind
    arguments: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Combination:
    """left operation right. The divisor of a quotient is 0 nowhere on the intervals that are asked about."""

    operation: Operation
    left: Value
    right: Value


Value = Form | Selection | Combination


def constant_of(value: Value) -> Fraction | None:
    """The value where it is a rational number, else None."""
    return value.constant() if isinstance(value, Form) else None


# --- arithmetic ------------------------------------------------------------------------------------


def plus(left: Value, right: Value) -> Value:
    """left + right."""
    if isinstance(left, Form) and isinstance(right, Form):
        return left + right
    if isinstance(right, Form):
        return plus(right, left)
    if isinstance(left, Form) and not left.numerator:
        return right
    if isinstance(left, Form) and isinstance(right, Selection) and right.kind is not Kind.ABS:
        return select(right.kind, [plus(left, argument) for argument in right.arguments])
    return Combination(Operation.SUM, left, right)


def negated(value: Value) -> Value:
    """-value."""
    return times(Form.number(-1), value)


def times(left: Value, right: Value) -> Value:
    """left · right."""
    if isinstance(left, Form) and isinstance(right, Form):
        return left * right
    if isinstance(right, Form):
        return times(right, left)
    if not isinstance(left, Form):
        return Combination(Operation.PRODUCT, left, right)
    if not left.numerator:
        return left
    if left.constant() == 1:
        return right
    sign = sure_sign(left)
    match right:
        case Selection(kind=Kind.ABS) if sign > 0:
            return select(Kind.ABS, [times(left, right.arguments[0])])
        case Selection(kind=Kind.MIN | Kind.MAX) if sign:
            kind = right.kind if sign > 0 else Kind.MAX if right.kind is Kind.MIN else Kind.MIN
            return select(kind, [times(left, argument) for argument in right.arguments])
        case Combination(operation=Operation.SUM) if sign:
            return plus(times(left, right.left), times(left, right.right))
    return Combination(Operation.PRODUCT, left, right)


def over(left: Value, right: Value) -> Value | None:
    """left / right, None where the divisor depends on an infinite distance. ZeroDivisionError for the zero function.

    The caller has the divisor proved to be 0 nowhere on the intervals.
    """
    if isinstance(right, Form):
        if isinstance(left, Form):
            return left / right
        inverse = Form.number(1) / right
        return None if inverse is None else times(inverse, left)
    if not is_flat(right):
        return None
    return Combination(Operation.QUOTIENT, left, right)


def power(value: Value, exponent: int) -> Value:
    """value^exponent, for exponent >= 0."""
    if isinstance(value, Form):
        return value.power(exponent)
    if exponent == 0:
        return Form.number(1)
    if exponent > MOST_CANDIDATES:
        raise TooLarge
    result: Value = value
    for _ in range(exponent - 1):
        result = times(result, value)
    return result


def exponential(value: Value) -> Value | None:
    """exp of a value that is, or selects from, rational multiples of eps; else None."""
    match value:
        case Form():
            return value.exponential()
        case Selection(kind=Kind.MIN | Kind.MAX):
            # exp is increasing, so it changes places with min and max.
            inner = [exponential(argument) for argument in value.arguments]
            known = [argument for argument in inner if argument is not None]
            return select(value.kind, known) if len(known) == len(inner) else None
    return None


Signs = Callable[[ExpPoly], int]
"""The sign that a function is known to have wherever it is asked about; 0 where that is not known."""


def select(kind: Kind, arguments: list[Value], signs: Signs | None = None) -> Value:
    """The selection from at least one argument, with those left out that are never needed.

    Where arguments differ by what depends on an infinite distance A, the one that wins for all large A is known from
    `signs`; without it they all stay.
    """
    judge = signs or coefficient_sign
    if kind is Kind.ABS:
        (value,) = arguments
        sign = _final_sign(value, judge) if isinstance(value, Form) else None
        if sign is None:
            return Selection(Kind.ABS, (value,))
        return value if sign >= 0 else negated(value)
    flat: list[Value] = []
    for value in arguments:
        inside = value.arguments if isinstance(value, Selection) and value.kind is kind else (value,)
        flat += [argument for argument in inside if argument not in flat]
    kept: list[Value] = []
    for value in flat:
        if any(_wins(kind, other, value, judge) for other in kept):
            continue
        kept = [other for other in kept if not _wins(kind, value, other, judge)]
        kept.append(value)
        if len(kept) > MOST_CANDIDATES:
            raise TooLarge
    return kept[0] if len(kept) == 1 else Selection(kind, tuple(kept))


def _wins(kind: Kind, left: Value, right: Value, judge: Signs) -> bool:
    """Whether `left` may be taken for `right` everywhere."""
    if not isinstance(left, Form) or not isinstance(right, Form):
        return False
    difference = left + -right
    sign = _final_sign(difference, judge)
    return sign is not None and (sign <= 0 if kind is Kind.MIN else sign >= 0)


def _final_sign(value: Form, judge: Signs) -> int | None:
    """The sign of the value for every eps asked about and all large enough infinite distances; None if not known."""
    if not value.numerator:
        return 0
    leading = max(value.numerator, key=lambda growth: (growth[1], growth[0]))
    # What does not grow is compared where it is needed, piece by piece; here only what is plain to see.
    judge = coefficient_sign if leading == FLAT else judge
    return (judge(value.numerator[leading]) * judge(value.denominator)) or None


def sure_sign(value: Form) -> int:
    """1 or -1 where the value has that sign for every eps > 0 and every infinite distance, by the signs of its
    coefficients; 0 where these differ."""
    signs = {coefficient_sign(part) for part in value.numerator.values()}
    sign = signs.pop() if len(signs) == 1 else 0
    return sign * coefficient_sign(value.denominator)


def coefficient_sign(value: ExpPoly) -> int:
    """1 or -1 where all coefficients have that sign, and so the function for every eps > 0; 0 where they differ."""
    signs = {1 if c > 0 else -1 for _, _, c in value.terms()}
    return signs.pop() if len(signs) == 1 else 0


# --- infinite distances, sizes ---------------------------------------------------------------------


def is_flat(value: Value) -> bool:
    """Whether the value does not depend on an infinite distance."""
    match value:
        case Form():
            return value.numerator.keys() <= {FLAT}
        case Selection():
            return all(map(is_flat, value.arguments))
        case Combination():
            return is_flat(value.left) and is_flat(value.right)
    assert_never(value)


def limit(value: Value) -> Value | None:
    """The limit for the infinite distance growing without bound, for every eps; None where none was found.

    Min, max and abs are continuous, so they change places with limits of their arguments.
    """
    match value:
        case Form():
            return value.limit()
        case Selection():
            inner = [limit(argument) for argument in value.arguments]
            known = [argument for argument in inner if argument is not None]
            return select(value.kind, known) if len(known) == len(inner) else None
        case Combination():
            left, right = limit(value.left), limit(value.right)
            if left is None or right is None:
                return None
            match value.operation:
                case Operation.SUM:
                    return plus(left, right)
                case Operation.PRODUCT:
                    return times(left, right)
                case Operation.QUOTIENT:
                    return over(left, right)  # the divisor does not depend on the distance
            assert_never(value.operation)
    assert_never(value)


def bits(value: Value) -> int:
    """Of the longest integer in a coefficient or an exponent."""
    match value:
        case Form():
            return value.bits()
        case Selection():
            return max(map(bits, value.arguments))
        case Combination():
            return max(bits(value.left), bits(value.right))
    assert_never(value)
