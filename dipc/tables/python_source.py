"""A table given from Python: a list of dicts, a header with rows, or a DataFrame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol

from dipc.algebra.rationals import exact_rational
from dipc.tables.arrays import arrays_among, by_element


class DataFrame(Protocol):
    """What pandas, polars and others call a DataFrame: rows, with named columns."""

    @property
    def columns(self) -> Any:
        """The names of the columns."""


class PythonSource:
    """The records of a table given as values: texts as in a CSV file, ints, Fractions, Decimals, bools, None (empty);
    a sequence under the name of an array stands for its elements.

    In a list of dicts a missing key is an empty cell. DataFrames are those of pandas and polars, and tables of Arrow:
    in them NaN and NA are empty cells, and floats that are integers are these, as such libraries make floats of
    integers beside an infinity. There is nothing to point at: `place` gives None.
    Raises TypeError for inexact values (other floats) and for things that are no table.
    """

    def __init__(self, table: object, columns: Sequence[str], name: str = "<table>") -> None:
        """`columns` are the names every table has; dicts may leave some out."""
        self.name = name
        frame = _from_frame(table)
        if frame is not None:
            header, rows = frame
        elif isinstance(table, tuple) and len(table) == 2 and _is_header(table[0]):
            header, rows = _with_header(table[0], table[1])
        elif isinstance(table, Iterable) and not isinstance(table, Mapping | str | bytes):
            header, rows = _from_dicts(list(table), columns)
        else:
            raise TypeError(
                "a table is the path of a CSV file, a list of dicts, a pair (header, rows) or a DataFrame, "
                f"not {type(table).__name__}"
            )
        arrays = arrays_among(columns)
        if any("".join(column.split()) in arrays for column in header):
            header, rows = _from_dicts(_spelled_out(header, rows, arrays), ())
        self._header, self._rows = header, rows

    def records(self) -> Iterator[list[str]]:
        """The header, then the rows."""
        yield self._header
        for number, row in enumerate(self._rows, start=1):
            yield [cell_text(cell, f"row {number}, column {name}") for cell, name in _paired(row, self._header)]

    def place(self, column: int | None) -> None:  # noqa: ARG002 - the protocol's other half has places
        """None: values have no place in a text."""
        return


def _is_header(candidate: object) -> bool:
    return (
        isinstance(candidate, Sequence)
        and not isinstance(candidate, str)
        and all(isinstance(name, str) for name in candidate)
    )


def _with_header(header: Sequence[str], rows: object) -> tuple[list[str], list[Sequence[object]]]:
    if not isinstance(rows, Iterable) or isinstance(rows, str | bytes):
        raise TypeError(f"the rows of a table are a sequence of sequences, not {type(rows).__name__}")
    collected = list(rows)
    for number, row in enumerate(collected, start=1):
        if not isinstance(row, Sequence) or isinstance(row, str | bytes):
            raise TypeError(f"row {number} of the table is a {type(row).__name__}, not a sequence of cells")
    return list(header), collected


def _from_dicts(rows: Sequence[object], columns: Sequence[str]) -> tuple[list[str], list[Sequence[object]]]:
    """Where a row has a whole array under its name, its elements are no columns for that."""
    header = dict.fromkeys(columns)
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            raise TypeError(f"row {number} of the table is a {type(row).__name__}, not a dict")
        for name in row:
            if not isinstance(name, str):
                raise TypeError(f"row {number} of the table: {name!r} is not a column name")
            header.setdefault(name)
    return list(header), [[row.get(name) for name in header] for row in rows if isinstance(row, Mapping)]


def _spelled_out(
    header: Sequence[str], rows: Sequence[Sequence[object]], arrays: Mapping[str, Sequence[str]]
) -> list[dict[str, object]]:
    """The rows as dicts without whole arrays; an array that a row leaves out says nothing of its elements."""
    found: list[dict[str, object]] = []
    for number, row in enumerate(rows, start=1):
        if len(row) != len(header):
            raise TypeError(f"row {number} of the table has {len(row)} cells, and the header {len(header)}")
        given = {name: cell for name, cell in zip(header, row, strict=True) if cell is not None}
        elements = by_element(given, arrays, f"row {number}:")
        whole = [name for name in header if "".join(name.split()) in arrays]
        found.append({**dict.fromkeys(name for name in header if name not in whole), **elements})
    return found


def _from_frame(table: object) -> tuple[list[str], list[Sequence[object]]] | None:
    """The column names and rows of a DataFrame, known by what each library's has and nothing else does; none is
    imported. None for what is no DataFrame."""
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
    if type(cell).__name__ == "NAType":  # that of pandas, which is neither equal to itself nor not
        return None
    if isinstance(cell, float):
        if cell != cell:
            return None
        return int(cell) if cell.is_integer() else cell
    return cell


def _paired(row: Sequence[object], header: list[str]) -> Iterator[tuple[object, str]]:
    """The cells with their columns' names; cells too many keep no name, so that the reader sees them."""
    for index, cell in enumerate(row):
        yield cell, header[index] if index < len(header) else ""


def cell_text(cell: object, what: str) -> str:
    """The text a CSV file would have for this value; TypeError, naming `what`, for inexact ones."""
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
    if type(cell).__name__ in ("bool_", "bool") and hasattr(cell, "item"):  # NumPy's truth values are no bools
        return "true" if cell.item() else "false"
    return str(exact_rational(cell, what))
