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
from dipc.exact.exppoly import ExpPoly
from dipc.exact.limits import LimitReached, Undecided
from dipc.exact.quotient import Closed, Quotient
from dipc.exact.sign import Fails, Holds, Interval, SignLimits, decide_nonnegative

#: Significant digits of the enclosures of a counterexample, more where they are needed to tell them apart.
DIGITS = 20

#: More digits than this are not written: the next power of two is past the 4300 that Python prints.
MOST_DIGITS = 2560

#: Nor are numbers beyond e to the power of this or its negative: an exact one would fill the memory.
MOST_MAGNITUDE = 200_000


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
        if not intervals:
            raise ValueError("a claim is about some interval of eps: about none of them it would hold of itself")
        self._intervals = intervals
        self._limits = limits
        self._known: dict[tuple[ClosedForm, ClosedForm], Settled] = {}
        #: With the objects themselves: an identity means something only as long as its object lives.
        self._by_identity: dict[tuple[int, int], tuple[ClosedForm, ClosedForm, Settled]] = {}
        self.seconds = 0.0

    @property
    def obligations(self) -> int:
        """How many different obligations were decided."""
        return len(self._known)

    def settle(self, probability: ClosedForm, beta: ClosedForm) -> Settled:
        """ACCURATE only with Pr >= 1 - beta proved for every eps of the intervals, INACCURATE only with an eps of them
        at which it is refuted, else UNDECIDED with the reason."""
        identity = (id(probability), id(beta))
        met = self._by_identity.get(identity)
        if met is not None:
            return met[-1]
        settled = self._known.get((probability, beta))
        if settled is None:
            begun = perf_counter()
            settled = self._known[probability, beta] = self._decide(probability.value, beta.value)
            self.seconds += perf_counter() - begun
        self._by_identity[identity] = (probability, beta, settled)
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
    """The evidence at `eps`, where Pr < 1 - beta; the enclosures are disjoint decimal numbers.

    Raises LimitReached where these would be too long to be written out.
    """
    actual, required = _Evaluated(probability, eps), _Evaluated(1 - beta, eps)
    digits = DIGITS
    while digits <= MOST_DIGITS:
        found = outward(*actual.enclosure(digits + 2), digits)
        wanted = outward(*required.enclosure(digits + 2), digits)
        if found[1] < wanted[0]:
            return Counterexample(eps, found, wanted)
        digits *= 2
    raise _unwritable(eps)


class _Evaluated:
    """A closed form at one eps; raises LimitReached for a value too large or too small to be written out."""

    def __init__(self, value: Closed, eps: Fraction) -> None:
        self._eps = eps
        if isinstance(value, Quotient):
            # Both parts may be far too large where the quotient is not.
            shrink = ExpPoly.term(1, 0, -max(q for _, q, _ in value.denominator.terms()))
            self._parts = [value.numerator * shrink, value.denominator * shrink]
        else:
            self._parts = [value]
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
        "digits", f"the claim fails at eps = {eps}, but the numbers that show it have too many digits to be written out"
    )
