"""The values of a constant for which a claim, or privacy with delta, holds: against closed forms by hand."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dipc
from dipc.cli.main import run
from dipc.inverse.solve_constant import ConstantSolution, is_threshold, read_grid, solve_constant
from dipc.options import Options
from dipc.text.diagnostic import DiagnosticError
from tests.patience import examples

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
    grid = "T in 5..9 by 1/4"
    found = solve_constant(program, None, grid, Options(**options))  # type: ignore[arg-type]
    assert found.holds == tuple(value for value in read_grid(grid, program)[1] if value >= LEAST)
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
    with pytest.raises(ValueError, match="values of one such as"):
        dipc.solve(program, wanted="k", **claim)  # type: ignore[arg-type]


def test_grids() -> None:
    program = dipc.load(THRESHOLD)
    assert read_grid("T in {3, 1/2}", program) == ("T", (Fraction(1, 2), Fraction(3)))
    assert len(read_grid("T in 1..100", program)[1]) == 100
    assert read_grid("T", program) == ("T", ())
    for text, code in (("T in x", "E1029"), ("T in 3..1", "E1029"), ("T in 1..x", "E1029"), ("X in 1..2", "E1025")):
        with pytest.raises(DiagnosticError, match=code):
            read_grid(text, program)


# --- where the values begin or end ---


def calibrated(eps: str, delta: str) -> mpmath.mpf:
    """The deviation of the analytic calibration (Balle and Wang 2018), from its own equation at 50 digits."""
    with mpmath.workdps(50):
        e, d = mpmath.mpf(eps), mpmath.mpf(delta)

        def excess(s: mpmath.mpf) -> mpmath.mpf:
            return mpmath.ncdf(1 / (2 * s) - e * s) - mpmath.exp(e) * mpmath.ncdf(-1 / (2 * s) - e * s) - d

        low, high = mpmath.mpf(1) / 1000, mpmath.mpf(1000) / e
        for _ in range(160):
            middle = (low + high) / 2
            low, high = (middle, high) if excess(middle) > 0 else (low, middle)
        return low


@pytest.mark.parametrize(("eps", "delta"), [("1", "1e-5"), ("0.1", "1e-6"), ("4", "0.25"), ("0.01", "0.001")])
@pytest.mark.parametrize("digits", [10, 28])
def test_the_analytic_calibration(eps: str, delta: str, digits: int) -> None:
    program = dipc.load("program p; const s = 1; input q : real; output r : real; r <- Gauss(s, q)")
    about: dict[str, Any] = {"adjacent": "linf:1", "inputs": "all", "delta": delta, "eps": eps, "digits": digits}
    found = dipc.solve(program, wanted="s", **about)
    assert isinstance(found, ConstantSolution)
    assert found.edge is not None
    low, high = found.edge.ends
    assert found.edge.begins
    assert found.edge.monotone
    assert high - low <= Fraction(1, 10 ** (digits - 2))
    with mpmath.workdps(50):
        exact = calibrated(eps, delta)
        assert mpmath.mpf(low.numerator) / low.denominator < exact < mpmath.mpf(high.numerator) / high.denominator


def test_a_constant_of_a_claim_about_accuracy() -> None:
    """The greatest deviation with which a count is within 3 with 95 %: nothing is said of other values."""
    program = dipc.load("program p; const s = 1; input q : real; output r : real; ideal { r <- q } r <- Gauss(s, q)")
    found = dipc.solve(program, wanted="s", inputs="all", alpha=0, gamma=3, beta="1/20")
    assert isinstance(found, ConstantSolution)
    assert found.edge is not None
    low, high = found.edge.ends
    assert not found.edge.begins
    assert not found.edge.monotone
    exact = 3 / (math.sqrt(2) * float(mpmath.erfinv(0.95)))
    assert float(low) <= exact <= float(high)
    assert found["greatest"] == [str(float(low)), str(float(high))]


def test_a_threshold_without_a_grid() -> None:
    about: dict[str, Any] = {"adjacent": "hamming:1", "delta": "1/1000", "eps": "1", "digits": 12}
    found = dipc.solve(dipc.load(THRESHOLD), wanted="T", **about)
    assert isinstance(found, ConstantSolution)
    assert found.edge is not None
    assert float(found.edge.ends[0]) <= LEAST + 1e-10
    assert float(found.edge.ends[1]) >= LEAST - 1e-10


@pytest.mark.parametrize("text", ["s/eps", "2*s/eps", "sqrt(s)/eps", "(s + 1)/eps", "1/(s*eps)", "t/eps"])
def test_when_a_claim_is_known_to_be_monotone(text: str) -> None:
    more = ", t = 2*s" if "t" in text.replace("sqrt", "") else ""
    program = dipc.load(f"program p; const s = 1{more}; input q : real; output r : real; r <- Gauss({text}, q)")
    about: dict[str, Any] = {"adjacent": "linf:1", "inputs": "all", "delta": "1e-3", "eps": "1", "digits": 4}
    found = dipc.solve(program, wanted="s", **about)
    assert isinstance(found, ConstantSolution)
    assert found.edge is None or found.edge.monotone is (text in {"s/eps", "2*s/eps", "sqrt(s)/eps"})


def test_eps_may_move_with_the_constant() -> None:
    """The budget changes, too: μ = √s, and delta is 0 near s = 0, 0.127 at s = 1, and falls to 0 again."""
    program = dipc.load("program p; const s = 1; input q : real; output r : real; r <- Gauss(sqrt(s)/eps, q)")
    about: dict[str, Any] = {"adjacent": "linf:1", "inputs": "all", "delta": "1/20", "eps": "[s, s]"}
    found = dipc.solve(program, wanted="s", digits=4, **about)
    assert isinstance(found, ConstantSolution)
    assert found.edge is not None
    assert found.edge.begins
    assert not found.edge.monotone
    values = dipc.solve(program, wanted="s in {1/1000, 1, 20}", **about)
    assert isinstance(values, ConstantSolution)
    assert values.holds == (Fraction(1, 1000), Fraction(20))


def test_no_value_is_enough() -> None:
    text = "program p; const s = 1; input q : {0..1}; output r : {0..1}; ideal { r <- q } r <- choose {0: 1/2, 1: 1/2}"
    found = dipc.solve(dipc.load(text), wanted="s", beta="1/3")
    assert isinstance(found, ConstantSolution)
    assert (found.status, found.edge) == ("none", None)
    enough = dipc.solve(dipc.load(text), wanted="s", beta="2/3")
    assert isinstance(enough, ConstantSolution)
    assert (enough.status, enough.edge) == ("undecided", None)
    assert "powers of ten" in enough.reason


RELEASE = """program release; const T = 5; input n : {0, 1}; output v : real = 0; output said : bool = false;
var r : real; r <- Lap(eps, n); if n = 1 and r >= T then v <- r; said <- true end"""


def monotone(text: str, **options: Any) -> bool:
    return is_threshold(dipc.load(text), None, "T", Options(**options))


def test_the_threshold_from_eps_and_delta() -> None:
    """The least threshold T at which a noisy count may be released, for a given delta.

    A key that nobody has is never released. So delta is Pr[1 + Lap(1/eps) >= T] = e^(-eps·(T - 1))/2, and it falls with
    T.
    """
    for eps, delta in ((1, Fraction(1, 10**6)), (2, Fraction(1, 1000)), (Fraction(1, 2), Fraction(1, 100))):
        found = dipc.solve(dipc.load(RELEASE), wanted="T", adjacent="hamming:1", delta=delta, eps=str(eps))
        assert isinstance(found, ConstantSolution)
        assert found.edge is not None
        assert found.edge.monotone
        assert found.edge.begins
        low, high = map(float, found.edge.ends)
        exact = 1 + math.log(1 / (2 * float(delta))) / float(eps)
        assert low - 1e-8 * low <= exact <= high + 1e-8 * high
        assert high - low < 1e-8 * high


def test_where_thresholds_are_monotone() -> None:
    threshold = Path(THRESHOLD).read_text(encoding="utf-8")
    assert monotone(threshold, beta="1/10", alpha=0)
    assert monotone(threshold, adjacent="hamming:1", delta="1/10")
    # Fewer are told of somebody as T grows, and so fewer rightly.
    right = threshold.replace("ideal { said <- nothing }", "ideal { if n = 1 then said <- somebody end }")
    assert monotone(right, beta="1/10", alpha=0, inputs="n = 1..1")
    for other in (
        threshold.replace("r >= T then", "r >= T and r <= 2*T then"),
        threshold.replace("Lap(eps, n)", "Lap(T*eps, n)"),
        threshold.replace("r >= T then", "r >= T then r <- Lap(eps, 0) else r <- Lap(eps, 2*T) end; if r >= T then"),
    ):
        assert not monotone(other, beta="1/10", alpha=0)
        assert not monotone(other, adjacent="hamming:1", delta="1/10")
    # The exact answer moves with the threshold.
    assert not is_threshold(dipc.load("benchmarks/sparse.dip"), None, "T", Options(inputs="all", beta="1/10"))
    # Two counts that are both there: what is known of both falls, and delta need not.
    both = RELEASE.replace("{0, 1}", "{1, 2}").replace("n = 1 and ", "")
    assert not monotone(both, adjacent="hamming:1", delta="1/10")
    assert not monotone(threshold, beta="1/T", alpha=0)
    rows = [{"n": 1, "said": "nothing", "beta": "1/T"}]
    assert not is_threshold(dipc.load(threshold), rows, "T", Options(alpha=0))
    assert is_threshold(dipc.load(threshold), [{**rows[0], "beta": "1/10"}], "T", Options(alpha=0))


@settings(max_examples=examples(10), deadline=None)
@given(
    factor=st.sampled_from([-2, -1, 1, 2]),
    op=st.sampled_from([">=", "<"]),
    second=st.sampled_from(["", " and p >= T", " or p >= T", " and p <= T"]),
    thresholds=st.lists(st.fractions(-3, 5, max_denominator=4), min_size=3, max_size=3, unique=True),
)
def test_probabilities_do_go_in_one_direction(factor: int, op: str, second: str, thresholds: list[Fraction]) -> None:
    text = f"""program p; const T = 1; input q : real; output b : bool = false; var r, p : real; ideal {{ b <- false }}
    r <- Lap(eps, q); p <- Lap(2*eps, q + 1); if r {op} {factor}*T{second} then b <- true end"""
    known = monotone(text, inputs="all", beta="1/10", alpha=0)
    falls = (factor > 0) == (op == ">=")
    assert known == (second == "" or falls is (second[-4:] == ">= T"))
    chances = [
        float(dipc.load(text, T=value).probability({"q": Fraction(1, 3)}, {"b": False}).enclosure(1)[0])
        for value in sorted(thresholds)
    ]
    if known:
        assert chances in (sorted(chances), sorted(chances, reverse=True))
