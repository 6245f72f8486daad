"""Read the table of det, from a CSV file or from Python, into rows of a few bytes each; report every mistake."""

from __future__ import annotations

import csv
import io
import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import chain
from pathlib import Path
from typing import IO, Any, Protocol, cast, overload

from dipc.algebra.numbers import exact_rational
from dipc.claims.given import (
    Cell,
    CellPool,
    Read,
    arrays_among,
    beta_reader,
    by_element,
    claim_reader,
    slot_reader,
    value_of,
)
from dipc.frozen import frozen
from dipc.text.core import Slot
from dipc.text.diagnostic import Diagnostic, DiagnosticError, Excerpt, bad_input, did_you_mean, listing, unreadable
from dipc.text.precondition import Precondition
from dipc.text.program import CoreProgram

# --- The rows of a table in a few bytes each: a column holds its distinct cells once, and a number for each row -------

#: The number of claim columns: alpha, beta, gamma and dd.
_CLAIM_CELLS = 4


@frozen
class Row:
    """A row of a table: cells for the program's inputs and outputs, in order, and for the claim.

    A cell of alpha, beta, gamma or dd is None if it is empty. The cell of an output is None if the row does not state
    this output, so that every value of the output is right. Equal values are one Cell throughout a table.
    """

    number: int
    inputs: tuple[Cell, ...]
    outputs: tuple[Cell | None, ...]
    alpha: Cell | None
    beta: Cell | None
    gamma: Cell | None
    dd: Cell | None


class Column:
    """A column of a table: its distinct `cells`, and for each row, in `numbers`, the index of its cell among them.

    The cells are in the order in which they were first seen. A number takes as few bytes as the greatest of them needs.
    """

    __slots__ = ("_index", "cells", "numbers")

    def __init__(self) -> None:
        self.cells: list[Cell | None] = []
        self.numbers: array[int] = array("B")
        self._index: dict[Cell | None, int] = {}

    def extend(self, cells: Sequence[Cell | None]) -> None:
        """Append `cells`, one for each further row."""
        index = self._index
        numbers = [index.setdefault(cell, len(index)) for cell in cells]
        if len(index) > len(self.cells):
            self.cells += [cell for cell in dict.fromkeys(cells) if index[cell] >= len(self.cells)]
        while len(index) > 1 << 8 * self.numbers.itemsize:
            wider = next(code for code in "HIQ" if array(code).itemsize > self.numbers.itemsize)
            self.numbers = array(wider, self.numbers)
        self.numbers.extend(numbers)


#: The number of rows that are moved into the columns together.
_TOGETHER = 1024


class PackedRows(Sequence[Row]):
    """Rows numbered from 1, stored by columns; a Row is built when it is read.

    A million rows of 20 columns take approximately 25 MB if no column has more than 256 distinct values.
    """

    __slots__ = ("_columns", "_fresh", "_inputs", "_outputs")

    def __init__(self, inputs: int, outputs: int) -> None:
        self._inputs = inputs
        self._outputs = inputs + outputs
        self._columns = [Column() for _ in range(inputs + outputs + _CLAIM_CELLS)]
        self._fresh: list[Sequence[Cell | None]] = []

    @property
    def widths(self) -> tuple[int, int]:
        """The pair (number of columns of inputs, number of columns of outputs)."""
        return self._inputs, self._outputs - self._inputs

    def append(self, cells: Sequence[Cell | None]) -> None:
        """Add a row with these `cells`: its inputs, its outputs, then alpha, beta, gamma and dd."""
        assert len(cells) == len(self._columns)
        self._fresh.append(cells)
        if len(self._fresh) == _TOGETHER:
            self._store_fresh_rows()

    def _store_fresh_rows(self) -> None:
        fresh, self._fresh = self._fresh, []
        if fresh:
            for column, cells in zip(self._columns, zip(*fresh, strict=True), strict=True):
                column.extend(cells)

    @property
    def columns(self) -> Sequence[Column]:
        """The columns of the inputs, of the outputs, and then of alpha, beta, gamma and dd."""
        self._store_fresh_rows()
        return self._columns

    def __len__(self) -> int:
        return len(self._columns[-1].numbers) + len(self._fresh)

    def __iter__(self) -> Iterator[Row]:
        columns = [map(column.cells.__getitem__, column.numbers) for column in self.columns]
        for number, cells in enumerate(zip(*columns, strict=True), start=1):
            yield self._row(number, cells)

    @overload
    def __getitem__(self, position: int) -> Row: ...
    @overload
    def __getitem__(self, position: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, at: int | slice) -> Row | tuple[Row, ...]:
        if isinstance(at, slice):
            return tuple(self[index] for index in range(*at.indices(len(self))))
        index = range(len(self))[at]
        cells = tuple(column.cells[column.numbers[index]] for column in self.columns)
        return self._row(index + 1, cells)

    def _row(self, number: int, cells: tuple[Cell | None, ...]) -> Row:
        inputs = cast(tuple[Cell, ...], cells[: self._inputs])
        return Row(number, inputs, cells[self._inputs : self._outputs], *cells[self._outputs :])


def first_of_each_claim(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield the first of the `rows` with each combination of alpha, beta, gamma and dd, in order.

    If the rows are packed, no other row is built.
    """
    keys: Iterable[object]
    if isinstance(rows, PackedRows):
        keys = zip(*(column.numbers for column in rows.columns[-_CLAIM_CELLS:]), strict=True)
    else:
        keys = ((row.alpha, row.beta, row.gamma, row.dd) for row in rows)
    seen: set[object] = set()
    for position, key in enumerate(keys):
        if key not in seen:
            seen.add(key)
            yield rows[position]


def packed(rows: Sequence[Row], inputs: int, outputs: int) -> PackedRows:
    """Return `rows` stored by columns, for a program with this number of `inputs` and `outputs`."""
    if isinstance(rows, PackedRows):
        return rows
    result = PackedRows(inputs, outputs)
    for row in rows:
        result.append((*row.inputs, *row.outputs, row.alpha, row.beta, row.gamma, row.dd))
    return result


# --- A CSV file as a stream of records that know the places of their cells --------------------------------------------

#: The most bytes of one line: a longer one is not a row of a table, and reading it might never end.
MAX_LINE = 10_000_000

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_UTF8_MARK = b"\xef\xbb\xbf"


class CsvSource:
    """The records of the CSV file at `path`, read as a stream; `place` locates a cell of the record read last.

    If `lines` is given, it has the bytes of some lines of the file, and only the records in these lines are read.
    Raises DiagnosticError (E0501-E0503) for a file that cannot be read, is not UTF-8 or is not CSV, and for lines that
    end within a quoted cell.
    """

    def __init__(self, path: str | os.PathLike[str], lines: bytes | None = None) -> None:
        self.name = os.fspath(path)
        self._bytes = lines
        self._lines: list[str] = []
        self._first_line = 1
        self._next_line = 1

    def records(self) -> Iterator[list[str]]:
        """Yield the records in order, without blank lines. The file can be read only once."""
        try:
            with Path(self.name).open("rb") if self._bytes is None else io.BytesIO(self._bytes) as file:
                reader = csv.reader(self._decoded(file), strict=True, skipinitialspace=True)
                while True:
                    self._lines = []
                    self._first_line = self._next_line
                    try:
                        record = next(reader)
                    except StopIteration:
                        return
                    except csv.Error as error:
                        message, note = _explain(str(error))
                        raise DiagnosticError(Diagnostic("E0503", message, self.place(None), notes=(note,))) from None
                    if len(record) > 1 or (record and record[0].strip()):
                        yield record
        except (OSError, ValueError) as error:
            raise DiagnosticError(unreadable(self.name, error, "E0501", "give the path of a CSV file")) from None

    def _decoded(self, file: IO[bytes]) -> Iterator[str]:
        offset = 0
        while raw := file.readline(MAX_LINE + 1):
            if len(raw) > MAX_LINE:
                note = "a table is a text file of comma-separated values, with one row on each line"
                place = Excerpt(self.name, self._next_line, 1, "", 1)
                raise DiagnosticError(
                    Diagnostic("E0503", f"a line has more than {MAX_LINE} bytes", place, notes=(note,))
                )
            line = raw
            if offset == 0 and raw.startswith(_UTF8_MARK):
                line = raw[len(_UTF8_MARK) :]
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError as error:
                position = offset + len(raw) - len(line) + error.start
                raise DiagnosticError(self._undecodable(line, error.start, position, offset == 0)) from None
            self._lines.append(text)
            self._next_line += 1
            if "\0" in text:
                shown = text.rstrip("\r\n").replace("\0", "\ufffd")
                place = Excerpt(self.name, self._next_line - 1, text.index("\0") + 1, shown, 1)
                note = "a table is a text file of comma-separated values"
                raise DiagnosticError(Diagnostic("E0503", "the table contains a NUL byte", place, notes=(note,)))
            offset += len(raw)
            yield text

    def place(self, column: int | None) -> Excerpt:
        """Return the place of the cell with index `column` in the record read last.

        If `column` is None, the result is the place of the record's first line.
        """
        if column is None:
            text = self._lines[0].rstrip("\r\n") if self._lines else ""
            return Excerpt(self.name, self._first_line, 1, text, max(1, len(text)))
        spans = cell_spans("".join(self._lines))
        start, end = spans[min(column, len(spans) - 1)]
        line = self._first_line
        for text in self._lines:
            if start < len(text) or text is self._lines[-1]:
                written = text.rstrip("\r\n")
                return Excerpt(self.name, line, start + 1, written, max(1, min(end, len(written)) - start))
            start, end, line = start - len(text), end - len(text), line + 1
        raise AssertionError("a record has at least one line")

    def _undecodable(self, line: bytes, start: int, position: int, first: bool) -> Diagnostic:
        before = line[:start].decode("utf-8")
        text = line.decode("utf-8", errors="replace").rstrip("\r\n")
        if first and line.startswith(_UTF16_MARKS):
            note = "the file looks like UTF-16: save it as UTF-8"
        else:
            note = "save the file as UTF-8"
        return Diagnostic(
            "E0502",
            f"the table is not UTF-8: byte 0x{line[start]:02x} at offset {position}",
            Excerpt(self.name, self._next_line, len(before) + 1, text, 1),
            notes=(note,),
        )


def cell_spans(record: str) -> list[tuple[int, int]]:
    """Return (start, end) of each cell in one raw CSV `record`, without surrounding spaces, but with quotes.

    As in Python's `csv`, a quote counts only at the start of a cell; commas up to the closing quote belong to the cell.
    """
    spans = []
    start = 0
    fresh, quoted, open_quote = True, False, False
    body = record.rstrip("\r\n")
    for position, character in enumerate(body):
        if character == "," and not open_quote:
            spans.append(_trim(body, start, position))
            start = position + 1
            fresh, quoted = True, False
        elif character == '"' and (fresh or quoted):
            open_quote = not open_quote
            fresh, quoted = False, True
        elif character != " ":
            fresh = False
    spans.append(_trim(body, start, len(body)))
    return spans


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    cell = text[start:end]
    if not cell.strip():
        return start, end
    return start + len(cell) - len(cell.lstrip()), end - len(cell) + len(cell.rstrip())


def _explain(error: str) -> tuple[str, str]:
    if "unexpected end of data" in error:
        return "a quoted cell is not closed", 'close the cell with `"`'
    if "expected after" in error:
        return "text after a closing quote", 'quote the whole cell, and write a quote inside it as `""`'
    if "field larger than" in error:
        return f"a cell of more than {csv.field_size_limit()} characters", "a cell holds one value"
    if "new-line" in error:
        return "a carriage return in the middle of a line", "end the lines with a line feed"
    return f"not a CSV record: {error}", "a table is a text file of comma-separated values"


# --- A table given from Python: a list of dicts, a header with rows, or a DataFrame -----------------------------------


class DataFrame(Protocol):
    """A DataFrame of pandas, polars or another library: rows, with named columns."""

    @property
    def columns(self) -> Any:
        """The names of the columns."""


def python_records(table: object, columns: Sequence[str]) -> Iterator[list[str]]:
    """Yield the header of a table given as Python values, then its rows, with cells as text.

    The `table` is a list of dicts, a pair (header, rows), or a DataFrame. A cell is a text as in a CSV file, an int,
    Fraction, Decimal or bool, or None for an empty cell. In the column of a whole array, a cell is a sequence of the
    elements. A DataFrame is one of pandas or polars, or a table of Arrow. There, NaN and NA are empty cells, and a
    float such as 2.0 is the integer 2.

    `columns` are the program's columns. If `table` is a list of dicts, its header has all `columns`, then the further
    keys of the dicts. A column for which a dict has no key is empty in its row. Raises TypeError for other floats and
    for objects that are not tables.
    """
    frame = _from_frame(table)
    if frame is not None:
        header, rows = frame
    elif (
        isinstance(table, tuple)
        and len(table) == 2
        and isinstance(table[0], Sequence)
        and not isinstance(table[0], str)
        and all(isinstance(name, str) for name in table[0])
    ):
        header, rows = _with_header(table[0], table[1])
    elif isinstance(table, Iterable) and not isinstance(table, Mapping | str | bytes):
        header, rows = _from_dicts(list(table), columns)
    else:
        raise TypeError(
            "a table must be the path of a CSV file, a list of dicts, a pair (header, rows) or a DataFrame, not "
            f"{type(table).__name__}"
        )
    arrays = arrays_among(columns)
    if any("".join(column.split()) in arrays for column in header):
        header, rows = _from_dicts(_rows_by_element(header, rows, arrays), ())
    yield header
    for number, row in enumerate(rows, start=1):
        names = [*header, *[""] * len(row)]
        yield [cell_text(cell, f"row {number}, column {names[index]}") for index, cell in enumerate(row)]


def _with_header(header: Sequence[str], rows: object) -> tuple[list[str], list[Sequence[object]]]:
    if not isinstance(rows, Iterable) or isinstance(rows, str | bytes):
        raise TypeError(f"the rows of a table must be a sequence of sequences, not {type(rows).__name__}")
    collected = list(rows)
    for number, row in enumerate(collected, start=1):
        if not isinstance(row, Sequence) or isinstance(row, str | bytes):
            raise TypeError(f"row {number} of the table is a {type(row).__name__}, not a sequence of cells")
    return list(header), collected


def _from_dicts(rows: Sequence[object], columns: Sequence[str]) -> tuple[list[str], list[Sequence[object]]]:
    """Return (header, the values of each dict in `rows`), where the header is `columns`, followed by the further keys.

    A value is None for a key that the dict lacks.
    """
    header = dict.fromkeys(columns)
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            raise TypeError(f"row {number} of the table is a {type(row).__name__}, not a dict")
        for name in row:
            if not isinstance(name, str):
                raise TypeError(f"row {number} of the table: {name!r} is not a column name")
            header.setdefault(name)
    return list(header), [[row.get(name) for name in header] for row in rows if isinstance(row, Mapping)]


def _rows_by_element(
    header: Sequence[str], rows: Sequence[Sequence[object]], arrays: Mapping[str, Sequence[str]]
) -> list[dict[str, object]]:
    result: list[dict[str, object]] = []
    for number, row in enumerate(rows, start=1):
        if len(row) != len(header):
            raise TypeError(f"row {number} of the table has {len(row)} cells, but the header has {len(header)}")
        given = {name: cell for name, cell in zip(header, row, strict=True) if cell is not None}
        elements = by_element(given, arrays, f"row {number}:")
        whole = [name for name in header if "".join(name.split()) in arrays]
        result.append({**dict.fromkeys(name for name in header if name not in whole), **elements})
    return result


def _from_frame(table: object) -> tuple[list[str], list[Sequence[object]]] | None:
    """Return the column names and rows of a DataFrame, or None if `table` is something else.

    No library is imported: a DataFrame is recognised by attributes that only its library has.
    """
    frame: Any = table
    if hasattr(frame, "columns") and hasattr(frame, "itertuples"):  # pandas
        header, rows = frame.columns, frame.itertuples(index=False, name=None)
    elif hasattr(frame, "columns") and hasattr(frame, "iter_rows"):  # polars
        header, rows = frame.columns, frame.iter_rows()
    elif hasattr(frame, "column_names") and hasattr(frame, "to_pylist"):  # Arrow
        header = frame.column_names
        rows = ([row[name] for name in header] for row in frame.to_pylist())
    else:
        return None
    return [str(name) for name in header], [[_frame_cell(cell) for cell in row] for row in rows]


def _frame_cell(cell: object) -> object:
    if type(cell).__name__ == "NAType":  # the NA of pandas, whose comparison with itself has no truth value
        return None
    if isinstance(cell, float):
        if cell != cell:
            return None
        return int(cell) if cell.is_integer() else cell
    return cell


def cell_text(cell: object, what: str) -> str:
    """Return the text that a CSV file has for the value `cell`.

    Raises TypeError for an inexact value; the message calls the value `what`.
    """
    match cell:
        case None:
            return ""
        case str():
            return cell
        case bool():
            return "true" if cell else "false"
        case float() | Decimal() if cell == float("inf"):
            return "inf"
        case int() | Fraction():
            return str(cell)
    if type(cell).__name__ in ("bool_", "bool") and hasattr(cell, "item"):  # NumPy's bools are not Python's
        return "true" if cell.item() else "false"
    return str(exact_rational(cell, what))


# --- Values of inputs and outputs given from Python, by name ----------------------------------------------------------


def input_cells(program: CoreProgram, values: Mapping[str, object], pool: CellPool) -> tuple[Cell, ...]:
    """Return a cell of `pool` for every input of `program`; `values` has the values by the inputs' names.

    Raises DiagnosticError for missing and unknown names, for values outside their domain, and for inputs that violate
    `requires`.
    """
    slots = program.input_slots
    cells = _cells(slots, "input", values, pool)
    missing = [slot.name for slot, cell in zip(slots, cells, strict=True) if cell is None]
    if missing:
        what = "input" if len(missing) == 1 else "inputs"
        raise bad_input("E0507", f"no value for the {what} {listing(missing)}")
    found = tuple(cell for cell in cells if cell is not None)
    if program.requires is not None:
        program.requires.require(dict(zip(program.inputs, map(value_of, found), strict=True)), program.source)
    return found


def output_cells(program: CoreProgram, values: Mapping[str, object], pool: CellPool) -> tuple[Cell | None, ...]:
    """Return a cell of `pool` for every output of `program`, None for an output that is not in `values`.

    `values` has the values by the outputs' names. Raises DiagnosticError for unknown names and for values outside their
    domain.
    """
    return _cells(program.output_slots, "output", values, pool)


def _cells(slots: Sequence[Slot], role: str, values: Mapping[str, object], pool: CellPool) -> tuple[Cell | None, ...]:
    untyped: object = values  # of a caller that no type checker has seen
    if not isinstance(untyped, Mapping):
        message = f"the {role}s are a dict of values by name, not {untyped!r:.40}"
        raise bad_input("E0506", message, f"such as {{'{slots[0].name}': 0}}" if slots else "{} here")
    given = by_element(values, arrays_among(slot.name for slot in slots), role)
    known = {slot.name for slot in slots}
    mistakes = [_unknown(name, role, slots) for name in given if name not in known]
    cells: list[Cell | None] = []
    for slot in slots:
        cell = None
        if slot.name in given:
            text = cell_text(given[slot.name], f"{role} {slot.name}")
            read = slot_reader(slot.name, slot.type, False, pool)(text)
            if isinstance(read, Diagnostic):
                mistakes.append(Diagnostic(read.code, f"{role} `{slot.name}`: {read.message}", notes=read.notes))
            else:
                cell = read
        cells.append(cell)
    if mistakes:
        raise DiagnosticError(*mistakes)
    return tuple(cells)


def _unknown(name: str, role: str, slots: Sequence[Slot]) -> Diagnostic:
    notes = did_you_mean(name, [slot.name for slot in slots])
    names = [slot.name for slot in slots]
    notes.append(f"the {role}s are {listing(names)}" if names else f"there are no {role}s")
    return Diagnostic("E0506", f"the program has no {role} `{name}`", notes=tuple(notes))


# --- The table of det: one row for each input, read exactly or refused with every mistake named -----------------------

__all__ = ["CLAIM_COLUMNS", "MISTAKE_LIMIT", "Row", "Table", "read_table"]

#: The columns allowed beside the program's inputs and outputs; no variable can have these names.
CLAIM_COLUMNS = ("alpha", "beta", "gamma", "dd")

#: The number of mistakes in rows after which the rest of the table is not read.
MISTAKE_LIMIT = 20


@frozen
class Table:
    """A table without mistakes, with at least one row.

    Messages call the table `name`. `columns` are its claim columns, and `beta_places` has the first place of each
    distinct text in the column `beta`. `computed` are the columns that were computed rather than given.
    """

    name: str
    rows: Sequence[Row]
    columns: frozenset[str]
    beta_places: dict[str, Excerpt | None]
    computed: frozenset[str] = frozenset()
    """The columns that were computed rather than given: dd, if it comes from the program's ideal."""


#: The forms of a table that callers can give: the path of a CSV file, a dict for each row, a header with rows, a
#: DataFrame, or a Table.
TableGiven = (
    str
    | os.PathLike[str]
    | Sequence[Mapping[str, object]]
    | tuple[Sequence[str], Iterable[Sequence[object]]]
    | DataFrame
    | Table
)


def read_table(
    table: TableGiven,
    program: CoreProgram,
    name: str = "<table>",
    *,
    claims: Sequence[str] = CLAIM_COLUMNS,
    pool: CellPool | None = None,
) -> Table:
    """Read the whole `table` and check it against `program`.

    `table` is the path of a CSV file, a list of dicts, a pair (header, rows), a DataFrame, or a Table, which is
    returned unchanged. A table without a path has this `name` in messages. `claims` are the columns that it can have
    besides inputs and outputs. Equal values give the same Cell; tables read with the same `pool` share their Cells.
    Raises DiagnosticError with the mistakes, at most MISTAKE_LIMIT of them, and TypeError for an object that is not a
    table.
    """
    if isinstance(table, Table):
        if program.requires is not None:
            for row in table.rows:
                values = dict(zip(program.inputs, map(value_of, row.inputs), strict=True))
                program.requires.require(values, program.source, f"row {row.number}: ")
        return table
    if isinstance(table, str | os.PathLike):
        source = CsvSource(Path(table))
        return _TableReader(source.name, source.place, program, claims, pool).read(source.records())
    names = [program.slots[slot].name for slot in (*program.inputs, *program.outputs)]
    return _TableReader(name, lambda _: None, program, claims, pool).read(python_records(table, names))


def read_chunk(name: str, header: Sequence[str], lines: bytes, program: CoreProgram, pool: CellPool) -> Table:
    """Read a chunk of a table of `program`: some `lines` of the CSV file `name`, with cells from `pool`.

    `header` has the names of the file's columns. Raises DiagnosticError with the mistakes; a mistake names the row
    within the chunk.
    """
    source = CsvSource(name, lines)
    return _TableReader(name, source.place, program, CLAIM_COLUMNS, pool).read(chain([[*header]], source.records()))


class _TableReader:
    """A reader of the records of one table, which messages call `name`.

    `place` is a function of the index of a column. It returns the place of the cell in this column of the record that
    was read last, or the place of the whole record for the index None. It returns None if the table has no text.
    """

    def __init__(
        self,
        name: str,
        place: Callable[[int | None], Excerpt | None],
        program: CoreProgram,
        claims: Sequence[str],
        pool: CellPool | None = None,
    ) -> None:
        self._name = name
        self._place = place
        self._claims = sorted(claims)
        self._inputs = program.input_slots
        self._outputs = program.output_slots
        self._program = program
        self._requires = program.requires
        self._pool = pool or CellPool()
        self._mistakes: list[Diagnostic] = []

    def read(self, records: Iterator[list[str]]) -> Table:
        """Return the table with `records`, the first of which is the header."""
        header = next(records, None)
        if header is None:
            expected = ",".join(slot.name for slot in (*self._inputs, *self._outputs)[:6])
            note = f"the first line names every input and output, for example `{expected}`"
            raise DiagnosticError(Diagnostic("E0504", f"the table `{self._name}` is empty", notes=(note,)))
        header_place = self._place(None)
        names = ["".join(name.split()) for name in header]
        self._check_header(header, names)
        columns = [self._column(name) for name in names]
        places: dict[str, Excerpt | None] = {}
        rows = self._rows(records, names, columns, places)
        if self._mistakes:
            raise DiagnosticError(*self._mistakes)
        if not rows:
            note = "give one row for each input: a table without rows claims nothing"
            message = f"the table `{self._name}` has a header but no rows"
            raise DiagnosticError(Diagnostic("E0505", message, header_place, notes=(note,)))
        return Table(self._name, rows, frozenset(names) & frozenset(CLAIM_COLUMNS), places)

    # --- rows -------------------------------------------------------------------------------------

    def _rows(
        self,
        records: Iterator[list[str]],
        names: list[str],
        columns: Sequence[Callable[[str], Read]],
        places: dict[str, Excerpt | None],
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
            cells = [column(text) for column, text in zip(columns, record, strict=True)]
            if Diagnostic in map(type, cells):
                for index, cell in enumerate(cells):
                    if isinstance(cell, Diagnostic):
                        label = f"column `{names[index]}`"
                        self._note(cell.code, cell.message, number, index, names[index], label, cell.notes)
                continue
            good = cast(list[Cell | None], cells)
            if beta_at is not None and (beta := good[beta_at]) is not None and beta.text not in places:
                places[beta.text] = self._place(beta_at)
            good.append(None)  # the cell of a claim column that the table lacks
            ordered = [good[position] for position in order]
            if self._requires is not None and self._note_violation(number, self._requires, ordered):
                continue
            rows.append(ordered)
        return rows

    def _note_violation(self, number: int, requires: Precondition, cells: Sequence[Cell | None]) -> bool:
        values = dict(zip(self._program.inputs, map(value_of, cells), strict=False))
        violation = requires.violation(values, self._program.source)
        if violation is not None:
            self._note(violation.code, violation.message, number, None, None, "", violation.notes)
        return violation is not None

    def _ragged(self, number: int, record: list[str], width: int) -> None:
        few = len(record) < width
        self._note(
            "E0509",
            f"{_count(len(record), 'cell')} where the header has {_count(width, 'column')}",
            number,
            None if few else width,
            None,
            "" if few else "the cells from here on have no column",
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
        place = self._place(index)
        if place is None:
            message = f"row {number}{'' if name is None else f', column `{name}`'}: {message}"
        if len(self._mistakes) + 1 >= MISTAKE_LIMIT:
            notes = (*notes, f"the table was read no further after {MISTAKE_LIMIT} mistakes")
        self._mistakes.append(Diagnostic(code, message, place, label if place else "", notes))
        if len(self._mistakes) >= MISTAKE_LIMIT:
            raise DiagnosticError(*self._mistakes)

    # --- header -----------------------------------------------------------------------------------

    def _column(self, name: str) -> Callable[[str], Read]:
        # Each distinct text of a column is read once.
        for slot in (*self._inputs, *self._outputs):
            if slot.name == name:
                return cache(slot_reader(name, slot.type, slot in self._inputs, self._pool))
        return cache(beta_reader(self._pool) if name == "beta" else claim_reader(name, self._pool))

    def _check_header(self, header: list[str], names: list[str]) -> None:
        known = [slot.name for slot in (*self._inputs, *self._outputs)]
        expected = {*known, *self._claims}
        mistakes = []
        first: dict[str, int] = {}
        for index, name in enumerate(names):
            if name in first:
                notes = (f"it is column {first[name] + 1} already; remove one of them",)
                place = self._place(index)
                mistakes.append(Diagnostic("E0508", f"the column `{name}` occurs twice", place, notes=notes))
            elif name not in expected:
                mistakes.append(self._unknown(name, known, self._place(index), header))
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
            return Diagnostic("E0506", "the header has only one column", place, notes=(note,))
        if not name:
            note = "every column is named after an input or an output of the program"
            return Diagnostic("E0506", "a column has no name", place, notes=(note,))
        notes = did_you_mean(name, [*known, *self._claims])
        outputs = f"; outputs are {_listing(self._outputs)}" if self._outputs else ""
        notes.append(f"inputs are {_listing(self._inputs)}{outputs}")
        if self._claims:
            notes.append(f"the columns {listing(self._claims)} are optional")
        return Diagnostic("E0506", f"the program has no input or output `{name}`", place, notes=tuple(notes))

    def _missing(self, missing: list[str]) -> Diagnostic:
        what = "column" if len(missing) == 1 else "columns"
        note = "the header names every input"
        if self._outputs:
            note += " and output; leave the cells of an output empty to leave it unconstrained"
        message = f"the table lacks the {what} {listing(missing)}"
        return Diagnostic("E0507", message, self._place(None), notes=(note,))


def _listing(slots: Sequence[Slot]) -> str:
    return listing([slot.name for slot in slots]) if slots else "none"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
