"""Goals about Gaussian noise: numbers that have to come out, and the seconds they may take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path

import dipc
from benchmarks.privacy.dipapprox import Entry, measured

_SPARSE = Path(__file__).parent / "gaussian_sparse.dip"
_MAX = Path(__file__).parent / "gaussian_noisy_max.dip"


def _expect(found: object, wanted: object, what: str) -> None:
    if found != wanted:
        raise RuntimeError(f"{what}: {found}, not {wanted}")


def _every_input(path: Path, beta: str | None, verdict: str, **constants: int) -> Callable[[], None]:
    def task() -> None:
        report = dipc.check(dipc.load(path, **constants), inputs="all", beta=beta)
        _expect(str(report.verdict), verdict, f"{path.stem} with beta {beta}")

    return task


def _refuted() -> None:
    """Pr = 0.1865786389… at eps = 1."""
    report = dipc.check(dipc.load(_SPARSE), inputs="q=(-1,-1,1)", beta="m*exp(-alpha*eps/8)/4", eps="[1, 1]")
    found = report.rows[0].counterexample
    assert found is not None
    _expect(int(found.probability[0] * 10**10), 1865786389, "ten digits of Pr at eps = 1")


def _least_factor() -> None:
    """1.33261794056… times e^{-alpha·eps/8}, from both sides a factor 1e-8 away."""
    program, inputs = dipc.load(_SPARSE, m=10), "q=(" + ",".join(["-1"] * 9 + ["1"]) + ")"
    for factor, verdict in (("1.33261795", "accurate"), ("1.33261793", "inaccurate")):
        report = dipc.check(program, inputs=inputs, beta=f"{factor}*exp(-alpha*eps/8)")
        _expect(str(report.verdict), verdict, f"Sparse, m = 10, factor {factor}")


def _above_the_supremum() -> None:
    """Thirty different means: on [1/100, 10] the supremum of the factor is 1.51872229…; half a percent more holds."""
    means = ",".join(str(Fraction(-49 - i, 50)) for i in range(1, 30))
    report = dipc.check(
        dipc.load(_SPARSE, m=30), inputs=f"q=({means},1)", beta="1.52631*exp(-alpha*eps/8)", eps="[1/100, 10]"
    )
    _expect(str(report.verdict), "accurate", "Sparse, m = 30, on [1/100, 10]")


def _digits(digits: int, *, alike: bool) -> Callable[[], None]:
    def task() -> None:
        m = 100
        program = dipc.load(_SPARSE, m=m)
        means = [Fraction(-1) if alike else Fraction(-i, 50) for i in range(1, m + 1)]
        found = program.probability({"q": means}, {"out": ["bot"] * m}).enclosure(1, digits)
        assert found[1] - found[0] <= Fraction(1, 10**digits) * found[1]

    return task


def _dipapprox(name: str, number: int, *, every: bool) -> Callable[[], None]:
    def task() -> None:
        found = measured(Entry(name, number, every, "private", None))
        _expect(found.verdict, "private", found.entry.title)

    return task


_ROW = """program row; const m = 6; input q[1..m] : real; output r : bool; var a[1..m] : real;
r <- true; for i in 1..m do a[i] <- Gauss(1/eps, q[i]) end;
for i in 1..m - 1 do if not (a[i] >= a[i + 1]) then r <- false end end"""


def _in_a_row() -> None:
    """Six noises, each at least as great as the next one: at equal means 1/720."""
    program = dipc.load(_ROW)
    low, high = program.probability({"q": [Fraction(0)] * 6}, {"r": True}).enclosure(1, 11)
    assert low <= Fraction(1, 720) <= high
    low, high = program.probability({"q": [Fraction(6 - i, 3) for i in range(6)]}, {"r": True}).enclosure(1, 11)
    assert high - low <= Fraction(1, 10**11)


#: By name: tasks of which the slowest counts, and seconds of CPU.
GOALS: Mapping[str, tuple[Mapping[str, Callable[[], None]], float]] = {
    "Gaussian Sparse and NoisyMax, m = 3, every real input, every eps": (
        {
            "gaussian sparse, β/6": _every_input(_SPARSE, None, "accurate"),
            "gaussian sparse, β/8": _every_input(_SPARSE, "m*exp(-alpha*eps/8)/4", "inaccurate"),
            "gaussian noisy max, β/4": _every_input(_MAX, None, "accurate"),
        },
        2.0,
    ),
    "Gaussian Sparse at eps = 1, Pr = 0.1865786389…": ({"gaussian sparse, one eps": _refuted}, 0.5),
    "Gaussian Sparse, m = 10, a factor 1e-8 from the least on both sides": ({"least factor": _least_factor}, 8.0),
    "Gaussian Sparse, m = 30, different means, 0.5 % above the supremum on [1/100, 10]": (
        {"above the supremum": _above_the_supremum},
        7.0,
    ),
    "Gaussian Sparse, m = 100, different means, at one eps": ({"11 digits": _digits(11, alike=False)}, 0.12),
    "Gaussian Sparse, m = 100, equal means, 300 digits": ({"300 digits": _digits(300, alike=True)}, 2.0),
    "Six Gaussian noises in a row, at one eps, 11 digits": ({"six in a row": _in_a_row}, 0.5),
    "DiPApprox: SVT-Gauss, N = 25, one pair": ({"svt_gauss": _dipapprox("svt_gauss", 25, every=False)}, 0.2),
    "DiPApprox: NoisyMax-Gauss, N = 4, all pairs": ({"max_gauss": _dipapprox("noisy_max_gauss", 4, every=True)}, 0.2),
    "DiPApprox: SVT-Mix1, N = 17, one pair": ({"svt_mix1": _dipapprox("svt_mix1", 17, every=False)}, 0.6),
}

TASKS: Mapping[str, Callable[[], None]] = {name: task for tasks, _ in GOALS.values() for name, task in tasks.items()}
