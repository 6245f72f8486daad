"""The least alpha with which a claim holds.

A program is (alpha, beta, gamma)-accurate at u if Pr >= 1 - beta where dd(u) > alpha. Between two neighboring values
of dd in a table the rows that claim something are the same, and 1 - beta never falls as alpha grows: so the alphas
between them that are good, if there are any, begin at the lower of the two. The least good alpha is 0 or a value of dd,
and it is attained.

For every real input, the least probability of the inputs with dd(u) >= alpha and beta are functions of t = alpha·eps:
the claim holds with alpha = t/eps for exactly the t at which the inequalities in t do, and for t -> 0 with alpha = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dipc.algebra.limits import Undecided
from dipc.algebra.parametric import Parametric
from dipc.claims.claim import Claim, intervals_text
from dipc.claims.conditions import trend
from dipc.claims.expression import ClaimExpression
from dipc.claims.table import Row, Table
from dipc.decide.obligation import holds_in_cells
from dipc.inverse.claims import INTERRUPTED, Claims, Progress, claims_of, sayings_of
from dipc.inverse.question import Question
from dipc.inverse.solution import AlphaSolution, Cell, Span, Status
from dipc.inverse.solve_eps import failing_parts, outside, preventing, span_between
from dipc.rules.posed import Variable
from dipc.sign.interval import Interval
from dipc.text.ast import mentions
from dipc.text.diagnostic import Diagnostic, DiagnosticError


def solve_alpha(
    question: Question, claim: Claim | None, digits: int, progress: Progress | None = None
) -> AlphaSolution:
    """The least alpha >= 0 such that Pr >= 1 - beta(alpha) at all eps asked about wherever dd(u) > alpha.

    `claim` is that of a table with alpha = 0. Raises DiagnosticError where rows have no dd, and where the claim is not
    of a kind whose least alpha this finds.
    """
    if question.table is None:
        return _in_products(question, digits)
    assert claim is not None
    _require_distances(question.table)
    _check_kind(question.table.rows, claim)
    return _among_rows(question, claim, digits, progress)


# --- rows --------------------------------------------------------------------------------------------------


def _among_rows(question: Question, claim: Claim, digits: int, progress: Progress | None) -> AlphaSolution:
    assert question.table is not None
    distances = {row.number: _distance(row) for row in question.table.rows}
    before: tuple[int, ...] = ()
    shown = question.asking(alpha=0).shown

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
            shown=shown,
            eps=intervals_text(claim.intervals),
            digits=digits,
            status=status,
            rows=rows,
            remark=remark,
            value=value,
            claims=claims,
            sayings={} if value is None else sayings_of(question.asking(alpha=value).claim(), limits),
            interrupted=interrupted,
        )

    for alpha in sorted({Fraction(0)} | {found for found in distances.values() if found is not None}):
        above = {number for number, found in distances.items() if found is None or found > alpha}
        if not above:
            return answer(Status.NONE, f"from alpha = {alpha} on no row claims anything", before)
        try:
            failing, reason = _first_failing(question.asking(alpha=alpha), above, progress)
        except KeyboardInterrupt:
            if not alpha:
                raise
            remark = f"{INTERRUPTED}: no alpha below {alpha} suffices"
            return answer(Status.UNDECIDED, remark, before, interrupted=True)
        if reason is not None:
            return answer(Status.UNDECIDED, reason, () if failing is None else (failing,))
        if failing is None:
            return answer(Status.SOLVED, "", before, alpha, len(above))
        before = (failing,)
    return answer(Status.NONE, "a row with dd = inf claims something for every alpha", before)


def _first_failing(question: Question, above: set[int], progress: Progress | None) -> tuple[int | None, str | None]:
    """The number of a row of these that fails, None where all hold; and a reason where that is not known."""
    claims = claims_of(question, progress, among=above)
    undecided = next(((unknown.rows[0], unknown.reason) for unknown in claims.unknown), None)
    limits = question.program.limits
    failing: list[int] = []
    for claimed in claims.distinct:
        try:
            holds = all(holds_in_cells(claimed.bound.value, claimed.beta, part, limits) for part in claimed.intervals)
        except Undecided as error:
            undecided = undecided or (claimed.rows[0], error.reason)
            continue
        if not holds:
            failing.append(claimed.rows[0])
    return (min(failing), None) if failing else undecided or (None, None)


def _require_distances(table: Table) -> None:
    missing = next((row.number for row in table.rows if row.dd is None), None)
    if missing is not None:
        notes = ("give a column `dd`, or a program with an `ideal` block",)
        raise DiagnosticError(Diagnostic("E1023", f"row {missing} has no distance to disagreement", notes=notes))


def _check_kind(rows: Sequence[Row], claim: Claim) -> None:
    if claim.gamma is not None and mentions(claim.gamma.tree, "alpha"):
        why = "good alphas then need not begin at a value of dd"
        raise claim.gamma.error("E1022", "gamma depends on alpha, which is asked for", claim.gamma.tree, "", why)
    names = claim.constants | {name: Parametric.unknown(name) for name in ("alpha", "gamma", "dd")}
    for beta in _betas(rows, claim):
        if mentions(beta.tree, "alpha") and not trend(beta, "alpha", names, claim.intervals).falls:
            why = "only where beta never grows with alpha do good alphas begin at a value of dd"
            raise beta.error("E1024", "that beta never grows with alpha could not be shown", beta.tree, "", why)


def _betas(rows: Sequence[Row], claim: Claim) -> list[ClaimExpression]:
    columns = sorted({row.beta.text for row in rows if row.beta is not None})
    return [*([claim.beta] if claim.beta is not None else []), *(claim.column_beta(text) for text in columns)]


def _distance(row: Row) -> Fraction | None:
    """dd(u); None is infinity."""
    assert row.dd is not None
    return row.dd.value if isinstance(row.dd.value, Fraction) else None


# --- every real input ----------------------------------------------------------------------------------------


def _in_products(question: Question, digits: int) -> AlphaSolution:
    claims = claims_of(question.asking(alpha="dd"))
    limits = question.program.limits
    whole = Interval.positive()
    fixed = [claimed for claimed in claims.distinct if claimed.variable is not Variable.ALPHA_EPS]
    moving = [claimed for claimed in claims.distinct if claimed.variable is Variable.ALPHA_EPS]
    failing, unproved, unknown = failing_parts(moving, [whole], limits)
    unknown = [*claims.unknown, *unknown]
    if fixed:
        _check_kind((), question.asking(alpha="dd").claim())
    for claimed in fixed:
        # dd is one number d on such a class, or infinite: what holds with beta(d) holds with beta(alpha) for alpha < d.
        try:
            if not all(holds_in_cells(claimed.bound.value, claimed.beta, part, limits) for part in claimed.intervals):
                return _answer(claims, digits, Status.UNDECIDED, claimed.rows, _FIXED)
        except Undecided as error:
            return _answer(claims, digits, Status.UNDECIDED, claimed.rows, error.reason)
    failed = [stretch for stretch, _ in failing[0]]
    held = outside(failed, whole, limits)
    certain = [] if unknown else outside([*failed, *(stretch for stretch, _ in unproved[0])], whole, limits)
    if not held:
        rows = preventing(failing, [whole], held, limits)
        return _answer(claims, digits, Status.NONE, rows, "the claim fails for every t = alpha*eps")
    spans = tuple(span_between(a, b, digits, limits) for a, b in held)
    low = _start(spans)
    high = _start(tuple(span_between(a, b, digits, limits) for a, b in certain[:1]))
    if high is None or high != low:
        reason = unknown[0].reason if unknown else "a lower bound of the probabilities of a class is below 1 - beta"
        rows = unknown[0].rows if unknown else tuple(sorted({n for _, claimed in unproved[0] for n in claimed.rows}))
        assert low is not None
        between = low[0], None if high is None else high[1]
        return _answer(claims, digits, Status.UNDECIDED, rows, reason, between, spans)
    return _answer(claims, digits, Status.SOLVED, preventing(failing, [whole], held, limits), "", high, spans)


_FIXED = "the claim fails where dd(u) is one number for all inputs of a class, or infinite"


def _start(spans: Sequence[Span]) -> Cell | None:
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
    holds: tuple[Span, ...] = (),
) -> AlphaSolution:
    cell = None
    if status is Status.SOLVED and product is not None and product[1] is not None:
        (first, *more) = claims.intervals
        if first.is_point and not more:
            cell = product[0] / first.lower, product[1] / first.lower
    return AlphaSolution(
        question=claims.question,
        shown=claims.shown,
        eps=intervals_text(claims.intervals),
        digits=digits,
        status=status,
        rows=rows,
        remark=remark,
        value=None,
        claims=claims.cases - claims.vacuous,
        product=product,
        holds=holds,
        cell=cell,
        sayings={} if status is Status.NONE else claims.sayings(),
        interrupted=remark == INTERRUPTED,
    )
