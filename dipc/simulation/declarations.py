"""Reading the declarations of a type-checked program."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dipc.diagnostics.source import Source
from dipc.lang import ast
from dipc.simulation.batch import Batch
from dipc.simulation.expressions import Expressions
from dipc.simulation.scope import Scope, SimulatedVariable


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
