"""The values of a constant for which a claim, or privacy with delta, holds: against closed forms by hand."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import pytest

import dipc
from dipc.cli.main import run
from dipc.inverse.solve_constant import ConstantGrid, ConstantSolution, solve_constant
from dipc.options import Options
from dipc.text.diagnostic import DiagnosticError

THRESHOLD = "tests/golden/files/threshold.dip"

#: Pr[1 + Lap(1) >= T] = e^-(T-1)/2 is at most 1/1000 from here on.
LEAST = 1 + math.log(500)


@pytest.mark.parametrize(
    "options",
    [{"beta": "1/1000", "alpha": 0, "eps": "1"}, {"adjacent": "hamming:1", "delta": "1/1000", "eps": "1"}],
    ids=["accuracy", "privacy"],
)
def test_the_least_threshold(options: dict[str, object]) -> None:
    program = dipc.load(THRESHOLD)
    grid = ConstantGrid.parse("T in 5..9 by 1/4", program)
    found = solve_constant(program, None, grid, Options(**options))  # type: ignore[arg-type]
    assert found.holds == tuple(value for value in grid.values if value >= LEAST)
    assert not found.undecided
    assert found["least"] == "29/4"


def test_a_threshold_by_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["solve", THRESHOLD, "--beta", "1/1000", "--alpha", "0", "--eps", "1"]
    assert run([*words, "--for", "T in 1..20", "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["least"], data["greatest"], data["values"]["7"]) == ("8", "20", "inaccurate")
    assert run([*words, "--for", "T in {1, 2}", "-q"]) == 1
    assert "NO SOLUTION" in capsys.readouterr().out


def test_the_library_takes_a_grid() -> None:
    program = dipc.load("benchmarks/sparse.dip")
    claim = {"inputs": "all", "beta": "1/10", "alpha": 10, "eps": 1}
    found = dipc.solve(program, wanted="m in 1..4", **claim)  # type: ignore[arg-type]
    assert isinstance(found, ConstantSolution)
    for value, verdict in found.verdicts.items():
        assert verdict is dipc.check(dipc.load("benchmarks/sparse.dip", m=value), **claim).verdict  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="or such as"):
        dipc.solve(program, wanted="m", **claim)  # type: ignore[arg-type]


def test_grids() -> None:
    program = dipc.load(THRESHOLD)
    assert ConstantGrid.parse("T in {3, 1/2}", program).values == (Fraction(1, 2), Fraction(3))
    assert len(ConstantGrid.parse("T in 1..100", program).values) == 100
    for text, code in (("T", "E1029"), ("T in 3..1", "E1029"), ("T in 1..x", "E1029"), ("X in 1..2", "E1025")):
        with pytest.raises(DiagnosticError, match=code):
            ConstantGrid.parse(text, program)
