"""The pairs of adjacent inputs that a question is about: of a product of finite sets, of a list, or from a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dipc.algebra.limits import LimitReached, Limits
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.source import Excerpt
from dipc.exits.program import Program
from dipc.ideal.inputs import AllInputs, FiniteInputs, default_inputs, parse_inputs
from dipc.lang.core import Slot, Value
from dipc.lang.core_program import CoreProgram
from dipc.privacy.adjacency import Adjacency, Listed, Within
from dipc.tables.cells import Cell, show_value
from dipc.tables.csv_source import CsvSource
from dipc.tables.table import read_table

#: Values of all inputs, in their order.
Input = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Ordered pairs of adjacent inputs, by their places in `inputs`: with each pair its reverse; at least one.

    `about` says which they are.
    """

    inputs: tuple[Input, ...]
    ordered: tuple[tuple[int, int], ...]
    about: str

    def __len__(self) -> int:
        return len(self.ordered)


@dataclass(frozen=True, slots=True)
class EveryPair:
    """All adjacent inputs that the program's types allow."""

    adjacency: Within


def read_pairs(
    program: Program, adjacency: Adjacency, inputs: str | Sequence[str] | None, limits: Limits
) -> Pairs | EveryPair:
    """The pairs among the `inputs`, as `parse_inputs` reads them (None: finite inputs range over their domains), or
    those of the file.

    Raises DiagnosticError where there are infinitely many to be enumerated, or none, or for a file that cannot be read;
    LimitReached where there are too many.
    """
    if isinstance(adjacency, Listed):
        if inputs is not None:
            note = "leave --inputs out, or give a distance such as linf:1"
            raise DiagnosticError(
                Diagnostic("E1407", "a file of pairs and inputs are given: the file has its own", notes=(note,))
            )
        return _listed(program, adjacency)
    found = default_inputs(program) if inputs is None else parse_inputs(inputs, program)
    match found:
        case AllInputs():
            return EveryPair(adjacency)
        case FiniteInputs():
            if found.count > limits.rows:
                raise LimitReached("rows", f"there are {found.count} inputs")
            points = tuple(found)
            ordered = _related(points, found, adjacency, limits)
            about = found.name
        case _:
            points = tuple(dict.fromkeys(_values(row.inputs) for row in found.table.rows))
            if len(points) ** 2 > limits.rows:
                raise LimitReached("rows", f"{len(points)} inputs have {len(points) ** 2} pairs to look at")
            ordered = [
                (i, j) for i, one in enumerate(points) for j, two in enumerate(points) if adjacency.relates(one, two)
            ]
            about = found.table.name
    if not ordered:
        note = "a claim about no pair would hold of itself: give inputs that are adjacent"
        raise DiagnosticError(Diagnostic("E1408", f"no two of the inputs are adjacent by {adjacency}", notes=(note,)))
    return Pairs(points, tuple(ordered), about)


def _related(points: Sequence[Input], found: FiniteInputs, adjacency: Within, limits: Limits) -> list[tuple[int, int]]:
    place = {point: at for at, point in enumerate(points)}
    ordered: list[tuple[int, int]] = []
    for at, point in enumerate(points):
        ordered += [(at, place[other]) for other in adjacency.neighbors(point, found.choices)]
        if len(ordered) > limits.rows:
            raise LimitReached("rows", f"there are more than {limits.rows} pairs of adjacent inputs")
    return ordered


def _listed(program: Program, adjacency: Listed) -> Pairs:
    core = program.core
    slots = [core.slots[slot] for slot in core.inputs]
    # A table of a program that has each input twice, and no outputs.
    count = len(core.slots)
    primed = [replace(slot, index=count + at, name=f"{slot.name}'") for at, slot in enumerate(slots)]
    twice = _with_inputs(core, slots, primed)
    table = read_table(adjacency.path, twice)
    pairs: dict[tuple[Input, Input], None] = {}
    mistakes: list[Diagnostic] = []
    for row in table.rows:
        values = _values(row.inputs)
        one, two = values[: len(slots)], values[len(slots) :]
        if one == two:
            place = _row_place(adjacency, row.number)
            note = "two inputs are adjacent only if they differ"
            mistakes.append(Diagnostic("E1409", f"row {row.number}: the two inputs are equal", place, notes=(note,)))
        pairs[one, two] = None
        pairs[two, one] = None
    if mistakes:
        raise DiagnosticError(*mistakes)
    points = tuple(dict.fromkeys(point for pair in pairs for point in pair))
    place_of = {point: at for at, point in enumerate(points)}
    ordered = tuple((place_of[one], place_of[two]) for one, two in pairs)
    return Pairs(points, ordered, table.name)


def _with_inputs(core: CoreProgram, slots: Sequence[Slot], primed: Sequence[Slot]) -> CoreProgram:
    inputs = tuple([slot.index for slot in (*slots, *primed)])
    return replace(core, slots=(*core.slots, *primed), inputs=inputs, outputs=())


def _row_place(adjacency: Listed, number: int) -> Excerpt | None:
    """Where a row of the file begins."""
    source = CsvSource(adjacency.path)
    for at, _ in enumerate(source.records()):
        if at == number:
            return source.place(None)
    return None


def _values(cells: Sequence[Cell]) -> Input:
    found: list[Value] = []
    for cell in cells:
        assert cell.value is not None
        found.append(cell.value)
    return tuple(found)


def texts(program: Program, point: Input) -> dict[str, str]:
    """The values of an input by name, as a table has them."""
    return {name: show_value(value) for name, value in zip(program.inputs, point, strict=True)}
