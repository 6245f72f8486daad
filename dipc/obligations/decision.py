"""What was found about one obligation."""

from __future__ import annotations

from dataclasses import dataclass, field

from dipc.algebra.closed_form import ClosedForm
from dipc.obligations.decide_cells import DecisionInCells
from dipc.obligations.verdict import Counterexample, FailureInterval, Verdict


@dataclass(frozen=True, slots=True)
class Decision:
    """ACCURATE: proved for every value in the intervals. INACCURATE: refuted by the counterexample. UNDECIDED: the
    reason. `bound` is the obligation's bound, measured; None where a limit was reached on the way to it. `proof` says
    how each of the intervals was decided, None for those that were not; it is kept where that was asked for.
    """

    verdict: Verdict
    bound: ClosedForm | None = None
    counterexample: Counterexample | None = None
    failing: tuple[FailureInterval, ...] = ()
    reason: str | None = None
    proof: tuple[DecisionInCells | None, ...] | None = field(default=None, compare=False, repr=False)

    def __bool__(self) -> bool:
        raise TypeError("a decision has one of three verdicts: compare its `verdict`")

    @classmethod
    def undecided(cls, reason: str, bound: ClosedForm | None = None) -> Decision:
        """Nothing was found, and why."""
        return cls(Verdict.UNDECIDED, bound, reason=reason)


#: Why a bound that was only measured has no verdict.
MEASURED = "it was measured, and nothing was asked of it"
