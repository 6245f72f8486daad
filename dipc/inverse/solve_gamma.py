"""The exact tolerance: the least gamma at which a program is accurate with a given beta."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.decimals import decimal
from dipc.algebra.limits import Limits, Undecided
from dipc.chain.symbolic import is_symbolic
from dipc.claim.claim import Claim
from dipc.claim.intervals import intervals_text
from dipc.exits.probability import Probabilities
from dipc.inverse.bisection import bisected, narrowed, neighboring_powers
from dipc.inverse.claims import INTERRUPTED, sayings_of
from dipc.inverse.gamma_everywhere import solve_gamma_everywhere
from dipc.inverse.question import Question
from dipc.inverse.requests import refuse_dependence
from dipc.inverse.solution import Cell, GammaSolution, Status
from dipc.inverse.steps import Smooth, Steps, course_of, grows_up_to, largest_distance, settled_at_zero
from dipc.obligations.decide_cells import holds_in_cells
from dipc.obligations.failure import slack as slack_of
from dipc.sign import Interval, Root, isolate_roots
from dipc.sign.optimum.limit import Infinite, limit_at_zero
from dipc.sign.piecewise import BetaForm
from dipc.tables.cells import CellPool
from dipc.tables.table import Row, Table

#: Gammas above 10 to the power of this are not tried.
GREATEST_POWER = 300

_WHY = "if the bound moves with gamma, a larger gamma may fail where a smaller one holds"


def solve_gamma(question: Question, claim: Claim, digits: int) -> GammaSolution:
    """The least gamma such that every case that claims something has Pr >= 1 - beta at all eps asked about, enclosed to
    so many digits; exactly, where that is proved. `claim` is that with gamma = 0.

    Pr never falls as gamma grows, and neither alpha nor beta may depend on it, so the good gammas are all from some
    number on. Raises DiagnosticError for a claim that does depend on it.
    """
    refuse_dependence(question, claim, "gamma", _WHY)
    if question.table is None:
        return solve_gamma_everywhere(question, digits)
    search = _Search(question, question.table, claim, digits)
    try:
        return search.solve()
    except Undecided as undecided:
        return search.answer(Status.UNDECIDED, None, search.worst_rows(), undecided.reason)
    except KeyboardInterrupt:
        return search.answer(Status.UNDECIDED, None, search.worst_rows(), search.so_far(), interrupted=True)


@dataclass(slots=True, eq=False)
class _Claimed:
    """A row with what it claims."""

    row: Row
    beta: BetaForm


class _Search:
    """Narrows the least gamma of all rows together; rows that are known to need less are dropped on the way."""

    def __init__(self, question: Question, table: Table, claim: Claim, digits: int) -> None:
        self._question = question
        self._claim = claim
        self._digits = digits
        self._limits: Limits = question.program.limits
        self._probabilities: Probabilities = question.program.probabilities()
        self._pool = CellPool()
        self._decided: dict[tuple[ClosedForm, BetaForm], bool] = {}
        self._open = [_Claimed(row, t.beta) for row in table.rows if not (t := claim.terms(row)).vacuous]
        self._failing: _Claimed | None = None
        self._too_small: Fraction | None = None
        self._enough: Fraction | None = None

    # --- the search --------------------------------------------------------------------------------

    def solve(self) -> GammaSolution:
        """The least gamma of all rows."""
        if self._all_hold(Fraction(0)):
            remark = "" if self._open else "no row claims anything"
            return self.answer(Status.SOLVED, (Fraction(0), Fraction(0)), (), remark)
        hopeless = self._hopeless()
        if hopeless is not None:
            return hopeless
        low, high = neighboring_powers(self._all_hold, GREATEST_POWER)
        exact = self._on_steps(low, high) if self._all_in_steps() else None
        if exact is not None:
            return self.answer(Status.SOLVED, (exact, exact), self.worst_rows(), "")
        low, high = narrowed(self._all_hold, low, high, self._digits)
        if self._is_least(high):
            return self.answer(Status.SOLVED, (high, high), self.worst_rows(), "")
        return self.answer(Status.SOLVED, (low, high), self.worst_rows(), "")

    def _all_hold(self, gamma: Fraction) -> bool:
        """Whether all open rows hold at this gamma; if not, those that do need less than others, and are dropped."""
        holding: list[_Claimed] = []
        for at, claimed in enumerate(self._open):
            if not self._holds(claimed, gamma):
                self._open = [claimed, *self._open[at + 1 :]]
                self._failing = claimed
                self._too_small = gamma
                return False
            holding.append(claimed)
        self._enough = gamma
        return True

    def _holds(self, claimed: _Claimed, gamma: Fraction | None) -> bool:
        """Whether Pr >= 1 - beta at all eps asked about; with None for gamma, whatever the real and int outputs are."""
        probability = self._probability(claimed, gamma)
        key = (probability, claimed.beta)
        known = self._decided.get(key)
        if known is None:
            known = self._decided[key] = all(
                holds_in_cells(probability.value, claimed.beta, interval, self._limits)
                for interval in self._claim.intervals
            )
        return known

    def _probability(self, claimed: _Claimed, gamma: Fraction | None) -> ClosedForm:
        outputs = claimed.row.outputs
        if gamma is None:
            core = self._question.program.core
            outputs = tuple(
                None if is_symbolic(core.slots[slot].type) else cell
                for slot, cell in zip(core.outputs, outputs, strict=True)
            )
        return self._probabilities.probability(claimed.row.inputs, outputs, self._pool.cell(gamma or Fraction(0)))

    # --- where there is none ------------------------------------------------------------------------

    def _hopeless(self) -> GammaSolution | None:
        """A proof that no gamma suffices, if one of two kinds is found."""
        for claimed in self._open:
            largest = largest_distance(self._probabilities, claimed.row)
            if not self._holds(claimed, largest):
                remark = "it fails even with nothing asked of the real and int outputs, as for gamma without bound"
                if largest is not None:
                    remark = f"it fails with gamma = {largest}, and no answer is further off than that"
                return self.answer(Status.NONE, None, (claimed.row.number,), remark)
        if self._claim.intervals[0].lower > 0:
            return None
        for claimed in self._open:
            settled = settled_at_zero(self._probabilities, claimed.row)
            if settled is not None and self._fails_at_zero(claimed, settled):
                remark = "as eps goes to 0, Pr has a limit below that of 1 - beta, whatever gamma is"
                return self.answer(Status.NONE, None, (claimed.row.number,), remark)
        return None

    def _fails_at_zero(self, claimed: _Claimed, gamma: Fraction) -> bool:
        """Whether Pr - 1 + beta has at this gamma a negative limit as eps goes to 0."""
        cell = claimed.beta.cells(self._claim.intervals[0], self._limits)[0]
        probability = self._probability(claimed, gamma).value
        limit = limit_at_zero(*slack_of(probability, claimed.beta, cell.sample), self._limits)
        return limit is Infinite.MINUS or (isinstance(limit, Fraction) and limit < 0)

    # --- numbers -----------------------------------------------------------------------------------

    def _all_in_steps(self) -> bool:
        return all(isinstance(course_of(self._probabilities, claimed.row), Steps) for claimed in self._open)

    def _on_steps(self, low: Fraction, high: Fraction) -> Fraction:
        """The least gamma between `low`, where some row fails, and `high`, where all hold, if Pr changes in steps."""
        courses = [course_of(self._probabilities, claimed.row) for claimed in self._open]
        steps = [course for course in courses if isinstance(course, Steps)]
        if any(course.integers for course in steps):
            below, above = bisected(lambda number: self._all_hold(Fraction(number)), int(low), -int(-high // 1))
            low, high = max(low, Fraction(below)), Fraction(above)
        jumps = sorted({jump for course in steps for jump in course.jumps if low < jump <= high} | {high})
        return jumps[bisected(lambda at: self._all_hold(jumps[at]), -1, len(jumps) - 1)[1]]

    def _is_least(self, gamma: Fraction) -> bool:
        """Whether this gamma, at which all hold, is proved to be the least: some row has Pr = 1 - beta there at some
        eps, and Pr grows strictly up to it."""
        for claimed in self._open:
            if not isinstance(course_of(self._probabilities, claimed.row), Smooth):
                continue
            now, then = self._pool.cell(gamma), self._pool.cell(gamma + 1)
            if not grows_up_to(self._probabilities, claimed.row, now, then):
                continue
            probability = self._probability(claimed, gamma)
            if any(self._touches(probability, claimed.beta, interval) for interval in self._claim.intervals):
                return True
        return False

    def _touches(self, probability: ClosedForm, beta: BetaForm, interval: Interval) -> bool:
        """Whether Pr = 1 - beta at some eps of the interval; True is proved."""
        for cell in beta.cells(interval, self._limits):
            slack, _ = slack_of(probability.value, beta, cell.sample)
            # Between ends that are not rational the hull is wider than the cell.
            exact = not isinstance(cell.lower.value, Root) and not isinstance(cell.upper.value, Root)
            if slack.is_zero() or (exact and isolate_roots(slack, cell.hull, self._limits)):
                return True
        return False

    # --- answers -----------------------------------------------------------------------------------

    def worst_rows(self) -> tuple[int, ...]:
        """The row that failed last: it needs the least gamma that was found."""
        return () if self._failing is None else (self._failing.row.number,)

    def so_far(self) -> str:
        """What is known of the least gamma before it is found."""
        above = [] if self._too_small is None else [f"more than {decimal(self._too_small)}"]
        below = [] if self._enough is None else [f"at most {decimal(self._enough)}"]
        return f"{INTERRUPTED}: the least gamma is {' and '.join(above + below) or 'not known'}"

    def answer(
        self, status: Status, value: Cell | None, rows: tuple[int, ...], remark: str, *, interrupted: bool = False
    ) -> GammaSolution:
        return GammaSolution(
            question=self._question,
            shown=self._question.asking(gamma=0).shown,
            eps=intervals_text(self._claim.intervals),
            digits=self._digits,
            status=status,
            rows=rows,
            remark=remark,
            value=value,
            sayings={} if status is Status.NONE else sayings_of(self._claim, self._limits),
            interrupted=interrupted,
        )
