"""The rows of a certificate as text. What rows have in common is worked out and encoded once, and cells are told apart
by their numbers in the columns of the table: each row costs a few look-ups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from operator import itemgetter
from typing import Any

from dipc.certificate.derivation import Derivations
from dipc.certificate.seal import encode
from dipc.chain.symbolic import is_symbolic
from dipc.exits.probability import Probabilities
from dipc.sources.decided_rows import DecidedRows, Outcome
from dipc.tables.cells import Cell
from dipc.tables.packed import NumberList, PackedRows, Row

#: A placeholder in the data of a row where rows with the same outcome differ; this character is in no program.
HOLE = "\0"

_Column = tuple[Sequence[Cell | None], NumberList]

#: Which columns a derivation depends on, and the derivations by outcome and the numbers in these columns.
_Way = tuple[Callable[[Sequence[int]], Any], dict[tuple[int, Any], int]]


class RowTexts:
    """The texts of the rows of one table, which were all decided."""

    def __init__(self, rows: PackedRows, decided: DecidedRows, derivations: Derivations) -> None:
        self._rows = rows
        self._decided = decided
        self._derivations = derivations
        self._probabilities = derivations.probabilities
        self._inputs = len(self._probabilities.program.inputs)
        self._outputs = len(self._probabilities.program.outputs)

    def texts(self, shared: Callable[[Row, Outcome], dict[str, Any]]) -> Iterator[str]:
        """Each row encoded. `shared` gives the data of all rows with an outcome, given one of them, with holes for
        derivation (where the probability is known), input, output and row; these have to be in this order."""
        outcomes, places = self._decided.outcomes
        columns = self._rows.columns
        shapes = [""] * len(outcomes)
        ways: dict[tuple[int, ...], _Way] = {}
        rows = zip(
            places,
            _side_by_side([numbers for _, numbers in columns]),
            _plans(columns, self._probabilities),
            _lists(columns[: self._inputs]),
            _lists(columns[self._inputs : self._inputs + self._outputs]),
            strict=False,  # the column of what is absent is infinite
        )
        for number, (place, numbers, plan, inputs, outputs) in enumerate(rows, start=1):
            if not shapes[place]:
                row = self._rows[number - 1]
                shapes[place] = encode(shared(row, outcomes[place])).replace("%", "%%").replace(encode(HOLE), "%s")
            if outcomes[place].probability is None:
                yield shapes[place] % (inputs, outputs, number)
                continue
            way = ways.get(plan)
            if way is None:
                way = ways[plan] = self._way(number)
            pick, known = way
            key = place, pick(numbers)
            derivation = known.get(key)
            if derivation is None:
                row = self._rows[number - 1]
                gamma = outcomes[place].terms.gamma
                derivation = known[key] = self._derivations.add(row.inputs, row.outputs, gamma)
            yield shapes[place] % (derivation, inputs, outputs, number)

    def _way(self, number: int) -> _Way:
        row = self._rows[number - 1]
        needs = self._probabilities.needs(row.inputs, row.outputs)
        positions = (*needs.inputs, *[self._inputs + at for at in needs.balls])
        return (itemgetter(*positions) if positions else len), {}


def _plans(columns: Sequence[_Column], probabilities: Probabilities) -> Iterator[tuple[int, ...]]:
    """For each row what says together what has to be explored; see `Probabilities.plan_key`."""
    program = probabilities.program
    slots = (*program.inputs, *program.outputs)
    parts: list[Iterable[int]] = []
    for at, ((cells, numbers), slot) in enumerate(zip(columns, slots, strict=False)):
        if not is_symbolic(program.slots[slot].type):
            parts.append(numbers)
        elif at >= len(program.inputs):
            given = [cell is not None for cell in cells]
            parts.append(map(given.__getitem__, numbers))
    return _side_by_side(parts)


def _lists(columns: Sequence[_Column]) -> Iterator[str]:
    """The cells of each row as a JSON list."""
    texts = [[encode(None if cell is None else cell.text) for cell in cells] for cells, _ in columns]
    found = [map(text.__getitem__, numbers) for text, (_, numbers) in zip(texts, columns, strict=True)]
    return map("[{}]".format, map(",".join, _side_by_side(found)))


def _side_by_side(columns: Sequence[Iterable[Any]]) -> Iterator[tuple[Any, ...]]:
    return zip(*columns, strict=True) if columns else repeat(())
