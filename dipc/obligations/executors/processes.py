"""Tasks in processes of this machine.

The processes are spawned, not forked: FLINT keeps state, and other threads may hold locks, that a fork would copy
as they are. Each has a pipe of its own and does its tasks in order, so that when one dies it is known which task it was
at, and the others go on. Pools of the standard library give up all their processes when one dies.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.obligations.executors.executor import Finished
from dipc.obligations.executors.task import Done, Task, perform

#: Tasks that a process has at a time: the one it works on, and the next, so that it waits for nobody.
_AT_HAND = 2

#: So many processes may die before they say that they are there, when none ever did.
_STILLBORN = 3


def serve(connection: Connection) -> None:
    """Be a worker: do tasks until the process at the other end of the pipe is gone, and then end at once."""
    tasks: queue.SimpleQueue[Task] = queue.SimpleQueue()

    def listen() -> None:
        try:
            while True:
                tasks.put(connection.recv())
        except (EOFError, OSError):
            os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    connection.send(None)
    while True:
        task = tasks.get()
        try:
            done = perform(task)
        except MemoryError:
            os._exit(os.EX_OSERR)
        connection.send(done)


@dataclass(slots=True, eq=False)
class _Worker:
    """A process with its pipe, and its tasks with their tickets: it works on the first of them."""

    process: SpawnProcess
    connection: Connection
    tasks: deque[tuple[int, Task]] = field(default_factory=deque)
    ready: bool = False

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.process.close()
        self.connection.close()


class Processes:
    """Does tasks in up to `most` processes, started as they are needed."""

    attempts = 3

    def __init__(self, most: int) -> None:
        self._most = most
        self.slots = _AT_HAND * most
        self._context = get_context("spawn")
        self._workers: list[_Worker] = []
        self._waiting: deque[tuple[int, Task]] = deque()
        self._any_ready = False
        self._stillborn = 0

    def submit(self, ticket: int, task: Task) -> None:
        self._waiting.append((ticket, task))
        self._hand_out()

    def wait(self) -> list[Finished]:
        finished: list[Finished] = []
        while not finished:
            self._hand_out()
            ends = {worker.connection: worker for worker in self._workers}
            for connection in wait(list(ends)):
                assert isinstance(connection, Connection)
                finished += self._receive(ends[connection])
        self._hand_out()
        return finished

    def close(self) -> None:
        self._waiting.clear()
        while self._workers:
            self._workers.pop().stop()

    @property
    def pids(self) -> list[int]:
        """The processes that are there now."""
        return [worker.process.pid for worker in self._workers if worker.process.pid is not None]

    def _hand_out(self) -> None:
        while self._waiting:
            worker = min(self._workers, key=lambda worker: len(worker.tasks), default=None)
            if worker is None or (worker.tasks and len(self._workers) < self._most):
                worker = self._start()
            if len(worker.tasks) >= _AT_HAND:
                return
            ticket, task = self._waiting.popleft()
            worker.tasks.append((ticket, task))
            # A process that is gone is noticed where its answer is waited for.
            with contextlib.suppress(OSError):
                worker.connection.send(task)

    def _start(self) -> _Worker:
        here, there = self._context.Pipe()
        process = self._context.Process(target=serve, args=(there,), daemon=True, name="dipc-worker")
        with _sigint_blocked():
            process.start()
        there.close()
        self._workers.append(_Worker(process, here))
        return self._workers[-1]

    def _receive(self, worker: _Worker) -> list[Finished]:
        """What has come from a worker that has something to say, or is gone."""
        try:
            message = worker.connection.recv()
        except (EOFError, OSError):
            return self._lost(worker)
        if message is None:
            worker.ready = self._any_ready = True
            return []
        assert isinstance(message, Done)
        ticket, _ = worker.tasks.popleft()
        return [Finished(ticket, message)]

    def _lost(self, worker: _Worker) -> list[Finished]:
        self._workers.remove(worker)
        worker.process.join(1)
        code = worker.process.exitcode
        worker.stop()
        lost = worker.tasks.popleft()[0] if worker.tasks else None
        self._waiting.extendleft(reversed(worker.tasks))  # those it had not begun
        if not worker.ready and not self._any_ready:
            self._stillborn += 1
            if self._stillborn >= _STILLBORN:
                raise DiagnosticError(_stillborn(code))
            if lost is not None:
                return [Finished(lost, None, "")]
        return [] if lost is None else [Finished(lost, None, _end_text(code))]


@contextlib.contextmanager
def _sigint_blocked() -> Iterator[None]:
    """What is started in the block never sees Ctrl-C: the process that started it decides what then happens."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Started with the first process, it would let SIGINT through again before that one is there.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_text(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(-code).name}"
    return "ran out of memory" if code == os.EX_OSERR else f"ended with exit code {code}"


def _stillborn(code: int | None) -> Diagnostic:
    return Diagnostic(
        "E1301",
        f"the worker processes end as they start: the last one {_end_text(code)}",
        notes=(
            'a script that uses several processes does its work under `if __name__ == "__main__":`',
            "without `-j` (or `jobs=`) everything is done in one process",
        ),
    )
