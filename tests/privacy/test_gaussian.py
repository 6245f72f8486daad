"""Privacy with Gaussian noise: against quadrature in floating point, far from the code that it judges."""

from __future__ import annotations

import itertools
import json
import math
import random
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest

import dipc
from dipc.cli.main import run
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


# --- the Gaussian mechanism --------------------------------------------------------------------------------------


def _mechanism(deviation: str, outputs: int = 1) -> str:
    return f"""program mechanism;
input q[1..{outputs}] : real;
output out[1..{outputs}] : real;
for i in 1..{outputs} do out[i] <- Gauss({deviation}, q[i]) end
"""


def _balle_wang(mean: mpmath.mpf, budget: mpmath.mpf) -> mpmath.mpf:
    with mpmath.workdps(50):
        first = mpmath.ncdf(mean / 2 - budget / mean)
        return first - mpmath.exp(budget) * mpmath.ncdf(-mean / 2 - budget / mean)


@pytest.mark.parametrize("seed", range(25))
def test_the_analytic_gaussian_mechanism(seed: int) -> None:
    chance = random.Random(seed)
    size, count = F(chance.randint(1, 40), chance.randint(1, 10)), chance.randint(1, 3)
    fixed, distance = chance.random() < 0.5, chance.choice(["linf:1", "l1:1", "l1:3"])
    eps, budget = F(chance.randint(1, 30), 10), F(chance.randint(1, 8), 4)
    program = dipc.load(_mechanism(str(size) if fixed else f"{size}/eps", count))
    question = PrivacyQuestion(program, distance, "all", Engine(program.measurer, program.limits))
    with mpmath.workdps(50):
        reach = mpmath.sqrt(count) if distance == "linf:1" else mpmath.mpf(int(distance[-1]))
        scale = 1 if fixed else mpmath.mpf(eps.numerator) / eps.denominator
        mean = reach * scale * size.denominator / mpmath.mpf(size.numerator)
        wanted = _balle_wang(mean, mpmath.mpf((budget * eps).numerator) / (budget * eps).denominator)
        found = question.least_delta(read_claim(program, f"{budget}*eps", None, f"[{eps}, {eps}]"), eps, 30)
        low, high = found.supremum
        slop = mpmath.mpf(10) ** -40
        assert mpmath.mpf(low.numerator) / low.denominator - slop <= wanted
        assert wanted <= mpmath.mpf(high.numerator) / high.denominator + slop
        rho = question.rho(f"[{eps}, {eps}]").value
        assert rho is not None
        assert abs(float(rho[0]) - float(mean**2 / 2)) < 1e-12 * float(mean**2)
    # Just below and above; intervals that end, or begin, there.
    middle = (low + high) / 2
    interval = f"[{eps}, {eps + 2}]" if fixed else f"({eps / 3}, {eps}]"
    for delta, verdict in ((middle * F(99, 100), "not private"), (middle * F(101, 100), "private")):
        if 10**-25 < delta < 1:
            report = question.decide(read_claim(program, f"{budget}*eps", str(delta), interval))
            assert report["verdict"] == verdict
            if verdict == "not private":
                assert report.counterexample is not None
                assert report.counterexample.probability[0] > report.counterexample.allowed[1]


def test_the_set_of_a_counterexample_is_a_half_space() -> None:
    """Pr[q + N <= t], computed again, with the deviation 1."""
    program = dipc.load(_mechanism("1"))
    report = dipc.check_privacy(program, "linf:1", inputs="all", delta="1/8", eps="[1, 2]")
    found = report.counterexample
    assert found is not None
    (output,) = found.outputs
    edge = float(F(str(output["out[1]"]).removeprefix("(-inf, ").removesuffix("]")))
    phi = [0.5 * math.erfc(-x / math.sqrt(2)) for x in (edge, edge - 1)]
    assert abs(float(found.probability[0]) - phi[0]) < 1e-12
    assert abs(float(found.allowed[0]) - (math.exp(float(found.eps)) * phi[1] + 0.125)) < 1e-12


def test_what_is_not_bounded() -> None:
    program = dipc.load(_mechanism("1/eps"))
    assert dipc.check_privacy(program, "linf:1", inputs="all", delta="999/1000")["verdict"] == "not private"
    assert dipc.check_privacy(program, "linf:1", inputs="all", eps="[1, 1]")["verdict"] == "not private"
    report = dipc.check_privacy(program, "hamming:1", inputs="all", delta="1/2", eps="[1, 1]")
    assert report["verdict"] == "undecided"
    assert "a real input may move by any amount" in str(report.reason)
    loss = PrivacyQuestion(program, "linf:1", "all", Engine(program.measurer, program.limits)).largest_loss(F(1))
    assert loss.value is None


def test_one_more_eps_does_not_change_the_least_delta(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A deviation without eps is the same for all eps, whatever `--at` says: delta is largest next to eps = 0."""
    path = tmp_path / "fixed.dip"
    path.write_text("program p; input q : real; output r : real; r <- Gauss(1, q)", encoding="utf-8")
    asked = ["privacy", str(path), "--adjacent", "linf:1", "--inputs", "all", "--delta-of", "eps", "--format", "json"]
    found = []
    for more in ([], ["--at", "1"]):
        assert run([*asked, *more]) == 0
        found.append(json.loads(capsys.readouterr().out)["least_delta"])
    assert found[0]["supremum"] == found[1]["supremum"]
    # 2Φ(1/2) - 1
    assert all(
        abs(Fraction(end) - Fraction("0.38292492254802620728")) < Fraction(1, 10**15) for end in found[0]["supremum"]
    )


def discrete(deviation: str) -> dipc.Program:
    return dipc.load(f"program p; input q : int; output r : int; r <- DGauss({deviation}, q)")


def discrete_delta(deviation: mpmath.mpf, move: int, budget: mpmath.mpf) -> mpmath.mpf:
    """The sum of what is too much, over all integers."""
    reach = int(14 * deviation) + 2 * move + 20
    masses = {k: mpmath.exp(-(k**2) / (2 * deviation**2)) for k in range(-reach - move, reach + 1)}
    whole = mpmath.fsum(masses.values())
    parts = (masses[k] - mpmath.exp(budget) * masses[k - move] for k in range(-reach, reach + 1))
    return mpmath.fsum(part for part in parts if part > 0) / whole


@pytest.mark.parametrize("deviation", ["1/3", "1", "sqrt(7)", "12", "3/eps"])
@pytest.mark.parametrize("move", [1, 3])
@pytest.mark.parametrize("eps", [Fraction(1, 10), Fraction(2)])
def test_delta_of_the_discrete_gaussian_is_the_sum_over_all_outputs(deviation: str, move: int, eps: Fraction) -> None:
    program = discrete(deviation)
    question = PrivacyQuestion(program, f"linf:{move}", "all", Engine(program.measurer, program.limits))
    low, high = question.delta_at(Fraction(1), eps)
    with mpmath.workdps(40):
        size = {"1/3": mpmath.mpf(1) / 3, "sqrt(7)": mpmath.sqrt(7), "3/eps": 3 / mpmath.mpf(str(float(eps)))}
        exact = discrete_delta(size.get(deviation) or mpmath.mpf(deviation), move, mpmath.mpf(str(float(eps))))
        assert mpmath.mpf(low.numerator) / low.denominator <= exact + mpmath.mpf(10) ** -30
        assert mpmath.mpf(high.numerator) / high.denominator >= exact - mpmath.mpf(10) ** -30
        assert high - low < Fraction(1, 10**40)


def test_the_discrete_gaussian_is_private_and_not() -> None:
    program = discrete("4")
    about: dict[str, object] = {"inputs": "all", "budget": "eps", "eps": 1}
    holds = dipc.check_privacy(program, "linf:1", delta="3056/10^9", **about)  # type: ignore[arg-type]
    fails = dipc.check_privacy(program, "linf:1", delta="3055/10^9", **about)  # type: ignore[arg-type]
    assert (holds.verdict, fails.verdict) == (PrivacyVerdict.PRIVATE, PrivacyVerdict.NOT_PRIVATE)
    assert fails.counterexample is not None
    assert fails.counterexample.probability[0] > fails.counterexample.allowed[1]
    # Without eps in the deviation delta falls with eps; with it nothing is known on an interval.
    about["eps"] = "[1, inf)"
    assert dipc.check_privacy(program, "linf:1", delta="3056/10^9", **about).verdict is PrivacyVerdict.PRIVATE  # type: ignore[arg-type]
    known = dipc.check_privacy(discrete("4/eps"), "linf:1", delta="1/10", **about)  # type: ignore[arg-type]
    assert known.verdict is PrivacyVerdict.UNDECIDED


def test_rho_of_the_discrete_gaussian() -> None:
    program = discrete("3")
    question = PrivacyQuestion(program, "linf:2", "all", Engine(program.measurer, program.limits))
    assert question.rho("1").value == (Fraction(2, 9), Fraction(2, 9))
