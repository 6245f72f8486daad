"""Whether a value fits the variable it is meant for."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dipc.diagnostics.source import Span
from dipc.lang import ast
from dipc.lang.codes import Code
from dipc.lang.core import (
    AffineExpr,
    Apply,
    BoolType,
    Const,
    DomExpr,
    DomOp,
    DomType,
    IntType,
    Read,
    ReadElement,
    RealType,
    Slot,
    Value,
)
from dipc.lang.display import show_type, show_value
from dipc.lang.expressions import Elaborator
from dipc.lang.typed import Concrete, Junction, Kind, Linear, Relation, Switch, Typed, Unknown, affine, kind_of


class Fitting:
    """Checks values against types, and reports those that do not fit."""

    def __init__(self, elaborator: Elaborator) -> None:
        self._elaborator = elaborator
        self._members: dict[int, tuple[DomType, frozenset[Value]]] = {}

    def concrete(self, type_: BoolType | DomType, typed: Typed, expr: ast.Expr, name: str) -> DomExpr | None:
        """The expression to store in `name`; None when it does not fit."""
        if isinstance(typed, Unknown):
            return None
        if not isinstance(typed, Concrete) or typed.kind is not kind_of(type_):
            self._mismatch(type_, typed, expr, name)
            return None
        if isinstance(type_, DomType) and typed.value is not None and not self.member(type_, typed.value):
            self.outside(type_, typed.value, expr.span, name)
            return None
        return typed.expr

    def member(self, type_: DomType, value: Value) -> bool:
        """Whether a value of the right kind is in the domain."""
        known = self._members.get(id(type_))
        if known is None:
            known = self._members[id(type_)] = (type_, frozenset(type_.values))
        return value in known[1]

    def outside(self, type_: DomType, value: Value, span: Span, name: str) -> None:
        """Report a constant that the domain of `name` does not have."""
        self._elaborator.report_value(
            Code.OUTSIDE_DOMAIN,
            span,
            f"`{name}` cannot hold {show_value(value)}: its domain is {show_type(type_)}",
            label=f"this is {show_value(value)}",
            notes=("widen the domain, or assign one of its values",),
        )

    def affine(self, type_: IntType | RealType, typed: Typed, expr: ast.Expr, name: str) -> AffineExpr | None:
        """The linear expression to store in `name`; None when it does not fit. In an int it is certainly an integer."""
        if isinstance(typed, Unknown):
            return None
        kind = kind_of(type_)
        if isinstance(typed, Linear) and typed.kind is not kind:
            other = self._elaborator.variable_of(typed)
            integer, real = (name, other) if kind is Kind.INT else (other, name)
            self._elaborator.findings.report(
                Code.INT_MEETS_REAL,
                expr.span,
                f"the int `{integer}` meets the real `{real}`",
                notes=("int and real never meet: sample both with Lap, or both with DLap",),
            )
            return None
        if not isinstance(typed, Linear) and not (isinstance(typed, Concrete) and typed.kind is Kind.NUMBER):
            self._mismatch(type_, typed, expr, name)
            return None
        result = affine(typed, expr.span)
        if kind is Kind.INT and not self._whole(result, expr, name):
            return None
        return result

    def _whole(self, value: AffineExpr, expr: ast.Expr, name: str) -> bool:
        parts = [*(coefficient for coefficient, _ in value.terms), value.constant]
        if all(integral(part, self._elaborator.scope.slots) for part in parts):
            return True
        snippet = self._elaborator.findings.snippet(expr.span)
        if not value.terms and isinstance(value.constant, Const):
            problem = f"`{show_value(value.constant.value)}` is not an integer"
        else:
            problem = f"`{snippet}` is not certainly an integer"
        self._elaborator.report_value(
            Code.NOT_AN_INTEGER,
            expr.span,
            f"`{name}` is an int, and {problem}",
            notes=(
                "ints are sums of ints, each times an integer; assign a quotient to a DOM variable of integers first",
            ),
        )
        return False

    def _mismatch(
        self, type_: BoolType | DomType | IntType | RealType, typed: Typed, expr: ast.Expr, name: str
    ) -> None:
        snippet = self._elaborator.findings.snippet(expr.span)
        if isinstance(typed, Concrete | Linear | Switch):
            what = typed.kind.value
        else:
            assert isinstance(typed, Relation | Junction)
            what = Kind.BOOL.value
        if isinstance(typed, Linear | Switch):
            note = "compare it in a condition, and assign concrete values in the branches"
        elif isinstance(type_, BoolType):
            note = "a bool takes true, false or a condition"
        else:
            note = "change the variable's type or the value"
        message = f"`{name}` is of type {show_type(type_)}, and `{snippet}` is {what}"
        self._elaborator.findings.report(Code.MISMATCH, expr.span, message, notes=(note,))


def integral(expr: DomExpr, slots: Sequence[Slot]) -> bool:
    """True only if `expr` is an integer in every state where it has a value."""
    match expr:
        case Const(value):
            return isinstance(value, Fraction) and value.denominator == 1
        case Read(slot):
            return _integers(slots[slot])
        case ReadElement(slots=elements):
            return _integers(slots[elements[0]])
        case Apply(DomOp.DIVIDE):
            return False
        case Apply(arguments=arguments):
            return all(integral(argument, slots) for argument in arguments)


def _integers(slot: Slot) -> bool:
    return isinstance(slot.type, DomType) and all(
        isinstance(value, Fraction) and value.denominator == 1 for value in slot.type.values
    )
