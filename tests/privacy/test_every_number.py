"""Privacy for every number of queries: against the constants of small numbers, and against random programs."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path

import pytest

import dipc
from dipc.cli.main import run
from dipc.obligations.engine import Engine
from dipc.privacy.check import PrivacyQuestion
from dipc.privacy.constant import Constant
from dipc.privacy.every_number import EveryNumber, check_privacy_for_all
from dipc.privacy.outcome import PrivacyVerdict

ROOT = Path(__file__).resolve().parent.parent.parent


def question(text: str, adjacent: str = "linf:1", least: int | None = None, **constants: int) -> EveryNumber:
    program = dipc.load(text, **constants)
    return EveryNumber(program, "m", least, adjacent, Engine(program.measurer, program.limits), None)


def benchmark(name: str) -> str:
    return (ROOT / "benchmarks" / f"{name}.dip").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "adjacent", "constants", "constant", "start"),
    [
        ("sparse", "linf:1", {}, "1", 4),
        ("sparse", "linf:2", {}, "2", 4),
        ("above_threshold", "linf:1", {}, "1", 4),
        ("numeric_sparse", "linf:1", {}, "1", 4),
        ("privacy/svt4", "linf:1", {}, "7/4", 3),
        ("privacy/gap_svt", "linf:1", {}, "1", 4),
        ("laplace", "l1:1", {}, "1", 1),
    ],
)
def test_constants(name: str, adjacent: str, constants: dict[str, int], constant: str, start: int) -> None:
    found = question(benchmark(name), adjacent, **constants).constant(None)
    assert (found.proved, found.refuted_below) == (Fraction(constant), Fraction(constant))
    assert found.numbers is not None
    assert (found.numbers.at, found.numbers.onwards) == (start, True)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("privacy/svt6", "no shifts were found"),
        ("privacy/svt3", "no shifts were found"),
        ("noisy_max", "`i` is used otherwise than as an index"),
    ],
)
def test_what_is_not_covered(name: str, reason: str) -> None:
    found = question(benchmark(name)).constant(None)
    assert found.proved is None
    assert reason in (found.reason or "")


def test_verdicts() -> None:
    program = dipc.load(benchmark("sparse"))
    assert check_privacy_for_all(program, "m", "linf:1").verdict is PrivacyVerdict.PRIVATE
    refuted = check_privacy_for_all(program, "m", "linf:1", budget="3/4*eps")
    assert refuted.verdict is PrivacyVerdict.NOT_PRIVATE
    assert refuted.numbers is not None
    assert refuted.numbers.at == 4
    # Up to m = 3 that budget does: refuted are greater ones only.
    assert question(benchmark("sparse"), least=4).constant(None).proved == 1


def loop(choose: random.Random) -> str:
    """A sparse vector technique with random rates, noise drawn anew or not, and random answers."""
    rates = [choose.choice(("eps/4", "eps/2", "eps")) for _ in range(3)]
    mean = choose.choice(("q[i]", "q[i]", "2*q[i]", "0", "q[i] + s"))
    test = choose.choice(("r >= t", "r > t + 1", "r + t >= 0", "2*r >= t", "q[i] + t >= 0"))
    above = choose.choice(("out[i] <- 1", "out[i] <- 2; exit", "out[i] <- 1; count <- 1", "t <- Lap(eps/2, s)"))
    below = choose.choice(("out[i] <- 0", "out[i] <- 0; exit", "if count = 1 then out[i] <- 3 end"))
    return f"""
program loops;
const m = 2;
input q[1..m], s : real;
output out[1..m] : {{0..3}} = 0;
var t, r : real;
var count : {{0, 1}} = 0;
t <- {choose.choice(("Lap", "Lap", "Expo"))}({rates[0]}{", s" if choose.random() < 2 else ""});
for i in 1..m do
  r <- Lap({rates[1]}, {mean});
  if {test} then {above} else {below} end
end
""".replace(f"Expo({rates[0]}, s)", f"Expo({rates[0]})")


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 153))])
def test_no_number_exceeds_what_is_proved(seed: int) -> None:
    """No pair refutes the constant for numbers greater than those that were looked at, either."""
    text = loop(random.Random(f"loops {seed}"))
    found = question(text).constant(None)
    if found.proved is None:
        return
    for number in (1, 2, 5):
        program = dipc.load(text, m=number)
        engine = Engine(program.measurer, program.limits)
        alone: Constant = PrivacyQuestion(program, "linf:1", "all", engine).constant(None)
        assert alone.refuted_below is not None
        assert alone.refuted_below <= found.proved


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["privacy", str(ROOT / "benchmarks" / "sparse.dip"), "--adjacent", "linf:1", "--inputs", "all"]
    assert run([*words, "--for-all", "m", "--constant", "-q"]) == 0
    assert (
        capsys.readouterr().out
        == "constant 1: 1*eps-private for every m >= 1, and no smaller constant does for m >= 4\n"
    )
    assert run([*words, "-D", "m=all", "--budget", "3/4*eps"]) == 1
    shown = capsys.readouterr().out
    assert "NOT PRIVATE: 3*eps/4 fails for a pair at an eps, at m = 4" in shown
    assert "-D m=4 --input" in shown
    assert run([*words, "--for-all", "m", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["for_all"] == {"parameter": "m", "least": 1}
    for more in (
        ["--for-all", "k"],
        ["--for-all", "m", "--renyi", "2", "--at", "1"],
        ["--for-all", "m", "--delta", "1"],
    ):
        assert run([*words, *more]) == 2
    assert run([*words[:4], "--inputs", "q = 0..1", "--for-all", "m"]) == 2
    assert run(["privacy", words[1], "--adjacent", "hamming:1", "--inputs", "all", "--for-all", "m"]) == 3
