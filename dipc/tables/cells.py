"""Cells of a table: exact values, read once for each distinct text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import assert_never

from dipc.algebra.rationals import NotExact, parse_rational
from dipc.diagnostics.names import nearest
from dipc.lang.core import BoolType, DomType, IntType, RealType, Type, Value


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """One value of a table. `value` None stands for infinity. A reader makes one Cell for each distinct value, so
    identity is equality and hashing costs nothing."""

    value: Value | None
    text: str


@dataclass(frozen=True, slots=True)
class BadCell:
    """A cell that cannot be read: a diagnostic without its place."""

    code: str
    message: str
    notes: tuple[str, ...]


#: What reading a cell gives: None for an empty one.
Read = Cell | BadCell | None


class CellPool:
    """Interns cells by value: `0.25` and `1/4` are the same Cell."""

    def __init__(self) -> None:
        self._cells: dict[tuple[type, Value], Cell] = {}

    def cell(self, value: Value) -> Cell:
        """The one Cell of this pool for `value`."""
        key = (type(value), value)
        cell = self._cells.get(key)
        if cell is None:
            cell = self._cells[key] = Cell(value, show_value(value))
        return cell


class Column(dict[str, Read]):
    """The cells of one column by their text; each distinct text is read once."""

    def __init__(self, read: Callable[[str], Read]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, text: str) -> Read:
        result = self[text] = self._read(text)
        return result


#: The value of the cell `inf`.
INFINITY = Cell(None, "inf")


def show_value(value: Value) -> str:
    """The canonical text of a value: `1/4`, `top`, `true`."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case Fraction():
            return str(value)
    assert_never(value)


def slot_reader(name: str, type: Type, required: bool, pool: CellPool) -> Callable[[str], Read]:  # noqa: A002 - the word of the language
    """Reads cells of the column for a variable; an empty cell is a mistake where `required`."""
    members = frozenset(type.values) if isinstance(type, DomType) else frozenset()

    def read(raw: str) -> Read:
        text = raw.strip()
        if not text:
            return _empty(name) if required else None
        match type:
            case BoolType():
                return _truth(name, text, pool)
            case DomType(values=values):
                return _member(name, text, values, members, pool)
            case IntType():
                return _integer(text, pool)
            case RealType():
                return _number(text, pool)
        assert_never(type)

    return read


def claim_reader(name: str, pool: CellPool) -> Callable[[str], Read]:
    """Reads cells of the columns alpha, gamma and dd: rationals >= 0; `inf` in dd, `dd` in alpha."""

    def read(raw: str) -> Read:
        text = raw.strip()
        if not text:
            return None
        if text == "inf" and name == "dd":
            return INFINITY
        if text == "dd" and name == "alpha":
            return pool.cell("dd")
        cell = _number(text, pool)
        if isinstance(cell, Cell) and isinstance(cell.value, Fraction) and cell.value < 0:
            return BadCell("E0513", f"{name} is negative", ("a distance is a rational >= 0",))
        return cell

    return read


def beta_reader(pool: CellPool) -> Callable[[str], Read]:
    """Keeps the text: a beta is an expression, read later."""

    def read(raw: str) -> Read:
        text = raw.strip()
        return pool.cell(text) if text else None

    return read


def describe_domain(values: tuple[Value, ...]) -> str:
    """A domain as its declaration would have it, shortened where it is long: `{none, bot, top}`, `{-5..5}`."""
    numbers = [value for value in values if isinstance(value, Fraction)]
    if (
        len(numbers) == len(values) > 2
        and all(b - a == 1 for a, b in pairwise(numbers))
        and numbers[0].denominator == 1
    ):
        return f"{{{numbers[0]}..{numbers[-1]}}}"
    texts = [show_value(value) for value in values]
    if len(texts) > 12:
        texts = [*texts[:10], "...", texts[-1]]
    return "{" + ", ".join(texts) + "}"


def _empty(name: str) -> BadCell:
    return BadCell("E0512", f"the input `{name}` is left empty", ("only cells of outputs may be left empty",))


def _truth(name: str, text: str, pool: CellPool) -> Cell | BadCell:
    if text.lower() in {"true", "false"}:
        return pool.cell(text.lower() == "true")
    return BadCell("E0511", f"{_quote(text)} is no value of `{name}`", ("a bool is `true` or `false`",))


def _member(
    name: str, text: str, values: tuple[Value, ...], members: frozenset[Value], pool: CellPool
) -> Cell | BadCell:
    if isinstance(values[0], Fraction):
        cell = _number(text, pool)
        if isinstance(cell, BadCell):
            domain = describe_domain(values)
            return BadCell(cell.code, cell.message, (*cell.notes, f"the domain of `{name}` is {domain}"))
        value = cell.value
    else:
        value, cell = text, pool.cell(text)
    if value in members:
        return cell
    notes = [f"the domain of `{name}` is {describe_domain(values)}"]
    if isinstance(value, str):
        close = nearest(text, [str(candidate) for candidate in values])
        notes += [f"did you mean `{close}`?"] if close else []
    return BadCell("E0511", f"{_quote(text)} is not in the domain of `{name}`", tuple(notes))


def _integer(text: str, pool: CellPool) -> Cell | BadCell:
    cell = _number(text, pool)
    if isinstance(cell, Cell) and isinstance(cell.value, Fraction) and cell.value.denominator != 1:
        return BadCell("E0511", f"{_quote(text)} is not an integer", ("an int takes integers only",))
    return cell


def _number(text: str, pool: CellPool) -> Cell | BadCell:
    try:
        return pool.cell(parse_rational(text))
    except NotExact as error:
        return BadCell("E0510", f"{_quote(text)} {error.reason}", (_number_note(text, error.reason),))


def _number_note(text: str, reason: str) -> str:
    lowered = text.lower()
    if "divides" in reason:
        return "the denominator of a rational is not 0"
    if "digits" in reason:
        return "this is surely a slip: no mechanism needs such a number"
    if lowered.lstrip("+-") in {"inf", "infinity"}:
        return "`inf` is allowed only in the column `dd`"
    if "," in text:
        return "write a decimal point, not a comma"
    if not text.isascii():
        return "write numbers with the digits 0-9 and the ASCII minus sign"
    return "write an exact number such as -1, 1/3, 0.25 or 1e-3"


def _quote(text: str) -> str:
    shown = text if len(text) <= 40 else text[:37] + "..."
    return f"`{shown}`"
