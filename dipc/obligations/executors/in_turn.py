"""Tasks done one after the other, in this process."""

from __future__ import annotations

from collections import deque

from dipc.obligations.executors.executor import Finished
from dipc.obligations.executors.task import Task, perform


class InTurn:
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
