"""The instructions of a typed program as text, one a line with its label."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import assert_never

from dipc.text.core import (
    ZERO,
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
    SampleChoice,
    SampleExponential,
    SampleNoise,
    Store,
    negated,
    show_multiple,
    show_value,
    written,
)
from dipc.text.printer import Written, infixed, print_expression, signed_sum
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
            return f"{_text(target)} <- {_value(value)}"
        case SampleNoise(target, law, rate, mean):
            return f"{_text(target)} <- {law.draw_text(law.scale_text(rate), show_affine(mean))}"
        case SampleExponential(target, rate, values, scores):
            pairs = zip(values, scores, strict=True)
            arms = ", ".join(f"{show_value(value)} : {_text(score)}" for value, score in pairs)
            return f"{_text(target)} <- Exp({show_multiple(rate)}, {{{arms}}})"
        case SampleChoice(target, arms):
            written = ", ".join(f"{_text(value)} : {print_expression(weight)}" for value, weight in arms)
            return f"{_text(target)} <- choose {{{written}}}"
        case Branch(condition, then, otherwise):
            return f"if {_value(condition)} then {then} else {otherwise}"
        case Jump(target):
            return f"go to {target}"
        case ExitInstruction():
            return "exit"
        case _:
            assert_never(instruction)


def _value(expr: AnyExpr) -> str:
    """An expression; a comparison has the terms with positive factors on its left side, and all else on the right."""
    match expr:
        case LinearComparison(difference, op):
            left = tuple(term for term in difference.terms if _is_positive(term[0]))
            right = tuple(term for term in difference.terms if not _is_positive(term[0]))
            rest = show_affine(negated(replace(difference, terms=right), difference.span))
            return f"{show_affine(replace(difference, terms=left, constant=ZERO))} {op.value} {rest}"
        case AffineExpr():
            return show_affine(expr)
        case _:
            return _text(expr)


def _text(expr: DomExpr) -> str:
    return written(expr).text


def _is_positive(factor: DomExpr) -> bool:
    return not isinstance(factor, Const) or (isinstance(factor.value, Fraction) and factor.value > 0)


def show_affine(expr: AffineExpr) -> str:
    """A form, such as `2*r1 - r2/3 + x`; a constant 0 is shown only if it is alone."""
    pieces = [_product(coefficient, written(variable).text) for coefficient, variable in expr.terms]
    if not pieces or expr.constant != Const(Fraction(0)):
        pieces += _summands(expr.constant)
    if pieces[0][0]:
        first = next((index for index, (minus, _) in enumerate(pieces) if not minus), 0)
        pieces.insert(0, pieces.pop(first))
    return signed_sum(pieces)


def _summands(expr: DomExpr) -> list[tuple[bool, str]]:
    """The summands of `expr`, each as (True if it is subtracted, its text)."""
    match expr:
        case Apply(DomOp.ADD | DomOp.SUBTRACT as op, (left, right)):
            flip = op is DomOp.SUBTRACT
            last = [(minus is not flip, text) for minus, text in _summands(right)]
            return _summands(left) + last
        case Apply(DomOp.NEGATE, (operand,)):
            return [(not minus, text) for minus, text in _summands(operand)]
        case Apply(DomOp.MULTIPLY, (Const(Fraction() as factor), rest), span) if factor < 0:
            return [(True, _text(Apply(DomOp.MULTIPLY, (Const(-factor), rest), span)))]
        case _:
            text = _text(expr)
            return [(True, text[1:]) if text.startswith("-") else (False, text)]


def _product(coefficient: DomExpr, variable: str) -> tuple[bool, str]:
    if isinstance(coefficient, Const) and isinstance(coefficient.value, Fraction):
        return coefficient.value < 0, show_multiple(abs(coefficient.value), variable)
    if isinstance(coefficient, Apply) and coefficient.op is DomOp.NEGATE:
        minus, product = _product(coefficient.arguments[0], variable)
        return not minus, product
    return False, infixed(written(coefficient), "*", Written(variable)).text
