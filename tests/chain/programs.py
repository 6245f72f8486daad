"""Programs for the tests, written as nested tuples and flattened to instructions as the syntax room does.

Statements:

- ("lap", slot, rate, affine)
- ("dlap", slot, rate, affine)
- ("expo", slot, rate)
- ("set", slot, expr)
- ("let", slot, affine)
- ("compare", slot, affine, op)
- ("exp", slot, rate, {value: score expr})
- ("choose", slot, [(expr, weight)])
- ("if", expr, then, otherwise)
- ("ifcompare", affine, op, then, otherwise)
- ("while", expr, body)
- ("whilecompare", affine, op, body)
- ("exit",)

An affine is (terms, constant), terms being a
dict from slot to number or expr; a weight is a natural number or an ast.Expr. Every instruction has its own line of the
source: line = label + 1.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dipc.noise.discrete_laplace import DISCRETE_LAPLACE
from dipc.noise.laplace import LAPLACE
from dipc.noise.one_sided import ONE_SIDED
from dipc.text.ast import BaseType, CompareOp, Number, Role
from dipc.text.core import (
    AffineExpr,
    Apply,
    Branch,
    Const,
    DomOp,
    DomType,
    ExitInstruction,
    Jump,
    LinearComparison,
    Reference,
    SampleChoice,
    SampleExponential,
    SampleNoise,
    Slot,
    Store,
    ValueKind,
)
from dipc.text.diagnostic import SourceText, Span
from dipc.text.program import CoreProgram

HERE = Span(0, 0)
BOOL = BaseType.BOOL
REAL = BaseType.REAL
INT = BaseType.INT


def integers(low, high):
    return DomType(tuple(Fraction(value) for value in range(low, high + 1)))


def names(*values):
    return DomType(values)


def const(value):
    return Const(Fraction(value) if isinstance(value, int) and not isinstance(value, bool) else value)


def read(slot):
    return Reference("", (slot,), HERE)


def op(name, *arguments):
    return Apply(DomOp(name), tuple(arguments), HERE)


def number(weight):
    return Number(Fraction(weight), str(weight), HERE) if isinstance(weight, int | Fraction) else weight


class Writer:
    def __init__(self, *slots):
        """`slots` are (name, type, role, initial)."""
        self.slots = [
            Slot(index, name, role, kind, initial, HERE) for index, (name, kind, role, initial) in enumerate(slots)
        ]
        self.code = []
        self.lines = []
        self.loops = {}

    def slot(self, name):
        return next(slot.index for slot in self.slots if slot.name == name)

    def emit(self, instruction, text):
        start = sum(len(line) + 1 for line in self.lines)
        self.lines.append(text)
        self.code.append(replace(instruction, span=Span(start, start + len(text))))
        return len(self.code) - 1

    def affine(self, form):
        terms, constant = form
        return AffineExpr(
            tuple((self.dom(factor), read(slot)) for slot, factor in terms.items()),
            self.dom(constant),
            HERE,
            ValueKind.REAL,
        )

    def dom(self, value):
        return const(value) if isinstance(value, int | Fraction | str) else value

    def target(self, slot):
        if isinstance(slot, Reference):
            return slot
        return Reference(self.slots[slot].name, (slot,), HERE)

    def block(self, statements):
        for statement in statements:
            self.statement(statement)

    def statement(self, statement):
        match statement:
            case ("lap", slot, rate, mean):
                self.emit(
                    SampleNoise(self.target(slot), LAPLACE, Fraction(rate), self.affine(mean), HERE),
                    f"{self.target(slot).name} <- Lap({rate}*eps, .)",
                )
            case ("dlap", slot, rate, mean):
                self.emit(
                    SampleNoise(self.target(slot), DISCRETE_LAPLACE, Fraction(rate), self.affine(mean), HERE),
                    f"{self.target(slot).name} <- DLap({rate}*eps, .)",
                )
            case ("expo", slot, rate):
                self.emit(
                    SampleNoise(self.target(slot), ONE_SIDED, Fraction(rate), self.affine(({}, 0)), HERE),
                    f"{self.target(slot).name} <- Expo({rate}*eps)",
                )
            case ("exp", slot, rate, scores):
                values = tuple(const(value).value for value in scores)
                exprs = tuple(self.dom(score) for score in scores.values())
                self.emit(
                    SampleExponential(self.target(slot), Fraction(rate), values, exprs, HERE),
                    f"{self.target(slot).name} <- Exp({rate}*eps, .)",
                )
            case ("choose", slot, arms):
                pairs = tuple((self.dom(value), number(weight)) for value, weight in arms)
                self.emit(SampleChoice(self.target(slot), pairs, HERE), f"{self.target(slot).name} <- choose .")
            case ("while", condition, body):
                self.loop(Branch(self.dom(condition), 0, 0, HERE), "while .", body)
            case ("whilecompare", form, how, body):
                head = Branch(self.test(form, how), 0, 0, HERE)
                self.loop(head, f"while . {how} .", body)
            case ("set", slot, value):
                self.emit(Store(self.target(slot), self.dom(value), HERE), f"{self.target(slot).name} <- .")
            case ("let", slot, form):
                self.emit(Store(self.target(slot), self.affine(form), HERE), f"{self.target(slot).name} <- .")
            case ("compare", slot, form, how):
                self.emit(
                    Store(self.target(slot), self.test(form, how), HERE),
                    f"{self.target(slot).name} <- . {how} .",
                )
            case ("if", condition, then, otherwise):
                at = self.emit(Branch(self.dom(condition), 0, 0, HERE), "if .")
                self.branches(at, then, otherwise)
            case ("ifcompare", form, how, then, otherwise):
                at = self.emit(Branch(self.test(form, how), 0, 0, HERE), f"if . {how} .")
                self.branches(at, then, otherwise)
            case ("exit",):
                self.emit(ExitInstruction(HERE), "exit")
            case _:
                raise AssertionError(statement)

    def test(self, form, how):
        return LinearComparison(self.affine(form), CompareOp(how))

    def branches(self, at, then, otherwise):
        self.block(then)
        jump = self.emit(Jump(0, HERE), "jump") if otherwise else None
        self.code[at] = replace(self.code[at], then=at + 1, otherwise=len(self.code))
        self.block(otherwise)
        if jump is not None:
            self.code[jump] = replace(self.code[jump], target=len(self.code))

    def loop(self, head, text, body):
        at = self.emit(head, text)
        self.loops[at] = self.code[at].span
        self.block(body)
        self.emit(Jump(at, HERE), "jump")
        self.code[at] = replace(self.code[at], then=at + 1, otherwise=len(self.code))

    def program(self, statements):
        self.block(statements)
        return CoreProgram(
            name="test",
            source=SourceText("test.dip", "\n".join(self.lines) + "\n"),
            constants={},
            slots=tuple(self.slots),
            inputs=tuple(slot.index for slot in self.slots if slot.role is Role.INPUT),
            outputs=tuple(slot.index for slot in self.slots if slot.role is Role.OUTPUT),
            instructions=tuple(self.code),
            loops=dict(self.loops),
            claim=None,
            ideal=None,
        )


def sparse(m, c):
    """The sparse vector technique, Figure 2(a), as it looks when its `for` is unrolled."""
    answer = names("none", "bot", "top")
    slots = [(f"q[{i}]", REAL, Role.INPUT, None) for i in range(1, m + 1)]
    slots += [(f"out[{i}]", answer, Role.OUTPUT, "none") for i in range(1, m + 1)]
    slots += [("rT", REAL, Role.VAR, None), ("r", REAL, Role.VAR, None), ("b", BOOL, Role.VAR, None)]
    slots += [("count", integers(0, m), Role.VAR, Fraction(0))]
    writer = Writer(*slots)
    threshold, r, b, count = (writer.slot(name) for name in ("rT", "r", "b", "count"))
    statements = [("lap", threshold, Fraction(1, 2 * c), ({}, 0))]
    for i in range(1, m + 1):
        out = writer.slot(f"out[{i}]")
        statements += [
            ("lap", r, Fraction(1, 4 * c), ({writer.slot(f"q[{i}]"): 1}, 0)),
            ("compare", b, ({r: 1, threshold: -1}, 0), ">="),
            (
                "if",
                read(b),
                [
                    ("set", out, "top"),
                    ("set", count, op("+", read(count), const(1))),
                    ("if", op(">=", read(count), const(c)), [("exit",)], []),
                    ("lap", threshold, Fraction(1, 2 * c), ({}, 0)),
                ],
                [("set", out, "bot")],
            ),
        ]
    return writer.program(statements)


def running_maximum(m, output_value=False, draw="lap"):
    """Noisy maximum as a running maximum: 2^(m-1) paths. The noise drawn may also be discrete, or one-sided."""
    kind = INT if draw == "dlap" else REAL
    slots = [(f"q[{i}]", kind, Role.INPUT, None) for i in range(1, m + 1)]
    slots += [(f"r[{i}]", kind, Role.VAR, None) for i in range(1, m + 1)]
    slots += [("best", kind, Role.OUTPUT if output_value else Role.VAR, None)]
    slots += [("arg", integers(1, m), Role.OUTPUT, None), ("b", BOOL, Role.VAR, None)]
    writer = Writer(*slots)
    best, arg, b = (writer.slot(name) for name in ("best", "arg", "b"))
    statements = []
    for i in range(1, m + 1):
        r = writer.slot(f"r[{i}]")
        q = writer.slot(f"q[{i}]")
        if draw == "expo":
            statements += [("expo", r, Fraction(1, 2)), ("let", r, ({r: 1, q: 1}, 0))]
        else:
            statements.append((draw, r, Fraction(1, 2), ({q: 1}, 0)))
        take = [("let", best, ({r: 1}, 0)), ("set", arg, i)]
        if i == 1:
            statements += take
        else:
            statements += [("compare", b, ({r: 1, best: -1}, 0), ">"), ("if", read(b), take, [])]
    return writer.program(statements)
