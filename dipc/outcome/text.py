"""Text pages for people: labeled fields that wrap, a little color where it is wanted, plain ASCII where it must be."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from dipc.frozen import frozen
from dipc.outcome.outcome import Fields, Gap, Grid, Line, Outcome, Part, Tone, Verbatim

#: Narrower terminals get lines of this width all the same; wider ones than the second keep their lines readable.
_NARROWEST, _WIDEST = 40, 120

#: A blank at which no line is broken.
GLUE = "\u00a0"

_ASCII = str.maketrans(
    {
        "∞": "inf",
        "…": "...",
        "∪": "u",
        "≥": ">=",
        "≤": "<=",
        "≠": "!=",
        "–": "-",
        "·": "*",
        "→": "->",
        "α": "alpha",
        "β": "beta",
        "γ": "gamma",
        "ε": "eps",
        "±": "+-",
    }
)


@frozen
class Look:
    """How a page may look: its width in characters, and whether the reader sees color."""

    width: int = 80
    color: bool = False


@dataclass(slots=True)
class Page:
    """A text under construction. `text()` ends with a newline and has no trailing blanks."""

    look: Look = field(default_factory=Look)
    _lines: list[str] = field(default_factory=list)

    @property
    def width(self) -> int:
        return max(_NARROWEST, min(_WIDEST, self.look.width))

    def line(self, text: str = "", tone: Tone | None = None, indent: int = 0) -> None:
        """A paragraph, wrapped; continuation lines stand two further in."""
        for part in wrap(text, self.width - indent, hanging=2) or [""]:
            self._lines.append(" " * indent + self._toned(part, tone))

    def blank(self) -> None:
        """One empty line, never two."""
        if self._lines and self._lines[-1]:
            self._lines.append("")

    def fields(self, pairs: Iterable[tuple[str, str]], indent: int = 2, label_width: int = 0) -> None:
        """Labels in one column, texts wrapped in another."""
        rows = list(pairs)
        column = max([label_width, *(len(label) for label, _ in rows)]) + 2
        for label, text in rows:
            parts = wrap(text, self.width - indent - column, hanging=2) or [""]
            for number, part in enumerate(parts):
                lead = (label if number == 0 else "").ljust(column)
                self._lines.append(" " * indent + self._toned(lead, Tone.FAINT if number == 0 else None) + part)

    def verbatim(self, lines: Iterable[str], tone: Tone | None = None) -> None:
        """Lines that must not be wrapped."""
        self._lines.extend(self._toned(line, tone) for line in lines)

    def grid(self, grid: Grid) -> None:
        """Columns where they fit on the page, else the first cell of each row above the others."""
        lines = [grid.head, *(cells for _, cells in grid.rows)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(grid.head))]
        fits = sum(widths) + 3 * len(widths) <= self.width
        first, indent = (0, "  ") if fits else (1, "    ")

        def joined(cells: Sequence[str]) -> str:
            placed = zip(range(len(widths)), cells, widths, strict=True)
            parts = [
                cell.rjust(width) if position in grid.right else cell.ljust(width) for position, cell, width in placed
            ]
            return indent + "   ".join(parts[first:])

        self.verbatim([joined(grid.head)], Tone.FAINT)
        for tone, cells in grid.rows:
            if not fits:
                self.line(cells[0], Tone.HEAD, indent=2)
            self.verbatim([joined(cells)], tone)

    def show(self, parts: Iterable[Part]) -> None:
        """All of the parts, one below the other."""
        for part in parts:
            match part:
                case Line(text, tone, indent):
                    self.line(text, tone, indent)
                case Gap():
                    self.blank()
                case Fields(pairs, indent, label_width):
                    self.fields(pairs, indent, label_width)
                case Verbatim(lines, tone):
                    self.verbatim(lines, tone)
                case Grid():
                    self.grid(part)
                case _:
                    assert_never(part)

    def text(self) -> str:
        """The whole page."""
        lines = [line.rstrip() for line in self._lines]
        while lines and not lines[-1]:
            lines.pop()
        return "".join(line + "\n" for line in lines)

    def _toned(self, text: str, tone: Tone | None) -> str:
        if tone is None or not self.look.color or not text.strip():
            return text
        body = text.rstrip()
        return f"\x1b[{tone.value}m{body}\x1b[0m{text[len(body) :]}"


def render(outcome: Outcome, look: Look | None = None) -> str:
    """The whole answer as a page."""
    page = Page(look or Look())
    first = outcome.line if outcome.heading is None else outcome.heading
    if first:
        page.line(first, outcome.tone if outcome.heading is None else Tone.HEAD)
    page.show(outcome.parts())
    return page.text()


def render_parts(parts: Iterable[Part], look: Look | None = None) -> str:
    """These parts as a page."""
    page = Page(look or Look())
    page.show(parts)
    return page.text()


def wrap(text: str, width: int, hanging: int = 0) -> list[str]:
    """`text` in lines of at most `width` characters where its words allow; no word is broken, no sum is broken
    behind its sign, and nothing is lost: joined by blanks the lines are the text."""
    glued = text.replace(" + ", f" +{GLUE}").replace(" - ", f" -{GLUE}")
    lines = textwrap.wrap(
        glued,
        max(20, width),
        subsequent_indent=" " * hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(GLUE, " ") for line in lines]


def to_ascii(text: str) -> str:
    """The same text for a terminal that has no mathematical letters; what has no spelling becomes `?`."""
    return text.translate(_ASCII).encode("ascii", "replace").decode("ascii")
