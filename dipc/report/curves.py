"""What is drawn of a claim: Pr and the required 1 - beta over eps, with where it fails.

Points are computed from exact enclosures; only their drawing is floating-point, and nothing is decided by it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.limits import Limits, Undecided
from dipc.algebra.quotient import fraction_of
from dipc.inverse.claims import Claimed, claims_of, measured
from dipc.inverse.solution import Cell, Solution
from dipc.inverse.tighten import Tightest
from dipc.obligations.decide import decide
from dipc.obligations.engine import Engine
from dipc.obligations.verdict import Counterexample, FailureInterval
from dipc.privacy.check import PrivacyQuestion
from dipc.privacy.outcome import PrivacyReport
from dipc.report.vectors import assignment_text
from dipc.report.words import numbered
from dipc.sign.interval import Interval
from dipc.sign.piecewise import BetaForm, PiecewiseForm
from dipc.sources.outcome import RowResult
from dipc.sources.source import Posed, Source, Variable

#: Points of one curve.
POINTS = 160

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


def curves_of(source: Source, rows: Sequence[RowResult], word: str, engine: Engine, most: int) -> tuple[Curve, ...]:
    """The different inequalities behind these rows, those that fail first, `most` of them; those of rows past a limit
    are left out. `word` is what the rows are called."""
    found: dict[tuple[ClosedForm, BetaForm], list[RowResult]] = {}
    if source.table is None:
        return _of_classes(source, word, engine, most)
    for row in rows:
        for one in row.obligations or (row,):
            if one.closed_form is not None:
                found.setdefault((one.closed_form, one.beta_form), []).append(one)
    chosen = sorted(found.items(), key=lambda item: item[1][0].counterexample is None)[:most]
    return tuple(
        _curve(
            numbered(word, tuple(dict.fromkeys(row.row for row in alike)), _LISTED),
            Variable.EPS,
            labels(),
            source.intervals,
            bound,
            beta,
            alike[0].failing,
            alike[0].counterexample,
        )
        for (bound, beta), alike in chosen
    )


def _of_classes(source: Source, word: str, engine: Engine, most: int) -> tuple[Curve, ...]:
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
        _curve(
            numbered(word, one.rows, _LISTED), one.variable, labels(exact=one.exact), one.intervals, one.bound, one.beta
        )
        for one in claimed[:most]
    )


def curves_with_factor(found: Tightest, most: int) -> tuple[Curve, ...]:
    """The inequalities of a claim with the least factor times beta in the place of beta, those that need it first,
    `most` of them; none where there is no such factor."""
    if found.factor is None:
        return ()
    factor = found.factor[0]
    needed = [place.claimed for place in found.places]
    claims = sorted(found.claims.distinct, key=lambda one: all(one is not other for other in needed))
    return tuple(
        _curve(
            numbered(found.word, one.rows, _LISTED),
            one.variable,
            labels("1 − f·β", exact=one.exact),
            one.intervals,
            one.bound,
            one.beta,
            factor=factor,
            optima=[place.eps for place in found.places if place.claimed is one and place.attained],
        )
        for one in claims[:most]
    )


def curves_of_solution(found: Solution, most: int) -> tuple[Curve, ...]:
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
        _curve(
            numbered(question.word, one.rows, _LISTED),
            one.variable,
            labels(exact=one.exact),
            one.intervals,
            one.bound,
            one.beta,
            _failing(one, question.program.limits) if one.exact else (),
            optima=[found.at] if found.at is not None and not {*found.rows}.isdisjoint(one.rows) else (),
        )
        for one in sorted(claims, key=lambda one: {*found.rows}.isdisjoint(one.rows))[:most]
    )


def _failing(claimed: Claimed, limits: Limits) -> tuple[FailureInterval, ...]:
    with suppress(Undecided):
        return decide(claimed.bound, claimed.beta, claimed.intervals, limits, _DIGITS).failing
    return ()


def curves_of_privacy(question: PrivacyQuestion, report: PrivacyReport, most: int) -> tuple[Curve, ...]:
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
        _curve(
            f"u: {assignment_text(one.input)}; u': {assignment_text(one.adjacent)}; "
            + " or ".join(assignment_text(output) for output in one.outputs),
            Variable.EPS,
            ("allowed", "probability at u"),
            intervals,
            one.allowed,
            PiecewiseForm(1 - one.probability.value),
            failing if number == 0 else (),
            at if number == 0 else None,
        )
        for number, one in enumerate(sides)
    )


def labels(required: str = "1 − β", *, exact: bool = True) -> tuple[str, str]:
    """What the sides of a claim about accuracy are called; `exact`: the first is the probability itself."""
    return "probability" if exact else "proved lower bound", f"required: {required}"


def _curve(
    name: str,
    variable: Variable,
    sides: tuple[str, str],
    intervals: Sequence[Interval],
    bound: ClosedForm,
    beta: BetaForm,
    failing: tuple[FailureInterval, ...] = (),
    counterexample: Counterexample | None = None,
    *,
    factor: Fraction = Fraction(1),
    optima: Sequence[Cell | None] = (),
) -> Curve:
    grid = _grid(intervals, bound, failing)
    return Curve(
        name,
        variable,
        sides,
        bound,
        beta,
        tuple(map(float, grid)),
        tuple(_number(bound, eps) for eps in grid),
        tuple(None if (value := _number(beta, eps)) is None else 1 - float(factor) * value for eps in grid),
        failing,
        counterexample,
        tuple(float((at[0] + at[1]) / 2) for at in optima if at is not None and at[0] > 0),
    )


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
