"""Clamped outputs are near at every input: against exact probabilities at inputs, and against logarithms by hand."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dipc
from dipc.inverse.solve import IntervalSide
from tests.patience import examples

CLAMPED = """program clamped; const B = 10; input q : real; output v : real; var r : real;
ideal { var c : real; c <- q; if q >= B then c <- B end; if q < 0 then c <- 0 end; v <- c }
r <- Lap(eps, q); v <- r; if r >= B then v <- B end; if r < 0 then v <- 0 end"""
TWO = """program two; input q[1..2] : real; output v[1..2] : real = 0; var r : real;
ideal { for i in 1..2 do if q[i] >= 0 then v[i] <- q[i] end end }
for i in 1..2 do r <- Lap(i*eps, q[i]); if r >= 0 then v[i] <- r end end"""
MEAN = """program mean; const n = 3; input x[1..n] : real; output y : real; var s : real = 0; ideal { noiseless }
for i in 1..n do s <- s + max(0, min(1, x[i])) end; y <- s/n + Lap(n*eps)"""


def reach(text: str, side: IntervalSide, **constants: int) -> float:
    """The distance to which the interval extends on `side`, for every input at eps = 1."""
    found = dipc.interval(dipc.load(text, **constants), inputs="all", eps=1, side=str(side))
    solution = found.solutions[side]
    assert solution.value is not None, solution.remark
    low, high = solution.value
    assert high - low < Fraction(1, 10**6)
    return float(low)


def test_intervals_round_clamped_releases() -> None:
    # In the middle the release is off by a Laplace noise on both sides, or on one alone.
    assert reach(CLAMPED, IntervalSide.BOTH) == pytest.approx(log(20), rel=1e-8)
    assert reach(CLAMPED, IntervalSide.LOWER) == pytest.approx(log(10), rel=1e-8)
    assert reach(CLAMPED, IntervalSide.UPPER) == pytest.approx(log(10), rel=1e-8)
    # In a small range every release is near.
    assert reach(CLAMPED, IntervalSide.LOWER, B=2) == pytest.approx(2, rel=1e-8)


def test_several_clamped_outputs_are_near_at_once() -> None:
    found = reach(TWO, IntervalSide.BOTH)
    assert (1 - exp(-found)) * (1 - exp(-2 * found)) == pytest.approx(0.95, rel=1e-8)


@settings(max_examples=examples(10), deadline=None)
@given(
    bound=st.integers(1, 6),
    shift=st.fractions(-1, 1, max_denominator=4),
    near=st.fractions(0, 1, max_denominator=4),
    inputs=st.lists(st.fractions(-3, 9, max_denominator=4), min_size=3, max_size=3, unique=True),
    metric=st.sampled_from(["", "metric { output: above; }", "metric { output: below; }"]),
)
def test_what_is_proved_holds_at_each_input(
    bound: int, shift: Fraction, near: Fraction, inputs: list[Fraction], metric: str
) -> None:
    text = CLAMPED.replace("ideal", f"{metric} ideal").replace("Lap(eps, q)", f"Lap(eps, q + {shift})")
    program = dipc.load(text, B=bound)
    for beta in (Fraction(1, 3), Fraction(1, 2), Fraction(3, 4), Fraction(19, 20)):
        about = {"alpha": 0, "gamma": near * bound, "beta": beta, "eps": "1"}
        rows = dipc.check(program, inputs=[{"q": q} for q in inputs], **about).verdict  # type: ignore[arg-type]
        everywhere = dipc.check(program, inputs="all", **about).verdict  # type: ignore[arg-type]
        assert everywhere != "accurate" or rows == "accurate"


@pytest.mark.parametrize(("released", "verdict"), [("0", "accurate"), ("-2", "accurate"), ("-4", "inaccurate")])
def test_far_releases_are_not_taken_for_near_ones(released: str, verdict: str) -> None:
    """A distant release is never taken for one within gamma.

    A release of -2 is within 3 of answers up to 1, and rarely reached from others. One of -4 is near no answer, and is
    reached from 0 half of the time.
    """
    text = f"""program p; input q : real; output v : real; var r : real;
    ideal {{ if q >= 0 then v <- q else v <- 0 end }}
    r <- Lap(eps, q); if r >= 0 then v <- r else v <- {released} end"""
    about = {"alpha": 0, "gamma": 3, "beta": "exp(-1)", "eps": "1"}
    assert dipc.check(dipc.load(text), inputs="all", **about).verdict == verdict  # type: ignore[arg-type]


def test_noise_that_is_drawn_on_one_way_alone() -> None:
    """The released noise must be drawn on the path that was taken."""
    text = """program p; input q : real; output v : real = 0; var b, r : real;
    ideal { v <- q } b <- Lap(eps, q); if b >= 0 then r <- Lap(2*eps, q); v <- r else v <- b end"""
    about = {"alpha": 0, "gamma": 1, "eps": "1"}
    least = dipc.solve(dipc.load(text), inputs=[{"q": -9}, {"q": 0}, {"q": 9}], wanted="beta", **about)  # type: ignore[arg-type]
    assert least is not None
    for beta, verdict in (("exp(-1)/3", "inaccurate"), ("2*exp(-1)", "accurate")):
        found = dipc.check(dipc.load(text), inputs="all", beta=beta, **about).verdict  # type: ignore[arg-type]
        assert found in (verdict, "undecided")


def test_means_of_clamped_inputs_are_one_class() -> None:
    """The inputs are read through their clamps alone and range over a box, as alpha is 0."""
    for beta, verdict in (("exp(-n*eps)", "accurate"), ("99*exp(-n*eps)/100", "inaccurate")):
        for n in (1, 2, 4):
            report = dipc.check(dipc.load(MEAN, n=n), inputs="all", alpha=0, gamma=1, beta=beta)
            assert str(report.verdict) == verdict
            assert len(report.rows) == 1
        rows = dipc.check(dipc.load(MEAN), inputs="x in {-1, 0, 1/3, 1, 7}", alpha=0, gamma=1, beta=beta)
        assert {str(row.verdict) for row in rows.rows} == {verdict}


COUNT = """program count; const M = 10; input q : int; output v : int; var r : int;
ideal { v <- q; if q < 0 then v <- 0 end; if q > M then v <- M end }
r <- DLap(eps, q); v <- r; if r < 0 then v <- 0 end; if r > M then v <- M end"""


@pytest.mark.parametrize(
    ("gamma", "beta", "verdict"),
    [
        (2, "exp(-2*eps)", "accurate"),
        (2, "exp(-5*eps/2)", "accurate"),
        (2, "exp(-3*eps)", "inaccurate"),
        (12, "exp(-eps)/100", "accurate"),
        ("free", "2*exp(-gamma*eps)", "accurate"),
        ("free", "exp(-gamma*eps)", "inaccurate"),
    ],
)
def test_a_clamped_count_is_near_at_every_int(gamma: int | str, beta: str, verdict: str) -> None:
    assert dipc.check(dipc.load(COUNT), inputs="all", alpha=0, gamma=gamma, beta=beta).verdict == verdict


@pytest.mark.parametrize("side", ["above", "below"])
def test_a_count_on_one_side_is_near_at_every_gamma(side: str) -> None:
    """Small gammas are decided one by one, and what is clamped counts as one event there, too, from gamma = 0 on."""
    program = dipc.load(COUNT.replace("ideal", f"metric {{ output: {side}; }} ideal").replace("eps,", "eps/2,"), M=3)
    assert dipc.check(program, inputs="all", alpha=0, gamma="free", beta="exp(-gamma*eps/2)").verdict == "accurate"
    for gamma in (0, 1, 4):
        rows = dipc.check(program, inputs="q = -5..8", alpha=0, gamma=gamma, beta="exp(-gamma*eps/2)")
        assert rows.verdict == "accurate"


@settings(max_examples=examples(20), deadline=None)
@given(
    most=st.integers(1, 5),
    release=st.sampled_from(["r < 0 then v <- 0", "r < 0 then v <- -1", "r < -1 then v <- 0", "r < 0 then v <- r"]),
    law=st.sampled_from(["DLap(eps, q", "DLap(eps/2, q", "DLap(2*eps, q"]),
    shift=st.integers(-1, 1),
    gamma=st.sampled_from([0, 1, 2, 3, "free", "free"]),
    beta=st.sampled_from(["exp(-gamma*eps)", "2*exp(-gamma*eps)", "3/4*exp(-gamma*eps/2)", "exp(-eps)/2"]),
    metric=st.sampled_from(["", "metric { output: above; }", "metric { output: below; }"]),
)
def test_what_is_proved_of_ints_holds_at_each(
    most: int, release: str, law: str, shift: int, gamma: int | str, beta: str, metric: str
) -> None:
    """The claim holds at each input in a window around the range, for each gamma."""
    text = COUNT.replace("ideal", f"{metric} ideal").replace("DLap(eps, q", f"{law} + {shift}")
    program = dipc.load(text.replace("r < 0 then v <- 0", release), M=most)
    if dipc.check(program, inputs="all", alpha=0, gamma=gamma, beta=beta).verdict == "accurate":
        for near in [0, Fraction(1, 2), 1, 2, 4, 7] if gamma == "free" else [gamma]:
            rows = dipc.check(program, inputs=f"q = -6..{most + 6}", alpha=0, gamma=near, beta=beta)  # type: ignore[arg-type]
            assert rows.verdict == "accurate"
