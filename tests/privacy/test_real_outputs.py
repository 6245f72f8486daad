"""Losses, divergences and deltas of real outputs, in closed form, against sums over a grid of the outputs."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import dipc
from dipc.algebra.limits import OutsideFragment
from dipc.decide.engine import Engine
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import read_claim
from dipc.text.diagnostic import DiagnosticError

F = Fraction
LAPLACE = "program p; input q : real; output y : real; y <- Lap(eps, q);"


def question(text: str, adjacent: str = "linf:1", inputs: str | None = "all") -> PrivacyQuestion:
    program = dipc.load(text)
    return PrivacyQuestion(program, adjacent, inputs, Engine(program.measurer, program.limits))


def least_delta(text: str, budget: str, eps: int | F, **options: str) -> tuple[str, float]:
    """The least delta of the program `text` at `eps`: its closed form, and its value."""
    asked = question(text, **options)
    found = asked.least_delta(read_claim(asked.program, budget, None, None), F(eps)).at
    assert found is not None
    return str(found[2]), float(found[1][0])


# --- what is known ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("inputs", ["q = 0..1", "all"])
@pytest.mark.parametrize(
    ("budget", "closed"),
    [("0*eps", "1 - exp(-eps/2)"), ("eps/2", "1 - exp(-eps/4)"), ("3*eps/4", "1 - exp(-eps/8)"), ("eps", "0")],
)
def test_delta_of_laplace(budget: str, closed: str, inputs: str) -> None:
    """1 - e^((budget - eps·distance)/2)."""
    assert least_delta(LAPLACE, budget, 1, inputs=inputs)[0] == closed
    report = dipc.check_privacy(dipc.load(LAPLACE), "linf:1", inputs=inputs, budget=budget, delta=closed)
    assert report["verdict"] == "private"


@pytest.mark.parametrize("distance", ["1/2", "1", "3"])
def test_a_budget_and_a_delta(distance: str) -> None:
    delta = 1 - math.exp((F(1, 4) - F(distance)) / 2)
    for more, verdict in ((0.001, "private"), (-0.001, "not private")):
        given = {"budget": "eps/4", "delta": str(F(max(delta, 0) + more).limit_denominator(10**6)), "eps": "(0, 1]"}
        report = dipc.check_privacy(dipc.load(LAPLACE), f"linf:{distance}", inputs="all", **given)
        assert report["verdict"] == verdict
        assert report["pairs"] is None


def test_loss_and_divergence_of_laplace() -> None:
    found = question(LAPLACE, "linf:2").largest_loss(F(1, 2))["loss"]
    assert (found["value"], found["text"], found["output"]) == (["1", "1"], "log(exp(2*eps))", {"y": "0 or less"})
    renyi = question(LAPLACE).divergence(3, F(1))["renyi"]
    # Mironov (2017), Table II: with a the order and 1 the scale.
    assert renyi["moment"] == "3*exp(2*eps)/5 + 2*exp(-3*eps)/5"


def test_one_sided_noise_has_no_bound() -> None:
    text = "program p; input q : real; output y : real; var r : real; r <- Expo(eps); y <- q + r;"
    asked = question(text, inputs="q = 0..1")
    assert asked.largest_loss(F(1)).value is None
    assert asked.divergence(2, F(1)).value is None
    # What is between 0 and 1 is lost: 1 - e^(-eps), and nothing else above the budget eps.
    assert least_delta(text, "eps", 1, inputs="q = 0..1")[0] == "1 - exp(-eps)"


def test_outputs_that_do_not_move_do_not_matter() -> None:
    """A histogram of which one count moves is one count."""
    many = "program p; input q[1..8] : real; output y[1..8] : real; for i in 1..8 do y[i] <- Lap(eps, q[i]) end"
    inputs = "q[1] = 0..1, " + ", ".join(f"q[{at}] = 0" for at in range(2, 9))
    assert least_delta(many, "eps/2", 1, inputs=inputs)[0] == "1 - exp(-eps/4)"
    assert question(many, inputs=inputs).largest_loss(F(1))["loss"]["text"] == "log(exp(eps))"


def test_two_outputs_that_both_move() -> None:
    """The loss is a sum of two: measured as a polyhedron, and summed over a grid."""
    text = "program p; input q : real; output y, z : real; y <- Lap(eps/2, q); z <- Lap(eps, q);"
    _, value = least_delta(text, "eps/2", 1)
    first, second = Law(((1.0, ((0.5, 0.5, 0.0), (1.0, 1.0, 0.0))),)), Law(((1.0, ((0.5, 0.5, 1.0), (1.0, 1.0, 1.0))),))
    assert value == pytest.approx(first.delta(second, math.exp(0.5)), abs=2e-3)
    assert question(text).largest_loss(F(1))["loss"]["text"] == "log(exp(3*eps/2))"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("var r : real; r <- Lap(eps, 0); y <- Lap(eps, q); y <- y + r", "a sum of several noises"),
        ("var r : real; r <- Lap(eps, 0); y <- Lap(eps, q); if r >= y then y <- 0 end", "compared with other noise"),
        ("y <- Lap(eps, q); z <- y + 1", "shares its noise with another output"),
    ],
)
def test_what_is_refused_is_said(text: str, reason: str) -> None:
    source = f"program p; input q : real; output y : real = 0; output z : real = 0; {text};"
    with pytest.raises(OutsideFragment, match=reason):
        question(source, inputs="q = 0..1").largest_loss(F(1))
    report = dipc.check_privacy(dipc.load(source), "linf:1", inputs="q = 0..1", budget="eps/8", delta="7/8")
    assert report["verdict"] == "undecided"


def test_no_worst_pair_is_known() -> None:
    text = "program p; input q : real; output y : real; output b : bool; y <- Lap(eps, q); b <- y >= 0"
    with pytest.raises(DiagnosticError, match="--delta-of"):
        question(text).least_delta(read_claim(dipc.load(text), None, None, None))
    assert question(text).largest_loss(F(1)).value == (1, 1)  # some pair loses as much as shifts allow
    two = "program p; input q[1..2] : real; output y, z : real; y <- Lap(eps, q[1] + q[2]); z <- Lap(eps, q[1] - q[2])"
    with pytest.raises(DiagnosticError, match="E1410"):
        question(two).least_delta(read_claim(dipc.load(two), None, None, None))
    assert question(two).largest_loss(F(1)).value == (2, 2)


# --- random programs --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Law:
    """A law of real outputs as a sum over branches.

    A branch has a weight, and for each output the rates below and above its center, and the center. If both rates are
    None the output is an atom at the center.
    """

    branches: tuple[tuple[float, tuple[tuple[float | None, float | None, float], ...]], ...]

    def density(self, grid: tuple[np.ndarray, ...]) -> np.ndarray:
        total = np.zeros(np.broadcast_shapes(*[axis.shape for axis in grid]))
        for weight, axes in self.branches:
            value = np.asarray(weight)
            for (left, right, center), y in zip(axes, grid, strict=True):
                height = 1 / sum(1 / rate for rate in (left, right) if rate)
                below = np.exp(np.minimum((left or 0) * (y - center), 0)) if left else 0.0
                above = np.exp(np.minimum(-(right or 0) * (y - center), 0)) if right else 0.0
                value = value * height * np.where(y < center, below, above)
            total = total + value
        return total

    def grid(self, other: Law) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        """Middles of small pieces, and their sizes; kinks are between pieces."""
        dimensions = len(self.branches[0][1])
        count, reach = (60_000, 60.0) if dimensions == 1 else (1_500, 30.0)
        axes, sizes = [], []
        for at in range(dimensions):
            kinks = [branch[1][at][2] for law in (self, other) for branch in law.branches]
            ends = np.unique(np.concatenate([np.linspace(-reach, reach, count), kinks]))
            axes.append((ends[1:] + ends[:-1]) / 2)
            sizes.append(np.diff(ends))
        if dimensions == 1:
            return (axes[0],), sizes[0]
        return (axes[0][:, None], axes[1][None, :]), sizes[0][:, None] * sizes[1][None, :]

    def delta(self, other: Law, scale: float) -> float:
        grid, sizes = self.grid(other)
        return float((np.maximum(0.0, self.density(grid) - scale * other.density(grid)) * sizes).sum())

    def moment(self, other: Law, order: int) -> float:
        grid, sizes = self.grid(other)
        p, q = self.density(grid), other.density(grid)
        if ((p > 0) & (q == 0)).any():
            return math.inf
        ratio = np.divide(p, q, out=np.zeros_like(p), where=p > 0)
        return float((p * ratio ** (order - 1) * sizes).sum())

    def loss(self, other: Law) -> float:
        grid, _ = self.grid(other)
        p, q = self.density(grid), other.density(grid)
        if ((p > 0) & (q == 0)).any():
            return math.inf
        return float(np.log(p[p > 0] / q[p > 0]).max())


@dataclass(frozen=True)
class Release:
    """A program with its law at q and eps, by what its finite output is."""

    text: str
    law: Callable[[float, float], dict[str, Law]]


_RATES = (F(1), F(1, 2), F(2), F(3, 4))


def random_release(chance: random.Random) -> Release:
    """One or two outputs with noises of their own, and a finite one: a coin, a noisy test, or none."""
    outputs = []
    for _ in range(1 if chance.random() < 0.7 else 2):
        factor, slope = chance.choice((1, 1, -1, 2)), chance.choice((1, 1, -1, F(1, 2), 0))
        outputs.append((chance.choice(_RATES), factor, slope, chance.randint(-1, 1), chance.random() < 0.15))
    kind = chance.choice(("none", "none", "coin", "test", "test of nothing"))
    rate, threshold = chance.choice(_RATES), chance.choice((F(0), F(1, 2), F(2)))
    statements = []
    for at, (own, factor, slope, shift, one_sided) in enumerate(outputs):
        mean = f"{slope}*q + {shift}"
        drawn = f"r[{at}] <- Expo({own}*eps)" if one_sided else f"r[{at}] <- Lap({own}*eps, {mean})"
        statements.append(f"{drawn}; y[{at}] <- {factor}*r[{at}]" + (f" + {mean}" if one_sided else ""))
    match kind:
        case "coin":
            statements.append("o <- choose { 0 : 1/3, 1 : 2/3 }")
        case "test":
            statements.append(f"t <- Lap({rate}*eps, q); if t >= {threshold} then o <- 1 end")
        case "test of nothing":
            statements.append(f"t <- Lap({rate}*eps, 0); if t >= {threshold} then o <- 1 end")
    last = len(outputs) - 1
    text = (
        f"program p; input q : real; output y[0..{last}] : real; output o : {{0, 1}} = 0;"
        f" var r[0..{last}], t : real; {'; '.join(statements)};"
    ).replace("+ -", "- ")

    def law(q: float, eps: float) -> dict[str, Law]:
        axes = []
        for own, factor, slope, shift, one_sided in outputs:
            mean, scale = float(slope) * q + shift, float(own) * eps / abs(factor)
            left: float | None = scale
            right: float | None = scale
            if one_sided:
                left, right = (None, scale) if factor > 0 else (scale, None)
            axes.append((left, right, mean if one_sided else factor * mean))
        far = float(threshold) - (q if kind == "test" else 0.0)
        tail = math.exp(-float(rate) * eps * abs(far)) / 2
        one = {"none": 0.0, "coin": 2 / 3}.get(kind, tail if far >= 0 else 1 - tail)
        weights = {"0": 1 - one, "1": one}
        return {name: Law(((weight, tuple(axes)),)) for name, weight in weights.items() if weight}

    return Release(text, law)


def compared(seed: int) -> str:
    """Compare the answers of dipc about a random program with sums over a grid."""
    chance = random.Random(f"release {seed}")
    release = random_release(chance)
    eps, factor, order = (
        chance.choice((F(1, 2), F(1), F(2))),
        chance.choice((F(0), F(1, 2), F(5, 4))),
        chance.choice((2, 3)),
    )
    asked = question(release.text, inputs="q in {0, 1}")
    laws = [release.law(q, float(eps)) for q in (0.0, 1.0)]
    both = [(laws[0], laws[1]), (laws[1], laws[0])]
    coarse = 5e-3 if "y[0..1]" in release.text else 2e-4
    loss = max(one[name].loss(two[name]) for one, two in both for name in one)
    found = asked.largest_loss(eps).value
    assert (math.inf if found is None else float(found[1])) == pytest.approx(loss, abs=20 * coarse), release.text
    wanted = max(sum(one[name].moment(two[name], order) for name in one) for one, two in both)
    divergence = asked.divergence(order, eps)
    if math.isinf(wanted):
        assert divergence.value is None, release.text
    elif wanted < 1e3:
        assert divergence.moment is not None, release.text
        assert float(divergence.moment.enclosure(eps)[0]) == pytest.approx(wanted, rel=10 * coarse), release.text
    delta = max(sum(one[name].delta(two[name], math.exp(float(factor * eps))) for name in one) for one, two in both)
    claim = read_claim(asked.program, f"{factor}*eps", None, f"[{eps}, {eps}]")
    try:
        least = asked.least_delta(claim, eps).at
    except OutsideFragment:
        return "delta refused"
    assert least is not None
    assert float(least[1][0]) == pytest.approx(delta, abs=coarse), release.text
    for more, verdict in ((2 * coarse, "private"), (-2 * coarse, "not private")):
        allowed = F(delta + more).limit_denominator(10**6)
        if allowed > 0:
            report = asked.decide(read_claim(asked.program, f"{factor}*eps", str(allowed), f"[{eps}, {eps}]"))
            assert report["verdict"] == verdict, release.text
    return "compared"


@pytest.mark.parametrize("seed", range(6))
def test_random_releases(seed: int) -> None:
    compared(seed)


@pytest.mark.slow
@pytest.mark.parametrize("ten", range(50))
def test_hundreds_of_random_releases(ten: int) -> None:
    said = [compared(seed) for seed in range(10 * ten, 10 * ten + 10)]
    assert said.count("compared") > 4


# --- several outputs that share a distance ------------------------------------------------------------------------

HISTOGRAM = """
program histogram; input q[1..3] : real; output y[1..2] : real;
y[1] <- Lap({first}, {a}*q[1]{more}); y[2] <- Lap({second}, {b}*q[2]); y[2] <- {factor}*y[2]
"""


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 150))])
def test_no_split_of_a_distance_tells_more_than_one_input_that_moves_alone(seed: int, tmp_path: Path) -> None:
    """The pair that is the worst of all real inputs by L1 is compared with random pairs within the distance.

    Outputs have Laplace noises of different scales. Both an exact comparison and a sum over a grid agree.
    """
    choose = random.Random(f"shared {seed}")
    rates = [F(choose.choice((1, 2, 3, 4)), 4) for _ in range(2)]
    a, b, factor = (choose.choice((1, 1, 2, -1, 3)) for _ in range(3))
    more = choose.choice((F(0), F(0), F(1), F(-2)))
    text = HISTOGRAM.format(
        first=f"{rates[0]}*eps", second=f"{rates[1]}*eps", a=a, b=b, more=f" + {more}*q[3]", factor=factor
    )
    radius = choose.choice((F(1), F(1), F(1, 2), F(2)))
    asked = question(text, f"l1:{radius}")
    eps, budget = choose.choice((F(1, 2), F(1), F(2))), F(choose.choice((0, 1, 2, 3, 5)), 8)
    most, order = asked.delta_at(budget, eps)[1], asked.divergence(2, eps).value
    loss = asked.largest_loss(eps).value
    assert order is not None
    assert loss is not None
    for _ in range(3):
        parts = [F(choose.randint(-6, 6)) for _ in range(3)]
        size = sum(map(abs, parts)) or 1
        move = [part * radius / size for part in parts]
        if not any(move):
            continue
        path = tmp_path / "pairs.csv"
        path.write_text("q[1],q[2],q[3],q[1]',q[2]',q[3]'\n0,0,0," + ",".join(map(str, move)) + "\n", encoding="utf-8")
        split = question(text, str(path), None)
        assert split.delta_at(budget, eps)[0] <= most
        divergence = split.divergence(2, eps).value
        assert divergence is not None
        assert divergence[0] <= order[1]
        largest = split.largest_loss(eps).value
        assert largest is not None
        assert largest[0] <= loss[1]
        shifts = float(a * move[0] + more * move[2]), float(factor * b * move[1])
        scales = float(1 / (rates[0] * eps)), float(abs(factor) / (rates[1] * eps))
        assert grid_delta(shifts, scales, float(budget * eps)) <= float(most) + 2e-3


def grid_delta(shifts: tuple[float, float], scales: tuple[float, float], budget: float) -> float:
    """Σ max(0, p - e^budget·p') over a grid of two outputs with Laplace noises of these scales."""
    axes = [np.linspace(-14 * s - 4, 14 * s + 4, 900) for s in scales]
    one, two = (
        [np.exp(-abs(axis - shift) / s) / (2 * s) for axis, s, shift in zip(axes, scales, moved, strict=True)]
        for moved in ((0.0, 0.0), shifts)
    )
    excess = np.outer(*one) - math.exp(budget) * np.outer(*two)
    return float(np.maximum(excess, 0).sum() * math.prod(axis[1] - axis[0] for axis in axes))


@pytest.mark.parametrize(
    "body",
    [
        "y[1] <- Lap(eps, q[1] + q[2]); y[2] <- Lap(eps, q[2]);",  # one input moves both
        "y[1] <- Lap(eps, q[1]); y[2] <- Expo(eps); y[2] <- y[2] + q[2];",  # another law, which is not symmetric
    ],
)
def test_a_worst_pair_of_a_shared_distance_is_not_guessed(body: str) -> None:
    asked = question(f"program p; input q[1..2] : real; output y[1..2] : real; {body}", "l1:1")
    with pytest.raises(DiagnosticError, match="infinitely many"):
        asked.least_delta(read_claim(asked.program, "eps/2", None, None))
