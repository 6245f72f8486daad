"""One table under one claim: what rows share, and how one is decided."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.limits import Undecided
from dipc.claim.claim import Claim
from dipc.exits.probability import Cells, Probabilities
from dipc.exits.program import Program
from dipc.obligations.decide import ACCURATE, Decider, Settled
from dipc.obligations.verdict import Verdict
from dipc.sign.piecewise import BetaForm
from dipc.sources.decided_rows import DecidedRows, Outcome, RowNames
from dipc.sources.evidence import Evidence
from dipc.sources.outcome import Effort
from dipc.tables.cells import Cell
from dipc.tables.table import Row, Table


class Finds(Protocol):
    """Finds probabilities; see `Probabilities`."""

    def probability(self, inputs: tuple[Cell, ...], outputs: Cells, gamma: Cell) -> ClosedForm: ...


class Settles(Protocol):
    """Decides obligations; see `Decider`."""

    def settle(self, probability: ClosedForm, beta: BetaForm) -> Settled: ...


@dataclass(slots=True)
class Run:
    """One table under one claim, with everything that rows share. `digits` is what the decider was made with."""

    program: Program
    table: Table
    claim: Claim
    probabilities: Probabilities
    decider: Decider
    digits: int | None
    keep_proofs: bool
    table_seconds: float = 0.0
    names: RowNames = field(init=False)
    #: What was done elsewhere, besides what `probabilities` and `decider` did.
    elsewhere: Effort = field(default_factory=Effort)
    _undecided: dict[str, Settled] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names = RowNames(self.program.inputs, self.program.outputs)

    def outcomes(self) -> Iterator[Outcome]:
        """The outcomes of the rows in order, each decided when it is asked for."""
        return (self.outcome(row, self.probabilities, self.decider) for row in self.table.rows)

    def outcome(self, row: Row, finds: Finds, settles: Settles) -> Outcome:
        """One row, with its probability from one place and its verdict from another."""
        terms = self.claim.terms(row)
        probability: ClosedForm | None = None
        try:
            probability = finds.probability(row.inputs, row.outputs, terms.gamma)
            # A vacuous row claims nothing: its probability is shown, but decides nothing.
            settled = ACCURATE if terms.vacuous else settles.settle(probability, terms.beta)
        except Undecided as undecided:
            settled = ACCURATE if terms.vacuous else self._without_answer(undecided.reason)
        return Outcome(terms, probability, settled)

    def _without_answer(self, reason: str) -> Settled:
        return self._undecided.setdefault(reason, Settled(Verdict.UNDECIDED, reason=reason))

    def evidence(self, rows: DecidedRows) -> Evidence:
        """What the verdicts of these rows rest on."""
        return Evidence(self.program, self.table, self.claim, rows, self.probabilities, self.decider.proofs)

    def effort(self, seconds: float) -> Effort:
        """What was done so far, in so many seconds."""
        work, other = self.probabilities.work, self.elsewhere
        return Effort(
            seconds=seconds,
            table_seconds=self.table_seconds,
            chain_seconds=work.chain_seconds + other.chain_seconds,
            measure_seconds=work.measure_seconds + other.measure_seconds,
            sign_seconds=self.decider.seconds + other.sign_seconds,
            explorations=work.explorations + other.explorations,
            measures=work.measures + other.measures,
            obligations=self.decider.obligations + other.obligations,
        )


#: Who decides the rows of a run: the outcomes in order, all of them.
Crew = Callable[[Run], Iterator[Outcome]]
