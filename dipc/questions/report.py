"""What a check found in all, with the fields of the JSON contract."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dipc.above import VERSION, above
from dipc.claims.conditions import Theorem
from dipc.decide.decide import Saying, together
from dipc.decide.obligation import Verdict
from dipc.questions.decided_rows import CaseEvidence, Evidence
from dipc.questions.outcome import Counts, Effort, RowResult, Rows
from dipc.text.diagnostic import Diagnostic

SCHEMA = "dipc.check/1"


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a check of one program against one table.

    `verdict` is INACCURATE if some row is, else UNDECIDED if some row is or if the check was `interrupted` before
    the last row, else ACCURATE. A report has at least one row unless it was interrupted. `eps` is the interval the
    claim was decided on, as text. `evidence` is what a certificate is written from, where it was asked for. `theorem`
    says what the rows decide besides their own obligations. Where rows stand for classes, `inputs` is how many inputs
    these have together. `constants` are the program's, and `stated` has alpha, beta and gamma as they were claimed,
    None for one that every row has its own of. `warnings` say where the claim may not mean what it seems to.

    A report is neither true nor false: `require` fails unless it is accurate.
    """

    program: str
    rows: Sequence[RowResult]
    eps: str
    interrupted: bool = False
    effort: Effort = field(default_factory=Effort, compare=False)
    evidence: Evidence | CaseEvidence | None = field(default=None, compare=False, repr=False)
    theorem: Theorem | None = None
    inputs: int | None = None
    constants: Mapping[str, str] = field(default_factory=dict)
    stated: Mapping[str, str | None] = field(default_factory=dict)
    warnings: tuple[Diagnostic, ...] = ()

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
            above_one=sum(1 for row in self.rows if row.vacuous and row.says is not None),
        )

    def __bool__(self) -> bool:
        raise TypeError("a report has one of three verdicts: look at its `verdict`, or call `require()`")

    @property
    def claim(self) -> Mapping[str, str | None]:
        """alpha, beta, gamma and eps as texts; None for one that every row has its own of."""
        return {**self.stated, "eps": self.eps}

    @property
    def failures(self) -> tuple[RowResult, ...]:
        """The rows that are refuted, in order, each with its `counterexample` and its `failing` eps."""
        return tuple(self.select(Verdict.INACCURATE))

    @property
    def sayings(self) -> Mapping[str, Saying]:
        """Where at least one row says something (beta < 1), by what their claims are functions of: `eps`, or a product
        of it such as `alpha*eps`."""
        if isinstance(self.rows, Rows):
            found = {"eps": list(self.rows.sayings)}
        else:
            found = {}
            for row in self.rows:
                if row.says is not None:
                    found.setdefault(row.variable, []).append(row.says)
        return {variable: together(all_of) for variable, all_of in found.items() if all_of}

    def require(self) -> Report:
        """The report itself, if it is accurate. Raises AssertionError otherwise, which names a row with its input, eps,
        probability and bound, or the reason why one is undecided."""
        if self.verdict is not Verdict.ACCURATE:
            raise AssertionError(above("shown").refusal(self))
        return self

    def records(self) -> list[dict[str, object]]:
        """The rows as flat dicts of texts: row, inputs and outputs by name, alpha, beta, gamma, verdict, vacuous,
        probability (a closed form), eps (of the counterexample), reason."""
        found: list[dict[str, object]] = above("shown").records(self)
        return found

    def to_frame(self) -> Any:
        """`records()` as a DataFrame of pandas or polars, whichever is in use or else installed. Raises ImportError
        where neither is."""
        return above("shown").data_frame(self)

    def plot(self, row: int | None = None, axes: Any = None) -> Any:
        """Draws Pr against 1 - beta over eps, with the failing eps shaded, and returns the axes of matplotlib: of one
        row, by default the first that fails, else the first that says something. Raises ValueError for a row without a
        probability in closed form, ImportError without matplotlib."""
        return above("shown").draw(self, row, axes)

    def _repr_html_(self) -> str:
        found: str = above("shown").report_html(self)
        return found

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
        """The whole JSON object; `dipc.outcome.formats` writes the same without holding it in memory."""
        return {**self.head(), "rows": [row.as_json() for row in self.rows]}

    def head(self) -> dict[str, Any]:
        """The keys of the JSON object before the rows: the verdict, what was asked, and how it is to be read."""
        result: dict[str, Any] = {
            "schema": SCHEMA,
            "program": self.program,
            "verdict": str(self.verdict),
            "constants": dict(self.constants),
            "claim": dict(self.claim),
            "versions": {"dipc": VERSION},
            "vacuous_rows": self.counts.vacuous,
        }
        result["says_something"] = {variable: says.as_json() for variable, says in self.sayings.items()}
        result |= warnings_json(self.warnings)
        if self.theorem is not None:
            result["theorem"] = self.theorem.as_json()
        if self.inputs is not None:
            result["inputs"] = self.inputs
        return result

    def __getitem__(self, key: str) -> Any:
        return self.as_json()[key]


def warnings_json(warnings: Sequence[Diagnostic]) -> dict[str, Any]:
    """The key `warnings` of a JSON object; none where there are none."""
    if not warnings:
        return {}
    return {
        "warnings": [{"code": found.code, "message": found.message, "notes": list(found.notes)} for found in warnings]
    }


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
