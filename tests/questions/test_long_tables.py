"""Tables that are decided chunk by chunk, against the same tables read at once."""

from __future__ import annotations

import gc
import random
import sys
import tracemalloc
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dipc
from benchmarks.mechanisms import MECHANISMS
from dipc.decide.cache import Cache
from dipc.decide.engine import Engine, Task, _performer, fingerprint
from dipc.decide.obligation import Verdict
from dipc.decide.shared import Memory, SharedEngine
from dipc.options import Options
from dipc.outcome.outcome import render_parts
from dipc.outcome.rows import row_parts, verdict_line
from dipc.program.program import Program
from dipc.questions import long_tables
from dipc.questions import question as question_module
from dipc.questions.families import rounded_up
from dipc.questions.long_tables import LongTable
from dipc.questions.question import answer, question_of
from dipc.questions.report import Report
from dipc.text.diagnostic import DiagnosticError
from tests.decide.test_share import Elsewhere
from tests.decide.workload import STATEMENT, Counting


@pytest.fixture(autouse=True)
def _short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question_module, "LEAST_BYTES", 0)
    monkeypatch.setattr(long_tables, "CHUNK_BYTES", 500)
    _performer.cache_clear()


def text_of(report: Report) -> str:
    return f"{verdict_line(report)}\n{render_parts(row_parts(report, STATEMENT))}"


def report_of(program: Program, path: Path, engine: Engine | None = None, **given: Any) -> tuple[Report, bool]:
    """The report without closed forms, and whether it was put together from chunks."""
    engine = engine or Engine(program.measurer, program.limits)
    engine.forms = False
    source = question_of(program, path, Options(forms=False, **given))
    report = answer(source, engine)
    return report, isinstance(source, LongTable) and source.total is None


def at_once(program: Program, path: Path, **given: Any) -> Report:
    engine = Engine(program.measurer, program.limits)
    engine.forms = False
    return answer(question_of(program, path, Options(**given)), engine)


def compared(program: Program, path: Path, **given: Any) -> tuple[Report, bool]:
    report, chunked = report_of(program, path, **given)
    whole = at_once(program, path, **given)
    assert text_of(report) == text_of(whole)
    assert report.counts == whole.counts
    for verdict in (Verdict.INACCURATE, Verdict.UNDECIDED):
        assert [*report.select(verdict)] == [*whole.select(verdict)]
    assert report.warnings == whole.warnings
    assert report.stated == whole.stated
    return report, chunked


def lines_of(program: Program, vectors: list[list[Fraction]], columns: str) -> list[str]:
    """The lines of a table of det at these inputs; `columns` has `dd` or not."""
    core = program.core
    names = [core.slots[slot].name for slot in (*core.inputs, *core.outputs)]
    table = dipc.table(program, [{name: str(v) for name, v in zip(names, vector, strict=False)} for vector in vectors])
    lines = [",".join([*names, *(["dd"] if columns == "dd" else [])])]
    for row in table.rows:
        cells = [*row.inputs, *row.outputs, *([row.dd] if columns == "dd" else [])]
        lines.append(",".join(["" if cell is None else cell.text for cell in cells]))
    return lines


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def vectors_of(seed: int, rows: int, m: int, digits: int = 2, whole: bool = False) -> list[list[Fraction]]:
    chance = random.Random(f"long tables {seed}")
    unit = 1 if whole else 10**digits
    return [[Fraction(chance.randint(-4 * unit, 4 * unit), unit) for _ in range(m)] for _ in range(rows)]


#: Mechanisms with betas of which all, many, few or no rows hold, and claims of other kinds.
CLAIMS: list[tuple[str, dict[str, str]]] = [
    *[("sparse", {"beta": f"2*m*c*exp(-alpha*eps/(8*c))/{k}"}) for k in (1, 7, 16, 40)],
    *[("noisy_max", {"beta": f"m*exp(-alpha*eps/2)/{k}"}) for k in (1, 2, 6)],
    ("sparse_variant", {}),
    ("noisy_max_ties", {}),
    ("gaussian_noisy_max", {}),
    ("sparse", {"alpha": "1", "beta": "exp(-eps/4)"}),
    ("sparse", {"alpha": "0", "beta": "9/10"}),
    ("sparse", {"alpha": "1/2", "beta": "2*m*exp(-alpha*eps/8)"}),
    ("sparse", {"alpha": "dd/2", "beta": "2*m*exp(-alpha*eps/8)"}),
    ("sparse", {"beta": "2*m*exp(-alpha*eps/8)", "eps": "(0, 1], [10, 30]"}),
    ("sparse", {"beta": "1/(1 + alpha*eps)"}),
    ("sparse", {"beta": "alpha*exp(-alpha*eps/8)"}),
    ("sparse", {"beta": "max(2*m*exp(-alpha*eps/8), 1/100)"}),
    ("sparse", {"beta": "1/2*exp(-eps/9)"}),
    ("laplace", {"gamma": "1", "beta": "m*exp(-gamma*eps)"}),
    ("numeric_sparse", {"gamma": "2"}),
    ("numeric_sparse", {"gamma": "0"}),
]


@pytest.mark.parametrize("columns", ["dd", "no dd"])
@pytest.mark.parametrize(
    "number",
    [
        pytest.param(number, marks=pytest.mark.slow) if name.startswith("gaussian") else number
        for number, (name, _) in enumerate(CLAIMS)
    ],
)
def test_the_report_is_that_of_the_whole_table(number: int, columns: str, tmp_path: Path) -> None:
    name, given = CLAIMS[number]
    path = MECHANISMS[name].path if name in MECHANISMS else Path("benchmarks") / f"{name}.dip"
    program = dipc.load(path, m=3)
    lines = lines_of(program, vectors_of(number, 40, 3), columns)
    report, chunked = compared(program, write(tmp_path / "t.csv", lines), **given)
    assert chunked or report.counts.inaccurate + report.counts.undecided > 0 or name == "numeric_sparse"


WHOLE = """
program whole;
input x : {0..2};
input q[1..2] : int;
output y : {no, yes};
output n : int;
var a, b : int;
claim { alpha: 0; gamma: 3; beta: 9/10*exp(-gamma*eps/4) + 1/20; }
ideal { if q[1] + x >= q[2] then y <- yes else y <- no end; n <- q[1] }
a <- DLap(eps, q[1]); b <- DLap(eps/2, q[2]);
if a + x >= b then y <- yes else y <- no end;
n <- DLap(eps, q[1])
"""

NEAR = """
program near;
domain D = {low, middle, high};
input q : real;
output o : D;
var r : real;
metric { same: (o = low and o' = middle) or (o = middle and o' = low) or o = o'; }
ideal { if q < 0 then o <- low else if q < 1 then o <- middle else o <- high end end }
claim { beta: exp(-alpha*eps)/2; }
r <- Lap(eps, q);
if r < 0 then o <- low else if r < 1 then o <- middle else o <- high end end
"""

ABOVE = """
program above;
input q[1..2] : real;
requires q[1] >= q[2];
output o : bool;
var r : real;
ideal { o <- q[1] >= 1 }
claim { alpha: dd; beta: exp(-alpha*eps)/2; }
r <- Lap(eps, q[1]);
o <- r >= 1
"""


@pytest.mark.parametrize("text", [WHOLE, NEAR, ABOVE])
@pytest.mark.parametrize("seed", [*range(2), *(pytest.param(n, marks=pytest.mark.slow) for n in range(2, 20))])
def test_other_inputs_and_metrics_come_out_the_same(text: str, seed: int, tmp_path: Path) -> None:
    program = dipc.load(text)
    width, whole = len(program.core.inputs), text is WHOLE
    vectors = vectors_of(seed, 40, width, whole=whole)
    if whole:
        vectors = [[abs(vector[0]) % 3, *vector[1:]] for vector in vectors]
    if text is ABOVE:
        vectors = [sorted(vector, reverse=True) for vector in vectors]
    compared(program, write(tmp_path / "t.csv", lines_of(program, vectors, "dd" if seed % 2 else "no dd")))


def _signed(cell: str) -> str:
    return f" +{cell}" if cell[0].isdigit() else cell


def damaged(lines: list[str], name: str) -> tuple[list[str], bool]:
    """The table with something that a chunk must not misread, and whether it still has an answer."""
    cells = lines[40].split(",")
    match name:
        case "an empty output":
            return [*lines[:40], ",".join([*cells[:3], "", *cells[4:]]), *lines[41:]], True
        case "no output":
            return [*lines[:40], ",".join([*cells[:3], "", "", ""]), *lines[41:]], True
        case "quotes":
            return [lines[0], *[f'"{line.replace(",", chr(34) + "," + chr(34))}"' for line in lines[1:]]], True
        case "blank lines":
            return [*lines[:20], "", "", *lines[20:]], True
        case "other texts":
            return [lines[0], *[",".join(map(_signed, line.split(","))) for line in lines[1:]]], True
        case "carriage returns":
            return [f"{line}\r" for line in lines], True
        case "a wrong answer":
            return [*lines[:40], ",".join([*cells[:3], "none", "none", "top"]), *lines[41:]], False
        case "a word":
            return [*lines[:40], ",".join(["one", *cells[1:]]), *lines[41:]], False
        case "two mistakes":
            return [*lines[:20], ",".join(["1/0", *cells[1:]]), *lines[20:40], ",".join(cells[:-1]), *lines[41:]], False
        case "an open quote":
            return [*lines[:40], '"' + lines[40], *lines[41:]], False
        case "an unknown column":
            return [lines[0].replace("out[2]", "o"), *lines[1:]], False
        case "a column that lacks":
            return [line.rsplit(",", 1)[0] for line in lines], False
        case "an unknown output":
            return [*lines[:40], ",".join([*cells[:3], "up", *cells[4:]]), *lines[41:]], False
    raise AssertionError(name)


@pytest.mark.parametrize(
    "name",
    [
        "an empty output",
        "no output",
        "quotes",
        "blank lines",
        "other texts",
        "carriage returns",
        "a wrong answer",
        "a word",
        "two mistakes",
        "an open quote",
        "an unknown output",
        "an unknown column",
        "a column that lacks",
    ],
)
def test_a_chunk_is_read_as_the_table_is(name: str, tmp_path: Path) -> None:
    program = dipc.load(MECHANISMS["sparse"].path, m=3)
    lines, readable = damaged(lines_of(program, vectors_of(1, 60, 3), "no dd"), name)
    path = write(tmp_path / "t.csv", lines)
    if readable:
        compared(program, path)
        return
    with pytest.raises(DiagnosticError) as whole:
        at_once(program, path)
    with pytest.raises(DiagnosticError) as chunks:
        report_of(program, path)
    assert chunks.value.diagnostics == whole.value.diagnostics


def test_infinite_distances_are_decided(tmp_path: Path) -> None:
    program = dipc.load(MECHANISMS["sparse"].path, m=3)
    lines = lines_of(program, vectors_of(2, 60, 3), "dd")
    lines[30] = lines[30].rsplit(",", 1)[0] + ",inf"
    compared(program, write(tmp_path / "t.csv", lines))


# --- work and memory --------------------------------------------------------------------------------------------------


def distinct_table(path: Path, rows: int, m: int = 4) -> Path:
    program = dipc.load(MECHANISMS["sparse"].path, m=m)
    return write(path, lines_of(program, vectors_of(3, rows, m, digits=9), "no dd"))


def test_more_rows_need_hardly_more_obligations(tmp_path: Path) -> None:
    """All numbers differ: read at once, each row has an obligation of its own."""
    program = dipc.load(MECHANISMS["sparse"].path, m=4)
    counts = []
    for rows in (200, 400, 800):
        _performer.cache_clear()
        report, chunked = report_of(program, distinct_table(tmp_path / "t.csv", rows))
        assert chunked
        counts.append(report.effort.obligations)
    assert counts[0] < 150
    assert counts[2] - counts[0] < 150, "200 and 600 rows more"


def test_rows_of_chunks_take_no_memory(tmp_path: Path) -> None:
    program = dipc.load(MECHANISMS["sparse"].path, m=4)
    peaks = []
    for rows in (900, 300, 900):
        path = distinct_table(tmp_path / "t.csv", rows)
        # Objects of other tests would make garbage collections rare.
        gc.collect()
        gc.freeze()
        tracemalloc.start()
        try:
            report_of(program, path)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
            gc.unfreeze()
    assert (peaks[2] - peaks[1]) / 600 < 1_000, (
        "bytes for one row more, where the obligations are known; 9 000 read at once"
    )


def test_who_asks_makes_a_fifth_of_the_calls(tmp_path: Path) -> None:
    program = dipc.load(MECHANISMS["sparse"].path, m=4)
    path, executor = distinct_table(tmp_path / "t.csv", 400), Elsewhere()
    engine = SharedEngine(program.measurer, program.limits, executor)
    before = sys.getprofile()
    sys.setprofile(executor.count)
    try:
        _, chunked = report_of(program, path, engine)
    finally:
        sys.setprofile(before)
    assert chunked
    assert 5 * executor.calls["asks"] <= executor.calls.total()


class Chunks(Counting):
    """Counts the tasks."""

    def __init__(self) -> None:
        super().__init__()
        self.tasks = 0

    def submit(self, ticket: int, task: Task) -> None:
        self.tasks += 1
        super(Counting, self).submit(ticket, task)


@pytest.mark.parametrize("beta", ["2*m*c*exp(-alpha*eps/(8*c))", "2*m*c*exp(-alpha*eps/(8*c))/16"])
def test_a_warm_cache_answers_for_whole_chunks(beta: str, tmp_path: Path) -> None:
    program = dipc.load(MECHANISMS["sparse"].path, m=3)
    path = write(tmp_path / "t.csv", lines_of(program, vectors_of(5, 60, 3), "no dd"))
    expected = text_of(at_once(program, path, beta=beta))
    tasks = []
    for given in ({}, {}, {"limits": "intervals"}):
        with Cache(tmp_path / "cache", fingerprint()) as cache:
            executor = Chunks()
            memory = Memory(cache, program.limits, program.limits, None)
            engine = SharedEngine(program.measurer, program.limits, executor, memory)
            report, chunked = report_of(program, path, engine, beta=beta if not given else f"({beta})/1")
            assert chunked
            assert text_of(report) == expected
            tasks.append(executor.tasks)
    assert tasks[0] >= 3
    assert tasks[1] == 0
    assert tasks[2] >= 3, "another claim is another question"


@pytest.mark.slow
def test_the_same_report_from_processes(tmp_path: Path) -> None:
    program = dipc.load(MECHANISMS["sparse"].path, m=3)
    path = write(tmp_path / "t.csv", lines_of(program, vectors_of(6, 60, 3), "no dd"))
    given = {"beta": "2*m*c*exp(-alpha*eps/(8*c))/16"}
    with ExitStack() as stack:
        from dipc.decide.processes import Processes

        executor = Processes(2)
        stack.callback(executor.close)
        engine = SharedEngine(program.measurer, program.limits, executor)
        report, chunked = report_of(program, path, engine, **given)
    assert chunked
    assert text_of(report) == text_of(at_once(program, path, **given))


def test_rows_that_hold_can_be_read(tmp_path: Path) -> None:
    program = dipc.load(MECHANISMS["sparse"].path, m=3)
    path = write(tmp_path / "t.csv", lines_of(program, vectors_of(7, 60, 3), "no dd"))
    report, chunked = report_of(program, path)
    assert chunked
    assert [row.input for row in report.rows] == [row.input for row in at_once(program, path).rows]


@pytest.mark.parametrize("digits", [1, 4, 7])
def test_alphas_are_rounded_up(digits: int) -> None:
    chance = random.Random(digits)
    for _ in range(200):
        alpha = Fraction(chance.randint(1, 10**9), chance.randint(1, 10**9))
        most = rounded_up(alpha, digits)
        assert alpha <= most <= alpha * (1 + Fraction(2, 2**digits))
        assert rounded_up(most, digits) == most
    assert rounded_up(Fraction(0), digits) == 0
