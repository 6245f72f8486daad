"""Intervals round a release against distribution functions written down by hand, and against counts."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dipc
from dipc.cli.main import run
from dipc.inverse.question import GammaSolution, Status
from dipc.inverse.solve import IntervalSide
from dipc.simulation.compare import Agreement
from dipc.text.diagnostic import DiagnosticError
from dipc.verifier.reading import Rejected
from tests.patience import examples
from tests.verifier.samples import resealed

F = Fraction

ONE = """
program one;
input q : real;
output v : real;
ideal { v <- q }
v <- Lap(eps, q)
"""

CLAMPED = """
program clamped;
input q : real;
output v : real;
var a : real;
ideal { v <- max(q, 0) }
a <- Lap(eps, q);
v <- max(a, 0)
"""

GEOMETRIC = """
program geometric;
input q : int;
output v : int;
ideal { v <- q }
v <- DLap(eps, q)
"""


def real(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


def reach(found: dipc.Intervals, side: IntervalSide) -> tuple[Fraction, Fraction]:
    solution = found.solutions[side]
    assert solution.status is Status.SOLVED
    assert solution.value is not None
    return solution.value


@pytest.mark.parametrize("inputs", ["all", "q in {-1, 0, 3/2}"])
@pytest.mark.parametrize("confidence", ["90%", "0.95", F(99, 100)])
def test_laplace(inputs: str, confidence: str | Fraction) -> None:
    """One side may hold all of what is left out, both a half each."""
    found = dipc.interval(dipc.load(ONE), inputs=inputs, confidence=confidence, eps="1/2", digits=12)
    beta = real(1 - found.confidence)
    for side, tail in ((IntervalSide.BOTH, beta), (IntervalSide.LOWER, 2 * beta), (IntervalSide.UPPER, 2 * beta)):
        low, high = reach(found, side)
        assert low < F(str(-2 * mpmath.log(tail))) < high
        assert high - low < F(1, 10**10)


def test_every_eps() -> None:
    found = dipc.interval(dipc.load(ONE), inputs="all", side="lower")
    product = found.solutions[IntervalSide.LOWER].product
    assert [*found.solutions] == [IntervalSide.LOWER]
    assert product is not None
    assert product[0] < F(str(mpmath.log(10))) < product[1]


def probability_near(q: Fraction, gap: Fraction, side: IntervalSide) -> mpmath.mpf:
    """The probability that max(q + X, 0) is at most `gap` away from max(q, 0), for X of rate 1."""

    def below(x: Fraction) -> mpmath.mpf:
        return mpmath.exp(real(x)) / 2 if x < 0 else 1 - mpmath.exp(-real(x)) / 2

    exact = max(q, F(0))
    above, under = below(exact + gap - q), below(exact - gap - q) if exact - gap > 0 else mpmath.mpf(0)
    match side:
        case IntervalSide.BOTH:
            return above - under
        case IntervalSide.LOWER:
            return above
        case IntervalSide.UPPER:
            return 1 - under


@settings(max_examples=examples(15))
@given(
    st.integers(-6, 12).map(lambda k: F(k, 2)),
    st.sampled_from(["1/2", "0.9", "0.99", "0.999"]),
    st.sampled_from(IntervalSide),
)
def test_clamped(q: Fraction, confidence: str, side: IntervalSide) -> None:
    """If the atom at 0 decides, the answer is exactly its distance."""
    found = dipc.interval(dipc.load(CLAMPED), inputs=f"q = {q}", confidence=confidence, eps=1, side=side, digits=9)
    low, high = reach(found, side)
    wanted = real(F(confidence))
    if low == high == 0:
        assert probability_near(q, F(0), side) >= wanted - 1e-12
        return
    assert probability_near(q, high, side) >= wanted - 1e-12
    before = low if low < high else high * (1 - F(1, 10**9))
    assert probability_near(q, before, side) <= wanted + 1e-12
    if low == high:
        assert high == q


def test_where_an_atom_decides() -> None:
    """For q = 5 more than a thousandth of all outputs are 0; slightly smaller outputs than 5 are rarer."""
    program = dipc.load(CLAMPED)
    assert reach(dipc.interval(program, inputs="q = 5", confidence="99.9%", eps=1), IntervalSide.UPPER) == (5, 5)
    assert reach(dipc.interval(program, inputs="q = 9", confidence="99.9%", eps=1), IntervalSide.UPPER)[0] < 9
    solution = dipc.solve(program, inputs="q = 5", wanted="gamma", beta="1/1000", alpha=0, eps=1)
    assert isinstance(solution, GammaSolution)
    assert not solution.exact  # above the answer it takes more than 5


@pytest.mark.parametrize("inputs", ["all", "q in {-2, 7}"])
@pytest.mark.parametrize("eps", [F(1, 20), F(1), F(3)])
def test_ints_are_exact(inputs: str, eps: Fraction) -> None:
    found = dipc.interval(dipc.load(GEOMETRIC), inputs=inputs, eps=eps)
    z = mpmath.exp(-real(eps))
    for side, factor in ((IntervalSide.BOTH, 2), (IntervalSide.LOWER, 1), (IntervalSide.UPPER, 1)):
        wanted = next(k for k in range(1000) if factor * z ** (k + 1) / (1 + z) <= mpmath.mpf(1) / 20)
        assert reach(found, side) == (wanted, wanted)


def test_several_outputs_at_once() -> None:
    text = """
    program two;
    input q : real;
    output v, w : real;
    ideal { v <- q; w <- 2*q }
    v <- Lap(eps, q);
    w <- Lap(2*eps, 2*q)
    """
    found = dipc.interval(dipc.load(text), inputs="all", eps=1, confidence="9/10", digits=9)
    assert found.outputs == ("v", "w")
    for side, share in ((IntervalSide.BOTH, 1), (IntervalSide.LOWER, F(1, 2)), (IntervalSide.UPPER, F(1, 2))):
        low, high = (
            (1 - share * mpmath.exp(-float(end))) * (1 - share * mpmath.exp(-2 * float(end)))
            for end in reach(found, side)
        )
        assert low - 1e-12 <= 0.9 <= high + 1e-12


@pytest.mark.parametrize("side", ["above", "below"])
def test_a_metric_with_one_side_against_counts(side: str) -> None:
    text = CLAMPED.replace("ideal", f"metric {{ output: {side}; }}\nideal", 1)
    program = dipc.load(text)
    exact = program.probability({"q": "3/2"}, {"v": "3/2"}, gamma=1).enclosure(1)
    found = probability_near(F(3, 2), F(1), IntervalSide.LOWER if side == "above" else IntervalSide.UPPER)
    assert exact[0] <= F(str(found)) + F(1, 10**12)
    assert exact[1] >= F(str(found)) - F(1, 10**12)
    counted = dipc.simulate(program, {"q": "3/2"}, eps=1, runs=20_000, seed=3, outputs=[{"v": "3/2"}], gamma=1)
    assert counted.agreement is Agreement.MATCH


@pytest.mark.parametrize("side", ["above", "below"])
@pytest.mark.parametrize(("gamma", "verdict"), [("2.31", "accurate"), ("2.3", "inaccurate")])
def test_the_checker_knows_sides(side: str, gamma: str, verdict: str) -> None:
    text = ONE.replace("ideal", f"metric {{ output: {side}; }}\nideal", 1)
    for inputs in ("all", "q in {0, 1}"):
        report = dipc.check(dipc.load(text), inputs=inputs, beta="1/20", alpha=0, gamma=gamma, eps=1, keep_proofs=True)
        assert str(report.verdict) == verdict
        certificate = dipc.certify(report)
        assert dipc.verify(certificate).verdict == verdict
        # The proof is about that side: both together are too much.
        forged = certificate.replace(f"output: {side};", "output: product;")
        assert forged != certificate
        if verdict == "accurate":
            with pytest.raises(Rejected):
                dipc.verify(resealed(json.loads(forged)))


def test_what_has_no_interval() -> None:
    with pytest.raises(DiagnosticError, match="E1030"):
        dipc.interval(dipc.load(dipc.examples.text("sparse")), inputs="all")
    with pytest.raises(ValueError, match="confidence"):
        dipc.interval(dipc.load(ONE), inputs="all", confidence=1)
    none = dipc.interval(dipc.load(ONE), inputs="q = 0")
    assert {solution.status for solution in none.solutions.values()} == {Status.NONE}


def test_a_free_gamma_of_the_claim_block_is_what_is_asked_for() -> None:
    claimed = ONE.replace(";", "; claim { alpha: 0; gamma: free; beta: exp(-gamma*eps); }", 1)
    found, known = (dipc.interval(dipc.load(text), inputs="all") for text in (claimed, ONE))
    assert [each.product for each in found.solutions.values()] == [each.product for each in known.solutions.values()]
    assert found.status is Status.SOLVED


def test_bounds_of_an_interval_carry_their_unit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "one.dip").write_text(ONE, encoding="utf-8")
    assert run(["interval", str(tmp_path / "one.dip"), "--inputs", "all"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    proved = [words[1] for words in lines if words[:1] == ["proved"]]
    assert len(proved) == 3
    assert all(each.endswith("/eps") for each in proved)
