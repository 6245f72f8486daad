"""A CSV file as a stream of records that know where their cells stand."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.source import Excerpt

#: Bytes of one line: a longer one is no row of a table, and reading it might never end.
MAX_LINE = 10_000_000

_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_UTF8_MARK = b"\xef\xbb\xbf"


class CsvSource:
    """The records of a CSV file, read as a stream; `place` locates a cell of the record given last.

    Raises DiagnosticError (E0501-E0503) for a file that cannot be read, is not UTF-8 or is not CSV.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = os.fspath(path)
        self._lines: list[str] = []
        self._first_line = 1
        self._next_line = 1

    def records(self) -> Iterator[list[str]]:
        """The records in order, blank lines left out. One pass."""
        try:
            with Path(self.name).open("rb") as file:
                reader = csv.reader(self._decoded(file), strict=True, skipinitialspace=True)
                while True:
                    self._lines = []
                    self._first_line = self._next_line
                    try:
                        record = next(reader)
                    except StopIteration:
                        return
                    except csv.Error as error:
                        raise DiagnosticError(self._malformed(error)) from None
                    if len(record) > 1 or (record and record[0].strip()):
                        yield record
        except (OSError, ValueError) as error:
            raise DiagnosticError(_unreadable(self.name, error)) from None

    def _decoded(self, file: IO[bytes]) -> Iterator[str]:
        """The file's lines as text; remembers the lines of the record being read."""
        offset = 0
        while raw := file.readline(MAX_LINE + 1):
            if len(raw) > MAX_LINE:
                raise DiagnosticError(self._too_long())
            line = raw
            if offset == 0 and raw.startswith(_UTF8_MARK):
                line = raw[len(_UTF8_MARK) :]
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError as error:
                position = offset + len(raw) - len(line) + error.start
                raise DiagnosticError(self._undecodable(line, error.start, position, offset == 0)) from None
            self._lines.append(text)
            self._next_line += 1
            if "\0" in text:
                raise DiagnosticError(self._nul(text))
            offset += len(raw)
            yield text

    def place(self, column: int | None) -> Excerpt:
        """The cell with index `column` of the last record, or its first line where `column` is None."""
        if column is None:
            text = self._lines[0].rstrip("\r\n") if self._lines else ""
            return Excerpt(self.name, self._first_line, 1, text, max(1, len(text)))
        spans = cell_spans("".join(self._lines))
        start, end = spans[min(column, len(spans) - 1)]
        line = self._first_line
        for text in self._lines:
            if start < len(text) or text is self._lines[-1]:
                shown = text.rstrip("\r\n")
                return Excerpt(self.name, line, start + 1, shown, max(1, min(end, len(shown)) - start))
            start, end, line = start - len(text), end - len(text), line + 1
        raise AssertionError("a record has at least one line")

    def _undecodable(self, line: bytes, start: int, position: int, first: bool) -> Diagnostic:
        before = line[:start].decode("utf-8")
        text = line.decode("utf-8", errors="replace").rstrip("\r\n")
        if first and line.startswith(_UTF16_MARKS):
            note = "the file looks like UTF-16: save it as UTF-8"
        else:
            note = "save the file as UTF-8"
        return Diagnostic(
            "E0502",
            f"the table is not UTF-8: byte 0x{line[start]:02x} at offset {position}",
            Excerpt(self.name, self._next_line, len(before) + 1, text, 1),
            notes=(note,),
        )

    def _nul(self, text: str) -> Diagnostic:
        at = text.index("\0")
        return Diagnostic(
            "E0503",
            "the table contains a NUL byte",
            Excerpt(self.name, self._next_line - 1, at + 1, text.rstrip("\r\n").replace("\0", "\ufffd"), 1),
            notes=("a table is a text file of comma-separated values",),
        )

    def _too_long(self) -> Diagnostic:
        place = Excerpt(self.name, self._next_line, 1, "", 1)
        note = "a table is a text file of comma-separated values, one row a line"
        return Diagnostic("E0503", f"a line of more than {MAX_LINE} bytes", place, notes=(note,))

    def _malformed(self, error: csv.Error) -> Diagnostic:
        message, note = _explain(str(error))
        return Diagnostic("E0503", message, self.place(None), notes=(note,))


def cell_spans(record: str) -> list[tuple[int, int]]:
    """Where the cells of one raw CSV record stand, without surrounding blanks, quotes included.

    A quote counts only where it opens a cell, and then until it is closed, as for the `csv` module.
    """
    spans = []
    start = 0
    fresh, quoted, open_quote = True, False, False
    body = record.rstrip("\r\n")
    for at, character in enumerate(body):
        if character == "," and not open_quote:
            spans.append(_trim(body, start, at))
            start = at + 1
            fresh, quoted = True, False
        elif character == '"' and (fresh or quoted):
            open_quote = not open_quote
            fresh, quoted = False, True
        elif character != " ":
            fresh = False
    spans.append(_trim(body, start, len(body)))
    return spans


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    cell = text[start:end]
    if not cell.strip():
        return start, end
    return start + len(cell) - len(cell.lstrip()), end - len(cell) + len(cell.rstrip())


def _explain(error: str) -> tuple[str, str]:
    """The `csv` module's words in ours, and how to mend it."""
    if "unexpected end of data" in error:
        return "a quoted cell is not closed", 'close the cell with `"`'
    if "expected after" in error:
        return "text after a closing quote", 'quote the whole cell, and write a quote inside it as `""`'
    if "field larger than" in error:
        return f"a cell of more than {csv.field_size_limit()} characters", "a cell holds one value"
    if "new-line" in error:
        return "a carriage return in the middle of a line", "end the lines with a line feed"
    return f"not a CSV record: {error}", "a table is a text file of comma-separated values"


def _unreadable(name: str, error: OSError | ValueError) -> Diagnostic:
    match error:
        case FileNotFoundError():
            return Diagnostic("E0501", f"there is no file `{name}`", notes=("give the path of a CSV file",))
        case IsADirectoryError():
            return Diagnostic("E0501", f"`{name}` is a directory", notes=("give the path of a CSV file",))
        case PermissionError():
            return Diagnostic("E0501", f"no permission to read `{name}`", notes=("change the file's permissions",))
        case OSError():
            return Diagnostic("E0501", f"`{name}` cannot be read: {error.strerror or error}")
        case ValueError():  # a path with a NUL character
            return Diagnostic("E0501", f"`{name}` is no path: {error}")
