"""What is found out about a whole program, which may take long: plain values in and out, for a process to do it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import TypeVar

from dipc.algebra.limits import Limits, Undecided
from dipc.program.inputs import FiniteInputs, parse_inputs
from dipc.program.program import load_source
from dipc.text.diagnostic import Diagnostic, DiagnosticError, Source

_R = TypeVar("_R")


class Stopped(Exception):
    """The question was given up, or the process that worked on it is gone."""


def serve(connection: Connection) -> None:
    """Answer until nobody asks any more."""
    while True:
        try:
            function, text = connection.recv()
        except (EOFError, OSError):
            os._exit(0)
        connection.send(function(text))


class Worker:
    """Answers questions about texts, each a function of a module and its one argument."""

    def __init__(self) -> None:
        self._context = get_context("spawn")
        self._process: SpawnProcess | None = None
        self._connection: Connection | None = None
        self._turn = threading.Lock()
        self._ending = threading.Lock()

    def ask(self, function: Callable[[str], _R], text: str) -> _R:
        """The answer; raises Stopped where `stop` came first."""
        with self._turn:
            with self._ending:
                connection = self._started()
            try:
                connection.send((function, text))
                answer: _R = connection.recv()
            except (EOFError, OSError) as gone:
                self.stop()
                raise Stopped from gone
            return answer

    def stop(self) -> None:
        """Give up what is being worked on; the next question has a new process."""
        with self._ending:
            if self._process is not None and self._connection is not None:
                self._process.kill()
                self._process.join()
                self._connection.close()
            self._process = self._connection = None

    @property
    def is_busy(self) -> bool:
        """Whether somebody waits for an answer."""
        return self._turn.locked()

    def _started(self) -> Connection:
        if self._connection is None:
            here, there = self._context.Pipe()
            self._process = self._context.Process(target=serve, args=(there,), daemon=True, name="dipc-lsp-worker")
            self._process.start()
            there.close()
            self._connection = here
        return self._connection


# --- questions about a text ------------------------------------------------------------------------


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
