"""Counts of a simulation against the exact probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import ExpPoly
from dipc.exits.program import Outcome, Program
from dipc.simulation.expected import Expected, NoProbability, expect, nothing
from dipc.simulation.intervals import clopper_pearson, error_of_each
from dipc.simulation.runs import Tally
from dipc.tables.cells import show_value

#: The probability with which all intervals together hold the true probabilities.
CONFIDENCE = 1 - Fraction(1, 10**6)

#: Why runs of a program with real outputs alone are no evidence.
_NOTHING_COMPARED = "no output is finite and no event is given, such as --output: nothing was compared"

#: Values of some outputs as texts; None: never assigned.
Output = Mapping[str, str | None]


class Agreement(StrEnum):
    """What the comparison says: `mismatch` if any row does, else `undecided` if any row has no exact probability."""

    MATCH = "match"
    MISMATCH = "mismatch"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Row:
    """One event: how often it happened, and its exact probability with an enclosure of its value at this eps, both None
    where it is not known, for the `reason` given."""

    output: Output
    count: int
    interval: tuple[float, float]
    probability: ClosedForm | None
    at: tuple[Fraction, Fraction] | None
    reason: str | None = None

    @property
    def impossible(self) -> bool:
        """Whether this is known to have probability 0, for every eps."""
        return self.probability is not None and self.probability.value.is_zero()

    @property
    def agreement(self) -> Agreement:
        """Whether the exact probability lies in the interval; what is impossible must not happen at all. That any
        output comes out says nothing."""
        if self.at is None or not self.output:
            return Agreement.UNDECIDED
        if self.impossible:
            return Agreement.MISMATCH if self.count else Agreement.MATCH
        inside = self.interval[0] <= self.at[1] and self.at[0] <= self.interval[1]
        return Agreement.MATCH if inside else Agreement.MISMATCH


@dataclass(frozen=True, slots=True)
class ComparedTally:
    """A tally, with a row for each event, or for each output that can occur or did. If the exact probabilities are the
    right ones, it is a mismatch with probability at most 1 - confidence. `reason` is why some are missing."""

    tally: Tally
    confidence: Fraction
    rows: tuple[Row, ...]
    reason: str | None = None

    def __bool__(self) -> bool:
        raise TypeError("a comparison has one of three outcomes: look at its `agreement`")

    @property
    def agreement(self) -> Agreement:
        agreements = {row.agreement for row in self.rows}
        for agreement in (Agreement.MISMATCH, Agreement.UNDECIDED):
            if agreement in agreements:
                return agreement
        return Agreement.MATCH

    def estimate(self, row: Row) -> Fraction:
        """The share of the runs in which the row's event happened."""
        return Fraction(row.count, self.tally.runs)


def estimates(tally: Tally, reason: str, confidence: Fraction = CONFIDENCE) -> ComparedTally:
    """The counts alone, by decreasing count: nothing is known exactly, and `reason` says why."""
    return judge(tally, nothing(NoProbability(reason), tally.events), confidence)


def compare(tally: Tally, exact: Program, confidence: Fraction = CONFIDENCE) -> ComparedTally:
    """The counts against the exact probabilities of `exact`, which need not be the program that was run but has the
    same inputs and outputs: of the events of the tally, or else of all values of the finite outputs.

    Raises DiagnosticError for what is wrong with `exact`.
    """
    return judge(tally, expect(exact, tally.input, tally.events, tally.gamma), confidence)


def judge(tally: Tally, expected: Expected, confidence: Fraction = CONFIDENCE) -> ComparedTally:
    """The counts against exact probabilities of the same events, at the same input and gamma."""
    if tally.events:
        error = error_of_each(confidence, len(tally.events))
        asked = zip(tally.events, tally.hits, expected.events, strict=True)
        rows = [
            _row(tally, {name: show_value(value) for name, value in event.items()}, count, error, probability)
            for event, count, probability in asked
        ]
    else:
        rows = _output_rows(tally, expected.outcomes, confidence)
    reasons = dict.fromkeys(row.reason for row in rows if row.reason is not None)
    if not reasons and all(not row.output for row in rows):
        reasons = dict.fromkeys([_NOTHING_COMPARED])
    return ComparedTally(tally, confidence, tuple(rows), "; ".join(reasons) or None)


def _output_rows(tally: Tally, outcomes: tuple[Outcome, ...] | NoProbability, confidence: Fraction) -> list[Row]:
    """Rows for the outputs with an exact probability, and for those that came out without having one: they are
    impossible, unless nothing is known."""
    counts = {
        tuple(None if value is None else show_value(value) for value in values): count
        for values, count in tally.counts.most_common()
    }
    forms: dict[tuple[str | None, ...], ClosedForm] = {}
    others: ClosedForm | NoProbability
    if isinstance(outcomes, NoProbability):
        others, share = outcomes, len(counts)
    else:
        forms = {tuple(outcome.output[name] for name in tally.outputs): outcome.probability for outcome in outcomes}
        # What has probability 0 takes no share of the error: it is never wrongly called a mismatch.
        others, share = ClosedForm(ExpPoly.zero()), len(forms)
    error = error_of_each(confidence, share)
    keys = [*forms, *(key for key in counts if key not in forms)]
    outputs = [dict(zip(tally.outputs, key, strict=True)) for key in keys]
    return [
        _row(tally, output, counts.get(key, 0), error, forms.get(key, others))
        for key, output in zip(keys, outputs, strict=True)
    ]


def _row(tally: Tally, output: Output, count: int, error: float, probability: ClosedForm | NoProbability) -> Row:
    interval = clopper_pearson(count, tally.runs, error)
    if isinstance(probability, NoProbability):
        return Row(output, count, interval, None, None, probability.reason)
    return Row(output, count, interval, probability, probability.at(tally.eps))
