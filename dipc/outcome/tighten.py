"""The tightest constants of `dipc tighten`: of one program, or of each member of a family."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from dipc.algebra.record import CONVERSIONS, Record, json_object
from dipc.claims.claim import claim_expression
from dipc.frozen import frozen
from dipc.inverse.question import Question
from dipc.inverse.tighten import Tightest, TightSpot
from dipc.outcome.classes import class_fields
from dipc.outcome.outcome import ExitStatus, Grid, Line, Outcome, Part, ReportBlock, ShownTable, Tone, section
from dipc.outcome.rows import row_fields
from dipc.outcome.words import (
    DIGITS,
    NON_VACUOUS,
    Statement,
    UserQuestion,
    cell_text,
    count,
    exact,
    near_sign_of,
    no_input,
    numbered,
    plural,
    saying_text,
    says_nothing,
    single,
    subject_fields,
)
from dipc.rules.class_claim import ClassClaim
from dipc.rules.rule import Variable

SCHEMA = "dipc.tighten/1"


#: The fields of a row or class at which a factor is needed, and those of the place.
_ROW = "input output alpha gamma where=conditions?"
_SPOT = (
    "beta=claimed.beta probability=claimed.bound eps=place:cell attained variable=claimed.variable.product? "
    "exact=claimed.exact-"
)


@frozen
class Member(Record):
    """A member of a family of programs: the `constants` given for it, and its result, `tightest`."""

    FIELDS = (
        "constants eps=tightest.eps factor=tightest.factor:cell kappa attained=tightest.attained "
        "complete=tightest.complete places equal rows=tightest.claims.cases vacuous=tightest.claims.vacuous "
        "says_something=tightest.scopes undecided=tightest.unknown(rows reason) *upper warnings=tightest.warnings+"
    )

    constants: Mapping[str, Fraction]
    tightest: Tightest

    @property
    def kappa(self) -> str | None:
        """The greatest κ for which the claim holds with beta/κ.

        It is `0` if the claim fails with beta, `inf` if every κ will do, and None if it is not known.
        """
        tightest = self.tightest
        if tightest.kappa is None:
            return "inf" if tightest.holds_for_every_kappa else None
        return str(tightest.kappa)

    @property
    def places(self) -> list[dict[str, Any]]:
        """The JSON objects of the places that need the factor in `tightest`.

        A place is a row or class with an eps at which the claim fails for every smaller factor.
        """
        return [self._place(spot) for spot in self.tightest.places]

    @property
    def equal(self) -> str:
        """Evidence that all of `places` need the same factor: "proved", or the number of digits that agree."""
        return "proved" if self.tightest.proved else f"to {self.tightest.digits} digits"

    @property
    def upper(self) -> dict[str, Any] | None:
        """The upper bound of the least factor, if it differs from the lower bound; otherwise None."""
        tightest = self.tightest
        if not tightest.enclosed:
            return None
        at_most = None if tightest.unknown and tightest.at_most is None else _cell(tightest.at_most)
        return {"at_most": at_most, "bounds": [self._place(spot) for spot in tightest.upper_places]}

    def _place(self, spot: TightSpot) -> dict[str, Any]:
        rows = spot.claimed.rows
        row = self.tightest.claims.undecided_row(rows[0])
        return {"rows": list(rows), **json_object(row, _ROW), **json_object(spot, _SPOT)}


_cell = CONVERSIONS["cell"]


def _table(members: Sequence[Member]) -> ShownTable:
    names = list(members[0].constants)
    bounded = any(member.tightest.enclosed for member in members)
    known = ("factor_low", "factor_high", "kappa", "complete", "row", "eps_low", "eps_high", "attained")
    columns = (*names, *known, *(["at_most"] if bounded else []))
    rows = []
    for member in members:
        tightest, upper = member.tightest, member.upper
        # The first place that needs the factor: its row, the ends of its eps, and whether it is attained there.
        place = ["", "", "", ""]
        if tightest.places:
            spot = tightest.places[0]
            eps = _cell(spot.place)
            ends = ["all", "all"] if isinstance(eps, str) else eps
            place = [str(spot.claimed.rows[0]), *ends, str(spot.attained).lower()]
        factor, known_factor = _cell(tightest.factor), tightest.complete and tightest.factor is not None
        bound = upper["at_most"] if upper is not None else factor if known_factor else None
        complete = str(tightest.complete).lower()
        cells = [*(str(member.constants[name]) for name in names), *factor, member.kappa or "", complete, *place]
        rows.append((_tone(tightest), (*cells, *([str(bound[1]) if bound else ""] if bounded else []))))
    return ShownTable("Members" if len(members) > 1 else "", columns, rows, len(rows))


# --- text ------------------------------------------------------------------------------------------


#: The most places that are described in full.
_SHOWN_PLACES = 3


def headline(tightest: Tightest, digits: int | None = None) -> str:
    """Return the result `tightest` in one sentence, whose numbers have `digits` digits, by default ten."""
    digits = digits or DIGITS
    if tightest.factor is None:
        return "no factor suffices: however large f is, f*beta is too small"
    if tightest.enclosed:
        return f"undecided: the least factor is {_enclosure_text(tightest, digits)}"
    if not tightest.places and not tightest.complete:
        return "undecided: nothing is known about the factor"
    if tightest.is_zero and tightest.kappa == 0:
        return "factor 0 and no other: beta is negative where the answer is always right"
    if tightest.is_zero and not tightest.claims.distinct:
        sign = near_sign_of(tightest.claims.question)
        return f"every factor suffices, even 0: every {tightest.word} is vacuous (dd {sign} alpha)"
    if tightest.is_zero:
        return "every factor suffices, even 0: the answer is always right"
    least = cell_text(*tightest.factor, digits)
    if not tightest.complete:
        return f"undecided: the least factor is at least {least}"
    vacuous = says_nothing(tightest.scopes) == "beta ≥ 1"
    nothing = f"; {_kappa_beta(tightest)} ≥ 1 everywhere, a vacuous claim" if vacuous else ""
    return f"least factor {least}; {kappa_text(tightest)}{nothing}"


def _enclosure_text(tightest: Tightest, digits: int | None = None) -> str:
    assert tightest.factor is not None
    low = f"at least {cell_text(*tightest.factor, digits)}"
    if tightest.at_most is not None:
        return f"{low} and at most {cell_text(*tightest.at_most, digits)}"
    return low if tightest.unknown else f"{low}; no factor could be proved to be enough"


def kappa_text(tightest: Tightest) -> str:
    """Return a sentence with the greatest integer κ for which the claim of `tightest` holds with beta/κ.

    It also says if every κ will do, if beta itself fails, or if the greatest κ is not known.
    """
    claimed = tightest.claims.question.claimed_name
    if tightest.holds_for_every_kappa:
        return f"{claimed}/κ holds for every κ"
    if tightest.kappa is None:
        return f"the greatest κ for which {claimed}/κ holds is not known"
    if not tightest.kappa:
        return f"{claimed} itself fails"
    return f"{_kappa_beta(tightest)} holds, {claimed}/{tightest.kappa + 1} does not"


def outcome(member: Member, asked: UserQuestion) -> Outcome:
    """Return the outcome for the program and the result in `member`; `asked` is the question as the user put it."""
    tightest = member.tightest
    return replace(
        _outcome((member,), tightest.claims.question.program.name),
        line=headline(tightest, asked.options.digits),
        tone=_tone(tightest),
        parts=lambda: _report_parts(tightest, about_question(asked, tightest.claims.question)),
        statement=lambda: about_question(asked, tightest.claims.question),
        result=member,
        question=tightest.claims.question,
    )


def family(members: Sequence[Member], asked: UserQuestion) -> Outcome:
    """Return the outcome for a family of programs, named after the last of `members`.

    `asked` is the question as the user put it.
    """
    question = members[-1].tightest.claims.question
    name = question.program.name
    return replace(
        _outcome(members, name),
        line=f"least factors of beta for {len(members)} members of {name} ({asked.program_path})",
        parts=lambda: _family_parts(members, about_question(asked, question).stated["beta"]),
        statement=lambda: about_question(asked, question),
        result=tuple(members),
    )


def _outcome(members: Sequence[Member], name: str) -> Outcome:
    warnings = dict.fromkeys(warning for member in members for warning in member.tightest.warnings)
    complete = all(member.tightest.complete for member in members)
    return Outcome(
        program=name,
        line="",
        standing=ExitStatus.HOLDS if complete else ExitStatus.OPEN,
        parts=lambda: (),
        record=lambda: {"schema": SCHEMA, "program": name, "members": [member.as_json() for member in members]},
        table=lambda: _table(members),
        warnings=tuple(warnings),
        interrupted="interrupted\n" if any(member.tightest.interrupted for member in members) else None,
    )


def about_question(asked: UserQuestion, question: Question) -> Statement:
    """Return the heading of the inverse `question` in the words of the user's question `asked`."""
    if question.table is not None:
        return asked.about_rows(question.program, question.table)
    numbers = None if question.parameter is None else (question.parameter, question.least_value())
    options = replace(asked.options.claim, beta=question.options.beta or asked.options.beta)
    if question.written_eps is not None:
        options = replace(options, eps=question.options.eps)
    if claim_expression(question.program.core, "beta", options.beta) is None:
        options = replace(options, beta="0")
    claim = ClassClaim(question.program, options, together=True)
    return asked.about_every_input(question.program, claim.texts, numbers)


def _report_parts(tightest: Tightest, statement: Statement) -> Iterator[ReportBlock]:
    yield section(
        None,
        *subject_fields(statement, tightest.eps, required="1 - f*beta"),
        (plural(tightest.word), _counts(tightest)),
        (NON_VACUOUS, _scope_text(tightest) if tightest.complete else None),
    )
    if tightest.factor is not None and tightest.places:
        yield section(None, *_numbers(tightest, tightest.factor))
    does = (
        ("needs at least the lower end", "need at least the lower end")
        if tightest.enclosed
        else ("needs it", "need it")
    )
    by_rows = _by_rows(tightest)
    # At several integer distances the text of a class can be the same.
    places = tuple(dict.fromkeys(tuple(_place(tightest, spots, does)) for spots in by_rows.values()))
    yield from places[:_SHOWN_PLACES]
    bound = ("needs at most the upper end", "need at most the upper end")
    if not tightest.upper:
        bound = ("has no bound from above", "have no bound from above")
    yield from (_place(tightest, [place], bound) for place in tightest.upper_places[:1])
    more = len(places) - _SHOWN_PLACES
    if more > 0:
        yield [Line(f"{count(more, 'more place')}; --format json has them all")]
    hopeless = {row for rows in by_rows for row in rows} if tightest.factor is None else set[int]()
    for unknown in tightest.unknown:
        if hopeless.issuperset(unknown.rows):
            continue
        are = "is" if len(unknown.rows) == 1 else "are"
        yield section(f"{numbered(tightest.word, unknown.rows)} {are} undecided", ("reason", unknown.reason))


def _by_rows(tightest: Tightest) -> dict[tuple[int, ...], list[TightSpot]]:
    """Return the places in `tightest` where beta needs the least factor, by the rows or classes they belong to.

    A place is an inequality and a value of its variable. Some places need the factor itself. Others only approach it,
    for example as eps tends to 0. If a group has places of both sorts, only those that need the factor itself are kept.
    """
    by_rows: dict[tuple[int, ...], list[TightSpot]] = {}
    for spot in tightest.places:
        by_rows.setdefault(spot.claimed.rows, []).append(spot)
    return {rows: [spot for spot in spots if spot.attained] or spots for rows, spots in by_rows.items()}


def _scope_text(tightest: Tightest) -> str | None:
    if not tightest.claims.distinct:
        return None if tightest.places else no_input(near_sign_of(tightest.claims.question))
    says = saying_text(tightest.scopes, tightest.eps, _kappa_beta(tightest))
    return says if says is None or tightest.kappa in (None, 0, 1) else f"with {_kappa_beta(tightest)}, {says}"


def _kappa_beta(tightest: Tightest) -> str:
    claimed = tightest.claims.question.claimed_name
    return f"{claimed}/{tightest.kappa}" if tightest.kappa and tightest.kappa > 1 else claimed


def _tone(tightest: Tightest) -> Tone:
    if not tightest.complete:
        return Tone.OPEN
    return Tone.BAD if tightest.factor is None else Tone.GOOD


def _counts(tightest: Tightest) -> str:
    claims = tightest.claims
    different = len(claims.distinct)
    text = f"{claims.cases}"
    if different or not tightest.places:
        text += f", with {different} different obligation{'' if different == 1 else 's'}"
    if claims.vacuous:
        sign = near_sign_of(claims.question)
        why = f"as dd {sign} alpha" if tightest.word == "row" else "as no input is that far from other answers"
        text += f"; {claims.vacuous} claim{'s' if claims.vacuous == 1 else ''} nothing, {why}"
    return text


def _numbers(tightest: Tightest, factor: tuple[Fraction, Fraction]) -> Iterable[tuple[str, str]]:
    yield "factor", _enclosure_text(tightest) if tightest.enclosed else cell_text(*factor)
    if factor[0] and not tightest.enclosed:
        yield "1/factor", _inverse_text(*factor)
    if tightest.complete and tightest.kappa is not None:
        kappa = tightest.kappa
        holds = _kappa_beta(tightest)
        if kappa:
            more = f"{tightest.claims.question.claimed_name}/{kappa + 1}"
            yield "best 1/κ", f"1/{kappa}: {holds} holds at every {tightest.word}, {more} does not"
        else:
            yield "best 1/κ", f"none: {holds} itself does not hold at every {tightest.word}"
    places = len({spot.claimed.rows for spot in tightest.places})
    if places > 1 and not tightest.enclosed:
        digits = f", to {tightest.digits} digits: that they need the same factor is not proved"
        yield "needed by", f"{count(places, tightest.word)}{'' if tightest.proved else digits}"


def _inverse_text(low: Fraction, high: Fraction) -> str:
    """Return 1/factor to a few digits, all of which are correct; the factor is between `low` and `high`."""
    if low == high:
        return exact(1 / low)
    # Both ends as decimals, cut off in the same way: the digits that they share are proved.
    first, second = exact(1 / high).rstrip("…"), exact(1 / low).rstrip("…")
    shared = 0
    while shared < min(len(first), len(second)) and first[shared] == second[shared]:
        shared += 1
    return f"{first[:shared]}…" if "." in first[:shared] else f"between {first} and {second}"


def _place(tightest: Tightest, spots: Sequence[TightSpot], does: tuple[str, str]) -> Sequence[Part]:
    """Return a block of text about `spots`, the places in `tightest` where some rows need the least factor.

    All places are of the same rows. The heading is about one row or several: `does` has its predicate for each case.
    """
    rows = spots[0].claimed.rows
    names = numbered(tightest.word, rows)
    heading = f"none suffices for {names}" if tightest.factor is None else f"{names} {does[len(rows) > 1]}"
    variables = [spot.claimed.variable for spot in spots]
    letters = ["eps" if variable is Variable.EPS else f"t = {variable}" for variable in variables]
    values = [_eps_text(tightest, spot) for spot in spots]
    return section(heading, *_place_fields(tightest, spots[0]), *dict.fromkeys(zip(letters, values, strict=True)))


def _place_fields(tightest: Tightest, spot: TightSpot) -> Iterable[tuple[str, str | None]]:
    number = spot.claimed.rows[0]
    row = tightest.claims.undecided_row(number)
    if tightest.word != "row":
        return class_fields(row)
    several = len((tightest.places or tightest.upper_places)[0].claimed.rows) > 1
    return row_fields(row, f" (row {number})" if several else "")


def _eps_text(tightest: Tightest, spot: TightSpot) -> str:
    name, infinite = "eps" if spot.claimed.variable is Variable.EPS else "t", tightest.factor is None
    if spot.everywhere:
        return f"every {name}{', as beta is 0' if infinite else ''}"
    if spot.eps is None or not any(spot.eps):
        limit = f"{name} → {'∞' if spot.eps is None else '0'}"
        unbounded = f"(1 - Pr)/beta grows beyond every bound as {limit}"
        return unbounded if infinite else f"in the limit {limit}: each single {name} needs less"
    typed = single(tightest.eps) if spot.claimed.is_around and not infinite else None
    low, high = spot.eps
    # A long rational, such as one near an irrational end, is cut off.
    eps = typed or (exact(low) if low == high and len(str(low)) > _LONG_POINT else cell_text(low, high))
    if infinite:
        fails = f"{eps}, where Pr < 1 - f*beta for every f > 0"
        return fails if spot.attained else f"(1 - Pr)/beta grows beyond every bound as {name} → {eps}"
    if spot.by_inputs:
        return f"{eps}; inputs of the class approach the factor, and none is shown to need it"
    return eps if spot.attained else f"approached as {name} → {eps}"


#: A rational value of eps with more characters is written as a decimal.
_LONG_POINT = 40


def _family_parts(members: Sequence[Member], beta: str) -> Iterator[ReportBlock]:
    yield Line(f"beta = {beta}; κ is the greatest whole number for which beta/κ holds", Tone.FAINT)
    names, word = list(members[0].constants), members[0].tightest.word
    head = (*names, "least factor", "1/factor", "best 1/κ", "at eps", plural(word))
    rows = [(*(str(member.constants[name]) for name in names), *_columns(member.tightest)) for member in members]
    yield [Grid(head, tuple((None, cells) for cells in rows))]
    for member in members:
        where = ", ".join(f"{name} = {value}" for name, value in member.constants.items())
        for unknown in member.tightest.unknown:
            yield [Line(f"{where}: {numbered(word, unknown.rows)} undecided: {unknown.reason}", Tone.OPEN)]


def _columns(tightest: Tightest) -> list[str]:
    if tightest.factor is None:
        factor, inverse = "∞", "0"
    elif tightest.is_zero and not tightest.places:
        factor, inverse = ("0", "∞") if tightest.complete else ("?", "?")
    else:
        low, high = tightest.factor
        factor = exact(low) if low == high else f"{exact(low).rstrip('…')}…"
        inverse = _inverse_text(low, high)
        if not tightest.complete:
            factor, inverse = f"≥ {factor}", f"≤ {inverse}"
        if tightest.at_most is not None:
            factor += f", ≤ {exact(tightest.at_most[1])}"
    if tightest.holds_for_every_kappa:
        best = "every"
    elif tightest.kappa is None:
        best = "?"
    else:
        best = f"1/{tightest.kappa}" if tightest.kappa else "none"
    if not tightest.places:
        return [factor, inverse, best, "", ""]
    spot = tightest.places[0]
    if spot.everywhere:
        eps = "every"
    elif spot.eps is None:
        eps = "→ ∞"
    elif not any(spot.eps):
        eps = "→ 0"
    else:
        eps = ("" if spot.attained else "→ ") + exact(spot.eps[0])
    rows = ", ".join(map(str, spot.claimed.rows[:3])) + (", …" if len(spot.claimed.rows) > 3 else "")
    return [factor, inverse, best, eps, rows]
