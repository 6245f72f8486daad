"""The black-box histogram estimators of Gorla, Jalouzot, Granese, Palamidessi and Piantanida, On the (Im)Possibility of
Estimating Various Notions of Differential Privacy (2022): for densities on an interval of width W that are C-Lipschitz,
C < 2/W², how many samples and bins are enough for the loss to within gamma, with probability delta."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, exp, expm1, log, log1p


@dataclass(frozen=True, slots=True)
class HistogramPlan:
    """So many bins, and so many samples at each of two inputs."""

    bins: int
    samples: int


def hist_plan(C: float, W: float, gamma: float, delta: float, renyi: float | None = None) -> HistogramPlan:
    """The plan of their Algorithm 1, or, for the Rényi divergence of an order above 1, of Algorithm 3 (Theorems 2 and
    6). Raises ValueError where the theorems say nothing."""
    if not (W > 0 and gamma > 0 and 0 < delta < 1 and C >= 0):
        raise ValueError("W and gamma are positive, delta lies between 0 and 1, and C is not negative")
    if C * W**2 >= 2:
        raise ValueError(f"C must be less than 2/W^2 = {2 / W**2:g}: for steeper densities nothing is guaranteed")
    tau = _least_density(C, W)
    if renyi is None:
        bins = max(1, ceil(6 * C * W / (tau * gamma)))
        return HistogramPlan(bins, _samples(bins, W / bins * tau, 4, gamma / 12, delta))
    _check_order(renyi)
    factor = _renyi_factor(C, W, renyi)
    near = min(gamma / (2 * factor), log(2) / (2 * renyi - 1))
    bins = max(1, ceil(C * W * factor / (tau * gamma)))
    return HistogramPlan(bins, _samples(bins, W / bins * tau, 2 * bins, near, delta))


def input_buckets(C: float, W: float, gamma: float, D: float, width: float, renyi: float | None = None) -> int:
    """Into how many buckets an interval of inputs of this width is divided, if densities are D-Lipschitz in the input:
    Algorithms 2 and 4."""
    tau = _least_density(C, W)
    if renyi is None:
        return ceil(3 * D * width / (tau * gamma))
    _check_order(renyi)
    return ceil(3 * _renyi_factor(C, W, renyi) * D * width / (2 * tau * gamma))


def hist_estimate(first: Sequence[int], second: Sequence[int], renyi: float | None = None) -> float | None:
    """The loss, or the Rényi divergence, from the counts in the bins at two inputs; None where a bin is empty: then
    these estimators fail."""
    if len(first) != len(second):
        raise ValueError("there are as many bins at one input as at the other")
    if not all(first) or not all(second):
        return None
    if renyi is None:
        return max(log(n / m) for n, m in zip(first, second, strict=True))
    _check_order(renyi)
    runs = sum(second)
    moment: float = sum((n / m) ** renyi * m / runs for n, m in zip(first, second, strict=True))
    return log(moment) / (renyi - 1)


def is_plausibly_lipschitz(
    first: Sequence[int], second: Sequence[int], C: float, W: float, slack: float
) -> tuple[bool, float]:
    """Whether neighboring bins differ by no more than C-Lipschitz densities let them, up to a slack, and a probability
    with which that is so at least if they are C-Lipschitz (Theorem 3)."""
    width, bins = W / len(first), len(first)
    most = 2 * slack + C * width**2
    holds = all(abs(one - two) / sum(counts) <= most for counts in (first, second) for one, two in pairwise(counts))
    return holds, max(0.0, 1 - 8 * bins * exp(-min(sum(first), sum(second)) * slack**2 / 3))


def _least_density(C: float, W: float) -> float:
    """What a C-Lipschitz density on an interval of width W is at least."""
    return 1 / W - C * W / 2


def _renyi_factor(C: float, W: float, order: float) -> float:
    least, most = _least_density(C, W), 1 / W + C * W / 2
    above: float = 2 * most**order / least ** (order - 1)
    below: float = least**order / most ** (order - 1)
    return above * (2 * order - 1) / (below * (order - 1))


def _check_order(order: float) -> None:
    if order <= 1:
        raise ValueError("the order of a Rényi divergence is above 1")


def _samples(bins: int, least: float, weight: float, near: float, delta: float) -> int:
    """The least n with 2·bins·(1 - least)^n + weight·f(n, least, near) <= 1 - delta; the left side decreases."""

    def error(n: int) -> float:
        far = exp(-n * least * expm1(near) ** 2 / (1 + exp(near))) + exp(-n * least * expm1(-near) ** 2 / 2)
        missed = exp(n * log1p(-least)) if least < 1 else 0.0
        return 2 * bins * missed + weight * far / (1 - missed)

    high = 1
    while error(high) > 1 - delta:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if error(middle) > 1 - delta else (low, middle)
    return high
