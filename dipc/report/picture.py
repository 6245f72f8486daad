"""Pictures in files: what all of them have in common."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError

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
