"""Counts of a simulation against the exact probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from dipc.accuracy.cells import value_text
from dipc.accuracy.closed_form import ClosedForm
from dipc.accuracy.program import Program
from dipc.diagnostics.diagnostic import DiagnosticError
from dipc.exact.exppoly import ExpPoly
from dipc.exact.limits import Undecided
from dipc.simulation.intervals import clopper_pearson, error_of_each
from dipc.simulation.run import Event, Tally

#: The probability with which all intervals together hold the true probabilities.
CONFIDENCE = 1 - Fraction(1, 10**6)

#: Diagnostics with these codes say that the exact engine does not go so far, not that the program is wrong.
_NOT_EXECUTED = "E04"

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
        """Whether the exact probability lies in the interval; what is impossible must not happen at all."""
        if self.at is None:
            return Agreement.UNDECIDED
        if self.impossible:
            return Agreement.MISMATCH if self.count else Agreement.MATCH
        inside = self.interval[0] <= self.at[1] and self.at[0] <= self.interval[1]
        return Agreement.MATCH if inside else Agreement.MISMATCH


@dataclass(frozen=True, slots=True)
class Comparison:
    """A tally, with a row for each event, or for each output that can occur or did. If the exact probabilities are the
    right ones, it is a mismatch with probability at most 1 - confidence. `reason` is why some are missing."""

    tally: Tally
    confidence: Fraction
    rows: tuple[Row, ...]
    reason: str | None = None

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


def estimates(tally: Tally, reason: str, confidence: Fraction = CONFIDENCE) -> Comparison:
    """The counts alone, by decreasing count: nothing is known exactly, and `reason` says why."""
    if not tally.events:
        return _compared(tally, {}, confidence, reason)
    error = error_of_each(confidence, len(tally.events))
    rows = [
        _row(tally, _texts(event), count, error, None, reason)
        for event, count in zip(tally.events, tally.hits, strict=True)
    ]
    return Comparison(tally, confidence, tuple(rows), reason)


def compare(tally: Tally, exact: Program, confidence: Fraction = CONFIDENCE) -> Comparison:
    """The counts against the exact probabilities of `exact`, which need not be the program that was run but has the
    same inputs and outputs: of the events of the tally, or else of all values of the finite outputs.

    Raises DiagnosticError for what is wrong with `exact`.
    """
    if tally.events:
        return _compared_events(tally, exact, confidence)
    try:
        outcomes = exact.outcomes(tally.input)
    except (Undecided, DiagnosticError) as error:
        return estimates(tally, why_unknown(error), confidence)
    forms = {tuple(outcome.output[name] for name in tally.outputs): outcome.probability for outcome in outcomes}
    return _compared(tally, forms, confidence, None)


def _compared(
    tally: Tally, forms: Mapping[tuple[str | None, ...], ClosedForm], confidence: Fraction, reason: str | None
) -> Comparison:
    """Rows for the outputs with an exact probability, and for those that came out without having one: they are
    impossible, unless there is a reason why nothing is known."""
    counts = {
        tuple(None if value is None else value_text(value) for value in values): count
        for values, count in tally.counts.most_common()
    }
    keys = [*forms, *(key for key in counts if key not in forms)]
    # What has probability 0 takes no share of the error: it is never wrongly called a mismatch.
    error = error_of_each(confidence, len(forms) if reason is None else len(keys))
    others = ClosedForm(ExpPoly.zero()) if reason is None else None
    rows = [
        _row(
            tally, dict(zip(tally.outputs, key, strict=True)), counts.get(key, 0), error, forms.get(key, others), reason
        )
        for key in keys
    ]
    return Comparison(tally, confidence, tuple(rows), reason)


def _compared_events(tally: Tally, exact: Program, confidence: Fraction) -> Comparison:
    error = error_of_each(confidence, len(tally.events))
    rows = []
    for event, count in zip(tally.events, tally.hits, strict=True):
        form, reason = None, None
        try:
            form = exact.probability(tally.input, event, tally.gamma)
        except (Undecided, DiagnosticError) as undecided:
            reason = why_unknown(undecided)
        rows.append(_row(tally, _texts(event), count, error, form, reason))
    reasons = dict.fromkeys(row.reason for row in rows if row.reason is not None)
    return Comparison(tally, confidence, tuple(rows), "; ".join(reasons) or None)


def _row(tally: Tally, output: Output, count: int, error: float, form: ClosedForm | None, reason: str | None) -> Row:
    at = None if form is None else form.at(tally.eps)
    return Row(output, count, clopper_pearson(count, tally.runs, error), form, at, reason)


def _texts(event: Event) -> Output:
    return {name: value_text(value) for name, value in event.items()}


def why_unknown(error: Undecided | DiagnosticError) -> str:
    """Why the exact engine has no answer, one sentence without a full stop; raises `error` again if something is wrong
    with the program instead."""
    if isinstance(error, Undecided):
        return error.reason
    if not all(diagnostic.code.startswith(_NOT_EXECUTED) for diagnostic in error.diagnostics):
        raise error
    return "; ".join(dict.fromkeys(diagnostic.message for diagnostic in error.diagnostics))
