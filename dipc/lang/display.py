"""Core values, types and expressions as people read them: in diagnostics, in the chain and in listings."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import assert_never

from dipc.lang.core import (
    AffineExpr,
    Apply,
    BoolType,
    Const,
    DomExpr,
    DomOp,
    DomType,
    IntType,
    Read,
    ReadElement,
    RealType,
    Slot,
    Type,
    Value,
)
from dipc.lang.precedence import Level, Written, applied, infixed, prefixed, signed_sum

_SHOWN_VALUES = 8


def show_value(value: Value) -> str:
    """`3`, `-1/2`, `bot`, `true`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def show_multiple(factor: Fraction, of: str = "eps") -> str:
    """`eps`, `eps/4`, `2*eps`, `-4*eps/9`."""
    above = of if abs(factor.numerator) == 1 else f"{abs(factor.numerator)}*{of}"
    below = "" if factor.denominator == 1 else f"/{factor.denominator}"
    return f"{'-' if factor < 0 else ''}{above}{below}"


def show_values(type_: DomType) -> str:
    """`{none, bot, top}`, `{0..3}`, or the first few values of a long list."""
    values = type_.values
    first, last = values[0], values[-1]
    if isinstance(first, Fraction) and isinstance(last, Fraction) and len(values) > 1:
        steps = all(isinstance(v, Fraction) and v == first + i for i, v in enumerate(values[:_SHOWN_VALUES]))
        if steps and first.denominator == 1 and last - first == len(values) - 1:
            return f"{{{first}..{last}}}"
    shown = ", ".join(show_value(value) for value in values[:_SHOWN_VALUES])
    return f"{{{shown}, ...}}" if len(values) > _SHOWN_VALUES else f"{{{shown}}}"


def show_type(type_: Type) -> str:
    """`bool`, `int`, `real`, `{0..3}`, or `answer = {none, bot, top}` for a named domain."""
    match type_:
        case BoolType():
            return "bool"
        case IntType():
            return "int"
        case RealType():
            return "real"
        case DomType(name=name):
            return show_values(type_) if name is None else f"{name} = {show_values(type_)}"
        case _:
            assert_never(type_)


def show_expression(expr: DomExpr, slots: Sequence[Slot]) -> str:
    """A DOM or bool expression with no more parentheses than it needs."""
    return _written(expr, slots).text


def show_affine(expr: AffineExpr, slots: Sequence[Slot]) -> str:
    """`2*r1 - r2/3 + x`; a constant 0 is left out beside terms."""
    pieces = [_product(coefficient, show_read(read, slots), slots) for coefficient, read in expr.terms]
    if not pieces or expr.constant != Const(Fraction(0)):
        pieces += _summands(expr.constant, slots)
    if pieces[0][0]:
        first = next((index for index, (minus, _) in enumerate(pieces) if not minus), 0)
        pieces.insert(0, pieces.pop(first))
    return signed_sum(pieces)


def _summands(expr: DomExpr, slots: Sequence[Slot]) -> list[tuple[bool, str]]:
    """The parts of a sum, each with whether it is subtracted."""
    match expr:
        case Apply(DomOp.ADD | DomOp.SUBTRACT as op, (left, right)):
            flip = op is DomOp.SUBTRACT
            last = [(minus is not flip, text) for minus, text in _summands(right, slots)]
            return _summands(left, slots) + last
        case Apply(DomOp.NEGATE, (operand,)):
            return [(not minus, text) for minus, text in _summands(operand, slots)]
        case Apply(DomOp.MULTIPLY, (Const(Fraction() as factor), rest), span) if factor < 0:
            return [(True, show_expression(Apply(DomOp.MULTIPLY, (Const(-factor), rest), span), slots))]
        case _:
            text = show_expression(expr, slots)
            return [(True, text[1:]) if text.startswith("-") else (False, text)]


def _product(coefficient: DomExpr, variable: str, slots: Sequence[Slot]) -> tuple[bool, str]:
    if isinstance(coefficient, Const) and isinstance(coefficient.value, Fraction):
        return coefficient.value < 0, show_multiple(abs(coefficient.value), variable)
    if isinstance(coefficient, Apply) and coefficient.op is DomOp.NEGATE:
        minus, product = _product(coefficient.arguments[0], variable, slots)
        return not minus, product
    return False, infixed(_written(coefficient, slots), "*", Written(variable)).text


def show_read(expr: Read | ReadElement, slots: Sequence[Slot]) -> str:
    """The variable or element that is read: `r`, `q[1]`, `q[x + 1]`."""
    if isinstance(expr, Read):
        return slots[expr.slot].name
    return f"{expr.array}[{show_expression(expr.index, slots)}]"


def _written(expr: DomExpr, slots: Sequence[Slot]) -> Written:
    match expr:
        case Const(Fraction() as number) if number < 0:
            return Written(str(number), Level.SUM)
        case Const(Fraction() as number) if number.denominator != 1:
            return Written(str(number), Level.PRODUCT)
        case Const(value):
            return Written(show_value(value))
        case Read() | ReadElement():
            return Written(show_read(expr, slots))
        case Apply(op, arguments):
            written = [_written(argument, slots) for argument in arguments]
            match op, written:
                case ((DomOp.MIN | DomOp.MAX | DomOp.ABS), _):
                    return applied(op.value, written)
                case _, [operand]:
                    return prefixed("-" if op is DomOp.NEGATE else op.value, operand)
                case _:
                    left, right = written
                    return infixed(left, op.value, right)
        case _:
            assert_never(expr)
