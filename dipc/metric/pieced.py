"""Distances of answers as functions of real and int inputs: the least of some, each the greatest of affine forms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import assert_never

from dipc.chain.affine import Affine
from dipc.chain.evaluate import evaluate, read
from dipc.chain.state import SlotValue
from dipc.lang.core import Apply, Const, DomExpr, DomOp, Read, ReadElement, Slot

#: The most forms of one distance.
MOST_FORMS = 256

#: The least of the greatest of each.
Forms = tuple[tuple[Affine, ...], ...]


class NotPieced(Exception):
    """The distance is not seen to be put together from forms, or of too many."""


def pieced(expr: DomExpr, values: Sequence[SlotValue], slots: Sequence[Slot]) -> Forms:
    """A number with these values and forms in the slots. Raises NotPieced where it is not put together from forms by
    sums, multiples, min and max, and abs and negatives of single forms; Fault for what has no value."""
    match expr:
        case Const(value=value):
            return _form(value)
        case Read():
            return _form(read(expr, values, slots))
        case ReadElement(index=index):
            at = Const(_number(pieced(index, values, slots)))
            return _form(read(replace(expr, index=at), values, slots))
        case Apply(op=op, arguments=arguments, span=span):
            each = [pieced(argument, values, slots) for argument in arguments]
            if all(_is_number(forms) for forms in each):
                known = tuple([Const(_number(forms)) for forms in each])
                return _form(evaluate(Apply(op, known, span), values, slots))
            return _applied(op, each)
    assert_never(expr)


def _applied(op: DomOp, arguments: Sequence[Forms]) -> Forms:
    match op, arguments:
        case DomOp.ADD, (left, right):
            return _sum(left, right)
        case DomOp.SUBTRACT, (left, right):
            return _sum(left, ((-_single(right),),))
        case DomOp.NEGATE, (operand,):
            return ((-_single(operand),),)
        case DomOp.MULTIPLY, (left, right):
            return _scaled(right, _number(left)) if _is_number(left) else _scaled(left, _number(right))
        case DomOp.DIVIDE, (left, right) if _number(right):
            return _scaled(left, 1 / _number(right))
        case DomOp.MIN, _:
            return _few([part for forms in arguments for part in forms])
        case DomOp.MAX, _ if prod(map(len, arguments)) <= MOST_FORMS:
            return _few([[form for part in parts for form in part] for parts in product(*arguments)])
        case DomOp.ABS, (operand,):
            form = _single(operand)
            return ((form, -form),)
    raise NotPieced


def _sum(left: Forms, right: Forms) -> Forms:
    if sum(map(len, left)) * sum(map(len, right)) > MOST_FORMS:
        raise NotPieced
    return _few([[a + b for a in one for b in other] for one in left for other in right])


def _scaled(forms: Forms, factor: Fraction) -> Forms:
    if factor < 0:
        return ((_single(forms).scaled(factor),),)
    return _few([[form.scaled(factor) for form in part] for part in forms])


def _few(parts: Iterable[Iterable[Affine]]) -> Forms:
    """The parts, each form once; raises NotPieced for too many."""
    found = tuple(dict.fromkeys(tuple(dict.fromkeys(part)) for part in parts))
    if sum(map(len, found)) > MOST_FORMS:
        raise NotPieced
    return found


def _is_number(forms: Forms) -> bool:
    return len(forms) == len(forms[0]) == 1 and forms[0][0].is_number


def _number(forms: Forms) -> Fraction:
    if not _is_number(forms):
        raise NotPieced
    return forms[0][0].constant


def _single(forms: Forms) -> Affine:
    if len(forms) != 1 or len(forms[0]) != 1:
        raise NotPieced
    return forms[0][0]


def _form(value: SlotValue) -> Forms:
    if isinstance(value, Affine):
        return ((value,),)
    if not isinstance(value, Fraction):
        raise NotPieced
    return ((Affine.number(value),),)
