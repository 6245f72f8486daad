"""The laws of outputs that can be listed, with probabilities in closed form."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from dipc.algebra.exppoly import Closed, ClosedForm, ExpPoly, Quotient, fraction_of, total
from dipc.algebra.limits import LimitReached, Limits, OutsideFragment, Undecided
from dipc.algebra.numbers import outward
from dipc.algebra.parametric import Parametric, plus, times
from dipc.decide.engine import Underway, results_in_order
from dipc.decide.obligation import Decision, EpsSpan, Obligation, Verdict, eps_span, holds_in_cells
from dipc.measure.measure import Bound
from dipc.questions.privacy.laws import DeltaPiece, Excess, LeastDelta, TableLaws
from dipc.questions.privacy.loss import (
    IMPOSSIBLE,
    Loss,
    Moment,
    at_most,
    couples,
    loss_enclosure,
    loss_text,
    moment_of,
    ratio_enclosure,
    ratio_power,
    sign_of,
    vanishes,
)
from dipc.questions.privacy.outcome import (
    Answer,
    Ends,
    PrivacyClaim,
    PrivacyCounterexample,
    Proved,
)
from dipc.sign.chart import EpsCut, ExactStretch, arrange, cuts, is_nowhere_negative, sign_at
from dipc.sign.interval import Interval
from dipc.sign.optimum import Far, root_cell, supremum
from dipc.sign.piecewise import PiecewiseForm

# --- The least delta, where all probabilities have closed forms -------------------------------------------------------
#
# The delta of a budget at pairs of inputs: whether a given delta suffices, and the least delta.
#
# **Whether a delta suffices.** Pr[P(u) in S] <= e^budget·Pr[P(u') in S] + delta for every set S of outputs.
#
# Theorem. Let S(eps) be the outputs with p > e^budget·p'. This is the worst set at eps. Between two neighboring roots
# of the functions p - e^budget·p' it is the same for all eps. So only finitely many sets are some S(eps). The claim
# holds exactly if it holds for each of these sets on all of the intervals; at a root it holds by continuity.
#
# **The least delta** is the maximum over pairs of Σ max(0, p - e^budget·p'), as closed forms on intervals of eps.
#
# Each pair and each set of outputs gives the function Σ_S (p - e^budget·p'), which is nowhere greater than the least
# delta; the worst sets attain it. So the least delta is the greatest of 0 and of finitely many functions.


def worst_sets(summands: Sequence[Closed], intervals: Sequence[Interval], limits: Limits) -> list[tuple[int, ...]]:
    """Return the sets of `summands` that are positive together at some eps of `intervals`, as tuples of indices.

    The `summands` are functions of eps. For each eps at which none of them has a root, the result contains the set of
    all that are positive there, unless this set is empty. Raises LimitReached past one of the `limits`.
    """
    numerators = [fraction_of(function)[0] for function in summands]
    functions = list(dict.fromkeys(f for f in numerators if not f.is_zero()))
    result: dict[tuple[int, ...], None] = {}
    for interval in intervals:
        for sample in arrange(functions, interval, limits).samples:
            signs = {f: sign_at(f, sample, limits) for f in functions}
            result[tuple([position for position, f in enumerate(numerators) if signs.get(f, 0) > 0])] = None
    return [places for places in result if places]


#: The greatest number of functions whose maximum is computed piece by piece, and the values of eps at which functions
#: are compared first.
_MOST = 12
_SAMPLES = tuple(map(Fraction, ("1/10", "1", "10")))


#: The slope of what is added to a delta outside of the intervals of a claim.
_STEEP = 10**9

_NONE: Excess[Closed] = Excess(ExpPoly.ZERO, (0, 0), ())


def pieces_of(
    greatest: Sequence[Excess[Closed]], interval: Interval, digits: int, limits: Limits
) -> list[tuple[EpsSpan, Excess[Closed]]]:
    """Divide `interval` into parts, on each of which one function of `greatest` or the function 0 is the greatest.

    The functions are excesses that depend on eps. Return (part, the greatest excess) for each part. Irrational
    ends are enclosed to `digits` digits. Raises LimitReached if there are too many parts, or past one of the `limits`.
    """
    every = [*greatest, _NONE]
    if len(every) > _MOST:
        raise LimitReached(None, f"the least delta is the greatest of {len(every)} functions, more than {_MOST}")
    functions = [
        fraction_of(one.value - two.value)[0] for position, one in enumerate(every) for two in every[position + 1 :]
    ]
    arrangement = arrange([f for f in functions if not f.is_zero()], interval, limits)
    result: list[tuple[ExactStretch, Excess[Closed]]] = []
    first, last = cuts(interval)
    for gap, sample in enumerate(arrangement.samples):
        best = _greatest_at(every, sample, limits)
        left, right = arrangement.gap(gap)
        lower = first if left is None else EpsCut(left, after=False)
        upper = last if right is None else EpsCut(right, after=True)
        if result and result[-1][1] is best:
            (lower, _), _ = result.pop()
        result.append(((lower, upper), best))
    return [(eps_span(part, lambda root: root_cell(root, digits, limits)), best) for part, best in result]


def _greatest_at(every: Sequence[Excess[Closed]], sample: Fraction, limits: Limits) -> Excess[Closed]:
    best, *others = every
    for each in others:
        if sign_of(each.value - best.value, sample, limits) > 0:
            best = each
    return best


def _dominates(one: Closed, two: Closed, intervals: Sequence[Interval], limits: Limits) -> bool:
    if any(
        one.enclosure(eps)[1] < two.enclosure(eps)[0]
        for eps in _SAMPLES
        if any(eps in interval for interval in intervals)
    ):
        return False
    return is_nowhere_negative(one - two, intervals, limits)


class ClosedLaws(TableLaws):
    """The laws of a table in which every probability has a closed form."""

    def decide(self, claim: PrivacyClaim) -> Answer:
        """Decide `claim` at all pairs, by one obligation for each different set of outputs and pair of inputs.

        If delta is 0, each answer is decided by itself. Answers with equal probabilities at both inputs of their pairs
        share one obligation.
        """
        asked: list[tuple[tuple[int, int], tuple[int, ...] | None]] = (
            [(pair, (answer,)) for pair, answer in couples(self.table, self.pairs)]
            if claim.is_pure
            else [(pair, None) for pair in self.different]
        )
        settling = (Underway(self._settle(pair, answers, claim)) for pair, answers in asked)
        reason = None
        for done, result in enumerate(results_in_order(settling, self._engine)):
            if self.subject.progress is not None:
                self.subject.progress(done, len(asked))
            if isinstance(result, PrivacyCounterexample):
                return result
            reason = reason or result
        return Proved(self.pairs.proof) if reason is None else Undecided(reason)

    def _settle(
        self, pair: tuple[int, int], answers: tuple[int, ...] | None, claim: PrivacyClaim
    ) -> Generator[Obligation | Bound, Decision, PrivacyCounterexample | str | None]:
        """Yield obligations of `claim` at one pair of inputs, receive their decisions, and return the result.

        `pair` has the indices of the two inputs. `answers` has the indices of all outputs in the set to consider; None
        for the sets that may violate the claim most. The result is a counterexample, the reason why the claim is
        undecided at this pair, or None if it holds there.
        """
        reason = None
        try:
            sets = [answers] if answers else worst_sets(self._excesses(pair, claim), claim.intervals, self._limits)
            for places in sets:
                probability, allowed = self.sides(pair, places, claim)
                decision = yield at_most(probability.value, allowed.value, claim.intervals)
                if decision.verdict is Verdict.INACCURATE:
                    assert decision.counterexample is not None
                    return self.refuted(pair, places, claim, decision.counterexample)
                reason = reason or decision.reason
        except Undecided as undecided:
            return undecided.reason
        return reason

    def holds_except(self, claim: PrivacyClaim, outside: PiecewiseForm) -> bool:
        """Return True if `claim` is proved wherever the function `outside` is 0. Raises LimitReached.

        For the proof, a large multiple of `outside` is added to the delta of the claim. This does not change the claim
        where `outside` is 0.
        """
        if isinstance(outside.value, ExpPoly | Quotient):
            return False
        steep = plus(Parametric.number(1), times(Parametric.number(_STEEP), outside.value))
        more, limits = PiecewiseForm(steep), self._limits
        for pair in self.different:
            excesses = self._excesses(pair, claim)
            for answers in worst_sets(excesses, claim.intervals, limits):
                slack = claim.delta.value - total([excesses[answer] for answer in answers])
                if not all(holds_in_cells(slack, more, interval, limits) for interval in claim.intervals):
                    return False
        return True

    def _excesses(self, pair: tuple[int, int], claim: PrivacyClaim) -> list[Closed]:
        scale = claim.scale
        return [
            self.table.closed(first) - scale * self.table.closed(second) for first, second in self.table.at_pair(pair)
        ]

    def needing(self, claim: PrivacyClaim) -> Iterator[tuple[tuple[int, int], tuple[int, ...]]]:
        return ((each.pair, each.answers) for each in self._greatest(claim))

    def sides(
        self, pair: tuple[int, int], answers: tuple[int, ...], claim: PrivacyClaim
    ) -> tuple[ClosedForm, ClosedForm]:
        ours, theirs = (total([self.table.closed(self.table.rows[u][answer]) for answer in answers]) for u in pair)
        return ClosedForm(ours), ClosedForm(theirs * claim.scale + claim.delta.value)

    def loss(self, eps: Fraction, digits: int) -> Loss:
        """Return the largest privacy loss at `eps` to `digits` digits, with the first output that has this loss."""
        best: tuple[tuple[int, int], int, Closed, Closed, Ends] | None = None
        for pair, answer in couples(self.table, self.pairs):
            first, second = map(self.table.closed, self.table.couple(pair, answer))
            if vanishes(first, eps):
                continue
            if vanishes(second, eps):
                return self._loss(eps, None, pair, answer, "inf")
            ratio = ratio_enclosure(first, second, eps, digits)
            if best is not None:
                *_, p, other, ends = best
                if ratio[1] < ends[0]:
                    continue
                if ratio[0] <= ends[1] and sign_of(first * other - p * second, eps, self._limits) <= 0:
                    continue
            best = pair, answer, first, second, ratio
        if best is None or best[-1][1] < 1:
            # No output is more likely at one input than at the other, so all laws are equal at this eps.
            pair = self.pairs.ordered[0]
            answer, number = next(each for each in enumerate(self.table.rows[pair[0]]) if each[1] != IMPOSSIBLE)
            same = self.table.closed(number)
            return self._loss(eps, (Fraction(0), Fraction(0)), pair, answer, loss_text(same, same))
        pair, answer, first, second, _ = best
        return self._loss(eps, loss_enclosure(first, second, eps, digits), pair, answer, loss_text(first, second))

    def _moment(self, pair: tuple[int, int], order: int, eps: Fraction, digits: int) -> Moment | None:
        summands = (
            None
            if second == IMPOSSIBLE
            else ratio_power(self.table.closed(first), self.table.closed(second), order, eps)
            for first, second in self.table.at_pair(pair)
            if first != IMPOSSIBLE
        )
        return moment_of(summands, eps, digits)

    def supremum(self, claim: PrivacyClaim, digits: int) -> LeastDelta:
        return self._supremum(self._greatest(claim), claim, digits)

    def least_delta(self, claim: PrivacyClaim, point: Fraction | None, digits: int) -> LeastDelta:
        greatest, limits = self._greatest(claim), self._limits
        pieces: tuple[DeltaPiece, ...] | None
        try:
            pieces = tuple(
                DeltaPiece(part.start, part.end, ClosedForm(excess.value), self.outputs_of(excess))
                for interval in claim.intervals
                for part, excess in pieces_of(greatest, interval, digits, limits)
            )
        except Undecided:
            pieces = None
        there = None
        if point is not None:
            form = ClosedForm(_greatest_at([_NONE, *greatest], point, limits).value)
            there = point, outward(*form.enclosure(point, digits), digits), form
        return replace(self._supremum(greatest, claim, digits), pieces=pieces, at=there)

    def _supremum(self, greatest: Sequence[Excess[Closed]], claim: PrivacyClaim, digits: int) -> LeastDelta:
        """Return the supremum, on the intervals of `claim`, of the maximum of the functions `greatest` and 0.

        The enclosure has `digits` digits. Raises LimitReached, and Undecided if a function is only a bound of a delta
        and has no supremum.
        """
        result = self._enclosed_delta(claim, (Fraction(0), Fraction(0)), True, "everywhere", None)
        for each in greatest:
            for interval in claim.intervals:
                most = supremum(*fraction_of(each.value), interval, digits, self._limits)
                if most.is_infinite:
                    raise OutsideFragment("no finite upper bound of the least delta is known")
                value, peak = most.enclosure(digits), most.peaks[0].place
                if value[0] > result.supremum[0]:
                    place: Ends | str
                    match peak:
                        case Fraction():
                            place = peak, peak
                        case Far():
                            place = peak.value
                        case _:
                            place = root_cell(peak, digits, self._limits)
                    result = self._enclosed_delta(claim, value, bool(most.attained), place, self.outputs_of(each))
        return result

    def _greatest(self, claim: PrivacyClaim) -> list[Excess[Closed]]:
        """Return functions whose maximum, or 0 if greater, is the least delta on the intervals of `claim`.

        Raises Undecided.
        """
        by_value: dict[Closed, Excess[Closed]] = {}
        for pair in self.different:
            excess_functions = self._excesses(pair, claim)
            for places in worst_sets(excess_functions, claim.intervals, self._limits):
                value = total([excess_functions[position] for position in places])
                by_value.setdefault(value, Excess(value, pair, places))
        ordered = sorted(by_value.values(), key=lambda each: sum(each.value.enclosure(eps)[0] for eps in _SAMPLES))
        kept: list[Excess[Closed]] = []
        for each in reversed(ordered):
            if not any(_dominates(other.value, each.value, claim.intervals, self._limits) for other in kept):
                kept.append(each)
        return kept
