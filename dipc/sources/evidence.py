"""What a check keeps for those who want to see its proofs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dipc.algebra.closed_form import ClosedForm
from dipc.claim.claim import Claim
from dipc.exits.probability import Probabilities
from dipc.exits.program import Program
from dipc.obligations.decide import Proof
from dipc.sign.piecewise import BetaForm
from dipc.sources.decided_rows import DecidedRows
from dipc.sources.outcome import RowResult
from dipc.tables.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """Everything that the verdicts of one report rest on. Obligations without a proof of this kind, whose beta is
    piecewise, are not in `proofs`."""

    program: Program
    table: Table
    claim: Claim
    rows: DecidedRows
    probabilities: Probabilities
    proofs: Mapping[tuple[ClosedForm, BetaForm], Proof]


@dataclass(frozen=True, slots=True, eq=False)
class CaseEvidence:
    """The results of all cases of a question, each of which has its own evidence."""

    question: object
    results: Sequence[RowResult]
