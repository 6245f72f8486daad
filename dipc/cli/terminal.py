"""What the command line knows of the terminal it writes to."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from dipc.report.page import Look, to_ascii

if TYPE_CHECKING:
    from dipc.diagnostics.diagnostic import Diagnostic


def wants_color(stream: TextIO) -> bool:
    """Whether a person at a color terminal reads `stream` and did not forbid color (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def look_of(stream: TextIO) -> Look:
    """How a page for `stream` should look; 80 columns where no terminal says otherwise."""
    return Look(width=shutil.get_terminal_size(fallback=(80, 24)).columns, color=wants_color(stream))


def write(stream: TextIO, text: str) -> None:
    """Write and flush `text`, in ASCII where the stream's encoding cannot hold it."""
    try:
        text.encode(stream.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        text = to_ascii(text)
    stream.write(text)
    stream.flush()


def write_diagnostics(diagnostics: Sequence[Diagnostic]) -> None:
    """Show `diagnostics` on stderr."""
    from dipc.diagnostics.render import render

    text = render(diagnostics, color=wants_color(sys.stderr))
    write(sys.stderr, text if text.endswith("\n") else text + "\n")


def drop_standard_output() -> None:
    """Point stdout at nothing, so that the interpreter's last flush does not fail on a closed pipe."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, sys.stdout.fileno())
    finally:
        os.close(nowhere)
