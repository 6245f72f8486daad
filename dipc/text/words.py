"""The words of the language, read from its grammar."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from dipc.frozen import frozen
from dipc.text.parser import FUNCTIONS, grammar_text
from dipc.text.syntax_errors import DISTRIBUTIONS

#: The kinds of words, by the names of their terminals; every other word is a keyword.
_TYPES = {"BOOL", "INT", "REAL"}
_CONSTANTS = {"EPS", "TRUE", "FALSE", "EPSILON"}
_OPERATORS = {"AND", "OR", "NOT"}

#: Words that the grammar reads as names, and that have a special meaning in some places.
_PLACED = ("metric", "inputs", "requires")

_TERMINAL = re.compile(r'^([A-Z]+)(?:\.\d+)?: ((?:"[^"]+"(?: \| )?)+|/.*/)$', re.MULTILINE)


@frozen
class Words:
    """The words of the language by kind, each kind with the longest words first.

    `signs` are operators and punctuation that are not words, such as `<-`. `name` and `number` are the regular
    expressions of names and numbers in the grammar.
    """

    keywords: tuple[str, ...]
    types: tuple[str, ...]
    distributions: tuple[str, ...]
    constants: tuple[str, ...]
    operators: tuple[str, ...]
    functions: tuple[str, ...]
    signs: tuple[str, ...]
    name: str
    number: str


@cache
def words() -> Words:
    """The words of the installed grammar."""
    groups: dict[str, list[str]] = {group: [] for group in ("keywords", "types", "distributions", "constants")}
    operators: list[str] = []
    signs: list[str] = []
    patterns: dict[str, str] = {}
    for name, body in _TERMINAL.findall(grammar_text()):
        if body.startswith("/"):
            patterns[name] = body[1:-1]
            continue
        for text in re.findall(r'"([^"]+)"', body):
            if name in _OPERATORS:
                operators.append(text)
            elif not text[0].isalpha():
                signs.append(text)
            else:
                kinds = (("types", _TYPES), ("distributions", DISTRIBUTIONS), ("constants", _CONSTANTS))
                groups[next((kind for kind, names in kinds if name in names), "keywords")].append(text)
    return Words(
        keywords=(*groups["keywords"], *_PLACED),
        types=tuple(groups["types"]),
        distributions=tuple(groups["distributions"]),
        constants=tuple(groups["constants"]),
        operators=tuple(operators),
        functions=tuple(FUNCTIONS),
        signs=tuple(sorted(signs, key=len, reverse=True)),
        name=patterns["NAME"],
        number=patterns["NUMBER"],
    )


def tokens(text: str) -> Iterator[tuple[str, str]]:
    """Yield the pieces of the program `text` in order, as pairs (kind, piece), for syntax highlighting.

    The pieces are words, numbers, comments and the characters between them; together they make up the whole text. The
    kinds are "comment", "keyword", "type", "noise", "number", and "" for pieces that are not highlighted.
    """
    kinds = {
        **dict.fromkeys((*words().keywords, *words().operators), "keyword"),
        **dict.fromkeys(words().types, "type"),
        **dict.fromkeys((*words().distributions, *words().functions), "noise"),
        **dict.fromkeys(words().constants, "number"),
    }
    for match in _tokens().finditer(text):
        piece = match.group()
        yield match.lastgroup or kinds.get(piece, ""), piece


@cache
def _tokens() -> re.Pattern[str]:
    known = words()
    return re.compile(rf"(?P<comment>#[^\n]*)|(?P<number>{known.number})|(?:{known.name})|[^\S]+|.", re.DOTALL)
