"""The table reader: what it accepts means exactly what it says; what it refuses it refuses with every mistake named."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dipc.claims.table import Table, cell_spans, read_table
from dipc.text.diagnostic import Diagnostic, DiagnosticError, SourceText
from dipc.text.parser import parse
from dipc.text.program import CoreProgram
from dipc.text.statements import lower

HEADER = "q[1],q[2],x,flag,step,out[1],out[2],val,yes"
GOOD = "0,0,0,true,0,bot,top,0,false"
ASCII = "write numbers with the digits 0-9 and the ASCII minus sign"
NUMBER = "write an exact number such as -1, 1/3, 0.25 or 1e-3"


MIXED = """
program mixed;
const m = 2;
domain answer = {none, bot, top};
input q[1..m] : real;
input x : {-5..5};
input flag : bool;
input step : {0, 1/2, 3};
output out[1..m] : answer = none;
output val : real = 0;
output yes : bool = false;
val <- Lap(eps, q[1]);
"""


@cache
def typed(text: str) -> CoreProgram:
    source = SourceText("p.dip", text)
    return lower(parse(source), source, {})


@pytest.fixture
def mixed() -> CoreProgram:
    return typed(MIXED)


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str | bytes], Path]:
    def make(content: str | bytes) -> Path:
        path = tmp_path / "t.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return make


def mistakes(table: object, program: CoreProgram) -> list[Diagnostic]:
    with pytest.raises(DiagnosticError) as caught:
        read_table(table, program)
    return list(caught.value.diagnostics)


def only(table: object, program: CoreProgram) -> Diagnostic:
    (found,) = mistakes(table, program)
    return found


def location(found: Diagnostic) -> tuple[int, int, int]:
    assert found.excerpt is not None
    assert found.excerpt.file.endswith("t.csv")
    return found.excerpt.line, found.excerpt.column, found.excerpt.length


def values(table: Table) -> list[tuple[list[object], list[object]]]:
    return [
        ([cell.value for cell in row.inputs], [None if cell is None else cell.value for cell in row.outputs])
        for row in table.rows
    ]


# --- what is accepted ------------------------------------------------------------------------------


def test_cells_are_exact(mixed: CoreProgram, write: Callable[[str], Path]) -> None:
    table = read_table(write(f"{HEADER}\n-1,0.25,-5,true,1/2,none,top,1e-3,false\n"), mixed)
    expected_inputs = [Fraction(-1), Fraction(1, 4), Fraction(-5), True, Fraction(1, 2)]
    assert values(table) == [(expected_inputs, ["none", "top", Fraction(1, 1000), False])]
    assert [cell.text for cell in table.rows[0].inputs] == ["-1", "1/4", "-5", "true", "1/2"]


def test_columns_in_any_order_with_blanks_marks_and_quotes(mixed: CoreProgram, write: Callable[[str], Path]) -> None:
    shuffled = ' yes,val,"out[2]", out[ 1 ] ,step,flag,x,q[2],q[1]'
    table = read_table(write(f'\ufeff{shuffled}\r\n\r\n FALSE,"0", top ,bot,0.50,True,0,"1/2",-1\r\n'), mixed)
    expected_inputs = [Fraction(-1), Fraction(1, 2), Fraction(0), True, Fraction(1, 2)]
    assert values(table) == [(expected_inputs, ["bot", "top", Fraction(0), False])]


def test_empty_output_cells_are_unconstrained(mixed: CoreProgram, write: Callable[[str], Path]) -> None:
    table = read_table(write(f"{HEADER}\n0,0,0,true,0,,,,\n"), mixed)
    assert table.rows[0].outputs == (None, None, None, None)


def test_claim_columns(mixed: CoreProgram, write: Callable[[str], Path]) -> None:
    table = read_table(write(f'{HEADER},dd,alpha,beta,gamma\n{GOOD},inf,dd,"min(1, 2)",0.5\n{GOOD},1/3,2,,\n'), mixed)
    assert table.columns == {"dd", "alpha", "beta", "gamma"}
    first, second = table.rows
    assert first.dd is not None
    assert first.dd.value is None
    assert first.alpha is not None
    assert first.alpha.value == "dd"
    assert first.beta is not None
    assert first.beta.text == "min(1, 2)"
    assert first.gamma is not None
    assert first.gamma.value == Fraction(1, 2)
    assert second.dd is not None
    assert second.dd.value == Fraction(1, 3)
    assert (second.beta, second.gamma) == (None, None)


def test_equal_values_are_one_cell(mixed: CoreProgram, write: Callable[[str], Path]) -> None:
    table = read_table(write(f"{HEADER}\n0.5,1/2,0,true,2/4,,,50e-2,\n1/2,0,0,true,0,,,,\n"), mixed)
    cells = {table.rows[0].inputs[0], table.rows[0].inputs[1], table.rows[0].inputs[4], table.rows[1].inputs[0]}
    assert cells == {table.rows[0].outputs[2]}


def test_tables_from_python(mixed: CoreProgram) -> None:
    dicts = [
        {"q[1]": -1, "q[2]": "1/3", "x": Fraction(2), "flag": True, "step": "0.5", "out[2]": "top", "dd": float("inf")}
    ]
    header = ["q[1]", "q[2]", "x", "flag", "step", "out[1]", "out[2]", "val", "yes", "dd"]
    rows = [(-1, Fraction(1, 3), 2, True, Fraction(1, 2), None, "top", "", None, "inf")]
    assert values(read_table(dicts, mixed)) == values(read_table((header, rows), mixed))
    assert read_table(dicts, mixed).rows[0].dd is not None


@given(st.lists(st.lists(st.fractions(), min_size=2, max_size=2), min_size=1, max_size=5))
def test_any_rationals_are_read_exactly(rows: list[list[Fraction]]) -> None:
    program = typed(MIXED)
    table = read_table((HEADER.split(","), [[*row, 0, True, 0, None, None, sum(row), None] for row in rows]), program)
    assert [[cell.value for cell in row.inputs[:2]] for row in table.rows] == rows


# --- mistakes in cells -----------------------------------------------------------------------------

BAD_CELLS = [
    ("q[1]", "nan", "E0510", "`nan` is not a rational number", NUMBER),
    ("q[1]", "inf", "E0510", "`inf` is not a rational number", "`inf` is allowed only in the column `dd`"),
    ("q[1]", "1/0", "E0510", "`1/0` divides by zero", "write a denominator other than 0"),
    ("q[1]", "0x10", "E0510", "`0x10` is not a rational number", NUMBER),
    ("q[1]", "1_000", "E0510", "`1_000` is not a rational number", NUMBER),
    ("q[1]", "1e", "E0510", "`1e` is not a rational number", NUMBER),
    ("q[1]", "1.2.3", "E0510", "`1.2.3` is not a rational number", NUMBER),
    ("q[1]", "1,5", "E0510", "`1,5` is not a rational number", "write a decimal point, not a comma"),
    ("q[1]", "１", "E0510", "`１` is not a rational number", ASCII),
    ("q[1]", "−1", "E0510", "`−1` is not a rational number", ASCII),
    ("q[1]", "9" * 1001, "E0510", f"`{'9' * 37}...` has more than 1000 digits",
     "no mechanism needs so many digits: check the number for a mistake"),
    ("q[2]", "", "E0512", "the input `q[2]` is left empty", "only cells of outputs may be left empty"),
    ("x", "6", "E0511", "`6` is not in the domain of `x`", "the domain of `x` is {-5..5}"),
    ("x", "1/2", "E0511", "`1/2` is not in the domain of `x`", "the domain of `x` is {-5..5}"),
    ("x", "top", "E0510", "`top` is not a rational number", f"{NUMBER}; the domain of `x` is {{-5..5}}"),
    ("flag", "1", "E0511", "`1` is not a value of `flag`", "write `true` or `false`"),
    ("step", "1", "E0511", "`1` is not in the domain of `step`", "the domain of `step` is {0, 1/2, 3}"),
    ("out[1]", "tops", "E0511", "`tops` is not in the domain of `out[1]`",
     "the domain of `out[1]` is {none, bot, top}; did you mean `top`?"),
    ("out[1]", "Top", "E0511", "`Top` is not in the domain of `out[1]`",
     "the domain of `out[1]` is {none, bot, top}; did you mean `top`?"),
    ("val", "top", "E0510", "`top` is not a rational number", NUMBER),
    ("dd", "-1", "E0513", "dd is negative", "a distance must be a rational number of at least 0"),
    ("dd", "Inf", "E0510", "`Inf` is not a rational number", "`inf` is allowed only in the column `dd`"),
    ("gamma", "inf", "E0510", "`inf` is not a rational number", "`inf` is allowed only in the column `dd`"),
    ("gamma", "-1/2", "E0513", "gamma is negative", "a distance must be a rational number of at least 0"),
    ("gamma", "dd", "E0510", "`dd` is not a rational number", NUMBER),
    ("alpha", "inf", "E0510", "`inf` is not a rational number", "`inf` is allowed only in the column `dd`"),
]  # fmt: skip


@pytest.mark.parametrize(("column", "cell", "code", "message", "notes"), BAD_CELLS)
def test_a_bad_cell(
    mixed: CoreProgram, write: Callable[[str], Path], column: str, cell: str, code: str, message: str, notes: str
) -> None:
    names = [*HEADER.split(","), "alpha", "gamma", "dd"]
    row = [*GOOD.split(","), "", "", ""]
    at = names.index(column)
    row[at] = f'"{cell}"' if "," in cell else cell
    path = write(f"{','.join(names)}\n{GOOD},,,\n{','.join(row)}\n")
    found = only(path, mixed)
    assert (found.code, found.message, "; ".join(found.notes)) == (code, message, notes)
    assert found.label == f"column `{column}`"
    assert location(found) == (3, len(",".join(row[:at])) + 1 + (at > 0), max(1, len(row[at])))


def test_the_place_of_a_cell_behind_quoted_cells_and_line_breaks(
    mixed: CoreProgram, write: Callable[[str], Path]
) -> None:
    found = only(write(f'{HEADER}\n"0\n","0", 0,true,0,bot, "tops", 0,false\n'), mixed)
    assert location(found) == (3, 22, 6)
    assert found.excerpt is not None
    assert found.excerpt.text == '","0", 0,true,0,bot, "tops", 0,false'


@given(st.text(alphabet='ab", ', max_size=12))
def test_spans_agree_with_the_csv_module(text: str) -> None:
    def read(raw: str) -> list[str]:
        (record,) = csv.reader([raw], strict=True, skipinitialspace=True)
        return record

    try:
        record = read(text)
    except (csv.Error, ValueError):
        return
    pieces = [text[a:b] for a, b in cell_spans(text)]
    assert [(read(piece) or [""])[0].strip() for piece in pieces] == [cell.strip() for cell in record or [""]]


def test_all_mistakes_are_told_up_to_twenty(mixed: CoreProgram, write: Callable[[str], Path]) -> None:
    bad = "nan,0,0,true,0,bot,tops,0,false"
    found = mistakes(write(f"{HEADER}\n{GOOD}\n{bad}\n{GOOD}\n{bad}"), mixed)
    assert [(d.code, location(d)[0]) for d in found] == [("E0510", 3), ("E0511", 3), ("E0510", 5), ("E0511", 5)]
    found = mistakes(write("\n".join([HEADER, *[bad] * 50])), mixed)
    assert len(found) == 20
    assert found[-1].notes[-1] == "the table was read no further after 20 mistakes"


def test_ragged_rows(mixed: CoreProgram, write: Callable[[str], Path]) -> None:
    few, many = mistakes(write(f"{HEADER}\n0,0\n{GOOD}\n{GOOD},7,8\n"), mixed)
    assert (few.code, few.message) == ("E0509", "2 cells where the header has 9 columns")
    assert location(few) == (2, 1, 3)
    assert few.notes == ("leave a cell empty to leave an output unconstrained, but write its comma",)
    assert (many.code, many.message) == ("E0509", "11 cells where the header has 9 columns")
    assert location(many) == (4, len(GOOD) + 2, 1)
    assert many.label == "the cells from here on have no column"


# --- mistakes in the header ------------------------------------------------------------------------


def test_unknown_missing_and_duplicated_columns(mixed: CoreProgram, write: Callable[[str], Path]) -> None:
    found = mistakes(write("q[1],q[1],q[3],x,,flag,step,out[1],out[2],Val,yes,ddd\n"), mixed)
    names = "inputs are `q[1]`, `q[2]`, `x`, `flag` and `step`; outputs are `out[1]`, `out[2]`, `val` and `yes`"
    optional = "the columns `alpha`, `beta`, `dd` and `gamma` are optional"
    assert [(d.code, d.message, d.notes, location(d)) for d in found] == [
        ("E0508", "the column `q[1]` occurs twice", ("it is column 1 already; remove one of them",), (1, 6, 4)),
        ("E0506", "the program has no input or output `q[3]`", ("did you mean `q[2]`?", names, optional), (1, 11, 4)),
        ("E0506", "a column has no name", ("every column is named after an input or an output of the program",),
         (1, 18, 1)),
        ("E0506", "the program has no input or output `Val`", ("did you mean `val`?", names, optional), (1, 43, 3)),
        ("E0506", "the program has no input or output `ddd`", ("did you mean `dd`?", names, optional), (1, 51, 3)),
        ("E0507", "the table lacks the columns `q[2]` and `val`",
         ("the header names every input and output; leave the cells of an output empty to leave it unconstrained",),
         (1, 1, 53)),
    ]  # fmt: skip


def test_other_separators(mixed: CoreProgram, write: Callable[[str], Path]) -> None:
    for separator in ";\t|":
        found = only(write(HEADER.replace(",", separator) + "\n"), mixed)
        assert (found.code, found.message) == ("E0506", "the header has only one column")
        assert found.notes == ("columns are separated by commas",)


@pytest.mark.parametrize("content", ["", "\n\n", "   \n", "\ufeff", "\ufeff\n"])
def test_an_empty_table(mixed: CoreProgram, write: Callable[[str], Path], content: str) -> None:
    path = write(content)
    found = only(path, mixed)
    assert (found.code, found.message) == ("E0504", f"the table `{path}` is empty")
    assert found.notes == ("the first line names every input and output, for example `q[1],q[2],x,flag,step,out[1]`",)


@pytest.mark.parametrize("content", [HEADER, HEADER + "\n", HEADER + "\r\n\r\n"])
def test_a_table_with_a_header_only(mixed: CoreProgram, write: Callable[[str], Path], content: str) -> None:
    path = write(content)
    found = only(path, mixed)
    assert (found.code, found.message) == ("E0505", f"the table `{path}` has a header but no rows")
    assert found.notes == ("give one row for each input: a table without rows claims nothing",)
    assert location(found) == (1, 1, len(HEADER))


# --- files that are no tables ----------------------------------------------------------------------


def test_bytes_that_are_not_utf8(mixed: CoreProgram, write: Callable[[str | bytes], Path]) -> None:
    prefix = f"{HEADER}\n{GOOD}\né,".encode()
    found = only(write(prefix + b"\xff,0\n"), mixed)
    assert (found.code, found.message) == ("E0502", f"the table is not UTF-8: byte 0xff at offset {len(prefix)}")
    assert location(found) == (3, 3, 1)
    found = only(write(b"\xef\xbb\xbfq\xff"), mixed)
    assert found.message == "the table is not UTF-8: byte 0xff at offset 4"
    assert location(found) == (1, 2, 1)


def test_utf16(mixed: CoreProgram, write: Callable[[str | bytes], Path]) -> None:
    found = only(write(HEADER.encode("utf-16")), mixed)
    assert found.code == "E0502"
    assert found.notes == ("the file looks like UTF-16: save it as UTF-8",)


def test_nul_bytes(mixed: CoreProgram, write: Callable[[str], Path]) -> None:
    found = only(write(f"{HEADER}\n0,\0,0\n"), mixed)
    assert (found.code, found.message) == ("E0503", "the table contains a NUL byte")
    assert location(found) == (2, 3, 1)
    assert found.excerpt is not None
    assert "\0" not in found.excerpt.text


@pytest.mark.parametrize(
    ("line", "message", "note"),
    [
        ('"0,0', "a quoted cell is not closed", 'close the cell with `"`'),
        ('"0" ,0', "text after a closing quote", 'quote the whole cell, and write a quote inside it as `""`'),
        ('"0"1,0', "text after a closing quote", 'quote the whole cell, and write a quote inside it as `""`'),
        ("0,0\r0,0", "a carriage return in the middle of a line", "end the lines with a line feed"),
        ("0" * 200_000, "a cell of more than 131072 characters", "a cell holds one value"),
    ],
)
def test_what_is_no_csv(mixed: CoreProgram, write: Callable[[str], Path], line: str, message: str, note: str) -> None:
    found = only(write(f"{HEADER}\n{GOOD}\n{line}\n"), mixed)
    assert (found.code, found.message, found.notes) == ("E0503", message, (note,))
    assert location(found)[0] == 3


def test_endless_lines(mixed: CoreProgram) -> None:
    found = only("/dev/zero", mixed)
    assert (found.code, found.message) == ("E0503", "a line has more than 10000000 bytes")


def test_missing_files_and_directories(mixed: CoreProgram, tmp_path: Path) -> None:
    found = only(tmp_path / "none.csv", mixed)
    assert (found.code, found.message) == ("E0501", f"there is no file `{tmp_path / 'none.csv'}`")
    found = only(str(tmp_path), mixed)
    assert (found.code, found.message) == ("E0501", f"`{tmp_path}` is a directory")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_files(mixed: CoreProgram, write: Callable[[str], Path]) -> None:
    path = write(HEADER)
    path.chmod(0)
    assert only(path, mixed).message == f"no permission to read `{path}`"


# --- tables from Python ----------------------------------------------------------------------------


def test_mistakes_in_tables_from_python_name_the_row(mixed: CoreProgram) -> None:
    row = {"q[1]": 0, "q[2]": 0, "x": 0, "flag": True, "step": 0}
    found = mistakes([row, {**row, "x": 7}, {**row, "out[1]": "tops"}], mixed)
    assert [d.message for d in found] == [
        "row 2, column `x`: `7` is not in the domain of `x`",
        "row 3, column `out[1]`: `tops` is not in the domain of `out[1]`",
    ]
    assert all(d.excerpt is None for d in found)
    without = {key: value for key, value in row.items() if key != "q[2]"}
    assert only([without], mixed).message == "row 1, column `q[2]`: the input `q[2]` is left empty"
    assert only([{**row, "w": 0}], mixed).message == "the program has no input or output `w`"
    assert only((HEADER.split(","), [[1, 2]]), mixed).message == "row 1: 2 cells where the header has 9 columns"
    assert only([], mixed).message == "the table `<table>` has a header but no rows"


FLOAT = "row 1, column q[1] = 0.5 is a binary floating-point number, which is not exact: "
FLOAT += 'give a text such as "0.5" or a fractions.Fraction'


A_TABLE = "a table must be the path of a CSV file, a list of dicts, a pair (header, rows) or a DataFrame"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            [{"q[1]": 0.5}],
            FLOAT,
        ),
        (7, f"{A_TABLE}, not int"),
        ({"q[1]": 0}, f"{A_TABLE}, not dict"),
        ([[1, 2]], "row 1 of the table is a list, not a dict"),
        ((["q[1]"], 7), "the rows of a table must be a sequence of sequences, not int"),
        ((["q[1]"], [7]), "row 1 of the table is a int, not a sequence of cells"),
    ],
)
def test_what_is_no_table(mixed: CoreProgram, table: object, message: str) -> None:
    with pytest.raises(TypeError) as caught:
        read_table(table, mixed)
    assert str(caught.value) == message
