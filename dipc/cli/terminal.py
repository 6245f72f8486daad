"""What the command line knows of the terminal it writes to."""

from __future__ import annotations

import errno
import io
import os
import shutil
import sys
from collections.abc import Sequence
from typing import TextIO

from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.report.page import Look, to_ascii


class ClosedOutput(io.TextIOBase):
    """Stands for a standard output that was closed before the process began: nothing can be written to it."""

    encoding = "utf-8"

    def write(self, _text: str) -> int:
        """Raises OSError."""
        raise OSError(errno.EBADF, "it is closed")


def open_standard_streams() -> None:
    """Give every standard stream that is closed a place, which no file that is opened later can take.

    What is written to a closed stderr is lost; a closed stdout refuses it.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the least number that is free, so this one
    if sys.stdout is None:
        sys.stdout = ClosedOutput()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - as long as the process lives


def wants_color(stream: TextIO) -> bool:
    """Whether a person at a color terminal reads `stream` and did not forbid color (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def look_of(stream: TextIO) -> Look:
    """How a page for `stream` should look; 80 columns where no terminal says otherwise."""
    return Look(width=shutil.get_terminal_size(fallback=(80, 24)).columns, color=wants_color(stream))


def write(stream: TextIO, text: str) -> None:
    """Write and flush `text`, in ASCII where the stream's encoding cannot hold it.

    What stderr does not take is lost. Raises DiagnosticError where stdout takes no result, BrokenPipeError where nobody
    reads it any more.
    """
    try:
        text.encode(stream.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        text = to_ascii(text)
    try:
        stream.write(text)
        stream.flush()
    except OSError as error:
        if stream is sys.stderr:
            drop(stream)
        elif isinstance(error, BrokenPipeError):
            raise
        else:
            raise DiagnosticError(refused_result("the standard output", error)) from error


def refused_result(where: str, error: OSError) -> Diagnostic:
    """A result that could not be written: what was written of it is none."""
    notes = ("no verdict was given: whatever was written before this is to be ignored",)
    return Diagnostic("E0804", f"{where} cannot be written: {error.strerror or error}", notes=notes)


def write_diagnostics(diagnostics: Sequence[Diagnostic]) -> None:
    """Show `diagnostics`, if there are some, on stderr."""
    if not diagnostics:
        return
    from dipc.diagnostics.render import render

    text = render(diagnostics, color=wants_color(sys.stderr))
    write(sys.stderr, text if text.endswith("\n") else text + "\n")


def drop(stream: TextIO) -> None:
    """Point a standard stream at nothing, so that the interpreter's last flush of it does not fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, stream.fileno())
    except (OSError, ValueError):  # one that is no file has no last flush that could fail
        pass
    finally:
        os.close(nowhere)
