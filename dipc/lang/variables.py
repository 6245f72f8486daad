"""Declared variables: their types, the slots of arrays, initial values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from dipc.diagnostics.source import Span
from dipc.lang import ast
from dipc.lang.codes import Code
from dipc.lang.core import BoolType, Const, DomType, IntType, RealType, Slot, Type, Value
from dipc.lang.domains import resolve_type
from dipc.lang.expressions import Elaborator
from dipc.lang.fitting import Fitting
from dipc.lang.scope import DeclaredVariable

#: Scalars and array elements of one program, taken together.
MAX_SLOTS = 100_000


def declare_variables(declarations: Sequence[ast.Declaration], elaborator: Elaborator, fitting: Fitting) -> None:
    """Give every registered variable its type and its slots, arrays by increasing index."""
    for declaration in declarations:
        if isinstance(declaration, ast.VariableDecl):
            type_ = resolve_type(declaration.type, elaborator)
            initial = _initial(declaration, type_, elaborator, fitting)
            for declarator in declaration.declarators:
                known = elaborator.scope.symbols.get(declarator.name)
                if isinstance(known, DeclaredVariable) and known.span == declarator.span:
                    _declare(declaration.role, declarator, type_, initial, elaborator)


def _declare(
    role: ast.Role, declarator: ast.Declarator, type_: Type | None, initial: Value | None, elaborator: Elaborator
) -> None:
    scope, name, span = elaborator.scope, declarator.name, declarator.span
    bounds = _bounds(declarator, elaborator)
    array = declarator.low is not None
    if type_ is None or bounds is None:
        scope.symbols[name] = DeclaredVariable(name, role, None, (), 0 if array else None, span)
        return
    low, high = bounds
    first = len(scope.slots)
    if first + high - low + 1 > MAX_SLOTS:
        message = f"a program has at most {MAX_SLOTS} scalars and array elements"
        elaborator.findings.report(Code.TOO_LARGE, span, message, notes=("declare shorter arrays",))
        scope.symbols[name] = DeclaredVariable(name, role, None, (), 0 if array else None, span)
        return
    for index in range(low, high + 1):
        shown = f"{name}[{index}]" if array else name
        scope.slots.append(Slot(len(scope.slots), shown, role, type_, initial, span))
    slots = tuple(range(first, len(scope.slots)))
    scope.symbols[name] = DeclaredVariable(name, role, type_, slots, low if array else None, span)


def _bounds(declarator: ast.Declarator, elaborator: Elaborator) -> tuple[int, int] | None:
    """The index bounds; (0, 0) for a scalar; None when they are wrong."""
    if declarator.low is None or declarator.high is None:
        return 0, 0
    low = elaborator.integer(declarator.low, "an array bound")
    high = elaborator.integer(declarator.high, "an array bound")
    if low is None or high is None:
        return None
    if high < low:
        elaborator.findings.report(
            Code.OUTSIDE_ARRAY,
            declarator.span,
            f"the array `{declarator.name}` has no element: its indices would go from {low} to {high}",
            notes=("an array has at least one element",),
        )
        return None
    return low, high


def _initial(
    declaration: ast.VariableDecl, type_: Type | None, elaborator: Elaborator, fitting: Fitting
) -> Value | None:
    expr = declaration.initial
    if expr is None:
        return None
    name = declaration.declarators[0].name
    if declaration.role is ast.Role.INPUT:
        elaborator.findings.report(
            Code.INPUT_INITIALIZED,
            expr.span,
            f"the input `{name}` cannot have an initial value",
            notes=("inputs get their values from the table",),
        )
        return None
    match type_:
        case None:
            return None
        case BoolType() | DomType():
            value = fitting.concrete(type_, elaborator.typed(expr), expr, name)
            if isinstance(value, Const):
                return value.value
            if value is not None:
                _not_constant(expr.span, elaborator)
            return None
        case IntType() | RealType():
            linear = fitting.affine(type_, elaborator.typed(expr), expr, name)
            if linear is not None and not linear.terms and isinstance(linear.constant, Const):
                return linear.constant.value
            if linear is not None:
                _not_constant(expr.span, elaborator)
            return None
        case _:
            assert_never(type_)


def _not_constant(span: Span, elaborator: Elaborator) -> None:
    notes = ("assign it in the first statement instead",)
    elaborator.findings.report(Code.NOT_CONSTANT, span, "an initial value must be a constant", notes=notes)
