"""A deliberately plain interpreter of lowered programs, one run at a time, on random numbers that were recorded.

It shares with the simulation neither the tree (it executes instructions) nor the way (no NumPy, no columns).
"""

from __future__ import annotations

import math
import operator
from fractions import Fraction

from dipc.text import ast, core
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


def run(program, inputs, eps, tape):
    """The final values by name, when the random numbers of the run are those of `tape`, in this order."""
    tape = iter(tape)
    values = {}
    for slot in program.slots:
        if slot.role is Role.INPUT:
            values[slot.index] = inputs[slot.name]
        elif slot.initial is not None:
            values[slot.index] = slot.initial

    def concrete(expr):
        match expr:
            case core.Const():
                return expr.value
            case core.Reference():
                return values[slot_of(expr)]
            case core.Apply(op=core.DomOp.AND):
                return all(concrete(argument) for argument in expr.arguments)
            case core.Apply(op=core.DomOp.OR):
                return any(concrete(argument) for argument in expr.arguments)
        function = COMPARE.get(expr.op.value) or ARITHMETIC[expr.op.value]
        return function(*[concrete(argument) for argument in expr.arguments])

    def affine(form):
        return sum((concrete(factor) * concrete(term) for factor, term in form.terms), concrete(form.constant))

    def slot_of(variable):
        return variable.slots[0 if variable.index is None else int(concrete(variable.index)) - variable.low]

    def write(target, value):
        slot = slot_of(target)
        kind = program.slots[slot].type
        assert not isinstance(kind, core.DomType) or value in kind.values
        values[slot] = value

    def chosen(weights):
        """The place in the distribution that the next random number falls on."""
        uniform, total, whole = next(tape), 0.0, math.fsum(weights)
        for place, share in enumerate(weights):
            total += share / whole
            if uniform < total:
                return place
        raise AssertionError

    def computed(expr: object) -> object:
        if isinstance(expr, core.LinearComparison):
            return COMPARE[expr.op.value](affine(expr.difference), 0)
        return Fraction(affine(expr)) if isinstance(expr, core.AffineExpr) else concrete(expr)

    at = 0
    while at < len(program.instructions):
        instruction = program.instructions[at]
        at += 1
        match instruction:
            case core.Store(target=target, value=expr):
                write(target, computed(expr))
            case core.SampleNoise(target=target, mean=mean):
                write(target, affine(mean) + Fraction(float(next(tape))))
            case core.SampleExponential(target=target, rate=rate, values=options, scores=scores):
                weights = [math.exp(rate * eps * concrete(score)) for score in scores]
                write(target, options[chosen(weights)])
            case core.SampleChoice(target=target, arms=arms):
                place = chosen([weight(share, float(eps)) for _, share in arms])
                write(target, concrete(arms[place][0]))
            case core.Branch(condition=condition, then=then, otherwise=otherwise):
                at = then if computed(condition) else otherwise
            case core.Jump(target=target):
                at = target
            case core.ExitInstruction():
                break
            case _:
                raise AssertionError(instruction)
    assert next(tape, None) is None
    return {slot.name: values.get(slot.index) for slot in program.slots}


def weight(expr, eps):
    match expr:
        case ast.Number():
            return float(expr.value)
        case ast.Eps():
            return eps
        case ast.Unary():
            return -weight(expr.operand, eps)
        case ast.Call():
            return math.exp(weight(expr.arguments[0], eps))
        case ast.Binary(op=ast.BinaryOp.POWER):
            return weight(expr.left, eps) ** weight(expr.right, eps)
        case ast.Binary():
            return ARITHMETIC[expr.op.value](weight(expr.left, eps), weight(expr.right, eps))
    raise AssertionError(expr)
