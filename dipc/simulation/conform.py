"""Observed outputs of a real implementation against the exact distribution of a program."""

from __future__ import annotations

import csv
import math
import os
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import isfinite
from pathlib import Path

import flint

from dipc.algebra.exppoly import ClosedForm, ExpPoly
from dipc.algebra.limits import Undecided
from dipc.algebra.numbers import exact_confidence, exact_eps, exact_grid, to_fmpq
from dipc.algebra.record import Record
from dipc.claims.given import Cell, CellPool, slot_reader
from dipc.claims.table import cell_text, input_cells
from dipc.frozen import frozen
from dipc.measure.measure import Probability
from dipc.program.program import Program, ProgramGiven, as_program
from dipc.simulation.compare import CONFIDENCE, Agreement, ComparedEvent, clopper_pearson
from dipc.text.ast import BaseType
from dipc.text.core import Value, show_value
from dipc.text.diagnostic import Diagnostic, DiagnosticError, Excerpt, bad_input, listing, read_source
from dipc.text.program import CoreProgram

Ends = tuple[Fraction, Fraction]

#: The greatest score, an integer, and the greatest number of standard deviations of a score.
_SCORES, _DEVIATIONS = 64, 5.0

#: The relative change of eps for the laws of comparison.
STEP = Fraction(1, 100)

_BITS = 128

#: The number of intervals in which the characteristic function is bounded, near 0 and elsewhere.
_NEAR, _FAR = 400, 1_024


@frozen
class LikelihoodTest(Record):
    """A test of whether the noises have the scale that the program gives them, on the outputs `outputs`.

    `tails` are upper bounds of two probabilities under the exact law: of a statistic at least as great as the observed
    one, and of one at most as great. A tail of at most `error`/2 is a mismatch. `factor` is for display: multiplying
    all scales by it would explain the observation, to first order.
    """

    FIELDS = "part=outputs tails factor ok=plausible"

    outputs: str
    tails: tuple[float, float]
    error: float
    factor: float

    @property
    def plausible(self) -> bool:
        """True if no tail is a mismatch."""
        return min(self.tails) > self.error / 2

    @property
    def agreement(self) -> Agreement:
        return Agreement.MATCH if self.plausible else Agreement.MISMATCH


def scale_test(
    outputs: str, counts: Sequence[int], laws: Sequence[Ends], more: Sequence[Ends], less: Sequence[Ends], error: float
) -> LikelihoodTest | None:
    """Return the test of the scale of the noises for the `counts` of the cells of a partition of `outputs`, or None.

    The probabilities of the cells are `laws` at eps, `more` at (1 + STEP)·eps and `less` at (1 - STEP)·eps. For the
    right scale, the test is a mismatch with probability at most `error`. The result is None if nothing was counted, or
    if the law hardly depends on eps.
    """
    slopes = []
    for here, above, below in zip(laws, more, less, strict=True):
        p, high, low = (float(each[0]) for each in (here, above, below))
        slopes.append(math.log(high / low) / float(2 * STEP) if p > 0 and high > 0 and low > 0 else 0.0)
    chances = [float(each[0]) for each in laws]
    mean = sum(p * slope for p, slope in zip(chances, slopes, strict=True))
    information = sum(p * (slope - mean) ** 2 for p, slope in zip(chances, slopes, strict=True))
    runs = sum(counts)
    if not information > 1e-9 or not runs:
        return None
    most = min(max(abs(slope - mean) for slope in slopes), _DEVIATIONS * math.sqrt(information))
    scores = [round(max(-most, min(most, slope - mean)) * _SCORES / most) for slope in slopes]
    law = _law_of(scores, laws)
    if len(law) < 2:
        return None
    total = sum(score * count for score, count in zip(scores, counts, strict=True))
    upper = tail(law, runs, total)
    lower = tail({-score: p for score, p in law.items()}, runs, -total)
    seen = sum(count * (slope - mean) for count, slope in zip(counts, slopes, strict=True)) / runs
    return LikelihoodTest(outputs, (upper, lower), error, math.exp(-seen / information))


def _law_of(scores: Sequence[int], laws: Sequence[Ends]) -> dict[int, Ends]:
    law: dict[int, Ends] = {}
    for score, (low, high) in zip(scores, laws, strict=True):
        before = law.get(score, (Fraction(0), Fraction(0)))
        law[score] = before[0] + low, before[1] + high
    return law


def tail(law: Mapping[int, Ends], runs: int, total: int) -> float:
    """Return an upper bound of Pr[T >= `total`] for the sum T of `runs` independent scores.

    `law` maps each score, an integer, to an interval that contains its probability.
    """
    floats = {score: float(p[0]) for score, p in law.items()}
    whole = sum(floats.values())
    mean = sum(score * p for score, p in floats.items()) / whole
    most = max(law) * runs
    if total <= mean * runs:
        return 1.0
    if total > most:
        return 0.0
    with flint.ctx.workprec(_BITS):
        if total == most:
            # The total is only reached if every score is the greatest.
            bound = _ball(law[max(law)]) ** runs
        else:
            tilt = flint.arb(to_fmpq(Fraction(_tilt(floats, total / runs))))
            weights = {score: _ball(p) * (tilt * score).exp() for score, p in law.items() if p[1]}
            moment = sum(weights.values(), flint.arb(0))
            tilted = {score: weight / moment for score, weight in weights.items()}
            step = math.gcd(*(score - min(law) for score in law))
            greatest = _greatest({(score - min(law)) // step: q for score, q in tilted.items()}, runs)
            bound = (runs * moment.log() - tilt * total).exp()
            bound *= min(flint.arb(1), greatest / (1 - (-tilt * step).exp()), key=lambda each: float(each.upper()))
        return min(1.0, math.nextafter(float(bound.upper()), math.inf))


def _tilt(law: Mapping[int, float], wanted: float) -> float:
    """Return an approximation of the s >= 0 for which the mean score is `wanted` after reweighting.

    `law` maps each score to its probability. Each probability is multiplied by e^{s·score}, and the results are divided
    by their sum.
    """
    low, high = 0.0, 1.0
    top = max(law)

    def mean(s: float) -> float:
        weights = {score: p * math.exp(s * (score - top)) for score, p in law.items()}
        return sum(score * w for score, w in weights.items()) / sum(weights.values())

    while mean(high) < wanted and high < 64:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if mean(middle) < wanted else (low, middle)
    return high


def _greatest(law: Mapping[int, flint.arb], runs: int) -> flint.arb:
    """Return an upper bound of the probability of every single value of a sum of `runs` independent scores.

    `law` maps each score to its probability. The differences of the scores must have no common divisor except 1.
    """
    pairs: dict[int, flint.arb] = {}
    for one, p in law.items():
        for two, q in law.items():
            pairs[abs(one - two)] = pairs.get(abs(one - two), flint.arb(0)) + p * q
    second, fourth, absolute = (
        sum((flint.arb(d) ** power * q for d, q in pairs.items()), flint.arb(0)) for power in (2, 4, 1)
    )
    pi = flint.arb.pi()
    half = flint.arb(to_fmpq(Fraction(runs, 2)))
    # 1 - θ²·E[D²]/2 + θ⁴·E[D⁴]/24 falls up to this θ.
    last = min(float((6 * second / fourth).sqrt().lower()), math.pi)
    near = min(last, 12 / math.sqrt(float(second.mid()) / 2 * runs))

    def at_most(theta: float) -> flint.arb:
        square = flint.arb(theta) ** 2
        inside = 1 - square * second / 2 + square**2 * fourth / 24
        return (half * inside.log()).exp() if inside > 0 else flint.arb(0)

    width = flint.arb(near) / _NEAR
    area = sum((at_most(near * k / _NEAR) * width for k in range(_NEAR)), flint.arb(0))
    area += at_most(near) * (last - near)
    rest = (pi - last) / _FAR
    for k in range(_FAR if last < math.pi else 0):
        middle = last + rest * (2 * k + 1) / 2
        real = sum((q * (middle * score).cos() for score, q in law.items()), flint.arb(0))
        imaginary = sum((q * (middle * score).sin() for score, q in law.items()), flint.arb(0))
        square = real**2 + imaginary**2 + rest / 2 * absolute
        if not square < 1:
            square = flint.arb(1)
        area += (half * flint.arb(square.upper()).log()).exp() * rest if square > 0 else flint.arb(0)
    return area / pi


def _ball(ends: Ends) -> flint.arb:
    low, high = (flint.arb(to_fmpq(end)) for end in ends)
    return low.union(high)


# --- Likelihood ratios against other scales of the noises -------------------------------------------------------------


#: The column with the number of times that an output was observed.
COUNT = "count"

_COUNT_NOTES = ("write the number of times that this output was observed",)

#: Values of all outputs, in the order of the program.
Values = tuple[Value, ...]


@frozen
class Observed:
    """Observed outputs, with `rows` of pairs (the values of an output, their count).

    If `ordered`, the rows are the outputs one by one, in the order in which they were observed.
    """

    rows: tuple[tuple[Values, int], ...]
    ordered: bool

    @property
    def total(self) -> int:
        return sum(count for _, count in self.rows)


def read_observed(path: Path, program: CoreProgram, *, counted: bool) -> Observed:
    """Return the outputs of `program` in the CSV file `path`, with a column for each output.

    With `counted` there is also a column `count`. Raises DiagnosticError (E1601, E1602) with the places of all
    mistakes.
    """
    source = read_source(path, "a CSV file of observed outputs")
    lines = source.text.splitlines()
    reader = csv.reader(lines)
    header = [name.strip() for name in next(reader, [])]
    rows = ((Excerpt(source.name, reader.line_num, 1, lines[reader.line_num - 1], 1), row) for row in reader if row)
    excerpt = Excerpt(source.name, 1, 1, lines[0] if lines else "", max(1, len(lines[0]) if lines else 1))
    return _read(header, rows, program, counted, excerpt)


def given_observed(given: Mapping[object, int] | Iterable[object], program: CoreProgram, *, counted: bool) -> Observed:
    """Return the outputs of `program` in `given`: outputs one by one, or with `counted` a mapping to their counts.

    An output is a mapping by name, a sequence in the order of the program, or, for a single output, the value itself. A
    float is the rational with its exact value. Raises DiagnosticError for values that an output cannot have.
    """
    names = [slot.name for slot in program.output_slots]
    header = [*names, COUNT] if counted else names
    items: Iterable[tuple[object, int]]
    items = given.items() if isinstance(given, Mapping) else ((output, 1) for output in given)
    rows = []
    for output, count in items:
        if isinstance(output, Mapping):
            values: Sequence[object] = [output.get(name, "") for name in names]
        else:
            values = output if isinstance(output, tuple | list) else [output]
        texts = [
            cell_text(Fraction(value) if isinstance(value, float) and isfinite(value) else value, "an output")
            for value in values
        ]
        rows.append((None, [*texts, str(count)] if counted else texts))
    return _read(header, rows, program, counted, None)


def _read(
    header: Sequence[str],
    rows: Iterable[tuple[Excerpt | None, Sequence[str]]],
    program: CoreProgram,
    counted: bool,
    place: Excerpt | None,
) -> Observed:
    slots = program.output_slots
    wanted = [slot.name for slot in slots] + ([COUNT] if counted else [])
    if sorted(header) != sorted(wanted):
        note = f"the columns are {listing(wanted, 20)}"
        raise bad_input("E1601", "the header does not fit the outputs", note, place=place)
    pool = CellPool()
    columns = [cache(slot_reader(slot.name, slot.type, True, pool)) for slot in slots]
    positions = [header.index(slot.name) for slot in slots]
    samples: list[tuple[Values, int]] = []
    mistakes: list[Diagnostic] = []
    for excerpt, texts in rows:
        if len(texts) != len(header):
            mistakes.append(Diagnostic("E1602", f"{len(texts)} cells instead of {len(header)}", excerpt))
            continue
        values: list[Value] = []
        for column, index in zip(columns, positions, strict=True):
            cell = column(texts[index])
            if isinstance(cell, Cell) and cell.value is not None:
                values.append(cell.value)
            elif isinstance(cell, Diagnostic):
                mistakes.append(Diagnostic("E1602", cell.message, excerpt, notes=cell.notes))
        text = texts[header.index(COUNT)].strip() if counted else "1"
        if not (text.isascii() and text.isdigit() and len(text) <= 18):
            mistakes.append(
                Diagnostic("E1602", f"the count `{text[:40]}` is not a natural number", excerpt, notes=_COUNT_NOTES)
            )
        elif len(values) == len(slots):
            samples.append((tuple(values), int(text)))
    if mistakes:
        raise DiagnosticError(*mistakes[:20])
    observed = Observed(tuple(samples), ordered=not counted)
    if not observed.total:
        raise bad_input("E1601", "no output was observed", place=place)
    return observed


def tallied(rows: Iterable[tuple[Values, int]], indices: Sequence[int]) -> Counter[Values]:
    """Return the count of each combination of values at `indices` in `rows`, which are pairs (values, count)."""
    result: Counter[Values] = Counter()
    for values, count in rows:
        result[tuple(values[index] for index in indices)] += count
    return result


def is_path(given: object) -> bool:
    """True if `given` is the path of a file."""
    return isinstance(given, str | os.PathLike)


# --- the comparison --------------------------------------------------------------------------------


#: One in so many samples of real outputs only chooses the cells, and at most so many; the others are counted.
_CHOOSING, _MOST_CHOOSING = 10, 500

#: The number of cells of a real output, besides everything outside of them.
_CELLS = 20

#: The shares of the error for intervals, for likelihood ratios, and for pairs of samples.
_INTERVALS, _RATIOS, _PAIRS = 0.5, 0.4, 0.1


@frozen
class Partition:
    """Disjoint `events` about `outputs`, one of which always happens.

    `labels` has, for each sample in order, the index of the event that happened. It is None if the order of the samples
    is not known.
    """

    outputs: str
    events: tuple[ComparedEvent, ...]
    labels: tuple[int, ...] | None

    def ratio(self, eps: Fraction, error: float) -> LikelihoodTest | None:
        """Return the test against other scales of the noises at `eps`, or None if there is no test.

        The test fails for the right scale with probability at most `error`.
        """
        here, more, less = [], [], []
        for event in self.events:
            form, law = event.probability, event.enclosure
            if form is None or law is None or form.only_at is not None:
                return None
            here.append(law)
            more.append(form.enclosure(eps * (1 + STEP)))
            less.append(form.enclosure(eps * (1 - STEP)))
        return scale_test(self.outputs, [event.count for event in self.events], here, more, less, error)

    def pairs(self, error: float) -> Iterator[ComparedEvent]:
        """Yield events of the form: the two samples of a pair fall into the same cell.

        Samples are paired in three ways: 1 with 2, 3 with 4, …; 2 with 3, 4 with 5, …; and each of the first half with
        its counterpart in the second half. The confidence intervals of all the probabilities contain them, except with
        probability `error`.
        """
        labels = self.labels
        laws = [event.enclosure for event in self.events]
        if labels is None or len(labels) < 2 or any(law is None for law in laws):
            return
        half = len(labels) // 2
        paired = {
            "with the next, from the first on": (labels[0:-1:2], labels[1::2]),
            "with the next, from the second on": (labels[1:-1:2], labels[2::2]),
            "with the one half of all later": (labels[:half], labels[half : 2 * half]),
        }
        none = Fraction(0)
        chance = sum((law[0] ** 2 for law in laws if law), none), sum((law[1] ** 2 for law in laws if law), none)
        for how, (ones, others) in paired.items():
            if ones:
                alike = sum(one == other for one, other in zip(ones, others, strict=True))
                interval = clopper_pearson(alike, len(ones), error / len(paired))
                label = {self.outputs: f"alike {how}"}
                yield ComparedEvent(f"{self.outputs}, in pairs", label, alike, len(ones), interval, None, chance)


@frozen
class Conformance(Record):
    """The result of comparing `observed` outputs with the exact law of `program` at `input` and `eps`.

    If the implementation has the program's distribution, the result is a mismatch with probability at most 1 -
    `confidence`. `cells` compare the count of each event with its probability, `ratios` test the scale of the noises,
    and `pairs` test whether samples depend on each other. `reason` says why something could not be compared, or is
    None. `chi_square` and `degrees` are for display: they decide nothing.
    """

    FIELDS = "schema program input eps observed confidence:decimal verdict reason chi_square degrees cells ratios pairs"

    schema = "dipc.conform/1"

    program: str
    input: Mapping[str, str]
    eps: Fraction
    observed: int
    confidence: Fraction
    cells: tuple[ComparedEvent, ...]
    chi_square: float
    degrees: int
    reason: str | None = None
    ratios: tuple[LikelihoodTest, ...] = ()
    pairs: tuple[ComparedEvent, ...] = ()

    def __bool__(self) -> bool:
        raise TypeError("a comparison has one of three outcomes and no truth value: look at its `agreement`")

    @property
    def agreement(self) -> Agreement:
        agreements = {each.agreement for each in (*self.cells, *self.pairs)}
        agreements |= {test.agreement for test in self.ratios}
        if Agreement.MISMATCH in agreements:
            return Agreement.MISMATCH
        return Agreement.UNDECIDED if Agreement.UNDECIDED in agreements or self.reason is not None else Agreement.MATCH

    @property
    def verdict(self) -> str:
        """The verdict on an implementation: conforms, deviates or undecided."""
        return {Agreement.MATCH: "conforms", Agreement.MISMATCH: "deviates"}.get(self.agreement, "undecided")

    @property
    def worst(self) -> ComparedEvent | None:
        """The cell that deviates most, a mismatch if there is one; None if no probability is known."""
        ranked = [cell for cell in self.cells if cell.enclosure is not None]

        def rank(cell: ComparedEvent) -> tuple[bool, bool, float]:
            return cell.agreement is Agreement.MISMATCH, cell.impossible and cell.count > 0, cell.distance

        return max(ranked, key=rank, default=None)


def conform(
    program: ProgramGiven,
    input: Mapping[str, object],  # noqa: A002 - the contract's name
    eps: Fraction | int | str,
    counts: Mapping[object, int] | str | os.PathLike[str] | None = None,
    *,
    samples: Iterable[object] | str | os.PathLike[str] | None = None,
    grid: Fraction | int | str | None = None,
    confidence: Fraction | str = CONFIDENCE,
) -> Conformance:
    """Compare observed outputs of an implementation with the exact distribution of `program` at `input` and `eps`.

    `counts` is a mapping from outputs to their counts, or a CSV file with a column `count`. `samples` are outputs one
    by one, in their order, or a CSV file of them; real outputs need these. With a `grid` the real outputs were rounded
    down to its multiples, and the exact law is that of the rounded outputs. Finite outputs are compared together, each
    int output by its values, and each real one by cells that the first tenth of the samples chooses.

    With probability at least `confidence`, an implementation with this distribution passes all of three tests:

    - every exact probability lies in the Clopper-Pearson interval of its cell;
    - the noises do not look as if they had another scale (a likelihood-ratio test);
    - samples in their order do not look as if they depended on each other.

    An impossible output must not have been observed. Raises DiagnosticError for values that do not fit the program,
    TypeError for floats, ValueError for numbers that make no sense, and unless exactly one of `counts` and `samples` is
    given.
    """
    point, level = exact_eps(eps), exact_confidence(confidence)
    if (counts is None) == (samples is None):
        raise ValueError("give either counts or samples")
    given, counted = (counts, True) if samples is None else (samples, False)
    program = as_program(program, eps=eps)
    core = program.core
    if is_path(given):
        assert isinstance(given, str | os.PathLike)
        observed = read_observed(Path(given), core, counted=counted)
    else:
        if not isinstance(given, Iterable):
            raise TypeError(
                f"{'counts' if counted else 'samples'} must be outputs or a CSV file, not {type(given).__name__}"
            )
        observed = given_observed(given, core, counted=counted)
    names = program.inputs
    cells = input_cells(core, input, CellPool())
    values = {name: cell.value for name, cell in zip(names, cells, strict=True) if cell.value is not None}
    return judge(program, values, point, observed, level, None if grid is None else exact_grid(grid))


def judge(
    program: Program,
    values: Mapping[str, Value],
    eps: Fraction,
    observed: Observed,
    confidence: Fraction,
    grid: Fraction | None = None,
) -> Conformance:
    """Return the result of `conform` for `program` at the inputs `values`, given by name.

    `observed` are the outputs at `eps`, rounded down to multiples of `grid` unless that is None. With probability at
    least `confidence`, all tests accept a correct implementation. Raises DiagnosticError for a program that fails, and
    for samples off the grid.
    """
    core = program.core
    core.require_meaning(eps)
    slots = core.output_slots
    finite = [index for index, slot in enumerate(slots) if not slot.is_symbolic]
    others = [index for index, slot in enumerate(slots) if slot.is_symbolic]
    error = float((1 - confidence) / (len(others) + bool(finite)))
    law = _Law(program, values, eps, error * _INTERVALS)
    partitions: list[Partition] = []
    reasons: list[str] = []
    integers: list[ComparedEvent] = []
    try:
        partitions += [law.finite(observed, finite)] if finite else []
    except Undecided as undecided:
        reasons.append(undecided.reason)
    for position in others:
        name = slots[position].name
        try:
            if slots[position].type is BaseType.INT:
                integers.extend(law.integers(observed, name, position))
            elif observed.ordered:
                sequence = [_rational(row[position]) for row, _ in observed.rows]
                partitions.append(law.reals(sequence, name) if grid is None else law.rounded(grid, sequence, name))
            else:
                reasons.append(f"`{name}` is real: give samples in the order in which they came out, not counts")
        except Undecided as undecided:
            reasons.append(undecided.reason)
    events = [event for partition in partitions for event in partition.events] + integers
    ratios = [partition.ratio(eps, error * _RATIOS) for partition in partitions]
    # Pearson's statistic uses only events whose expected count is known and at least 5.
    known = [(cell, float(cell.enclosure[0]) * cell.runs) for cell in events if cell.enclosure is not None]
    used = [(cell, expected) for cell, expected in known if expected >= 5]
    chi_square = sum((cell.count - expected) ** 2 / expected for cell, expected in used)
    degrees = max(0, len(used) - 1)
    pairs = tuple([event for partition in partitions for event in partition.pairs(error * _PAIRS)])
    return Conformance(
        program.name,
        {name: show_value(value) for name, value in values.items()},
        eps,
        observed.total,
        confidence,
        tuple(events),
        chi_square,
        degrees,
        "; ".join(dict.fromkeys(reasons)) or None,
        tuple([test for test in ratios if test is not None]),
        pairs,
    )


#: The terms (factor, output, gamma) of a sum of probabilities.
_Terms = tuple[tuple[int, Mapping[str, Fraction], Fraction], ...]


def _value_terms(name: str, value: Fraction) -> _Terms:
    return ((1, {name: value}, Fraction(0)),)


def _range_terms(name: str, low: Fraction, high: Fraction) -> _Terms:
    return ((1, {name: (low + high) / 2}, (high - low) / 2),)


def _negated_terms(events: Iterable[_Terms]) -> _Terms:
    return tuple([(-factor, output, gamma) for event in events for factor, output, gamma in event])


def _share(k: int) -> float:
    return 1 / ((abs(k) + 1) * (abs(k) + 2))


@frozen(eq=False)
class _Law:
    """The exact law of the outputs of `program` for the inputs `values` at one `eps`, to compare with samples.

    The methods return the events to compare, with an interval for the probability of each. All intervals for one output
    contain the true probabilities, except with probability at most `error`. The finite outputs together count as one
    output.
    """

    program: Program
    values: Mapping[str, Value]
    eps: Fraction
    error: float

    def finite(self, observed: Observed, indices: Sequence[int]) -> Partition:
        """Return an event for each combination of values of the finite outputs.

        The combinations are those that can occur, followed by those of `observed` that cannot. `indices` are the
        indices of the finite outputs among all outputs.
        """
        names = [self.program.outputs[index] for index in indices]
        known = self.program.outcomes(self.values)
        outcomes = {tuple(one.output[name] or "" for name in names): one.probability for one in known}
        texts = {tuple(map(show_value, key)): count for key, count in tallied(observed.rows, indices).items()}
        joint = ", ".join(names)
        events: list[ComparedEvent] = []
        numbers: dict[tuple[str, ...], int] = {}
        for key in [*outcomes, *(key for key in texts if key not in outcomes)]:
            # An output of probability 0 takes no share of the error: it is never wrongly a mismatch.
            form: Probability = outcomes.get(key, ClosedForm(ExpPoly.ZERO))
            numbers[key] = len(events)
            cell = dict(zip(names, key, strict=True))
            events.append(self._event(joint, cell, texts.get(key, 0), observed.total, self.error / len(outcomes), form))
        labels = None
        if observed.ordered:
            rows = ((tuple([show_value(values[index]) for index in indices]), count) for values, count in observed.rows)
            labels = tuple([numbers[key] for key, count in rows for _ in range(count)])
        return Partition(joint, tuple(events), labels)

    def integers(self, observed: Observed, name: str, position: int) -> Iterable[ComparedEvent]:
        """Yield an event for each integer between the least and the greatest in `observed`, and one for all others.

        `position` is the index of the output `name` in the observed rows. The observations determine which integers are
        compared, so the error probability is divided among all integers, and among all pairs (least, greatest). Let
        s(k) = 1/((|k| + 1)(|k| + 2)), whose sum over all k is 3/2. The event of the integer k gets the fraction s(k)/4
        of the error probability, and the event of all others gets s(least)·s(greatest)/8.
        """
        tally = {int(key[0]): count for key, count in tallied(observed.rows, [position]).items()}
        low, high = min(tally), max(tally)
        each = [_value_terms(name, Fraction(k)) for k in range(low, high + 1)]
        for k, terms in zip(range(low, high + 1), each, strict=True):
            share = self.error / 4 * _share(k)
            yield self._event(name, {name: str(k)}, tally.get(k, 0), observed.total, share, self._combination(terms))
        beyond, share = self._combination(_negated_terms(each), 1), self.error / 8 * _share(low) * _share(high)
        yield self._event(name, {name: f"below {low} or above {high}"}, 0, observed.total, share, beyond)

    def reals(self, sequence: Sequence[Fraction], name: str) -> Partition:
        """Return events for the real output `name`: intervals between some values, single values, and all others.

        The first samples of `sequence` determine the intervals and the single values, and the other samples are
        counted. The single values are those of positive probability, and the most common of the first samples, which
        should not occur again if the law is continuous.
        """
        whole = self._combination(_value_terms(name, sequence[0]))
        certain = isinstance(whole, ClosedForm) and whole.value == 1
        if certain or (len(sequence) > 1 and len(set(sequence)) == 1):
            # A value of probability 1 is chosen without a sample; otherwise the first sample chooses, independently.
            counted = sequence if certain else sequence[1:]
            other = self._combination(_negated_terms([_value_terms(name, sequence[0])]), 1)
            cells = [(f"{_short(sequence[0])} exactly", whole), ("another value", other)]
            return self._partition(name, cells, [int(value != sequence[0]) for value in counted])
        chosen, counted = _chosen(sequence)
        if len(set(chosen)) < 2:
            raise Undecided(
                f"`{name}` needs more samples: one in {_CHOOSING} is used to choose the cells, and at least "
                "two of those must differ"
            )
        edges = _quantiles(chosen)
        commonest = max(chosen, key=chosen.count) if len(chosen) < 200 else max(edges, key=chosen.count)
        atoms = {edge: self._combination(_value_terms(name, edge)) for edge in {*edges, commonest}}
        single = [
            edge
            for edge, atom in sorted(atoms.items())
            if edge == commonest or not (isinstance(atom, ClosedForm) and atom.value.is_zero())
        ]
        inside = [
            (*_range_terms(name, low, high), *_negated_terms([_value_terms(name, low), _value_terms(name, high)]))
            for low, high in pairwise(edges)
        ]
        starts = ["(" if low in single else "[" for low in edges]
        outside = _negated_terms([*inside, *(_value_terms(name, value) for value in single)])
        cells = self._cells(edges, starts, inside, outside)
        cells += [(f"{_short(value)} exactly", atoms[value]) for value in single]
        return self._partition(name, cells, _labels(edges, single, counted))

    def rounded(self, grid: Fraction, sequence: Sequence[Fraction], name: str) -> Partition:
        """Return events for the output `name`: intervals between multiples of `grid`, and all other values.

        `sequence` has samples of the output that were rounded down to multiples of `grid`. The first samples determine
        the intervals, and the others are counted. An interval contains its lower end, so rounding down does not leave
        it.
        """
        off = next((value for value in sequence if value % grid), None)
        if off is not None:
            message = f"`{name}` was observed at {off}, which is not a multiple of the grid {grid}"
            raise bad_input("E1602", message, "give the grid that the outputs were rounded down to, or none")
        chosen, counted = _chosen(sequence)
        if not chosen:
            raise Undecided(f"`{name}` needs more samples: one in {_CHOOSING} is used to choose the cells")
        edges = _quantiles(chosen)
        if len(edges) == 1:
            edges.append(edges[0] + grid)
        inside = [
            (*_range_terms(name, low, high), *_negated_terms([_value_terms(name, high)]))
            for low, high in pairwise(edges)
        ]
        cells = self._cells(edges, "[" * len(edges), inside, _negated_terms(inside))
        return self._partition(name, cells, _labels(edges, (), counted))

    def _combination(self, terms: _Terms, constant: int = 0) -> Probability:
        return self.program.combination(self.values, terms, constant)

    def _cells(
        self, edges: Sequence[Fraction], starts: Sequence[str], inside: Sequence[_Terms], outside: _Terms
    ) -> list[tuple[str, Probability]]:
        """Return (label, probability) for each interval between neighboring `edges`, and for the rest of the line.

        `starts` has the bracket that opens the label of each interval, "[" or "(". `inside` has, for each interval, the
        terms whose sum is its probability. The probability of the rest is 1 plus the sum of the terms in `outside`.
        """
        ends = zip(starts, pairwise(edges), inside, strict=False)
        cells = [
            (f"in {start}{_short(low)}, {_short(high)})", self._combination(terms))
            for start, (low, high), terms in ends
        ]
        return [*cells, ("outside", self._combination(outside, 1))]

    def _partition(self, name: str, cells: Sequence[tuple[str, Probability]], labels: Sequence[int]) -> Partition:
        """Return the disjoint events `cells`, pairs (label, probability), of the output `name`, with their counts.

        `labels` has, for each sample, the index of the event that occurred. The permitted error probability `error` of
        this law is divided equally among the events.
        """
        tally, share = Counter(labels), self.error / len(cells)
        events = [
            self._event(name, {name: label}, tally[number], len(labels), share, form)
            for number, (label, form) in enumerate(cells)
        ]
        return Partition(name, tuple(events), tuple(labels))

    def _event(
        self, outputs: str, cell: Mapping[str, str], count: int, runs: int, error: float, form: Probability
    ) -> ComparedEvent:
        interval = clopper_pearson(count, runs, error)
        return ComparedEvent(outputs, cell, count, runs, interval, form, form.enclosure(self.eps))


def _labels(edges: Sequence[Fraction], single: Sequence[Fraction], counted: Iterable[Fraction]) -> list[int]:
    """Return, for each value in `counted`, the index of the event to which it belongs.

    The events are, in this order: the intervals between neighboring numbers of `edges`; all values outside; and each
    number of `single` on its own. A number of `single` does not count as a value of an interval.
    """
    numbers = {value: len(edges) + order for order, value in enumerate(single)}
    return [
        numbers.get(value, bisect_right(edges, value) - 1 if edges[0] <= value < edges[-1] else len(edges) - 1)
        for value in counted
    ]


def _chosen(sequence: Sequence[Fraction]) -> tuple[list[Fraction], Sequence[Fraction]]:
    """Return (first, rest): the first samples of `sequence`, sorted, and all samples after them.

    The first samples choose the events that are compared. The rest are counted, independently of this choice.
    """
    split = min(len(sequence) // _CHOOSING, _MOST_CHOOSING)
    return sorted(sequence[:split]), sequence[split:]


def _quantiles(chosen: Sequence[Fraction]) -> list[Fraction]:
    return sorted({chosen[(len(chosen) - 1) * k // _CELLS] for k in range(_CELLS + 1)})


def _rational(value: Value) -> Fraction:
    assert isinstance(value, Fraction)
    return value


def _short(value: Fraction) -> str:
    return f"{float(value):.6g}"
