"""What shows that a function is nonnegative, negative somewhere, or positive, as data."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, assert_never

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Budget, Limits, Undecided
from dipc.certificate.numbers import rational
from dipc.certificate.signs import analysis_data, chart_data
from dipc.certificate.terms import ring_data
from dipc.decide.obligation import Counterexample
from dipc.sign.chart import Analysis, Decision, Fails, Holds, analyze
from dipc.sign.interval import Interval
from dipc.sign.polynomial import normal_form


def interval_proof(interval: Interval, decision: Decision | None) -> dict[str, Any] | None:
    """What shows f >= 0 on the interval, or where it is negative; None where neither is known."""
    data: dict[str, Any] = {"interval": str(interval)}
    match decision:
        case None:
            return None
        case Holds(proof=Analysis() as analysis):
            return data | analysis_data(analysis)
        case Fails(analysis=Analysis() as analysis, chart=chart):
            return data | analysis_data(analysis) | chart_data(chart, analysis)
        case Holds() | Fails():
            assert interval.is_point
            return data
    assert_never(decision)


def cell_proof(interval: Interval, decision: Decision | None) -> dict[str, Any]:
    """What shows f >= 0 on a cell; `decision` is None for f = 0."""
    return interval_proof(interval, decision) or {"interval": str(interval)}


def counterexample_data(found: Counterexample) -> dict[str, Any]:
    """The eps and the two enclosures."""

    def pair(ends: tuple[Fraction, Fraction]) -> list[str]:
        return [rational(end) for end in ends]

    return {
        "eps": rational(found.eps),
        "probability": pair(found.probability),
        "required": pair(found.required),
    }


def positive_proof(function: ExpPoly, limits: Limits, intervals: Sequence[Interval]) -> dict[str, Any]:
    """A denominator with what shows that it is positive for every eps > 0, or on these intervals."""
    data: dict[str, Any] = {"function": ring_data(function)}
    if all(c > 0 for _, _, c in function.terms()):
        return data | {"proof": "coefficients"}
    try:
        everywhere = _analysis(function, Interval.positive(), limits)
        if not everywhere.roots() or not intervals:
            assert everywhere.left > 0
            assert not everywhere.roots()
            return data | {"proof": analysis_data(everywhere)}
        return data | {"proof": [_positive_on(function, interval, limits) for interval in intervals]}
    except Undecided as undecided:
        return data | {"proof": None, "reason": undecided.reason}


def _positive_on(function: ExpPoly, interval: Interval, limits: Limits) -> dict[str, Any]:
    data = {"interval": str(interval)}
    return data if interval.is_point else data | analysis_data(_analysis(function, interval, limits))


def _analysis(function: ExpPoly, interval: Interval, limits: Limits) -> Analysis:
    budget = Budget(limits)
    return analyze(normal_form(function, budget), interval, budget, skip_even=False)
