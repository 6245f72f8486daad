"""The answers of `dipc solve` as text and JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from dipc.algebra.decimals import decimal
from dipc.obligations.verdict import EndPoint
from dipc.report.claimed import Statement, about
from dipc.report.every_input import where
from dipc.report.numbers import cell_text, rational, shown
from dipc.report.page import Look, Page, Tone
from dipc.report.vectors import assignment_text
from dipc.report.words import NO_INPUT, everywhere_text, numbered, saying_text, says_nothing
from dipc.sources.source import Variable

if TYPE_CHECKING:
    from dipc.inverse.solution import (
        AlphaSolution,
        BetaSolution,
        EnvelopePiece,
        EpsSolution,
        GammaSolution,
        Solution,
        Span,
    )

#: How many rows are described.
_SHOWN_ROWS = 2

_MOST_SPANS = 12


def render(found: Solution, statement: Statement, look: Look) -> str:
    """One answer as a page."""
    page = Page(look)
    page.line(headline(found), _tone(found))
    page.blank()
    page.fields(about(statement, found.eps, asked=str(found.wanted)))
    details = [*_details(found), *_saying(found)]
    if details:
        page.blank()
        page.fields(details)
    if found.remark:
        page.blank()
        page.fields([("reason" if found.status == "undecided" else "because", found.remark)])
    word = found.question.word
    for number in found.rows[:_SHOWN_ROWS]:
        page.blank()
        page.line(f"{word} {number} {_part(found)}", Tone.HEAD)
        page.fields(_case(found, number))
    rest = found.rows[_SHOWN_ROWS:]
    if rest:
        page.blank()
        page.line(f"likewise {numbered(word, rest)}", Tone.FAINT)
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


def _case(found: Solution, number: int) -> Iterable[tuple[str, str]]:
    row = found.shown(number)
    if found.question.table is None:
        yield from where(row)
        return
    yield "input", assignment_text(row.input)
    yield "output", assignment_text(row.output) if row.output else "any"
    dd = found.question.table.rows[number - 1].dd
    if dd is not None:
        yield "dd", dd.text


def _eps_headline(found: EpsSolution) -> str:
    everywhere = everywhere_text(found.eps)
    least = found.least
    if least is None:
        return f"NO SOLUTION: the claim fails {everywhere}"
    if found.everywhere:
        why = _nothing(found)
        return f"no least eps is needed: the claim holds {everywhere}{'' if why is None else f', vacuously ({why})'}"
    if not least.included:
        rest = "and from there on" if found.from_there_on else "but not from there on"
        return f"no least eps: the claim holds right above {_end(least)}, {rest}"
    rest = "; the claim holds from there on" if found.from_there_on else ", but the claim does not hold from there on"
    return f"least eps {_end(least)}{rest}"


def _gamma_headline(found: GammaSolution) -> str:
    if found.product is not None:
        smallest = "" if found.value is None else f", at most {shown(*found.value, found.digits)}"
        return f"least gamma k/eps with k = {cell_text(*found.product)}{smallest}"
    if found.value is None:
        return "NO SOLUTION: no gamma suffices"
    low, high = found.value
    if found.exact:
        why = _nothing(found)
        return f"least gamma {rational(high)}, exactly{'' if why is None else f': the claim says nothing ({why})'}"
    return f"least gamma in ({decimal(low)}, {decimal(high)}]"


def _alpha_headline(found: AlphaSolution) -> str:
    if found.product is not None and found.product[1] is not None:
        low, high = found.product
        if not high:
            why = _nothing(found)
            return f"least alpha 0, for every eps{'' if why is None else f': the claim says nothing ({why})'}"
        number = "" if found.cell is None else f" = {shown(*found.cell, found.digits)}"
        return f"least alpha t/eps with t = {cell_text(low, high)}{number}"
    if found.value is None:
        return f"NO SOLUTION: no alpha suffices for which a {found.question.word} claims anything"
    rows = "the row" if found.claims == 1 else f"all {found.claims} rows"
    why = _nothing(found)
    holds = f"hold{'s' * (found.claims == 1)}{'' if why is None else f' vacuously ({why})'}"
    return f"least alpha {rational(found.value)}: {rows} with dd(u) > {found.value} {holds}"


def _beta_headline(found: BetaSolution) -> str:
    if not found.pieces:
        return f"every beta suffices: no {found.question.word} claims anything"
    if all(piece.value is not None for piece in found.pieces):
        values = [f"{cell_text(*piece.value)} at eps = {piece.span.start.low}" for piece in found.pieces if piece.value]
        return f"least beta {', '.join(values)}"
    if len({piece.beta for piece in found.pieces}) == 1:
        return f"least beta {_form(found.pieces[0])}{_variable_text(found.pieces[0], ', where ')}"
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


def _saying(found: Solution) -> Iterable[tuple[str, str]]:
    says = NO_INPUT if found.claims_nothing and not found.sayings else saying_text(found.sayings, found.eps)
    if says is not None:
        yield "says something", says


def _nothing(found: Solution) -> str | None:
    """Why the claim, with what was found, says nothing; None where it says something."""
    return says_nothing(found.sayings) if found.claims_nothing else None


def _details(found: Solution) -> Iterable[tuple[str, str]]:
    from dipc.inverse.solution import AlphaSolution, BetaSolution, EpsSolution, GammaSolution

    match found:
        case EpsSolution(holds=holds) if holds and not found.everywhere:
            maybe = "at most for" if found.status == "undecided" else "holds for"
            yield maybe, f"eps in {_union(holds)}"
            if found.proved:
                yield "at least for", f"eps in {_union(found.proved)}"
        case AlphaSolution(product=product, holds=holds) if product is not None:
            maybe = "at most for" if found.status == "undecided" else "holds for"
            yield maybe, f"t = alpha*eps in {_union(holds)}"
            if found.status == "undecided" and product[1] is not None:
                yield "proved with", f"alpha = t/eps, t = {decimal(product[1])}"
        case GammaSolution(value=value, product=None) if value is not None and not found.exact:
            yield "fails with", f"gamma = {decimal(value[0])}"
            yield "holds with", f"gamma = {decimal(value[1])}"
        case BetaSolution(pieces=pieces) if len(pieces) > 1 or any(p.value or not p.exact for p in pieces):
            for piece in pieces:
                yield _at(found, piece), _beta_text(found, piece)


def _at(found: BetaSolution, piece: EnvelopePiece) -> str:
    """Where a piece is: for which values of its variable, and of a constant that is left open."""
    name = "eps" if piece.variable is Variable.EPS else "t"
    at = f"{name} = {piece.span.start.low}" if piece.span.is_point else f"{name} in {_span(piece.span)}"
    note = getattr(found.shown(piece.rows[0]), "note", None) if found.question.parameter is not None else None
    return at if note is None else f"{', '.join(note.where)}, {at}"


def _beta_text(found: BetaSolution, piece: EnvelopePiece) -> str:
    bound = "" if piece.exact else "at most "
    return f"{bound}{_form(piece)}{_variable_text(piece, ', ')}   ({numbered(found.question.word, piece.rows)})"


def _form(piece: EnvelopePiece) -> str:
    """The closed form, in t where it is a function of a product of eps."""
    return piece.beta if piece.variable is Variable.EPS else re.sub(r"\beps\b", "t", piece.beta)


def _variable_text(piece: EnvelopePiece, before: str) -> str:
    return "" if piece.variable is Variable.EPS else f"{before}t = {piece.variable}"


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
