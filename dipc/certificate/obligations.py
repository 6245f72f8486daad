"""Obligations with their betas and denominators, each written once, with the proof of its verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import Closed, ExpPoly, Quotient
from dipc.algebra.limits import LimitReached, Limits, Undecided
from dipc.certificate.arms import Least, least_of
from dipc.certificate.cover import cover
from dipc.certificate.proofs import cell_proof, counterexample_data, interval_proof, positive_proof
from dipc.certificate.terms import FunctionData
from dipc.decide.decide import decide
from dipc.decide.obligation import Decision, Verdict
from dipc.sign.chart import Decision as SignDecision
from dipc.sign.interval import Interval
from dipc.sign.piecewise import BetaForm, PiecewiseForm
from dipc.verifier.claims import Least as Read

IN_PIECES = "this beta is not one closed form for every eps, nor the least or the greatest of some"

#: A beta as it is certified: a closed form, the least of the greatest of some, or, as its text, not at all.
Beta = ClosedForm | Least | str

Intervals = tuple[Interval, ...]

#: How each of the intervals was decided, None for one that was not.
Proof = Sequence[SignDecision | None]

#: A decision that was kept with its proof, None where there is none.
Kept = Callable[[ClosedForm, ClosedForm], Decision | None]


class ObligationWriter:
    """Collects what obligations share, each thing once."""

    def __init__(
        self, functions: FunctionData, limits: Limits, kept: Kept = lambda _, __: None, intervals: Intervals = ()
    ) -> None:
        """The intervals are those that all obligations are about, where they are about the same."""
        self.beta_data: list[dict[str, Any]] = []
        self.obligation_data: list[dict[str, Any]] = []
        self._functions = functions
        self._limits = limits
        self._kept = kept
        self._intervals = intervals
        self._betas: dict[Beta, int] = {}
        self._obligations: dict[tuple[int, Beta, Intervals], int] = {}
        self._positive: dict[ExpPoly, dict[str, Any]] = {}

    @property
    def positive_data(self) -> list[dict[str, Any]]:
        return list(self._positive.values())

    def beta(self, beta: Beta) -> int:
        """The number of a beta."""
        known = self._betas.get(beta)
        if known is None:
            known = self._betas[beta] = len(self.beta_data)
            data: dict[str, Any]
            match beta:
                case ClosedForm():
                    data = {"value": self.closed(beta.value)}
                case tuple():
                    data = {"min": [self._greatest(arms) for arms in beta]}
                case str():
                    data = {"value": None, "reason": IN_PIECES}
            self.beta_data.append(data)
        return known

    def obligation(
        self,
        probability: tuple[int, ClosedForm],
        beta: Beta,
        intervals: Intervals,
        result: Decision,
        besides: Mapping[str, Any] = MappingProxyType({}),
    ) -> int:
        """The number of an obligation about a probability, given with its own number; `besides` is written with it."""
        number, form = probability
        key = (number, beta, intervals)
        known = self._obligations.get(key)
        if known is None:
            known = self._obligations[key] = len(self.obligation_data)
            data: dict[str, Any] = {
                "probability": number,
                "beta": self.beta(beta),
                "verdict": str(result.verdict),
                **besides,
            }
            match beta:
                case ClosedForm():
                    data |= self._decided(form, beta, self._proof_of(form, beta, intervals), intervals, result)
                case tuple():
                    data |= self._parts(form, beta, intervals, result)
                case str():
                    data |= {"function": None, "reason": IN_PIECES}
            self.obligation_data.append(data)
        return known

    def of_nothing(self, zero: int, beta: Beta, intervals: Intervals) -> int:
        """The number of the obligation that 0, the probability of this number, is at least 1 - beta: whatever the
        probability is, so is it. That beta is at least 1 on the intervals has been decided."""
        nothing = ClosedForm.of(0)
        return self.obligation((zero, nothing), beta, intervals, Decision(Verdict.ACCURATE, nothing))

    def closed(self, value: Closed) -> Any:
        """A function, whose denominator is shown to be positive."""
        if isinstance(value, Quotient) and value.denominator != 1 and value.denominator not in self._positive:
            self._positive[value.denominator] = positive_proof(value.denominator, self._limits, self._intervals)
        return self._functions.of(value)

    def _greatest(self, arms: tuple[ClosedForm, ...]) -> Any:
        found = [self.closed(arm.value) for arm in arms]
        return found[0] if len(found) == 1 else {"max": found}

    def _proof_of(self, probability: ClosedForm, beta: ClosedForm, intervals: Intervals) -> Proof:
        found = self._kept(probability, beta)
        if found is None:
            # It was decided together with others, or not kept.
            found = decide(probability, PiecewiseForm(beta.value), intervals, self._limits)
        assert found.proof is not None
        return [None if part is None else part.cells[0].decision for part in found.proof]

    def _parts(self, probability: ClosedForm, least: Least, intervals: Intervals, result: Decision) -> dict[str, Any]:
        """One claim for each argument of a `min`: all hold, or one fails."""
        match result.verdict:
            case Verdict.ACCURATE:
                try:
                    return {"parts": [self._part(probability, arms, intervals, result) for arms in least]}
                except Undecided as undecided:
                    return {"function": None, "reason": undecided.reason}
            case Verdict.INACCURATE:
                assert result.counterexample is not None
                eps = result.counterexample.eps
                at = min(range(len(least)), key=lambda at: max(arm.at(eps) for arm in least[at]))
                data = {"argument": at, "counterexample": counterexample_data(result.counterexample)}
                if len(least[at]) == 1:
                    data["function"] = self.closed(probability.value + least[at][0].value - 1)
                return {"parts": [data]}
            case _:
                return {"function": None, "reason": result.reason or IN_PIECES}

    def _part(
        self, probability: ClosedForm, arms: tuple[ClosedForm, ...], intervals: Intervals, result: Decision
    ) -> dict[str, Any]:
        """What shows Pr >= 1 - max(arms). Raises Undecided."""
        if len(arms) == 1:
            proof = self._proof_of(probability, arms[0], intervals)
            if None in proof:
                raise LimitReached(None, "the proof for one argument takes more than was spent on the verdict")
            return self._decided(probability, arms[0], proof, intervals, result)
        slacks = [probability.value + arm.value - 1 for arm in arms]
        return {
            "covers": [
                [
                    {"argument": at, "function": self.closed(slacks[at]), "proof": cell_proof(interval, decision)}
                    for at, interval, decision in cover(slacks, whole, self._limits)
                ]
                for whole in intervals
            ]
        }

    def _decided(
        self, probability: ClosedForm, beta: ClosedForm, proof: Proof, intervals: Intervals, result: Decision
    ) -> dict[str, Any]:
        slack = probability.value + beta.value - 1
        data: dict[str, Any] = {"function": self.closed(slack)}
        if slack == 0:
            proof = ()  # the zero function needs no proof, and has none
        match result.verdict:
            case Verdict.UNDECIDED:
                data["reason"] = result.reason
            case Verdict.INACCURATE:
                assert result.counterexample is not None
                data["counterexample"] = counterexample_data(result.counterexample)
                data["charts"] = _interval_proofs(proof, intervals)
            case Verdict.ACCURATE:
                data["proofs"] = _interval_proofs(proof, intervals)
        return data


def _interval_proofs(proof: Proof, intervals: Intervals) -> list[dict[str, Any] | None]:
    return [interval_proof(interval, decision) for interval, decision in zip(intervals, proof, strict=bool(proof))]


def certified(beta: BetaForm, read: Read | None, intervals: Intervals) -> Beta:
    """A beta in the form in which the checker has `read` it from the claim, None where it has not. Its divisors have
    one sign on the intervals."""
    if read is None:
        return str(beta)
    if len(read) == len(read[0]) == 1 and beta.closed is not None:
        return beta.closed
    found = least_of(read, intervals)
    if found is None:
        return str(beta)
    return found[0][0] if len(found) == len(found[0]) == 1 else found
