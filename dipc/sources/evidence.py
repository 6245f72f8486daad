"""What a check keeps for those who want to see its proofs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dipc.algebra.closed_form import ClosedForm
from dipc.claim.claim import Claim
from dipc.exits.probability import Probabilities
from dipc.exits.program import Program
from dipc.obligations.decision import Decision
from dipc.sign.piecewise import BetaForm
from dipc.sources.decided_rows import DecidedRows
from dipc.sources.outcome import RowResult
from dipc.tables.table import Table


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
