"""The speed and memory goals, each measured in a process of its own."""

from __future__ import annotations

import json
import math
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from benchmarks import all_inputs, certificates, changes, published, sharing, sizes, tables
from benchmarks.goal import SHAPES, Goal, checked, dipc_command, peak_megabytes, with_byte_code
from benchmarks.mechanisms import MECHANISMS


@dataclass(frozen=True, slots=True)
class Measured:
    """The CPU seconds and peak memory of one task inside its process, and the reason if it gave no answer."""

    cpu: float
    megabytes: float
    undecided: str = ""


def measure_all(runs: int = 3, families: Iterable[str] = ()) -> Iterator[Goal]:
    """Yield each goal of `families`, or of all of `FAMILIES`, as soon as it is measured, as the best of `runs`.

    Goals come in the order of the requirements. Measuring all of them takes up to an hour.
    """
    for family in families or FAMILIES:
        yield from FAMILIES[family](runs)


# --- inside the child ------------------------------------------------------------------------------


def measure(kind: str, arguments: Sequence[str]) -> Measured:
    """Run one task, called `kind`, with its `arguments` as the command line would run it, except for the start.

    The libraries are loaded by a trivial check first.
    """
    import dipc
    from benchmarks import runner, tasks
    from dipc.algebra.limits import Undecided
    from dipc.cli.main import collect_rarely

    collect_rarely()
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
    elif kind == "distance":
        _distances_of(arguments[0], *arguments[1:])
    elif kind == "tighten":
        _tighten_table_4()
    elif kind == "tolerance":
        _solve_tolerance()
    elif kind == "all inputs":
        all_inputs.prove(*arguments)
    elif kind == "task":
        try:
            answer = tasks.TASKS[arguments[0]]()
        except Undecided as reason:
            undecided = str(reason)
    elif kind == "privacy":
        from benchmarks.privacy.goals import TASKS

        TASKS[arguments[0]]()
    elif kind == "gaussian":
        from benchmarks import gaussian

        gaussian.TASKS[arguments[0]]()
    else:
        raise ValueError(kind)
    seconds = time.process_time() - start
    if answer is not None:
        answer.check()
    return Measured(seconds, peak_megabytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss), undecided)


#: Rows whose distance to disagreement is measured, and the mechanisms, at six queries.
_DISTANCE_ROWS = 25
_DISTANCES = (
    ("noisy_max",),
    ("noisy_max_ties",),
    ("sparse", "c=6"),
    ("numeric_sparse", "c=3"),
    ("numeric_sparse", "c=6"),
)


def _distances_of(name: str, *constants: str) -> None:
    """Compute dd of the mechanism `name` with these `constants` at random rational inputs of six queries.

    The exploration of the ideal is included; dd is checked if it is known.
    """
    import dipc
    from dipc.program.ideal import Distances, Ideal

    mechanism = MECHANISMS[name]
    given = {"m": Fraction(6), **{key: Fraction(value) for key, value in (text.split("=") for text in constants)}}
    distances = Distances(Ideal(dipc.load(mechanism.path, **given)))
    generator = random.Random(1)  # noqa: S311 - inputs to measure with, no secret
    for _ in range(_DISTANCE_ROWS):
        vector = [Fraction(generator.randint(-20, 20), 7) for _ in range(6)]
        if distances.dd(vector) != mechanism.ideal(mechanism.constants(given), vector).dd:
            raise RuntimeError(f"dd of {name} at {vector}: {distances.dd(vector)}")


#: The largest κ of each row of Table 4, in its order.
_KAPPAS = (6, 12, 6, 13, 4, 4, 4, 6)


def _tighten_table_4() -> None:
    """The least factors of all rows of Table 4, to 30 digits, programs and tables included."""
    import dipc
    from benchmarks import runner

    found = []
    for row in published.rows():
        if row.best is not None:
            bench = runner.Bench(row, row.mechanism)
            tightest = dipc.tighten(bench.program, bench.rows, beta=row.beta, alpha=row.alpha, gamma=row.gamma)
            found.append(tightest.kappa)
    if tuple(found) != _KAPPAS:
        raise RuntimeError(f"the largest κ of Table 4: {found}")


def _solve_tolerance() -> None:
    """The exact tolerance of the Laplace mechanism at eps = 50 for a failure probability of 10^-23, to 30 digits."""
    import dipc

    program = dipc.load(MECHANISMS["laplace"].path, m=Fraction(1))
    row = {"q[1]": 0, "out[1]": 0}
    found = dipc.solve(program, [row], wanted="gamma", beta="1e-23", alpha=0, eps="50").as_json()
    # The 30 digits of log(10^23)/50.
    if found["least"] != ["1.05918914277726101464827606915", "1.05918914277726101464827606916"]:
        raise RuntimeError(f"the tolerance of the Laplace mechanism: {found}")


# --- in the parent ---------------------------------------------------------------------------------


def _measured(kind: str, *arguments: str) -> Measured:
    command = [sys.executable, "-m", "benchmarks", "measure", kind, *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=Path(__file__).parent.parent, env=with_byte_code()
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[2:])} failed:\n{done.stderr}")
    return Measured(**json.loads(done.stdout))


def _all_inputs() -> Iterator[Goal]:
    for queries, limit in (*all_inputs.SIZES.items(), (all_inputs.EVERY, 2.0)):
        found = {name: _measured("all inputs", name, str(queries)) for name in all_inputs.CLAIMS}
        name = f"Every real input, m = {queries}" if queries != all_inputs.EVERY else "Every real input, for every m"
        yield _slowest(name, limit, found)


def _privacy() -> Iterator[Goal]:
    from benchmarks import gaussian
    from benchmarks.privacy.goals import GOALS

    for kind, goals in (("privacy", GOALS), ("gaussian", gaussian.GOALS)):
        for name, (names, limit) in goals.items():
            yield _slowest(name, limit, {task: _measured(kind, task) for task in names})


def _slowest(name: str, limit: float, found: Mapping[str, Measured], remark: str = "") -> Goal:
    """Return the goal `name`, at most `limit` seconds for the slowest of the tasks `found`.

    The `remark` is by default the time of each task, if there are several.
    """
    if not remark and len(found) > 1:
        remark = ", ".join(f"{task} {each.cpu:.2f} s" for task, each in found.items())
    undecided = "; ".join(f"{task}: {each.undecided}" for task, each in found.items() if each.undecided)
    largest = max(each.megabytes for each in found.values())
    return Goal(name, limit, max(each.cpu for each in found.values()), "s CPU", remark, undecided, largest)


def _tightest() -> Goal:
    return _slowest("`tighten`, all rows of Table 4", 5, {"": _measured("tighten")}, "30 digits of each factor")


def _published_tables() -> Goal:
    return _slowest("Tables 2 and 3, all rows", 3, {"": _measured("published")})


def _sparse(runs: int) -> list[Goal]:
    sizes = (50, 100, 200)
    found = {
        (m, shape): [_measured("sparse", str(m), "1", shape) for _ in range(runs)] for m in sizes for shape in SHAPES
    }
    slowest = {m: max(statistics.median(each.cpu for each in found[m, shape]) for shape in SHAPES) for m in sizes}
    largest = {m: max(each.megabytes for shape in SHAPES for each in found[m, shape]) for m in sizes}
    exponent = slope([(math.log(m), math.log(slowest[m])) for m in sizes])
    remark = ", ".join(f"m = {m}: {slowest[m]:.2f} s" for m in sizes)
    return [
        Goal("Sparse, m = 100, one row", 2, slowest[100], "s CPU", _OF_SHAPES, megabytes=largest[100]),
        Goal("Sparse, growth up to m = 200", 2.5, exponent, "exponent of m", remark, megabytes=largest[200]),
    ]


def _runs() -> Iterator[Goal]:
    """Yield the goals of runs with exact noise: the CPU time of one run, after a run that fills the caches."""
    import dipc

    asked: tuple[tuple[str, str, dict[str, object], dict[str, int], int, int], ...] = (
        ("Sparse, m = 3", "sparse", {"q": (-1, 0, 1)}, {}, 250, 4000),
        ("discrete Laplace", "libraries/discrete_laplace", {"x": 0}, {}, 50, 20_000),
        ("noisy max, m = 30", "noisy_max", {"q": (0,) * 30}, {"m": 30}, 2500, 400),
    )
    for name, path, values, constants, limit, count in asked:
        program = dipc.load(Path(__file__).parent / f"{path}.dip", **constants)
        program.run(values, "1/2", 100)
        begun = time.process_time()
        found = program.run(values, "1/2", count)
        each = (time.process_time() - begun) / count * 1e6
        yield Goal(f"`run`, {name}", limit, each, "µs CPU a run", f"{found.random_bits / count:.0f} random bits a run")


def _long_row() -> Goal:
    found = {shape: _measured("sparse", "2000", "1", shape) for shape in SHAPES}
    return _slowest("Sparse, m = 2000, one row", 6, found, _OF_SHAPES)


def _help(runs: int) -> Goal:
    usages = [checked([*dipc_command(), "--help"]) for _ in range(runs)]
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
        usage = checked([*command, "--format", "json", "-o", str(Path(directory) / "report.json")])
    name = f"Sparse, m = 10, c = 2, {count} rows from a CSV"
    return [
        Goal(name, 12, usage.cpu, "s CPU", f"{usage.wall:.1f} s on the clock, report as JSON", "", usage.megabytes),
        Goal(f"{name}: memory", 500, usage.megabytes, "MB"),
    ]


def _million_rows(count: int = 1_000_000) -> list[Goal]:
    """Measure a table of `count` rows, far more than different ones, checked for text and for JSON."""
    mechanism = MECHANISMS["sparse"]
    constants = mechanism.constants({"m": Fraction(10), "c": Fraction(2)})
    usages = {}
    with tempfile.TemporaryDirectory() as directory:
        table = Path(directory) / "table.csv"
        tables.write(mechanism, constants, tables.grid(range(-1, 2), 10), table)
        header, *lines = table.read_text(encoding="utf-8").splitlines(keepends=True)
        generator = random.Random(1)  # noqa: S311 - a table to measure with, no secret
        with table.open("w", encoding="utf-8") as stream:
            stream.write(header)
            stream.writelines(generator.choice(lines) for _ in range(count))
        command = [*dipc_command(), "check", str(mechanism.path), str(table), "-D", "m=10", "-D", "c=2"]
        for form in ("text", "json"):
            usages[form] = checked([*command, "--format", form, "-o", str(Path(directory) / "report")])
    return [
        Goal(f"{count} rows from a CSV, {form}: memory", 1000, usage.megabytes, "MB", f"{usage.cpu:.0f} s of CPU")
        for form, usage in usages.items()
    ]


_OF_SHAPES = f"the slowest of: {'; '.join(SHAPES)}"

#: Twelve queries from {-1, 0, 1}: the program and its constants.
_CLASSES = {
    "Sparse, c = 1": ("sparse", ("m=12", "c=1")),
    "Sparse, c = 2": ("sparse", ("m=12", "c=2")),
    "NoisyMax": ("noisy_max", ("m=12",)),
}


def _classes() -> list[Goal]:
    """All 3^12 inputs from their classes, by the command line."""
    usages = {}
    for name, (program, constants) in _CLASSES.items():
        path = str(MECHANISMS[program].path)
        command = [*dipc_command(), "check", path, "--inputs", "q = -1..1", "--quiet"]
        usages[name] = checked([*command, *(word for constant in constants for word in ("-D", constant))])
    remark = ", ".join(f"{name}: {usage.cpu:.1f} s" for name, usage in usages.items())
    return [
        Goal("All 531441 inputs of 12 queries", 10, max(usage.cpu for usage in usages.values()), "s CPU", remark),
        Goal("All 531441 inputs: memory", 500, max(usage.megabytes for usage in usages.values()), "MB"),
    ]


def _many_answers() -> Goal:
    found = {shape: _measured("sparse", "60", "60", shape) for shape in SHAPES}
    return _slowest("Sparse, c = m = 60, one row", 5, found, _OF_SHAPES)


def _distances() -> Goal:
    found = {" ".join(words): _measured("distance", *words) for words in _DISTANCES}
    remark = ", ".join(f"{name}: {each.cpu / _DISTANCE_ROWS * 1000:.1f} ms" for name, each in found.items())
    return _slowest(f"dd of six queries, {_DISTANCE_ROWS} rows", 0.2 * _DISTANCE_ROWS, found, remark)


def _tolerance() -> Goal:
    remark = "30 digits, both ends decided exactly"
    return _slowest("The exact tolerance of the Laplace mechanism", 1, {"": _measured("tolerance")}, remark)


#: Goals of one process each: the name, the tasks of benchmarks/tasks.py (the slowest counts), and seconds of CPU.
_TASKS = (
    ("Smart sum, T = 4, one row", ("smart_sum",), 5.0),
    ("Smart sum, T = 64", ("smart_sum_64",), 20.0),
    ("Three noises below each of three others", ("order",), 2.0),
    ("A sum of six noises within γ", ("total",), 2.0),
    ("`while`, 2000 states", ("fair_walk", "biased_walk", "lazy_walk", "stopping_walk"), 10.0),
    ("`while`, a fair walk over 10000 states", ("long_fair_walk",), 4.0),
    ("`while`, a biased walk over 4000 states", ("long_biased_walk",), 3.0),
    ("`while`, a walk in jumps over 1000 states", ("jumps",), 5.0),
    ("`while`, 40000 rounds", ("run_40000",), 10.0),
    ("NoisyMax with ties, m = 100", ("ties_100",), 3.0),
    ("NoisyMax, m = 75, and Sparse, m = 80, all means different", ("falling_maximum", "falling_queries"), 10.0),
    ("NoisyMax, m = 75, means of six digits, two claims", ("generic_maximum",), 30.0),
    ("NoisyMax, m = 20, means of six digits, two claims", ("generic_maximum_20",), 0.5),
    ("Twenty comparisons, means of six digits, two claims", ("comparisons_20",), 0.5),
    ("The exponential mechanism over 1000 values", ("exponential_1000",), 2.0),
    ("The exponential mechanism, all of 1000 values", ("exponential_1000_all",), 3.0),
    ("The exponential mechanism over 10 values, 8 times", ("exponential_8",), 5.0),
    ("400 randomized responses, counted", ("responses_400",), 10.0),
    ("5000 randomized responses, counted", ("responses_5000", "most_5000"), 20.0),
    ("Randomized response of 15 people, all inputs", ("people_15",), 0.7),
    ("Randomized response of 30 people, all inputs", ("people_30",), 3.0),
    ("Randomized response of 100 people, all inputs", ("people_100",), 90.0),
    ("A sum of 30 integers", ("total_30",), 5.0),
    ("40 integers of different rates, two claims", ("forty_rates",), 2.0),
    ("NoisyMax and AboveThreshold over integers, m = 30", ("integers_30", "threshold_30"), 1.0),
    ("NoisyMax over integers, m = 60", ("integers_60",), 10.0),
    ("A grid of 4 by 4 like noises", ("grid_4",), 1.0),
    ("A grid of 6 by 6 like noises", ("grid_6",), 20.0),
    ("dd of the median of 9", ("median_9", "median_9_clusters"), 5.0),
    ("dd of the first two of 8", ("first_two_8", "first_two_8_clusters"), 5.0),
    ("dd of Sparse, c = 20, m = 40", ("half_of_40",), 1.0),
    ("NoisyMax, m = 16, as one event and as a running maximum", ("direct_maximum", "running_maximum"), 0.5),
)


def _tasks() -> Iterator[Goal]:
    measured: dict[str, Measured] = {}
    for name, names, limit in _TASKS:
        measured |= {task: _measured("task", task) for task in names}
        yield _slowest(name, limit, {task: measured[task] for task in names})
    largest = max(measured, key=lambda task: measured[task].megabytes)
    yield Goal("The memory of each of these", 1024, measured[largest].megabytes, "MB", f"the largest is {largest}")


def slope(points: Sequence[tuple[float, float]]) -> float:
    """The least-squares slope through `points`."""
    return statistics.linear_regression(*zip(*points, strict=True)).slope


#: The goals, by what is measured; the median of so many runs where a run is short.
FAMILIES: dict[str, Callable[[int], Iterable[Goal]]] = {
    "tables": lambda _: (_published_tables(), _tightest(), _tolerance()),
    "sparse": lambda runs: (*_sparse(runs), _long_row(), _many_answers()),
    "start": lambda runs: (_help(2 * runs + 1),),
    "rows": lambda _: (*_long_table(), *_million_rows()),
    "classes": lambda _: _classes(),
    "distances": lambda _: (_distances(),),
    "every-input": lambda _: _all_inputs(),
    "tasks": lambda _: _tasks(),
    "privacy": lambda _: _privacy(),
    "runs": lambda _: _runs(),
    "certificates": lambda _: certificates.goals(),
    "changes": lambda _: changes.goals(),
    "sharing": lambda _: sharing.goals(),
    "sizes": lambda _: sizes.goals(),
}
