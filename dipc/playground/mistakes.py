"""What is wrong with a program, at its places in the text: asked while it is typed."""

from __future__ import annotations

import json
from collections.abc import Sequence

from dipc.cli.options import parse_definitions
from dipc.program.program import load_source
from dipc.text.diagnostic import Diagnostic, DiagnosticError, Excerpt, Source

_NAME = "<program>"


def mistakes(text: str, definitions: Sequence[str] = (), eps: str | None = None) -> str:
    """JSON: a list of {"from", "to", "code", "message", "notes"}, offsets as JavaScript counts them. What is wrong with
    `definitions` or `eps` alone is no mistake of the program, and left out."""
    diagnostics: Sequence[Diagnostic] = ()
    try:
        load_source(Source(_NAME, text), parse_definitions(definitions), eps)
    except DiagnosticError as error:
        diagnostics = error.diagnostics
    lines = text.split("\n")
    return json.dumps([_placed(each, lines) for each in diagnostics if _is_here(each)], ensure_ascii=False)


def _is_here(diagnostic: Diagnostic) -> bool:
    return diagnostic.excerpt is not None and diagnostic.excerpt.file == _NAME


def _placed(diagnostic: Diagnostic, lines: Sequence[str]) -> dict[str, object]:
    assert diagnostic.excerpt is not None
    start, end = _offsets(diagnostic.excerpt, lines)
    # Beneath the caret often stands a part of the message.
    message = (
        diagnostic.message if diagnostic.label in diagnostic.message else f"{diagnostic.message}: {diagnostic.label}"
    )
    return {"from": start, "to": end, "code": diagnostic.code, "message": message, "notes": diagnostic.notes}


def _offsets(excerpt: Excerpt, lines: Sequence[str]) -> tuple[int, int]:
    """Where the excerpt begins and ends; never beyond the line."""
    line = lines[excerpt.line - 1]
    before = sum(_units(each) + 1 for each in lines[: excerpt.line - 1])
    column = min(excerpt.column - 1, len(line))
    return before + _units(line[:column]), before + _units(line[: column + excerpt.length])


def _units(text: str) -> int:
    """The length in UTF-16, which JavaScript counts."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
