"""The reference tables against det and dd by their definitions, and the programs they belong to."""

from __future__ import annotations

import csv
import itertools
import subprocess
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import pytest

from benchmarks import published, tables
from benchmarks.mechanisms import MECHANISMS, Constants, Mechanism
from dipc.text import core
from dipc.text.diagnostic import SourceText
from dipc.text.parser import parse
from dipc.text.printer import print_program
from dipc.text.statements import lower
from tests.patience import SECONDS

ROOT = Path(__file__).resolve().parents[2]
STEP = Fraction(1, 4)


# --- det and dd, by definition ---------------------------------------------------------------------


def det_sparse(constants: Constants, queries: Sequence[Fraction]) -> tuple[object, ...]:
    """Figure 2(a) without noise, statement by statement."""
    out: list[object] = ["none"] * len(queries)
    count = 0
    for i in range(len(queries)):
        if queries[i] >= constants["T"]:
            out[i] = "top"
            count = count + 1
            if count >= constants.get("c", 1):
                break
        else:
            out[i] = "bot"
    return tuple(out)


def det_noisy_max(_constants: Constants, queries: Sequence[Fraction]) -> tuple[object, ...]:
    return (min(i for i in range(1, len(queries) + 1) if queries[i - 1] == max(queries)),)


DETS: dict[str, Callable[[Constants, Sequence[Fraction]], tuple[object, ...]]] = {
    "above_threshold": det_sparse,
    "sparse": det_sparse,
    "sparse_variant": det_sparse,
    "sparse_variant_pseudocode": det_sparse,
    "numeric_sparse": det_sparse,
    "noisy_max": det_noisy_max,
}


def cases() -> list[tuple[str, dict[str, Fraction]]]:
    found = []
    for name in DETS:
        for m in (1, 2, 3):
            counts = range(1, m + 1) if "c" in MECHANISMS[name].defaults else [None]
            found.extend((name, {"m": Fraction(m), **({} if c is None else {"c": Fraction(c)})}) for c in counts)
    return found


@pytest.mark.parametrize(("name", "given"), cases(), ids=str)
def test_tables_by_definition(name: str, given: dict[str, Fraction]) -> None:
    """The dd of a row is the infimum of |u - u'| over u' with another output, compared with a grid.

    The grid has step h and holds every tie. The least distance found on it lies between dd and dd + h.
    """
    mechanism = MECHANISMS[name]
    constants = mechanism.constants(given)
    m = int(constants["m"])
    det = DETS[name]
    span = 6 if m < 3 else 5
    grid = [STEP * k for k in range(-span, span + 1)]
    outputs = {vector: det(constants, vector) for vector in itertools.product(grid, repeat=m)}
    inputs = list(itertools.product([Fraction(-1), Fraction(0), Fraction(1)], repeat=m))
    if m == 3:
        inputs = inputs[::4]
    for vector in inputs:
        ideal = mechanism.ideal(constants, vector)
        expected = det(constants, vector)
        assert ideal.outputs[: len(expected)] == expected
        others = [
            max(abs(a - b) for a, b in zip(vector, other, strict=True))
            for other, output in outputs.items()
            if output != expected
        ]
        if ideal.dd is None:
            assert not others
        else:
            assert ideal.dd <= min(others) <= ideal.dd + STEP


def test_numeric_sparse_gives_the_value_exactly_where_the_flag_is_top() -> None:
    mechanism = MECHANISMS["numeric_sparse"]
    constants = mechanism.constants({"m": Fraction(3), "c": Fraction(2)})
    for row in tables.rows(mechanism, constants, tables.grid(range(-1, 2), 3)):
        for i in (1, 2, 3):
            assert row[f"val[{i}]"] == (row[f"q[{i}]"] if row[f"out[{i}]"] == "top" else "")


def test_known_rows() -> None:
    """The rows are computed by hand from the paper's figures."""

    def row(name: str, *vector: int, **given: int) -> dict[str, str]:
        mechanism = MECHANISMS[name]
        constants = mechanism.constants({key: Fraction(value) for key, value in given.items()})
        return next(tables.rows(mechanism, constants, [[Fraction(value) for value in vector]]))

    assert row("sparse", -1, -1, 1, m=3, c=1)["dd"] == "1"
    assert list(row("sparse", 2, -3, 0, m=3, c=1).values()) == ["2", "-3", "0", "top", "none", "none", "2"]
    assert list(row("sparse", 2, -3, 0, m=3, c=2).values()) == ["2", "-3", "0", "top", "bot", "top", "0"]
    assert list(row("noisy_max", -1, 0, 0, m=3).values()) == ["-1", "0", "0", "2", "0"]
    assert list(row("noisy_max", 0, 1, 0, m=3).values()) == ["0", "1", "0", "2", "1/2"]
    assert row("noisy_max", 5, m=1)["dd"] == "inf"
    assert list(row("laplace", 3, -2, m=2).values()) == ["3", "-2", "3", "-2", "1"]


# --- the programs ----------------------------------------------------------------------------------


def lowered(mechanism: Mechanism, constants: dict[str, Fraction]) -> core.CoreProgram:
    source = SourceText(mechanism.path.name, mechanism.path.read_text(encoding="utf-8"))
    return lower(parse(source), source, constants)


@pytest.mark.parametrize("name", MECHANISMS)
def test_programs_have_the_columns_of_their_tables(name: str) -> None:
    mechanism = MECHANISMS[name]
    for m in (1, 2, 5):
        constants = mechanism.constants({"m": Fraction(m)})
        program = lowered(mechanism, {"m": Fraction(m)})
        assert program.name == name
        names = [program.slots[i].name for i in (*program.inputs, *program.outputs)]
        assert [*names, "dd"] == list(tables.columns(mechanism, constants))
        assert program.claim is not None


@pytest.mark.parametrize("name", MECHANISMS)
def test_programs_have_the_constants_of_their_tables(name: str) -> None:
    mechanism = MECHANISMS[name]
    assert lowered(mechanism, {}).constants == mechanism.defaults


@pytest.mark.parametrize("name", MECHANISMS)
def test_programs_print_back(name: str) -> None:
    source = SourceText(name, MECHANISMS[name].path.read_text(encoding="utf-8"))
    program = parse(source)
    assert parse(SourceText("printed", print_program(program))) == program


#: Programs whose right answers are their ideal's, at every input.
WITHOUT_TABLE = {"gaussian_noisy_max", "gaussian_sparse"}


def test_every_program_in_the_directory_has_a_table() -> None:
    assert {path.stem for path in (ROOT / "benchmarks").glob("*.dip")} == set(MECHANISMS) | WITHOUT_TABLE


def test_the_two_variants_differ_in_the_rate_of_the_threshold_only() -> None:
    def code(name: str) -> list[str]:
        text = MECHANISMS[name].path.read_text(encoding="utf-8")
        return [line for line in text.splitlines() if not line.startswith(("#", "program"))]

    pairs = zip(code("sparse_variant"), code("sparse_variant_pseudocode"), strict=True)
    assert [pair for pair in pairs if pair[0] != pair[1]] == [("rT <- Lap(eps/2, T);", "rT <- Lap(eps/(2*c), T);")]


# --- the published rows ----------------------------------------------------------------------------


def test_published_rows_are_complete() -> None:
    rows = published.rows()
    performance = [row for row in rows if row.table[0] in "23"]
    bounds = [row for row in rows if row.table[0] == "4"]
    assert (len(performance), len(bounds)) == (50, 8)
    assert sum(row.seconds for row in performance) > 26000
    for row in bounds:
        assert row.best is not None
        assert row.refuted is not None
        assert row.refuted.denominator == row.best.denominator + 1
        assert row.counterexample is not None
        assert len(row.counterexample.input) == row.m
        assert row.counterexample.eps > 0


# --- the command line ------------------------------------------------------------------------------


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", "table", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=SECONDS, check=False)


def test_table_command_writes_the_whole_grid(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    done = run("sparse", "-D", "m=3", "-D", "c=2", "--range", "-2..2", "-o", str(path))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len({tuple(row[f"q[{i}]"] for i in (1, 2, 3)) for row in rows}) == len(rows) == 125
    assert list(rows[0]) == ["q[1]", "q[2]", "q[3]", "out[1]", "out[2]", "out[3]", "dd"]
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sparse", "-D", "m=0"], "m counts things: it is a natural number >= 1, not 0"),
        (["sparse", "-D", "m=3/2"], "m counts things: it is a natural number >= 1, not 3/2"),
        (["sparse", "-D", "m"], "'m' is not NAME=RATIONAL, such as m=3"),
        (["sparse", "-D", "m=1/0"], "'m=1/0' is not NAME=RATIONAL"),
        (["sparse", "-D", "z=1"], "sparse has no constant z; it has m, c, T"),
        (["laplace", "-D", "delta=0"], "the sensitivity delta is positive, not 0"),
        (["sparse", "--range", "1..-1"], "the range 1..-1 is empty"),
        (["sparse", "--range", "0.5..1"], "'0.5..1' is not a range of integers"),
        (["parse"], "'parse' is not one of"),
        (["sparse", "-o", "/nonexistent/t.csv"], "cannot write /nonexistent/t.csv: No such file or directory"),
    ],
)
def test_table_command_refuses_what_makes_no_sense(arguments: list[str], message: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_an_interrupted_table_leaves_nothing(tmp_path: Path) -> None:
    mechanism = MECHANISMS["laplace"]
    constants = mechanism.constants({})

    def vectors() -> object:
        yield [Fraction(0), Fraction(0)]
        raise KeyboardInterrupt

    path = tmp_path / "t.csv"
    path.write_text("old\n")
    with pytest.raises(KeyboardInterrupt):
        tables.write(mechanism, constants, vectors(), path)  # type: ignore[arg-type]
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]
    assert path.read_text() == "old\n"


def test_the_table_of_the_demo_is_the_generated_one() -> None:
    done = run("sparse")
    assert done.returncode == 0
    assert done.stdout == (ROOT / "benchmarks" / "sparse.csv").read_text(encoding="utf-8")
