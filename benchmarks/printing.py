"""Tables of text on the standard output, in color on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import click


@dataclass
class Table:
    """A table with a title; a cell may be colored by `colored`. The columns in `right` are aligned at the right."""

    title: str
    columns: Sequence[str]
    right: Sequence[str] = ()
    rows: list[Sequence[str]] = field(default_factory=list)

    def add(self, *cells: str) -> None:
        """Add a row of these `cells`, one for each column."""
        assert len(cells) == len(self.columns), (self.columns, cells)
        self.rows.append(cells)

    def show(self) -> None:
        """Print the table."""
        every = [tuple(self.columns), *self.rows]
        widths = [max(len(click.unstyle(row[at])) for row in every) for at in range(len(self.columns))]
        if self.title:
            click.secho(self.title, bold=True)
        for number, row in enumerate(every):
            line = "  ".join(
                self._aligned(cell, width, name) for cell, width, name in zip(row, widths, self.columns, strict=True)
            ).rstrip()
            click.echo(click.style(line, bold=True) if number == 0 else line)

    def _aligned(self, cell: str, width: int, name: str) -> str:
        blanks = " " * (width - len(click.unstyle(cell)))
        return blanks + cell if name in self.right else cell + blanks


def colored(text: str, *, good: bool) -> str:
    """Return `text` in green if `good`, else in yellow."""
    return click.style(text, fg="green" if good else "yellow")


def alarm(text: str) -> str:
    """Return `text` in red."""
    return click.style(text, fg="red", bold=True)
