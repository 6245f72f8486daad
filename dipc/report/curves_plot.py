"""Inequalities as a picture: their two sides over eps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dipc.report.curves import Curve
from dipc.report.picture import COLORS, new_figure, save

#: Inequalities that are drawn.
MOST = 4


def draw(path: Path, curves: Sequence[Curve], title: str) -> None:
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
