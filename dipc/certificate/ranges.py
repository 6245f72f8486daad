"""From a table with gamma left open to a certificate: each row has ranges of gamma, each with an obligation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dipc.algebra.limits import Undecided
from dipc.certificate.answers import with_answers
from dipc.certificate.data import (
    FunctionData,
    claim_data,
    headed,
    own_cells,
    sealed,
    table_data,
)
from dipc.certificate.obligations import ObligationWriter, certified
from dipc.claims.claim import Terms
from dipc.claims.table import Row
from dipc.decide.obligation import Decision, Verdict
from dipc.questions.report import RowResult
from dipc.questions.rows import FreeGamma
from dipc.rules.class_claim import FREE
from dipc.verifier.claims import Claim as ClaimReader
from dipc.verifier.claims import Least
from dipc.verifier.obligations import end
from dipc.verifier.reading import Budget, Exhausted, Question, Rejected


def certify_ranges(question: FreeGamma, results: Sequence[RowResult], verdict: Verdict, tool: str) -> str:
    """The text of the certificate of a table for every gamma."""
    return sealed(with_answers(_Writer(question).document(results, verdict, tool)))


class _Writer:
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
        data: dict[str, Any] = {
            "row": row.number,
            "input": [cell.text for cell in row.inputs],
            "output": [None if cell is None else cell.text for cell in row.outputs],
        }
        if row.dd is not None:
            data["dd"] = row.dd.text
        own = own_cells(row)
        if own:
            data["own"] = own
        try:
            ranges = self._question.ranges(row)
        except Undecided as undecided:
            return data | {"ranges": [], "verdict": str(result.verdict), "reason": undecided.reason}
        if row.gamma is not None:
            (gamma_range,) = ranges
            read = self._read(lambda: self._reader.terms(own, data.get("dd"), Budget())[2])
            return data | {"gamma": gamma_range.terms.gamma.text} | self._claimed(gamma_range.terms, result, read)
        highs = [*[after.terms.gamma.text for after in ranges[1:]], "inf"]
        data["ranges"] = []
        for gamma_range, one, high in zip(ranges, result.obligations, highs, strict=True):
            ends = gamma_range.terms.gamma.value, end(high)
            read = self._read(lambda ends=ends: self._reader.range(own, data.get("dd"), ends, Budget())[1])
            data["ranges"].append({"to": high} | self._claimed(gamma_range.terms, one, read))
        return data | {"verdict": str(result.verdict)}

    def _read(self, read: Any) -> Least | None:
        """A beta as the checker reads it, None where it does not."""
        try:
            result: Least | None = read()
        except (Rejected, Exhausted):
            return None
        return result

    def _claimed(self, terms: Terms, result: RowResult, read: Least | None) -> dict[str, Any]:
        """What is claimed for one gamma, or the gammas of one range, and what was found."""
        beta = certified(terms.beta, read, ())
        form, intervals = result.closed_form, self._question.intervals
        decision = Decision(result.verdict, form, result.counterexample, result.failing, result.reason)
        nothing = result.says is not None and result.says.nothing
        data = {"alpha": terms.alpha_text, "beta": self._obligations.beta(beta)}
        return data | self._obligations.of_row(form, beta, intervals, decision, vacuous=terms.vacuous, nothing=nothing)
