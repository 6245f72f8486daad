"""The methods of library objects that need rooms above their own, which call them on demand.

They compare and divide closed forms, decide their signs and suprema, and show reports and chains as tables, pictures
and in notebooks.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from html import escape
from importlib import import_module
from itertools import pairwise
from typing import Any

from dipc.algebra.exppoly import ClosedForm, Supremum, fraction_of
from dipc.algebra.limits import Limits
from dipc.algebra.record import json_object
from dipc.claims.claim import resolve_intervals, the_one_eps
from dipc.claims.given import CellPool
from dipc.claims.table import input_cells, output_cells
from dipc.decide.obligation import Decision, EndPoint, Verdict, decide
from dipc.frozen import frozen
from dipc.outcome.classes import class_verdict_line
from dipc.outcome.classes import findings as class_findings
from dipc.outcome.curves import draw_row
from dipc.outcome.html import table
from dipc.outcome.outcome import Line, render_parts, section
from dipc.outcome.program import Dtmc, chain_at, lines_of, place_text
from dipc.outcome.rows import findings, verdict_line
from dipc.outcome.words import (
    agreement,
    assignment_text,
    count,
    enclosed_text,
    product_letter,
    rational,
)
from dipc.program.program import Program
from dipc.questions.privacy.outcome import PrivacyReport
from dipc.questions.report import ClassResult, Report, RowResult
from dipc.sign.chart import cuts, sign_chart
from dipc.sign.interval import Interval
from dipc.sign.optimum import ReducedQuotient, highest, number_cell, peaks
from dipc.sign.piecewise import PiecewiseForm, proved_quotient
from dipc.sign.roots import Root
from dipc.text.core import Value
from dipc.text.diagnostic import SourceText
from dipc.text.parser import parse_interval


@frozen
class SignPiece:
    """A maximal interval of eps, from `start` to `end`, on which a function has one `sign`: -1, 0 or 1.

    Each end states whether it belongs to the interval. A piece with the sign 0 is a single point, unless the function
    is 0 everywhere.
    """

    start: EndPoint
    end: EndPoint
    sign: int


def intervals_of(eps: str | None, only_at: Fraction | None = None) -> tuple[Interval, ...]:
    """Return the intervals of the text `eps`, such as "(0, 1], (2, inf)".

    `only_at`, if given, is the only eps at which the closed form in question is known. If `eps` is None, the result is
    all eps > 0, or only `only_at` if that is given. Raises DiagnosticError for a text that is not intervals. Raises
    ValueError if `only_at` is given and `eps` is anything else.
    """
    if eps is None:
        return (Interval.POSITIVE if only_at is None else Interval(only_at, only_at, True, True),)
    source = SourceText("<eps>", eps)
    intervals = resolve_intervals(source, parse_interval(source), {})
    if only_at is not None and the_one_eps(intervals) != only_at:
        raise ValueError(f"the closed form holds only at eps = {only_at}, but {eps} is asked about")
    return intervals


def at_least(form: ClosedForm, other: ClosedForm, eps: str | None, limits: Limits | None) -> Decision:
    """Decide whether `form` >= `other` at every eps of the intervals in the text `eps`, within `limits`."""
    required = PiecewiseForm((ClosedForm.convert(1) - other).value)
    return decide(form, required, intervals_of(eps, form.shared_eps(other)), limits or Limits())


def signs(form: ClosedForm, eps: str | None, limits: Limits | None) -> tuple[SignPiece, ...]:
    """Return the signs of `form` on the intervals in the text `eps`, in pieces from left to right.

    Raises LimitReached if the work exceeds `limits`.
    """
    numerator, _ = fraction_of(form.value)
    pieces: list[SignPiece] = []
    for interval in intervals_of(eps, form.only_at):
        first = EndPoint(interval.lower, interval.lower, interval.lower_closed)
        last = EndPoint(interval.upper or Fraction(0), interval.upper, interval.upper_closed)
        if numerator.is_zero():
            pieces.append(SignPiece(first, last, 0))
            continue
        chart = sign_chart(numerator, interval, limits)
        if interval.is_point:
            pieces.append(SignPiece(first, last, chart.lower_sign or 0))
            continue
        bounds = [None, *chart.roots, None]
        for (left, right), sign in zip(pairwise(bounds), chart.signs, strict=True):
            start = EndPoint(first.low, first.high, chart.lower_sign == sign) if left is None else _end(left)
            end = EndPoint(last.low, last.high, chart.upper_sign == sign) if right is None else _end(right)
            if left is None and chart.lower_sign == 0:
                pieces.append(SignPiece(first, first, 0))
            pieces.append(SignPiece(start, end, sign))
            if right is not None:
                root = EndPoint(right.lower, right.upper, included=True)
                pieces.append(SignPiece(root, root, 0))
            elif chart.upper_sign == 0:
                pieces.append(SignPiece(last, last, 0))
    return tuple(pieces)


def _end(root: Root) -> EndPoint:
    return EndPoint(root.lower, root.upper, included=False)


def supremum(form: ClosedForm, eps: str | None, digits: int, limits: Limits | None) -> Supremum:
    """Return the supremum of `form` over all the intervals in the text `eps`, enclosed to `digits` digits.

    Raises LimitReached if the work exceeds `limits`.
    """
    numerator, denominator = fraction_of(form.value)
    ratio = ReducedQuotient.from_fraction(numerator, denominator)
    candidates = [
        peak for interval in intervals_of(eps, form.only_at) for peak in peaks(ratio, *cuts(interval), limits)
    ]
    best = highest(candidates, digits)
    assert best is not None, "a closed form has a value everywhere"
    for number in best.numbers:
        number.recognize()
    peak = next((peak for peak in best.peaks if peak.attained), best.peaks[0])
    eps_cell = peak.place_cell(digits, limits)
    if best.is_infinite:
        return Supremum(None, None, eps_cell, best.attained)
    low, high = best.enclosure(digits)
    if low >= 0:
        low, high = number_cell(best.numbers[0], digits)
    return Supremum(low, high, eps_cell, best.attained)


def divided(form: ClosedForm, other: ClosedForm) -> ClosedForm:
    """Return `form`/`other`; raise ZeroDivisionError unless `other` is proved not to be 0 for any eps > 0."""
    above, below = fraction_of(form.value), fraction_of(other.value)
    if below[0].is_zero():
        raise ZeroDivisionError("the divisor is 0 for every eps")
    value = proved_quotient(above[0] * below[1], above[1] * below[0])
    if value is None:
        raise ZeroDivisionError(f"{other} could not be proved to differ from 0 for every eps > 0")
    return ClosedForm(value, form.shared_eps(other))


def nearest_float(form: ClosedForm, eps: Fraction | int | str) -> float:
    """Return the float nearest to the value of `form` at `eps`.

    If 160 digits do not decide which of two neighboring floats is nearer, the result is one of the two.
    """
    low, high = form.enclosure(eps, 20)
    for digits in (40, 80, 160):
        if float(low) == float(high):
            break
        low, high = form.enclosure(eps, digits)
    return float(low)


#: The libraries that can make a DataFrame, in order of preference; neither is a dependency.
_LIBRARIES = ("pandas", "polars")

_OWN = ("row", "alpha", "beta", "gamma", "verdict", "vacuous", "probability", "eps", "reason", "count")


def records(report: Report) -> list[dict[str, object]]:
    """Return the rows of `report` as flat dicts with equal keys, in the order of a table's columns."""
    names = dict.fromkeys(name for row in report.rows for name in (*row.input, *row.output))
    renamed = {name: name if name not in _OWN else f"{name} of the program" for name in names}
    plain = "alpha beta gamma verdict vacuous probability eps=counterexample.eps reason count?"
    return [
        {"row": row.row, **{renamed[name]: {**row.input, **row.output}.get(name) for name in names}}
        | json_object(row, plain)
        for row in report.rows
    ]


def data_frame(report: Report) -> Any:
    """Return the rows of `report` as a DataFrame, of pandas or polars.

    The library is the one that has been imported, or else the one that is installed. Raises ImportError if neither is
    available.
    """
    rows = records(report)
    columns = {name: [row[name] for row in rows] for name in (rows[0] if rows else _OWN)}
    for name in sorted(_LIBRARIES, key=lambda name: name not in sys.modules):
        with suppress(ImportError):
            return import_module(name).DataFrame(columns)
    message = "to_frame needs pandas or polars, and neither is installed; report.records() has the rows as dicts"
    raise ImportError(message)


# --- Pr against 1 - beta over eps ------------------------------------------------------------------


def draw(report: Report, number: int | None, axes: Any) -> Any:
    """Draw the row of `report` with this `number` on `axes`, or on new axes if it is None, and return the axes.

    If `number` is None, the row is the first one that fails, or else the first one whose claim is not vacuous and whose
    probability has a closed form. Raises ValueError if there is nothing to draw, ImportError without matplotlib.
    """
    if number is not None:
        row, why = next((row for row in report.rows if row.row == number), None), f"there is no row {number}"
    else:
        row, why = next(report.select(Verdict.INACCURATE), None), "no row has a probability and a non-vacuous claim"
        row = row or next((row for row in report.rows if not row.vacuous and row.closed_form is not None), None)
        why += ", so there is nothing to draw"
    if row is None:
        raise ValueError(why)
    if row.closed_form is None:
        raise ValueError(f"row {row.row} has no probability in closed form, so there is nothing to draw")
    if axes is None:
        try:
            from matplotlib import pyplot as plt
        except ImportError:
            raise ImportError(
                "a plot needs matplotlib: in a checkout pip install '.[plot]', elsewhere pip install matplotlib"
            ) from None
        _, axes = plt.subplots()
    draw_row(axes, row, intervals_of(report.eps), f"{report.program}, row {row.row}: {row.verdict}")
    return axes


# --- notebooks and messages ------------------------------------------------------------------------


#: The most rows of a table that a notebook shows.
_SHOWN = 20

_COLORS = {Verdict.ACCURATE: "#1a7f37", Verdict.INACCURATE: "#cf222e", Verdict.UNDECIDED: "#9a6700"}


def refusal(report: Report) -> str:
    """Return a sentence that says why `report` is not accurate: its first failing row, else the first undecided one."""
    counts, word = report.counts, _word(report.rows)
    first = next(report.select(Verdict.INACCURATE), None) or next(report.select(Verdict.UNDECIDED), None)
    cases = count(counts.rows, word)
    if first is None:
        return f"{report.program}: the check was interrupted after {cases}"
    name, place, found = f"{word} {first.row}", _row_text(first), first.counterexample
    if found is None:
        others = f"({counts.undecided} of {cases} are undecided)"
        return f"{report.program} is undecided: {name}, {place}: {first.reason} {others}"
    probability, required = _told_apart(found.probability, found.required)
    return (
        f"{report.program} is inaccurate: {name} fails, {place}: at eps = {rational(found.eps)} the probability is "
        f"{probability}, and 1 - beta = {required} is required ({counts.inaccurate} of {cases} fail)"
    )


def privacy_refusal(report: PrivacyReport) -> str:
    """Return a sentence that says why `report` is not private: its counterexample, or why it is undecided."""
    found = report.counterexample
    if found is None:
        return f"{report.program} is undecided: {report.reason}"
    balls = [f"{name} in [{rational(low)}, {rational(high)}]" for name, (low, high) in (found.balls or {}).items()]
    finite = " or ".join(map(assignment_text, found.outputs))
    outputs = ", ".join([*([finite] if any(found.outputs) or not balls else []), *balls])
    probability, allowed = _told_apart(found.probability, found.allowed)
    return (
        f"{report.program} is not private: {outputs} at {assignment_text(found.input)}, which is adjacent to "
        f"{assignment_text(found.adjacent)}: at eps = {rational(found.eps)} the probability is {probability}, and "
        f"{allowed} is allowed"
    )


def _told_apart(*sides: tuple[Fraction, Fraction]) -> list[str]:
    digits = agreement(*sides)
    return [enclosed_text(*side, digits) for side in sides]


def _claim_fields(report: Report) -> list[tuple[str, str]]:
    constants = ", ".join(f"{name} = {value}" for name, value in report.constants.items())
    program = report.program + (f" with {constants}" if constants else "")
    claim = ((name, "each row's own" if text is None else text) for name, text in report.claim.items())
    return [("program", program), *claim]


def report_text(report: Report) -> str:
    """Return the verdict of `report` in a sentence, its claim, and its counterexamples and undecided rows."""
    classes = [row for row in report.rows if isinstance(row, ClassResult)] if not report.inputs else []
    line = class_verdict_line(report) if classes else verdict_line(report)
    result = class_findings(classes, product_letter(report.constants)) if classes else findings(report)
    return render_parts([Line(line), section(None, *_claim_fields(report)), *result]).rstrip("\n")


def report_html(report: Report) -> str:
    """Return the verdict of `report`, the claim, and the first rows, failing ones first, as HTML."""
    counts, word = report.counts, _word(report.rows)
    kinds = ((counts.inaccurate, "fail"), (counts.undecided, "undecided"), (counts.vacuous, "vacuous"))
    tally = ", ".join([count(counts.rows, word), *(f"{number} {kind}" for number, kind in kinds if number)])
    head = f'<b style="color: {_COLORS[report.verdict]}">{report.verdict}</b>: {escape(tally)}'
    claim = "; ".join(f"{name} = {text}" for name, text in _claim_fields(report))
    rows = [*report.failures[:_SHOWN], *report.select(Verdict.UNDECIDED), *report.select(Verdict.ACCURATE)][:_SHOWN]
    columns = (word, "input", "answer", "alpha", "beta", "verdict", "eps", "probability", "required")
    rest = counts.rows - len(rows)
    more = f"<p>and {count(rest, f'more {word}')}</p>" if rest > 0 else ""
    shown_rows = table(columns, [(None, _cells(row)) for row in rows])
    return f"<div><p>{head}</p><p>{escape(claim)}</p>{shown_rows}{more}</div>"


def _cells(row: RowResult) -> tuple[str, ...]:
    found = row.counterexample
    numbers: tuple[str, ...] = ("", "", "")
    if found is not None:
        numbers = (rational(found.eps), *_told_apart(found.probability, found.required))
    verdict = f"{row.verdict}{', vacuously' if row.vacuous else ''}"
    return (str(row.row), _row_text(row), assignment_text(row.output), row.alpha, row.beta, verdict, *numbers)


def _row_text(row: RowResult) -> str:
    if isinstance(row, ClassResult) and not row.input:
        return ", ".join(row.note.conditions) or "all inputs"
    return assignment_text(row.input) if row.input else "no inputs"


def _word(rows: Sequence[RowResult]) -> str:
    return "class" if rows and (rows[0].count is not None or isinstance(rows[0], ClassResult)) else "row"


def chain_html(dtmc: Dtmc) -> str:
    """Return the chain `dtmc` as an HTML table: for each state its values, noises, constraints and steps."""
    rows = []
    for number, state in enumerate(dtmc.states):
        steps = (
            f"s{step.goal}{f' when {step.outcome}' if step.outcome else ''}: "
            f"{step.reason or 'open' if step.probability is None else step.probability}"
            for step in dtmc.steps[number]
        )
        known = "; ".join(", ".join(line) for line in lines_of(state))
        rows.append((None, (f"s{number}", place_text(state), known, "\n".join(steps))))
    return table(("state", "next", "known", "steps"), rows)


# --- the chain of a program ------------------------------------------------------------------------


def chain_of(program: Program, given: Mapping[str, object], wanted: Mapping[str, object]) -> Dtmc:
    """Return the chain of `program` at the input `given`.

    Parts that cannot lead to the outputs `wanted` are left out.
    """
    core, pool = program.core, CellPool()
    finite: dict[str, Value] = {}
    reals: dict[str, Value] = {}
    for slot, cell in zip(core.inputs, input_cells(core, given, pool), strict=True):
        assert cell.value is not None
        (reals if core.slots[slot].is_symbolic else finite)[core.slots[slot].name] = cell.value
    outputs = zip(program.outputs, output_cells(core, wanted, pool), strict=True)
    kept = {name: cell.value for name, cell in outputs if cell is not None and cell.value is not None}
    return chain_at(program, reals, kept, finite)
