"""The greatest of several noisy values with its gap to the second, both distances open, against draws of it."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest

import dipc
from dipc.algebra.limits import Limits
from dipc.chain.state import Affine
from dipc.decide.obligation import Verdict
from dipc.measure.event import Noise
from dipc.noise.laplace import LAPLACE
from dipc.rules.centered_exits import CenteredExit, NoiseComponent, united
from dipc.sign.interval import Interval

F = Fraction

WINNER = """program winner; const m = 3; input q[1..m] : TYPE; output w : {1..m}; output gap : TYPE; var r[1..m] : TYPE;
ideal {
  if q[1] >= q[2] and q[1] >= q[3] then w <- 1; gap <- q[1] - max(q[2], q[3])
  else if q[2] >= q[3] then w <- 2; gap <- q[2] - max(q[1], q[3])
  else w <- 3; gap <- q[3] - max(q[1], q[2]) end end
}
for i in 1..m do r[i] <- LAW(eps, q[i]) end;
if r[1] >= r[2] and r[1] >= r[3] then w <- 1; gap <- r[1] - max(r[2], r[3])
else if r[2] >= r[3] then w <- 2; gap <- r[2] - max(r[1], r[3])
else w <- 3; gap <- r[3] - max(r[1], r[2]) end end"""


def program(kind: str, law: str) -> dipc.Program:
    return dipc.load(WINNER.replace("TYPE", kind).replace("LAW", law))


@pytest.mark.parametrize(
    ("beta", "verdict"),
    [
        ("m*exp(-alpha*eps/2) + m*exp(-gamma*eps/2)", Verdict.ACCURATE),
        ("m*exp(-alpha*eps) + m*exp(-gamma*eps/2)", Verdict.ACCURATE),
        ("exp(-alpha*eps)/10 + exp(-gamma*eps/2)/10", Verdict.INACCURATE),
        ("m*exp(-2*alpha*eps) + m*exp(-2*gamma*eps)", Verdict.INACCURATE),
    ],
)
def test_both_distances(beta: str, verdict: Verdict) -> None:
    assert dipc.check(program("real", "Lap"), inputs="all", alpha="dd", gamma="free", beta=beta).verdict is verdict


def test_one_gamma() -> None:
    beta = "m*exp(-alpha*eps/2) + m*exp(-gamma*eps/2)"
    report = dipc.check(program("real", "Lap"), inputs="all", alpha="dd", gamma=4, beta=beta)
    assert report.verdict is Verdict.ACCURATE


@pytest.mark.parametrize("point", [(3.0, 0.0, -1.0), (2.0, 1.9, -6.0), (0.0, 5.0, 4.0)])
@pytest.mark.parametrize("gamma", [0.5, 2.0, 6.0])
def test_draws_agree(point: tuple[float, ...], gamma: float) -> None:
    chance = np.random.default_rng(7)
    noisy = np.array(point) + chance.laplace(size=(100_000, 3))
    exact, ordered = np.sort(point), np.sort(noisy, axis=1)
    right = noisy.argmax(axis=1) == int(np.argmax(point))
    near = np.abs((ordered[:, 2] - ordered[:, 1]) - (exact[2] - exact[1])) <= gamma
    distance = (exact[2] - exact[1]) / 2
    claimed = 1 - 3 * math.exp(-distance / 2) - 3 * math.exp(-gamma / 2)
    assert np.mean(right & near) >= claimed - 0.01


def test_exits_of_three_values_are_united() -> None:
    """The first is greatest with the second or with the third next to it: together the first is greatest."""
    noises = (Noise(LAPLACE, F(1), F(0)),) * 3

    def above(i: int, j: int) -> Affine:
        terms = tuple(sorted([(i, F(1)), (j, F(-1))]))
        return Affine(terms, terms, F(0))

    def ends(*halves: Affine) -> CenteredExit:
        return CenteredExit((), None, (), False, (NoiseComponent(noises, halves),))

    first, second = ends(above(0, 1), above(1, 2)), ends(above(0, 2), above(2, 1))
    (both,) = united([first, second], (Interval.POSITIVE,), Limits())
    assert {half for part in both.parts for half in part.halfspaces} == {above(0, 1), above(0, 2)}
    other = ends(above(2, 0), above(2, 1))
    assert len(united([first, other], (Interval.POSITIVE,), Limits())) == 2


def test_united_exits_hold_the_same_points() -> None:
    """Every order of four values is an exit; uniting them never changes how many exits hold at a point."""
    chance = random.Random(3)
    noises = (Noise(LAPLACE, F(1), F(0)),) * 3
    pairs = [(i, j) for i in range(3) for j in range(3) if i != j]

    def half(i: int, j: int, shift: int) -> Affine:
        terms = tuple(sorted([(i, F(1)), (j, F(-1))]))
        return Affine(terms, (), F(shift))

    def holds(each: CenteredExit, point: list[F]) -> bool:
        return all(
            sum((c * value_at(part, place, point) for place, c in h.noises), F(0)) + h.constant > 0
            for part in each.parts
            for h in part.halfspaces
        )

    def value_at(part: NoiseComponent, place: int, point: list[F]) -> F:
        return point[names[part.noises[place].rate]]

    for _ in range(60):
        rates = [F(k + 1) for k in range(3)]
        noises = tuple(Noise(LAPLACE, rate, F(0)) for rate in rates)
        names = {rate: k for k, rate in enumerate(rates)}
        tests = [half(*chance.choice(pairs), chance.choice((0, 0, 1))) for _ in range(3)]
        exits = []
        for signs in range(8):
            chosen = [h if signs >> k & 1 else -h for k, h in enumerate(tests)]
            if chance.random() < 0.7:
                exits.append(CenteredExit((), None, (), False, (NoiseComponent(noises, tuple(dict.fromkeys(chosen))),)))
        joined = united(exits, (Interval.POSITIVE,), Limits())
        for _ in range(40):
            point = [F(chance.randint(-50, 50), 7) for _ in range(3)]
            values = [sum((c * point[p] for p, c in h.noises), F(0)) + h.constant for h in tests]
            if all(values):
                assert sum(holds(each, point) for each in exits) == sum(holds(each, point) for each in joined)
