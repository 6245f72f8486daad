"""The instructions of a typed program as text, one a line with its label."""

from __future__ import annotations

from typing import assert_never

from dipc.text.core import (
    AffineExpr,
    Branch,
    DomExpr,
    ExitInstruction,
    Instruction,
    Jump,
    LinearComparison,
    SampleChoice,
    SampleExponential,
    SampleNoise,
    Store,
    show_affine,
    show_expression,
    show_multiple,
    show_value,
)
from dipc.text.printer import print_expression
from dipc.text.program import CoreProgram


def listing(program: CoreProgram) -> str:
    """Every instruction as `label  text`, labels aligned."""
    width = len(str(len(program.instructions)))
    return "".join(
        f"{label:>{width}}  {show_instruction(instruction, program)}\n"
        for label, instruction in enumerate(program.instructions)
    )


def show_instruction(instruction: Instruction, program: CoreProgram) -> str:
    """One instruction, variables by name and jumps by label."""
    match instruction:
        case Store(target, value):
            return f"{show_expression(target)} <- {_value(value, program)}"
        case SampleNoise(target, law, rate, mean):
            return f"{show_expression(target)} <- {law.draw_text(law.scale_text(rate), show_affine(mean))}"
        case SampleExponential(target, rate, values, scores):
            pairs = zip(values, scores, strict=True)
            arms = ", ".join(f"{show_value(value)} : {show_expression(score)}" for value, score in pairs)
            return f"{show_expression(target)} <- Exp({show_multiple(rate)}, {{{arms}}})"
        case SampleChoice(target, arms):
            written = ", ".join(f"{show_expression(value)} : {print_expression(weight)}" for value, weight in arms)
            return f"{show_expression(target)} <- choose {{{written}}}"
        case Branch(condition, then, otherwise):
            return f"if {_value(condition, program)} then {then} else {otherwise}"
        case Jump(target):
            return f"go to {target}"
        case ExitInstruction():
            return "exit"
        case _:
            assert_never(instruction)


def _value(expr: DomExpr | AffineExpr | LinearComparison, program: CoreProgram) -> str:
    if isinstance(expr, LinearComparison):
        return expr.text
    show = show_affine if isinstance(expr, AffineExpr) else show_expression
    return show(expr)
