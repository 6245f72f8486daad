"""The tightest constants as a picture: the factor needed at each eps, or the least factor over a family.

Points are computed from exact enclosures; only their drawing is floating-point, and nothing is decided by it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Undecided
from dipc.algebra.quotient import fraction_of
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.report.numbers import exact
from dipc.report.picture import COLORS, GRAY, check_picture, new_figure, save
from dipc.report.words import numbered, plural

if TYPE_CHECKING:
    from dipc.inverse.claims import Claimed
    from dipc.inverse.tighten import Tightest, TightSpot
    from dipc.report.tighten_data import Member
    from dipc.sign.piecewise import BetaForm

#: Points of one curve, and curves drawn beside those that need the least factor.
_POINTS = 240
_OTHERS = 24

#: Beyond e to the power of this nothing is drawn.
_MOST_EXPONENT = 10_000

_MARKERS = "osD^vPX"


def check_plot(path: Path, family: Mapping[str, Sequence[Fraction]]) -> None:
    """Refuse, before any work is done, what cannot be drawn: another kind of file, too many parameters, no matplotlib.

    Raises DiagnosticError.
    """
    check_picture(path)
    ranged = [name for name, values in family.items() if len(values) > 1]
    if len(ranged) > 2:
        message = f"a plot has room for two constants with several values, not {len(ranged)}"
        raise DiagnosticError(Diagnostic("E1004", message, notes=("fix the others, or write a table: --format csv",)))


def write_plot(path: Path, members: Sequence[Member], program: str, beta: str) -> None:
    """Draw one member against eps, or several against their constants, and write the picture.

    Raises DiagnosticError where the file cannot be written.
    """
    figure, axes = new_figure()
    if len(members) == 1:
        _draw_needs(axes, members[0].found)
        axes.set_title(f"{program}: the factor of beta = {beta} that is needed", fontsize=10, loc="left")
    else:
        _draw_family(axes, members)
        axes.set_title(f"{program}: the least factor of beta = {beta}", fontsize=10, loc="left")
    save(figure, path)


# --- one program, over eps -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Curve:
    """(eps, factor needed) at some eps, without those where it is infinite."""

    xs: list[float]
    ys: list[float]


def _draw_needs(axes: Any, found: Tightest) -> None:
    grid = _grid(found)
    worst = list({id(place.claimed): place.claimed for place in found.places}.values())[: len(COLORS)]
    others = [one for one in found.claims.distinct if one not in worst][:_OTHERS]
    for number, obligation in enumerate(others):
        curve = _curve(obligation, grid)
        axes.plot(
            curve.xs, curve.ys, color=GRAY, linewidth=1, label=f"other {plural(found.word)}" if number == 0 else None
        )
    for color, obligation in zip(COLORS, worst, strict=False):
        curve = _curve(obligation, grid)
        axes.plot(
            curve.xs, curve.ys, color=color, linewidth=2, label=numbered(found.word, obligation.rows, 4), zorder=3
        )
    if found.factor is not None and found.places:
        _mark_maximum(axes, found, found.factor, worst)
    axes.set_xscale("log")
    axes.set_xlim(float(grid[0]), float(grid[-1]))
    axes.xaxis.set_major_formatter(lambda eps, _: f"{eps:g}")
    if found.factor is None:
        axes.set_yscale("log")
        axes.set_ylim(bottom=max(axes.get_ylim()[0], 1e-9))
    else:
        axes.set_ylim(0, 1.12 * axes.get_ylim()[1])
    axes.set_xlabel(" and ".join(sorted({str(one.variable) for one in found.claims.distinct})) or "eps")
    axes.set_ylabel("(1 − Pr) / beta")
    axes.legend(loc="upper right", frameon=False, fontsize=9)


def _mark_maximum(axes: Any, found: Tightest, factor: tuple[Fraction, Fraction], worst: Sequence[Claimed]) -> None:
    height = float(factor[0])
    axes.axhline(height, color="#555555", linewidth=0.9, linestyle=(0, (4, 3)))
    marked = [place for place in found.places if place.eps is not None and any(place.eps)]
    for place in marked:
        if place.claimed in worst:
            color = COLORS[list(worst).index(place.claimed)]
            filled = color if place.attained else "white"
            at = float(_eps(place))
            axes.plot([at], [height], marker="o", markersize=7, color=color, markerfacecolor=filled, zorder=5)
    axes.annotate(
        f"f = {exact(factor[0])}" + ("" if factor[0] == factor[1] or exact(factor[0]).endswith("…") else "…"),
        xy=(0.01, height),
        xycoords=("axes fraction", "data"),
        xytext=(0, 5),
        textcoords="offset points",
        fontsize=9,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
    )


def _eps(place: TightSpot) -> Fraction:
    assert place.eps is not None
    return place.eps[0]


def _grid(found: Tightest) -> list[Fraction]:
    """Rational eps from well before the first maximum to well after the last, evenly by their logarithms."""
    intervals = found.claims.intervals
    peaks = [_eps(place) for place in found.places if place.eps is not None and any(place.eps)]
    if not peaks:
        rates = [abs(q) for one in found.claims.distinct for q in _exponents(one)]
        peaks = [1 / max(rates), 1 / min(rates)] if rates else [Fraction(1)]
    low, high = min(peaks) / 60, max(peaks) * 12
    first, last = intervals[0], intervals[-1]
    low = max(low, first.lower) if first.lower else low
    if last.upper is not None:
        high = min(high, last.upper)
    if low >= high:
        low = first.lower or high / 1000
    ratio = math.log(float(high / low)) / (_POINTS - 1) if high > low else 0.0
    points = [low * Fraction(math.exp(ratio * n)).limit_denominator(10**6) for n in range(_POINTS)]
    return [point for point in points if any(point in interval for interval in intervals)] or [low]


def _exponents(obligation: Claimed) -> list[Fraction]:
    above, below = fraction_of(obligation.bound.value)
    return [q for part in (above, below) for _, q, _ in part.terms() if q]


def _curve(obligation: Claimed, grid: Sequence[Fraction]) -> _Curve:
    above, below = fraction_of(obligation.bound.value)
    missing = below - above
    xs, ys = [], []
    for eps in grid:
        value = _need(missing, below, obligation.beta, eps)
        if value is not None:
            xs.append(float(eps))
            ys.append(value)
    return _Curve(xs, ys)


def _need(missing: ExpPoly, below: ExpPoly, beta: BetaForm, eps: Fraction) -> float | None:
    """(missing/below)/beta at eps, to a few digits; None where beta is not positive, or the numbers are huge."""
    numerator, denominator = beta.fraction_at(eps)
    parts = (missing, denominator, below, numerator)
    if numerator.value_is_zero(eps) or any(abs(q) * eps > _MOST_EXPONENT for f in parts for _, q, _ in f.terms()):
        return None
    if missing.value_is_zero(eps):
        return 0.0
    try:
        a, b, c, d = (sum(part.enclosure(eps, 12)) / 2 for part in parts)
        return float(a * b / (c * d)) if c * d > 0 else None
    except (OverflowError, ZeroDivisionError, Undecided):
        return None


# --- a family --------------------------------------------------------------------------------------


def _draw_family(axes: Any, members: Sequence[Member]) -> None:
    names = list(members[0].constants)
    ranged = [name for name in names if len({member.constants[name] for member in members}) > 1]
    across, *by = ranged
    groups: dict[Fraction | None, list[Member]] = {}
    for member in members:
        groups.setdefault(member.constants[by[0]] if by else None, []).append(member)
    factors: list[float] = []
    for number, (value, group) in enumerate(groups.items()):
        color = COLORS[number % len(COLORS)]
        points = sorted((member.constants[across], member.found) for member in group if _drawable(member.found))
        xs = [float(x) for x, _ in points]
        ys = [_factor(found) for _, found in points]
        factors += ys
        label = "least factor" if value is None else f"{by[0]} = {value}"
        axes.plot(
            xs, ys, color=color, marker=_MARKERS[number % len(_MARKERS)], markersize=5, linewidth=1.6, label=label
        )
        steps = [(x, 1 / found.kappa) for x, (_, found) in zip(xs, points, strict=True) if found.kappa]
        axes.plot(
            [x for x, _ in steps],
            [y for _, y in steps],
            color=color,
            marker="_",
            markersize=12,
            linestyle="none",
        )
    axes.plot([], [], color="#555555", marker="_", markersize=12, linestyle="none", label="best 1/κ")
    if factors and min(factors) > 0 and max(factors) > 20 * min(factors):
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    if all(member.constants[across].denominator == 1 for member in members):
        from matplotlib.ticker import MaxNLocator

        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(across)
    axes.set_ylabel("factor of beta")
    axes.legend(loc="upper left", frameon=False, fontsize=9)


def _drawable(found: Tightest) -> bool:
    return found.factor is not None and found.complete


def _factor(found: Tightest) -> float:
    assert found.factor is not None
    return float(found.factor[0])
