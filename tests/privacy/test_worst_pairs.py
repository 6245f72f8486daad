"""Claims about all real or int inputs with int outputs, one-sided noise, and pairs of a grid that refute."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import dipc
from dipc.decide.engine import Engine
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import PrivacyVerdict, read_claim
from dipc.questions.privacy.profile import budget_at
from dipc.text.diagnostic import DiagnosticError

F = Fraction
COUNT = "program dl; input n : int; output y : int; y <- DLap(eps, n)"
TWO_COUNTS = """program two; input n[1..2] : int; output y, z : int; y <- DLap(eps, n[1]); z <- DLap(eps, n[2])"""
NORMAL_COUNT = "program dg; input n : int; output y : int; y <- DGauss(2/eps, n)"
ONE_SIDED = "program expo; input q : real; output y : real; var n : real; n <- Expo(eps); y <- n + q"
LOCAL_SCALE = "program local; input s : {1, 2}; input q : real; output y : real; y <- Lap(eps/s, q)"


def question(text: str, adjacent: str, inputs: str = "all", runs: int = 1) -> PrivacyQuestion:
    program = dipc.load(text)
    return PrivacyQuestion(program, adjacent, inputs, Engine(program.measurer, program.limits), runs=runs)


def discrete_delta(moves: tuple[int, ...], budget: float, eps: float) -> float:
    """The least delta of independent discrete Laplace noises moved by `moves`, from outputs between -60 and 60."""
    scale = (1 - math.exp(-eps)) / (1 + math.exp(-eps))
    law = {k: scale * math.exp(-eps * abs(k)) for k in range(-120, 121)}
    pairs = [(1.0, 1.0)]
    for move in moves:
        pairs = [(p * law[k], q * law[k - move]) for p, q in pairs for k in range(-60, 61)]
    return sum(max(0.0, p - math.exp(budget) * q) for p, q in pairs)


@pytest.mark.parametrize(
    ("text", "adjacent", "moves"),
    [
        (COUNT, "linf:1", (1,)),
        (COUNT, "linf:5/2", (2,)),
        (COUNT, "l1:2", (2,)),
        (TWO_COUNTS, "linf:1", (1, 1)),
        (TWO_COUNTS, "l1:2", (2, 0)),
    ],
)
@pytest.mark.parametrize("budget", ["0*eps", "eps/2", "3*eps/2"])
def test_int_inputs(text: str, adjacent: str, moves: tuple[int, ...], budget: str) -> None:
    asked = question(text, adjacent)
    claim = read_claim(asked.program, budget, None, "[1, 1]")
    low, high = asked.delta_at(claim.budget, F(1))
    expected = discrete_delta(moves, float(claim.budget), 1.0)
    assert float(low) == pytest.approx(expected, abs=1e-12)
    for delta, verdict in (
        (high + F(1, 10**6), PrivacyVerdict.PRIVATE),
        (low - F(1, 10**6), PrivacyVerdict.NOT_PRIVATE),
    ):
        if delta > 0:
            assert asked.decide(read_claim(asked.program, budget, str(delta), "[1, 1]")).verdict is verdict


def test_every_adjacent_pair_of_two_counts_needs_no_more() -> None:
    """The pair in which one count moves alone is the worst of all pairs at L1 distance 2."""
    for budget in (0.0, 0.5, 1.5):
        most = discrete_delta((2, 0), budget, 1.0)
        assert all(discrete_delta(moves, budget, 1.0) <= most + 1e-12 for moves in ((1, 1), (1, -1), (1, 0)))


@pytest.mark.parametrize(("adjacent", "move"), [("linf:1", 1), ("linf:3/2", 1), ("linf:2", 2), ("l1:5/2", 2)])
def test_discrete_normal_noise_moves_by_integers(adjacent: str, move: int) -> None:
    law = {k: math.exp(-(k**2) / 8) for k in range(-80, 81)}
    total = sum(law.values())
    expected = sum(max(0, law[k] - math.exp(1 / 2) * law[k - move]) for k in range(-60, 61)) / total
    asked = question(NORMAL_COUNT, adjacent)
    assert float(asked.delta_at(F(1, 2), F(1))[0]) == pytest.approx(expected, rel=1e-12)
    found = asked.least_delta(read_claim(asked.program, "eps/2", None, None), F(1))
    assert (found.eps, float(found.supremum[0])) == ("[1, 1]", pytest.approx(expected, rel=1e-12))


def test_one_sided_noise_needs_an_infinite_budget() -> None:
    asked = question(ONE_SIDED, "linf:1")
    found = budget_at(asked, F(1, 2), F(1))
    assert found.value is None
    assert found.limit is not None
    assert float(found.limit[0]) == pytest.approx(1 - 1 / math.e, rel=1e-15)
    assert found.limit[1] - found.limit[0] < F(1, 10**15)
    enough = budget_at(asked, F(7, 10), F(1)).value
    assert enough is not None
    # For delta >= 1 - 1/e the pair in which the support grows needs nothing, nor does the other.
    assert enough[1] <= F(1)


def test_a_pair_of_a_grid_refutes() -> None:
    asked = question(LOCAL_SCALE, "l1:1")
    report = asked.decide(read_claim(asked.program, "eps", "1/20", "[1, 1]"))
    assert report.verdict is PrivacyVerdict.NOT_PRIVATE
    assert report.counterexample is not None
    assert report.counterexample.probability[0] > report.counterexample.allowed[1]
    held = asked.decide(read_claim(asked.program, "eps", "1/2", "[1, 1]"))
    assert held.verdict is PrivacyVerdict.UNDECIDED


def test_divergences_of_several_runs_add_up() -> None:
    text = "program p; input q : real; output y : real; y <- Lap(eps, q)"
    one, three = (question(text, "linf:1", runs=runs).divergence(2, F(1)).value for runs in (1, 3))
    assert one is not None
    assert three == (3 * one[0], 3 * one[1])


def test_inputs_are_called_what_they_are() -> None:
    text = """program t; input n : int; output y : int; var k : int;
    k <- DLap(eps, n); if k >= 0 then y <- k else y <- 0 end"""
    with pytest.raises(DiagnosticError, match="no pair of int inputs is known"):
        question(text, "linf:1").least_delta(read_claim(dipc.load(text), None, None, None))


def test_far_values_of_an_int_output_are_one_answer_of_an_audit() -> None:
    """The outputs of the set that is tested are counted by hand, those far out too."""
    at_zero = [*[0] * 50, *[-1] * 20, *[-2] * 10, *[-40] * 5, 3, 17]
    at_one = [*[1] * 50, *[2] * 20, *[0] * 10, -1, -40, 60]
    samples = [({"n": 0}, [(value,) for value in at_zero]), ({"n": 1}, [(value,) for value in at_one])]
    found = dipc.audit(COUNT, samples, 1)
    assert found.exact is not None
    assert float(found.exact[0]) == pytest.approx(1, abs=1e-15)

    def among(value: int, texts: set[str | None]) -> bool:
        ends = [text.split() for text in texts if text is not None and " or " in text]
        far = [value >= int(end) if side == "more" else value <= int(end) for end, _, side in ends]
        return str(value) in texts or any(far)

    for test in found.tests:
        texts = {output["y"] for output in test.outputs}
        ordered = (at_zero, at_one) if test.first == 0 else (at_one, at_zero)
        assert test.counts == tuple(sum(among(value, texts) for value in values) for values in ordered)
        assert any(" or " in text for text in texts if text is not None)
    other = "program d; input n : int; output y : int; var k : int; k <- DLap(eps, n); y <- 2*k"
    with pytest.raises(DiagnosticError, match="infinitely many values"):
        dipc.audit(other, samples, 1)


@pytest.mark.parametrize(
    ("delta", "verdict"),
    [
        ("exp(-4)/2", PrivacyVerdict.PRIVATE),
        ("exp(-3 - eps)/2", PrivacyVerdict.PRIVATE),
        ("min(exp(-4)/2, 1)", PrivacyVerdict.PRIVATE),
        ("exp(-eps)*exp(-3)/2 - 1/10^30", PrivacyVerdict.NOT_PRIVATE),
        ("exp(-4)/2 - exp(-100)", PrivacyVerdict.NOT_PRIVATE),
    ],
)
def test_powers_of_e_in_a_delta_are_exact_at_one_eps(delta: str, verdict: PrivacyVerdict) -> None:
    text = """program st; input x : {0, 1}; output y : {0, 1};
    y <- choose { 1 : x*exp(-4*eps)/2, 0 : 1 - x*exp(-4*eps)/2 }"""
    report = dipc.check_privacy(dipc.load(text), "linf:1", budget="eps", delta=delta, eps="[1, 1]")
    assert report.verdict is verdict
    assert report["delta"] == delta or "min" in delta
