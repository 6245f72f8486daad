"""A question of the page: a command with its files."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class File:
    """A text under the name that reports show."""

    name: str
    text: str

    def write(self) -> None:
        """Put it there, below the directory at hand."""
        path = Path(self.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text, encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: `command` with the words of its options, about the program and, where there is one, the table."""

    command: str
    program: File
    table: File | None
    options: tuple[str, ...]

    @classmethod
    def from_json(cls, text: str) -> Question:
        """The question that the page wrote."""
        given = json.loads(text)
        table = given["table"]
        return cls(
            given["command"],
            File(**given["program"]),
            None if table is None else File(**table),
            tuple(given["options"]),
        )

    @property
    def words(self) -> tuple[str, ...]:
        """The arguments and options of the command."""
        tables = () if self.table is None else (self.table.name,)
        return (self.program.name, *tables, *self.options)

    def write(self) -> None:
        """Put the files where the words say."""
        self.program.write()
        if self.table is not None:
            self.table.write()
