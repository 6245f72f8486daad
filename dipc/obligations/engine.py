"""Obligations decided, each different one once: here, or by whichever executor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass, field, replace
from time import perf_counter

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.limits import LimitReached, Limits, Undecided
from dipc.measure.bound import Bound, BoundMeasurer
from dipc.measure.measure import Measurer
from dipc.obligations.decide import decide
from dipc.obligations.decide_by_series import decide_by_series
from dipc.obligations.decision import MEASURED, Decision
from dipc.obligations.obligation import Obligation
from dipc.sign.interval import Interval
from dipc.sign.piecewise import BetaForm

#: What may be asked: to decide an obligation, or only to measure a bound; the decision is UNDECIDED then, with the
#: bound in closed form.
Question = Obligation | Bound

#: Limits past which a closed form is too long to be written out; None is that of the degrees of common divisors.
_LONG = ("terms", "integrand", "steps", None)

#: Answers that are remembered at a time: a table may have millions of rows.
_REMEMBERED = 200_000


@dataclass(slots=True, eq=False)
class Pending:
    """A question that was asked; `decision` once it is there, when `waiting` are called."""

    question: Question
    decision: Decision | None = None
    waiting: list[Callable[[], None]] = field(default_factory=list)

    def settle(self, decision: Decision) -> None:
        """This is the answer."""
        self.decision = decision
        waiting, self.waiting = self.waiting, []
        for call in waiting:
            call()


@dataclass(frozen=True, slots=True)
class Spent:
    """How many events were measured, and how many different obligations decided, and in how many seconds."""

    measures: int = 0
    obligations: int = 0
    measure_seconds: float = 0.0
    sign_seconds: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, other: Spent) -> Spent:
        return Spent(*(mine - theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))


class Engine:
    """Decides obligations in this process, each when it is asked for; equal ones once.

    With `digits` the failing intervals are known to so many digits, each with its worst eps. With `keep_proofs`
    decisions come with their proofs.
    """

    #: How many cases may be begun before the first of them is done: whoever decides at once looks no further.
    window = 1

    def __init__(
        self,
        measurer: Measurer,
        limits: Limits,
        *,
        digits: int | None = None,
        keep_proofs: bool = False,
    ) -> None:
        self.bounds = BoundMeasurer(measurer)
        self.limits = limits
        self.digits = digits
        self.keep_proofs = keep_proofs
        #: What was decided of functions: different bounds may be the same one.
        self._functions: dict[tuple[ClosedForm, BetaForm, tuple[Interval, ...]], Decision] = {}
        self._obligations = 0
        self._sign_seconds = 0.0
        self._ledger: dict[Question, Pending] = {}

    def decide(self, question: Question) -> Decision:
        """The decision, now. An obligation's is never wrong; it is UNDECIDED past a limit."""
        pending = self.ask(question)
        while pending.decision is None:
            self.wait()
        return pending.decision

    def ask(self, question: Question) -> Pending:
        """The one answer to this question, at once or in time."""
        pending = self._ledger.get(question)
        if pending is None:
            if len(self._ledger) >= _REMEMBERED:
                self._ledger = {key: kept for key, kept in self._ledger.items() if kept.decision is None}
            pending = self._ledger[question] = Pending(question)
            self._begin(pending)
        return pending

    def wait(self) -> None:
        """Until something more is decided; something must be on its way."""
        raise AssertionError("what is decided at once is waited for")

    def _begin(self, pending: Pending) -> None:
        pending.settle(self._decided(pending.question))

    def _decided(self, question: Question) -> Decision:
        obligation = question if isinstance(question, Obligation) else None
        bound = question.bound if isinstance(question, Obligation) else question
        try:
            measured = self.bounds.measure(bound)
        except Undecided as undecided:
            if obligation is not None and isinstance(undecided, LimitReached) and undecided.limit in _LONG:
                return decide_by_series(obligation, self.bounds, self.limits, undecided)
            return Decision.undecided(undecided.reason)
        if obligation is None:
            return Decision.undecided(MEASURED, measured)
        return self._settled(measured, obligation)

    def _settled(self, measured: ClosedForm, obligation: Obligation) -> Decision:
        beta, intervals = obligation.beta, obligation.intervals
        known = self._functions.get((measured, beta, intervals))
        if known is None:
            begun = perf_counter()
            try:
                known = decide(measured, beta, intervals, self.limits, self.digits)
            except Undecided as undecided:
                known = Decision.undecided(undecided.reason, measured)
            if not self.keep_proofs:
                known = replace(known, proof=None)
            self._obligations += 1
            self._sign_seconds += perf_counter() - begun
            if len(self._functions) >= _REMEMBERED:
                self._functions.clear()
            self._functions[measured, beta, intervals] = known
        return known

    @property
    def spent(self) -> Spent:
        """What was done so far."""
        return Spent(self.bounds.measured, self._obligations, self.bounds.seconds, self._sign_seconds)
