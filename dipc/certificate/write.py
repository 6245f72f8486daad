"""From a report with its evidence to a certificate, see FORMAT.md beside this file."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from dipc.algebra.limits import Undecided
from dipc.certificate.answers import with_answers
from dipc.certificate.data import (
    HOLE,
    FunctionData,
    RowTexts,
    claim_data,
    encode,
    headed,
    own_cells,
    require_known_laws,
    seal,
    table_data,
)
from dipc.certificate.inputs import certify_inputs
from dipc.certificate.normal import has_normal, stars_of
from dipc.certificate.obligations import Beta, ObligationWriter, certified
from dipc.certificate.ranges import certify_ranges
from dipc.claims.claim import Terms
from dipc.claims.table import Row, packed
from dipc.questions.every_input import EveryInput
from dipc.questions.every_number.all_numbers import AllNumbers
from dipc.questions.report import CaseEvidence, Evidence, Report, RowOutcome
from dipc.questions.rows import FreeGamma
from dipc.sign.piecewise import PiecewiseForm
from dipc.verifier.claims import Beta as Read
from dipc.verifier.claims import Claim as ClaimReader
from dipc.verifier.claims import mentions
from dipc.verifier.reading import Budget, Question


def certify(report: Report, tool: str = "dipc") -> str:
    """The text of the certificate of a report of `check(..., keep_proofs=True)`. `tool` names who wrote it.

    ValueError for a report without evidence, or that was interrupted.
    """
    if report.evidence is None:
        raise ValueError("the report has no evidence: check with keep_proofs=True")
    if report.interrupted:
        raise ValueError("the check was interrupted: there is no certificate of a part of a table")
    if isinstance(report.evidence, CaseEvidence):
        question = report.evidence.question
        assert isinstance(question, FreeGamma | EveryInput | AllNumbers)
        require_known_laws(question.program.core)
        if isinstance(question, FreeGamma):
            return certify_ranges(question, report.evidence.results, report.verdict, tool)
        return certify_inputs(question, report.evidence.results, tool)
    require_known_laws(report.evidence.program.core)
    return seal(_Writer(report, report.evidence).parts(tool))


@dataclass(slots=True)
class _Writer:
    """Collects what rows share, each thing once."""

    report: Report
    evidence: Evidence
    functions: FunctionData = field(default_factory=FunctionData)
    stated: dict[str, Any] = field(init=False)
    reader: ClaimReader = field(init=False)
    obligations: ObligationWriter = field(init=False)

    def __post_init__(self) -> None:
        limits, decisions = self.evidence.program.limits, self.evidence.decisions
        self.obligations = ObligationWriter(
            self.functions,
            limits,
            lambda probability, beta: decisions.get((probability, PiecewiseForm(beta.value))),
            self.evidence.claim.intervals,
        )
        claim = self.evidence.claim
        self.stated = claim_data(claim)
        self.reader = ClaimReader.read(self.stated, dict(self.evidence.program.core.constants))

    def parts(self, tool: str) -> dict[str, str | list[str]]:
        """The certificate without its digest, encoded."""
        named, table = self.evidence.program, self.evidence.table
        columns = packed(table.rows, len(named.inputs), len(named.outputs))
        rows = list(RowTexts(columns, self.evidence.rows, len(named.inputs), len(named.outputs)).texts(self._shared))
        document = {
            **headed(Question.ROWS, named, tool, self.report.verdict),
            "table": table_data(named, table),
            "claim": self.stated,
            "rows": [],
            **self.obligations.shared(),
        }
        # Without an `ideal` nothing is asked of a row.
        asking = list(map(json.loads, rows)) if named.core.ideal is not None else []
        document["answers"] = with_answers({**document, "rows": asking})["answers"]
        parts: dict[str, str | list[str]] = {
            name: list(map(encode, part)) if isinstance(part, list) else encode(part) for name, part in document.items()
        }
        return parts | {"rows": rows}

    # --- rows -------------------------------------------------------------------------------------

    def _shared(self, row: Row, outcome: RowOutcome) -> dict[str, Any]:
        """What the rows with this outcome have in common, with holes for input, output and row, in this order when
        encoded. They have the same claim columns and dd, too."""
        terms, probability, settled = outcome.terms, outcome.probability, outcome.settled
        beta = self._certified(row, terms)
        data: dict[str, Any] = {
            "alpha": terms.alpha_text,
            "gamma": terms.gamma.text,
            "beta": self.obligations.beta(beta),
        }
        if row.dd is not None:
            data["dd"] = row.dd.text
        own = own_cells(row)
        if own:
            data["own"] = own
        data |= {"input": HOLE, "output": HOLE, "row": HOLE}
        intervals = self.evidence.claim.intervals
        vacuous, nothing = terms.vacuous, outcome.vacuous
        said = self.obligations.of_row(probability, beta, intervals, settled, vacuous=vacuous, nothing=nothing)
        if "open" in said:
            said |= self._over_normal_noise(row, outcome, beta)
        return data | {name: value for name, value in said.items() if value is not None or name != "open"}

    def _over_normal_noise(self, row: Row, outcome: RowOutcome, beta: Beta) -> dict[str, Any]:
        """What is said of a row without a closed form that is about normal noise."""
        try:
            bound = self.evidence.probabilities.bound(row.inputs, row.outputs, outcome.terms.gamma)
            if not has_normal(bound):
                return {}
            value = stars_of(bound, self.evidence.program.measurer)
        except Undecided as undecided:
            return {"open": undecided.reason}
        claimed = beta, self._read(row)
        numbers = self.obligations.of_stars(value, claimed, self.evidence.claim.intervals, outcome.settled)
        return {"probability": numbers[0], "obligation": numbers[1], "open": None}

    def _read(self, row: Row) -> Read | None:
        """The beta of a row as the checker reads it."""
        return self.reader.terms(own_cells(row), None if row.dd is None else row.dd.text, Budget())[2]

    def _certified(self, row: Row, terms: Terms) -> Beta:
        """The beta of a row in the form in which the checker will find it in the claim."""
        beta, own = terms.beta, own_cells(row)
        expression = own.get("beta", self.stated["beta"])
        pieces = any(name in expression and mentions(expression, name) for name in ("min", "max", "abs"))
        if beta.closed is not None and not pieces:
            return beta.closed
        return certified(beta, self._read(row), self.evidence.claim.intervals)
