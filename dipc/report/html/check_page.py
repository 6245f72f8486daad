"""The answer of `dipc check` as a page."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from html import escape
from itertools import islice

from dipc.algebra.limits import Undecided
from dipc.obligations.verdict import Verdict
from dipc.report.answered import Answered
from dipc.report.curves import curves_of
from dipc.report.html.closed_forms import closed_forms
from dipc.report.html.document import MOODS, document, evidence, fields, heading, section
from dipc.report.html.passed_lines import passed_lines
from dipc.report.numbers import agreement, rational, shown
from dipc.report.text import SHOWN_ROWS, claim_fields, failing_text, worst_first, worst_texts
from dipc.report.vectors import assignment_text
from dipc.report.words import numbered
from dipc.sources.every_input.class_result import ClassResult
from dipc.sources.outcome import RowResult

#: Rows in the table of the page, and inequalities drawn and written out.
_ROWS = 500
_CURVES = 12


def check_page(answered: Answered, command: Sequence[str], tool: str, certificate: str | None = None) -> str:
    """The whole page. `command` is what was asked, word by word, and `tool` names who answered; a `certificate` goes
    with it as a file to save."""
    report, source = answered.report, answered.source
    word = answered.word
    chosen = list(islice(report.rows, 100 * _ROWS)) if source.table is not None else ()
    curves = curves_of(source, chosen, word, answered.engine, _CURVES)
    statement = answered.statement()
    sections = [
        heading(report.verdict, answered.line(), f"dipc check: {statement.program}")
        + section("Claim", fields(claim_fields(report, statement))),
        *_failures(report.select(Verdict.INACCURATE), report.counts.inaccurate, word),
        *_undecided(report.select(Verdict.UNDECIDED)),
        closed_forms(curves),
        section(f"{word.capitalize()}{'es' if word == 'class' else 's'}", _table(report.rows, word)),
        _program(answered),
        evidence(command, tool, certificate),
    ]
    return document(f"{report.program}: {report.verdict}", sections, curves)


def _failures(rows: Iterator[RowResult], number: int, word: str) -> Iterator[str]:
    if not number:
        return
    parts = []
    for row in worst_first(rows, SHOWN_ROWS):
        found = row.counterexample
        if found is None:
            continue
        digits = agreement(found.probability, found.required)
        pairs = [
            ("input", assignment_text(row.input)),
            ("output", assignment_text(row.output) or "any"),
            ("alpha", row.alpha),
            *([("gamma", row.gamma)] if row.gamma != "0" else []),
            ("eps", rational(found.eps)),
            ("probability", shown(*found.probability, digits)),
            ("required", shown(*found.required, digits)),
            ("short by", shown(*found.margin)),
            *([("fails for", f"eps in {failing_text(row.failing)}")] if row.failing else []),
            *(("worst at" if at == 0 else "", text) for at, text in enumerate(worst_texts(row.failing))),
        ]
        parts.append(f"<h3>{word} {row.row}</h3>\n{fields(pairs)}")
    rest = number - len(parts)
    if rest > 0:
        parts.append(
            f"<p>{rest} more {word}{'' if rest == 1 else 'es' if word == 'class' else 's'} fail, see below</p>\n"
        )
    yield section("Counterexamples" if number > 1 else "Counterexample", "".join(parts))


def _undecided(rows: Iterator[RowResult]) -> Iterator[str]:
    reasons: dict[str, list[int]] = {}
    for row in rows:
        reasons.setdefault(row.reason or "no reason was given", []).append(row.row)
    if reasons:
        yield section("Undecided", fields((numbered("row", found), reason) for reason, found in reasons.items()))


def _table(rows: Sequence[RowResult], word: str) -> str:
    shown_rows = list(islice(rows, _ROWS))
    lines = [
        f"<tr><th>{word}</th><th>input</th><th>output</th><th>alpha</th><th>verdict</th><th>fails for eps in</th></tr>"
    ]
    for row in shown_rows:
        answer = row.note.answer if isinstance(row, ClassResult) and row.note is not None else row.output
        verdict = f"{row.verdict}{' (vacuously)' if row.vacuous else ''}"
        cells = [str(row.row), assignment_text(row.input), assignment_text(answer), row.alpha]
        lines.append(
            "<tr>"
            + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
            + f'<td class="{MOODS[row.verdict]}">{verdict}</td><td>{escape(failing_text(row.failing))}</td></tr>'
        )
    rest = len(rows) - len(shown_rows)
    more = f"<p>and {rest} more; --format json has them all</p>\n" if rest > 0 else ""
    return '<div class="wide"><table>\n' + "\n".join(lines) + f"\n</table></div>\n{more}"


def _program(answered: Answered) -> str:
    program = answered.source.program
    failing = next(iter(worst_first(answered.report.select(Verdict.INACCURATE), 1)), None)
    marked: Collection[int] = ()
    title = "Program"
    if failing is not None and answered.source.table is not None:
        try:
            marked = passed_lines(program, failing)
        except Undecided:
            marked = ()
        if marked:
            title = f"Program, with the lines on the way to row {failing.row}'s output"
    lines = [
        f"<mark>{escape(line)}</mark>" if number in marked else escape(line)
        for number, line in enumerate(program.core.source.text.splitlines(), 1)
    ]
    return section(title, "<pre>" + "\n".join(lines) + "</pre>\n")
