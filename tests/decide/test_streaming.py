"""Tables of any length take little memory: a few bytes a row, whoever decides and whatever is printed."""

from __future__ import annotations

import io
import random
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

import dipc
from dipc.decide.obligation import Verdict
from dipc.outcome.formats import write_rows
from dipc.outcome.outcome import render_parts
from dipc.outcome.rows import row_parts
from dipc.questions.report import Report
from tests.decide.workload import SPARSE, SPARSE_TABLE, STATEMENT, Counting, check_with

#: Bytes for one row more: the table has one for each of its 12 columns, the report one, and arrays grow ahead of need.
ALLOWED = 40


class Sink(io.TextIOBase):
    """Counts what is written, and keeps nothing."""

    written = 0

    def write(self, text: str) -> int:
        self.written += len(text)
        return len(text)


def table(path: Path, rows: int) -> Path:
    """A long table in which all 81 inputs occur early on."""
    generator = random.Random(3)
    header = [*(f"q[{i}]" for i in range(1, 5)), *(f"out[{i}]" for i in range(1, 5)), "dd"]
    lines = [",".join(header)]
    for _ in range(rows):
        queries = [generator.choice((-1, 0, 1)) for _ in range(4)]
        first = next((i for i, q in enumerate(queries) if q >= 0), 4)
        outputs = ["bot" if i < first else "top" if i == first else "none" for i in range(4)]
        lines.append(",".join([*map(str, queries), *outputs, str(min(map(abs, queries[: first + 1])))]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def peak(program: dipc.Program, path: Path, beta: str, by_tasks: bool) -> tuple[int, Report]:
    """The most memory that was held at a time, beyond what was held before."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        if by_tasks:
            report = check_with(Counting(), program, path, beta=beta)
        else:
            report = dipc.check(program, path, beta=beta)
        render_parts(row_parts(report, STATEMENT))
        write_rows(report.head(), (row.as_json() for row in report.rows), Sink())  # type: ignore[arg-type]
        return tracemalloc.get_traced_memory()[1] - before, report
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("rows", [2_000, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("by_tasks", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_row_more_is_a_few_bytes_more(by_tasks: bool, rows: int, tmp_path: Path) -> None:
    """The rows of shorter tables take less memory than the fixed part of any table."""
    program = dipc.load(SPARSE, m=4, c=1)
    beta = "exp(-alpha*eps)"
    short, _ = peak(program, table(tmp_path / "short.csv", rows), beta, by_tasks)
    long, report = peak(program, table(tmp_path / "long.csv", 2 * rows), beta, by_tasks)
    assert report.counts.inaccurate > rows // 2, "rows that fail are not kept as objects either"
    assert (long - short) / rows < ALLOWED


def test_counts_and_selections_agree_with_the_rows() -> None:
    report = dipc.check(dipc.load(SPARSE), SPARSE_TABLE, beta="exp(-alpha*eps/4)", alpha="dd")
    rows = list(report.rows)
    plain = replace(report, rows=tuple(rows))
    assert plain == report
    assert report == plain
    assert plain.counts == report.counts
    assert report.counts.inaccurate
    assert report.counts.accurate
    for verdict in Verdict:
        assert list(report.select(verdict)) == list(plain.select(verdict))
    assert report.rows[0] == rows[0]
    assert report.rows[-1] == rows[-1]
    assert list(report.rows[3:7:2]) == rows[3:7:2]
    assert report.rows != rows[1:]
    with pytest.raises(IndexError):
        report.rows[27]
    assert dipc.check(dipc.load(SPARSE), SPARSE_TABLE) != report


def test_text_and_json_are_those_of_plain_rows() -> None:
    for beta in ("exp(-alpha*eps/4)", "1/100"):
        report = dipc.check(dipc.load(SPARSE), SPARSE_TABLE, beta=beta)
        plain = replace(report, rows=tuple(report.rows))
        assert render_parts(row_parts(report, STATEMENT)) == render_parts(row_parts(plain, STATEMENT))
        first, second = io.StringIO(), io.StringIO()
        write_rows(report.head(), (row.as_json() for row in report.rows), first)
        write_rows(plain.head(), (row.as_json() for row in plain.rows), second)
        assert first.getvalue() == second.getvalue()
