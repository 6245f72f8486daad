"""Lower bounds of the privacy loss of a real implementation, from outputs observed at two inputs.

For a set S of outputs the loss is at least log(Pr[S at one input]/Pr[S at the other]). Clopper-Pearson intervals around
the observed shares contain both probabilities, and so bound their quotient. The choice of S must not depend on the
observed outputs. The code compares sets of outputs whose ratio of exact probabilities exceeds a number, and chooses the
set for which the exact law of the program predicts the greatest bound. Without a law, one would have to search for a
set and correct the bound for every set tried.

For real outputs, the compared sets are the worst sets for several budgets. The exact law gives these sets and their
probabilities.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from sys import float_info

from dipc.algebra.exppoly import ClosedForm
from dipc.algebra.limits import OutsideFragment
from dipc.algebra.numbers import exact_confidence, exact_eps, log_enclosure
from dipc.algebra.record import Record
from dipc.claims.given import CellPool
from dipc.claims.table import input_cells
from dipc.decide.engine import Engine
from dipc.frozen import frozen
from dipc.program.program import Program, ProgramGiven, as_program
from dipc.questions.privacy.adjacency import Pairs
from dipc.questions.privacy.densities import RealOutputs
from dipc.questions.privacy.laws import Subject
from dipc.questions.privacy.loss import IMPOSSIBLE, integer_table
from dipc.simulation.compare import lower_end, upper_end
from dipc.simulation.conform import Observed, given_observed, is_path, read_observed
from dipc.text.ast import BaseType
from dipc.text.core import Value, show_value
from dipc.text.diagnostic import bad_input

#: The default confidence of the bound.
CONFIDENCE = Fraction(99, 100)

#: The number of sets compared for each order of the two inputs, the number of budgets for real outputs, and the
#: greatest budget if their loss is infinite.
_MOST_SETS, _BUDGETS, _MOST_LOSS = 100, 20, Fraction(8)

_DIGITS = 20

Texts = Mapping[str, str]

#: The values of all outputs as text.
_Answer = tuple[str, ...]


@frozen
class SetTest:
    """A test of a set of outputs at two inputs: what was observed, and bounds of the set's probabilities.

    `outputs` describes the set. `counts` says how often the set was observed in how many `runs`. In both pairs the
    first number is for the input with index `first` (0 or 1), the second for the other input. The probability of the
    set is at least `least` at the first of these inputs, and at most `most` at the other.
    """

    first: int
    outputs: tuple[Texts, ...]
    counts: tuple[int, int]
    runs: tuple[int, int]
    least: float
    most: float

    @property
    def lower(self) -> Fraction:
        """A lower bound of the privacy loss: log(`least`/`most`), or 0 if that is negative."""
        if self.least <= self.most:
            return Fraction(0)
        ratio = Fraction(self.least) / Fraction(self.most)
        return log_enclosure(ratio, ratio, _DIGITS)[0]


@dataclass(frozen=True)
class Audit(Record):
    """A lower bound of the privacy loss of an implementation between two `inputs`.

    The bound holds with probability `confidence` if the observed runs were independent. `tests` has a test for each
    order of the inputs. `exact` encloses the loss of the program itself, or is None if that is infinite; `claimed` is
    the program's loss as a closed form.
    """

    FIELDS = (
        "schema program eps confidence:decimal verdict lower:decimal exact:ends claimed input adjacent "
        "outputs=worst.outputs counts=worst.counts runs=worst.runs"
    )

    schema = "dipc.audit/1"

    program: str
    inputs: tuple[Texts, Texts]
    eps: Fraction
    confidence: Fraction
    tests: tuple[SetTest, SetTest]
    exact: tuple[Fraction, Fraction] | None
    claimed: str

    @property
    def worst(self) -> SetTest:
        """The element of `tests` with the greater lower bound of the loss."""
        return max(self.tests, key=lambda each: each.lower)

    @property
    def lower(self) -> Fraction:
        """The greater of the two lower bounds of the loss that the tests give."""
        return self.worst.lower

    @property
    def input(self) -> Texts:
        """The input at which the outputs of the worst test are more likely."""
        return self.inputs[self.worst.first]

    @property
    def adjacent(self) -> Texts:
        """The input at which the outputs of the worst test are less likely."""
        return self.inputs[1 - self.worst.first]

    @property
    def verdict(self) -> str:
        """The word `exceeds` if the lower bound is greater than the loss of the program, else `within`."""
        return "exceeds" if self.exceeds else "within"

    @property
    def exceeds(self) -> bool:
        """True if the lower bound is greater than the loss of the program."""
        return self.exact is not None and self.lower > self.exact[1]

    def __bool__(self) -> bool:
        raise TypeError("an audit has no truth value: look at its `exceeds`")


def audit(
    program: ProgramGiven,
    samples: Sequence[tuple[Mapping[str, object], Iterable[object] | str | os.PathLike[str]]],
    eps: Fraction | int | str,
    *,
    confidence: Fraction | str = CONFIDENCE,
) -> Audit:
    """Return a lower bound of the privacy loss of an implementation of `program` between two inputs.

    `samples` has a pair for each of the two inputs: the input, and the outputs that the implementation gave at this
    input and at `eps`, as a sequence or as the path of a CSV file. The bound holds with probability `confidence`.

    Raises DiagnosticError for samples that do not fit the program, and for int outputs that are not an input plus one
    discrete Laplace noise. Raises ValueError for numbers out of range, Undecided if an exact probability is not known.
    """
    point, level = exact_eps(eps), exact_confidence(confidence)
    if len(samples) != 2:
        raise ValueError(f"an audit compares two inputs, not {len(samples)}")
    program = as_program(program, eps=eps)
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
    """Return a lower bound of the privacy loss of an implementation of `program` between two inputs.

    `values` has the values of each input by name, and `observed` the outputs that the implementation gave at each input
    and at `eps`. The bound holds with probability `confidence`. Raises Undecided if an exact probability is not known.
    """
    core = program.core
    core.require_meaning(eps)
    if values[0] == values[1]:
        note = "an audit compares two different inputs: change one of them"
        raise bad_input("E0801", "both inputs are the same", note)
    runs = observed[0].total, observed[1].total
    error = float((1 - confidence) / 4)
    laws = _laws_of(program, values, eps)
    exact, claimed = laws.exact()
    tests = []
    for first, other in ((0, 1), (1, 0)):
        sets = laws.sets(first)
        chosen = sets[_promising([(each.here, each.there) for each in sets], (runs[first], runs[other]), error)]
        here, there = (
            sum(count for key, count in observed[index].rows if any(holds(key) for holds in chosen.parts))
            for index in (first, other)
        )
        least, most = lower_end(here, runs[first], error), upper_end(there, runs[other], error)
        tests.append(SetTest(first, chosen.outputs, (here, there), (runs[first], runs[other]), least, most))
    written = [{name: show_value(value) for name, value in each.items()} for each in values]
    return Audit(program.name, (written[0], written[1]), eps, confidence, (tests[0], tests[1]), exact, claimed)


def _laws_of(program: Program, values: Sequence[Mapping[str, Value]], eps: Fraction) -> _RealLaws | _FiniteLaws:
    """Return the exact distributions of the outputs of `program` at `eps`, for the two inputs `values`.

    Raises Undecided if they are not known, and DiagnosticError for int outputs whose tails are not geometric.
    """
    slots = program.core.slots
    if any(slots[slot].type is BaseType.REAL for slot in program.core.outputs):
        return _RealLaws(program, values, eps)
    whole = [slot.name for slot in program.core.output_slots if slot.type is BaseType.INT]
    if not whole:
        return _FiniteLaws(program, values, eps)
    try:
        return _IntLaws(program, values, eps)
    except OutsideFragment as outside:
        notes = (outside.reason, "audit a finite result computed from it, such as whether it is above a threshold")
        raise bad_input("E0801", f"`{whole[0]}` has infinitely many values", *notes) from None


@frozen
class _Set:
    """A set of outputs to test, with its exact probabilities at two inputs.

    `outputs` is the set as strings. Its probability is `here` at the input where it is more likely, and `there` at the
    other input. An observed output is in the set if one of the functions `parts` returns True for it.
    """

    outputs: tuple[Texts, ...]
    here: float
    there: float
    parts: tuple[Callable[[Sequence[Value | None]], bool], ...]


def _promising(rated: Sequence[tuple[float, float]], runs: tuple[int, int], error: float) -> int:
    """Return the index in `rated` of the set whose test is expected to give the greatest lower bound of the loss.

    `rated` has a pair of probabilities for each set: one at each of the two inputs. `runs` has the number of runs at
    each input, and `error` is the probability that one Clopper-Pearson bound fails.
    """

    def promised(each: tuple[float, float]) -> float:
        here, there = (min(1.0, share) for share in each)
        least = lower_end(round(here * runs[0]), runs[0], error)
        return least / upper_end(round(there * runs[1]), runs[1], error)

    return max(range(len(rated)), key=lambda index: promised(rated[index]))


class _FiniteLaws:
    """The exact distributions of finite outputs at two inputs, with the sets of outputs that are worth testing."""

    def __init__(self, program: Program, values: Sequence[Mapping[str, Value]], eps: Fraction) -> None:
        self._names, self._eps = program.outputs, eps
        self._laws = [
            {tuple(one.output[name] or "" for name in self._names): one.probability for one in program.outcomes(each)}
            for each in values
        ]

    def _holds(self, chosen: frozenset[_Answer]) -> Callable[[Sequence[Value | None]], bool]:
        return partial(_is_one_of, chosen)

    def exact(self) -> tuple[tuple[Fraction, Fraction] | None, str]:
        """Return (an enclosure of the program's privacy loss between the two inputs, the loss as a formula).

        The loss is the greater of the losses for the two orders of the inputs. The enclosure is None for an infinite
        loss.
        """
        ratios: list[tuple[Fraction, Fraction, str]] = []
        for ours, theirs in (self._laws, reversed(self._laws)):
            for answer, probability in ours.items():
                low, high = probability.enclosure(self._eps, 2 * _DIGITS)
                if not high:
                    continue
                if answer not in theirs or not theirs[answer].enclosure(self._eps, 2 * _DIGITS)[1]:
                    return None, "inf"
                under, over = theirs[answer].enclosure(self._eps, 2 * _DIGITS)
                ratios.append((low / over, high / under, f"log(({probability})/({theirs[answer]}))"))
        least, most = max(each[0] for each in ratios), max(each[1] for each in ratios)
        ends = log_enclosure(max(least, Fraction(1)), max(most, Fraction(1)), _DIGITS)
        return ends, max(ratios, key=lambda each: each[0])[2]

    def sets(self, first: int) -> list[_Set]:
        """Return sets of outputs to test: for several n, the n outputs with the greatest ratios of probabilities.

        The ratio is the probability at the input with index `first`, divided by the probability at the other input.
        """
        ours, theirs = self._laws[first], self._laws[1 - first]
        shares = {
            answer: tuple(
                [float(law[answer].enclosure(self._eps)[0]) if answer in law else 0.0 for law in (ours, theirs)]
            )
            for answer in ours
        }
        rated = sorted(
            shares, key=lambda answer: shares[answer][0] / (shares[answer][1] or float_info.min), reverse=True
        )
        result = []
        step = max(1, len(rated) // _MOST_SETS)
        for count in (1, *range(step, len(rated) + 1, step)):
            chosen = rated[:count]
            outputs = tuple([dict(zip(self._names, answer, strict=True)) for answer in chosen])
            here, there = (sum(shares[answer][k] for answer in chosen) for k in (0, 1))
            result.append(_Set(outputs, here, there, (self._holds(frozenset(chosen)),)))
        return result


class _IntLaws(_FiniteLaws):
    """The exact distributions of int outputs at two inputs.

    An int output has infinitely many values. So all values from some number upwards count as a single output, and so do
    all values from some number downwards.
    """

    def __init__(self, program: Program, values: Sequence[Mapping[str, Value]], eps: Fraction) -> None:
        self._names, self._eps = program.outputs, eps
        table = integer_table(program, [tuple([each[name] for name in program.inputs]) for each in values])
        answers = [tuple([show_value(value) for value in answer if value is not None]) for answer in table.answers]
        self._laws = [
            {
                answer: ClosedForm(table.closed(number))
                for answer, number in zip(answers, row, strict=True)
                if number != IMPOSSIBLE
            }
            for row in table.rows
        ]
        #: For each output, the names of the answers for all values beyond the numbers with answers of their own.
        self._far: list[list[str]] = [
            [text for text in dict.fromkeys(texts) if " or " in text] for texts in zip(*answers, strict=True)
        ]

    def _holds(self, chosen: frozenset[_Answer]) -> Callable[[Sequence[Value | None]], bool]:
        return lambda values: _is_one_of(chosen, [self._named(place, value) for place, value in enumerate(values)])

    def _named(self, place: int, value: Value | None) -> Value | None:
        if isinstance(value, Fraction):
            for text in self._far[place]:
                end, _, side = text.split()
                if (value >= int(end)) if side == "more" else (value <= int(end)):
                    return text
        return value


def _is_one_of(chosen: frozenset[_Answer], values: Sequence[Value | None]) -> bool:
    return tuple([show_value(value) if value is not None else "" for value in values]) in chosen


class _RealLaws:
    """The exact distributions of outputs, some of them real, at two inputs, with the sets that are worth testing."""

    def __init__(self, program: Program, values: Sequence[Mapping[str, Value]], eps: Fraction) -> None:
        self._names, self._eps = program.outputs, eps
        self._points = [tuple([each[name] for name in program.inputs]) for each in values]
        pairs = Pairs(tuple(self._points), ((0, 1), (1, 0)), "both inputs")
        subject = Subject(program, (program.name, "", pairs.about, 2), Engine(program.measurer, program.limits))
        self._real = RealOutputs(subject, pairs)
        loss = self._real.loss(eps, _DIGITS)
        self._exact, self._claimed = loss.value, loss.text

    def exact(self) -> tuple[tuple[Fraction, Fraction] | None, str]:
        """Return (an enclosure of the program's privacy loss between the two inputs, the loss as a formula).

        The loss is the greater of the losses for the two orders of the inputs. The enclosure is None for an infinite
        loss.
        """
        return self._exact, self._claimed

    def sets(self, first: int) -> list[_Set]:
        """Return sets of outputs to test: a worst set for each of several budgets up to the loss of the program.

        For a budget b, a worst set S maximizes Pr[S] - e^(b·eps)·Pr'[S], where Pr is the probability at the input with
        index `first`, and Pr' at the other input. Raises Undecided if a worst set is not known.
        """
        most = _MOST_LOSS if self._exact is None else self._exact[0]
        one, two = self._points[first], self._points[1 - first]
        result = []
        for k in range(_BUDGETS):
            budget = (most * k / _BUDGETS / self._eps).limit_denominator(1_000)
            worst = self._real.worst_set(one, two, budget, self._eps)
            words = tuple(
                [
                    {
                        name: show_value(value)
                        for name, value in zip(self._names, each.answer, strict=True)
                        if value is not None
                    }
                    for each in worst
                ]
            )
            shares = [
                float(sum((form.enclosure(self._eps)[0] for form in forms), Fraction(0)))
                for forms in ([each.first for each in worst], [each.second for each in worst])
            ]
            tests = tuple([each.outputs.contains for each in worst if each.outputs is not None])
            result.append(_Set(words, shares[0], shares[1], tests))
        return result
