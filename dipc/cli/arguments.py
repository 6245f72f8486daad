"""Options and arguments that several commands share, and the reading of their values."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dipc.algebra.limits import LIMIT_NAMES
from dipc.algebra.rationals import NotExact, parse_rational
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.source import Source, Span

if TYPE_CHECKING:
    from dipc.lang.ast import Item, Values
    from dipc.lang.number_reader import NumberReader

_F = TypeVar("_F", bound=Callable[..., Any])
_T = TypeVar("_T")


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


def parse_definitions(definitions: Iterable[str]) -> dict[str, Fraction]:
    """The constants of `-D name=value`, exact. Raises DiagnosticError for anything that is not such a definition."""
    note = "write an exact number such as 4, -1, 1/3 or 0.25"
    return read_definitions(definitions, lambda given, tree: given.number(tree), note)


def read_definitions(
    definitions: Iterable[str], read: Callable[[NumberReader, Values], _T], note: str
) -> dict[str, _T]:
    """What `read` makes of each value of `-D name=value`; it raises BadValue, and `note` says what to write then.

    Raises DiagnosticError with all mistakes.
    """
    from dipc.lang.number_reader import BadValue, NumberReader
    from dipc.lang.parser import parse_items

    result: dict[str, _T] = {}
    mistakes: list[Diagnostic] = []
    for text in definitions:
        source = Source("<-D>", text)
        try:
            items = parse_items(source)
        except DiagnosticError as error:
            mistakes += error.diagnostics
            continue
        if not items:
            form = "a definition is a name and a number, such as -D m=4"
            place = source.excerpt(Span(0, len(text)))
            mistakes.append(Diagnostic("E0805", "this is no definition", place, notes=(form,)))
        reader = NumberReader(source, {}, example=note)
        for item in items:
            try:
                name = _new_name(item, result)
                result[name] = read(reader, item.values)
            except BadValue as bad:
                mistakes.append(bad.located("E0805", source))
    if mistakes:
        raise DiagnosticError(*mistakes)
    return result


def _new_name(item: Item, known: Container[str]) -> str:
    """The constant that is defined. Raises BadValue for an element, and for one that is known."""
    from dipc.lang.ast import Element
    from dipc.lang.number_reader import BadValue

    target = item.target
    if isinstance(target, Element):
        raise BadValue(target.span, "a constant has no elements", "write for example -D m=4")
    if target.name in known:
        raise BadValue(target.span, f"`{target.name}` is defined twice", "give each constant once")
    return target.name


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
