"""A deliberately plain interpreter of core programs on concrete noises and choices, without the chain's code."""

from __future__ import annotations

import operator
from fractions import Fraction

from dipc.text import core
from dipc.text.ast import Role

COMPARE = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
}
ARITHMETIC = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "neg": operator.neg,
    "min": min,
    "max": max,
    "abs": abs,
    "not": operator.not_,
}


def run(program, inputs, noises, choose=None):
    """The final values by slot, when the draw at label l is noises[l] off its mean.

    A choice between n options at a label takes the option number choose(n, label).
    """
    values = {}
    for slot in program.slots:
        if slot.role is Role.INPUT:
            values[slot.index] = inputs[slot.index]
        elif slot.initial is not None:
            values[slot.index] = slot.initial

    def concrete(expr):
        if isinstance(expr, core.Const):
            return expr.value
        if isinstance(expr, core.Reference):
            return values[place(expr)]
        if expr.op is core.DomOp.AND:
            return all(concrete(argument) for argument in expr.arguments)
        if expr.op is core.DomOp.OR:
            return any(concrete(argument) for argument in expr.arguments)
        function = COMPARE.get(expr.op.value) or ARITHMETIC[expr.op.value]
        return function(*[concrete(argument) for argument in expr.arguments])

    def real(form):
        return sum((concrete(factor) * concrete(term) for factor, term in form.terms), concrete(form.constant))

    def place(variable):
        return variable.slots[0 if variable.index is None else int(concrete(variable.index)) - variable.low]

    def write(target, value):
        slot = place(target)
        kind = program.slots[slot].type
        assert not isinstance(kind, core.DomType) or value in kind.values
        values[slot] = value

    def computed(expr):
        if isinstance(expr, core.LinearComparison):
            return COMPARE[expr.op.value](real(expr.difference), 0)
        return Fraction(real(expr)) if isinstance(expr, core.AffineExpr) else concrete(expr)

    at = 0
    while at < len(program.instructions):
        instruction = program.instructions[at]
        following = at + 1
        match instruction:
            case core.Store(target=target, value=expr):
                write(target, computed(expr))
            case core.SampleNoise(target=target):
                write(target, Fraction(real(instruction.mean)) + noises[at])
            case core.SampleExponential(target=target, values=options):
                write(target, options[choose(len(options), at)])
            case core.SampleChoice(target=target, arms=arms):
                arms = [arm for arm in arms if getattr(arm[1], "value", None) != 0]
                write(target, concrete(arms[choose(len(arms), at)][0]))
            case core.Branch(condition=condition, then=then, otherwise=otherwise):
                following = then if computed(condition) else otherwise
            case core.Jump(target=target):
                following = target
            case core.ExitInstruction():
                break
            case _:
                raise AssertionError(instruction)
        at = following
    return values
