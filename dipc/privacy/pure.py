"""Pure privacy at pairs: p <= e^budget·p' for the probabilities p and p' of each output.

No set of outputs needs to be looked at: one output attains the greatest ratio. Many pairs and outputs have the same
two functions, which are one obligation.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass

from dipc.algebra.quotient import Closed
from dipc.exits.program import Progress
from dipc.measure.bound import Bound, Share
from dipc.obligations.decision import Decision
from dipc.obligations.engine import Engine
from dipc.obligations.loop import Underway, settled
from dipc.obligations.obligation import Obligation
from dipc.obligations.verdict import Counterexample, Verdict
from dipc.privacy.claim import PrivacyClaim, power
from dipc.privacy.laws import IMPOSSIBLE, LawTable
from dipc.privacy.pairs import Pairs
from dipc.sign.interval import Interval
from dipc.sign.piecewise import PiecewiseForm


@dataclass(frozen=True, slots=True)
class Couple:
    """Two different functions (by number) that are the probabilities of an answer at the two inputs of a pair, with the
    first pair and answer of which they are."""

    first: int
    second: int
    pair: tuple[int, int]
    answer: int


@dataclass(frozen=True, slots=True)
class Refuted:
    """A set of answers that is too likely at the first input of a pair; the counterexample's probability is what is
    allowed, and less than the probability, which is required to be at most that."""

    pair: tuple[int, int]
    answers: tuple[int, ...]
    found: Counterexample


@dataclass(frozen=True, slots=True)
class UnprovedLoss:
    """Nothing refutes the claim, but not all of it is proved."""

    reason: str


#: What pairs come to: None where the claim is proved for all of them.
Findings = Refuted | UnprovedLoss | None


def couples(table: LawTable, pairs: Pairs) -> Iterator[Couple]:
    """All that may be worth looking at, in the order of the pairs: a probability of 0, and one that is the same at both
    inputs, is never too much."""
    known: set[tuple[int, int]] = set()
    for i, j in pairs.ordered:
        ours, theirs = table.rows[i], table.rows[j]
        new = set(zip(ours, theirs, strict=True)) - known
        if not new:
            continue
        known |= new
        for answer, (first, second) in enumerate(zip(ours, theirs, strict=True)):
            if (first, second) in new:
                new.discard((first, second))
                if first not in (second, IMPOSSIBLE):
                    yield Couple(first, second, (i, j), answer)


def decide_pure(
    table: LawTable, pairs: Pairs, claim: PrivacyClaim, engine: Engine, progress: Progress | None = None
) -> Findings:
    """Whether the claim, whose delta is 0, holds at all pairs; `progress` is called as they are decided."""
    listed = list(couples(table, pairs))
    decisions = settled((Underway(_settle(table, couple, claim)) for couple in listed), engine)
    reason = None
    for done, (couple, found) in enumerate(zip(listed, decisions, strict=True)):
        if progress is not None:
            progress(done, len(listed))
        match found.verdict:
            case Verdict.INACCURATE:
                assert found.counterexample is not None
                return Refuted(couple.pair, (couple.answer,), found.counterexample)
            case Verdict.UNDECIDED:
                reason = reason or found.reason
            case Verdict.ACCURATE:
                pass
    return None if reason is None else UnprovedLoss(reason)


def at_most(probability: Closed, allowed: Closed, intervals: tuple[Interval, ...]) -> Obligation:
    """That a probability is at most what is allowed, for all eps of the intervals."""
    return Obligation(Bound((Share(allowed, ()),)), PiecewiseForm(1 - probability), intervals)


def _settle(table: LawTable, couple: Couple, claim: PrivacyClaim) -> Generator[Obligation | Bound, Decision, Decision]:
    unknown = [form for form in (table.forms[couple.first], table.forms[couple.second]) if isinstance(form, str)]
    if unknown:
        return Decision.undecided(unknown[0])
    allowed = table.closed(couple.second) * power(claim.budget)
    return (yield at_most(table.closed(couple.first), allowed, claim.intervals))
