"""The answer to any question: what is told of it in parts, which a renderer for each format walks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum, StrEnum
from typing import TYPE_CHECKING, Any

from dipc.frozen import frozen
from dipc.text.diagnostic import Diagnostic, Excerpt

if TYPE_CHECKING:
    from dipc.algebra.closed_form import ClosedForm
    from dipc.decide.engine import Engine


class Tone(Enum):
    """What a line is, from which its color follows."""

    GOOD = "1;32"
    BAD = "1;31"
    OPEN = "1;33"
    HEAD = "1"
    FAINT = "2"


class Standing(Enum):
    """What an answer comes to, from which the exit code follows: the answer that was hoped for, its negation, proved,
    or neither; of many questions, that some could not be asked."""

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
    """One of many claims that were tested: where it is claimed, what was expected and what came out, in one line and as
    a whole report, with the command that asks it again. `diagnostics` are what an error consists of."""

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
        """What is told of one that did not come out as it should."""
        told = [line.rstrip() for line in self.text.rstrip().splitlines()]
        return [f"expected {self.expected}", "", *told, "", f"replay: {self.replay}"]


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
