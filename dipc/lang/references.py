"""Resolving names and array elements: what a reference stands for, or what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import assert_never

from dipc.diagnostics.source import Span
from dipc.lang import ast
from dipc.lang.codes import Code
from dipc.lang.core import BoolType, Const, DomExpr, DomType, Read, ReadElement, Value
from dipc.lang.display import show_value
from dipc.lang.findings import Findings
from dipc.lang.scope import (
    CLAIM_NAMES,
    FUNCTIONS,
    Constant,
    DeclaredVariable,
    EnumeratedValue,
    Foreign,
    Scope,
    locate,
    word_for,
)
from dipc.lang.tree import walk
from dipc.lang.typed import ONE, UNKNOWN, ZERO, Concrete, Kind, Linear, Switch, Typed, kind_of


class References:
    """Looks names up in a scope, loop variables first, and reports what cannot be resolved.

    `locals` are loop variables and the variable of an `Exp`; `fixed` are the slots whose value is known for the moment,
    case by case. While `dead` > 0 the code at hand can never run: its
    names and types are still checked, its values are not. `declaring` is for expressions in declarations.
    """

    def __init__(self, scope: Scope, findings: Findings, *, declaring: bool = False) -> None:
        self.scope = scope
        self.findings = findings
        self._declaring = declaring
        self.locals: dict[str, Typed] = {}
        self.fixed: dict[int, Value] = {}
        self.dead = 0

    def report_value(self, code: Code, span: Span, message: str, *, label: str = "", notes: tuple[str, ...]) -> None:
        """Report a wrong value, unless the code at hand can never run; says for which loop variables it is wrong."""
        if self.dead:
            return
        bound = [
            f"{name} = {show_value(typed.value)}"
            for name, typed in self.locals.items()
            if isinstance(typed, Concrete) and typed.value is not None
        ]
        bound += [f"{self.scope.slots[slot].name} = {show_value(value)}" for slot, value in self.fixed.items()]
        here = (f"this is so for {', '.join(bound)}",) if bound else ()
        self.findings.report(code, span, message, label=label, notes=(*here, *notes))

    def check_local(self, name: str, within: Span, what: str, *, may_hide_variables: bool) -> bool:
        """Whether a local name, `what` ("the loop variable"), may be bound; if it hides another, that is reported."""
        known = self.scope.symbols.get(name)
        secondary: tuple[tuple[Span, str], ...] = ()
        if name in self.locals:
            meaning = "the variable of an enclosing loop"
        elif name in CLAIM_NAMES | FUNCTIONS:
            meaning = "reserved"
        elif known is not None and not (may_hide_variables and isinstance(known, DeclaredVariable | Foreign)):
            meaning, secondary = word_for(known), ((known.span, "declared here"),)
        else:
            return True
        self.findings.report(
            Code.DUPLICATE,
            locate(self.findings, name, within),
            f"{what} `{name}` is already {meaning}",
            notes=("choose another name for it",),
            secondary=secondary,
        )
        return False

    def name(self, expr: ast.Name) -> Typed:
        """What a bare name means as an expression."""
        local = self.locals.get(expr.name)
        if local is not None:
            return local
        match self.scope.symbols.get(expr.name):
            case Constant() as constant:
                return self._constant(constant, expr.span)
            case EnumeratedValue(name):
                return Concrete(Kind.NAME, Const(name))
            case DeclaredVariable(known=False):
                return self._not_yet(expr.name, expr.span)
            case DeclaredVariable(type=None):
                return UNKNOWN
            case DeclaredVariable(low=None, slots=slots) as variable:
                return self._read(variable, slots[0], expr.span)
            case DeclaredVariable(name, low=low, slots=slots):
                self.findings.report(
                    Code.MISUSED_NAME,
                    expr.span,
                    f"`{name}` is an array and stands here without an index",
                    notes=(f"write `{name}[{low}]`, or any index from {low} to {(low or 0) + len(slots) - 1}",),
                )
                return UNKNOWN
            case Foreign():
                return self._foreign(expr.name, expr.span)
            case None:
                self.undeclared(expr.name, expr.span)
                return UNKNOWN
            case unreachable:
                assert_never(unreachable)

    def element(self, expr: ast.Element, index: Typed) -> Typed:
        """What `name[index]` means as an expression."""
        variable = self.array(expr)
        if variable is None or variable.type is None:
            return UNKNOWN
        where = self.place(variable, expr, index)
        if where is None:
            return UNKNOWN
        slots, at = where
        if at is None:
            return self._read(variable, slots[0], expr.span)
        assert variable.low is not None
        return read(variable, ReadElement(variable.name, slots, variable.low, at, expr.span))

    def _read(self, variable: DeclaredVariable, slot: int, span: Span) -> Typed:
        assert variable.type is not None
        if slot in self.fixed:
            return Concrete(kind_of(variable.type), Const(self.fixed[slot]))
        return read(variable, Read(slot, span))

    def concrete_reads(self, exprs: Iterable[ast.Expr]) -> list[Read]:
        """The DOM and bool variables, and elements of arrays with a constant index, that the expressions read."""
        found: dict[int, Read] = {}
        for part in (part for expr in exprs for part in walk(expr)):
            if not isinstance(part, ast.Name | ast.Element) or part.name in self.locals:
                continue
            variable = self.scope.symbols.get(part.name)
            if not isinstance(variable, DeclaredVariable) or not isinstance(variable.type, BoolType | DomType):
                continue
            if (variable.low is None) is isinstance(part, ast.Element):
                continue
            typed = self.name(part) if isinstance(part, ast.Name) else self.element(part, self.typed(part.index))
            if isinstance(typed, Concrete) and isinstance(typed.expr, Read):
                found.setdefault(typed.expr.slot, typed.expr)
        return list(found.values())

    def typed(self, expr: ast.Expr) -> Typed:
        """The meaning of any expression of the program."""
        raise NotImplementedError

    def array(self, expr: ast.Element) -> DeclaredVariable | None:
        """The array that `expr` indexes; None when there is none, which has been reported."""
        symbol = self.scope.symbols.get(expr.name) if expr.name not in self.locals else None
        match symbol:
            case DeclaredVariable(known=False):
                self._not_yet(expr.name, expr.span)
                return None
            case DeclaredVariable(low=None, type=type_, span=span):
                if type_ is not None:
                    self.findings.report(
                        Code.MISUSED_NAME,
                        expr.span,
                        f"`{expr.name}` is not an array",
                        notes=(f"declare it as one, `{expr.name}[1..m]`, or drop the index",),
                        secondary=((span, "declared here"),),
                    )
                return None
            case DeclaredVariable() as variable:
                return variable
            case Foreign():
                self._foreign(expr.name, expr.span)
                return None
            case None if expr.name not in self.locals:
                self.undeclared(expr.name, expr.span, f"[{self.findings.snippet(expr.index.span)}]")
                return None
            case _:
                what = "a loop variable" if symbol is None else word_for(symbol)
                message = f"`{expr.name}` is {what}, not an array"
                self.findings.report(Code.MISUSED_NAME, expr.span, message, notes=("only arrays take an index",))
                return None

    def place(
        self, array: DeclaredVariable, expr: ast.Element, index: Typed
    ) -> tuple[tuple[int, ...], DomExpr | None] | None:
        """The one slot that a constant index selects, with None; or all slots, with an index known only in a state."""
        assert array.low is not None
        if not isinstance(index, Concrete) or index.kind is not Kind.NUMBER:
            if not isinstance(index, type(UNKNOWN)):
                what = index.kind.value if isinstance(index, Concrete | Linear | Switch) else "a condition"
                self.findings.report(
                    Code.MISMATCH,
                    expr.index.span,
                    f"an index must be a DOM number, and `{self.findings.snippet(expr.index.span)}` is {what}",
                    notes=("an index may be made of constants, loop variables and DOM variables",),
                )
            return None
        if not isinstance(index.expr, Const):
            return array.slots, index.expr
        value = index.expr.value
        assert isinstance(value, Fraction)
        high = array.low + len(array.slots) - 1
        if value.denominator != 1 or not array.low <= value <= high:
            wrong = "is not an integer" if value.denominator != 1 else "is out of bounds"
            notes = (f"`{array.name}` has the indices {array.low} to {high}",)
            message = f"the index {value} of `{array.name}` {wrong}"
            self.report_value(Code.OUTSIDE_ARRAY, expr.index.span, message, label=f"this is {value}", notes=notes)
            return None
        return (array.slots[int(value) - array.low],), None

    def undeclared(self, name: str, span: Span, index: str = "") -> None:
        """Report a name that means nothing; each name once."""
        if name in CLAIM_NAMES:
            message = f"`{name}` has a meaning only in the claim"
            self.findings.report(Code.RESERVED, span, message, notes=("a program uses numbers and its own constants",))
            return
        if name in FUNCTIONS:
            message = f"`{name}` is a function and stands here without arguments"
            self.findings.report(Code.MISUSED_NAME, span, message, notes=(f"write `{name}(...)`",))
            return
        bounds = "[1..m]" if index else ""
        if self._declaring:
            hint = "numbers, constants and domain values may stand here"
        else:
            hint = f"declare it before the first statement: `var {name}{bounds} : real;` (or bool, int, a domain)"
        notes = self.scope.suggestion(name, *self.locals) or (hint,)
        self.findings.report(Code.UNKNOWN_NAME, span, f"`{name}` is not declared", notes=notes, once=name)

    def _constant(self, constant: Constant, span: Span) -> Typed:
        if constant.known:
            return UNKNOWN if constant.value is None else Concrete(Kind.NUMBER, Const(constant.value))
        self.findings.report(
            Code.USED_TOO_EARLY,
            span,
            f"the constant `{constant.name}` is used before it has a value",
            notes=("a constant may use only constants declared before it",),
            secondary=((constant.span, "declared here"),),
        )
        return UNKNOWN

    def _not_yet(self, name: str, span: Span) -> Typed:
        self.findings.report(
            Code.NOT_CONSTANT,
            span,
            f"`{name}` is a variable, and a constant is needed here",
            notes=("constants, domains and array bounds are made of numbers and constants; -D changes a constant",),
        )
        return UNKNOWN

    def _foreign(self, name: str, span: Span) -> Typed:
        self.findings.report(
            Code.BAD_IDEAL,
            span,
            f"`{name}` is a variable of the program, and the ideal has its own",
            notes=("declare it in the ideal block; inputs, outputs and constants are shared",),
        )
        return UNKNOWN


def read(variable: DeclaredVariable, access: Read | ReadElement) -> Typed:
    """The value of a variable, by its type."""
    assert variable.type is not None
    kind = kind_of(variable.type)
    if kind in (Kind.REAL, Kind.INT):
        return Linear(kind, ((ONE, access),), ZERO)
    return Concrete(kind, access)
