"""The options that say which question is asked."""

from __future__ import annotations

from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.source import Source, Span


def for_all_of(definitions: tuple[str, ...], option: str | None) -> tuple[tuple[str, ...], str | None]:
    """The definitions without `NAME=all`, and what is left open; DiagnosticError for more than one constant."""
    kept: list[str] = []
    found = [] if option is None else [option]
    for text in definitions:
        name, _, value = text.partition("=")
        if value.strip() == "all":
            found.append(name.strip())
        else:
            kept.append(text)
    names = list(dict.fromkeys(text.partition(">=")[0].strip() for text in found))
    if len(names) > 1:
        source = Source("<-D>", f"{names[1]}=all")
        place = source.excerpt(Span(0, len(names[1])))
        notes = (f"`{names[0]}` is left open already: give the other one a number",)
        raise DiagnosticError(Diagnostic("E1208", "one constant can be left open, not two", place, notes=notes))
    return tuple(kept), found[0] if found else None
