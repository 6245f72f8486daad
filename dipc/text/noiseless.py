"""The program without its noise: what `ideal { noiseless }` stands for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import assert_never

from dipc.text import ast
from dipc.text.diagnostic import Diagnostic, DiagnosticError, Source, Span


def with_noiseless_ideal(program: ast.Program, source: Source) -> ast.Program:
    """The program with the statements of an ideal that is `noiseless`: its own with each noise replaced by its mean
    (one-sided noise by 0, from which it starts), and each exponential mechanism by the first of its best candidates.

    Raises DiagnosticError for such a program with a `choose`: what it means without noise is not known.
    """
    if not any(isinstance(each, ast.IdealDecl) and each.noiseless for each in program.declarations):
        return program
    mistakes = [_undetermined(part.span, source) for part in ast.walk(program.body) if isinstance(part, ast.Choose)]
    if mistakes:
        raise DiagnosticError(*mistakes)
    removal = _Removal(program)
    body = removal.block(program.body)
    own = tuple(
        each for each in program.declarations if isinstance(each, ast.VariableDecl) and each.role is ast.Role.VAR
    )
    declarations = tuple(
        replace(each, declarations=(*own, *removal.declared), body=body)
        if isinstance(each, ast.IdealDecl) and each.noiseless
        else each
        for each in program.declarations
    )
    return replace(program, declarations=declarations)


def _undetermined(span: Span, source: Source) -> Diagnostic:
    return Diagnostic(
        "E0309",
        "what `choose` means without noise is not known",
        source.excerpt(span),
        "a random value without a mean",
        ("write the exact answer as a program of its own, `ideal { out <- x }`, in place of `ideal { noiseless }`",),
    )


class _Removal:
    """Takes the noise out of the statements of one program; `declared` are the variables that this needs."""

    def __init__(self, program: ast.Program) -> None:
        self._domains = {each.name: each.domain for each in program.declarations if isinstance(each, ast.DomainDecl)}
        self._taken = {
            part.name for part in ast.walk(program) if isinstance(part, ast.Name | ast.Element | ast.Declarator)
        } | {part.variable for part in ast.walk(program) if isinstance(part, ast.For | ast.ExponentialMechanism)}
        self.declared: list[ast.VariableDecl] = []

    def block(self, body: Sequence[ast.Statement]) -> tuple[ast.Statement, ...]:
        """The statements without noise."""
        return tuple(each for statement in body for each in self._statement(statement))

    def _statement(self, statement: ast.Statement) -> Iterator[ast.Statement]:
        match statement:
            case ast.Sample(target, ast.Noise(mean=mean), span):
                yield ast.Assign(target, ast.Number(Fraction(0), "0", span) if mean is None else mean, span)
            case ast.Sample(target, ast.ExponentialMechanism() as mechanism, span):
                yield from self._best(target, mechanism, span)
            case ast.If():
                yield replace(statement, then=self.block(statement.then), otherwise=self.block(statement.otherwise))
            case ast.For() | ast.While():
                yield replace(statement, body=self.block(statement.body))
            case ast.Assign() | ast.Exit() | ast.Sample():
                yield statement
            case _:
                assert_never(statement)

    def _best(
        self, target: ast.Name | ast.Element, mechanism: ast.ExponentialMechanism, span: Span
    ) -> Iterator[ast.Statement]:
        """The first candidate of the greatest score, found in a variable of its own: scores may read the target."""
        best, candidate = ast.Name(self._fresh("best"), span), ast.Name(self._fresh("candidate"), span)
        declarator = ast.Declarator(best.name, None, None, span)
        self.declared.append(ast.VariableDecl(ast.Role.VAR, (declarator,), mechanism.domain, None, span))

        def better(value: ast.Expr) -> ast.If:
            condition = ast.Compare(ast.CompareOp.GT, _score(mechanism, value), _score(mechanism, best), span)
            return ast.If(condition, (ast.Assign(best, value, span),), (), span)

        domain = mechanism.domain
        while isinstance(domain, ast.NamedDomain) and domain.name in self._domains:
            domain = self._domains[domain.name]
        match domain:
            case ast.RangeDomain(low, high):
                yield ast.Assign(best, low, span)
                yield ast.For(candidate.name, low, high, (better(candidate),), span)
            case ast.ListedDomain(values):
                yield ast.Assign(best, values[0], span)
                yield from map(better, values[1:])
            case ast.NamedDomain():
                pass  # a name of no domain, which the type check reports
            case _:
                assert_never(domain)
        yield ast.Assign(target, best, span)

    def _fresh(self, stem: str) -> str:
        number = 1
        while f"{stem}_{number}" in self._taken:
            number += 1
        self._taken.add(f"{stem}_{number}")
        return f"{stem}_{number}"


def _score(mechanism: ast.ExponentialMechanism, value: ast.Expr) -> ast.Expr:
    """The score of the candidate `value`."""

    def change(part: ast.Expr) -> ast.Expr | None:
        return value if isinstance(part, ast.Name) and part.name == mechanism.variable else None

    return ast.rewritten(mechanism.score, change)
