"""`check` in several processes, on a cluster, and with a cache; the report is the same, byte for byte."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.exits.program import Program
from dipc.sources.decided_rows import Outcome
from dipc.sources.free_gamma import is_free
from dipc.sources.ideal_check import check as check_here
from dipc.sources.outcome import Report
from dipc.sources.run import Crew, Run
from dipc.sources.symmetry.check import grouped, is_everything, with_corollary

if TYPE_CHECKING:
    from dipc.scale.executor import Executor

#: More processes than this are surely a slip.
MOST_JOBS = 1024


def check(
    program: Program,
    table: object = None,
    *,
    jobs: int | str = 1,
    cache: str | os.PathLike[str] | None = None,
    dask: str | None = None,
    classes: bool | None = None,
    **options: Any,
) -> Report:
    """Decide every row of a table; see `dipc.sources.ideal_check.check`, whose report this gives in other ways too.

    With `classes` the rows of the report are classes of inputs with the same obligation, each with its `count`; None
    does so where there are thousands of inputs.

    `jobs` processes share the work, as many as there are processors for 0 or "auto"; or the workers of the Dask
    scheduler at the address `dask` do. What is decided is kept in the file `cache`, and what is there is not decided
    again. None of them changes the report, but for its `effort`.

    With `inputs="all"` the claim is decided for every real input, in this process; see `check_all`.

    Raises DiagnosticError (E13xx) besides for a cache or a cluster that cannot be used.
    """
    if table is None and _asks_for_all(options.get("inputs")) and isinstance(program, Program):
        from dipc.sources.every_input.check import check_every_input

        return check_every_input(program, options)
    with ExitStack() as stack:
        free = is_free(program, options.get("gamma"))
        crew = crew_of(stack, jobs=jobs, cache=cache, dask=dask, free=free)
        found = None
        if isinstance(program, Program):
            limited = program if options.get("limits") is None else program.with_limits(options["limits"])
            as_given = bool(options.get("keep_proofs"))
            found = grouped(limited, table, options.get("inputs"), classes, as_given=as_given)
        if found is None:
            report = check_here(program, table, crew=crew, **options)
            return with_corollary(report) if is_everything(program, table, options.get("inputs")) else report
        options = {name: value for name, value in options.items() if name not in ("inputs", "limits")}
        return found.counted(check_here(found.program, found.table, crew=crew, **options))


def crew_of(
    stack: ExitStack,
    *,
    jobs: int | str = 1,
    cache: str | os.PathLike[str] | None = None,
    dask: str | None = None,
    free: bool = False,
) -> Crew | None:
    """Who decides the rows; None where that is this process alone, without a cache. What was opened for it is closed
    with the stack, and all processes are ended. `free` says that gamma is left open, which is decided here alone."""
    count = job_count(jobs)
    if dask is not None and count > 1:
        raise DiagnosticError(
            Diagnostic(
                "E1311",
                "both processes and a Dask cluster are asked for",
                notes=("give either `-j` or `--dask`",),
            )
        )
    if count == 1 and cache is None and dask is None:
        return None
    if free:
        note = "leave out `-j`, `--cache` and `--dask`, or give gamma a number"
        raise DiagnosticError(Diagnostic("E1313", "gamma is free: that is decided in one process", notes=(note,)))
    from dipc.scale.engine import fingerprint

    kept = None
    if cache is not None:
        from dipc.scale.cache import Cache

        kept = stack.enter_context(Cache(cache, fingerprint()))
    executor = _executor(count, dask)
    stack.callback(executor.close)

    def crew(run: Run) -> Iterator[Outcome]:
        from dipc.scale.crew import Foreman
        from dipc.scale.memory import Memory

        return Foreman(run, executor, None if kept is None else Memory(kept, run)).outcomes()

    return crew


def _asks_for_all(inputs: object) -> bool:
    """Whether what was given as inputs asks for every input."""
    texts = [inputs] if isinstance(inputs, str) else inputs
    return isinstance(texts, list | tuple) and [str(text).strip() for text in texts] == ["all"]


def _executor(jobs: int, dask: str | None) -> Executor:
    if dask is not None:
        from dipc.scale.cluster import Cluster

        return Cluster(dask)
    if jobs > 1:
        from dipc.scale.processes import Processes

        return Processes(jobs)
    from dipc.scale.executor import Here

    return Here()


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
