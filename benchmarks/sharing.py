"""What is left to the process that asks where others decide, and what a table of different rows takes."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from benchmarks import tables
from benchmarks.goal import Goal, checked, dipc_command
from benchmarks.mechanisms import MECHANISMS

#: Rows that are shared, and rows that are streamed.
_SHARED, _STREAMED = 3_000, 100_000


def different_rows(count: int, path: Path) -> list[str]:
    """Write a table of Sparse, m = 10, whose rows have means of three digits, all of them different, the first one
    above the threshold anywhere; the command that checks it."""
    mechanism = MECHANISMS["sparse"]
    constants = mechanism.constants({"m": Fraction(10), "c": Fraction(1)})
    chance = random.Random(3)  # noqa: S311 - no secret

    def vector() -> list[Fraction]:
        below = chance.randrange(10)
        return [Fraction(chance.randint(-400, -1 if i < below else 400), 100) for i in range(10)]

    vectors = (vector() for _ in range(count))
    tables.write(mechanism, constants, vectors, path)
    return [*dipc_command(), "check", str(mechanism.path), str(path), "-D", "m=10", "-q"]


def goals() -> Iterator[Goal]:
    """The share of all CPU that the process which asks takes, with 1, 2 and 4 workers of a Dask cluster; and a long
    table, of which no two rows are alike."""
    import psutil  # type: ignore[import-untyped]
    from distributed import LocalCluster

    with tempfile.TemporaryDirectory() as directory:
        command = different_rows(_SHARED, Path(directory) / "table.csv")
        for workers in (1, 2, 4):
            with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
                processes = [psutil.Process(worker.pid) for worker in cluster.workers.values()]
                before = sum(process.cpu_times().user + process.cpu_times().system for process in processes)
                usage = checked([*command, "--dask", cluster.scheduler_address])
                after = sum(process.cpu_times().user + process.cpu_times().system for process in processes)
            work = after - before
            name = f"The share of the process that asks, {_SHARED} different rows, Dask with {workers}"
            remark = f"{usage.cpu:.1f} s with its start, and {work:.1f} s of the workers"
            yield Goal(name, 0.1, usage.cpu / (usage.cpu + work), "of the CPU", remark, "", usage.megabytes)
        command = different_rows(_STREAMED, Path(directory) / "long.csv")
        usage = checked(command)
        name = f"{_STREAMED} different rows from a CSV"
        yield Goal(
            name, 0.2, usage.cpu / _STREAMED * 1000, "ms CPU a row", f"{usage.cpu:.0f} s CPU", "", usage.megabytes
        )
        yield Goal(f"{name}: memory", 300, usage.megabytes, "MB")
