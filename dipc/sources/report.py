"""What a check found in all, with the fields of the JSON contract."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from dipc.claim.theorem import Theorem
from dipc.obligations.verdict import Verdict
from dipc.sources.evidence import CaseEvidence, Evidence
from dipc.sources.outcome import Counts, Effort, RowResult, Rows

SCHEMA = "dipc.check/1"


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
    evidence: Evidence | CaseEvidence | None = field(default=None, compare=False, repr=False)
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
