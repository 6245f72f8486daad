"""Tables of det: one row per input, with its outputs and its distance to disagreement, as CSV or in memory."""

from __future__ import annotations

import csv
import itertools
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import IO

from benchmarks.mechanisms import Answer, Constants, Mechanism

#: One row: the cell of every column, as text.
Row = dict[str, str]


def integer_range(text: str) -> range:
    """Return the integers of `text`, which is `LOW..HIGH`. Raises ValueError, with the reason, on anything else."""
    match = re.fullmatch(r"\s*([+-]?\d+)\s*\.\.\s*([+-]?\d+)\s*", text)
    if match is None:
        raise ValueError(f"{text!r} is not a range of integers, such as -1..1")
    low, high = int(match[1]), int(match[2])
    if low > high:
        raise ValueError(f"the range {text} is empty")
    return range(low, high + 1)


def grid(values: Iterable[int | Fraction], size: int) -> Iterator[tuple[Fraction, ...]]:
    """Every vector of `size` entries from `values`; the last entry runs fastest."""
    return itertools.product([Fraction(value) for value in values], repeat=size)


def columns(mechanism: Mechanism, constants: Constants) -> tuple[str, ...]:
    """Return the header of the table of `mechanism` with these `constants`: its inputs, its outputs, and dd."""
    return (*mechanism.inputs(constants), *mechanism.outputs(int(constants["m"])), "dd")


def cells(mechanism: Mechanism, constants: Constants, vector: Sequence[Fraction]) -> tuple[str, ...]:
    """Return the cells of the row for the input `vector` of `mechanism`, in the order of `columns`.

    `constants` are the values of its constants.
    """
    ideal = mechanism.ideal(constants, vector)
    dd = "inf" if ideal.dd is None else str(ideal.dd)
    return (*map(str, vector), *map(_cell, ideal.outputs), dd)


def rows(mechanism: Mechanism, constants: Constants, vectors: Iterable[Sequence[Fraction]]) -> Iterator[Row]:
    """Yield the rows for the inputs `vectors` of `mechanism` with these `constants`, in order."""
    names = columns(mechanism, constants)
    for vector in vectors:
        yield dict(zip(names, cells(mechanism, constants, vector), strict=True))


def write(mechanism: Mechanism, constants: Constants, vectors: Iterable[Sequence[Fraction]], path: Path | None) -> int:
    """Write the table of `mechanism` with these `constants` to `path`, or to stdout if it is None.

    The table has a row for each of `vectors`. The result is the number of rows. The file appears whole or not at all:
    rows stream into a temporary file beside it, renamed at the end.
    """
    if path is None:
        return _write(mechanism, constants, vectors, sys.stdout)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            count = _write(mechanism, constants, vectors, stream)
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return count


def _write(mechanism: Mechanism, constants: Constants, vectors: Iterable[Sequence[Fraction]], stream: IO[str]) -> int:
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns(mechanism, constants))
    count = 0
    for vector in vectors:
        writer.writerow(cells(mechanism, constants, vector))
        count += 1
    return count


def _cell(answer: Answer) -> str:
    return "" if answer is None else str(answer)


def _umask() -> int:
    # The only way to read the mask is to set it.
    mask = os.umask(0)
    os.umask(mask)
    return mask
