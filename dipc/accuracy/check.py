"""`check`: every row of a table, decided exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import perf_counter

from dipc.accuracy.claim import Claim, resolve_claim
from dipc.accuracy.closed_form import ClosedForm
from dipc.accuracy.decide import ACCURATE, Decider, Settled
from dipc.accuracy.intervals import intervals_text
from dipc.accuracy.outcome import Effort, Interrupted, Report, RowResult, Verdict
from dipc.accuracy.probability import Limits, Probabilities
from dipc.accuracy.program import Program
from dipc.accuracy.table import Row, Table, read_table
from dipc.exact.limits import Undecided

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
) -> Report:
    """Decide for every row whether Pr[output within gamma of the table's] >= 1 - beta for every eps in the intervals.

    `table` is the path of a CSV file, a list of dicts, or a pair (header, rows). beta, alpha and gamma are expressions
    as text, or exact numbers; eps is an interval as text. None leaves them to the table's columns and the program's
    claim block.

    Raises DiagnosticError for a bad table or claim, before anything is decided; Interrupted, with the rows done so
    far, on Ctrl-C. A row that goes past a limit is undecided, the others are decided all the same.
    """
    begun = perf_counter()
    rows: list[RowResult] = []
    run: _Run | None = None
    try:
        run = _prepare(program, table, beta, alpha, gamma, eps, limits)
        run.table_seconds = perf_counter() - begun
        total = len(run.table.rows)
        due = perf_counter() + _PROGRESS_SECONDS
        for result in run.results():
            rows.append(result)
            if progress is not None and (len(rows) % _PROGRESS_ROWS == 0 or perf_counter() > due):
                progress(len(rows), total)
                due = perf_counter() + _PROGRESS_SECONDS
        if progress is not None:
            progress(total, total)
    except KeyboardInterrupt:
        intervals = "" if run is None else intervals_text(run.claim.intervals)
        effort = Effort() if run is None else run.effort(perf_counter() - begun)
        report = Report(program.name, tuple(rows), intervals, interrupted=True, effort=effort)
        raise Interrupted(report, len(rows), None if run is None else len(run.table.rows)) from None
    return Report(
        program.name, tuple(rows), intervals_text(run.claim.intervals), effort=run.effort(perf_counter() - begun)
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
    return _prepare(program, table, beta, alpha, gamma, eps, limits).results()


@dataclass(slots=True)
class _Run:
    """One table under one claim, with everything that rows share."""

    program: Program
    table: Table
    claim: Claim
    probabilities: Probabilities
    decider: Decider
    table_seconds: float = 0.0
    input_names: list[str] = field(init=False)
    output_names: list[str] = field(init=False)

    def __post_init__(self) -> None:
        core = self.program.core
        self.input_names = [core.slots[slot].name for slot in core.inputs]
        self.output_names = [core.slots[slot].name for slot in core.outputs]

    def results(self) -> Iterator[RowResult]:
        """The rows in order, each decided when it is asked for."""
        for row in self.table.rows:
            yield self._result(row)

    def _result(self, row: Row) -> RowResult:
        terms = self.claim.terms(row)
        probability: ClosedForm | None = None
        try:
            probability = self.probabilities.probability(row.inputs, row.outputs, terms.gamma)
            # A vacuous row claims nothing: its probability is shown, but decides nothing.
            settled = ACCURATE if terms.vacuous else self.decider.settle(probability, terms.beta)
        except Undecided as undecided:
            settled = ACCURATE if terms.vacuous else Settled(Verdict.UNDECIDED, reason=undecided.reason)
        return RowResult(
            row=row.number,
            input={name: cell.text for name, cell in zip(self.input_names, row.inputs, strict=True)},
            output={
                name: cell.text for name, cell in zip(self.output_names, row.outputs, strict=True) if cell is not None
            },
            alpha=terms.alpha_text,
            beta_form=terms.beta,
            gamma=terms.gamma.text,
            verdict=settled.verdict,
            closed_form=probability,
            vacuous=terms.vacuous,
            counterexample=settled.counterexample,
            failing=settled.failing,
            reason=settled.reason,
        )

    def effort(self, seconds: float) -> Effort:
        """What was done so far, in so many seconds."""
        work = self.probabilities.work
        return Effort(
            seconds=seconds,
            table_seconds=self.table_seconds,
            chain_seconds=work.chain_seconds,
            measure_seconds=work.measure_seconds,
            sign_seconds=self.decider.seconds,
            explorations=work.explorations,
            measures=work.measures,
            obligations=self.decider.obligations,
        )


def _prepare(
    program: Program, table: object, beta: object, alpha: object, gamma: object, eps: object, limits: Limits | None
) -> _Run:
    if not isinstance(program, Program):
        raise TypeError(f"the program is what dipc.load gives, not {type(program).__name__}")
    if limits is not None:
        program = program.with_limits(limits)
    rows = read_table(table, program.core)
    claim = resolve_claim(program.core, rows, beta=beta, alpha=alpha, gamma=gamma, eps=eps)
    decider = Decider(claim.intervals, program.limits.sign)
    return _Run(program, rows, claim, program.probabilities(), decider)
