"""Tables that the ideal fills in: det at given inputs, and the distance to disagreement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.exits.program import Program
from dipc.ideal.distance import Distances
from dipc.ideal.ideal import Ideal
from dipc.ideal.inputs import AllInputs, FiniteInputs, Inputs, ListedInputs
from dipc.lang.core import Value
from dipc.tables.cells import INFINITY, Cell, CellPool
from dipc.tables.packed import PackedRows, Row, first_of_each_claim
from dipc.tables.table import MISTAKE_LIMIT, Table

_DD = frozenset({"dd"})

#: Called with the number of rows done and of all rows (None where that is not known).
Progress = Callable[[int, int | None], None]

#: Rows between two calls of a progress function.
_PROGRESS_ROWS = 256


def table_of(program: Program, inputs: Inputs, ideal: Ideal | None = None, progress: Progress | None = None) -> Table:
    """The table of det at `inputs`, with the column dd (that of the inputs' file, where it has one).

    Raises DiagnosticError for a program without an ideal, for inputs where det is undefined and for more inputs than
    the limit `rows`; Undecided past a limit of the ideal.
    """
    ideal = ideal or Ideal(program)
    if isinstance(inputs, AllInputs):
        raise DiagnosticError(_infinite())
    if inputs.count > program.limits.rows:
        raise DiagnosticError(_too_many(inputs.count, program.limits.rows))
    rows = PackedRows(len(program.core.inputs), len(program.core.outputs))
    for number, cells in enumerate(_rows(inputs, ideal)):
        if progress is not None and number % _PROGRESS_ROWS == 0:
            progress(number, inputs.count)
        rows.append(cells)
    match inputs:
        case FiniteInputs(name=name):
            return Table(name, rows, _DD, {}, computed=_DD)
        case ListedInputs(table=listed):
            return Table(listed.name, rows, listed.columns | _DD, listed.beta_places, _DD - listed.columns)


def completed(program: Program, table: Table, progress: Progress | None = None) -> Table:
    """The table with dd(u) in every row that says nothing of it, if the program has an ideal; else as it is.

    Raises DiagnosticError where the table's answer is not the ideal's: dd(u) would be about another answer.
    """
    if program.core.ideal is None or all(row.dd is not None for row in first_of_each_claim(table.rows)):
        return table
    ideal = Ideal(program)
    distances = Distances(ideal)
    mistakes: list[Diagnostic] = []
    rows = PackedRows(len(program.core.inputs), len(program.core.outputs))
    for row in table.rows:
        if progress is not None and row.number % _PROGRESS_ROWS == 0:
            progress(row.number, len(table.rows))
        if row.dd is not None:
            rows.append(_cells(row, row.dd))
            continue
        values = _values(row.inputs)
        answer = ideal.values(values)
        wrong = _contradiction(program, row, answer)
        if wrong is not None:
            mistakes.append(wrong)
            if len(mistakes) >= MISTAKE_LIMIT:
                break
            continue
        rows.append(_cells(row, _distance_cell(ideal.pool, distances.at(values, answer))))
    if mistakes:
        raise DiagnosticError(*mistakes)
    return Table(table.name, rows, table.columns | _DD, table.beta_places, _DD - table.columns)


def _rows(inputs: FiniteInputs | ListedInputs, ideal: Ideal) -> Iterator[tuple[Cell | None, ...]]:
    """Inputs, outputs, alpha, beta, gamma and dd of each row."""
    distances = Distances(ideal)
    match inputs:
        case FiniteInputs():
            for values in inputs:
                answer = ideal.values(values)
                dd = _distance_cell(ideal.pool, distances.at(values, answer))
                yield (*map(ideal.pool.cell, (*values, *answer)), None, None, None, dd)
        case ListedInputs(table=listed):
            for row in listed.rows:
                values = _values(row.inputs)
                answer = ideal.values(values)
                dd = row.dd or _distance_cell(ideal.pool, distances.at(values, answer))
                yield (*row.inputs, *map(ideal.pool.cell, answer), row.alpha, row.beta, row.gamma, dd)


def _cells(row: Row, dd: Cell) -> tuple[Cell | None, ...]:
    return (*row.inputs, *row.outputs, row.alpha, row.beta, row.gamma, dd)


def _values(cells: Iterable[Cell]) -> tuple[Value, ...]:
    values: list[Value] = []
    for cell in cells:
        assert cell.value is not None, "an input is finite"
        values.append(cell.value)
    return tuple(values)


def _distance_cell(pool: CellPool, distance: Fraction | None) -> Cell:
    return INFINITY if distance is None else pool.cell(distance)


def _contradiction(program: Program, row: Row, answer: tuple[Value, ...]) -> Diagnostic | None:
    for slot, cell, value in zip(program.core.outputs, row.outputs, answer, strict=True):
        if cell is not None and cell.value != value:
            name = program.core.slots[slot].name
            return Diagnostic(
                "E1121",
                f"row {row.number}: the table says {name} = {cell.text}, but the ideal gives {value}",
                notes=("correct one of the two, or give the distance to disagreement in a column `dd`",),
            )
    return None


def _infinite() -> Diagnostic:
    notes = ("give ranges: `q = -1..1`", "`--inputs all` asks for a proof about all inputs at once")
    return Diagnostic("E1112", "all inputs cannot be written as a table", notes=notes)


def _too_many(count: int, limit: int) -> Diagnostic:
    return Diagnostic(
        "E1113",
        f"there are {count} inputs, more than the limit of {limit} rows",
        notes=(
            "give smaller ranges, or a larger limit: `--limit rows=N`",
            "`dipc check --inputs ... --classes` decides classes of inputs with equal obligations, not each row",
        ),
    )
