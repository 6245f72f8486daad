"""Where tasks are done: here, in processes, or on a cluster. One protocol, so that all else is the same."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Protocol

from dipc.scale.tasks import Done, Task, perform


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


class Here:
    """Does each task when it is waited for, in this process."""

    slots = 1
    attempts = 1

    def __init__(self) -> None:
        self._tasks: deque[tuple[int, Task]] = deque()

    def submit(self, ticket: int, task: Task) -> None:
        self._tasks.append((ticket, task))

    def wait(self) -> list[Finished]:
        ticket, task = self._tasks.popleft()
        return [Finished(ticket, perform(task))]

    def close(self) -> None:
        self._tasks.clear()
