"""Obligations decided, each different one once: here, or by whichever executor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass, field

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.limits import Limits, Undecided
from dipc.measure.bound import Bound, BoundMeasurer
from dipc.measure.measure import Measurer
from dipc.obligations.decide import Decider
from dipc.obligations.decision import MEASURED, Decision
from dipc.obligations.obligation import Obligation
from dipc.sign.interval import Interval

#: What may be asked: to decide an obligation, or only to measure a bound; the decision is UNDECIDED then, with the
#: bound in closed form.
Question = Obligation | Bound

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

    With `digits` the failing intervals are known to so many digits, each with its worst eps. With `keep_proofs` what
    was decided can be looked up again with its proof.
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
        self._deciders: dict[tuple[Interval, ...], Decider] = {}
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
        match question:
            case Bound():
                bound, obligation = question, None
            case Obligation():
                bound, obligation = question.bound, question
        try:
            measured = self.bounds.measure(bound)
        except Undecided as undecided:
            return Decision.undecided(undecided.reason)
        if obligation is None:
            return Decision.undecided(MEASURED, measured)
        return self._settled(measured, obligation)

    def _settled(self, measured: ClosedForm, obligation: Obligation) -> Decision:
        try:
            return self.decider(obligation.intervals).settle(measured, obligation.beta)
        except Undecided as undecided:
            return Decision.undecided(undecided.reason, measured)

    @property
    def spent(self) -> Spent:
        """What was done so far."""
        deciders = self._deciders.values()
        return Spent(
            self.bounds.measured,
            sum(decider.obligations for decider in deciders),
            self.bounds.seconds,
            sum(decider.seconds for decider in deciders),
        )

    def decider(self, intervals: tuple[Interval, ...]) -> Decider:
        """Decides on these intervals what is measured already."""
        decider = self._deciders.get(intervals)
        if decider is None:
            decider = self._deciders[intervals] = Decider(
                intervals, self.limits, keep_proofs=self.keep_proofs, digits=self.digits
            )
        return decider
