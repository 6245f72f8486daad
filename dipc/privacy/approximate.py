"""Privacy with a delta at pairs: Pr[P(u) in S] <= e^budget·Pr[P(u') in S] + delta for every set S of outputs.

Theorem. Let S(eps) be the outputs with p > e^budget·p'. It is the worst set at eps, and between two neighboring roots
of the functions p - e^budget·p' it is the same for all eps. So the claim holds exactly if it holds, on all of the
intervals, for each of the finitely many sets that are some S(eps); next to a root by continuity.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from dipc.algebra.combine import total
from dipc.algebra.limits import Limits, Undecided
from dipc.algebra.quotient import Closed, fraction_of
from dipc.exits.program import Progress
from dipc.measure.bound import Bound
from dipc.obligations.decision import Decision
from dipc.obligations.engine import Engine
from dipc.obligations.loop import Underway, settled
from dipc.obligations.obligation import Obligation
from dipc.obligations.verdict import Counterexample, Verdict
from dipc.privacy.claim import PrivacyClaim, power
from dipc.privacy.laws import LawTable
from dipc.privacy.pairs import Pairs
from dipc.privacy.pure import Findings, Refuted, UnprovedLoss, at_most
from dipc.sign import Interval, arrange, sign_at

#: What one pair comes to: nothing where the claim is proved, a set of answers, or why nothing is known.
_Found = tuple[tuple[int, ...], Counterexample] | str | None


def decide_approximate(
    table: LawTable, pairs: Pairs, claim: PrivacyClaim, engine: Engine, progress: Progress | None = None
) -> Findings:
    """Whether the claim holds at all pairs; `progress` is called as they are decided."""
    different = different_pairs(table, pairs)
    settling = (Underway(_settle(table, pair, claim, engine.limits)) for pair in different)
    reason = None
    for done, (pair, found) in enumerate(zip(different, settled(settling, engine), strict=True)):
        if progress is not None:
            progress(done, len(different))
        if isinstance(found, tuple):
            return Refuted(pair, *found)
        reason = reason or found
    return None if reason is None else UnprovedLoss(reason)


def different_pairs(table: LawTable, pairs: Pairs) -> list[tuple[int, int]]:
    """Of all pairs with the same couples of functions, whatever the outputs are called, the first."""
    known: set[tuple[tuple[int, int], ...]] = set()
    found: list[tuple[int, int]] = []
    for i, j in pairs.ordered:
        key = tuple(sorted(zip(table.rows[i], table.rows[j], strict=True)))
        if key not in known:
            known.add(key)
            found.append((i, j))
    return found


def excesses(table: LawTable, pair: tuple[int, int], claim: PrivacyClaim) -> list[Closed]:
    """p - e^budget·p' for each answer. Raises Undecided where a probability is not known."""
    scale = power(claim.budget)
    ours, theirs = (table.rows[at] for at in pair)
    return [table.closed(first) - scale * table.closed(second) for first, second in zip(ours, theirs, strict=True)]


def worst_sets(parts: Sequence[Closed], intervals: Sequence[Interval], limits: Limits) -> list[tuple[int, ...]]:
    """The sets of places at which the functions are positive, for some eps of the intervals that is no root of any of
    them; the empty one left out. Raises LimitReached."""
    numerators = [fraction_of(part)[0] for part in parts]
    functions = list(dict.fromkeys(f for f in numerators if not f.is_zero()))
    found: dict[tuple[int, ...], None] = {}
    for interval in intervals:
        for sample in arrange(functions, interval, limits).samples:
            signs = {f: sign_at(f, sample, limits) for f in functions}
            found[tuple([at for at, f in enumerate(numerators) if signs.get(f, 0) > 0])] = None
    return [places for places in found if places]


def _settle(
    table: LawTable, pair: tuple[int, int], claim: PrivacyClaim, limits: Limits
) -> Generator[Obligation | Bound, Decision, _Found]:
    try:
        sets = worst_sets(excesses(table, pair, claim), claim.intervals, limits)
    except Undecided as undecided:
        return undecided.reason
    ours, theirs = (table.rows[at] for at in pair)
    reason = None
    for places in sets:
        probability = total([table.closed(ours[at]) for at in places])
        allowed = power(claim.budget) * total([table.closed(theirs[at]) for at in places]) + claim.delta.value
        decision = yield at_most(probability, allowed, claim.intervals)
        if decision.verdict is Verdict.INACCURATE:
            assert decision.counterexample is not None
            return places, decision.counterexample
        reason = reason or decision.reason
    return reason
