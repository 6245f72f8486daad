"""From a report with its evidence to a certificate, schema `dipc.certificate/1` (see FORMAT.md beside this file)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import LimitReached, Undecided
from dipc.algebra.quotient import Closed, Quotient
from dipc.certificate.arms import Least, least_of
from dipc.certificate.cover import cover
from dipc.certificate.derivation import Derivations
from dipc.certificate.numbers import rational
from dipc.certificate.proofs import cell_proof, counterexample_data, interval_proof, positive_proof
from dipc.certificate.rows import HOLE, RowTexts
from dipc.certificate.seal import encode, seal
from dipc.claim.claim import Terms
from dipc.claim.expression import ClaimExpression
from dipc.lang.printer import print_expression
from dipc.obligations.decide import Decider, Proof, Settled
from dipc.obligations.verdict import Verdict
from dipc.sign.piecewise import PiecewiseForm
from dipc.sources.decided_rows import Outcome
from dipc.sources.evidence import Evidence
from dipc.sources.report import Report
from dipc.tables.packed import packed
from dipc.tables.table import Row
from dipc.verifier.budget import Budget
from dipc.verifier.claims import Claim as ClaimReader
from dipc.verifier.expression import mentions

SCHEMA = "dipc.certificate/1"

_IN_PIECES = "this beta is not one closed form for every eps, nor the least or the greatest of some"

#: A beta as it is certified: a closed form, the least of the greatest of some, or, as its text, not at all.
_Beta = ClosedForm | Least | str


def certify(report: Report, tool: str = "dipc") -> str:
    """The text of the certificate of a report of `check(..., keep_proofs=True)`. `tool` names who wrote it.

    ValueError for a report without evidence, or that was interrupted.
    """
    if report.evidence is None:
        raise ValueError("the report has no evidence: check with keep_proofs=True")
    if report.interrupted:
        raise ValueError("the check was interrupted: there is no certificate of a part of a table")
    return seal(_Writer(report, report.evidence).parts(tool))


@dataclass(slots=True)
class _Writer:
    """Collects what rows share, each thing once."""

    report: Report
    evidence: Evidence
    probabilities: dict[ClosedForm, int] = field(default_factory=dict)
    betas: dict[_Beta, int] = field(default_factory=dict)
    obligations: dict[tuple[ClosedForm, _Beta], int] = field(default_factory=dict)
    positive: dict[ExpPoly, dict[str, Any]] = field(default_factory=dict)
    probability_data: list[dict[str, Any]] = field(default_factory=list)
    derivations: Derivations = field(init=False)
    stated: dict[str, Any] = field(init=False)
    reader: ClaimReader = field(init=False)
    beta_data: list[dict[str, Any]] = field(default_factory=list)
    obligation_data: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.derivations = Derivations(self.evidence.probabilities)
        claim = self.evidence.claim
        self.stated = {
            "alpha": _expression(claim.alpha),
            "beta": _expression(claim.beta),
            "gamma": _expression(claim.gamma),
            "eps": [str(interval) for interval in claim.intervals],
        }
        self.reader = ClaimReader.read(self.stated, dict(self.evidence.program.core.constants))

    def parts(self, tool: str) -> dict[str, str | list[str]]:
        """The certificate without its digest, encoded."""
        program, table = self.evidence.program.core, self.evidence.table
        named = self.evidence.program
        columns = packed(table.rows, len(named.inputs), len(named.outputs))
        rows = list(RowTexts(columns, self.evidence.rows, self.derivations).texts(self._shared))
        document = {
            "schema": SCHEMA,
            "tool": tool,
            "program": {
                "name": program.name,
                "sha256": hashlib.sha256(program.source.text.encode("utf-8", "surrogatepass")).hexdigest(),
                "constants": {name: rational(value) for name, value in program.constants.items()},
            },
            "table": {
                "name": table.name,
                "sha256": _file_hash(table.name),
                "rows": len(rows),
                "inputs": list(self.evidence.program.inputs),
                "outputs": list(self.evidence.program.outputs),
            },
            "claim": self.stated,
            "verdict": str(self.report.verdict),
            "rows": [],
            "obligations": self.obligation_data,
            "betas": self.beta_data,
            "probabilities": self.probability_data,
            "positive": list(self.positive.values()),
            "derivation": self.derivations.data(),
        }
        parts: dict[str, str | list[str]] = {
            name: list(map(encode, part)) if isinstance(part, list) else encode(part) for name, part in document.items()
        }
        return parts | {"rows": rows}

    # --- rows -------------------------------------------------------------------------------------

    def _shared(self, row: Row, outcome: Outcome) -> dict[str, Any]:
        """What the rows with this outcome have in common, with holes for derivation, input, output and row, in this
        order when encoded. They have the same claim columns and dd, too."""
        terms, probability, settled = outcome.terms, outcome.probability, outcome.settled
        beta = self._certified(row, terms)
        data: dict[str, Any] = {"alpha": terms.alpha_text, "gamma": terms.gamma.text, "beta": self._beta(beta)}
        if row.dd is not None:
            data["dd"] = row.dd.text
        own = _own(row)
        if own:
            data["own"] = own
        data |= {"input": HOLE, "output": HOLE, "row": HOLE}
        if probability is not None:
            data["derivation"] = HOLE
        data["probability"] = None if probability is None else self._probability(probability)
        if terms.vacuous:
            data["vacuous"] = True
        data["obligation"] = None
        if probability is not None and not terms.vacuous:
            data["obligation"] = self._obligation(probability, beta, settled)
        data["verdict"] = str(settled.verdict)
        if settled.reason is not None:
            data["reason"] = settled.reason
        return data

    def _probability(self, form: ClosedForm) -> int:
        known = self.probabilities.get(form)
        if known is None:
            known = self.probabilities[form] = len(self.probability_data)
            self.probability_data.append({"value": self._closed(form.value)})
        return known

    def _beta(self, beta: _Beta) -> int:
        known = self.betas.get(beta)
        if known is None:
            known = self.betas[beta] = len(self.beta_data)
            data: dict[str, Any]
            match beta:
                case ClosedForm():
                    data = {"value": self._closed(beta.value)}
                case tuple():
                    data = {"min": [self._greatest(arms) for arms in beta]}
                case str():
                    data = {"value": None, "reason": _IN_PIECES}
            self.beta_data.append(data)
        return known

    def _greatest(self, arms: tuple[ClosedForm, ...]) -> Any:
        found = [self._closed(arm.value) for arm in arms]
        return found[0] if len(found) == 1 else {"max": found}

    def _certified(self, row: Row, terms: Terms) -> _Beta:
        """The beta of a row in the form in which the checker will find it in the claim."""
        beta, own = terms.beta, _own(row)
        expression = own.get("beta", self.stated["beta"])
        if any(name in expression and mentions(expression, name) for name in ("min", "max", "abs")):
            read = self.reader.terms(own, None if row.dd is None else row.dd.text, Budget(), "beta")[2]
            if read is None:
                return str(beta)
            if len(read) > 1 or len(read[0]) > 1:
                return least_of(read) or str(beta)
        return beta.closed or str(beta)

    # --- obligations ------------------------------------------------------------------------------

    def _obligation(self, probability: ClosedForm, beta: _Beta, result: Settled) -> int:
        key = (probability, beta)
        known = self.obligations.get(key)
        if known is None:
            known = self.obligations[key] = len(self.obligation_data)
            data: dict[str, Any] = {
                "probability": self._probability(probability),
                "beta": self._beta(beta),
                "verdict": str(result.verdict),
            }
            match beta:
                case ClosedForm():
                    data |= self._decided(self._proof_of(probability, beta), result)
                case tuple():
                    data |= self._parts(probability, beta, result)
                case str():
                    data |= {"function": None, "reason": _IN_PIECES}
            self.obligation_data.append(data)
        return known

    def _proof_of(self, probability: ClosedForm, beta: ClosedForm) -> Proof:
        wanted = PiecewiseForm(beta.value)
        found = self.evidence.proofs.get((probability, wanted))
        if found is None:
            # It was decided elsewhere, or together with others.
            claim, limits = self.evidence.claim, self.evidence.program.limits
            decider = Decider(claim.intervals, limits.sign, keep_proofs=True)
            decider.settle(probability, wanted)
            found = decider.proofs[probability, wanted]
        return found

    def _parts(self, probability: ClosedForm, least: Least, result: Settled) -> dict[str, Any]:
        """One claim for each argument of a `min`: all hold, or one fails."""
        match result.verdict:
            case Verdict.ACCURATE:
                try:
                    return {"parts": [self._part(probability, arms, result) for arms in least]}
                except Undecided as undecided:
                    return {"function": None, "reason": undecided.reason}
            case Verdict.INACCURATE:
                assert result.counterexample is not None
                eps = result.counterexample.eps
                at = min(range(len(least)), key=lambda at: max(arm.at(eps) for arm in least[at]))
                data = {"argument": at, "counterexample": counterexample_data(result.counterexample)}
                if len(least[at]) == 1:
                    data["function"] = self._closed(probability.value + least[at][0].value - 1)
                return {"parts": [data]}
            case _:
                return {"function": None, "reason": result.reason or _IN_PIECES}

    def _part(self, probability: ClosedForm, arms: tuple[ClosedForm, ...], result: Settled) -> dict[str, Any]:
        """What shows Pr >= 1 - max(arms). Raises Undecided."""
        if len(arms) == 1:
            proof = self._proof_of(probability, arms[0])
            if None in proof.decisions:
                raise LimitReached("steps", "the proof for one argument takes more than was spent on the verdict")
            return self._decided(proof, result)
        slacks = [probability.value + arm.value - 1 for arm in arms]
        limits = self.evidence.program.limits.sign
        return {
            "covers": [
                [
                    {"argument": at, "function": self._closed(slacks[at]), "proof": cell_proof(interval, decision)}
                    for at, interval, decision in cover(slacks, whole, limits)
                ]
                for whole in self.evidence.claim.intervals
            ]
        }

    def _decided(self, proof: Proof, result: Settled) -> dict[str, Any]:
        data: dict[str, Any] = {"function": self._closed(proof.slack)}
        match result.verdict:
            case Verdict.UNDECIDED:
                data["reason"] = result.reason
            case Verdict.INACCURATE:
                assert result.counterexample is not None
                data["counterexample"] = counterexample_data(result.counterexample)
                data["charts"] = self._interval_proofs(proof)
            case Verdict.ACCURATE:
                data["proofs"] = self._interval_proofs(proof)
        return data

    def _interval_proofs(self, proof: Proof) -> list[dict[str, Any] | None]:
        intervals = self.evidence.claim.intervals
        # The zero function needs no proof, and has none.
        return [
            interval_proof(interval, decision)
            for interval, decision in zip(intervals, proof.decisions, strict=bool(proof.decisions))
        ]

    def _closed(self, value: Closed) -> Any:
        if isinstance(value, Quotient) and value.denominator != 1 and value.denominator not in self.positive:
            self.positive[value.denominator] = positive_proof(value.denominator, self.evidence.program.limits.sign)
        return self.derivations.functions.of(value)


def _own(row: Row) -> dict[str, str]:
    cells = (("alpha", row.alpha), ("beta", row.beta), ("gamma", row.gamma))
    return {name: cell.text for name, cell in cells if cell is not None}


def _expression(expression: ClaimExpression | None) -> str | None:
    return None if expression is None else print_expression(expression.tree)


def _file_hash(name: str) -> str | None:
    """Of the bytes of a file; None where the table is not one."""
    try:
        with Path(name).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return None
