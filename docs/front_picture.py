"""The picture of the README and of the site's first page: what a claim about `busy.dip` says, and where it holds.

`python docs/front_picture.py` draws it anew, as docs/static/front.svg.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent)]

import dipc  # noqa: E402 - from the checkout, whatever is installed
from dipc.outcome.curves import COLORS, save  # noqa: E402

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TARGET = HERE / "static" / "front.svg"
INK = "#7d848b"
BLUE, RED = COLORS[0], COLORS[1]
COUNT, THRESHOLD = 103, 100


def draw(path: Path) -> None:
    """Write the picture. Every number in it is the program's own, decided or enclosed by dipc."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 3.7), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.1, 1))
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["bottom", "left"]].set_color(INK)
        axes.tick_params(colors=INK, labelsize=9)
        axes.xaxis.label.set_color(INK)
    _words(left)
    _verdicts(right)
    save(figure, path)


def _words(axes: Axes) -> None:
    """One input, the noise around it, and what is wrong."""
    xs = [95 + n / 20 for n in range(281)]
    density = [exp(-abs(x - COUNT) / 2) / 4 for x in xs]
    axes.plot(xs, density, color=BLUE, linewidth=2)
    wrong = [x < THRESHOLD for x in xs]
    axes.fill_between(xs, density, where=wrong, color=RED, alpha=0.35, linewidth=0)
    axes.axvline(THRESHOLD, color=INK, linewidth=1.2, linestyle=(0, (4, 3)))
    axes.annotate("threshold T = 100", (THRESHOLD, 0.268), xytext=(-5, 0), textcoords="offset points", ha="right",
                  color=INK, fontsize=9)  # fmt: skip
    axes.annotate("", (THRESHOLD, 0.24), (COUNT, 0.24), arrowprops={"arrowstyle": "<->", "color": INK})
    axes.annotate("dd(u) = 3", (COUNT, 0.24), xytext=(8, -3), textcoords="offset points", color=INK, fontsize=10)
    axes.annotate("the count u = 103,\nand its noisy copy", (105.2, 0.105), color=INK, fontsize=9)
    axes.annotate("wrong answer:\nat most beta", (95.2, 0.1), color=RED, fontsize=9)
    axes.annotate("", (99.3, 0.022), (97.4, 0.09), arrowprops={"arrowstyle": "->", "color": RED})
    axes.set_xlabel("noisy count")
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_ylim(0, 0.29)
    axes.set_title("At one input, at eps = 1/2", fontsize=10, loc="left", color=INK)


def _verdicts(axes: Axes) -> None:
    """The probability of the right answer over eps, and two claims: one that holds, and one that does not."""
    program = dipc.load(HERE / "programs" / "busy.dip")
    form = program.probability({"count": COUNT}, {"answer": "yes"})
    grid = [Fraction(1, 100) * Fraction(5, 4) ** n for n in range(25)]
    exact = [float(form.enclosure(eps)[0]) for eps in grid]
    xs = [float(eps) for eps in grid]
    dd = COUNT - THRESHOLD
    verdicts = {}
    for share in (2, 3):
        beta = f"exp(-alpha*eps)/{share}"
        verdicts[share] = dipc.check(program, inputs=f"count = {COUNT}", beta=beta).verdict
    half, third = ([1 - exp(-dd * x) / share for x in xs] for share in verdicts)
    axes.plot(xs, exact, color=BLUE, linewidth=3.4, alpha=0.6, label="probability of the right answer")
    asked = {
        share: f"1 − exp(−alpha·eps)/{share} required: "
        + ("holds for every eps" if verdict is dipc.Verdict.ACCURATE else "fails for every eps")
        for share, verdict in verdicts.items()
    }
    axes.plot(xs, half, color=BLUE, linewidth=1.5, linestyle=(0, (4, 3)), label=asked[2])
    axes.plot(xs, third, color=RED, linewidth=1.5, linestyle=(0, (4, 3)), label=asked[3])
    axes.fill_between(xs, exact, third, color=RED, alpha=0.15, linewidth=0)
    axes.set_xscale("log")
    axes.set_xlim(xs[0], xs[-1])
    axes.set_ylim(0, 1.02)
    axes.xaxis.set_major_formatter(lambda eps, _: f"{eps:g}")
    axes.set_xlabel("eps")
    axes.grid(color=INK, linewidth=0.6, alpha=0.2)
    axes.set_title("At that input, for every eps", fontsize=10, loc="left", color=INK)
    axes.legend(loc="lower right", frameon=False, fontsize=8.5, labelcolor=INK)


if __name__ == "__main__":
    draw(TARGET)
