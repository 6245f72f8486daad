"""Failure probabilities of the mechanisms of benchmarks/literature, by formulas of their own.

They are in floating point, at one input and one eps, without dipc. z = gamma·eps.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from math import exp

import numpy as np

Cells = Mapping[str, str]


def array(row: Cells, name: str) -> list[int]:
    """The whole values of an array of a row."""
    return [int(row[f"{name}[{i}]"]) for i in range(1, 20) if f"{name}[{i}]" in row]


# --- selection -------------------------------------------------------------------------------------


def exponential_mechanism(row: Cells, eps: float, gamma: float) -> float:
    count = array(row, "count")
    losses = [max(count) - c for c in count]
    weights = [exp(-eps * loss / 2) for loss in losses]
    return sum(w for w, loss in zip(weights, losses, strict=True) if loss > gamma) / sum(weights)


def small_db(row: Cells, eps: float, gamma: float) -> float:
    x = array(row, "x")
    queries = [(1, 0, 0), (1, 1, 0), (0, 0.5, 1)]
    exact = [sum(f[t] * x[t] for t in range(3)) / 4 for f in queries]
    small = [(i, j) for i in range(3) for j in range(i, 3)]
    errors = [max(abs((f[i] + f[j]) / 2 - e) for f, e in zip(queries, exact, strict=True)) for i, j in small]
    losses = [error - min(errors) for error in errors]
    weights = [exp(-4 * eps * loss / 2) for loss in losses]
    return sum(w for w, loss in zip(weights, losses, strict=True) if loss > gamma) / sum(weights)


def noisy_max_exponential(row: Cells, eps: float, _gamma: float) -> float:
    """The density of the winner's value times the chance that every other is below it, the product multiplied out."""
    q = array(row, "q")
    best = q.index(max(q))
    others = [q[best] - value for i, value in enumerate(q) if i != best]
    wins = 0.0
    for size in range(len(others) + 1):
        for gaps in itertools.combinations(others, size):
            wins += (-1) ** size * exp(-eps / 2 * sum(gaps)) / (size + 1)
    return 1 - wins


def permute_and_flip(row: Cells, eps: float, _gamma: float) -> float:
    """All orders, each candidate accepted or passed over; the last one left cannot be passed over."""
    q = array(row, "q")
    best = q.index(max(q))
    wins = 0.0
    for order in itertools.permutations(range(len(q))):
        passed = 1.0
        for i in order:
            accept = exp(-eps * (max(q) - q[i]) / 2)
            if i == best:
                wins += passed * accept / math.factorial(len(q))
            passed *= 1 - accept
    return 1 - wins


# --- discrete noise --------------------------------------------------------------------------------


def geometric(rate: float) -> tuple[Callable[[int], float], Callable[[int], float]]:
    """Pr[N = k] and Pr[N > k] of discrete Laplace noise; tails without cancellation."""
    r = exp(-rate)

    def mass(k: int) -> float:
        return (1 - r) / (1 + r) * r ** abs(k)

    def above(k: int) -> float:
        return r ** (k + 1) / (1 + r) if k >= 0 else 1 - r**-k / (1 + r)

    return mass, above


def span(rate: float) -> range:
    """The integers that carry all but e^-40 of the noise."""
    size = math.ceil(40 / rate)
    return range(-size, size + 1)


def noisy_max_discrete(row: Cells, eps: float, _gamma: float) -> float:
    """1 - Π(1 - p) over the others for each value of the winner, without cancellation."""
    q = array(row, "q")
    best = q.index(max(q))
    mass, above = geometric(eps / 2)
    fails = 0.0
    for k in span(eps / 2):
        others = [above(q[best] + k - value - (i < best)) for i, value in enumerate(q) if i != best]
        fails += mass(k) * none_of(others)
    return fails


def above_threshold_discrete(row: Cells, eps: float, _gamma: float) -> float:
    """The noise of the threshold first; then each value goes wrong independently."""
    q, wanted = array(row, "q"), [row[f"out[{i}]"] for i in (1, 2)]
    threshold, _ = geometric(eps / 2)
    _, above = geometric(eps / 4)
    fails = 0.0
    for t in span(eps / 2):
        wrong = []
        for value, answer in zip(q, wanted, strict=True):
            # bot goes wrong with noise >= t - value; top with noise < t - value: by symmetry, noise > value - t.
            if answer != "none":
                wrong.append(above(t - value - 1) if answer == "bot" else above(value - t))
        fails += threshold(t) * none_of(wrong)
    return fails


def none_of(chances: Sequence[float]) -> float:
    """1 - Π(1 - p), as Σ p_i·Π_{j<i}(1 - p_j)."""
    total, rest = 0.0, 1.0
    for chance in chances:
        total += rest * chance
        rest *= 1 - chance
    return total


# --- answers, sums, covers -------------------------------------------------------------------------


def randomized_response(_row: Cells, eps: float, _gamma: float) -> float:
    return none_of([1 / (1 + exp(eps))] * 3)


def k_ary_randomized_response(_row: Cells, eps: float, _gamma: float) -> float:
    return 3 / (exp(eps) + 3)


def smart_sum(_row: Cells, eps: float, gamma: float) -> float:
    """N1, N2, N2 + N3 and N2 + N4 within gamma: the integral over N2, by hand."""
    z = gamma * eps
    return (9 / 4 + z) * exp(-z) - (19 / 12 + z) * exp(-2 * z) + exp(-3 * z) / 3 + exp(-5 * z) / 12 - exp(-6 * z) / 12


def partial_sums(row: Cells, eps: float, gamma: float) -> float:
    """The probability that the partial sums leave [-z, z].

    If `out[1]` is free only the last sum counts, with density (3 + 3|x| + x²)e^(-|x|)/16. Otherwise the sums leave in
    the first, the second or the third step; the last two by quadrature.
    """
    z = gamma * eps
    if row["out[1]"] == "":
        return (1 + 5 * z / 8 + z * z / 8) * exp(-z)
    return exp(-z) + _leaves_later(z)


@functools.cache
def _leaves_later(z: float) -> float:
    def leaves(x: float) -> float:
        """One more noise takes the sum x outside."""
        return (exp(x - z) + exp(-x - z)) / 2

    def second(x: float) -> float:
        inside = quadrature(lambda y: exp(-abs(y - x)) / 2 * leaves(y), (-z, x, z))
        return exp(-abs(x)) / 2 * (leaves(x) + inside)

    return quadrature(second, (-z, 0.0, z))


def quadrature(f: Callable[[float], float], ends: Sequence[float]) -> float:
    """Gauss-Legendre on each piece between `ends`, where `f` is analytic."""
    nodes, weights = np.polynomial.legendre.leggauss(24)
    total = 0.0
    for low, high in itertools.pairwise(ends):
        middle, half = (low + high) / 2, (high - low) / 2
        total += half * sum(w * f(middle + half * x) for x, w in zip(nodes.tolist(), weights.tolist(), strict=True))
    return total


def vertex_cover(row: Cells, eps: float, _gamma: float) -> float:
    """E[size]/4: all orders, the next vertex with probability proportional to degree + weight."""
    pairs = list(itertools.combinations(range(4), 2))
    joined = {pair for i, pair in enumerate(pairs, 1) if row[f"edge[{i}]"] == "true"}
    joined |= {(v, u) for u, v in joined}

    @functools.cache
    def size(left: frozenset[int], step: int) -> float:
        if not left:
            return 0
        weight = 4 / eps * (1 + 4 / (4 - step + 1)) / 2
        degrees = {u: sum((u, v) in joined for v in left) for u in left}
        whole = sum(degrees.values()) + weight * len(left)
        return sum(
            (degree + weight) / whole * ((degree > 0) + size(left - {u}, step + 1)) for u, degree in degrees.items()
        )

    return size(frozenset(range(4)), 1) / 4


#: By program.
FAILURES: Mapping[str, Callable[[Cells, float, float], float]] = {
    "exponential_mechanism": exponential_mechanism,
    "rejection_sampling": exponential_mechanism,
    "small_db": small_db,
    "randomized_response": randomized_response,
    "k_ary_randomized_response": k_ary_randomized_response,
    "vertex_cover": vertex_cover,
    "smart_sum": smart_sum,
    "partial_sums": partial_sums,
    "noisy_max_exponential": noisy_max_exponential,
    "permute_and_flip": permute_and_flip,
    "noisy_max_discrete": noisy_max_discrete,
    "above_threshold_discrete": above_threshold_discrete,
}
