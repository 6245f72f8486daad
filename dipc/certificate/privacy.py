"""From a verdict about privacy at pairs of inputs to a certificate: schema `dipc.certificate.privacy/1` (see FORMAT.md
beside this file)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.combine import total
from dipc.certificate.header import program_data
from dipc.certificate.numbers import rational
from dipc.certificate.obligations import ObligationWriter
from dipc.certificate.seal import sealed
from dipc.certificate.terms import FunctionData
from dipc.obligations.decision import Decision
from dipc.privacy.adjacency import Within
from dipc.privacy.check import PrivacyQuestion
from dipc.privacy.claim import power
from dipc.privacy.outcome import PrivacyReport, PrivacyVerdict
from dipc.privacy.pairs import Pairs, texts
from dipc.privacy.pure import at_most, couples
from dipc.verifier.privacy import SCHEMA


class Uncertified(ValueError):
    """The verdict has no certificate, for the reason given."""


def certify_privacy(question: PrivacyQuestion, report: PrivacyReport, tool: str = "dipc") -> str:
    """The text of the certificate of what `question.decide` reported; the engine of the question keeps proofs.

    Raises Uncertified where the format has none.
    """
    claim, pairs = report.claim, question.pairs
    if not isinstance(pairs, Pairs) or not question.finite_outputs:
        raise Uncertified("certificates of privacy are about listed pairs and finite outputs")
    if report.verdict is PrivacyVerdict.UNDECIDED:
        raise Uncertified("the claim is undecided")
    if claim.transcendental is not None:
        raise Uncertified("its delta is only enclosed")
    if report.verdict is PrivacyVerdict.PRIVATE and not claim.is_pure:
        raise Uncertified("a proof with a delta has no certificate yet, a refutation has one")
    return sealed(_Writer(question, report, pairs).document(tool))


class _Writer:
    """Collects what pairs share, each thing once."""

    def __init__(self, question: PrivacyQuestion, report: PrivacyReport, pairs: Pairs) -> None:
        self._question = question
        self._claim = report.claim
        self._report = report
        self._pairs = pairs
        self._table = question.table(pairs)
        self._scale = power(report.claim.budget)
        self._functions = FunctionData()
        self._obligations = ObligationWriter(self._functions, question.program.limits, self._kept)
        self._numbers: dict[ClosedForm, int] = {}
        self._probability_data: list[dict[str, Any]] = []

    def document(self, tool: str) -> dict[str, Any]:
        """The certificate without its digest. Raises Uncertified."""
        report, table = self._report, self._table
        if report.counterexample is None:
            inputs, answers = list(range(len(self._pairs.inputs))), list(range(len(table.answers)))
            ordered, refuted = [list(pair) for pair in self._pairs.ordered], None
            shown = [
                [self._law(each.first), self._law(each.second), self._obligation((each.first,), (each.second,))]
                for each in couples(table, self._pairs)
            ]
        else:
            found = report.counterexample
            points = [texts(self._question.program, point) for point in self._pairs.inputs]
            inputs = [
                next(at for at, point in enumerate(points) if point == said) for said in (found.input, found.adjacent)
            ]
            named = [table.texts(answer) for answer in range(len(table.answers))]
            answers = [next(at for at, output in enumerate(named) if output == said) for said in found.outputs]
            one, two = (tuple([table.rows[at][answer] for answer in answers]) for at in inputs)
            ordered, shown = [[0, 1]], []
            refuted = {"pair": 0, "outputs": list(range(len(answers))), "obligation": self._obligation(one, two)}
        outputs = [list(table.texts(answer).values()) for answer in answers]
        if any(None in output for output in outputs):
            raise Uncertified("an output is never assigned on some path: give it an initial value")
        adjacency = self._question.adjacency
        return {
            "schema": SCHEMA,
            "tool": tool,
            "program": program_data(self._question.program),
            "claim": {
                "budget": rational(self._claim.budget),
                "delta": self._obligations.closed(self._claim.delta.value),
                "eps": [str(interval) for interval in self._claim.intervals],
            },
            "adjacent": str(adjacency) if isinstance(adjacency, Within) else None,
            "verdict": str(report.verdict),
            "inputs": [list(texts(self._question.program, self._pairs.inputs[at]).values()) for at in inputs],
            "outputs": outputs,
            "laws": [[self._law(table.rows[at][answer]) for answer in answers] for at in inputs],
            "pairs": ordered,
            "couples": shown,
            "refuted": refuted,
            "obligations": self._obligations.obligation_data,
            "betas": self._obligations.beta_data,
            "probabilities": self._probability_data,
            "positive": self._obligations.positive_data,
        }

    def _law(self, number: int) -> int:
        return self._number(ClosedForm(self._table.closed(number)))

    def _number(self, form: ClosedForm) -> int:
        known = self._numbers.get(form)
        if known is None:
            known = self._numbers[form] = len(self._probability_data)
            self._probability_data.append({"value": self._obligations.closed(form.value)})
        return known

    def _obligation(self, first: Iterable[int], second: Iterable[int]) -> int:
        """That outputs with these probabilities are allowed, or not."""
        likely, other = (total([self._table.closed(number) for number in numbers]) for numbers in (first, second))
        allowed, rest = ClosedForm(self._scale * other + self._claim.delta.value), ClosedForm(1 - likely)
        numbered = self._number(allowed), allowed
        return self._obligations.obligation(numbered, rest, self._claim.intervals, self._kept(allowed, rest))

    def _kept(self, allowed: ClosedForm, rest: ClosedForm) -> Decision:
        """What was decided."""
        return self._question.engine.decide(at_most(1 - rest.value, allowed.value, self._claim.intervals))
