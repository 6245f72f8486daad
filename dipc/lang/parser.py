"""Reading source text: `parse` for programs, `parse_expression` and `parse_interval` for what options hold.

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


def _read(source: Source, start: str) -> Any:
    if len(source.text) > MAX_CHARACTERS:
        message = f"`{source.name}` has {len(source.text)} characters, more than {MAX_CHARACTERS}"
        notes = ("use arrays and `for` for what repeats",)
        raise DiagnosticError(Diagnostic(SyntaxCode.TEXT_TOO_LONG, message, notes=notes))
    session = load_parser().parse_interactive(source.text, start)
    try:
        return _feed(session, _tokens(session, source.text), start)
    except Problem as problem:
        raise problem.located(source) from None


def _tokens(session: InteractiveParser, text: str) -> list[Token]:
    """All tokens of the text, within the limits."""
    tokens: list[Token] = []
    statements = depth = 0
    metric = 0  # how many braces are open since `metric {`
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

    return Token.new_borrow_pos("METRIC", str(token), token)


def _lex(session: InteractiveParser, text: str) -> Iterator[Token]:
    from lark import UnexpectedCharacters

    try:
        yield from session.lexer_thread.lex(session.parser_state)  # type: ignore[no-untyped-call]
    except UnexpectedCharacters as unexpected:
        raise stray_character(text, cast(int, unexpected.pos_in_stream)) from None


def _feed(session: InteractiveParser, tokens: list[Token], start: str) -> Any:
    from lark import Token, UnexpectedToken

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
