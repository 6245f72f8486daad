"""The engine that a user asks for: in this process, in several, on a cluster, with a cache."""

from __future__ import annotations

import os
from contextlib import ExitStack

from dipc.algebra.limits import Limits
from dipc.decide.engine import Engine
from dipc.decide.executors import Executor
from dipc.measure.measure import Measurer
from dipc.text.diagnostic import Diagnostic, DiagnosticError

#: More processes than this are surely a slip.
MOST_JOBS = 1024


def open_engine(
    stack: ExitStack,
    measurer: Measurer,
    limits: Limits,
    *,
    jobs: int | str = 1,
    cache: str | os.PathLike[str] | None = None,
    dask: str | None = None,
    digits: int | None = None,
    keep_proofs: bool = False,
) -> Engine:
    """Decides in `jobs` processes, as many as there are processors for 0 or "auto", or on the workers of the Dask
    scheduler at the address `dask`; what is in the file `cache` is not decided again. No decision depends on these.

    What was opened is closed with the stack, and all processes are ended. Raises DiagnosticError (E13xx) for a cache or
    a cluster that cannot be used.
    """
    count = job_count(jobs)
    if dask is not None and count > 1:
        note = "give either `-j` or `--dask`"
        raise DiagnosticError(Diagnostic("E1311", "both processes and a Dask cluster are asked for", notes=(note,)))
    if count == 1 and cache is None and dask is None:
        return Engine(measurer, limits, digits=digits, keep_proofs=keep_proofs)
    from dipc.decide.shared import SharedEngine

    memory = None
    if cache is not None:
        from dipc.decide.cache import Cache
        from dipc.decide.executors import fingerprint
        from dipc.decide.memory import Memory

        kept = stack.enter_context(Cache(cache, fingerprint()))
        memory = Memory(kept, measurer.limits, limits, digits)
        stack.callback(memory.close)
    executor = _executor(count, dask)
    stack.callback(executor.close)
    return SharedEngine(measurer, limits, executor, memory, digits=digits, keep_proofs=keep_proofs)


def _executor(jobs: int, dask: str | None) -> Executor:
    if dask is not None:
        from dipc.decide.processes import Cluster

        return Cluster(dask)
    if jobs > 1:
        from dipc.decide.processes import LateProcesses

        return LateProcesses(jobs)
    from dipc.decide.executors import InTurn

    return InTurn()


def job_count(jobs: int | str) -> int:
    """The number of processes that is meant: 0 and `auto` are the number of processors."""
    count = 0 if jobs == "auto" else jobs
    if isinstance(count, str) and count.isascii() and count.isdigit() and len(count) < 10:
        count = int(count)
    if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MOST_JOBS:
        raise DiagnosticError(
            Diagnostic(
                "E1312",
                f"`{jobs}` is no number of processes",
                notes=(f"write a number from 1 to {MOST_JOBS}, or `auto` (or 0) for as many as there are processors",),
            )
        )
    return count or _processors()


def _processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
