"""Decided rows in a few bytes each: rows with the same claim, probability and verdict share one outcome."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import overload

from dipc.algebra.closed_form import ClosedForm
from dipc.claims.claim import Claim, Terms
from dipc.claims.table import NumberList, Row, Table
from dipc.decide.decide import Saying
from dipc.decide.obligation import Decision, Verdict
from dipc.program.program import Probabilities, Program
from dipc.questions.outcome import Counts, RowResult, Rows
from dipc.sign.piecewise import BetaForm


@dataclass(frozen=True, slots=True, eq=False)
class RowOutcome:
    """What was found for a row: what is claimed there, the probability (None where a limit was reached), the verdict.
    The parts are compared by identity: equal ones are the same object."""

    terms: Terms
    probability: ClosedForm | None
    settled: Decision
    says: Saying | None = None

    @property
    def vacuous(self) -> bool:
        """Whether nothing is claimed: dd < alpha, or beta >= 1."""
        return self.terms.vacuous or (self.says is not None and self.says.nothing)


@dataclass(frozen=True, slots=True)
class RowNames:
    """The names of a program's inputs and outputs, in order, and the eps that it may be `only_at`."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    only_at: Fraction | None

    def result(self, row: Row, outcome: RowOutcome) -> RowResult:
        """The row as the report shows it."""
        terms, settled = outcome.terms, outcome.settled
        return RowResult(
            row=row.number,
            input={name: cell.text for name, cell in zip(self.inputs, row.inputs, strict=True)},
            output={name: cell.text for name, cell in zip(self.outputs, row.outputs, strict=True) if cell is not None},
            alpha=terms.alpha_text,
            beta_form=terms.beta,
            gamma=terms.gamma.text,
            verdict=settled.verdict,
            closed_form=None if outcome.probability is None else outcome.probability.standing_for(self.only_at),
            vacuous=outcome.vacuous,
            says=outcome.says,
            counterexample=settled.counterexample,
            failing=settled.failing,
            reason=settled.reason,
        )


class DecidedRows(Rows):
    """The first rows of a table with their outcomes; a RowResult is made when it is asked for."""

    def __init__(self, table: Sequence[Row], names: RowNames) -> None:
        self._table = table
        self._names = names
        self._outcomes: list[RowOutcome] = []
        self._place: dict[tuple[int, int, int], int] = {}
        self._numbers = NumberList()

    def append(self, outcome: RowOutcome) -> None:
        """Add the outcome of the next row."""
        key = (id(outcome.terms), id(outcome.probability), id(outcome.settled))
        place = self._place.get(key)
        if place is None:
            place = self._place[key] = len(self._outcomes)
            self._outcomes.append(outcome)  # which keeps the three objects alive, and their identities with them
        self._numbers.append(place)

    @property
    def counts(self) -> Counts:
        numbers = [0] * len(self._outcomes)
        for place in self._numbers:
            numbers[place] += 1
        by_verdict = dict.fromkeys(Verdict, 0)
        vacuous = above_one = 0
        for number, outcome in zip(numbers, self._outcomes, strict=True):
            by_verdict[outcome.settled.verdict] += number
            vacuous += number if outcome.vacuous else 0
            above_one += number if outcome.vacuous and not outcome.terms.vacuous else 0
        return Counts(
            len(self),
            by_verdict[Verdict.ACCURATE],
            by_verdict[Verdict.INACCURATE],
            by_verdict[Verdict.UNDECIDED],
            vacuous,
            above_one,
        )

    @property
    def sayings(self) -> Iterable[Saying]:
        return [outcome.says for outcome in self._outcomes if outcome.says is not None]

    def select(self, verdict: Verdict) -> Iterator[RowResult]:
        wanted = [outcome.settled.verdict is verdict for outcome in self._outcomes]
        for at, place in enumerate(self._numbers):
            if wanted[place]:
                yield self._names.result(self._table[at], self._outcomes[place])

    @property
    def outcomes(self) -> tuple[Sequence[RowOutcome], NumberList]:
        """The distinct outcomes, and for each row the number of its own among them."""
        return self._outcomes, self._numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[RowResult]:
        for row, place in zip(self._table, self._numbers, strict=False):  # an interrupted check has fewer outcomes
            yield self._names.result(row, self._outcomes[place])

    @overload
    def __getitem__(self, at: int) -> RowResult: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[RowResult, ...]: ...
    def __getitem__(self, at: int | slice) -> RowResult | tuple[RowResult, ...]:
        if isinstance(at, slice):
            return tuple(self[index] for index in range(*at.indices(len(self))))
        index = range(len(self))[at]
        return self._names.result(self._table[index], self._outcomes[self._numbers[index]])


# --- evidence -------------------------------------------------------------------------------------
#
# What a check keeps for those who want to see its proofs.


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Everything that the verdicts of one report rest on."""

    program: Program
    table: Table
    claim: Claim
    rows: DecidedRows
    probabilities: Probabilities

    @property
    def decisions(self) -> dict[tuple[ClosedForm, BetaForm], Decision]:
        """What was decided, with the proofs, by the closed form of the bound and by beta."""
        outcomes, _ = self.rows.outcomes
        return {
            (outcome.probability, outcome.terms.beta): outcome.settled
            for outcome in outcomes
            if outcome.probability is not None and outcome.settled.proof is not None
        }


@dataclass(frozen=True, slots=True, eq=False)
class CaseEvidence:
    """The results of all cases of a question, each of which has its own evidence."""

    question: object
    results: Sequence[RowResult]
