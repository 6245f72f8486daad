"""From a measured bound to a decision: the sign of bound - 1 + beta on the intervals of eps."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.decimals import outward
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import LimitReached, Limits, Undecided
from dipc.algebra.quotient import Closed, Quotient
from dipc.obligations.decide_cells import DecisionInCells, FailsInCells, decide_cells
from dipc.obligations.decision import Decision
from dipc.obligations.failure import failure_intervals
from dipc.obligations.shortfall import failing_intervals
from dipc.obligations.verdict import Counterexample, FailureInterval, Verdict
from dipc.sign import Interval
from dipc.sign.piecewise import BetaForm

#: Significant digits of the enclosures of a counterexample, more where they are needed to tell them apart.
DIGITS = 20

#: More digits than this are not written: the next power of two is past the 4300 that Python prints.
MOST_DIGITS = 2560

#: Nor are numbers beyond e to the power of this or its negative: an exact one would fill the memory.
MOST_MAGNITUDE = 200_000


def decide(
    bound: ClosedForm, beta: BetaForm, intervals: Sequence[Interval], limits: Limits, digits: int | None = None
) -> Decision:
    """Whether `bound` >= 1 - `beta` on the intervals, with the proof.

    ACCURATE only with that proved for every eps of the intervals, INACCURATE only with an eps of them at which it is
    refuted, else UNDECIDED with the reason. With `digits` the failing intervals are known to so many digits, each with
    its worst eps. Raises LimitReached where it fails, but the numbers that show it are too long to be written out.
    """
    if not intervals:
        raise ValueError("an obligation is about some interval: about none of them it would hold of itself")
    proof: list[DecisionInCells | None] = []
    failing: list[FailureInterval] = []
    reasons: list[str] = []
    for interval in intervals:
        try:
            found = decide_cells(bound.value, beta, interval, limits)
        except Undecided as undecided:
            reasons.append(undecided.reason)
            proof.append(None)
            continue
        proof.append(found)
        if isinstance(found, FailsInCells):
            if found.regions is None:
                reasons.append("where it fails is past a limit")
            else:
                failing += failure_intervals(found.regions, limits)
    witness = next((found.witness for found in proof if isinstance(found, FailsInCells)), None)
    if witness is None:
        verdict = Verdict.UNDECIDED if reasons else Verdict.ACCURATE
        return Decision(verdict, bound, reason=reasons[0] if reasons else None, proof=tuple(proof))
    shown = counterexample(bound.value, _required(beta, witness), witness)
    # With a part of the intervals undecided the failure set is not known exactly, and is not given.
    known = () if reasons else tuple(failing)
    if known and digits is not None:
        with suppress(Undecided):  # as it is past a limit
            known = failing_intervals(bound, beta, [found for found in proof if found is not None], digits, limits)
    return Decision(Verdict.INACCURATE, bound, shown, known, proof=tuple(proof))


def _required(beta: BetaForm, eps: Fraction) -> Closed | tuple[ExpPoly, ExpPoly]:
    """1 - beta around `eps`: a closed form, or numerator and denominator of one that is positive there."""
    if beta.closed is not None:
        return 1 - beta.closed.value
    above, below = beta.fraction_at(eps)
    return below - above, below


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
