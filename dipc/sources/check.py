"""`check`: every row of a table, decided exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter

from dipc.claim.claim import resolve_claim
from dipc.claim.conditions import theorem_of
from dipc.claim.intervals import intervals_text
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.exits.probability import Limits
from dipc.exits.program import Program, within
from dipc.obligations.decide import Decider
from dipc.sources.decided_rows import DecidedRows
from dipc.sources.free_gamma import check_free, is_free
from dipc.sources.outcome import Effort, Interrupted, Report, RowResult
from dipc.sources.run import Crew, Run
from dipc.tables.table import read_table

#: Called with the number of rows done and of all rows (None where that is not known).
Progress = Callable[[int, int | None], None]

#: Rows between two calls of a progress function, and seconds after which it is called anyway.
_PROGRESS_ROWS = 256
_PROGRESS_SECONDS = 0.1


def check(
    program: Program,
    table: object,
    *,
    beta: object = None,
    alpha: object = None,
    gamma: object = None,
    eps: object = None,
    progress: Progress | None = None,
    limits: Limits | None = None,
    keep_proofs: bool = False,
    digits: int | None = None,
    crew: Crew | None = None,
) -> Report:
    """Decide for every row whether Pr[output within gamma of the table's] >= 1 - beta for every eps in the intervals.

    `table` is the path of a CSV file, a list of dicts, or a pair (header, rows). beta, alpha and gamma are expressions
    as text, or exact numbers; eps is an interval as text. None leaves them to the table's columns and the program's
    claim block; gamma "free" asks about every gamma (see `free_gamma`). With `digits` the ends of failing intervals are
    given to so many significant digits, and the worst eps of each interval too. With `keep_proofs` the report has the
    `evidence` that certificates are written from.
    `crew` decides the rows in another way than one after the other; nothing else may depend on it.

    Raises DiagnosticError for a bad table or claim, before anything is decided; Interrupted, with the rows done so
    far, on Ctrl-C. A row that goes past a limit is undecided, the others are decided all the same.
    """
    if is_free(program, gamma):
        if keep_proofs:
            raise DiagnosticError(_no_certificate())
        program = program if limits is None else program.with_limits(limits)
        rows_read = read_table(table, program.core)
        return check_free(program, rows_read, beta=beta, alpha=alpha, eps=eps, digits=digits, progress=progress)
    begun = perf_counter()
    rows: DecidedRows | tuple[RowResult, ...] = ()
    run: Run | None = None
    try:
        run = _prepare(program, table, beta, alpha, gamma, eps, limits, keep_proofs=keep_proofs, digits=digits)
        run.table_seconds = perf_counter() - begun
        total = len(run.table.rows)
        due = perf_counter() + _PROGRESS_SECONDS
        rows = DecidedRows(run.table.rows, run.names)
        for outcome in run.outcomes() if crew is None else crew(run):
            rows.append(outcome)
            if progress is not None and (len(rows) % _PROGRESS_ROWS == 0 or perf_counter() > due):
                progress(len(rows), total)
                due = perf_counter() + _PROGRESS_SECONDS
        if progress is not None:
            progress(total, total)
    except KeyboardInterrupt:
        intervals = "" if run is None else intervals_text(run.claim.intervals)
        effort = Effort() if run is None else run.effort(perf_counter() - begun)
        report = Report(program.name, rows, intervals, interrupted=True, effort=effort)
        raise Interrupted(report, len(rows), None if run is None else len(run.table.rows)) from None
    return Report(
        program.name,
        rows,
        intervals_text(run.claim.intervals),
        effort=run.effort(perf_counter() - begun),
        evidence=run.evidence(rows) if keep_proofs else None,
        theorem=theorem_of(run.claim),
    )


def iter_rows(
    program: Program,
    table: object,
    *,
    beta: object = None,
    alpha: object = None,
    gamma: object = None,
    eps: object = None,
    limits: Limits | None = None,
) -> Iterator[RowResult]:
    """The rows of `check` one by one, as they are decided; the table and the claim are checked first, as a whole."""
    if is_free(program, gamma):
        return iter(check(program, table, beta=beta, alpha=alpha, gamma=gamma, eps=eps, limits=limits).rows)
    run = _prepare(program, table, beta, alpha, gamma, eps, limits)
    return (run.names.result(row, outcome) for row, outcome in zip(run.table.rows, run.outcomes(), strict=True))


def _prepare(
    program: Program,
    table: object,
    beta: object,
    alpha: object,
    gamma: object,
    eps: object,
    limits: Limits | None,
    *,
    keep_proofs: bool = False,
    digits: int | None = None,
) -> Run:
    program = within(program, limits)
    rows = read_table(table, program.core)
    claim = resolve_claim(program.core, rows, beta=beta, alpha=alpha, gamma=gamma, eps=eps)
    decider = Decider(claim.intervals, program.limits.sign, keep_proofs=keep_proofs, digits=digits)
    return Run(program, rows, claim, program.probabilities(), decider, digits, keep_proofs)


def _no_certificate() -> Diagnostic:
    notes = ("give gamma a number: a certificate is about the single obligation of each row",)
    return Diagnostic("E1254", "there are no certificates for claims with gamma free", notes=notes)
