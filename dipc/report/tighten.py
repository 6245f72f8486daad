"""The tightest constants of `dipc tighten` as text: of one program, or of each member of a family."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from dipc.report.claimed import event_text, program_text
from dipc.report.numbers import cell_text, exact
from dipc.report.page import Look, Page, Tone
from dipc.report.text import Statement, interval_text
from dipc.report.tighten_data import Member, row_words
from dipc.report.vectors import assignment_text

if TYPE_CHECKING:
    from dipc.inverse.tighten import Place, Tightest

#: How many places are described in full, and how many row numbers a list spells out.
_SHOWN_PLACES = 3
_LISTED_ROWS = 12


def headline(found: Tightest) -> str:
    """The whole result in one sentence."""
    if found.factor is None:
        return "no factor suffices: however large f is, f*beta is too small"
    if not found.places and not found.complete:
        return "undecided: nothing is known of the factor"
    if found.is_zero:
        return "every factor suffices, even 0: the answer is always right"
    least = cell_text(*found.factor)
    if not found.complete:
        return f"undecided: the least factor is at least {least}"
    return f"least factor {least}; {kappa_text(found)}"


def kappa_text(found: Tightest) -> str:
    """What is known of the best 1/κ with an integer κ."""
    if not found.complete:
        return "the best 1/κ is not known"
    if found.kappa is None:
        return "every 1/κ holds"
    return f"the best 1/κ is 1/{found.kappa}" if found.kappa else "beta itself fails, so no 1/κ holds"


def render(found: Tightest, statement: Statement, look: Look) -> str:
    """One result as a page."""
    page = Page(look)
    page.line(headline(found), _tone(found))
    page.blank()
    page.fields(_about(found, statement))
    if found.factor is not None and found.places:
        page.blank()
        page.fields(_numbers(found, found.factor))
    for place in found.places[:_SHOWN_PLACES]:
        page.blank()
        _place(page, found, place)
    more = len(found.places) - _SHOWN_PLACES
    if more > 0:
        page.blank()
        page.line(f"{more} more place{'' if more == 1 else 's'}; --format json has them all")
    for unknown in found.unknown:
        page.blank()
        page.line(f"{_rows_text(unknown.rows)} {'is' if len(unknown.rows) == 1 else 'are'} undecided", Tone.HEAD)
        page.fields([("reason", unknown.reason)])
    return page.text()


def _tone(found: Tightest) -> Tone:
    if not found.complete:
        return Tone.OPEN
    return Tone.BAD if found.factor is None else Tone.GOOD


def _about(found: Tightest, statement: Statement) -> Iterable[tuple[str, str]]:
    yield "program", program_text(statement.program, statement.constants)
    yield "table", statement.table
    yield "claim", f"Pr[{event_text(statement.near, statement.distance)}] ≥ 1 - f*beta, for every input u of the table"
    yield "alpha", statement.alpha
    yield "beta", statement.beta
    yield "gamma", statement.gamma
    yield "eps", f"all of {interval_text(found.eps)}"
    yield "rows", _counts(found)


def _counts(found: Tightest) -> str:
    obligations = found.obligations
    rows = len(obligations.table.rows)
    different = len(obligations.distinct)
    text = f"{rows}, with {different} different obligation{'' if different == 1 else 's'}"
    if obligations.vacuous:
        text += f"; {obligations.vacuous} claim{'s' if obligations.vacuous == 1 else ''} nothing, as dd < alpha"
    return text


def _numbers(found: Tightest, factor: tuple[Fraction, Fraction]) -> Iterable[tuple[str, str]]:
    yield "factor", cell_text(*factor)
    if factor[0]:
        yield "1/factor", _inverse_text(*factor)
    if found.complete and found.kappa is not None:
        kappa = found.kappa
        holds = f"beta/{kappa}" if kappa > 1 else "beta"
        if kappa:
            yield "best 1/κ", f"1/{kappa}: {holds} holds at every row, beta/{kappa + 1} does not"
        else:
            yield "best 1/κ", "none: beta itself does not hold at every row"
    if len(found.places) > 1:
        digits = f"they agree to {found.digits} digits, and are not proved to be equal"
        yield "places", f"{len(found.places)} need it: {'proved to be equal' if found.proved else digits}"


def _inverse_text(low: Fraction, high: Fraction) -> str:
    """1/factor to a few digits, which are those of the number."""
    if low == high:
        return exact(1 / low)
    # Both ends in decimals cut off alike: the digits they share are proved.
    first, second = exact(1 / high).rstrip("…"), exact(1 / low).rstrip("…")
    shared = 0
    while shared < min(len(first), len(second)) and first[shared] == second[shared]:
        shared += 1
    return f"{first[:shared]}…" if "." in first[:shared] else f"between {first} and {second}"


def _place(page: Page, found: Tightest, place: Place) -> None:
    rows = place.obligation.rows
    if found.factor is None:
        heading = f"none suffices for {_rows_text(rows)}"
    else:
        heading = f"{_rows_text(rows)} {'needs' if len(rows) == 1 else 'need'} it"
    page.line(heading, Tone.HEAD)
    page.fields([*_where(found, rows[0]), ("eps", _eps_text(found, place))])


def _where(found: Tightest, number: int) -> Iterable[tuple[str, str]]:
    row = row_words(found, number)
    yield (
        "input",
        assignment_text(row["input"]) + (f" (row {number})" if len(found.places[0].obligation.rows) > 1 else ""),
    )
    yield "output", assignment_text(row["output"]) if row["output"] else "any"
    yield "alpha", row["alpha"]
    if row["gamma"] != "0":
        yield "gamma", row["gamma"]


def _eps_text(found: Tightest, place: Place) -> str:
    if place.everywhere:
        return "every eps" if found.factor is not None else "every eps, as beta is 0"
    if found.factor is None:
        return _infinite_text(place)
    if place.eps is None:
        return "approached as eps → ∞, and needed by no eps itself"
    if not any(place.eps):
        return "approached as eps → 0, and needed by no eps itself"
    at = cell_text(*place.eps)
    return at if place.attained else f"approached as eps → {at}"


def _infinite_text(place: Place) -> str:
    if place.eps is None:
        return "(1 - Pr)/beta grows beyond every bound as eps → ∞"
    if not any(place.eps):
        return "(1 - Pr)/beta grows beyond every bound as eps → 0"
    at = cell_text(*place.eps)
    if place.attained:
        return f"{at}, where Pr < 1 - f*beta for every f > 0"
    return f"(1 - Pr)/beta grows beyond every bound as eps → {at}"


def _rows_text(rows: Sequence[int]) -> str:
    if len(rows) == 1:
        return f"row {rows[0]}"
    text = ", ".join(map(str, rows[:_LISTED_ROWS]))
    return f"rows {text}{', …' if len(rows) > _LISTED_ROWS else ''}"


def render_family(members: Sequence[Member], program: str, beta: str, look: Look) -> str:
    """A family as a table: a line for each member, with ten digits of what is known."""
    page = Page(look)
    page.line(f"least factors of beta for {len(members)} members of {program}", Tone.HEAD)
    page.line(f"beta = {beta}", Tone.FAINT)
    page.blank()
    names = list(members[0].constants)
    rows = [[*names, "least factor", "1/factor", "best 1/κ", "at eps", "rows"]]
    rows += [[*(str(member.constants[name]) for name in names), *_columns(member.found)] for member in members]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for number, row in enumerate(rows):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        page.verbatim([f"  {line}".rstrip()], Tone.FAINT if number == 0 else None)
    for member in members:
        for unknown in member.found.unknown:
            page.blank()
            where = ", ".join(f"{name} = {value}" for name, value in member.constants.items())
            page.line(f"{where}: {_rows_text(unknown.rows)} undecided: {unknown.reason}", Tone.OPEN)
    return page.text()


def _columns(found: Tightest) -> list[str]:
    if found.factor is None:
        factor, inverse = "∞", "0"
    elif found.is_zero and not found.places:
        factor, inverse = ("0", "∞") if found.complete else ("?", "?")
    else:
        low, high = found.factor
        factor = exact(low) if low == high else f"{exact(low).rstrip('…')}…"
        inverse = _inverse_text(low, high)
        if not found.complete:
            factor, inverse = f"≥ {factor}", f"≤ {inverse}"
    if not found.complete:
        best = "?"
    elif found.kappa is None:
        best = "every"
    else:
        best = f"1/{found.kappa}" if found.kappa else "none"
    if not found.places:
        return [factor, inverse, best, "", ""]
    place = found.places[0]
    if place.everywhere:
        at = "every"
    elif place.eps is None:
        at = "→ ∞"
    elif not any(place.eps):
        at = "→ 0"
    else:
        at = ("" if place.attained else "→ ") + exact(place.eps[0])
    rows = ", ".join(map(str, place.obligation.rows[:3])) + (", …" if len(place.obligation.rows) > 3 else "")
    return [factor, inverse, best, at, rows]
