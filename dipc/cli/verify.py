"""`dipc verify`: check a certificate without trusting the engine that wrote it."""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dipc.cli.arguments import define_option, parse_definitions
from dipc.cli.exits import ExitCode
from dipc.cli.progress import ProgressBar
from dipc.cli.terminal import write
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError

if TYPE_CHECKING:
    from dipc.verifier.check import Document

_EPILOG = """
\b
Examples:
  dipc check sparse.dip table.csv --certificate proof.json
  dipc verify proof.json
  dipc verify proof.json --program sparse.dip --table table.csv

\b
The same checker runs with Python alone: python -P -m dipc.verifier FILE,
or as one file made by: python -P -m dipc.verifier --export verify.pyz
The format: dipc/certificate/FORMAT.md, beside the installed package's code.

\b
Exit codes: 0 accepted, and nothing was taken on trust; 1 rejected; 2 unreadable
or bad usage; 3 accepted in part (some rows carry no proof, or something was
taken on trust: the first line says what); 70 internal error.
"""


@click.command(epilog=_EPILOG)
@click.argument("certificate_path", metavar="FILE", type=Path)
@click.option("--program", "program_path", metavar="PROG.dip", type=Path, help="Compare the program with this one.")
@click.option("--table", "table_path", metavar="TABLE.csv", type=Path, help="Compare the rows with this table's.")
@define_option
@click.option("--quiet", "-q", is_flag=True, help="Print the first line only.")
def verify(
    certificate_path: Path,
    program_path: Path | None,
    table_path: Path | None,
    definitions: tuple[str, ...],
    quiet: bool,
) -> ExitCode:
    """Check a certificate of `dipc check` or `dipc privacy`: its program is executed anew and every step derived again,
    or the first wrong one is named."""
    constants = parse_definitions(definitions)
    if constants and program_path is None:
        note = "give the program, too: `--program PROG.dip`"
        raise DiagnosticError(Diagnostic("E0901", "-D gives a constant of a program, and there is none", notes=(note,)))

    from dipc.verifier.budget import Budget
    from dipc.verifier.check import check_document, read_document
    from dipc.verifier.files import compare_program, compare_table, read_certificate
    from dipc.verifier.rejection import Rejected, Unreadable

    try:
        document = read_document(read_certificate(certificate_path))
        facts: dict[str, str] = {}
        if program_path is not None:
            facts["program"] = compare_program(document, program_path)
            facts["constants"] = _compare_constants(document, program_path, constants)
        if table_path is not None:
            facts |= compare_table(document, table_path)
        with ProgressBar(f"checking {certificate_path}", silent=quiet):
            accepted = check_document(document, Budget(), facts)
    except Unreadable as error:
        note = "give a file that `dipc check … --certificate FILE` wrote"
        message = f"`{certificate_path}` is not read: {error.why}"
        raise DiagnosticError(Diagnostic("E0902", message, notes=(note,))) from None
    except Rejected as error:
        write(sys.stdout, f"rejected: {error}\n")
        return ExitCode.INACCURATE
    lines = list(accepted.lines())
    write(sys.stdout, "\n".join(lines[:1] if quiet else lines) + "\n")
    return ExitCode.ACCURATE if accepted.complete else ExitCode.UNDECIDED


def _compare_constants(document: Document, path: Path, given: dict[str, Fraction]) -> str:
    """That the program with these constants has those of the certificate, and, for every number of queries, computes
    the same ones from it. Raises Rejected."""
    from dipc.diagnostics.files import read_source
    from dipc.exits.load import load_source
    from dipc.lang.constants import computed_from
    from dipc.lang.parser import parse
    from dipc.verifier.inputs import varying_constants
    from dipc.verifier.rejection import Rejected

    eps = document.program.get("only_at")
    source = read_source(path)
    constants = load_source(source, given, eps).constants
    if constants != document.constants:
        different = sorted(
            name
            for name in constants.keys() | document.constants.keys()
            if constants.get(name) != document.constants.get(name)
        )
        note = "give the same -D as to `dipc check`"
        raise Rejected("program", f"the constant `{different[0]}` has another value in the certificate: {note}")
    for part in document.parts:
        for parameter, stated in varying_constants(part.data):
            computed = set(computed_from(parse(source).declarations, given, parameter))
            if computed != stated:
                name = min(computed ^ stated)
                message = f"whether the constant `{name}` is computed from `{parameter}` is another in the certificate"
                raise Rejected("program", f"{message}: give the same -D as to `dipc check`")
    return "its constants have these values"
