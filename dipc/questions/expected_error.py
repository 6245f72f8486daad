"""Expected errors of answers in closed form, and claims that bound them for every eps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from dipc.algebra.exppoly import ClosedForm
from dipc.algebra.limits import Undecided
from dipc.algebra.numbers import exact_text, outward
from dipc.algebra.record import Record, json_object
from dipc.claims.claim import Terms, intervals_text
from dipc.claims.table import Row
from dipc.decide.engine import Engine
from dipc.decide.obligation import Asking, Decision, Obligation, Verdict
from dipc.deprecated import former_property
from dipc.frozen import frozen
from dipc.measure.measure import Bound
from dipc.program.expected_error import Erring, ExpectedErrors, Moment
from dipc.questions.report import Report, RowOutcome, RowResult
from dipc.questions.rows import TableRows
from dipc.questions.source import Source
from dipc.sign.chart import is_nowhere_negative
from dipc.sign.interval import Interval
from dipc.text.diagnostic import Diagnostic

if TYPE_CHECKING:
    from dipc.program.program import Progress


class ErrorRows(TableRows):
    """The question of whether the expected error is at most beta at every row of a table.

    The obligation of a row is 1 - E[error] >= 1 - beta.
    """

    respects_requires: ClassVar[bool] = True

    of_probabilities = False

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return ()

    def outcome(self, terms: Terms, bound: Bound | Undecided) -> Asking[RowOutcome]:
        if isinstance(bound, Undecided):
            return RowOutcome(terms, None, Decision.undecided(bound.reason))
        decision = yield bound if terms.vacuous else Obligation(bound, terms.beta, self.claim.intervals)
        return RowOutcome(terms, decision.bound, Decision(Verdict.ACCURATE) if terms.vacuous else decision)

    def report(self, rows: Sequence[RowResult], engine: Engine, *, interrupted: bool = False) -> Report:
        return Source.report(self, rows, engine, interrupted=interrupted)


@frozen
class ErrorRow(Record):
    """The expected error at one input, or a bound of it for a class of inputs.

    `row` is the number of the row, from 1; `input` and `output` map names to strings. `error` is the expected error in
    closed form, and `value` an enclosure of its value at the eps of the report. Both are None past a limit, with the
    `reason`. For a numeric output `bias` is E[output - det(u)], and `variance` the variance of the output. `result` is
    the decided row, if there is a claim.

    For a class of inputs, `input` is empty, and `where` has the inequalities of the class. The field `error` is then an
    upper bound at each of its inputs; if `exact`, it is the expected error at each of them.
    """

    FIELDS = (
        "row input output error value=ends reason ?(inputs=where exact) bias? variance? "
        "?(verdict=result.verdict allowed=result.beta counterexample failing=result.failing+)"
    )

    row: int
    input: Mapping[str, str]
    output: Mapping[str, str]
    error: ClosedForm | None
    value: tuple[Fraction, Fraction] | None
    bias: ClosedForm | None = None
    variance: ClosedForm | None = None
    reason: str | None = None
    result: RowResult | None = None
    #: For a class of inputs: its inequalities, and whether each input has exactly this error; else it has at most this.
    where: str | None = None
    exact: bool = True

    @property
    def ends(self) -> list[str] | None:
        """The ends of the field `value`, as strings; None if the value is not known."""
        return None if self.value is None else _ends(self.value)

    @property
    def counterexample(self) -> dict[str, object] | None:
        """The eps that refutes the claim, with the error there and the allowed error; None if no eps does."""
        refuted = None if self.result is None else self.result.counterexample
        if refuted is None:
            return None
        error, allowed = (_ends(complement(ends)) for ends in (refuted.probability, refuted.required))
        return {"eps": str(refuted.eps), "error": error, "allowed": allowed}


def _ends(ends: tuple[Fraction, Fraction]) -> list[str]:
    low, high = ends
    return [str(low), str(high)] if low == high else [exact_text(end) for end in outward(low, high, 15)]


def complement(ends: tuple[Fraction, Fraction]) -> tuple[Fraction, Fraction]:
    """Return the enclosure of 1 - x for the enclosure `ends` of x."""
    return 1 - ends[1], 1 - ends[0]


@frozen
class ErrorReport(Record):
    """The expected errors at all inputs, as `rows`; after Ctrl-C the rows so far, marked as `interrupted`.

    `worst` is the number, from 1, of a row with the largest error at the eps `at`, or None without rows. With
    `everywhere` this row is proved to have the largest error for every eps of the intervals. `error_text` is the error
    as text, such as `|y - det(u)|`. `claimed` is the bound that the claim states; without a claim `claimed` and
    `verdict` are None.
    """

    HEAD = (
        "schema program constants expected=error_text eps at worst worst_everywhere=everywhere claim=claimed? verdict?"
    )
    FIELDS = f"{HEAD} rows"

    schema = "dipc.error/1"

    program: str
    error_text: str
    eps: str
    at: Fraction
    rows: tuple[ErrorRow, ...]
    worst: int | None
    everywhere: bool
    claimed: str | None = None
    verdict: Verdict | None = None
    interrupted: bool = False
    constants: Mapping[str, str] = field(default_factory=dict)

    said = former_property("said", "error_text")

    def head(self) -> dict[str, Any]:
        """Return the entries of this report's JSON object that come before its rows."""
        return json_object(self, self.HEAD)


def table_rows(source: ErrorRows, engine: Engine, point: Fraction, *, claimed: bool) -> Iterator[ErrorRow]:
    """Yield the expected errors at the rows of `source`, with their values at the eps `point`.

    If `claimed` is true, `engine` also decides the claim about the error of each row.
    """
    for case, row in zip(source.cases(), source.table.rows, strict=True):
        result = engine.run(case.settle()) if claimed else None
        yield _row(source, engine, row, point, case.undecided_row() if result is None else result, result)


def error_report(
    source: Source,
    every: Iterable[ErrorRow],
    engine: Engine,
    point: Fraction,
    claimed: str | None,
    progress: Progress | None = None,
) -> ErrorReport:
    """Return the report on the rows `every` of `source`; after Ctrl-C the report has the rows so far.

    The report is then marked as `interrupted`. `point` is the eps of the values, and `claimed` the text of the claimed
    bound, None without a claim. `engine` decides whether the row with the greatest error at this eps has the greatest
    error at every eps. `progress` is called with the number of rows done and the number of all rows.
    """
    program = source.program
    assert isinstance(program, Erring)
    rows: list[ErrorRow] = []
    interrupted = False
    try:
        for row in every:
            rows.append(row)
            if progress is not None:
                progress(len(rows), source.total)
    except KeyboardInterrupt:
        interrupted = True
    worst: ErrorRow | None = None
    if rows and all(row.value is not None for row in rows):
        worst = max(rows, key=lambda row: (row.value or (Fraction(0),))[0])
    # A row without a decision is undecided, and so are those that Ctrl-C left out.
    verdicts = {Verdict.UNDECIDED if row.result is None else row.result.verdict for row in rows}
    if interrupted or not rows:
        verdicts.add(Verdict.UNDECIDED)
    verdict = next(v for v in (Verdict.INACCURATE, Verdict.UNDECIDED, Verdict.ACCURATE) if v in verdicts)
    return ErrorReport(
        program.name,
        program.expected_quantity,
        intervals_text(source.intervals),
        point,
        tuple(rows),
        None if worst is None else worst.row,
        worst is not None and _is_worst_everywhere(worst, rows, source.intervals, engine),
        claimed,
        None if claimed is None else verdict,
        interrupted,
        {name: str(value) for name, value in program.constants.items()},
    )


def _row(
    source: ErrorRows, engine: Engine, row: Row, point: Fraction, entry: RowResult, result: RowResult | None
) -> ErrorRow:
    program, expected = source.program, source.probabilities
    assert isinstance(program, Erring)
    assert isinstance(expected, ExpectedErrors)

    def bound(moment: Moment) -> Bound:
        return expected.expectation(row.inputs, row.outputs, moment)

    try:
        forms = errors_of(program, engine, bound, point, signed=program.error.place is not None)
    except Undecided as undecided:
        return ErrorRow(row.number, entry.input, entry.output, None, None, reason=undecided.reason, result=result)
    return ErrorRow(row.number, entry.input, entry.output, *forms, None, result)


def errors_of(
    program: Erring, engine: Engine, bound: Callable[[Moment], Bound], point: Fraction, *, signed: bool
) -> tuple[ClosedForm, tuple[Fraction, Fraction], ClosedForm | None, ClosedForm | None]:
    """Return (expected error, its value at the eps `point`, bias, variance); the last two are None unless `signed`.

    `bound` maps a moment of the error of `program` to 1 minus this moment, as a sum of weighted probabilities that
    `engine` computes. The value is a pair of rational bounds. Raises Undecided past a limit.
    """

    def form(moment: Moment) -> ClosedForm:
        return ClosedForm(1 - engine.bound(bound(moment)).value)

    only_at, error = program.core.only_at, form(program.error.moment)
    value = error.enclosure(point, 20)
    if not signed:
        return error.restricted_to(only_at), value, None, None
    bias = form(Moment.SIGNED)
    variance = ClosedForm(form(Moment.SQUARE).value - bias.value * bias.value)
    return error.restricted_to(only_at), value, bias.restricted_to(only_at), variance.restricted_to(only_at)


def _is_worst_everywhere(
    worst: ErrorRow, rows: Sequence[ErrorRow], intervals: Sequence[Interval], engine: Engine
) -> bool:
    assert worst.error is not None
    others = {row.error.value for row in rows if row.error is not None} - {worst.error.value}
    try:
        return all(is_nowhere_negative(worst.error.value - other, intervals, engine.limits) for other in others)
    except Undecided:
        return False
