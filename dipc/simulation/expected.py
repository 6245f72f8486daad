"""The exact probabilities that a simulation is compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.limits import Undecided
from dipc.diagnostics.diagnostic import DiagnosticError
from dipc.exits.program import Outcome, Program
from dipc.lang.core import Value
from dipc.simulation.runs import Event

#: Diagnostics with these codes say that the exact engine does not go so far, not that the program is wrong.
_NOT_EXECUTED = "E04"


@dataclass(frozen=True, slots=True)
class NoProbability:
    """A probability that the exact engine does not have; the reason is a sentence without a full stop."""

    reason: str


@dataclass(frozen=True, slots=True)
class Expected:
    """For every eps: the probabilities of all values of the finite outputs that can occur, if nothing else was asked
    for, or those of the events, in their order."""

    outcomes: tuple[Outcome, ...] | NoProbability
    events: tuple[ClosedForm | NoProbability, ...] = ()


def expect(
    program: Program,
    input: Mapping[str, Value],  # noqa: A002 - the word of the language
    events: Sequence[Event] = (),
    gamma: Fraction = Fraction(0),
) -> Expected:
    """The exact probabilities at `input`.

    Raises DiagnosticError for what is wrong with the program.
    """
    if events:
        return Expected(
            NoProbability("only events were asked for"), tuple(_event(program, input, e, gamma) for e in events)
        )
    try:
        return Expected(program.outcomes(input))
    except (Undecided, DiagnosticError) as error:
        return Expected(why_unknown(error))


def nothing(unknown: NoProbability, events: Sequence[Event] = ()) -> Expected:
    """No exact probability at all."""
    return Expected(unknown, tuple(unknown for _ in events))


def why_unknown(error: Undecided | DiagnosticError) -> NoProbability:
    """Why the exact engine has no answer; raises `error` again if something is wrong with the program instead."""
    if isinstance(error, Undecided):
        return NoProbability(error.reason)
    if not all(diagnostic.code.startswith(_NOT_EXECUTED) for diagnostic in error.diagnostics):
        raise error
    return NoProbability("; ".join(dict.fromkeys(diagnostic.message for diagnostic in error.diagnostics)))


def _event(program: Program, input: Mapping[str, Value], event: Event, gamma: Fraction) -> ClosedForm | NoProbability:  # noqa: A002 - as above
    try:
        return program.probability(input, event, gamma)
    except (Undecided, DiagnosticError) as error:
        return why_unknown(error)
