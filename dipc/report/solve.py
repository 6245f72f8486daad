"""The answers of `dipc solve` as text and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from dipc.algebra.decimals import decimal
from dipc.obligations.verdict import EndPoint
from dipc.report.claimed import event_text, program_text
from dipc.report.numbers import cell_text, rational
from dipc.report.page import Look, Page, Tone
from dipc.report.text import Statement, interval_text
from dipc.report.vectors import assignment_text

if TYPE_CHECKING:
    from dipc.inverse.solution import (
        AlphaSolution,
        BetaSolution,
        EpsSolution,
        GammaSolution,
        Solution,
        Span,
    )

#: How many rows are described, and how many row numbers a list spells out.
_SHOWN_ROWS = 2
_LISTED_ROWS = 12

_MOST_SPANS = 12


def render(found: Solution, statement: Statement, inputs: Sequence[str], outputs: Sequence[str], look: Look) -> str:
    """One answer as a page; the names are those of the program's inputs and outputs, in order."""
    page = Page(look)
    page.line(headline(found), _tone(found))
    page.blank()
    page.fields(_about(found, statement))
    details = list(_details(found))
    if details:
        page.blank()
        page.fields(details)
    if found.remark:
        page.blank()
        page.fields([("reason" if found.status == "undecided" else "because", found.remark)])
    for number in found.rows[:_SHOWN_ROWS]:
        page.blank()
        row = found.row(number)
        page.line(f"row {number} {_part(found)}", Tone.HEAD)
        given = {name: cell.text for name, cell in zip(inputs, row.inputs, strict=True)}
        wanted = {name: cell.text for name, cell in zip(outputs, row.outputs, strict=True) if cell is not None}
        page.fields(
            [
                ("input", assignment_text(given)),
                ("output", assignment_text(wanted) if wanted else "any"),
                *([] if row.dd is None else [("dd", row.dd.text)]),
            ]
        )
    rest = found.rows[_SHOWN_ROWS:]
    if rest:
        page.blank()
        page.line(f"likewise {_rows_text(rest)}", Tone.FAINT)
    return page.text()


def render_json(found: Solution) -> str:
    """The JSON object, schema `dipc.solve/1`, in ASCII."""
    return json.dumps(found.as_json(), indent=1) + "\n"


def headline(found: Solution) -> str:
    """The whole answer in one sentence."""
    from dipc.inverse.solution import AlphaSolution, BetaSolution, EpsSolution, GammaSolution

    if found.status == "undecided":
        return f"UNDECIDED: the least {found.wanted} is not known"
    match found:
        case EpsSolution():
            return _eps_headline(found)
        case GammaSolution():
            return _gamma_headline(found)
        case AlphaSolution():
            return _alpha_headline(found)
        case BetaSolution():
            return _beta_headline(found)
    raise AssertionError(found)


def _eps_headline(found: EpsSolution) -> str:
    where = interval_text(found.eps)
    least = found.least
    if least is None:
        return f"NO SOLUTION: the claim fails for every eps in {where}"
    if found.everywhere:
        return f"no least eps is needed: the claim holds for every eps in {where}"
    if not least.included:
        rest = "and from there on" if found.from_there_on else "but not from there on"
        return f"no least eps: the claim holds right above {_end(least)}, {rest}"
    rest = "; the claim holds from there on" if found.from_there_on else ", but the claim does not hold from there on"
    return f"least eps {_end(least)}{rest}"


def _gamma_headline(found: GammaSolution) -> str:
    if found.value is None:
        return "NO SOLUTION: no gamma suffices"
    low, high = found.value
    if found.exact:
        return f"least gamma {rational(high)}, exactly"
    return f"least gamma in ({decimal(low)}, {decimal(high)}]"


def _alpha_headline(found: AlphaSolution) -> str:
    if found.value is None:
        return "NO SOLUTION: no alpha suffices for which a row claims anything"
    rows = "the row" if found.claims == 1 else f"all {found.claims} rows"
    return f"least alpha {rational(found.value)}: {rows} with dd(u) > {found.value} hold{'s' * (found.claims == 1)}"


def _beta_headline(found: BetaSolution) -> str:
    if not found.pieces:
        return "every beta suffices: no row claims anything"
    if all(piece.value is not None for piece in found.pieces):
        values = [f"{cell_text(*piece.value)} at eps = {piece.span.start.low}" for piece in found.pieces if piece.value]
        return f"least beta {', '.join(values)}"
    if len({piece.beta for piece in found.pieces}) == 1:
        return f"least beta {found.pieces[0].beta}"
    return f"least beta: a closed form in each of {len(found.pieces)} pieces"


def _tone(found: Solution) -> Tone:
    return {"solved": Tone.GOOD, "none": Tone.BAD, "undecided": Tone.OPEN}[found.status]


def _part(found: Solution) -> str:
    """What the rows that are named do."""
    if found.status == "undecided":
        return "is undecided"
    if found.status == "none":
        return "fails for every eps" if found.wanted == "eps" and len(found.rows) == 1 else "fails"
    return {
        "eps": "fails for smaller eps",
        "gamma": "fails with a smaller gamma",
        "alpha": "fails with a smaller alpha",
        "beta": "needs it",
    }[found.wanted]


def _about(found: Solution, statement: Statement) -> Iterable[tuple[str, str]]:
    yield "program", program_text(statement.program, statement.constants)
    yield "table", statement.table
    yield "claim", f"Pr[{event_text(statement.near, statement.distance)}] ≥ 1 - beta, for every input u of the table"
    said = {"alpha": statement.alpha, "beta": statement.beta, "gamma": statement.gamma}
    for name, text in said.items():
        yield name, "asked for" if found.wanted == name else text
    where = interval_text(found.eps)
    if found.wanted == "eps":
        yield "eps", f"asked for, in {where}"
    else:
        yield "eps", found.single_eps or f"all of {where}"


def _details(found: Solution) -> Iterable[tuple[str, str]]:
    from dipc.inverse.solution import BetaSolution, EpsSolution, GammaSolution

    match found:
        case EpsSolution(holds=holds) if holds and not found.everywhere:
            maybe = "at most for" if found.status == "undecided" else "holds for"
            yield maybe, f"eps in {_union(holds)}"
        case GammaSolution(value=value) if value is not None and not found.exact:
            yield "fails with", f"gamma = {decimal(value[0])}"
            yield "holds with", f"gamma = {decimal(value[1])}"
        case BetaSolution(pieces=pieces) if len(pieces) > 1 or any(piece.value for piece in pieces):
            for piece in pieces:
                at = f"eps = {piece.span.start.low}" if piece.span.is_point else f"eps in {_span(piece.span)}"
                yield at, f"{piece.beta}   ({_rows_text(piece.rows)})"


def _union(spans: Sequence[Span]) -> str:
    parts = [_span(span) for span in spans[:_MOST_SPANS]]
    if len(spans) > _MOST_SPANS:
        parts.append(f"{len(spans) - _MOST_SPANS} more intervals")
    return " ∪ ".join(parts)


def _span(span: Span) -> str:
    if span.is_point:
        return f"{{{_end(span.start)}}}"
    left, right = "[" if span.start.included else "(", "]" if span.end.included else ")"
    return f"{left}{_end(span.start)}, {_end(span.end)}{right}"


def _end(end: EndPoint) -> str:
    return "∞" if end.high is None else cell_text(end.low, end.high)


def _rows_text(rows: Sequence[int]) -> str:
    if len(rows) == 1:
        return f"row {rows[0]}"
    text = ", ".join(map(str, rows[:_LISTED_ROWS]))
    return f"rows {text}{', …' if len(rows) > _LISTED_ROWS else ''}"
