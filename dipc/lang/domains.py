"""Finite domains: their values, and which names become values."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import assert_never

from dipc.diagnostics.source import Span
from dipc.lang import ast
from dipc.lang.codes import Code
from dipc.lang.core import BoolType, DomType, IntType, RealType, Type, Value
from dipc.lang.display import show_value
from dipc.lang.expressions import Elaborator
from dipc.lang.scope import Constant, Domain, EnumeratedValue, locate, may_declare, suggest

#: Values in one domain.
MAX_DOMAIN = 100_000


def declare_domains(declarations: Sequence[ast.Declaration], elaborator: Elaborator) -> None:
    """Enter every named domain; a domain may stand for one declared before it."""
    scope, findings = elaborator.scope, elaborator.findings
    named = [declaration for declaration in declarations if isinstance(declaration, ast.DomainDecl)]
    spans = [locate(findings, declaration.name, declaration.span) for declaration in named]
    for declaration, span in zip(named, spans, strict=True):
        scope.domains.setdefault(declaration.name, Domain(declaration.name, None, span, known=False))
    for declaration, span in zip(named, spans, strict=True):
        first = scope.domains[declaration.name]
        if first.known:
            findings.report(
                Code.DUPLICATE,
                span,
                f"the domain `{declaration.name}` is declared twice",
                notes=("rename one of the two",),
                secondary=((first.span, "first declared here"),),
            )
            continue
        type_ = resolve_domain(declaration.domain, elaborator)
        if type_ is not None:
            type_ = DomType(type_.values, declaration.name)
        scope.domains[declaration.name] = Domain(declaration.name, type_, span)


def resolve_type(expr: ast.TypeExpr, elaborator: Elaborator) -> Type | None:
    """The type that is written; None when it is wrong, which has been reported."""
    if isinstance(expr, ast.BaseTypeExpr):
        match expr.base:
            case ast.BaseType.BOOL:
                return BoolType()
            case ast.BaseType.INT:
                return IntType()
            case ast.BaseType.REAL:
                return RealType()
            case _:
                assert_never(expr.base)
    return resolve_domain(expr, elaborator)


def resolve_domain(expr: ast.DomainExpr, elaborator: Elaborator) -> DomType | None:
    """The domain that is written, never empty and without duplicates; None when it is wrong, which is reported."""
    match expr:
        case ast.RangeDomain():
            return _range(expr, elaborator)
        case ast.ListedDomain():
            return _listed(expr, elaborator)
        case ast.NamedDomain():
            return _named(expr, elaborator)
        case _:
            assert_never(expr)


def _range(expr: ast.RangeDomain, elaborator: Elaborator) -> DomType | None:
    low = elaborator.integer(expr.low, "the lower end of a domain")
    high = elaborator.integer(expr.high, "the upper end of a domain")
    if low is None or high is None:
        return None
    if high < low:
        elaborator.report_value(
            Code.BAD_DOMAIN,
            expr.span,
            f"the domain {{{low}..{high}}} is empty",
            notes=("the lower end comes first: `{0..m}`",),
        )
        return None
    if high - low >= MAX_DOMAIN:
        _too_large(expr.span, high - low + 1, elaborator)
        return None
    return DomType(tuple(Fraction(value) for value in range(low, high + 1)))


def _listed(expr: ast.ListedDomain, elaborator: Elaborator) -> DomType | None:
    if len(expr.values) > MAX_DOMAIN:
        _too_large(expr.span, len(expr.values), elaborator)
        return None
    truths = [written for written in expr.values if isinstance(written, ast.Truth)]
    if truths:
        notes = ("declare the variable as `bool`",)
        message = "truth values are no domain: they have the type bool"
        elaborator.findings.report(Code.BAD_DOMAIN, truths[0].span, message, notes=notes)
        return None
    before = len(elaborator.findings)
    values: dict[Value, ast.Expr] = {}
    for written in expr.values:
        value = _listed_value(written, elaborator)
        if value is None:
            continue
        first = next(iter(values), value)
        if isinstance(first, str) != isinstance(value, str):
            elaborator.findings.report(
                Code.BAD_DOMAIN,
                written.span,
                f"a domain holds either names or numbers, and {_described(written, value, elaborator)}",
                notes=("declare two domains, or rename what has the name of a constant",),
                secondary=((values[first].span, _described(values[first], first, elaborator)),),
            )
            return None
        if value in values:
            elaborator.findings.report(
                Code.BAD_DOMAIN,
                written.span,
                f"the value {show_value(value)} is listed twice",
                notes=("leave one of the two out",),
                secondary=((values[value].span, "first listed here"),),
            )
        values.setdefault(value, written)
    return DomType(tuple(values)) if values and len(elaborator.findings) == before else None


def _listed_value(written: ast.Expr, elaborator: Elaborator) -> Value | None:
    scope = elaborator.scope
    if not isinstance(written, ast.Name) or written.name in elaborator.locals:
        return elaborator.constant(written, "a domain value")
    known = scope.symbols.get(written.name)
    if isinstance(known, Constant):
        return elaborator.constant(written, "a domain value")
    if isinstance(known, EnumeratedValue):
        return written.name
    if not may_declare(scope, elaborator.findings, written.name, written.span, "a domain value"):
        return None
    scope.symbols[written.name] = EnumeratedValue(written.name, written.span)
    return written.name


def _described(written: ast.Expr, value: Value, elaborator: Elaborator) -> str:
    snippet = elaborator.findings.snippet(written.span)
    if isinstance(value, str):
        return f"`{snippet}` is a name"
    return f"`{snippet}` is " + ("a number" if snippet == show_value(value) else f"the number {show_value(value)}")


def _named(expr: ast.NamedDomain, elaborator: Elaborator) -> DomType | None:
    domain = elaborator.scope.domains.get(expr.name)
    if domain is None:
        names = [*elaborator.scope.domains, "real", "bool", "int"]
        notes = suggest(expr.name, names) or (f"declare it: `domain {expr.name} = {{low, high}};`",)
        message = f"there is no domain `{expr.name}`"
        elaborator.findings.report(Code.UNKNOWN_NAME, expr.span, message, notes=notes, once=("domain", expr.name))
        return None
    if not domain.known:
        elaborator.findings.report(
            Code.USED_TOO_EARLY,
            expr.span,
            f"the domain `{expr.name}` is used before it is declared",
            notes=("move its declaration up",),
            secondary=((domain.span, "declared here"),),
        )
    return domain.type


def _too_large(span: Span, size: int, elaborator: Elaborator) -> None:
    message = f"a domain has at most {MAX_DOMAIN} values, and this one has {size}"
    elaborator.findings.report(Code.TOO_LARGE, span, message, notes=("the chain visits every value: choose fewer",))
