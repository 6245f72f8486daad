"""Statements to instructions: loops with constant bounds unrolled, conditions compiled, every rule checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import prod
from typing import assert_never

from dipc.diagnostics.source import Span
from dipc.lang import ast
from dipc.lang.assembler import Assembler
from dipc.lang.budget import Budget
from dipc.lang.codes import Code
from dipc.lang.core import (
    Apply,
    AssignAffine,
    AssignComparison,
    AssignDom,
    BoolType,
    Branch,
    Const,
    DomOp,
    DomType,
    Exit,
    Instruction,
    IntType,
    Jump,
    Read,
    RealType,
    Slot,
    Target,
    Value,
)
from dipc.lang.expressions import Elaborator
from dipc.lang.fitting import Fitting
from dipc.lang.place import Place
from dipc.lang.sampling import Sampling
from dipc.lang.scope import DeclaredVariable, Foreign, word_for
from dipc.lang.tree import weighing
from dipc.lang.typed import UNKNOWN, Concrete, Junction, Kind, Relation, Switch, Typed, affine, fold, truth


class Statements:
    """Lowers the statements of one program or of one ideal."""

    def __init__(self, elaborator: Elaborator, fitting: Fitting, *, deterministic: bool) -> None:
        self._elaborator = elaborator
        self._findings = elaborator.findings
        self._fitting = fitting
        self._budget = Budget(elaborator.findings)
        self._sampling = Sampling(elaborator, fitting, self._budget)
        self._deterministic = deterministic
        self._assembler = Assembler()
        self._whiles: list[Span] = []
        self._checked: set[int] = set()
        self._whole = True
        #: The spans of `while` statements by the label of their condition.
        self.loops: dict[int, Span] = {}

    @property
    def complete(self) -> bool:
        """False when a loop could not be unrolled: the instructions are not the whole program."""
        return self._whole and self._budget.complete

    def lower(self, body: Sequence[ast.Statement], end: Span) -> tuple[Instruction, ...]:
        """The instructions of the body; what is wrong with it has been reported."""
        self._block(body)
        return self._assembler.finish(end)

    def _block(self, body: Sequence[ast.Statement]) -> None:
        self._checked.add(id(body))
        for statement in body:
            if not self._elaborator.dead:
                self._budget.spend(1)
            match statement:
                case ast.Assign():
                    self._assign(statement)
                case ast.Sample():
                    self._sample(statement)
                case ast.If():
                    self._if(statement)
                case ast.For():
                    self._for(statement)
                case ast.While():
                    self._while(statement)
                case ast.Exit(span):
                    self._emit(Exit(span))
                case _:
                    assert_never(statement)

    def _dead(self, body: Sequence[ast.Statement]) -> None:
        """Check code that can never run, once: its names and types, not its values."""
        if body and id(body) not in self._checked:
            self._elaborator.dead += 1
            self._block(body)
            self._elaborator.dead -= 1

    def _emit(self, instruction: Instruction) -> None:
        if not self._elaborator.dead:
            self._assembler.emit(instruction)

    # --- control -----------------------------------------------------------------------------------

    def _if(self, statement: ast.If) -> None:
        condition = self._elaborator.condition(statement.condition)
        settled = truth(condition)
        if settled is not None:
            live, dead = statement.then, statement.otherwise
            if not settled:
                live, dead = dead, live
            self._block(live)
            self._dead(dead)
            return
        assembler = self._assembler
        then, otherwise = assembler.label(), assembler.label()
        self._branch(condition, then, otherwise, statement.condition.span)
        assembler.place(then)
        self._block(statement.then)
        if statement.otherwise:
            end = assembler.label()
            self._emit(Jump(end, statement.span))
            assembler.place(otherwise)
            self._block(statement.otherwise)
            assembler.place(end)
        else:
            assembler.place(otherwise)

    def _while(self, statement: ast.While) -> None:
        condition = self._elaborator.condition(statement.condition)
        if truth(condition) is False:
            self._dead(statement.body)
            return
        assembler = self._assembler
        start, body, end = assembler.label(), assembler.label(), assembler.label()
        if not self._elaborator.dead:
            self.loops[assembler.position] = statement.span
        assembler.place(start)
        self._branch(condition, body, end, statement.condition.span)
        assembler.place(body)
        self._whiles.append(statement.span)
        self._block(statement.body)
        self._whiles.pop()
        self._emit(Jump(start, statement.span))
        assembler.place(end)

    def _branch(self, condition: Typed, then: int, otherwise: int, span: Span) -> None:
        if self._elaborator.dead:
            return
        if isinstance(condition, Concrete | Relation | Junction):
            self._assembler.branch(condition, then, otherwise, span)
        else:  # a condition that is wrong: both ways stay open to the checks that follow
            self._emit(Branch(Apply(DomOp.OR, (), span), then, otherwise, span))

    def _for(self, statement: ast.For) -> None:
        local, name = self._elaborator.locals, statement.variable
        hidden = local.get(name)
        values = self._iterations(statement)
        if not values:
            local[name] = UNKNOWN
            self._dead(statement.body)
        for value in values if statement.body else ():
            local[name] = Concrete(Kind.NUMBER, Const(Fraction(value)))
            self._block(statement.body)
            if not self._budget.fits(0, statement.span, f"{len(values)} iterations"):
                break
        local.pop(name, None)
        if hidden is not None:
            local[name] = hidden

    def _iterations(self, statement: ast.For) -> range:
        """What the loop variable goes through; nothing when the loop is dead, wrong, or too long to unroll."""
        elaborator = self._elaborator
        low = elaborator.integer(statement.low, "a loop bound")
        high = elaborator.integer(statement.high, "a loop bound")
        bindable = elaborator.check_local(
            statement.variable, statement.span, "the loop variable", may_hide_variables=False
        )
        if elaborator.dead:
            return range(0)
        if low is None or high is None or not bindable:
            self._whole = False
            return range(0)
        count = max(0, high - low + 1)
        shown = f"{count} iterations" if count < 10**15 else "far too many iterations"
        fits = self._budget.fits(count * len(statement.body), statement.span, shown)
        return range(low, low + count) if fits else range(0)

    # --- assignments -------------------------------------------------------------------------------

    def _assign(self, statement: ast.Assign) -> None:
        place = self._place(statement.target)
        typed = self._elaborator.typed(statement.value)
        if place is not None and not self._store(place, typed, statement):
            self._assume_assigned(place, statement.span)

    def _store(self, place: Place, typed: Typed, statement: ast.Assign) -> bool:
        """Emit the assignment; False when the value does not fit, which has been reported."""
        target, span, name = place.target, statement.span, place.target.name
        match place.type:
            case None:
                return False
            case BoolType() if isinstance(typed, Relation):
                difference = affine(typed.difference, typed.span)
                self._emit(AssignComparison(target, difference, typed.op, typed.text, span))
                return True
            case BoolType() if isinstance(typed, Junction):
                self._store_by_jumps(target, typed, span)
                return True
            case BoolType() | DomType() as type_:
                value = self._fitting.concrete(type_, typed, statement.value, name)
                if value is not None:
                    self._emit(AssignDom(target, value, span))
                return value is not None
            case IntType() | RealType() if isinstance(typed, Switch):
                return self._by_cases(typed, span, lambda value: self._store(place, value, statement))
            case IntType() | RealType() as type_:
                linear = self._fitting.affine(type_, typed, statement.value, name)
                if linear is not None:
                    self._emit(AssignAffine(target, linear, span))
                return linear is not None
            case unreachable:
                assert_never(unreachable)

    def _store_by_jumps(self, target: Target, condition: Junction, span: Span) -> None:
        assembler = self._assembler
        then, otherwise, end = assembler.label(), assembler.label(), assembler.label()
        self._branch(condition, then, otherwise, span)
        assembler.place(then)
        self._emit(AssignDom(target, Const(True), span))
        self._emit(Jump(end, span))
        assembler.place(otherwise)
        self._emit(AssignDom(target, Const(False), span))
        assembler.place(end)

    def _by_cases(self, value: Typed, span: Span, emit: Callable[[Typed], bool]) -> bool:
        """Emit something for each expression that the value may be, behind its conditions; whether all fitted."""
        if not isinstance(value, Switch):
            return emit(value)
        assembler = self._assembler
        then, otherwise, end = assembler.label(), assembler.label(), assembler.label()
        self._branch(value.condition, then, otherwise, span)
        assembler.place(then)
        first = self._by_cases(value.then, span, emit)
        self._emit(Jump(end, span))
        assembler.place(otherwise)
        second = first and self._by_cases(value.otherwise, span, emit)
        assembler.place(end)
        return first and second

    def _assume_assigned(self, place: Place, span: Span) -> None:
        """Stand in for an assignment that is wrong, so that later reads of its target are not called wrong too."""
        if place.target.slots:
            self._emit(AssignDom(place.target, Const(False), span))

    def _sample(self, statement: ast.Sample) -> None:
        place = self._place(statement.target)
        if self._deterministic:
            self._findings.report(
                Code.BAD_IDEAL,
                statement.span,
                "the ideal draws a random value",
                notes=("the ideal computes the exact answer from the inputs, without noise",),
            )
        self._for_each_value(self._elaborator.concrete_reads(weighing(statement.distribution)), statement, place)

    def _for_each_value(self, reads: Sequence[Read], statement: ast.Sample, place: Place | None) -> bool:
        """Emit the sampling once for each combination of values that the variables may have, behind the comparisons
        with them; whether that went well. A rate or weight is constant then."""
        elaborator, assembler, span = self._elaborator, self._assembler, statement.span
        if not reads or elaborator.dead:
            return self._draw(place, statement)
        read, *rest = reads
        values = _values(elaborator.scope.slots[read.slot])
        combinations = prod(len(_values(elaborator.scope.slots[each.slot])) for each in reads)
        if not self._budget.fits(combinations, span, f"{combinations} combinations of values"):
            return False
        self._budget.spend(len(values))
        end, fits = assembler.label(), True
        for value in values:
            following = assembler.label()
            if value != values[-1]:
                then = assembler.label()
                same = fold(DomOp.EQ, (read, Const(value)), span)
                self._branch(Concrete(Kind.BOOL, same), then, following, span)
                assembler.place(then)
            elaborator.fixed[read.slot] = value
            fits = fits and self._for_each_value(rest, statement, place)
            del elaborator.fixed[read.slot]
            self._emit(Jump(end, span))
            assembler.place(following)
        assembler.place(end)
        return fits

    def _draw(self, place: Place | None, statement: ast.Sample) -> bool:
        """Emit one sampling; whether all was right with it."""
        mean: Typed = UNKNOWN
        if isinstance(statement.distribution, ast.Laplace | ast.DiscreteLaplace):
            mean = self._elaborator.typed(statement.distribution.mean)

        def draw(around: Typed) -> bool:
            instruction = self._sampling.instruction(place, statement, around)
            if instruction is not None:
                self._emit(instruction)
            return instruction is not None

        fits = self._by_cases(mean, statement.span, draw)
        if not fits and place is not None:
            self._assume_assigned(place, statement.span)
        return fits

    def _place(self, expr: ast.Name | ast.Element) -> Place | None:
        """The place that is written to; None when there is none, which has been reported."""
        variable = self._variable(expr)
        at = self._elaborator.typed(expr.index) if isinstance(expr, ast.Element) else UNKNOWN
        if variable is None:
            return None
        if variable.role is ast.Role.INPUT:
            self._findings.report(
                Code.INPUT_ASSIGNED,
                expr.span,
                f"the input `{variable.name}` is assigned",
                notes=("copy it to a variable and change that",),
                secondary=((variable.span, "declared as an input here"),),
            )
        if self._whiles and isinstance(variable.type, IntType | RealType):
            kind = "real" if isinstance(variable.type, RealType) else "int"
            self._findings.report(
                Code.ASSIGNED_IN_WHILE,
                expr.span,
                f"the {kind} variable `{variable.name}` is assigned inside `while`",
                notes=("assign it before the loop, or use a `for` loop with constant bounds",),
                secondary=((self._whiles[-1], "in this loop"),),
            )
        if variable.low is None:
            return Place(Target(variable.slots, 0, None, variable.name, expr.span), variable.type)
        whole = Target(variable.slots, variable.low, Const(Fraction(variable.low)), variable.name, expr.span)
        if not isinstance(expr, ast.Element):
            return Place(whole, None)
        found = self._elaborator.place(variable, expr, at)
        if found is None:
            return Place(whole, None)
        slots, index = found
        if index is None:
            name = self._elaborator.scope.slots[slots[0]].name if slots else variable.name
            return Place(Target(slots, 0, None, name, expr.span), variable.type)
        return Place(Target(slots, variable.low, index, variable.name, expr.span), variable.type)

    def _variable(self, expr: ast.Name | ast.Element) -> DeclaredVariable | None:
        if isinstance(expr, ast.Element):
            variable = self._elaborator.array(expr)
            return None if variable is None or variable.type is None else variable
        symbol = self._elaborator.scope.symbols.get(expr.name)
        if isinstance(symbol, DeclaredVariable) and expr.name not in self._elaborator.locals:
            if symbol.low is not None:
                self._elaborator.name(expr)
            return symbol
        if (symbol is None and expr.name not in self._elaborator.locals) or isinstance(symbol, Foreign):
            self._elaborator.name(expr)
            return None
        local = self._elaborator.locals.get(expr.name)
        if local is UNKNOWN:
            return None
        what = word_for(symbol) if symbol is not None and local is None else "a loop variable"
        message = f"`{expr.name}` is {what} and cannot be assigned"
        self._findings.report(Code.MISUSED_NAME, expr.span, message, notes=("assign a variable declared with `var`",))
        return None


def _values(slot: Slot) -> tuple[Value, ...]:
    """The values that a finite slot may have."""
    if isinstance(slot.type, DomType):
        return slot.type.values
    assert isinstance(slot.type, BoolType)
    return False, True
