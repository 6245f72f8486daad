"""The answer to any question: a report in parts, and a renderer for each format."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from dipc.frozen import frozen
from dipc.text.diagnostic import Diagnostic, printable

if TYPE_CHECKING:
    from dipc.algebra.exppoly import ClosedForm
    from dipc.decide.engine import Engine


class Tone(Enum):
    """The role of a line, which sets its color."""

    GOOD = "1;32"
    BAD = "1;31"
    OPEN = "1;33"
    HEAD = "1"
    FAINT = "2"


class ExitStatus(Enum):
    """The kind of an answer, which sets the exit code.

    HOLDS means that the expected answer was proved, FAILS that its negation was proved, and OPEN that neither was.
    BAD_INPUT means that a question could not be asked.
    """

    HOLDS = 0
    FAILS = 1
    BAD_INPUT = 2
    OPEN = 3

    @property
    def tone(self) -> Tone:
        """The tone of a line that states an answer with this status."""
        return {ExitStatus.HOLDS: Tone.GOOD, ExitStatus.OPEN: Tone.OPEN}.get(self, Tone.BAD)


@frozen
class Line:
    """A paragraph of a report: its `text`, its color by `tone`, and its `indent` in characters."""

    text: str
    tone: Tone | None = None
    indent: int = 0


@frozen
class Fields:
    """Labels in one column, and texts in another, from `pairs` of a label and a text.

    A pair without a label continues the text before it; a pair whose text is None is left out. The columns begin
    `indent` characters from the margin, and the labels' column is at least `label_width` characters wide.
    """

    pairs: Iterable[tuple[str, str | None]]
    indent: int = 2
    label_width: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "pairs", tuple(pair for pair in self.pairs if pair[1] is not None))


@frozen
class Verbatim:
    """Lines of a report that must not be wrapped, colored by `tone`."""

    lines: Iterable[str]
    tone: Tone | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "lines", tuple(self.lines))


@frozen
class Grid:
    """A table in a report: `head` has the names of the columns, and each of `rows` its cells, colored by a tone.

    `right` has the numbers, from 0, of the columns that are set flush right. Where the page is too narrow, the first
    cell of each row is above the others.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[Tone | None, tuple[str, ...]], ...]
    right: frozenset[int] = frozenset()


Part = Line | Fields | Verbatim | Grid

#: A block of parts below an empty line, or a part that continues the block before.
ReportBlock = Part | Sequence[Part]


def section(heading: str | None, *pairs: tuple[str, str | None], label_width: int = 0) -> Sequence[Part]:
    """Return a block of the labels and texts in `pairs`, below `heading` if it is not None.

    The labels' column is at least `label_width` characters wide.
    """
    fields = Fields(pairs, label_width=label_width)
    return (fields,) if heading is None else (Line(heading, Tone.HEAD), fields)


def hint(text: str | None) -> Sequence[Part]:
    """Return a block with the advice `text`, or an empty block if it is None."""
    return [] if text is None else [Line(text, Tone.FAINT)]


@frozen
class ShownTable:
    """A table for spreadsheets and HTML pages: `count` rows of cells.

    Each row has a `Tone`, which sets its color, or None. A table without a `title` is for spreadsheets alone.
    """

    title: str
    columns: tuple[str, ...]
    rows: Iterable[tuple[Tone | None, tuple[str, ...]]]
    count: int


@frozen(kw_only=True)
class Outcome:
    """An answer, with everything that the output formats show of it.

    Fields that are functions compute long strings on demand.

    - `program` is the name of the program, and `line` the answer in one sentence, in the color of `tone`. `standing`
      sets the exit code.
    - `parts` returns the rest of the report, which is below the line or, if given, the `heading`.
    - `record` returns the JSON object of the answer, and `rows` its long list of rows, which is written one by one.
    - `table` is for CSV and HTML, `equations` is for LaTeX (a title, and pairs of a left side and a function), and
      `graph` is for DOT. `cases` are the tests of a suite, for JUnit. Each is missing if the answer has nothing for the
      format.
    - `statement` returns the question as a heading shows it.
    - `result` is the result of `question`, which `engine` decided; certificates and curves are made from these three.
    - `warnings` say where the claim may not mean what the user expects.
    - `interrupted`, if Ctrl-C cut the work short, is the text before the results known until then.
    """

    program: str
    line: str
    standing: ExitStatus
    parts: Callable[[], Iterable[ReportBlock]]
    tone: Tone = Tone.HEAD
    heading: str | None = None
    statement: Callable[[], Any] | None = None
    record: Callable[[], Mapping[str, Any]] | None = None
    rows: Callable[[], Iterable[Mapping[str, Any]]] | None = None
    table: Callable[[], ShownTable] | None = None
    equations: Callable[[], tuple[str, Iterable[tuple[str, ClosedForm]]]] | None = None
    graph: Callable[[], str] | None = None
    cases: tuple[Any, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    interrupted: str | None = None
    result: Any = None
    question: Any = None
    engine: Engine | None = None

    @classmethod
    def from_record(cls, answer: Any, standing: ExitStatus, **more: Any) -> Outcome:
        """Build the outcome of the record `answer`, with the name of its program and the exit status `standing`.

        If `answer.interrupted` exists and is true, the outcome counts as interrupted. The arguments `more` are fields
        of the outcome, which replace those made from the record.
        """
        cut = "interrupted\n" if getattr(answer, "interrupted", False) else None
        known = {
            "program": getattr(answer, "program", ""),
            "tone": standing.tone,
            "record": answer.as_json,
            "result": answer,
        }
        return cls(standing=standing, **{**known, "interrupted": cut, **more})


# --- Outcomes as text pages -------------------------------------------------------------------------------------------

#: The least and the greatest width of lines, whatever the width of the terminal.
_NARROWEST, _WIDEST = 40, 120

#: A blank at which lines are not broken.
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
    """The look of a page: its width in characters, and whether it has color."""

    width: int = 80
    color: bool = False


@dataclass(slots=True)
class Page:
    """A text under construction, of printable characters and colors; `text()` ends with a newline.

    Names of files and claims cannot add other characters. Lines have no trailing spaces.
    """

    look: Look = field(default_factory=Look)
    _lines: list[str] = field(default_factory=list)

    @property
    def width(self) -> int:
        return max(_NARROWEST, min(_WIDEST, self.look.width))

    def line(self, text: str = "", tone: Tone | None = None, indent: int = 0) -> None:
        """Add the paragraph `text`, wrapped, `indent` characters from the margin, and colored by `tone`."""
        for line in wrap(text, self.width - indent, hanging=2) or [""]:
            self._lines.append(" " * indent + self._toned(printable(line), tone))

    def blank(self) -> None:
        """Add an empty line, unless the last one is empty."""
        if self._lines and self._lines[-1]:
            self._lines.append("")

    def fields(self, pairs: Iterable[tuple[str, str | None]], indent: int = 2, label_width: int = 0) -> None:
        """Add the labels of `pairs` in one column, and their texts wrapped in another.

        The columns begin `indent` characters from the margin, and the labels' column is at least `label_width`
        characters wide.
        """
        rows = [(label, text or "") for label, text in pairs]
        column = max([label_width, *(len(label) for label, _ in rows)]) + 2
        for label, text in rows:
            lines = wrap(text, self.width - indent - column, hanging=2) or [""]
            for number, line in enumerate(lines):
                lead = self._toned((label if number == 0 else "").ljust(column), Tone.FAINT if number == 0 else None)
                self._lines.append(" " * indent + lead + printable(line))

    def verbatim(self, lines: Iterable[str], tone: Tone | None = None) -> None:
        """Add `lines` without wrapping, colored by `tone`."""
        for line in lines:
            self._lines.append(self._toned("\t".join(map(printable, line.split("\t"))), tone))

    def grid(self, grid: Grid) -> None:
        """Add the table `grid` in columns if they fit on the page, else the first cell of each row above the others."""
        lines = [grid.head, *(cells for _, cells in grid.rows)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(grid.head))]
        fits = sum(widths) + 3 * len(widths) <= self.width
        first, indent = (0, "  ") if fits else (1, "    ")

        def row_text(cells: Sequence[str]) -> str:
            placed = zip(range(len(widths)), cells, widths, strict=True)
            padded = [
                cell.rjust(width) if position in grid.right else cell.ljust(width) for position, cell, width in placed
            ]
            return indent + "   ".join(padded[first:])

        self.verbatim([row_text(grid.head)], Tone.FAINT)
        for tone, cells in grid.rows:
            if not fits:
                self.line(cells[0], Tone.HEAD, indent=2)
            self.verbatim([row_text(cells)], tone)

    def show(self, blocks: Iterable[ReportBlock]) -> None:
        """Add `blocks`, one below the other."""
        for block in blocks:
            match block:
                case Line(text, tone, indent):
                    self.line(text, tone, indent)
                case Fields(pairs, indent, label_width):
                    self.fields(pairs, indent, label_width)
                case Verbatim(lines, tone):
                    self.verbatim(lines, tone)
                case Grid():
                    self.grid(block)
                case _:
                    self.blank()
                    self.show(block)

    def text(self) -> str:
        """Return the whole page."""
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
    """Return the whole answer `outcome` as a page; `look` has its width and whether it has color."""
    page = Page(look or Look())
    first = outcome.line if outcome.heading is None else outcome.heading
    if first:
        page.line(first, outcome.tone if outcome.heading is None else Tone.HEAD)
    page.show(outcome.parts())
    return page.text()


def render_parts(blocks: Iterable[ReportBlock], look: Look | None = None) -> str:
    """Return `blocks` as the text of a page; `look` has its width and whether it has color."""
    page = Page(look or Look())
    page.show(blocks)
    return page.text()


def wrap(text: str, width: int, hanging: int = 0) -> list[str]:
    """Return `text` in lines of at most `width` characters, if its words allow.

    All lines but the first begin with `hanging` spaces. No word is broken, and no line ends after the sign of a
    summand. Joined by spaces, the lines give `text` again.
    """
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
    """Return `text` for a terminal without mathematical letters; a letter without a spelling becomes `?`."""
    return text.translate(_ASCII).encode("ascii", "replace").decode("ascii")
