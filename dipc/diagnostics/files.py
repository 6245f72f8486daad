"""Programs read from files, or a diagnostic that says why they cannot be."""

from __future__ import annotations

from pathlib import Path

from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.source import Excerpt, Source

#: Bytes; whatever is longer is no program (the parser has its own, lower, limits on what it contains).
_LARGEST = 40_000_000

_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_source(path: Path) -> Source:
    """The text of the program in the file `path`, without a byte order mark.

    Raises DiagnosticError (E0802, E0803) for what is missing, unreadable, too large or not UTF-8.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        raise DiagnosticError(_unreadable(path, error)) from None
    if len(data) > _LARGEST:
        message = f"`{path}` is longer than {_LARGEST // 1_000_000} MB"
        raise DiagnosticError(Diagnostic("E0802", message, notes=("give the path of a DiPWhile+ program",)))
    marked = data.startswith(_UTF8_MARK)
    try:
        return Source(str(path), data.removeprefix(_UTF8_MARK).decode("utf-8"))
    except UnicodeDecodeError as error:
        raise DiagnosticError(_undecodable(path, data, error.start + len(_UTF8_MARK) * marked)) from None


def _unreadable(path: Path, error: OSError | ValueError) -> Diagnostic:
    note = "give the path of a DiPWhile+ program, for example benchmarks/sparse.dip"
    match error:
        case FileNotFoundError():
            siblings = _similar(path)
            notes = (f"did you mean `{siblings}`?",) if siblings else (note,)
            return Diagnostic("E0802", f"there is no file `{path}`", notes=notes)
        case IsADirectoryError():
            return Diagnostic("E0802", f"`{path}` is a directory", notes=(note,))
        case PermissionError():
            return Diagnostic("E0802", f"no permission to read `{path}`", notes=("change the file's permissions",))
        case OSError():
            return Diagnostic("E0802", f"`{path}` cannot be read: {error.strerror or error}")
        case ValueError():  # a path with a NUL character
            return Diagnostic("E0802", f"`{path!s}` is no path: {error}")


def _similar(path: Path) -> Path | None:
    from difflib import get_close_matches

    try:
        names = [entry.name for entry in path.parent.iterdir() if entry.suffix == ".dip"]
    except OSError:
        return None
    close = get_close_matches(path.name, names, n=1)
    return path.with_name(close[0]) if close else None


def _undecodable(path: Path, data: bytes, at: int) -> Diagnostic:
    start = data.rfind(b"\n", 0, at) + 1
    end = data.find(b"\n", at)
    line = data[start : end if end >= 0 else len(data)]
    number = data.count(b"\n", 0, at) + 1
    column = len(data[start:at].decode("utf-8", errors="replace")) + 1
    text = line.decode("utf-8", errors="replace").rstrip("\r").replace("\0", "\ufffd")
    note = "the file looks like UTF-16: save it as UTF-8" if data.startswith(_UTF16_MARKS) else "save the file as UTF-8"
    return Diagnostic(
        "E0803",
        f"the program is not UTF-8: byte 0x{data[at]:02x} at offset {at}",
        Excerpt(str(path), number, column, text, 1),
        notes=(note,),
    )
