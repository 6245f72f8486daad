"""`--limit NAME=N`: when to give up on a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from dipc.accuracy.names import nearest
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.source import Source, Span

if TYPE_CHECKING:
    from dipc.accuracy.probability import Limits

#: The limits that can be set, with what each bounds.
NAMES = {
    "states": "states of the Markov chain",
    "terms": "terms of one closed form",
    "trees": "orderings that one event is split into",
    "intervals": "subdivisions of the interval of eps",
    "bits": "bits of the numbers that decide a sign",
}


def parse_limits(texts: Iterable[str]) -> Limits:
    """The default limits with those given in their place. Raises DiagnosticError for unknown names and bad numbers."""
    from dipc.accuracy.probability import Limits

    limits = Limits()
    mistakes = []
    for text in texts:
        name, _, value = (part.strip() for part in text.partition("="))
        if name not in NAMES:
            close = nearest(name, NAMES)
            notes = [f"did you mean `{close}`?"] if close else []
            notes.append("; ".join(f"{known}: {meaning}" for known, meaning in NAMES.items()))
            mistakes.append(_mistake(text, f"there is no limit `{name}`", *notes))
        elif not (value.isascii() and value.isdigit() and len(value) <= 18 and int(value) > 0):
            mistakes.append(
                _mistake(text, f"the limit `{name}` is a natural number", f"write for example {name}=100000")
            )
        else:
            limits = _SETTERS[name](limits, int(value))
    if mistakes:
        raise DiagnosticError(*mistakes)
    return limits


def _mistake(text: str, message: str, *notes: str) -> Diagnostic:
    return Diagnostic("E0809", message, Source("<--limit>", text).excerpt(Span(0, len(text))), notes=notes)


_SETTERS: dict[str, Callable[[Limits, int], Limits]] = {
    "states": lambda limits, n: replace(limits, explore=replace(limits.explore, states=n)),
    "terms": lambda limits, n: replace(
        limits, measure=replace(limits.measure, terms=replace(limits.measure.terms, terms=n))
    ),
    "trees": lambda limits, n: replace(limits, measure=replace(limits.measure, trees=n)),
    "intervals": lambda limits, n: replace(limits, sign=replace(limits.sign, max_intervals=n)),
    "bits": lambda limits, n: replace(limits, sign=replace(limits.sign, max_precision_bits=n)),
}
