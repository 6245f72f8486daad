"""`q = -1..1, x in {0, 1/2}`: the text of a specification of inputs, cut into its items."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dipc.diagnostics.diagnostic import Diagnostic
from dipc.diagnostics.source import Source, Span

_ITEM = re.compile(r"(?P<name>[^={},;\s]+(?:\s*\[[^\]]*\])?)\s*(?:=|(?<!\w)in(?!\w)|∈)(?P<values>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Item:
    """One `name = values` or `name in values`; the name is without blanks, `values` is a part of the text."""

    name: str
    name_span: Span
    values: Span


def items(source: Source, mistakes: list[Diagnostic]) -> Iterator[Item]:
    """The items of a text, separated by commas and semicolons outside braces; mistakes are added to the list."""
    for start, end in _pieces(source.text):
        piece = source.text[start:end]
        if not piece.strip():
            continue
        lead = start + len(piece) - len(piece.lstrip())
        match = _ITEM.fullmatch(source.text, lead, end)
        if match is None or not match["values"].strip():
            where = Span(lead, start + len(piece.rstrip()))
            note = "write for example `q = -1..1`, `q in {0, 1/2, 3}` or `x = 3`"
            mistakes.append(
                Diagnostic("E1110", "this says nothing about an input", source.excerpt(where), notes=(note,))
            )
            continue
        name = "".join(match["name"].split())
        yield Item(name, Span(*match.span("name")), inner(source.text, *match.span("values")))


def inner(text: str, start: int, end: int) -> Span:
    """The span of text[start:end] without surrounding blanks."""
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return Span(start, end)


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    depth = start = 0
    for at, character in enumerate(text):
        if character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
        elif character in ",;\n" and depth <= 0:
            yield start, at
            start = at + 1
    yield start, len(text)
