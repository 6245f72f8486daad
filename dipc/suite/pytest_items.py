"""The pytest items of files of claims: a test for each claim, or for each of its rows."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dipc.decide.obligation import Verdict
from dipc.outcome.rows import row_text
from dipc.questions.report import Report
from dipc.suite.claims import ExpectedClaim, SuiteResult, outcome_of, question_for, read_claims, report_of
from dipc.text.diagnostic import DiagnosticError, render


class Unexpected(Exception):
    """Raised for a claim with an unexpected result.

    `dipc_undecided` is true if the claim was not decided, although a verdict was expected.
    """

    def __init__(self, report: str, *, undecided: bool) -> None:
        """Create the error with the text `report`, the whole report of the claim; `undecided` if it was not decided."""
        super().__init__(report)
        self.dipc_undecided = undecided


class ClaimsFile(pytest.File):
    """A file of claims."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield a test for each claim, or for each of its rows."""
        try:
            here = Path.cwd()
            claims = read_claims(self.path.relative_to(here) if self.path.is_relative_to(here) else self.path)
        except DiagnosticError as error:
            raise self.CollectError(render(error.diagnostics)) from None
        for claim in claims:
            rows = _rows(claim) if self.config.getoption("--dipc-rows") else None
            if rows is None:
                yield ClaimItem.from_parent(self, name=claim.name, claim=claim)
                continue
            shared = cache(lambda claim=claim: report_of(question_for(claim)))
            for row in range(1, rows + 1):
                yield RowItem.from_parent(self, name=f"{claim.name}[row {row}]", claim=claim, row=row, report=shared)


def _rows(claim: ExpectedClaim) -> int | None:
    """Return the number of tests of `claim`, one for each row of its table, or None if it has a single test.

    A claim has a single test if it has no table, or if a verdict other than accurate is expected. A claim that cannot
    be read also has a single test, which fails with the error.
    """
    if claim.adjacent is not None or claim.expect is not Verdict.ACCURATE:
        return None
    try:
        source = question_for(claim)
    except DiagnosticError:
        return None
    return None if source.table is None else source.total


class ClaimItem(pytest.Item):
    """The test of one claim."""

    def __init__(self, *, claim: ExpectedClaim, **options: Any) -> None:
        super().__init__(**options)
        self.claim = claim

    def runtest(self) -> None:
        """Decide the claim; raise Unexpected for an unexpected result."""
        tested = outcome_of(self.claim, None)
        if tested.kind is SuiteResult.PASSED:
            return
        text = f"expected {self.claim.expect}\n\n{tested.text}\nreplay: {shlex.join(self.claim.command())}"
        raise Unexpected(text, undecided=tested.kind is SuiteResult.UNDECIDED)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *_: object, **__: object) -> Any:
        """Return the report in `excinfo` without a Python traceback."""
        return str(excinfo.value) if isinstance(excinfo.value, Unexpected) else super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return (the file of the claim, its line counted from 0, the name of the item), which pytest reports."""
        return self.path, self.claim.place.line - 1, self.name


class RowItem(ClaimItem):
    """The test of one row of a claim. The first of these tests decides all rows of the claim."""

    def __init__(self, *, row: int, report: Callable[[], Report], **options: Any) -> None:
        super().__init__(**options)
        self.row = row
        self.report = report

    def runtest(self) -> None:
        row = self.report().rows[self.row - 1]
        if row.verdict is Verdict.ACCURATE:
            return
        replay = shlex.join([*self.claim.command(), "--closed-form", str(self.row)])
        text = f"expected accurate\n\n{row_text(row)}\nreplay: {replay}"
        raise Unexpected(text, undecided=row.verdict is Verdict.UNDECIDED)
