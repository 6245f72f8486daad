"""Pr against 1 - beta over eps, drawn. The points are exact enclosures; nothing is decided by a picture."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dipc.algebra.limits import Undecided
from dipc.obligations.verdict import Verdict
from dipc.sources.outcome import RowResult
from dipc.sources.report import Report

#: Points of one curve.
_POINTS = 200

#: Where eps has no end, the curve ends here, or past all that happens before.
_USUAL_END = Fraction(10)


def draw(report: Report, number: int | None, axes: Any) -> Any:
    """Draw one row, by default the first that fails, else the first that says something; the axes drawn on.

    Raises ValueError for a row whose probability is not known, ImportError without matplotlib.
    """
    row = _chosen(report, number)
    form = row.closed_form
    if form is None:
        raise ValueError(f"row {row.row} has no probability in closed form: there is nothing to draw")
    if axes is None:
        try:
            from matplotlib import pyplot as plt
        except ImportError:
            raise ImportError("a plot needs matplotlib: pip install 'dipc-verifier[plot]'") from None
        _, axes = plt.subplots()
    low, high = _range(report, row)
    points = [low + (high - low) * step / _POINTS for step in range(_POINTS + 1)]
    axes.plot([float(eps) for eps in points], [form.float(eps) for eps in points], label="Pr", color="#0072B2")
    required = [(eps, _required(row, eps)) for eps in points]
    known = [(float(eps), value) for eps, value in required if value is not None]
    axes.plot([x for x, _ in known], [y for _, y in known], label="1 - beta", color="#D55E00", linestyle="--")
    for failing in row.failing:
        end = high if failing.end.high is None else failing.end.high
        axes.axvspan(float(failing.start.low), float(end), color="#D55E00", alpha=0.12)
    axes.set_xlabel("eps")
    axes.set_ylim(-0.02, 1.02)
    axes.set_title(f"{report.program}, row {row.row}: {row.verdict}", loc="left", fontsize=10)
    axes.legend(loc="lower right")
    return axes


def _chosen(report: Report, number: int | None) -> RowResult:
    if number is not None:
        for row in report.rows:
            if row.row == number:
                return row
        raise ValueError(f"there is no row {number}")
    found = next(report.select(Verdict.INACCURATE), None)
    found = found or next((row for row in report.rows if not row.vacuous and row.closed_form is not None), None)
    if found is None:
        raise ValueError("no row of the report has a probability and says something: there is nothing to draw")
    return found


def _range(report: Report, row: RowResult) -> tuple[Fraction, Fraction]:
    """From the least eps asked about to the greatest, or past the last one at which something happens."""
    from dipc.library.forms import intervals_of

    intervals = intervals_of(report.eps)
    first, last = intervals[0], intervals[-1]
    ends = [end.high for found in row.failing for end in (found.start, found.end) if end.high is not None]
    high = last.upper or max(_USUAL_END, *(2 * end for end in ends), 2 * last.lower)
    low = first.lower or high / _POINTS
    return (low / 2, low * 2) if low == high else (low, high)


def _required(row: RowResult, eps: Fraction) -> float | None:
    """1 - beta, None where beta has no value or none that can be written."""
    try:
        low, high = row.beta_form.at(eps, 20)
    except (Undecided, ValueError):
        return None
    return float(1 - (low + high) / 2)
