"""The least alpha, among those at which the set of rows changes, such that all rows with dd(u) > alpha hold.

A program is (alpha, beta, gamma)-accurate at u if Pr >= 1 - beta where dd(u) > alpha. Between two neighboring values
of dd the rows that claim something are the same, and 1 - beta never falls as alpha grows: so the alphas between them
that are good, if there are any, begin at the lower of the two. The least good alpha is 0 or a value of dd, and it is
attained.
"""

from __future__ import annotations

from fractions import Fraction

from dipc.algebra.limits import Undecided
from dipc.algebra.parametric import Parametric
from dipc.claim.claim import Claim, mentions
from dipc.claim.expression import ClaimExpression
from dipc.claim.intervals import intervals_text
from dipc.claim.trend import trend
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.exits.probability import Probabilities
from dipc.inverse.requests import Request
from dipc.inverse.solution import AlphaSolution, Status
from dipc.obligations.decide import Decider
from dipc.obligations.verdict import Verdict
from dipc.tables.table import Row


def solve_alpha(request: Request, digits: int) -> AlphaSolution:
    """The least alpha >= 0 such that every row with dd(u) > alpha has Pr >= 1 - beta(alpha) at all eps asked about.

    Raises DiagnosticError where rows have no dd, and where the claim is not of a kind whose least alpha this finds.
    """
    rows = list(request.table.rows)
    missing = next((row.number for row in rows if row.dd is None), None)
    if missing is not None:
        notes = ("give a column `dd`, or a program with an `ideal` block",)
        raise DiagnosticError(Diagnostic("E1023", f"row {missing} has no distance to disagreement", notes=notes))
    claim = request.claim(alpha=0)
    _check_kind(request, claim)
    search = _Search(request, claim, digits)
    steps = sorted({Fraction(0)} | {found for row in rows if (found := _distance(row)) is not None})
    preventing: tuple[int, ...] = ()
    for alpha in steps:
        above = [row for row in rows if (found := _distance(row)) is None or found > alpha]
        if not above:
            remark = f"from alpha = {alpha} on no row claims anything"
            return search.answer(Status.NONE, None, 0, preventing, remark)
        failing, reason = search.first_failing(alpha, above)
        if reason is not None:
            return search.answer(Status.UNDECIDED, None, 0, (failing,) if failing else (), reason)
        if failing is None:
            return search.answer(Status.SOLVED, alpha, len(above), preventing, "")
        preventing = (failing,)
    return search.answer(Status.NONE, None, 0, preventing, "a row with dd = inf claims something for every alpha")


def _check_kind(request: Request, claim: Claim) -> None:
    if claim.gamma is not None and mentions(claim.gamma.tree, "alpha"):
        why = "good alphas then need not begin at a value of dd"
        raise claim.gamma.error("E1022", "gamma depends on alpha, which is asked for", claim.gamma.tree, "", why)
    names = claim.constants | {name: Parametric.unknown(name) for name in ("alpha", "gamma", "dd")}
    for beta in _betas(claim, request):
        if mentions(beta.tree, "alpha") and not trend(beta, "alpha", names, claim.intervals).falls:
            why = "only where beta never grows with alpha do good alphas begin at a value of dd"
            raise beta.error("E1024", "that beta never grows with alpha could not be shown", beta.tree, "", why)


def _betas(claim: Claim, request: Request) -> list[ClaimExpression]:
    columns = sorted({row.beta.text for row in request.table.rows if row.beta is not None})
    return [*([claim.beta] if claim.beta is not None else []), *(claim.column_beta(text) for text in columns)]


class _Search:
    """Decides rows at one alpha after the other."""

    def __init__(self, request: Request, claim: Claim, digits: int) -> None:
        self._request = request
        self._intervals = claim.intervals
        self._digits = digits
        self._probabilities: Probabilities = request.program.probabilities()
        self._decider = Decider(claim.intervals, request.program.limits)
        self._last: Row | None = None

    def first_failing(self, alpha: Fraction, rows: list[Row]) -> tuple[int | None, str | None]:
        """The number of a row that fails at this alpha, None where all hold; and a reason where that is not known."""
        claim = self._request.claim(alpha=alpha)
        undecided: tuple[int, str] | None = None
        # What failed before is likely to fail again.
        for row in sorted(rows, key=lambda row: row is not self._last):
            terms = claim.terms(row)
            try:
                probability = self._probabilities.probability(row.inputs, row.outputs, terms.gamma)
                settled = self._decider.settle(probability, terms.beta)
            except Undecided as error:
                undecided = undecided or (row.number, error.reason)
                continue
            if settled.verdict is Verdict.INACCURATE:
                self._last = row
                return row.number, None
            if settled.verdict is Verdict.UNDECIDED:
                undecided = undecided or (row.number, settled.reason or "")
        return undecided or (None, None)

    def answer(
        self, status: Status, value: Fraction | None, claims: int, rows: tuple[int, ...], remark: str
    ) -> AlphaSolution:
        request = self._request
        return AlphaSolution(
            program=request.program.name,
            table=request.table,
            eps=intervals_text(self._intervals),
            digits=self._digits,
            status=status,
            rows=rows,
            remark=remark,
            value=value,
            claims=claims,
        )


def _distance(row: Row) -> Fraction | None:
    """dd(u); None is infinity."""
    assert row.dd is not None
    return row.dd.value if isinstance(row.dd.value, Fraction) else None
