"""Reading source text: `parse` for programs, the others for what options hold.

The text is first cut into tokens as a whole, so that limits are met and mistakes explained with the tokens around
them in view; then the tokens are fed to the LALR parser, which builds the tree without recursion.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.source import Source
from dipc.lang import ast
from dipc.lang.expected import syntax_error
from dipc.lang.grammar import load_parser
from dipc.lang.limits import MAX_CHARACTERS, MAX_NESTING, MAX_STATEMENTS, MAX_TOKENS
from dipc.lang.problem import Problem, SyntaxCode, too_deep
from dipc.lang.recovery import MOST_ERRORS, mended
from dipc.lang.situation import Situation, token_span
from dipc.lang.stray import stray_character

if TYPE_CHECKING:
    from lark import Token
    from lark.parsers.lalr_interactive_parser import InteractiveParser

#: Every statement has exactly one of these tokens.
STATEMENT_MARKS = frozenset({"ARROW", "IF", "WHILE", "FOR", "EXIT"})
OPENING = frozenset({"IF", "WHILE", "FOR", "LPAR", "LSQUARE", "LBRACE"})
CLOSING = frozenset({"END", "RPAR", "RSQUARE", "RBRACE"})


def parse(source: Source) -> ast.Program:
    """The program that `source` holds; its tree is at most MAX_NESTING levels high.

    Raises DiagnosticError for anything that is not a program, and nothing else.
    """
    program = _read(source, "program")
    assert isinstance(program, ast.Program)
    return program


def parse_expression(source: Source) -> ast.Expr:
    """The expression that `source` holds, all of it. Raises DiagnosticError, and nothing else."""
    expression = _read(source, "expression")
    assert isinstance(expression, ast.Expr)
    return expression


def parse_interval(source: Source) -> tuple[ast.IntervalExpr, ...]:
    """The intervals of eps that `source` holds, at least one: `(0, inf)`, or several separated by `,` or `∪`.

    The bounds are expressions; nothing here says that they are constant or in order. Raises DiagnosticError, and
    nothing else.
    """
    intervals = _read(source, "intervals")
    assert isinstance(intervals, tuple)
    return intervals


def parse_items(source: Source) -> tuple[ast.Item, ...]:
    """The items that `source` holds, `q = -1..1, x in {0, 1/2}`, separated by commas, semicolons or lines.

    Raises DiagnosticError, and nothing else.
    """
    if "#" in source.text:
        raise stray_character(source.text, source.text.index("#")).located(source)
    items = _read(source, "items", source.text.translate({ord("\n"): ";", ord("∈"): "="}))
    assert isinstance(items, tuple)
    return items


def parse_lower_bound(source: Source) -> ast.LowerBound:
    """The name of a constant that `source` holds, perhaps with the least value: `m >= 3`. Raises DiagnosticError, and
    nothing else."""
    bound = _read(source, "lower_bound")
    assert isinstance(bound, ast.LowerBound)
    return bound


def tokens_of(text: str) -> list[Token]:
    """The tokens of a program that has been read before."""
    return _tokens(text, "program")


def _read(source: Source, start: str, written: str | None = None) -> Any:
    """`written` is what stands for the text of the source, character by character."""
    if len(source.text) > MAX_CHARACTERS:
        message = f"`{source.name}` has {len(source.text)} characters, more than {MAX_CHARACTERS}"
        notes = ("use arrays and `for` for what repeats",)
        raise DiagnosticError(Diagnostic(SyntaxCode.TEXT_TOO_LONG, message, notes=notes))
    text = source.text if written is None else written
    try:
        return _feed(_tokens(text, start), start)
    except Problem as problem:
        found = _problems(text, problem) if start == "program" else [problem]
        located = [each for problem in found for each in problem.located(source).diagnostics]
        raise DiagnosticError(*located) from None


def _problems(text: str, first: Problem) -> list[Problem]:
    """The first problem of a program and those that it cannot have caused, at most one a line."""
    found: list[Problem] = []
    tokens: list[Token] | None = None
    start = 0
    problem: Problem | None = first
    while problem is not None and len(found) < MOST_ERRORS:
        stray = problem.code is SyntaxCode.STRAY_CHARACTER
        if found and (problem.span.start < start or (problem.code is SyntaxCode.UNEXPECTED_END)):
            break
        if not any(_same_line(text, problem, other) for other in found):
            found.append(problem)
        if problem.code in _FINAL:
            break
        if stray:
            blank = " " * (problem.span.end - problem.span.start)
            text = text[: problem.span.start] + blank + text[problem.span.end :]
            tokens = None
        try:
            if tokens is None:
                tokens = _tokens(text, "program")
            if not stray:
                rest = mended(tokens, problem)
                if rest is None:
                    break
                tokens, start = rest
            _feed(tokens, "program")
            break
        except Problem as further:
            if tokens is None and not stray:
                break  # what is wrong with the words themselves would be found again and again
            problem = further
    return sorted(found, key=lambda each: each.span.start)


#: After these nothing more is read.
_FINAL = (SyntaxCode.TOO_MANY, SyntaxCode.TOO_DEEP, SyntaxCode.UNEXPECTED_END)


def _same_line(text: str, one: Problem, other: Problem) -> bool:
    first, last = sorted((one.span.start, other.span.start))
    return "\n" not in text[first:last]


def _tokens(text: str, start: str) -> list[Token]:
    """All tokens of the text, within the limits."""
    session = load_parser().parse_interactive(text, start)
    tokens: list[Token] = []
    statements = depth = 0
    metric = 0  # how many braces are open since `metric {`
    claim = 0  # the same since `claim {`
    for token in _lex(session, text):
        kind = token.type
        if kind == "LBRACE" and tokens and (metric or _is_metric(tokens[-1])):
            if not metric:
                tokens[-1] = _keyword(tokens[-1])
            metric += 1
        elif kind == "RBRACE" and metric:
            metric -= 1
        elif kind == "PRIMED" and not metric:
            raise stray_character(text, token_span(token).end - 1)
        if kind == "LBRACE" and tokens and (claim or tokens[-1].type == "CLAIM"):
            claim += 1
        elif kind == "RBRACE" and claim:
            claim -= 1
        elif kind == "COLON" and claim and str(tokens[-1]) == "inputs":
            tokens[-1] = _keyword(tokens[-1])
        if kind in STATEMENT_MARKS:
            statements += 1
            if statements > MAX_STATEMENTS:
                raise _too_many(token, "statements", MAX_STATEMENTS)
        if kind in OPENING:
            depth += 1
            if depth > MAX_NESTING:
                raise too_deep(token_span(token))
        elif kind in CLOSING:
            depth = max(depth - 1, 0)
        tokens.append(token)
        if len(tokens) > MAX_TOKENS:
            raise _too_many(token, "words and signs", MAX_TOKENS)
    return tokens


def _is_metric(token: Token) -> bool:
    """Whether a word before a brace begins a metric: it could begin nothing else, so that it need not be reserved."""
    return token.type == "NAME" and str(token) == "metric"


def _keyword(token: Token) -> Token:
    from lark import Token

    return Token.new_borrow_pos(str(token).upper(), str(token), token)


def _lex(session: InteractiveParser, text: str) -> Iterator[Token]:
    from lark import UnexpectedCharacters

    try:
        yield from session.lexer_thread.lex(session.parser_state)  # type: ignore[no-untyped-call]
    except UnexpectedCharacters as unexpected:
        raise stray_character(text, cast(int, unexpected.pos_in_stream)) from None


def _feed(tokens: list[Token], start: str) -> Any:
    from lark import Token, UnexpectedToken

    session = load_parser().parse_interactive("", start)
    at = 0
    try:
        for token in tokens:
            session.feed_token(token)
            at += 1
        return session.feed_token(Token("$END", "")).node
    except UnexpectedToken:
        raise syntax_error(Situation(tokens, at, _accepted(tokens[:at], start), start)) from None


def _accepted(tokens: list[Token], start: str) -> frozenset[str]:
    """All that may follow `tokens`.

    The session that has failed does not know: the token that did not fit has already made it finish some of what
    could have gone on.
    """
    session = load_parser().parse_interactive("", start)
    for token in tokens:
        session.feed_token(token)
    return frozenset(session.accepts())  # type: ignore[no-untyped-call]


def _too_many(token: Token, what: str, limit: int) -> Problem:
    return Problem(
        SyntaxCode.TOO_MANY,
        token_span(token),
        f"the program has more than {limit} {what}",
        f"number {limit + 1}",
        ("use arrays and `for` for what repeats",),
    )
