"""The answer of `dipc error`: the expected error of answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dipc.algebra.exppoly import ClosedForm
from dipc.decide.obligation import Verdict
from dipc.outcome.outcome import ExitStatus, Outcome, ReportBlock, ShownTable, Tone, hint, section
from dipc.outcome.rows import failing_text
from dipc.outcome.words import (
    STANDINGS,
    TONES,
    all_of,
    assignment_text,
    count,
    enclosed_text,
    every_one,
    everywhere_text,
    program_text,
    rational,
    s,
)
from dipc.questions.expected_error import ErrorReport, ErrorRow, complement
from dipc.questions.source import Source
from dipc.text.printer import language_text

#: The most rows that are shown in full, and the length of the longest closed form.
_SHOWN_ROWS, _SHORT = 4, 400


def outcome(report: ErrorReport, source: Source | None = None) -> Outcome:
    """Return the answer in `report` about expected errors: the errors, or whether the claim about them holds.

    `source`, if given, is the list of cases that the report is about.
    """
    known = all(row.error is not None for row in report.rows)
    if report.verdict is not None:
        standing, tone = STANDINGS[report.verdict], TONES[report.verdict]
    else:
        standing, tone = (ExitStatus.HOLDS, Tone.HEAD) if known else (ExitStatus.OPEN, Tone.OPEN)
    return Outcome.from_record(
        report,
        standing,
        line=headline(report),
        tone=tone,
        parts=lambda: _report_parts(report, source),
        record=report.head,
        rows=lambda: (row.as_json() for row in report.rows),
        table=lambda: _table(report),
        interrupted=f"interrupted after {count(len(report.rows), 'row')}\n" if report.interrupted else None,
        question=source,
    )


def headline(report: ErrorReport) -> str:
    """Return the answer in `report` in one sentence."""
    everywhere = everywhere_text(report.eps)
    classes = any(row.where is not None for row in report.rows)
    word = "class" if classes else "row"
    rows = count(len(report.rows), word)
    if report.verdict is not None:
        failing = sum(1 for row in report.rows if row.result is not None and row.result.verdict is Verdict.INACCURATE)
        match report.verdict:
            case Verdict.ACCURATE:
                every = every_one(len(report.rows), word)
                return f"accurate: {every}, E[{report.error_text}] ≤ {report.claimed} {everywhere}"
            case Verdict.INACCURATE:
                some = every_one(failing, word) if failing == len(report.rows) else f"{failing} of {rows}"
                return f"INACCURATE: {some} fail{s(failing)}: E[{report.error_text}] > {report.claimed}"
            case Verdict.UNDECIDED:
                return f"UNDECIDED: whether E[{report.error_text}] ≤ {report.claimed}"
    worst = next((row for row in report.rows if row.row == report.worst), None)
    if worst is None or worst.value is None:
        unknown = next((row for row in report.rows if row.error is None), None)
        return (
            "no rows"
            if unknown is None
            else f"UNDECIDED: E[{report.error_text}] of {_word(unknown)} {unknown.row} is not known"
        )
    where = f"at eps = {rational(report.at)}"
    if len(report.rows) == 1:
        everyone = "" if worst.where is None else " for every input"
        return f"E[{report.error_text}] {'=' if worst.exact else '≤'} {enclosed_text(*worst.value)} {where}{everyone}"
    if worst.where is not None:
        return f"E[{report.error_text}] is at most {enclosed_text(*worst.value)} {where} for every input, of {rows}"
    value = enclosed_text(*worst.value)
    most = "has the greatest" + (f" error, {everywhere}" if report.everywhere else "")
    return f"E[{report.error_text}] is at most {value} {where} in the {rows}: row {worst.row} {most}"


def _report_parts(report: ErrorReport, source: Source | None) -> Iterator[ReportBlock]:
    classes = any(row.where is not None for row in report.rows)
    yield section(
        None,
        ("program", program_text(report.program, tuple(report.constants.items()))),
        ("inputs" if classes else "table", None if source is None else source.subject or None),
        ("requires", None if source is None else source.program.core.required_text),
        ("expected", f"E[{report.error_text}], for every input u" + ("" if classes else " of the table")),
        ("claim", None if report.claimed is None else f"E[{report.error_text}] ≤ {report.claimed}"),
        ("eps", all_of(report.eps)),
    )
    ordered = sorted(report.rows, key=_importance)
    for row in ordered[:_SHOWN_ROWS]:
        verdict = "" if row.result is None else f": {row.result.verdict}"
        worst = " (the worst)" if row.row == report.worst and len(report.rows) > 1 else ""
        yield section(f"{_word(row)} {row.row}{worst}{verdict}", *_fields(report, row))
    more = len(ordered) - _SHOWN_ROWS
    yield hint(f"and {count(more, 'more row')}: --format json has all" if more > 0 else None)


def _word(row: ErrorRow) -> str:
    return "row" if row.where is None else "class"


def _importance(row: ErrorRow) -> tuple[bool, bool, float, int]:
    failing = row.result is not None and row.result.verdict is not Verdict.ACCURATE
    return (not failing, row.error is not None, -float(row.value[0]) if row.value else 0.0, row.row)


def _fields(report: ErrorReport, row: ErrorRow) -> Iterable[tuple[str, str | None]]:
    yield ("input", assignment_text(row.input) or "none") if row.where is None else ("inputs", row.where)
    yield "output", assignment_text(row.output)
    if row.error is None or row.value is None:
        holds = row.result is not None and row.result.verdict is Verdict.ACCURATE
        yield "expected", "at most what the claim allows" if holds else None
        yield "reason", None if holds else row.reason or ""
        return
    most = "" if row.exact else "at most "
    yield "expected", most + _form(row.error)
    yield f"at eps = {rational(report.at)}", most + enclosed_text(*row.value)
    if row.bias is not None and row.variance is not None:
        yield from (("bias", _form(row.bias)), ("variance", _form(row.variance)))
    result = row.result
    if result is None:
        return
    yield "reason", result.reason
    if (found := result.counterexample) is not None:
        yield "eps", rational(found.eps)
        yield "expected there", enclosed_text(*complement(found.probability))
        allowed = enclosed_text(*complement(found.required))
        yield "allowed", f"{allowed}, where the claim is {language_text(result.beta)}"
    yield "fails for", f"eps in {failing_text(result.failing)}" if result.failing else None


def _form(form: ClosedForm) -> str:
    text = language_text(form)
    return text if len(text) <= _SHORT else f"in closed form with {len(text)} characters: see --format json"


def _table(report: ErrorReport) -> ShownTable:
    head = ("row", "input", f"E[{report.error_text}]", f"at eps = {rational(report.at)}", "verdict")

    def cells(row: ErrorRow) -> tuple[Tone | None, tuple[str, ...]]:
        verdict = None if row.result is None else row.result.verdict
        return None if verdict is None else TONES[verdict], (
            str(row.row),
            assignment_text(row.input) if row.where is None else row.where,
            (row.reason or "") if row.error is None else _form(row.error),
            "" if row.value is None else enclosed_text(*row.value),
            "" if verdict is None else str(verdict),
        )

    return ShownTable("Rows", head, map(cells, report.rows), len(report.rows))
