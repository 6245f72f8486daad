"""A lower bound of the privacy loss of a real implementation, from outputs that were observed at two inputs.

For a set S of outputs the loss is at least log(Pr[S at one input]/Pr[S at the other]). Both probabilities lie within
Clopper-Pearson bounds around the shares observed, so that their quotient is a bound, too. Which set is looked at must
not depend on what was observed: it is the one for which the exact law of the program promises the greatest bound, of
those with all outputs whose ratio is above some number. A search for a set, as without a law, has to pay for all that
it tries.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from dipc.algebra.numbers import exact_confidence, exact_eps, log_enclosure
from dipc.claims.given import CellPool, show_value
from dipc.claims.table import input_cells
from dipc.frozen import frozen
from dipc.measure.measure import Probability
from dipc.program.program import Program
from dipc.simulation.compare import lower_end, upper_end
from dipc.simulation.conform import Observed, given_observed, is_path, read_observed, tallied
from dipc.text.core import IntType, RealType, Value
from dipc.text.diagnostic import Diagnostic, DiagnosticError

#: How sure the bound is unless it is said.
CONFIDENCE = Fraction(99, 100)

#: Sets that are compared in advance, for each order of the two inputs.
_MOST_SETS = 100

_DIGITS = 20

Texts = Mapping[str, str]

#: Values of all outputs as text.
_Answer = tuple[str, ...]


@frozen
class Tested:
    """A set of outputs, how often it was observed at the `first` of the inputs (0 or 1) and at the other one, of so
    many runs, and what its probabilities are at least and at most there."""

    first: int
    outputs: tuple[Texts, ...]
    counts: tuple[int, int]
    runs: tuple[int, int]
    least: float
    most: float

    @property
    def lower(self) -> Fraction:
        """The loss is at least this, if both bounds hold."""
        if self.least <= self.most:
            return Fraction(0)
        ratio = Fraction(self.least) / Fraction(self.most)
        return log_enclosure(ratio, ratio, _DIGITS)[0]


@dataclass(frozen=True)
class Audit:
    """What was observed at the two `inputs` says that the loss there is at least `lower`, which is so with probability
    `confidence` if the runs were independent. `exact` encloses that of the program, None for infinity, and `claimed` is
    it as a closed form."""

    program: str
    inputs: tuple[Texts, Texts]
    eps: Fraction
    confidence: Fraction
    tests: tuple[Tested, Tested]
    exact: tuple[Fraction, Fraction] | None
    claimed: str

    @property
    def worst(self) -> Tested:
        """The test that says more."""
        return max(self.tests, key=lambda each: each.lower)

    @property
    def lower(self) -> Fraction:
        """The greater bound."""
        return self.worst.lower

    @property
    def exceeds(self) -> bool:
        """Whether more is lost than by the program."""
        return self.exact is not None and self.lower > self.exact[1]

    def __bool__(self) -> bool:
        raise TypeError("an audit is neither true nor false: look at what it `exceeds`")


def audit(
    program: Program,
    samples: Sequence[tuple[Mapping[str, object], Iterable[object] | str | os.PathLike[str]]],
    eps: Fraction | int | str,
    *,
    confidence: Fraction | str = CONFIDENCE,
) -> Audit:
    """A certified lower bound of the loss of an implementation of `program` between two inputs, each with the outputs
    that were observed there, or a CSV file of them.

    Raises DiagnosticError for what does not fit the program and for outputs that are not finite, ValueError for numbers
    that make no sense, Undecided where an exact probability is not known.
    """
    point, level = exact_eps(eps), exact_confidence(confidence)
    if len(samples) != 2:
        raise ValueError(f"an audit compares two inputs, not {len(samples)}")
    core, pool = program.core, CellPool()
    values, observed = [], []
    for given, observations in samples:
        cells = input_cells(core, given, pool)
        values.append({n: cell.value for n, cell in zip(program.inputs, cells, strict=True) if cell.value is not None})
        if is_path(observations):
            assert isinstance(observations, str | os.PathLike)
            observed.append(read_observed(Path(observations), core, counted=False))
        else:
            assert isinstance(observations, Iterable)
            observed.append(given_observed(observations, core, counted=False))
    return judge_loss(program, (values[0], values[1]), point, (observed[0], observed[1]), level)


def judge_loss(
    program: Program,
    values: tuple[Mapping[str, Value], Mapping[str, Value]],
    eps: Fraction,
    observed: tuple[Observed, Observed],
    confidence: Fraction,
) -> Audit:
    """What `audit` gives, from what it was given."""
    core = program.core
    core.require_meaning(eps)
    slots = [core.slots[slot] for slot in core.outputs]
    endless = [slot.name for slot in slots if isinstance(slot.type, IntType | RealType)]
    if endless:
        note = "audit what is made of it, such as whether it is above a number"
        raise DiagnosticError(Diagnostic("E0801", f"`{endless[0]}` has infinitely many values", notes=(note,)))
    if values[0] == values[1]:
        note = "a loss is between two inputs: give another one"
        raise DiagnosticError(Diagnostic("E0801", "both inputs are the same", notes=(note,)))
    laws = tuple(_law(program, each) for each in values)
    exact, claimed = _exact(laws[0], laws[1], eps)
    every = range(len(program.outputs))
    tallies = [{tuple(map(show_value, key)): n for key, n in tallied(each.rows, every).items()} for each in observed]
    runs = [each.total for each in observed]
    error = float((1 - confidence) / 4)
    tests = []
    for first, other in ((0, 1), (1, 0)):
        chosen = _promising(laws[first], laws[other], eps, (runs[first], runs[other]), error)
        here, there = (sum(tallies[at].get(each, 0) for each in chosen) for at in (first, other))
        least, most = lower_end(here, runs[first], error), upper_end(there, runs[other], error)
        said = tuple(dict(zip(program.outputs, each, strict=True)) for each in chosen)
        tests.append(Tested(first, said, (here, there), (runs[first], runs[other]), least, most))
    shown = [{name: show_value(value) for name, value in each.items()} for each in values]
    return Audit(program.name, (shown[0], shown[1]), eps, confidence, (tests[0], tests[1]), exact, claimed)


def _law(program: Program, values: Mapping[str, Value]) -> dict[_Answer, Probability]:
    return {
        tuple(one.output[name] or "" for name in program.outputs): one.probability for one in program.outcomes(values)
    }


def _exact(
    one: Mapping[_Answer, Probability], two: Mapping[_Answer, Probability], eps: Fraction
) -> tuple[tuple[Fraction, Fraction] | None, str]:
    """The largest loss of either order, and in closed form."""
    ratios: list[tuple[Fraction, Fraction, str]] = []
    for ours, theirs in ((one, two), (two, one)):
        for answer, probability in ours.items():
            low, high = probability.at(eps, 2 * _DIGITS)
            if not high:
                continue
            if answer not in theirs or not theirs[answer].at(eps, 2 * _DIGITS)[1]:
                return None, "inf"
            under, over = theirs[answer].at(eps, 2 * _DIGITS)
            ratios.append((low / over, high / under, f"log(({probability})/({theirs[answer]}))"))
    least, most = max(each[0] for each in ratios), max(each[1] for each in ratios)
    ends = log_enclosure(max(least, Fraction(1)), max(most, Fraction(1)), _DIGITS)
    return ends, max(ratios, key=lambda each: each[0])[2]


def _promising(
    ours: Mapping[_Answer, Probability],
    theirs: Mapping[_Answer, Probability],
    eps: Fraction,
    runs: tuple[int, int],
    error: float,
) -> list[_Answer]:
    """The set of outputs of which the greatest bound is to be expected: those with a ratio above some number."""

    def at(law: Mapping[_Answer, Probability], answer: _Answer) -> float:
        return float(law[answer].at(eps)[0]) if answer in law else 0.0

    rated = []
    for answer in ours:
        p, q = at(ours, answer), at(theirs, answer)
        rated.append((p / q if q else float("inf"), answer, p, q))
    rated.sort(key=lambda each: each[0], reverse=True)
    best: tuple[float, int] = (-1.0, 1)
    total_p = total_q = 0.0
    step = max(1, len(rated) // _MOST_SETS)
    for count, (_, _, p, q) in enumerate(rated, start=1):
        total_p, total_q = total_p + p, total_q + q
        if count % step and count > 1:
            continue
        least = lower_end(round(min(1.0, total_p) * runs[0]), runs[0], error)
        promised = least / upper_end(round(min(1.0, total_q) * runs[1]), runs[1], error)
        if promised > best[0]:
            best = promised, count
    return [answer for _, answer, _, _ in rated[: best[1]]]
