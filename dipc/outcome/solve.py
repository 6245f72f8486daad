"""The answers of `dipc solve`, `dipc interval` and `dipc tune`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from dipc.algebra.numbers import decimal, outward
from dipc.decide.obligation import EndPoint, Verdict
from dipc.inverse.question import (
    AlphaSolution,
    BetaSolution,
    EnvelopePiece,
    EpsSolution,
    EpsSpan,
    GammaSolution,
    Solution,
    Status,
    Wanted,
)
from dipc.inverse.solve import Intervals, IntervalSide
from dipc.inverse.solve_constant import ConstantSolution
from dipc.inverse.tune import Evaluation, Tuned, Varied
from dipc.outcome.classes import class_fields
from dipc.outcome.outcome import GAP, ExitStatus, Fields, Grid, Line, Outcome, Part, ShownTable, Tone
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
    everywhere_text,
    exact,
    near_sign_of,
    no_input,
    numbered,
    program_text,
    rational,
    saying_text,
    says_nothing,
    subject_fields,
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
    """Return the outcome of a solution: an answer, a proof that there is none, or undecided."""
    return Outcome(
        program=solution.program,
        line=headline(solution, asked.options.digits),
        standing=STANDINGS[solution.status],
        tone=STANDINGS[solution.status].tone,
        parts=lambda: _report_parts(solution, about_question(asked, solution.question)),
        record=solution.as_json,
        warnings=solution.warnings,
        interrupted="interrupted\n" if solution.interrupted else None,
        result=solution,
        question=solution.question,
    )


def _report_parts(solution: Solution, statement: Statement) -> Iterator[Part]:
    yield GAP
    yield Fields(subject_fields(statement, solution.eps, asked=str(solution.wanted)))
    details = [*_details(solution), *_scope_fields(solution)]
    if details:
        yield GAP
        yield Fields(details)
    if solution.remark:
        yield GAP
        yield Fields([("reason" if solution.status == "undecided" else "because", solution.remark)])
    word = solution.question.word
    for number in solution.rows[:_SHOWN_ROWS]:
        yield GAP
        yield Line(f"{word} {number} {_what_rows_do(solution)}", Tone.HEAD)
        yield Fields(_case(solution, number))
    rest = solution.rows[_SHOWN_ROWS:]
    if rest:
        yield GAP
        yield Line(f"likewise {numbered(word, rest)}", Tone.FAINT)


def headline(solution: Solution, digits: int | None = None) -> str:
    """Return the whole answer in one sentence, whose numbers have `digits` digits, by default ten."""
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


def _case(solution: Solution, number: int) -> Iterable[tuple[str, str]]:
    row = solution.undecided_row(number)
    if solution.question.table is None:
        yield from class_fields(row)
        return
    yield "input", assignment_text(row.input)
    yield "output", assignment_text(row.output) if row.output else "any"
    dd = solution.question.table.rows[number - 1].dd
    if dd is not None:
        yield "dd", dd.text


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
        smallest = "" if solution.value is None else f", at most {enclosed_text(*solution.value, digits)}"
        return f"least gamma k/eps with k = {cell_text(*solution.product, digits)}{smallest}"
    if solution.value is None:
        more = "; `--inputs all` looks for k/eps" if solution.eps.startswith("(0, ") else ""
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
        return f"NO SOLUTION: no alpha suffices for which a {solution.question.word} claims anything"
    rows = "the row" if solution.claims == 1 else f"all {solution.claims} rows"
    why = _vacuity(solution)
    holds = f"hold{'s' * (solution.claims == 1)}{'' if why is None else f' vacuously ({why})'}"
    return f"least alpha {rational(solution.value)}: {rows} with dd(u) > {solution.value} {holds}"


def _half_open(low: Fraction, high: Fraction, digits: int) -> str:
    """Return the text of the interval (low, high], rounded outwards to at most `digits` digits at each end."""
    low, high = outward(low, high, digits)
    return f"({decimal(low)}, {decimal(high)}]"


def _beta_headline(solution: BetaSolution, digits: int) -> str:
    least = "largest expected error" if isinstance(solution.question.program, Erring) else "least beta"
    if not solution.pieces:
        return f"every beta suffices: every {solution.question.word} is vacuous"
    if all(piece.value is not None for piece in solution.pieces):
        values = [
            f"{cell_text(*piece.value, digits)} at eps = {piece.span.start.low}"
            for piece in solution.pieces
            if piece.value
        ]
        return f"{least} {', '.join(values)}"
    if len({piece.beta for piece in solution.pieces}) == 1:
        return f"{least} {_form(solution.pieces[0])}{_variable_text(solution.pieces[0], ', where ')}"
    return f"{least}: a closed form in each of {len(solution.pieces)} pieces"


def _what_rows_do(solution: Solution) -> str:
    """Return the predicate of a sentence about the rows that determine the answer, such as `fails for smaller eps`."""
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


def _scope_fields(solution: Solution) -> Iterable[tuple[str, str]]:
    if solution.claims_nothing and not solution.scopes:
        says: str | None = no_input(_near_sign(solution))
    else:
        says = saying_text(solution.scopes, solution.eps)
    if says is not None:
        yield NON_VACUOUS, says


def _vacuity(solution: Solution) -> str | None:
    return says_nothing(solution.scopes, _near_sign(solution)) if solution.claims_nothing else None


def _near_sign(solution: Solution) -> str:
    """Return the relation of dd to alpha where nothing is claimed; a least alpha is about inputs with dd > alpha."""
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
        case GammaSolution(product=product) if product is not None:
            yield "holds for", f"gamma >= k/eps, k = {cell_text(*product)}"
        case GammaSolution(value=(low, high)) | AlphaSolution(cell=(low, high)) if (
            low < high and solution.product is None
        ):
            yield "fails with", f"{solution.wanted} = {decimal(low)}"
            yield "holds with", f"{solution.wanted} = {decimal(high)}"
        case BetaSolution(pieces=pieces) if len(pieces) > 1 or any(p.value or not p.exact for p in pieces):
            for piece in pieces:
                yield _piece_text(solution, piece), _beta_text(solution, piece)


def _piece_text(solution: BetaSolution, piece: EnvelopePiece) -> str:
    name = "eps" if piece.variable is Variable.EPS else "t"
    where = f"{name} = {piece.span.start.low}" if piece.span.is_point else f"{name} in {_span(piece.span)}"
    note = getattr(solution.undecided_row(piece.rows[0]), "note", None) if solution.question.parameter else None
    return where if note is None else f"{', '.join(note.conditions)}, {where}"


def _beta_text(solution: BetaSolution, piece: EnvelopePiece) -> str:
    bound = "" if piece.exact else "at most "
    return f"{bound}{_form(piece)}{_variable_text(piece, ', ')}   ({numbered(solution.question.word, piece.rows)})"


def _form(piece: EnvelopePiece) -> str:
    """Return the closed form of a piece, in t if it is a function of a product with eps."""
    text = language_text(piece.beta)
    return text if piece.variable is Variable.EPS else re.sub(r"\beps\b", "t", text)


def _variable_text(piece: EnvelopePiece, before: str) -> str:
    return "" if piece.variable is Variable.EPS else f"{before}t = {piece.variable}"


def _union(spans: Sequence[EpsSpan]) -> str:
    texts = [_span(span) for span in spans[:_MOST_SPANS]]
    if len(spans) > _MOST_SPANS:
        texts.append(f"{len(spans) - _MOST_SPANS} more intervals")
    return " ∪ ".join(texts)


def _span(span: EpsSpan) -> str:
    if span.is_point:
        return f"{{{_end(span.start)}}}"
    left, right = "[" if span.start.included else "(", "]" if span.end.included else ")"
    return f"{left}{_end(span.start)}, {_end(span.end)}{right}"


def _end(end: EndPoint, digits: int | None = None) -> str:
    return "∞" if end.high is None else cell_text(end.low, end.high, digits)


def constant_outcome(constant: ConstantSolution, path: str) -> Outcome:
    """Return the outcome of solving for a constant of the program."""
    standing = STANDINGS[Status(constant.status)]
    return Outcome(
        program=constant.program,
        line=_constant_headline(constant),
        standing=standing,
        tone=standing.tone,
        parts=lambda: _constant_parts(constant, path),
        record=constant.as_json,
        interrupted="interrupted\n" if constant.interrupted else None,
        result=constant,
    )


def _constant_headline(constant: ConstantSolution) -> str:
    tried = f"of {len(constant.verdicts)} values tried"
    if constant.reason:
        return f"UNDECIDED: where {constant.name} begins to be enough is not known"
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


def _constant_parts(constant: ConstantSolution, path: str) -> Iterator[Part]:
    yield GAP
    claim = [(name, text) for name, text in constant.claim.items() if text]
    yield Fields([("program", f"{constant.program} ({path})"), *claim, ("eps", everywhere_text(constant.eps))])
    yield GAP
    if constant.reason:
        yield Fields([("reason", constant.reason)])
        yield GAP
    if constant.edge is not None:
        low, high = constant.edge.ends
        proved, refuted = (high, low) if constant.edge.begins else (low, high)
        beyond = f"it holds for all {'greater' if constant.edge.begins else 'lesser'} values, and for no others"
        yield Fields(
            [
                ("fails with", f"{constant.name} = {decimal(refuted)}"),
                ("holds with", f"{constant.name} = {decimal(proved)}"),
                (
                    "others",
                    beyond if constant.edge.monotone else "unknown: it was not shown to be monotone",
                ),
            ]
        )
        return
    for verdict, word in ((Verdict.ACCURATE, "holds"), (Verdict.INACCURATE, "fails"), (Verdict.UNDECIDED, "open")):
        values = [value for value, one in constant.verdicts.items() if one is verdict]
        if values:
            text = ", ".join(map(str, values[:_MOST_SPANS])) + (", …" if len(values) > _MOST_SPANS else "")
            yield Fields([(f"{word} for", f"{constant.name} in {{{text}}}")])
    for value, why in list(constant.refused.items())[:1]:
        yield Fields([("refused", f"{constant.name} = {value}: {why}")])
    yield Fields([("others", "values between these were not looked at: each was decided by itself")])


# --- The answer of `dipc interval` ------------------------------------------------------------------------------------


_TITLES = {
    IntervalSide.BOTH: "with both ends",
    IntervalSide.LOWER: "with a lower end",
    IntervalSide.UPPER: "with an upper end",
}


def interval_outcome(intervals: Intervals, asked: UserQuestion) -> Outcome:
    """Return the outcome of `dipc interval`: intervals, none, or undecided."""
    standing = STANDINGS[intervals.status]
    first = next(iter(intervals.solutions.values()))
    return Outcome(
        program=intervals.program,
        line=_interval_headline(intervals),
        standing=standing,
        tone=standing.tone,
        parts=lambda: _interval_parts(intervals, asked),
        record=intervals.as_json,
        warnings=first.warnings,
        interrupted="interrupted\n" if any(each.interrupted for each in intervals.solutions.values()) else None,
        # A certificate is for one solution, and about the program as it is written.
        result=first if [*intervals.solutions] == [IntervalSide.BOTH] else intervals,
        question=first.question if [*intervals.solutions] == [IntervalSide.BOTH] else None,
    )


def _interval_headline(intervals: Intervals) -> str:
    side, solution = next(iter(intervals.solutions.items()))
    chance = f"with probability at least {_confidence(intervals)} {everywhere_text(solution.eps)}"
    if solution.status is not Status.SOLVED:
        word = "NO INTERVAL" if solution.status is Status.NONE else "UNDECIDED: no interval is known"
        return f"{word} that the exact answer is in {chance}"
    return f"{_released(intervals)}: {_interval(side, solution)} has the exact answer {chance}"


def _released(intervals: Intervals) -> str:
    if len(intervals.outputs) == 1:
        return f"round the release r = {intervals.outputs[0]}"
    return f"round each release r of {len(intervals.outputs)}, together"


def _confidence(intervals: Intervals) -> str:
    return f"{decimal(100 * intervals.confidence)} %" if _is_short(intervals) else str(intervals.confidence)


def _is_short(intervals: Intervals) -> bool:
    return 10**8 % (100 * intervals.confidence).denominator == 0


def _interval(side: IntervalSide, solution: GammaSolution) -> str:
    reach = _reach(solution)
    low = "(-∞" if side is IntervalSide.UPPER else f"[r - {reach}"
    return f"{low}, {'∞)' if side is IntervalSide.LOWER else f'r + {reach}]'}"


def _reach(solution: GammaSolution) -> str:
    if solution.value is not None and solution.exact:
        return rational(solution.value[1])
    return _tolerances(solution)[1]


def _tolerances(solution: GammaSolution) -> tuple[str, str]:
    """Return (a tolerance that is too small, one that suffices), in multiples of 1/eps if `solution` is."""
    cell = solution.product if solution.product is not None else solution.value
    assert cell is not None
    unit = "" if solution.product is None else "/eps"
    return f"{decimal(cell[0])}{unit}", f"{decimal(cell[1])}{unit}"


#: The fields of a report on intervals, of those of a claim.
_OF_INTERVALS = ("program", "table", "inputs", "requires", "alpha", "eps")


def _interval_parts(intervals: Intervals, asked: UserQuestion) -> Iterator[Part]:
    first = next(iter(intervals.solutions.values()))
    options = first.question.options
    claimed = replace(asked, options=replace(asked.options, alpha=options.alpha, beta=options.beta))
    fields = dict(subject_fields(about_question(claimed, first.question), first.eps, asked="gamma"))
    yield GAP
    yield Fields(
        [
            *((name, text) for name, text in fields.items() if name in _OF_INTERVALS),
            ("confidence", f"{_confidence(intervals)}{'' if len(intervals.outputs) == 1 else ', all outputs at once'}"),
            ("outputs", ", ".join(intervals.outputs)),
        ]
    )
    for side, solution in intervals.solutions.items():
        yield GAP
        yield Line(_TITLES[side], Tone.HEAD)
        yield Fields(_interval_fields(side, solution))


def _interval_fields(side: IntervalSide, solution: GammaSolution) -> Iterator[tuple[str, str]]:
    if solution.status is not Status.SOLVED:
        yield ("reason" if solution.status is Status.UNDECIDED else "none", solution.remark)
        return
    yield "interval", _interval(side, solution)
    if solution.exact:
        yield "proved", "no smaller one is enough"
    else:
        yield "proved", f"{_tolerances(solution)[0]} is too small"
    if solution.rows:
        yield "needed by", numbered(solution.question.word, solution.rows)


# --- The answer of `dipc tune` ----------------------------------------------------------------------------------------


_ZERO = Fraction(0)

_T = {Wanted.ALPHA: "alpha*eps", Wanted.GAMMA: "gamma*eps", Wanted.EPS: "eps"}

#: The most values that are listed.
_LISTED = 12


def tuned_outcome(tuned: Tuned, path: str) -> Outcome:
    """Return the outcome of `dipc tune`.

    It is undecided if nothing is known, or a constant of privacy is only enclosed.
    """
    best = tuned.best
    standing = ExitStatus.OPEN if best is None or not best.exact else ExitStatus.HOLDS
    return Outcome(
        program=tuned.program,
        line=_tuned_headline(tuned),
        standing=standing,
        tone=Tone.HEAD if standing is ExitStatus.HOLDS else Tone.OPEN,
        parts=lambda: _tuned_parts(tuned, path),
        record=tuned.as_json,
        table=lambda: _table(tuned),
        interrupted="interrupted\n" if tuned.interrupted else None,
        result=tuned,
    )


def _tuned_headline(tuned: Tuned) -> str:
    best, own = tuned.best, tuned.own
    if best is None or best.objective is None:
        return f"UNDECIDED: the least {_T[tuned.wanted]} is known for none of the values tried"
    found = f"{_objective(tuned)} = {enclosed_text(*best.objective)}"
    if _makes_no_difference(tuned):
        names = " and ".join(best.values)
        verb = "makes" if len(best.values) == 1 else "make"
        return f"{names} {verb} no difference: {found} for each of {count(len(tuned.tried), 'value')} tried"
    text = f"best {_values(best.values)}: {found}"
    if own is not None and own.objective is not None and own is not best:
        gain = 1 - best.objective[1] / own.objective[0]
        text += f", {_percent(gain)} less than with {_values(own.values)}"
    tried = f"the best of {count(len(tuned.tried), 'value')} tried"
    if tuned.relative_gap is None:
        return f"{text}; {tried}"
    share = tuned.proved_within if tuned.proved_within is not None else tuned.relative_gap
    return f"{text}; {tried}, within {_percent(share)} of any {_proved_for(tuned)}, proved"


def _makes_no_difference(tuned: Tuned) -> bool:
    """Return True if no two of several tried values were proved to have different objectives, and all have one."""
    known = [each.objective for each in tuned.tried if each.objective is not None]
    return 1 < len(known) == len(tuned.tried) and max(low for low, _ in known) <= min(high for _, high in known)


def _proved_for(tuned: Tuned) -> str:
    ranges = ", ".join(f"{name} in [{low}, {high}]" for name, (low, high) in tuned.proved_for.items())
    return ranges + (" with rates that are a fiftieth of the greatest, or more" if len(tuned.varied) > 1 else "")


def _objective(tuned: Tuned) -> str:
    return f"{_T[tuned.wanted]} for K = 1" if tuned.adjacent is not None else _T[tuned.wanted]


def _values(values: Mapping[str, Fraction]) -> str:
    return ", ".join(f"{name} = {rational(value)}" for name, value in values.items())


def _percent(share: Fraction) -> str:
    return f"{exact(100 * share, 3)} %"


def _tuned_parts(tuned: Tuned, path: str) -> Iterator[Part]:
    yield GAP
    fields = [("program", program_text(f"{tuned.program} ({path})", tuple(tuned.constants.items())))]
    fields += [("vary", ", ".join(_range(each) for each in tuned.varied))]
    fields += [(name, text) for name, text in tuned.claim.items()]
    fields.append((str(tuned.wanted), f"asked for: the least t with {_T[tuned.wanted]} = t"))
    privacy = f"for adjacent inputs {tuned.adjacent}: t is multiplied by the least constant K"
    fields.append(("privacy", "nominal: no --adjacent" if tuned.adjacent is None else privacy))
    yield Fields(fields)
    for title, one in (("best", tuned.best), ("the program's own", tuned.own)):
        if one is not None:
            yield GAP
            yield Line(title, Tone.HEAD)
            yield Fields(_tuned_fields(one))
    yield GAP
    if tuned.lower is not None:
        private = "" if tuned.adjacent is None else "K·"
        text = f"{private}t ≥ {exact(tuned.lower, 6)} for every {_proved_for(tuned)}, by {count(tuned.cells, 'cell')}"
        yield Fields([("proved", text), *_at_an_end(tuned)])
    elif tuned.unproved is not None:
        yield Fields([("proved", f"nothing about other values: {tuned.unproved}")])
    yield GAP
    head, rows = _rows(tuned)
    yield Grid(head, tuple(rows[:_LISTED]), frozenset(range(1, len(head))))


def _at_an_end(tuned: Tuned) -> Iterator[tuple[str, str]]:
    """Yield a remark if the best value may be at an end of the searched range, beyond which nothing is proved."""
    for name, (low, high) in tuned.proved_for.items():
        value = _ZERO if tuned.best is None else tuned.best.values[name]
        if not low < value < high:
            yield "but", f"it lies at an end of the range of {name}: closer to that end less may be needed"


def _range(each: Varied) -> str:
    return f"{each.name} in {'(' if each.low_open else '['}{each.low}, {each.high}{')' if each.high_open else ']'}"


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


def _rows(tuned: Tuned) -> tuple[tuple[str, ...], list[tuple[Tone | None, tuple[str, ...]]]]:
    private = tuned.adjacent is not None
    head = (*(each.name for each in tuned.varied), "t", *(("K", "K·t") if private else ()))
    known = sorted((one for one in tuned.tried if one.objective is not None), key=lambda one: one.objective or ())
    rows: list[tuple[Tone | None, tuple[str, ...]]] = []
    for one in known:
        assert one.threshold is not None
        assert one.objective is not None
        cells = [rational(value) for value in one.values.values()] + [cell_text(*one.threshold)]
        if private:
            cells += [rational(one.constant or Fraction(1)), exact(one.objective[1], 8)]
        rows.append((Tone.GOOD if one is tuned.best else None, tuple(cells)))
    return head, rows


def _table(tuned: Tuned) -> ShownTable:
    head, rows = _rows(tuned)
    return ShownTable("Values that were tried", head, rows, len(rows))
