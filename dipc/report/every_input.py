"""The report of `dipc check --inputs all`: what is proved of every real and int input, and by which inputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, assert_never

from dipc.obligations.verdict import Verdict
from dipc.report.claimed import Statement, about
from dipc.report.numbers import agreement, rational, shown
from dipc.report.page import Look, Page, Tone
from dipc.report.text import failing_text, worst_texts
from dipc.report.vectors import assignment_text
from dipc.report.words import (
    NO_INPUT,
    TONES,
    count,
    everywhere_text,
    interval_text,
    s,
    saying_text,
    vacuous_text,
    vacuous_why,
    without_closed_form,
)
from dipc.sources.every_input.class_result import ClassResult, Method
from dipc.sources.outcome import Counts, RowResult
from dipc.sources.report import Report

if TYPE_CHECKING:
    from dipc.inverse.written import WrittenForm

#: Classes of one verdict that are described; the others are counted.
SHOWN_CLASSES = 4

#: Inequalities of one class that are spelled out, and the longest closed form.
_SHOWN_FACETS = 8
_LONGEST = 160


def class_verdict_line(report: Report, statement: Statement) -> str:
    """The whole result in one sentence."""
    counts = report.counts
    if statement.numbers is not None:
        return _numbers_line(report, statement)
    classes = count(counts.rows, "class")
    of_them = f", {_of_them(counts)}" if counts.vacuous else ""
    everywhere = f"every {statement.inputs} input ({classes}{of_them}), {_quantified(report, statement)}"
    vacuous = f", {vacuous_text(counts)}" if counts.vacuous else ""
    match report.verdict:
        case Verdict.ACCURATE:
            return f"accurate: {everywhere}"
        case Verdict.INACCURATE:
            tail = f", {counts.undecided} undecided" if counts.undecided else ""
            return f"INACCURATE: {counts.inaccurate} of {classes} of inputs fail{s(counts.inaccurate)}{tail}{vacuous}"
        case Verdict.UNDECIDED:
            rest = "; the claim holds on the others" if counts.accurate else ""
            return f"UNDECIDED: {counts.undecided} of {classes} of inputs{rest}{vacuous}"
    assert_never(report.verdict)


def _of_them(counts: Counts) -> str:
    """`1 of them vacuously, as β ≥ 1`."""
    number = f"{'all' if counts.vacuous == counts.rows else counts.vacuous} of them "
    return f"{number if counts.rows > 1 else ''}vacuously, as {vacuous_why(counts)}"


def _numbers_line(report: Report, statement: Statement) -> str:
    """The result about every number of queries."""
    counts = report.counts
    match report.verdict:
        case Verdict.ACCURATE:
            everything = f"every {statement.numbers}, every {statement.inputs} input, {_quantified(report, statement)}"
            if counts.vacuous == counts.rows:
                return f"accurate: {everything}, vacuously ({vacuous_why(counts)})"
            some = f"; {counts.vacuous} of {count(counts.rows, 'case')} vacuously, as {vacuous_why(counts)}"
            return f"accurate: {everything} (a union-bound proof{some if counts.vacuous else ''})"
        case Verdict.INACCURATE:
            return f"INACCURATE: the claim does not hold for every {statement.numbers}"
        case Verdict.UNDECIDED:
            return f"UNDECIDED: whether the claim holds for every {statement.numbers}"
    assert_never(report.verdict)


def render_classes(
    report: Report,
    statement: Statement,
    look: Look,
    *,
    forms: tuple[RowResult, Sequence[WrittenForm]] | None = None,
    times: bool = False,
) -> str:
    """The whole report as text. `forms` are a row and its probabilities, which are to be written out."""
    page = Page(look)
    page.line(class_verdict_line(report, statement), TONES[report.verdict])
    page.blank()
    page.fields(_claim(report, statement))
    rows = [row for row in report.rows if isinstance(row, ClassResult)]
    if statement.numbers is not None:
        _cases(page, [row for row in rows if row.verdict is Verdict.ACCURATE])
        rows = [row for row in rows if row.verdict is not Verdict.ACCURATE]
    _section(page, [row for row in rows if row.verdict is Verdict.INACCURATE], _refuted)
    _section(page, [row for row in rows if row.verdict is Verdict.UNDECIDED], _undecided)
    _section(page, [row for row in rows if row.verdict is Verdict.ACCURATE], _proved)
    if forms is not None:
        page.blank()
        _written_out(page, *forms)
    if times:
        effort = report.effort
        page.blank()
        page.fields(
            [
                ("time", f"{effort.seconds:.2f} s"),
                ("work", f"{count(effort.measures, 'integral')}, {count(effort.obligations, 'sign decision')}"),
            ]
        )
    return page.text()


def _quantified(report: Report, statement: Statement) -> str:
    eps = everywhere_text(report.eps, "every eps")
    if not statement.distances:
        return eps
    distances = ", ".join(f"every {name}" for name in statement.distances)
    return f"{distances}{' and ' if eps.startswith('every') else ' '}{eps}"


def _claim(report: Report, statement: Statement) -> Iterable[tuple[str, str]]:
    yield from about(statement, report.eps)
    counts = report.counts
    all_near = counts.vacuous == counts.rows and not counts.above_one
    says = NO_INPUT if all_near else saying_text(report.sayings, report.eps)
    if says is not None:
        yield "says something", says
    methods = [row.note.method for row in report.rows if isinstance(row, ClassResult) and row.note is not None]
    parts = [f"{methods.count(method)} {text}" for method, text in _METHODS.items() if method in methods]
    yield ("classes" if statement.numbers is None else "cases"), "; ".join(parts)


_METHODS = {
    Method.CORNER: "proved exactly, by the one input that is the hardest",
    Method.BOUND: "proved by a lower bound of all its probabilities",
    Method.UNION: "proved by a union bound over single comparisons",
    Method.EMPTY: "without an input that far from other answers",
    Method.WITNESS: "refuted by an input",
    Method.NOTHING: "about which the claim says nothing, as beta ≥ 1",
    Method.NONE: "undecided",
}


def _section(page: Page, rows: Sequence[ClassResult], show: object) -> None:
    assert callable(show)
    for row in rows[:SHOWN_CLASSES]:
        page.blank()
        show(page, row)
    if len(rows) > SHOWN_CLASSES:
        page.blank()
        page.line(f"{count(len(rows) - SHOWN_CLASSES, 'more class')} {rows[0].verdict}; --format json has them all")


def _cases(page: Page, rows: Sequence[ClassResult]) -> None:
    """What is proved for which numbers of queries."""
    if not rows:
        return
    page.blank()
    notes = [row.note for row in rows if row.note is not None]
    page.fields([(", ".join(note.where), _METHODS[note.method]) for note in notes])


def where(row: RowResult) -> Iterable[tuple[str, str]]:
    """The inputs that a class stands for, and the answer there."""
    assert isinstance(row, ClassResult)
    assert row.note is not None
    facets = row.note.where
    rest = f" and {len(facets) - _SHOWN_FACETS} more" if len(facets) > _SHOWN_FACETS else ""
    yield "inputs", (", ".join(facets[:_SHOWN_FACETS]) + rest) if facets else "all"
    if row.note.answer:
        yield "answer", assignment_text(row.note.answer)


def _refuted(page: Page, row: ClassResult) -> None:
    found = row.counterexample
    assert found is not None
    page.line(f"class {row.row} fails", Tone.HEAD)
    digits = agreement(found.probability, found.required)
    beta = f" = 1 - beta, where beta = {row.beta}" if len(row.beta) <= _LONGEST else " = 1 - beta"
    page.fields(
        [
            *where(row),
            ("input", assignment_text(row.input)),
            ("alpha", row.alpha),
            *([("gamma", row.gamma)] if row.gamma != "0" else []),
            ("eps", rational(found.eps)),
            ("probability", shown(*found.probability, digits)),
            ("required", shown(*found.required, digits) + beta),
            ("short by", shown(*found.margin)),
            *([("fails for", f"eps in {failing_text(row.failing)}, at this input")] if row.failing else []),
            *(("worst at" if number == 0 else "", text) for number, text in enumerate(worst_texts(row.failing))),
        ]
    )


def _undecided(page: Page, row: ClassResult) -> None:
    page.line(f"class {row.row} is undecided", Tone.HEAD)
    page.fields([*where(row), ("reason", row.reason or "no reason was given")], label_width=len("probability"))


def _proved(page: Page, row: ClassResult) -> None:
    note = row.note
    assert note is not None
    why = "" if not row.vacuous else " vacuously, as " + ("dd < alpha" if row.says is None else "beta ≥ 1")
    page.line(f"class {row.row} holds{why}", Tone.HEAD)
    pairs = [*where(row)]
    if note.corner and note.exact:
        pairs.append(("hardest at", assignment_text(note.corner)))
    if note.probability is not None and note.beta is not None:
        relation = "=" if note.exact else "≥"
        product = note.variable != "eps"
        pairs.append(("probability", f"{relation} {_form(note.probability, product)}"))
        pairs.append(("beta", _form(note.beta, product)))
        if product:
            pairs.append(("for every", f"t = {note.variable} in {interval_text(note.range)}"))
    page.fields(pairs, label_width=len("probability"))


def _written_out(page: Page, row: RowResult, forms: Sequence[WrittenForm]) -> None:
    """Probabilities in closed form; a lower bound is called one."""
    page.line(f"class {row.row} in closed form: {row.verdict}", Tone.HEAD)
    pairs = list(where(row))
    for form in forms:
        text = form.text if form.variable == "eps" else re.sub(r"\beps\b", "t", form.text)
        said = "" if form.variable == "eps" else f", t = {form.variable}"
        pairs.append(("probability", f"{'' if form.exact else 'at least '}{text}{said}"))
    if not forms:
        pairs.append(("probability", without_closed_form(row)))
    page.fields(pairs, label_width=len("probability"))


def _form(text: str, product: bool) -> str:
    """A closed form, in t where it is a function of a product of eps."""
    shown_text = text.replace("eps", "t") if product else text
    return shown_text if len(text) <= _LONGEST else f"a form of {len(text)} characters; --format json has it"
