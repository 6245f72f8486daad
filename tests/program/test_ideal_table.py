"""Tables that the ideal fills in, and `check` without a table, or with one that leaves dd to the ideal."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction
from pathlib import Path

import pytest

import dipc
from dipc.algebra.limits import Limits
from dipc.claims.table import Table, read_table
from dipc.cli.main import run
from dipc.outcome.formats import write_csv
from dipc.outcome.program import answers
from dipc.program.program import Program
from dipc.text.diagnostic import DiagnosticError
from tests.program.programs import BENCHMARKS, with_ideal

SPARSE = BENCHMARKS / "sparse.dip"


def written(program: Program, table: Table) -> str:
    stream = io.StringIO()
    write_csv(answers(program.core, table), stream)
    return stream.getvalue()


def texts(table: Table) -> list[list[str | None]]:
    return [
        [None if cell is None else cell.text for cell in (*row.inputs, *row.outputs, row.alpha, row.gamma, row.dd)]
        for row in table.rows
    ]


@pytest.mark.parametrize(
    ("name", "inputs"),
    [
        ("sparse", "q = -1..1"),
        ("noisy_max", "q in {0, 1/3, -5/2}"),
        ("noisy_max_ties", "q = 0..1"),
        ("numeric_sparse", "q in {-1/2, 1}"),
        ("laplace", "q[1] = 0..3, q[2] = -1"),
        ("above_threshold", "q = -1..1"),
    ],
)
def test_a_table_reads_back_and_gives_the_same_verdicts(name: str, inputs: str, tmp_path: Path) -> None:
    program = dipc.load(BENCHMARKS / f"{name}.dip")
    table = dipc.table(program, inputs)
    path = tmp_path / "table.csv"
    path.write_text(written(program, table))
    again = read_table(path, program.core)
    assert texts(again) == texts(table)
    report = dipc.check(program, inputs=inputs)
    assert dipc.check(program, path).as_json() == report.as_json()
    # Without the columns dd, and without the outputs, it is computed again.
    header, *rows = csv.reader(path.read_text().splitlines())
    for last in (-1, len(program.inputs)):
        path.write_text("\n".join(",".join(record[:last]) for record in (header, *rows)))
        found = dipc.check(program, path) if last == -1 else dipc.check(program, inputs=str(path))
        assert found.as_json() == report.as_json()


def test_the_published_table_of_sparse_is_that_of_its_ideal() -> None:
    """27 rows: `--inputs` and the CSV file of the repository give the same report, accurate or not."""
    program = dipc.load(SPARSE)
    for beta in ("exp(-alpha*eps/8)", "6*exp(-alpha*eps/8)/7"):
        with_file = dipc.check(program, BENCHMARKS / "sparse.csv", beta=beta)
        assert len(with_file.rows) == 27
        assert dipc.check(program, inputs="q = -1..1", beta=beta).as_json() == with_file.as_json()
    assert str(with_file.verdict) == "inaccurate"
    assert list(dipc.iter_rows(program, inputs="q=-1..1", beta=beta)) == list(with_file.rows)


def test_the_command_line_writes_and_checks_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "table.csv"
    assert run(["table", str(SPARSE), "-D", "m=2", "--inputs", "q = -1..1", "-o", str(path)]) == 0
    assert path.read_text().splitlines()[:2] == ["q[1],q[2],out[1],out[2],dd", "-1,-1,bot,bot,1"]
    outputs = []
    for given in ([str(path)], ["--inputs", "q[1] = -1..1", "--inputs", "q[2] = -1..1"]):
        assert run(["check", str(SPARSE), "-D", "m=2", *given, "--format", "json"]) == 0
        outputs.append(json.loads(capsys.readouterr().out))
    assert outputs[0] == outputs[1]


def test_vacuous_rows_are_known_without_a_column_dd() -> None:
    program = dipc.load(SPARSE, m=1)
    report = dipc.check(program, [{"q[1]": 0, "out[1]": "top"}, {"q[1]": 2, "out[1]": "top"}], alpha=1)
    assert [row.vacuous for row in report.rows] == [True, False]
    assert [row["alpha"] for row in report.rows] == ["1", "1"]


def test_dd_is_alpha_by_default() -> None:
    program = with_ideal("out <- 0; if x > 2 then out <- 1 end")
    report = dipc.check(program, [{"x": "1/2", "out": 0}, {"x": "5", "out": "1"}], beta="exp(-alpha*eps)")
    assert [row.alpha for row in report.rows] == ["3/2", "3"]
    constant = with_ideal("out <- 0")
    assert dipc.check(constant, [{"x": 1, "out": 0}], beta="exp(-alpha*eps)").rows[0].alpha == "inf"


def test_columns_win_over_what_is_computed(tmp_path: Path) -> None:
    program = dipc.load(SPARSE, m=1)
    path = tmp_path / "inputs.csv"
    path.write_text("q[1],dd,alpha,gamma,beta\n3,1/2,,,exp(-eps)\n-3,,2,,\n")
    table = dipc.table(program, str(path))
    assert texts(table) == [["3", "top", None, None, "1/2"], ["-3", "bot", "2", None, "3"]]
    assert written(program, table).splitlines()[1] == "3,top,,exp(-eps),,1/2"


def test_finite_programs_are_checked_at_all_inputs() -> None:
    text = """
    program answer; input b : bool; output out : bool; var heads : bool;
    ideal { out <- b }
    heads <- choose { true : 1/(1 + exp(-eps)), false : exp(-eps)/(1 + exp(-eps)) };
    if heads then out <- b else out <- not b end
    """
    report = dipc.check(dipc.load(text), beta="exp(-eps)", alpha=0)
    assert [(row.input["b"], row.output["out"], str(row.verdict)) for row in report.rows] == [
        ("false", "false", "accurate"),
        ("true", "true", "accurate"),
    ]


# --- mistakes --------------------------------------------------------------------------------------


def diagnostic(work: object) -> tuple[str, str, tuple[str, ...]]:
    with pytest.raises(DiagnosticError) as caught:
        work()  # type: ignore[operator]
    found = caught.value.diagnostics[0]
    return found.code, found.message, found.notes


def test_a_table_that_the_ideal_contradicts() -> None:
    program = dipc.load(SPARSE, m=1)
    rows = [{"q[1]": -1, "out[1]": "bot"}, {"q[1]": -1, "out[1]": "top"}]
    assert diagnostic(lambda: dipc.check(program, rows)) == (
        "E1121",
        "row 2: the table has out[1] = top, but the ideal gives bot",
        ("correct one of the two, or give the distance to disagreement in a column `dd`",),
    )
    left_open = dipc.check(program, [{"q[1]": -1, "out[1]": ""}])
    assert left_open.rows[0].alpha == "1"


def test_too_many_rows() -> None:
    program = dipc.load(SPARSE, m=3).with_limits(Limits(rows=26))
    code, message, notes = diagnostic(lambda: dipc.table(program, "q = -1..1"))
    assert (code, message) == ("E1113", "there are 27 inputs, more than the limit of 26 rows")
    assert "`--limit rows=N`" in notes[0]
    assert len(dipc.table(program.with_limits(Limits(rows=27)), "q = -1..1").rows) == 27


def test_what_is_missing() -> None:
    plain = dipc.load("program p; input x : real; output out : bool; out <- true")
    assert diagnostic(lambda: dipc.check(plain))[:2] == ("E1115", "neither a table nor inputs are given")
    assert diagnostic(lambda: dipc.check(plain, inputs="x = 1"))[:2] == (
        "E1101",
        "the program `p` has no `ideal` block that gives the right answers at these inputs",
    )
    sparse = dipc.load(SPARSE)
    assert diagnostic(lambda: dipc.check(sparse))[0] == "E1111"
    assert diagnostic(lambda: dipc.check(sparse, [], inputs="q = 0"))[0] == "E1114"
    assert diagnostic(lambda: dipc.table(sparse, "all"))[:2] == ("E1112", "all inputs cannot be written as a table")
    assert diagnostic(lambda: dipc.table("sparse.dip", "q = 0"))[:2] == ("E0802", "there is no file `sparse.dip`")
    with pytest.raises(TypeError, match=r"the program must come from dipc\.load.*, not int"):
        dipc.table(7, "q = 0")  # type: ignore[arg-type]


def test_a_partial_ideal_stops_the_check() -> None:
    program = with_ideal("if x > 0 then y <- 1 end", "input x : real; output y : real;")
    code, message, _ = diagnostic(lambda: dipc.table(program, "x = -1..1"))
    assert (code, message) == ("E1102", "the ideal gives no answer for `y` at the input x = -1")


def test_dd_is_exact_for_long_decimals() -> None:
    program = dipc.load(SPARSE, m=1)
    table = dipc.table(program, "q = 1e-300")
    assert table.rows[0].dd.value == Fraction(1, 10**300)
