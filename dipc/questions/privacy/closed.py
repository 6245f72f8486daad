"""What may be asked of the laws at pairs of inputs, and the answers where all probabilities have closed forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Protocol

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import ExpPoly, total
from dipc.algebra.limits import Undecided
from dipc.decide.engine import Engine
from dipc.measure.measure import Probability
from dipc.program.program import Progress
from dipc.questions.privacy.adjacency import Pairs
from dipc.questions.privacy.delta import (
    DeltaPiece,
    Excess,
    Where,
    decide_approximate,
    delta_at,
    greatest_excesses,
    pieces_of,
    supremum_of,
)
from dipc.questions.privacy.loss import (
    Findings,
    LawTable,
    couples,
    decide_pure,
    different_pairs,
    largest_divergence,
    largest_loss,
    loss_text,
    moment,
)
from dipc.questions.privacy.outcome import PrivacyClaim, power

Ends = tuple[Fraction, Fraction]

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
        decide = decide_pure if claim.is_pure else decide_approximate
        return decide(self.table, pairs, claim, self._engine, self._progress)

    def needed_most(self, pairs: Pairs, claim: PrivacyClaim) -> Iterator[tuple[tuple[int, int], tuple[int, ...]]]:
        if claim.is_pure:
            return ((couple.pair, (couple.answer,)) for couple in couples(self.table, pairs))
        return ((each.pair, each.answers) for each in self._greatest(pairs, claim))

    def sides(
        self, pair: tuple[int, int], answers: tuple[int, ...], claim: PrivacyClaim
    ) -> tuple[Probability, Probability]:
        ours, theirs = (total([self.table.closed(self.table.rows[at][answer]) for answer in answers]) for at in pair)
        return ClosedForm(ours), ClosedForm(theirs * power(claim.budget) + claim.delta.value)

    def loss(self, pairs: Pairs, eps: Fraction, digits: int) -> tuple[Ends | None, tuple[int, int], int, str]:
        largest = largest_loss(self.table, pairs, eps, digits, self._engine.limits)
        text = "inf" if largest.value is None else loss_text(largest.first, largest.second)
        return largest.value, largest.pair, largest.answer, text

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
                DeltaPiece(piece.lower, piece.upper, ClosedForm(piece.excess.value), where(piece.excess))
                for interval in claim.intervals
                for piece in pieces_of(greatest, interval, digits, limits)
            )
        except Undecided:
            pieces = None
        value, attained, place, excess = supremum_of(greatest, claim.intervals, digits, limits)
        return pieces, value, attained, place, where(excess)

    def delta_at(self, pairs: Pairs, claim: PrivacyClaim, eps: Fraction, digits: int) -> tuple[Ends, ClosedForm | None]:
        excess = delta_at(self._greatest(pairs, claim), eps, self._engine.limits)
        form = ClosedForm(ExpPoly.zero() if excess is None else excess.value)
        return form.at(eps, digits), form

    def _greatest(self, pairs: Pairs, claim: PrivacyClaim) -> list[Excess]:
        known = self._known
        if known is None or known[0] is not pairs or known[1] is not claim:
            known = self._known = pairs, claim, greatest_excesses(self.table, pairs, claim, self._engine.limits)
        return known[2]
