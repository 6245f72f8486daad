"""Two interpreters, written apart: one walks the tree of a program, the other runs its instructions.

Both take concrete inputs and a source of draws, and return the values of all variables at the exit. A noise is its mean
plus the next draw; a finite choice takes the value that the next draw selects. An error is a Fault with its kind.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction

from dipc.text import ast
from dipc.text.core import (
    AffineExpr,
    AnyExpr,
    Apply,
    Branch,
    Const,
    DomExpr,
    DomType,
    ExitInstruction,
    Jump,
    LinearComparison,
    Reference,
    SampleChoice,
    SampleExponential,
    SampleNoise,
    Store,
    Value,
    evaluate,
)
from dipc.text.program import CoreProgram

STEPS = 300

COMPARE = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
}
ARITHMETIC = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "^": operator.pow}
FUNCTIONS = {"min": min, "max": max, "abs": abs}


class Fault(Exception):
    """The run cannot go on: "unassigned", "domain", "index", "zero" or "steps"."""


class Stop(Exception):
    """`exit`."""


# --- the tree --------------------------------------------------------------------------------------


class TreeRun:
    """One run of a tree. `domains` has the values a variable may hold, by its name without index; None for any."""

    def __init__(
        self, domains: Mapping[str, Sequence[Value] | None], start: Mapping[str, Value], names: set[str]
    ) -> None:
        self.domains = domains
        self.values = dict(start)
        self.names = names
        self.constants: dict[str, Value] = {}
        self.steps = 0

    def run(self, body: Sequence[ast.Statement], draws: Iterator[Fraction]) -> dict[str, Value]:
        self.draws = draws
        with suppress(Stop):
            self.block(body)
        return self.values

    def block(self, body: Sequence[ast.Statement]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, statement: ast.Statement) -> None:
        match statement:
            case ast.ExitStatement():
                raise Stop
            case ast.Assign(target, value):
                self.store(target, self.value(value))
            case ast.Sample(target, distribution):
                self.store(target, self.draw(distribution))
            case ast.If(condition, then, otherwise):
                self.block(then if self.value(condition) else otherwise)
            case ast.While(condition, body):
                while self.value(condition):
                    self.steps += 1
                    if self.steps > STEPS:
                        raise Fault("steps")
                    self.block(body)
            case ast.For(variable, low, high, body):
                for index in range(int(self.value(low)), int(self.value(high)) + 1):
                    self.constants[variable] = Fraction(index)
                    self.block(body)
                self.constants.pop(variable, None)

    def draw(self, distribution: ast.Distribution) -> Value:
        match distribution:
            case ast.NoiseExpr(mean=None):
                return next(self.draws)
            case ast.NoiseExpr(mean=mean):
                return self.value(mean) + next(self.draws)
            case ast.Choose(arms):
                values = [self.value(value) for value, _ in arms]
                return values[int(next(self.draws)) % len(values)]
            case ast.ExponentialMechanism(_, variable, ast.NamedDomain(name), score):
                scored = {}
                for value in self.domains[name] or ():
                    hidden = self.constants.get(variable)
                    self.constants[variable] = value
                    scored[value] = self.value(score)
                    del self.constants[variable]
                    if hidden is not None:
                        self.constants[variable] = hidden
                return max(scored, key=lambda value: scored[value])
        raise AssertionError(distribution)

    def index(self, expr: ast.Element) -> str:
        name = f"{expr.name}[{self.value(expr.index)}]"
        if name not in self.names:
            raise Fault("index")
        return name

    def store(self, target: ast.Name | ast.Element, value: Value) -> None:
        name = target.name if isinstance(target, ast.Name) else self.index(target)
        allowed = self.domains[target.name]
        if allowed is not None and value not in allowed:
            raise Fault("domain")
        self.values[name] = value

    def value(self, expr: ast.Expr) -> Value:
        match expr:
            case ast.Number(value) | ast.Truth(value):
                return value
            case ast.Name(name):
                if name in self.constants:
                    return self.constants[name]
                if name in self.domains:
                    return self.read(name)
                return name
            case ast.Element():
                return self.read(self.index(expr))
            case ast.Unary(ast.UnaryOp.NOT, operand):
                return not self.value(operand)
            case ast.Unary(_, operand):
                return -self.value(operand)
            case ast.Binary(ast.BinaryOp.AND, left, right):
                return self.value(left) and self.value(right)
            case ast.Binary(ast.BinaryOp.OR, left, right):
                return self.value(left) or self.value(right)
            case ast.Binary(op, left, right):
                try:
                    return ARITHMETIC[op.value](self.value(left), self.value(right))
                except ZeroDivisionError:
                    raise Fault("zero") from None
            case ast.Compare(op, left, right):
                return COMPARE[op.value](self.value(left), self.value(right))
            case ast.Call(function, arguments):
                values = [self.value(argument) for argument in arguments]
                return FUNCTIONS[function](*values) if len(values) > 1 or function == "abs" else values[0]
        raise AssertionError(expr)

    def read(self, name: str) -> Value:
        if name not in self.values:
            raise Fault("unassigned")
        return self.values[name]


# --- the instructions ------------------------------------------------------------------------------


class CoreRun:
    """One run of the instructions."""

    def __init__(self, program: CoreProgram, inputs: Mapping[str, Value]) -> None:
        self.program = program
        self.values: dict[int, Value] = {}
        for slot in program.slots:
            value = inputs.get(slot.name, slot.initial)
            if value is not None:
                self.values[slot.index] = value

    def run(self, draws: Iterator[Fraction]) -> dict[str, Value]:
        label, loops = 0, 0
        while True:
            instruction = self.program.instructions[label]
            label += 1
            match instruction:
                case ExitInstruction():
                    return {self.program.slots[slot].name: value for slot, value in self.values.items()}
                case Jump(target):
                    label = target
                case Store(target, value):
                    self.store(target, self.computed(value))
                case SampleNoise(target, mean=mean):
                    self.store(target, self.affine(mean) + next(draws))
                case SampleChoice(target, arms):
                    values = [self.value(value) for value, _ in arms]
                    self.store(target, values[int(next(draws)) % len(values)])
                case SampleExponential(target, _, values, scores):
                    scored = {value: self.value(score) for value, score in zip(values, scores, strict=True)}
                    self.store(target, max(scored, key=lambda value: scored[value]))
                case Branch(condition, then, otherwise):
                    here, label = label - 1, then if self.computed(condition) else otherwise
                    loops += here in self.program.loops
            if loops > 3 * STEPS:
                raise Fault("steps")

    def computed(self, expr: AnyExpr) -> Value:
        if isinstance(expr, LinearComparison):
            return COMPARE[expr.op.value](self.affine(expr.difference), 0)
        return self.affine(expr) if isinstance(expr, AffineExpr) else self.value(expr)

    def store(self, target: Reference, value: Value) -> None:
        slot = self.slot(target)
        type_ = self.program.slots[slot].type
        if isinstance(type_, DomType) and value not in type_.values:
            raise Fault("domain")
        self.values[slot] = value

    def slot(self, variable: Reference) -> int:
        if variable.index is None:
            return variable.slots[0]
        at = self.value(variable.index)
        assert isinstance(at, Fraction)
        if at.denominator != 1 or not variable.low <= at < variable.low + len(variable.slots):
            raise Fault("index")
        return variable.slots[int(at) - variable.low]

    def affine(self, expr: AffineExpr) -> Fraction:
        total = self.value(expr.constant)
        for coefficient, variable in expr.terms:
            total += self.value(coefficient) * self.value(variable)
        return total

    def value(self, expr: DomExpr) -> Value:
        match expr:
            case Const(value):
                return value
            case Reference():
                return self.read(self.slot(expr))
            case Apply(op, (left, right)) if op.value in ("and", "or"):
                first = self.value(left)
                return first if first is (op.value == "or") else self.value(right)
            case Apply(op, arguments):
                try:
                    return evaluate(op, [self.value(argument) for argument in arguments])
                except ZeroDivisionError:
                    raise Fault("zero") from None
        raise AssertionError(expr)

    def read(self, slot: int) -> Value:
        if slot not in self.values:
            raise Fault("unassigned")
        return self.values[slot]
