"""Runs with exact noise, which need no library for simulation."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from dipc.algebra.numbers import decimal
from dipc.algebra.record import CONVERSIONS, json_object
from dipc.execution import Runs
from dipc.outcome.outcome import ExitStatus, Grid, Line, Outcome, ReportBlock, section
from dipc.outcome.words import count, place_of_runs, rational
from dipc.text.core import Value, show_value
from dipc.text.diagnostic import Diagnostic

RUN_SCHEMA = "dipc.run/1"

#: The most runs that a text shows.
_MOST_RUNS = 40


def runs(runs: Runs, samples: Path | None = None) -> Outcome:
    """Return the outcome of the `runs` of a program with exact noise.

    `samples` is the path of the file to which the outputs of all runs were written; None if there is no such file.
    """
    return Outcome(
        program=runs.program.name,
        line=runs_line(runs),
        heading=f"{runs.program.name}: {count(len(runs), 'run')} with exact noise",
        standing=ExitStatus.HOLDS,
        parts=lambda: _runs_parts(runs, samples),
        record=lambda: {
            "schema": RUN_SCHEMA,
            **json_object(runs, "program=program.name constants=program.constants input:text eps grid seed"),
            "runs": [{"output": CONVERSIONS["text"](each)} for each in runs],
            "random_bits": runs.random_bits,
        },
        warnings=() if runs.seed is None else (_SEEDED,),
        result=runs,
    )


_SEEDED = Diagnostic(
    "W1701",
    "with `--seed` the noise is predictable and protects nothing",
    notes=("use a seed for tests only: leave it out where the inputs are real data",),
)


def runs_line(runs: Runs) -> str:
    """Return in one sentence how much randomness the `runs` used."""
    source = "the operating system" if runs.seed is None else f"the seed {runs.seed}"
    each = f", {runs.random_bits / len(runs):.1f} per run" if len(runs) > 1 else ""
    return f"{count(runs.random_bits, 'random bit')} from {source}{each}"


def _runs_parts(runs: Runs, samples: Path | None) -> Iterator[ReportBlock]:
    grid = None if runs.grid is None else f"{rational(runs.grid)}: real outputs are rounded down to its multiples"
    yield section(None, *place_of_runs(runs.program.constants, runs.input, runs.eps), ("grid", grid))
    rows = [
        (None, tuple("" if value is None else _number(value, runs.grid) for value in each))
        for each in runs.answers[:_MOST_RUNS]
    ]
    yield [Grid(runs.program.outputs, tuple(rows))]
    if len(runs) > len(rows):
        yield Line(f"and {count(len(runs) - len(rows), 'more run')}, see --samples or --format json", indent=2)
    yield [Line(runs_line(runs))]
    if samples is not None:
        yield Line(f"written to {samples}, for `dipc conform --samples {samples}`")


#: The most decimals of the values that are written as decimals.
_MOST_DECIMALS = 9


def _number(value: Value, grid: Fraction | None) -> str:
    if grid is not None and isinstance(value, Fraction) and 10**_MOST_DECIMALS % grid.denominator == 0:
        return decimal(value)
    return show_value(value)
