"""The frame of every page: one file with its style, its script and its data, and a policy that allows nothing else."""

from __future__ import annotations

import json
import shlex
from base64 import b64encode
from collections.abc import Iterable, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

from dipc.obligations.verdict import Verdict
from dipc.report.curves import Curve

#: The class of each verdict, from which its color follows.
MOODS = {Verdict.ACCURATE: "good", Verdict.INACCURATE: "bad", Verdict.UNDECIDED: "open"}

_NO_SCRIPT = "default-src 'none'; style-src 'unsafe-inline'"


def document(title: str, sections: Iterable[str], curves: Sequence[Curve] = ()) -> str:
    """The page with these sections, and a plot of the curves behind the first one where there are any.

    The page asks nothing of anybody: its policy forbids every request, and runs the script that is in it alone.
    """
    first, *others = sections
    scripts = _scripts() if curves else []
    hashes = " ".join(f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts)
    allowed = f"default-src 'none'; style-src 'unsafe-inline'; script-src {hashes}".rstrip()
    policy = f"{allowed if scripts else _NO_SCRIPT}; base-uri 'none'; form-action 'none'"
    style = _asset("style.css") + (_asset("uplot.min.css") if curves else "")
    return "".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            '<meta name="color-scheme" content="light dark">\n',
            f"<title>{escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n",
            first,
            _plot(curves) if curves else "",
            *others,
            "</main>\n",
            *(f"<script>{script}</script>\n" for script in scripts),
            "</body>\n</html>\n",
        ]
    )


def _asset(name: str) -> str:
    return (files("dipc.report.html") / "assets" / name).read_text(encoding="utf-8")


def _scripts() -> list[str]:
    return [_asset("uplot.min.js"), _asset("plot.js")]


def heading(verdict: Verdict | None, line: str, subject: str) -> str:
    """The verdict first."""
    mood = "" if verdict is None else MOODS[verdict]
    return f'<header class="{mood}"><p>{escape(subject)}</p><h1>{escape(line)}</h1></header>\n'


def fields(pairs: Iterable[tuple[str, str]]) -> str:
    """Labels with their texts; a text without a label goes on with the one before."""
    rows = "".join(f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>\n" for label, text in pairs)
    return f"<dl>\n{rows}</dl>\n"


def section(title: str, body: str) -> str:
    """A part of the page under a heading."""
    return f"<section><h2>{escape(title)}</h2>\n{body}</section>\n"


def evidence(command: Sequence[str], tool: str, certificate: str | None) -> str:
    """The last part: the `command` that asked, word by word, the `certificate` as a file to save, and who answered."""
    asked = f"<p>Asked by</p><pre>{escape(shlex.join(command))}</pre>\n"
    if certificate is not None:
        data = b64encode(certificate.encode()).decode()
        asked += (
            f'<p>The proofs: <a download="proof.json" href="data:application/json;base64,{data}">proof.json</a>, '
            "which a small program checks that trusts nothing:</p><pre>dipc verify proof.json</pre>\n"
        )
    return (
        section("Evidence", asked)
        + f"<footer>{escape(tool)}. Every digit of the text is proved; curves are drawn with some of them.</footer>\n"
    )


# --- the plot --------------------------------------------------------------------------------------


def _plot(curves: Sequence[Curve]) -> str:
    records = [_record(curve) for curve in curves]
    data = json.dumps(records, separators=(",", ":")).replace("<", "\\u003c")
    choices = "".join(f'<option value="{at}">{escape(record["name"])}</option>' for at, record in enumerate(records))
    choice = (
        f'<label><select id="which" aria-label="what is drawn">{choices}</select></label>' if len(records) > 1 else ""
    )
    fails = '<span class="fail">fails</span> ' if any(curve.failing for curve in curves) else ""
    fails += '<span class="best">tight here</span> ' if any(curve.optima for curve in curves) else ""
    picture = f"<noscript>{_picture(curves[0])}</noscript>"
    body = (
        f'<p class="key"><span class="pr">{escape(curves[0].labels[0])}</span> '
        f'<span class="req">{escape(curves[0].labels[1])}</span> {fails}{choice}</p>\n'
        f'<div id="plot"></div>\n{picture}\n'
        f'<script type="application/json" id="curves">{data}</script>\n'
    )
    return section(f"Probability over {curves[0].variable}", body)


def _record(curve: Curve) -> dict[str, Any]:
    found = curve.counterexample
    return {
        "name": curve.name,
        "variable": str(curve.variable),
        "bound": curve.labels[0],
        "required": curve.labels[1],
        "x": [_short(x) for x in curve.xs],
        "pr": [_short(y) for y in curve.bounds],
        "req": [_short(y) for y in curve.required],
        "failing": [interval.as_json() for interval in curve.failing],
        "shaded": [
            [float(piece.start.low), None if piece.end.infinite else float(piece.end.low)] for piece in curve.failing
        ],
        "point": None if found is None else [float(found.eps), float(found.probability[0]), float(found.required[0])],
        "worst": [
            float(piece.worst.eps[0])
            for piece in curve.failing
            if piece.worst is not None and piece.worst.eps is not None and piece.worst.attained
        ],
        "optima": curve.optima,
    }


def _short(value: float | None) -> float | None:
    """As many digits as a screen can show."""
    return None if value is None else float(f"{value:.5g}")


def _picture(curve: Curve) -> str:
    """The same as a still picture, for readers without JavaScript."""
    import math

    width, height = 640.0, 280.0
    low, high = math.log(curve.xs[0]), math.log(curve.xs[-1])
    span = high - low or 1.0

    def x(eps: float) -> float:
        return (math.log(min(max(eps, curve.xs[0]), curve.xs[-1])) - low) / span * width

    def path(values: Sequence[float | None], name: str) -> str:
        points = [
            f"{x(eps):.1f},{height - min(max(value, 0.0), 1.0) * height:.1f}"
            for eps, value in zip(curve.xs, values, strict=True)
            if value is not None
        ]
        return f'<polyline class="{name}" points="{" ".join(points)}"/>'

    shades = "".join(
        f'<rect class="fail" x="{x(float(piece.start.low)):.1f}" y="0" height="{height:.0f}" '
        f'width="{(width if piece.end.infinite else x(float(piece.end.low))) - x(float(piece.start.low)):.1f}"/>'
        for piece in curve.failing
    )
    best = "".join(f'<path class="best" d="M{x(at):.1f} 0v{height:.0f}"/>' for at in curve.optima)
    title = f"from {curve.xs[0]:.4g} to {curve.xs[-1]:.4g}, logarithmic"
    return (
        f'<svg viewBox="0 -4 {width:.0f} {height + 24:.0f}" role="img" aria-label="Pr and 1 - beta">{shades}'
        f"{best}{path(curve.required, 'req')}{path(curve.bounds, 'pr')}"
        f'<text x="0" y="{height + 16:.0f}">{escape(str(curve.variable))} {title}</text></svg>'
    )
