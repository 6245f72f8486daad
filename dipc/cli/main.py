"""The command `dipc`."""

from __future__ import annotations

import gc
import io
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from keyword import iskeyword
from typing import NoReturn

import click

import dipc
from dipc.cli.terminal import COMPLETE, ExitCode, guarded, leave, open_standard_streams, write
from dipc.text.diagnostic import DipcWarning, bad_input, did_you_mean

#: The commands in the order of the help: the module of each, imported when the command runs, and its line of help.
COMMANDS = {
    "check": ("check", "Prove or refute accuracy on a table."),
    "privacy": ("privacy", "Prove or refute differential privacy."),
    "verify": ("tools", "Check a certificate, naming what it trusts."),
    "solve": ("inverse", "Find the least eps, alpha, beta or gamma."),
    "tune": ("inverse", "Find the constants that make a program best."),
    "tighten": ("inverse", "Find the least factor of beta that holds."),
    "interval": ("inverse", "Find intervals around a released answer."),
    "error": ("check", "Find the expected error of the answers."),
    "prob": ("programs", "Show all outputs with their probabilities."),
    "dtmc": ("programs", "Show the Markov chain of a program."),
    "table": ("programs", "Write the table of the exact answers."),
    "run": ("runs", "Run a program with exact noise."),
    "simulate": ("runs", "Run a program many times, and compare."),
    "conform": ("runs", "Compare a real implementation's outputs."),
    "audit": ("runs", "Bound a real implementation's loss."),
    "test": ("suite", "Test claims with expected verdicts."),
    "new": ("suite", "Write a first mechanism, its claim and a test."),
    "examples": ("programs", "Write a mechanism of the literature."),
    "import": ("suite", "Read a program of DiPC's input format."),
    "fmt": ("programs", "Print a program in canonical form."),
    "explain": ("programs", "Show the meaning of a diagnostic."),
    "serve": ("tools", "Open the playground in a browser."),
    "lsp": ("tools", "Serve editors: mistakes, hover, completion."),
    "completion": ("tools", "Complete commands in bash, zsh or fish."),
    "schema": ("tools", "Print the JSON Schema of an answer."),
    "bench": ("tools", "Compare with the paper (from a checkout)."),
}

#: The sections of the help, each with its first command: a section has all commands before the next one.
SECTIONS = {
    "check": "Judge a claim",
    "solve": "Find the best numbers",
    "prob": "Look at a program",
    "run": "Run and test",
    "new": "Write programs",
    "explain": "More",
}


class _Commands(click.Group):
    """The commands listed in COMMANDS.

    Each is a function with the command's name. Its module is imported when the command is needed.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - the signature is click's
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        if cmd_name not in COMMANDS:
            return None
        name = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
        command = getattr(import_module(f"dipc.cli.{COMMANDS[cmd_name][0]}"), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as above
        names, firsts = list(COMMANDS), list(SECTIONS)
        for first, following in zip(firsts, [*firsts[1:], None], strict=True):
            section = names[names.index(first) : None if following is None else names.index(following)]
            with formatter.section(SECTIONS[first]):
                formatter.write_dl([(name.ljust(max(map(len, names))), COMMANDS[name][1]) for name in section])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name in COMMANDS or name.startswith("-"):
            return super().resolve_command(ctx, args)
        notes = did_you_mean(name, COMMANDS, "dipc {}")
        if name.endswith((".dip", ".csv")):
            notes = ["to check a program against a table: `dipc check PROG.dip TABLE.csv`"]
        notes.append(f"the commands are {', '.join(COMMANDS)}; `dipc --help` says what they do")
        raise bad_input("E0801", f"there is no command `{name}`", *notes)


_EPILOG = """
\b
Examples:
  dipc check sparse.dip table.csv            prove or refute a claim on a table
  dipc check noisy.py::answer --inputs all   the same for a Python function
  dipc prob sparse.dip --input "q=(-1,0,1)"  all outputs with their probabilities

\b
Exit codes: 0 accurate (or done), 1 inaccurate, 2 bad input, 3 undecided,
70 internal error.
"""


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=_EPILOG,
)
@click.version_option(dipc.__version__, message="dipc %(version)s")
def cli() -> None:
    """Decide exactly whether a differentially private mechanism is accurate or private, for all eps at once."""


def run(arguments: Sequence[str]) -> int:
    """Run the command line `arguments`, without the word `dipc`, and return its exit code.

    Errors of the user become messages, and never exceptions.
    """

    def command() -> int:
        with cli.make_context("dipc", list(arguments)) as context:
            result = cli.invoke(context)
        return result if isinstance(result, int) else ExitCode.ACCURATE

    with warnings.catch_warnings():
        warnings.simplefilter("always", DipcWarning)
        warnings.showwarning = lambda message, *_, **__: write(sys.stderr, f"warning: {message}\n")
        return guarded(command)


def collect_rarely() -> None:
    """Make garbage collection rare: on chains with millions of objects it takes half of the time and frees nothing."""
    gc.set_threshold(1_000_000, 50, 50)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line `arguments`, by default those of the process, and end the process with its exit code."""
    if (instruction := os.environ.get(COMPLETE)) is not None:
        sys.exit(import_module("dipc.cli.tools").complete(cli, instruction))
    # Exact numbers may be long. The numbers of claims are bounded where they are read, all others by the limits.
    sys.set_int_max_str_digits(0)
    collect_rarely()
    open_standard_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a letter shows `?` for it
    leave(run(sys.argv[1:] if arguments is None else arguments))
