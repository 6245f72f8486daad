"""Inputs and tables as people have them in Python: dicts with arrays, numbers of all exact kinds, DataFrames."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import pytest

import dipc
from dipc.text.diagnostic import DiagnosticError

SUM = """
program above;
input q[1..2] : real;
output out : bool;
var r : real;
claim { beta: 1; }
ideal { out <- q[1] + q[2] >= 0 }
r <- Lap(eps, q[1] + q[2]);
out <- r >= 0
"""


@dataclass
class Pandas:
    """The methods of a pandas DataFrame that dipc calls."""

    columns: list[str]
    rows: list[tuple[object, ...]]

    def itertuples(self, index: bool, name: None) -> Iterator[tuple[object, ...]]:
        return iter(self.rows)


@dataclass
class Polars:
    """The methods of a polars DataFrame that dipc calls."""

    columns: list[str]
    rows: list[tuple[object, ...]]

    def iter_rows(self) -> Iterator[tuple[object, ...]]:
        return iter(self.rows)


@dataclass
class Arrow:
    """The methods of an Arrow table that dipc calls."""

    column_names: list[str]
    rows: list[dict[str, object]]

    def to_pylist(self) -> list[dict[str, object]]:
        return self.rows


def texts(inputs: object) -> list[tuple[str, ...]]:
    report = dipc.check(dipc.load(SUM), inputs=inputs)  # type: ignore[arg-type]
    return [tuple(row.input.values()) for row in report.rows]


@pytest.mark.parametrize(
    "given",
    [
        {"q": (Fraction(1, 2), -1)},
        [{"q": [Decimal("0.5"), -1]}],
        [{"q[1]": "1/2", "q[2]": -1}],
        Polars(["q"], [(["1/2", -1],)]),
        Polars(["q[1]", "q[2]"], [("0.5", -1.0)]),
        Pandas(["q[1]", "q[2]"], [(Fraction(1, 2), -1.0)]),
        Arrow(["q[1]", "q[2]"], [{"q[2]": -1, "q[1]": "0.5"}]),
    ],
    ids=lambda given: type(given).__name__,
)
def test_one_input_in_many_forms(given: object) -> None:
    assert texts(given) == [("1/2", "-1")]


def test_a_table_has_arrays_and_an_infinite_dd_among_floats() -> None:
    table = Pandas(["q", "out", "dd"], [((1, 2), True, 3.0), ((-1, -2), False, float("inf"))])
    report = dipc.check(dipc.load(SUM), table, beta="exp(-alpha*eps)")
    assert [row.alpha for row in report.rows] == ["3", "inf"]
    assert [row.output["out"] for row in report.rows] == ["true", "false"]


def test_an_empty_cell_of_a_frame_is_unconstrained() -> None:
    report = dipc.check(dipc.load(SUM), Pandas(["q", "out"], [((1, 2), float("nan"))]), alpha=0)
    assert report.rows[0].output == {}


def test_floats_that_are_no_integers_are_refused() -> None:
    with pytest.raises(TypeError, match=r"row 1, column q\[1\] = 0.1 is a binary"):
        texts(Pandas(["q[1]", "q[2]"], [(0.1, 0)]))


def test_arrays_of_another_length_are_refused() -> None:
    with pytest.raises(DiagnosticError, match="1 values for the 2 elements"):
        texts([{"q": (1,)}])


def test_what_is_no_input_is_refused() -> None:
    with pytest.raises(TypeError, match="not int"):
        texts(3)
