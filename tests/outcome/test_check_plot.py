from __future__ import annotations

from itertools import pairwise
from math import erf, exp, sqrt
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from dipc.cli.main import run
from dipc.outcome import curves

ROOT = Path(__file__).resolve().parent.parent.parent
SIGN = [str(ROOT / "tests" / "golden" / "files" / name) for name in ("sign.dip", "sign.csv")]


@pytest.mark.slow
def test_equal_checks_are_equal_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pictures = [tmp_path / "first.svg", tmp_path / "second.svg"]
    for path in pictures:
        assert run(["check", *SIGN, "--beta", "exp(-alpha*eps)/4", "--plot", str(path), "-q"]) == 1
    first, second = (path.read_text(encoding="utf-8") for path in pictures)
    assert first == second
    assert first.startswith("<?xml")
    capsys.readouterr()


def test_what_cannot_be_drawn_is_refused_before_any_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "nothing.dip", "nothing.csv", "--plot", str(tmp_path / "a.txt")]) == 2
    assert "error[E1003]" in capsys.readouterr().err


def test_pages_of_the_inverse_questions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert run(["tighten", *SIGN, "--beta", "exp(-alpha*eps)", "--html", str(page), "-q"]) == 0
    text = page.read_text(encoding="utf-8")
    assert "<h1>least factor 1/2 = 0.5; " in text
    assert "required: 1 − f·β" in text
    assert run(["solve", *SIGN, "--for", "beta", "--html", str(page), "-q"]) == 0
    text = page.read_text(encoding="utf-8")
    assert "required: 1 − β" in text
    assert "<h1>least beta " in text
    capsys.readouterr()


def figure_of(beta: str, monkeypatch: pytest.MonkeyPatch) -> Figure:
    """The figure that would be written for Sparse with this beta."""
    kept: list[Figure] = []
    monkeypatch.setattr(curves, "save", lambda figure, _: kept.append(figure))
    sparse = [str(ROOT / "benchmarks" / name) for name in ("sparse.dip", "sparse.csv")]
    run(["check", *sparse, "--beta", beta, "--plot", "a.svg", "-q"])
    return kept[0]


def test_the_failure_of_every_row_is_shaded_and_holds_its_dot(monkeypatch: pytest.MonkeyPatch) -> None:
    """Row 2 fails to 0.95, row 3 to 4.53: the worse first, as in the report."""
    axes = figure_of("2*m*c*exp(-alpha*eps/(8*c))/7", monkeypatch).axes[0]
    spans = [patch.get_extents().transformed(axes.transData.inverted()) for patch in axes.patches]
    assert [float(span.x1) for span in spans] == pytest.approx([4.5358, 0.9537], rel=1e-3)
    dots = [float(line.get_xdata()[0]) for line in axes.lines if line.get_marker() == "o"]
    assert all(span.x0 <= x <= span.x1 for x, span in zip(dots, spans, strict=True))


def test_lines_have_no_gaps_and_the_legend_stands_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    figure = figure_of("2*m*c*exp(-alpha*eps/(8*c))/6", monkeypatch)
    (axes,) = figure.axes
    assert axes.get_legend() is None
    assert len(figure.legends) == 1
    assert "nowhere is a solid line below its dashed one" in axes.get_title(loc="left")
    low, high = axes.get_xlim()
    for line in axes.lines:
        xs, ys = line.get_xdata(), line.get_ydata()
        if len(xs) > 2:
            assert (min(xs), max(xs)) == (low, high)
            assert max(abs(b - a) for a, b in pairwise(ys)) < 0.05


def test_enclosed_probabilities_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first class of Gaussian noise is Pr[N >= -t] for a normal N of the variance 20."""
    kept: list[Figure] = []
    monkeypatch.setattr(curves, "save", lambda figure, _: kept.append(figure))
    assert (
        run(["check", str(ROOT / "benchmarks" / "gaussian_sparse.dip"), "--inputs", "all", "--plot", "a.svg", "-q"])
        == 0
    )
    (axes, *_) = kept[0].axes
    drawn = max(axes.lines, key=lambda line: len(line.get_xdata()))
    for x, y in list(zip(drawn.get_xdata(), drawn.get_ydata(), strict=True))[::60]:
        assert y == pytest.approx((1 + erf(float(x) / sqrt(40))) / 2, abs=1e-6)


def test_rows_without_closed_forms_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A count with normal noise is within 1 with probability erf(eps/sqrt(2)), and the dot is on that line."""
    kept: list[Figure] = []
    monkeypatch.setattr(curves, "save", lambda figure, _: kept.append(figure))
    program = str(ROOT / "docs" / "programs" / "gaussian_count.dip")
    asked = ["check", program, "--inputs", "count = 0", "--gamma", "1", "--beta", "exp(-gamma*eps)"]
    assert run([*asked, "--plot", "a.svg", "-q"]) == 1
    (axes, *_) = kept[0].axes
    drawn = max(axes.lines, key=lambda line: len(line.get_xdata()))
    points = list(zip(drawn.get_xdata(), drawn.get_ydata(), strict=True))[::20]
    assert len(points) > 3
    for x, y in points:
        assert y == pytest.approx(erf(float(x) / sqrt(2)), abs=1e-6)
    dots = [(x, y) for line in axes.lines if len(line.get_xdata()) == 1 for x, y in line.get_xydata()]
    dots += [tuple(each) for found in axes.collections for each in found.get_offsets() if len(each) == 2]
    assert any(y == pytest.approx(erf(x / sqrt(2)), abs=1e-6) for x, y in dots)


def test_probabilities_of_outputs_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[Figure] = []
    monkeypatch.setattr(curves, "save", lambda figure, _: kept.append(figure))
    busy = str(ROOT / "docs" / "programs" / "busy.dip")
    assert run(["prob", busy, "--input", "count=103", "--plot", "a.svg", "-q"]) == 0
    (axes, *_) = kept[0].axes
    lines = {line.get_label(): line.get_xydata() for line in axes.lines if len(line.get_xdata()) > 2}
    assert set(lines) == {"answer = no", "answer = yes"}
    for x, y in lines["answer = yes"][::20]:
        assert y == pytest.approx(1 - exp(-3 * x) / 2, abs=1e-6)
