"""Classes of inputs against the inputs one by one."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path

import pytest
from hypothesis import given, settings

import dipc
from dipc.program.ideal import Distances, Ideal
from dipc.program.inputs import FiniteInputs
from dipc.questions.symmetric_inputs import class_table, input_classes
from dipc.questions.symmetry import AlikeInputs
from dipc.text.ast import BaseType
from dipc.text.core import DomType, Value
from tests.patience import examples
from tests.questions.generated import GRIDS, programs

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def values_of(program: dipc.Program, grid: tuple[Fraction | int, ...]) -> dict[int, tuple[Value, ...]]:
    """The grid for real inputs, all values for the others."""
    found: dict[int, tuple[Value, ...]] = {}
    for slot in program.core.inputs:
        kind = program.core.slots[slot].type
        if isinstance(kind, DomType):
            found[slot] = kind.values
        elif kind is BaseType.BOOL:
            found[slot] = (False, True)
        else:
            found[slot] = tuple(map(Fraction, grid))
    return found


def members(program: dipc.Program, each: AlikeInputs) -> Iterator[tuple[Value, ...]]:
    """All inputs of a class."""
    slots = program.core.inputs
    at = dict(zip(slots, each.inputs, strict=True))
    ways = []
    for block in each.blocks:
        if block.free:
            ways.append([(value,) for value in block.values])
        else:
            ways.append(sorted(set(permutations([at[slot] for slot in block.slots]))))
    for chosen in product(*ways):
        now = dict(at)
        for block, values in zip(each.blocks, chosen, strict=True):
            now.update(zip(block.slots, values, strict=True))
        yield tuple(now[slot] for slot in slots)


@settings(max_examples=examples(5))
@given(programs(), GRIDS)
def test_classes_say_what_the_rows_say(text: str, grid: tuple[Fraction | int, ...]) -> None:
    program = dipc.load(text)
    compare(program, values_of(program, grid))


@pytest.mark.parametrize("alpha", ["dd", "1"])
def test_numeric_sparse_where_some_inputs_are_apart(alpha: str) -> None:
    """A metric with a formula, and outputs that are forms over the inputs."""
    program = dipc.load(BENCHMARKS / "numeric_sparse.dip", m=3)
    classes = compare(
        program, values_of(program, (-2, -1, 1)), alpha=alpha, gamma=1, beta="exp(-alpha*eps/9)", eps="[2, 2]"
    )
    assert len(classes) < 3**3


def compare(program: dipc.Program, values: dict[int, tuple[Value, ...]], **claim: object) -> tuple[AlikeInputs, ...]:
    """Every input as a member of its class, and as a row of its own."""
    table = class_table(program, FiniteInputs("grid", tuple(values.values())))
    report = table.counted(dipc.check(table.program, table.table, **claim))
    _, classes = input_classes(program, values)
    assert report.inputs == sum(each.count for each in classes) == sum(row.count or 0 for row in report.rows)
    everything = list(product(*(values[slot] for slot in program.core.inputs)))
    ideal = Ideal(program)
    distances = Distances(ideal)
    rows = []
    for inputs in everything:
        row: dict[str, object] = dict(zip(program.inputs, map(str_of, inputs), strict=True))
        row |= dict(zip(program.outputs, map(str_of, ideal.values(inputs)), strict=True))
        dd = distances.dd(inputs)
        row["dd"] = "inf" if dd is None else str(dd)
        rows.append(row)
    one_by_one = {
        inputs: (row.verdict, row.alpha, row.vacuous, row.closed_form, row.counterexample)
        for inputs, row in zip(everything, dipc.check(program, rows, **claim).rows, strict=True)
    }
    by_class: dict[tuple[Value, ...], object] = {}
    for each, row in zip(classes, report.rows, strict=True):
        mine = list(members(program, each))
        assert len(mine) == each.count
        for inputs in mine:
            assert inputs not in by_class
            by_class[inputs] = (row.verdict, row.alpha, row.vacuous, row.closed_form, row.counterexample)
    assert by_class == one_by_one
    return classes


def str_of(value: Value) -> str:
    """The text of a cell."""
    return str(value).lower() if isinstance(value, bool) else str(value)
