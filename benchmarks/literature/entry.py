"""What is said about a mechanism: its table, and claims with their sources and the verdicts they should get."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

HERE = Path(__file__).resolve().parent

#: One row of a table: the cell of every column, as text.
Row = Mapping[str, str]


def _as_it_is(row: Row) -> Row:
    return row


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim about every row of a table, what is known about it, and from where.

    `beta` None is that of the program or of the table's column; `eps` None is all eps > 0; gamma and alpha are the
    program's. `row` adapts the rows. `failing` is how many rows fail at some eps: none if the claim is a theorem.
    `source` says whose claim it is, `known` how the expected outcome was found without dipc.
    """

    name: str
    source: str
    known: str
    beta: str | None = None
    gamma: str | None = None
    eps: str | None = None
    failing: int = 0
    row: Callable[[Row], Row] = _as_it_is


@dataclass(frozen=True, slots=True)
class Entry:
    """A program of this directory, with its table of det and the claims about it, that of the program first."""

    name: str
    title: str
    rows: tuple[Row, ...]
    claims: tuple[Claim, ...]
    path: Path = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", HERE / f"{self.name}.dip")

    def table(self, claim: Claim) -> list[dict[str, str]]:
        """The rows that `claim` is about."""
        return [dict(claim.row(row)) for row in self.rows]

    def csv(self, claim: Claim | None = None) -> str:
        """Return the table of `claim`, by default the first one, as a CSV file for `dipc check`."""
        rows = self.table(claim or self.claims[0])
        stream = StringIO()
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return stream.getvalue()
