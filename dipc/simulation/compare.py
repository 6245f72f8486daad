"""The second opinion on one program: counts of a simulation against the exact probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from math import exp, log, nextafter, sqrt
from statistics import NormalDist
from sys import float_info
from typing import Any, TypedDict, Unpack

import flint

from dipc.algebra.exppoly import ClosedForm, ExpPoly
from dipc.algebra.limits import Undecided
from dipc.algebra.numbers import exact_confidence, exact_eps, exact_rational
from dipc.algebra.record import Record, json_object
from dipc.claims.given import Cell, CellPool
from dipc.claims.table import input_cells, output_cells
from dipc.deprecated import former_part
from dipc.frozen import frozen
from dipc.measure.measure import Probability
from dipc.options import takes
from dipc.program.program import OutputProbability, Program, ProgramGiven, as_program
from dipc.simulation.runs import LOOP_LIMIT, Event, Progress, Tally, run
from dipc.text.core import Value, show_value
from dipc.text.diagnostic import DiagnosticError

#: The precision, in bits, of enclosures of binomial tails.
_BITS = 96


def clopper_pearson(count: int, runs: int, error: float) -> tuple[float, float]:
    """Return the two-sided Clopper-Pearson interval for the probability of an event seen `count` times in `runs` runs.

    Whatever the probability is, an interval computed from the count in `runs` independent runs misses it with
    probability at most `error`. The ends are rounded outwards, and proved by ball arithmetic.
    """
    return lower_end(count, runs, error / 2), upper_end(count, runs, error / 2)


def upper_end(count: int, runs: int, error: float) -> float:
    """Return a probability p at which at most `count` successes in `runs` have a probability of at most `error`.

    p is 1 if all runs are successes.
    """
    rest = lower_end(runs - count, runs, error)
    return nextafter(1 - rest, 1.0) if rest else 1.0


def lower_end(count: int, runs: int, error: float) -> float:
    """Return a probability p at which at least `count` successes in `runs` have a probability of at most `error`.

    p is the greatest such number up to a few units of its last digit, and 0 if there is no success.
    """
    if not count:
        return 0.0
    share, z = count / runs, NormalDist().inv_cdf(1 - error) if error > 1e-16 else sqrt(-2 * log(error))
    center, spread = share + z * z / (2 * runs), z * sqrt(share * (1 - share) / runs + (z / (2 * runs)) ** 2)
    x = max((center - spread) / (1 + z * z / runs), 1e-300) if count < runs else error ** (1 / runs)
    with flint.ctx.workprec(_BITS):
        for _ in range(_MOST_STEPS):
            tail, density = _tail(x, count, runs)
            # Newton's step for the logarithm of the tail as a function of log(x).
            step = float(((flint.arb(error) / tail).log() * tail / (density * x)).mid())
            before, x = x, min(x * exp(max(-3.0, min(3.0, step))), (1 + x) / 2)
            if abs(x - before) <= 4 * float_info.epsilon * x:
                break
        while not _tail(x, count, runs)[0] <= flint.arb(error):
            x -= 2 * float_info.epsilon * x
    return x


#: The most steps of Newton's method, of which fewer than twenty are needed.
_MOST_STEPS = 60


def _tail(x: float, count: int, runs: int) -> tuple[Any, Any]:
    """Return enclosures of the probability of at least `count` successes in `runs` runs, and of its derivative.

    Each run is successful with probability `x`, and the derivative is with respect to `x`.
    """
    ball, first, second = flint.arb(x), flint.arb(count), flint.arb(runs - count + 1)
    logarithm = (first - 1) * ball.log() + (second - 1) * (1 - ball).log()
    beta = first.lgamma() + second.lgamma() - (first + second).lgamma()
    return ball.beta_lower(first, second, regularized=True), (logarithm - beta).exp()


def error_of_each(confidence: Fraction, intervals: int) -> float:
    """Return the error allowed for each of `intervals` so that all of them are right with `confidence` (Bonferroni)."""
    return float((1 - confidence) / max(1, intervals))


# --- the exact probabilities -----------------------------------------------------------------------


#: The prefix of codes for programs that the exact engine does not cover, although they are not wrong.
_NOT_EXECUTED = "E04"


@frozen
class Expected:
    """The exact probabilities, for every eps, with which counts are compared.

    `outcomes` has the probabilities of all possible values of the finite outputs, and `events` those of the requested
    events, in the order of the request. Undecided replaces the outcomes, or the probability of an event, where it is
    not known.
    """

    outcomes: tuple[OutputProbability, ...] | Undecided
    events: tuple[Probability | Undecided, ...] = ()


def expect(
    program: Program,
    input: Mapping[str, Value],  # noqa: A002 - the word of the language
    events: Sequence[Event] = (),
    gamma: Fraction = Fraction(0),
) -> Expected:
    """Return the exact probabilities of `program` at `input`: of all finite outputs, or of the `events`.

    A real output of an event must be within `gamma` of the stated value. Raises DiagnosticError for mistakes in the
    program.
    """
    if events:
        probabilities: list[Probability | Undecided] = []
        for event in events:
            try:
                probabilities.append(program.probability(input, event, gamma))
            except (Undecided, DiagnosticError) as error:
                probabilities.append(why_unknown(error))
        return Expected(
            Undecided("the probabilities of all outputs were not computed, because events were given"),
            tuple(probabilities),
        )
    try:
        return Expected(program.outcomes(input))
    except (Undecided, DiagnosticError) as error:
        return Expected(why_unknown(error))


def nothing(unknown: Undecided, events: Sequence[Event] = ()) -> Expected:
    """Return an `Expected` in which `unknown` replaces each probability: of the outputs and of each of `events`."""
    return Expected(unknown, tuple(unknown for _ in events))


def why_unknown(error: Undecided | DiagnosticError) -> Undecided:
    """Return why the exact probability is not known. If the program is wrong instead, raise `error` again."""
    if isinstance(error, Undecided):
        return error.with_traceback(None)
    if not all(diagnostic.code.startswith(_NOT_EXECUTED) for diagnostic in error.diagnostics):
        raise error
    return Undecided("; ".join(dict.fromkeys(diagnostic.message for diagnostic in error.diagnostics)))


# --- the comparison --------------------------------------------------------------------------------


#: The probability with which all intervals together contain the true probabilities.
CONFIDENCE = 1 - Fraction(1, 10**6)

#: The reason why runs of a program with real outputs alone give no evidence.
_NOTHING_COMPARED = "no output is finite, so there is nothing to compare: give an event with --output"

#: Values of some outputs as texts; None is never assigned.
Output = Mapping[str, str | None]


class Agreement(StrEnum):
    """The result of a comparison: `mismatch` if any row is one, else `undecided` if any probability is unknown."""

    MATCH = "match"
    MISMATCH = "mismatch"
    UNDECIDED = "undecided"


@frozen
class ComparedEvent(Record):
    """An event about `outputs`, with its count, the interval for its probability, and the exact probability.

    `output` has the stated values of the event, which was counted among `runs` observations. The `probability` and the
    `enclosure` of its value at this eps are None if they are not known, with the `reason`.
    """

    FIELDS = "part=outputs output count of=runs interval probability=closed_form at=enclosure:digits ok=matches"

    outputs: str
    output: Output
    count: int
    runs: int
    interval: tuple[float, float]
    probability: Probability | None
    enclosure: tuple[Fraction, Fraction] | None
    reason: str | None = None

    row = former_part("row")

    @property
    def closed_form(self) -> ClosedForm | None:
        """The probability for every eps, if it is known."""
        return self.probability if isinstance(self.probability, ClosedForm) else None

    @property
    def estimate(self) -> float:
        """The share of the observations in which the event happened."""
        return self.count / self.runs

    @property
    def impossible(self) -> bool:
        """True if the event is known to have probability 0, for every eps."""
        return self.closed_form is not None and self.closed_form.value.is_zero()

    @property
    def agreement(self) -> Agreement:
        """The agreement of count and probability: a match if the exact probability lies in the interval.

        An impossible event must not happen at all. The result is undecided if the exact probability is unknown. It is
        also undecided for an event without stated values: every output belongs to this event, so its count tests
        nothing.
        """
        if self.enclosure is None or not self.output:
            return Agreement.UNDECIDED
        if self.impossible:
            return Agreement.MISMATCH if self.count else Agreement.MATCH
        inside = self.interval[0] <= self.enclosure[1] and self.enclosure[0] <= self.interval[1]
        return Agreement.MATCH if inside else Agreement.MISMATCH

    @property
    def matches(self) -> bool:
        """True if the exact probability lies in the interval."""
        return self.agreement is Agreement.MATCH

    @property
    def distance(self) -> float:
        """The distance of the observed share from the probability, in standard deviations of the share; for display."""
        if self.enclosure is None:
            return 0.0
        p = float(self.enclosure[0])
        gap = abs(self.estimate - p)
        return gap / (p * (1 - p) / self.runs) ** 0.5 if 0 < p < 1 else (float("inf") if gap else 0.0)


@frozen
class ComparedTally(Record):
    """The comparison of a `tally`, with one of `rows` for each event, or for each output that can occur or did.

    If the exact probabilities are right, the comparison is a mismatch with probability at most 1 - `confidence`.
    `reason` says why some probabilities are missing.
    """

    FIELDS = (
        "schema program=tally.program.name constants=tally.program.constants:text input=tally.input:text eps=tally.eps "
        "runs=tally.runs seed=tally.seed gamma confidence:decimal verdict=agreement reason outputs"
    )

    schema = "dipc.simulate/1"

    tally: Tally
    confidence: Fraction
    rows: tuple[ComparedEvent, ...]
    reason: str | None = None

    def __bool__(self) -> bool:
        raise TypeError("a comparison has one of three outcomes and no truth value: look at its `agreement`")

    @property
    def agreement(self) -> Agreement:
        agreements = {row.agreement for row in self.rows}
        for agreement in (Agreement.MISMATCH, Agreement.UNDECIDED):
            if agreement in agreements:
                return agreement
        return Agreement.MATCH

    @property
    def gamma(self) -> Fraction | None:
        """The greatest distance at which an output still counts as a stated one; None if no outputs are stated."""
        return self.tally.gamma if self.tally.events else None

    @property
    def outputs(self) -> list[dict[str, object]]:
        """The JSON objects of the rows."""
        fields = "output count estimate interval probability=closed_form at=enclosure:digits"
        return [json_object(row, fields) | {"ok": None if row.enclosure is None else row.matches} for row in self.rows]


def estimates(tally: Tally, reason: str, confidence: Fraction = CONFIDENCE) -> ComparedTally:
    """Return the counts of `tally` alone, by decreasing count, with the `reason` why no exact probability is known.

    With probability `confidence`, all intervals around the counts contain the true probabilities.
    """
    return judge(tally, nothing(Undecided(reason), tally.events), confidence)


def compare(tally: Tally, exact: Program, confidence: Fraction = CONFIDENCE) -> ComparedTally:
    """Compare the counts of `tally` with the exact probabilities of `exact`, with this `confidence`.

    The probabilities are those of the events of `tally`, or of all values of finite outputs. `exact` need not be the
    program that was run, but must have its inputs and outputs. Raises DiagnosticError for mistakes in `exact`.
    """
    return judge(tally, expect(exact, tally.input, tally.events, tally.gamma), confidence)


def judge(tally: Tally, expected: Expected, confidence: Fraction = CONFIDENCE) -> ComparedTally:
    """Compare the counts of `tally` with the exact probabilities `expected` of the same events.

    Both must be for one input and one gamma. If the probabilities are right, the comparison is a mismatch with
    probability at most 1 - `confidence`.
    """
    if tally.events:
        error = error_of_each(confidence, len(tally.events))
        asked = zip(tally.events, tally.hits, expected.events, strict=True)
        rows = [
            _compared(tally, {name: show_value(value) for name, value in event.items()}, count, error, probability)
            for event, count, probability in asked
        ]
    else:
        rows = _output_rows(tally, expected.outcomes, confidence)
    reasons = dict.fromkeys(row.reason for row in rows if row.reason is not None)
    if not reasons and all(not row.output for row in rows):
        reasons = dict.fromkeys([_NOTHING_COMPARED])
    return ComparedTally(tally, confidence, tuple(rows), "; ".join(reasons) or None)


def _output_rows(
    tally: Tally, outcomes: tuple[OutputProbability, ...] | Undecided, confidence: Fraction
) -> list[ComparedEvent]:
    """Return a row for each of `outcomes`, and for each other output observed in `tally`.

    A row compares how often an output was observed with its exact probability. If `outcomes` is a tuple, all other
    outputs have the probability 0. If `outcomes` is Undecided, no probability is known. With probability `confidence`
    the intervals of all rows contain the true probabilities.
    """
    counts = {
        tuple(None if value is None else show_value(value) for value in values): count
        for values, count in tally.counts.most_common()
    }
    forms: dict[tuple[str | None, ...], Probability] = {}
    others: Probability | Undecided
    if isinstance(outcomes, Undecided):
        others, share = outcomes, len(counts)
    else:
        forms = {tuple(outcome.output[name] for name in tally.outputs): outcome.probability for outcome in outcomes}
        # An output of probability 0 takes no share of the error: it is never wrongly a mismatch.
        others, share = ClosedForm(ExpPoly.ZERO), len(forms)
    error = error_of_each(confidence, share)
    keys = [*forms, *(key for key in counts if key not in forms)]
    outputs = [dict(zip(tally.outputs, key, strict=True)) for key in keys]
    return [
        _compared(tally, output, counts.get(key, 0), error, forms.get(key, others))
        for key, output in zip(keys, outputs, strict=True)
    ]


def _compared(
    tally: Tally, output: Output, count: int, error: float, probability: Probability | Undecided
) -> ComparedEvent:
    interval, outputs = clopper_pearson(count, tally.runs, error), ", ".join(output)
    if isinstance(probability, Undecided):
        return ComparedEvent(outputs, output, count, tally.runs, interval, None, None, probability.reason)
    return ComparedEvent(outputs, output, count, tally.runs, interval, probability, probability.enclosure(tally.eps))


# --- runs, and their comparison --------------------------------------------------------------------


class GivenSimulation(TypedDict, total=False):
    """The options of a simulation, as keyword arguments."""

    runs: int
    seed: int
    outputs: Sequence[Mapping[str, object]]
    gamma: Fraction | int | str
    confidence: Fraction | str
    loop_limit: int
    progress: Progress | None


_DEFAULTS: dict[str, Any] = {
    "runs": 100_000,
    "seed": 0,
    "outputs": (),
    "gamma": 0,
    "confidence": CONFIDENCE,
    "loop_limit": LOOP_LIMIT,
    "progress": None,
}


@takes(GivenSimulation, _DEFAULTS)
def simulate(
    program: ProgramGiven,
    input: Mapping[str, object],  # noqa: A002 - the contract's name
    eps: Fraction | int | str,
    **given: Unpack[GivenSimulation],
) -> ComparedTally:
    """Run `program` many times at `input` and `eps`, and compare the counts with its exact probabilities.

    The options `given` are `runs`, `seed`, `outputs`, `gamma`, `confidence`, `loop_limit` and `progress`. By default,
    each combination of values of the finite outputs is an event, whatever the real outputs are. If `outputs` are given,
    each of them is an event, with real outputs within `gamma`. `input`, `outputs` and `gamma` are as for
    `Program.probability`. If the exact probabilities are right, the comparison is a mismatch with probability at most 1
    - `confidence`. Equal seeds give equal counts. Raises DiagnosticError for values that do not fit the program and for
    failures in some run, TypeError for floats.
    """
    options = {**_DEFAULTS, **given}
    program = as_program(program, eps=eps)
    runs = options["runs"]
    point, level = exact_eps(eps), exact_confidence(options["confidence"])
    radius = exact_rational(options["gamma"], "gamma")
    if radius < 0:
        raise ValueError(f"gamma must be at least 0, not {radius}")
    if runs < 1:
        raise ValueError(f"the number of runs must be at least 1, not {runs}")
    core, pool = program.core, CellPool()
    values = _by_name(program.inputs, input_cells(core, input, pool))
    events = [_by_name(program.outputs, output_cells(core, output, pool)) for output in options["outputs"]]
    # First, because it finds endless loops and values out of range on paths that no run may take.
    expected = expect(program, values, events, radius)
    tally = run(
        core,
        values,
        point,
        runs,
        seed=options["seed"],
        events=events,
        gamma=radius,
        loop_limit=options["loop_limit"],
        progress=options["progress"],
    )
    return judge(tally, expected, level)


def _by_name(names: Sequence[str], cells: Sequence[Cell | None]) -> dict[str, Value]:
    return {
        name: cell.value for name, cell in zip(names, cells, strict=True) if cell is not None and cell.value is not None
    }
