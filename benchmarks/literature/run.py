"""Runs the claims, and says where a verdict is not the one that was expected."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import dipc
from benchmarks.literature.entry import Claim, Entry
from benchmarks.runner import warm_up
from dipc import Report, Verdict


@dataclass(frozen=True)
class Outcome:
    """One claim, checked. `seconds` is the CPU time of reading the program and checking all rows."""

    entry: Entry
    claim: Claim
    report: Report
    seconds: float

    @property
    def expected(self) -> Verdict:
        return Verdict.INACCURATE if self.claim.failing else Verdict.ACCURATE

    @property
    def verdict(self) -> Verdict:
        return self.report.verdict

    @cached_property
    def differences(self) -> list[str]:
        """Every way in which the outcome is not the expected one, in words."""
        counts = self.report.counts
        found = []
        if self.verdict is not self.expected:
            found.append(f"expected {self.expected}, found {self.verdict}")
        if counts.inaccurate != self.claim.failing:
            found.append(f"expected {self.claim.failing} failing rows, found {counts.inaccurate}")
        reasons = {row.reason for row in self.report.rows if row.reason is not None}
        if counts.undecided:
            found.append(f"{counts.undecided} rows are undecided: {'; '.join(sorted(reasons))}")
        return found


def run(entries: Iterable[Entry]) -> Iterator[Outcome]:
    """Yield one outcome for every claim about the `entries`, in order."""
    warm_up()
    for entry in entries:
        for claim in entry.claims:
            yield check(entry, claim)


def check(entry: Entry, claim: Claim) -> Outcome:
    """Return the outcome of the `claim` about `entry`."""
    start = time.process_time()
    program = dipc.load(entry.path)
    report = dipc.check(program, entry.table(claim), beta=claim.beta, gamma=claim.gamma, eps=claim.eps)
    return Outcome(entry, claim, report, time.process_time() - start)
