"""What is drawn of a claim: Pr and the required 1 - beta over eps, with where it fails.

Points are computed from exact enclosures; only their drawing is floating-point, and nothing is decided by it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.limits import Limits, Undecided
from dipc.algebra.quotient import fraction_of
from dipc.decide.decide import decide
from dipc.decide.engine import Engine
from dipc.decide.obligation import Counterexample, FailureInterval
from dipc.inverse.claims import Claimed, claims_of, measured
from dipc.inverse.solution import Cell, Solution
from dipc.inverse.tighten import Tightest
from dipc.outcome.outcome import Outcome
from dipc.outcome.tighten import Member
from dipc.outcome.words import assignment_text, numbered
from dipc.questions.outcome import RowResult
from dipc.questions.privacy.check import PrivacyQuestion
from dipc.questions.privacy.outcome import PrivacyReport
from dipc.questions.report import Report
from dipc.questions.source import Source
from dipc.rules.posed import Posed, Variable
from dipc.sign.interval import Interval
from dipc.sign.piecewise import BetaForm, PiecewiseForm

#: Points of one curve.
POINTS = 160

#: Rows that are looked at.
_MOST_ROWS = 50_000

#: Digits of the ends of what is shaded.
_DIGITS = 12

#: Numbers of rows in the name of a curve.
_LISTED = 6

#: Beyond e to the power of this nothing is drawn.
_MOST_EXPONENT = 10_000


@dataclass(frozen=True, slots=True)
class Curve:
    """One inequality, `bound` >= 1 - `beta`, of the cases called `name`; `labels` say what its two sides are. `xs` are
    values of `variable`; `bounds` and `required` the two sides there, None where there is no number to draw. `optima`
    are the values at which nothing is left over."""

    name: str
    variable: Variable
    labels: tuple[str, str]
    bound: ClosedForm
    beta: BetaForm
    xs: tuple[float, ...]
    bounds: tuple[float | None, ...]
    required: tuple[float | None, ...]
    failing: tuple[FailureInterval, ...] = ()
    counterexample: Counterexample | None = None
    optima: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class _Inequality:
    """What a curve is drawn of; with `factor` times beta in the place of beta, which is just enough at the `optima`."""

    name: str
    variable: Variable
    labels: tuple[str, str]
    intervals: Sequence[Interval]
    bound: ClosedForm
    beta: BetaForm
    failing: tuple[FailureInterval, ...] = ()
    counterexample: Counterexample | None = None
    factor: Fraction = Fraction(1)
    optima: Sequence[Cell | None] = ()

    def curve(self) -> Curve:
        """Both sides at many values."""
        grid = _grid(self.intervals, self.bound, self.failing)
        betas = [_number(self.beta, eps) for eps in grid]
        return Curve(
            self.name,
            self.variable,
            self.labels,
            self.bound,
            self.beta,
            tuple(map(float, grid)),
            tuple(_number(self.bound, eps) for eps in grid),
            tuple(None if beta is None else 1 - float(self.factor) * beta for beta in betas),
            self.failing,
            self.counterexample,
            tuple(float((at[0] + at[1]) / 2) for at in self.optima if at is not None and at[0] > 0),
        )


def curves_of(outcome: Outcome, most: int) -> tuple[Curve, ...]:
    """The inequalities behind an answer, those that matter most first, `most` of them; none where it has none."""
    match outcome.result:
        case Report() as report:
            assert outcome.engine is not None
            if outcome.question.table is None:
                return _of_classes(outcome.question, outcome.engine, most)
            return _of_rows(outcome.question, report, most)
        case Member(tightest=found):
            return _with_factor(found, most)
        case Solution() as found:
            return _of_solution(found, most)
        case PrivacyReport() as report if isinstance(outcome.question, PrivacyQuestion):
            return _of_privacy(outcome.question, report, most)
    return ()


def _of_rows(source: Source, report: Report, most: int) -> tuple[Curve, ...]:
    """The different inequalities behind the rows, those that fail first; those of rows past a limit are left out."""
    found: dict[tuple[ClosedForm, BetaForm], list[RowResult]] = {}
    word = "row" if report.inputs is None else "class"
    for row in islice(report.rows, _MOST_ROWS):
        for one in row.obligations or (row,):
            if one.closed_form is not None:
                found.setdefault((one.closed_form, one.beta_form), []).append(one)
    chosen = sorted(found.items(), key=lambda item: item[1][0].counterexample is None)[:most]
    return tuple(
        _Inequality(
            numbered(word, tuple(dict.fromkeys(row.row for row in alike)), _LISTED),
            Variable.EPS,
            labels(),
            source.intervals,
            bound,
            beta,
            alike[0].failing,
            alike[0].counterexample,
        ).curve()
        for (bound, beta), alike in chosen
    )


def _of_classes(source: Source, engine: Engine, most: int) -> tuple[Curve, ...]:
    posed: list[tuple[int, Posed]] = []
    for case in source.cases():
        try:
            posed.extend((case.number, one) for one in case.posed())
        except Undecided:
            continue
        if len(posed) >= most:
            break
    claimed, _ = measured(posed, engine)
    return tuple(
        _Inequality(
            numbered("class", one.rows, _LISTED),
            one.variable,
            labels(exact=one.exact),
            one.intervals,
            one.bound,
            one.beta,
        ).curve()
        for one in claimed[:most]
    )


def _with_factor(found: Tightest, most: int) -> tuple[Curve, ...]:
    """The inequalities of a claim with the least factor times beta in the place of beta, those that need it first,
    `most` of them; none where there is no such factor."""
    if found.factor is None:
        return ()
    factor = found.factor[0]
    needed = [place.claimed for place in found.places]
    claims = sorted(found.claims.distinct, key=lambda one: all(one is not other for other in needed))
    return tuple(
        _Inequality(
            numbered(found.word, one.rows, _LISTED),
            one.variable,
            labels("1 − f·β", exact=one.exact),
            one.intervals,
            one.bound,
            one.beta,
            factor=factor,
            optima=[place.eps for place in found.places if place.claimed is one and place.attained],
        ).curve()
        for one in claims[:most]
    )


def _of_solution(found: Solution, most: int) -> tuple[Curve, ...]:
    """The inequalities of the claim with the answer in it, those of the cases that prevent a smaller one first, with
    where they fail where eps was asked for; none where there is no answer."""
    question = found.answered()
    if question is None:
        return ()
    try:
        claims = claims_of(question).distinct
    except Undecided:
        return ()
    return tuple(
        _Inequality(
            numbered(question.word, one.rows, _LISTED),
            one.variable,
            labels(exact=one.exact),
            one.intervals,
            one.bound,
            one.beta,
            _failing(one, question.program.limits) if one.exact else (),
            optima=[found.at] if found.at is not None and not {*found.rows}.isdisjoint(one.rows) else (),
        ).curve()
        for one in sorted(claims, key=lambda one: {*found.rows}.isdisjoint(one.rows))[:most]
    )


def _failing(claimed: Claimed, limits: Limits) -> tuple[FailureInterval, ...]:
    with suppress(Undecided):
        return decide(claimed.bound, claimed.beta, claimed.intervals, limits, _DIGITS).failing
    return ()


def _of_privacy(question: PrivacyQuestion, report: PrivacyReport, most: int) -> tuple[Curve, ...]:
    """What is allowed, and what is probable: for a counterexample with all the eps at which it is one, else for what
    the verdict rests upon, `most` of it."""
    intervals, found = report.claim.intervals, report.counterexample
    sides = question.compared(report, most)
    failing: tuple[FailureInterval, ...] = ()
    at = None
    if found is not None:
        with suppress(Undecided):
            beta = PiecewiseForm(1 - found.sides.probability.value)
            failing = decide(found.sides.allowed, beta, intervals, question.program.limits, _DIGITS).failing
        at = Counterexample(found.eps, found.allowed, found.probability)
    return tuple(
        _Inequality(
            f"u: {assignment_text(one.input)}; u': {assignment_text(one.adjacent)}; "
            + " or ".join(assignment_text(output) for output in one.outputs),
            Variable.EPS,
            ("allowed", "probability at u"),
            intervals,
            one.allowed,
            PiecewiseForm(1 - one.probability.value),
            failing if number == 0 else (),
            at if number == 0 else None,
        ).curve()
        for number, one in enumerate(sides)
    )


def labels(required: str = "1 − β", *, exact: bool = True) -> tuple[str, str]:
    """What the sides of a claim about accuracy are called; `exact`: the first is the probability itself."""
    return "probability" if exact else "proved lower bound", f"required: {required}"


def _grid(intervals: Sequence[Interval], bound: ClosedForm, failing: Sequence[FailureInterval]) -> list[Fraction]:
    """Rational eps from where little has happened yet to where all is over, evenly by their logarithms."""
    rates = [abs(q) for part in fraction_of(bound.value) for _, q, _ in part.terms() if q] or [Fraction(1)]
    ends = [end.low for piece in failing for end in (piece.start, piece.end) if not end.infinite and end.low > 0]
    low = min(Fraction(1, 20) / max(rates), *[end / 4 for end in ends], Fraction(1))
    high = max(min(8 / min(rates), 60 / max(rates)), *[2 * end for end in ends], Fraction(1, 100))
    first, last = intervals[0], intervals[-1]
    low = max(low, first.lower)
    if last.upper is not None:
        high = min(high, last.upper)
    if low >= high:
        low = first.lower or high / 1000
    ratio = math.log(high / low) / (POINTS - 1) if high > low else 0.0
    points = [low * Fraction(math.exp(ratio * n)).limit_denominator(10**6) for n in range(POINTS)]
    return [point for point in points if any(point in interval for interval in intervals)] or [high]


def _number(form: ClosedForm | BetaForm, eps: Fraction) -> float | None:
    """The value at eps, to a few digits; None where there is none, or the numbers are huge."""
    try:
        closed = form if isinstance(form, ClosedForm) else form.closed
        if closed is not None:
            parts = fraction_of(closed.value)
            if any(abs(q) * eps > _MOST_EXPONENT for part in parts for _, q, _ in part.terms()):
                return None
        low, high = form.at(eps, 12)
        return float((low + high) / 2)
    except (OverflowError, ValueError, Undecided):
        return None
