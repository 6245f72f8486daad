"""Mixtures of Laplace noises whose law is that of one: everything asked about them is as for plain Laplace noise."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import dipc
from dipc.cli.main import run
from dipc.decide.engine import Engine
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import PrivacyVerdict, read_claim
from dipc.questions.privacy.plain_law import plain_release

F = Fraction

#: The earlier release is the later one with probability (a/b)², and otherwise the later one with more noise.
GRADUAL = """program gradual; const a = 1, b = 2; input q : real; output y : real; var z : real; var keep : {0, 1};
z <- Lap(b*eps, q); keep <- choose { 1 : (a/b)^2, 0 : 1 - (a/b)^2 };
if keep = 1 then y <- z else y <- Lap(a*eps, z) end"""
SCALED = """program scaled; const m = 2; input q[1..m] : real; output y : real; var z : real; var keep : {0, 1};
z <- Lap(3*eps, q[1]/2 + q[2]/2); keep <- choose { 1 : 1/9, 0 : 8/9 };
if keep = 1 then y <- 2*z + 1 else z <- Lap(eps, z); y <- 2*z + 1 end"""
PLAIN = "program plain; input q : real; output y : real; y <- Lap(RATE*eps, q)"


def question(text: str, inputs: str = "all", **constants: int) -> PrivacyQuestion:
    program = dipc.load(text, **constants)
    return PrivacyQuestion(program, "linf:1", inputs, Engine(program.measurer, program.limits))


@pytest.mark.parametrize(("a", "b"), [(1, 2), (1, 3), (2, 3), (4, 5)])
def test_answers_are_those_of_plain_noise(a: int, b: int) -> None:
    mixed, plain = question(GRADUAL, a=a, b=b), question(PLAIN.replace("RATE", str(a)))
    assert mixed.simplified
    assert not plain.simplified
    constant = mixed.constant(None)
    assert (constant.proved, constant.refuted_below) == (a, a)
    assert mixed.delta_at(F(1, 2), F(1)) == plain.delta_at(F(1, 2), F(1))
    assert mixed.largest_loss(F(1)).value == plain.largest_loss(F(1)).value
    assert mixed.divergence(3, F(1)).value == plain.divergence(3, F(1)).value
    for budget, verdict in ((f"{a}*eps", PrivacyVerdict.PRIVATE), (f"{a}*eps*9/10", PrivacyVerdict.NOT_PRIVATE)):
        assert mixed.decide(read_claim(mixed.program, budget, None, None)).verdict is verdict


def test_forms_of_inputs() -> None:
    """2·Lap(eps) has rate 1/2, and both inputs move its center by 1 together."""
    asked = question(SCALED)
    constant = asked.constant(None)
    assert (asked.simplified, constant.proved, constant.refuted_below) == (True, 1, 1)
    assert question(SCALED, "q = 0..m - 1").constant(None).proved == 1


@pytest.mark.parametrize(
    "changed",
    [
        GRADUAL.replace("(a/b)^2", "(a/b)"),
        GRADUAL.replace("Lap(b*eps, q)", "Lap(b*eps, 2*q)").replace("y <- z else", "y <- z/2 else"),
        GRADUAL.replace("y <- z else", "y <- q else"),
        GRADUAL.replace("Lap(b*eps, q)", "Expo(b*eps); z <- z + q"),
        GRADUAL.replace("output y", "output w, y")
        .replace("y <- z else", "w <- z; y <- z else")
        .replace("y <- Lap(a*eps, z)", "w <- z; y <- Lap(a*eps, z)"),
        "program one; input q : real; output y : real; y <- Lap(eps, q)",
        "program sum; input q : real; output y : real; var z : real; z <- Lap(eps, q); y <- Lap(eps, z)",
        """program gate; input q : real; output y : real = 0; var z : real;
        z <- Lap(eps, q); if z > 0 then y <- Lap(eps, z) end""",
    ],
)
def test_other_laws_stay_as_they_are(changed: str) -> None:
    assert plain_release(dipc.load(changed)) is None


def test_draws_of_the_mixture_have_that_law() -> None:
    """The characteristic function of the mixture, and its empirical one, are a²/(a² + s²)."""
    chance = np.random.default_rng(4)
    later = chance.laplace(size=200_000) / 2
    keep = chance.random(200_000) < 1 / 4
    earlier = np.where(keep, later, later + chance.laplace(size=200_000))
    for s in (0.3, 1.0, 2.5):
        assert np.mean(np.cos(s * earlier)) == pytest.approx(1 / (1 + s**2), abs=0.01)


def test_there_is_no_certificate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, proof = tmp_path / "gradual.dip", tmp_path / "proof.json"
    path.write_text(GRADUAL, encoding="utf-8")
    words = ["privacy", str(path), "--adjacent", "linf:1", "--inputs", "all"]
    assert run([*words, "--certificate", str(proof)]) == 2
    assert "mixture of Laplace noises" in capsys.readouterr().err
    assert run(words) == 0
