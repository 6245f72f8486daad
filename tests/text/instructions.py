"""The instructions of a typed program as text, one a line with its label."""

from __future__ import annotations

from typing import assert_never

from dipc.text.core import (
    AssignAffine,
    AssignComparison,
    AssignDom,
    Branch,
    BranchComparison,
    ExitInstruction,
    Instruction,
    Jump,
    SampleChoice,
    SampleExponential,
    SampleNoise,
    Target,
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
    slots = program.slots
    match instruction:
        case AssignDom(target, value):
            return f"{_target(target, program)} <- {show_expression(value, slots)}"
        case AssignAffine(target, affine):
            return f"{_target(target, program)} <- {show_affine(affine, slots)}"
        case AssignComparison(target, text=text):
            return f"{_target(target, program)} <- {text}"
        case SampleNoise(target, law, rate, mean):
            return f"{_target(target, program)} <- {law.draw_text(law.scale_text(rate), show_affine(mean, slots))}"
        case SampleExponential(target, rate, values, scores):
            pairs = zip(values, scores, strict=True)
            arms = ", ".join(f"{show_value(value)} : {show_expression(score, slots)}" for value, score in pairs)
            return f"{_target(target, program)} <- Exp({show_multiple(rate)}, {{{arms}}})"
        case SampleChoice(target, arms):
            written = ", ".join(
                f"{show_expression(value, slots)} : {print_expression(weight)}" for value, weight in arms
            )
            return f"{_target(target, program)} <- choose {{{written}}}"
        case Branch(condition, then, otherwise):
            return f"if {show_expression(condition, slots)} then {then} else {otherwise}"
        case BranchComparison(then=then, otherwise=otherwise, text=text):
            return f"if {text} then {then} else {otherwise}"
        case Jump(target):
            return f"go to {target}"
        case ExitInstruction():
            return "exit"
        case _:
            assert_never(instruction)


def _target(target: Target, program: CoreProgram) -> str:
    return target.name if target.index is None else f"{target.name}[{show_expression(target.index, program.slots)}]"
