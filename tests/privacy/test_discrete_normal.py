"""Several outputs with discrete Gaussian noise, against enumeration of all outputs near the center."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import pytest

import dipc
from dipc.decide.engine import Engine
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import PrivacyVerdict, read_claim
from dipc.questions.privacy.profile import budget_at

F = Fraction

TWO = "program two; input n[1..2] : int; output y, z : int; y <- DGauss(2/eps, n[1]); z <- DGauss(2/eps, n[2])"
UNLIKE = "program unlike; input n[1..2] : int; output y, z : int; y <- DGauss(2, n[1]); z <- DGauss(3, n[2])"
SUMS = "program sums; input n[1..2] : int; output y, z : int; y <- DGauss(2, n[1] + n[2]); z <- DGauss(2, n[1] - n[2])"
THREE = "program three; input n : int; output y, z, w : int; y <- DGauss(2, n); z <- DGauss(2, n); w <- DGauss(1, 0)"


def question(text: str, adjacent: str, inputs: str = "all") -> PrivacyQuestion:
    program = dipc.load(text)
    return PrivacyQuestion(program, adjacent, inputs, Engine(program.measurer, program.limits))


def laws(deviations: Sequence[float]) -> list[dict[int, float]]:
    result = []
    for deviation in deviations:
        weights = {k: math.exp(-(k**2) / (2 * deviation**2)) for k in range(-90, 91)}
        total = sum(weights.values())
        result.append({k: weight / total for k, weight in weights.items()})
    return result


def enumerated(deviations: Sequence[float], move: Sequence[int], budget: float) -> float:
    """The delta at one move of the outputs."""
    every = laws(deviations)
    delta = 0.0
    for point in product(range(-22, 23), repeat=len(deviations)):
        ours = math.prod(law[k] for law, k in zip(every, point, strict=True))
        theirs = math.prod(law[k - t] for law, k, t in zip(every, point, move, strict=True))
        delta += max(0.0, ours - math.exp(budget) * theirs)
    return delta


@pytest.mark.parametrize(
    ("text", "adjacent", "deviations", "moves"),
    [
        (TWO, "l1:1", (2, 2), [(1, 0)]),
        (TWO, "linf:1", (2, 2), [(1, 1), (1, -1)]),
        (TWO, "l1:2", (2, 2), [(2, 0), (1, 1)]),
        (UNLIKE, "l1:1", (2, 3), [(1, 0), (0, 1)]),
        (UNLIKE, "linf:3/2", (2, 3), [(1, 1)]),
        (SUMS, "linf:1", (2, 2), [(2, 0), (1, 1), (0, 2)]),
        (THREE, "linf:2", (2, 2), [(2, 2)]),
    ],
)
@pytest.mark.parametrize("budget", [0.0, 0.5, 2.0])
def test_deltas(
    text: str, adjacent: str, deviations: Sequence[float], moves: list[Sequence[int]], budget: float
) -> None:
    expected = max(enumerated(deviations, move, budget) for move in moves)
    low, high = question(text, adjacent).delta_at(F(budget), F(1), 20)
    assert float(low) == pytest.approx(expected, rel=1e-9, abs=1e-13)
    assert 0 <= high - low < F(1, 10**20)


def test_moves_of_outputs_grow_together() -> None:
    """A move whose parts are all at least those of another one needs at least its delta, at every budget."""
    for budget in (-1.0, 0.0, 0.3, 1.5):
        steps = [enumerated((2, 3), move, budget) for move in ((0, 0), (0, 1), (1, 1), (2, 1), (2, 2))]
        assert steps == sorted(steps)


@pytest.mark.parametrize(("text", "eps"), [(TWO, "[1, 1]"), (UNLIKE, "[1, 1]"), (SUMS, "[1, 3]")])
def test_verdicts(text: str, eps: str) -> None:
    asked = question(text, "linf:1")
    low, high = asked.delta_at(F(1, 2), F(1))
    enough = read_claim(asked.program, "eps/2", str(high + F(1, 10**9)), eps)
    assert asked.decide(enough).verdict is PrivacyVerdict.PRIVATE
    less = asked.decide(read_claim(asked.program, "eps/2", str(low - F(1, 10**9)), eps))
    assert less.verdict is PrivacyVerdict.NOT_PRIVATE
    found = less.counterexample
    assert found is not None
    assert found.probability[0] > found.allowed[1]
    assert float(found.probability[0] - found.allowed[1]) == pytest.approx(1e-9, rel=1e-3)


def test_the_set_of_a_counterexample() -> None:
    asked = question(TWO, "linf:1")
    found = asked.decide(read_claim(asked.program, "eps/2", "1/20", "[1, 1]")).counterexample
    assert found is not None
    (text,) = found.outputs
    ((form, interval),) = text.items()
    assert (form, interval) == ("-1/4*y - 1/4*z", "(-inf, -1/2]")
    first, second = laws((2, 2))
    probability = sum(first[a] * second[b] for a, b in product(range(-40, 41), repeat=2) if a + b >= 2)
    there = sum(first[a + 1] * second[b + 1] for a, b in product(range(-40, 41), repeat=2) if a + b >= 2)
    assert float(found.probability[0]) == pytest.approx(probability)
    assert float(found.allowed[0]) == pytest.approx(math.exp(1 / 2) * there + 1 / 20)


def test_budgets_and_divergences() -> None:
    asked = question(TWO, "linf:1")
    budget = budget_at(asked, F(1, 1000), F(1)).value
    assert budget is not None
    assert (
        enumerated((2, 2), (1, 1), float(budget[0]) - 1e-6)
        > 1 / 1000
        > enumerated((2, 2), (1, 1), float(budget[1]) + 1e-6)
    )
    first, second = laws((2, 2))
    moment = sum(
        (first[a] * second[b]) ** 2 / (first[a - 1] * second[b - 1]) for a, b in product(range(-40, 41), repeat=2)
    )
    assert float(asked.divergence(2, F(1)).value[0]) == pytest.approx(math.log(moment))
    at_all = asked.least_delta(read_claim(asked.program, "eps/2", None, None), F(1))
    assert float(at_all.supremum[0]) == pytest.approx(enumerated((2, 2), (1, 1), 0.5))


def test_pairs_of_a_list() -> None:
    """The pairs of three inputs, which move the outputs by (1, 0), (0, 1) and (1, 1) at most."""
    found = question(UNLIKE, "linf:1", "n[1] in {0, 1}, n[2] in {0, 1}").delta_at(F(1, 2), F(1))
    assert float(found[0]) == pytest.approx(enumerated((2, 3), (1, 1), 0.5))


@pytest.mark.parametrize("text", [TWO, UNLIKE, SUMS, THREE])
def test_int_inputs_that_cannot_move_need_no_budget(text: str) -> None:
    asked = question(text, "linf:1/2")
    assert asked.decide(read_claim(asked.program, "0", "0", "[1, 1]")).verdict is PrivacyVerdict.PRIVATE
    assert asked.delta_at(F(0), F(1)) == (0, 0)


#: For n <= 1 the answer has a probability with a denominator.
TWO_LAWS = """
program p; domain B = {0, 1}; input n : int; output o : B; var z, y : int;
z <- DGauss(1/eps, n); y <- DLap(eps/2, 2*n);
if n > 1 then if z > 0 then o <- 1 else o <- 0 end else if y >= 3 then o <- 0 else o <- 1 end end
"""


def test_probabilities_with_and_without_a_closed_form() -> None:
    """No exception is raised where a bound for small eps is a quotient."""
    asked = question(TWO_LAWS, "linf:1", "n in {0, 1, 2}")
    answer = asked.decide(read_claim(asked.program, "eps", "1/10", "(0, 2]"))
    assert answer.verdict is PrivacyVerdict.UNDECIDED
    assert "denominator" in str(answer.reason)
