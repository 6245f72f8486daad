"""What may be asked of the laws at pairs of inputs, and the answers where all probabilities have closed forms."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from fractions import Fraction
from typing import Any, Protocol

from dipc.algebra.exppoly import Closed, ClosedForm, ExpPoly, fraction_of, total
from dipc.algebra.limits import LimitReached, Limits, OutsideFragment, Undecided
from dipc.decide.engine import Engine, Underway, settled
from dipc.decide.obligation import Decision, EndPoint, Obligation, Verdict, end_point
from dipc.frozen import frozen
from dipc.measure.measure import Bound, Probability
from dipc.program.program import Progress
from dipc.questions.privacy.adjacency import Pairs
from dipc.questions.privacy.loss import (
    Findings,
    LawTable,
    Refuted,
    UnprovedLoss,
    at_most,
    couples,
    different_pairs,
    largest_divergence,
    largest_loss,
    moment,
    sign_of,
)
from dipc.questions.privacy.outcome import Ends, PrivacyAnswer, PrivacyClaim, Texts, ends_json, power
from dipc.sign.chart import Holds, RegionEnd, arrange, decide_nonnegative, sign_at
from dipc.sign.interval import Interval
from dipc.sign.optimum import Far, root_cell, supremum

# --- The least delta, where all probabilities have closed forms -------------------------------------------------------
#
# The delta of a budget at pairs of inputs: whether one suffices, and the least.
#
# **Whether one suffices.** Pr[P(u) in S] <= e^budget·Pr[P(u') in S] + delta for every set S of outputs.
#
# Theorem. Let S(eps) be the outputs with p > e^budget·p'. It is the worst set at eps, and between two neighboring
# roots of the functions p - e^budget·p' it is the same for all eps. So the claim holds exactly if it holds, on all of
# the intervals, for each of the finitely many sets that are some S(eps); next to a root by continuity.
#
# **The least** is the maximum over pairs of Σ max(0, p - e^budget·p'), as closed forms on intervals of eps.
#
# Each pair and each set of outputs gives the function Σ_S (p - e^budget·p'), which is nowhere greater than the least
# delta; the worst sets attain it. So the least delta is the greatest of 0 and of finitely many functions.


def decide_at_pairs(
    table: LawTable, pairs: Pairs, claim: PrivacyClaim, engine: Engine, progress: Progress | None = None
) -> Findings:
    """Whether the claim holds at all pairs; `progress` is called as they are decided. Without a delta single answers
    are enough, and those with the same two functions are one obligation."""
    asked: list[tuple[tuple[int, int], tuple[int, ...] | None]] = (
        [(couple.pair, (couple.answer,)) for couple in couples(table, pairs)]
        if claim.is_pure
        else [(pair, None) for pair in different_pairs(table, pairs)]
    )
    settling = (Underway(_settle(table, pair, answers, claim, engine.limits)) for pair, answers in asked)
    reason = None
    for done, result in enumerate(settled(settling, engine)):
        if progress is not None:
            progress(done, len(asked))
        if isinstance(result, Refuted):
            return result
        reason = reason or result
    return None if reason is None else UnprovedLoss(reason)


def excesses(table: LawTable, pair: tuple[int, int], claim: PrivacyClaim) -> list[Closed]:
    """p - e^budget·p' for each answer. Raises Undecided where a probability is not known."""
    scale = power(claim.budget)
    return [table.closed(first) - scale * table.closed(second) for first, second in table.at_pair(pair)]


def worst_sets(summands: Sequence[Closed], intervals: Sequence[Interval], limits: Limits) -> list[tuple[int, ...]]:
    """The sets of places at which the functions are positive, for some eps of the intervals that is no root of any of
    them; the empty one left out. Raises LimitReached."""
    numerators = [fraction_of(function)[0] for function in summands]
    functions = list(dict.fromkeys(f for f in numerators if not f.is_zero()))
    result: dict[tuple[int, ...], None] = {}
    for interval in intervals:
        for sample in arrange(functions, interval, limits).samples:
            signs = {f: sign_at(f, sample, limits) for f in functions}
            result[tuple([position for position, f in enumerate(numerators) if signs.get(f, 0) > 0])] = None
    return [places for places in result if places]


def _settle(
    table: LawTable, pair: tuple[int, int], answers: tuple[int, ...] | None, claim: PrivacyClaim, limits: Limits
) -> Generator[Obligation | Bound, Decision, Refuted | str | None]:
    """What refutes the claim about these answers at a pair, None for all sets of them, or why nothing is known."""
    ours, theirs = (table.rows[position] for position in pair)
    reason = None
    try:
        sets = [answers] if answers else worst_sets(excesses(table, pair, claim), claim.intervals, limits)
        for places in sets:
            probability, other = (total([table.closed(row[place]) for place in places]) for row in (ours, theirs))
            allowed = power(claim.budget) * other + claim.delta.value
            decision = yield at_most(probability, allowed, claim.intervals)
            if decision.verdict is Verdict.INACCURATE:
                assert decision.counterexample is not None
                return Refuted(pair, places, decision.counterexample)
            reason = reason or decision.reason
    except Undecided as undecided:
        return undecided.reason
    return reason


#: Functions whose maximum is searched piece by piece, and points at which they are compared first.
_MOST = 12
_SAMPLES = tuple(map(Fraction, ("1/10", "1", "10")))

_ZERO = ExpPoly.ZERO


@frozen
class Excess:
    """Σ_S (p - e^budget·p') for the answers S at a pair; `answers` is empty for 0."""

    value: Closed
    pair: tuple[int, int]
    answers: tuple[int, ...]


@frozen
class Where:
    """The set of outputs at a pair that needs the delta."""

    input: Texts
    adjacent: Texts
    outputs: tuple[Texts, ...]

    def as_json(self) -> dict[str, Any]:
        """The JSON object."""
        outputs = [dict(output) for output in self.outputs]
        return {"input": dict(self.input), "adjacent": dict(self.adjacent), "outputs": outputs}


@frozen
class DeltaPiece:
    """From `lower` to `upper` the least delta is `delta`; `where` is None where it is 0."""

    lower: EndPoint
    upper: EndPoint
    delta: ClosedForm
    where: Where | None

    def as_json(self) -> dict[str, Any]:
        """The JSON object."""
        place = {} if self.where is None else self.where.as_json()
        return {"from": self.lower.as_json(), "to": self.upper.as_json(), "delta": str(self.delta), **place}


@frozen
class LeastDelta(PrivacyAnswer):
    """The least delta for a budget, over `pairs` ordered pairs: its `pieces`, in the order of eps, None where these are
    too many; its supremum, enclosed, which it attains, or approaches, at `place`, an eps enclosed, 0 or `inf`; and its
    value at an eps that was asked for, which has no closed form where probabilities have none."""

    budget: str
    eps: str
    pieces: tuple[DeltaPiece, ...] | None
    supremum: tuple[Fraction, Fraction]
    attained: bool
    place: tuple[Fraction, Fraction] | str
    where: Where | None
    at: tuple[Fraction, tuple[Fraction, Fraction], ClosedForm | None] | None

    def as_json(self) -> dict[str, Any]:
        place = self.place if isinstance(self.place, str) else ends_json(self.place)
        result: dict[str, Any] = {
            "pieces": None if self.pieces is None else [piece.as_json() for piece in self.pieces],
            "supremum": ends_json(self.supremum),
            "attained": self.attained,
            "place": place,
            "where": None if self.where is None else self.where.as_json(),
        }
        if self.at is not None:
            eps, value, form = self.at
            result["at"] = {
                "eps": str(eps),
                "value": ends_json(value),
                "delta": None if form is None else str(form),
            }
        return {
            **self.head,
            "budget": self.budget,
            "eps": self.eps,
            "pairs": self.pairs,
            "least_delta": result,
        }


def greatest_excesses(table: LawTable, pairs: Pairs, claim: PrivacyClaim, limits: Limits) -> list[Excess]:
    """Functions of which the greatest, or 0, is the least delta on the intervals. Raises Undecided."""
    by_value: dict[Closed, Excess] = {}
    for pair in different_pairs(table, pairs):
        excess_functions = excesses(table, pair, claim)
        for places in worst_sets(excess_functions, claim.intervals, limits):
            value = total([excess_functions[position] for position in places])
            by_value.setdefault(value, Excess(value, pair, places))
    ordered = sorted(by_value.values(), key=lambda each: sum(each.value.enclosure(eps)[0] for eps in _SAMPLES))
    kept: list[Excess] = []
    for each in reversed(ordered):
        if not any(_dominates(other.value, each.value, claim.intervals, limits) for other in kept):
            kept.append(each)
    return kept


def pieces_of(
    greatest: Sequence[Excess], interval: Interval, digits: int, limits: Limits
) -> list[tuple[EndPoint, EndPoint, Excess]]:
    """From where to where in the interval which excess is the least delta. Raises LimitReached where it has too many
    parts."""
    every = [*greatest, Excess(_ZERO, (0, 0), ())]
    if len(every) > _MOST:
        raise LimitReached(None, f"the least delta is the greatest of {len(every)} functions")
    functions = [
        fraction_of(one.value - two.value)[0] for position, one in enumerate(every) for two in every[position + 1 :]
    ]
    arrangement = arrange([f for f in functions if not f.is_zero()], interval, limits)
    result: list[tuple[RegionEnd, RegionEnd, Excess]] = []
    for gap, sample in enumerate(arrangement.samples):
        best = every[0]
        for each in every[1:]:
            if _is_more(each.value, best.value, sample, limits):
                best = each
        left, right = arrangement.gap(gap)
        lower = RegionEnd(interval.lower, interval.lower_closed) if left is None else RegionEnd(left, closed=True)
        upper = RegionEnd(interval.upper, interval.upper_closed) if right is None else RegionEnd(right, closed=True)
        if result and result[-1][2] is best:
            result[-1] = (result[-1][0], upper, best)
        else:
            result.append((lower, upper, best))

    def shown(end: RegionEnd) -> EndPoint:
        return end_point(end, lambda root: root_cell(root, digits, limits))

    return [(shown(lower), shown(upper), best) for lower, upper, best in result]


def supremum_of(
    greatest: Sequence[Excess], intervals: Sequence[Interval], digits: int, limits: Limits
) -> tuple[tuple[Fraction, Fraction], bool, tuple[Fraction, Fraction] | str, Excess | None]:
    """The supremum of the least delta, enclosed, whether it is attained, where, and by which function (None for 0).
    Raises LimitReached, and Undecided where a function is no delta but a bound of one, and has no supremum."""
    best: tuple[tuple[Fraction, Fraction], bool, tuple[Fraction, Fraction] | str, Excess | None]
    best = (Fraction(0), Fraction(0)), True, "everywhere", None
    for each in greatest:
        for interval in intervals:
            most = supremum(*fraction_of(each.value), interval, digits, limits)
            if most.low is None or most.high is None:
                raise OutsideFragment("the upper bound of the least delta grows without limit there")
            if most.low > best[0][0]:
                place_of_peak = most.peaks[0].at
                place: tuple[Fraction, Fraction] | str
                match place_of_peak:
                    case Fraction():
                        place = place_of_peak, place_of_peak
                    case Far():
                        place = place_of_peak.value
                    case _:
                        place = root_cell(place_of_peak, digits, limits)
                best = (most.low, most.high), bool(most.attained), place, each
    return best


def delta_at(greatest: Sequence[Excess], eps: Fraction, limits: Limits) -> Excess | None:
    """The function that is the least delta at an eps of the intervals; None for 0."""
    best = Excess(_ZERO, (0, 0), ())
    for each in greatest:
        if _is_more(each.value, best.value, eps, limits):
            best = each
    return best if best.answers else None


def _is_more(one: Closed, two: Closed, eps: Fraction, limits: Limits) -> bool:
    return sign_of(one - two, eps, limits) > 0


def _dominates(one: Closed, two: Closed, intervals: Sequence[Interval], limits: Limits) -> bool:
    if any(
        one.enclosure(eps)[1] < two.enclosure(eps)[0]
        for eps in _SAMPLES
        if any(eps in interval for interval in intervals)
    ):
        return False
    difference, _ = fraction_of(one - two)
    return all(isinstance(decide_nonnegative(difference, interval, limits), Holds) for interval in intervals)


#: A pair and a set of answers in words; None for no answers.
Words = Callable[[tuple[int, int], tuple[int, ...]], Where | None]

#: Of a least delta its pieces, its supremum, whether that is attained, at which eps, and where: as in `LeastDelta`.
Deltas = tuple[tuple[DeltaPiece, ...] | None, Ends, bool, Ends | str, Where | None]


class Laws(Protocol):
    """The laws of a table. Pairs and answers are given by their places; everything raises Undecided where a probability
    is not known, or past a limit."""

    @property
    def table(self) -> LawTable: ...

    def decide(self, pairs: Pairs, claim: PrivacyClaim) -> Findings:
        """Whether the claim holds at all pairs."""

    def needed_most(self, pairs: Pairs, claim: PrivacyClaim) -> Iterator[tuple[tuple[int, int], tuple[int, ...]]]:
        """Pairs and sets of answers that a verdict rests upon: without a delta single answers, with one the sets that
        need the greatest, first."""

    def sides(
        self, pair: tuple[int, int], answers: tuple[int, ...], claim: PrivacyClaim
    ) -> tuple[Probability, Probability]:
        """The probability of a set of answers, and what is allowed."""

    def loss(self, pairs: Pairs, eps: Fraction, digits: int) -> tuple[Ends | None, tuple[int, int], int, str]:
        """The largest log(p/p') at eps, its pair, its answer, and how it is written; None is infinity."""

    def divergence(
        self, pairs: Pairs, order: int, eps: Fraction, digits: int
    ) -> tuple[tuple[int, int], ClosedForm | None, Ends | None]:
        """The pair with the largest Rényi divergence at eps, its moment, and the divergence; None is infinity."""

    def least_delta(self, pairs: Pairs, claim: PrivacyClaim, digits: int, words: Words) -> Deltas:
        """The least delta of a budget."""

    def delta_at(self, pairs: Pairs, claim: PrivacyClaim, eps: Fraction, digits: int) -> tuple[Ends, ClosedForm | None]:
        """The least delta at one eps, enclosed, and as a function of eps where it has a closed form."""


class ClosedLaws:
    """The laws of a table without enclosures; `progress` is called as pairs are decided."""

    def __init__(self, table: LawTable, engine: Engine, progress: Progress | None) -> None:
        self.table = table
        self._engine = engine
        self._progress = progress
        self._known: tuple[Pairs, PrivacyClaim, list[Excess]] | None = None

    def decide(self, pairs: Pairs, claim: PrivacyClaim) -> Findings:
        return decide_at_pairs(self.table, pairs, claim, self._engine, self._progress)

    def needed_most(self, pairs: Pairs, claim: PrivacyClaim) -> Iterator[tuple[tuple[int, int], tuple[int, ...]]]:
        if claim.is_pure:
            return ((couple.pair, (couple.answer,)) for couple in couples(self.table, pairs))
        return ((each.pair, each.answers) for each in self._greatest(pairs, claim))

    def sides(
        self, pair: tuple[int, int], answers: tuple[int, ...], claim: PrivacyClaim
    ) -> tuple[Probability, Probability]:
        ours, theirs = (total([self.table.closed(self.table.rows[u][answer]) for answer in answers]) for u in pair)
        return ClosedForm(ours), ClosedForm(theirs * power(claim.budget) + claim.delta.value)

    def loss(self, pairs: Pairs, eps: Fraction, digits: int) -> tuple[Ends | None, tuple[int, int], int, str]:
        return largest_loss(self.table, pairs, eps, digits, self._engine.limits)

    def divergence(
        self, pairs: Pairs, order: int, eps: Fraction, digits: int
    ) -> tuple[tuple[int, int], ClosedForm | None, Ends | None]:
        moments = ((pair, moment(self.table, pair, order, eps)) for pair in different_pairs(self.table, pairs))
        return largest_divergence(moments, order, eps, digits)

    def least_delta(self, pairs: Pairs, claim: PrivacyClaim, digits: int, words: Words) -> Deltas:
        greatest, limits = self._greatest(pairs, claim), self._engine.limits

        def where(excess: Excess | None) -> Where | None:
            return None if excess is None else words(excess.pair, excess.answers)

        pieces: tuple[DeltaPiece, ...] | None
        try:
            pieces = tuple(
                DeltaPiece(lower, upper, ClosedForm(excess.value), where(excess))
                for interval in claim.intervals
                for lower, upper, excess in pieces_of(greatest, interval, digits, limits)
            )
        except Undecided:
            pieces = None
        value, attained, place, excess = supremum_of(greatest, claim.intervals, digits, limits)
        return pieces, value, attained, place, where(excess)

    def delta_at(self, pairs: Pairs, claim: PrivacyClaim, eps: Fraction, digits: int) -> tuple[Ends, ClosedForm | None]:
        excess = delta_at(self._greatest(pairs, claim), eps, self._engine.limits)
        form = ClosedForm(ExpPoly.ZERO if excess is None else excess.value)
        return form.at(eps, digits), form

    def _greatest(self, pairs: Pairs, claim: PrivacyClaim) -> list[Excess]:
        known = self._known
        if known is None or known[0] is not pairs or known[1] is not claim:
            known = self._known = pairs, claim, greatest_excesses(self.table, pairs, claim, self._engine.limits)
        return known[2]
