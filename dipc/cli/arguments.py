"""Options and arguments that several commands share, and the reading of their values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

import click

from dipc.algebra.limits import LIMIT_NAMES
from dipc.algebra.rationals import NotExact, parse_rational
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.source import Source, Span

_F = TypeVar("_F", bound=Callable[..., Any])
_T = TypeVar("_T")

_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")


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
            help="The failure probability: in eps, alpha, gamma, the constants, exp, min, max and abs.",
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


def parse_definitions(definitions: Iterable[str]) -> dict[str, Fraction]:
    """The constants of `-D name=value`, exact. Raises DiagnosticError for anything that is not such a definition."""
    return read_definitions(definitions, parse_rational, "write an exact number such as 4, -1, 1/3 or 0.25")


def read_definitions(definitions: Iterable[str], read: Callable[[str], _T], note: str) -> dict[str, _T]:
    """What `read` makes of each value of `-D name=value`; it raises NotExact, and `note` says what to write then.

    Raises DiagnosticError with all mistakes.
    """
    result: dict[str, _T] = {}
    mistakes = []
    for text in definitions:
        source = Source("<-D>", text)
        name, equals, value = text.partition("=")
        at = Span(len(name) + len(equals), len(text))
        if not equals or not _NAME.fullmatch(name.strip()):
            form = "a definition is a name and a number, such as -D m=4"
            mistakes.append(
                Diagnostic("E0805", "this is no definition", source.excerpt(Span(0, len(text))), notes=(form,))
            )
        elif name.strip() in result:
            mistakes.append(
                Diagnostic(
                    "E0805",
                    f"`{name.strip()}` is defined twice",
                    source.excerpt(Span(0, len(name))),
                    notes=("give each constant once",),
                )
            )
        else:
            try:
                result[name.strip()] = read(value.strip())
            except NotExact as error:
                mistakes.append(
                    Diagnostic("E0805", f"{_quoted(value.strip())} {error.reason}", source.excerpt(at), notes=(note,))
                )
    if mistakes:
        raise DiagnosticError(*mistakes)
    return result


def positive_option(option: str, text: str) -> Fraction:
    """The exact value of an option that takes a rational > 0. Raises DiagnosticError for anything else."""
    reason = "is not positive"
    note = "write an exact number such as 2, 1/3 or 0.25"
    try:
        value = parse_rational(text.strip())
        if value > 0:
            return value
    except NotExact as error:
        reason = error.reason
    place = Source(f"<{option}>", text).excerpt(Span(0, len(text)))
    raise DiagnosticError(Diagnostic("E0805", f"{_quoted(text.strip())} {reason}", place, notes=(note,)))


def _quoted(text: str) -> str:
    return f"`{text}`" if len(text) <= 40 else f"`{text[:37]}...`"
