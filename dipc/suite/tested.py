"""A claim tested: what came out, against what should."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from dipc.diagnostics.diagnostic import Diagnostic
from dipc.obligations.verdict import Verdict
from dipc.privacy.outcome import PrivacyVerdict
from dipc.suite.claims_file import ExpectedClaim


class Status(StrEnum):
    """What a test says. `undecided` is neither of the first two: no verdict came out, and one was expected. With
    `error` the claim could not be asked."""

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Tested:
    """The outcome of one claim: its verdict, None for an error, in one line and as a whole report. `diagnostics` are
    what an error consists of."""

    claim: ExpectedClaim
    verdict: Verdict | PrivacyVerdict | None
    line: str
    text: str
    seconds: float
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def status(self) -> Status:
        if self.verdict is None:
            return Status.ERROR
        if self.verdict == self.claim.expect:
            return Status.PASSED
        return Status.UNDECIDED if self.verdict == Verdict.UNDECIDED else Status.FAILED


def overall(statuses: Iterable[Status]) -> Status:
    """The status of all together: an error before a failure, which comes before an undecided claim."""
    found = set(statuses)
    return next(
        (status for status in (Status.ERROR, Status.FAILED, Status.UNDECIDED) if status in found), Status.PASSED
    )


def counted(tested: Sequence[Tested]) -> dict[Status, int]:
    """How many claims there are of each status."""
    return {status: sum(found.status is status for found in tested) for status in Status}
