"""Pictures in files, drawn from exact enclosures; nothing is decided by them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Undecided
from dipc.algebra.quotient import fraction_of
from dipc.inverse.claims import Claimed
from dipc.inverse.tighten import Tightest, TightSpot
from dipc.outcome.curves import Curve, curves_of
from dipc.outcome.outcome import Outcome
from dipc.outcome.tighten import Member
from dipc.outcome.words import exact, numbered, plural
from dipc.sign.piecewise import BetaForm
from dipc.text.diagnostic import Diagnostic, DiagnosticError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FORMATS = (".svg", ".png", ".pdf")

#: Okabe and Ito's colors, which color-blind readers tell apart.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
GRAY = "#b8b8b8"


def check_picture(path: Path) -> None:
    """Refuse, before any work is done, another kind of file, or no matplotlib. Raises DiagnosticError."""
    if path.suffix.lower() not in _FORMATS:
        raise DiagnosticError(
            Diagnostic(
                "E1003",
                f"`{path}` names no kind of picture",
                notes=(f"end the name with {', '.join(_FORMATS[:-1])} or {_FORMATS[-1]}",),
            )
        )
    if find_spec("matplotlib") is None:
        raise DiagnosticError(
            Diagnostic(
                "E1005",
                "a plot needs matplotlib, which is not installed",
                notes=("install it: pip install 'dipc-verifier[plot]'",),
            )
        )


def new_figure() -> tuple[Figure, Axes]:
    """A figure with one pair of axes, in the style of all."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.4), layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)
    return figure, axes


def save(figure: Figure, path: Path) -> None:
    """Write the picture; equal figures are equal files. Raises DiagnosticError where the file cannot be written."""
    import matplotlib as mpl

    try:
        # Without the salt the names inside an SVG file would be new each time.
        with mpl.rc_context({"svg.hashsalt": "dipc"}):
            figure.savefig(path, dpi=160, metadata=_metadata(path))
    except OSError as error:
        raise DiagnosticError(Diagnostic("E0804", f"`{path}` cannot be written: {error.strerror or error}")) from error


def _metadata(path: Path) -> dict[str, Any]:
    """Without the date, so that equal results are equal files."""
    match path.suffix.lower():
        case ".svg":
            return {"Date": None}
        case ".pdf":
            return {"CreationDate": None}
    return {}


# --- two sides of inequalities over eps ------------------------------------------------------------


#: Inequalities that are drawn.
MOST = 4


def draw(path: Path, outcome: Outcome) -> None:
    """Draw what an answer is about, and write the picture. Raises DiagnosticError where the file cannot be written."""
    match outcome.result:
        case Member() as member:
            _write_factors(path, [member], outcome)
        case tuple() as members:
            _write_factors(path, members, outcome)
        case _:
            _draw_curves(path, curves_of(outcome, MOST), f"{outcome.program}: {outcome.result.verdict}")


def _draw_curves(path: Path, curves: Sequence[Curve], title: str) -> None:
    """Draw the curves, their first sides as lines and their second ones dashed, with the eps where the first one fails
    shaded.

    Raises DiagnosticError where the file cannot be written.
    """
    figure, axes = new_figure()
    for color, curve in zip(COLORS, curves, strict=False):
        known = [(x, y) for x, y in zip(curve.xs, curve.bounds, strict=True) if y is not None]
        asked = [(x, y) for x, y in zip(curve.xs, curve.required, strict=True) if y is not None]
        axes.plot([x for x, _ in known], [y for _, y in known], color=color, label=curve.name)
        axes.plot([x for x, _ in asked], [y for _, y in asked], color=color, linestyle="--", linewidth=1.2)
        if curve.counterexample is not None:
            found = curve.counterexample
            axes.plot([float(found.eps)], [float(found.probability[0])], marker="o", color=color)
    for piece in curves[0].failing if curves else ():
        right = curves[0].xs[-1] if piece.end.infinite else float(piece.end.low)
        axes.axvspan(max(float(piece.start.low), curves[0].xs[0]), right, color=COLORS[1], alpha=0.12, linewidth=0)
    if curves:
        axes.set_xscale("log")
        axes.set_xlim(min(curve.xs[0] for curve in curves), max(curve.xs[-1] for curve in curves))
        axes.xaxis.set_major_formatter(lambda eps, _: f"{eps:g}")
        axes.set_xlabel(str(curves[0].variable))
        axes.legend(loc="lower right", frameon=False, fontsize=9)
        axes.set_ylabel(f"{curves[0].labels[0]}; dashed {curves[0].labels[1]}")
    axes.set_ylim(0, 1.02)
    axes.set_title(title, fontsize=10, loc="left")
    save(figure, path)


# --- the factor needed at each eps, or the least one over a family ---------------------------------


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


def _write_factors(path: Path, members: Sequence[Member], outcome: Outcome) -> None:
    """Draw one member against eps, or several against their constants, and write the picture."""
    assert outcome.statement is not None
    program, beta = outcome.program, outcome.statement().beta
    figure, axes = new_figure()
    if len(members) == 1:
        _draw_needs(axes, members[0].tightest)
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
        points = sorted((member.constants[across], member.tightest) for member in group if _drawable(member.tightest))
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
