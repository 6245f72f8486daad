"""`--inputs`: what a specification means, and every mistake in one."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dipc
from dipc.claims.table import Table
from dipc.program.inputs import AllInputs, FiniteInputs, default_inputs, parse_inputs
from dipc.program.program import Program
from dipc.text.diagnostic import DiagnosticError, render
from tests.patience import at_most
from tests.program.programs import F

TEXT = """
program p;
const T = 2, m = 3;
domain answer = {none, bot, top};
domain levels = {0, 1/2, 3};
input q[1..m] : real;
input n : int;
input a : answer;
input d : {0..4};
input b : bool;
output out : bool = true;
ideal { out <- false }
"""


@pytest.fixture(scope="module")
def program() -> Program:
    return dipc.load(TEXT)


def choices(program: Program, *texts: str) -> dict[str, list[object]]:
    found = parse_inputs(texts, program)
    assert isinstance(found, FiniteInputs)
    return {name: list(values) for name, values in zip(program.inputs, found.choices, strict=True)}


BASE = "q = 0; n = 0"


@pytest.mark.parametrize(
    ("text", "name", "values"),
    [
        ("q = -1..1, n = 0", "q[2]", [-1, 0, 1]),
        ("q in {0, 1/2, 3}, n = 0", "q[3]", [0, F(1, 2), 3]),
        ("q = (0, 1..2, {T, 5}), n = 0", "q[3]", [2, 5]),
        ("q = (0, 1..2, {T, 5}), n = 0", "q[2]", [1, 2]),
        ("q[m] = T + 1, q = {0, 3..4}, n = +1", "q[3]", [3]),
        ("q[m] = T + 1, q = {0, 3..4}, n = +1", "q[1]", [0, 3, 4]),
        ("q in {-1..1}, n = 0", "q[3]", [-1, 0, 1]),
        ("q in levels, n = 0", "q[1]", [0, F(1, 2), 3]),
        ("q = 0.25; n = 7", "q[1]", [F(1, 4)]),
        ("q = 0.25; n = 7", "n", [7]),
        ("q = -T..T, n = -T", "q[1]", [-2, -1, 0, 1, 2]),
        ("q = -T..T, n = -T", "n", [-2]),
        ("q[1] = 0, q = 1..2, n = 0", "q[1]", [0]),
        ("q = 1..2, q[1] = 0, n = 0", "q[1]", [0]),
        ("q = 1..2, q[1] = 0, n = 0", "q[2]", [1, 2]),
        ("q [ 1 ] = 0\nq=1..2\nn∈{4, 4, 3}", "n", [4, 3]),
        (BASE, "a", ["none", "bot", "top"]),
        (BASE, "d", [0, 1, 2, 3, 4]),
        (BASE, "b", [False, True]),
        (BASE + "; a in {top, none}", "a", ["top", "none"]),
        (BASE + "; a = bot; b = true", "a", ["bot"]),
        (BASE + "; a = bot; b = true", "b", [True]),
        (BASE + "; a in answer; d = 1..2", "d", [1, 2]),
        (BASE + "; d in {T, m}", "d", [2, 3]),
    ],
)
def test_what_it_means(program: Program, text: str, name: str, values: list[object]) -> None:
    assert choices(program, text)[name] == values
    assert choices(program, *text.replace("\n", ";").split(";"))[name] == values


def test_rows_come_in_lexicographic_order(program: Program) -> None:
    found = parse_inputs("q = 0, q[3] = 0..1, n = 1..2, a = top, d = 0, b = true", program)
    assert isinstance(found, FiniteInputs)
    assert found.count == 4
    assert [(row[2], row[3]) for row in found] == [(0, 1), (0, 2), (1, 1), (1, 2)]


def test_all_inputs(program: Program) -> None:
    assert parse_inputs(" all ", program) == AllInputs()


def test_a_file_of_inputs(tmp_path: Path) -> None:
    program = dipc.load("program p; input x, y : real; output out : bool; ideal { out <- x > y } out <- true")
    path = tmp_path / "inputs.csv"
    path.write_text("y,x,dd\n1,2,\n1/2,-1,3\n")
    found = parse_inputs([str(path)], program)
    assert isinstance(found, Table)
    assert [(row.inputs[0].text, row.inputs[1].text) for row in found.rows] == [("2", "1"), ("-1", "1/2")]
    table = dipc.table(program, str(path))
    assert [(row.outputs[0].text, row.dd.text) for row in table.rows] == [("true", "1/2"), ("false", "3")]


def test_finite_programs_need_no_specification() -> None:
    program = dipc.load(
        "program p; input a : {0..2}; input b : bool; output out : bool; ideal { out <- b } out <- true"
    )
    assert default_inputs(program).count == 6
    assert dipc.load("program p; output out : bool; out <- true").inputs == ()
    nothing = default_inputs(dipc.load("program p; output out : bool; out <- true"))
    assert list(nothing) == [()]


# --- mistakes --------------------------------------------------------------------------------------


def message(program: Program, *texts: str) -> str:
    with pytest.raises(DiagnosticError) as caught:
        parse_inputs(texts, program)
    return render(caught.value.diagnostics)


def test_an_unbounded_input(program: Program) -> None:
    assert message(program, "q[2] = 0") == (
        "error[E1111]: `q[1]`, `q[3]` and `n` have infinitely many values: they cannot be enumerated without a range\n"
        '  = help: give one, such as `--inputs "q[1] = -1..1"` or `--inputs "q[1] in {0, 1/2}"`\n'
        "  = help: `--inputs all` asks for a proof about all inputs at once\n"
    )
    assert '`--inputs "q = -1..1"`' in message(program, "n = 0")


@pytest.mark.parametrize(
    ("text", "said", "marked", "helped"),
    [
        ("z = 1", "the program has no input `z`", "z", "the inputs are `q[1]`, `q[2]`, `q[3]`, `n`, `a`, `d` and `b`"),
        ("q[4] = 1", "the program has no input `q[4]`", "q[4]", "did you mean `q[3]`?"),
        ("q = 1, q = 2", "`q` is given twice", "q", "give each one once"),
        ("d = 5", "`5` is not in the domain of `d`", "5", "the domain of `d` is {0..4}"),
        ("d = 3..6", "`5` is not in the domain of `d` (in this range)", "3..6", "the domain of `d` is {0..4}"),
        ("d in levels", "`1/2` is not in the domain of `d` (of `levels`)", "levels", "the domain of `d` is {0..4}"),
        ("a = tip", "`tip` is not in the domain of `a`", "tip", "did you mean `top`?"),
        ("a in {top, 3}", "`3` is not in the domain of `a`", "3", "the domain of `a` is {none, bot, top}"),
        ("n = 1/2", "`1/2` is not an integer", "1/2", "write an integer"),
        ("n = 0.5..2", "the ends of a range must be integers", "0.5..2", "list other numbers: `{0, 1/2, 1}`"),
        ("q = 3..1", "the range is empty: 3 is more than 1", "3..1", "write the smaller end first"),
        ("q = 0..99999999", "the range has 100000000 values", "0..99999999", "at most 1000000 can be enumerated"),
        ("q = 1..x", "`x` is not a rational number", "x", "or the name of a constant"),
        ("q in level", "`level` is not a rational number", "level", "did you mean `levels`?"),
        ("q = 1e999*1e999", "`1e999*1e999` has more than 1000 digits", "1e999*1e999", "write an exact number"),
        ("b = 1", "`1` is not a value of `b`", "1", "write `true` or `false`"),
        ("q = nan", "`nan` is not a rational number", "nan", "write an exact number such as -1, 1/3 or 0.25"),
    ],
)
def test_mistakes_are_marked(program: Program, text: str, said: str, marked: str, helped: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        parse_inputs([text], program)
    found = caught.value.diagnostics[0]
    assert (found.code, found.message) == ("E1110", said)
    assert found.excerpt is not None
    start = found.excerpt.column - 1
    assert (found.excerpt.file, found.excerpt.text[start : start + found.excerpt.length]) == ("<--inputs>", marked)
    assert any(helped in note for note in found.notes)


@pytest.mark.parametrize(
    ("text", "marked"),
    [("q", ""), ("q =", ""), ("q < 3", "<"), ("q in {}", "}"), ("q in {1,,2}", ","), ("n = 1, 2", "2")],
)
def test_what_says_nothing_about_an_input(program: Program, text: str, marked: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        parse_inputs([text], program)
    (found,) = caught.value.diagnostics
    assert found.code in ("E0102", "E0103")
    assert found.excerpt is not None
    start = found.excerpt.column - 1
    assert found.excerpt.text[start : start + found.excerpt.length] == marked
    assert found.notes


def test_all_mistakes_are_named_at_once(program: Program) -> None:
    assert message(program, "q = 1..0", "w = 2").endswith("2 errors\n")


@pytest.mark.parametrize("texts", [("all", "q = 1"), ("q = 1", "nowhere.csv")])
def test_what_stands_alone(program: Program, texts: tuple[str, ...]) -> None:
    assert "cannot be combined with other inputs" in message(program, *texts)


def test_a_file_that_is_missing(program: Program) -> None:
    assert "error[E0501]" in message(program, "nowhere.csv")


def test_a_file_with_a_column_too_many(tmp_path: Path, program: Program) -> None:
    path = tmp_path / "inputs.csv"
    path.write_text("q[1],q[2],q[3],n,a,d,b,out\n0,0,0,0,bot,0,true,true\n")
    assert "error[E0506]: the program has no input or output `out`" in message(program, str(path))


@given(st.text("qnabd[]{}=,;. in-+0123456789/eTm<>all\0\n", max_size=30) | st.text(max_size=12))
def test_no_text_does_more_than_be_refused(program: Program, text: str) -> None:
    with contextlib.suppress(DiagnosticError):
        assert isinstance(parse_inputs([text], program), FiniteInputs | AllInputs)


@pytest.mark.parametrize("text", ["x = 1..20000, z = 1..20000", "x in {1..20000}, z in {1..20000}"])
def test_long_ranges_are_read_at_once(text: str) -> None:
    grid = dipc.load("program g; input x, z : {1..20000}; output y : bool; y <- x >= z")
    with at_most(5_000_000):
        found = parse_inputs(text, grid)
    assert isinstance(found, FiniteInputs)
    assert found.count == 20_000**2


def test_a_range_that_leaves_a_domain_is_marked() -> None:
    with pytest.raises(DiagnosticError, match=r"`4` is not in the domain of `x` \(in this range\)"):
        parse_inputs("x = 1..9", dipc.load("program g; input x : {1..3}; output y : bool; y <- x >= 2"))
