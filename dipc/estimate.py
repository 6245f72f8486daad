"""Estimates of the privacy loss from samples, by published methods.

They prove nothing; reports show them below the exact loss.

>>> from dipc.estimate import hist_plan
>>> hist_plan(1.582, 1, 0.5, 0.8).bins
91

**Histograms**: the black-box estimators of Gorla, Jalouzot, Granese, Palamidessi and Piantanida, On the (Im)Possibility
of Estimating Various Notions of Differential Privacy (2022). They assume densities that are C-Lipschitz on an interval
of width W, with C < 2/W². A plan has enough samples and bins to estimate the loss to within gamma with probability
delta.

**Pairs of runs**: the loss of an output, estimated by running the program at both inputs with the same noises.

**Tolerances** of tests of noisy results, derived from the answers of `dipc solve --for gamma` as Privacy on Beam does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, exp, expm1, floor, inf, log, log1p, sqrt
from statistics import NormalDist
from typing import TypedDict, Unpack

from dipc.algebra.numbers import exact_rational
from dipc.algebra.record import Record
from dipc.claims.given import CellPool
from dipc.claims.table import input_cells, output_cells
from dipc.frozen import frozen
from dipc.options import takes
from dipc.program.program import Program
from dipc.simulation.runs import JointHits, joint_hits
from dipc.text.core import Value


@frozen
class HistogramPlan:
    """The sizes needed by `hist_estimate`: the number of bins, and the number of samples at each of two inputs."""

    bins: int
    samples: int


def hist_plan(C: float, W: float, gamma: float, delta: float, renyi: float | None = None) -> HistogramPlan:
    """Return how many bins and samples `hist_estimate` needs for an error of at most `gamma`.

    The error is at most `gamma` with probability `delta`. The densities of the output must be `C`-Lipschitz on an
    interval of width `W`. By default the plan is for the privacy loss (Gorla et al. 2022, Algorithm 1 and Theorem 2).
    With `renyi`, an order above 1, it is for the Rényi divergence of this order (Algorithm 3 and Theorem 6). Raises
    ValueError if the theorems do not apply.
    """
    if not (W > 0 and gamma > 0 and 0 < delta < 1 and C >= 0):
        raise ValueError("W and gamma must be positive, delta must lie between 0 and 1, and C must be at least 0")
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
    """Return the number of buckets into which to divide an interval of inputs of this `width`.

    The densities of the output are `C`-Lipschitz on an interval of width `W`, and `D`-Lipschitz in the input. `gamma`
    is the wanted accuracy of the privacy loss or, with `renyi`, of the Rényi divergence of this order (Gorla et al.
    2022, Algorithms 2 and 4).
    """
    tau = _least_density(C, W)
    if renyi is None:
        return ceil(3 * D * width / (tau * gamma))
    _check_order(renyi)
    return ceil(3 * _renyi_factor(C, W, renyi) * D * width / (2 * tau * gamma))


def hist_estimate(first: Sequence[int], second: Sequence[int], renyi: float | None = None) -> float | None:
    """Estimate the privacy loss between two inputs, or the Rényi divergence of order `renyi`.

    `first` and `second` have the number of outputs in each bin, at the first and at the second input. The result is
    None if a bin is empty, because these estimators fail then. Raises ValueError for different numbers of bins.
    """
    if len(first) != len(second):
        raise ValueError("both inputs need the same number of bins")
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
    """Test whether densities are `C`-Lipschitz; return (passed, probability that such densities pass).

    `first` and `second` have the number of outputs in each bin at two inputs, and the bins divide an interval of width
    `W`. The test fails if the fractions of outputs in two neighboring bins differ by more than 2·`slack` + C·(width of
    a bin)². The probability is a lower bound (Gorla et al. 2022, Theorem 3).
    """
    width, bins = W / len(first), len(first)
    most = 2 * slack + C * width**2
    holds = all(abs(one - two) / sum(counts) <= most for counts in (first, second) for one, two in pairwise(counts))
    return holds, max(0.0, 1 - 8 * bins * exp(-min(sum(first), sum(second)) * slack**2 / 3))


def _least_density(C: float, W: float) -> float:
    return 1 / W - C * W / 2


def _renyi_factor(C: float, W: float, order: float) -> float:
    least, most = _least_density(C, W), 1 / W + C * W / 2
    above: float = 2 * most**order / least ** (order - 1)
    below: float = least**order / most ** (order - 1)
    return above * (2 * order - 1) / (below * (order - 1))


def _check_order(order: float) -> None:
    if order <= 1:
        raise ValueError("the order of a Rényi divergence must be greater than 1")


def _samples(bins: int, least: float, weight: float, near: float, delta: float) -> int:
    """Return the least number n of samples for which an upper bound of the failure probability is at most 1 - `delta`.

    The bound is 2·`bins`·(1 - `least`)^n + `weight`·f(n), which decreases in n (Gorla et al. 2022). Its first summand
    bounds the probability that one of the `bins` of two histograms is empty, where each bin has at least the
    probability `least`. Its second is a multiple of f(n), a bound of the probability that the count in a nonempty bin
    differs from its expected value by a factor of more than e^`near`.
    """

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


def hoeffding(first: float, second: float, runs: int, confidence: float) -> tuple[float, float]:
    """Return an interval that contains the loss log(p/p') with probability at least `confidence`.

    p and p' are the probabilities of an event at two inputs. `first` and `second` are the fractions of `runs`
    independent runs at each input in which the event happened. Hoeffding's inequality is used for each of them, with
    half of the allowed error.
    """
    width = sqrt(log(4 / (1 - confidence)) / (2 * runs))
    return _log_ratio(first, width, second, width)


def clt(first: float, second: float, runs: int, confidence: float) -> tuple[float, float]:
    """Return an interval that contains the loss log(p/p') with a probability of approximately `confidence`.

    p and p' are the probabilities of an event at two inputs. `first` and `second` are the fractions of `runs` runs at
    each input in which the event happened. The central limit theorem is used for each of them. The interval is infinite
    if a fraction is 0.
    """
    if not first or not second:
        return -inf, inf
    z = _deviations((1 - confidence) / 2)
    return _log_ratio(first, z * sqrt(first * (1 - first) / runs), second, z * sqrt(second * (1 - second) / runs))


def multidimensional_clt(
    first: float, second: float, correlation: float, runs: int, confidence: float
) -> tuple[float, float]:
    """Return an interval that contains the loss log(p/p') with a probability of approximately `confidence`.

    p and p' are the probabilities of an event at two inputs. `first` and `second` are the fractions of `runs` runs at
    each input in which the event happened, where the runs at both inputs use the same noises. The central limit theorem
    is used for both together: the greater the `correlation` of the two events, the narrower the interval. It is
    infinite if a fraction is 0.
    """
    if not first or not second:
        return -inf, inf
    odds, others = (1 - first) / first, (1 - second) / second
    variance = (odds + others - 2 * correlation * sqrt(odds * others)) / runs
    width = _deviations(1 - confidence) * sqrt(max(0.0, variance))
    center = log(first / second)
    return center - width, center + width


def _deviations(error: float) -> float:
    """Return the number z such that a standard normal variable is outside [-z, z] with probability `error`."""
    return -NormalDist().inv_cdf(error / 2)


def _log_ratio(first: float, width: float, second: float, other: float) -> tuple[float, float]:
    """Return the interval of log(p/p') for all p within `width` of `first` and all p' within `other` of `second`.

    An end is infinite if p or p' can be 0.
    """
    low = log((first - width) / (second + other)) if first > width else -inf
    high = log((first + width) / (second - other)) if second > other else inf
    return low, high


# --- the estimate ----------------------------------------------------------------------------------


#: The default number of runs at each input.
RUNS = 100_000

#: The default confidence of the intervals.
CONFIDENCE = 0.999


@frozen
class LossEstimate(Record):
    """An estimate of the loss log(p/p'), where p and p' are the probabilities of an event at two inputs.

    `hits` counts the runs in which the event happened; the runs at both inputs use the same noises, which are drawn
    with the random `seed`. The property `intervals` has three confidence intervals. The one named `hoeffding` contains
    the loss with probability `confidence`; the others do so in the limit of many runs.
    """

    FIELDS = "runs=hits.runs seed confidence hits=counts both=hits.both value:text intervals:text"

    hits: JointHits
    confidence: float
    seed: int

    @property
    def counts(self) -> tuple[int, int]:
        """The number of runs in which the event happened, at the first input and at the second."""
        return self.hits.first, self.hits.second

    @property
    def value(self) -> float:
        """The estimated loss: the logarithm of the ratio of the two counts of the event.

        It is infinite if only one count is 0, and 0 if both are.
        """
        if self.hits.first == self.hits.second:
            return 0.0
        if not self.hits.second:
            return inf
        return log(self.hits.first / self.hits.second) if self.hits.first else -inf

    @property
    def correlation(self) -> float:
        """The correlation of the event at the first input and at the second, as observed.

        It is 0 if the event always or never happened at one of the inputs.
        """
        runs = self.hits.runs
        p, q = self.hits.first / runs, self.hits.second / runs
        spread = sqrt(p * (1 - p) * q * (1 - q))
        return (self.hits.both / runs - p * q) / spread if spread else 0.0

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """The confidence intervals of the loss by the name of the method: `hoeffding`, `clt` and `m-clt`.

        The methods `hoeffding` and `clt` bound the probability at each input by itself, and `m-clt` both together.
        """
        runs = self.hits.runs
        shares = self.hits.first / runs, self.hits.second / runs
        return {
            "hoeffding": hoeffding(*shares, runs, self.confidence),
            "clt": clt(*shares, runs, self.confidence),
            "m-clt": multidimensional_clt(*shares, self.correlation, runs, self.confidence),
        }


class GivenEstimate(TypedDict, total=False):
    """The keyword arguments of `estimate_loss`."""

    gamma: Fraction | int | str
    seed: int
    confidence: float


@takes(GivenEstimate, {"gamma": 0, "seed": 0, "confidence": CONFIDENCE})
def estimate_loss(
    program: Program,
    input: Mapping[str, object],  # noqa: A002 - the word of the language
    adjacent: Mapping[str, object],
    output: Mapping[str, object],
    eps: Fraction | int | str,
    runs: int = RUNS,
    **given: Unpack[GivenEstimate],
) -> LossEstimate:
    """Estimate log(p/p'), where p is the probability of `output` at `input`, and p' its probability at `adjacent`.

    `program` is run `runs` times at each input, for this `eps`, with the same noises at both. The options `given` are
    `gamma`, `seed` and `confidence`: a real output may differ from that in `output` by at most `gamma`. Raises
    DiagnosticError for values that do not fit the program and for a run that fails, ValueError for numbers out of
    range.
    """
    seed, confidence = given.get("seed", 0), given.get("confidence", CONFIDENCE)
    point, radius = exact_rational(eps, "eps"), exact_rational(given.get("gamma", 0), "gamma")
    if point <= 0 or radius < 0 or runs < 1 or not 0 < confidence < 1:
        raise ValueError("eps must be positive, gamma must be at least 0, and a confidence must lie between 0 and 1")
    core, pool = program.core, CellPool()

    def values(given: Mapping[str, object]) -> dict[str, Value]:
        cells = zip(program.inputs, input_cells(core, given, pool), strict=True)
        return {name: cell.value for name, cell in cells if cell.value is not None}

    outputs = zip(program.outputs, output_cells(core, output, pool), strict=True)
    event = {name: cell.value for name, cell in outputs if cell is not None and cell.value is not None}
    hits = joint_hits(core, (values(input), values(adjacent)), point, runs, event, gamma=radius, seed=seed)
    return LossEstimate(hits, confidence, seed)


def integer_tolerance(tolerance: Fraction) -> int:
    """Return the tolerance of a noisy number after it is rounded to the nearest integer.

    The result is the least k with |round(y) - n| <= k for all integers n and all y with |y - n| <= `tolerance`.
    """
    return floor(tolerance + Fraction(1, 2))


def partition_level(flakiness: Fraction, partitions: int) -> Fraction:
    """Return the failure probability that each of `partitions` tests may have.

    The probability that any test fails is then at most `flakiness`: by the union bound the result is `flakiness` /
    `partitions`.
    """
    if partitions < 1:
        raise ValueError("give at least one partition")
    return flakiness / partitions


def mean_tolerance(total: Fraction, count: Fraction, sum_tolerance: Fraction, count_tolerance: Fraction) -> Fraction:
    """Return how far (noisy sum)/(noisy count) can be from `total`/`count`.

    The noisy sum is within `sum_tolerance` of `total`, and the noisy count within `count_tolerance` of `count`. Raises
    ValueError if the noisy count can be 0.
    """
    if count - count_tolerance <= 0:
        raise ValueError(
            "the noisy count may be 0 within its tolerance, so the mean has no tolerance: use a larger epsilon"
        )
    exact = total / count
    ends = [(total + move * sum_tolerance) / (count + other * count_tolerance) for move in (1, -1) for other in (1, -1)]
    return max(abs(end - exact) for end in ends)


__all__ = [
    "HistogramPlan",
    "LossEstimate",
    "clt",
    "estimate_loss",
    "hist_estimate",
    "hist_plan",
    "hoeffding",
    "input_buckets",
    "integer_tolerance",
    "is_plausibly_lipschitz",
    "mean_tolerance",
    "multidimensional_clt",
    "partition_level",
]
