"""The report of `dipc check` as a person reads it: the verdict first, then what was claimed, then the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import nsmallest
from itertools import islice
from typing import assert_never

from dipc.obligations.verdict import Counterexample, EndPoint, FailureInterval, Verdict, Worst
from dipc.report.claimed import Statement, about
from dipc.report.classes import class_size, class_verdict_line, row_name, row_word
from dipc.report.numbers import agreement, cell_text, exact, rational, shown
from dipc.report.page import Look, Page, Tone
from dipc.report.vectors import assignment_text
from dipc.report.words import (
    LISTED,
    NO_INPUT,
    TONES,
    count,
    everywhere_text,
    number_text,
    s,
    saying_text,
    vacuous_text,
    without_closed_form,
)
from dipc.sources.outcome import Effort, RowResult
from dipc.sources.report import Report

#: How many counterexamples are shown in full, the worst first; the others are named by their rows.
SHOWN_ROWS = 3

#: How many different reasons for undecided rows are shown.
_SHOWN_REASONS = 5

#: A beta longer than this is not repeated for every row.
_SHORT = 60


def verdict_line(report: Report) -> str:
    """The whole result in one sentence."""
    counts = report.counts
    everywhere = everywhere_text(report.eps)
    if report.inputs is not None:
        return class_verdict_line(report, everywhere)
    rows = count(counts.rows, "row")
    vacuous = f", {vacuous_text(counts)}" if counts.vacuous else ""
    match report.verdict:
        case Verdict.ACCURATE:
            of_them = f", {vacuous_text(counts, of_them=True)}" if counts.vacuous else ""
            return f"accurate: {'all ' if counts.rows > 1 else ''}{rows}{of_them}, {everywhere}"
        case Verdict.INACCURATE:
            tail = f", {counts.undecided} undecided" if counts.undecided else ""
            if counts.inaccurate == counts.rows > 1:
                return f"INACCURATE: all {rows} fail"
            return f"INACCURATE: {_of(counts.inaccurate, counts.rows)} fail{s(counts.inaccurate)}{tail}{vacuous}"
        case Verdict.UNDECIDED:
            rest = f"; the other {counts.accurate} hold {everywhere}" if counts.accurate > 1 else ""
            rest = f"; the other holds {everywhere}" if counts.accurate == 1 else rest
            return f"UNDECIDED: {_of(counts.undecided, counts.rows)}{rest}{vacuous}"
    assert_never(report.verdict)


def interrupted_text(report: Report, done: int, total: int | None, look: Look, word: str = "row") -> str:
    """How far an interrupted check came, and what is certain all the same; its cases are called `word`."""
    page = Page(look)
    page.line(
        f"interrupted after {count(done, word) if total is None else f'{done} of {count(total, word)}'}", Tone.OPEN
    )
    counts = report.counts
    if counts.inaccurate:
        first = next(report.select(Verdict.INACCURATE))
        page.line(f"already certain: INACCURATE, {count(counts.inaccurate, word)} so far fail{s(counts.inaccurate)}")
        page.blank()
        _counterexample(page, first)
    elif done:
        undecided = f", {counts.undecided} undecided" if counts.undecided else ""
        page.line(f"no verdict: {counts.accurate} accurate{undecided}, none inaccurate so far")
    else:
        page.line(f"no verdict: no {word} was decided")
    return page.text()


def render(
    report: Report,
    statement: Statement,
    look: Look,
    *,
    closed_form: int | None = None,
    times: bool = False,
) -> str:
    """The whole report as text. `closed_form` is the number of a row whose probability is to be written out."""
    page = Page(look)
    page.line(verdict_line(report), TONES[report.verdict])
    page.blank()
    page.fields(claim_fields(report, statement))
    _counterexamples(page, report)
    _undecided(page, report.select(Verdict.UNDECIDED))
    if closed_form is not None:
        _closed_form(page, next(row for row in report.rows if row.row == closed_form))
    elif report.counts.inaccurate:
        (worst,) = worst_first(report.select(Verdict.INACCURATE), 1)
        if worst.closed_form is not None:
            page.blank()
            page.line(
                f"--closed-form {worst.row} writes out the probability of {row_name(worst)} for every eps", Tone.FAINT
            )
    if report.counts.undecided:
        page.blank()
        page.line("--limit NAME=N raises a limit; dipc check --help names them", Tone.FAINT)
    if times:
        _times(page, report.effort)
    return page.text()


# --- what was claimed ------------------------------------------------------------------------------


def claim_fields(report: Report, statement: Statement) -> Iterable[tuple[str, str]]:
    """What was claimed, for which eps that says anything, and how many rows came to what: labels and texts."""
    yield from about(statement, report.eps)
    if report.theorem is not None:
        yield "theorem", str(report.theorem)
    counts = report.counts
    all_near = counts.vacuous == counts.rows and not counts.above_one
    says = NO_INPUT if all_near else saying_text(report.sayings, report.eps)
    if says is not None:
        yield "says something", says
    accurate = f"{counts.accurate} accurate"
    if counts.vacuous:
        near, above = counts.vacuous - counts.above_one, counts.above_one
        why = [
            f"{number} vacuously, as {text}" for number, text in ((near, "dd < alpha"), (above, "beta ≥ 1")) if number
        ]
        accurate += f" ({'; '.join(why)})"
    parts = [accurate]
    if counts.inaccurate:
        parts.append(f"{counts.inaccurate} inaccurate")
    if counts.undecided:
        parts.append(f"{counts.undecided} undecided")
    yield ("rows" if report.inputs is None else "classes"), ", ".join(parts)


# --- rows ------------------------------------------------------------------------------------------


def _counterexamples(page: Page, report: Report) -> None:
    shown_rows = worst_first(report.select(Verdict.INACCURATE), SHOWN_ROWS)
    for row in shown_rows:
        page.blank()
        _counterexample(page, row)
    named = {row.row for row in shown_rows}
    rest = report.counts.inaccurate - len(named)
    if rest > 0:
        page.blank()
        others = (row for row in report.select(Verdict.INACCURATE) if row.row not in named)
        more = f"{rest} more {row_word(shown_rows[0], rest)}"
        page.line(f"{more} fail{s(rest)}: {_row_list(_first(others), rest)}")


def worst_first(rows: Iterable[RowResult], most: int) -> list[RowResult]:
    """Those whose counterexamples fall short by the most, and of those that fall short by as much the first; rows that
    share a counterexample are compared once."""
    margins: dict[int, tuple[Counterexample, Fraction]] = {}

    def order(row: RowResult) -> tuple[Fraction, int]:
        found = row.counterexample
        assert found is not None
        if id(found) not in margins:
            margins[id(found)] = found, -found.margin[0]  # kept alive, so that its identity stays its own
        return margins[id(found)][1], row.row

    return nsmallest(most, rows, key=order)


def _counterexample(page: Page, row: RowResult) -> None:
    found = row.counterexample
    assert found is not None
    digits = agreement(found.probability, found.required)
    page.line(f"{row_name(row)} fails", Tone.HEAD)
    beta = f" = 1 - beta, where beta = {row.beta}" if len(row.beta) <= _SHORT else " = 1 - beta"
    page.fields(
        [
            *_where(row),
            ("eps", rational(found.eps)),
            ("probability", shown(*found.probability, digits)),
            ("required", shown(*found.required, digits) + beta),
            ("short by", shown(*found.margin)),
            *([("fails for", f"eps in {failing_text(row.failing)}")] if row.failing else []),
            *(("worst at" if number == 0 else "", text) for number, text in enumerate(worst_texts(row.failing))),
        ]
    )


def row_text(row: RowResult) -> str:
    """One row alone: how it fails, or why it is undecided; what it is about where it holds."""
    page = Page()
    if row.counterexample is not None:
        _counterexample(page, row)
    else:
        page.line(f"{row_name(row)} is {row.verdict}", Tone.HEAD)
        page.fields([*_where(row), *([("reason", row.reason)] if row.reason else [])])
    return page.text()


def _where(row: RowResult) -> Iterable[tuple[str, str]]:
    yield "input", assignment_text(row.input)
    if size := class_size(row):
        yield "", size
    yield "output", assignment_text(row.output) if row.output else "any"
    yield "alpha", row.alpha
    if len(row.obligations) > 1:
        yield "gamma", f"in {row.gamma}; " + ", ".join(f"{found.gamma} {found.verdict}" for found in row.obligations)
    elif row.gamma != "0":
        yield "gamma", row.gamma


@dataclass(slots=True)
class _Reason:
    """The rows that one reason left undecided: how many, and the first of them."""

    first: RowResult
    rows: int = 0
    numbers: list[int] = field(default_factory=list)

    def add(self, row: RowResult) -> None:
        self.rows += 1
        if len(self.numbers) < LISTED:
            self.numbers.append(row.row)


def _undecided(page: Page, rows: Iterable[RowResult]) -> None:
    reasons: dict[str, _Reason] = {}
    left = 0
    for row in rows:
        reason = row.reason or "no reason was given"
        if reason not in reasons and len(reasons) == _SHOWN_REASONS:
            left += 1
        else:
            reasons.setdefault(reason, _Reason(row)).add(row)
    for reason, group in reasons.items():
        page.blank()
        first = group.first
        names = f"{row_name(first)} is" if group.rows == 1 else f"{group.rows} {row_word(first, 2)} are"
        page.line(f"{names} undecided", Tone.HEAD)
        pairs = [("reason", reason)]
        if group.rows > 1:
            pairs.append((row_word(first, 2), _row_list(group.numbers, group.rows)))
        pairs.append(("input", assignment_text(first.input) + (f" ({row_name(first)})" if group.rows > 1 else "")))
        page.fields(pairs, label_width=len("probability"))
    if left:
        page.blank()
        page.line(f"{count(left, 'more row')} undecided for other reasons; --format json has them all")


def _closed_form(page: Page, row: RowResult) -> None:
    page.blank()
    page.line(
        f"{row_name(row)} in closed form: {row.verdict}{_vacuously(row)}",
        Tone.HEAD,
    )
    probability = row.probability
    if probability is None:
        probability = without_closed_form(row)
    page.fields([*_where(row), ("probability", probability), ("beta", row.beta)])


def _vacuously(row: RowResult) -> str:
    if not row.vacuous:
        return ""
    return f" (vacuously, as {'dd < alpha' if row.says is None else 'beta ≥ 1'})"


# --- small texts -----------------------------------------------------------------------------------


def failing_text(intervals: Sequence[FailureInterval], most: int = 6) -> str:
    """The set of failing eps as a union of intervals; each finite end with the digits that are proved."""
    parts = [_interval(interval) for interval in intervals[:most]]
    if len(intervals) > most:
        parts.append(f"{len(intervals) - most} more intervals")
    return " ∪ ".join(parts)


def worst_texts(intervals: Sequence[FailureInterval], most: int = 6) -> list[str]:
    """Of each interval the worst eps, with the shortfall there, where these were asked for."""
    return [_worst_text(interval.worst) for interval in intervals[:most] if interval.worst is not None]


def _worst_text(worst: Worst) -> str:
    at = "∞" if worst.eps is None else cell_text(*worst.eps)
    short = "∞" if worst.shortfall is None else cell_text(*worst.shortfall)
    return f"eps = {at}, short by {short}" if worst.attained else f"eps → {at}, short by up to {short}"


def _interval(interval: FailureInterval) -> str:
    start, end = interval.start, interval.end
    text = _end if interval.worst is None else _all_digits
    if start.exact and end.exact and start.low == end.low:
        return f"{{{exact(start.low)}}}"
    left = "[" if start.included else "("
    right = "]" if end.included else ")"
    return f"{left}{text(start)}, {text(end)}{right}"


def _all_digits(point: EndPoint) -> str:
    return _end(point) if point.exact or point.high is None else cell_text(point.low, point.high)


def _end(point: EndPoint) -> str:
    return "∞" if point.high is None else number_text(point)


def _first(rows: Iterable[RowResult]) -> list[int]:
    """The numbers of the first of these rows, as many as a list spells out."""
    return [row.row for row in islice(rows, LISTED)]


def _row_list(numbers: Sequence[int], rows: int) -> str:
    """The first numbers of so many rows."""
    text = ", ".join(map(str, numbers))
    return text if rows <= len(numbers) else f"{text}, … (--format json has them all)"


def _times(page: Page, effort: Effort) -> None:
    page.blank()
    stages = (
        ("table", effort.table_seconds),
        ("chain", effort.chain_seconds),
        ("measures", effort.measure_seconds),
        ("signs", effort.sign_seconds),
    )
    parts = ", ".join(f"{name} {seconds:.2f}" for name, seconds in stages)
    work = (
        f"{count(effort.explorations, 'exploration')}, {count(effort.measures, 'integral')}, "
        f"{count(effort.obligations, 'sign decision')}"
    )
    page.fields([("time", f"{effort.seconds:.2f} s ({parts})"), ("work", work)])


def _of(part: int, whole: int) -> str:
    return f"{part} of {count(whole, 'row')}"
