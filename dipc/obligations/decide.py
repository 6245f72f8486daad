"""From a probability and a claim to a verdict: the sign of Pr - 1 + beta on the intervals of eps."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from time import perf_counter

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.decimals import outward
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import LimitReached, Limits, Undecided
from dipc.algebra.quotient import Closed, Quotient
from dipc.obligations.decide_pieces import DecisionInPieces, FailsInPieces, decide_pieces
from dipc.obligations.decision import Decision
from dipc.obligations.failure import failure_intervals
from dipc.obligations.shortfall import failing_intervals
from dipc.obligations.verdict import Counterexample, FailureInterval, Verdict
from dipc.sign import Decision as SignDecision
from dipc.sign import Fails, Holds, Interval, decide_nonnegative
from dipc.sign.piecewise import BetaForm, PiecewiseForm

#: Significant digits of the enclosures of a counterexample, more where they are needed to tell them apart.
DIGITS = 20

#: More digits than this are not written: the next power of two is past the 4300 that Python prints.
MOST_DIGITS = 2560

#: Nor are numbers beyond e to the power of this or its negative: an exact one would fill the memory.
MOST_MAGNITUDE = 200_000


@dataclass(frozen=True, slots=True)
class Proof:
    """How one obligation was decided: `slack` is Pr + beta - 1, over a denominator that is positive for every eps > 0,
    and `decisions` are those on its numerator, one for each interval of the claim, None where it was not decided."""

    slack: Closed
    decisions: tuple[SignDecision | None, ...]


Settled = Decision


class Decider:
    """Decides Pr >= 1 - beta on `intervals`; equal obligations are decided once.

    With `digits` the failing intervals are known to so many digits, each with its worst eps.
    The closed forms given to `settle` are compared by identity, and are kept alive here.
    """

    def __init__(
        self, intervals: Sequence[Interval], limits: Limits, *, keep_proofs: bool = False, digits: int | None = None
    ) -> None:
        if not intervals:
            raise ValueError("a claim is about some interval of eps: about none of them it would hold of itself")
        self._intervals = intervals
        self._limits = limits
        self._known: dict[tuple[ClosedForm, BetaForm], Decision] = {}
        #: With the objects themselves: an identity means something only as long as its object lives.
        self._by_identity: dict[tuple[int, int], tuple[ClosedForm, BetaForm, Decision]] = {}
        self.seconds = 0.0
        self._keep_proofs = keep_proofs
        self._digits = digits
        #: What was decided, by what; filled with `keep_proofs` only, and never for a beta in pieces.
        self.proofs: dict[tuple[ClosedForm, BetaForm], Proof] = {}
        #: The same for betas in pieces: one decision for each interval, None where there is none.
        self.piece_proofs: dict[tuple[ClosedForm, BetaForm], tuple[DecisionInPieces | None, ...]] = {}

    @property
    def obligations(self) -> int:
        """How many different obligations were decided."""
        return len(self._known)

    def settle(self, probability: ClosedForm, beta: BetaForm) -> Decision:
        """ACCURATE only with Pr >= 1 - beta proved for every eps of the intervals, INACCURATE only with an eps of them
        at which it is refuted, else UNDECIDED with the reason."""
        identity = (id(probability), id(beta))
        met = self._by_identity.get(identity)
        if met is not None:
            return met[-1]
        settled = self._known.get((probability, beta))
        if settled is None:
            begun = perf_counter()
            if beta.closed is not None:
                settled, proof = self._decide(probability.value, beta.closed.value)
                if self._keep_proofs:
                    self.proofs[probability, beta] = proof
            else:
                settled, found = self._decide_pieces(probability.value, beta)
                if self._keep_proofs:
                    self.piece_proofs[probability, beta] = found
            if self._digits is not None and settled.failing:
                settled = self._detailed(settled, probability, beta, self._digits)
            settled = replace(settled, bound=probability)
            self._known[probability, beta] = settled
            self.seconds += perf_counter() - begun
        self._by_identity[identity] = (probability, beta, settled)
        return settled

    def _detailed(self, settled: Decision, probability: ClosedForm, beta: BetaForm, digits: int) -> Decision:
        """The same with the failing intervals to so many digits, and the worst eps of each; as it is past a limit."""
        with suppress(Undecided):
            found = failing_intervals(probability, beta, self._intervals, digits, self._limits)
            return replace(settled, failing=found)
        return settled

    def _decide(self, probability: Closed, beta: Closed) -> tuple[Decision, Proof]:
        slack = probability + beta - 1
        # A quotient's denominator is positive for every eps > 0.
        obligation = slack.numerator if isinstance(slack, Quotient) else slack
        if obligation.is_zero():
            return Decision(Verdict.ACCURATE), Proof(slack, ())
        decisions: list[SignDecision | None] = []
        witness: Fraction | None = None
        failing: list[FailureInterval] = []
        reasons: list[str] = []
        for interval in self._intervals:
            try:
                decision = decide_nonnegative(obligation, interval, self._limits)
            except Undecided as undecided:
                reasons.append(undecided.reason)
                decisions.append(None)
                continue
            decisions.append(decision)
            match decision:
                case Holds():
                    pass
                case Fails():
                    if witness is None:
                        witness = decision.witness
                    failing += failure_intervals(decision.regions, self._limits)
        proof = Proof(slack, tuple(decisions))
        if witness is not None:
            # With a part of the intervals undecided the failure set is not known exactly, and is not given.
            known = () if reasons else tuple(failing)
            return Decision(
                Verdict.INACCURATE, counterexample=counterexample(probability, 1 - beta, witness), failing=known
            ), proof
        if reasons:
            return Decision(Verdict.UNDECIDED, reason=reasons[0]), proof
        return Decision(Verdict.ACCURATE), proof

    def _decide_pieces(
        self, probability: Closed, beta: PiecewiseForm
    ) -> tuple[Decision, tuple[DecisionInPieces | None, ...]]:
        decisions: list[DecisionInPieces | None] = []
        witness: Fraction | None = None
        failing: list[FailureInterval] = []
        reasons: list[str] = []
        for interval in self._intervals:
            try:
                decision = decide_pieces(probability, beta, interval, self._limits)
            except Undecided as undecided:
                reasons.append(undecided.reason)
                decisions.append(None)
                continue
            decisions.append(decision)
            if isinstance(decision, FailsInPieces):
                witness = decision.witness if witness is None else witness
                if decision.regions is None:
                    reasons.append("where it fails is past a limit")
                else:
                    failing += failure_intervals(decision.regions, self._limits)
        proof = tuple(decisions)
        if witness is not None:
            above, below = beta.fraction_at(witness)
            known = () if reasons else tuple(failing)
            return Decision(
                Verdict.INACCURATE,
                counterexample=counterexample(probability, (below - above, below), witness),
                failing=known,
            ), proof
        if reasons:
            return Decision(Verdict.UNDECIDED, reason=reasons[0]), proof
        return Decision(Verdict.ACCURATE), proof


def counterexample(probability: Closed, required: Closed | tuple[ExpPoly, ExpPoly], eps: Fraction) -> Counterexample:
    """The evidence at `eps`, where Pr is less than what is required, a closed form or numerator and denominator of one,
    which is positive at `eps`; the enclosures are disjoint decimal numbers.

    Raises LimitReached where these would be too long to be written out.
    """
    actual, bound = _Evaluated(probability, eps), _Evaluated(required, eps)
    digits = DIGITS
    while digits <= MOST_DIGITS:
        found = outward(*actual.enclosure(digits + 2), digits)
        wanted = outward(*bound.enclosure(digits + 2), digits)
        if found[1] < wanted[0]:
            return Counterexample(eps, found, wanted)
        digits *= 2
    raise _unwritable(eps)


class _Evaluated:
    """A closed form at one eps; raises LimitReached for a value too large or too small to be written out."""

    def __init__(self, value: Closed | tuple[ExpPoly, ExpPoly], eps: Fraction) -> None:
        self._eps = eps
        if isinstance(value, ExpPoly):
            self._parts = [value]
        else:
            # Both parts may be far too large where the quotient is not.
            above, below = (value.numerator, value.denominator) if isinstance(value, Quotient) else value
            shrink = ExpPoly.term(1, 0, -max(q for _, q, _ in below.terms()))
            self._parts = [above * shrink, below * shrink]
        if any(abs(_leading(part, eps)) * eps > MOST_MAGNITUDE for part in self._parts):
            raise _unwritable(eps)

    def enclosure(self, digits: int) -> tuple[Fraction, Fraction]:
        """Rationals lo <= value <= hi, hi - lo at most 10^-digits times the larger of |lo|, |hi|."""
        (low, high), *rest = [part.enclosure(self._eps, digits + 1) for part in self._parts]
        corners = [low / over for below in rest for over in below] + [high / over for below in rest for over in below]
        return (min(corners), max(corners)) if corners else (low, high)


def _leading(part: ExpPoly, eps: Fraction) -> Fraction:
    """The largest q with a term c(eps)·e^{q·eps} that is not 0 at `eps`; 0 if there is none."""
    coefficients: dict[Fraction, Fraction] = {}
    for k, q, c in part.terms():
        coefficients[q] = coefficients.get(q, Fraction(0)) + c * eps**k
    return max((q for q, c in coefficients.items() if c), default=Fraction(0))


def _unwritable(eps: Fraction) -> LimitReached:
    return LimitReached(
        None, f"the claim fails at eps = {eps}, but the numbers that show it have too many digits to be written out"
    )
