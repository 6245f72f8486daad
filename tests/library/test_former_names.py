"""Former names of public methods and properties still work for one release, with a warning."""

from __future__ import annotations

import ast
from fractions import Fraction
from pathlib import Path

import pytest

import dipc
from dipc.algebra.exppoly import ClosedForm, ExpPoly
from dipc.questions.report import Counts
from dipc.simulation.compare import ComparedEvent

ROOT = Path(__file__).resolve().parents[2]


def declarations() -> list[tuple[str, str, str]]:
    """The attribute, the old and the new name of each former name that a class of the library declares."""
    return [
        (node.targets[0].id, call.args[0].value, call.args[1].value)  # type: ignore[attr-defined]
        for file in sorted((ROOT / "dipc").rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Assign)
        for call in ast.walk(node.value)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("former_method", "former_property")
    ]


def test_a_former_name_is_the_attribute_that_warns() -> None:
    assert len(declarations()) >= 8
    assert [attribute for attribute, old, _ in declarations() if attribute != old] == []


def test_a_former_method() -> None:
    form = ClosedForm(ExpPoly.term(1, 0, -1))
    with pytest.warns(DeprecationWarning, match="`at` is called `enclosure` now"):
        assert form.at(Fraction(1)) == form.enclosure(Fraction(1))


def test_a_former_property() -> None:
    counts = Counts(rows=5, vacuous=4, above_one=1, unconstrained=1)
    with pytest.warns(DeprecationWarning, match="`near` is called `near_rows` now"):
        assert counts.near == counts.near_rows == 2


def test_a_former_part() -> None:
    event = ComparedEvent("o", {"o": "yes"}, 1, 4, (0.1, 0.6), None, None)
    with pytest.warns(DeprecationWarning, match="the fields of `row` are fields of its owner now"):
        assert event.row.count == event.count == 1


def test_conditions_of_a_class() -> None:
    program = dipc.load("program p; input q : real; output o : bool; ideal { o <- q >= 0 } o <- q >= 0")
    report = dipc.check(program, inputs="all", beta="0", alpha="0")
    notes = [row.note for row in report.rows]
    assert sorted(note.conditions for note in notes) == [("q < 0",), ("q >= 0",)]
    with pytest.warns(DeprecationWarning, match="`where` is called `conditions` now"):
        assert notes[0].where == notes[0].conditions
