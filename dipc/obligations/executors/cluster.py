"""Tasks on a Dask cluster, which the user started."""

from __future__ import annotations

import queue
from contextlib import suppress
from time import monotonic
from typing import Any

from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.obligations.executors.executor import Finished
from dipc.obligations.executors.task import Task, perform

#: Seconds to wait for the scheduler, and for a worker where none is left.
CONNECT, PATIENCE = 10.0, 60.0

#: Seconds between two looks at the cluster while nothing comes back, and for which its size is taken as known.
_LOOK = 1.0


class Cluster:
    """Does tasks on the workers of the Dask scheduler at `address`.

    A task whose worker dies is done again by another one, which the scheduler sees to; one that costs too many workers
    their lives (the scheduler's `allowed-failures`) comes back as lost.
    """

    attempts = 1

    def __init__(self, address: str, *, connect: float = CONNECT, patience: float = PATIENCE) -> None:
        """Raises DiagnosticError where Dask is not installed, or the scheduler is not reached within `connect`
        seconds; `patience` is how long to wait for a worker where none is left."""
        try:
            import distributed as imported
        except ImportError:
            raise DiagnosticError(_not_installed()) from None
        distributed: Any = imported  # its functions carry no types
        self._address = address
        self._patience = patience
        try:
            self._client: Any = _client(distributed, address, connect)
        except (OSError, TimeoutError, ValueError) as error:
            raise DiagnosticError(_unreachable(address, connect, error)) from None
        self._killed: type[Exception] = distributed.KilledWorker
        self._back: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self._futures: dict[int, Any] = {}
        self._size = 1
        self._looked = float("-inf")
        self._seen = monotonic()

    @property
    def slots(self) -> int:
        # One task more for each worker than it works on, so that none waits for the next.
        self._look()
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
                self._look()
                if not self._size and monotonic() - self._seen > self._patience:
                    raise DiagnosticError(_no_workers(self._address, self._patience)) from None
                continue
            del self._futures[ticket]
            return [self._finished(ticket, future)]

    def close(self) -> None:
        futures, self._futures = list(self._futures.values()), {}
        if self._client.status != "closed":
            self._client.cancel(futures, force=True)
            self._client.close()

    def _look(self) -> None:
        """See how many workers there are, not too often."""
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
                    return Finished(ticket, None, "was lost to the cluster again and again")
                if isinstance(error, MemoryError):
                    return Finished(ticket, None, "ran out of memory")
                raise DiagnosticError(_unable(error))
        raise DiagnosticError(_gone(self._address, future.status))


def _client(distributed: Any, address: str, connect: float) -> Any:
    """A connected client, closed by `close` alone: never by the garbage collector, which may run while the next client
    holds the lock that closing takes, too."""

    class Closed(distributed.Client):  # type: ignore[misc]
        def __init__(self) -> None:
            try:
                super().__init__(address, timeout=connect, set_as_default=False)
            except BaseException:
                with suppress(Exception):  # what was half begun may not end well; why it failed is what matters
                    self.close(timeout=connect)
                raise

        def __del__(self) -> None:
            """Leave it to `close`."""

    return Closed()


def _not_installed() -> Diagnostic:
    return Diagnostic(
        "E1307",
        "Dask is not installed",
        notes=(
            '`pip install "dipc-verifier[dask]"` installs it',
            "`-j N` uses the processors of this machine without it",
        ),
    )


def _unreachable(address: str, seconds: float, error: Exception) -> Diagnostic:
    why = " ".join(str(error).split()) or type(error).__name__
    return Diagnostic(
        "E1308",
        f"no Dask scheduler answers at `{address}` within {seconds:g} s",
        notes=("`dask scheduler` prints its address, such as tcp://127.0.0.1:8786", f"what was tried: {why}"[:300]),
    )


def _gone(address: str, why: object) -> Diagnostic:
    return Diagnostic(
        "E1308",
        f"the Dask scheduler at `{address}` is gone: {why}",
        notes=("with `--cache FILE` what was decided is kept for the next run",),
    )


def _no_workers(address: str, seconds: float) -> Diagnostic:
    return Diagnostic(
        "E1310",
        f"the Dask scheduler at `{address}` has had no worker for {seconds:g} s",
        notes=(f"`dask worker {address}` starts one", "with `--cache FILE` what was decided is kept for the next run"),
    )


def _unable(error: BaseException) -> Diagnostic:
    why = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return Diagnostic(
        "E1309",
        f"a Dask worker cannot do the work: {why[:200]}",
        notes=("install the same dipc, with the same python-flint, on all machines",),
    )
