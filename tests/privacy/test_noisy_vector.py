"""Answers computed from values with Gaussian noise, against the delta of these values and counts of the answers."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest

import dipc
from dipc.algebra.limits import Undecided
from dipc.cli.main import run
from dipc.decide.engine import Engine
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.noisy_vector import OF_NOISY_VALUES
from dipc.questions.privacy.outcome import PrivacyVerdict, read_claim

F = Fraction

ARGMAX = """program argmax; const m = 2; input q[1..m] : real; output w : {1..m}; var r[1..m] : real; var best : real;
for i in 1..m do r[i] <- Gauss(SIGMA, q[i]) end; w <- 1; best <- r[1];
for i in 2..m do if r[i] > best then w <- i; best <- r[i] end end"""
ABOVE = """program above; const m = 2; input q[1..m] : real; output o[1..m] : {no, yes} = no; var r : real;
for i in 1..m do r <- Gauss(SIGMA, q[i]); if r >= 5 then o[i] <- yes end end"""
COUNTS = """program counts; const m = 2; input n[1..m] : int; output w : {1..m} = 1; var x, y : int;
x <- DGauss(SIGMA, n[1]); y <- DGauss(SIGMA, n[2]); if y > x then w <- 2 end"""
GUARDED = """program guarded; input q : real; output o : {no, yes} = no; var r : real;
if q > 0 then r <- Gauss(SIGMA, q); if r >= 5 then o <- yes end end"""


def question(text: str, adjacent: str, deviation: str) -> PrivacyQuestion:
    program = dipc.load(text.replace("SIGMA", deviation))
    return PrivacyQuestion(program, adjacent, "all", Engine(program.measurer, program.limits))


def normal_delta(mean: float, budget: float) -> float:
    """The delta of two normal numbers of variance 1 that are `mean` apart (Balle and Wang)."""
    return float(mpmath.ncdf(mean / 2 - budget / mean) - mpmath.exp(budget) * mpmath.ncdf(-mean / 2 - budget / mean))


@pytest.mark.parametrize("text", [ARGMAX, ABOVE])
@pytest.mark.parametrize(("adjacent", "moves"), [("l1:1", 1), ("linf:1", 2)])
@pytest.mark.parametrize("eps", ["1", "(0, 1]"])
def test_what_is_enough_for_the_noisy_values_is_enough(text: str, adjacent: str, moves: int, eps: str) -> None:
    asked = question(text, adjacent, "2/eps")
    delta = F(normal_delta(math.sqrt(moves) / 2, 0.5)) + F(1, 10**9)
    report = asked.decide(read_claim(asked.program, "eps/2", str(delta), eps))
    assert (report.verdict, report.proof) == (PrivacyVerdict.PRIVATE, OF_NOISY_VALUES)
    less = asked.decide(read_claim(asked.program, "eps/2", str(delta - F(1, 10**8)), eps))
    assert less.verdict is not PrivacyVerdict.PRIVATE


def test_integers() -> None:
    asked = question(COUNTS, "l1:1", "2")
    law = {k: math.exp(-(k**2) / 8) for k in range(-60, 61)}
    excess = sum(max(0, law[k] - math.exp(1 / 2) * law[k - 1]) for k in range(-50, 50)) / sum(law.values())
    for more, verdict in ((1e-9, PrivacyVerdict.PRIVATE), (-1e-9, PrivacyVerdict.UNDECIDED)):
        claim = read_claim(asked.program, "eps/2", str(F(excess + more)), "1")
        assert asked.decide(claim).verdict is verdict


def test_nothing_is_refuted_in_this_way() -> None:
    """The index of the greatest of two needs less than both values: one normal number that is √2 wider."""
    asked = question(ARGMAX, "l1:1", "2")
    needed = max(
        float(mpmath.ncdf(gap / (2 * mpmath.sqrt(2))) - mpmath.exp(0.5) * mpmath.ncdf((gap - 1) / (2 * mpmath.sqrt(2))))
        for gap in (k / 10 for k in range(-80, 80))
    )
    enough = normal_delta(1 / 2, 0.5)
    assert needed < enough
    between = asked.decide(read_claim(asked.program, "eps/2", str(F((needed + enough) / 2)), "1"))
    assert between.verdict is PrivacyVerdict.UNDECIDED


def test_steps_that_read_the_inputs_are_no_post_processing() -> None:
    asked = question(GUARDED, "l1:1", "2/eps")
    assert asked.decide(read_claim(asked.program, "eps/2", "1/4", "1")).verdict is not PrivacyVerdict.PRIVATE


def test_the_least_delta_is_bounded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = question(ARGMAX, "l1:1", "2")
    with pytest.raises(Undecided, match=r"a delta of 0\.0\d+ at eps = 1 is enough, by post-processing") as refused:
        asked.least_delta(read_claim(asked.program, "eps/2", None, None), F(1))
    shown = F(refused.value.reason.partition("a delta of ")[2].partition(" ")[0])
    assert 0 <= shown - F(normal_delta(1 / 2, 0.5)) < F(1, 10**10)
    path, proof = tmp_path / "argmax.dip", tmp_path / "proof.json"
    path.write_text(ARGMAX.replace("SIGMA", "2/eps"), encoding="utf-8")
    words = ["privacy", str(path), "--adjacent", "l1:1", "--inputs", "all", "--delta", "1/5", "--eps", "(0, 1]"]
    assert run([*words, "--certificate", str(proof)]) == 2
    assert "by post-processing" in capsys.readouterr().err
    assert not proof.exists()
