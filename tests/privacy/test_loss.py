"""Losses, least deltas and divergences: published numbers, recomputed exactly, and sums over all outputs."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import dipc
from dipc.decide.engine import Engine
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import read_claim
from tests.privacy import mechanisms

SVT = "benchmarks/privacy/svt1.dip"
TENTH = Fraction(1, 10)


def question(
    text: str, inputs: str | None = "q = -1..1", adjacent: str = "linf:1", **constants: int
) -> PrivacyQuestion:
    program = dipc.load(text, **constants)
    return PrivacyQuestion(program, adjacent, inputs, Engine(program.measurer, program.limits))


@pytest.mark.parametrize(
    ("text", "constants", "digits"),
    [
        (SVT, {"m": 2}, "0.0402931"),
        (mechanisms.ABOVE % {"threshold": "eps/2", "query": "eps/2"}, {}, "0.0759073"),
        ("benchmarks/privacy/svt4.dip", {"m": 2}, "0.1065171"),
        (mechanisms.NOISY_MAX % {"noise": "Lap(eps/2, 0)"}, {"m": 2}, "0.0512098"),
        (mechanisms.NOISY_MAX % {"noise": "Lap(eps/2, 0)"}, {"m": 3}, "0.0764879"),
        (mechanisms.NOISY_MAX % {"noise": "Expo(eps/2)"}, {"m": 2}, "0.1"),
    ],
)
def test_published_losses(text: str, constants: dict[str, int], digits: str) -> None:
    found = question(text, **constants).largest_loss(TENTH)
    assert found.value is not None
    low, high = found.value
    assert abs(low - Fraction(digits)) < Fraction(1, 10**7)
    assert high - low <= Fraction(1, 10**18)
    if digits == "0.1":
        assert (low, high) == (TENTH, TENTH)
    # and it is the loss there, by the probabilities one by one
    program = dipc.load(text, **constants)
    p, q = (
        float(program.probability(point, found.output).enclosure(TENTH)[0]) for point in (found.input, found.adjacent)
    )
    assert math.log(p / q) == pytest.approx(float(low), abs=1e-9)


def test_lee_and_clifton() -> None:
    """The loss at eps = 1/10 exceeds 1/10, for (0, 0) against (1, -1): there output 01 has the probability 5/56."""
    program = dipc.load("benchmarks/privacy/svt4.dip", m=2)
    found = question("benchmarks/privacy/svt4.dip", m=2).largest_loss(TENTH)
    assert (found.input, found.adjacent) == ({"q[1]": "0", "q[2]": "0"}, {"q[1]": "1", "q[2]": "-1"})
    assert found.output == {"out[1]": "bot", "out[2]": "top"}
    assert str(program.probability(found.input, found.output)) == "5/56"
    assert dipc.check_privacy(program, "linf:1", inputs="q = -1..1", eps="1/10")["verdict"] == "not private"


def test_no_noise_on_queries_against_one_query() -> None:
    program = dipc.load("benchmarks/privacy/svt5.dip", m=2)
    output = {"out[1]": "bot", "out[2]": "top"}
    assert str(program.probability({"q": [0, 1]}, output)) == "1/2 - exp(-eps/2)/2"
    assert str(program.probability({"q": [0, 0]}, output)) == "0"
    assert question("benchmarks/privacy/svt5.dip", m=2).largest_loss(TENTH).value is None


def test_the_largest_of_all_pairs() -> None:
    found = question(SVT, m=2).largest_loss(Fraction(1))
    program = dipc.load(SVT, m=2)
    losses = []
    points = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1)]
    laws = {
        u: {tuple(o.output.values()): float(o.probability.enclosure(1)[0]) for o in program.outcomes({"q": u})}
        for u in points
    }
    for u in points:
        for v in points:
            if max(abs(u[0] - v[0]), abs(u[1] - v[1])) == 1:
                losses += [math.log(p / laws[v][o]) for o, p in laws[u].items()]
    assert found.value is not None
    assert max(losses) == pytest.approx(float(found.value[0]), abs=1e-12)


def test_infinite_and_no_loss() -> None:
    found = question(mechanisms.BARE).largest_loss(TENTH)["loss"]
    assert (found["value"], found["text"]) == (["inf", "inf"], "inf")
    same = "program p; input q[1..2] : real; output y : bool; y <- choose { true : 1/2, false : 1/2 };"
    assert question(same).largest_loss(TENTH)["loss"]["value"] == ["0", "0"]


def test_least_delta_against_sums() -> None:
    asked = question(SVT, "q = 0..1", m=2)
    claim = read_claim(asked.program, "eps/4", None, None)
    program = asked.program
    points = [(a, b) for a in (0, 1) for b in (0, 1)]
    for eps in (Fraction(1, 3), Fraction(2), Fraction(20)):
        found = asked.least_delta(claim, eps)
        laws = {
            u: {tuple(o.output.values()): float(o.probability.enclosure(eps)[0]) for o in program.outcomes({"q": u})}
            for u in points
        }
        scale = math.exp(float(eps) / 4)
        worst = max(
            sum(max(0.0, p - scale * laws[v][o]) for o, p in laws[u].items()) for u in points for v in points if u != v
        )
        assert found.at is not None
        assert float(found.at[1][0]) == pytest.approx(worst, abs=1e-12)
        assert found.supremum[1] >= found.at[1][0]
        assert found.pieces is not None
        inside = [
            piece
            for piece in found.pieces
            if piece.lower.low <= eps and (piece.upper.high is None or eps <= piece.upper.high)
        ]
        assert float(inside[0].delta.enclosure(eps)[0]) == pytest.approx(worst, abs=1e-12)


def test_the_supremum_of_the_least_delta_is_the_least_constant_delta() -> None:
    asked = question(SVT, m=2)
    found = asked.least_delta(read_claim(asked.program, "eps/4", None, None))
    assert found.supremum == (Fraction(7, 24), Fraction(7, 24))
    assert not found.attained
    for delta, verdict in (("7/24", "private"), ("7/24 - 1/1000", "not private")):
        assert (
            dipc.check_privacy(asked.program, "linf:1", inputs="q = -1..1", budget="eps/4", delta=delta)["verdict"]
            == verdict
        )


def test_renyi_of_randomized_response() -> None:
    asked = question(mechanisms.KARY, None, "hamming:1")
    found = asked.divergence(2, Fraction(1))
    w = math.exp(1.0)
    p = [w / (w + 2), 1 / (w + 2), 1 / (w + 2)]
    moment = p[0] ** 2 / p[1] + p[1] ** 2 / p[0] + p[2]
    assert found.value is not None
    assert float(found.value[0]) == pytest.approx(math.log(moment), abs=1e-12)
    assert found.moment is not None
    assert float(found.moment.enclosure(1)[0]) == pytest.approx(moment, abs=1e-9)


def test_divergence_is_infinite_where_the_support_differs() -> None:
    assert question(mechanisms.BARE).divergence(2, TENTH)["renyi"]["value"] == ["inf", "inf"]


#: A weight that is 0 at eps = 3/2.
TOUCHING = """
program w; input x : {0, 1}; output y : {0, 1}; %s
if x = 0 then y <- choose { 0 : (2*eps - 3)*(2*eps - 3)/(9 + 4*eps*eps), 1 : 12*eps/(9 + 4*eps*eps) }
else y <- choose { 0 : 1/2, 1 : 1/2 } end;
"""


@pytest.mark.parametrize("more", ["", "output z : real;"])
@pytest.mark.parametrize("eps", [Fraction(1), Fraction(3, 2), Fraction(2)])
def test_divergences_where_a_weight_is_zero_at_some_eps(more: str, eps: Fraction) -> None:
    """The divergence is infinite at the eps where the weight is zero; elsewhere it is the sum."""
    text = TOUCHING % more + ("z <- Lap(eps, x)" if more else "")
    found = question(text, inputs=None).divergence(2, eps)
    p = (2 * eps - 3) ** 2 / (9 + 4 * eps * eps)
    if not p:
        assert found.value is None
        return
    noise = 2 * math.exp(eps) / 3 + math.exp(-2 * eps) / 3 if more else 1
    most = max(2 * p**2 + 2 * (1 - p) ** 2, 1 / (4 * p) + 1 / (4 * (1 - p)))
    assert found.value is not None
    assert float(found.value[0]) == pytest.approx(math.log(float(most) * noise), rel=1e-12)
    assert found.moment is not None
    assert float(found.moment.enclosure(eps)[0]) == pytest.approx(float(most) * noise, rel=1e-12)
    with pytest.raises(ValueError, match="only"):
        found.moment.enclosure(eps + 1)
