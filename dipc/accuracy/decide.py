"""From a probability and a claim to a verdict: the sign of Pr - 1 + beta on the intervals of eps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from time import perf_counter

from dipc.accuracy.closed_form import ClosedForm
from dipc.accuracy.decimals import outward
from dipc.accuracy.failure import failure_intervals
from dipc.accuracy.outcome import Counterexample, FailureInterval, Verdict
from dipc.exact.limits import Undecided
from dipc.exact.quotient import Closed, Quotient
from dipc.exact.sign import Fails, Holds, Interval, SignLimits, decide_nonnegative

#: Significant digits of the enclosures of a counterexample, more where they are needed to tell them apart.
DIGITS = 20


@dataclass(frozen=True, slots=True)
class Settled:
    """The verdict on one obligation, with what proves or explains it."""

    verdict: Verdict
    counterexample: Counterexample | None = None
    failing: tuple[FailureInterval, ...] = ()
    reason: str | None = None


ACCURATE = Settled(Verdict.ACCURATE)


class Decider:
    """Decides Pr >= 1 - beta on `intervals`; equal obligations are decided once.

    The closed forms given to `settle` are compared by identity, and are kept alive here.
    """

    def __init__(self, intervals: Sequence[Interval], limits: SignLimits) -> None:
        self._intervals = intervals
        self._limits = limits
        self._known: dict[tuple[ClosedForm, ClosedForm], Settled] = {}
        self._by_identity: dict[tuple[int, int], Settled] = {}
        self.seconds = 0.0

    @property
    def obligations(self) -> int:
        """How many different obligations were decided."""
        return len(self._known)

    def settle(self, probability: ClosedForm, beta: ClosedForm) -> Settled:
        """ACCURATE only with Pr >= 1 - beta proved for every eps of the intervals, INACCURATE only with an eps of them
        at which it is refuted, else UNDECIDED with the reason."""
        identity = (id(probability), id(beta))
        settled = self._by_identity.get(identity)
        if settled is None:
            settled = self._known.get((probability, beta))
            if settled is None:
                begun = perf_counter()
                settled = self._known[probability, beta] = self._decide(probability.value, beta.value)
                self.seconds += perf_counter() - begun
            self._by_identity[identity] = settled
        return settled

    def _decide(self, probability: Closed, beta: Closed) -> Settled:
        slack = probability + beta - 1
        # A quotient's denominator is positive for every eps > 0.
        obligation = slack.numerator if isinstance(slack, Quotient) else slack
        if obligation.is_zero():
            return ACCURATE
        witness: Fraction | None = None
        failing: list[FailureInterval] = []
        reasons: list[str] = []
        for interval in self._intervals:
            try:
                decision = decide_nonnegative(obligation, interval, self._limits)
            except Undecided as undecided:
                reasons.append(undecided.reason)
                continue
            match decision:
                case Holds():
                    pass
                case Fails():
                    if witness is None:
                        witness = decision.witness
                    failing += failure_intervals(decision, self._limits)
        if witness is not None:
            # With a part of the intervals undecided the failure set is not known exactly, and is not given.
            known = () if reasons else tuple(failing)
            return Settled(Verdict.INACCURATE, counterexample(probability, beta, witness), known)
        if reasons:
            return Settled(Verdict.UNDECIDED, reason=reasons[0])
        return ACCURATE


def counterexample(probability: Closed, beta: Closed, eps: Fraction) -> Counterexample:
    """The evidence at `eps`, where Pr < 1 - beta; the enclosures are disjoint decimal numbers."""
    required = 1 - beta
    digits = DIGITS
    while True:
        actual = outward(*probability.enclosure(eps, digits + 2), digits)
        wanted = outward(*required.enclosure(eps, digits + 2), digits)
        if actual[1] < wanted[0]:
            return Counterexample(eps, actual, wanted)
        digits *= 2
