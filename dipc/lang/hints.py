"""Notes for the mistakes people make most, by the situation the parser stopped in."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches

from dipc.lang.situation import (
    ARITHMETIC,
    COMPARISONS,
    DECLARATIONS,
    DISTRIBUTIONS,
    END_OF_TEXT,
    KEYWORDS,
    STATEMENTS,
    TYPES,
    Situation,
    spelling,
)

ELSE_IF = "`else if` opens a second `if`, which needs an `end` of its own: write `else if ... end end`"
SIGNATURES = {
    "LAP": "`Lap` takes a rate in eps and a mean, for example `Lap(eps/2, 0)`",
    "DLAP": "`DLap` takes a rate in eps and a mean, for example `DLap(eps/2, 0)`",
    "EXPO": "`Expo` takes a rate in eps, for example `Expo(eps/2)`",
    "EXP": "the exponential mechanism is written `Exp(eps/2, v in D : score)`",
    "CHOOSE": "a choice is written `choose { a : 1/3, b : 2/3 }`",
}
FOREIGN = {
    **dict.fromkeys(("elif", "elsif", "elseif", "elsef"), "there is no `elif`: write `else if ... end end`"),
    **dict.fromkeys(("endif", "endwhile", "endfor", "fi", "od", "done"), "`if`, `while` and `for` close with `end`"),
    **dict.fromkeys(("return", "break", "stop", "halt", "abort"), "`exit` ends the program with the outputs it has"),
    **dict.fromkeys(("skip", "pass"), "an empty block is written as nothing at all"),
    **dict.fromkeys(("let", "set"), "an assignment is written `x <- ...`"),
}


def hint(situation: Situation) -> str | None:
    """How to mend the mistake, if it is one of the known ones."""
    return next((note for rule in RULES if (note := rule(situation)) is not None), None)


def keyword_note(situation: Situation) -> str:
    """How to mend a keyword in the place of a name."""
    if situation.kind() in ("EPS", "EPSILON"):
        return "`eps` is the privacy parameter, it is neither declared nor assigned"
    return f"choose another name, for example `{situation.text()}_`"


def _foreign_word(s: Situation) -> str | None:
    if s.kind() == "NAME" and s.text() in FOREIGN:
        return FOREIGN[s.text()]
    if s.kind(-1) == "NAME" and s.text(-1) in FOREIGN and "ARROW" in s.accepts:
        return FOREIGN[s.text(-1)]
    return None


def _not_assigned(s: Situation) -> str | None:
    if s.kind() in DISTRIBUTIONS and s.starts_statement():
        return f"what is drawn is assigned to a variable, `x <- …`: {SIGNATURES[s.kind()]}"
    return None


def _assignment(s: Situation) -> str | None:
    if "ARROW" in s.accepts and s.kind() in ("EQUAL", "EQUALS"):
        return "an assignment is written with `<-`; `=` compares"
    if "ARROW" in s.accepts and s.kind() == "COLON":
        if s.kind(1) in TYPES | {"LBRACE"}:
            return f"a variable is declared before the first statement, with `var {s.text(-1)} : ...;`"
        return "an assignment is written with `<-` or `:=`"
    return None


def _arrow(s: Situation) -> str | None:
    if s.kind() != "ARROW":
        return None
    if "EQUAL" in s.accepts and not s.continues_expression():
        return "constants and initial values are given with `=`; `<-` assigns in a statement"
    if "LT" in s.accepts and s.text() == "<-":
        return "`<-` assigns; for less than a negative number leave a blank, `x < -1`"
    if s.continues_expression():
        return "`<-` assigns to one variable, in a statement of its own"
    return None


def _chained_comparison(s: Situation) -> str | None:
    if s.kind() in COMPARISONS and "AND" in s.accepts and "LT" not in s.accepts:
        return "comparisons do not chain: write `a < b and b < c`"
    return None


def _declared_with(s: Situation) -> str | None:
    if s.kind() == "EQUALS" and "EQUAL" in s.accepts and not s.continues_expression():
        return "constants and initial values are given with a single `=`"
    return None


def _comment(s: Situation) -> str | None:
    if s.kind(-1) == "SLASH" and s.kind() in ("SLASH", "STAR") and s.touches():
        return "a comment begins with `#`"
    if s.kind() == "SLASH" and s.kind(1) in ("SLASH", "STAR"):
        return "a comment begins with `#`"
    return None


def _braces(s: Situation) -> str | None:
    if s.kind() == "LBRACE" and s.kind(-1) == "POWER":
        return "a power of e is written `exp(...)`, for example `exp(-eps/2)`"
    if s.kind() == "LBRACE" and s.accepts & {"THEN", "DO"}:
        return "blocks have no braces: `if ... then ... end`, `while ... do ... end`"
    if s.kind() == "LBRACE" and s.starts_statement():
        return "blocks have no braces: they end with `end`"
    if s.kind() == "RBRACE" and "END" in s.accepts and s.innermost_block():
        return "`if`, `while` and `for` close with `end`"
    return None


def _distribution(s: Situation) -> str | None:
    if s.kind() in DISTRIBUTIONS:
        if s.kind() == "EXP" and not s.starts_statement():
            return "the exponential function is `exp`, in small letters; `Exp` samples, by itself: `x <- Exp(...)`"
        if s.starts_expression():
            return "a sample is drawn by itself, `r <- Lap(eps/2, 0)`; give it a variable and use that here"
    if s.kind() in ARITHMETIC and s.kind(-1) in ("RPAR", "RBRACE") and "SEMICOLON" in s.accepts:
        return "a sample is drawn by itself, `r <- Lap(eps/2, 0)`; calculate with `r` in the next statement"
    return None


def _signature(s: Situation) -> str | None:
    if s.kind(-1) in SIGNATURES:
        return SIGNATURES[s.kind(-1)]
    if not s.opened or s.opened[-1].token.type not in ("LPAR", "LBRACE"):
        return None
    head = s.opened[-1].index - s.at - 1
    if s.kind(head) in SIGNATURES and s.kind() in ("RPAR", "RBRACE", "COMMA", "COLON"):
        return SIGNATURES[s.kind(head)]
    return None


def _product(s: Situation) -> str | None:
    if not (s.continues_expression() and s.touches()):
        return None
    if s.kind() in ("NAME", "EPS", "EPSILON", "LPAR", "NUMBER") and s.kind(-1) in ("NUMBER", "RPAR", "EPS", "EPSILON"):
        return f"a product is written with `*`: `{s.text(-1)}*{s.text()}`"
    if s.kind() == "EPSILON" and s.kind(-1) == "NAME":
        return "`ε` alone is the privacy parameter; it cannot be part of a name"
    return None


def _for_header(s: Situation) -> str | None:
    if s.kind(-2) == "FOR" and s.accepts == {"IN"}:
        return "a loop is written `for i in 1..m do ... end`"
    if "DOTS" in s.accepts:
        if s.innermost_block() and s.innermost_block() == s.opened[-1]:
            return "a loop is written `for i in 1..m do ... end`"
        if s.kind() == "RSQUARE":
            return "an array is declared with both bounds, for example `q[1..m]`"
    return None


def _declaration(s: Situation) -> str | None:
    if s.kind() == "COMMA" and s.accepts >= {"SEMICOLON", "EQUAL"} and not s.continues_expression():
        return "each type has a declaration of its own: `var a : real; var b : bool;`"
    if s.kind() in TYPES and s.kind(1) == "NAME" and (s.starts_statement() or "SEMICOLON" in s.accepts):
        return f"a declaration is written `var {s.text(1)} : {s.text()};`"
    if s.kind() in DECLARATIONS:
        if any(opened.index > 0 and s.tokens[opened.index - 1].type == "IDEAL" for opened in s.opened):
            return "an `ideal` block declares variables of its own with `var`, before its first statement"
        if s.in_body():
            return "declarations come before the first statement"
        if "SEMICOLON" in s.accepts:
            return "every declaration ends with `;`"
    return None


def _interval(s: Situation) -> str | None:
    if s.accepts >= {"NUMBER", "LSQUARE"}:
        return "eps ranges over intervals, for example `(0, inf)` or `[1/2, 3)`"
    if "UNION" in s.accepts:
        return "several intervals are separated by `,` or `∪`"
    return None


def _no_block_to_close(s: Situation) -> str | None:
    if s.kind() in ("END", "ELSE", "THEN", "DO") and s.kind() not in s.accepts and s.innermost_block() is None:
        if s.kind() == "END":
            return "there is no open `if`, `while` or `for` for this `end` to close"
        if s.kind() == "ELSE":
            return "there is no open `if` for this `else`; was it closed by an `end` too many?"
    if s.kind() == "ELSE" and "END" in s.accepts and "ELSE" not in s.accepts:
        return "there is no open `if` for this `else`; each `if` has at most one"
    return None


def _unclosed_block(s: Situation) -> str | None:
    block = s.innermost_block()
    if s.kind() != END_OF_TEXT or block is None or "END" not in s.accepts:
        return None
    if any(opened.rebranched for opened in s.opened):
        return ELSE_IF
    return "every `if`, `while` and `for` closes with `end`"


def _semicolon(s: Situation) -> str | None:
    if s.kind() == "SEMICOLON" and s.kind(-1) == "SEMICOLON":
        return "one `;` is enough"
    if "SEMICOLON" in s.accepts and s.kind() in STATEMENTS | {"NAME"}:
        return "statements are separated by `;`" if s.in_body() else "every declaration ends with `;`"
    return None


def _misspelled(s: Situation) -> str | None:
    if s.kind() == "NAME":
        accepted = {spelling(kind) for kind in s.accepts & KEYWORDS}
        nearest = _nearest(s.text(), accepted)
        if nearest:
            return f"did you mean `{nearest}`?"
    if s.kind(-1) == "NAME" and s.accepts & {"ARROW", "DOTS"} and s.kind() not in ("ARROW", "DOTS"):
        nearest = _nearest(s.text(-1), {spelling(kind) for kind in STATEMENTS | DECLARATIONS | {"END", "ELSE"}})
        if nearest:
            return f"`{s.text(-1)}` is read as a variable here; did you mean `{nearest}`?"
    return None


def _nearest(word: str, keywords: set[str]) -> str | None:
    folded = {keyword.lower(): keyword for keyword in sorted(keywords)}
    swapped = [folded[keyword] for keyword in folded if sorted(keyword) == sorted(word.lower())]
    close = [folded[keyword] for keyword in get_close_matches(word.lower(), folded, 1, 0.7)]
    return next(iter(swapped + close), None)


def _beginning(s: Situation) -> str | None:
    if s.accepts == {"PROGRAM"}:
        return "a program begins with its name, `program sparse;`"
    if s.at == 2 and s.accepts == {"SEMICOLON"}:
        return "the name is one word of letters, digits and `_`, and a `;` ends the line: `program sparse_vector;`"
    return None


def _item(s: Situation) -> str | None:
    if s.start == "lower_bound":
        return 'write the name of a constant, or such as "m >= 3"'
    if s.start != "items":
        return None
    if s.kind(-1) == "COMMA" and "COMMA" in s.accepts:
        return "a list is written in braces, `c = {1, 2}`, the elements of an array in parentheses, `q = (0, 1/2)`"
    return "write for example `q = -1..1`, `q in {0, 1/2, 3}`, `q = (0, 1, 2)` or `x = 3`"


#: In order: the first that has something to say is heard.
RULES: tuple[Callable[[Situation], str | None], ...] = (
    _foreign_word,
    _not_assigned,
    _assignment,
    _arrow,
    _chained_comparison,
    _declared_with,
    _comment,
    _braces,
    _distribution,
    _signature,
    _product,
    _for_header,
    _declaration,
    _interval,
    _no_block_to_close,
    _unclosed_block,
    _misspelled,
    _beginning,
    _semicolon,
    _item,
)
