"""Families: constants with several values, a table for each member."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from dipc.cli.options import MOST_MEMBERS, member_text, members, parse_family, table_path
from dipc.text.diagnostic import DiagnosticError


def values(text: str) -> tuple[Fraction, ...]:
    return parse_family([f"m={text}"])["m"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4", [4]),
        (" 1/3 ", [Fraction(1, 3)]),
        ("1..4", [1, 2, 3, 4]),
        ("-1 .. 1", [-1, 0, 1]),
        ("{1,2}", [1, 2]),
        ("{ 3, 1/2, 3 }", [3, Fraction(1, 2)]),
        ("{1..3, 10}", [1, 2, 3, 10]),
        ("5..5", [5]),
    ],
)
def test_values(text: str, expected: list[Fraction | int]) -> None:
    assert list(values(text)) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("3..1", "the range is empty"),
        ("a..b", "not a rational"),
        ("0.5..2", "the ends of a range must be integers"),
        ("1..20000", f"more than {MOST_MEMBERS} values"),
        ("1..1000000000000", "the range has 1000000000000 values"),
        ("1/0", "divides by zero"),
    ],
)
def test_what_is_no_value(text: str, reason: str) -> None:
    with pytest.raises(DiagnosticError) as error:
        values(text)
    (found,) = error.value.diagnostics
    assert found.code == "E0805"
    assert reason in found.message
    assert found.notes


@pytest.mark.parametrize("text", ["1..2..3", "{1,}", "{}", "1,2", ""])
def test_what_is_no_definition(text: str) -> None:
    with pytest.raises(DiagnosticError) as error:
        values(text)
    (found,) = error.value.diagnostics
    assert found.code in ("E0102", "E0103")
    assert found.excerpt is not None
    assert found.notes


def test_too_many_members() -> None:
    with pytest.raises(DiagnosticError) as error:
        parse_family(["a=1..200", "b=1..200"])
    assert error.value.diagnostics[0].code == "E1001"
    assert "40000 members" in error.value.diagnostics[0].message


def test_products_run_through_the_last_constant_first() -> None:
    found = list(members(parse_family(["m=1..2", "c={3,4}"])))
    assert [(int(one["m"]), int(one["c"])) for one in found] == [(1, 3), (1, 4), (2, 3), (2, 4)]
    assert list(members({})) == [{}]
    assert member_text(found[0]) == "m = 1, c = 3"


def test_paths() -> None:
    constants = {"m": Fraction(3), "T": Fraction(1, 2)}
    assert table_path(Path("a/{m}.csv"), constants) == Path("a/3.csv")
    assert table_path(Path("x_{T}_{m}"), constants) == Path("x_1_2_3")
    assert table_path(Path("{m"), constants) == Path("{m")
    with pytest.raises(DiagnosticError) as error:
        table_path(Path("{M}.csv"), constants)
    assert error.value.diagnostics[0].code == "E1002"
    assert "`m`" in " ".join(error.value.diagnostics[0].notes)
