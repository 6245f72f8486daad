"""Where the parser stood when it could not go on: what the explanations of syntax errors look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from dipc.diagnostics.source import Span

if TYPE_CHECKING:
    from lark import Token

BRACKETS = {"LPAR": "RPAR", "LSQUARE": "RSQUARE", "LBRACE": "RBRACE"}
OPENING_BLOCKS = frozenset({"IF", "WHILE", "FOR"})
COMPARISONS = frozenset({"LT", "LE", "EQUAL", "EQUALS", "NE", "GE", "GT"})
ARITHMETIC = frozenset({"PLUS", "MINUS", "STAR", "SLASH", "POWER"})
OPERATORS = COMPARISONS | ARITHMETIC | {"AND", "OR"}
DECLARATIONS = frozenset({"CONST", "DOMAIN", "INPUT", "OUTPUT", "VAR", "CLAIM", "IDEAL", "METRIC"})
DISTRIBUTIONS = frozenset({"LAP", "DLAP", "EXP", "EXPO", "CHOOSE"})
TYPES = frozenset({"BOOL", "INT", "REAL"})
STATEMENTS = OPENING_BLOCKS | {"EXIT"}
#: `metric` is none: it is a name everywhere but before a brace.
KEYWORDS = (
    (DECLARATIONS - {"METRIC"})
    | DISTRIBUTIONS
    | TYPES
    | STATEMENTS
    | {"PROGRAM", "THEN", "ELSE", "END", "IN", "DO", "EPS", "TRUE", "FALSE", "AND", "OR", "NOT"}
)
END_OF_TEXT = "$END"


def spelling(keyword: str) -> str:
    """How a keyword token is written."""
    return {"LAP": "Lap", "DLAP": "DLap", "EXP": "Exp", "EXPO": "Expo"}.get(keyword, keyword.lower())


@dataclass(frozen=True, slots=True)
class Opened:
    """A bracket or block that is still open; `rebranched` when an `else if` has begun in it."""

    token: Token
    index: int
    rebranched: bool = False


@dataclass(frozen=True)
class Situation:
    """The parser accepts one of `accepts`, but `tokens[at]` comes, or the end of the text if there is none.

    `start` is the start symbol of the grammar that was asked for.
    """

    tokens: Sequence[Token]
    at: int
    accepts: frozenset[str]
    start: str

    def kind(self, offset: int = 0) -> str:
        """The type of the token `offset` places from the one that does not fit; END_OF_TEXT outside the text."""
        index = self.at + offset
        return self.tokens[index].type if 0 <= index < len(self.tokens) else END_OF_TEXT

    def text(self, offset: int = 0) -> str:
        """The characters of that token, empty outside the text."""
        index = self.at + offset
        return str(self.tokens[index]) if 0 <= index < len(self.tokens) else ""

    @property
    def span(self) -> Span:
        """The token that does not fit, or the place just behind the last one."""
        if self.at < len(self.tokens):
            return token_span(self.tokens[self.at])
        end = token_span(self.tokens[-1]).end if self.tokens else 0
        return Span(end, end)

    def touches(self) -> bool:
        """True when no blank space lies between the token and the one before it."""
        return 0 < self.at < len(self.tokens) and token_span(self.tokens[self.at - 1]).end == self.span.start

    def is_keyword_as_name(self) -> bool:
        """True when a keyword stands where only a name can, or is assigned to."""
        if self.kind() not in KEYWORDS | {"EPSILON"}:
            return False
        return self.accepts == {"NAME"} or (self.starts_statement() and self.kind(1) == "ARROW")

    def starts_statement(self) -> bool:
        """True when a statement may begin here."""
        return "WHILE" in self.accepts

    def continues_expression(self) -> bool:
        """True when a complete expression lies behind and an operator may follow."""
        return "STAR" in self.accepts

    def starts_expression(self) -> bool:
        """True when an expression may begin here."""
        return "NUMBER" in self.accepts

    def in_body(self) -> bool:
        """True when a statement has already begun before this place."""
        return any(token.type in STATEMENTS or token.type == "ARROW" for token in self.tokens[: self.at])

    @cached_property
    def opened(self) -> tuple[Opened, ...]:
        """What is open before this place, outermost first."""
        return tuple(_opened(self.tokens[: self.at]))

    def innermost_block(self) -> Opened | None:
        """The innermost open `if`, `while` or `for`."""
        return next((opened for opened in reversed(self.opened) if opened.token.type in OPENING_BLOCKS), None)


def token_span(token: Token) -> Span:
    """The characters of `token`."""
    assert token.start_pos is not None
    assert token.end_pos is not None
    return Span(token.start_pos, token.end_pos)


def _opened(tokens: Sequence[Token]) -> Iterator[Opened]:
    stack: list[Opened] = []
    previous = ""
    for index, token in enumerate(tokens):
        kind = token.type
        if kind in BRACKETS:
            stack.append(Opened(token, index))
        elif kind in OPENING_BLOCKS:
            if kind == "IF" and previous == "ELSE" and stack:
                stack[-1] = Opened(stack[-1].token, stack[-1].index, True)
            stack.append(Opened(token, index))
        elif kind in ("RPAR", "RSQUARE") and stack and stack[-1].token.type in ("LPAR", "LSQUARE"):
            stack.pop()  # an interval may mix the two
        elif kind in ("RBRACE", "END") and stack:
            stack.pop()
        previous = kind
    return iter(stack)
