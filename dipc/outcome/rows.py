"""The answer of `dipc check` about the rows of a table, or about classes of its inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from heapq import nsmallest
from itertools import islice
from typing import assert_never

from dipc.algebra.limits import Effort
from dipc.claims.claim import UNUSED_GAMMA
from dipc.decide.engine import Engine
from dipc.decide.obligation import Counterexample, EpsSpan, Verdict
from dipc.outcome.outcome import (
    ExitStatus,
    Line,
    Outcome,
    Part,
    ReportBlock,
    ShownTable,
    Tone,
    hint,
    render_parts,
    section,
)
from dipc.outcome.words import (
    LISTED,
    NON_VACUOUS,
    STANDINGS,
    TONES,
    Statement,
    UserQuestion,
    agreement,
    assignment_text,
    cell_text,
    count,
    enclosed_text,
    every_one,
    everywhere_text,
    exact,
    limit_hint,
    near_sign,
    no_input,
    number_text,
    plural,
    rational,
    s,
    saying_text,
    subject_fields,
    union_text,
    vacuous_text,
    without_closed_form,
)
from dipc.questions.report import Interrupted, Report, RowResult
from dipc.questions.source import Source
from dipc.text.printer import language_text

#: The most counterexamples that are shown in full, the worst first; the others are named by their rows.
SHOWN_ROWS = 3

#: The most reasons for undecided rows, and the most intervals of failing eps, that are shown.
_SHOWN_REASONS, _SHOWN_INTERVALS = 5, 6

#: The length of the longest beta that is repeated for every row.
_SHORT = 60


def verdict_line(report: Report) -> str:
    """Return the result of `report` in one sentence.

    It is about rows, or about all inputs of the classes that rows represent.
    """
    counts, everywhere = report.counts, everywhere_text(report.eps)
    accurate, inaccurate, undecided = counts.accurate, counts.inaccurate, counts.undecided
    if report.inputs is None:
        number, word, of_classes = counts.rows, "row", ""
    else:
        number, word, of_classes = report.inputs, "input", " of the classes"
        accurate, inaccurate, undecided = (
            members(report, verdict) for verdict in (Verdict.ACCURATE, Verdict.INACCURATE, Verdict.UNDECIDED)
        )

    def in_classes(start: str, some: int | None = None) -> str:
        """Return `start` with the number of classes: `in 5 classes`, or with `some` such as 2 `in 2 of 5 classes`.

        The text is empty if the rows of the report do not represent classes.
        """
        of = "" if some is None else f"{some} of "
        return "" if report.inputs is None else f"{start}in {of}{count(counts.rows, 'class')}"

    whole = every_one(number, word)
    vacuous = f", {vacuous_text(report)}{of_classes}" if counts.vacuous else ""
    match report.verdict:
        case Verdict.ACCURATE:
            of_them = f", {vacuous_text(report, of_them=True)}" if counts.vacuous else ""
            return f"accurate: {whole}{in_classes(' ')}{of_them}, {everywhere}"
        case Verdict.INACCURATE if inaccurate == number:
            return f"INACCURATE: {whole} fail{s(number)}{in_classes(', ')}"
        case Verdict.INACCURATE:
            tail = f", {undecided} undecided" if undecided else ""
            fail = f"{inaccurate} of {count(number, word)} fail{s(inaccurate)}"
            return f"INACCURATE: {fail}{in_classes(', ', counts.inaccurate)}{tail}{vacuous}"
        case Verdict.UNDECIDED:
            others = "other holds" if accurate == 1 else f"other {accurate} hold"
            rest = f"; the {others} {everywhere}" if accurate else ""
            some = whole if undecided == number else f"{undecided} of {count(number, word)}"
            return f"UNDECIDED: {some}{in_classes(', ', counts.undecided)}{rest}{vacuous}"
    assert_never(report.verdict)


def outcome(
    source: Source,
    engine: Engine,
    report: Report,
    asked: UserQuestion,
    closed_form: int | None = None,
    times: bool = False,
) -> Outcome:
    """Return the answer about the rows of a table.

    `source` gives the rows, `engine` has decided them, and `report` has the results; `asked` is the question as the
    user put it. `closed_form` is the number of a row whose probability is written out; with `times` the time is shown.
    """
    assert source.table is not None
    program, table = source.program, source.table
    return accuracy(
        source,
        engine,
        report,
        verdict_line(report),
        lambda: row_parts(report, asked.about_rows(program, table), closed_form, times),
        "row" if report.inputs is None else "class",
    )


def accuracy(
    source: Source, engine: Engine, report: Report, line: str, parts: Callable[[], Iterable[ReportBlock]], word: str
) -> Outcome:
    """Return the answer to a question about the accuracy of cases, with the results in `report`.

    `source` gives the cases, which `engine` has decided. `line` is the headline of the answer, and `parts` returns the
    blocks of text below it. `word` is the word for a case in tables.
    """
    if any(warning.code == UNUSED_GAMMA for warning in report.warnings):
        line += "; gamma has no effect, as the outputs have to be equal"
    return Outcome(
        program=report.program,
        line=line,
        standing=STANDINGS[report.verdict],
        tone=TONES[report.verdict],
        parts=parts,
        record=report.head,
        rows=lambda: (row.as_json() for row in report.rows),
        table=lambda: _table(report.rows, word),
        warnings=report.warnings,
        result=report,
        question=source,
        engine=engine,
    )


def interrupted(stop: Interrupted, word: str = "row") -> Outcome:
    """Return the outcome of a check that was cut short by `stop`.

    The outcome shows how many cases were decided, and a counterexample if one was found. `word` is the word for a case.
    """
    done, total = stop.done, stop.total
    line = f"interrupted after {count(done, word) if total is None else f'{done} of {count(total, word)}'}"
    return Outcome(
        program=stop.report.program,
        line=line,
        standing=ExitStatus.OPEN,
        tone=Tone.OPEN,
        parts=lambda: _certain(stop.report, done, word),
        interrupted="",
    )


def _certain(report: Report, done: int, word: str) -> Iterator[ReportBlock]:
    """Yield the results in `report` that are certain although the check was interrupted after `done` cases.

    `word` is the word for a case.
    """
    counts = report.counts
    if counts.inaccurate:
        yield Line(f"already certain: INACCURATE, {count(counts.inaccurate, word)} so far fail{s(counts.inaccurate)}")
        yield _counterexample(next(report.select(Verdict.INACCURATE)))
    elif done:
        undecided = f", {counts.undecided} undecided" if counts.undecided else ""
        yield Line(f"no verdict: {counts.accurate} accurate{undecided}, none inaccurate so far")
    else:
        yield Line(f"no verdict: no {word} was decided")


def row_parts(
    report: Report, statement: Statement, closed_form: int | None = None, times: bool = False
) -> Iterator[ReportBlock]:
    """Yield the parts of `report` below its first line; `statement` is the question as the user put it.

    `closed_form` is the number of a row whose probability is written out; with `times` the time is shown.
    """
    yield section(None, *claim_fields(report, statement))
    yield from findings(report)
    if closed_form is not None:
        yield _closed_form(next(row for row in report.rows if row.row == closed_form), near_sign(report.stated))
    elif report.counts.inaccurate:
        (worst,) = worst_first(report.select(Verdict.INACCURATE), 1)
        option = f"--closed-form {worst.row} writes out the probability of {row_name(worst)} for every eps"
        yield hint(None if worst.closed_form is None else option)
    yield hint(limit_hint(row.reason for row in report.select(Verdict.UNDECIDED)))
    if times:
        yield _times(report.effort)


def findings(report: Report) -> Iterator[ReportBlock]:
    """Yield the counterexamples in `report`, the worst first, and the reasons of undecided rows."""
    yield from _counterexamples(report)
    yield from _undecided(report.select(Verdict.UNDECIDED))


# --- the claim -------------------------------------------------------------------------------------


def claim_fields(report: Report, statement: Statement) -> Iterable[tuple[str, str | None]]:
    """Yield the claim of `statement`, the eps where it is not vacuous, and the rows of each verdict in `report`.

    Each is a label with a text.
    """
    yield from subject_fields(statement, report.eps)
    counts, theorem = report.counts, report.theorem
    yield "decided", None if theorem is None else str(theorem)
    yield NON_VACUOUS, scope_text(report)
    accurate = f"{counts.accurate} accurate"
    if counts.vacuous:
        reasons = (
            (counts.near_rows, f"dd {near_sign(report.stated)} alpha"),
            (counts.above_one, "beta ≥ 1"),
            (counts.unconstrained, "no output is stated"),
        )
        why = [f"{number} vacuously, as {text}" for number, text in reasons if number]
        accurate += f" ({'; '.join(why)})"
    others = ((counts.inaccurate, "inaccurate"), (counts.undecided, "undecided"))
    counted = [accurate, *(f"{number} {word}" for number, word in others if number)]
    yield ("rows" if report.inputs is None else "classes"), ", ".join(counted)


def scope_text(report: Report) -> str | None:
    """Return the eps where the claim of `report` is not vacuous.

    The result is None if the claim is vacuous for every eps, or if every row leaves its outputs empty, so that nothing
    is claimed.
    """
    counts = report.counts
    if counts.unconstrained == counts.rows:
        return None
    if counts.near_rows == counts.rows:
        return no_input(near_sign(report.stated))
    return saying_text(report.scopes, report.eps)


# --- rows ------------------------------------------------------------------------------------------


def _counterexamples(report: Report) -> Iterator[ReportBlock]:
    shown_rows = worst_first(report.select(Verdict.INACCURATE), SHOWN_ROWS)
    yield from map(_counterexample, shown_rows)
    named = {row.row for row in shown_rows}
    rest = report.counts.inaccurate - len(named)
    if rest > 0:
        others = (row.row for row in report.select(Verdict.INACCURATE) if row.row not in named)
        more = f"{rest} more {row_word(shown_rows[0], rest)}"
        yield [Line(f"{more} fail{s(rest)}: {_row_list([*islice(others, LISTED)], rest)}")]


def worst_first(rows: Iterable[RowResult], most: int) -> list[RowResult]:
    """Return at most `most` of `rows`, those with the greatest shortfalls, in decreasing order.

    Of rows with equal shortfalls, the one with the smaller number comes first. A shortfall is how far the probability
    at the row's counterexample is below the required one.
    """
    margins: dict[int, tuple[Counterexample, Fraction]] = {}

    def order(row: RowResult) -> tuple[Fraction, int]:
        counterexample = row.counterexample
        assert counterexample is not None
        if id(counterexample) not in margins:
            margins[id(counterexample)] = (
                counterexample,
                -counterexample.margin[0],
            )  # kept alive, so that its identity stays its own
        return margins[id(counterexample)][1], row.row

    return nsmallest(most, rows, key=order)


def _counterexample(row: RowResult) -> Sequence[Part]:
    return section(f"{row_name(row)} fails", *row_fields(row), *shortfall(row, _SHORT))


def shortfall(row: RowResult, longest: int, there: str = "") -> Iterator[tuple[str, str]]:
    """Yield pairs of a label and a text: the counterexample of `row`, and all eps where the row fails.

    A beta of more than `longest` characters is not repeated. `there` is a text that names the input where the row
    fails.
    """
    counterexample = row.counterexample
    assert counterexample is not None
    digits = agreement(counterexample.probability, counterexample.required)
    beta = f" = 1 - beta, where beta = {language_text(row.beta)}" if len(row.beta) <= longest else " = 1 - beta"
    yield "eps", rational(counterexample.eps)
    yield "probability", enclosed_text(*counterexample.probability, digits)
    yield "required", enclosed_text(*counterexample.required, digits) + beta
    yield "short by", enclosed_text(*counterexample.margin)
    if row.failing:
        yield "fails for", f"eps in {failing_text(row.failing)}{there}"
    elif row.closed_form is None:
        yield "fails for", "this eps and perhaps others: there is no closed form"
    for number, text in enumerate(worst_texts(row.failing)):
        yield "worst at" if number == 0 else "", text


def row_text(row: RowResult) -> str:
    """Return the report about `row`: its counterexample, the reason why it is undecided, or its claim if it holds."""
    if row.counterexample is not None:
        return render_parts([_counterexample(row)])
    return render_parts(section(f"{row_name(row)} is {row.verdict}", *row_fields(row), ("reason", row.reason or None)))


def row_fields(row: RowResult, remark: str = "") -> Iterable[tuple[str, str | None]]:
    """Yield the labels and texts about `row`: its input, followed by the `remark`, its output, alpha and gamma."""
    yield "input", assignment_text(row.input) + remark
    others = (row.count or 1) - 1
    alike = f"and {others} more that {'differs' if others == 1 else 'differ'} only in details"
    yield "", alike if others else None
    yield "output", assignment_text(row.output) if row.output else "any"
    yield "alpha", row.alpha
    if len(row.obligations) > 1:
        yield "gamma", f"in {row.gamma}; " + ", ".join(f"{row.gamma} {row.verdict}" for row in row.obligations)
    else:
        yield "gamma", row.gamma if row.gamma != "0" else None


def _undecided(rows: Iterable[RowResult]) -> Iterator[ReportBlock]:
    #: For each reason the first row, the first numbers of rows, and how many there are.
    reasons: dict[str, tuple[RowResult, list[int]]] = {}
    numbers: Counter[str] = Counter()
    left = 0
    for row in rows:
        reason = row.reason or "no reason was given"
        if reason not in reasons and len(reasons) == _SHOWN_REASONS:
            left += 1
            continue
        numbers[reason] += 1
        _, listed = reasons.setdefault(reason, (row, []))
        if len(listed) < LISTED:
            listed.append(row.row)
    for reason, (first, listed) in reasons.items():
        name, rest = row_name(first), numbers[reason]
        one = rest == 1
        yield section(
            f"{name} is undecided" if one else f"{rest} {row_word(first, 2)} are undecided",
            ("reason", reason),
            (row_word(first, 2), None if one else _row_list(listed, rest)),
            ("input", assignment_text(first.input) + ("" if one else f" ({name})")),
            label_width=len("probability"),
        )
    if left:
        yield [Line(f"{count(left, 'more row')} undecided for other reasons; --format json has them all")]


def _closed_form(row: RowResult, sign: str) -> Sequence[Part]:
    probability = without_closed_form(row) if row.closed_form is None else language_text(row.closed_form)
    why = "no output is stated" if row.unconstrained else f"dd {sign} alpha" if row.says is None else "beta ≥ 1"
    return section(
        f"{row_name(row)} in closed form: {row.verdict}{f' (vacuously, as {why})' if row.vacuous else ''}",
        *row_fields(row),
        ("probability", probability),
        ("beta", language_text(row.beta)),
    )


def _table(rows: Sequence[RowResult], word: str) -> ShownTable:
    columns = (word, "input", "output", "alpha", "verdict", "fails for eps in")

    def cells(row: RowResult) -> tuple[Tone, tuple[str, ...]]:
        note = getattr(row, "note", None)  # a class has one
        inputs, output = map(assignment_text, (row.input, row.output if note is None else note.answer))
        verdict = f"{row.verdict}{' (vacuously)' if row.vacuous else ''}"
        return TONES[row.verdict], (str(row.row), inputs, output, row.alpha, verdict, failing_text(row.failing))

    return ShownTable(plural(word).capitalize(), columns, map(cells, rows), len(rows))


# --- small texts -----------------------------------------------------------------------------------


def failing_text(intervals: Sequence[EpsSpan]) -> str:
    """Return the union of `intervals`, the eps where a row fails, as text; each finite end has its proved digits."""
    return union_text(map(_interval, intervals), _SHOWN_INTERVALS)


def worst_texts(intervals: Sequence[EpsSpan]) -> list[str]:
    """Return a text for each of `intervals`: the eps where the claim fails most, and the shortfall there.

    Intervals whose worst eps was not computed have no text.
    """
    texts = []
    for worst in (interval.worst for interval in intervals[:_SHOWN_INTERVALS]):
        if worst is not None:
            eps, short = ("∞" if cell is None else cell_text(*cell) for cell in (worst.eps, worst.shortfall))
            attained = f"eps = {eps}, short by {short}"
            texts.append(attained if worst.attained else f"eps → {eps}, short by up to {short}")
    return texts


def _interval(interval: EpsSpan) -> str:
    start, end = interval.start, interval.end
    if start.text is not None and start.text == end.text:
        return f"{{{start.text}}}"
    if start.exact and end.exact and start.low == end.low:
        return f"{{{exact(start.low)}}}"
    texts = []
    for point in (start, end):
        # Where the worst eps was requested, all digits are shown.
        as_cell = interval.worst is not None and point.text is None and not point.exact
        digits = cell_text if as_cell else None
        texts.append("∞" if point.high is None else digits(point.low, point.high) if digits else number_text(point))
    return f"{'[' if start.included else '('}{', '.join(texts)}{']' if end.included else ')'}"


def _row_list(numbers: Sequence[int], rows: int) -> str:
    text = ", ".join(map(str, numbers))
    return text if rows <= len(numbers) else f"{text}, … (--format json has them all)"


def _times(effort: Effort) -> Sequence[Part]:
    stages = (
        ("table", effort.table_seconds),
        ("chain", effort.chain_seconds),
        ("measures", effort.measure_seconds),
        ("signs", effort.sign_seconds),
    )
    spent = ", ".join(f"{name} {seconds:.2f}" for name, seconds in stages)
    work = (
        f"{count(effort.explorations, 'exploration')}, {count(effort.measures, 'integral')}, "
        f"{count(effort.obligations, 'sign decision')}"
    )
    return section(None, ("time", f"{effort.seconds:.2f} s ({spent})"), ("work", work))


# --- rows that represent classes of inputs ---------------------------------------------------------


def members(report: Report, verdict: Verdict) -> int:
    """Return the number of inputs that the rows with this `verdict` in `report` represent."""
    return sum(row.count or 0 for row in report.select(verdict))


def row_word(row: RowResult, number: int = 1) -> str:
    """Return the word for `number` rows such as `row`: `rows`, or `classes` if they represent classes."""
    word = "row" if row.count is None else "class"
    return word if number == 1 else plural(word)


def row_name(row: RowResult) -> str:
    """Return `row 3`, or `class 3` if the row represents a class."""
    return f"{row_word(row)} {row.row}"
