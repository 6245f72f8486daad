"""What a check found: verdicts, counterexamples, failure sets and the report, with the fields of the JSON contract.

Attributes hold exact Python values; subscripting (`report["verdict"]`, `row["probability"]`) gives the value that the
JSON output has under that key.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dipc.algebra.closed_form import ClosedForm
from dipc.obligations.verdict import Counterexample, FailureInterval, Verdict
from dipc.sign.piecewise import BetaForm

if TYPE_CHECKING:
    from dipc.claim.theorem import Theorem
    from dipc.sources.evidence import Evidence

SCHEMA = "dipc.check/1"


@dataclass(frozen=True, slots=True)
class RowResult:
    """One row of the table, decided.

    `row` counts data rows from 1. `input` and `output` map names to canonical cell texts (`1/4` for `0.25`);
    unconstrained outputs are absent. `closed_form` is Pr[output within gamma] for every eps > 0, None where a
    limit was reached on the way to it. `failing` is the exact set of eps in the
    interval where the claim fails: empty unless the verdict is INACCURATE. `reason` is given exactly for UNDECIDED.
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
    """How many rows there are of each kind; `vacuous` rows are among the accurate ones."""

    rows: int = 0
    accurate: int = 0
    inaccurate: int = 0
    undecided: int = 0
    vacuous: int = 0


class Rows(Sequence[RowResult]):
    """Many rows that are not held as objects; equal to any sequence of equal rows."""

    @property
    @abstractmethod
    def counts(self) -> Counts:
        """How many rows there are of each kind, without making them."""

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


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a check of one program against one table.

    `verdict` is INACCURATE if some row is, else UNDECIDED if some row is or if the check was `interrupted` before
    the last row, else ACCURATE. A report has at least one row unless it was interrupted. `eps` is the interval the
    claim was decided on, as text. `evidence` is what a certificate is written from, where it was asked for. `theorem`
    says what the rows decide besides their own obligations. Where rows stand for classes, `inputs` is how many inputs
    these have together.
    """

    program: str
    rows: Sequence[RowResult]
    eps: str
    interrupted: bool = False
    effort: Effort = field(default_factory=Effort, compare=False)
    evidence: Evidence | None = field(default=None, compare=False, repr=False)
    theorem: Theorem | None = None
    inputs: int | None = None

    def __post_init__(self) -> None:
        if not self.rows and not self.interrupted:
            raise ValueError("a report without rows has no verdict")

    @property
    def counts(self) -> Counts:
        if isinstance(self.rows, Rows):
            return self.rows.counts
        verdicts = [row.verdict for row in self.rows]
        return Counts(
            rows=len(verdicts),
            accurate=verdicts.count(Verdict.ACCURATE),
            inaccurate=verdicts.count(Verdict.INACCURATE),
            undecided=verdicts.count(Verdict.UNDECIDED),
            vacuous=sum(1 for row in self.rows if row.vacuous),
        )

    def select(self, verdict: Verdict) -> Iterator[RowResult]:
        """The rows with this verdict, in order."""
        if isinstance(self.rows, Rows):
            return self.rows.select(verdict)
        return (row for row in self.rows if row.verdict is verdict)

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
            **self.remarks(),
            "rows": [row.as_json() for row in self.rows],
        }

    def remarks(self) -> dict[str, Any]:
        """The keys of the JSON object that are there only where they say something."""
        result: dict[str, Any] = {}
        if self.theorem is not None:
            result["theorem"] = self.theorem.as_json()
        if self.inputs is not None:
            result["inputs"] = self.inputs
        return result

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
