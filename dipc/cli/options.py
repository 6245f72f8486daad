"""Options and arguments that several commands share, and the objects that they fill."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

import click

from dipc.algebra.limits import LIMIT_NAMES
from dipc.claims.claim import GivenEps
from dipc.cli import later
from dipc.cli.output import Output
from dipc.cli.terminal import ProgressBar
from dipc.cli.values import for_all_of, parse_definitions, parse_limits
from dipc.decide.engine import Engine
from dipc.options import Options
from dipc.outcome.statement import Asked
from dipc.program.program import Program, load_source, within
from dipc.text.diagnostic import read_source

_F = TypeVar("_F", bound=Callable[..., Any])

_TAKEN = {field.name for field in fields(Options)}


def asked_of(given: Mapping[str, Any]) -> Asked:
    """The question that the values of a command's options put. Raises DiagnosticError for those that mean nothing."""
    definitions, for_all = for_all_of(given.get("definitions", ()), given.get("for_all"))
    limits = given.get("limits", ())
    taken = {name: value for name, value in given.items() if name in _TAKEN}
    taken |= {"inputs": given.get("inputs") or None, "for_all": for_all, "limits": parse_limits(limits)}
    taken["keep_proofs"] = any(given.get(name) is not None for name in ("proof", "html"))
    return Asked(given["program_path"], Options(**taken), given.get("table_path"), definitions, limits)


class Work:
    """The work on a question: what is said meanwhile, and what is opened, which is closed when the command ends."""

    def __init__(self, asked: Asked, *, quiet: bool = False) -> None:
        self._asked = asked
        self.progress = ProgressBar(f"reading {asked.program_path}", silent=quiet)
        self.stack = click.get_current_context().with_resource(ExitStack())

    def program(self, constants: Mapping[str, Fraction] | None = None, eps: GivenEps = None) -> Program:
        """The program with these constants, those of -D by default, to be asked about `eps`. Raises DiagnosticError."""
        found = parse_definitions(self._asked.definitions) if constants is None else constants
        options = self._asked.options
        source = read_source(self._asked.program_path)
        return within(load_source(source, found, options.eps if eps is None else eps), options.limits)

    def engine(self, program: Program) -> Engine:
        """The engine that decides. Raises DiagnosticError (E13xx)."""
        return self._asked.options.engine(self.stack, program)


def claims_tested(what: str, claims: Sequence[Any], output: Output, jobs: int | str = 1) -> list[Any]:
    """What comes out of the claims, in order; `what` says meanwhile what is done."""
    found = []
    with ProgressBar(what, silent=output.quiet) as progress:
        for one in later.testing.run_claims(claims, jobs=jobs, cache=output.cache):
            found.append(one)
            progress(len(found), len(claims))
    return found


def program_argument(command: _F) -> _F:
    """The argument PROG.dip."""
    return click.argument("program_path", metavar="PROG.dip", type=Path)(command)


def define_option(command: _F) -> _F:
    """The option -D, any number of times."""
    return click.option(
        "-D",
        "definitions",
        metavar="name=value",
        multiple=True,
        help="Give a constant of the program another value; may be repeated.",
    )(command)


def inputs_option(command: _F) -> _F:
    """The option --inputs, any number of times."""
    return click.option(
        "--inputs",
        "inputs",
        metavar="SPEC",
        multiple=True,
        help='The inputs: "q = -1..1", "x in {0, 1/2}", or a CSV file of inputs; may be repeated.',
    )(command)


def for_all_option(command: _F) -> _F:
    """The option --for-all."""
    text = 'Leave a constant open, as -D NAME=all does: with --inputs all, a proof for all; or from "NAME >= 3" on.'
    return click.option("--for-all", metavar="NAME", help=text)(command)


def digits_option(text: str) -> Callable[[_F], _F]:
    """The option --digits, with its help."""

    def decorate(command: _F) -> _F:
        return click.option("--digits", metavar="N", type=click.IntRange(1, 1000), help=text)(command)

    return decorate


def format_option(*forms: str, text: str = "text by default.") -> Callable[[_F], _F]:
    """The option --format, of which the first form is the default."""

    def decorate(command: _F) -> _F:
        return click.option("--format", "form", type=click.Choice(forms), default=forms[0], help=text)(command)

    return decorate


def plot_option(text: str) -> Callable[[_F], _F]:
    """The option --plot, with its help."""

    def decorate(command: _F) -> _F:
        return click.option("--plot", metavar="FILE.svg|png", type=Path, help=text)(command)

    return decorate


def quiet_option(command: _F) -> _F:
    """The option -q of commands whose first line says it all."""
    text = "Print the first line only, and no progress."
    return click.option("--quiet", "-q", is_flag=True, help=text)(command)


def output_option(command: _F) -> _F:
    """The option -o."""
    return click.option(
        "-o",
        "target",
        metavar="FILE",
        type=Path,
        help="Write the result to FILE, as a whole or not at all, instead of stdout.",
    )(command)


def certificate_option(command: _F) -> _F:
    """The option --certificate."""
    text = "Write the proofs to FILE, for `dipc verify`."
    return click.option("--certificate", "proof", metavar="FILE", type=Path, help=text)(command)


def html_option(command: _F) -> _F:
    """The option --html."""
    text = "Write the report to FILE, too, as a page for browsers that asks nothing of anybody."
    return click.option("--html", metavar="FILE", type=Path, help=text)(command)


def claim_options(*, gamma: str = "", eps: str = "") -> Callable[[_F], _F]:
    """The options --beta, --alpha, --gamma and --eps; `gamma` is added to the help of the third, and `eps`, one more
    form of the fourth, goes before the intervals."""
    options = (
        click.option(
            "--beta",
            metavar="EXPR",
            help="The failure probability: in eps, alpha, gamma, the constants, exp, log, min, max and abs.",
        ),
        click.option(
            "--alpha", metavar="VALUE|dd", help="The distance to disagreement asked for; dd is each input's own."
        ),
        click.option("--gamma", metavar="VALUE", help=f"How far real and int outputs may be off; 0 by default.{gamma}"),
        click.option(
            "--eps",
            metavar="VALUE|INTERVALS" if eps else "INTERVALS",
            help=f'Which eps are meant, such as {eps}"(0, 1/2]"; all, "(0, inf)", by default.',
        ),
    )

    def decorate(command: _F) -> _F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def limit_option(
    text: str = f"Give up on a row later, or sooner; NAME is {', '.join([*LIMIT_NAMES][:-1])} or {[*LIMIT_NAMES][-1]}.",
) -> Callable[[_F], _F]:
    """The option --limit, any number of times, with this help."""

    def decorate(command: _F) -> _F:
        return click.option("--limit", "limits", metavar="NAME=N", multiple=True, help=text)(command)

    return decorate


def scale_options(command: _F) -> _F:
    """The options, given to the command as `jobs`, `cache` and `dask`."""
    options = (
        click.option("-j", "--jobs", metavar="N", default="1", help="Work in N processes; auto for all processors."),
        click.option("--cache", metavar="FILE", type=Path, help="Keep what is decided in FILE, and go on from there."),
        click.option("--dask", metavar="ADDRESS", help="Work on the Dask cluster with this scheduler."),
    )
    for option in reversed(options):
        command = option(command)
    return command
