"""Columns: one exact value for each of many runs, kept as codes into a short table of values.

Whatever is computed from columns is computed once for each combination of values that occurs, in exact arithmetic, and
spread to the runs by NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
R = TypeVar("R", bound=Hashable)

#: Positions in arrays: numbers of runs, or codes into a table.
Positions = NDArray[np.intp]
Mask = NDArray[np.bool_]

#: So many values are looked for one by one faster than all together.
_FEW = 8

_ZERO = np.zeros((), dtype=np.intp)


class Undefined(Exception):
    """An operation has no result for some run, which stands at `position` in the columns it was applied to."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


@dataclass(frozen=True, slots=True, eq=False)
class Column(Generic[T]):
    """The i-th run has the value `values[codes[i]]`. Not every value need occur."""

    values: Sequence[T]
    codes: Positions

    def __len__(self) -> int:
        return len(self.codes)

    def at(self, positions: Positions | Mask) -> Column[T]:
        """The column of the runs at `positions`."""
        return Column(self.values, self.codes[positions])


def constant(value: T, size: int) -> Column[T]:
    """The same value for each of `size` runs."""
    return Column((value,), np.broadcast_to(_ZERO, size))


def truth_column(mask: Mask) -> Column[Any]:
    """The truth values of a mask."""
    return Column((False, True), mask.astype(np.intp))


def truth_mask(column: Column[Any]) -> Mask:
    """The runs for which a column of truth values is true."""
    return np.array(column.values, dtype=np.bool_)[column.codes]


def distinct(codes: Positions, bound: int) -> tuple[Positions, Positions]:
    """The codes that occur, increasing, and for each run the place of its own among them. All codes are < `bound`."""
    if bound == 1:
        return np.zeros(min(1, len(codes)), dtype=np.intp), np.broadcast_to(_ZERO, len(codes))
    if bound > 4 * len(codes) + 1024:
        present, places = np.unique(codes, return_inverse=True)
        return present, places.astype(np.intp, copy=False)
    present = np.flatnonzero(np.bincount(codes, minlength=bound))
    place = np.empty(bound, dtype=np.intp)
    place[present] = np.arange(len(present))
    return present, place[codes]


def joined(columns: Sequence[Column[Any]]) -> Column[tuple[Any, ...]]:
    """The column of tuples of the given columns, at least one; each value of its table occurs, and only once."""
    size = len(columns[0])
    groups, places = min(1, size), np.broadcast_to(_ZERO, size)
    steps: list[tuple[Positions, Positions]] = []
    for column in columns:
        width = len(column.values)
        if width > 1:
            present, places = distinct(places * width + column.codes, groups * width)
            steps.append((present // width, present % width))
            groups = len(present)
    # Back from the last column to the first: which of its values is in each group, and which group it came from.
    group = np.arange(groups)
    found: list[list[Any]] = []
    for column in reversed(columns):
        if len(column.values) > 1:
            before, code = steps.pop()
            found.append([column.values[at] for at in code[group].tolist()])
            group = before[group]
        else:
            found.append([column.values[0]] * groups)
    return Column(list(zip(*reversed(found), strict=True)), places)


def apply(function: Callable[..., R], *columns: Column[Any]) -> Column[R]:
    """`function` of the columns, run by run; it is called once for each combination of values that occurs.

    Raises Undefined where the function raises ArithmeticError.
    """
    groups = joined(columns)
    table: dict[R, int] = {}
    codes = np.empty(len(groups.values), dtype=np.intp)
    for number, arguments in enumerate(groups.values):
        try:
            result = function(*arguments)
        except ArithmeticError as error:
            raise Undefined(int(np.argmax(groups.codes == number))) from error
        codes[number] = table.setdefault(result, len(table))
    if len(table) == 1:
        return constant(next(iter(table)), len(groups))
    return Column(list(table), codes[groups.codes])


def split(column: Column[T]) -> Iterator[tuple[T, Positions]]:
    """Each value that occurs, with the positions where it does, increasing."""
    present, places = distinct(column.codes, len(column.values))
    if len(present) == 1:
        yield column.values[int(present[0])], np.arange(len(column))
        return
    if len(present) <= _FEW:
        for number, code in enumerate(present.tolist()):
            yield column.values[code], np.flatnonzero(places == number)
        return
    # NumPy sorts short integers without comparing them.
    keys = places.astype(np.uint16) if len(present) <= 1 << 16 else places
    order = np.argsort(keys, kind="stable")
    ends = np.cumsum(np.bincount(places, minlength=len(present)))
    for code, positions in zip(present.tolist(), np.split(order, ends[:-1]), strict=True):
        yield column.values[code], positions


def gathered(parts: Iterable[tuple[Positions, Column[R]]], size: int) -> Column[R]:
    """The column of `size` runs that has each of `parts` at its positions; together they are all positions."""
    table: dict[R, int] = {}
    codes = np.empty(size, dtype=np.intp)
    for positions, part in parts:
        if len(part.values) > 1:
            present, places = distinct(part.codes, len(part.values))
        else:
            present, places = np.zeros(1, dtype=np.intp), part.codes
        place = [table.setdefault(part.values[at], len(table)) for at in present.tolist()]
        codes[positions] = np.array(place, dtype=np.intp)[places]
    return Column(list(table), codes)
