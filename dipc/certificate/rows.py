"""The rows of a certificate as text. What rows have in common is worked out and encoded once, and cells are told apart
by their numbers in the columns of the table: each row costs a few look-ups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any

from dipc.certificate.seal import encode
from dipc.claims.given import Cell
from dipc.claims.table import NumberList, PackedRows, Row
from dipc.questions.report import DecidedRows, RowOutcome

#: A placeholder in the data of a row where rows with the same outcome differ; this character is in no program.
HOLE = "\0"

_Column = tuple[Sequence[Cell | None], NumberList]


class RowTexts:
    """The texts of the rows of one table, which were all decided."""

    def __init__(self, rows: PackedRows, decided: DecidedRows, inputs: int, outputs: int) -> None:
        self._rows = rows
        self._decided = decided
        self._inputs = inputs
        self._outputs = outputs

    def texts(self, shared: Callable[[Row, RowOutcome], dict[str, Any]]) -> Iterator[str]:
        """Each row encoded. `shared` gives the data of all rows with an outcome, given one of them, with holes for
        input, output and row; these have to be in this order."""
        outcomes, places = self._decided.outcomes
        columns = self._rows.columns
        shapes = [""] * len(outcomes)
        rows = zip(
            places,
            _lists(columns[: self._inputs]),
            _lists(columns[self._inputs : self._inputs + self._outputs]),
            strict=False,  # the column of what is absent is infinite
        )
        for number, (place, inputs, outputs) in enumerate(rows, start=1):
            if not shapes[place]:
                row = self._rows[number - 1]
                shapes[place] = encode(shared(row, outcomes[place])).replace("%", "%%").replace(encode(HOLE), "%s")
            yield shapes[place] % (inputs, outputs, number)


def _lists(columns: Sequence[_Column]) -> Iterator[str]:
    """The cells of each row as a JSON list."""
    texts = [[encode(None if cell is None else cell.text) for cell in cells] for cells, _ in columns]
    found = [map(text.__getitem__, numbers) for text, (_, numbers) in zip(texts, columns, strict=True)]
    return map("[{}]".format, map(",".join, _side_by_side(found)))


def _side_by_side(columns: Sequence[Iterable[Any]]) -> Iterator[tuple[Any, ...]]:
    return zip(*columns, strict=True) if columns else repeat(())
