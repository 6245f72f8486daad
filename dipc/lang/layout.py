"""The comments and blank lines of a text, put into its canonical form.

The tree has neither. The canonical form consists of the same tokens, but for parentheses that are not needed and
semicolons that may be left out: so each of its lines has a place in the text, and each comment a line."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dipc.diagnostics.source import Source, Span
from dipc.lang.parser import parse, tokens_of
from dipc.lang.printer import INDENT, print_program
from dipc.lang.situation import token_span

if TYPE_CHECKING:
    from lark import Token

#: What the canonical form may leave out or add.
_OPTIONAL = frozenset({"LPAR", "RPAR", "SEMICOLON"})

#: Tokens that mean the same, by the one that is printed.
_SPELLINGS = {"EQUALS": "EQUAL", "IN": "EQUAL", "EPSILON": "EPS", "UNION": "COMMA"}

#: What a line begins with that ends a block, so that a comment before it belongs to the block.
_ENDS = ("end", "else", "}")


@dataclass(frozen=True, slots=True)
class _Comment:
    """`column` counts from 0. It is `alone` where nothing stands before it on its line."""

    span: Span
    text: str
    column: int
    alone: bool


def formatted(source: Source) -> str:
    """The program in canonical form, with its comments, and at most one blank line where it had some. What is formatted
    stays as it is when it is formatted again. Raises DiagnosticError for what is not a program."""
    lines = print_program(parse(source)).splitlines()
    places = _places_of_lines(lines, source.text)
    above: defaultdict[int, list[_Comment]] = defaultdict(list)
    behind: dict[int, _Comment] = {}
    for comment in _comments(source.text):
        at = bisect_right(places, comment.span.start, key=lambda place: place.end)
        within = at < len(lines) and places[at].start < comment.span.start
        if comment.alone or within or at == 0 or at - 1 in behind:
            above[at].append(comment)
        else:
            behind[at - 1] = comment
    placed: list[tuple[int, str]] = []
    for at, line in enumerate(lines):
        start = places[at].start
        placed += ((min(found.span.start, start), _above(line, start, found, source.text)) for found in above[at])
        placed.append((start, _with_comment(line, behind.get(at))))
    placed += ((found.span.start, found.text) for found in above[len(lines)])
    out: list[str] = []
    last = -1
    for place, line in placed:
        if out and place != last and _blank_before(source.text, place):
            out.append("")
        out.append(line)
        last = place
    return "\n".join(out) + "\n"


def _comments(text: str) -> Iterator[_Comment]:
    """No token of the language contains `#`."""
    start = 0
    for line in text.split("\n"):
        code, sign, said = line.partition("#")
        if sign:
            span = Span(start + len(code), start + len(line))
            yield _Comment(span, ("#" + said).rstrip(), len(code), not code.strip(_BLANK))
        start += len(line) + 1


_BLANK = " \t\r\f\v\ufeff"


def _places_of_lines(lines: list[str], text: str) -> list[Span]:
    """Where in the text the first and the last token of each line stand."""
    spans: dict[int, list[Span]] = defaultdict(list)
    for line, span in _matches("\n".join(lines), text):
        spans[line].append(span)
    return [Span(spans[line][0].start, spans[line][-1].end) for line in range(len(lines))]


def _matches(printed: str, text: str) -> Iterator[tuple[int, Span]]:
    """For each token of the canonical form that the text has, too, its line (from 0) and its place in the text."""
    theirs = tokens_of(text)
    at = 0
    for token in tokens_of(printed):
        while at < len(theirs) and _kind(theirs[at]) != _kind(token) and _kind(theirs[at]) in _OPTIONAL:
            at += 1
        if at < len(theirs) and _kind(theirs[at]) == _kind(token):
            assert token.line is not None
            yield token.line - 1, token_span(theirs[at])
            at += 1


def _kind(token: Token) -> str:
    return _SPELLINGS.get(token.type, token.type)


def _above(line: str, start: int, comment: _Comment, text: str) -> str:
    """The comment on a line of its own above `line`, whose first token stands at `start` in the text: indented as that
    is, unless that ends a block in which the comment stands."""
    margin = line[: len(line) - len(line.lstrip())]
    column = start - (text.rfind("\n", 0, start) + 1)
    inside = line.lstrip().startswith(_ENDS) and comment.column > column
    return margin + INDENT * inside + comment.text


def _with_comment(line: str, comment: _Comment | None) -> str:
    """The comment stands in the column where it stood, or else two blanks behind the line."""
    return line if comment is None else line.ljust(max(len(line) + 2, comment.column)) + comment.text


def _blank_before(text: str, at: int) -> bool:
    """Whether the text has a blank line before the line on which `at` is the first token."""
    start = text.rfind("\n", 0, at) + 1
    above = text.rfind("\n", 0, max(start - 1, 0)) + 1
    return start > 0 and not text[start:at].strip(_BLANK) and not text[above:start].strip(_BLANK + "\n")
