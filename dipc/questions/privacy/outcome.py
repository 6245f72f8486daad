"""What was found about the privacy of a program, with the fields of the JSON contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from dipc.above import above
from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.numbers import exact_text
from dipc.questions.privacy.claim import PrivacyClaim

SCHEMA = "dipc.privacy/1"

#: Values by name; None for an output that was never assigned.
Texts = Mapping[str, str | None]


class PrivacyVerdict(StrEnum):
    """`private` comes with a proof, `not private` with a counterexample, `undecided` with a reason."""

    PRIVATE = "private"
    NOT_PRIVATE = "not private"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Sides:
    """Pr[P(input) in outputs], and what is allowed, e^budget·Pr[P(adjacent) in outputs] + delta: functions of eps."""

    input: Texts
    adjacent: Texts
    outputs: tuple[Texts, ...]
    probability: ClosedForm
    allowed: ClosedForm


@dataclass(frozen=True, slots=True)
class PrivacyCounterexample:
    """Adjacent inputs, a set of outputs and an eps with Pr[P(input) in outputs] > e^budget·Pr[P(adjacent) in outputs] +
    delta: rigorous enclosures (lo, hi) of both sides, probability[0] > allowed[1].

    With `pure` the set has one element. An output is given by the values of its finite parts; `balls` says within which
    interval each real or int part lies.
    """

    sides: Sides
    eps: Fraction
    probability: tuple[Fraction, Fraction]
    allowed: tuple[Fraction, Fraction]
    pure: bool
    balls: Mapping[str, tuple[Fraction, Fraction]] | None = None

    @property
    def input(self) -> Texts:
        return self.sides.input

    @property
    def adjacent(self) -> Texts:
        return self.sides.adjacent

    @property
    def outputs(self) -> tuple[Texts, ...]:
        return self.sides.outputs

    def as_json(self) -> dict[str, Any]:
        """The JSON object; every text is exactly the number."""
        said: dict[str, Any] = {"input": dict(self.input), "adjacent": dict(self.adjacent)}
        if self.pure:
            said["output"] = dict(self.outputs[0])
        else:
            said["outputs"] = [dict(output) for output in self.outputs]
        if self.balls:
            said["balls"] = {name: list(map(exact_text, ends)) for name, ends in self.balls.items()}
        said["eps"] = str(self.eps)
        said["probability"] = list(map(exact_text, self.probability))
        said["allowed"] = list(map(exact_text, self.allowed))
        return said


@dataclass(frozen=True, slots=True)
class Numbers:
    """Every value of the constant `parameter` from `least` on. What is refuted is so `at` one of them, and `onwards`
    from there. `each` is a constant of privacy for each value, as a function of it where it is not the same for all;
    where `exact` no smaller one does, else none up to the value `attained`."""

    parameter: str
    least: int
    at: int | None = None
    onwards: bool = False
    each: str | None = None
    exact: bool = False
    attained: int | None = None

    def as_json(self) -> dict[str, Any]:
        """The JSON object."""
        return {
            "parameter": self.parameter,
            "least": self.least,
            **({} if self.at is None else {"at": self.at, "onwards": self.onwards}),
            **({} if self.each is None else {"constant": self.each, "exact": self.exact}),
        }


@dataclass(frozen=True, slots=True)
class PrivacyReport:
    """Whether a program is private. `pairs` counts the ordered pairs, None where these are all adjacent real inputs;
    `about` says which inputs, `adjacency` which of them are adjacent. `obligations` counts the different inequalities
    that were decided, `proof` says by what a program is proved private for all real inputs; `numbers` are the values of
    a constant that it is about.

    A report is neither true nor false: `require` fails unless it is private.
    """

    program: str
    claim: PrivacyClaim
    adjacency: str
    about: str
    pairs: int | None
    verdict: PrivacyVerdict
    counterexample: PrivacyCounterexample | None = None
    reason: str | None = None
    obligations: int = 0
    proof: str | None = None
    numbers: Numbers | None = None

    def __bool__(self) -> bool:
        raise TypeError("a report has one of three verdicts: look at its `verdict`, or call `require()`")

    def require(self) -> PrivacyReport:
        """The report itself, if it is private. Raises AssertionError otherwise, which names adjacent inputs, outputs,
        eps, probability and what is allowed, or the reason why it is undecided."""
        if self.verdict is not PrivacyVerdict.PRIVATE:
            raise AssertionError(above("shown").privacy_refusal(self))
        return self

    def as_json(self) -> dict[str, Any]:
        """The whole JSON object."""
        return {
            "schema": SCHEMA,
            "program": self.program,
            "verdict": str(self.verdict),
            "adjacent": self.adjacency,
            "budget": self.claim.budget_text,
            "delta": self.claim.delta_text,
            "eps": self.claim.eps_text,
            "pairs": self.pairs,
            "counterexample": None if self.counterexample is None else self.counterexample.as_json(),
            "reason": self.reason,
            **({} if self.numbers is None else {"for_all": self.numbers.as_json()}),
        }

    def __getitem__(self, key: str) -> Any:
        return self.as_json()[key]
