"""The answers of `dipc solve`, `dipc interval` and `dipc tune`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from dipc.algebra.numbers import decimal, outward
from dipc.decide.obligation import EndPoint, EpsSpan, Verdict
from dipc.inverse.question import (
    AlphaSolution,
    BetaSolution,
    EnvelopePiece,
    EpsSolution,
    GammaSolution,
    Solution,
    Status,
    Wanted,
)
from dipc.inverse.solve import Intervals, IntervalSide
from dipc.inverse.solve_constant import ConstantSolution
from dipc.inverse.tune import Evaluation, Tuned
from dipc.outcome.classes import class_fields
from dipc.outcome.outcome import ExitStatus, Fields, Grid, Outcome, ReportBlock, ShownTable, Tone, hint, section
from dipc.outcome.tighten import about_question
from dipc.outcome.words import (
    DIGITS,
    NON_VACUOUS,
    Statement,
    UserQuestion,
    assignment_text,
    cell_text,
    count,
    enclosed_text,
    every_one,
    everywhere_text,
    exact,
    near_sign_of,
    no_input,
    numbered,
    program_text,
    rational,
    saying_text,
    says_nothing,
    single,
    subject_fields,
    union_text,
)
from dipc.program.expected_error import Erring
from dipc.rules.rule import Variable
from dipc.text.printer import language_text

#: The standing of each status.
STANDINGS = {Status.SOLVED: ExitStatus.HOLDS, Status.NONE: ExitStatus.FAILS, Status.UNDECIDED: ExitStatus.OPEN}

#: The most rows that are described.
_SHOWN_ROWS = 2

_MOST_SPANS = 12


def outcome(solution: Solution, asked: UserQuestion) -> Outcome:
    """Return the outcome of `solution`: an answer, a proof that there is none, or undecided.

    `asked` is the question as the user put it.
    """
    return Outcome.from_record(
        solution,
        STANDINGS[solution.status],
        line=headline(solution, asked.options.digits),
        parts=lambda: _report_parts(solution, about_question(asked, solution.question)),
        warnings=solution.warnings,
        question=solution.question,
    )


def _report_parts(solution: Solution, statement: Statement) -> Iterator[ReportBlock]:
    yield section(None, *subject_fields(statement, solution.eps, asked=str(solution.wanted)))
    nothing = no_input(_near_sign(solution)) if solution.claims_nothing and not solution.scopes else None
    yield section(None, *_details(solution), (NON_VACUOUS, nothing or saying_text(solution.scopes, solution.eps)))
    yield section(None, ("reason" if solution.status == "undecided" else "because", solution.remark or None))
    word = solution.question.word
    for number in solution.rows[:_SHOWN_ROWS]:
        yield section(f"{word} {number} {_what_rows_do(solution)}", *_case(solution, number))
    rest = solution.rows[_SHOWN_ROWS:]
    yield hint(f"likewise {numbered(word, rest)}" if rest else None)


def headline(solution: Solution, digits: int | None = None) -> str:
    """Return the answer in `solution` in one sentence, whose numbers have `digits` digits, by default ten."""
    digits = digits or DIGITS
    if solution.status == "undecided":
        return f"UNDECIDED: the least {solution.wanted} is not known"
    match solution:
        case EpsSolution():
            return _eps_headline(solution, digits)
        case GammaSolution():
            return _gamma_headline(solution, digits)
        case AlphaSolution():
            return _alpha_headline(solution, digits)
        case BetaSolution():
            return _beta_headline(solution, digits)
    raise AssertionError(solution)


def _case(solution: Solution, number: int) -> Iterable[tuple[str, str | None]]:
    row, table = solution.undecided_row(number), solution.question.table
    if table is None:
        return class_fields(row)
    dd = table.rows[number - 1].dd
    output = assignment_text(row.output) if row.output else "any"
    return [("input", assignment_text(row.input)), ("output", output), ("dd", None if dd is None else dd.text)]


def _eps_headline(solution: EpsSolution, digits: int) -> str:
    everywhere = everywhere_text(solution.eps)
    least = solution.least
    if least is None:
        return f"NO SOLUTION: the claim fails {everywhere}"
    if solution.everywhere:
        why = _vacuity(solution)
        return f"no least eps is needed: the claim holds {everywhere}{'' if why is None else f', vacuously ({why})'}"
    if not least.included:
        rest = "and from there on" if solution.from_there_on else "but not from there on"
        return f"no least eps: the claim holds right above {_end(least, digits)}, {rest}"
    rest = (
        "; the claim holds from there on" if solution.from_there_on else ", but the claim does not hold from there on"
    )
    return f"least eps {_end(least, digits)}{rest}"


def _gamma_headline(solution: GammaSolution, digits: int) -> str:
    if solution.product is not None:
        product = f"k/eps with k = {cell_text(*solution.product, digits)}"
        if solution.value is None:
            return f"least gamma {product}"
        value = enclosed_text(*solution.value, digits)
        if single(solution.eps) is not None:
            return f"least gamma {value} {everywhere_text(solution.eps)}: {product}"
        return f"least gamma {product}: at most {value} {everywhere_text(solution.eps)}"
    if solution.value is None:
        is_of_rows = solution.question.table is not None
        more = "; `--inputs all` looks for k/eps" if is_of_rows and solution.eps.startswith("(0, ") else ""
        return f"NO SOLUTION: no gamma suffices {everywhere_text(solution.eps)}{more}"
    low, high = solution.value
    if solution.exact:
        why = _vacuity(solution)
        return f"least gamma {rational(high)}, exactly{'' if why is None else f': the claim is vacuous ({why})'}"
    return f"least gamma in {_half_open(low, high, digits)}"


def _alpha_headline(solution: AlphaSolution, digits: int) -> str:
    if solution.product is not None and solution.product[1] is not None:
        low, high = solution.product
        if not high:
            why = _vacuity(solution)
            return f"least alpha 0, for every eps{'' if why is None else f': the claim is vacuous ({why})'}"
        product = cell_text(low, high, digits)
        if solution.cell is None:
            return f"least alpha t/eps with t = {product}"
        number = enclosed_text(*solution.cell, digits)
        return f"least alpha {number}{'' if number == product else f', that is, t/eps with t = {product}'}"
    if solution.cell is not None:
        low, high = solution.cell
        if low == high:
            return f"least alpha {rational(high)}"
        return f"least alpha in {_half_open(low, high, digits)}"
    if solution.value is None:
        return f"NO SOLUTION: the claim holds only for an alpha so great that every {solution.question.word} is vacuous"
    rows = "the row" if solution.claims == 1 else every_one(solution.claims, "row")
    why = _vacuity(solution)
    holds = f"hold{'s' * (solution.claims == 1)}{'' if why is None else f' vacuously ({why})'}"
    return f"least alpha {rational(solution.value)}: {rows} with dd(u) > {solution.value} {holds}"


def _half_open(low: Fraction, high: Fraction, digits: int) -> str:
    """Return the text of the interval (`low`, `high`], rounded outwards to at most `digits` digits at each end."""
    low, high = outward(low, high, digits)
    return f"({decimal(low)}, {decimal(high)}]"


def _beta_headline(solution: BetaSolution, digits: int) -> str:
    least = "largest expected error" if isinstance(solution.question.program, Erring) else "least beta"
    if not solution.pieces:
        return f"every beta suffices: every {solution.question.word} is vacuous"
    if all(piece.value is not None for piece in solution.pieces):
        values = [
            f"{cell_text(*piece.value, digits)} at eps = {_point(solution, piece)}"
            for piece in solution.pieces
            if piece.value
        ]
        return f"{least} {', '.join(values)}"
    if len({piece.beta for piece in solution.pieces}) == 1:
        return f"{least} {_form(solution.pieces[0])}{_variable_text(solution.pieces[0], ', where ')}"
    return f"{least}: a closed form in each of {len(solution.pieces)} pieces"


def _what_rows_do(solution: Solution) -> str:
    """Return a predicate such as `fails for smaller eps`; its subject is the row or rows that determine `solution`."""
    if solution.status == "undecided":
        return "is undecided"
    if solution.status == "none":
        return "fails for every eps" if solution.wanted == "eps" and len(solution.rows) == 1 else "fails"
    return {
        "eps": "fails for smaller eps",
        "gamma": "fails with a smaller gamma",
        "alpha": "fails with a smaller alpha",
        "beta": "needs it",
    }[solution.wanted]


def _vacuity(solution: Solution) -> str | None:
    return says_nothing(solution.scopes, _near_sign(solution)) if solution.claims_nothing else None


def _near_sign(solution: Solution) -> str:
    """Return the relation of dd to alpha, `<` or `≤`, at inputs that the claim of `solution` excludes.

    A claim with a least alpha is about inputs with dd > alpha, so that it excludes those with dd ≤ alpha.
    """
    return "≤" if solution.wanted == "alpha" else near_sign_of(solution.question)


def _details(solution: Solution) -> Iterable[tuple[str, str]]:
    match solution:
        case EpsSolution(holds=holds) if holds and not solution.everywhere:
            maybe = "at most for" if solution.status == "undecided" else "holds for"
            yield maybe, f"eps in {_union(holds)}"
            if solution.proved:
                yield "at least for", f"eps in {_union(solution.proved)}"
        case AlphaSolution(product=product, holds=holds) if product is not None:
            undecided = solution.status == "undecided"
            if not undecided or _union(holds) != "(0, ∞)":
                yield "at most for" if undecided else "holds for", f"t = alpha*eps in {_union(holds)}"
            if solution.status == "undecided" and product[1] is not None:
                yield "proved with", f"alpha = t/eps, t = {decimal(product[1])}"
        case AlphaSolution(value=Fraction() as value):
            yield from _other_alphas(solution, value)
        case GammaSolution(product=product) if product is not None:
            yield "holds for", f"gamma >= k/eps, k = {cell_text(*product)}"
        case GammaSolution(value=(low, high)) | AlphaSolution(cell=(low, high)) if (
            low < high and solution.product is None
        ):
            yield "fails with", f"{solution.wanted} = {decimal(low)}"
            yield "holds with", f"{solution.wanted} = {decimal(high)}"
        case BetaSolution(pieces=pieces) if len(pieces) > 1 or any(p.value or not p.exact for p in pieces):
            for piece in pieces:
                beta = f"{'' if piece.exact else 'at most '}{_form(piece)}{_variable_text(piece, ', ')}"
                yield _piece_text(solution, piece), f"{beta}   ({numbered(solution.question.word, piece.rows)})"


def _other_alphas(solution: AlphaSolution, value: Fraction) -> Iterable[tuple[str, str]]:
    """Yield lines about claims that differ from the one solved, for which the least alpha is `value`.

    `solution` has this least alpha. The first lines are about alphas above `value`. The others are about `dipc check`
    with alpha = `value`, which also covers rows with dd = `value`; the solution leaves these rows out.
    """
    if solution.from_there_on:
        yield "holds for", f"every alpha >= {value}, at the rows with dd > alpha"
    else:
        yield f"alpha > {value}", "not decided: beta falls as alpha grows"
    table = solution.question.table
    if table is not None and any(row.dd is not None and row.dd.value == value for row in table.rows):
        if not value:
            yield "dipc check", "with alpha = 0 also covers the rows with dd = 0, and may fail there"
        elif not solution.from_there_on:
            yield (
                "dipc check",
                f"with alpha = {value} also covers rows with dd = {value}, as beta contains alpha, and may fail there",
            )


def _piece_text(solution: BetaSolution, piece: EnvelopePiece) -> str:
    name = "eps" if piece.variable is Variable.EPS else "t"
    where = f"{name} = {_point(solution, piece)}" if piece.span.is_point else f"{name} in {_span(piece.span)}"
    note = getattr(solution.undecided_row(piece.rows[0]), "note", None) if solution.question.parameter else None
    return where if note is None else f"{', '.join(note.conditions)}, {where}"


def _point(solution: BetaSolution, piece: EnvelopePiece) -> str:
    typed = None if solution.question.around is None else single(solution.eps)
    return typed or str(piece.span.start.low)


def _form(piece: EnvelopePiece) -> str:
    """Return the least beta in `piece` as a formula, a function of eps or of t.

    The letter t is alpha*eps or gamma*eps.
    """
    text = language_text(piece.beta)
    return text if piece.variable is Variable.EPS else re.sub(r"\beps\b", "t", text)


def _variable_text(piece: EnvelopePiece, before: str) -> str:
    return "" if piece.variable is Variable.EPS else f"{before}t = {piece.variable}"


def _union(spans: Sequence[EpsSpan]) -> str:
    return union_text(map(_span, spans), _MOST_SPANS)


def _span(span: EpsSpan) -> str:
    if span.is_point:
        return f"{{{_end(span.start)}}}"
    left, right = "[" if span.start.included else "(", "]" if span.end.included else ")"
    return f"{left}{_end(span.start)}, {_end(span.end)}{right}"


def _end(end: EndPoint, digits: int | None = None) -> str:
    if end.text is not None:
        return end.text
    return "∞" if end.high is None else cell_text(end.low, end.high, digits)


def constant_outcome(constant: ConstantSolution, path: str) -> Outcome:
    """Return the outcome of solving for the `constant` of the program in the file `path`."""
    line, standing = _constant_headline(constant), STANDINGS[Status(constant.status)]
    return Outcome.from_record(constant, standing, line=line, parts=lambda: _constant_parts(constant, path))


def _constant_headline(constant: ConstantSolution) -> str:
    tried = f"of {len(constant.verdicts)} values tried"
    if constant.reason:
        return f"UNDECIDED: no threshold of {constant.name} was found"
    if constant.edge is not None:
        low, high = map(decimal, constant.edge.ends)
        return (
            f"least {constant.name} in ({low}, {high}]"
            if constant.edge.begins
            else f"greatest {constant.name} in [{low}, {high})"
        )
    if not constant.holds:
        if constant.undecided:
            return (
                f"UNDECIDED: the claim is proved for no {constant.name} {tried}, and open for {len(constant.undecided)}"
            )
        return f"NO SOLUTION: the claim fails for every {constant.name} {tried}"
    least, greatest = constant.holds[0], constant.holds[-1]
    if least == greatest:
        return f"the claim holds for {constant.name} = {rational(least)} alone, {tried}"
    between = [value for value in constant.verdicts if least <= value <= greatest]
    gaps = len(between) - len(constant.holds)
    rest = "" if not gaps else f", but not for {gaps} between"
    return (
        f"least {constant.name} {rational(least)}, greatest {rational(greatest)}{rest}: {len(constant.holds)} {tried}"
    )


def _constant_parts(constant: ConstantSolution, path: str) -> Iterator[ReportBlock]:
    claim = [(name, text or None) for name, text in constant.claim.items()]
    yield section(None, ("program", f"{constant.program} ({path})"), *claim, ("eps", everywhere_text(constant.eps)))
    yield section(None, ("reason", constant.reason or None))
    name, edge = constant.name, constant.edge
    if edge is not None:
        low, high = map(decimal, edge.ends)
        proved, refuted = (high, low) if edge.begins else (low, high)
        more, less = ("greater", "smaller") if edge.begins else ("smaller", "greater")
        beyond = f"the claim holds for all {more} values, and fails for all {less} values"
        others = beyond if edge.monotone else "unknown: the verdict may change more than once"
        fields = [("fails with", f"{name} = {refuted}"), ("holds with", f"{name} = {proved}"), ("others", others)]
        yield section(None, *fields)
        return
    yield []
    for verdict, word in ((Verdict.ACCURATE, "holds"), (Verdict.INACCURATE, "fails"), (Verdict.UNDECIDED, "open")):
        values = [value for value, one in constant.verdicts.items() if one is verdict]
        if values:
            text = ", ".join(map(str, values[:_MOST_SPANS])) + (", …" if len(values) > _MOST_SPANS else "")
            yield Fields([(f"{word} for", f"{name} in {{{text}}}")])
    yield Fields(("refused", f"{name} = {value}: {why}") for value, why in list(constant.refused.items())[:1])
    yield Fields([("others", "not tried: nothing is known about them")])


# --- The answer of `dipc interval` ------------------------------------------------------------------------------------


_TITLES = {
    IntervalSide.BOTH: "with both ends",
    IntervalSide.LOWER: "with a lower end",
    IntervalSide.UPPER: "with an upper end",
}


def interval_outcome(intervals: Intervals, asked: UserQuestion) -> Outcome:
    """Return the outcome of `dipc interval`: the `intervals`, or that there are none, or that none was found.

    `asked` is the question as the user put it.
    """
    first, *others = intervals.solutions.values()
    # A certificate is for one solution, and about the program as it is written.
    alone = [*intervals.solutions] == [IntervalSide.BOTH]
    return Outcome.from_record(
        intervals,
        STANDINGS[intervals.status],
        line=_interval_headline(intervals),
        parts=lambda: _interval_parts(intervals, asked),
        warnings=first.warnings,
        interrupted="interrupted\n" if any(each.interrupted for each in (first, *others)) else None,
        result=first if alone else intervals,
        question=first.question if alone else None,
    )


def _interval_headline(intervals: Intervals) -> str:
    side, solution = next(iter(intervals.solutions.items()))
    chance = f"with probability at least {_confidence(intervals)} {everywhere_text(solution.eps)}"
    if solution.status is not Status.SOLVED:
        word = "NO INTERVAL" if solution.status is Status.NONE else "UNDECIDED: no interval is known"
        return f"{word} that the exact answer is in {chance}"
    each = f"each release r of {len(intervals.outputs)}, together"
    releases = f"the release r = {intervals.outputs[0]}" if len(intervals.outputs) == 1 else each
    return f"around {releases}: {_interval(side, solution)} has the exact answer {chance}"


def _confidence(intervals: Intervals) -> str:
    short = 10**8 % (100 * intervals.confidence).denominator == 0
    return f"{decimal(100 * intervals.confidence)} %" if short else str(intervals.confidence)


def _interval(side: IntervalSide, solution: GammaSolution) -> str:
    exact = solution.value is not None and solution.exact
    reach = rational(solution.value[1]) if exact and solution.value is not None else _tolerances(solution)[1]
    low = "(-∞" if side is IntervalSide.UPPER else f"[r - {reach}"
    return f"{low}, {'∞)' if side is IntervalSide.LOWER else f'r + {reach}]'}"


def _tolerances(solution: GammaSolution) -> tuple[str, str]:
    """Return the texts of two values of gamma: one that is too small, and one that suffices.

    If the `solution` is found as a multiple of 1/eps, each text is a multiple, such as `3.2/eps`.
    """
    cell = solution.product if solution.product is not None else solution.value
    assert cell is not None
    unit = "" if solution.product is None else "/eps"
    return f"{decimal(cell[0])}{unit}", f"{decimal(cell[1])}{unit}"


#: The fields of a report on intervals, of those of a claim.
_OF_INTERVALS = ("program", "table", "inputs", "requires", "alpha", "eps")


def _interval_parts(intervals: Intervals, asked: UserQuestion) -> Iterator[ReportBlock]:
    first = next(iter(intervals.solutions.values()))
    options = first.question.options
    claimed = replace(asked, options=replace(asked.options, alpha=options.alpha, beta=options.beta))
    fields = dict(subject_fields(about_question(claimed, first.question), first.eps, asked="gamma"))
    together = "" if len(intervals.outputs) == 1 else ", all outputs at once"
    yield section(
        None,
        *((name, text) for name, text in fields.items() if name in _OF_INTERVALS),
        ("confidence", _confidence(intervals) + together),
        ("outputs", ", ".join(intervals.outputs)),
    )
    for side, solution in intervals.solutions.items():
        yield section(_TITLES[side], *_interval_fields(side, solution))


def _interval_fields(side: IntervalSide, solution: GammaSolution) -> Iterator[tuple[str, str]]:
    if solution.status is not Status.SOLVED:
        yield ("reason" if solution.status is Status.UNDECIDED else "none", solution.remark)
        return
    yield "interval", _interval(side, solution)
    exact = "no smaller one is enough"
    yield "proved", exact if solution.exact else f"{_tolerances(solution)[0]} is too small"
    if solution.rows:
        yield "needed by", numbered(solution.question.word, solution.rows)


# --- The answer of `dipc tune` ----------------------------------------------------------------------------------------


_T = {Wanted.ALPHA: "alpha*eps", Wanted.GAMMA: "gamma*eps", Wanted.EPS: "eps"}

#: The most values that are listed.
_LISTED = 12


def tuned_outcome(tuned: Tuned, path: str) -> Outcome:
    """Return the outcome of `dipc tune`, whose result is `tuned`, for the program in the file `path`.

    The outcome is undecided if nothing is known, or if a constant of privacy is only enclosed.
    """
    best = tuned.best
    standing = ExitStatus.OPEN if best is None or not best.exact else ExitStatus.HOLDS
    return Outcome.from_record(
        tuned,
        standing,
        line=_tuned_headline(tuned),
        tone=Tone.HEAD if standing is ExitStatus.HOLDS else Tone.OPEN,
        parts=lambda: _tuned_parts(tuned, path),
        table=lambda: _table(tuned),
    )


def _tuned_headline(tuned: Tuned) -> str:
    best, own, objective = tuned.best, tuned.own, _T[tuned.wanted]
    if best is None or best.objective is None:
        return f"UNDECIDED: the least {objective} is known for none of the values tried"
    found = f"{objective}{'' if tuned.adjacent is None else ' for K = 1'} = {enclosed_text(*best.objective)}"
    known = [each.objective for each in tuned.tried if each.objective is not None]
    # No two of the values tried were proved to have different objectives.
    if 1 < len(known) == len(tuned.tried) and max(low for low, _ in known) <= min(high for _, high in known):
        makes = "makes" if len(best.values) == 1 else "make"
        same = f"{found} for each of {count(len(tuned.tried), 'value')} tried"
        return f"{' and '.join(best.values)} {makes} no difference: {same}"
    text = f"best {_values(best.values)}: {found}"
    if own is not None and own.objective is not None and own is not best:
        gain = 1 - best.objective[1] / own.objective[0]
        text += f", {_percent(gain)} less than with {_values(own.values)}"
    tried = f"the best of {count(len(tuned.tried), 'value')} tried"
    if tuned.relative_gap is None:
        return f"{text}; {tried}"
    share = tuned.proved_within if tuned.proved_within is not None else tuned.relative_gap
    return f"{text}; {tried}, within {_percent(share)} of any {_proved_for(tuned)}, proved"


def _proved_for(tuned: Tuned) -> str:
    ranges = ", ".join(f"{name} in [{low}, {high}]" for name, (low, high) in tuned.proved_for.items())
    return ranges + (" with rates that are a fiftieth of the greatest, or more" if len(tuned.varied) > 1 else "")


def _values(values: Mapping[str, Fraction]) -> str:
    return ", ".join(f"{name} = {rational(value)}" for name, value in values.items())


def _percent(share: Fraction) -> str:
    return f"{exact(100 * share, 3)} %"


def _tuned_parts(tuned: Tuned, path: str) -> Iterator[ReportBlock]:
    ranges = (
        f"{one.name} in {'(' if one.low_open else '['}{one.low}, {one.high}{')' if one.high_open else ']'}"
        for one in tuned.varied
    )
    privacy = f"for adjacent inputs {tuned.adjacent}: t is multiplied by the least constant K"
    yield section(
        None,
        ("program", program_text(f"{tuned.program} ({path})", tuple(tuned.constants.items()))),
        ("vary", ", ".join(ranges)),
        *tuned.claim.items(),
        (str(tuned.wanted), f"asked for: the least t with {_T[tuned.wanted]} = t"),
        ("privacy", "nominal: no --adjacent" if tuned.adjacent is None else privacy),
    )
    for title, one in (("best", tuned.best), ("the program's own", tuned.own)):
        yield [] if one is None else section(title, *_tuned_fields(one))
    if tuned.lower is not None:
        private = "" if tuned.adjacent is None else "K·"
        text = f"{private}t ≥ {exact(tuned.lower, 6)} for every {_proved_for(tuned)}, by {count(tuned.cells, 'cell')}"
        at_end = [
            name
            for name, (low, high) in tuned.proved_for.items()
            if not low < (0 if tuned.best is None else tuned.best.values[name]) < high
        ]
        less = "the best value lies at an end of the range of {}: values closer to that end may need less"
        yield section(None, ("proved", text), *(("but", less.format(name)) for name in at_end))
    elif tuned.unproved is not None:
        yield section(None, ("proved", f"nothing about other values: {tuned.unproved}"))
    table = _table(tuned)
    yield [Grid(table.columns, tuple(table.rows)[:_LISTED], frozenset(range(1, len(table.columns))))]


def _tuned_fields(one: Evaluation) -> Iterator[tuple[str, str]]:
    for name, value in one.values.items():
        yield name, rational(value)
    if one.threshold is None:
        yield "reason", one.reason or ""
        return
    yield "t", cell_text(*one.threshold)
    if one.constant is not None and one.objective is not None:
        yield "K", f"{rational(one.constant)}{'' if one.exact else ', at most'}"
        yield "K·t", enclosed_text(*one.objective) if one.exact else f"at most {exact(one.objective[1])}"


def _table(tuned: Tuned) -> ShownTable:
    private = tuned.adjacent is not None
    rows: list[tuple[Tone | None, tuple[str, ...]]] = []
    for one in sorted((one for one in tuned.tried if one.objective is not None), key=lambda one: one.objective or ()):
        assert one.threshold is not None
        assert one.objective is not None
        times = (rational(one.constant or Fraction(1)), exact(one.objective[1], 8)) if private else ()
        cells = (*map(rational, one.values.values()), cell_text(*one.threshold), *times)
        rows.append((Tone.GOOD if one is tuned.best else None, cells))
    head = (*(each.name for each in tuned.varied), "t", *(("K", "K·t") if private else ()))
    return ShownTable("Values that were tried", head, rows, len(rows))
