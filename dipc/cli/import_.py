"""`dipc import`: programs of DiPC's input format."""

from __future__ import annotations

import json
import re
import sys
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from dipc.cli.arguments import output_option, positive_option
from dipc.cli.exits import ExitCode
from dipc.cli.output import check_distinct, check_target, write_text
from dipc.cli.progress import ProgressBar
from dipc.cli.terminal import look_of, write_diagnostics
from dipc.cli.test import exit_code_of
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.files import read_source

_EPILOG = """
\b
Examples:
  dipc import svt1.txt > svt1.dip
  dipc import svt1.txt -o svt1.dip --pairs pairs.csv
  dipc import histogram.txt --at 1/2
  dipc privacy svt1.dip --adjacent pairs.csv
  dipc import inputs/ --budget eps/2

\b
Exit codes: 0 written, 2 bad input; of a directory those of dipc test.
"""

#: What is tested of a directory, beside its programs.
_CLAIMS = "imported.dipc.toml"


@click.command(name="import", epilog=_EPILOG)
@click.argument("path", metavar="FILE.txt|DIR", type=Path)
@click.option("--pairs", "pairs", metavar="FILE", type=Path, help="Write the pairs of adjacent inputs to FILE.")
@click.option("--at", "at_text", metavar="EPS", help="Fix eps: what is no multiple of eps has a meaning there.")
@click.option("--budget", metavar="K*eps", help="The privacy budget of the files of a directory; eps by default.")
@click.option("--delta", metavar="EXPR", help="Their delta; 0 by default.")
@output_option
def import_(
    path: Path, pairs: Path | None, at_text: str | None, budget: str | None, delta: str | None, target: Path | None
) -> ExitCode:
    """Print a program of DiPC's input format as one of this language, or test that all files *.txt of a directory are
    private for their pairs; -o keeps the programs, their pairs and the claims in a directory.

    Clamped discrete noise (TDLap) becomes a choice for each value of its center. Rates that are no multiple of eps,
    such as 1/eps, and weights that are none for every eps, such as (1-eps)/2, need --at: the program is then that of
    this eps only, and its claim block says so.
    """
    at = None if at_text is None else positive_option("--at", at_text)
    if path.is_dir():
        if pairs is not None:
            raise _no_part("--pairs", "a directory", "with -o DIR the pairs of each file are kept")
        return _batch(path, at, {"budget": budget, "delta": delta}, target)
    for option, value in (("--budget", budget), ("--delta", delta)):
        if value is not None:
            raise _no_part(option, "one file", "give it to `dipc privacy`")
    check_target(target)
    check_target(pairs, "--pairs")
    check_distinct({"-o": target, "--pairs": pairs}, path)
    _import_one(path, at, target, pairs)
    sys.stdout.flush()
    return ExitCode.ACCURATE


def _import_one(path: Path, at: Fraction | None, target: Path | None, pairs: Path | None) -> None:
    from dipc.privacy.dipc_input import imported

    name = re.sub(r"[^A-Za-z0-9_]", "_", path.stem)
    found = imported(read_source(path), name if re.match("[A-Za-z]", name) else f"p_{name}", at)
    write_diagnostics(found.warnings)
    write_text(target, found.text)
    if pairs is not None:
        write_text(pairs, found.pairs())


def _batch(path: Path, at: Fraction | None, claimed: dict[str, str | None], target: Path | None) -> ExitCode:
    """All files of a directory, imported and tested; what cannot be imported is said, and the others are tested."""
    from dipc.suite.claims_file import read_claims
    from dipc.suite.testing import run_claims
    from dipc.suite.written import render_text

    files = sorted(path.glob("*.txt"))
    if not files:
        note = "DiPC's inputs end with .txt"
        raise DiagnosticError(Diagnostic("E1420", f"there is no file *.txt in `{path}`", notes=(note,)))
    unread = False
    with ExitStack() as stack:
        kept = target if target is not None else Path(stack.enter_context(TemporaryDirectory()))
        if target is not None:
            try:
                kept.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise DiagnosticError(
                    Diagnostic("E1420", f"cannot write to `{target}`: {error.strerror}", notes=("-o is a directory",))
                ) from None
        claims = []
        for file in files:
            program, pairs = kept / f"{file.stem}.dip", kept / f"{file.stem}.csv"
            try:
                _import_one(file, at, program, pairs)
            except DiagnosticError as error:
                write_diagnostics(error.diagnostics)
                unread = True
                continue
            keys = {"name": file.name, "program": program.name, "adjacent": pairs.name, "expect": "private", **claimed}
            lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items() if value is not None]
            claims.append("\n".join(["[[claim]]", *lines]) + "\n")
        if not claims:
            return ExitCode.BAD_INPUT
        write_text(kept / _CLAIMS, "\n".join(claims))
        with ProgressBar("testing claims") as progress:
            tested = []
            for one in run_claims(read_claims(kept / _CLAIMS)):
                tested.append(one)
                progress(len(tested), len(claims))
        text = render_text(tested, look_of(sys.stdout))
    if target is None and str(kept) in text:
        text = text.replace(str(kept), "DIR") + "\nDIR is where `-o DIR` keeps the programs\n"
    write_text(None, text)
    return ExitCode.BAD_INPUT if unread else exit_code_of(tested)


def _no_part(option: str, of: str, note: str) -> DiagnosticError:
    return DiagnosticError(Diagnostic("E1412", f"`{option}` has no part in the import of {of}", notes=(note,)))
