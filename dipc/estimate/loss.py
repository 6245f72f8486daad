"""The loss of an output at a pair, estimated by running the program at both inputs with the same noises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf, log, sqrt
from statistics import NormalDist
from typing import TypedDict, Unpack

from dipc.algebra.numbers import exact_rational
from dipc.claims.given import CellPool
from dipc.claims.table import input_cells, output_cells
from dipc.options import takes
from dipc.program.program import Program
from dipc.simulation.runs import JointHits, joint_hits
from dipc.text.core import Value


def hoeffding(first: float, second: float, runs: int, confidence: float) -> tuple[float, float]:
    """From shares of so many independent runs: by Hoeffding's inequality for each share, with half of the error. The
    loss lies in the interval with at least this confidence."""
    width = sqrt(log(4 / (1 - confidence)) / (2 * runs))
    return _between(first, width, second, width)


def clt(first: float, second: float, runs: int, confidence: float) -> tuple[float, float]:
    """The same by the central limit theorem for each share: approximate. Infinite where an event never happened, of
    which it says nothing."""
    if not first or not second:
        return -inf, inf
    z = _deviations((1 - confidence) / 2)
    return _between(first, z * sqrt(first * (1 - first) / runs), second, z * sqrt(second * (1 - second) / runs))


def multidimensional_clt(
    first: float, second: float, correlation: float, runs: int, confidence: float
) -> tuple[float, float]:
    """By the central limit theorem for both shares together, from runs with the same noises at both inputs, to first
    order: approximate, and narrow where the correlation is large. Infinite where an event never happened."""
    if not first or not second:
        return -inf, inf
    odds, others = (1 - first) / first, (1 - second) / second
    variance = (odds + others - 2 * correlation * sqrt(odds * others)) / runs
    width = _deviations(1 - confidence) * sqrt(max(0.0, variance))
    center = log(first / second)
    return center - width, center + width


def _deviations(error: float) -> float:
    """Standard deviations beyond which, on either side, a normal variable lies with this probability."""
    return -NormalDist().inv_cdf(error / 2)


def _between(first: float, width: float, second: float, other: float) -> tuple[float, float]:
    """log(p/p') for p and p' within these widths; infinite where one of them may be 0."""
    low = log((first - width) / (second + other)) if first > width else -inf
    high = log((first + width) / (second - other)) if second > other else inf
    return low, high


# --- the estimate ----------------------------------------------------------------------------------


#: Runs at each input, unless said otherwise.
RUNS = 100_000

#: How sure the intervals are, unless said otherwise.
CONFIDENCE = 0.999


@dataclass(frozen=True, slots=True)
class LossEstimate:
    """What so many pairs of runs say of log(p/p'). `intervals` are by their names; only `hoeffding` is guaranteed to
    have the confidence, the others have it in the limit."""

    hits: JointHits
    confidence: float
    seed: int

    @property
    def value(self) -> float:
        """The logarithm of the ratio of the shares; infinite where one of them is 0, and 0 where both are."""
        if self.hits.first == self.hits.second:
            return 0.0
        if not self.hits.second:
            return inf
        return log(self.hits.first / self.hits.second) if self.hits.first else -inf

    @property
    def correlation(self) -> float:
        """Of the event at one input with that at the other; 0 where one of them always or never happened."""
        runs = self.hits.runs
        p, q = self.hits.first / runs, self.hits.second / runs
        spread = sqrt(p * (1 - p) * q * (1 - q))
        return (self.hits.both / runs - p * q) / spread if spread else 0.0

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """By Hoeffding's inequality, by the central limit theorem for each input, and for both together."""
        runs = self.hits.runs
        shares = self.hits.first / runs, self.hits.second / runs
        return {
            "hoeffding": hoeffding(*shares, runs, self.confidence),
            "clt": clt(*shares, runs, self.confidence),
            "m-clt": multidimensional_clt(*shares, self.correlation, runs, self.confidence),
        }

    def as_json(self) -> dict[str, object]:
        """The JSON object; numbers are floats, as nothing here is exact."""
        return {
            "runs": self.hits.runs,
            "seed": self.seed,
            "confidence": self.confidence,
            "hits": [self.hits.first, self.hits.second],
            "both": self.hits.both,
            "value": str(self.value),
            "intervals": {name: [str(low), str(high)] for name, (low, high) in self.intervals.items()},
        }


class GivenEstimate(TypedDict, total=False):
    """How an estimate is made, as keyword arguments."""

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
    """Estimate log(p/p') for the probabilities of an output, real parts within gamma, at two inputs.

    Raises DiagnosticError for values that do not fit the program and for what goes wrong in some run, ValueError for
    numbers that make no sense.
    """
    seed, confidence = given.get("seed", 0), given.get("confidence", CONFIDENCE)
    point, radius = exact_rational(eps, "eps"), exact_rational(given.get("gamma", 0), "gamma")
    if point <= 0 or radius < 0 or runs < 1 or not 0 < confidence < 1:
        raise ValueError("eps is positive, gamma is not negative, and a confidence lies between 0 and 1")
    core, pool = program.core, CellPool()

    def values(given: Mapping[str, object]) -> dict[str, Value]:
        cells = zip(program.inputs, input_cells(core, given, pool), strict=True)
        return {name: cell.value for name, cell in cells if cell.value is not None}

    outputs = zip(program.outputs, output_cells(core, output, pool), strict=True)
    event = {name: cell.value for name, cell in outputs if cell is not None and cell.value is not None}
    hits = joint_hits(core, (values(input), values(adjacent)), point, runs, event, gamma=radius, seed=seed)
    return LossEstimate(hits, confidence, seed)
