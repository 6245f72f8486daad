"""Numbers in a text with `sqrt`, `log`, `exp` and `erfc`, as multiples of a power of eps."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dipc.algebra.reals import ZERO, NotReal, Real
from dipc.text import ast
from dipc.text.ast import BinaryOp, UnaryOp, walk
from dipc.text.diagnostic import Span


class FormError(Exception):
    """Raised if an expression does not have the required form, at the place `span`.

    The form is a constant times a power of eps or, for a rate, constant + slope*eps. `reason` says what is wrong; it is
    None if the mistake has already been reported.
    """

    def __init__(self, span: Span, reason: str | None) -> None:
        super().__init__(reason)
        self.span = span
        self.reason = reason


#: The functions of constants.
_FUNCTIONS: dict[str, Callable[[Real], Real]] = {"log": Real.log, "exp": Real.exp, "erfc": Real.erfc}


def is_irrational(tree: object) -> bool:
    """Return True if the expression `tree` contains `sqrt`, `log`, `exp` or `erfc`, and so may be irrational."""
    return any(isinstance(node, ast.Call) and node.function in ("sqrt", *_FUNCTIONS) for node in walk(tree))


def monomial(expr: ast.Expr, constant: Callable[[ast.Expr], Fraction]) -> tuple[Real, Fraction]:
    """Return (c, k) if `expr` is c·eps^k; raise FormError for any other expression.

    `constant` evaluates an expression without eps and without `sqrt`, `log`, `exp` and `erfc`.
    """
    try:
        return _monomial(expr, constant)
    except NotReal as reason:
        raise FormError(expr.span, str(reason)) from None


def _monomial(expr: ast.Expr, constant: Callable[[ast.Expr], Fraction]) -> tuple[Real, Fraction]:
    if not is_irrational(expr) and not any(
        isinstance(node, ast.Eps) or (isinstance(node, ast.Binary) and node.op is BinaryOp.POWER) for node in walk(expr)
    ):
        return Real.from_rational(constant(expr)), Fraction(0)
    match expr:
        case ast.Eps():
            return Real.from_rational(1), Fraction(1)
        case ast.Unary(UnaryOp.NEGATE, operand):
            factor, power = _monomial(operand, constant)
            return -factor, power
        case ast.Binary(BinaryOp.MULTIPLY, left, right):
            (a, j), (b, k) = _monomial(left, constant), _monomial(right, constant)
            return _few_digits(a * b, expr.span), j + k
        case ast.Binary(BinaryOp.DIVIDE, left, right):
            (a, j), (b, k) = _monomial(left, constant), _monomial(right, constant)
            if not b.sign:
                raise FormError(right.span, "this divides by zero")
            return _few_digits(a / b, expr.span), j - k
        case ast.Binary(BinaryOp.ADD | BinaryOp.SUBTRACT as op, left, right):
            (a, j), (b, k) = _monomial(left, constant), _monomial(right, constant)
            if j != k and a.sign and b.sign:
                raise FormError(expr.span, "this adds different powers of eps")
            total = a + (b if op is BinaryOp.ADD else -b)
            return _few_digits(total, expr.span), j if a.sign else k
        case ast.Binary(BinaryOp.POWER, base, exponent):
            factor, power = _monomial(base, constant)
            count = constant(exponent)
            return power_of(factor, count, expr.span), power * count
        case ast.Call("sqrt", (inner,)):
            factor, power = _monomial(inner, constant)
            return factor.sqrt(), power / 2
        case ast.Call(function, (inner,)) if function in _FUNCTIONS:
            factor, power = _monomial(inner, constant)
            if power and factor.sign:
                raise FormError(
                    expr.span, f"`{function}` can be applied only to constants here, but this has eps in it"
                )
            return _few_digits(_FUNCTIONS[function](factor if factor.sign else ZERO), expr.span), Fraction(0)
        case ast.Call("abs", (inner,)):
            factor, power = _monomial(inner, constant)
            return abs(factor), power
        case ast.Call("min" | "max" as function, arguments):
            numbers = [_monomial(argument, constant) for argument in arguments]
            if len({power for factor, power in numbers if factor.sign}) > 1:
                raise FormError(expr.span, "this compares different powers of eps")
            chosen = numbers[0]
            for number in numbers[1:]:
                if (number[0] - chosen[0]).sign == (1 if function == "max" else -1):
                    chosen = number
            return chosen
    raise FormError(expr.span, "this is not a product of constants and powers of eps")


#: The greatest exponent, and the most bits of a number.
_MOST_POWER, _MOST_BITS = 1000, 8000


def power_of(base: Real, exponent: Fraction, span: Span) -> Real:
    """Return `base`^`exponent`, an expression at `span`.

    Raises FormError for a number that is too large and for a division by zero, and NotReal for a root of a negative
    number.
    """
    if abs(exponent) > _MOST_POWER:
        raise FormError(span, f"an exponent must be at most {_MOST_POWER}")
    size = max(base.base.numerator.bit_length(), base.base.denominator.bit_length())
    if (size - 1) * abs(exponent) > _MOST_BITS:
        raise FormError(span, "this number has too many digits")
    if not base.sign and exponent <= 0:
        if exponent:
            raise FormError(span, "this divides by zero")
        return Real.from_rational(1)
    if exponent.denominator == 1:
        return base.power(int(exponent))
    return (base.log() * Real.from_rational(exponent)).exp() if base.sign else base


def _few_digits(value: Real, span: Span) -> Real:
    if max(value.base.numerator.bit_length(), value.base.denominator.bit_length()) > _MOST_BITS:
        raise FormError(span, "this number has too many digits")
    return value
