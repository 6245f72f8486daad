"""Random programs with Gaussian noise: verdicts and certificates compared with an independent quadrature."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest

import dipc
from dipc.verifier.document import check_text

#: A center is compared with others: all of them have to come out as they do without noise.
TEMPLATE = """
program attack;
const m = {m};
input q[1..m] : real;
output out[1..m] : bool;
var t, r : real;
ideal {{ for i in 1..m do out[i] <- q[i] >= 0 end }}
t <- Gauss({center}, 0);
for i in 1..m do
  r <- Gauss({scale}, q[i]);
  out[i] <- {factor}*r >= t
end
"""


NODES, WEIGHTS = np.polynomial.legendre.leggauss(80)


def probability(values: list[Fraction], deviations: tuple[float, float], factor: int, eps: float) -> float:
    """The probability that every comparison comes out as without noise; deviations are in multiples of 1/eps."""
    center, scale = deviations
    total = 0.0
    for panel in range(-5, 5):
        for node, weight in zip(NODES, WEIGHTS, strict=True):
            t = center * 2 * (panel + (node + 1) / 2)
            chance = math.exp(-(t**2) / (2 * center**2)) / (center * math.sqrt(2 * math.pi))
            for value in values:
                at = (factor * eps * float(value) - t) / (factor * scale)
                chance *= math.erfc((-at if value >= 0 else at) / math.sqrt(2)) / 2
            total += weight * center * chance
    return total


def attack(seed: int) -> str:
    """Decide one program, row and claim; return the verdict after comparing it with the truth."""
    chance = random.Random(seed)
    m = chance.randint(1, 3)
    squares = chance.choice((1, 2, 3, 4, 9)), chance.choice((1, 2, 5, 16))
    factor = chance.choice((1, 1, 2))
    fixed = chance.random() < 0.2
    center, scale = (f"sqrt({square})" + ("" if fixed else "/eps") for square in squares)
    values = [Fraction(chance.choice((-3, -2, -1, 1, 2, 4)), chance.choice((1, 2))) for _ in range(m)]
    rate, weight = Fraction(chance.randint(1, 6), 20), Fraction(chance.randint(3, 30), 20)
    beta = f"{weight}/3" if fixed else f"{weight}*exp(-{rate}*eps)"
    program = dipc.load(TEMPLATE.format(m=m, center=center, scale=scale, factor=factor))
    row = f"q={values[0]}" if m == 1 else f"q=({','.join(map(str, values))})"
    report = dipc.check(program, inputs=row, alpha="0", beta=beta, keep_proofs=True)
    deviations = squares[0] ** 0.5, squares[1] ** 0.5

    def slack(eps: float) -> float:
        found = probability(values, deviations, factor, 1.0 if fixed else eps)
        allowed = float(weight) / 3 if fixed else float(weight) * math.exp(-float(rate) * eps)
        return found - 1 + allowed

    if report.verdict is dipc.Verdict.ACCURATE:
        assert all(slack(eps) > -1e-9 for eps in (0.001, 0.1, 0.7, 2.0, 5.0, 12.0))
    if report.verdict is dipc.Verdict.INACCURATE:
        (result,) = report.rows
        assert result.counterexample is not None
        assert slack(float(result.counterexample.eps)) < 1e-9
    accepted = check_text(dipc.certify(report))
    assert accepted.verdict == str(report.verdict)
    if report.verdict is not dipc.Verdict.UNDECIDED:
        assert accepted.complete, "no proof is found"
    return str(report.verdict)


@pytest.mark.parametrize("first", [0, pytest.param(1_000, marks=pytest.mark.slow)])
def test_random_programs_are_decided_and_certified(first: int) -> None:
    """The number of programs is 1 000 with the option for slow tests, otherwise 6."""
    verdicts = [attack(seed) for seed in range(first, first + (1_000 if first else 6))]
    assert {"accurate", "inaccurate"} <= set(verdicts)
    assert verdicts.count("undecided") * 10 <= len(verdicts)
