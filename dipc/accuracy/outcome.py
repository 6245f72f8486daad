"""What a check found: verdicts, counterexamples, failure sets and the report, with the fields of the JSON contract.

Attributes hold exact Python values; subscripting (`report["verdict"]`, `row["probability"]`) gives the value that the
JSON output has under that key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

from dipc.accuracy.closed_form import ClosedForm
from dipc.accuracy.decimals import exact_text

SCHEMA = "dipc.check/1"


class Verdict(StrEnum):
    """`accurate` comes with a proof, `inaccurate` with a counterexample, `undecided` with a reason."""

    ACCURATE = "accurate"
    INACCURATE = "inaccurate"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class EndPoint:
    """One end of an interval of eps, exact (`low == high`) or isolated: low <= end <= high. `high` None is infinity,
    with `low` meaningless then."""

    low: Fraction
    high: Fraction | None
    included: bool

    @property
    def infinite(self) -> bool:
        return self.high is None

    @property
    def exact(self) -> bool:
        return self.low == self.high


@dataclass(frozen=True, slots=True)
class FailureInterval:
    """A maximal interval of eps on which the claim fails, inside the interval that was asked about."""

    start: EndPoint
    end: EndPoint


@dataclass(frozen=True, slots=True)
class Counterexample:
    """An eps at which the claim fails, with rigorous enclosures (lo, hi) of Pr and of the required 1 - beta.

    Guarantees probability[1] < required[0]: the enclosures are disjoint.
    """

    eps: Fraction
    probability: tuple[Fraction, Fraction]
    required: tuple[Fraction, Fraction]

    @property
    def margin(self) -> tuple[Fraction, Fraction]:
        """Enclosure of the shortfall, required - probability; both ends are positive."""
        return self.required[0] - self.probability[1], self.required[1] - self.probability[0]

    def as_json(self) -> dict[str, Any]:
        """The JSON object; every text is exactly the number, decimal where it is a decimal number."""
        return {
            "eps": str(self.eps),
            "probability": [exact_text(end) for end in self.probability],
            "required": [exact_text(end) for end in self.required],
        }

    def __getitem__(self, key: str) -> Any:
        return self.as_json()[key]


@dataclass(frozen=True, slots=True)
class RowResult:
    """One row of the table, decided.

    `row` counts data rows from 1. `input` and `output` map names to canonical cell texts (`1/4` for `0.25`);
    unconstrained outputs are absent. `closed_form` is Pr[output within gamma] for every eps > 0, None where a
    limit was reached on the way to it. `failing` is the exact set of eps in the
    interval where the claim fails: empty unless the verdict is INACCURATE. `reason` is given exactly for UNDECIDED.
    """

    row: int
    input: Mapping[str, str]
    output: Mapping[str, str]
    alpha: str
    beta_form: ClosedForm
    gamma: str
    verdict: Verdict
    closed_form: ClosedForm | None = None
    vacuous: bool = False
    counterexample: Counterexample | None = None
    failing: tuple[FailureInterval, ...] = ()
    reason: str | None = None

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
        if self.vacuous:
            result["vacuous"] = True
        return result

    def __getitem__(self, key: str) -> Any:
        return self.as_json()[key]


@dataclass(frozen=True, slots=True)
class Counts:
    """How many rows there are of each kind; `vacuous` rows are among the accurate ones."""

    rows: int = 0
    accurate: int = 0
    inaccurate: int = 0
    undecided: int = 0
    vacuous: int = 0


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


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a check of one program against one table.

    `verdict` is INACCURATE if some row is, else UNDECIDED if some row is or if the check was `interrupted` before
    the last row, else ACCURATE. A report has at least one row unless it was interrupted. `eps` is the interval the
    claim was decided on, as text.
    """

    program: str
    rows: tuple[RowResult, ...]
    eps: str
    interrupted: bool = False
    effort: Effort = field(default_factory=Effort, compare=False)

    def __post_init__(self) -> None:
        if not self.rows and not self.interrupted:
            raise ValueError("a report without rows has no verdict")

    @property
    def counts(self) -> Counts:
        verdicts = [row.verdict for row in self.rows]
        return Counts(
            rows=len(verdicts),
            accurate=verdicts.count(Verdict.ACCURATE),
            inaccurate=verdicts.count(Verdict.INACCURATE),
            undecided=verdicts.count(Verdict.UNDECIDED),
            vacuous=sum(1 for row in self.rows if row.vacuous),
        )

    @property
    def verdict(self) -> Verdict:
        return overall(self.counts, self.interrupted)

    @property
    def schema(self) -> str:
        return SCHEMA

    def as_json(self) -> dict[str, Any]:
        """The whole JSON object; `dipc.report.json` writes the same without holding it in memory."""
        return {
            "schema": SCHEMA,
            "program": self.program,
            "verdict": str(self.verdict),
            "rows": [row.as_json() for row in self.rows],
        }

    def __getitem__(self, key: str) -> Any:
        return self.as_json()[key]


def overall(counts: Counts, interrupted: bool = False) -> Verdict:
    """The verdict over all rows; never ACCURATE unless every row is and none is missing."""
    if counts.inaccurate:
        return Verdict.INACCURATE
    if counts.undecided or interrupted or counts.accurate != counts.rows or not counts.rows:
        return Verdict.UNDECIDED
    return Verdict.ACCURATE


class Interrupted(Exception):
    """The check was stopped by Ctrl-C. `report` holds the rows decided so far, `done` of `total` (None: unknown)."""

    def __init__(self, report: Report, done: int, total: int | None) -> None:
        of = "" if total is None else f" of {total}"
        super().__init__(f"interrupted after {done}{of} rows")
        self.report = report
        self.done = done
        self.total = total
