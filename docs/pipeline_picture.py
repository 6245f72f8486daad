"""The picture of the road from a text to a report: `python docs/pipeline_picture.py` writes it anew."""

from __future__ import annotations

from html import escape
from pathlib import Path

TARGET = Path(__file__).resolve().parent / "static" / "pipeline.svg"

#: What there is after each step, and what the step does.
STATIONS = (
    ("text", "a program, a table, a claim"),
    ("typed program", "every name resolved"),
    ("Markov chain", "run once, noise symbolic"),
    ("exits", "guard, weight, event"),
    ("obligations", "bound ≥ required"),
    ("decisions", "signs and isolated roots"),
    ("evidence", "what a checker replays"),
    ("report", "verdict, counterexample"),
)
COLUMNS, WIDE, HIGH, GAP = 4, 180, 62, 34
INK, BLUE = "#7d848b", "#0072b2"


def drawing() -> str:
    """The picture as SVG, in colors that can be read on light and on dark ground."""
    rows = -(-len(STATIONS) // COLUMNS)
    width, height = COLUMNS * WIDE + (COLUMNS - 1) * GAP, rows * HIGH + (rows - 1) * GAP
    box = f'viewBox="-1 -1 {width + 2} {height + 2}"'
    tip = 'id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} font-family="system-ui, sans-serif" text-anchor="middle">',
        f'<defs><marker {tip}><path d="M0 0 8 4 0 8z" fill="{INK}"/></marker></defs>',
    ]
    for number, (name, what) in enumerate(STATIONS):
        row, column = divmod(number, COLUMNS)
        x, y = column * (WIDE + GAP), row * (HIGH + GAP)
        middle = x + WIDE / 2
        parts += [
            f'<rect x="{x}" y="{y}" width="{WIDE}" height="{HIGH}" rx="7" fill="none" stroke="{INK}"/>',
            f'<text x="{middle:g}" y="{y + 26}" font-size="16" font-weight="600" fill="{BLUE}">{escape(name)}</text>',
            f'<text x="{middle:g}" y="{y + 47}" font-size="12" fill="{INK}">{escape(what)}</text>',
        ]
        if number + 1 == len(STATIONS):
            break
        if column + 1 < COLUMNS:
            path = f"M{x + WIDE} {y + HIGH // 2}h{GAP - 3}"
        else:
            half = y + HIGH + GAP // 2
            path = f"M{middle:g} {y + HIGH}V{half}H{WIDE // 2}V{y + HIGH + GAP - 3}"
        parts.append(f'<path d="{path}" fill="none" stroke="{INK}" stroke-width="1.4" marker-end="url(#tip)"/>')
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    TARGET.write_text(drawing(), encoding="utf-8")
