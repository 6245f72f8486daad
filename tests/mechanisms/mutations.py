"""Single changes of the instructions of a program, as a translator with a mistake would write them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dipc.text.ast import CompareOp
from dipc.text.core import (
    AffineExpr,
    AnyExpr,
    Apply,
    Branch,
    Const,
    DomExpr,
    DomOp,
    ExitInstruction,
    Instruction,
    Jump,
    LinearComparison,
    Reference,
    SampleChoice,
    SampleExponential,
    SampleNoise,
    Store,
)
from dipc.text.program import CoreProgram

_COMPARED = {
    CompareOp.LT: (CompareOp.LE, CompareOp.GT),
    CompareOp.LE: (CompareOp.LT, CompareOp.GE),
    CompareOp.GT: (CompareOp.GE, CompareOp.LT),
    CompareOp.GE: (CompareOp.GT, CompareOp.LE),
    CompareOp.EQ: (CompareOp.NE, CompareOp.LE),
    CompareOp.NE: (CompareOp.EQ, CompareOp.LT),
}
_OPERATED = {
    DomOp.ADD: (DomOp.SUBTRACT,),
    DomOp.SUBTRACT: (DomOp.ADD,),
    DomOp.MIN: (DomOp.MAX,),
    DomOp.MAX: (DomOp.MIN,),
    DomOp.AND: (DomOp.OR,),
    DomOp.OR: (DomOp.AND,),
    DomOp.LT: (DomOp.LE, DomOp.GT),
    DomOp.LE: (DomOp.LT, DomOp.GE),
    DomOp.GT: (DomOp.GE, DomOp.LT),
    DomOp.GE: (DomOp.GT, DomOp.LE),
    DomOp.EQ: (DomOp.NE,),
    DomOp.NE: (DomOp.EQ,),
}


def mutants(core: CoreProgram) -> Iterator[tuple[str, CoreProgram]]:
    """Every program that differs from this one in a single instruction, each with the kind of its mistake."""
    for label, instruction in enumerate(core.instructions):
        for kind, changed in _changed(core, label, instruction):
            instructions = (*core.instructions[:label], changed, *core.instructions[label + 1 :])
            yield kind, replace(core, instructions=instructions)


def _values(core: CoreProgram, value: AnyExpr) -> Iterator[tuple[str, Any]]:
    match value:
        case LinearComparison(difference, op):
            for other_op in _COMPARED[op]:
                yield "wrong comparison", replace(value, op=other_op)
            for kind, form in _forms(core, difference):
                yield kind, replace(value, difference=form)
        case AffineExpr():
            yield from _forms(core, value)
        case _:
            yield from _expressions(core, value)


def _changed(core: CoreProgram, label: int, instruction: Instruction) -> Iterator[tuple[str, Instruction]]:
    span = instruction.span
    match instruction:
        case Store(value=value):
            if not isinstance(value, LinearComparison):
                yield "dropped assignment", Jump(label + 1, span)
            for kind, other in _values(core, value):
                yield kind, replace(instruction, value=other)
        case SampleNoise(rate=rate, mean=mean):
            yield "wrong rate", replace(instruction, rate=2 * rate)
            for kind, form in _forms(core, mean):
                yield kind, replace(instruction, mean=form)
        case SampleExponential(rate=rate, scores=scores):
            yield "wrong rate", replace(instruction, rate=rate / 2)
            if len(scores) > 1:
                yield "wrong score", replace(instruction, scores=(scores[1], scores[0], *scores[2:]))
        case SampleChoice(arms=arms):
            if len(arms) > 1:
                (one, first), (two, second), *rest = arms
                yield "wrong weight", replace(instruction, arms=((one, second), (two, first), *rest))
                yield "wrong arm", replace(instruction, arms=((two, first), (one, second), *rest))
        case Branch(condition=condition, then=then, otherwise=otherwise):
            yield "dropped branch", Jump(then, span)
            yield "dropped branch", Jump(otherwise, span)
            if not isinstance(condition, LinearComparison):
                yield "swapped branches", replace(instruction, then=otherwise, otherwise=then)
            for kind, other in _values(core, condition):
                yield kind, replace(instruction, condition=other)
        case Jump() if label + 1 < len(core.instructions):
            yield "dropped jump", Jump(label + 1, span)
        case ExitInstruction():
            yield "dropped exit", Jump(label + 1, span)
        case _:
            pass
    target = getattr(instruction, "target", None)
    if isinstance(target, Reference):
        for other_target in _targets(core, target):
            yield "wrong place", replace(instruction, target=other_target)  # type: ignore[arg-type]


def _targets(core: CoreProgram, target: Reference) -> Iterator[Reference]:
    """The target with the next slot of its type, so that outputs and elements are confused."""
    if target.index is not None:
        yield replace(target, low=target.low - 1)
        return
    (slot,) = target.slots
    for other in core.slots[slot + 1 :]:
        if other.type == core.slots[slot].type and other.index not in core.inputs:
            yield replace(target, slots=(other.index,))
            return


def _reads(core: CoreProgram, read: Reference) -> Iterator[tuple[str, Any]]:
    if read.slot is None:
        yield "wrong index", replace(read, low=read.low - 1)
        return
    for step in (1, -1):
        other = read.slot + step
        if 0 <= other < len(core.slots) and core.slots[other].type == core.slots[read.slot].type:
            yield "wrong variable", replace(read, slots=(other,))


def _expressions(core: CoreProgram, expr: DomExpr) -> Iterator[tuple[str, Any]]:
    match expr:
        case Const(value=bool() as value):
            yield "wrong value", Const(not value)
        case Const(value=Fraction() as value):
            yield "off by one", Const(value + 1)
            yield "off by one", Const(value - 1)
        case Reference():
            yield from _reads(core, expr)
        case Apply(op=op, arguments=arguments):
            for other in _OPERATED.get(op, ()):
                yield "wrong operator", replace(expr, op=other)
            if op is DomOp.NOT:
                yield "wrong operator", arguments[0]
            for place, argument in enumerate(arguments):
                for kind, changed in _expressions(core, argument):
                    yield kind, replace(expr, arguments=(*arguments[:place], changed, *arguments[place + 1 :]))


def _forms(core: CoreProgram, form: AffineExpr) -> Iterator[tuple[str, AffineExpr]]:
    for kind, constant in _expressions(core, form.constant):
        yield kind, replace(form, constant=constant)
    for place, (factor, variable) in enumerate(form.terms):
        rest = form.terms[:place], form.terms[place + 1 :]
        yield "dropped term", replace(form, terms=(*rest[0], *rest[1]))
        for kind, other in _reads(core, variable):
            yield kind, replace(form, terms=(*rest[0], (factor, other), *rest[1]))
