"""Tasks in processes that are started late: a process takes longer to start than most tables take."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Iterator
from time import perf_counter

from dipc.obligations.executors.executor import Finished
from dipc.obligations.executors.processes import Processes
from dipc.obligations.executors.task import Task, perform

#: Seconds of work in this process before others are worth starting: about what starting one takes.
WORTH = 0.5


class LateProcesses:
    """Does tasks in turn until they have taken `worth` seconds, and from then on in up to `most` processes. They are
    started on time even while this process is at a task that takes longer: it finishes that one."""

    attempts = Processes.attempts

    def __init__(self, most: int, worth: float | None = None) -> None:
        self._processes = Processes(most)
        self._left = WORTH if worth is None else worth
        self._own: deque[tuple[int, Task]] = deque()
        self._begun = False
        self._error: Exception | None = None

    @property
    def slots(self) -> int:
        return self._processes.slots

    @property
    def pids(self) -> list[int]:
        """The processes that are there now."""
        return self._processes.pids

    def submit(self, ticket: int, task: Task) -> None:
        if self._begun:
            self._processes.submit(ticket, task)
        else:
            self._own.append((ticket, task))

    def wait(self) -> list[Finished]:
        if self._begun:
            return self._processes.wait()
        ticket, task = self._own.popleft()
        started = perf_counter()
        with self._others_begin_in(self._left):
            try:
                found = Finished(ticket, perform(task))
            except MemoryError:
                found = Finished(ticket, None, "ran out of memory")
        self._left -= perf_counter() - started
        if self._error is not None:
            raise self._error
        if self._left <= 0 and not self._begun:
            self._begin()
        return [found]

    def close(self) -> None:
        self._own.clear()
        self._processes.close()

    @contextlib.contextmanager
    def _others_begin_in(self, seconds: float) -> Iterator[None]:
        """While the block is at work, from then on, others work as well. Nothing else here is touched meanwhile."""
        timer = threading.Timer(seconds, self._begin_or_tell)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()

    def _begin_or_tell(self) -> None:
        try:
            self._begin()
        except Exception as error:  # it is raised where answers are waited for
            self._error = error

    def _begin(self) -> None:
        self._begun = True
        while self._own:
            self._processes.submit(*self._own.popleft())
