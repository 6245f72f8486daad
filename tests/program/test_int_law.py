"""What `dipc prob` shows of an int output, against the geometric law by hand."""

from __future__ import annotations

import json
from pathlib import Path

import mpmath
import pytest

import dipc
from dipc.cli.main import run

GEOMETRIC = "docs/programs/geometric.dip"


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, mpmath.mpf]:
    assert run(["prob", *words, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    return {one["output"]["released"]: mpmath.mpf(one["at"][0]) for one in found["outputs"]}


def test_the_law_of_an_int(capsys: pytest.CaptureFixture[str]) -> None:
    law = answer(capsys, GEOMETRIC, "--input", "n=3", "--eps", "1/2")
    z = mpmath.exp(-mpmath.mpf(1) / 2)
    assert [*law] == [*map(str, range(-2, 9)), "below -2 or above 8"]
    for k in range(-2, 9):
        assert abs(law[str(k)] - (1 - z) / (1 + z) * z ** abs(k - 3)) < 1e-15
    assert abs(law["below -2 or above 8"] - 2 * z**6 / (1 + z)) < 1e-15


def test_one_value(capsys: pytest.CaptureFixture[str]) -> None:
    z = mpmath.exp(-1)
    (found,) = answer(capsys, GEOMETRIC, "--input", "n=3", "--output", "released=40", "--eps", "1").values()
    assert abs(found / ((1 - z) / (1 + z) * z**37) - 1) < 1e-12
    assert run(["prob", GEOMETRIC, "--input", "n=3", "--output", "released=1/2"]) == 2


def test_a_thousand_outputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "big.dip"
    domain = "{0..999}"
    path.write_text(
        f"program big; input k : {domain}; output v : {domain}; v <- Exp(eps, j in {domain} : -abs(j - k))",
        encoding="utf-8",
    )
    assert run(["prob", str(path), "--input", "k=5", "--output", "v=6"]) == 0
    assert "exp(-eps)/(1 + 2*exp(-eps)" in capsys.readouterr().out


@pytest.mark.slow
def test_all_of_a_thousand_outputs() -> None:
    program = dipc.load(
        "program big; input k : {0..999}; output v : {0..999}; v <- Exp(eps, j in {0..999} : -abs(j - k))"
    )
    assert len(program.outcomes({"k": 5})) == 1000
