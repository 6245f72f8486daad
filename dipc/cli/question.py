"""The options that say which question is asked."""

from __future__ import annotations

from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.source import Source


def for_all_of(definitions: tuple[str, ...], option: str | None) -> tuple[tuple[str, ...], str | None]:
    """The definitions without `NAME=all`, and what is left open; DiagnosticError for more than one constant."""
    from dipc.lang.ast import Name
    from dipc.lang.parser import parse_items, parse_lower_bound

    kept: list[str] = []
    found: dict[str, str] = {}
    if option is not None:
        found[parse_lower_bound(Source("<--for-all>", option)).name] = option
    for text in definitions:
        if "all" not in text:
            kept.append(text)
            continue
        source = Source("<-D>", text)
        for item in parse_items(source):
            name = item.target.name
            if not (isinstance(item.values, Name) and item.values.name == "all"):
                kept.append(text[item.span.start : item.span.end])
            elif not found or name in found:
                found.setdefault(name, name)
            else:
                notes = (f"`{next(iter(found))}` is left open already: give the other one a number",)
                message = "one constant can be left open, not two"
                raise DiagnosticError(Diagnostic("E1208", message, source.excerpt(item.target.span), notes=notes))
    return tuple(kept), next(iter(found.values()), None)
