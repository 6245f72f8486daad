"""Registering the names a program declares, and computing its constants, some of them given from outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from dipc.diagnostics.source import Span
from dipc.lang import ast
from dipc.lang.codes import Code
from dipc.lang.expressions import Elaborator
from dipc.lang.findings import Findings
from dipc.lang.scope import Constant, DeclaredVariable, Scope, locate, may_declare, suggest
from dipc.lang.tree import mentions
from dipc.lang.values import ValueTooLarge, bounded


def register(declarations: Sequence[ast.Declaration], scope: Scope, findings: Findings) -> None:
    """Enter every constant and variable by name, in the order of the text, as not known yet.

    A name that cannot be declared is reported and left out; of two with one name the first is kept.
    """
    for declaration in declarations:
        match declaration:
            case ast.ConstDecl(bindings):
                for name, expr in bindings:
                    span = _binding_span(findings, declaration, name, expr)
                    if may_declare(scope, findings, name, span, "a constant"):
                        scope.symbols[name] = Constant(name, None, span, known=False)
            case ast.VariableDecl(role, declarators):
                for declarator in declarators:
                    if may_declare(scope, findings, declarator.name, declarator.span, "a variable"):
                        variable = DeclaredVariable(declarator.name, role, None, (), None, declarator.span, known=False)
                        scope.symbols[declarator.name] = variable


def compute_constants(
    declarations: Sequence[ast.Declaration], overrides: Mapping[str, Fraction], elaborator: Elaborator
) -> None:
    """Give every registered constant its value, in the order of the text; `overrides` win over the text."""
    scope = elaborator.scope
    for declaration in declarations:
        if not isinstance(declaration, ast.ConstDecl):
            continue
        for name, expr in declaration.bindings:
            symbol = scope.symbols.get(name)
            span = _binding_span(elaborator.findings, declaration, name, expr)
            if not isinstance(symbol, Constant) or symbol.span != span:
                continue
            value = overrides.get(name)
            if value is None:
                value = elaborator.constant(expr, f"the value of `{name}`")
            elif not _small(value):
                message = f"the value given for `{name}` has too many digits"
                notes = ("numbers of more than about 3000 digits are refused",)
                elaborator.findings.report(Code.TOO_LARGE, None, message, notes=notes)
                value = None
            scope.symbols[name] = Constant(name, value, span)
    _refuse_unknown(overrides, scope, elaborator.findings)


def computed_from(declarations: Sequence[ast.Declaration], given: Mapping[str, Fraction], name: str) -> tuple[str, ...]:
    """The constants, but those `given`, whose values in the text depend on the constant `name`."""
    found: list[str] = []
    for declaration in declarations:
        if isinstance(declaration, ast.ConstDecl):
            for other, value in declaration.bindings:
                if other != name and other not in given and any(mentions(value, known) for known in (name, *found)):
                    found.append(other)
    return tuple(found)


def _small(value: Fraction) -> bool:
    try:
        bounded(value)
    except ValueTooLarge:
        return False
    return True


def _refuse_unknown(overrides: Mapping[str, Fraction], scope: Scope, findings: Findings) -> None:
    constants = [symbol.name for symbol in scope.symbols.values() if isinstance(symbol, Constant)]
    known = f"the constants are {', '.join(f'`{name}`' for name in constants)}"
    for name in overrides:
        if name in constants:
            continue
        if isinstance(scope.symbols.get(name), DeclaredVariable):
            message = f"`{name}` is a variable, and only constants can be set from outside"
        else:
            message = f"the program has no constant `{name}`"
        notes = (*suggest(name, constants), known if constants else "the program declares no constants")
        findings.report(Code.UNKNOWN_CONSTANT, None, message, notes=notes)


def _binding_span(findings: Findings, declaration: ast.ConstDecl, name: str, expr: ast.Expr) -> Span:
    before = Span(declaration.span.start, max(declaration.span.start, expr.span.start))
    return locate(findings, name, before, last=True)
