"""The goals of speed for questions about privacy, each measured in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

import dipc
from benchmarks.privacy.atlas import ATLAS
from benchmarks.privacy.mechanism import EPS, HERE
from dipc.decide.engine import Engine
from dipc.questions.privacy.check import PrivacyQuestion


def _decided(
    name: str, verdict: str, pairs: int, inputs: str = "q = -1..1", delta: str = "0", **constants: int
) -> Callable[[], None]:
    def task() -> None:
        program = dipc.load(HERE / f"{name}.dip", **constants)
        report = dipc.check_privacy(program, "linf:1", inputs=inputs, delta=delta)
        if (report["verdict"], report.pairs) != (verdict, pairs):
            raise RuntimeError(f"{name}: {report['verdict']}, {report.pairs} pairs")

    return task


def _constant(expected: str | None, name: str = "../sparse", **constants: int) -> Callable[[], None]:
    def task() -> None:
        program = dipc.load(HERE / f"{name}.dip", **constants)
        engine = Engine(program.measurer, program.limits)
        found = PrivacyQuestion(program, "linf:1", "all", engine).constant(None)
        if not found.exact or found.proved != (None if expected is None else Fraction(expected)):
            raise RuntimeError(f"{name}, {constants}: {found.proved}, {found.refuted_below}")

    return task


def _losses() -> None:
    from benchmarks.privacy.run import exact

    for mechanism in ATLAS:
        if mechanism.loss is not None:
            found = exact(mechanism, constants=False)
            if found.loss_text != mechanism.loss:
                raise RuntimeError(f"the loss of {mechanism.name} at {EPS}: {found.loss_text}")


#: By name: tasks of which the slowest counts, and seconds of CPU.
GOALS: Mapping[str, tuple[Mapping[str, Callable[[], None]], float]] = {
    "DiPC's sparse vectors, three queries, 316 pairs": (
        {
            "svt1": _decided("svt1", "private", 316, m=3),
            "svt2": _decided("svt2", "private", 316, m=3),
            "svt3": _decided("svt3_binned", "private", 316, m=3),
            "svt4": _decided("svt4", "not private", 316, m=3),
            "svt5": _decided("svt5", "not private", 316, m=3),
            "svt6": _decided("svt6", "not private", 316, m=3),
        },
        1.5,
    ),
    "Five queries, 16564 pairs": ({"svt1, 5 queries": _decided("svt1", "private", 16_564, m=5)}, 20.0),
    "Least constants of Sparse, m <= 5": (
        {f"m = {m}": _constant(expected, m=m) for m, expected in ((2, "1/2"), (3, "3/4"), (4, "1"), (5, "1"))},
        5.0,
    ),
    "The least constant of Sparse, m = 12": ({"m = 12": _constant("1", m=12)}, 30.0),
    "Sparse over a grid of seven queries, 821356 pairs": (
        {
            "821356 pairs": _decided("../sparse", "private", 821_356, m=7),
            "821356 pairs, with a delta": _decided("../sparse", "private", 821_356, delta="1/100", m=7),
        },
        8.0,
    ),
    "svt5 of ten queries, c = 3 of eight, gaps of six": (
        {
            "svt5, m = 10": _constant(None, "svt5", m=10),
            "c = 3, m = 8": _constant("2/3", m=8, c=3),
            "c = 3, m = 8, 65280 pairs": _decided("../sparse", "private", 65_280, "q = 0..1", m=8, c=3),
            "gap_svt, m = 6": _constant("1", "gap_svt", m=6),
            "noisy_max_with_gap, m = 6": _constant("1", "noisy_max_with_gap", m=6),
        },
        4.0,
    ),
    "The losses of the atlas": ({"losses": _losses}, 300.0),
}

TASKS: Mapping[str, Callable[[], None]] = {name: task for tasks, _ in GOALS.values() for name, task in tasks.items()}
