"""Privacy profiles, budgets of deltas and loss distributions, compared with sums over all sets and published formulas.

The sums are written here in floats. dp-accounting agreed on 60 random compositions (deltas to its grid of 1e-5).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dipc
from dipc.algebra.limits import OutsideFragment
from dipc.decide.engine import Engine
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.profile import LossDistribution, Theorems, budget_at, loss_distributions, profile
from tests.patience import examples

F = Fraction
RESPONSE = "program p; input x : {0, 1}; output y : {0, 1}; y <- Exp(eps, v in {0, 1} : -abs(v - x));"
LAPLACE = "program l; input q : real; output y : real; y <- Lap(eps, q);"
ABOVE = "program a; input x : {0, 1}; output z : bool; var r : real; r <- Lap(eps, x); z <- r >= 1/2"

Law = Mapping[object, float]


def question_about(text: str, adjacent: str = "linf:1", inputs: str | None = None, runs: int = 1) -> PrivacyQuestion:
    program = dipc.load(text)
    return PrivacyQuestion(program, adjacent, inputs, Engine(program.measurer, program.limits), runs=runs)


def together(laws: Sequence[Law]) -> Law:
    """The law of independent ones."""
    return {key: math.prod(law[o] for law, o in zip(laws, key, strict=True)) for key in product(*laws)}


def delta(one: Law, two: Law, budget: float) -> float:
    return sum(max(0.0, p - math.exp(budget) * two.get(o, 0.0)) for o, p in one.items())


def responses(values: Sequence[int]) -> tuple[str, list[Law]]:
    """A program that answers by weights, and its laws."""
    half = len(values) // 2
    laws: list[Law] = []
    bodies = []
    for part in (values[:half], values[half:]):
        whole = sum(part)
        laws.append({o: w / whole for o, w in enumerate(part) if w})
        bodies.append("y <- choose { " + ", ".join(f"{o} : {w}/{whole}" for o, w in enumerate(part)) + " }")
    text = f"program r; input x : bool; output y : {{0..{half - 1}}}; if x then {bodies[0]} else {bodies[1]} end"
    return text, laws


weights = st.lists(st.integers(0, 5), min_size=4, max_size=6).filter(
    lambda w: len(w) % 2 == 0 and any(w[: len(w) // 2]) and any(w[len(w) // 2 :])
)


@given(st.lists(st.tuples(weights, st.integers(1, 2)), min_size=1, max_size=2), st.integers(0, 8), st.integers(2, 60))
@settings(max_examples=examples(60), deadline=None)
def test_random_compositions_against_sums(parts: list[tuple[list[int], int]], factor: int, divisor: int) -> None:
    written = [(*responses(values), runs) for values, runs in parts]
    composition = dipc.compose(
        *(dipc.load(text) for text, _, _ in written), adjacent="hamming:1", runs=[runs for _, _, runs in written]
    )
    one, two = (together([laws[side] for _, laws, runs in written for _ in range(runs)]) for side in (0, 1))
    eps, wanted = F(3, 4), F(1, divisor)
    budget = factor * 0.75 / 4
    worst = max(delta(one, two, budget), delta(two, one, budget))
    low, high = composition.delta(f"{factor}*eps/4", at=eps)
    assert low <= high
    assert float(low) == pytest.approx(worst, abs=1e-12)
    found = composition.budget(wanted, at=eps).value
    impossible = max(sum(p for o, p in a.items() if o not in b) for a, b in ((one, two), (two, one)))
    if found is None:
        assert impossible > float(wanted) - 1e-12
        return
    assert max(delta(one, two, float(found[1])), delta(two, one, float(found[1]))) <= float(wanted) + 1e-12
    if found[0]:
        less = float(found[0]) - 1e-6
        assert max(delta(one, two, less), delta(two, one, less)) > float(wanted)


def test_ten_randomized_responses() -> None:
    """Basic composition gives 5, the least budget for 1/1000 is 4.878…; the losses are (2k - 10)·eps."""
    found = dipc.compose(dipc.load(RESPONSE), adjacent="linf:1", runs=10).budget("1/1000", at="1/2")
    assert found.value is not None
    assert found.theorems is not None
    assert found.theorems.basic == 5
    true = 1 / (1 + math.exp(-0.5))
    budget = float(found.value[0])
    needed = sum(
        math.comb(10, k)
        * max(0.0, true**k * (1 - true) ** (10 - k) - math.exp(budget) * true ** (10 - k) * (1 - true) ** k)
        for k in range(11)
    )
    assert needed == pytest.approx(1e-3, rel=1e-10)


def test_the_budget_of_a_laplace() -> None:
    """The delta of a budget b < eps is 1 - e^((b - eps)/2)."""
    question = question_about(LAPLACE, inputs="all")
    for wanted in (F(1, 10), F(1, 1000)):
        value = budget_at(question, wanted, F(1)).value
        assert value is not None
        assert value[0] <= value[1]
        assert float(value[0]) == pytest.approx(1 + 2 * math.log(1 - wanted), abs=1e-11)
    known = profile(question, F(2), points=5)
    for point in known.points:
        assert float(point.delta[0]) == pytest.approx(max(0.0, 1 - math.exp((float(point.budget) - 2) / 2)), abs=1e-15)
    assert known.distributions == ()
    assert known.reason is not None


@pytest.mark.parametrize("move", [1, 2])
@pytest.mark.parametrize(("size", "least"), [("3/2", F(1, 1000)), ("2/eps", F(1, 20))])
def test_the_budget_of_an_integer_normal(size: str, least: Fraction, move: int) -> None:
    """The budget of discrete Gaussian noise agrees with sums over integers."""
    text = f"program g; input q : int; output y : int; y <- DGauss({size}, q)"
    question = question_about(text, f"linf:{move}", "all")
    value, sigma = budget_at(question, least, F(1)).value, float(F(size.removesuffix("/eps")))
    masses = {k: math.exp(-(k**2) / (2 * sigma**2)) for k in range(-80, 81)}
    law = {k: mass / math.fsum(masses.values()) for k, mass in masses.items()}
    moved = {k + move: mass for k, mass in law.items()}
    assert value is not None
    assert delta(law, moved, float(value[0])) == pytest.approx(float(least), rel=1e-8)
    known = profile(question, F(1), points=3)
    for point in known.points:
        wanted = delta(law, moved, float(point.budget))
        assert float(point.delta[0]) - 1e-12 <= wanted <= float(point.delta[1]) + 1e-12
    assert known.reason is not None
    assert "infinitely many losses" in known.reason


def test_the_budget_of_a_normal() -> None:
    """The budget of Gaussian noise satisfies Balle and Wang's formula."""
    question = question_about("program g; input q : real; output y : real; y <- Gauss(2, q)", inputs="all")
    value = budget_at(question, F(1, 1000), F(1)).value
    assert value is not None
    phi = lambda x: math.erfc(-x / math.sqrt(2)) / 2  # noqa: E731
    b = float(value[0])
    assert phi(1 / 4 - 2 * b) - math.exp(b) * phi(-1 / 4 - 2 * b) == pytest.approx(1e-3, rel=1e-8)


def test_the_least_budget_may_be_infinite_or_none() -> None:
    tells = "program t; input x : bool; output y : bool; if x then y <- choose { true : 1/10, false : 9/10 } end;"
    tells = tells.replace("output y : bool", "output y : bool = false")
    question = question_about(tells, "hamming:1")
    assert budget_at(question, F(1, 20), F(1)).value is None
    assert budget_at(question, F(1, 20), F(1)).as_json()["least_budget"]["value"] == ["inf", "inf"]
    assert budget_at(question, F(1, 5), F(1)).value == (0, 0)
    with pytest.raises(ValueError, match="at least 0"):
        budget_at(question, F(-1), F(1))
    known = profile(question, F(1), points=3)
    assert known.points[0].delta[1] == pytest.approx(F(1, 10))


def test_adaptive_runs_are_a_program() -> None:
    """Two independent programs composed are the program that contains both."""
    both = (
        RESPONSE.replace("output y : {0, 1};", "output y : {0, 1}; output z : bool; var r : real;")
        + ABOVE[ABOVE.index("r <-") :]
    )
    whole = question_about(both)
    parts = dipc.compose(dipc.load(RESPONSE), dipc.load(ABOVE), adjacent="linf:1")
    for factor in ("0*eps", "eps/2", "eps"):
        budget = F(0) if factor == "0*eps" else F(1, 2) if factor == "eps/2" else F(1)
        assert parts.delta(factor, at=1) == whole.delta_at(budget, F(1))
    assert parts.loss(1).value == whole.largest_loss(F(1)).value
    assert parts.check(budget="2*eps").verdict == whole.decide(parts.check(budget="2*eps").claim).verdict == "private"
    assert parts.check(budget="eps", delta="1/100").verdict == "not private"
    assert parts.renyi(2, at=1).value == whole.divergence(2, F(1)).value
    with pytest.raises(ValueError, match="different inputs"):
        dipc.compose(
            dipc.load(RESPONSE),
            dipc.load(ABOVE.replace("x", "q")),
            adjacent="linf:1",
        )
    with pytest.raises(ValueError, match="runs"):
        dipc.compose(dipc.load(RESPONSE), adjacent="linf:1", runs=0)
    with pytest.raises(OutsideFragment):
        dipc.compose(dipc.load(LAPLACE), adjacent="linf:1", inputs="all", runs=2).delta("eps", at=1)


def pessimistic(distribution: LossDistribution, budget: float, *, message: bool) -> float:
    """The delta that a reader of the export computes."""
    if message:
        said = distribution.message["pessimisticPmf"]
        step, infinite = said["discretizationInterval"], said["infinityMass"]
        masses = {said["minKey"] + at: p for at, p in enumerate(said["values"])}
    else:
        said = distribution.keywords
        step, infinite, masses = said["discretization"], said["infinity_mass"], said["loss_probs"]
    return infinite + sum(p * max(0.0, 1 - math.exp(budget - key * step)) for key, p in masses.items())


@pytest.mark.parametrize("runs", [1, 3, 20])
def test_what_is_exported_is_never_too_little(runs: int) -> None:
    question = question_about(RESPONSE, runs=runs)
    (distribution, *others) = loss_distributions(question, F(1))
    assert others == []
    assert sum(float(atom.probability[0]) for atom in distribution.atoms) == pytest.approx(1)
    assert [round(float(atom.loss[0])) for atom in distribution.atoms if atom.loss] == list(range(runs, -runs - 1, -2))
    for budget in (0, 1, runs / 2):
        exact = float(question.delta_at(F(budget), F(1))[0])
        for message in (False, True):
            found = pessimistic(distribution, budget, message=message)
            assert exact - 1e-12 <= found <= exact + (0.01 if message else 1e-4)


def test_advanced_composition_by_its_formula() -> None:
    theorems = Theorems(100, F(1, 10))
    assert theorems.basic == 10
    budget = 0.1 * math.sqrt(200 * math.log(10**6)) + 10 * math.expm1(0.1)
    assert theorems.advanced(F(1, 10**6)) == pytest.approx(budget)
    assert theorems.advanced_delta(F(budget)) == pytest.approx(1e-6, rel=1e-9)
    assert theorems.advanced_delta(F(1)) == 1


def test_the_table_of_the_documentation() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "privacy.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| (\S+) \| (\S+) \| (\S+) \|$", page, re.MULTILINE)
    assert len(rows) == 6
    for runs, basic, advanced, exact in rows[:5]:
        found = dipc.compose(dipc.load(RESPONSE), adjacent="linf:1", runs=int(runs)).budget(F(1, 10**6), at="1/10")
        assert found.theorems is not None
        assert found.value is not None
        assert f"{float(found.theorems.basic):.4g}" == basic
        assert f"{found.theorems.advanced(found.delta):.4g}" == advanced
        assert f"{float(found.value[1]):.5g}" == exact
