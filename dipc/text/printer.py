"""The writer of trees as source text, in the one canonical form: `parse(print_program(tree)) == tree`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Final, assert_never

from dipc.frozen import frozen
from dipc.text import ast
from dipc.text.diagnostic import SourceText, Span
from dipc.text.parser import parse_as_written, tokens_of
from dipc.text.syntax_errors import token_span

if TYPE_CHECKING:
    from lark import Token


def language_text(expression: object) -> str:
    """Return `expression`, a SymPy expression or a closed form, in dipc's syntax: `^`, `min`, `max` and `abs`."""
    return re.sub(r"\b(Min|Max|Abs)\(", lambda found: found[0].lower(), str(expression)).replace("**", "^")


# --- Binding strengths, so that a text has as few parentheses as possible ---------------------------------------------
#
# The levels are those of the grammar; all texts of a program, from source text to diagnostics, use them.


class Level(IntEnum):
    """The binding strength of an expression, weakest first."""

    OR = 1
    AND = 2
    NOT = 3
    COMPARISON = 4
    SUM = 5
    PRODUCT = 6
    SIGNED = 7
    POWER = 8
    ATOM = 9


_INFIX: Final = {
    "or": Level.OR,
    "and": Level.AND,
    **dict.fromkeys(("<", "<=", "=", "!=", ">=", ">"), Level.COMPARISON),
    **dict.fromkeys("+-", Level.SUM),
    **dict.fromkeys("*/", Level.PRODUCT),
    "^": Level.POWER,
}


@frozen
class Written:
    """The text of an expression, and the level of its outermost operator."""

    text: str
    level: Level = Level.ATOM

    def at_least(self, level: int) -> str:
        """Return the text, in parentheses if it binds more weakly than `level`."""
        return self.text if self.level >= level else f"({self.text})"


def prefixed(op: str, operand: Written) -> Written:
    """Return the text of the operator `op`, which is `not` or `-`, applied to `operand`."""
    if op == "not":
        return Written(f"not {operand.at_least(Level.NOT)}", Level.NOT)
    return Written(f"{op}{operand.at_least(Level.SIGNED)}", Level.SIGNED)


def infixed(left: Written, op: str, right: Written) -> Written:
    """Return the operands `left` and `right` with the operator `op` between them.

    All operators associate to the left, except comparisons and powers, which do not chain.
    """
    level = _INFIX[op]
    chains = level not in (Level.COMPARISON, Level.POWER)
    blank = "" if level >= Level.PRODUCT else " "
    shown_left = left.at_least(level if chains else level + 1)
    return Written(f"{shown_left}{blank}{op}{blank}{right.at_least(level + 1)}", level)


def applied(function: str, arguments: Iterable[Written]) -> Written:
    """Return the text of the call of `function` with `arguments`: `f(a, b)`."""
    return Written(f"{function}({', '.join([argument.text for argument in arguments])})")


def signed_sum(terms: Sequence[tuple[bool, str]]) -> str:
    """Return the sum of `terms`, such as `-r1 + 2*r2 - 1`.

    Each term is a pair: True if the term is subtracted, and its text. There is at least one term.
    """
    (minus, first), *others = terms
    return ("-" if minus else "") + first + "".join(f" {'-' if minus else '+'} {term}" for minus, term in others)


# --- Writing a tree as source text, in the one canonical form: `parse(print_program(tree)) == tree` -------------------

INDENT = "  "


def print_program(program: ast.ProgramTree) -> str:
    """Return the text of `program`, with one declaration or statement on each line, ending in a newline.

    Comments and layout are not in the tree and are lost.
    """
    lines = [f"program {program.name};"]
    for declaration in program.declarations:
        lines += _declaration(declaration)
    lines += _statements(program.body, "")
    return "\n".join(lines) + "\n"


def print_expression(expression: ast.Expr) -> str:
    """Return `expression` on one line, with as few parentheses as possible."""
    return _written(expression).text


def print_interval(intervals: Iterable[ast.IntervalExpr]) -> str:
    """Return the text of the `intervals` of eps, separated by commas."""
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
        case ast.RequiresDecl(condition):
            yield f"requires {print_expression(condition)};"
        case ast.ClaimDecl(fields):
            yield "claim {"
            yield from (f"{INDENT}{field.name}: {_field_value(field)};" for field in fields)
            yield "}"
        case ast.IdealDecl(noiseless=True):
            yield "ideal { noiseless }"
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
        case ast.Range(low, high):
            return f"{{{_range(low, high)}}}"
        case ast.ListedDomain(values):
            return f"{{{', '.join([print_expression(expression) for expression in values])}}}"
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
        case ast.Vector(entries):
            return f"({', '.join(map(_values, entries))})"
        case ast.ListedValues(entries):
            return f"{{{', '.join(map(_values, entries))}}}"
        case ast.Range(low, high, step=step):
            return _range(low, high) + (f" by {print_expression(step)}" if step is not None else "")
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
        case ast.ExitStatement():
            yield f"{indent}exit;"
        case _:
            assert_never(statement)


def _distribution(distribution: ast.Distribution) -> str:
    match distribution:
        case ast.NoiseExpr(law, rate, mean, ends=ends):
            scale, around = ("" if each is None else print_expression(each) for each in (rate, mean))
            return law.draw_text(scale, around, *map(print_expression, ends or ()))
        case ast.ExponentialMechanism(rate, variable, domain, score):
            return f"Exp({print_expression(rate)}, {variable} in {_type(domain)} : {print_expression(score)})"
        case ast.Choose(arms):
            weighted = (f"{print_expression(value)} : {print_expression(weight)}" for value, weight in arms)
            return f"choose {{ {', '.join(weighted)} }}"
        case _:
            assert_never(distribution)


# --- expressions -----------------------------------------------------------------------------------


def _written(expression: ast.Expr) -> Written:
    match expression:
        case ast.Number(_, text):
            # A number that is not a literal of the language (a substituted constant, `-1/3`) needs parentheses.
            return Written(text, Level.ATOM if text[0].isdigit() and "/" not in text else Level.OR)
        case ast.Name(name):
            return Written(name)
        case ast.Element(name, index):
            return Written(f"{name}[{print_expression(index)}]")
        case ast.Eps():
            return Written("eps")
        case ast.Truth(value):
            return Written("true" if value else "false")
        case ast.Drawn(distribution):
            return Written(_distribution(distribution))
        case ast.Ranged(function, variable, low, high, body):
            inside = f"{variable} in {_range(low, high)} : {print_expression(body)}"
            return Written(f"{function}({inside})", Level.ATOM)
        case ast.Call(function, arguments):
            return applied(function, map(_written, arguments))
        case ast.Unary(op, operand):
            return prefixed(op.value, _written(operand))
        case ast.Compare(op, left, right) | ast.Binary(op, left, right):
            return infixed(_written(left), op.value, _written(right))
        case _:
            assert_never(expression)


# --- The comments and blank lines of a text, put into its canonical form ----------------------------------------------
#
# The tree has neither. The canonical form has the same tokens, except for unneeded parentheses and optional semicolons.
# So each of its lines has a place in the text, and each comment a line.

#: The tokens that the canonical form can omit or add.
_OPTIONAL = frozenset({"LPAR", "RPAR", "SEMICOLON"})

#: Equivalent tokens, mapped to the one that is printed.
_SPELLINGS = {"EQUALS": "EQUAL", "IN": "EQUAL", "EPSILON": "EPS", "UNION": "COMMA"}

#: The beginnings of lines that end a block; a comment before such a line belongs to the block.
_ENDS = ("end", "else", "}")


@frozen
class _Comment:
    """A comment; `column` counts from 0, and it is `alone` if nothing precedes it on its line."""

    span: Span
    text: str
    column: int
    alone: bool


def formatted(source: SourceText) -> str:
    """Return the program `source` in canonical form with its comments. Several blank lines in a row become one.

    Formatting is idempotent. Raises DiagnosticError for anything that is not a program.
    """
    lines = print_program(parse_as_written(source)).splitlines()
    places = _places_of_lines(lines, source.text)
    above: defaultdict[int, list[_Comment]] = defaultdict(list)
    behind: dict[int, _Comment] = {}
    for comment in _comments(source.text):
        position = bisect_right(places, comment.span.start, key=lambda place: place.end)
        within = position < len(lines) and places[position].start < comment.span.start
        if comment.alone or within or position == 0 or position - 1 in behind:
            above[position].append(comment)
        else:
            behind[position - 1] = comment
    placed: list[tuple[int, str]] = []
    for position, line in enumerate(lines):
        start = places[position].start
        placed += (
            (min(comment.span.start, start), _above(line, start, comment, source.text)) for comment in above[position]
        )
        placed.append((start, _with_comment(line, behind.get(position))))
    placed += ((comment.span.start, comment.text) for comment in above[len(lines)])
    out: list[str] = []
    last = -1
    for place, line in placed:
        if out and place != last and _blank_before(source.text, place):
            out.append("")
        out.append(line)
        last = place
    return "\n".join(out) + "\n"


def _comments(text: str) -> Iterator[_Comment]:
    start = 0
    for line in text.split("\n"):
        code, sign, comment = line.partition("#")
        if sign:
            span = Span(start + len(code), start + len(line))
            yield _Comment(span, ("#" + comment).rstrip(), len(code), not code.strip(_BLANK))
        start += len(line) + 1


_BLANK = " \t\r\f\v\ufeff"


def _places_of_lines(lines: list[str], text: str) -> list[Span]:
    spans: dict[int, list[Span]] = defaultdict(list)
    for line, span in _matches("\n".join(lines), text):
        spans[line].append(span)
    return [Span(spans[line][0].start, spans[line][-1].end) for line in range(len(lines))]


def _matches(printed: str, text: str) -> Iterator[tuple[int, Span]]:
    """Yield (line, place) for each token that occurs in both `printed` and `text`.

    `printed` is the canonical form of the program `text`. The line is the number of the token's line in `printed`,
    counted from 0. The place is the span of the token in `text`.
    """
    theirs = tokens_of(text)
    position = 0
    for token in tokens_of(printed):
        while (
            position < len(theirs) and _kind(theirs[position]) != _kind(token) and _kind(theirs[position]) in _OPTIONAL
        ):
            position += 1
        if position < len(theirs) and _kind(theirs[position]) == _kind(token):
            assert token.line is not None
            yield token.line - 1, token_span(theirs[position])
            position += 1


def _kind(token: Token) -> str:
    return _SPELLINGS.get(token.type, token.type)


def _above(line: str, start: int, comment: _Comment, text: str) -> str:
    """Return `comment` as a line of its own to print above `line`, with the indentation of `line`.

    `start` is the position in `text` of the first token of `line`. If `line` closes a block, as `end` does, the comment
    may belong to the block: it is indented one step more if, in `text`, it was to the right of that token.
    """
    margin = line[: len(line) - len(line.lstrip())]
    column = start - (text.rfind("\n", 0, start) + 1)
    inside = line.lstrip().startswith(_ENDS) and comment.column > column
    return margin + INDENT * inside + comment.text


def _with_comment(line: str, comment: _Comment | None) -> str:
    """Return `line` followed by `comment`, which starts in its old column, but at least two spaces after `line`."""
    return line if comment is None else line.ljust(max(len(line) + 2, comment.column)) + comment.text


def _blank_before(text: str, position: int) -> bool:
    start = text.rfind("\n", 0, position) + 1
    above = text.rfind("\n", 0, max(start - 1, 0)) + 1
    return start > 0 and not text[start:position].strip(_BLANK) and not text[above:start].strip(_BLANK + "\n")
