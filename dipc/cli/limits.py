"""`--limit NAME=N`: when to give up on a row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dipc.algebra.limits import LIMIT_NAMES, Limits
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.names import nearest
from dipc.diagnostics.source import Source, Span


def parse_limits(texts: Iterable[str]) -> Limits:
    """The default limits with those given in their place. Raises DiagnosticError for unknown names and bad numbers."""
    from dipc.algebra.limits import Limits

    limits = Limits()
    mistakes = []
    for text in texts:
        name, _, value = (part.strip() for part in text.partition("="))
        if name not in LIMIT_NAMES:
            close = nearest(name, LIMIT_NAMES)
            notes = [f"did you mean `{close}`?"] if close else []
            notes.append("; ".join(f"{known}: {meaning}" for known, meaning in LIMIT_NAMES.items()))
            mistakes.append(_mistake(text, f"there is no limit `{name}`", *notes))
        elif not (value.isascii() and value.isdigit() and len(value) <= 18 and int(value) > 0):
            mistakes.append(
                _mistake(text, f"the limit `{name}` is a natural number", f"write for example {name}=100000")
            )
        else:
            limits = replace(limits, **{name: int(value)})
    if mistakes:
        raise DiagnosticError(*mistakes)
    return limits


def _mistake(text: str, message: str, *notes: str) -> Diagnostic:
    return Diagnostic("E0809", message, Source("<--limit>", text).excerpt(Span(0, len(text))), notes=notes)
