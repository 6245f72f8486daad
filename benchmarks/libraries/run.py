"""Runs the mechanisms of real libraries, each in a process of its own, and compares what they draw."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection

import dipc
from benchmarks.libraries.mechanisms import MECHANISMS, Mechanism
from dipc.outcome.words import assignment_text
from dipc.simulation.compare import Agreement

#: Seconds that one mechanism may take to draw.
_PATIENCE = 300


@dataclass(frozen=True, slots=True)
class Compared:
    """The comparison of a mechanism with its program.

    `verdict` is "conforms", "deviates" or "undecided", or the way in which the process ended. `worst` is the cell that
    deviates most, with its exact probability.
    """

    mechanism: Mechanism
    verdict: str
    worst: str = ""

    @property
    def as_expected(self) -> bool:
        """Whether it is what the table says that it is."""
        match self.mechanism.conforms:
            case None:
                return self.verdict.startswith("ended by")
            case True:
                return self.verdict == "conforms"
            case False:
                return self.verdict == "deviates"


def compare_all(mechanisms: Iterable[Mechanism] = MECHANISMS) -> Iterator[Compared]:
    """Compare each of `mechanisms`, one after the other; yield each comparison as soon as it is known."""
    return (compared(mechanism, _drawn(mechanism)) for mechanism in mechanisms)


def compared(mechanism: Mechanism, drawn: Sequence[dict[str, object]] | str) -> Compared:
    """Compare the samples `drawn` with the exact distribution of the program of `mechanism`.

    A text in place of samples is the reason why there are none, and becomes the verdict.
    """
    if isinstance(drawn, str):
        return Compared(mechanism, drawn)
    program = dipc.load(mechanism.path)
    report = dipc.conform(program, mechanism.input, mechanism.eps, samples=drawn)
    words = {Agreement.MATCH: "conforms", Agreement.MISMATCH: "deviates", Agreement.UNDECIDED: "undecided"}
    worst = report.worst
    if worst is None:
        return Compared(mechanism, words[report.agreement])
    at = worst.enclosure
    exact = "" if at is None else f", exactly {float((at[0] + at[1]) / 2):.10f}"
    cell = assignment_text(worst.output)
    return Compared(mechanism, words[report.agreement], f"{cell}: {worst.count} of {worst.runs}{exact}")


def _drawn(mechanism: Mechanism) -> list[dict[str, object]] | str:
    context = get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_draw, args=(MECHANISMS.index(mechanism), there), daemon=True)
    process.start()
    there.close()
    try:
        if not here.poll(_PATIENCE):
            process.kill()
            return f"ended after {_PATIENCE} s"
        found: list[dict[str, object]] | str = here.recv()
        return found
    except EOFError:
        process.join()
        code = process.exitcode or 0
        return f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
    finally:
        process.join(1)
        here.close()


def _draw(number: int, connection: Connection) -> None:
    try:
        found: list[dict[str, object]] | str = list(MECHANISMS[number].drawn())
    except ImportError as missing:
        found = f"not installed: {missing.name}"
    except Exception as error:  # what a library raises is what there is to tell
        found = f"raises {type(error).__name__}: {str(error).splitlines()[0][:80]}"
    connection.send(found)
