"""The answers of `dipc solve`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from dipc.algebra.numbers import decimal
from dipc.decide.obligation import EndPoint, Verdict
from dipc.inverse.question import (
    AlphaSolution,
    BetaSolution,
    EnvelopePiece,
    EpsSolution,
    GammaSolution,
    Solution,
    Span,
    Status,
)
from dipc.inverse.solve_constant import ConstantSolution
from dipc.outcome.classes import where
from dipc.outcome.outcome import GAP, Fields, Line, Outcome, Part, Standing, Tone
from dipc.outcome.tighten import about_question
from dipc.outcome.words import (
    NO_INPUT,
    NON_VACUOUS,
    Asked,
    Statement,
    about,
    assignment_text,
    cell_text,
    everywhere_text,
    numbered,
    rational,
    saying_text,
    says_nothing,
    shown,
)
from dipc.program.expected_error import Erring
from dipc.rules.rule import Variable

#: How an answer stands.
STANDINGS = {Status.SOLVED: Standing.HOLDS, Status.NONE: Standing.FAILS, Status.UNDECIDED: Standing.OPEN}

#: How many rows are described.
_SHOWN_ROWS = 2

_MOST_SPANS = 12


def outcome(solution: Solution, asked: Asked) -> Outcome:
    """The answer, solved, proved to have no solution, or open."""
    return Outcome(
        program=solution.program,
        line=headline(solution),
        standing=STANDINGS[solution.status],
        tone=STANDINGS[solution.status].tone,
        parts=lambda: _parts(solution, about_question(asked, solution.question)),
        record=solution.as_json,
        warnings=solution.warnings,
        interrupted="interrupted\n" if solution.interrupted else None,
        result=solution,
        question=solution.question,
    )


def _parts(solution: Solution, statement: Statement) -> Iterator[Part]:
    yield GAP
    yield Fields(about(statement, solution.eps, asked=str(solution.wanted)))
    details = [*_details(solution), *_saying(solution)]
    if details:
        yield GAP
        yield Fields(details)
    if solution.remark:
        yield GAP
        yield Fields([("reason" if solution.status == "undecided" else "because", solution.remark)])
    word = solution.question.word
    for number in solution.rows[:_SHOWN_ROWS]:
        yield GAP
        yield Line(f"{word} {number} {_part(solution)}", Tone.HEAD)
        yield Fields(_case(solution, number))
    rest = solution.rows[_SHOWN_ROWS:]
    if rest:
        yield GAP
        yield Line(f"likewise {numbered(word, rest)}", Tone.FAINT)


def headline(solution: Solution) -> str:
    """The whole answer in one sentence."""
    if solution.status == "undecided":
        return f"UNDECIDED: the least {solution.wanted} is not known"
    match solution:
        case EpsSolution():
            return _eps_headline(solution)
        case GammaSolution():
            return _gamma_headline(solution)
        case AlphaSolution():
            return _alpha_headline(solution)
        case BetaSolution():
            return _beta_headline(solution)
    raise AssertionError(solution)


def _case(solution: Solution, number: int) -> Iterable[tuple[str, str]]:
    row = solution.shown(number)
    if solution.question.table is None:
        yield from where(row)
        return
    yield "input", assignment_text(row.input)
    yield "output", assignment_text(row.output) if row.output else "any"
    dd = solution.question.table.rows[number - 1].dd
    if dd is not None:
        yield "dd", dd.text


def _eps_headline(solution: EpsSolution) -> str:
    everywhere = everywhere_text(solution.eps)
    least = solution.least
    if least is None:
        return f"NO SOLUTION: the claim fails {everywhere}"
    if solution.everywhere:
        why = _nothing(solution)
        return f"no least eps is needed: the claim holds {everywhere}{'' if why is None else f', vacuously ({why})'}"
    if not least.included:
        rest = "and from there on" if solution.from_there_on else "but not from there on"
        return f"no least eps: the claim holds right above {_end(least)}, {rest}"
    rest = (
        "; the claim holds from there on" if solution.from_there_on else ", but the claim does not hold from there on"
    )
    return f"least eps {_end(least)}{rest}"


def _gamma_headline(solution: GammaSolution) -> str:
    if solution.product is not None:
        smallest = "" if solution.value is None else f", at most {shown(*solution.value, solution.digits)}"
        return f"least gamma k/eps with k = {cell_text(*solution.product)}{smallest}"
    if solution.value is None:
        return "NO SOLUTION: no gamma suffices"
    low, high = solution.value
    if solution.exact:
        why = _nothing(solution)
        return f"least gamma {rational(high)}, exactly{'' if why is None else f': the claim is vacuous ({why})'}"
    return f"least gamma in ({decimal(low)}, {decimal(high)}]"


def _alpha_headline(solution: AlphaSolution) -> str:
    if solution.product is not None and solution.product[1] is not None:
        low, high = solution.product
        if not high:
            why = _nothing(solution)
            return f"least alpha 0, for every eps{'' if why is None else f': the claim is vacuous ({why})'}"
        number = "" if solution.cell is None else f" = {shown(*solution.cell, solution.digits)}"
        return f"least alpha t/eps with t = {cell_text(low, high)}{number}"
    if solution.value is None:
        return f"NO SOLUTION: no alpha suffices for which a {solution.question.word} claims anything"
    rows = "the row" if solution.claims == 1 else f"all {solution.claims} rows"
    why = _nothing(solution)
    holds = f"hold{'s' * (solution.claims == 1)}{'' if why is None else f' vacuously ({why})'}"
    return f"least alpha {rational(solution.value)}: {rows} with dd(u) > {solution.value} {holds}"


def _beta_headline(solution: BetaSolution) -> str:
    least = "largest expected error" if isinstance(solution.question.program, Erring) else "least beta"
    if not solution.pieces:
        return f"every beta suffices: no {solution.question.word} claims anything"
    if all(piece.value is not None for piece in solution.pieces):
        values = [
            f"{cell_text(*piece.value)} at eps = {piece.span.start.low}" for piece in solution.pieces if piece.value
        ]
        return f"{least} {', '.join(values)}"
    if len({piece.beta for piece in solution.pieces}) == 1:
        return f"{least} {_form(solution.pieces[0])}{_variable_text(solution.pieces[0], ', where ')}"
    return f"{least}: a closed form in each of {len(solution.pieces)} pieces"


def _part(solution: Solution) -> str:
    """What the rows that are named do."""
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


def _saying(solution: Solution) -> Iterable[tuple[str, str]]:
    says = NO_INPUT if solution.claims_nothing and not solution.sayings else saying_text(solution.sayings, solution.eps)
    if says is not None:
        yield NON_VACUOUS, says


def _nothing(solution: Solution) -> str | None:
    """Why the claim, with what was found, says nothing; None where it says something."""
    return says_nothing(solution.sayings) if solution.claims_nothing else None


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
        case GammaSolution(value=value, product=None) if value is not None and not solution.exact:
            yield "fails with", f"gamma = {decimal(value[0])}"
            yield "holds with", f"gamma = {decimal(value[1])}"
        case BetaSolution(pieces=pieces) if len(pieces) > 1 or any(p.value or not p.exact for p in pieces):
            for piece in pieces:
                yield _at(solution, piece), _beta_text(solution, piece)


def _at(solution: BetaSolution, piece: EnvelopePiece) -> str:
    """Where a piece is: for which values of its variable, and of a constant that is left open."""
    name = "eps" if piece.variable is Variable.EPS else "t"
    at = f"{name} = {piece.span.start.low}" if piece.span.is_point else f"{name} in {_span(piece.span)}"
    note = getattr(solution.shown(piece.rows[0]), "note", None) if solution.question.parameter is not None else None
    return at if note is None else f"{', '.join(note.where)}, {at}"


def _beta_text(solution: BetaSolution, piece: EnvelopePiece) -> str:
    bound = "" if piece.exact else "at most "
    return f"{bound}{_form(piece)}{_variable_text(piece, ', ')}   ({numbered(solution.question.word, piece.rows)})"


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


def constant_outcome(found: ConstantSolution, path: str) -> Outcome:
    """The answer for a constant of the program."""
    standing = STANDINGS[Status(found.status)]
    return Outcome(
        program=found.program,
        line=_constant_headline(found),
        standing=standing,
        tone=standing.tone,
        parts=lambda: _constant_parts(found, path),
        record=found.as_json,
        interrupted="interrupted\n" if found.interrupted else None,
        result=found,
    )


def _constant_headline(found: ConstantSolution) -> str:
    tried = f"of {len(found.verdicts)} values tried"
    if found.reason:
        return f"UNDECIDED: where {found.name} begins to be enough is not known"
    if found.edge is not None:
        low, high = map(decimal, found.edge.ends)
        return (
            f"least {found.name} in ({low}, {high}]"
            if found.edge.begins
            else f"greatest {found.name} in [{low}, {high})"
        )
    if not found.holds:
        if found.undecided:
            return f"UNDECIDED: the claim is proved for no {found.name} {tried}, and open for {len(found.undecided)}"
        return f"NO SOLUTION: the claim fails for every {found.name} {tried}"
    least, greatest = found.holds[0], found.holds[-1]
    if least == greatest:
        return f"the claim holds for {found.name} = {rational(least)} alone, {tried}"
    between = [value for value in found.verdicts if least <= value <= greatest]
    gaps = len(between) - len(found.holds)
    rest = "" if not gaps else f", but not for {gaps} between"
    return f"least {found.name} {rational(least)}, greatest {rational(greatest)}{rest}: {len(found.holds)} {tried}"


def _constant_parts(found: ConstantSolution, path: str) -> Iterator[Part]:
    yield GAP
    claim = [(name, text) for name, text in found.claim.items() if text]
    yield Fields([("program", f"{found.program} ({path})"), *claim, ("eps", everywhere_text(found.eps))])
    yield GAP
    if found.reason:
        yield Fields([("reason", found.reason)])
        yield GAP
    if found.edge is not None:
        low, high = found.edge.ends
        proved, refuted = (high, low) if found.edge.begins else (low, high)
        beyond = f"it holds for all {'greater' if found.edge.begins else 'lesser'} values, and for no others"
        yield Fields(
            [
                ("fails with", f"{found.name} = {decimal(refuted)}"),
                ("holds with", f"{found.name} = {decimal(proved)}"),
                (
                    "others",
                    beyond if found.edge.monotone else "nothing is said of them: it was not shown to be monotone",
                ),
            ]
        )
        return
    for verdict, word in ((Verdict.ACCURATE, "holds"), (Verdict.INACCURATE, "fails"), (Verdict.UNDECIDED, "open")):
        values = [value for value, one in found.verdicts.items() if one is verdict]
        if values:
            text = ", ".join(map(str, values[:_MOST_SPANS])) + (", …" if len(values) > _MOST_SPANS else "")
            yield Fields([(f"{word} for", f"{found.name} in {{{text}}}")])
    for value, why in list(found.refused.items())[:1]:
        yield Fields([("refused", f"{found.name} = {value}: {why}")])
    yield Fields([("others", "nothing is said of values between these: each was decided by itself")])
