"""The checker as a command of its own."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from dipc.verifier.budget import STEPS, Budget
from dipc.verifier.files import verify
from dipc.verifier.rejection import Rejected, Unreadable

ACCEPTED, REJECTED, UNREADABLE, IN_PART = 0, 1, 2, 3


def main(arguments: Sequence[str]) -> int:
    """Check one certificate: 0 accepted, 1 rejected, 2 unreadable or bad usage, 3 accepted in part."""
    parser = argparse.ArgumentParser(
        prog="python -m dipc.verifier",
        description="Check a certificate of `dipc check`, by the Python standard library alone.",
        epilog="Exit codes: 0 accepted, nothing was taken on trust; 1 rejected; 2 unreadable or bad usage; 3 accepted "
        "in part.",
    )
    parser.add_argument("file", type=Path, nargs="?", help="the certificate")
    parser.add_argument("--program", type=Path, help="compare the program that it is about with this file")
    parser.add_argument("--table", type=Path, help="compare its rows with this CSV file")
    parser.add_argument("--steps", type=int, default=STEPS, help="give up after so many steps (%(default)s)")
    parser.add_argument("--quiet", "-q", action="store_true", help="print the first line only")
    parser.add_argument("--export", type=Path, metavar="OUT.pyz", help="write the checker as one file that Python runs")
    options = parser.parse_args(arguments)
    if options.export is not None:
        return _export(options.export)
    if options.file is None:
        parser.error("give a certificate")
    try:
        budget = Budget(options.steps)
        accepted = verify(options.file, program=options.program, table=options.table, budget=budget)
    except Unreadable as error:
        _complain(f"{options.file} is not read: {error.why}")
        return UNREADABLE
    except Rejected as error:
        return _say([f"rejected: {error}"], REJECTED)
    lines = list(accepted.lines())
    return _say(lines[:1] if options.quiet else lines, ACCEPTED if accepted.complete else IN_PART)


def _export(file: Path) -> int:
    """Write these modules into one file; Python, given its name, sees no other directory."""
    home = Path(__file__).resolve().parent
    main_ = "import sys\nfrom dipc.verifier.alone import main\nsys.exit(main(sys.argv[1:]))\n"
    try:
        with file.open("wb") as out:
            out.write(b"#!/usr/bin/env python3\n")
            with ZipFile(out, "w", ZIP_DEFLATED) as archive:
                archive.writestr(ZipInfo("__main__.py"), main_)
                archive.writestr(ZipInfo("dipc/__init__.py"), "")
                for source in sorted(home.glob("*.py")):
                    archive.writestr(ZipInfo(f"dipc/verifier/{source.name}"), source.read_bytes())
    except OSError as error:
        _complain(f"{file} is not written: {error.strerror}")
        return UNREADABLE
    return ACCEPTED


def _complain(line: str) -> None:
    if sys.stderr is not None:
        with suppress(OSError):
            sys.stderr.write(f"{line}\n")


def _say(lines: Iterable[str], code: int) -> int:
    """The exit code; UNREADABLE where nothing can be said."""
    if sys.stdout is None:
        return UNREADABLE
    try:
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # Where nobody reads any more, the exit code is still worth giving.
        return code if isinstance(error, BrokenPipeError) else UNREADABLE
    return code
