"""Claims as tests: pytest collects every `*.dipc.toml`, and any TOML file of claims that it is given by name.

It does nothing else, and loads nothing of dipc before it meets such a file.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from dipc.report.answered import Answered
    from dipc.suite.claims_file import ExpectedClaim

#: The outcome of an unexpected undecided claim, in pytest's summary: it fails the run, under a name of its own.
_UNDECIDED = "undecided"


class Unexpected(Exception):
    """A claim that did not come out as it should; its text is all there is to show."""


class UnexpectedlyUndecided(Unexpected):
    """A claim without a verdict, where one was expected."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option --dipc-rows."""
    text = "of a claim about a table that should be accurate, make each row a test of its own"
    parser.getgroup("dipc").addoption("--dipc-rows", action="store_true", help=text)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Files of claims, by their ending or because they were asked for."""
    named = file_path.suffix == ".toml" and parent.session.isinitpath(file_path)
    if named or file_path.name.endswith(".dipc.toml"):
        return ClaimsFile.from_parent(parent, path=file_path)
    return None


class ClaimsFile(pytest.File):
    """A file of claims."""

    def collect(self) -> Iterator[pytest.Item]:
        """A test for each claim, or for each of its rows."""
        from dipc.diagnostics.diagnostic import DiagnosticError
        from dipc.diagnostics.render import render
        from dipc.suite.claims_file import read_claims

        try:
            claims = read_claims(_short(self.path))
        except DiagnosticError as error:
            raise self.CollectError(render(error.diagnostics)) from None
        for claim in claims:
            rows = _rows(claim) if self.config.getoption("--dipc-rows") else None
            if rows is None:
                yield ClaimItem.from_parent(self, name=claim.name, claim=claim)
                continue
            shared = cache(lambda claim=claim: _answered(claim))
            for row in range(1, rows + 1):
                yield RowItem.from_parent(self, name=f"{claim.name}[row {row}]", claim=claim, row=row, answered=shared)


def _short(path: Path) -> Path:
    """The path from the working directory, where it is below it: that is how replay commands name it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _rows(claim: ExpectedClaim) -> int | None:
    """How many rows the claim is about; None where it is not about the rows of a table, or where not all of them are
    expected to be accurate, and for what cannot be read, which its test shows."""
    from dipc.diagnostics.diagnostic import DiagnosticError
    from dipc.obligations.verdict import Verdict
    from dipc.suite.testing import asked

    if claim.adjacent is not None or claim.expect is not Verdict.ACCURATE:
        return None
    try:
        source = asked(claim)
    except DiagnosticError:
        return None
    return None if source.table is None else source.total


def _answered(claim: ExpectedClaim) -> Answered:
    from dipc.obligations.engine import Engine
    from dipc.suite.testing import answered, asked

    source = asked(claim)
    return answered(claim, source, Engine(source.program.measurer, source.program.limits))


class ClaimItem(pytest.Item):
    """The test of one claim."""

    def __init__(self, *, claim: ExpectedClaim, **options: Any) -> None:
        super().__init__(**options)
        self.claim = claim

    def runtest(self) -> None:
        """Ask. Raises Unexpected where something else came out than should."""
        from dipc.suite.tested import Status
        from dipc.suite.testing import outcome_of

        found = outcome_of(self.claim, None)
        if found.status is Status.PASSED:
            return
        kind = UnexpectedlyUndecided if found.status is Status.UNDECIDED else Unexpected
        raise kind(f"expected {self.claim.expect}\n\n{found.text}\nreplay: {shlex.join(self.claim.command())}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *_: object, **__: object) -> Any:
        """The report alone: no line of Python has to do with it."""
        return str(excinfo.value) if isinstance(excinfo.value, Unexpected) else super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The place of the claim in its file."""
        return self.path, self.claim.place.line - 1, self.name


class RowItem(ClaimItem):
    """The test of one row of a claim. All rows of a claim are decided together, when the first is wanted."""

    def __init__(self, *, row: int, answered: Callable[[], Answered], **options: Any) -> None:
        super().__init__(**options)
        self.row = row
        self.answered = answered

    def runtest(self) -> None:
        """Raises Unexpected where the row is not accurate."""
        from dipc.obligations.verdict import Verdict
        from dipc.report.text import row_text

        found = self.answered().report.rows[self.row - 1]
        if found.verdict is Verdict.ACCURATE:
            return
        kind = UnexpectedlyUndecided if found.verdict is Verdict.UNDECIDED else Unexpected
        replay = shlex.join([*self.claim.command(), "--closed-form", str(self.row)])
        raise kind(f"expected accurate\n\n{row_text(found)}\nreplay: {replay}")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Mark the report of a claim that was left undecided."""
    outcome: Any = yield
    if isinstance(item, ClaimItem) and call.excinfo is not None and call.excinfo.errisinstance(UnexpectedlyUndecided):
        outcome.get_result().dipc_undecided = True


def pytest_report_teststatus(report: Any) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Undecided is neither passed nor failed, and is called by its name."""
    if getattr(report, "dipc_undecided", False):
        return _UNDECIDED, "U", ("UNDECIDED", {"yellow": True})
    return None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Why claims were left undecided."""
    reports = terminalreporter.stats.get(_UNDECIDED, [])
    if reports:
        terminalreporter.write_sep("=", "UNDECIDED CLAIMS")
        for report in reports:
            terminalreporter.write_sep("_", report.head_line)
            terminalreporter.write_line(report.longreprtext)
