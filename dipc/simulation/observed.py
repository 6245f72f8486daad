"""Outputs of a real implementation: observed one by one, or counted."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from pathlib import Path

from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.files import read_source
from dipc.diagnostics.names import listing
from dipc.diagnostics.source import Excerpt
from dipc.lang.core import Value
from dipc.lang.core_program import CoreProgram
from dipc.tables.cells import BadCell, Cell, CellPool, Column, slot_reader
from dipc.tables.python_source import cell_text

#: The column that says how often an output was observed.
COUNT = "count"

_COUNT_NOTES = ("write how often this output was observed",)

#: Values of all outputs, in the order of the program.
Values = tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Observed:
    """Outputs with how often each came out. `ordered`: one by one, in the order in which they came out."""

    rows: tuple[tuple[Values, int], ...]
    ordered: bool

    @property
    def total(self) -> int:
        return sum(count for _, count in self.rows)


def read_observed(path: Path, program: CoreProgram, *, counted: bool) -> Observed:
    """The outputs in a CSV file with a column for each output, and with `counted` one more, `count`.

    Raises DiagnosticError (E1601, E1602) with the places of all mistakes.
    """
    source = read_source(path)
    lines = source.text.splitlines()
    reader = csv.reader(lines)
    header = [name.strip() for name in next(reader, [])]
    rows = ((Excerpt(source.name, reader.line_num, 1, lines[reader.line_num - 1], 1), row) for row in reader if row)
    place = Excerpt(source.name, 1, 1, lines[0] if lines else "", max(1, len(lines[0]) if lines else 1))
    return _read(header, rows, program, counted, place)


def given_observed(given: Mapping[object, int] | Iterable[object], program: CoreProgram, *, counted: bool) -> Observed:
    """The same from Python: a mapping from outputs to counts, or the outputs one by one. An output is a mapping by
    name, a sequence in the order of the program, or the value itself where there is one output.

    A float is the rational that it is. Raises DiagnosticError for values that are none of the outputs'.
    """
    names = [program.slots[slot].name for slot in program.outputs]
    header = [*names, COUNT] if counted else names
    items: Iterable[tuple[object, int]]
    items = given.items() if isinstance(given, Mapping) else ((output, 1) for output in given)
    rows = []
    for output, count in items:
        if isinstance(output, Mapping):
            values: Sequence[object] = [output.get(name, "") for name in names]
        else:
            values = output if isinstance(output, tuple | list) else [output]
        texts = [cell_text(_exact(value), "an output") for value in values]
        rows.append((None, [*texts, str(count)] if counted else texts))
    return _read(header, rows, program, counted, None)


def _exact(value: object) -> object:
    return Fraction(value) if isinstance(value, float) and isfinite(value) else value


def _read(
    header: Sequence[str],
    rows: Iterable[tuple[Excerpt | None, Sequence[str]]],
    program: CoreProgram,
    counted: bool,
    place: Excerpt | None,
) -> Observed:
    slots = [program.slots[slot] for slot in program.outputs]
    wanted = [slot.name for slot in slots] + ([COUNT] if counted else [])
    if sorted(header) != sorted(wanted):
        note = f"the columns are {listing(wanted, 20)}"
        raise DiagnosticError(Diagnostic("E1601", "the header does not fit the outputs", place, notes=(note,)))
    pool = CellPool()
    columns = [Column(slot_reader(slot.name, slot.type, True, pool)) for slot in slots]
    at = [header.index(slot.name) for slot in slots]
    found: list[tuple[Values, int]] = []
    mistakes: list[Diagnostic] = []
    for excerpt, texts in rows:
        if len(texts) != len(header):
            mistakes.append(Diagnostic("E1602", f"{len(texts)} cells in place of {len(header)}", excerpt))
            continue
        values: list[Value] = []
        for column, index in zip(columns, at, strict=True):
            cell = column[texts[index]]
            if isinstance(cell, Cell) and cell.value is not None:
                values.append(cell.value)
            elif isinstance(cell, BadCell):
                mistakes.append(Diagnostic("E1602", cell.message, excerpt, notes=cell.notes))
        text = texts[header.index(COUNT)].strip() if counted else "1"
        if not (text.isascii() and text.isdigit() and len(text) <= 18):
            mistakes.append(
                Diagnostic("E1602", f"the count `{text[:40]}` is no natural number", excerpt, notes=_COUNT_NOTES)
            )
        elif len(values) == len(slots):
            found.append((tuple(values), int(text)))
    if mistakes:
        raise DiagnosticError(*mistakes[:20])
    observed = Observed(tuple(found), ordered=not counted)
    if not observed.total:
        raise DiagnosticError(Diagnostic("E1601", "no output was observed", place))
    return observed


def tallied(rows: Iterable[tuple[Values, int]], indices: Sequence[int]) -> Counter[Values]:
    """How often each combination of the values at these indices was observed."""
    result: Counter[Values] = Counter()
    for values, count in rows:
        result[tuple(values[index] for index in indices)] += count
    return result


def is_path(given: object) -> bool:
    """Whether what was given names a file."""
    return isinstance(given, str | os.PathLike)
