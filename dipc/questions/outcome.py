"""What a check found at one row or class: verdict, counterexample, failure set, with the fields of the JSON contract.

Attributes hold exact Python values; subscripting (`report["verdict"]`, `row["probability"]`) gives the value that the
JSON output has under that key.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dipc.algebra.closed_form import ClosedForm
from dipc.decide.decide import Saying
from dipc.decide.obligation import Counterexample, FailureInterval, Verdict
from dipc.sign.piecewise import BetaForm


@dataclass(frozen=True, slots=True)
class RowResult:
    """One row of the table, decided.

    `row` counts data rows from 1. `input` and `output` map names to canonical cell texts (`1/4` for `0.25`);
    unconstrained outputs are absent. `closed_form` is Pr[output within gamma] for every eps > 0, None where a
    limit was reached on the way to it. `failing` is the exact set of eps in the
    interval where the claim fails: empty unless the verdict is INACCURATE. `reason` is given exactly for UNDECIDED.
    `says` is where beta < 1, for values of eps, or of the variable of a class; None where the row is about no input of
    the claim (dd < alpha). The row is `vacuous` then, and where beta is at least 1 everywhere.
    Where the row stands for a class of inputs, `count` is how many these are; where gamma is free, `obligations` has
    one result for each range of gamma, and the row is the one that decides.
    """

    row: int
    input: Mapping[str, str]
    output: Mapping[str, str]
    alpha: str
    beta_form: BetaForm
    gamma: str
    verdict: Verdict
    closed_form: ClosedForm | None = None
    vacuous: bool = False
    counterexample: Counterexample | None = None
    failing: tuple[FailureInterval, ...] = ()
    reason: str | None = None
    count: int | None = None
    obligations: tuple[RowResult, ...] = ()
    says: Saying | None = field(default=None, compare=False, repr=False)

    @property
    def variable(self) -> str:
        """What the row's obligation is a function of."""
        return "eps"

    @property
    def beta(self) -> str:
        """beta at this row in closed form, with alpha, gamma and the constants put in; text that SymPy reads."""
        return str(self.beta_form)

    @property
    def probability(self) -> str | None:
        """The closed form as text that `sympy.sympify` reads, made on demand."""
        return None if self.closed_form is None else str(self.closed_form)

    def as_json(self) -> dict[str, Any]:
        """The row's object in the JSON output."""
        result: dict[str, Any] = {
            "row": self.row,
            "input": dict(self.input),
            "output": dict(self.output),
            "alpha": self.alpha,
            "beta": self.beta,
            "gamma": self.gamma,
            "verdict": str(self.verdict),
            "probability": self.probability,
            "counterexample": None if self.counterexample is None else self.counterexample.as_json(),
            "reason": self.reason,
        }
        if self.failing:
            result["failing"] = [interval.as_json() for interval in self.failing]
        if self.vacuous:
            result["vacuous"] = True
        if self.count is not None:
            result["count"] = self.count
        if self.obligations:
            own = {"row", "input", "output"}
            parts = [obligation.as_json() for obligation in self.obligations]
            result["obligations"] = [{key: part[key] for key in part if key not in own} for part in parts]
        return result

    def __getitem__(self, key: str) -> Any:
        return self.as_json()[key]


@dataclass(frozen=True, slots=True)
class Counts:
    """How many rows there are of each kind; `vacuous` rows are among the accurate ones, and `above_one` of these are
    vacuous because beta >= 1."""

    rows: int = 0
    accurate: int = 0
    inaccurate: int = 0
    undecided: int = 0
    vacuous: int = 0
    above_one: int = 0


class Rows(Sequence[RowResult]):
    """Many rows that are not held as objects; equal to any sequence of equal rows."""

    @property
    @abstractmethod
    def counts(self) -> Counts:
        """How many rows there are of each kind, without making them."""

    @property
    @abstractmethod
    def sayings(self) -> Iterable[Saying]:
        """Where the rows say something, each different one at least once."""

    @abstractmethod
    def select(self, verdict: Verdict) -> Iterator[RowResult]:
        """The rows with this verdict, in order."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Effort:
    """What the check took: seconds by stage (they say nothing about the result), and how much was shared."""

    seconds: float = 0.0
    table_seconds: float = 0.0
    chain_seconds: float = 0.0
    measure_seconds: float = 0.0
    sign_seconds: float = 0.0
    explorations: int = 0
    measures: int = 0
    obligations: int = 0
