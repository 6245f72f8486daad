"""Families of one program: constants that range over several values, and a table for each member."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from dipc.cli.arguments import read_definitions
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.names import listing, nearest

if TYPE_CHECKING:
    from dipc.lang.ast import Values
    from dipc.lang.number_reader import NumberReader

Constants = Mapping[str, Fraction]

#: More members than this are not looked at one by one.
MOST_MEMBERS = 10_000

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z_0-9]*)\}")


def parse_family(definitions: Iterable[str]) -> dict[str, tuple[Fraction, ...]]:
    """The values of each constant of `-D m=4`, `-D m=1..10` or `-D "c={1, 2, 1/2}"`, in the order given.

    Raises DiagnosticError for what is none of these, and for more than MOST_MEMBERS members.
    """
    note = "write a number, a range of integers or a list: -D m=4, -D m=1..10 or -D c={1,2}"
    family = read_definitions(definitions, _values, note)
    members = prod(len(values) for values in family.values())
    if members > MOST_MEMBERS:
        message = f"the family has {members} members, more than {MOST_MEMBERS}"
        raise DiagnosticError(Diagnostic("E1001", message, notes=("give smaller ranges",)))
    return family


def _values(reader: NumberReader, tree: Values) -> tuple[Fraction, ...]:
    from dipc.lang.number_reader import BadValue

    found: dict[Fraction, None] = {}
    for value in reader.numbers(tree):
        found[value] = None
        if len(found) > MOST_MEMBERS:
            raise BadValue(tree.span, f"these are more than {MOST_MEMBERS} values", "give smaller ranges")
    return tuple(found)


def members(family: Mapping[str, tuple[Fraction, ...]]) -> Iterator[dict[str, Fraction]]:
    """The constants of each member; the last constant runs fastest."""
    for values in product(*family.values()):
        yield dict(zip(family, values, strict=True))


def table_path(pattern: Path, constants: Constants) -> Path:
    """The path with `{name}` replaced by the value of the constant; a fraction p/q is written p_q.

    Raises DiagnosticError for a name that is no constant.
    """

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name not in constants:
            close = nearest(name, constants)
            notes = [f"did you mean `{{{close}}}`?"] if close else []
            notes.append(f"the constants are {listing(list(constants))}" if constants else "there are no constants")
            raise DiagnosticError(
                Diagnostic("E1002", f"`{{{name}}}` in `{pattern}` is no constant of the program", notes=tuple(notes))
            )
        return str(constants[name]).replace("/", "_")

    return Path(_PLACEHOLDER.sub(value, str(pattern)))


def member_text(constants: Constants) -> str:
    """`m = 3, c = 1`."""
    return ", ".join(f"{name} = {value}" for name, value in constants.items())
