"""The rows of a table in a few bytes each: a column holds its distinct cells once, and a number for each row."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast, overload

from dipc.tables.cells import Cell

#: One row of cells: the inputs, the outputs, and the claim columns alpha, beta, gamma and dd.
_CLAIM_CELLS = 4


@dataclass(frozen=True, slots=True)
class Row:
    """One row: cells in the order of the program's inputs and outputs, None for an unconstrained output, and the
    claim columns where they are given and not empty. Equal values are the same Cell throughout a table."""

    number: int
    inputs: tuple[Cell, ...]
    outputs: tuple[Cell | None, ...]
    alpha: Cell | None
    beta: Cell | None
    gamma: Cell | None
    dd: Cell | None


class NumberList:
    """Natural numbers in as few bytes each as the largest so far needs."""

    __slots__ = ("_bound", "_numbers")

    def __init__(self) -> None:
        self._numbers: array[int] = array("B")
        self._bound = 1 << 8

    def append(self, number: int) -> None:
        """Add one number, at most 2^64 - 1."""
        if number >= self._bound:
            self._widen(number)
        self._numbers.append(number)

    def extend(self, numbers: list[int]) -> None:
        """Add these numbers, of which there is at least one."""
        largest = max(numbers)
        if largest >= self._bound:
            self._widen(largest)
        self._numbers.extend(numbers)

    def _widen(self, number: int) -> None:
        """Make room for a number as large as this."""
        while number >= self._bound:
            wider = next(code for code in "HIQ" if array(code).itemsize > self._numbers.itemsize)
            self._numbers = array(wider, self._numbers)
            self._bound = 1 << 8 * self._numbers.itemsize

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, at: int) -> int:
        return self._numbers[at]

    def __iter__(self) -> Iterator[int]:
        return iter(self._numbers)


class _Numbering(dict[Cell | None, int]):
    """The cells of a column in the order in which they came, numbered from 0."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[Cell | None] = []

    def __missing__(self, cell: Cell | None) -> int:
        number = self[cell] = len(self.cells)
        self.cells.append(cell)
        return number


#: Rows that are moved into the columns together.
_TOGETHER = 1024


class PackedRows(Sequence[Row]):
    """Rows numbered from 1 on, each made when it is asked for; a million rows of 20 columns take some 25 MB as long as
    no column has more than 256 distinct values."""

    __slots__ = ("_columns", "_fresh", "_inputs", "_outputs", "_seen")

    def __init__(self, inputs: int, outputs: int) -> None:
        """No rows yet, of so many inputs and outputs."""
        self._inputs = inputs
        self._outputs = inputs + outputs
        self._seen = [_Numbering() for _ in range(inputs + outputs + _CLAIM_CELLS)]
        self._columns = [NumberList() for _ in self._seen]
        self._fresh: list[Sequence[Cell | None]] = []

    def append(self, cells: Sequence[Cell | None]) -> None:
        """Add a row: its inputs, its outputs, then alpha, beta, gamma and dd."""
        assert len(cells) == len(self._columns)
        self._fresh.append(cells)
        if len(self._fresh) == _TOGETHER:
            self._settle()

    def _settle(self) -> None:
        """Put what was added last into the columns."""
        fresh, self._fresh = self._fresh, []
        if fresh:
            for column, seen, cells in zip(self._columns, self._seen, zip(*fresh, strict=True), strict=True):
                column.extend([seen[cell] for cell in cells])

    @property
    def columns(self) -> list[tuple[Sequence[Cell | None], NumberList]]:
        """The distinct cells of each column, and for each row the number of its cell among them: the inputs, the
        outputs, then alpha, beta, gamma and dd."""
        self._settle()
        return [(seen.cells, numbers) for seen, numbers in zip(self._seen, self._columns, strict=True)]

    def __len__(self) -> int:
        return len(self._columns[-1]) + len(self._fresh)

    def __iter__(self) -> Iterator[Row]:
        self._settle()
        columns = [
            map(seen.cells.__getitem__, numbers) for seen, numbers in zip(self._seen, self._columns, strict=True)
        ]
        for number, cells in enumerate(zip(*columns, strict=True), start=1):
            yield self._row(number, cells)

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, at: int | slice) -> Row | tuple[Row, ...]:
        if isinstance(at, slice):
            return tuple(self[index] for index in range(*at.indices(len(self))))
        self._settle()
        index = range(len(self))[at]
        cells = tuple(seen.cells[numbers[index]] for seen, numbers in zip(self._seen, self._columns, strict=True))
        return self._row(index + 1, cells)

    def _row(self, number: int, cells: tuple[Cell | None, ...]) -> Row:
        inputs = cast(tuple[Cell, ...], cells[: self._inputs])
        return Row(number, inputs, cells[self._inputs : self._outputs], *cells[self._outputs :])


def first_of_each_claim(rows: Sequence[Row]) -> Iterator[Row]:
    """The first row with each combination of alpha, beta, gamma and dd, in order; packed rows are not made for that."""
    keys: Iterable[object]
    if isinstance(rows, PackedRows):
        keys = zip(*(numbers for _, numbers in rows.columns[-_CLAIM_CELLS:]), strict=True)
    else:
        keys = ((row.alpha, row.beta, row.gamma, row.dd) for row in rows)
    seen: set[object] = set()
    for at, key in enumerate(keys):
        if key not in seen:
            seen.add(key)
            yield rows[at]


def packed(rows: Sequence[Row], inputs: int, outputs: int) -> PackedRows:
    """The same rows in columns."""
    if isinstance(rows, PackedRows):
        return rows
    result = PackedRows(inputs, outputs)
    for row in rows:
        result.append((*row.inputs, *row.outputs, row.alpha, row.beta, row.gamma, row.dd))
    return result
