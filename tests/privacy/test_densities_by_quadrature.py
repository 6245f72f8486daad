"""Random mechanisms with real outputs whose rates, means, weights and atoms depend on data.

Least deltas, verdicts and worst sets are compared with quadrature of densities. The densities are written down beside
the program text, not computed from it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

import dipc
from dipc.algebra.limits import OutsideFragment
from dipc.decide.engine import Engine
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.densities import RealOutputs
from dipc.questions.privacy.outcome import PrivacyVerdict, read_claim

F = Fraction

#: Random programs, of which `make test` runs the first few; each is asked at several budgets.
CASES = 260
seeds = [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, CASES))]


@dataclass(frozen=True)
class Part:
    """The law of one real output in a branch.

    Without rates it is an atom at `low`. Else it is exponential with the rate `right`·eps above `mean` and `left`·eps
    below, conditioned to lie between `low` and `high`. A rate of None puts no mass on its side.
    """

    mean: float
    left: float | None = None
    right: float | None = None
    low: float = -math.inf
    high: float = math.inf

    @property
    def is_atom(self) -> bool:
        return self.left is None and self.right is None

    def density(self, y: np.ndarray, eps: float) -> np.ndarray:
        """The density, not conditioned: its integral over [low, high] is the probability of that interval."""
        height = eps / sum(1 / rate for rate in (self.left, self.right) if rate is not None)
        below = 0.0 if self.left is None else np.exp(np.minimum(0, self.left * eps * (y - self.mean)))
        above = 0.0 if self.right is None else np.exp(np.minimum(0, -self.right * eps * (y - self.mean)))
        return np.where((y >= self.low) & (y <= self.high), height * np.where(y < self.mean, below, above), 0.0)

    def probability(self, eps: float) -> float:
        """The probability that the output of the noise alone lies between `low` and `high`."""
        return self._below(self.high, eps) - self._below(self.low, eps)

    def _below(self, y: float, eps: float) -> float:
        sizes = [0.0 if rate is None else 1 / rate for rate in (self.left, self.right)]
        share = sizes[0] / sum(sizes)
        if y < self.mean:
            return 0.0 if self.left is None else share * math.exp(self.left * eps * (y - self.mean))
        return 1.0 if self.right is None else 1 - (1 - share) * math.exp(-self.right * eps * (y - self.mean))

    @property
    def breaks(self) -> list[float]:
        return [end for end in (self.mean, self.low, self.high) if math.isfinite(end)]


@dataclass(frozen=True)
class Branch:
    """A way to end: its weight as text and as a function of eps, the finite output, and the real ones."""

    weight: str
    answer: int
    parts: tuple[Part, ...]

    def chance(self, eps: float) -> float:
        return float(eval(self.weight, {"exp": math.exp, "eps": eps}))


@dataclass(frozen=True)
class Mechanism:
    """A program, and for each value of its input the branches in which it may end."""

    text: str
    branches: Mapping[int, tuple[Branch, ...]]

    def delta(self, one: int, two: int, budget: float, eps: float) -> float:
        """The integral of max(0, p - e^budget·p'), by Gauss and Legendre's rule between all breaks."""
        groups: dict[tuple[object, ...], list[list[Branch]]] = {}
        for side, branches in enumerate((self.branches[one], self.branches[two])):
            for each in branches:
                key = (each.answer, *[part.mean if part.is_atom else "dense" for part in each.parts])
                groups.setdefault(key, [[], []])[side].append(each)
        return sum(_excess(*group, math.exp(budget), eps) for group in groups.values())


def _excess(ours: list[Branch], theirs: list[Branch], factor: float, eps: float) -> float:
    dense = [place for place, part in enumerate((ours or theirs)[0].parts) if not part.is_atom]
    grids = [_grid([b.parts[place] for b in (*ours, *theirs)], eps, 1 if len(dense) == 1 else 2) for place in dense]

    def total(branches: list[Branch]) -> np.ndarray | float:
        value: np.ndarray | float = 0.0
        for branch in branches:
            own: np.ndarray | float = branch.chance(eps)
            for axis, place in enumerate(dense):
                shape = [-1 if other == axis else 1 for other in range(len(dense))]
                own = own * branch.parts[place].density(grids[axis][0], eps).reshape(shape)
            value = value + own
        return value

    excess = np.maximum(0, total(ours) - factor * total(theirs))
    for _, weights in reversed(grids):
        excess = np.broadcast_to(excess, (*excess.shape[:-1], len(weights))) @ weights if excess.ndim else excess
    return float(excess)


def _grid(parts: list[Part], eps: float, outputs: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights from break to break, far out where densities are below e^-40."""
    slowest = min(rate for part in parts for rate in (part.left, part.right) if rate is not None)
    breaks = sorted({end for part in parts for end in part.breaks})
    far = 40 / (slowest * eps)
    breaks = [breaks[0] - far, *breaks, breaks[-1] + far]
    nodes, weights = np.polynomial.legendre.leggauss(6)
    panels = 1500 if outputs == 1 else 60
    places, sizes = [], []
    for low, high in pairwise(breaks):
        outer = low == breaks[0] or high == breaks[-1]
        # Panels get longer with the distance from the breaks, as densities fall.
        share = np.linspace(0, 1, panels + 1) ** (3 if outer else 1)
        ends = low + (high - low) * (1 - share[::-1] if low == breaks[0] else share)
        half = np.diff(ends) / 2
        places.append(((ends[:-1] + half)[:, None] + half[:, None] * nodes).ravel())
        sizes.append((half[:, None] * weights).ravel())
    return np.concatenate(places), np.concatenate(sizes)


# --- random programs ------------------------------------------------------------------------------------------

RATES = ("1/2", "1", "2", "3/2", "1/3")
MEANS = ("0", "1", "-1", "1/2", "2")
WEIGHTS = (
    ("1/2", "1/2"),
    ("3/4", "1/4"),
    ("1/5", "4/5"),
    ("exp(-eps)/2", "1 - exp(-eps)/2"),
    ("1/(1+exp(eps))", "exp(eps)/(1+exp(eps))"),
)


def noise(choose: random.Random, name: str) -> tuple[str, Part]:
    """A statement that draws the output, and its law."""
    rate, mean = choose.choice(RATES), choose.choice(MEANS)
    kind = choose.random()
    if kind < 0.7:
        return f"{name} <- Lap({rate}*eps, {mean});", Part(float(F(mean)), float(F(rate)), float(F(rate)))
    if kind < 0.85:
        return f"r <- Expo({rate}*eps); {name} <- r + {mean};", Part(float(F(mean)), None, float(F(rate)))
    return f"r <- Expo({rate}*eps); {name} <- {mean} - r;", Part(float(F(mean)), float(F(rate)), None)


def atom(choose: random.Random, name: str) -> tuple[str, Part]:
    value = choose.choice(MEANS)
    return f"{name} <- {value};", Part(float(F(value)))


def outputs(choose: random.Random, count: int, atoms: float) -> tuple[str, tuple[Part, ...]]:
    drawn = [(atom if choose.random() < atoms else noise)(choose, "yz"[place]) for place in range(count)]
    return " ".join(text for text, _ in drawn), tuple(part for _, part in drawn)


def branches_of(choose: random.Random, kind: str, count: int) -> tuple[str, tuple[Branch, ...]]:
    """The statements for one value of the input, and the branches they lead to."""
    if kind == "noise":
        text, parts = outputs(choose, count, 0)
        return text, (Branch("1", 0, parts),)
    if kind == "atoms":
        text, parts = outputs(choose, count, 0.4)
        return text, (Branch("1", 0, parts),)
    if kind == "coin":
        weights = choose.choice(WEIGHTS)
        ends = [outputs(choose, count, 0.25) for _ in weights]
        text = (
            f"o <- choose {{ 0 : {weights[0]}, 1 : {weights[1]} }}; if o = 0 then {ends[0][0]} else {ends[1][0]} end;"
        )
        return text, tuple(
            Branch(w, place, parts) for place, (w, (_, parts)) in enumerate(zip(weights, ends, strict=True))
        )
    # A noise is told as it is up to a number, beyond that only that it is beyond; with another answer, or without.
    text, part = noise(choose, "y")
    edge = choose.choice(("0", "1", "3/2", "-1/2"))
    seen = choose.randint(0, 1)
    low = Part(part.mean, part.left, part.right, high=float(F(edge)))
    high = Part(part.mean, part.left, part.right, low=float(F(edge)))
    clamped = Branch(f"{high.probability(1)!r}", seen, (Part(float(F(edge))),))
    return f"{text} if y > {edge} then y <- {edge}; o <- {seen} end;", (Branch("1", 0, (low,)), _Clamped(clamped, high))


class _Clamped(Branch):
    """A branch whose weight is the probability of what was cut off."""

    cut: Part

    def __init__(self, branch: Branch, cut: Part) -> None:
        super().__init__(branch.weight, branch.answer, branch.parts)
        object.__setattr__(self, "cut", cut)

    def chance(self, eps: float) -> float:
        return self.cut.probability(eps)


def mechanism(choose: random.Random) -> Mechanism:
    count = choose.choice((1, 1, 1, 2))
    kinds = ["noise", "atoms", "coin", *(["clamp"] if count == 1 else [])]
    branches, texts = {}, []
    kind = choose.choice(kinds)
    for value in (0, 1):
        own = kind if choose.random() < 0.7 else choose.choice(kinds)
        text, branches[value] = branches_of(choose, own, count)
        texts.append(text)
    if choose.random() < 0.15:
        # What is the same at both inputs loses nothing.
        texts[1], branches[1] = texts[0], branches[0]
    names = ", ".join("yz"[:count])
    text = f"""program f; input x : {{0, 1}}; output {names} : real; output o : {{0, 1}} = 0; var r : real; r <- 0;
    if x = 0 then {texts[0]} else {texts[1]} end"""
    return Mechanism(text, branches)


def asked_of(found: Mechanism) -> tuple[PrivacyQuestion, RealOutputs]:
    program = dipc.load(found.text)
    question = PrivacyQuestion(program, "linf:1", None, Engine(program.measurer, program.limits))
    laws = question.laws()
    assert isinstance(laws, RealOutputs)
    return question, laws


def budgets(question: PrivacyQuestion, eps: F) -> Iterator[F]:
    """Numbers below, at and above the loss, and 0."""
    loss = question.largest_loss(eps).value
    yield F(0)
    yield F(1, 4)
    if loss is None:
        yield F(2)
    elif loss[1] > 0:
        yield from (loss[1] / 2, loss[1] * F(9, 10), loss[1], loss[1] + F(1, 8))


@pytest.mark.parametrize("seed", seeds)
def test_deltas_and_verdicts(seed: int) -> None:
    choose = random.Random(f"densities {seed}")
    found = mechanism(choose)
    question, laws = asked_of(found)
    eps = F(choose.choice(("1/2", "1", "2")))
    near = 1e-6 if len(found.branches[0][0].parts) == 1 else 3e-4
    pairs = list(zip(question.pairs.inputs, (0, 1), strict=True))  # type: ignore[union-attr]
    for budget in budgets(question, eps):
        expected = {}
        for (one, first), (two, second) in product(pairs, repeat=2):
            if one != two:
                expected[first, second] = found.delta(first, second, float(budget), float(eps))
                sets = laws.worst_set(one, two, budget / eps, eps)
                grown = F(math.exp(budget))
                least = sum(float(s.first.enclosure(eps)[0] - grown * s.second.enclosure(eps)[0]) for s in sets)
                assert least == pytest.approx(expected[first, second], abs=near)
        low, high = question.delta_at(budget / eps, eps)
        assert high - low < F(1, 10**15)
        assert float(low) == pytest.approx(max(expected.values()), abs=near)
        tiny = F(1, 10**6)
        above, below = (high * (1 + tiny), PrivacyVerdict.PRIVATE), (low * (1 - tiny), PrivacyVerdict.NOT_PRIVATE)
        for delta, verdict in (above, below):
            if delta < F(1, 10**9):
                continue
            claim = read_claim(question.program, f"{budget / eps}*eps", str(delta), f"[{eps}, {eps}]")
            assert question.decide(claim).verdict is verdict, (found.text, budget, float(delta))
        if not high:
            claim = read_claim(question.program, f"{budget / eps}*eps", "1/1000000000", f"[{eps}, {eps}]")
            assert question.decide(claim).verdict is PrivacyVerdict.PRIVATE


@pytest.mark.parametrize("seed", seeds)
def test_all_eps_of_an_interval(seed: int) -> None:
    """The supremum is at least the delta at each eps, and near the greatest; a delta that is exceeded is refuted."""
    choose = random.Random(f"intervals of densities {seed}")
    found = mechanism(choose)
    question, _ = asked_of(found)
    factor = F(choose.choice(("0", "1/4", "1", "2")))
    near = 1e-6 if len(found.branches[0][0].parts) == 1 else 3e-4
    places = [F(1, 2), F(3, 4), F(1), F(5, 4), F(3, 2)]
    most = max(found.delta(*pair, float(factor * eps), float(eps)) for pair in ((0, 1), (1, 0)) for eps in places)
    low, high = question.least_delta(read_claim(question.program, f"{factor}*eps", None, "[1/2, 3/2]")).supremum
    assert most <= float(high) + near
    assert float(high) <= max(most * 1.25, 1e-5) + near
    for delta, verdict in ((high * F(102, 100), PrivacyVerdict.PRIVATE), (low * F(9, 10), PrivacyVerdict.NOT_PRIVATE)):
        if low > F(1, 1000):
            report = question.decide(read_claim(question.program, f"{factor}*eps", str(delta), "[1/2, 3/2]"))
            assert report.verdict is verdict, found.text
            if report.counterexample is not None:
                assert F(1, 2) <= report.counterexample.eps <= F(3, 2)


def test_few_random_programs_are_refused() -> None:
    refused = 0
    for seed in range(40):
        try:
            asked_of(mechanism(random.Random(f"densities {seed}")))[0].delta_at(F(1), F(1))
        except OutsideFragment:
            refused += 1
    assert refused == 0
