"""Inverse questions: the least eps, alpha, beta or gamma for which a claim holds, for every kind of question.

Pr is the probability of a right answer.

**The least alpha.** A claim says that Pr >= 1 - beta at each input u with dd(u) > alpha. Let alpha grow from one value
of dd in a table to the next. Meanwhile the claim is about the same rows, and 1 - beta never decreases. So if the claim
holds for some alpha in between, it holds for the lower of the two values. The least alpha for which the claim holds is
therefore 0 or a value of dd.

For every real input, beta is a function of t = alpha·eps, and so is the least probability of the inputs with dd(u) >=
alpha. The claim holds with alpha = t/eps exactly for the t at which the inequalities in t hold, and with alpha = 0 in
the limit t -> 0.

**The least beta** is a function of eps: the upper envelope of 1 - Pr over all rows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from fractions import Fraction
from math import floor
from typing import Any, Unpack, assert_never

from dipc.algebra.exppoly import ClosedForm, ExpPoly, fraction_of
from dipc.algebra.limits import LimitReached, Limits, NoClosedForm, Undecided
from dipc.algebra.numbers import round_down
from dipc.algebra.parametric import FLAT, Compound, Operator, Parametric, TooLarge
from dipc.algebra.record import Record, json_object
from dipc.claims.claim import Claim, GivenValue, claim_expression, intervals_text
from dipc.claims.conditions import trend
from dipc.claims.expression import DISTANCES, ClaimExpression
from dipc.claims.table import Row, Table, TableGiven
from dipc.decide.crossings import span_of
from dipc.decide.engine import NO_FORM, Engine
from dipc.decide.obligation import EndPoint, EpsSpan, Obligation, Verdict, with_typed_ends
from dipc.frozen import frozen
from dipc.inverse.question import (
    DIGITS,
    INTERRUPTED,
    NEAR_A_TIE,
    AlphaSolution,
    BetaSolution,
    Claims,
    EnvelopePiece,
    EpsSolution,
    GammaSolution,
    GivenInverse,
    Inequality,
    Question,
    Solution,
    Status,
    Stopped,
    UnknownCases,
    Wanted,
    all_hold,
    check_request,
    claim_scopes,
    claims_of,
    has_integer_distances,
    measure_inequalities,
    rational_at_irrational_eps,
    read_question,
    with_typed_scopes,
)
from dipc.inverse.search import GREATEST, LeastNumber
from dipc.inverse.solve_constant import ConstantSolution, solve_constant
from dipc.inverse.solve_eps import BELOW, HoldingSet, solve_at_its_eps, solve_eps
from dipc.inverse.solve_gamma import solve_gamma
from dipc.measure.measure import Bound, EnclosedForm
from dipc.options import GivenQuestion, Options, takes
from dipc.program.program import Program, ProgramGiven, Progress, as_program, one_sided
from dipc.questions.every_input import ClassCase, EveryInput
from dipc.questions.every_number.all_numbers import AllNumbers
from dipc.questions.question import about_errors
from dipc.questions.report import ClassNote, ClassResult, RowResult
from dipc.questions.source import Source
from dipc.rules.class_claim import ClassClaim
from dipc.rules.rule import BetaSummand, ProofStep, Variable
from dipc.sign.chart import cuts, is_nowhere_negative
from dipc.sign.interval import Interval
from dipc.sign.normal import NormalBeta, NormalSum
from dipc.sign.optimum import Cell, QuotientValue, decimal_cell, decimal_hull, number_cell
from dipc.sign.piecewise import PiecewiseForm
from dipc.text.ast import BaseType, Expr, Name, mentions, number, rewritten
from dipc.text.diagnostic import bad_input
from dipc.text.printer import print_expression


def solve_alpha(
    question: Question, claim: Claim | None, digits: int, progress: Progress | None = None
) -> AlphaSolution:
    """The least alpha >= 0 with which the claim holds: Pr[right answer] >= 1 - beta(alpha) wherever dd(u) > alpha.

    The claim is that of `question`, for all its eps. For a table, `claim` is this claim with alpha = 0; for a question
    about every real input it is None. Enclosures have `digits` digits; `progress` is called with (cases done, cases in
    all). Raises DiagnosticError if a row has no dd, if gamma depends on alpha, or if beta may grow with alpha.
    """
    if question.table is None:
        return _solve_everywhere(question, digits)
    assert claim is not None
    _require_distances(question.table)
    _check_kind(question.table.rows, claim)
    return _among_rows(question, claim, digits, progress)


# --- rows --------------------------------------------------------------------------------------------------


def _among_rows(question: Question, claim: Claim, digits: int, progress: Progress | None) -> AlphaSolution:
    assert question.table is not None
    distances = {
        row.number: row.dd.value if row.dd is not None and isinstance(row.dd.value, Fraction) else None
        for row in question.table.rows
    }
    before: tuple[int, ...] = ()
    undecided_row = question.with_claim(alpha=0).undecided_row
    fixed = not any(mentions(beta.tree, "alpha") for beta in _betas(question.table.rows, claim))

    def answer(
        status: Status,
        remark: str,
        rows: tuple[int, ...],
        value: Fraction | None = None,
        claims: int = 0,
        interrupted: bool = False,
    ) -> AlphaSolution:
        limits = question.program.limits
        return AlphaSolution(
            question=question,
            undecided_row=undecided_row,
            eps=intervals_text(claim.intervals),
            digits=digits,
            status=status,
            rows=rows,
            remark=remark,
            value=value,
            claims=claims,
            scopes={} if value is None else claim_scopes(question.with_claim(alpha=value).claim(), limits),
            interrupted=interrupted,
            from_there_on=fixed,
        )

    for alpha in sorted({Fraction(0)} | {distance for distance in distances.values() if distance is not None}):
        above = {number for number, distance in distances.items() if distance is None or distance > alpha}
        if not above:
            return answer(Status.NONE, f"every row is vacuous if alpha is {alpha} or more", before)
        try:
            known, rows, reason = all_hold(claims_of(question.with_claim(alpha=alpha), progress, among=above))
        except KeyboardInterrupt:
            if not alpha:
                raise
            remark = f"{INTERRUPTED}: no alpha below {alpha} is enough"
            return answer(Status.UNDECIDED, remark, before, interrupted=True)
        if known is Verdict.UNDECIDED:
            return answer(Status.UNDECIDED, reason, rows[:1])
        if known is Verdict.ACCURATE:
            return answer(Status.SOLVED, "", before, alpha, len(above))
        before = rows[:1]
    return answer(Status.NONE, "a row with dd = inf is never vacuous", before)


def _require_distances(table: Table) -> None:
    missing = next((row.number for row in table.rows if row.dd is None), None)
    if missing is not None:
        note = "give a column `dd`, or a program with an `ideal` block"
        raise bad_input("E1023", f"row {missing} has no distance to disagreement", note)


def _check_kind(rows: Sequence[Row], claim: Claim) -> None:
    if claim.gamma is not None and mentions(claim.gamma.tree, "alpha"):
        why = "the least alpha then need not be a value of dd"
        raise claim.gamma.error("E1022", "gamma depends on alpha, which is the unknown", claim.gamma.tree, "", why)
    names = claim.constants | {name: Parametric.unknown(name) for name in DISTANCES}
    for beta in _betas(rows, claim):
        if mentions(beta.tree, "alpha") and not trend(beta, "alpha", names, claim.intervals).falls:
            why = "the least alpha is a value of dd only where beta never grows with alpha"
            raise beta.error("E1024", "it could not be shown that beta never grows with alpha", beta.tree, "", why)


def _betas(rows: Sequence[Row], claim: Claim) -> list[ClaimExpression]:
    columns = sorted({row.beta.text for row in rows if row.beta is not None})
    return [*([claim.beta] if claim.beta is not None else []), *(claim.column_beta(text) for text in columns)]


# --- every real input ----------------------------------------------------------------------------------------


#: For int inputs, no alpha above 10^n is tried for this n: measuring integer noise takes longer for greater distances.
_GREATEST_OF_INTS = 4


def _solve_everywhere(question: Question, digits: int) -> AlphaSolution:
    """The least alpha of `question` for every real input: t/eps with the least t, from the claim with alpha = dd.

    If t is undecided and the claim names one eps, decimals of `digits` digits are tried as alpha instead.
    """
    claims = claims_of(question.with_claim(alpha="dd"))
    solution = _in_products(claims, digits)
    if solution.status is Status.UNDECIDED and not solution.interrupted:
        failing = _failing_however_far(claims)
        if failing:
            return _answer(claims, digits, Status.NONE, failing, "the claim fails however far other answers are")
    if solution.status is not Status.UNDECIDED or solution.interrupted or not claims.at_one_eps:
        return solution
    _check_kind((), question.with_claim(alpha="dd").claim())
    at_zero = claims_of(question.with_claim(alpha=0))
    known, rows, _ = all_hold(at_zero)
    if known is Verdict.ACCURATE:
        return _answer(at_zero, digits, Status.SOLVED, (), "", cell=(Fraction(0), Fraction(0)))
    refuted = Fraction(0) if known is Verdict.INACCURATE else None
    core = question.program.core
    whole = any(slot.type is BaseType.INT for slot in core.input_slots)
    greatest = _GREATEST_OF_INTS if whole else GREATEST
    search = LeastNumber(
        "alpha", lambda alpha: claims_of(question.with_claim(alpha=alpha)), rows, refuted, greatest=greatest
    )
    status, rows, reason, between = search.enclose(digits)
    if status is Status.SOLVED and between is not None:
        less = _may_hold_below(question, between[0])
        if less is None:
            return _answer(at_zero, digits, status, rows, "", cell=_whole_cell(at_zero, between))
        reason = f"it fails with alpha = {between[0]} and holds with {between[1]}, {less}"
    return replace(solution, remark=reason)


def _failing_however_far(claims: Claims) -> tuple[int, ...]:
    """Return the indices (from 1) of the cases in `claims` that fail at inputs with arbitrarily large dd.

    If there is one, no alpha is enough.
    """
    engine = claims.question.engine
    failing = []
    for case in claims.every:
        with suppress(Undecided):
            limit = case.posed_however_far() if isinstance(case, ClassCase) else None
            if limit is None or engine.decide(limit.obligation).verdict is not Verdict.INACCURATE:
                continue
            if claims.question.around is None or engine.fails_throughout(limit.obligation):
                failing.append(case.number)
    return tuple(failing)


def _whole_cell(claims: Claims, between: Cell) -> Cell:
    """Return (n, n), where the integer n is the least alpha, if only integer distances matter; else return `between`.

    `between` has an alpha with which the claim of `claims` fails, and a greater one with which it holds. If all
    distances are integers and beta does not depend on alpha, dd(u) > alpha means the same for every alpha from n to
    below n + 1.
    """
    beta = claims.question.claim().beta
    whole = all(isinstance(case, ClassCase) and case.convex.inputs.integral for case in claims.every)
    if not whole or beta is None or mentions(beta.tree, "alpha"):
        return between
    least = Fraction(floor(between[1]))
    return (least, least) if between[0] < least else between


#: The most intervals of alpha that are examined.
_MOST_INTERVALS = 1_000


def _may_hold_below(question: Question, low: Fraction) -> str | None:
    """Return why `question` may hold with some alpha below `low`, though it fails with `low`; None if it cannot.

    The claim cannot hold with a smaller alpha if beta does not depend on alpha, since a smaller alpha only adds inputs.
    Otherwise beta never grows with alpha, and intervals of alpha are excluded one by one: if some u has dd(u) > b and
    Pr < 1 - beta(a), then the claim fails for all alpha from a to b.
    """
    beta = question.with_claim(alpha="dd").claim().beta
    if beta is None or not mentions(beta.tree, "alpha"):
        return None

    tree = beta.tree

    def verdict(alpha: Fraction, of_beta: Fraction) -> Verdict:
        def bound_to(node: object) -> Expr | None:
            return number(of_beta, node.span) if isinstance(node, Name) and mentions(node, "alpha") else None

        text = print_expression(rewritten(tree, bound_to))
        return all_hold(claims_of(question.with_claim(alpha=alpha, beta=text)))[0]

    pending = [(Fraction(0), low)]
    for _ in range(_MOST_INTERVALS):
        if not pending:
            return None
        start, end = pending.pop()
        if verdict(end, start) is Verdict.INACCURATE:
            continue
        middle = (start + end) / 2
        if verdict(middle, middle) is Verdict.ACCURATE:
            return f"but it also holds with {middle}"
        pending += [(middle, end), (start, middle)]
    return "but a smaller alpha may be enough, too"


def _in_products(claims: Claims, digits: int) -> AlphaSolution:
    question = claims.question
    limits = question.program.limits
    whole = Interval.POSITIVE
    fixed = [claimed for claimed in claims.distinct if claimed.variable is not Variable.ALPHA_EPS]
    moving = [claimed for claimed in claims.distinct if claimed.variable is Variable.ALPHA_EPS]
    found = HoldingSet.from_inequalities(moving, [whole], claims.unknown, question.engine)
    if fixed:
        _check_kind((), question.claim())
    for claimed in fixed:
        # dd is one number d on such a class, or infinite: a claim that holds with beta(d) holds with beta(alpha), alpha
        # < d.
        try:
            if not claimed.holds(question.engine):
                return _answer(claims, digits, Status.UNDECIDED, claimed.rows, _FIXED if claimed.exact else BELOW)
        except Undecided as error:
            return _answer(claims, digits, Status.UNDECIDED, claimed.rows, error.reason)
    if not found.held:
        return _answer(claims, digits, Status.NONE, found.preventing_rows, "the claim fails for every t = alpha*eps")
    spans = tuple(span_of(each, digits, limits) for each in found.held)
    low = _start(spans)
    high = _start([span_of(each, digits, limits) for each in found.proved[:1]])
    if high is None or high != low:
        reason, rows = BELOW, found.unproved_rows
        if found.unknown:
            reason, rows = found.unknown[0].reason, found.unknown[0].rows
        assert low is not None
        between = low[0], None if high is None else high[1]
        return _answer(claims, digits, Status.UNDECIDED, rows, reason, between, spans)
    return _answer(claims, digits, Status.SOLVED, found.preventing_rows, "", high, spans)


_FIXED = "the claim fails for a class of inputs on which dd(u) is constant or infinite"


def _start(spans: Sequence[EpsSpan]) -> Cell | None:
    if not spans:
        return None
    start = spans[0].start
    assert start.high is not None
    return start.low, start.high


def _answer(
    claims: Claims,
    digits: int,
    status: Status,
    rows: tuple[int, ...],
    remark: str,
    product: tuple[Fraction, Fraction | None] | None = None,
    holds: tuple[EpsSpan, ...] = (),
    cell: Cell | None = None,
) -> AlphaSolution:
    if status is Status.SOLVED and product is not None and product[1] is not None and claims.at_one_eps:
        first = claims.intervals[0]
        cell = product[0] / (first.upper or first.lower), product[1] / first.lower
        if not first.is_point:
            cell = decimal_hull(cell, digits)
    return AlphaSolution.from_claims(
        claims,
        digits,
        status,
        rows,
        remark,
        value=None,
        claims=claims.cases - claims.vacuous,
        product=product,
        holds=holds,
        cell=cell,
        interrupted=remark == INTERRUPTED,
    )


#: The least beta as one text, or "", and its pieces.
_Envelope = tuple[str, Sequence[EnvelopePiece]]
_NOTHING: _Envelope = ("", ())


def solve_beta(claims: Claims, digits: int) -> BetaSolution:
    """The least beta for all cases of `claims` that are not vacuous, as a function of eps in pieces with closed forms.

    The variable is t = alpha*eps or gamma*eps instead of eps if the claim is about every distance. The ends of pieces
    have `digits` digits. If only an upper bound of some 1 - Pr is known, the pieces give this bound and the solution is
    undecided; it is also undecided if a case is past a limit. In a question about every m, each small m and the range
    of all other m have pieces of their own.
    """
    question = claims.question
    unknown = list(claims.unknown)
    pieces: list[EnvelopePiece] = []
    texts: list[str] = []
    for (variable, intervals), group in claims.by_variable().items():
        around = next((claimed.intervals[0] for claimed in group if claimed.is_around), None)
        by_case = [group]
        if question.parameter is not None:
            numbers = sorted({number for claimed in group for number in claimed.rows})
            by_case = [
                [replace(claimed, rows=(number,)) for claimed in group if number in claimed.rows] for number in numbers
            ]
        for inequalities in by_case:
            try:
                if any(claimed.power for claimed in inequalities):
                    pieces.append(_union(inequalities, question, digits))
                    continue
                text, found = _NOTHING
                without_form = any(isinstance(claimed.bound, EnclosedForm) for claimed in inequalities)
                if not without_form:
                    text, found = _envelope(inequalities, intervals, variable, digits, question.program.limits)
                elif around is None:
                    text, found = _without_form(inequalities, intervals, variable, digits, question.engine)
                if around is not None:
                    text, found = _at_irrational_eps(inequalities, found, question, digits)
            except Undecided as undecided:
                unknown.append(
                    UnknownCases(undecided.reason, tuple(n for claimed in inequalities for n in claimed.rows))
                )
                continue
            if around is None or not without_form:
                texts.append(text)
            pieces += found
    bounds = [piece for piece in pieces if not piece.exact]
    rows = {number for piece in bounds or pieces for number in piece.rows}
    remark = "only an upper bound of 1 - Pr is known" if bounds else ""
    return BetaSolution.from_claims(
        claims,
        digits,
        Status.UNDECIDED if unknown or bounds else Status.SOLVED,
        unknown[0].rows if unknown else tuple(sorted(rows)),
        unknown[0].reason if unknown else remark,
        beta=texts[0] if len(texts) == 1 else "",
        pieces=tuple(pieces),
        scopes={},
    )


def _without_form(
    inequalities: Sequence[Inequality], intervals: tuple[Interval, ...], variable: Variable, digits: int, engine: Engine
) -> _Envelope:
    """Return the least beta if some probability has no closed form: one number for each eps that the claim names.

    The least beta is the largest 1 - Pr of `inequalities` in `variable` on `intervals`, enclosed to `digits` digits. An
    interval may contain more than one eps only if `engine` proves that one inequality has the largest 1 - Pr, and if
    this 1 - Pr is a sum of functions of the normal distribution. The envelope's text is then this sum. Raises
    NoClosedForm for any other interval with more than one eps, and Undecided.
    """
    text = ""
    highest = inequalities
    if not all(interval.is_point for interval in intervals):
        highest = _greatest(inequalities, intervals, engine)
    if len(highest) == 1:
        text = _normal_text(highest[0]) or ""
    pieces = []
    for interval in intervals:
        value = None
        if interval.is_point:
            ends = [(claimed, _missing_at(claimed, interval.lower, digits)) for claimed in highest]
            claimed, value = max(ends, key=lambda each: each[1])
        elif not text:
            raise NoClosedForm(f"{NO_FORM}: give one eps")
        else:
            (claimed,) = highest
        span = span_of(cuts(interval), digits, engine.limits)
        pieces.append(EnvelopePiece(span, text, claimed.rows, value, variable, claimed.exact))
    return text, pieces


def _at_irrational_eps(
    inequalities: Sequence[Inequality], pieces: Sequence[EnvelopePiece], question: Question, digits: int
) -> _Envelope:
    """The least beta of `inequalities` at the single irrational eps that `question` is about, to `digits` digits.

    `pieces` are the least beta as a function of eps on an interval around this eps; they are empty if the function has
    no closed form. Raises Undecided.
    """
    engine, interval = question.engine, inequalities[0].intervals[0]
    more = digits + _MORE_DIGITS
    ends = [(claimed, _missing_at(claimed, interval.lower, more)) for claimed in inequalities]
    claimed, (low, high) = max(ends, key=lambda each: each[1])
    value = decimal_hull((low * (1 - Fraction(1, 10**more)), high * (1 + Fraction(1, 10**more))), digits)

    def with_beta(claimed: Inequality, beta: Fraction) -> Inequality:
        return replace(claimed, beta=PiecewiseForm(ExpPoly.constant(beta)))

    exact = rational_at_irrational_eps(question, claimed, value, scale=False)
    if exact is not None:
        value = exact, exact
    elif not all(with_beta(other, value[1]).holds(engine) for other in inequalities) or (
        value[0] > 0 and not engine.fails_throughout(with_beta(claimed, value[0]).obligation)
    ):
        raise Undecided(NEAR_A_TIE)
    text = pieces[0].beta if len(pieces) == 1 else ""
    assert interval.upper is not None
    start = EndPoint(interval.lower, interval.upper, included=True)
    return text, [EnvelopePiece(EpsSpan(start, start), text, claimed.rows, value, exact=claimed.exact)]


def _greatest(
    inequalities: Sequence[Inequality], intervals: tuple[Interval, ...], engine: Engine
) -> Sequence[Inequality]:
    """Return a list of one inequality, proved by `engine` to have the largest 1 - Pr of `inequalities` at every eps.

    Return all `inequalities` if there is no proof, on all of `intervals`, for any of them.
    """
    for one in inequalities:
        less = one.stated.opposite
        others = [other.stated for other in inequalities if other is not one]
        bounds = [Bound.combined([(1, other), (1, less)], Fraction(0)) for other in others]
        obligations = [Obligation(bound, PiecewiseForm(ExpPoly.ZERO), intervals) for bound in bounds]
        if all(engine.decide(obligation).verdict is Verdict.ACCURATE for obligation in obligations):
            return [one]
    return inequalities


def _normal_text(claimed: Inequality) -> str | None:
    assert isinstance(claimed.bound, EnclosedForm)
    functions = claimed.bound.functions()
    if functions is None:
        return None
    return str(NormalBeta(NormalSum.collect(ExpPoly.ONE, ()) + functions.times(ExpPoly.constant(-1))))


def _missing_at(claimed: Inequality, eps: Fraction, digits: int) -> Cell:
    """An enclosure of 1 - Pr at `eps`: two neighboring decimals of `digits` significant digits, or its exact value.

    Pr is the probability in the inequality `claimed`. The lower decimal is the value rounded down. Both ends are the
    value itself if the enclosure of Pr is one number. Raises LimitReached.
    """
    for more in (8, 64, 512):
        low, high = claimed.bound.enclosure(eps, digits + more)
        if low == high:
            return 1 - low, 1 - low
        if 1 - high > 0 and round_down(1 - low, digits) == round_down(1 - high, digits):
            return decimal_cell(1 - low, digits)
    raise LimitReached(None, f"1 - Pr could not be rounded to {digits} digits at eps = {eps}")


def _union(inequalities: Sequence[Inequality], question: Question, digits: int) -> EnvelopePiece:
    first = inequalities[0]
    assert question.parameter is not None
    limits = question.program.limits
    whole = Interval.POSITIVE if first.variable is not Variable.EPS else first.intervals[0]
    text = union_text(inequalities, question.parameter, limits)
    return EnvelopePiece(span_of(cuts(whole), digits, limits), text, first.rows, None, first.variable, exact=False)


def union_text(inequalities: Sequence[Inequality], parameter: str, limits: Limits) -> str:
    """The text of a polynomial in m that is at least 1 - Pr[right answer], for every m >= some number start.

    m is the constant `parameter`. The polynomial is in powers of m - start. Each coefficient is the largest that the
    `inequalities` have for this power. Raises Undecided if a coefficient is unknown, or if coefficients cannot be
    compared within `limits`.
    """
    first = inequalities[0]
    terms = []
    for power in sorted({claimed.power for claimed in inequalities}):
        coefficients = [claimed for claimed in inequalities if claimed.power == power]
        highest = _undominated(coefficients, first.intervals, limits)
        text = str(ClosedForm(highest[0].missing)) if len(highest) == 1 else str(_maximum(highest))
        if text != "0":
            exponent = f"^{power}" if power > 1 else ""
            terms.append(f"({text})*({parameter} - {first.start}){exponent}" if power else text)
    return " + ".join(terms) or "0"


def _maximum(highest: Sequence[Inequality]) -> PiecewiseForm:
    fractions = [fraction_of(claimed.missing) for claimed in highest]
    forms = [Parametric({} if above.is_zero() else {FLAT: above}, below) for above, below in fractions]
    return PiecewiseForm(Compound(Operator.MAX, tuple(forms)))


def _envelope(
    inequalities: Sequence[Inequality],
    intervals: tuple[Interval, ...],
    variable: Variable,
    digits: int,
    limits: Limits,
) -> _Envelope:
    highest = _undominated(inequalities, intervals, limits)
    if len(highest) == 1:
        (only,) = highest
        text, fraction = str(ClosedForm(only.missing)), fraction_of(only.missing)
        pieces = []
        for interval in intervals:
            value = _value(*fraction, interval.lower, digits, limits) if interval.is_point else None
            span = span_of(cuts(interval), digits, limits)
            pieces.append(EnvelopePiece(span, text, only.rows, value, variable, only.exact))
        return text, pieces
    try:
        envelope = _maximum(highest)
        text = str(envelope)
        split = [
            piece for interval in intervals for piece in _split(envelope, highest, interval, variable, digits, limits)
        ]
    except TooLarge:
        reason = f"{len(highest)} rows need the largest beta, each at other values of eps: too many to put in order"
        raise LimitReached(None, reason) from None
    return text, split


def _undominated(
    inequalities: Sequence[Inequality], intervals: tuple[Interval, ...], limits: Limits
) -> list[Inequality]:
    kept: list[Inequality] = []
    # The likely maximum comes first, so that it excludes most others at once; the order is a guess. Among equal
    # functions the exact one comes first.
    point = intervals[0].inner_point
    for candidate in sorted(inequalities, key=lambda one: (-one.missing.enclosure(point, 5)[0], not one.exact)):
        value = candidate.closed.value
        if any(is_nowhere_negative(value - other.closed.value, intervals, limits) for other in kept):
            continue
        kept = [each for each in kept if not is_nowhere_negative(each.closed.value - value, intervals, limits)]
        kept.append(candidate)
    return kept


def _split(
    envelope: PiecewiseForm,
    highest: list[Inequality],
    interval: Interval,
    variable: Variable,
    digits: int,
    limits: Limits,
) -> list[EnvelopePiece]:
    pieces = []
    for cell in envelope.cells(interval, limits):
        fractions = ((claimed, *fraction_of(claimed.missing)) for claimed in highest)
        owner = next(
            claimed for claimed, above, below in fractions if above * cell.denominator == cell.numerator * below
        )
        span = span_of((cell.lower, cell.upper), digits, limits)
        value = _value(cell.numerator, cell.denominator, interval.lower, digits, limits) if interval.is_point else None
        pieces.append(EnvelopePiece(span, str(ClosedForm(owner.missing)), owner.rows, value, variable, owner.exact))
    return pieces


def _value(
    numerator: ExpPoly, denominator: ExpPoly, point: Fraction, digits: int, limits: Limits
) -> tuple[Fraction, Fraction]:
    return number_cell(QuotientValue(numerator, denominator, point, limits), digits)


class GivenSolve(GivenInverse, total=False):
    """Keyword arguments of `dipc.solve`."""

    adjacent: str | None
    budget: GivenValue
    delta: GivenValue


@takes(GivenSolve, {"digits": DIGITS})
def solve(
    program: ProgramGiven, table: TableGiven | None = None, *, wanted: str, **given: Unpack[GivenSolve]
) -> Solution | ConstantSolution:
    """Solve for `wanted`: the least "eps", "alpha", "beta" or "gamma" with which the claim holds at every case and eps.

    `program`, `table` and the options in `given` are those of `dipc.check`; eps may also be one number. Numbers have
    `digits` digits. There are three other values of `wanted`:

    - "error": the result is the largest expected error as a function of eps.
    - a text such as "T in 1..100": the claim is decided for each of these values of the constant T.
    - the name of a constant: the result is where the values with a proved claim begin or end.

    The last two are about privacy, with `budget` and `delta`, if `adjacent` is given, else about accuracy.

    Returns an EpsSolution, AlphaSolution, BetaSolution, GammaSolution or ConstantSolution. Raises DiagnosticError for a
    bad table or claim and for a question that contradicts itself, ValueError for another `wanted` and for digits that
    are not positive, and Stopped, with the result so far, on Ctrl-C.
    """
    options = Options(**given)
    program = as_program(program, options.limits, options.eps)
    if " in " in wanted or wanted in program.constants:
        values = solve_constant(program, table, wanted, options)
        if values.interrupted:
            raise Stopped(values)
        return values
    if wanted not in [*Wanted, "error"]:
        known = ", ".join([*Wanted, "error"])
        raise ValueError(
            f'`wanted` must be one of {known}, a constant, or values of one such as "T in 1..100", not {wanted!r}'
        )
    if wanted == "error":
        program, options = about_errors(program, options)
        wanted = Wanted.BETA
    solution = solve_question(
        read_question(program, table, options), Wanted(wanted), options.digits or DIGITS, options.progress
    )
    if solution.interrupted:
        raise Stopped(solution)
    return solution


def solve_question(
    question: Question, wanted: Wanted, digits: int = DIGITS, progress: Progress | None = None
) -> Solution:
    """Solve `question` for `wanted`, to `digits` digits; after Ctrl-C the solution is the result so far.

    `progress` is called with (cases done, cases in all).
    """
    question = check_request(question, wanted)
    enclosing = None if question.written_eps is not None else question.enclosing(2 * max(digits, DIGITS) + _MORE_DIGITS)
    if enclosing is None:
        return _solved(question, wanted, digits, progress)
    if enclosing[0].options == enclosing[1].options:
        solution = _solved(enclosing[0], wanted, digits, progress)
        return _with_typed_eps(replace(solution, eps=enclosing[0].written_eps or solution.eps))
    stronger, weaker = (_solved(each, wanted, digits, progress) for each in enclosing)
    return _with_typed_eps(_enclosed_answer(stronger, weaker))


def _with_typed_eps(solution: Solution) -> Solution:
    """Return `solution` with the irrational ends of eps that the user typed, such as ln(2), in place of rationals.

    The search used a rational close to each of these ends.
    """
    ends = solution.question.ends
    result = replace(solution, scopes=with_typed_scopes(solution.scopes, ends))
    return replace(result, holds=with_typed_ends(result.holds, ends)) if isinstance(result, EpsSolution) else result


#: The digits beyond twice those of an answer to which irrational numbers of a claim are enclosed.
_MORE_DIGITS = 10


def _enclosed_answer(stronger: Solution, weaker: Solution) -> Solution:
    """Return the solution for a claim with irrational numbers, from the solutions for two claims with rational ones.

    The solution `stronger` is for a claim that implies the claim with irrational numbers, and `weaker` is for a claim
    that is implied by it. The result is `stronger`, but undecided if the two solutions differ in the requested digits
    of some number.
    """
    eps = stronger.question.written_eps
    answer = stronger if eps is None else replace(stronger, eps=eps)
    one, two = (json.dumps({**each.as_json(), **_NOT_COMPARED}, default=str) for each in (stronger, weaker))
    if _have_equal_digits(one, two, answer.digits) or stronger.interrupted or weaker.interrupted:
        return answer
    remark = "the answer depends on the direction in which the claim's irrational numbers are rounded"
    return replace(answer, status=Status.UNDECIDED, remark=answer.remark or remark)


#: A number in the JSON of an answer.
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:/\d+)?")


def _have_equal_digits(one: str, two: str, digits: int) -> bool:
    """True if the strings `one` and `two` are equal except for numbers that agree to `digits` digits.

    Two numbers a and b agree if |a - b| <= |a|/10^`digits`.
    """
    if _NUMBER.sub("", one) != _NUMBER.sub("", two):
        return False
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(two), strict=True)
    numbers = ((Fraction(left), Fraction(right)) for left, right in pairs)
    return all(abs(left - right) * 10**digits <= abs(left) for left, right in numbers)


#: The fields in which the answers to two claims around a third may differ.
_NOT_COMPARED = {"eps": None, "remark": None, "says_something": None, "warnings": None}


def _solved(question: Question, wanted: Wanted, digits: int, progress: Progress | None) -> Solution:
    match wanted:
        case Wanted.GAMMA:
            return solve_gamma(question, question.with_claim(gamma=0).claim(), digits)
        case Wanted.ALPHA:
            known = question.with_claim(alpha=0)
            claim = None if question.table is None else known.claim()
            solution: Solution = solve_alpha(question, claim, digits, progress)
            return replace(solution, warnings=(known if claim is not None else question).source().warnings)
        case Wanted.EPS:
            claims = claims_of(question, progress, first=True)
            at_eps = solve_eps(claims, digits) if question.around is None else solve_at_its_eps(claims, digits)
            return replace(at_eps, warnings=claims.warnings)
        case Wanted.BETA:
            if question.table is None and question.parameter is None:
                # Raises DiagnosticError where both distances are left open.
                ClassClaim(question.program, replace(question.options, beta="0"))
            claims = _with_whole_distances(claims_of(question.with_claim(beta="0"), progress), progress)
            return replace(solve_beta(claims, digits), warnings=claims.warnings)
    assert_never(wanted)


def _with_whole_distances(claims: Claims, progress: Progress | None) -> Claims:
    """Return the claims about all inputs with dd(u) > 0 in place of `claims`, if the two are known to be equivalent.

    The two are equivalent if all distances are integers and beta depends on eps alone: a beta then suffices for dd(u)
    >= 1 exactly if it suffices for dd(u) > 0. Otherwise, or if no case is unknown, `claims` is returned. `progress` is
    called with (cases done, cases in all).
    """
    question = claims.question
    gamma = claim_expression(question.program.core, "gamma", question.options.gamma)
    moves = question.free or (gamma is not None and any(mentions(gamma.tree, name) for name in DISTANCES))
    if not claims.unknown or moves or not all(map(has_integer_distances, claims.every)):
        return claims
    return claims_of(question.with_claim(alpha=0), progress)


@frozen
class WrittenForm:
    """The text of a probability as a function of `variable`, which the text calls `eps`.

    Unless `exact`, the function is only a lower bound of the probability.
    """

    text: str
    variable: Variable
    exact: bool


def forms_of(source: Source, engine: Engine, row: RowResult) -> Sequence[WrittenForm]:
    """The probabilities behind `row`, the result of one case of `source`, as strings; empty if they are not known.

    A class of inputs has one string for each step of its proof. A case about one m has the strings of all classes for
    this m. A case about all large m has one string, with the union bound as a polynomial in m. `engine` measures the
    probabilities.
    """
    try:
        match source, row:
            case EveryInput(), _:
                posed = next(case for case in source.cases() if case.number == row.row).steps()
                return _written(posed, engine, source.program.core.only_at)
            case AllNumbers(), ClassResult(note=note) if note.conditions:
                return _for_numbers(source, engine, note)
    except Undecided:
        pass
    return ()


def _for_numbers(source: AllNumbers, engine: Engine, note: ClassNote) -> Sequence[WrittenForm]:
    name, _, value = note.conditions[0].partition(" = ")
    if name == source.parameter and value.isdigit():
        return _written(
            [one for case in source.question_for(int(value)).cases() for one in case.steps()],
            engine,
            source.program.core.only_at,
        )
    proof = source.range.proof
    if proof is None or note.numbers is None:
        return ()
    inequalities, unknown = measure_inequalities(
        [(1, ProofStep(o, source.required.variable, why)) for o, why in proof.inequalities(note.numbers[1])], engine
    )
    if unknown:
        return ()
    wrong = union_text(inequalities, source.parameter, source.program.limits)
    return [WrittenForm(f"1 - ({wrong})", inequalities[0].variable, exact=False)]


def _written(posed: Sequence[ProofStep], engine: Engine, only_at: Fraction | None) -> Sequence[WrittenForm]:
    inequalities, _ = measure_inequalities(
        [(1, one) for one in posed if not isinstance(one.evidence, BetaSummand)], engine
    )
    return [
        WrittenForm(
            str(claimed.closed if claimed.variable is not Variable.EPS else claimed.closed.restricted_to(only_at)),
            claimed.variable,
            claimed.exact,
        )
        for claimed in inequalities
    ]


# --- Intervals around a release ---------------------------------------------------------------------------------------
#
# An interval bounds the distance of the exact answer from an output, with a confidence, for every eps of the question.
#
# It follows from the tolerance: the exact answer is within g of the released output with probability at least c if the
# program is accurate with gamma = g and beta = 1 - c. A lower end alone (the exact answer is at least the release less
# g) needs the tolerance of outputs that count as wrong only above the answer; an upper end needs those below. All real
# and int outputs are in their intervals at the same time.

#: The default number of significant digits of an interval.
INTERVAL_DIGITS = 10


class IntervalSide(StrEnum):
    """The ends that an interval around a released output has: both, only the lower, or only the upper."""

    BOTH = "both"
    LOWER = "lower"
    UPPER = "upper"


#: The side on which an output counts as wrong, for an interval with that end.
_WRONG = {IntervalSide.LOWER: "above", IntervalSide.UPPER: "below"}


@frozen
class Intervals(Record):
    """Confidence intervals around the released outputs, for all real and int outputs together.

    `solutions` has one solution for each kind of interval: both ends, the lower one only, or the upper one only. The
    least gamma of a solution is the distance from an output to an end of its interval. With probability at least
    `confidence`, the exact answers of all `outputs` are in their intervals, and all finite outputs are right.
    """

    FIELDS = "schema program confidence outputs eps intervals"

    schema = "dipc.interval/1"

    program: str
    confidence: Fraction
    outputs: tuple[str, ...]
    solutions: Mapping[IntervalSide, GammaSolution]

    @property
    def status(self) -> Status:
        """The joint status: "undecided" if some solution is undecided, else "none" if some is "none", else "solved"."""
        statuses = {solution.status for solution in self.solutions.values()}
        return next(status for status in (Status.UNDECIDED, Status.NONE, Status.SOLVED) if status in statuses)

    @property
    def eps(self) -> str:
        """The intervals of eps in the claim, as text."""
        return next(iter(self.solutions.values())).eps

    @property
    def intervals(self) -> dict[str, Any]:
        """The solutions as JSON objects; each key is a kind of interval: "both", "lower" or "upper"."""
        fields = "status *details remark:nonempty"
        return {str(side): json_object(solution, fields) for side, solution in self.solutions.items()}


class GivenInterval(GivenQuestion, total=False):
    """Keyword arguments of `dipc.interval`."""

    confidence: Fraction | int | str
    side: str | None
    digits: int


@takes(GivenInterval, {"digits": INTERVAL_DIGITS})
def interval(program: ProgramGiven, table: TableGiven | None = None, **given: Unpack[GivenInterval]) -> Intervals:
    """Bound the distance of the exact answer from a released one, with probability at least `confidence`.

    The confidence is a number or a text such as "95%". The bound holds for every eps and every input of the question
    about `program` and `table`. By default there are three intervals: with both ends, with a lower end only and with an
    upper end only. `side` selects one: "both", "lower" or "upper". Numbers have `digits` digits. The other options in
    `given` are those of `dipc.solve`.

    Raises DiagnosticError for programs without real or int outputs, and for bad claims; ValueError for a confidence
    that is not between 0 and 1.
    """
    options = Options(**given)
    return release_intervals(as_program(program, options.limits, options.eps), table, options)


def release_intervals(
    program: Program, table: TableGiven | None, options: Options, engine: Engine | None = None
) -> Intervals:
    """Return the result of `interval` for `program` and `table`, with all options in the object `options`.

    `engine` decides the claims; None makes a new engine.
    """
    core = program.core
    outputs = tuple([slot.name for slot in core.output_slots if slot.is_symbolic])
    if not outputs or not core.has_product_distance or core.side is not None:
        what = (
            f"`{core.name}` does not release a number"
            if not outputs
            else f"the `metric` block of `{core.name}` defines its own distance"
        )
        note = "an interval is about real and int outputs, by their distance from the exact answer"
        raise bad_input("E1030", f"{what}, so there is no number for an interval to surround", note)
    sides = tuple(IntervalSide) if options.side is None else (IntervalSide(options.side),)
    confidence = options.confidence_value
    stated = claim_expression(core, "alpha", options.alpha)
    alpha = options.alpha if stated is not None else 0
    claimed = replace(options, alpha=alpha, beta=1 - confidence)
    solutions: dict[IntervalSide, GammaSolution] = {}
    for side in sides:
        about = program if side is IntervalSide.BOTH else one_sided(program, _WRONG[side])
        solution = solve_question(
            read_question(about, table, claimed, engine),
            Wanted.GAMMA,
            options.digits or INTERVAL_DIGITS,
            options.progress,
        )
        assert isinstance(solution, GammaSolution)
        solutions[side] = solution
        if solution.interrupted:
            break
    return Intervals(program.name, confidence, outputs, solutions)
