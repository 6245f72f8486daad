"""Ideas that the engine and the checker share, against numbers that know neither: enumeration, quadrature, draws.

FORMAT.md, "What engine and checker have in common", names these tests. Each probability is held from both sides:
a claim that asks for a little less is proved, and one that asks for a little more is refuted.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import pytest

from dipc.verifier.document import check_text
from tests.verifier import samples

#: How far the numbers of this file may be from the truth.
NEAR = Fraction(1, 20_000)


def held(source: str, row: Mapping[str, Any], eps: str, probability: float) -> None:
    """Assert that engine and checker prove the probability of `row` at `eps` to be within NEAR of this number."""
    for off, verdict in ((-NEAR, "accurate"), (NEAR, "inaccurate")):
        wanted = Fraction(round(probability * 10**9), 10**9) + off
        text = samples.checked(source, [dict(row)], beta=f"1 - {wanted}", eps=f"[{eps}, {eps}]", alpha="0", gamma="0")
        data = json.loads(text)
        assert data["verdict"] == verdict
        accepted = check_text(text)
        assert (accepted.verdict, accepted.complete) == (verdict, True)


def mass(k: int, rate: float) -> float:
    """The probability of k under discrete Laplace noise."""
    z = math.exp(-rate)
    return (1 - z) / (1 + z) * z ** abs(k)


# --- uniting of states --------------------------------------------------------------------------------

UNITED = """
program united; input q : int; output o : {0..2} = 0; var r, s : int; var c : {0, 1};
r <- DLap(eps/2, q); s <- DLap(eps, 0);
if r >= 1 then c <- 1 else if r >= 0 then c <- 1 else c <- 0 end end;
if c = 1 then if s >= r then o <- 1 else o <- 2 end else if s >= 2 then o <- 1 end end
"""


def united(r: int, s: int) -> int:
    """The output of UNITED, written without its states."""
    if r >= 0:
        return 1 if s >= r else 2
    return 1 if s >= 2 else 0


@pytest.mark.parametrize("answer", [0, 1, 2])
@pytest.mark.parametrize(("q", "eps"), [(0, 1.0), (2, 0.5), (-1, 1.5)])
def test_states_that_are_united_by_enumeration(answer: int, q: int, eps: float) -> None:
    everything = range(-90, 91)
    total = sum(
        mass(k, eps / 2) * mass(s, eps) for k, s in product(everything, everything) if united(q + k, s) == answer
    )
    held(UNITED, {"q": q, "o": answer}, str(Fraction(eps)), total)


# --- one noise integrated out over cells ----------------------------------------------------------------

COMPARED = """
program compared; input q : real; output o : {0, 1} = 0; var r, s, t, u : real;
r <- Lap(eps, q); s <- Lap(eps/2, 0); t <- Lap(eps/3, 1); u <- Lap(2*eps, 2);
if r >= s and r >= t and u >= r then o <- 1 end
"""


def laplace(x: float, rate: float) -> float:
    """The probability of noise <= x."""
    return math.exp(rate * x) / 2 if x < 0 else 1 - math.exp(-rate * x) / 2


def quadrature(function: Callable[[float], float], low: float, high: float, points: int = 40_000) -> float:
    """The integral by Simpson's rule."""
    h = (high - low) / points
    inner = sum((4 if n % 2 else 2) * function(low + n * h) for n in range(1, points))
    return h / 3 * (function(low) + inner + function(high))


@pytest.mark.parametrize(("q", "eps"), [(0, 1.0), (1, 0.75), (-2, 2.0)])
def test_a_noise_that_others_are_compared_with_by_quadrature(q: int, eps: float) -> None:
    def integrand(r: float) -> float:
        density = eps / 2 * math.exp(-eps * abs(r - q))
        return density * laplace(r, eps / 2) * laplace(r - 1, eps / 3) * (1 - laplace(r - 2, 2 * eps))

    kinks = sorted({-60.0, 0.0, 1.0, 2.0, float(q), 60.0})
    total = sum(quadrature(integrand, low, high, 8_000) for low, high in pairwise(kinks))
    held(COMPARED, {"q": q, "o": 1}, str(Fraction(eps)), total)


# --- Gaussian messages --------------------------------------------------------------------------------

CHAIN = """
program chain; input q : real; output o : {0, 1} = 0; var a, b, c, d : real;
a <- Gauss(1/eps, q); b <- Gauss(2/eps, 0); c <- Gauss(1/eps, 1); d <- Gauss(3/eps, 0);
if a >= b and b >= c and c >= d then o <- 1 end
"""


def normal(x: float) -> float:
    """The probability that a standard normal value is <= x."""
    return math.erfc(-x / math.sqrt(2)) / 2


@pytest.mark.parametrize(("q", "eps"), [(0, 1.0), (2, 0.5)])
def test_a_chain_of_normal_noises_by_quadrature(q: int, eps: float) -> None:
    def density(x: float, deviation: float) -> float:
        return math.exp(-((x / deviation) ** 2) / 2) / (deviation * math.sqrt(2 * math.pi))

    # By the trapezoid rule from the last to the first: Pr[x >= c >= d], then over b.
    h, far = 0.004 / eps, 24 / eps
    points = [-far + n * h for n in range(int(2 * far / h) + 1)]
    below, before, total = 0.0, 0.0, 0.0
    for x in points:
        here = density(x - 1, 1 / eps) * normal(x * eps / 3)
        below += h * (here + before) / 2
        before = here
        total += h * density(x, 2 / eps) * normal((q - x) * eps) * below
    held(CHAIN, {"q": q, "o": 1}, str(Fraction(eps)), total)


def test_a_chain_of_normal_noises_by_draws() -> None:
    chance = random.Random(1)
    count, draws = 0, 200_000
    for _ in range(draws):
        a, b, c, d = (chance.gauss(mean, deviation) for mean, deviation in ((2, 1), (0, 2), (1, 1), (0, 3)))
        count += a >= b >= c >= d
    text = samples.checked(
        CHAIN,
        [{"q": 2, "o": 1}],
        beta=f"1 - {Fraction(count, draws) - Fraction(1, 200)}",
        eps="[1, 1]",
        alpha="0",
        gamma="0",
    )
    assert check_text(text).verdict == "accurate"


# --- what is claimed, of which outputs, and ties ------------------------------------------------------

WHOLE = """
program whole; input q : int; output o : {0, 1} = 0; var x : int;
ideal { if q >= 0 then o <- 1 end }
x <- DLap(eps, q); if x >= 0 then o <- 1 end
"""
#: The answer is o and y; dd is about o alone.
BOTH = """
program both; input q : int; output o : {0, 1} = 0; output y : int; var x : int;
ideal { if q >= 0 then o <- 1 end; y <- q }
x <- DLap(eps, q); y <- x; if x >= 0 then o <- 1 end
"""


def nearest_other(q: int) -> int:
    """The distance from q to the nearest input with the other value of `q >= 0`, by looking at all of them."""
    return min(abs(q - other) for other in range(-60, 61) if (other >= 0) is not (q >= 0))


@pytest.mark.parametrize("q", range(-4, 5))
@pytest.mark.parametrize("alpha", ["0", "1", "2", "3"])
def test_nothing_is_claimed_at_a_distance_that_alpha_reaches(q: int, alpha: str) -> None:
    """The claim with a number alpha > 0 is about dd > alpha; with 0, and with alpha = dd, it is about every input."""
    for stated, vacuous in ((alpha, alpha != "0" and nearest_other(q) <= int(alpha)), ("dd", False)):
        text = samples.checked(WHOLE, [{"q": q, "o": int(q >= 0)}], alpha=stated, gamma="0", beta="3/4")
        (row,) = json.loads(text)["rows"]
        assert bool(row.get("vacuous")) is vacuous
        assert row["dd"] == str(nearest_other(q))
        assert check_text(text).counts["vacuous"] == vacuous


@pytest.mark.parametrize("q", [-3, -1, 0, 2])
def test_distances_are_about_the_finite_outputs(q: int) -> None:
    text = samples.checked(BOTH, [{"q": q, "o": int(q >= 0), "y": q}], alpha="dd", gamma="1", beta="9/10")
    (row,) = json.loads(text)["rows"]
    assert row["dd"] == str(nearest_other(q))
    assert check_text(text).complete


@pytest.mark.parametrize(("sign", "ties"), [(">=", True), (">", False)])
def test_ties_of_integers_have_a_probability(sign: str, ties: bool) -> None:
    source = f"""program tie; input q : int; output o : {{0, 1}} = 0; var r, s : int;
    r <- DLap(eps, q); s <- DLap(eps/2, 0); if r {sign} s then o <- 1 end"""
    everything = range(-90, 91)
    total = sum(mass(r, 1) * mass(s, 0.5) for r, s in product(everything, everything) if r > s or (ties and r == s))
    held(source, {"q": 0, "o": 1}, "1", total)


@pytest.mark.parametrize("sign", [">=", ">"])
def test_ties_of_continuous_noises_have_none(sign: str) -> None:
    source = f"""program tie; input q : real; output o : {{0, 1}} = 0; var r, s : real;
    r <- Lap(eps, q); s <- Lap(eps/2, 0); if r {sign} s then o <- 1 end"""
    held(source, {"q": 0, "o": 1}, "1", 1 / 2)
