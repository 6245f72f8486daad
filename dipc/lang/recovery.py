"""Where reading goes on after a syntax error: without the statement or declaration that it is in.

What is left need not mean what was meant. It is only read to find more errors, and nothing is reported that the first
one may have caused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dipc.lang.problem import Problem
from dipc.lang.situation import DECLARATIONS, OPENING_BLOCKS, STATEMENTS

if TYPE_CHECKING:
    from lark import Token

#: More errors than this are not reported at once.
MOST_ERRORS = 10

_BLOCK_BRACES = frozenset({"CLAIM", "IDEAL", "METRIC"})
_STARTS = frozenset({"SEMICOLON", "THEN", "DO", "ELSE", "END"})
_STOPS = frozenset({"SEMICOLON", "END", "ELSE", "RBRACE"})


def mended(tokens: Sequence[Token], problem: Problem) -> tuple[list[Token], int] | None:
    """The tokens without what the problem is about, with as many blocks opened as closed; and the place in the text
    from which on another problem is a problem of its own. None where there is no such place."""
    at = next((index for index, token in enumerate(tokens) if _start(token) >= problem.span.start), len(tokens))
    if at >= len(tokens) or at == 0:
        return None
    if _lacks_semicolon(tokens, at):
        return [*tokens[:at], _as("SEMICOLON", ";", tokens[at]), *tokens[at:]], _start(tokens[at]) + 1
    first, braces = _beginning(tokens, at)
    if first is None:
        return None
    if tokens[first].type in OPENING_BLOCKS and first < at:
        return _without_header(tokens, first, at)
    if tokens[first].type == "PROGRAM":
        return None
    last = _ending(tokens, max(at, first), braces)
    if last < len(tokens) and tokens[last].type == "SEMICOLON":
        last += 1
    elif last == first:
        last += 1  # what closes nothing
    if last >= len(tokens):
        return None
    return [*tokens[:first], *tokens[last:]], _start(tokens[last])


def _lacks_semicolon(tokens: Sequence[Token], at: int) -> bool:
    """Whether a statement begins at the beginning of a line, behind one that did not end."""
    token, before = tokens[at], tokens[at - 1]
    if token.line == before.line or before.type in _STARTS:
        return False
    following = tokens[at + 1].type if at + 1 < len(tokens) else ""
    return token.type in STATEMENTS or (token.type == "NAME" and following in ("ARROW", "LSQUARE"))


def _beginning(tokens: Sequence[Token], at: int) -> tuple[int | None, int]:
    """The first token of the statement, declaration or header that the token `at` is in, and how many braces are open
    within it there."""
    braces = 0
    for index in range(at - 1, -1, -1):
        kind = tokens[index].type
        if kind == "RBRACE":
            braces -= 1
        elif kind == "LBRACE":
            if index > 0 and tokens[index - 1].type in _BLOCK_BRACES:
                return index + 1, max(0, braces)
            braces += 1
        elif kind in _STARTS:
            return index + 1, max(0, braces)
        elif kind in OPENING_BLOCKS or kind in DECLARATIONS or kind == "PROGRAM":
            return index, max(0, braces)
    return None, 0


def _without_header(tokens: Sequence[Token], first: int, at: int) -> tuple[list[Token], int] | None:
    """The tokens with `while true do` or `if true then` for a header that is wrong."""
    kind = tokens[first].type
    closing = "THEN" if kind == "IF" else "DO"
    end = at
    while end < len(tokens) and tokens[end].type not in (*_STOPS, "LBRACE", *OPENING_BLOCKS, closing):
        end += 1
    if end >= len(tokens) or tokens[end].type == "LBRACE":
        return None
    if tokens[end].type != closing:
        if tokens[at].type not in ("NAME", *STATEMENTS):
            return None
        end = at - 1  # a body without its `then`
    opened = "IF" if kind == "IF" else "WHILE"
    place = tokens[first]
    header = [_as(opened, opened.lower(), place), _as("TRUE", "true", place), _as(closing, closing.lower(), place)]
    following = min(end + 1, len(tokens) - 1)
    return [*tokens[:first], *header, *tokens[end + 1 :]], _start(tokens[following])


def _ending(tokens: Sequence[Token], at: int, braces: int) -> int:
    """The first token behind the statement or declaration that the token `at` is in."""
    blocks = 0
    for index in range(at, len(tokens)):
        kind = tokens[index].type
        if kind in OPENING_BLOCKS:
            blocks += 1
        elif kind == "END" and blocks:
            blocks -= 1
        elif kind == "LBRACE":
            braces += 1
        elif kind == "RBRACE" and braces:
            braces -= 1
        elif not blocks and (kind in _STOPS or (kind in DECLARATIONS and index > at)):
            return index
    return len(tokens)


def _as(kind: str, text: str, place: Token) -> Token:
    from lark import Token

    return Token.new_borrow_pos(kind, text, place)


def _start(token: Token) -> int:
    assert token.start_pos is not None
    return token.start_pos
