"""Characters that begin no token."""

from __future__ import annotations

import re
import unicodedata

from dipc.diagnostics.source import Span
from dipc.lang.problem import Problem, SyntaxCode

#: What to write instead of a character that looks or means like something of the language.
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


def stray_character(text: str, at: int) -> Problem:
    """Why the character at `at` begins no token, and what may have been meant."""
    character = text[at]
    width = 2 if text[at : at + 2] in ("&&", "||") else 1
    return Problem(
        SyntaxCode.STRAY_CHARACTER,
        Span(at, at + width),
        f"{_described(text[at : at + width])} is not part of the language",
        "cannot be read",
        (_mend(text, at, character),),
    )


def _described(characters: str) -> str:
    if characters.isascii() and characters.isprintable():
        return f"`{characters}`"
    return _named(characters)


def _named(character: str) -> str:
    fallback = "CONTROL CHARACTER" if unicodedata.category(character) == "Cc" else "UNASSIGNED CHARACTER"
    return f"U+{ord(character):04X} {unicodedata.name(character, fallback)}"


def _mend(text: str, at: int, character: str) -> str:
    if character == "\0":
        return "a program is plain text; this looks like a binary file or one in the encoding UTF-16"
    if character in QUOTES:
        return "nothing is quoted: names and domain values are written bare, and names have no primes"
    if character == ".":
        return _point(text, at)
    if character == "#":
        return "there are no comments here"
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


def _point(text: str, at: int) -> str:
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if before == ".":
        return "a range is written with two points, `1..m`"
    if after.isdigit():
        return "write a digit before the point, for example `0.5`"
    if before.isdigit():
        return "write a digit behind the point, for example `1.0`, or two points for a range, `1..m`"
    return "a range is written with two points, `1..m`"
