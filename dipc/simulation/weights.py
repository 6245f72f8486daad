"""The weights of `choose` at one eps: exact rationals as long as no `exp` is met, 60 decimal digits from there on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from fractions import Fraction

from dipc.lang import ast
from dipc.lang.ast import BinaryOp, UnaryOp

_CONTEXT = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[DivisionByZero, InvalidOperation, Overflow])

#: The rounding error allowed in a weight or a sum of weights; no simulation can notice a smaller error.
_SLACK = Decimal("1e-12")

Weight = Fraction | Decimal


def weight(expr: ast.Expr, exact: Callable[[ast.Expr], Fraction]) -> Weight:
    """The weight; `exact` evaluates what has no `exp` in it.

    Raises ArithmeticError where it has no value, or one beyond all bounds.
    """
    match expr:
        case ast.Call("exp", (argument,)):
            power = exact(argument)
            return _CONTEXT.exp(_decimal(power)) if power else Fraction(1)
        case ast.Unary(UnaryOp.NEGATE, operand):
            inner = weight(operand, exact)
            return -inner if isinstance(inner, Fraction) else _CONTEXT.minus(inner)
        case ast.Binary(BinaryOp.POWER, base, exponent):
            below, times = weight(base, exact), exact(exponent)
            return below ** int(times) if isinstance(below, Fraction) else _CONTEXT.power(below, int(times))
        case ast.Binary(op, first, second):
            return _combined(op, weight(first, exact), weight(second, exact))
        case _:
            return exact(expr)


def _combined(op: BinaryOp, left: Weight, right: Weight) -> Weight:
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        match op:
            case BinaryOp.ADD:
                return left + right
            case BinaryOp.SUBTRACT:
                return left - right
            case BinaryOp.MULTIPLY:
                return left * right
            case _:
                return left / right
    first, second = _decimal(left), _decimal(right)
    match op:
        case BinaryOp.ADD:
            return _CONTEXT.add(first, second)
        case BinaryOp.SUBTRACT:
            return _CONTEXT.subtract(first, second)
        case BinaryOp.MULTIPLY:
            return _CONTEXT.multiply(first, second)
        case _:
            return _CONTEXT.divide(first, second)


def _decimal(value: Weight) -> Decimal:
    if isinstance(value, Decimal):
        return value
    return _CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))


def shares(weights: Sequence[Weight]) -> list[float] | None:
    """The weights as floats; None if they are no distribution: one is negative, or they do not sum to 1."""
    total: Weight = Fraction(0)
    for item in weights:
        total = _combined(BinaryOp.ADD, total, item)
    if isinstance(total, Fraction):
        fits = total == 1
    else:
        fits = _CONTEXT.abs(_CONTEXT.subtract(total, Decimal(1))) <= _SLACK
    if not fits or any(item < (0 if isinstance(item, Fraction) else -_SLACK) for item in weights):
        return None
    return [max(0.0, float(item)) for item in weights]
