"""What is left to the process that asks where others decide, and what a table of different rows takes."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from pathlib import Path

from benchmarks import changes, tables
from benchmarks.goal import Goal, Usage, checked, dipc_command
from benchmarks.mechanisms import MECHANISMS

#: Rows of Sparse and of NoisyMax that are shared, and rows that are streamed.
_SHARED, _REAL, _STREAMED = 3_000, 1_000, 100_000


def different_rows(count: int, path: Path) -> None:
    """Write to `path` a table of Sparse, m = 10, of `count` different rows with means of three digits.

    The first query above the threshold may be at any place.
    """
    mechanism = MECHANISMS["sparse"]
    constants = mechanism.constants({"m": Fraction(10), "c": Fraction(1)})
    chance = random.Random(3)  # noqa: S311 - no secret

    def vector() -> list[Fraction]:
        below = chance.randrange(10)
        return [Fraction(chance.randint(-400, -1 if i < below else 400), 100) for i in range(10)]

    tables.write(mechanism, constants, (vector() for _ in range(count)), path)


def _check(mechanism: str, table: Path, *options: str) -> Usage:
    return checked([*dipc_command(), "check", str(MECHANISMS[mechanism].path), str(table), "-D", "m=10", *options])


def goals() -> Iterator[Goal]:
    """Yield the share of all CPU time that the asking process takes, with 1, 2 and 4 workers of a Dask cluster.

    A last goal is a long table without equal rows.
    """
    with tempfile.TemporaryDirectory() as directory:
        table, data, long = (Path(directory) / f"{name}.csv" for name in ("table", "data", "long"))
        different_rows(_SHARED, table)
        data.write_text(changes.maxima(10, 3, _REAL), encoding="utf-8")
        yield from _shares(f"{_SHARED} different rows", "sparse", table)
        yield from _shares(f"{_REAL} rows of real data", "noisy_max", data)
        different_rows(_STREAMED, long)
        usage = _check("sparse", long, "-q")
        name = f"{_STREAMED} different rows from a CSV"
        yield Goal(
            name, 0.2, usage.cpu / _STREAMED * 1000, "ms CPU a row", f"{usage.cpu:.0f} s CPU", "", usage.megabytes
        )
        yield Goal(f"{name}: memory", 300, usage.megabytes, "MB")


def _shares(rows: str, mechanism: str, table: Path) -> Iterator[Goal]:
    """Yield the goals of work shared among processes: of verdicts alone, and of reports with closed forms.

    `table` is a table of the program `mechanism`, and `rows` the number of its rows, as text. Verdicts alone take
    less time than to start and connect. The time to start is that of a table with one row.
    """
    import psutil  # type: ignore[import-untyped]
    from distributed import LocalCluster

    one = table.with_suffix(".one.csv")
    with table.open(encoding="utf-8") as lines:
        one.write_text("".join(islice(lines, 2)), encoding="utf-8")
    for form, options in {
        "verdicts": ("-q",),
        "JSON": ("--format", "json", "-o", str(table.with_suffix(".json"))),
    }.items():
        for workers in (1, 2, 4):
            with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
                processes = [psutil.Process(worker.pid) for worker in cluster.workers.values()]
                asked = (*options, "--dask", cluster.scheduler_address)
                start = _check(mechanism, one, *asked).cpu
                before = sum(process.cpu_times().user + process.cpu_times().system for process in processes)
                usage = _check(mechanism, table, *asked)
                after = sum(process.cpu_times().user + process.cpu_times().system for process in processes)
            work, own = after - before, max(usage.cpu - start, 0.0)
            name = f"The share of the process that asks, {rows}, {form}, Dask with {workers}"
            remark = (
                f"its start of {start:.1f} s apart: {own:.1f} s, and {work:.1f} s of the workers; "
                f"{usage.cpu / (usage.cpu + work):.2f} with its start"
            )
            yield Goal(name, 0.1, own / (own + work), "of the CPU", remark, "", usage.megabytes)
