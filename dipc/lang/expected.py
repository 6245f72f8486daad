"""From the parser's expectations to a sentence a person can act on."""

from __future__ import annotations

from dipc.diagnostics.source import Span
from dipc.lang.hints import hint, keyword_note
from dipc.lang.problem import Problem, SyntaxCode
from dipc.lang.situation import (
    BRACKETS,
    DECLARATIONS,
    DISTRIBUTIONS,
    END_OF_TEXT,
    KEYWORDS,
    OPERATORS,
    STATEMENTS,
    TYPES,
    Situation,
    spelling,
    token_span,
)

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
#: The order in which single tokens are named: what closes or goes on with the construct at hand comes first.
ORDER = (
    *("PROGRAM", "THEN", "DO", "IN", "ARROW", "SEMICOLON", "ELSE", "END", "RPAR", "RSQUARE", "RBRACE", "COMMA"),
    *("UNION", "DOTS", "COLON", "EQUAL", "LPAR", "LSQUARE", "LBRACE", "NAME"),
)
MOST_NAMED = 4
#: Tokens that show a bracket was forgotten, since they never come inside one.
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
    """What was found where something else was expected, with a note if the mistake is a common one."""
    expected = _alternatives(_expectations(situation))
    at_end = situation.kind() == END_OF_TEXT
    if situation.is_keyword_as_name():
        return Problem(
            SyntaxCode.KEYWORD_AS_NAME,
            situation.span,
            f"`{situation.text()}` is a keyword and cannot be a name",
            "expected a name",
            (keyword_note(situation),),
        )
    note = hint(situation)
    secondary = _unclosed(situation)
    return Problem(
        SyntaxCode.UNEXPECTED_END if at_end else SyntaxCode.UNEXPECTED,
        situation.span,
        f"expected {expected}, found {_found(situation)}",
        f"expected {expected}",
        (note,) if note else (),
        secondary,
    )


def _found(situation: Situation) -> str:
    if situation.kind() == END_OF_TEXT:
        return f"the end of {WHOLES[situation.start]}"
    text = situation.text()
    shown = text if len(text) <= 40 else text[:40] + "..."
    return f"the keyword `{shown}`" if situation.kind() in KEYWORDS else f"`{shown}`"


def _expectations(situation: Situation) -> list[str]:
    left = set(situation.accepts)
    found: list[str] = []
    if situation.continues_expression():
        # A name may also turn into a call or an element; nobody who stands here means that.
        left -= OPERATORS | {"LPAR", "LSQUARE"}
        if not left - {END_OF_TEXT}:
            found.append("an operator")
    if situation.kind() in (END_OF_TEXT, "RBRACE") and left & {"END", "RBRACE"}:
        left.discard("SEMICOLON")  # another statement may follow, but closing is what is missing
    if "ARROW" in left:
        left.discard("LSQUARE")  # nor an element on the left
    if left >= DECLARATIONS:
        found.append("a declaration")
        left -= DECLARATIONS
    if left >= STATEMENTS:
        found.append("a statement")
        left -= STATEMENTS | {"NAME"}
    if left >= TYPES:
        found.append("a type")
        left -= TYPES | {"NAME", "LBRACE"}
    if "NUMBER" in left:
        given = situation.start == "items" and "LBRACE" in left
        found.append("a value" if given else "an expression")
        left -= EXPRESSION_STARTS | {"PLUS"} | ({"LBRACE"} if given else set())
    if left >= DISTRIBUTIONS:
        found.append("a distribution")
        left -= DISTRIBUTIONS
    if END_OF_TEXT in left and "SEMICOLON" not in left:
        found.append(f"the end of {WHOLES[situation.start]}")
    left.discard(END_OF_TEXT)
    order = {kind: place for place, kind in enumerate(ORDER)}
    found += [_readable(kind) for kind in sorted(left, key=lambda kind: (order.get(kind, len(ORDER)), kind))]
    return found


def _readable(kind: str) -> str:
    return PUNCTUATION.get(kind) or f"`{spelling(kind)}`"


def _alternatives(items: list[str]) -> str:
    if len(items) > MOST_NAMED:
        items = [*items[: MOST_NAMED - 1], "something else that fits"]
    if len(items) == 1:
        return items[0]
    return ", ".join(items[:-1]) + " or " + items[-1]


def _unclosed(situation: Situation) -> tuple[tuple[Span, str], ...]:
    """The bracket or block that must first be closed here, if there is one and it is not the token just before."""
    if not situation.opened:
        return ()
    innermost = situation.opened[-1]
    kind = innermost.token.type
    closing = BRACKETS.get(kind, "END")
    if closing not in situation.accepts or innermost.index == situation.at - 1:
        return ()
    outside = OUTSIDE_BRACES if kind == "LBRACE" else OUTSIDE_BRACKETS
    if kind in BRACKETS and situation.kind() in outside:
        return ((token_span(innermost.token), "opened here, not closed"),)
    if kind not in BRACKETS and situation.kind() in (END_OF_TEXT, "RBRACE"):
        return ((token_span(innermost.token), f"this `{innermost.token}` has no `end`"),)
    return ()
