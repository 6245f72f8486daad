"""`--limit NAME=N`: when to give up on a row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.names import nearest
from dipc.diagnostics.source import Source, Span

if TYPE_CHECKING:
    from dipc.exits.probability import Limits

#: The limits that can be set, with what each bounds.
NAMES = {
    "states": "states of the Markov chain",
    "values": "values that its states hold together",
    "terms": "terms of one closed form",
    "steps": "elementary steps that its expansion takes",
    "trees": "orderings that one event is split into",
    "cells": "cells that the constraints of one event are split into",
    "classes": "residue classes that one event over integers is split into",
    "intervals": "subdivisions of the interval of eps",
    "bits": "bits of the numbers that decide a sign",
    "degree": "degree of a polynomial that is split into square-free parts",
    "power": "power of eps in a function whose sign is decided",
    "rows": "inputs that are enumerated for one table",
}


def parse_limits(texts: Iterable[str]) -> Limits:
    """The default limits with those given in their place. Raises DiagnosticError for unknown names and bad numbers."""
    from dipc.exits.probability import Limits

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
            limits = _changed(limits, name, int(value))
    if mistakes:
        raise DiagnosticError(*mistakes)
    return limits


def _mistake(text: str, message: str, *notes: str) -> Diagnostic:
    return Diagnostic("E0809", message, Source("<--limit>", text).excerpt(Span(0, len(text))), notes=notes)


def _changed(limits: Limits, name: str, n: int) -> Limits:
    """The limits with one of NAMES set to n."""
    explore, measure, sign = limits.explore, limits.measure, limits.sign
    polyhedral, lattice = measure.general.polyhedral, measure.general.lattice
    match name:
        case "states":
            explore = replace(explore, states=n)
        case "values":
            explore = replace(explore, cells=n)
        case "terms":
            measure = replace(measure, terms=replace(measure.terms, terms=n))
            polyhedral, lattice = replace(polyhedral, terms=n), replace(lattice, terms=n)
        case "steps":
            measure = replace(measure, terms=replace(measure.terms, steps=n))
        case "trees":
            measure = replace(measure, trees=n)
        case "cells":
            polyhedral, lattice = replace(polyhedral, questions=n), replace(lattice, questions=n)
        case "classes":
            lattice = replace(lattice, classes=n)
        case "intervals":
            sign = replace(sign, max_intervals=n)
        case "bits":
            sign = replace(sign, max_precision_bits=n)
        case "degree":
            sign = replace(sign, max_degree=n)
        case "power":
            sign = replace(sign, max_power=n)
        case "rows":
            limits = replace(limits, rows=n)
        case _:
            raise AssertionError(name)
    general = replace(measure.general, polyhedral=polyhedral, lattice=lattice)
    return replace(limits, explore=explore, measure=replace(measure, general=general), sign=sign)
