"""The command `dipc`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

import dipc
from dipc.accuracy.names import nearest
from dipc.cli.bench import bench
from dipc.cli.check import check
from dipc.cli.dtmc import dtmc
from dipc.cli.errors import guarded, leave
from dipc.cli.exits import ExitCode
from dipc.cli.fmt import fmt
from dipc.cli.prob import prob
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError


class _Commands(click.Group):
    """Commands in the order they were added, with a diagnostic for a name that is none."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the signature is click's
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name in self.commands or name.startswith("-"):
            return super().resolve_command(ctx, args)
        close = nearest(name, self.commands)
        notes = [f"did you mean `dipc {close}`?"] if close else []
        if name.endswith((".dip", ".csv")):
            notes = ["to check a program against a table: `dipc check PROG.dip TABLE.csv`"]
        notes.append(f"the commands are {', '.join(self.commands)}; `dipc --help` says what they do")
        raise DiagnosticError(Diagnostic("E0801", f"there is no command `{name}`", notes=tuple(notes)))


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 accurate (or done), 1 inaccurate, 2 bad input, 3 undecided, 70 internal error.",
)
@click.version_option(dipc.__version__, message="dipc %(version)s")
def cli() -> None:
    r"""Decide, exactly and for all eps at once, whether a differentially private mechanism gives the right answer
    often enough.

    \b
      dipc check sparse.dip table.csv      prove or refute accuracy on a table
      dipc prob sparse.dip --input ...     every output with its probability
    """


for _command in (check, prob, dtmc, fmt, bench):
    cli.add_command(_command)


def run(arguments: Sequence[str]) -> int:
    """Run one command line, `dipc` itself left out; never raises for what a user can cause."""

    def command() -> int:
        with cli.make_context("dipc", list(arguments)) as context:
            result = cli.invoke(context)
        return result if isinstance(result, int) else ExitCode.ACCURATE

    return guarded(command)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and end the process with its exit code."""
    if "_DIPC_COMPLETE" in os.environ:
        cli.main(prog_name="dipc")
    leave(run(sys.argv[1:] if arguments is None else arguments))
