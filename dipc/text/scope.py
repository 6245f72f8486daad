"""The names of one program: the meaning of each, and a diagnostic for one without a meaning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import assert_never

from dipc.frozen import frozen
from dipc.text import ast
from dipc.text.ast import BaseType, Role, walk
from dipc.text.core import (
    ONE,
    UNKNOWN,
    ZERO,
    AffineExpr,
    Concrete,
    Const,
    DomExpr,
    DomType,
    ProgramCode,
    Reference,
    Slot,
    Switch,
    Type,
    Typed,
    Value,
    ValueKind,
    kind_of,
    show_value,
)
from dipc.text.diagnostic import Diagnostic, DiagnosticError, Label, SourceText, Span, did_you_mean, listing

# --- The mistakes of one program, collected to be reported together ---------------------------------------------------

#: The most findings that are shown; the rest are counted.
SHOWN = 50
_SNIPPET = 40


class Findings:
    """The mistakes found so far in one source.

    Of several mistakes with the same code at the same place, only the first is kept. So a mistake in a statement that
    is unrolled a hundred times is reported once.
    """

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self._found: dict[object, Diagnostic] = {}

    def __len__(self) -> int:
        return len(self._found)

    def report(
        self,
        code: ProgramCode,
        span: Span | None,
        message: str,
        *,
        label: str = "",
        notes: Sequence[str] = (),
        secondary: Sequence[tuple[Span, str]] = (),
        once: object = None,
    ) -> None:
        """Add a problem at `span` (None: it has no place in the text), unless an equal one has been added before.

        The problem has a `code`, a `message`, a `label` below its place, `notes` that say how to correct it, and
        `secondary` places with their labels. Two problems with the same code are equal if they have the same `once`. If
        `once` is None, they are equal if they have the same span, or no span and the same message.
        """
        key = (code, span if span is not None else message) if once is None else (code, once)
        if key not in self._found:
            excerpt = self.source.excerpt
            place = None if span is None else excerpt(span)
            others = tuple(Label(excerpt(other), text) for other, text in secondary)
            self._found[key] = Diagnostic(code.value, message, place, label, tuple(notes), others)

    def snippet(self, span: Span) -> str:
        """Return the text at `span` on one line, shortened if it is long."""
        text = " ".join(self.source.text[span.start : min(span.end, span.start + 400)].split())
        return text if len(text) <= _SNIPPET else text[: _SNIPPET - 3] + "..."

    def raise_if_any(self) -> None:
        """Raise DiagnosticError with all reported mistakes, in the order of the text."""
        if not self._found:
            return
        ordered = sorted(self._found.values(), key=_position)
        diagnostics = ordered[:SHOWN]
        if len(ordered) > SHOWN:
            rest = len(ordered) - SHOWN
            message = f"{rest} more {'error is' if rest == 1 else 'errors are'} not shown"
            diagnostics.append(Diagnostic(ProgramCode.MORE_ERRORS, message, notes=("correct the ones above first",)))
        raise DiagnosticError(*diagnostics)


def _position(found: Diagnostic) -> tuple[int, int, str]:
    place = found.excerpt
    return (0, 0, found.code) if place is None else (place.line, place.column, found.code)


# --- The names of one program and the meaning of each -----------------------------------------------------------------

#: Names with a meaning in claims; a program cannot declare them.
CLAIM_NAMES = frozenset({"alpha", "beta", "gamma", "dd", "inf"})
#: Names of functions.
FUNCTIONS = frozenset({"exp", "min", "max", "abs"})


@frozen
class DeclaredConstant:
    """A named constant; `value` is None if its expression is wrong, and `known` is False before it is computed."""

    name: str
    value: Fraction | None
    span: Span
    known: bool = True


@frozen
class DeclaredVariable:
    """A declared variable.

    `low` is the least index of an array, None for a scalar; `type` is None if the declared type is wrong. Constants and
    domains are computed before variables get their types. Until then only the name is registered, and `known` is False.
    """

    name: str
    role: Role
    type: Type | None
    slots: tuple[int, ...]
    low: int | None
    span: Span
    known: bool = True


@frozen
class EnumeratedValue:
    """A name that is a value of one or more domains."""

    name: str
    span: Span


@frozen
class Foreign:
    """A variable of the mechanism, which the `ideal` block cannot use."""

    name: str
    span: Span


Symbol = DeclaredConstant | DeclaredVariable | EnumeratedValue | Foreign

_WORDS: dict[type[Symbol], str] = {
    DeclaredConstant: "a constant",
    DeclaredVariable: "a variable",
    EnumeratedValue: "a domain value",
    Foreign: "a variable of the program",
}


def word_for(symbol: Symbol) -> str:
    """Return the word for the kind of `symbol` in messages."""
    return _WORDS[type(symbol)]


@frozen
class DeclaredDomain:
    """A named domain; `type` is None if its declaration is wrong or comes later.

    `known` is False if the declaration comes later.
    """

    name: str
    type: DomType | None
    span: Span
    known: bool = True


class FixedEps:
    """The eps at which a program is read: `value` is a single eps, or None if the program is read for every eps.

    `used` is True if the program's meaning depends on this single eps.
    """

    def __init__(self, value: Fraction | None = None) -> None:
        self.value = value
        self.used = False

    def use(self) -> Fraction | None:
        """Return the single eps or None, and note that it was used."""
        self.used |= self.value is not None
        return self.value


class Scope:
    """The names of one program or ideal.

    Constants, variables and domain values share one namespace. Domains have a namespace of their own, because their
    names occur only in types. All scopes of a program share `eps`, which is a single eps if the program is read for
    one.
    """

    def __init__(self, eps: FixedEps | None = None) -> None:
        self.eps = FixedEps() if eps is None else eps
        self.symbols: dict[str, Symbol] = {}
        self.domains: dict[str, DeclaredDomain] = {}
        self.slots: list[Slot] = []

    def constants(self) -> dict[str, Fraction]:
        """Return the values of the constants that have one."""
        return {
            symbol.name: symbol.value
            for symbol in self.symbols.values()
            if isinstance(symbol, DeclaredConstant) and symbol.value is not None
        }

    def type_of(self, variable: Reference) -> Type:
        return self.slots[variable.slots[0]].type

    def adopt(self, variable: DeclaredVariable, other: Scope) -> DeclaredVariable:
        """Return a copy of `variable` of the scope `other`, with its type and initial value, in slots of this scope."""
        first = len(self.slots)
        for offset, slot in enumerate(variable.slots):
            self.slots.append(replace(other.slots[slot], index=first + offset))
        return replace(variable, slots=tuple(range(first, len(self.slots))))


def may_declare(scope: Scope, findings: Findings, name: str, span: Span, what: str) -> bool:
    """Return True if `name` is free in `scope` to be declared at `span` as `what` ("a constant").

    If the name is reserved or already declared, report this mistake to `findings` and return False.
    """
    if name in CLAIM_NAMES | FUNCTIONS:
        meaning = "a function" if name in FUNCTIONS else "reserved for claims and tables"
        notes = ("choose another name",)
        findings.report(ProgramCode.RESERVED, span, f"`{name}` cannot be declared: it is {meaning}", notes=notes)
        return False
    known = scope.symbols.get(name)
    if known is not None and not isinstance(known, Foreign):
        findings.report(
            ProgramCode.DUPLICATE,
            span,
            f"`{name}` is declared twice" if word_for(known) == what else f"`{name}` is already {word_for(known)}",
            notes=("rename one of the two",),
            secondary=((known.span, "first declared here"),),
        )
        return False
    return True


def locate(findings: Findings, name: str, within: Span, *, last: bool = False) -> Span:
    """Return the span of the word `name` in `within`: its first or `last` occurrence, or `within` if there is none.

    `findings` has the text. A declaration of several names has only one span, so each name is searched for in that
    span.
    """
    text = findings.source.text[within.start : within.end]
    matches = [match.span() for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text)]
    if not matches:
        return within
    start, end = matches[-1 if last else 0]
    return Span(within.start + start, within.start + end)


# --- Resolving names and array elements: the meaning of a reference, or the mistake in it -----------------------------


class References:
    """The lookup of names in a scope, loop variables first; it reports names that cannot be resolved.

    - `locals` has the meanings of loop variables, and of the variable of an exponential mechanism.
    - `fixed` has the values of slots that the current case fixes, where a statement is translated once for each value.
    - `receivers` has, by the span of an expression, the variable that it is assigned to or compared with. A message
      about an unknown name in the expression then lists the values of the variable.
    - `dead` is positive while code that can never run is checked. Its names and types are checked, but not its values.
    - `declaring` is True for expressions in declarations.
    """

    def __init__(self, scope: Scope, findings: Findings, *, declaring: bool = False) -> None:
        self.scope = scope
        self.findings = findings
        self._declaring = declaring
        self.locals: dict[str, Typed] = {}
        self.fixed: dict[int, Value] = {}
        self.receivers: dict[Span, DeclaredVariable] = {}
        self.dead = 0

    def report_value(
        self, code: ProgramCode, span: Span, message: str, *, label: str = "", notes: tuple[str, ...]
    ) -> None:
        """Report a wrong value at `span`, with the values of loop variables, unless the current code can never run.

        The problem has a `code`, a `message`, a `label` below its place, and `notes` that say how to correct it.
        """
        if self.dead:
            return
        bound = [
            f"{name} = {show_value(typed.value)}"
            for name, typed in self.locals.items()
            if isinstance(typed, Concrete) and typed.value is not None
        ]
        bound += [f"{self.scope.slots[slot].name} = {show_value(value)}" for slot, value in self.fixed.items()]
        here = (f"this happens for {', '.join(bound)}",) if bound else ()
        self.findings.report(code, span, message, label=label, notes=(*here, *notes))

    def check_local(self, name: str, within: Span, what: str, *, may_hide_variables: bool) -> bool:
        """Return True if the variable `name` of a loop or of another expression may be bound at `within`.

        A name that hides another meaning is reported; it may hide variables of the program if `may_hide_variables`.
        `what` ("the loop variable") describes the variable in the message.
        """
        known = self.scope.symbols.get(name)
        secondary: tuple[tuple[Span, str], ...] = ()
        if name in self.locals:
            meaning = "the variable of an enclosing loop"
        elif name in CLAIM_NAMES | FUNCTIONS:
            meaning = "reserved"
        elif isinstance(known, Foreign):
            return True  # the ideal cannot use the variable that is hidden
        elif known is not None and not (may_hide_variables and isinstance(known, DeclaredVariable)):
            meaning, secondary = word_for(known), ((known.span, "declared here"),)
        else:
            return True
        self.findings.report(
            ProgramCode.DUPLICATE,
            locate(self.findings, name, within),
            f"{what} `{name}` is already {meaning}",
            notes=("choose another name for it",),
            secondary=secondary,
        )
        return False

    def receive(self, value: ast.Expr, receiver: ast.Expr | ast.Name | ast.Element) -> None:
        """Note that `value` is assigned to `receiver` or compared with it, for the message about an unknown name."""
        if isinstance(value, ast.Name) and isinstance(receiver, ast.Name | ast.Element):
            variable = self.scope.symbols.get(receiver.name)
            if isinstance(variable, DeclaredVariable):
                self.receivers[value.span] = variable

    def name(self, expr: ast.Name) -> Typed:
        """Return the meaning of `expr`, a name that is used as an expression."""
        local = self.locals.get(expr.name)
        if local is not None:
            return local
        match self.scope.symbols.get(expr.name):
            case DeclaredConstant() as constant:
                return self._constant(constant, expr.span)
            case EnumeratedValue(name):
                return Concrete(ValueKind.NAME, Const(name))
            case DeclaredVariable(known=False):
                return self._not_yet(expr.name, expr.span)
            case DeclaredVariable(type=None):
                return UNKNOWN
            case DeclaredVariable(low=None, slots=slots) as variable:
                return self._read(variable, slots[0], expr.span)
            case DeclaredVariable(name, low=low, slots=slots):
                high = (low or 0) + len(slots) - 1
                notes = [f"one of its elements: `{name}[{low}]`, or any index from {low} to {high}"]
                if not name.endswith("'"):
                    over = f"(i in {low}..{high} : {name}[i])"
                    notes.append(
                        f"for the least of its elements, write `min{over}`; `max` and `sum` are written in the same way"
                    )
                else:
                    notes.append("`output: linf` takes the greatest distance of two elements, `input: l1` their sum")
                message = f"`{name}` is an array and needs an index here"
                self.findings.report(ProgramCode.MISUSED_NAME, expr.span, message, notes=tuple(notes))
                return UNKNOWN
            case Foreign():
                return self._foreign(expr.name, expr.span)
            case None:
                self.undeclared(expr.name, expr.span)
                return UNKNOWN
            case unreachable:
                assert_never(unreachable)

    def element(self, expr: ast.Element, index: Typed) -> Typed:
        """Return the meaning of `expr`, an element of an array at `index`, as an expression."""
        variable = self.array(expr)
        if variable is None or variable.type is None:
            return UNKNOWN
        where = self.place(variable, expr, index)
        if where is None:
            return UNKNOWN
        slots, offset = where
        if offset is None:
            return self._read(variable, slots[0], expr.span)
        assert variable.low is not None
        return read(variable, Reference(variable.name, slots, expr.span, offset, variable.low))

    def _read(self, variable: DeclaredVariable, slot: int, span: Span) -> Typed:
        assert variable.type is not None
        if slot in self.fixed:
            return Concrete(kind_of(variable.type), Const(self.fixed[slot]))
        return read(variable, Reference(self.scope.slots[slot].name, (slot,), span))

    def concrete_reads(self, exprs: Iterable[ast.Expr]) -> list[Reference]:
        """Return the DOM and bool variables that `exprs` read, among them array elements with a constant index."""
        result: dict[int, Reference] = {}
        for node in (node for expr in exprs for node in walk(expr)):
            if not isinstance(node, ast.Name | ast.Element) or node.name in self.locals:
                continue
            variable = self.scope.symbols.get(node.name)
            if not isinstance(variable, DeclaredVariable):
                continue
            if variable.type is not BaseType.BOOL and not isinstance(variable.type, DomType):
                continue
            if (variable.low is None) is isinstance(node, ast.Element):
                continue
            typed = self.name(node) if isinstance(node, ast.Name) else self.element(node, self.typed(node.index))
            if isinstance(typed, Concrete) and isinstance(typed.expr, Reference) and typed.expr.index is None:
                result.setdefault(typed.expr.slots[0], typed.expr)
        return list(result.values())

    def typed(self, expr: ast.Expr) -> Typed:
        """Return the meaning of `expr`, any expression of the program."""
        raise NotImplementedError

    def array(self, expr: ast.Element) -> DeclaredVariable | None:
        """Return the array that `expr` indexes, or None after reporting that its name is not that of an array."""
        symbol = self.scope.symbols.get(expr.name) if expr.name not in self.locals else None
        match symbol:
            case DeclaredVariable(known=False):
                self._not_yet(expr.name, expr.span)
                return None
            case DeclaredVariable(low=None, type=type_, span=span):
                if type_ is not None:
                    self.findings.report(
                        ProgramCode.MISUSED_NAME,
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
                self.findings.report(ProgramCode.MISUSED_NAME, expr.span, message, notes=("only arrays take an index",))
                return None

    def place(
        self, array: DeclaredVariable, expr: ast.Element, index: Typed
    ) -> tuple[tuple[int, ...], DomExpr | None] | None:
        """Return the possible slots of the element `expr` of `array`, and the expression of the index.

        If `index` is a constant, this is (the slot of the element, None); otherwise it is (all slots of the array,
        `index` as an expression). The result is None after reporting a wrong index.
        """
        assert array.low is not None
        if not isinstance(index, Concrete) or index.kind is not ValueKind.NUMBER:
            if not isinstance(index, type(UNKNOWN)):
                what = index.kind.value if isinstance(index, Concrete | AffineExpr | Switch) else "a condition"
                self.findings.report(
                    ProgramCode.MISMATCH,
                    expr.index.span,
                    f"an index must be a DOM number, but `{self.findings.snippet(expr.index.span)}` is {what}",
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
            self.report_value(
                ProgramCode.OUTSIDE_ARRAY, expr.index.span, message, label=f"this is {value}", notes=notes
            )
            return None
        return (array.slots[int(value) - array.low],), None

    def undeclared(self, name: str, span: Span, index: str = "") -> None:
        """Report that the name `name` at `span` is not declared; each name is reported once.

        `index` is the text of the index if an array element is named.
        """
        if name in CLAIM_NAMES:
            message = f"`{name}` has a meaning only in the claim"
            self.findings.report(
                ProgramCode.RESERVED, span, message, notes=("a program uses numbers and its own constants",)
            )
            return
        if name in FUNCTIONS:
            message = f"`{name}` is a function and needs arguments here"
            self.findings.report(ProgramCode.MISUSED_NAME, span, message, notes=(f"write `{name}(...)`",))
            return
        bounds = "[1..m]" if index else ""
        if self._declaring:
            hint = "numbers, constants and domain values are allowed here"
        else:
            hint = f"declare it before the first statement: `var {name}{bounds} : real;` (or bool, int, a domain)"
        notes = did_you_mean(name, [*self.scope.symbols, *self.locals])
        match self.receivers.get(span):
            case DeclaredVariable(name=receiver, type=DomType(values=values)) if isinstance(values[0], str):
                notes.append(f"`{receiver}` is {listing(map(show_value, values), joint='or')}")
            case DeclaredVariable(name=receiver, type=BaseType.BOOL):
                notes.append(f"`{receiver}` is `true` or `false`")
            case _:
                notes = notes or [hint]
        self.findings.report(ProgramCode.UNKNOWN_NAME, span, f"`{name}` is not declared", notes=notes, once=name)

    def _constant(self, constant: DeclaredConstant, span: Span) -> Typed:
        if constant.known:
            return UNKNOWN if constant.value is None else Concrete(ValueKind.NUMBER, Const(constant.value))
        self.findings.report(
            ProgramCode.USED_TOO_EARLY,
            span,
            f"the constant `{constant.name}` is used before it has a value",
            notes=("a constant may use only constants declared before it",),
            secondary=((constant.span, "declared here"),),
        )
        return UNKNOWN

    def _not_yet(self, name: str, span: Span) -> Typed:
        self.findings.report(
            ProgramCode.NOT_CONSTANT,
            span,
            f"`{name}` is a variable, but a constant is needed here",
            notes=("constants, domains and array bounds are made of numbers and constants; -D changes a constant",),
        )
        return UNKNOWN

    def _foreign(self, name: str, span: Span) -> Typed:
        self.findings.report(
            ProgramCode.BAD_IDEAL,
            span,
            f"`{name}` is a variable of the program, but the ideal has its own variables",
            notes=("declare it in the ideal block; inputs, outputs and constants are shared",),
        )
        return UNKNOWN


def read(variable: DeclaredVariable, access: Reference) -> Typed:
    """Return the meaning of `access`, an expression that reads `variable` or an element of it."""
    assert variable.type is not None
    kind = kind_of(variable.type)
    if kind in (ValueKind.REAL, ValueKind.INT):
        return AffineExpr(((ONE, access),), ZERO, access.span, kind)
    return Concrete(kind, access)
