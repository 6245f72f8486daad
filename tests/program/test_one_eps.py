"""A question at one eps, or on intervals, is about these eps alone, also for what a weight has to be."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
import sympy

import dipc
from dipc.cli.main import run as command_line
from dipc.text.diagnostic import DiagnosticError
from tests.verifier.samples import resealed

COIN = "program w; output y : {0, 1}; ideal { y <- 1 } y <- choose { 1 : 1 - exp(eps)/10, 0 : exp(eps)/10 }"
FLIP = (
    "program f; input x : bool; output y : {0, 1}; ideal { y <- x } y <- choose { "
    "1 : x*(1 - exp(eps)/10) + (not x)*exp(eps)/10, 0 : (not x)*(1 - exp(eps)/10) + x*exp(eps)/10 }"
)


def test_the_probability_at_one_eps() -> None:
    """The weight is negative from eps = log(10) = 2.302585… on."""
    answer = dipc.load(COIN, eps=1).probability({}, {"y": "1"})
    assert sympy.simplify(answer.expr - (1 - sympy.E / 10)).subs(dipc.eps, 1) == 0
    low, high = answer.enclosure(1)
    assert float(low) == pytest.approx(1 - 0.2718281828459045)
    assert low <= high
    for eps, place in (("23/10", Fraction(23, 10)), ("[1/2, 23/10]", Fraction(1)), ("(0, 2.302)", Fraction(1))):
        assert dipc.load(COIN, eps=eps).probability({}, {"y": "1"}).enclosure(place)[0] > 0
    for eps in ("231/100", "[1/2, 231/100]", "(0, inf)", "3", None):
        with pytest.raises(DiagnosticError, match="a weight is negative at eps = "):
            dipc.load(COIN, eps=eps)


def test_the_eps_of_the_claim_block_counts() -> None:
    for eps in ("1", "(0, 2)"):
        text = COIN.replace("ideal", f"claim {{ alpha: 0; beta: 3/4; eps: {eps}; }} ideal")
        assert str(dipc.check(text).verdict) == "accurate"


@pytest.mark.parametrize(("beta", "word"), [("exp(eps)/10", "accurate"), ("1/5", "inaccurate")])
def test_the_checker_follows_one_eps(beta: str, word: str, tmp_path: Path) -> None:
    path, proof = tmp_path / "f.dip", tmp_path / "proof.json"
    path.write_text(FLIP, encoding="utf-8")
    command = ["check", str(path), "--alpha", "0", "--beta", beta, "--eps", "1", "--certificate", str(proof), "-q"]
    assert command_line(command) == (0 if word == "accurate" else 1)
    expected = ["verify", str(proof), "--program", str(path), "--expect", word, "-q"]
    assert command_line([*expected, "--eps", "1"]) == 0
    document = json.loads(proof.read_text(encoding="utf-8"))
    document["program"]["only_at"] = "3"
    proof.write_text(resealed(document), encoding="utf-8")
    assert command_line(expected) == 1


def test_privacy_at_one_eps(tmp_path: Path) -> None:
    """The loss at eps = 1 is log((1 - e/10)/(e/10)), near 0.98536."""
    path, proof = tmp_path / "f.dip", tmp_path / "proof.json"
    path.write_text(FLIP, encoding="utf-8")
    for budget, code in (("986/1000*eps", 0), ("985/1000*eps", 1)):
        command = ["privacy", str(path), "--adjacent", "hamming:1", "--eps", "1", "--budget", budget]
        assert command_line([*command, "--certificate", str(proof), "-q"]) == code
        assert command_line(["verify", str(proof), "--program", str(path), "-q"]) == 0


def test_runs_at_one_eps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "w.dip"
    path.write_text(COIN, encoding="utf-8")
    assert command_line(["run", str(path), "--eps", "1", "-n", "3"]) == 0
    assert command_line(["prob", str(path), "--eps", "1"]) == 0
    assert "0.7281718171" in capsys.readouterr().out
    assert command_line(["run", str(path), "--eps", "3", "-n", "3"]) == 2
