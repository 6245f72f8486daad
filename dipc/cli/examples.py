"""`dipc examples`: the mechanisms that come with dipc."""

from __future__ import annotations

import sys
from itertools import takewhile
from pathlib import Path

import click

from dipc.cli.arguments import output_option
from dipc.cli.exits import ExitCode
from dipc.cli.output import check_target, write_text
from dipc.cli.terminal import look_of
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError

_EPILOG = """
\b
Examples:
  dipc examples
  dipc examples sparse > sparse.dip
"""


@click.command(epilog=_EPILOG)
@click.argument("name", required=False)
@output_option
def examples(name: str | None, target: Path | None) -> ExitCode:
    """Write one of the mechanisms that come with dipc, or list them all with what they say of themselves."""
    from dipc.examples import names, text
    from dipc.report.page import Look, Page

    check_target(target)
    if name is None:
        page = Page(look_of(sys.stdout) if target is None else Look())
        page.fields([(known, _headline(text(known))) for known in names()], indent=0)
        write_text(target, page.text())
    elif name in names():
        write_text(target, text(name))
    else:
        raise DiagnosticError(_unknown(name, names()))
    return ExitCode.ACCURATE


def _headline(program: str) -> str:
    """The first sentence of the comment at its beginning."""
    comment = takewhile(lambda line: line.startswith("#"), program.lstrip().splitlines())
    return " ".join(line.lstrip("# ") for line in comment).partition(". ")[0].removesuffix(".")


def _unknown(name: str, known: tuple[str, ...]) -> Diagnostic:
    from dipc.diagnostics.names import nearest

    close = nearest(name.removesuffix(".dip"), known)
    notes = [f"did you mean `dipc examples {close}`?"] if close else []
    return Diagnostic("E0810", f"there is no example `{name}`", notes=(*notes, "`dipc examples` lists them"))
