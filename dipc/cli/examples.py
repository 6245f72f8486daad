"""`dipc examples`: the mechanisms that come with dipc."""

from __future__ import annotations

from pathlib import Path

import click

from dipc.cli.arguments import output_option
from dipc.cli.exits import ExitCode
from dipc.cli.output import check_target, write_text
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

    check_target(target)
    if name is None:
        width = max(map(len, names()))
        lines = [f"{known.ljust(width)}  {_headline(text(known))}".rstrip() + "\n" for known in names()]
        write_text(target, "".join(lines))
    elif name in names():
        write_text(target, text(name))
    else:
        raise DiagnosticError(_unknown(name, names()))
    return ExitCode.ACCURATE


def _headline(program: str) -> str:
    """The first sentence of the comment at its beginning, or as much of it as stands in one line."""
    first = program.lstrip().partition("\n")[0]
    return first.lstrip("# ").partition(". ")[0] if first.startswith("#") else ""


def _unknown(name: str, known: tuple[str, ...]) -> Diagnostic:
    from dipc.diagnostics.names import nearest

    close = nearest(name.removesuffix(".dip"), known)
    notes = [f"did you mean `dipc examples {close}`?"] if close else []
    return Diagnostic("E0810", f"there is no example `{name}`", notes=(*notes, "`dipc examples` lists them"))
