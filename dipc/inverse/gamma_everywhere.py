"""The exact tolerance for every real input: the least gamma, or the least k with which gamma = k/eps suffices."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

from dipc.algebra.limits import Undecided
from dipc.chain.symbolic import is_symbolic
from dipc.claim.intervals import intervals_text
from dipc.inverse.bisection import narrowed, neighboring_powers
from dipc.inverse.claims import Claims, claims_of
from dipc.inverse.holding import outside, span_between
from dipc.inverse.question import Question
from dipc.inverse.solution import Cell, GammaSolution, Status
from dipc.inverse.solve_eps import failing_parts
from dipc.metric.nearness import Nearness
from dipc.obligations.decide_cells import holds_in_cells
from dipc.sign import Interval
from dipc.sources.source import Variable

#: Gammas above 10 to the power of this are not tried: each takes all classes once more.
GREATEST_POWER = 30


class _Found(Enum):
    """What is known of a claim: it holds, it fails, or its bounds do not prove it."""

    HOLDS = "holds"
    FAILS = "fails"
    OPEN = "open"


def solve_gamma_everywhere(question: Question, digits: int) -> GammaSolution:
    """The least gamma with which the claim holds at every real input and all eps asked about.

    Where that is none, as eps may be as small as one likes, the least k such that it holds with gamma = k/eps, which is
    the same for every eps. Raises DiagnosticError for a claim that makes no sense.
    """
    return _Everywhere(question, digits).solve()


class _Everywhere:
    def __init__(self, question: Question, digits: int) -> None:
        self._question = question
        self._digits = digits
        self._limits = question.program.limits
        self._at_zero = claims_of(question.asking(gamma=0))

    def solve(self) -> GammaSolution:
        found, rows, reason = self._tried(self._at_zero)
        if found is _Found.HOLDS:
            claiming = self._at_zero.cases > self._at_zero.vacuous
            nothing = "" if claiming else f"no {self._question.word} claims anything"
            return self._answer(Status.SOLVED, (), nothing, (Fraction(0), Fraction(0)))
        core = self._question.program.core
        if Nearness(core).plain and not any(is_symbolic(core.slots[slot].type) for slot in core.outputs):
            if found is _Found.FAILS:
                return self._answer(Status.NONE, rows, "the outputs are finite, and gamma makes no difference to them")
            return self._answer(Status.UNDECIDED, rows, reason)
        scaled = self._in_products()
        if scaled is not None:
            return scaled
        first, *more = self._at_zero.intervals
        if first.is_point and not more:
            return self._at_numbers(rows)
        wanted = "give one eps: the least gamma is then looked for among numbers"
        return self._answer(Status.UNDECIDED, rows, f"{reason or 'it fails with gamma = 0'}; {wanted}")

    def _tried(self, claims: Claims) -> tuple[_Found, tuple[int, ...], str]:
        """Whether all inequalities hold, the cases that are to blame where they do not, and why that is not known."""
        blamed: tuple[int, ...] = claims.unknown[0].rows if claims.unknown else ()
        reason = claims.unknown[0].reason if claims.unknown else ""
        for claimed in claims.distinct:
            try:
                holds = all(
                    holds_in_cells(claimed.bound.value, claimed.beta, i, self._limits) for i in claimed.intervals
                )
            except Undecided as undecided:
                blamed, reason = blamed or claimed.rows, reason or undecided.reason
                continue
            if not holds and claimed.exact:
                return _Found.FAILS, claimed.rows, ""
            if not holds:
                blamed, reason = (
                    blamed or claimed.rows,
                    reason or "a lower bound of its probabilities does not suffice",
                )
        return (_Found.OPEN, blamed, reason) if blamed else (_Found.HOLDS, (), "")

    # --- gamma = k/eps -----------------------------------------------------------------------------------------

    def _in_products(self) -> GammaSolution | None:
        """The answer as a multiple of 1/eps, from the claim about every gamma; None where it is not of that kind."""
        if self._at_zero.at_distance:
            return None
        claims = claims_of(self._question.asking(gamma="free"))
        moving = [claimed for claimed in claims.distinct if claimed.variable is Variable.GAMMA_EPS]
        if claims.unknown or len(moving) < len(claims.distinct):
            return None
        whole = Interval.positive()
        failing, unproved, unknown = failing_parts(moving, [whole], self._limits)
        failed = [stretch for stretch, _ in failing[0]]
        held = outside(failed, whole, self._limits)
        certain = outside([*failed, *(stretch for stretch, _ in unproved[0])], whole, self._limits)
        rows = tuple(sorted({n for _, claimed in failing[0] for n in claimed.rows}))
        if unknown or not certain:
            if not held and not unknown:
                return self._answer(Status.NONE, rows, "the claim fails for every k, with gamma = k/eps")
            return None
        # Pr never falls as gamma grows: what holds from some k on holds beyond it.
        (low, *_), (high, *_) = held[-1], certain[-1]
        cells = [span_between(at, held[-1][1], self._digits, self._limits).start for at in (low, high)]
        (lower, upper) = ((cell.low, cell.high) for cell in cells)
        assert upper[1] is not None
        if lower != upper:
            return None
        k = (upper[0], upper[1])
        first = self._at_zero.intervals[0]
        value = (k[0] / first.lower, k[1] / first.lower) if first.lower else None
        if first.lower and not first.lower_closed:
            value = None
        return self._answer(Status.SOLVED, rows, "", value, k)

    # --- numbers -------------------------------------------------------------------------------------------------

    def _at_numbers(self, rows: tuple[int, ...]) -> GammaSolution:
        """The least gamma among decimal numbers: enclosed by one that is refuted and one that is proved."""
        blamed, refuted = rows, Fraction(0)

        def holds(gamma: Fraction) -> bool:
            nonlocal blamed, refuted
            found, failing, _ = self._tried(claims_of(self._question.asking(gamma=gamma)))
            if found is not _Found.HOLDS:
                blamed = failing
            if found is _Found.FAILS:
                refuted = max(refuted, gamma)
            return found is _Found.HOLDS

        try:
            low, high = narrowed(holds, *neighboring_powers(holds, GREATEST_POWER), self._digits)
        except Undecided as undecided:
            return self._answer(Status.UNDECIDED, blamed, undecided.reason)
        if refuted == low:
            return self._answer(Status.SOLVED, blamed, "", (low, high))
        reason = f"it fails with gamma = {refuted} and holds with {high}; between them the bounds prove nothing"
        return self._answer(Status.UNDECIDED, blamed, reason, (refuted, high))

    def _answer(
        self,
        status: Status,
        rows: tuple[int, ...],
        remark: str,
        value: Cell | None = None,
        product: Cell | None = None,
    ) -> GammaSolution:
        return GammaSolution(
            question=self._question,
            shown=self._at_zero.shown,
            eps=intervals_text(self._at_zero.intervals),
            digits=self._digits,
            status=status,
            rows=rows,
            remark=remark,
            value=value,
            product=product,
            sayings={} if status is Status.NONE else self._at_zero.sayings(),
        )
