"""The answer to any question: a report in parts, and a renderer for each format."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Any, assert_never

from dipc.frozen import frozen
from dipc.text.diagnostic import Diagnostic, Excerpt

if TYPE_CHECKING:
    from dipc.algebra.exppoly import ClosedForm
    from dipc.decide.engine import Engine


class Tone(Enum):
    """What a line is, from which its color follows."""

    GOOD = "1;32"
    BAD = "1;31"
    OPEN = "1;33"
    HEAD = "1"
    FAINT = "2"


class Standing(Enum):
    """The kind of an answer, which gives the exit code: the answer hoped for, its negation, proved, or neither; and,
    for many questions, that some could not be asked."""

    HOLDS = 0
    FAILS = 1
    BAD_INPUT = 2
    OPEN = 3

    @property
    def tone(self) -> Tone:
        """That of a line that says so."""
        return {Standing.HOLDS: Tone.GOOD, Standing.OPEN: Tone.OPEN}.get(self, Tone.BAD)


@frozen
class Line:
    """A paragraph."""

    text: str
    tone: Tone | None = None
    indent: int = 0


@frozen
class Gap:
    """One empty line, never two."""


@frozen
class Fields:
    """Labels in one column, texts in another; a text without a label goes on with the one before."""

    pairs: Iterable[tuple[str, str]]
    indent: int = 2
    label_width: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "pairs", tuple(self.pairs))


@frozen
class Verbatim:
    """Lines that must not be wrapped."""

    lines: Iterable[str]
    tone: Tone | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "lines", tuple(self.lines))


@frozen
class Grid:
    """Rows of cells under a head. Where the page is too narrow, the first cell of each row stands above the others."""

    head: tuple[str, ...]
    rows: tuple[tuple[Tone | None, tuple[str, ...]], ...]
    right: frozenset[int] = frozenset()


Part = Line | Gap | Fields | Verbatim | Grid

GAP = Gap()


@frozen
class Table:
    """So many rows of cells, with the tone of each, as spreadsheets and pages have them. Without a `title` it is for
    machines alone."""

    title: str
    columns: tuple[str, ...]
    rows: Iterable[tuple[Tone | None, tuple[str, ...]]]
    count: int


class Kind(StrEnum):
    """What a test says. `undecided` is neither of the first two: no verdict came out, and one was expected. With
    `error` the claim could not be asked."""

    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"
    ERROR = "error"


@frozen(kw_only=True)
class Case:
    """One of many tested claims: its place, the expected and the actual verdict, in one line and as a whole report,
    with the command that asks it again. `diagnostics` are what an error consists of."""

    name: str
    place: Excerpt
    kind: Kind
    expected: str
    line: str
    text: str
    replay: str
    seconds: float
    diagnostics: tuple[Diagnostic, ...] = ()

    def lines(self) -> list[str]:
        """The report about one with an unexpected result."""
        report = [line.rstrip() for line in self.text.rstrip().splitlines()]
        return [f"expected {self.expected}", "", *report, "", f"replay: {self.replay}"]


@frozen(kw_only=True)
class Outcome:
    """An answer.

    `line` says it in one sentence, and its `parts` in full: those of a report, below the line, or below the `heading`
    where that comes first. `statement` is what was asked. `record` is the JSON object, whose `rows`, if it has many,
    come last and one by one. What may be long is made when it is shown.

    `result` is what it comes to, of the `question`, decided by the `engine`: certificates and curves are made of these.
    `table`, `equations`, `graph` and `cases` are for the formats that show such. `warnings` say where the claim may not
    mean what it seems to. An answer that Ctrl-C has cut short is `interrupted`: this stands before what is known.
    """

    program: str
    line: str
    standing: Standing
    parts: Callable[[], Iterable[Part]]
    tone: Tone = Tone.HEAD
    heading: str | None = None
    statement: Callable[[], Any] | None = None
    record: Callable[[], Mapping[str, Any]] | None = None
    rows: Callable[[], Iterable[Mapping[str, Any]]] | None = None
    table: Callable[[], Table] | None = None
    equations: Callable[[], tuple[str, Iterable[tuple[str, ClosedForm]]]] | None = None
    graph: Callable[[], str] | None = None
    cases: tuple[Case, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    interrupted: str | None = None
    result: Any = None
    question: Any = None
    engine: Engine | None = None


# --- Outcomes as text pages for people --------------------------------------------------------------------------------


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
        for line in wrap(text, self.width - indent, hanging=2) or [""]:
            self._lines.append(" " * indent + self._toned(line, tone))

    def blank(self) -> None:
        """One empty line, never two."""
        if self._lines and self._lines[-1]:
            self._lines.append("")

    def fields(self, pairs: Iterable[tuple[str, str]], indent: int = 2, label_width: int = 0) -> None:
        """Labels in one column, texts wrapped in another."""
        rows = list(pairs)
        column = max([label_width, *(len(label) for label, _ in rows)]) + 2
        for label, text in rows:
            lines = wrap(text, self.width - indent - column, hanging=2) or [""]
            for number, line in enumerate(lines):
                lead = (label if number == 0 else "").ljust(column)
                self._lines.append(" " * indent + self._toned(lead, Tone.FAINT if number == 0 else None) + line)

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
            padded = [
                cell.rjust(width) if position in grid.right else cell.ljust(width) for position, cell, width in placed
            ]
            return indent + "   ".join(padded[first:])

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
