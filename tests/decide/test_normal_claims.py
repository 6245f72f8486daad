"""Claims with functions of the normal distribution, from the text to the verdict."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dipc
from dipc.sign.normal import NormalBeta

F = Fraction

COUNT = """program count;
input q : real;
output out : real;
ideal { out <- q }
out <- %s;
"""


def verdict(deviation: str, beta: str, **more: str) -> str:
    program = dipc.load(COUNT % f"Gauss({deviation}, q)")
    given = {"inputs": "q = 0", "gamma": "3/2", "alpha": "0", **more}
    return str(dipc.check(program, beta=beta, **given).verdict)


@pytest.mark.parametrize(
    ("deviation", "equal"),
    [
        ("1/eps", "erfc(gamma*eps/sqrt(2))"),
        ("3/(2*eps)", "erfc(gamma*eps*sqrt(2)/3)"),
        ("sqrt(3)/eps", "erfc(gamma*eps/sqrt(6))"),
        ("sqrt(2*log(5))/eps", "erfc(gamma*eps/(2*sqrt(log(5))))"),
        ("2", "erfc(gamma/(2*sqrt(2)))"),
        ("exp(1)", "erfc(gamma/(exp(1)*sqrt(2)))"),
    ],
)
def test_what_is_equal_holds_and_less_fails(deviation: str, equal: str) -> None:
    assert verdict(deviation, equal) == "accurate"
    assert verdict(deviation, f"{equal}*0.9999") == "inaccurate"
    assert verdict(deviation, f"{equal}*1.0001", eps="[1/100, 3]") == "accurate"


def test_the_chernoff_bound_holds_for_every_eps() -> None:
    assert verdict("1/eps", "exp(-gamma^2*eps^2/2)") == "accurate"
    assert verdict("1/eps", "exp(-gamma^2*eps^2/2)", inputs="all", gamma="free") == "accurate"
    assert verdict("1/eps", "exp(-gamma^2*eps^2)") == "inaccurate"


_DISCRETE = """program discrete;
input n, k : int;
output out : int;
output above : bool;
var r : int;
ideal { out <- n; above <- k >= 0 }
out <- DGauss(2/eps, n);
r <- DGauss(1/eps, k);
above <- r >= 0;
"""


@pytest.mark.parametrize(
    ("beta", "wanted"),
    [
        # It fails from 4 on, and from -1 on.
        ("2*exp(-gamma^2*eps^2/8) + exp(-eps^2/4)", "accurate"),
        ("exp(-eps^2/2) + 2*exp(-2*eps^2)", "accurate"),
        ("2*exp(-16*eps^2/8) + exp(-eps^2)", "inaccurate"),
        ("2*exp(-17*eps^2/8)", "inaccurate"),
    ],
)
def test_tails_of_discrete_noise_against_a_normal_claim(beta: str, wanted: str) -> None:
    """The bound e^{-s²/2} of tails is compared with beta on (0, ∞), by the squares in eps."""
    report = dipc.check(dipc.load(_DISCRETE), inputs="n = 0, k = 0", gamma=3, beta=beta, alpha=0)
    assert str(report.verdict) == wanted


def test_large_eps_that_are_not_decided_are_named() -> None:
    report = dipc.check(
        dipc.load(_DISCRETE), inputs="n = 0, k = 0", gamma=3, beta="exp(-eps^2/9) + eps*exp(-eps^2)", alpha=0
    )
    assert str(report.rows[0].reason).startswith("beyond eps = ")


def test_laplace_noise_against_a_normal_claim() -> None:
    """e^{-gamma·eps} is more than any normal tail far out, and less near 0."""
    program = dipc.load(COUNT % "Lap(eps, q)")
    for beta, eps, wanted in (
        ("erfc(gamma*eps/2)", "(0, 1]", "accurate"),
        ("erfc(gamma*eps/2)", "(0, inf)", "inaccurate"),
    ):
        report = dipc.check(program, inputs="q = 0", alpha="0", gamma="1", beta=beta, eps=eps)
        assert str(report.verdict) == wanted


def test_a_beta_goes_to_other_processes() -> None:
    program = dipc.load(COUNT % "Gauss(1/eps, q)")
    report = dipc.check(program, inputs="q = 0", alpha="0", gamma="1", beta="erfc(eps)/3 + exp(-eps)")
    beta = report.rows[0].beta_form
    assert isinstance(beta, NormalBeta)
    assert pickle.loads(pickle.dumps(beta)) == beta
    low, high = beta.enclosure(1, 20)
    assert low <= high
    assert abs(float(low) - (0.15729920705 / 3 + 0.36787944117)) < 1e-9


@pytest.mark.parametrize("digits", [6, 12, 16])
def test_claims_beside_the_supremum_are_decided_on_both_sides(digits: int) -> None:
    """The least factor of this row was found by quadrature and Newton's method, with 60 digits."""
    sparse = dipc.load((Path(__file__).parents[2] / "benchmarks" / "gaussian_sparse.dip").read_text(encoding="utf-8"))
    least = Fraction("0.923720627430006660282563241472335539125000949")
    for side, verdict in ((1, dipc.Verdict.ACCURATE), (-1, dipc.Verdict.INACCURATE)):
        factor = least * (1 + side * Fraction(1, 10**digits))
        assert dipc.check(sparse, inputs="q=(-1,-1,1)", beta=f"{factor}*exp(-eps/8)").verdict is verdict


def test_equality_at_one_eps_is_seen() -> None:
    """A fixed deviation is read as one at that eps."""
    program = dipc.load("program p; input q : real; output r : real; ideal { r <- q } r <- Gauss(2, q)", eps=3)
    about = {"inputs": "all", "alpha": 0, "gamma": 2, "eps": 3}
    assert dipc.check(program, beta="erfc(1/sqrt(2))", **about).verdict is dipc.Verdict.ACCURATE  # type: ignore[arg-type]
    assert dipc.check(program, beta="erfc(1/sqrt(2)) - 1e-9", **about).verdict is dipc.Verdict.INACCURATE  # type: ignore[arg-type]


def test_a_fixed_deviation_means_one_eps_where_it_is_read_at_one() -> None:
    text = "program p; input q : real; output r : real; ideal { r <- q } r <- Gauss({}, q)"
    assert dipc.load(text.replace("{}", "2"), eps=3).core.only_at == 3
    assert dipc.load(text.replace("{}", "2/eps"), eps=3).core.only_at is None


#: Programs whose noise is the same for every eps, or some of it, and beside which gamma or input an answer fails with
#: the probability erfc(√2) = 0.0455… = exp(-3.0900…): two standard deviations; or with about as much.
STILL = {
    "a count": "input q : real; output r : real; ideal { r <- q } r <- Gauss(3, q)",
    "a maximum": "input q[1..2] : real; output r : bool; ideal { r <- q[1] >= q[2] } "
    "r <- Gauss(3*sqrt(2)/2, q[1] + 6) >= Gauss(3*sqrt(2)/2, q[2])",
    "beside another": "input q : real; output r : real; output b : bool; ideal { r <- q; b <- q >= 0 } "
    "r <- Gauss(3, q); b <- Gauss(1/eps, q + 100) >= 0",
    "integers": "input q : int; output r : int; ideal { r <- q } r <- DGauss(13/4, q)",
    "three": "input q[1..3] : real; output r : bool; ideal { r <- q[1] >= q[2] } var a, b, c : real; "
    "a <- Gauss(3, q[1] + 9); b <- Gauss(2, q[2]); c <- Gauss(2, q[3]); r <- a >= b and a >= c",
}


@pytest.mark.parametrize("name", STILL)
def test_noise_without_eps_against_a_beta_that_falls(name: str) -> None:
    """The series of the bound has one nonzero coefficient, and the series of beta has all, for all ends."""
    program = dipc.load("program still; " + STILL[name])
    inputs = ["q[1] = 0", "q[2] = 0", "q[3] = 0"][: len(program.inputs)] if "q[" in STILL[name] else "q = 0"
    about: dict[str, Any] = {"inputs": inputs, "alpha": 0, "gamma": 6}
    refuted = dipc.check(program, eps="[1, 1]", beta="0", **about).rows[0].counterexample
    assert refuted is not None
    crossing = F(-math.log(1 - float(refuted.probability[0])))
    for interval in ("[1/2, E)", "[C, E)", "(C, E]"):
        for factor, wanted in ((F(99, 100), "accurate"), (F(101, 100), "inaccurate")):
            end, start = round(crossing * factor, 6), round(crossing * F(9, 10), 6)
            eps = interval.replace("E", str(end)).replace("C", str(start))
            assert dipc.check(program, beta="exp(-eps)", eps=eps, **about).verdict == wanted
