"""The speed and memory goals, each measured in a process of its own."""

from __future__ import annotations

import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from benchmarks import published, tables
from benchmarks.mechanisms import MECHANISMS

#: One row of Sparse takes these shapes; a goal is met when the slowest meets it.
SHAPES: dict[str, Callable[[int], list[int]]] = {
    "bottoms, then a top": lambda m: [-1] * (m - 1) + [1],
    "all tops": lambda m: [1] * m,
    "alternating": lambda m: [1 if i % 2 else -1 for i in range(m)],
}


@dataclass(frozen=True, slots=True)
class Goal:
    """A goal, with what was measured; both in `unit`. It is missed, too, where no answer was given: `undecided`."""

    name: str
    limit: float
    measured: float
    unit: str
    remark: str = ""
    undecided: str = ""

    @property
    def met(self) -> bool:
        return self.measured <= self.limit and not self.undecided


@dataclass(frozen=True, slots=True)
class Usage:
    """What a child process took: CPU and wall-clock seconds, and its peak memory in megabytes."""

    cpu: float
    wall: float
    megabytes: float


@dataclass(frozen=True, slots=True)
class Measured:
    """What one task took inside its process: CPU seconds, the process's peak memory, and why it gave no answer."""

    cpu: float
    megabytes: float
    undecided: str = ""


def measure_all(runs: int = 3) -> list[Goal]:
    """Every goal, in the order of the requirements. Takes about a minute."""
    return [
        _published_tables(),
        *_sparse(runs),
        _help(2 * runs + 1),
        *_long_table(),
        _many_answers(),
        *_tasks(),
    ]


# --- inside the child ------------------------------------------------------------------------------


def measure(kind: str, arguments: Sequence[str]) -> Measured:
    """One task, start-up apart: the libraries are loaded by a trivial check first."""
    import dipc
    from benchmarks import runner, tasks
    from dipc.exact.limits import Undecided

    runner.warm_up()
    answer, undecided = None, ""
    start = time.process_time()
    if kind == "published":
        for row in published.rows():
            if row.best is None:
                runner.trial(row, row.mechanism)
    elif kind == "sparse":
        m, c, shape = int(arguments[0]), int(arguments[1]), arguments[2]
        mechanism = MECHANISMS["sparse"]
        given = {"m": Fraction(m), "c": Fraction(c)}
        vector = [Fraction(value) for value in SHAPES[shape](m)]
        rows = list(tables.rows(mechanism, mechanism.constants(given), [vector]))
        report = dipc.check(dipc.load(mechanism.path, **given), rows)
        if report.verdict is not dipc.Verdict.ACCURATE:
            raise RuntimeError(f"Sparse m = {m}, c = {c}, {shape}: {report.verdict}, {report.rows[0].reason}")
    elif kind == "task":
        try:
            answer = tasks.TASKS[arguments[0]]()
        except Undecided as reason:
            undecided = str(reason)
    else:
        raise ValueError(kind)
    seconds = time.process_time() - start
    if answer is not None:
        answer.check()
    return Measured(seconds, _megabytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss), undecided)


# --- in the parent ---------------------------------------------------------------------------------


def _child(kind: str, *arguments: str) -> float:
    return _measured(kind, *arguments).cpu


def _measured(kind: str, *arguments: str) -> Measured:
    command = [sys.executable, "-m", "benchmarks", "measure", kind, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=Path(__file__).parent.parent)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[2:])} failed:\n{done.stderr}")
    return Measured(**json.loads(done.stdout))


def spawn(command: Sequence[str], stdout: Path | None = None) -> tuple[int, Usage]:
    """Run `command` to its end; its exit code and what it took."""
    with (stdout or Path(os.devnull)).open("w", encoding="utf-8") as stream:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=stream, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        # The child is reaped above; without this Popen would warn that it is still running.
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, Usage(usage.ru_utime + usage.ru_stime, wall, _megabytes(usage.ru_maxrss))


def _megabytes(ru_maxrss: int) -> float:
    return (ru_maxrss if sys.platform != "darwin" else ru_maxrss / 1024) / 1024


def dipc_command() -> list[str]:
    """The installed `dipc`, or the same through the interpreter where it is not on the path of this Python."""
    script = Path(sys.executable).with_name("dipc")
    if script.exists():
        return [str(script)]
    return [sys.executable, "-c", "from dipc.cli.main import main; main()"]


def _published_tables() -> Goal:
    return Goal("Tables 2 and 3, all rows", 3, _child("published"), "s CPU")


def _sparse(runs: int) -> list[Goal]:
    sizes = (50, 100, 200)
    slowest = {
        m: max(statistics.median(_child("sparse", str(m), "1", shape) for _ in range(runs)) for shape in SHAPES)
        for m in sizes
    }
    exponent = slope([(math.log(m), math.log(slowest[m])) for m in sizes])
    remark = ", ".join(f"m = {m}: {slowest[m]:.2f} s" for m in sizes)
    return [
        Goal("Sparse, m = 100, one row", 2, slowest[100], "s CPU", f"the slowest of: {'; '.join(SHAPES)}"),
        Goal("Sparse, growth up to m = 200", 2.5, exponent, "exponent of m", remark),
    ]


def _help(runs: int) -> Goal:
    usages = [_checked([*dipc_command(), "--help"])[1] for _ in range(runs)]
    wall = statistics.median(usage.wall for usage in usages)
    cpu = statistics.median(usage.cpu for usage in usages)
    return Goal("dipc --help", 0.2, wall, "s", f"the median of {runs}; {cpu:.2f} s of CPU")


def _long_table() -> list[Goal]:
    mechanism = MECHANISMS["sparse"]
    constants = mechanism.constants({"m": Fraction(10), "c": Fraction(2)})
    with tempfile.TemporaryDirectory() as directory:
        table = Path(directory) / "table.csv"
        count = tables.write(mechanism, constants, tables.grid(range(-1, 2), 10), table)
        command = [*dipc_command(), "check", str(mechanism.path), str(table), "-D", "m=10", "-D", "c=2"]
        _, usage = _checked([*command, "--format", "json", "-o", str(Path(directory) / "report.json")])
    name = f"Sparse, m = 10, c = 2, {count} rows from a CSV"
    return [
        Goal(name, 12, usage.cpu, "s CPU", f"{usage.wall:.1f} s on the clock, report as JSON"),
        Goal(f"{name}: memory", 500, usage.megabytes, "MB"),
    ]


def _many_answers() -> Goal:
    slowest = max(_child("sparse", "60", "60", shape) for shape in SHAPES)
    return Goal("Sparse, c = m = 60, one row", 5, slowest, "s CPU", f"the slowest of: {'; '.join(SHAPES)}")


#: Goals of one process each: the name, the tasks of benchmarks/tasks.py (the slowest counts), and seconds of CPU.
_TASKS = (
    ("Smart sum, T = 4, one row", ("smart_sum",), 5.0),
    ("Three noises below each of three others", ("order",), 2.0),
    ("A sum of six noises within γ", ("total",), 2.0),
    ("`while`, 2000 states", ("fair_walk", "biased_walk", "lazy_walk", "stopping_walk"), 10.0),
    ("NoisyMax, m = 16, as one event and as a running maximum", ("direct_maximum", "running_maximum"), 0.5),
)


def _tasks() -> list[Goal]:
    found = {task: _measured("task", task) for _, names, _ in _TASKS for task in names}
    goals = []
    for name, names, limit in _TASKS:
        remark = ", ".join(f"{task} {found[task].cpu:.2f} s" for task in names)
        undecided = "; ".join(f"{task}: {found[task].undecided}" for task in names if found[task].undecided)
        goals.append(Goal(name, limit, max(found[task].cpu for task in names), "s CPU", remark, undecided))
    largest = max(found, key=lambda task: found[task].megabytes)
    remark = f"the largest is {largest}"
    return [*goals, Goal("The memory of each of these", 1024, found[largest].megabytes, "MB", remark)]


def _checked(command: Sequence[str]) -> tuple[int, Usage]:
    code, usage = spawn(command)
    if code:
        raise RuntimeError(f"{' '.join(command)} exited with {code}")
    return code, usage


def slope(points: Sequence[tuple[float, float]]) -> float:
    """The least-squares slope through `points`."""
    return statistics.linear_regression(*zip(*points, strict=True)).slope
