"""Expressions evaluated in a state: DOM and bool ones to values, real ones to affine forms."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import assert_never

from dipc.chain.affine import Affine, combination
from dipc.chain.codes import Code
from dipc.chain.fault import Fault
from dipc.chain.state import Mark, SlotValue
from dipc.diagnostics.source import Span
from dipc.lang import values as operations
from dipc.lang.core import (
    AffineExpr,
    Apply,
    Const,
    DomExpr,
    DomOp,
    Read,
    ReadElement,
    Slot,
    Target,
    Value,
)
from dipc.lang.display import show_value


def evaluate(expr: DomExpr, values: Sequence[SlotValue], slots: Sequence[Slot]) -> Value:
    """The value of `expr`; raises Fault for an unassigned read, a division by zero, an index out of range."""
    match expr:
        case Const(value=value):
            return value
        case Read() | ReadElement():
            found = read(expr, values, slots)
            assert not isinstance(found, Affine)
            return found
        case Apply(op=DomOp.AND, arguments=arguments):
            return all([*_truths(arguments, values, slots, stop=False)])
        case Apply(op=DomOp.OR, arguments=arguments):
            return any([*_truths(arguments, values, slots, stop=True)])
        case Apply(op=op, arguments=arguments, span=span):
            return _apply(op, [evaluate(argument, values, slots) for argument in arguments], span)
        case _:
            assert_never(expr)


def evaluate_affine(expr: AffineExpr, values: Sequence[SlotValue], slots: Sequence[Slot]) -> Affine:
    """The form of a real (or int) expression; raises Fault like `evaluate`."""
    parts: list[tuple[Fraction, Affine]] = []
    for coefficient, variable in expr.terms:
        factor = _number(evaluate(coefficient, values, slots))
        form = read(variable, values, slots)
        assert isinstance(form, Affine)
        parts.append((factor, form))
    constant = _number(evaluate(expr.constant, values, slots))
    if len(parts) == 1 and parts[0][0] == 1 and not constant:
        return parts[0][1]
    return combination(parts, constant)


def target_slot(target: Target, values: Sequence[SlotValue], slots: Sequence[Slot]) -> int:
    """The slot that an assignment writes; raises Fault for an index out of range."""
    if target.index is None:
        return target.slots[0]
    return _element(target.name, target.slots, target.low, target.index, target.span, values, slots)


def read(expr: Read | ReadElement, values: Sequence[SlotValue], slots: Sequence[Slot]) -> Value | Affine:
    """What the variable holds; raises Fault like `evaluate`."""
    match expr:
        case Read(slot=slot):
            pass
        case ReadElement():
            slot = _element(expr.array, expr.slots, expr.low, expr.index, expr.span, values, slots)
        case _:
            assert_never(expr)
    value = values[slot]
    if isinstance(value, Mark):
        assert value is Mark.UNASSIGNED, f"{slots[slot].name} was forgotten, yet it is read"
        raise Fault(
            Code.UNASSIGNED,
            f"`{slots[slot].name}` is read before it is assigned",
            expr.span,
            "no value yet on this path",
            "assign it on every path that leads here, or declare it with an initial value",
        )
    return value


def _element(
    array: str,
    elements: tuple[int, ...],
    low: int,
    index: DomExpr,
    span: Span,
    values: Sequence[SlotValue],
    slots: Sequence[Slot],
) -> int:
    at = _number(evaluate(index, values, slots))
    offset = at - low
    if offset.denominator != 1 or not 0 <= offset < len(elements):
        raise Fault(
            Code.OUTSIDE_ARRAY,
            f"the index {at} is outside `{array}[{low}..{low + len(elements) - 1}]`",
            span,
            f"the index is {at} on this path",
            "guard the access with `if`, or declare a longer array",
        )
    return elements[int(offset)]


def _truths(
    arguments: tuple[DomExpr, ...], values: Sequence[SlotValue], slots: Sequence[Slot], stop: bool
) -> list[bool]:
    """The arguments' truth values, up to the first that equals `stop`."""
    truths: list[bool] = []
    for argument in arguments:
        truth = evaluate(argument, values, slots)
        assert isinstance(truth, bool)
        truths.append(truth)
        if truth is stop:
            break
    return truths


def _number(value: Value) -> Fraction:
    assert isinstance(value, Fraction), f"{show_value(value)} is not a number"
    return value


def _apply(op: DomOp, arguments: list[Value], span: Span) -> Value:
    try:
        return operations.evaluate(op, arguments)
    except ZeroDivisionError:
        raise Fault(
            Code.DIVISION_BY_ZERO,
            "division by zero",
            span,
            "the divisor is 0 on this path",
            "guard the division with `if`",
        ) from None
    except operations.ValueTooLarge:
        raise Fault(
            Code.OUTSIDE_DOMAIN,
            f"a value has more than {operations.MAX_BITS} bits",
            span,
            "this number is too large on this path",
            "keep intermediate results small",
        ) from None
