"""Explanations of texts that are not in the language: the place of the error, what was expected, and the correction."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from dipc.frozen import frozen
from dipc.noise.laws import LAWS
from dipc.text.diagnostic import Diagnostic, DiagnosticError, Label, SourceText, Span

if TYPE_CHECKING:
    from lark import Token


# --- The size of a source text. Each limit has a diagnostic, raised before anything slow or recursive runs ------------

#: The most characters of one source text.
MAX_CHARACTERS = 10_000_000

#: The most tokens of one source text, without blank space and comments: some seconds of parsing.
MAX_TOKENS = 400_000

#: The most statements of one source text, before any `for` is unrolled.
MAX_STATEMENTS = 50_000

#: The most levels of statements, brackets and operators around one token, taken together: a recursive walk of the tree
#: passes through the statements on the way to the expressions.
MAX_NESTING = 200

#: The most digits of a number, and the greatest magnitude of its exponent of ten. Twice this is below Python's
#: 4300-digit limit for conversions between int and str.
MAX_DIGITS = 1000

#: The greatest exponent of `^`.
MAX_POWER = 1000


# --- Mistakes found while a text is read, before its source is known --------------------------------------------------


class SyntaxCode(StrEnum):
    """The codes E01xx of mistakes in the text itself; a published code keeps its meaning."""

    STRAY_CHARACTER = "E0101"
    UNEXPECTED = "E0102"
    UNEXPECTED_END = "E0103"
    TOO_MANY = "E0104"
    TOO_DEEP = "E0105"
    NUMBER_TOO_LARGE = "E0106"
    TEXT_TOO_LONG = "E0107"
    BAD_POWER = "E0108"
    BAD_CALL = "E0109"
    KEYWORD_AS_NAME = "E0110"
    BAD_CLAIM_FIELD = "E0111"
    BAD_INTERVAL = "E0112"
    BAD_METRIC_FIELD = "E0113"


@dataclass(eq=False)
class Problem(Exception):
    """A syntax error at `span`, without the text around it, which `located` adds.

    `label` is printed below the place, `notes` say how to correct the mistake, and `secondary` are further places with
    their labels.
    """

    code: SyntaxCode
    span: Span
    message: str
    label: str = ""
    notes: tuple[str, ...] = ()
    secondary: tuple[tuple[Span, str], ...] = ()

    def located(self, source: SourceText) -> DiagnosticError:
        """Return the problem as a diagnostic of `source`."""
        secondary = tuple(Label(source.excerpt(span), text) for span, text in self.secondary)
        excerpt = source.excerpt(self.span)
        return DiagnosticError(Diagnostic(self.code, self.message, excerpt, self.label, self.notes, secondary))


def too_deep(span: Span) -> Problem:
    """Return the problem of a tree of more than MAX_NESTING levels at `span`."""
    return Problem(
        SyntaxCode.TOO_DEEP,
        span,
        f"this is nested more than {MAX_NESTING} levels deep",
        f"level {MAX_NESTING + 1}",
        (
            "name parts of a long expression with intermediate variables",
            "use arrays and `for` for repetition, and close blocks before opening others",
        ),
    )


# --- The situation of the parser at a syntax error, from which explanations are derived -------------------------------

BRACKETS = {"LPAR": "RPAR", "LSQUARE": "RSQUARE", "LBRACE": "RBRACE"}
OPENING_BLOCKS = frozenset({"IF", "WHILE", "FOR"})
COMPARISONS = frozenset({"LT", "LE", "EQUAL", "EQUALS", "NE", "GE", "GT"})
ARITHMETIC = frozenset({"PLUS", "MINUS", "STAR", "SLASH", "POWER"})
OPERATORS = COMPARISONS | ARITHMETIC | {"AND", "OR"}
DECLARATIONS = frozenset({"CONST", "DOMAIN", "INPUT", "OUTPUT", "VAR", "CLAIM", "IDEAL", "METRIC", "REQUIRES"})
NOISE = {law.keyword.upper(): law for law in LAWS}
DISTRIBUTIONS = frozenset({*NOISE, "EXP", "CHOOSE"})
TYPES = frozenset({"BOOL", "INT", "REAL"})
STATEMENTS = OPENING_BLOCKS | {"EXIT"}
#: `metric` and `requires` are not keywords: they are names everywhere but where such a declaration begins.
KEYWORDS = (
    (DECLARATIONS - {"METRIC", "REQUIRES"})
    | DISTRIBUTIONS
    | TYPES
    | STATEMENTS
    | {"PROGRAM", "THEN", "ELSE", "END", "IN", "DO", "EPS", "TRUE", "FALSE", "AND", "OR", "NOT"}
)
END_OF_TEXT = "$END"


def spelling(keyword: str) -> str:
    """Return the text of the keyword token `keyword`."""
    return NOISE[keyword].keyword if keyword in NOISE else {"EXP": "Exp"}.get(keyword, keyword.lower())


@frozen
class Opened:
    """A bracket or block that is still open: the `token` that opens it, and the index of this token.

    `rebranched` is True if an `else if` has begun in the block.
    """

    token: Token
    index: int
    rebranched: bool = False


@dataclass(frozen=True)
class Situation:
    """A syntax error: the token `tokens[position]`, the unexpected token, is none of those that the parser accepts.

    `accepts` are the types of tokens that could be there. If `position` is the end of the text, a token is missing.
    `start` is the start symbol of the grammar.
    """

    tokens: Sequence[Token]
    position: int
    accepts: frozenset[str]
    start: str

    def kind(self, offset: int = 0) -> str:
        """Return the type of the token `offset` places from the unexpected one; END_OF_TEXT outside the text."""
        index = self.position + offset
        return self.tokens[index].type if 0 <= index < len(self.tokens) else END_OF_TEXT

    def text(self, offset: int = 0) -> str:
        """Return the characters of the token `offset` places from the unexpected one, empty outside the text."""
        index = self.position + offset
        return str(self.tokens[index]) if 0 <= index < len(self.tokens) else ""

    @property
    def span(self) -> Span:
        """The place of the unexpected token, or the end of the last token."""
        if self.position < len(self.tokens):
            return token_span(self.tokens[self.position])
        end = token_span(self.tokens[-1]).end if self.tokens else 0
        return Span(end, end)

    def touches(self) -> bool:
        """Return True if no space precedes the unexpected token."""
        return (
            0 < self.position < len(self.tokens) and token_span(self.tokens[self.position - 1]).end == self.span.start
        )

    def is_keyword_as_name(self) -> bool:
        """Return True if a keyword is used where only a name is allowed, or is assigned to."""
        if self.kind() not in KEYWORDS | {"EPSILON"}:
            return False
        return self.accepts == {"NAME"} or (self.starts_statement() and self.kind(1) == "ARROW")

    def starts_statement(self) -> bool:
        """Return True if the grammar allows a statement in place of the unexpected token."""
        return "WHILE" in self.accepts

    def continues_expression(self) -> bool:
        """Return True if the grammar allows an operator in place of the unexpected token, after a whole expression."""
        return "STAR" in self.accepts

    def in_body(self) -> bool:
        """Return True if some statement begins before the unexpected token, where no declaration may follow."""
        return any(token.type in STATEMENTS or token.type == "ARROW" for token in self.tokens[: self.position])

    def lacks_semicolon(self) -> bool:
        """Return True if the unexpected token begins a statement or declaration, and only lacks a `;` before it."""
        if "SEMICOLON" not in self.accepts or self.position == 0:
            return False
        begins = self.kind() in STATEMENTS | DECLARATIONS
        return begins or (self.kind() == "NAME" and self.kind(1) in ("ARROW", "LSQUARE"))

    @cached_property
    def opened(self) -> tuple[Opened, ...]:
        """The brackets and blocks that are open before the unexpected token, outermost first."""
        return tuple(_opened(self.tokens[: self.position]))

    def innermost_block(self) -> Opened | None:
        """Return the innermost open `if`, `while` or `for`, or None if no block is open."""
        return next((opened for opened in reversed(self.opened) if opened.token.type in OPENING_BLOCKS), None)


def token_span(token: Token) -> Span:
    """Return the span of `token`."""
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


# --- Notes for the most common mistakes, by the situation of the parser; the first one that applies is used -----------

ELSE_IF = "`else if` opens a second `if`, which needs an `end` of its own: write `else if ... end end`"
SIGNATURES = {
    **{keyword: law.usage for keyword, law in NOISE.items()},
    "EXP": "the exponential mechanism is written `Exp(eps/2, v in D : score)`",
    "CHOOSE": "a choice is written `choose { a : 1/3, b : 2/3 }`",
}
#: Names for drawing by weights or scores in other languages, in small letters, and the advice.
CHOICES = frozenset({"choice", "choices", "choose", "pick", "random", "sample", "select", "draw"})
BY_WEIGHT_OR_SCORE = (
    "write random choices as `choose {a: w1, b: w2}`, with weights that sum to 1, or by scores as "
    "`Exp(eps/2, k in {1..4} : s[k])`"
)
#: Names for the blocks of a program in other languages, in small letters.
BLOCKS = {
    **dict.fromkeys(("exact", "det", "deterministic", "truth", "correct", "noiseless", "spec"), "ideal"),
    **dict.fromkeys(("accuracy", "accurate", "ensure", "ensures", "assert", "property"), "claim"),
}
FOREIGN = {
    **dict.fromkeys(("elif", "elsif", "elseif", "elsef"), "there is no `elif`: write `else if ... end end`"),
    **dict.fromkeys(("endif", "endwhile", "endfor", "fi", "od", "done"), "`if`, `while` and `for` close with `end`"),
    **dict.fromkeys(("return", "break", "stop", "halt", "abort"), "`exit` ends the program with the outputs it has"),
    **dict.fromkeys(("skip", "pass"), "an empty block is written by writing nothing"),
    **dict.fromkeys(("let", "set"), "an assignment is written `x <- ...`"),
}


def hint(situation: Situation) -> str | None:
    """Return advice on how to correct the mistake in `situation`; None if it is not one of the common mistakes."""
    topics = (_symbol_notes, _draw_notes, _declaration_notes, _block_notes)
    return next((note for topic in topics for note in topic(situation)), None)


def _symbol_notes(s: Situation) -> Iterator[str]:
    kind, before, accepts = s.kind(), s.kind(-1), s.accepts
    if kind == "NAME" and s.text() in FOREIGN:
        yield FOREIGN[s.text()]
    if before == "NAME" and s.text(-1) in FOREIGN and "ARROW" in accepts:
        yield FOREIGN[s.text(-1)]
    if kind in DISTRIBUTIONS and s.starts_statement():
        yield f"assign what is drawn to a variable, `x <- …`: {SIGNATURES[kind]}"
    if "ARROW" in accepts and kind in ("EQUAL", "EQUALS"):
        yield "an assignment is written with `<-`; `=` compares"
    if "ARROW" in accepts and kind == "COLON":
        if s.kind(1) in TYPES | {"LBRACE"}:
            yield f"a variable is declared before the first statement, with `var {s.text(-1)} : ...;`"
        yield "an assignment is written with `<-` or `:=`"
    if kind == "ARROW":
        if "EQUAL" in accepts and not s.continues_expression():
            yield "constants and initial values are given with `=`; `<-` assigns in a statement"
        if "LT" in accepts and s.text() == "<-":
            yield "`<-` assigns; for less than a negative number leave a blank, `x < -1`"
        if s.continues_expression():
            yield "`<-` assigns to one variable, in a statement of its own"
    if kind in COMPARISONS and "AND" in accepts and "LT" not in accepts:
        yield "comparisons do not chain: write `a < b and b < c`"
    if kind == "EQUALS" and "EQUAL" in accepts and not s.continues_expression():
        yield "constants and initial values are given with a single `=`"
    if before == "SLASH" and kind in ("SLASH", "STAR") and s.touches():
        yield "a comment begins with `#`"
    if kind == "SLASH" and s.kind(1) in ("SLASH", "STAR"):
        yield "a comment begins with `#`"
    if kind == "LBRACE":
        if before == "NAME" and "ARROW" in accepts and s.text(-1).lower() in BLOCKS:
            yield f"did you mean `{BLOCKS[s.text(-1).lower()]} {{ … }}`?"
        if before == "POWER":
            yield "a power of e is written `exp(...)`, for example `exp(-eps/2)`"
        if accepts & {"THEN", "DO"}:
            yield "blocks have no braces: `if ... then ... end`, `while ... do ... end`"
        if s.starts_statement():
            yield "blocks have no braces: they end with `end`"
    if kind == "RBRACE" and "END" in accepts and s.innermost_block():
        yield ELSE_IF if any(opened.rebranched for opened in s.opened) else "`if`, `while` and `for` close with `end`"


def _draw_notes(s: Situation) -> Iterator[str]:
    kind, before = s.kind(), s.kind(-1)
    opening, place, head = "", 0, ""  # the innermost bracket, and the token before it
    if s.opened:
        opening = s.opened[-1].token.type
        place = s.opened[-1].index - s.position - 1
        head = s.kind(place)
    if opening == "LPAR" and head == "NAME" and s.text(place) == "exp" and kind == "IN":
        yield f"`exp` is the exponential function; {SIGNATURES['EXP']}, with a capital letter"
    if opening == "LPAR" and head == "EXP" and before == "IN" and kind == "NUMBER":
        yield "the values to draw from are written in braces: `Exp(eps/2, k in {1..m} : score[k])`"
    if opening == "LPAR" and head == "EXP" and kind == "LBRACE":
        yield SIGNATURES["EXP"]
    if head == "EXP" and kind == "RPAR":
        yield f"the exponential function is `exp`, in small letters; {SIGNATURES['EXP']}"
    if before in SIGNATURES:
        yield SIGNATURES[before]
    if opening in ("LPAR", "LBRACE") and head in SIGNATURES and kind in ("RPAR", "RBRACE", "COMMA", "COLON"):
        yield SIGNATURES[head]
    chosen = kind == "COLON" or (kind == "LBRACE" and s.text(place).lower() in CHOICES)
    if opening == "LPAR" and head == "NAME" and chosen:
        yield BY_WEIGHT_OR_SCORE
    if s.continues_expression() and s.touches():
        factors = ("NUMBER", "RPAR", "EPS", "EPSILON")
        if kind in ("NAME", "EPS", "EPSILON", "LPAR", "NUMBER") and before in factors:
            yield f"a product is written with `*`: `{s.text(-1)}*{s.text()}`"
        if kind == "EPSILON" and before == "NAME":
            yield "`ε` alone is the privacy parameter; it cannot be part of a name"


def _declaration_notes(s: Situation) -> Iterator[str]:
    kind, accepts = s.kind(), s.accepts
    in_header = bool(s.opened) and s.opened[-1].token.type in OPENING_BLOCKS
    if (s.kind(-2) == "FOR" and accepts == {"IN"}) or ("DOTS" in accepts and in_header):
        yield "a loop is written `for i in 1..m do ... end`"
    if "DOTS" in accepts and kind == "RSQUARE":
        yield "an array is declared with both bounds, for example `q[1..m]`"
    bare = accepts >= {"SEMICOLON", "EQUAL"} and not s.continues_expression()
    if kind == "COMMA" and (bare or ("SEMICOLON" in accepts and s.kind(1) == "NAME" and s.kind(2) == "COLON")):
        yield "each type has a declaration of its own: `var a : real; var b : bool;`"
    if kind in TYPES and s.kind(1) == "NAME" and (s.starts_statement() or "SEMICOLON" in accepts):
        yield f"a declaration is written `var {s.text(1)} : {s.text()};`"
    if kind in DECLARATIONS:
        if any(opened.index > 0 and s.tokens[opened.index - 1].type == "IDEAL" for opened in s.opened):
            yield "an `ideal` block declares variables of its own with `var`, before its first statement"
        if s.in_body():
            yield "declarations come before the first statement"
        if "SEMICOLON" in accepts:
            yield "every declaration ends with `;`"
    if accepts >= {"NUMBER", "LSQUARE"}:
        yield "eps ranges over intervals, for example `(0, inf)` or `[1/2, 3)`"
    if "UNION" in accepts:
        yield "several intervals are separated by `,` or `∪`"


def _block_notes(s: Situation) -> Iterator[str]:
    kind, before, accepts, block = s.kind(), s.kind(-1), s.accepts, s.innermost_block()
    if kind == "END" and "END" not in accepts and block is None:
        yield "there is no open `if`, `while` or `for` for this `end` to close"
    if kind == "ELSE" and "ELSE" not in accepts and block is None:
        yield "there is no open `if` for this `else`; was it closed by an `end` too many?"
    if kind == "ELSE" and "ELSE" not in accepts and "END" in accepts:
        yield "there is no open `if` for this `else`; each `if` has at most one"
    if kind == END_OF_TEXT and "END" in accepts and block is not None:
        rebranched = any(opened.rebranched for opened in s.opened)
        yield ELSE_IF if rebranched else "every `if`, `while` and `for` closes with `end`"
    if kind == "NAME" and (nearest := _nearest(s.text(), {spelling(word) for word in accepts & KEYWORDS})):
        yield f"did you mean `{nearest}`?"
    if before == "NAME" and accepts & {"ARROW", "DOTS"} and kind not in ("ARROW", "DOTS"):
        nearest = _nearest(s.text(-1), {spelling(word) for word in STATEMENTS | DECLARATIONS | {"END", "ELSE"}})
        if nearest:
            yield f"`{s.text(-1)}` is read as a variable here; did you mean `{nearest}`?"
    if accepts == {"PROGRAM"}:
        yield "a program begins with its name, `program sparse;`"
    if s.position == 2 and accepts == {"SEMICOLON"}:
        yield "the name is one word of letters, digits and `_`, and a `;` ends the line: `program sparse_vector;`"
    if kind == "SEMICOLON" and before == "SEMICOLON":
        yield "one `;` is enough"
    if "SEMICOLON" in accepts and kind in STATEMENTS | {"NAME"}:
        yield "statements are separated by `;`" if s.in_body() else "every declaration ends with `;`"
    if s.start == "lower_bound":
        yield 'write the name of a constant, or a range such as "m >= 3"'
    if s.start == "items" and before == "COMMA" and "COMMA" in accepts:
        yield "a list is written in braces, `c = {1, 2}`, the elements of an array in parentheses, `q = (0, 1/2)`"
    if s.start == "items":
        yield "write for example `q = -1..1`, `q in {0, 1/2, 3}`, `q = (0, 1, 2)` or `x = 3`"


def _nearest(word: str, keywords: set[str]) -> str | None:
    folded = {keyword.lower(): keyword for keyword in sorted(keywords)}
    swapped = [folded[keyword] for keyword in folded if sorted(keyword) == sorted(word.lower())]
    close = [folded[keyword] for keyword in get_close_matches(word.lower(), folded, 1, 0.7)]
    return next(iter(swapped + close), None)


# --- Messages from the parser's expectations --------------------------------------------------------------------------

EXPRESSION_STARTS = frozenset({"NUMBER", "NAME", "PRIMED", "EPS", "EPSILON", "TRUE", "FALSE", "NOT", "MINUS", "LPAR"})
PUNCTUATION = {
    "NAME": "a name",
    "NUMBER": "a number",
    "ARROW": "`<-`",
    "LE": "`<=`",
    "GE": "`>=`",
    "NE": "`!=`",
    "EQUALS": "`==`",
    "EQUAL": "`=`",
    "LT": "`<`",
    "GT": "`>`",
    "PLUS": "`+`",
    "MINUS": "`-`",
    "STAR": "`*`",
    "SLASH": "`/`",
    "POWER": "`^`",
    "UNION": "`∪`",
    "DOTS": "`..`",
    "COMMA": "`,`",
    "COLON": "`:`",
    "SEMICOLON": "`;`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "LSQUARE": "`[`",
    "RSQUARE": "`]`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
}
#: The order in which single tokens are named: tokens that close or continue the current construct come first.
ORDER = (
    *("PROGRAM", "THEN", "DO", "IN", "ARROW", "SEMICOLON", "ELSE", "END", "RPAR", "RSQUARE", "RBRACE", "COMMA"),
    *("UNION", "DOTS", "COLON", "EQUAL", "LPAR", "LSQUARE", "LBRACE", "NAME"),
)
MOST_NAMED = 4
#: Tokens that show that a bracket was forgotten, as they never occur inside one.
OUTSIDE_BRACKETS = {
    *("SEMICOLON", "THEN", "DO", "ELSE", "END", "ARROW", "RPAR", "RSQUARE", "RBRACE", END_OF_TEXT),
    *STATEMENTS,
    *DECLARATIONS,
}
OUTSIDE_BRACES = {"PROGRAM", "SEMICOLON", "ARROW", END_OF_TEXT, *(DECLARATIONS - {"VAR"})}
WHOLES = {
    "program": "the program",
    "expression": "the expression",
    "intervals": "the interval",
    "items": "the text",
    "lower_bound": "the text",
}


def syntax_error(situation: Situation) -> Problem:
    """Return the problem of the unexpected token in `situation`, with a note if the mistake is a common one."""
    expected = _alternatives(_expectations(situation))
    at_end = situation.kind() == END_OF_TEXT
    if situation.is_keyword_as_name():
        is_eps = situation.kind() in ("EPS", "EPSILON")
        return Problem(
            SyntaxCode.KEYWORD_AS_NAME,
            situation.span,
            f"`{situation.text()}` is a keyword and cannot be a name",
            "expected a name",
            (
                "`eps` is the privacy parameter: it cannot be declared or assigned"
                if is_eps
                else f"choose another name, for example `{situation.text()}_`",
            ),
        )
    note = hint(situation)
    secondary = _unclosed(situation)
    if situation.lacks_semicolon():
        end = token_span(situation.tokens[situation.position - 1]).end
        text = f"found {_unexpected(situation)}"
        return Problem(
            SyntaxCode.UNEXPECTED,
            Span(end, end),
            f"expected {expected}, {text}",
            "`;` is missing here",
            (note,) if note else (),
            secondary,
        )
    return Problem(
        SyntaxCode.UNEXPECTED_END if at_end else SyntaxCode.UNEXPECTED,
        situation.span,
        f"expected {expected}, found {_unexpected(situation)}",
        f"expected {expected}",
        (note,) if note else (),
        secondary,
    )


def _unexpected(situation: Situation) -> str:
    if situation.kind() == END_OF_TEXT:
        return f"the end of {WHOLES[situation.start]}"
    text = situation.text()
    written = text if len(text) <= 40 else text[:40] + "..."
    return f"the keyword `{written}`" if situation.kind() in KEYWORDS else f"`{written}`"


def _expectations(situation: Situation) -> list[str]:
    left = set(situation.accepts)
    result: list[str] = []
    if situation.continues_expression():
        # A name can also become a call or an element, but that is hardly ever intended here.
        left -= OPERATORS | {"LPAR", "LSQUARE"}
        if not left - {END_OF_TEXT}:
            result.append("an operator")
    if situation.kind() in (END_OF_TEXT, "RBRACE") and left & {"END", "RBRACE"}:
        left.discard("SEMICOLON")  # another statement can follow, but the closing token is missing
    if situation.kind(-1) == "END":
        left -= STATEMENTS | {"NAME"}  # that a statement can begin here is obvious
    if "ARROW" in left:
        left.discard("LSQUARE")  # an element on the left is hardly ever intended
    if left >= DECLARATIONS:
        result.append("a declaration")
        left -= DECLARATIONS
    if left >= STATEMENTS:
        result.append("a statement")
        left -= STATEMENTS | {"NAME"}
    if left >= TYPES:
        result.append("a type")
        left -= TYPES | {"NAME", "LBRACE"}
    if "NUMBER" in left:
        given = situation.start == "items" and "LBRACE" in left
        result.append("a value" if given else "an expression")
        if situation.kind(-1) == "ARROW":
            result.append("a distribution")
        left -= EXPRESSION_STARTS | {"PLUS"} | DISTRIBUTIONS | ({"LBRACE"} if given else set())
    if END_OF_TEXT in left and "SEMICOLON" not in left:
        result.append(f"the end of {WHOLES[situation.start]}")
    left.discard(END_OF_TEXT)
    order = {kind: index for index, kind in enumerate(ORDER)}
    result += [
        (PUNCTUATION.get(kind) or f"`{spelling(kind)}`")
        for kind in sorted(left, key=lambda kind: (order.get(kind, len(ORDER)), kind))
    ]
    return result


def _alternatives(items: list[str]) -> str:
    if len(items) > MOST_NAMED:
        items = [*items[: MOST_NAMED - 1], "something else"]
    if len(items) == 1:
        return items[0]
    return ", ".join(items[:-1]) + " or " + items[-1]


def _unclosed(situation: Situation) -> tuple[tuple[Span, str], ...]:
    """Return the place of the innermost open bracket or block, with a label such as "opened here, not closed".

    The result has one pair (place, label) under three conditions, and is otherwise empty:

    - the bracket or block could be closed before the unexpected token of `situation`;
    - this token cannot be inside the bracket or block;
    - the bracket or block does not open just before this token.
    """
    if not situation.opened:
        return ()
    innermost = situation.opened[-1]
    kind = innermost.token.type
    closing = BRACKETS.get(kind, "END")
    if closing not in situation.accepts or innermost.index == situation.position - 1:
        return ()
    outside = OUTSIDE_BRACES if kind == "LBRACE" else OUTSIDE_BRACKETS
    if kind in BRACKETS and situation.kind() in outside:
        return ((token_span(innermost.token), "opened here, not closed"),)
    if kind not in BRACKETS and situation.kind() in (END_OF_TEXT, "RBRACE"):
        return ((token_span(innermost.token), f"this `{innermost.token}` has no `end`"),)
    return ()


# --- Characters that begin no token -----------------------------------------------------------------------------------

#: The replacement for a character that resembles a symbol of the language, or has its meaning.
INSTEAD = {
    "\u2010": "-",
    "\u2011": "-",
    "\u2012": "-",
    "\u2013": "-",
    "\u2014": "-",
    "\u2212": "-",
    "\u00d7": "*",
    "\u00b7": "*",
    "\u22c5": "*",
    "\u2217": "*",
    "\u00f7": "/",
    "\u2215": "/",
    "\u2227": "and",
    "\u2228": "or",
    "\u00ac": "not",
    "\u2208": "in",
    "\u221e": "inf",
    "\u27f5": "<-",
    "\u21d0": "<-",
    "\u2254": ":=",
    "\u2a7d": "<=",
    "\u2a7e": ">=",
    "\u2026": "..",
    "\u2025": "..",
    "\u03f5": "eps",
    "\u025b": "eps",
    "&": "and",
    "|": "or",
    "!": "not",
}
QUOTES = "\"'`\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u2032\u2033\u00ab\u00bb"
_WRITABLE = re.compile(r"[A-Za-z0-9_+\-*/^=<>()\[\]{},;:#]|[\u0391-\u03a1\u03a3-\u03a9\u03b1-\u03c9]")


def stray_character(text: str, position: int) -> Problem:
    """Return the problem of the character of `text` at `position`, which begins no token, with a correction."""
    character = text[position]
    width = 2 if text[position : position + 2] in ("&&", "||") else 1
    written = text[position : position + width]
    shown = f"`{written}`" if written.isascii() and written.isprintable() else _named(written)
    return Problem(
        SyntaxCode.STRAY_CHARACTER,
        Span(position, position + width),
        f"{shown} is not part of the language",
        "cannot be read",
        (_mend(text, position, character),),
    )


def without_stray_characters(text: str, first: Span) -> str:
    """Return `text` with spaces in place of the stray characters at `first`, and of those after them on the line."""
    end = text.find("\n", first.start) % (len(text) + 1)
    rest = "".join(letter if letter.isspace() or _WRITABLE.match(letter) else " " for letter in text[first.end : end])
    return text[: first.start] + " " * (first.end - first.start) + rest + text[end:]


def _named(character: str) -> str:
    fallback = "CONTROL CHARACTER" if unicodedata.category(character) == "Cc" else "UNASSIGNED CHARACTER"
    return f"U+{ord(character):04X} {unicodedata.name(character, fallback)}"


def _mend(text: str, position: int, character: str) -> str:
    if character == "\0":
        return "a program is plain text; this looks like a binary file or one in the encoding UTF-16"
    if character in QUOTES:
        return "write names and domain values without quotes; names have no primes"
    if character == ".":
        return _point(text, position)
    if character == "#":
        return "a comment is not allowed here"
    if character == "%":
        return "comments begin with `#`; there is no remainder"
    if character in INSTEAD:
        meant = INSTEAD[character]
    elif character.isspace():
        meant = "an ordinary space"
    else:
        meant = unicodedata.normalize("NFKC", character)
        if meant == character or not _WRITABLE.fullmatch(meant):
            return "names are written with letters `A`-`Z`, `a`-`z`, Greek letters, digits and `_`"
    written = meant if meant == "an ordinary space" else f"`{meant}`"
    if character.isascii():
        return f"write {written}"
    return f"this is {_named(character)}: write {written}"


def _point(text: str, position: int) -> str:
    before, after = text[position - 1 : position], text[position + 1 : position + 2]
    if before == ".":
        return "a range is written with two points, `1..m`"
    if after.isdigit():
        return "write a digit before the point, for example `0.5`"
    if before.isdigit():
        return "write a digit behind the point, for example `1.0`, or two points for a range, `1..m`"
    return "a range is written with two points, `1..m`"


# --- Reading on after a syntax error, without the statement or declaration that contains it ---------------------------
#
# The rest of the text need not have the intended meaning. It is only read to find more errors, and an error that the
# first one can have caused is not reported.

#: The most errors that are reported at once.
MOST_ERRORS = 10

_BLOCK_BRACES = frozenset({"CLAIM", "IDEAL", "METRIC"})
_STARTS = frozenset({"SEMICOLON", "THEN", "DO", "ELSE", "END"})
_STOPS = frozenset({"SEMICOLON", "END", "ELSE", "RBRACE"})


def mended(tokens: Sequence[Token], problem: Problem) -> tuple[list[Token], int] | None:
    """Return (rest, place): `tokens` without the statement that has `problem`, to look for further problems.

    The place is a position in the text: further problems before it are consequences of `problem`. If only a `;` is
    missing, it is added. If the head of a block is wrong, it is replaced, so that as many blocks are opened as closed.
    The result is None if the tokens cannot be mended.
    """
    position = next(
        (index for index, token in enumerate(tokens) if token_span(token).start >= problem.span.start), len(tokens)
    )
    if position >= len(tokens) or position == 0:
        return None
    if _lacks_semicolon(tokens, position):
        semicolon = _token_like("SEMICOLON", ";", tokens[position])
        return [*tokens[:position], semicolon, *tokens[position:]], token_span(tokens[position]).start + 1
    first, braces = _statement_begins(tokens, position)
    if first is None:
        return None
    if tokens[first].type in OPENING_BLOCKS and first < position:
        return _without_header(tokens, first, position)
    if tokens[first].type == "PROGRAM":
        return None
    last = _ending(tokens, max(position, first), braces)
    if last < len(tokens) and tokens[last].type == "SEMICOLON":
        last += 1
    elif last == first:
        last += 1  # a token that closes nothing
    if last >= len(tokens):
        return None
    return [*tokens[:first], *tokens[last:]], token_span(tokens[last]).start


def _lacks_semicolon(tokens: Sequence[Token], position: int) -> bool:
    """Return True if the token at `position` begins a statement and a line, after a statement without its `;`.

    The token is one of `tokens`.
    """
    token, before = tokens[position], tokens[position - 1]
    if token.line == before.line or before.type in _STARTS:
        return False
    following = tokens[position + 1].type if position + 1 < len(tokens) else ""
    return token.type in STATEMENTS or (token.type == "NAME" and following in ("ARROW", "LSQUARE"))


def _statement_begins(tokens: Sequence[Token], position: int) -> tuple[int | None, int]:
    """Return (start, braces) for the statement, declaration or head of a block that contains the token at `position`.

    The start is an index in `tokens`, or None if it is not found. The second value is the number of braces that are
    opened after the start and still open at `position`.
    """
    braces = 0
    for index in range(position - 1, -1, -1):
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


def _without_header(tokens: Sequence[Token], first: int, position: int) -> tuple[list[Token], int] | None:
    """Return (tokens, place): `tokens` with the wrong head of a block replaced by `while true do` or `if true then`.

    The head begins at the index `first`, and the mistake is at the index `position`. The place is the position in the
    text just after the head; further problems before it are consequences of the mistake. The result is None if the end
    of the head is not found.
    """
    kind = tokens[first].type
    closing = "THEN" if kind == "IF" else "DO"
    end = position
    while end < len(tokens) and tokens[end].type not in (*_STOPS, "LBRACE", *OPENING_BLOCKS, closing):
        end += 1
    if end >= len(tokens) or tokens[end].type == "LBRACE":
        return None
    if tokens[end].type != closing:
        if tokens[position].type not in ("NAME", *STATEMENTS):
            return None
        end = position - 1  # a body without its `then`
    opened = "IF" if kind == "IF" else "WHILE"
    place = tokens[first]
    header = [
        _token_like(opened, opened.lower(), place),
        _token_like("TRUE", "true", place),
        _token_like(closing, closing.lower(), place),
    ]
    following = min(end + 1, len(tokens) - 1)
    return [*tokens[:first], *header, *tokens[end + 1 :]], token_span(tokens[following]).start


def _ending(tokens: Sequence[Token], position: int, braces: int) -> int:
    blocks = 0
    for index in range(position, len(tokens)):
        kind = tokens[index].type
        if kind in OPENING_BLOCKS:
            blocks += 1
        elif kind == "END" and blocks:
            blocks -= 1
        elif kind == "LBRACE":
            braces += 1
        elif kind == "RBRACE" and braces:
            braces -= 1
        elif not blocks and (kind in _STOPS or (kind in DECLARATIONS and index > position)):
            return index
    return len(tokens)


def _token_like(kind: str, text: str, place: Token) -> Token:
    from lark import Token

    return Token.new_borrow_pos(kind, text, place)
