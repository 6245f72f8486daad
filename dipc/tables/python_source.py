"""A table given from Python: a list of dicts, or a header with rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from dipc.algebra.rationals import exact_rational


class PythonSource:
    """The records of a table given as values: texts as in a CSV file, ints, Fractions, bools, None (empty).

    In a list of dicts a missing key is an empty cell. There is nothing to point at: `place` gives None.
    Raises TypeError for inexact values (floats) and for things that are no table.
    """

    name = "<table>"

    def __init__(self, table: object, columns: Sequence[str]) -> None:
        """`columns` are the names every table has; dicts may leave some out."""
        if isinstance(table, tuple) and len(table) == 2 and _is_header(table[0]):
            self._header, self._rows = _with_header(table[0], table[1])
        elif isinstance(table, Iterable) and not isinstance(table, Mapping | str | bytes):
            self._header, self._rows = _from_dicts(list(table), columns)
        else:
            raise TypeError(
                "a table is the path of a CSV file, a list of dicts, or a pair (header, rows), "
                f"not {type(table).__name__}"
            )

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


def _from_dicts(rows: list[object], columns: Sequence[str]) -> tuple[list[str], list[Sequence[object]]]:
    header = dict.fromkeys(columns)
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, Mapping):
            raise TypeError(f"row {number} of the table is a {type(row).__name__}, not a dict")
        for name in row:
            if not isinstance(name, str):
                raise TypeError(f"row {number} of the table: {name!r} is not a column name")
            header.setdefault(name)
    return list(header), [[row.get(name) for name in header] for row in rows if isinstance(row, Mapping)]


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
        case float() if cell == float("inf"):
            return "inf"
        case int() | Fraction():
            return str(cell)
    return str(exact_rational(cell, what))
