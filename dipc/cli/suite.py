"""`dipc test`, `new` and `import`: claims with their expected verdicts."""

from __future__ import annotations

import json
import re
import sys
from contextlib import ExitStack
from fractions import Fraction
from keyword import iskeyword
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from dipc.cli.option_table import takes
from dipc.cli.options import claims_tested, positive_option
from dipc.cli.output import Output, check_distinct, check_target, later, write_text
from dipc.cli.terminal import ExitCode, look_of, write, write_diagnostics
from dipc.mechanisms.dipc_input import imported
from dipc.mechanisms.expressions import RESERVED
from dipc.outcome.outcome import render
from dipc.text.diagnostic import DiagnosticError, bad_input, read_source

_TEST_EPILOG = """
\b
Examples:
  dipc test claims.toml
  dipc test claims/ -j auto --junit results.xml
  dipc test claims.toml --format github
  dipc test mechanisms.py        the claims of its mechanisms, for all inputs

\b
A file of claims is TOML:
  [[claim]]
  name = "a seventh of the bound"
  program = "sparse.dip"          # a path that begins at this file,
                                  # or "mechanisms.py::sparse"
  table = "sparse.csv"            # or inputs = "q = -1..1", "all"
  constants = { m = 3 }
  beta = "2*m*c*exp(-alpha*eps/(8*c))/7"
  expect = "inaccurate"           # or accurate (the default), undecided
alpha, gamma, eps, for_all and limits may be given, too, as to `dipc check`;
with adjacent = "linf:1" it is a claim about privacy, with budget and delta,
which should be private (the default), not private or undecided.
dipc opens every program and table that the file names: test only files that
you trust.

\b
Exit codes: 0 all as expected, 1 a decided claim came out otherwise, 2 bad
input, 3 a claim is unexpectedly undecided, 70 internal error.
"""


@click.command(epilog=_TEST_EPILOG)
@click.argument("paths", metavar="FILE.toml…", type=Path, nargs=-1, required=True)
@takes("--junit --format~test=text|json|github -o -j,--jobs~test --cache --quiet,-q")
def test(**given: Any) -> ExitCode:
    """Test that claims have their expected verdicts.

    The claims are those of the named files, and of all *.dipc.toml files in and below the named directories.
    """
    output = Output.from_options(given)
    files = list(later.suite.claims_files(given["paths"]))
    output.check(*files)
    claims = [claim for file in files for claim in later.suite.read_claims(file)]
    return output.deliver(later.suite.outcome(claims_tested("testing claims", claims, output, given["jobs"])))


_NEW_EPILOG = """
\b
Examples:
  dipc new gate                  gate.py and test_gate.py: then `pytest`
  dipc new gate --language dip   gate.dip and gate.dipc.toml: then `dipc test`

\b
Exit codes: 0 written, 2 bad input.
"""

_FIRST_MECHANISM = '''"""Whether a count reaches a threshold, answered privately."""

import dipc


@dipc.mechanism(claim=dict(alpha="dd", beta="exp(-alpha*eps)/2"))
def NAME(count: dipc.Real, eps, threshold: dipc.Const = 100):
    return dipc.laplace(count, scale=1 / eps) >= threshold
'''

_FIRST_TEST = '''"""What is claimed of NAME, proved for every count and every eps."""

from NAME import NAME


def test_it_is_accurate():
    NAME.check(inputs="all").require()


def test_it_is_private():
    NAME.privacy("linf:1", inputs="all").require()


def test_it_runs():
    assert NAME(count=1000, eps=1) is True
'''

_FIRST_PROGRAM = """# Whether a count reaches a threshold, answered privately.
program NAME;
const threshold = 100;
input count : real;
output answer : bool;
var noisy : real;
claim { alpha: dd; beta: exp(-alpha*eps)/2; }
ideal { noiseless }
noisy <- Lap(eps, count);
answer <- noisy >= threshold;
"""

_FIRST_CLAIMS = """[[claim]]
name = "NAME is accurate"
program = "NAME.dip"
inputs = "all"

[[claim]]
name = "NAME is private"
program = "NAME.dip"
inputs = "all"
adjacent = "linf:1"
"""


@click.command(epilog=_NEW_EPILOG)
@click.argument("name", metavar="NAME")
@takes("--language")
def new(name: str, language: str) -> ExitCode:
    """Write a first mechanism with its claim, and a test that proves it, into this directory."""
    if not (re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name) and not iskeyword(name)) or name in RESERVED | {
        "dipc",
        "count",
    }:
        note = "write a word that is not one of Python's or dipc's, for example `dipc new gate`"
        raise bad_input("E0801", f"`{name}` cannot be the name of a mechanism", note)
    if language == "python":
        files = {Path(f"{name}.py"): _FIRST_MECHANISM, Path(f"test_{name}.py"): _FIRST_TEST}
    else:
        files = {Path(f"{name}.dip"): _FIRST_PROGRAM, Path(f"{name}.dipc.toml"): _FIRST_CLAIMS}
    for path in files:
        if path.exists():
            raise bad_input("E0804", f"`{path}` is there already", "give another name, or move the file away")
        check_target(path)
    for path, text in files.items():
        write_text(path, text.replace("NAME", name))
    first, second = files
    then = f"pytest {second}" if language == "python" else f"dipc test {second}"
    write(sys.stdout, f"{first} and {second} written; `{then}` proves the claim\n")
    return ExitCode.ACCURATE


_IMPORT_EPILOG = """
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


#: The file of claims that `-o` writes next to the programs.
_CLAIMS = "imported.dipc.toml"


@click.command(name="import", epilog=_IMPORT_EPILOG)
@click.argument("path", metavar="FILE.txt|DIR", type=Path)
@takes("--pairs --at~import --budget~import --delta~import -o")
def import_(
    path: Path, pairs: Path | None, at_text: str | None, budget: str | None, delta: str | None, target: Path | None
) -> ExitCode:
    """Print a program of DiPC's input format as a program of this language, or test a directory of them.

    For a directory, dipc tests that each file *.txt is private for its pairs. With -o it keeps the programs, their
    pairs and the claims in a directory.

    Clamped discrete noise (TDLap) becomes a choice for each value of its center. A rate that is not a multiple of eps,
    such as 1/eps, needs --at: the program is then about this eps only, and its claim block says so. A weight that is
    not a probability for every eps, such as (1-eps)/2, needs --at, or an interval of eps in later commands.
    """
    point = None if at_text is None else positive_option("--at", at_text)
    if path.is_dir():
        if pairs is not None:
            raise _no_part("--pairs", "a directory", "with -o DIR the pairs of each file are kept")
        return _batch(path, point, {"budget": budget, "delta": delta}, target)
    for option, value in (("--budget", budget), ("--delta", delta)):
        if value is not None:
            raise _no_part(option, "one file", "give it to `dipc privacy`")
    Output(target=target).check(path)
    check_target(pairs, "--pairs")
    check_distinct({"-o": target, "--pairs": pairs}, path)
    _import_one(path, point, target, pairs)
    sys.stdout.flush()
    return ExitCode.ACCURATE


def _import_one(path: Path, point: Fraction | None, target: Path | None, pairs: Path | None) -> None:
    name = re.sub(r"[^A-Za-z0-9_]", "_", path.stem)
    program = imported(
        read_source(path, "a program in DiPC's input format"),
        name if re.match("[A-Za-z]", name) else f"p_{name}",
        point,
    )
    write_diagnostics(program.warnings)
    write_text(target, program.text)
    if pairs is not None:
        write_text(pairs, program.pairs())


def _batch(path: Path, point: Fraction | None, claimed: dict[str, str | None], target: Path | None) -> ExitCode:
    files = sorted(path.glob("*.txt"))
    if not files:
        raise bad_input("E1420", f"there is no file *.txt in `{path}`", "DiPC's inputs end with .txt")
    unread = False
    with ExitStack() as stack:
        kept = target if target is not None else Path(stack.enter_context(TemporaryDirectory()))
        if target is not None:
            try:
                kept.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise bad_input(
                    "E1420", f"cannot write to `{target}`: {error.strerror}", "give a directory to `-o`"
                ) from None
        claims = []
        for file in files:
            program, pairs = kept / f"{file.stem}.dip", kept / f"{file.stem}.csv"
            try:
                _import_one(file, point, program, pairs)
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
        outcome = later.suite.outcome(
            claims_tested("testing claims", later.suite.read_claims(kept / _CLAIMS), Output())
        )
    text = render(outcome, look_of(sys.stdout))
    if target is None and str(kept) in text:
        text = text.replace(str(kept), "DIR") + "\nDIR is where `-o DIR` keeps the programs\n"
    write_text(None, text)
    return ExitCode.BAD_INPUT if unread else ExitCode(outcome.standing.value)


def _no_part(option: str, of: str, note: str) -> DiagnosticError:
    return bad_input("E1412", f"`{option}` does not apply to the import of {of}", note)
