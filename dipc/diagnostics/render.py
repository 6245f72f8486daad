"""Diagnostics as text, in the manner of rustc: what, where, the line with a caret, and how to mend it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from dipc.diagnostics.diagnostic import Diagnostic
from dipc.diagnostics.source import Excerpt

#: The columns of a source line that are shown; longer lines are cut around what is marked.
WINDOW = 100
TAB = 4
CUT = "..."

RED, YELLOW, BLUE, CYAN, BOLD, PLAIN = "\x1b[1;31m", "\x1b[1;33m", "\x1b[1;34m", "\x1b[1;36m", "\x1b[1m", "\x1b[0m"


def render(diagnostics: Iterable[Diagnostic], *, color: bool = False) -> str:
    """All diagnostics, separated by blank lines, with a count at the end when there are several.

    The text ends in a newline, unless there is no diagnostic at all. Without `color` it is printable characters and
    newlines only, whatever the sources hold; with it, only ANSI colors come on top.
    """
    paint = _Paint(color)
    all_of = list(diagnostics)
    blocks = ["\n".join(_diagnostic(diagnostic, paint)) for diagnostic in all_of]
    errors = sum(not diagnostic.is_warning for diagnostic in all_of)
    if errors > 1:
        blocks.append(paint(RED, f"{errors} errors"))
    return "\n\n".join(blocks) + "\n" if blocks else ""


@dataclass(frozen=True, slots=True)
class _Paint:
    color: bool

    def __call__(self, style: str, text: str) -> str:
        return f"{style}{text}{PLAIN}" if self.color and text else text


@dataclass(frozen=True, slots=True)
class _Place:
    excerpt: Excerpt
    label: str
    primary: bool


def _diagnostic(diagnostic: Diagnostic, paint: _Paint) -> Iterator[str]:
    kind = paint(YELLOW, f"warning[{diagnostic.code}]") if diagnostic.is_warning else ""
    yield (kind or paint(RED, f"error[{diagnostic.code}]")) + paint(BOLD, f": {printable(diagnostic.message)}")
    places = [_Place(label.excerpt, label.text, False) for label in diagnostic.secondary]
    if diagnostic.excerpt is not None:
        places.insert(0, _Place(diagnostic.excerpt, diagnostic.label, True))
    margin = " " * max((len(str(place.excerpt.line)) for place in places), default=1)
    files = dict.fromkeys(place.excerpt.file for place in places)
    for number, file in enumerate(files):
        here = [place for place in places if place.excerpt.file == file]
        first = here[0].excerpt
        arrow = ":::" if number else "-->"
        yield f"{margin}{paint(BLUE, arrow)} {printable(file)}:{first.line}:{first.column}"
        yield f"{margin} {paint(BLUE, '|')}"
        yield from _places(here, margin, paint)
    for note in diagnostic.notes:
        head, *rest = note.split("\n")
        yield f"{margin} {paint(BLUE, '=')} {paint(CYAN, 'help')}: {printable(head)}"
        yield from (f"{margin}         {printable(line)}".rstrip() for line in rest)


def _places(places: list[_Place], margin: str, paint: _Paint) -> Iterator[str]:
    """The lines of one file, from the top, each with its marks beneath it."""
    bar = paint(BLUE, "|")
    above = 0
    for place in sorted(places, key=lambda place: (place.excerpt.line, not place.primary)):
        line, before, marks = _marked(place.excerpt)
        if place.excerpt.line != above:
            if above and place.excerpt.line > above + 1:
                yield paint(BLUE, CUT)
            above = place.excerpt.line
            yield f"{paint(BLUE, str(above).rjust(len(margin)))} {bar} {line}".rstrip()
        style, mark = (RED, "^") if place.primary else (BLUE, "-")
        marked = mark * marks + (f" {printable(place.label)}" if place.label else "")
        yield f"{margin} {bar} {' ' * before}{paint(style, marked)}"


def printable(text: str) -> str:
    """`text` with every character that would move the cursor, hide or reorder its neighbors replaced by a picture."""
    return "".join(_picture(character) for character in text)


def _picture(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    return " " if unicodedata.category(character) == "Zs" else "\ufffd"


def _width(character: str) -> int:
    """The columns that a printable character takes in a terminal."""
    if unicodedata.combining(character) or unicodedata.category(character) == "Me":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _marked(excerpt: Excerpt) -> tuple[str, int, int]:
    """The line as shown, the columns before the mark, and the columns marked (at least one)."""
    start = min(excerpt.column - 1, len(excerpt.text))
    end = min(start + excerpt.length, len(excerpt.text))
    first, last = _window(excerpt.text, start, end)
    cells: list[str] = [CUT] if first > 0 else []
    column = before = len(CUT) if first > 0 else 0
    after = column
    for index in range(first, last):
        character = excerpt.text[index]
        cell = " " * (TAB - column % TAB) if character == "\t" else _picture(character)
        cells.append(cell)
        column += len(cell) if character == "\t" else _width(cell)
        if index < start:
            before = column
        if index < end:
            after = column
    if last < len(excerpt.text.rstrip()):
        cells.append(CUT)
    return "".join(cells), before, max(1, after - before)


def _window(text: str, start: int, end: int) -> tuple[int, int]:
    """The part [first, last) of a line to show: all of it when short, else WINDOW characters around [start, end)."""
    text_end = len(text.rstrip())
    if text_end <= WINDOW:
        return 0, max(text_end, min(end, len(text)))
    if end <= WINDOW * 3 // 4:
        return 0, WINDOW
    first = max(0, min(start - WINDOW // 4, max(text_end, end) - WINDOW))
    return first, min(first + WINDOW, max(text_end, end))
