"""What is found out about a whole program, which may take long: plain values in and out, for a process to do it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.source import Source

_NAME = "program"

#: Of more answers than these the others are counted.
_MOST_ANSWERS = 8


@dataclass(frozen=True, slots=True)
class Mistake:
    """Where it is, from 0 and in characters, and what it is: the message, and how to mend it."""

    line: int
    start: int
    end: int
    code: str
    message: str
    is_warning: bool


def mistakes(text: str) -> Sequence[Mistake]:
    """What is wrong with a program, as `dipc check` says it."""
    from dipc.exits.load import load_source

    try:
        load_source(Source(_NAME, text), {}, None)
    except DiagnosticError as error:
        return [_mistake(found) for found in error.diagnostics]
    return []


def _mistake(found: Diagnostic) -> Mistake:
    message = "\n".join([_sentence(found), *found.notes])
    place = found.excerpt
    if place is None:
        return Mistake(0, 0, 0, found.code, message, found.is_warning)
    start = min(place.column - 1, len(place.text))
    end = min(start + place.length, len(place.text))
    return Mistake(place.line - 1, start, end, found.code, message, found.is_warning)


def _sentence(found: Diagnostic) -> str:
    # Beneath the caret often stands a part of the message.
    return found.message if found.label in found.message else f"{found.message}: {found.label}"


def probabilities(text: str) -> str | None:
    """The probability of each answer, in closed form, at the one input that the claim is about; None where there is not
    one, or no output is finite."""
    from dipc.algebra.limits import Limits, Undecided
    from dipc.exits.load import load_source
    from dipc.ideal.inputs import FiniteInputs, parse_inputs

    try:
        program = load_source(Source(_NAME, text), {}, None).with_limits(Limits(steps=10**8, states=10_000))
        found = parse_inputs(program.core.claimed_inputs or "", program) if program.inputs else None
        if found is not None and not (isinstance(found, FiniteInputs) and found.count == 1):
            return None
        values = next(iter(found)) if found is not None else ()
        outcomes = program.outcomes(dict(zip(program.inputs, values, strict=True)))
    except (DiagnosticError, Undecided):
        return None
    if not any(value is not None for outcome in outcomes for value in outcome.output.values()):
        return None
    lines = [f"{_answer(outcome.output)}: {outcome.probability}" for outcome in outcomes]
    more = len(lines) - _MOST_ANSWERS
    return "\n".join([*lines[:_MOST_ANSWERS], *([f"and {more} more"] if more > 0 else [])])


def _answer(output: Mapping[str, str | None]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in output.items() if value is not None)
