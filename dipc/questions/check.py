"""`check`: a question answered, exactly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Unpack

from dipc.claims.table import TableGiven
from dipc.decide.engine import Engine
from dipc.options import GivenCheck, GivenForAll, GivenRows, Options, takes
from dipc.program.program import Program, Progress, within
from dipc.questions.class_result import ClassResult
from dipc.questions.outcome import Effort, RowResult
from dipc.questions.question import question_of
from dipc.questions.report import Interrupted, Report
from dipc.questions.source import Source, results

#: Rows between two calls of a progress function, and seconds after which it is called anyway.
_PROGRESS_ROWS = 256
_PROGRESS_SECONDS = 0.1


@takes(GivenCheck)
def check(program: Program, table: TableGiven | None = None, **given: Unpack[GivenCheck]) -> Report:
    """Decide for every row of `table`, or for det at every one of `inputs`, whether Pr[output within gamma of the
    answer] >= 1 - beta for every eps in the intervals.

    `table` is the path of a CSV file, a list of dicts, a pair (header, rows), or a DataFrame; without a column dd it
    gets dd(u) from the program's `ideal`. `inputs`, such as "q = -1..1", the path of a CSV file of inputs, a list of
    dicts such as [{"q": (-1, 0, 1)}] or a DataFrame, needs an `ideal`. Numbers are ints, Fractions, Decimals or texts,
    never floats; an array is a sequence under its name, or given element by element. "all" asks about every real and
    int input, and with `for_all`, such as "m" or "m >= 3", about every real input and every value of a constant.
    With neither, a program whose inputs are all finite is checked at all of them.
    beta, alpha and gamma are expressions as text, or exact numbers; eps is intervals as text, or a number. None leaves
    them to the table's columns and the program's claim block; gamma "free" asks about every gamma.

    With `classes` the rows of the report are classes of inputs with the same obligation, each with its `count`; None
    does so where there are thousands of inputs. With `digits` the ends of failing intervals are given to so many
    significant digits, and the worst eps of each interval too. With `keep_proofs` the report has the `evidence` that
    certificates are written from.

    `jobs` processes share the work, as many as there are processors for 0 or "auto"; or the workers of the Dask
    scheduler at the address `dask` do. What is decided is kept in the file `cache`, and what is there is not decided
    again. None of them changes the report, but for its `effort`.

    The report has a verdict, and is neither true nor false: `dipc.check(...).require()` fails in a test unless it is
    accurate.

    Raises DiagnosticError for a bad table or claim, before anything is decided, and for a cache or a cluster that
    cannot be used; Interrupted, with the rows done so far, on Ctrl-C. A row that goes past a limit is undecided, the
    others are decided all the same.
    """
    begun = perf_counter()
    options = Options(**given)
    program = within(program, options.limits)
    with ExitStack() as stack:
        engine = options.engine(stack, program)
        try:
            source = question_of(program, table, replace(options, as_given=options.keep_proofs, progress=None))
        except KeyboardInterrupt:
            effort = Effort(seconds=perf_counter() - begun)
            raise Interrupted(Report(program.name, (), "", interrupted=True, effort=effort), 0, None) from None
        table_seconds = perf_counter() - begun
        report = answer(source, engine, options.progress)
    effort = replace(report.effort, seconds=perf_counter() - begun, table_seconds=table_seconds)
    return replace(report, effort=effort)


def answer(source: Source, engine: Engine, progress: Progress | None = None) -> Report:
    """The report on a question. Raises Interrupted, with the rows done so far, on Ctrl-C."""
    begun = perf_counter()
    rows, steps = source.begin(engine)
    total = source.total
    due = begun + _PROGRESS_SECONDS
    try:
        for _ in steps:
            if progress is not None and (len(rows) % _PROGRESS_ROWS == 0 or perf_counter() > due):
                progress(len(rows), total)
                due = perf_counter() + _PROGRESS_SECONDS
        if progress is not None:
            progress(len(rows), total)
    except KeyboardInterrupt:
        report = _timed(source.report(rows, engine, interrupted=True), begun)
        raise Interrupted(report, len(rows), total) from None
    return _timed(source.report(rows, engine), begun)


def _timed(report: Report, begun: float) -> Report:
    return replace(report, effort=replace(report.effort, seconds=perf_counter() - begun))


@takes(GivenRows)
def iter_rows(program: Program, table: TableGiven | None = None, **given: Unpack[GivenRows]) -> Iterator[RowResult]:
    """The rows of `check` one by one, as they are decided; the table and the claim are checked first, as a whole."""
    options = Options(**given, classes=False)
    program = within(program, options.limits)
    source = question_of(program, table, options)
    return results(source.cases(), Engine(program.measurer, program.limits))


@dataclass(frozen=True, slots=True)
class ForAll:
    """The outcome: `report` has a row for each small number (or its classes that fail) and one for all from `start` on.
    `least` is the least number of queries that the claim is about."""

    report: Report
    least: int
    start: int


@takes(GivenForAll)
def check_for_all(
    program: Program, parameter: str, *, least: int | None = None, **given: Unpack[GivenForAll]
) -> ForAll:
    """Decide the claim for every real input and every integer value of the constant `parameter`, from the first index
    of its loop on, or from `least` on where that is greater; the other options are those of `check`.

    ACCURATE is proved: exactly for small numbers, by a union bound over single comparisons for the others. INACCURATE
    has a number and an input. Raises DiagnosticError for what cannot be read, and for an unknown constant.
    """
    for_all = parameter if least is None else f"{parameter} >= {least}"
    report = check(program, inputs="all", for_all=for_all, **given)
    last = report.rows[-1]
    assert isinstance(last, ClassResult)
    assert last.note is not None
    assert last.note.numbers is not None, "the last row is about all numbers from some one on"
    return ForAll(report, *last.note.numbers)
