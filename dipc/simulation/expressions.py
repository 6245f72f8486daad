"""Expressions and declarations, evaluated for many runs at once by walking the syntax tree."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from fractions import Fraction
from typing import Any, assert_never

import numpy as np

from dipc.algebra.reals import Real
from dipc.simulation.columns import (
    COMPARISONS,
    Batch,
    Column,
    Domain,
    Form,
    Mask,
    Number,
    Positions,
    Scope,
    SimulatedVariable,
    Undefined,
    apply,
    compared,
    constant,
    counted,
    gathered,
    joined,
    minus,
    negated,
    over,
    plus,
    split,
    times,
    truth_column,
    truth_mask,
)
from dipc.text import ast
from dipc.text.ast import BinaryOp, CompareOp, UnaryOp, walk
from dipc.text.core import Value
from dipc.text.diagnostic import Diagnostic, DiagnosticError, Source, Span
from dipc.text.numbers import is_irrational, monomial


class Code(StrEnum):
    """The codes of the diagnostics of a simulation; the first four are those of the chain, which finds the same."""

    UNASSIGNED = "E0701"
    DIVISION_BY_ZERO = "E0702"
    OUTSIDE_ARRAY = "E0703"
    OUTSIDE_DOMAIN = "E0704"
    LOOP_LIMIT = "E0720"
    NO_DISTRIBUTION = "E0721"
    BEYOND_FLOATS = "E0722"


class LoopLimitReached(DiagnosticError):
    """Some run was still inside a `while` after the greatest number of rounds."""


# --- expressions -----------------------------------------------------------------------------------


#: The run of an expression that is the same in every run.
_ANY_RUN: Positions = np.zeros(1, dtype=np.intp)

#: The most variables whose values a diagnostic shows.
_SHOWN = 8


class Expressions:
    """The meaning of the expressions of a type-checked program in the runs of one batch, at one eps.

    `locals` are the values of loop variables and of the variable of an `Exp`.
    """

    def __init__(self, scope: Scope, eps: Fraction, batch: Batch) -> None:
        self.scope = scope
        self.eps = eps
        self.batch = batch
        self.locals: dict[str, Value] = {}

    @contextmanager
    def local(self, name: str) -> Iterator[None]:
        """A block in which `name` may be set in `locals`; afterwards it means what it meant before."""
        hidden = self.locals.get(name)
        try:
            yield
        finally:
            self.locals.pop(name, None)
            if hidden is not None:
                self.locals[name] = hidden

    # --- values that are the same in every run ---

    def value(self, expr: ast.Expr, runs: Positions = _ANY_RUN) -> Value:
        """The value of an expression that is the same in all of `runs`; by default one without variables."""
        column = self.column(expr, runs[:1])
        value = column.values[int(column.codes[0])]
        assert isinstance(value, Fraction | str | bool)
        return value

    def number(self, expr: ast.Expr, runs: Positions = _ANY_RUN) -> Fraction:
        """The rational that an expression is in all of `runs`; by default one without variables."""
        value = self.value(expr, runs)
        assert isinstance(value, Fraction)
        return value

    def deviation(self, expr: ast.Expr, runs: Positions = _ANY_RUN) -> Fraction:
        """A rational next to the positive number that a standard deviation is."""
        if not is_irrational(expr):
            return self.number(expr, runs)
        eps = Real.of(self.eps)

        def constant(part: ast.Expr) -> Fraction:
            return self.number(part, runs)

        factor, power = monomial(expr, constant)
        return (factor * eps.power(int(power))).enclosure()[0]

    def alike(self, exprs: Iterable[ast.Expr], runs: Positions) -> Iterator[Positions]:
        """`runs` in parts, in each of which the variables in the expressions have one value."""
        parts = [part for expr in exprs for part in walk(expr) if isinstance(part, ast.Name | ast.Element)]
        variables = [part for part in parts if part.name in self.scope.variables and part.name not in self.locals]
        if not variables:
            yield runs
            return
        for _, positions in split(joined([self.column(variable, runs) for variable in variables])):
            yield runs[positions]

    def integer(self, expr: ast.Expr) -> int:
        """The integer that an expression without variables is."""
        value = self.number(expr)
        assert value.denominator == 1
        return int(value)

    def domain(self, expr: ast.DomainExpr) -> Domain:
        """The domain that is written."""
        values: list[Value]
        match expr:
            case ast.NamedDomain(name):
                return self.scope.domains[name]
            case ast.RangeDomain(low, high):
                values = [Fraction(value) for value in range(self.integer(low), self.integer(high) + 1)]
            case ast.ListedDomain(listed):
                values = [self.value(value) for value in listed]
            case _:
                assert_never(expr)
        return Domain(values, {value: place for place, value in enumerate(values)})

    # --- values in runs ---

    def holds(self, condition: ast.Expr, runs: Positions) -> Mask:
        """In which of `runs` the condition is true."""
        return truth_mask(self.column(condition, runs))

    def column(self, expr: ast.Expr, runs: Positions) -> Column[Any]:
        """The value of `expr` in each of `runs`, of which there is at least one.

        Raises DiagnosticError for what goes wrong in some run.
        """
        match expr:
            case ast.Number(value) | ast.Truth(value):
                return constant(value, len(runs))
            case ast.Eps():
                return constant(self.eps, len(runs))
            case ast.Name(name):
                return self._name(name, expr.span, runs)
            case ast.Element(name, index):
                variable = self.scope.variables[name]
                offsets = self.offsets(variable, index, runs)
                parts = ((at, self._read(variable, offset, expr.span, runs[at])) for offset, at in split(offsets))
                return gathered(parts, len(runs)) if len(offsets.values) > 1 else next(parts)[1]
            case ast.Unary(op, operand):
                if op is UnaryOp.NEGATE:
                    return apply(negated, self._counted(operand, runs))
                return apply(operator.not_, self.column(operand, runs))
            case ast.Binary(BinaryOp.AND | BinaryOp.OR):
                return self._junction(expr, runs)
            case ast.Binary(op, left, right):
                with self.explained(expr.span, runs):
                    return apply(_ARITHMETIC[op], self._counted(left, runs), self._counted(right, runs))
            case ast.Compare(op, left, right):
                return self._comparison(op, self.column(left, runs), self.column(right, runs), runs)
            case ast.Call(function, arguments):
                columns = [self._counted(argument, runs) for argument in arguments]
                if any(isinstance(value, Form) for column in columns for value in column.values):
                    return self._selected(function, columns, runs)
                return apply(_FUNCTIONS[function], *columns)
            case ast.Drawn():
                raise AssertionError("`dipc.text.parser.parse` gives what is drawn a variable")
            case _:
                assert_never(expr)

    def _counted(self, expr: ast.Expr, runs: Positions) -> Column[Any]:
        return apply(counted, self.column(expr, runs))

    def offsets(self, variable: SimulatedVariable, index: ast.Expr, runs: Positions) -> Column[int]:
        """Which element of an array `index` selects, counted from 0."""
        low, size = variable.low, variable.size
        assert low is not None

        def offset(value: Fraction) -> int:
            if value.denominator != 1 or not low <= value < low + size:
                raise ArithmeticError(f"the index {value} is outside `{variable.name}[{low}..{low + size - 1}]`")
            return int(value) - low

        with self.explained(index.span, runs):
            return apply(offset, self.column(index, runs))

    def _name(self, name: str, span: Span, runs: Positions) -> Column[Any]:
        if name in self.locals:
            return constant(self.locals[name], len(runs))
        if name in self.scope.constants:
            return constant(self.scope.constants[name], len(runs))
        if name in self.scope.variables:
            return self._read(self.scope.variables[name], 0, span, runs)
        return constant(name, len(runs))

    def _read(self, variable: SimulatedVariable, offset: int, span: Span, runs: Positions) -> Column[Any]:
        cell = self.batch.cell(variable, offset)
        try:
            return cell.read(runs)
        except Undefined as undefined:
            message = f"`{cell.name}` is read before it is assigned"
            note = "assign it on every path that leads here, or declare it with an initial value"
            raise self.fault(Code.UNASSIGNED, message, span, int(runs[undefined.position]), note) from None

    def _junction(self, expr: ast.Binary, runs: Positions) -> Column[Any]:
        """The right side is looked at only in those runs where the left side leaves the matter open."""
        truth = self.holds(expr.left, runs)
        still_open = np.flatnonzero(truth if expr.op is BinaryOp.AND else ~truth)
        if len(still_open):
            truth[still_open] = self.holds(expr.right, runs[still_open])
        return truth_column(truth)

    def _comparison(self, op: CompareOp, left: Column[Any], right: Column[Any], runs: Positions) -> Column[Any]:
        if not any(isinstance(value, Form) for side in (left, right) for value in side.values):
            return apply(COMPARISONS[op], left, right)
        return compared(op, apply(minus, left, right), runs)

    def _selected(self, function: str, columns: list[Column[Any]], runs: Positions) -> Column[Any]:
        """min, max or abs where something was drawn: in each run the column that is the least, or the greatest."""
        best, *rest = columns
        if function == "abs":
            rest = [apply(negated, best)]
        for column in rest:
            ahead = truth_mask(
                self._comparison(CompareOp.LE if function == "min" else CompareOp.GE, best, column, runs)
            )
            sides = [(np.flatnonzero(ahead), best), (np.flatnonzero(~ahead), column)]
            best = gathered(((at, side.at(at)) for at, side in sides if len(at)), len(runs))
        return best

    # --- what goes wrong ---

    @contextmanager
    def explained(self, span: Span, runs: Positions) -> Iterator[None]:
        """A block in which Undefined, about columns of `runs`, becomes a diagnostic at `span`."""
        try:
            yield
        except Undefined as undefined:
            run, cause = int(runs[undefined.position]), undefined.__cause__
            if isinstance(cause, ZeroDivisionError):
                note = "guard the division with `if`"
                raise self.fault(Code.DIVISION_BY_ZERO, "division by zero", span, run, note) from None
            note = "guard the access with `if`, or declare a longer array"
            raise self.fault(Code.OUTSIDE_ARRAY, str(cause), span, run, note) from None

    def fault(self, code: Code, message: str, span: Span, run: int | None, *notes: str) -> DiagnosticError:
        """The diagnostic for what went wrong in one run, None for all of them; it shows the values in that run."""
        told = f"this happened with {', '.join(values)}" if (values := self._situation(run)) else ""
        excerpt = self.scope.source.excerpt(span)
        return DiagnosticError(Diagnostic(code, message, excerpt, notes=(*filter(None, [told]), *notes)))

    def _situation(self, run: int | None) -> list[str]:
        """The loop variables, and the first finite variables that have a value, in one run."""
        told = [f"{name} = {text(value)}" for name, value in self.locals.items()]
        if run is None:
            return told
        for variable in self.scope.variables.values():
            for offset in range(variable.size if variable.finite else 0):
                cell = self.batch.cell(variable, offset)
                if len(told) < _SHOWN and cell.codes[run] >= 0:
                    told.append(f"{cell.name} = {text(cell.values[int(cell.codes[run])])}")
        return told


def text(value: Value) -> str:
    """`3`, `-1/2`, `bot`, `true`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    return base ** int(exponent)


_ARITHMETIC: dict[BinaryOp, Callable[..., Number]] = {
    BinaryOp.ADD: plus,
    BinaryOp.SUBTRACT: minus,
    BinaryOp.MULTIPLY: times,
    BinaryOp.DIVIDE: over,
    BinaryOp.POWER: _power,
}


def _least(*numbers: Fraction) -> Fraction:
    return min(numbers)


def _greatest(*numbers: Fraction) -> Fraction:
    return max(numbers)


_FUNCTIONS: dict[str, Callable[..., Fraction]] = {"min": _least, "max": _greatest, "abs": abs}


# --- declarations ----------------------------------------------------------------------------------


def declared(program: ast.Program, source: Source, constants: Mapping[str, Fraction]) -> Scope:
    """All that the program declares, with `constants` in the place of its own of these names.

    As in the language: constants first, so that domains, bounds and types may use every one of them, then domains.
    """
    scope = Scope(source)
    known = Expressions(scope, Fraction(1), Batch(scope, 1, {}))
    for declaration in program.declarations:
        if isinstance(declaration, ast.ConstDecl):
            for name, expr in declaration.bindings:
                given = constants.get(name)
                scope.constants[name] = known.number(expr) if given is None else given
    for declaration in program.declarations:
        if isinstance(declaration, ast.DomainDecl):
            scope.domains[declaration.name] = known.domain(declaration.domain)
    variables: dict[str, SimulatedVariable] = {}
    for declaration in program.declarations:
        if isinstance(declaration, ast.VariableDecl):
            for variable in _variables(declaration, known):
                variables[variable.name] = variable
    scope.variables.update(variables)
    return scope


def _variables(declaration: ast.VariableDecl, known: Expressions) -> list[SimulatedVariable]:
    written = declaration.type
    base = written.base if isinstance(written, ast.BaseTypeExpr) else None
    domain = None if isinstance(written, ast.BaseTypeExpr) else known.domain(written)
    initial = None if declaration.initial is None else known.value(declaration.initial)
    variables = []
    for declarator in declaration.declarators:
        low, size = None, 1
        if declarator.low is not None and declarator.high is not None:
            low = known.integer(declarator.low)
            size = known.integer(declarator.high) - low + 1
        variables.append(SimulatedVariable(declarator.name, declaration.role, low, size, domain, base, initial))
    return variables
