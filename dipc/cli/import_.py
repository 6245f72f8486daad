"""`dipc import`: a program of DiPC's input format."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from dipc.cli.arguments import output_option
from dipc.cli.exits import ExitCode
from dipc.cli.output import check_distinct, check_target, write_text
from dipc.cli.terminal import write_diagnostics
from dipc.diagnostics.files import read_source

_EPILOG = """
\b
Examples:
  dipc import svt1.txt > svt1.dip
  dipc import svt1.txt -o svt1.dip --pairs pairs.csv
  dipc privacy svt1.dip --adjacent pairs.csv
"""


@click.command(name="import", epilog=_EPILOG)
@click.argument("path", metavar="FILE.txt", type=Path)
@click.option("--pairs", "pairs", metavar="FILE", type=Path, help="Write the pairs of adjacent inputs to FILE.")
@output_option
def import_(path: Path, pairs: Path | None, target: Path | None) -> ExitCode:
    """Print a program of DiPC's input format as one of this language.

    Clamped discrete noise (TDLap) becomes a choice for each value of its center.
    """
    check_target(target)
    check_target(pairs, "--pairs")
    check_distinct({"-o": target, "--pairs": pairs}, path)

    from dipc.privacy.dipc_input import imported

    name = re.sub(r"[^A-Za-z0-9_]", "_", path.stem)
    found = imported(read_source(path), name if re.match("[A-Za-z]", name) else f"p_{name}")
    if found.warnings:
        write_diagnostics(found.warnings)
    write_text(target, found.text)
    if pairs is not None:
        write_text(pairs, found.pairs())
    sys.stdout.flush()
    return ExitCode.ACCURATE
