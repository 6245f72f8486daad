"""The tightest constants of `dipc tighten` as text: of one program, or of each member of a family."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from dipc.report.claimed import Statement, about
from dipc.report.every_input import where
from dipc.report.numbers import cell_text, exact
from dipc.report.page import Look, Page, Tone
from dipc.report.tighten_data import Member
from dipc.report.vectors import assignment_text
from dipc.report.words import NO_INPUT, count, numbered, plural, saying_text, says_nothing
from dipc.sources.source import Variable

if TYPE_CHECKING:
    from dipc.inverse.tighten import Tightest, TightSpot

#: How many places are described in full.
_SHOWN_PLACES = 3


def headline(found: Tightest) -> str:
    """The whole result in one sentence."""
    if found.factor is None:
        return "no factor suffices: however large f is, f*beta is too small"
    if found.upper_places:
        return f"undecided: the least factor is {_enclosure_text(found)}"
    if not found.places and not found.complete:
        return "undecided: nothing is known of the factor"
    if found.is_zero and found.kappa == 0:
        return "factor 0, and no other: beta is negative where the answer is always right"
    if found.is_zero and not found.claims.distinct:
        return f"every factor suffices, even 0: no {found.word} claims anything (dd < α)"
    if found.is_zero:
        return "every factor suffices, even 0: the answer is always right"
    least = cell_text(*found.factor)
    if not found.complete:
        return f"undecided: the least factor is at least {least}"
    nothing = f", and {_kappa_beta(found)} says nothing (≥ 1)" if says_nothing(found.sayings) else ""
    return f"least factor {least}; {kappa_text(found)}{nothing}"


def _enclosure_text(found: Tightest) -> str:
    """What is known of a factor from below and from above."""
    assert found.factor is not None
    low = f"at least {cell_text(*found.factor)}"
    if found.unknown:
        return low
    if found.upper is None:
        return f"{low}, and the bounds prove no factor"
    return f"{low} and at most {cell_text(*found.upper)}"


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
    fields = [*about(statement, found.eps, required="1 - f*beta"), (plural(found.word), _counts(found))]
    says = _saying(found) if found.complete else None
    if says is not None:
        fields.append(("says something", says))
    page.fields(fields)
    if found.factor is not None and found.places:
        page.blank()
        page.fields(_numbers(found, found.factor))
    for place in found.places[:_SHOWN_PLACES]:
        page.blank()
        _place(page, found, place, "needs at least that" if found.upper_places else "needs it")
    for place in found.upper_places[:1]:
        page.blank()
        _place(page, found, place, "has a bound that needs no more than that" if found.upper else "has no such bound")
    more = len(found.places) - _SHOWN_PLACES
    if more > 0:
        page.blank()
        page.line(f"{count(more, 'more place')}; --format json has them all")
    for unknown in found.unknown:
        page.blank()
        page.line(
            f"{numbered(found.word, unknown.rows)} {'is' if len(unknown.rows) == 1 else 'are'} undecided", Tone.HEAD
        )
        page.fields([("reason", unknown.reason)])
    return page.text()


def _saying(found: Tightest) -> str | None:
    if not found.claims.distinct:
        return NO_INPUT
    says = saying_text(found.sayings, found.eps, _kappa_beta(found))
    return says if says is None or found.kappa in (None, 0, 1) else f"with {_kappa_beta(found)}, {says}"


def _kappa_beta(found: Tightest) -> str:
    return f"beta/{found.kappa}" if found.kappa and found.kappa > 1 else "beta"


def _tone(found: Tightest) -> Tone:
    if not found.complete:
        return Tone.OPEN
    return Tone.BAD if found.factor is None else Tone.GOOD


def _counts(found: Tightest) -> str:
    claims = found.claims
    different = len(claims.distinct)
    text = f"{claims.cases}, with {different} different obligation{'' if different == 1 else 's'}"
    if claims.vacuous:
        why = "as dd < alpha" if found.word == "row" else "as no input is that far from other answers"
        text += f"; {claims.vacuous} claim{'s' if claims.vacuous == 1 else ''} nothing, {why}"
    return text


def _numbers(found: Tightest, factor: tuple[Fraction, Fraction]) -> Iterable[tuple[str, str]]:
    yield "factor", _enclosure_text(found) if found.upper_places else cell_text(*factor)
    if factor[0] and not found.upper_places:
        yield "1/factor", _inverse_text(*factor)
    if found.complete and found.kappa is not None:
        kappa = found.kappa
        holds = _kappa_beta(found)
        if kappa:
            yield "best 1/κ", f"1/{kappa}: {holds} holds at every {found.word}, beta/{kappa + 1} does not"
        else:
            yield "best 1/κ", f"none: beta itself does not hold at every {found.word}"
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


def _place(page: Page, found: Tightest, place: TightSpot, does: str) -> None:
    rows = place.claimed.rows
    if found.factor is None:
        heading = f"none suffices for {numbered(found.word, rows)}"
    else:
        one, *rest = does.split(" ", 1)
        verb = one if len(rows) == 1 else {"needs": "need", "has": "have"}[one]
        heading = f"{numbered(found.word, rows)} {' '.join([verb, *rest])}"
    page.line(heading, Tone.HEAD)
    page.fields([*_where(found, place), (_variable(place), _eps_text(found, place))])


def _variable(place: TightSpot) -> str:
    """What the eps of a place is a value of."""
    variable = place.claimed.variable
    return "eps" if variable is Variable.EPS else f"t = {variable}"


def _where(found: Tightest, place: TightSpot) -> Iterable[tuple[str, str]]:
    number = place.claimed.rows[0]
    row = found.claims.shown(number)
    if found.word != "row":
        yield from where(row)
        return
    several = len((found.places or found.upper_places)[0].claimed.rows) > 1
    yield "input", assignment_text(row.input) + (f" (row {number})" if several else "")
    yield "output", assignment_text(row.output) if row.output else "any"
    yield "alpha", row.alpha
    if row.gamma != "0":
        yield "gamma", row.gamma


def _eps_text(found: Tightest, place: TightSpot) -> str:
    name = "eps" if place.claimed.variable is Variable.EPS else "t"
    if place.everywhere:
        return f"every {name}" if found.factor is not None else f"every {name}, as beta is 0"
    if found.factor is None:
        return _infinite_text(place, name)
    if place.eps is None:
        return f"approached as {name} → ∞, and needed by no {name} itself"
    if not any(place.eps):
        return f"approached as {name} → 0, and needed by no {name} itself"
    at = cell_text(*place.eps)
    return at if place.attained else f"approached as {name} → {at}"


def _infinite_text(place: TightSpot, name: str) -> str:
    if place.eps is None:
        return f"(1 - Pr)/beta grows beyond every bound as {name} → ∞"
    if not any(place.eps):
        return f"(1 - Pr)/beta grows beyond every bound as {name} → 0"
    at = cell_text(*place.eps)
    if place.attained:
        return f"{at}, where Pr < 1 - f*beta for every f > 0"
    return f"(1 - Pr)/beta grows beyond every bound as {name} → {at}"


def render_family(members: Sequence[Member], program: str, beta: str, look: Look) -> str:
    """A family as a table: a line for each member, with ten digits of what is known."""
    page = Page(look)
    page.line(f"least factors of beta for {len(members)} members of {program}", Tone.HEAD)
    page.line(f"beta = {beta}", Tone.FAINT)
    page.blank()
    names = list(members[0].constants)
    rows = [[*names, "least factor", "1/factor", "best 1/κ", "at eps", plural(members[0].found.word)]]
    rows += [[*(str(member.constants[name]) for name in names), *_columns(member.found)] for member in members]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for number, row in enumerate(rows):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        page.verbatim([f"  {line}".rstrip()], Tone.FAINT if number == 0 else None)
    for member in members:
        for unknown in member.found.unknown:
            page.blank()
            where = ", ".join(f"{name} = {value}" for name, value in member.constants.items())
            page.line(f"{where}: {numbered(member.found.word, unknown.rows)} undecided: {unknown.reason}", Tone.OPEN)
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
        if found.upper is not None and not found.unknown:
            factor += f", ≤ {exact(found.upper[1])}"
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
    rows = ", ".join(map(str, place.claimed.rows[:3])) + (", …" if len(place.claimed.rows) > 3 else "")
    return [factor, inverse, best, at, rows]
