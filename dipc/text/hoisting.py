"""Values drawn within expressions and conditions, drawn before the statement instead, by variables of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import assert_never

from dipc.text import ast
from dipc.text.ast import Drawn, rewritten, walk

#: What the variables are called, with a number behind.
_STEM = "draw"


def hoisted(program: ast.Program) -> ast.Program:
    """The program whose statements draw nothing within expressions: `if Lap(eps, q) > 0 then` becomes
    `draw1 <- Lap(eps, q); if draw1 > 0 then`. A `while` draws again before each time that it looks at its condition.

    It is the same program: each value is drawn once wherever its statement runs, and a value that a condition does not
    look at is independent of all others. What is drawn where no statement of the program can draw it (in constants,
    claims, rates, weights and scores) stays where it is.
    """
    if not any(isinstance(part, Drawn) for part in walk(program)):
        return program
    names = _fresh_names(program)
    declarations: list[ast.Declaration] = []
    for declaration in program.declarations:
        if isinstance(declaration, ast.IdealDecl):
            inner = _Hoisting(names)
            body = tuple(inner.block(declaration.body))
            declaration = replace(declaration, declarations=(*declaration.declarations, *inner.variables), body=body)
        declarations.append(declaration)
    main = _Hoisting(names)
    body = tuple(main.block(program.body))
    return replace(program, declarations=(*declarations, *main.variables), body=body)


def _fresh_names(program: ast.Program) -> Iterator[str]:
    used: set[str] = set()
    for part in walk(program):
        match part:
            case ast.ConstDecl(bindings):
                used.update(name for name, _ in bindings)
            case ast.For(variable=name) | ast.ExponentialMechanism(variable=name) | ast.Each(variable=name):
                used.add(name)
            case ast.Name(name) | ast.Element(name) | ast.Declarator(name) | ast.DomainDecl(name):
                used.add(name)
    return (name for number in count(1) if (name := f"{_STEM}{number}") not in used)


@dataclass
class _Hoisting:
    """The hoisting of one body of statements; `variables` are those that it has made."""

    names: Iterator[str]
    variables: list[ast.VariableDecl] = field(default_factory=list)

    def block(self, body: Sequence[ast.Statement]) -> Iterator[ast.Statement]:
        """The statements, each behind the samples that it needs."""
        for statement in body:
            before: list[ast.Sample] = []
            match statement:
                case ast.Assign(target, value):
                    place = self._place(target, before)
                    changed: ast.Statement = replace(statement, target=place, value=self._free(value, before))
                case ast.Sample(target, distribution):
                    place = self._place(target, before)
                    changed = replace(statement, target=place, distribution=self._around(distribution, before))
                case ast.If(condition, then, otherwise):
                    condition = self._free(condition, before)
                    then, otherwise = tuple(self.block(then)), tuple(self.block(otherwise))
                    changed = replace(statement, condition=condition, then=then, otherwise=otherwise)
                case ast.While(condition, inside):
                    condition = self._free(condition, before)
                    changed = replace(statement, condition=condition, body=(*self.block(inside), *before))
                case ast.For(body=inside):
                    changed = replace(statement, body=tuple(self.block(inside)))
                case ast.Exit():
                    changed = statement
                case _:
                    assert_never(statement)
            yield from before
            yield changed

    def _place(self, target: ast.Name | ast.Element, before: list[ast.Sample]) -> ast.Name | ast.Element:
        return replace(target, index=self._free(target.index, before)) if isinstance(target, ast.Element) else target

    def _around(self, distribution: ast.Distribution, before: list[ast.Sample]) -> ast.Distribution:
        """The distribution without draws in its mean, or in the values it chooses from."""
        match distribution:
            case ast.Noise(mean=mean) if mean is not None:
                return replace(distribution, mean=self._free(mean, before))
            case ast.Choose(arms):
                return replace(distribution, arms=tuple((self._free(value, before), weight) for value, weight in arms))
            case _:
                return distribution

    def _free(self, expr: ast.Expr, before: list[ast.Sample]) -> ast.Expr:
        """The expression with variables for what it draws; `before` grows by the samples, the innermost first."""

        def variable(part: ast.Expr) -> ast.Expr | None:
            if not isinstance(part, Drawn):
                return None
            name, span = next(self.names), part.span
            distribution = self._around(part.distribution, before)
            declared = (ast.Declarator(name, None, None, span),)
            self.variables.append(ast.VariableDecl(ast.Role.VAR, declared, _type(distribution), None, span))
            before.append(ast.Sample(ast.Name(name, span), distribution, span))
            return ast.Name(name, span)

        return rewritten(expr, variable)


def _type(distribution: ast.Distribution) -> ast.TypeExpr:
    """The type of what is drawn."""
    match distribution:
        case ast.Noise(law, span=span):
            return ast.BaseTypeExpr(ast.BaseType.INT if law.whole else ast.BaseType.REAL, span)
        case ast.ExponentialMechanism(domain=domain):
            return domain
        case ast.Choose(arms, span):
            values = tuple(dict.fromkeys(value for value, _ in arms))
            if all(isinstance(value, ast.Truth) for value in values):
                return ast.BaseTypeExpr(ast.BaseType.BOOL, span)
            return ast.ListedDomain(values, span)
        case _:
            assert_never(distribution)
