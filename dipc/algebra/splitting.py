"""Which form a value of selections is, and where: the functions whose signs tell, and the form at one eps."""

from __future__ import annotations

from itertools import combinations, product
from typing import assert_never

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.parametric import Parametric, TooLarge
from dipc.algebra.selection import (
    MOST_CANDIDATES,
    Combination,
    Kind,
    Operation,
    Selected,
    Selection,
    Signs,
    coefficient_sign,
    combined,
)

#: Functions whose signs tell which form a value is.
MOST_CONDITIONS = 256


def candidates(value: Selected) -> list[Parametric]:
    """Forms of which the value is one at each eps. Raises TooLarge for too many."""
    found: list[Parametric] = []
    for form in _all_candidates(value):
        if form not in found:
            found.append(form)
        if len(found) > MOST_CANDIDATES:
            raise TooLarge
    return found


def _all_candidates(value: Selected) -> list[Parametric]:
    match value:
        case Parametric():
            return [value]
        case Selection(kind=Kind.ABS):
            inner = candidates(value.arguments[0])
            return [*inner, *(-form for form in inner)]
        case Selection():
            return [form for argument in value.arguments for form in candidates(argument)]
        case Combination():
            left, right = candidates(value.left), candidates(value.right)
            if len(left) * len(right) > MOST_CANDIDATES:
                raise TooLarge
            return [_combined(value.operation, a, b) for a, b in product(left, right) if not _is_zero_divisor(value, b)]
    assert_never(value)


def _is_zero_divisor(value: Combination, divisor: Parametric) -> bool:
    """A candidate that is the zero function is never the value of a divisor."""
    return value.operation is Operation.QUOTIENT and not divisor.numerator


def _combined(operation: Operation, left: Parametric, right: Parametric) -> Parametric:
    result = combined(operation, left, right)
    assert isinstance(result, Parametric)
    return result


def conditions(value: Selected) -> list[ExpPoly]:
    """Functions, none of them zero, on whose signs it depends which candidate the value is. The value does not depend
    on an unknown.

    Between two neighboring roots of all of them the value is one form, and no denominator met on the way is 0.
    Raises TooLarge for too many.
    """
    found: list[ExpPoly] = []
    for function in _all_conditions(value):
        if not coefficient_sign(function) and function not in found:
            found.append(function)
        if len(found) > MOST_CONDITIONS:
            raise TooLarge
    return found


def _all_conditions(value: Selected) -> list[ExpPoly]:
    match value:
        case Parametric():
            return [value.denominator]
        case Selection():
            found = [function for argument in value.arguments for function in conditions(argument)]
            if value.kind is Kind.ABS:
                forms = candidates(value.arguments[0])
            else:
                several = [candidates(argument) for argument in value.arguments]
                forms = [a + -b for first, second in combinations(several, 2) for a, b in product(first, second)]
            for form in forms:
                found += [part for part in (form.numerator_flat(), form.denominator) if not part.is_zero()]
            return found
        case Combination():
            # A quotient's divisor becomes a denominator.
            below = candidates(value.right) if value.operation is Operation.QUOTIENT else []
            divisors = [form.numerator_flat() for form in below if form.numerator]
            return [*conditions(value.left), *conditions(value.right), *divisors]
    assert_never(value)


def resolve(value: Selected, sign: Signs) -> Parametric:
    """The form that the value is where `sign` tells the signs of functions: at one eps, or all along a gap between
    the roots of its `conditions`. Raises ZeroDivisionError where a divisor is 0."""
    match value:
        case Parametric():
            return value
        case Selection(kind=Kind.ABS):
            inner = resolve(value.arguments[0], sign)
            return -inner if _sign_of(inner, sign) < 0 else inner
        case Selection():
            best, *rest = (resolve(argument, sign) for argument in value.arguments)
            for form in rest:
                difference = _sign_of(form + -best, sign)
                if difference < 0 if value.kind is Kind.MIN else difference > 0:
                    best = form
            return best
        case Combination():
            return _combined(value.operation, resolve(value.left, sign), resolve(value.right, sign))
    assert_never(value)


def _sign_of(form: Parametric, sign: Signs) -> int:
    numerator, below = form.numerator_flat(), sign(form.denominator)
    if not below:
        raise ZeroDivisionError
    return 0 if numerator.is_zero() else sign(numerator) * below
