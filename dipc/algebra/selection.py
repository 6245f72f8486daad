"""Values of claim expressions with min, max and abs: trees of selections and arithmetic.

A value is a Parametric where it can be one. Constant factors and summands are moved into min and max, and arguments
that are never selected are dropped, so that most betas come to one selection of closed forms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import assert_never

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.parametric import Parametric, TooLarge

#: Closed forms that one value may come to.
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
    arguments: tuple[Selected, ...]


@dataclass(frozen=True, slots=True)
class Combination:
    """left operation right. The divisor of a quotient is 0 nowhere on the intervals that are asked about."""

    operation: Operation
    left: Selected
    right: Selected


Selected = Parametric | Selection | Combination


def constant_of(value: Selected) -> Fraction | None:
    """The value where it is a rational number, else None."""
    return value.constant() if isinstance(value, Parametric) else None


# --- arithmetic ------------------------------------------------------------------------------------


def plus(left: Selected, right: Selected) -> Selected:
    """left + right."""
    if isinstance(left, Parametric) and isinstance(right, Parametric):
        return left + right
    if isinstance(right, Parametric):
        return plus(right, left)
    if isinstance(left, Parametric) and not left.numerator:
        return right
    if isinstance(left, Parametric) and isinstance(right, Selection) and right.kind is not Kind.ABS:
        return select(right.kind, [plus(left, argument) for argument in right.arguments])
    return Combination(Operation.SUM, left, right)


def negated(value: Selected) -> Selected:
    """-value."""
    return times(Parametric.number(-1), value)


def times(left: Selected, right: Selected) -> Selected:
    """left · right."""
    if isinstance(left, Parametric) and isinstance(right, Parametric):
        return left * right
    if isinstance(right, Parametric):
        return times(right, left)
    if not isinstance(left, Parametric):
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


def over(left: Selected, right: Selected) -> Selected:
    """left / right. ZeroDivisionError for the zero function.

    The caller has the divisor proved to be 0 nowhere on the intervals, or leaves that open with the unknowns.
    """
    if isinstance(right, Parametric):
        inverse = Parametric.number(1) / right
        if inverse is not None:
            quotient = left / right if isinstance(left, Parametric) else times(inverse, left)
            assert quotient is not None
            return quotient
    return Combination(Operation.QUOTIENT, left, right)


def power(value: Selected, exponent: int) -> Selected:
    """value^exponent, for exponent >= 0."""
    if isinstance(value, Parametric):
        return value.power(exponent)
    if exponent == 0:
        return Parametric.number(1)
    if exponent > MOST_CANDIDATES:
        raise TooLarge
    result: Selected = value
    for _ in range(exponent - 1):
        result = times(result, value)
    return result


def exponential(value: Selected) -> Selected | None:
    """exp of a value that is, or selects from, rational multiples of eps; else None."""
    match value:
        case Parametric():
            return value.exponential()
        case Selection(kind=Kind.MIN | Kind.MAX):
            # exp is increasing, so it changes places with min and max.
            inner = [exponential(argument) for argument in value.arguments]
            known = [argument for argument in inner if argument is not None]
            return select(value.kind, known) if len(known) == len(inner) else None
    return None


Signs = Callable[[ExpPoly], int]
"""The sign that a function is known to have wherever it is asked about; 0 where that is not known."""


def select(kind: Kind, arguments: list[Selected], far: Signs | None = None) -> Selected:
    """The selection from at least one argument, with those left out that are never needed.

    With `far` that is for a large enough unknown only: of arguments that differ by what grows with it, the signs of
    functions of eps tell which one wins. Without, it is for all values of the unknowns.
    """
    if kind is Kind.ABS:
        (value,) = arguments
        sign = _sign(value, far) if isinstance(value, Parametric) else None
        if sign is None:
            return Selection(Kind.ABS, (value,))
        return value if sign >= 0 else negated(value)
    flat: list[Selected] = []
    for value in arguments:
        inside = value.arguments if isinstance(value, Selection) and value.kind is kind else (value,)
        flat += [argument for argument in inside if argument not in flat]
    kept: list[Selected] = []
    for value in flat:
        if any(_wins(kind, other, value, far) for other in kept):
            continue
        kept = [other for other in kept if not _wins(kind, value, other, far)]
        kept.append(value)
        if len(kept) > MOST_CANDIDATES:
            raise TooLarge
    return kept[0] if len(kept) == 1 else Selection(kind, tuple(kept))


def _wins(kind: Kind, left: Selected, right: Selected, far: Signs | None) -> bool:
    """Whether `left` may be taken for `right` everywhere."""
    if not isinstance(left, Parametric) or not isinstance(right, Parametric):
        return False
    sign = _sign(left + -right, far)
    return sign is not None and (sign <= 0 if kind is Kind.MIN else sign >= 0)


def _sign(value: Parametric, far: Signs | None) -> int | None:
    """The sign of the value wherever it is asked about, with `far` for a large enough unknown; None if not known."""
    if not value.numerator:
        return 0
    plain = sure_sign(value)
    if plain or far is None or len(value.unknowns()) != 1:
        return plain or None
    leading = max(value.numerator, key=lambda factors: (factors[0][2], factors[0][1]) if factors else (Fraction(0), 0))
    # What does not grow is compared where it is needed, cell by cell; here only what is plain to see.
    judge = far if leading else coefficient_sign
    return (judge(value.numerator[leading]) * judge(value.denominator)) or None


def sure_sign(value: Parametric) -> int:
    """1 or -1 where the value has that sign for every eps > 0 and all values > 0 of the unknowns, and that or none
    where some are 0, by the signs of its coefficients; 0 where these differ."""
    signs = {coefficient_sign(part) for part in value.numerator.values()}
    sign = signs.pop() if len(signs) == 1 else 0
    return sign * coefficient_sign(value.denominator)


def coefficient_sign(value: ExpPoly) -> int:
    """1 or -1 where all coefficients have that sign, and so the function for every eps > 0; 0 where they differ."""
    signs = {1 if c > 0 else -1 for _, _, c in value.terms()}
    return signs.pop() if len(signs) == 1 else 0


# --- unknowns, sizes -------------------------------------------------------------------------------


def unknowns(value: Selected) -> frozenset[str]:
    """The names of the unknowns that the value depends on."""
    match value:
        case Parametric():
            return value.unknowns()
        case Selection():
            return frozenset[str]().union(*map(unknowns, value.arguments))
        case Combination():
            return unknowns(value.left) | unknowns(value.right)
    assert_never(value)


def rebuilt(
    value: Selected, change: Callable[[Parametric], Parametric | None], far: Signs | None = None
) -> Selected | None:
    """The value put together again from parts that were changed; None where one of them came to None.

    `change` keeps sums, products and quotients, and the order of values. ZeroDivisionError for a divisor that becomes
    the zero function.
    """
    match value:
        case Parametric():
            return change(value)
        case Selection():
            inner = [rebuilt(argument, change, far) for argument in value.arguments]
            known = [argument for argument in inner if argument is not None]
            return select(value.kind, known, far) if len(known) == len(inner) else None
        case Combination():
            left, right = rebuilt(value.left, change, far), rebuilt(value.right, change, far)
            return None if left is None or right is None else combined(value.operation, left, right)
    assert_never(value)


def combined(operation: Operation, left: Selected, right: Selected) -> Selected:
    """left operation right; ZeroDivisionError as for `over`."""
    match operation:
        case Operation.SUM:
            return plus(left, right)
        case Operation.PRODUCT:
            return times(left, right)
        case Operation.QUOTIENT:
            return over(left, right)
    assert_never(operation)


def limit(value: Selected, far: Signs) -> Selected | None:
    """The limit for the unknown growing without bound, for every eps of the intervals that `far` tells signs on; None
    where none was found.

    Far out it is known which arguments win. Min, max and abs are continuous, so they change places with limits.
    """
    settled = rebuilt(value, lambda leaf: leaf, far)
    return None if settled is None else rebuilt(settled, Parametric.limit)


def bits(value: Selected) -> int:
    """Of the longest integer in a coefficient or an exponent."""
    match value:
        case Parametric():
            return value.bits()
        case Selection():
            return max(map(bits, value.arguments))
        case Combination():
            return max(bits(value.left), bits(value.right))
    assert_never(value)
