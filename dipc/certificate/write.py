"""From a report with its evidence to a certificate, see FORMAT.md beside this file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from dipc.algebra.limits import Undecided
from dipc.certificate.answers import with_answers
from dipc.certificate.data import (
    HOLE,
    FunctionData,
    RowTexts,
    Uncertified,
    as_read,
    claim_data,
    encode,
    headed,
    own_cells,
    require_known_laws,
    seal,
    sealed,
    table_data,
)
from dipc.certificate.inputs import certify_inputs
from dipc.certificate.obligations import Beta, ObligationWriter, certified, has_normal, stars_of
from dipc.claims.claim import Terms
from dipc.claims.given import number_of
from dipc.claims.table import Row, packed
from dipc.decide.obligation import Decision, Verdict
from dipc.questions.every_input import EveryInput
from dipc.questions.every_number.all_numbers import AllNumbers
from dipc.questions.report import CaseEvidence, Evidence, Report, RowOutcome, RowResult
from dipc.questions.rows import FreeGamma
from dipc.rules.class_claim import FREE
from dipc.sign.piecewise import PiecewiseForm
from dipc.verifier.claims import Beta as Read
from dipc.verifier.claims import Claim as ClaimReader
from dipc.verifier.claims import mentions
from dipc.verifier.obligations import end
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
        if any(row.count is not None for row in report.rows):
            raise Uncertified(
                "its classes are too many to be gone through, and the checker knows no exchange of inputs"
            )
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
        data |= {**_cells_of_claim(row), "input": HOLE, "output": HOLE, "row": HOLE}
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
        intervals, settled = self.evidence.claim.intervals, outcome.settled
        number = self.obligations.obligation(value, beta, intervals, settled, read=self._read(row))
        return {"probability": self.obligations.probability(value), "obligation": number, "open": None}

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


def _cells_of_claim(row: Row) -> dict[str, Any]:
    """What is stated of a row's cells besides inputs and outputs: its dd, and those that win over the claim."""
    own = own_cells(row)
    return {**({} if row.dd is None else {"dd": row.dd.text}), **({"own": own} if own else {})}


# --- A table with gamma left open: each row has ranges of gamma, each with an obligation ------------------------------


def certify_ranges(question: FreeGamma, results: Sequence[RowResult], verdict: Verdict, tool: str) -> str:
    """The text of the certificate of a table for every gamma."""
    return sealed(with_answers(_RangeWriter(question).document(results, verdict, tool)))


class _RangeWriter:
    def __init__(self, question: FreeGamma) -> None:
        self._question = question
        claim = question.claim
        self._stated = claim_data(claim) | {"gamma": FREE}
        self._reader = ClaimReader.read(self._stated, dict(question.program.core.constants))
        self._obligations = ObligationWriter(FunctionData(), question.program.limits)

    def document(self, results: Sequence[RowResult], verdict: Verdict, tool: str) -> dict[str, Any]:
        question = self._question
        rows = [self._row(row, result) for row, result in zip(question.table.rows, results, strict=True)]
        return {
            **headed(Question.ROWS, question.program, tool, verdict),
            "table": table_data(question.program, question.table),
            "claim": self._stated,
            "rows": rows,
            **self._obligations.shared(),
        }

    def _row(self, row: Row, result: RowResult) -> dict[str, Any]:
        own = own_cells(row)
        data: dict[str, Any] = {
            "row": row.number,
            "input": [cell.text for cell in row.inputs],
            "output": [None if cell is None else cell.text for cell in row.outputs],
            **_cells_of_claim(row),
        }
        try:
            ranges = self._question.ranges(row)
        except Undecided as undecided:
            return data | {"ranges": [], "verdict": str(result.verdict), "reason": undecided.reason}
        if row.gamma is not None:
            (gamma_range,) = ranges
            stated = as_read(lambda: self._reader.terms(own, data.get("dd"), Budget())[2])
            return data | {"gamma": gamma_range.terms.gamma.text} | self._claimed(gamma_range.terms, result, stated)
        highs = [*[after.terms.gamma.text for after in ranges[1:]], "inf"]
        data["ranges"] = []
        for gamma_range, one, high in zip(ranges, result.obligations, highs, strict=True):
            ends = number_of(gamma_range.terms.gamma), end(high)
            claimed = as_read(partial(self._reader.range, own, data.get("dd"), ends, Budget()))
            read = None if claimed is None else claimed[1]
            data["ranges"].append({"to": high} | self._claimed(gamma_range.terms, one, read))
        return data | {"verdict": str(result.verdict)}

    def _claimed(self, terms: Terms, result: RowResult, read: Read | None) -> dict[str, Any]:
        """What is claimed for one gamma, or the gammas of one range, and what was found."""
        beta = certified(terms.beta, read, ())
        form, intervals = result.closed_form, self._question.intervals
        decision = Decision(result.verdict, form, result.counterexample, result.failing, result.reason)
        nothing = result.says is not None and result.says.nothing
        data = {"alpha": terms.alpha_text, "beta": self._obligations.beta(beta)}
        return data | self._obligations.of_row(form, beta, intervals, decision, vacuous=terms.vacuous, nothing=nothing)
