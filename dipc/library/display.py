"""Reports, chains and closed forms as notebooks show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from dipc.algebra.closed_form import ClosedForm
from dipc.obligations.verdict import Verdict
from dipc.privacy.outcome import PrivacyReport
from dipc.report import latex as formulas
from dipc.report.dtmc import Dtmc, lines_of, place_text
from dipc.report.numbers import agreement, rational, shown
from dipc.report.vectors import assignment_text
from dipc.report.words import count
from dipc.sources.every_input.class_result import ClassResult
from dipc.sources.outcome import RowResult
from dipc.sources.report import Report

#: Rows of a table that a notebook shows.
_SHOWN = 20

_COLORS = {Verdict.ACCURATE: "#1a7f37", Verdict.INACCURATE: "#cf222e", Verdict.UNDECIDED: "#9a6700"}


def latex(form: ClosedForm) -> str:
    """The function in LaTeX mathematics."""
    return formulas.latex(form)


def refusal(report: Report) -> str:
    """Why a report is not accurate, in a sentence or two: the first row that fails, else the first undecided one."""
    counts = report.counts
    first = next(report.select(Verdict.INACCURATE), None) or next(report.select(Verdict.UNDECIDED), None)
    if first is None:
        return f"{report.program}: the check was interrupted after {count(counts.rows, _word(report.rows))}"
    name = f"{_word(report.rows)} {first.row}"
    found = first.counterexample
    if found is None:
        others = f" ({counts.undecided} of {count(counts.rows, _word(report.rows))} are undecided)"
        return f"{report.program} is undecided: {name}, {_where(first)}: {first.reason}{others}"
    digits = agreement(found.probability, found.required)
    return (
        f"{report.program} is inaccurate: {name} fails, {_where(first)}: at eps = {rational(found.eps)} the "
        f"probability is {shown(*found.probability, digits)}, and 1 - beta = {shown(*found.required, digits)} is "
        f"required ({counts.inaccurate} of {count(counts.rows, _word(report.rows))} fail)"
    )


def privacy_refusal(report: PrivacyReport) -> str:
    """Why a report is not that of a private program: its counterexample, or the reason why it is undecided."""
    found = report.counterexample
    if found is None:
        return f"{report.program} is undecided: {report.reason}"
    outputs = " or ".join(assignment_text({k: str(v) for k, v in output.items()}) for output in found.outputs)
    one, two = (assignment_text({k: str(v) for k, v in side.items()}) for side in (found.input, found.adjacent))
    balls = [f"{name} in [{rational(low)}, {rational(high)}]" for name, (low, high) in (found.balls or {}).items()]
    outputs = ", ".join(filter(None, [outputs, *balls]))
    digits = agreement(found.probability, found.allowed)
    return (
        f"{report.program} is not private: at {one}, and {two} next to it, {outputs}: at eps = {rational(found.eps)} "
        f"the probability is {shown(*found.probability, digits)}, and {shown(*found.allowed, digits)} is allowed"
    )


def report_html(report: Report) -> str:
    """The verdict, the claim, and the first rows, those that fail before all others."""
    counts, word = report.counts, _word(report.rows)
    parts = [f"{number} {name}" for name, number in _kinds(report)]
    head = f'<b style="color: {_COLORS[report.verdict]}">{report.verdict}</b>: {escape(", ".join(parts))}'
    constants = ", ".join(f"{name} = {value}" for name, value in report.constants.items())
    said = [f"program {report.program}" + (f" with {constants}" if constants else "")]
    said += [f"{name} = {'each row’s own' if text is None else text}" for name, text in report.claim.items()]
    rows = [*report.failures[:_SHOWN], *report.select(Verdict.UNDECIDED), *report.select(Verdict.ACCURATE)]
    body = [_cells(row) for row in rows[:_SHOWN]]
    rest = counts.rows - len(body)
    table = _table((word, "input", "answer", "alpha", "beta", "verdict", "eps", "probability", "required"), body)
    more = f"<p>and {count(rest, f'more {word}')}</p>" if rest > 0 else ""
    return f"<div><p>{head}</p><p>{escape('; '.join(said))}</p>{table}{more}</div>"


def _kinds(report: Report) -> Iterable[tuple[str, int]]:
    counts = report.counts
    yield _word(report.rows) if counts.rows == 1 else "rows" if _word(report.rows) == "row" else "classes", counts.rows
    for name, number in (("fail", counts.inaccurate), ("undecided", counts.undecided), ("vacuous", counts.vacuous)):
        if number:
            yield name, number


def _cells(row: RowResult) -> tuple[str, ...]:
    found = row.counterexample
    numbers = ("", "", "")
    if found is not None:
        digits = agreement(found.probability, found.required)
        numbers = (rational(found.eps), shown(*found.probability, digits), shown(*found.required, digits))
    verdict = f"{row.verdict}{', vacuously' if row.vacuous else ''}"
    return (str(row.row), _where(row), assignment_text(row.output), row.alpha, row.beta, verdict, *numbers)


def _where(row: RowResult) -> str:
    if isinstance(row, ClassResult) and row.note is not None and not row.input:
        return ", ".join(row.note.where) or "all inputs"
    return assignment_text(row.input) if row.input else "no inputs"


def _word(rows: Sequence[RowResult]) -> str:
    return "class" if rows and (rows[0].count is not None or isinstance(rows[0], ClassResult)) else "row"


def chain_html(dtmc: Dtmc) -> str:
    """The states, with what each knows and its steps."""
    body = []
    for number, state in enumerate(dtmc.states):
        knows = "; ".join(", ".join(parts) for parts in lines_of(state))
        steps = [
            f"s{step.goal}"
            + (f" when {step.outcome}" if step.outcome else "")
            + (f": {step.probability}" if step.probability is not None else f": {step.reason or 'open'}")
            for step in dtmc.steps[number]
        ]
        body.append((f"s{number}", place_text(state), knows, "\n".join(steps)))
    return _table(("state", "next", "known", "steps"), body)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    lines = (
        "<tr>" + "".join(f"<td>{escape(cell).replace(chr(10), '<br>')}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
