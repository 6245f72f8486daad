"""Writing a tree as source text, in the one canonical form: `parse(print_program(tree)) == tree`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from dipc.lang import ast
from dipc.lang.precedence import Level, Written, applied, infixed, prefixed

INDENT = "  "


def print_program(program: ast.Program) -> str:
    """The program, one declaration or statement a line, ending in a newline. Comments and layout are not in the
    tree and do not come back."""
    lines = [f"program {program.name};"]
    for declaration in program.declarations:
        lines += _declaration(declaration)
    lines += _statements(program.body, "")
    return "\n".join(lines) + "\n"


def print_statement(statement: ast.Statement) -> str:
    """The statement on as many lines as it needs, its `;` at the end."""
    return "\n".join(_statement(statement, ""))


def print_expression(expression: ast.Expr) -> str:
    """The expression on one line, with no more parentheses than it needs."""
    return _written(expression).text


def print_interval(intervals: Iterable[ast.IntervalExpr]) -> str:
    """The intervals of eps, separated by commas."""
    return ", ".join(_interval(interval) for interval in intervals)


# --- declarations ----------------------------------------------------------------------------------


def _declaration(declaration: ast.Declaration) -> Iterator[str]:
    match declaration:
        case ast.ConstDecl(bindings):
            yield "const " + ", ".join(f"{name} = {print_expression(value)}" for name, value in bindings) + ";"
        case ast.DomainDecl(name, domain):
            yield f"domain {name} = {_type(domain)};"
        case ast.VariableDecl():
            yield _variables(declaration)
        case ast.ClaimDecl(fields):
            yield "claim {"
            yield from (f"{INDENT}{field.name}: {_field_value(field)};" for field in fields)
            yield "}"
        case ast.IdealDecl(declarations, body):
            yield "ideal {"
            yield from (INDENT + _variables(variables) for variables in declarations)
            yield from _statements(body, INDENT)
            yield "}"
        case ast.MetricDecl(metric_fields):
            yield "metric {"
            yield from (f"{INDENT}{field.name}: {_metric_value(field.value)};" for field in metric_fields)
            yield "}"
        case _:
            assert_never(declaration)


def _metric_value(value: ast.Expr | ast.Each) -> str:
    if isinstance(value, ast.Each):
        return f"for {value.variable} in {_range(value.low, value.high)}: {_metric_value(value.body)}"
    return print_expression(value)


def _variables(declaration: ast.VariableDecl) -> str:
    names = ", ".join(_declarator(declarator) for declarator in declaration.declarators)
    initial = "" if declaration.initial is None else f" = {print_expression(declaration.initial)}"
    return f"{declaration.role.value} {names} : {_type(declaration.type)}{initial};"


def _declarator(declarator: ast.Declarator) -> str:
    if declarator.low is None or declarator.high is None:
        return declarator.name
    return f"{declarator.name}[{_range(declarator.low, declarator.high)}]"


def _range(low: ast.Expr, high: ast.Expr) -> str:
    return f"{print_expression(low)}..{print_expression(high)}"


def _type(type_: ast.TypeExpr) -> str:
    match type_:
        case ast.BaseTypeExpr(base):
            return base.value
        case ast.RangeDomain(low, high):
            return f"{{{_range(low, high)}}}"
        case ast.ListedDomain(values):
            return f"{{{_list(values)}}}"
        case ast.NamedDomain(name):
            return name
        case _:
            assert_never(type_)


def _field_value(field: ast.ClaimField) -> str:
    match field.value:
        case tuple() as intervals:
            return print_interval(intervals)
        case ast.ClaimedInputs(items):
            return ", ".join(f"{print_expression(item.target)} = {_values(item.values)}" for item in items) or "all"
        case expression:
            return print_expression(expression)


def _values(values: ast.Values) -> str:
    match values:
        case ast.Vector(parts):
            return f"({', '.join(map(_values, parts))})"
        case ast.Listed(parts):
            return f"{{{', '.join(map(_values, parts))}}}"
        case ast.Range(low, high):
            return _range(low, high)
        case expression:
            return print_expression(expression)


def _interval(interval: ast.IntervalExpr) -> str:
    low = print_expression(interval.low)
    high = "inf" if interval.high is None else print_expression(interval.high)
    return f"{'[' if interval.low_closed else '('}{low}, {high}{']' if interval.high_closed else ')'}"


# --- statements ------------------------------------------------------------------------------------


def _statements(statements: Iterable[ast.Statement], indent: str) -> Iterator[str]:
    for statement in statements:
        yield from _statement(statement, indent)


def _statement(statement: ast.Statement, indent: str) -> Iterator[str]:
    inner = indent + INDENT
    match statement:
        case ast.Assign(target, value):
            yield f"{indent}{print_expression(target)} <- {print_expression(value)};"
        case ast.Sample(target, distribution):
            yield f"{indent}{print_expression(target)} <- {_distribution(distribution)};"
        case ast.If(condition, then, otherwise):
            yield f"{indent}if {print_expression(condition)} then"
            yield from _statements(then, inner)
            if otherwise:
                yield f"{indent}else"
                yield from _statements(otherwise, inner)
            yield f"{indent}end;"
        case ast.While(condition, body):
            yield f"{indent}while {print_expression(condition)} do"
            yield from _statements(body, inner)
            yield f"{indent}end;"
        case ast.For(variable, low, high, body):
            yield f"{indent}for {variable} in {_range(low, high)} do"
            yield from _statements(body, inner)
            yield f"{indent}end;"
        case ast.Exit():
            yield f"{indent}exit;"
        case _:
            assert_never(statement)


def _distribution(distribution: ast.Distribution) -> str:
    match distribution:
        case ast.Laplace(rate, mean):
            return f"Lap({_list((rate, mean))})"
        case ast.DiscreteLaplace(rate, mean):
            return f"DLap({_list((rate, mean))})"
        case ast.OneSided(rate):
            return f"Expo({print_expression(rate)})"
        case ast.ExponentialMechanism(rate, variable, domain, score):
            return f"Exp({print_expression(rate)}, {variable} in {_type(domain)} : {print_expression(score)})"
        case ast.Choose(arms):
            shown = (f"{print_expression(value)} : {print_expression(weight)}" for value, weight in arms)
            return f"choose {{ {', '.join(shown)} }}"
        case _:
            assert_never(distribution)


# --- expressions -----------------------------------------------------------------------------------


def _list(expressions: Iterable[ast.Expr]) -> str:
    return ", ".join([print_expression(expression) for expression in expressions])


def _written(expression: ast.Expr) -> Written:
    match expression:
        case ast.Number(_, text):
            # A number that is no literal of the language (a substituted constant, `-1/3`) is a whole by itself.
            return Written(text, Level.ATOM if text[0].isdigit() and "/" not in text else Level.OR)
        case ast.Name(name):
            return Written(name)
        case ast.Element(name, index):
            return Written(f"{name}[{print_expression(index)}]")
        case ast.Eps():
            return Written("eps")
        case ast.Truth(value):
            return Written("true" if value else "false")
        case ast.Call(function, arguments):
            return applied(function, map(_written, arguments))
        case ast.Unary(op, operand):
            return prefixed(op.value, _written(operand))
        case ast.Compare(op, left, right) | ast.Binary(op, left, right):
            return infixed(_written(left), op.value, _written(right))
        case _:
            assert_never(expression)
