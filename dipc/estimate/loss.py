"""The loss of an output at a pair, estimated by running the program at both inputs with the same noises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf, log, sqrt
from typing import TYPE_CHECKING

from dipc.algebra.rationals import exact_rational
from dipc.estimate.loss_intervals import clt, hoeffding, multidimensional_clt
from dipc.exits.program import Program
from dipc.lang.core import Value
from dipc.tables.assignment import input_cells, output_cells
from dipc.tables.cells import CellPool

if TYPE_CHECKING:
    from dipc.simulation.runs import JointHits

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


def estimate_loss(
    program: Program,
    input: Mapping[str, object],  # noqa: A002 - the word of the language
    adjacent: Mapping[str, object],
    output: Mapping[str, object],
    eps: Fraction | int | str,
    runs: int = RUNS,
    *,
    gamma: Fraction | int | str = 0,
    seed: int = 0,
    confidence: float = CONFIDENCE,
) -> LossEstimate:
    """Estimate log(p/p') for the probabilities of an output, real parts within gamma, at two inputs.

    Raises DiagnosticError for values that do not fit the program and for what goes wrong in some run, ValueError for
    numbers that make no sense.
    """
    # NumPy is loaded here: exact losses do without.
    from dipc.simulation.runs import joint_hits

    point, radius = exact_rational(eps, "eps"), exact_rational(gamma, "gamma")
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
