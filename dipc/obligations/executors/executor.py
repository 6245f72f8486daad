"""The protocol of all executors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from dipc.obligations.executors.task import Done, Task


@dataclass(frozen=True, slots=True)
class Finished:
    """A task that came back: done, or lost with the worker that had it, for the reason `lost`."""

    ticket: int
    done: Done | None
    lost: str = ""


class Executor(Protocol):
    """Does tasks in any order. Each one submitted comes back exactly once, unless `close` comes first.

    `slots` is how many tasks are worth having at a time; `attempts` how often one that was alone with its worker when
    that was lost is worth trying.
    """

    attempts: int

    @property
    def slots(self) -> int: ...

    def submit(self, ticket: int, task: Task) -> None:
        """Begin a task soon."""

    def wait(self) -> list[Finished]:
        """At least one task that came back; some must be out. Raises DiagnosticError where none ever can."""

    def close(self) -> None:
        """End at once, leaving nothing behind that runs."""
