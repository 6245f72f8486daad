"""Privacy with Gaussian noise: against quadrature in floating point, far from the code that it judges."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import dipc
from dipc.decide.engine import Engine
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import PrivacyVerdict, read_claim

F = Fraction

MAX = """program nmax;
const N = 3;
input q[1..N] : {0, 1};
output out : {1..N} = 1;
var best, r : real;
best <- Gauss(2/eps, q[1]);
for i in 2..N do
  r <- Gauss(2/eps, q[i]);
  if r > best then best <- r; out <- i end
end
"""
SVT = """program svt;
const N = 2;
input q[1..N] : {0, 1};
output out : {0..N} = 0;
var t, r : real;
t <- Gauss(2/eps, 0);
for i in 1..N do
  r <- Gauss(4/eps, q[i]);
  if r < t then out <- i; exit end
end
"""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(400)


def _cdf(x: np.ndarray) -> np.ndarray:
    return np.array([0.5 * math.erfc(-each / math.sqrt(2)) for each in x])


def _law_of_max(q: tuple[int, ...], eps: float) -> list[float]:
    s = 2 / eps
    x = _NODES * (12 * s + 2)
    density = [np.exp(-(((x - mean) / s) ** 2) / 2) / (s * math.sqrt(2 * math.pi)) for mean in q]
    below = [_cdf((x - mean) / s) for mean in q]
    width = 12 * s + 2
    return [
        float(width * np.sum(_WEIGHTS * density[i] * math.prod([below[j] for j in range(len(q)) if j != i])))
        for i in range(len(q))
    ]


def _law_of_svt(q: tuple[int, ...], eps: float) -> list[float]:
    s, r = 2 / eps, 4 / eps
    width = 12 * s
    t = _NODES * width
    density = np.exp(-((t / s) ** 2) / 2) / (s * math.sqrt(2 * math.pi))
    below = [_cdf((t - mean) / r) for mean in q]
    found, missed = [], np.ones_like(t)
    for each in below:
        found.append(float(width * np.sum(_WEIGHTS * density * missed * each)))
        missed = missed * (1 - each)
    return [float(width * np.sum(_WEIGHTS * density * missed)), *found]


LAWS = {MAX: (_law_of_max, 3, "linf:1"), SVT: (_law_of_svt, 2, "hamming:1")}


def _pairs(count: int, adjacent: str) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    points = list(itertools.product((0, 1), repeat=count))
    return [
        (u, v)
        for u in points
        for v in points
        if u != v and (adjacent == "linf:1" or sum(a != b for a, b in zip(u, v, strict=True)) == 1)
    ]


def _delta(text: str, eps: float, budget: float) -> float:
    law, count, adjacent = LAWS[text]
    laws = {u: law(u, eps) for u in itertools.product((0, 1), repeat=count)}
    return max(
        sum(max(0.0, p - math.exp(budget * eps) * q) for p, q in zip(laws[u], laws[v], strict=True))
        for u, v in _pairs(count, adjacent)
    )


def _question(text: str) -> PrivacyQuestion:
    program = dipc.load(text)
    return PrivacyQuestion(program, LAWS[text][2], None, Engine(program.measurer, program.limits))


@pytest.mark.parametrize("text", [MAX, SVT], ids=["max", "svt"])
@pytest.mark.parametrize(("eps", "budget"), [(F(1, 2), F(1, 2)), (F(2), F(1, 4)), (F(5), F(1, 2))])
def test_what_is_needed_at_one_eps(text: str, eps: Fraction, budget: Fraction) -> None:
    question = _question(text)
    claim = read_claim(question.program, f"{budget}*eps", None, f"[{eps}, {eps}]")
    found = question.least_delta(claim, eps)
    assert found.at is not None
    low, high = found.at[1]
    wanted = _delta(text, float(eps), float(budget))
    assert float(low) - 1e-9 <= wanted <= float(high) + 1e-9
    for factor, verdict in ((F(999, 1000), PrivacyVerdict.NOT_PRIVATE), (F(1001, 1000), PrivacyVerdict.PRIVATE)):
        if wanted > 1e-6:
            delta = F(wanted).limit_denominator(10**9) * factor
            report = question.decide(read_claim(question.program, f"{budget}*eps", str(delta), f"[{eps}, {eps}]"))
            assert report.verdict is verdict
            if report.counterexample is not None:
                assert report.counterexample.probability[0] > report.counterexample.allowed[1]


def test_losses_and_divergences() -> None:
    question, eps = _question(MAX), F(1, 2)
    laws = {u: _law_of_max(u, 0.5) for u in itertools.product((0, 1), repeat=3)}
    pairs = _pairs(3, "linf:1")
    loss = max(math.log(p / q) for u, v in pairs for p, q in zip(laws[u], laws[v], strict=True))
    found = question.largest_loss(eps)
    assert found.value is not None
    assert abs(float(found.value[0]) - loss) < 1e-9
    assert found.value[1] - found.value[0] < F(1, 10**15)
    moment = max(sum(p**3 / q**2 for p, q in zip(laws[u], laws[v], strict=True)) for u, v in pairs)
    divergence = question.divergence(3, eps)
    assert divergence.value is not None
    assert abs(float(divergence.value[0]) - math.log(moment) / 2) < 1e-9


@pytest.mark.parametrize("interval", ["(0, 1]", "[1, 3/2]"])
def test_on_intervals_the_supremum_is_what_matters(interval: str) -> None:
    """For SVT with a small budget delta grows with eps there, to its value at the end."""
    question = _question(SVT)
    end = F(interval.strip("()[] ").split(",")[1])
    wanted = F(_delta(SVT, float(end), 1 / 16)).limit_denominator(10**9)
    for factor, verdict in ((F(99, 100), PrivacyVerdict.NOT_PRIVATE), (F(101, 100), PrivacyVerdict.PRIVATE)):
        report = question.decide(read_claim(question.program, "eps/16", str(wanted * factor), interval))
        assert report.verdict is verdict, report.reason
    found = question.least_delta(read_claim(question.program, "eps/16", None, interval))
    assert float(found.supremum[0]) * (1 - 1e-3) <= float(wanted) <= float(found.supremum[1]) * (1 + 1e-6)
    assert found.supremum[1] - found.supremum[0] < wanted / 100


def test_without_a_bound_of_eps_it_is_refuted() -> None:
    report = _question(MAX).decide(read_claim(_question(MAX).program, None, "1/10", None))
    assert report.verdict is PrivacyVerdict.NOT_PRIVATE
