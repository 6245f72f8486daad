"""`dipc test`: claims with the verdicts that they should have."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dipc.cli.arguments import output_option, quiet_option
from dipc.cli.exits import ExitCode
from dipc.cli.output import check_distinct, check_target, write_text
from dipc.cli.progress import ProgressBar
from dipc.cli.terminal import look_of, write
from dipc.report.page import Look

if TYPE_CHECKING:
    from dipc.suite.tested import Tested

_EPILOG = """
\b
Examples:
  dipc test claims.toml
  dipc test claims/ -j auto --junit results.xml
  dipc test claims.toml --format github

\b
A file of claims is TOML:
  [[claim]]
  name = "a seventh of the bound"
  program = "sparse.dip"          # a path that begins at this file
  table = "sparse.csv"            # or inputs = "q = -1..1", "all"
  constants = { m = 3 }
  beta = "2*m*c*exp(-alpha*eps/(8*c))/7"
  expect = "inaccurate"           # or accurate (the default), undecided
alpha, gamma, eps, for_all and limits may be given, too, as to `dipc check`;
with adjacent = "linf:1" it is a claim about privacy, with budget and delta,
which should be private (the default), not private or undecided.

\b
Exit codes: 0 all as expected, 1 a decided claim came out otherwise, 2 bad
input, 3 a claim is unexpectedly undecided, 70 internal error.
"""


@click.command(epilog=_EPILOG)
@click.argument("paths", metavar="FILE.toml…", type=Path, nargs=-1, required=True)
@click.option("--junit", metavar="FILE", type=Path, help="Write the results to FILE as JUnit's XML, too.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "github"]),
    default="text",
    help="text by default; github: annotations of the places in the sources.",
)
@output_option
@click.option("-j", "--jobs", metavar="N", default="1", help="Test N claims at a time; auto for all processors.")
@click.option("--cache", metavar="FILE", type=Path, help="Keep what is decided in FILE, and go on from there.")
@quiet_option
def test(
    paths: tuple[Path, ...],
    junit: Path | None,
    form: str,
    target: Path | None,
    jobs: str,
    cache: Path | None,
    quiet: bool,
) -> ExitCode:
    """Test that claims have the verdicts they should have: those of the files, and of all files *.dipc.toml in the
    directories given.
    """
    check_target(target)
    check_target(junit, "--junit")

    from dipc.suite.claims_file import claims_files, read_claims
    from dipc.suite.testing import run_claims
    from dipc.suite.written import render_github, render_json, render_junit, render_text, verdict_line

    files = list(claims_files(paths))
    check_distinct({"-o": target, "--junit": junit, "--cache": cache}, *files)
    claims = [claim for file in files for claim in read_claims(file)]
    tested = []
    with ProgressBar("testing claims", silent=quiet) as progress:
        for found in run_claims(claims, jobs=jobs, cache=cache):
            tested.append(found)
            progress(len(tested), len(claims))
    if junit is not None:
        write_text(junit, render_junit(tested))
    match form:
        case "json":
            text = render_json(tested)
        case "github":
            text = render_github(tested)
        case _ if quiet:
            text = verdict_line(tested) + "\n"
        case _:
            text = render_text(tested, look_of(sys.stdout) if target is None else Look())
    write_text(target, text)
    if target is not None and not quiet:
        write(sys.stderr, f"{verdict_line(tested)} (written to {target})\n")
    return exit_code_of(tested)


def exit_code_of(tested: Sequence[Tested]) -> ExitCode:
    """The exit code that says what came out of all claims together."""
    from dipc.suite.tested import Status, overall

    return {
        Status.PASSED: ExitCode.ACCURATE,
        Status.FAILED: ExitCode.INACCURATE,
        Status.UNDECIDED: ExitCode.UNDECIDED,
        Status.ERROR: ExitCode.BAD_INPUT,
    }[overall(found.status for found in tested)]
