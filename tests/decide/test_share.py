"""What is left to the process that asks where others decide: no more than a tenth of the work, counted in calls."""

from __future__ import annotations

import io
import pickle
import sys
from collections import Counter
from types import FrameType

import dipc
from dipc.decide.engine import Finished, InTurn
from dipc.outcome.formats import write_rows
from tests.decide.workload import check_with, heavy_table


class Elsewhere(InTurn):
    """An executor that performs tasks as another process would, and counts the calls of both."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter[str] = Counter()
        self._who = "asks"

    def count(self, _frame: FrameType, event: str, _argument: object) -> None:
        self.calls[self._who] += event in ("call", "c_call")

    def wait(self) -> list[Finished]:
        self._who = "works"
        finished = pickle.dumps(super().wait())
        self._who = "asks"
        result: list[Finished] = pickle.loads(finished)
        return result


def test_who_asks_makes_a_tenth_of_the_calls() -> None:
    """The closed forms of all rows included, as JSON: written by who asks, they were a quarter of everything."""
    program, table = heavy_table(40, m=8)
    executor, stream = Elsewhere(), io.StringIO()
    before = sys.getprofile()
    sys.setprofile(executor.count)
    try:
        report = check_with(executor, program, table)
        write_rows(report.head(), (row.as_json() for row in report.rows), stream)
    finally:
        sys.setprofile(before)
    assert report.verdict is dipc.Verdict.ACCURATE
    assert stream.getvalue().count('"probability"') == 40
    assert 10 * executor.calls["asks"] <= executor.calls.total()
