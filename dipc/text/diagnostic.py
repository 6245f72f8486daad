"""Diagnostics: source texts, spans, and messages that say what is wrong, where, and how to correct it."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from dipc.frozen import frozen

# --- Source texts and spans in them -----------------------------------------------------------------------------------


@frozen
class Span:
    """A half-open range [start, end) of character offsets into one source text."""

    start: int
    end: int


@frozen
class Excerpt:
    """A place in a file, resolved for display: 1-based line and column, the line's text, the marked length."""

    file: str
    line: int
    column: int
    text: str
    length: int


@dataclass(frozen=True)
class SourceText:
    """The text `text` of the file `name`; it finds the line and column of a span.

    The other fields are None, except for a text in another language, such as Python. Then `tree` is the program that
    was read from the text, with spans into the text, and `program_text` is this program in dipc's language. For a
    Python function, `accepted` has all that is needed to run it. `_starts` has the index at which each line starts.
    """

    name: str
    text: str
    tree: Any = field(default=None, repr=False, compare=False)
    program_text: str | None = field(default=None, repr=False)
    accepted: Any = field(default=None, repr=False, compare=False)
    _starts: list[int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        starts = [0]
        position = self.text.find("\n")
        while position >= 0:
            starts.append(position + 1)
            position = self.text.find("\n", position + 1)
        object.__setattr__(self, "_starts", starts)

    @property
    def in_language(self) -> SourceText:
        """A text in the language with the same program: this text, or one made of `program_text`."""
        return self if self.program_text is None else SourceText(self.name, self.program_text)

    def excerpt(self, span: Span) -> Excerpt:
        """Return the excerpt for `span`; a span over several lines is marked to the end of its first line."""
        line = bisect_right(self._starts, span.start)
        start = self._starts[line - 1]
        end = self.text.find("\n", start)
        text = self.text[start : end if end >= 0 else len(self.text)].rstrip("\r")
        column = span.start - start
        length = max(1, min(span.end - span.start, len(text) - column))
        return Excerpt(self.name, line, column + 1, text, length)


# --- Diagnostics: a code, a message, the place, and notes that say how to correct it ----------------------------------


@frozen
class Label:
    """A second place that a diagnostic points to, with the `text` printed there, such as "declared here"."""

    excerpt: Excerpt
    text: str


@frozen
class Diagnostic:
    """A single mistake in the user's input.

    `code` is stable ("E0104", for a warning "W0601"). `message` is one sentence without a full stop. `excerpt` is the
    place, or None if there is none, as for a missing file. `label` is printed next to the caret. `notes` say how to
    correct the mistake, one sentence each. `secondary` has further places, such as that of a declaration.
    """

    FIELDS = "code message notes"  # of the JSON object, as in `dipc.algebra.record`

    code: str
    message: str
    excerpt: Excerpt | None = None
    label: str = ""
    notes: tuple[str, ...] = ()
    secondary: tuple[Label, ...] = ()

    @property
    def is_warning(self) -> bool:
        """Whether the diagnostic only warns, and stops nothing."""
        return self.code.startswith("W")


class DipcWarning(UserWarning):
    """A warning that does not change the answer, but that a user should know."""


class DiagnosedError(Exception):
    """An error with at least one diagnostic.

    `str()` is the text that the command line prints: all diagnostics, each with its code, its place, a caret and the
    correction.
    """

    def __init__(self, *diagnostics: Diagnostic) -> None:
        assert diagnostics
        super().__init__(diagnostics[0].message)
        self.diagnostics = diagnostics

    def __str__(self) -> str:
        return self.render().rstrip("\n")

    def render(self, *, color: bool = False) -> str:
        """Return all diagnostics as text that ends with a newline; with `color`, for a terminal."""
        return render(self.diagnostics, color=color)


class DiagnosticError(DiagnosedError):
    """The error raised for bad input, with at least one diagnostic."""


def bad_input(code: str, message: str, *notes: str, place: Excerpt | None = None) -> DiagnosticError:
    """Return the error for a single mistake at `place`, with its `code` and its `message`.

    The `notes` say how to correct the mistake.
    """
    return DiagnosticError(Diagnostic(code, message, place, notes=notes))


class DefectError(DiagnosedError):
    """A defect of dipc itself, with at least one diagnostic. The command line ends with exit code 70 and no verdict."""


# --- Names the user may have meant ------------------------------------------------------------------------------------

#: The most candidates that are compared.
_SEARCHED = 1000


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate most like `name`, ignoring letter case, or None if none of `candidates` is similar."""
    from difflib import get_close_matches

    folded = {candidate.lower(): candidate for candidate in islice(candidates, _SEARCHED) if candidate != name}
    matches = get_close_matches(name.lower(), folded, n=1, cutoff=0.6)
    return folded[matches[0]] if matches else None


def did_you_mean(name: str, candidates: Iterable[str], written: str = "{}") -> list[str]:
    """Return a list with one note, "did you mean …?", for the candidate that is most like `name`.

    The list is empty if none of `candidates` is similar. `written` is how the candidate is shown, with `{}` for the
    candidate, such as "--{}".
    """
    close = nearest(name, candidates)
    return [f"did you mean `{written.format(close)}`?"] if close else []


def mistyped(word: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that differs from `word` by a typing mistake, or None if none of `candidates` does.

    A mistake is a letter that is wrong, missing, added, or swapped with its neighbor. If `word` has more than eight
    letters, two mistakes are allowed.
    """
    allowed = 1 if len(word) <= 8 else 2
    result = min(((_slips(word, each), each) for each in candidates), default=(allowed + 1, ""))
    return result[1] if result[0] <= allowed else None


def _slips(left: str, right: str) -> int:
    """Return the least number of changes that turn `left` into `right`.

    A change replaces, removes or inserts a letter, or swaps two neighboring letters.
    """
    before: list[int] = []
    row: list[int] = [*range(len(right) + 1)]
    for i, a in enumerate(left, 1):
        above, row = row, [i]
        for j, b in enumerate(right, 1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + int(a != b)))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                row[j] = min(row[j], before[j - 2] + 1)
        before = above
    return row[-1]


def listing(names: Iterable[str], limit: int = 8, joint: str = "and") -> str:
    """Return `names` in quotes, separated by commas, with the word `joint` before the last.

    If there are more than `limit` names, the first `limit` of them are listed, and the list ends with the number of the
    others: "and 5 more".
    """
    quoted = [f"`{name}`" for name in names]
    if len(quoted) > limit:
        return f"{', '.join(quoted[:limit])} {joint} {len(quoted) - limit} more"
    if len(quoted) <= 1:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} {joint} {quoted[-1]}"


# --- Diagnostics as text, in the manner of rustc: message, place, the line with a caret, and the correction -----------

#: The columns of a source line that are shown; longer lines are cut around the mark.
WINDOW = 100
TAB = 4
CUT = "..."

RED, YELLOW, BLUE, CYAN, BOLD, PLAIN = "\x1b[1;31m", "\x1b[1;33m", "\x1b[1;34m", "\x1b[1;36m", "\x1b[1m", "\x1b[0m"


def render(diagnostics: Iterable[Diagnostic], *, color: bool = False) -> str:
    """Return all `diagnostics` as text, separated by blank lines, with a count at the end if there are several.

    The text ends in a newline, unless there is no diagnostic at all. Without `color` it consists of printable
    characters and newlines only, whatever the sources contain; with it, only ANSI colors are added.
    """

    def paint(style: str, text: str) -> str:
        return f"{style}{text}{PLAIN}" if color and text else text

    all_of = list(diagnostics)
    blocks = ["\n".join(_diagnostic(diagnostic, paint)) for diagnostic in all_of]
    errors = sum(not diagnostic.is_warning for diagnostic in all_of)
    if errors > 1:
        blocks.append(paint(RED, f"{errors} errors"))
    return "\n\n".join(blocks) + "\n" if blocks else ""


#: A function of a style and a text, which returns the text in that style.
_Paint = Callable[[str, str], str]


def _diagnostic(diagnostic: Diagnostic, paint: _Paint) -> Iterator[str]:
    kind = paint(YELLOW, f"warning[{diagnostic.code}]") if diagnostic.is_warning else ""
    yield (kind or paint(RED, f"error[{diagnostic.code}]")) + paint(BOLD, f": {printable(diagnostic.message)}")
    primary = None if diagnostic.excerpt is None else Label(diagnostic.excerpt, diagnostic.label)
    places = [*([] if primary is None else [primary]), *diagnostic.secondary]
    margin = " " * max((len(str(place.excerpt.line)) for place in places), default=1)
    files = dict.fromkeys(place.excerpt.file for place in places)
    for number, file in enumerate(files):
        here = [place for place in places if place.excerpt.file == file]
        first = here[0].excerpt
        arrow = ":::" if number else "-->"
        yield f"{margin}{paint(BLUE, arrow)} {printable(file)}:{first.line}:{first.column}"
        yield f"{margin} {paint(BLUE, '|')}"
        yield from _places(here, primary, margin, paint)
    for note in diagnostic.notes:
        head, *rest = note.split("\n")
        yield f"{margin} {paint(BLUE, '=')} {paint(CYAN, 'help')}: {printable(head)}"
        yield from (f"{margin}         {printable(line)}".rstrip() for line in rest)


def _places(places: list[Label], primary: Label | None, margin: str, paint: _Paint) -> Iterator[str]:
    bar = paint(BLUE, "|")
    above = 0
    for place in sorted(places, key=lambda place: (place.excerpt.line, place is not primary)):
        line, before, marks = _marked(place.excerpt)
        if place.excerpt.line != above:
            if above and place.excerpt.line > above + 1:
                yield paint(BLUE, CUT)
            above = place.excerpt.line
            yield f"{paint(BLUE, str(above).rjust(len(margin)))} {bar} {line}".rstrip()
        style, mark = (RED, "^") if place is primary else (BLUE, "-")
        marked = mark * marks + (f" {printable(place.text)}" if place.text else "")
        yield f"{margin} {bar} {' ' * before}{paint(style, marked)}"


def printable(text: str) -> str:
    """Return `text` with a visible sign, such as `␛`, for each character that could change how the rest is shown.

    These are the characters that move the cursor, or that hide or reorder their neighbors.
    """
    return text if text.isprintable() else "".join([_picture(character) for character in text])


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
    if unicodedata.combining(character) or unicodedata.category(character) == "Me":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _marked(excerpt: Excerpt) -> tuple[str, int, int]:
    """Return the displayed line of `excerpt`, and the numbers of its columns before the mark and under the mark.

    The last number is at least 1.
    """
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
    """Return (first, end) of the part of the line `text` that is shown; the character at this end is not shown.

    The characters from `start` to `end` are marked. A line of at most WINDOW characters is shown whole. From a longer
    line, approximately WINDOW characters are shown, around the marked ones.
    """
    text_end = len(text.rstrip())
    if text_end <= WINDOW:
        return 0, max(text_end, min(end, len(text)))
    if end <= WINDOW * 3 // 4:
        return 0, WINDOW
    first = max(0, min(start - WINDOW // 4, max(text_end, end) - WINDOW))
    return first, min(first + WINDOW, max(text_end, end))


# --- Programs read from files, or a diagnostic that says why they cannot be -------------------------------------------

#: The most bytes of a program; the parser has its own, lower, limits on the content.
_LARGEST = 40_000_000

_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


#: The file that is wanted, for the advice where there is none.
_PROGRAM_FILE = "a DiPWhile+ program, for example benchmarks/sparse.dip"


def read_source(path: Path, wanted: str = _PROGRAM_FILE) -> SourceText:
    """Return the text of the file `path`, without a byte order mark.

    Error messages ask for `wanted`, a description of the file such as "a CSV file of observed outputs". Raises
    DiagnosticError (E0802, E0803) for a file that is missing, unreadable, too large or not UTF-8.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        similar = _similar(path) if wanted == _PROGRAM_FILE else ""
        raise DiagnosticError(unreadable(path, error, "E0802", f"give the path of {wanted}", similar)) from None
    if len(data) > _LARGEST:
        message = f"`{path}` is longer than {_LARGEST // 1_000_000} MB"
        raise DiagnosticError(Diagnostic("E0802", message, notes=(f"give the path of {wanted}",)))
    marked = data.startswith(_UTF8_MARK)
    try:
        return SourceText(str(path), data.removeprefix(_UTF8_MARK).decode("utf-8"))
    except UnicodeDecodeError as error:
        raise DiagnosticError(_undecodable(path, data, error.start + len(_UTF8_MARK) * marked)) from None


def unreadable(path: str | Path, error: OSError | ValueError, code: str, note: str, missing: str = "") -> Diagnostic:
    """Return the diagnostic with this `code` for the file `path`, which cannot be read because of `error`.

    `note` is the advice, and `missing` the advice for a file that does not exist.
    """
    match error:
        case FileNotFoundError() if str(path) == "-":
            note = "save the text in a file, and give its path"
            return Diagnostic(code, "there is no file `-`: standard input is not read", notes=(note,))
        case FileNotFoundError():
            return Diagnostic(code, f"there is no file `{path}`", notes=(missing or note,))
        case IsADirectoryError():
            return Diagnostic(code, f"`{path}` is a directory", notes=(note,))
        case PermissionError():
            return Diagnostic(code, f"no permission to read `{path}`", notes=("change the file's permissions",))
        case OSError():
            return Diagnostic(code, f"`{path}` cannot be read: {error.strerror or error}")
    return Diagnostic(code, f"`{path}` is not a path: {error}")  # with a NUL character


def _similar(path: Path) -> str:
    try:
        names = [entry.name for entry in path.parent.iterdir() if entry.suffix == ".dip"]
    except (OSError, ValueError):
        return ""
    close = nearest(path.name, names)
    return "" if close is None else f"did you mean `{path.with_name(close)}`?"


def _undecodable(path: Path, data: bytes, position: int) -> Diagnostic:
    start = data.rfind(b"\n", 0, position) + 1
    end = data.find(b"\n", position)
    line = data[start : end if end >= 0 else len(data)]
    number = data.count(b"\n", 0, position) + 1
    column = len(data[start:position].decode("utf-8", errors="replace")) + 1
    text = line.decode("utf-8", errors="replace").rstrip("\r").replace("\0", "\ufffd")
    note = "the file looks like UTF-16: save it as UTF-8" if data.startswith(_UTF16_MARKS) else "save the file as UTF-8"
    return Diagnostic(
        "E0803",
        f"the program is not UTF-8: byte 0x{data[position]:02x} at offset {position}",
        Excerpt(str(path), number, column, text, 1),
        notes=(note,),
    )
