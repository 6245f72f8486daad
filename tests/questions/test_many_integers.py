"""More integer noises than are summed over together: every int input by unions of single comparisons."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dipc
from benchmarks.mechanisms import MECHANISMS
from dipc.decide.obligation import Verdict

TEXT = MECHANISMS["noisy_max"].path.read_text(encoding="utf-8").replace("real", "int").replace("Lap(", "DLap(")


@pytest.mark.parametrize(
    ("m", "beta", "verdict"),
    [
        (5, "m*exp(-alpha*eps/2)", Verdict.ACCURATE),
        (6, "m*exp(-alpha*eps/2)", Verdict.ACCURATE),
        (5, "exp(-alpha*eps/2)/2", Verdict.INACCURATE),
        (5, "m*exp(-alpha*eps)/2", Verdict.INACCURATE),
    ],
)
def test_noisy_max_over_every_int(m: int, beta: str, verdict: Verdict) -> None:
    """A claim proved for all distances holds at single ones, by the rows' own probabilities."""
    program = dipc.load(TEXT, m=m)
    assert dipc.check(program, inputs="all", beta=beta).verdict is verdict
    points = [{"q": [0] * (m - 1) + [2 * k - odd]} for k in (1, 2, 3, 7, 30) for odd in (0, 1)]
    rows = dipc.check(program, inputs=points, beta=beta)
    assert (rows.verdict is Verdict.ACCURATE) is (verdict is Verdict.ACCURATE)


def test_unions_are_not_taken_for_the_probability() -> None:
    """A beta that only the exact probability of five losers would meet for large distances is left open, or refuted."""
    program = dipc.load(TEXT, m=6)
    found = dipc.check(program, inputs="all", beta="(5 + alpha*eps)*exp(-alpha*eps)/4", eps="[1, 2]")
    rows = dipc.check(
        program,
        inputs=[{"q": [0] * 5 + [2 * k]} for k in range(1, 9)],
        beta="(5 + alpha*eps)*exp(-alpha*eps)/4",
        eps="[1, 2]",
    )
    assert found.verdict is not Verdict.ACCURATE or rows.verdict is Verdict.ACCURATE
    assert Fraction(rows.rows[0].alpha) == 1
