"""The table of det: one row for each input, read exactly or refused with every mistake named."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.names import listing, nearest
from dipc.diagnostics.source import Excerpt
from dipc.lang.core import Slot
from dipc.lang.core_program import CoreProgram
from dipc.tables.cells import BadCell, Cell, CellPool, Column, Read, beta_reader, claim_reader, slot_reader
from dipc.tables.csv_source import CsvSource
from dipc.tables.packed import PackedRows, Row
from dipc.tables.python_source import DataFrame, PythonSource

__all__ = ["CLAIM_COLUMNS", "MISTAKE_LIMIT", "Records", "Row", "Table", "read_table"]

#: The columns that may stand beside the program's inputs and outputs; no variable can have these names.
CLAIM_COLUMNS = ("alpha", "beta", "gamma", "dd")

#: After so many mistakes in rows the rest of the table is not read.
MISTAKE_LIMIT = 20


class Records(Protocol):
    """Where records come from; the first is the header. `place` locates a cell of the record given last."""

    name: str

    def records(self) -> Iterator[list[str]]: ...

    def place(self, column: int | None) -> Excerpt | None: ...


@dataclass(frozen=True, slots=True)
class Table:
    """A table without mistakes: at least one row. `columns` are the claim columns it has; `beta_places` says where
    each distinct text of the column `beta` stands first."""

    name: str
    rows: Sequence[Row]
    columns: frozenset[str]
    beta_places: dict[str, Excerpt | None]
    computed: frozenset[str] = frozenset()
    """The columns that nobody gave: dd where it is computed from the program's ideal."""


#: What may be given as a table: the path of a CSV file, a dict for each row, a header with rows, a DataFrame, a Table.
TableGiven = (
    str
    | os.PathLike[str]
    | Sequence[Mapping[str, object]]
    | tuple[Sequence[str], Iterable[Sequence[object]]]
    | DataFrame
    | Table
)


def read_table(table: TableGiven, program: CoreProgram, name: str = "<table>") -> Table:
    """The whole table, checked against the program.

    `table` is the path of a CSV file, a list of dicts, a pair (header, rows), a DataFrame, or a Table, which is taken
    as it is; `name` is that of a table without a path. Raises DiagnosticError with the mistakes, at most MISTAKE_LIMIT
    of them, and TypeError for what is no table.
    """
    if isinstance(table, Table):
        return table
    if isinstance(table, str | os.PathLike):
        return _Reader(CsvSource(Path(table)), program).read()
    names = [program.slots[slot].name for slot in (*program.inputs, *program.outputs)]
    return _Reader(PythonSource(table, names, name), program).read()


class _Reader:
    def __init__(self, source: Records, program: CoreProgram) -> None:
        self._source = source
        self._inputs = [program.slots[slot] for slot in program.inputs]
        self._outputs = [program.slots[slot] for slot in program.outputs]
        self._pool = CellPool()
        self._mistakes: list[Diagnostic] = []

    def read(self) -> Table:
        records = self._source.records()
        header = next(records, None)
        if header is None:
            raise DiagnosticError(self._empty())
        header_place = self._source.place(None)
        names = ["".join(name.split()) for name in header]
        self._check_header(header, names)
        columns = [self._column(name) for name in names]
        places: dict[str, Excerpt | None] = {}
        rows = self._rows(records, names, columns, places)
        if self._mistakes:
            raise DiagnosticError(*self._mistakes)
        if not rows:
            raise DiagnosticError(self._header_only(header_place))
        return Table(self._source.name, rows, frozenset(names) & frozenset(CLAIM_COLUMNS), places)

    # --- rows -------------------------------------------------------------------------------------

    def _rows(
        self, records: Iterator[list[str]], names: list[str], columns: list[Column], places: dict[str, Excerpt | None]
    ) -> PackedRows:
        position = {name: index for index, name in enumerate(names)}
        order = [position[slot.name] for slot in (*self._inputs, *self._outputs)]
        order += [position.get(name, len(names)) for name in CLAIM_COLUMNS]
        beta_at = position.get("beta")
        width = len(names)
        rows = PackedRows(len(self._inputs), len(self._outputs))
        for number, record in enumerate(records, start=1):
            if len(record) != width:
                self._ragged(number, record, width)
                continue
            cells = [column[text] for column, text in zip(columns, record, strict=True)]
            if BadCell in map(type, cells):
                self._bad_cells(number, cells, names)
                continue
            good = cast(list[Cell | None], cells)
            if beta_at is not None and (beta := good[beta_at]) is not None and beta.text not in places:
                places[beta.text] = self._source.place(beta_at)
            good.append(None)  # what stands for a claim column that is not there
            rows.append([good[at] for at in order])
        return rows

    def _bad_cells(self, number: int, cells: Sequence[Read], names: list[str]) -> None:
        for index, cell in enumerate(cells):
            if isinstance(cell, BadCell):
                label = f"column `{names[index]}`"
                self._note(cell.code, cell.message, number, index, names[index], label, cell.notes)

    def _ragged(self, number: int, record: list[str], width: int) -> None:
        few = len(record) < width
        self._note(
            "E0509",
            f"{_count(len(record), 'cell')} where the header has {_count(width, 'column')}",
            number,
            None if few else width,
            None,
            "" if few else "too many from here on",
            ("leave a cell empty to leave an output unconstrained, but write its comma",)
            if few
            else ("a value that contains a comma is written in double quotes",),
        )

    def _note(
        self,
        code: str,
        message: str,
        number: int,
        index: int | None,
        name: str | None,
        label: str,
        notes: tuple[str, ...],
    ) -> None:
        place = self._source.place(index)
        if place is None:
            message = f"row {number}{'' if name is None else f', column `{name}`'}: {message}"
        if len(self._mistakes) + 1 >= MISTAKE_LIMIT:
            notes = (*notes, f"the table was read no further after {MISTAKE_LIMIT} mistakes")
        self._mistakes.append(Diagnostic(code, message, place, label if place else "", notes))
        if len(self._mistakes) >= MISTAKE_LIMIT:
            raise DiagnosticError(*self._mistakes)

    # --- header -----------------------------------------------------------------------------------

    def _column(self, name: str) -> Column:
        for required, slots in ((True, self._inputs), (False, self._outputs)):
            for slot in slots:
                if slot.name == name:
                    return Column(slot_reader(name, slot.type, required, self._pool))
        return Column(beta_reader(self._pool) if name == "beta" else claim_reader(name, self._pool))

    def _check_header(self, header: list[str], names: list[str]) -> None:
        known = [slot.name for slot in (*self._inputs, *self._outputs)]
        expected = {*known, *CLAIM_COLUMNS}
        mistakes = []
        first: dict[str, int] = {}
        for index, name in enumerate(names):
            if name in first:
                notes = (f"it is column {first[name] + 1} already; remove one of them",)
                place = self._source.place(index)
                mistakes.append(Diagnostic("E0508", f"the column `{name}` occurs twice", place, notes=notes))
            elif name not in expected:
                mistakes.append(self._unknown(name, known, self._source.place(index), header))
            first.setdefault(name, index)
            if len(mistakes) >= MISTAKE_LIMIT:
                raise DiagnosticError(*mistakes)
        missing = [name for name in known if name not in first]
        if missing and not (mistakes and len(names) == 1):
            mistakes.append(self._missing(missing))
        if mistakes:
            raise DiagnosticError(*mistakes)

    def _unknown(self, name: str, known: list[str], place: Excerpt | None, header: list[str]) -> Diagnostic:
        if len(header) == 1 and any(separator in header[0] for separator in ";\t|"):
            note = "columns are separated by commas"
            return Diagnostic("E0506", "the header is a single column", place, notes=(note,))
        if not name:
            note = "every column is named after an input or an output of the program"
            return Diagnostic("E0506", "a column without a name", place, notes=(note,))
        close = nearest(name, [*known, *sorted(CLAIM_COLUMNS)])
        notes = [f"did you mean `{close}`?"] if close else []
        notes.append(f"inputs are {_listing(self._inputs)}; outputs are {_listing(self._outputs)}")
        notes.append(f"the columns {listing(sorted(CLAIM_COLUMNS))} are optional")
        return Diagnostic("E0506", f"the program has no input or output `{name}`", place, notes=tuple(notes))

    def _missing(self, missing: list[str]) -> Diagnostic:
        what = "column" if len(missing) == 1 else "columns"
        note = "the header names every input and output; leave the cells of an output empty to leave it unconstrained"
        message = f"the table lacks the {what} {listing(missing)}"
        return Diagnostic("E0507", message, self._source.place(None), notes=(note,))

    def _empty(self) -> Diagnostic:
        expected = ",".join(slot.name for slot in (*self._inputs, *self._outputs)[:6])
        note = f"the first line names every input and output, for example `{expected}`"
        return Diagnostic("E0504", f"the table `{self._source.name}` is empty", notes=(note,))

    def _header_only(self, place: Excerpt | None) -> Diagnostic:
        note = "an empty table says nothing about accuracy: give one row for each input"
        message = f"the table `{self._source.name}` has a header but no rows"
        return Diagnostic("E0505", message, place, notes=(note,))


def _listing(slots: Sequence[Slot]) -> str:
    return listing([slot.name for slot in slots]) if slots else "none"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
