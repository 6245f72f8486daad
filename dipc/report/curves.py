"""What is drawn of a claim: Pr and the required 1 - beta over eps, with where it fails.

Points are computed from exact enclosures; only their drawing is floating-point, and nothing is decided by it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.limits import Undecided
from dipc.algebra.quotient import fraction_of
from dipc.inverse.claims import measured
from dipc.inverse.tighten import Tightest
from dipc.obligations.engine import Engine
from dipc.obligations.verdict import Counterexample, FailureInterval
from dipc.sign.interval import Interval
from dipc.sign.piecewise import BetaForm
from dipc.sources.outcome import RowResult
from dipc.sources.source import Posed, Source, Variable

#: Points of one curve.
POINTS = 160

#: Beyond e to the power of this nothing is drawn.
_MOST_EXPONENT = 10_000


@dataclass(frozen=True, slots=True)
class Curve:
    """One inequality, `bound` >= 1 - `beta`, with the rows that come to it. `xs` are values of `variable`; `bounds` and
    `required` the two sides there, None where there is no number to draw. `exact`: the bound is the probability."""

    rows: tuple[int, ...]
    variable: Variable
    exact: bool
    bound: ClosedForm
    beta: BetaForm
    xs: tuple[float, ...]
    bounds: tuple[float | None, ...]
    required: tuple[float | None, ...]
    failing: tuple[FailureInterval, ...] = ()
    counterexample: Counterexample | None = None


def curves_of(source: Source, rows: Sequence[RowResult], engine: Engine, most: int) -> tuple[Curve, ...]:
    """The different inequalities behind these rows, those that fail first, `most` of them; those of rows past a limit
    are left out."""
    found: dict[tuple[ClosedForm, BetaForm], list[RowResult]] = {}
    if source.table is None:
        return _of_classes(source, engine, most)
    for row in rows:
        for one in row.obligations or (row,):
            if one.closed_form is not None:
                found.setdefault((one.closed_form, one.beta_form), []).append(one)
    chosen = sorted(found.items(), key=lambda item: item[1][0].counterexample is None)[:most]
    return tuple(
        _curve(
            tuple(dict.fromkeys(row.row for row in alike)),
            Variable.EPS,
            source.intervals,
            bound,
            beta,
            alike[0].failing,
            alike[0].counterexample,
        )
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
        _curve(one.rows, one.variable, one.intervals, one.bound, one.beta, exact=one.exact) for one in claimed[:most]
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
        _curve(one.rows, one.variable, one.intervals, one.bound, one.beta, exact=one.exact, factor=factor)
        for one in claims[:most]
    )


def _curve(
    rows: tuple[int, ...],
    variable: Variable,
    intervals: Sequence[Interval],
    bound: ClosedForm,
    beta: BetaForm,
    failing: tuple[FailureInterval, ...] = (),
    counterexample: Counterexample | None = None,
    *,
    exact: bool = True,
    factor: Fraction = Fraction(1),
) -> Curve:
    grid = _grid(intervals, bound, failing)
    return Curve(
        rows,
        variable,
        exact,
        bound,
        beta,
        tuple(map(float, grid)),
        tuple(_number(bound, eps) for eps in grid),
        tuple(None if (value := _number(beta, eps)) is None else 1 - float(factor) * value for eps in grid),
        failing,
        counterexample,
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
