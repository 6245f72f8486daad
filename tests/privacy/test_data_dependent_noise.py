"""Noise whose scale depends on data: values computed by hand, for every question about privacy."""

from __future__ import annotations

import contextlib
import io
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dipc.cli.main import run

DEGREE = """program deg2; input x : {0, 1}; output y : real;
if x = 0 then y <- Lap(2*eps) else y <- Lap(eps) end"""
LOCAL_SCALE = "program local_scale; input s : {1, 2}; input q : real; output y : real; y <- Lap(eps/s, q)"
HARMONIC = "program harmonic; input k : {1..3}; output y : real; y <- Lap(eps/k, k)"
COIN_AND_NOISE = """program coinlap; input q : real; output o : {0, 1}; output y : real;
o <- choose { 0 : 1/(1 + exp(eps)), 1 : exp(eps)/(1 + exp(eps)) }; y <- Lap(eps, q)"""
LOCAL = ("--adjacent", "l1:1", "--inputs", "q = 0..1")
LOCAL_BY_HAMMING = ("--adjacent", "hamming:1", "--inputs", "q = 0..1")
LINF = ("--adjacent", "linf:1")
COIN = (*LINF, "--inputs", "q in {0, 1}")


def privacy_answer(tmp_path: Path, text: str, *given: str) -> tuple[int, Any]:
    """Run `dipc privacy` on `text`; return the exit code and the JSON answer."""
    path = tmp_path / "p.dip"
    path.write_text(text, encoding="utf-8")
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        code = run(["privacy", str(path), *given, "--format", "json"])
    return code, json.loads(output.getvalue())


def number(ends: list[str]) -> float:
    low, high = map(Fraction, ends)
    assert high - low < Fraction(1, 10**9)
    return float(low)


E = math.e


@pytest.mark.parametrize(
    ("text", "adjacent", "budget", "eps", "expected"),
    [
        # p = e^(-2|y|) and p' = e^(-|y|)/2 at eps = 1: p > e^b·p' for |y| < log(2) - b, and the reverse otherwise.
        (DEGREE, LINF, "0*eps", "1", 1 / 4),
        (DEGREE, LINF, "eps/4", "1", math.exp(-1 / 4) / 4),
        (DEGREE, LINF, "eps/4", "1/2", math.exp(-1 / 8) / 4),
        (DEGREE, LINF, "eps", "1", 1 / E / 4),
        (LOCAL_SCALE, LOCAL, "eps", "1", 1 / E / 4),
        (LOCAL_SCALE, LOCAL, "2*eps", "1", 1 / E**2 / 4),
        (LOCAL_SCALE, LOCAL_BY_HAMMING, "eps", "1", 1 / E / 4),
        (HARMONIC, LINF, "0*eps", "1", 0.36889),
    ],
)
def test_least_delta(
    tmp_path: Path, text: str, adjacent: tuple[str, ...], budget: str, eps: str, expected: float
) -> None:
    code, answer = privacy_answer(tmp_path, text, *adjacent, "--delta-of", budget, "--at", eps)
    assert code == 0
    assert number(answer["least_delta"]["at"]["value"]) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    ("text", "adjacent", "budget", "delta", "verdict"),
    [
        (DEGREE, LINF, "eps/4", "3/40", "not private"),
        (DEGREE, LINF, "eps/4", "0.194700", "not private"),
        (DEGREE, LINF, "eps/4", "0.194701", "private"),
        (DEGREE, LINF, "eps", "0.091969", "not private"),
        (DEGREE, LINF, "eps", "0.091970", "private"),
        (LOCAL_SCALE, LOCAL, "eps", "1/20", "not private"),
        (LOCAL_SCALE, LOCAL, "eps", "0.091970", "private"),
        (LOCAL_SCALE, LOCAL_BY_HAMMING, "2*eps", "0.0338338", "not private"),
        (LOCAL_SCALE, LOCAL, "2*eps", "0.033834", "private"),
    ],
)
def test_verdicts_on_both_sides_of_the_least_delta(
    tmp_path: Path, text: str, adjacent: tuple[str, ...], budget: str, delta: str, verdict: str
) -> None:
    given = ("--budget", budget, "--delta", delta, "--eps", "[1,1]")
    code, answer = privacy_answer(tmp_path, text, *adjacent, *given)
    assert (answer["verdict"], code) == (verdict, 0 if verdict == "private" else 1)


@pytest.mark.parametrize(
    ("text", "adjacent", "delta", "expected"),
    [
        (DEGREE, LINF, "1/10", math.log(5 / 2)),
        (LOCAL_SCALE, LOCAL, "1/20", math.log(5)),
        (COIN_AND_NOISE, COIN, "1/100", 1 + 2 * math.log(0.99)),
    ],
)
def test_least_budget(tmp_path: Path, text: str, adjacent: tuple[str, ...], delta: str, expected: float) -> None:
    code, answer = privacy_answer(tmp_path, text, *adjacent, "--budget-of", delta, "--at", "1")
    assert code == 0
    assert number(answer["least_budget"]["value"]) == pytest.approx(expected, abs=1e-9)


def test_profile(tmp_path: Path) -> None:
    _, answer = privacy_answer(tmp_path, DEGREE, *LINF, "--profile", "--at", "1")
    for point in answer["profile"]:
        assert number(point["delta"]) == pytest.approx(math.exp(-float(Fraction(point["budget"]))) / 4, abs=1e-12)


def test_the_loss_has_no_bound(tmp_path: Path) -> None:
    for text, adjacent in ((DEGREE, LINF), (LOCAL_SCALE, LOCAL), (HARMONIC, LINF)):
        assert privacy_answer(tmp_path, text, *adjacent, "--max-loss", "--at", "1")[1]["loss"]["value"] == [
            "inf",
            "inf",
        ]
        assert privacy_answer(tmp_path, text, *adjacent, "--constant")[1]["constant"]["proved"] == "inf"


def test_a_counterexample_states_the_outputs_that_it_measures(tmp_path: Path) -> None:
    """Pr[y in S] under both laws, recomputed by hand from the interval in the counterexample."""
    given = ("--budget", "eps/4", "--delta", "3/40", "--eps", "[1,1]")
    found = privacy_answer(tmp_path, DEGREE, *LINF, *given)[1]["counterexample"]
    assert found["input"] == {"x": "0"}
    ((low, high),) = [output["y"].split(" to ") for output in found["outputs"]]
    end = float(Fraction(high))
    assert Fraction(low) == -Fraction(high)
    assert float(Fraction(found["probability"][0])) == pytest.approx(1 - math.exp(-2 * end), abs=1e-9)
    allowed = math.exp(1 / 4) * (1 - math.exp(-end)) + 3 / 40
    assert float(Fraction(found["allowed"][0])) == pytest.approx(allowed, abs=1e-9)


NORMAL_THRESHOLD = """program gmin; input n : {0, 1}; output shown : bool = false; var r : real;
if n > 0 then r <- Gauss(1, 0); shown <- r > 2 end"""


@pytest.mark.parametrize("eps", [(), ("--at", "1"), ("--eps", "[1, 2]"), ("--eps", "(0, 3]")])
def test_probabilities_that_are_the_same_for_every_eps(tmp_path: Path, eps: tuple[str, ...]) -> None:
    code, answer = privacy_answer(tmp_path, NORMAL_THRESHOLD, *LINF, "--delta-of", "eps", *eps)
    assert code == 0
    assert number(answer["least_delta"]["supremum"]) == pytest.approx(math.erfc(math.sqrt(2)) / 2, rel=1e-12)
    assert answer["least_delta"]["attained"] is True


def test_an_answer_that_is_wider_than_asked_is_undecided(tmp_path: Path) -> None:
    code, answer = privacy_answer(tmp_path, DEGREE, *LINF, "--delta-of", "eps/4")
    low, high = map(Fraction, answer["least_delta"]["supremum"])
    assert low <= Fraction(1, 4) <= high
    assert (code, answer["verdict"]) == ((3, "undecided") if high - low > Fraction(1, 10**9) else (0, None))
    code, answer = privacy_answer(tmp_path, DEGREE, *LINF, "--delta-of", "eps/4", "--eps", "[1/2, 2]", "--at", "1")
    assert code == 0
    assert number(answer["least_delta"]["supremum"]) == pytest.approx(math.exp(-1 / 8) / 4, abs=1e-9)
    assert number(answer["least_delta"]["at"]["value"]) == pytest.approx(math.exp(-1 / 4) / 4, abs=1e-9)


def test_the_first_line_says_at_which_eps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.dip"
    path.write_text(DEGREE, encoding="utf-8")
    assert run(["privacy", str(path), *LINF, "--delta-of", "eps/4", "--at", "1/2"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "least delta for eps/4: 0.2206242256… at eps = 1/2"


@pytest.mark.parametrize("given", [(), ("--digits", "4"), ("--digits", "12")])
def test_a_constant_has_the_digits_that_are_asked_for(tmp_path: Path, given: tuple[str, ...]) -> None:
    """The supremum of log(p/p')/eps, on a grid of eps."""
    share = "x*(1 - exp(-eps))*(1 - exp(-eps))*exp(-eps)"
    text = f"program k; input x : {{0, 1}}; output y : {{0, 1}}; y <- choose {{ 0 : 1/4 + {share}, 1 : 3/4 - {share} }}"
    shares = [(k / 1000, (1 - math.exp(-k / 1000)) ** 2 * math.exp(-k / 1000)) for k in range(1, 10_000)]
    most = max(abs(math.log(ratio)) / eps for eps, s in shares for ratio in (1 + 4 * s, 1 - 4 * s / 3))
    code, answer = privacy_answer(tmp_path, text, *LINF, "--constant", *given)
    low, high = Fraction(answer["constant"]["refuted_below"]), Fraction(answer["constant"]["proved"])
    assert code == 0
    assert float(low) - 1e-6 <= most <= float(high)
    assert (high - low) * 10 ** (int(given[1]) if given else 20) <= 10 * high
