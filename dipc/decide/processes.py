"""Executors that use processes of this machine, or a Dask cluster that the user started."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from time import monotonic, perf_counter
from typing import Any

from dipc.decide.engine import Done, Finished, Task, perform
from dipc.text.diagnostic import Diagnostic, DiagnosticError

# --- Tasks in processes of this machine -------------------------------------------------------------------------------
#
# The processes are spawned, not forked: a fork would copy FLINT's state, and locks that other threads hold. Each
# process has its own pipe and performs its tasks in order. When one dies, its current task is known, and the others
# continue. Pools of the standard library end all their processes when one dies.

#: Tasks that a process has at a time: the current one and the next, so that it never waits.
_AT_HAND = 2

#: Seconds of work in this process before others are started: approximately the time that starting one takes.
WORTH = 0.5

#: The number of processes that may die during their start, if none ever started, before the executor gives up.
_STILLBORN = 3


def serve(connection: Connection) -> None:
    """Perform the tasks that arrive on `connection`, one after the other.

    End immediately when the process at the other end of the connection ends.
    """
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
    """An executor that uses up to `most` processes of this machine.

    If `here` is None, the processes are started when there are tasks. Otherwise this process first performs tasks for
    `here` seconds, which is quicker for little work. After that time the others start, while this process finishes its
    own task.
    """

    attempts = 3

    def __init__(self, most: int, *, here: float | None = None) -> None:
        self._most = most
        self.slots = _AT_HAND * most
        self._context = get_context("spawn")
        self._workers: list[_Worker] = []
        self._waiting: deque[tuple[int, Task]] = deque()
        #: The seconds left for tasks in this process; None once the other processes have begun.
        self._left = here
        self._error: Exception | None = None
        self._any_ready = False
        self._stillborn = 0

    def submit(self, ticket: int, task: Task) -> None:
        self._waiting.append((ticket, task))
        if self._left is None:
            self._hand_out()

    def wait(self) -> list[Finished]:
        if self._left is not None:
            return [self._performed_here(self._left)]
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
        """The process identifiers of the running processes."""
        return [worker.process.pid for worker in self._workers if worker.process.pid is not None]

    def _performed_here(self, seconds: float) -> Finished:
        ticket, task = self._waiting.popleft()
        started = perf_counter()
        with self._others_begin_in(seconds):
            try:
                finished = Finished(ticket, perform(task))
            except MemoryError:
                finished = Finished(ticket, None, "ran out of memory")
        if self._error is not None:
            raise self._error
        if self._left is not None:
            self._left -= perf_counter() - started
            if self._left <= 0:
                self._begin()
        return finished

    @contextlib.contextmanager
    def _others_begin_in(self, seconds: float) -> Iterator[None]:
        """Start the other processes after `seconds`, unless the with block has ended before.

        The block must not call methods of this executor.
        """
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
        except Exception as error:  # `wait` raises it
            self._error = error

    def _begin(self) -> None:
        self._left = None
        self._hand_out()

    def _hand_out(self) -> None:
        while self._waiting:
            worker = min(self._workers, key=lambda worker: len(worker.tasks), default=None)
            if worker is None or (worker.tasks and len(self._workers) < self._most):
                worker = self._start()
            if len(worker.tasks) >= _AT_HAND:
                return
            ticket, task = self._waiting.popleft()
            worker.tasks.append((ticket, task))
            # A dead process is noticed while waiting for its answer.
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
        self._waiting.extendleft(reversed(worker.tasks))  # tasks that it had not begun
        if not worker.ready and not self._any_ready:
            self._stillborn += 1
            if self._stillborn >= _STILLBORN:
                raise DiagnosticError(_stillborn(code))
            if lost is not None:
                return [Finished(lost, None, "")]
        return [] if lost is None else [Finished(lost, None, _end_text(code))]


@contextlib.contextmanager
def _sigint_blocked() -> Iterator[None]:
    """Make processes that are started in the with block ignore Ctrl-C, so that only the parent process handles it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # If the tracker started together with the first process, it would unblock SIGINT too early.
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
        f"the worker processes end as soon as they are started: the last one {_end_text(code)}",
        notes=(
            'a script that uses several processes must do its work under `if __name__ == "__main__":`',
            "without `-j` (or `jobs=`) everything is done in one process",
        ),
    )


# --- Tasks on a Dask cluster, which the user started ------------------------------------------------------------------

#: Seconds to wait for the scheduler, and for a worker where none is left.
CONNECT, PATIENCE = 10.0, 60.0

#: Seconds between two looks at the cluster while no task comes back, and for which its size is kept.
_LOOK = 1.0


class Cluster:
    """An executor that uses the workers of a Dask cluster, whose scheduler is at `address`.

    If a worker dies, the scheduler gives its task to another worker. A task that kills too many workers (more than the
    scheduler's `allowed-failures`) comes back as lost.
    """

    attempts = 1

    def __init__(self, address: str, *, connect: float = CONNECT, patience: float = PATIENCE) -> None:
        """Connect to the scheduler at `address` within `connect` seconds.

        If the cluster has no workers, the executor waits up to `patience` seconds for one. Raises DiagnosticError if
        Dask is not installed, or the scheduler is not reached.
        """
        try:
            import distributed as imported
        except ImportError:
            raise DiagnosticError(
                Diagnostic(
                    "E1307",
                    "Dask is not installed",
                    notes=(
                        "install it: in a checkout pip install '.[dask]', elsewhere pip install 'distributed>=2025.7'",
                        "`-j N` uses the processors of this machine without it",
                    ),
                )
            ) from None
        distributed: Any = imported  # its functions carry no types
        self._address = address
        self._patience = patience
        try:
            self._client: Any = _client(distributed, address, connect)
        except (OSError, TimeoutError, ValueError) as error:
            why = " ".join(str(error).split()) or type(error).__name__
            raise DiagnosticError(
                Diagnostic(
                    "E1308",
                    f"no Dask scheduler answers at `{address}` within {connect:g} s",
                    notes=(
                        "`dask scheduler` prints its address, such as tcp://127.0.0.1:8786",
                        f"the attempt failed with: {why}"[:300],
                    ),
                )
            ) from None
        self._killed: type[Exception] = distributed.KilledWorker
        self._back: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self._futures: dict[int, Any] = {}
        self._size = 1
        self._looked = float("-inf")
        self._seen = monotonic()

    @property
    def slots(self) -> int:
        # One task more for each worker than it works on, so that none waits for the next.
        self._count_workers()
        return max(1, 2 * self._size)

    def submit(self, ticket: int, task: Task) -> None:
        future = self._client.submit(perform, task, pure=False)
        self._futures[ticket] = future
        future.add_done_callback(lambda future: self._back.put((ticket, future)))

    def wait(self) -> list[Finished]:
        while True:
            try:
                ticket, future = self._back.get(timeout=_LOOK)
            except queue.Empty:
                self._count_workers()
                if not self._size and monotonic() - self._seen > self._patience:
                    raise DiagnosticError(
                        Diagnostic(
                            "E1310",
                            f"the Dask scheduler at `{self._address}` has had no worker for {self._patience:g} s",
                            notes=(
                                f"`dask worker {self._address}` starts one",
                                "with `--cache FILE` the answers so far are kept for the next run",
                            ),
                        )
                    ) from None
                continue
            del self._futures[ticket]
            return [self._finished(ticket, future)]

    def close(self) -> None:
        futures, self._futures = list(self._futures.values()), {}
        if self._client.status != "closed":
            self._client.cancel(futures, force=True)
            self._client.close()

    def _count_workers(self) -> None:
        now = monotonic()
        if now - self._looked < _LOOK:
            return
        self._looked = now
        try:
            self._size = len(self._client.scheduler_info(n_workers=-1)["workers"])
        except (OSError, ValueError) as error:
            raise DiagnosticError(_gone(self._address, error)) from None
        if self._size:
            self._seen = now

    def _finished(self, ticket: int, future: Any) -> Finished:
        match future.status:
            case "finished":
                return Finished(ticket, future.result())
            case "error":
                error = future.exception()
                if isinstance(error, self._killed):
                    return Finished(ticket, None, "was lost by the cluster again and again")
                if isinstance(error, MemoryError):
                    return Finished(ticket, None, "ran out of memory")
                why = f"{type(error).__name__}: {' '.join(str(error).split())}"
                note = "install the same dipc, with the same python-flint, on all machines"
                message = f"a Dask worker cannot do the work: {why[:200]}"
                raise DiagnosticError(Diagnostic("E1309", message, notes=(note,)))
        raise DiagnosticError(_gone(self._address, future.status))


def _client(distributed: Any, address: str, connect: float) -> Any:
    """Return a client connected to the scheduler at `address` within `connect` seconds.

    `distributed` is Dask's module of this name. The client stays connected until its `close` is called, even if it is
    garbage collected: the collector may run while another client holds the lock that closing needs.
    """

    class Closed(distributed.Client):  # type: ignore[misc]
        def __init__(self) -> None:
            try:
                super().__init__(address, timeout=connect, set_as_default=False)
            except BaseException:
                with suppress(Exception):  # the first error matters, not one of closing
                    self.close(timeout=connect)
                raise

        def __del__(self) -> None:
            pass

    return Closed()


def _gone(address: str, why: object) -> Diagnostic:
    return Diagnostic(
        "E1308",
        f"the Dask scheduler at `{address}` is gone: {why}",
        notes=("with `--cache FILE` the answers so far are kept for the next run",),
    )
