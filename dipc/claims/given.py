"""Values of inputs and outputs as users give them: cells of tables, whole arrays, strings such as `q[2] = -1..1`."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeGuard, assert_never

from dipc.algebra.numbers import NotExact, parse_rational
from dipc.frozen import frozen
from dipc.text import ast
from dipc.text.ast import BaseType
from dipc.text.core import DomType, Slot, Type, Value, show_value
from dipc.text.declarations import BadValue, NumberReader
from dipc.text.diagnostic import Diagnostic, DiagnosticError, SourceText, Span, bad_input, did_you_mean, listing
from dipc.text.parser import parse_items
from dipc.text.program import CoreProgram

# --- Whole arrays given at once from Python: `q = (-1, 0, 1)` for `q[1]`, `q[2]` and `q[3]` ---------------------------

_ELEMENT = re.compile(r"(.+)\[-?[0-9]+\]")


def arrays_among(names: Iterable[str]) -> dict[str, list[str]]:
    """Return, for each array with an element among `names`, its elements among them, in order."""
    result: dict[str, list[str]] = {}
    for name in names:
        if element := _ELEMENT.fullmatch(name):
            result.setdefault(element[1], []).append(name)
    return result


def by_element(values: Mapping[str, object], arrays: Mapping[str, Sequence[str]], where: str) -> dict[str, object]:
    """Return `values` with each whole array replaced by its elements, and with spaces removed from names.

    `arrays` has the names of each array's elements. A whole array is anything with a length that can be iterated,
    except a text or a dict. Raises DiagnosticError, with a message that begins with `where`, for a wrong number of
    elements.
    """
    result: dict[str, object] = {}
    for name, value in values.items():
        plain = "".join(name.split())
        elements = arrays.get(plain)
        if elements is None or not _is_sequence(value):
            result[plain] = value
            continue
        if len(value) != len(elements):
            counts = f"{len(value)} values for the {len(elements)} elements"
            raise bad_input("E0509", f"{where} `{plain}`: {counts} of the array")
        result.update(zip(elements, value, strict=True))
    return result


def _is_sequence(value: object) -> TypeGuard[Sequence[Any]]:
    return hasattr(value, "__len__") and hasattr(value, "__iter__") and not isinstance(value, str | bytes | Mapping)


# --- Cells of a table: exact values, read once for each distinct text -------------------------------------------------


@frozen(eq=False)
class Cell:
    """A value of a table, with the text shown for it.

    `value` is None for infinity. A reader makes one Cell for each distinct value, so that cells can be compared by
    identity and hashed quickly.
    """

    value: Value | None
    text: str


def value_of(cell: Cell | None) -> Value:
    """Return the value of a finite, non-empty `cell`."""
    assert cell is not None
    assert cell.value is not None
    return cell.value


def number_of(cell: Cell | None) -> Fraction:
    """Return the number in `cell`, which must not be empty, infinite or a text."""
    assert cell is not None
    assert isinstance(cell.value, Fraction)
    return cell.value


#: The result of reading a cell: None for an empty one, and a diagnostic without a place for one that cannot be read.
Read = Cell | Diagnostic | None


class CellPool:
    """A pool with one Cell for each value: `0.25` and `1/4` give the same Cell."""

    def __init__(self) -> None:
        #: Numbers have their numerator and denominator as keys: to hash a fraction takes a modular inverse.
        self._cells: dict[tuple[type | int, Value | int], Cell] = {}

    def cell(self, value: Value) -> Cell:
        """Return the only Cell of this pool for `value`."""
        key = value.as_integer_ratio() if isinstance(value, Fraction) else (type(value), value)
        cell = self._cells.get(key)
        if cell is None:
            cell = self._cells[key] = Cell(value, show_value(value))
        return cell

    def forget_numbers(self, kept: Container[Fraction]) -> None:
        """Forget the cells of numbers that are not in `kept`, so that a pool of many tables does not grow."""
        self._cells = {
            key: cell for key, cell in self._cells.items() if not isinstance(cell.value, Fraction) or cell.value in kept
        }


#: The value of the cell `inf`.
INFINITY = Cell(None, "inf")


def slot_reader(name: str, type: Type, required: bool, pool: CellPool) -> Callable[[str], Read]:  # noqa: A002 - the word of the language
    """Return a function that reads the text of a cell in the column `name`: it returns a Cell, a Diagnostic, or None.

    Equal values give the same Cell, which `pool` stores. The value must be of this `type`. An empty text gives a
    Diagnostic if a value is `required`, else None.
    """
    members = frozenset(type.values) if isinstance(type, DomType) else frozenset()

    def read(raw: str) -> Read:
        text = raw.strip()
        if not text:
            note = "only cells of outputs may be left empty"
            return Diagnostic("E0512", f"the input `{name}` is left empty", notes=(note,)) if required else None
        match type:
            case BaseType.BOOL:
                if text.lower() in {"true", "false"}:
                    return pool.cell(text.lower() == "true")
                return Diagnostic(
                    "E0511", f"{_quote(text)} is not a value of `{name}`", notes=("write `true` or `false`",)
                )
            case DomType(values=values):
                return _member(name, text, values, members, pool)
            case BaseType.INT:
                cell = _number(text, pool)
                if isinstance(cell, Cell) and isinstance(cell.value, Fraction) and cell.value.denominator != 1:
                    return Diagnostic("E0511", f"{_quote(text)} is not an integer", notes=("write an integer",))
                return cell
            case BaseType.REAL:
                return _number(text, pool)
        assert_never(type)

    return read


def claim_reader(name: str, pool: CellPool) -> Callable[[str], Read]:
    """Return a function that reads the text of a cell in the column `name`, which is alpha, gamma or dd.

    The text is a rational >= 0, in dd also `inf`, in alpha also `dd`. The function returns a Cell, a Diagnostic, or
    None for an empty text. It takes cells from `pool`, so that equal values give the same Cell.
    """

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
            return Diagnostic(
                "E0513", f"{name} is negative", notes=("a distance must be a rational number of at least 0",)
            )
        return cell

    return read


def beta_reader(pool: CellPool) -> Callable[[str], Read]:
    """Return a function that makes a Cell from the text of a cell in the column beta; this text is parsed later.

    Equal texts give the same Cell, which `pool` stores. An empty text gives None.
    """

    def read(raw: str) -> Read:
        text = raw.strip()
        return pool.cell(text) if text else None

    return read


def describe_domain(values: tuple[Value, ...]) -> str:
    """Return the domain `values` as a declaration writes it, shortened if it is long: `{none, bot, top}`, `{-5..5}`."""
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


def _member(
    name: str, text: str, values: tuple[Value, ...], members: frozenset[Value], pool: CellPool
) -> Cell | Diagnostic:
    if isinstance(values[0], Fraction):
        cell = _number(text, pool)
        if isinstance(cell, Diagnostic):
            domain = describe_domain(values)
            return Diagnostic(cell.code, cell.message, notes=(*cell.notes, f"the domain of `{name}` is {domain}"))
        value = cell.value
    else:
        value, cell = text, pool.cell(text)
    if value in members:
        return cell
    notes = [f"the domain of `{name}` is {describe_domain(values)}"]
    if isinstance(value, str):
        notes += did_you_mean(text, [str(candidate) for candidate in values])
    return Diagnostic("E0511", f"{_quote(text)} is not in the domain of `{name}`", notes=tuple(notes))


def _number(text: str, pool: CellPool) -> Cell | Diagnostic:
    try:
        return pool.cell(parse_rational(text))
    except NotExact as error:
        return Diagnostic("E0510", f"{_quote(text)} {error.reason}", notes=(_number_note(text, error.reason),))


def _number_note(text: str, reason: str) -> str:
    lowered = text.lower()
    if "divides" in reason:
        return "write a denominator other than 0"
    if "digits" in reason:
        return "no mechanism needs so many digits: check the number for a mistake"
    if lowered.lstrip("+-") in {"inf", "infinity"}:
        return "`inf` is allowed only in the column `dd`"
    if "," in text:
        return "write a decimal point, not a comma"
    if not text.isascii():
        return "write numbers with the digits 0-9 and the ASCII minus sign"
    return "write an exact number such as -1, 1/3, 0.25 or 1e-3"


def _quote(text: str) -> str:
    written = text if len(text) <= 40 else text[:37] + "..."
    return f"`{written}`"


# --- Values of inputs or outputs in options: `q = (0, 1/2)`, `q[2] = -1..1`, `x in {none, top}`, `q = 0` --------------
#
# A specification gives one value, a range of integers, a list in braces, the name of a domain, or a vector for an
# array. The name of an array refers to all its elements; an item for one element has priority over one for its array.
# Numbers can be written with constants.


def array_of(name: str) -> str | None:
    """Return the array of which the variable `name` is an element, or None if it is not an element of an array."""
    match = _ELEMENT.fullmatch(name)
    return match[1] if match else None


class Specification:
    """The values that the texts of one option give to the variables `slots` of `program`.

    `known` has the values of each variable given so far, and `mistakes` the diagnostics about the texts. `kind` is the
    word for a variable in messages ("input"), and `code` the code of diagnostics. With `single`, each variable has one
    value.
    """

    def __init__(
        self,
        program: CoreProgram,
        slots: Sequence[Slot],
        *,
        option: str,
        kind: str,
        code: str,
        single: bool = False,
    ) -> None:
        self._program = program
        self._option = option
        self._kind = kind
        self._code = code
        self._single = single
        self._slots = {slot.name: slot for slot in slots}
        self.arrays: dict[str, list[Slot]] = {}
        for name, slot in self._slots.items():
            if array := array_of(name):
                self.arrays.setdefault(array, []).append(slot)
        self.known: dict[str, tuple[Value, ...]] = {}
        self.mistakes: list[Diagnostic] = []
        self._named: set[str] = set()

    def take(self, text: str) -> None:
        """Read one `text` with any number of items, such as `q = (0, 1/2)` and `x in {none, top}`."""
        source = SourceText(f"<{self._option}>", text)
        try:
            items = parse_items(source)
        except DiagnosticError as error:
            self.mistakes += error.diagnostics
            return
        given = NumberReader(source, self._program.constants, [*self._program.domains], _NUMBER)
        for item in items:
            try:
                self._item(given, item)
            except BadValue as bad:
                self.mistakes.append(bad.located(self._code, source))

    def _item(self, given: NumberReader, item: ast.Item) -> None:
        name = item.target.name
        if isinstance(item.target, ast.Element):
            name = f"{name}[{given.number(item.target.index)}]"
        if name in self._slots:
            targets, weak = [self._slots[name]], False
        elif name in self.arrays:
            targets, weak = self.arrays[name], True
        else:
            raise self._unknown(name, item.target.span)
        if name in self._named:
            raise BadValue(item.target.span, f"`{name}` is given twice", "give each one once")
        self._named.add(name)
        for slot in targets:
            # Mark the slot as known, so that it is not reported as missing too.
            self.known.setdefault(slot.name, ())
        for slot, values in zip(targets, self._values(given, item, targets), strict=True):
            if not (weak and slot.name in self._named):
                self.known[slot.name] = values

    def _values(self, given: NumberReader, item: ast.Item, targets: list[Slot]) -> Iterator[tuple[Value, ...]]:
        trees: Sequence[ast.Values] = [item.values] * len(targets)
        if isinstance(item.values, ast.Vector):
            trees = item.values.values
            if array_of(targets[0].name) is None or isinstance(item.target, ast.Element):
                raise BadValue(item.values.span, f"`{targets[0].name}` is not an array", "give it one value")
            if len(trees) != len(targets):
                many = f"{len(trees)} values for the {len(targets)} elements of `{item.target.name}`"
                raise BadValue(item.values.span, many, f"they are {listing(slot.name for slot in targets)}")
        read: dict[tuple[object, int], tuple[Value, ...]] = {}
        for slot, tree in zip(targets, trees, strict=True):
            key = (slot.type, id(tree))
            if key not in read:
                read[key] = self._set(given, tree, slot)
            yield read[key]

    def _set(self, given: NumberReader, tree: ast.Values, slot: Slot) -> tuple[Value, ...]:
        result: dict[tuple[type, Value], Value] = {}
        for value in self._values_of(given, tree, slot):
            result.setdefault((type(value), value), value)
        if self._single and len(result) > 1:
            note = f"`{slot.name}` has one value here, such as `{slot.name}={next(iter(result.values()))}`"
            raise BadValue(tree.span, f"these are {len(result)} values", note)
        return tuple(result.values())

    def _values_of(self, given: NumberReader, tree: ast.Values, slot: Slot) -> Iterator[Value]:
        match tree:
            case ast.ListedValues(values=values):
                for value in values:
                    yield from self._values_of(given, value, slot)
            case ast.Range():
                yield from _allowed_numbers(slot, given.in_range(tree), tree.span)
            case ast.Vector():
                raise BadValue(tree.span, "a vector inside a vector", "arrays have one index")
            case ast.Name(name=name) if name in self._program.domains and not _is_member(name, slot):
                members = tuple(str(value) for value in self._program.domains[name].values)
                yield from _allowed_values(slot, members, tree.span, f"of `{name}`")
            case _:
                yield from _allowed_values(slot, (self._value_text(given, tree, slot),), tree.span)

    def _value_text(self, given: NumberReader, tree: ast.Values, slot: Slot) -> str:
        text = given.text(tree)
        if isinstance(tree, ast.Name | ast.Truth) and text not in self._program.constants:
            if not slot.is_symbolic:
                return text
        elif slot.type is BaseType.BOOL or _is_member(text, slot):
            return text
        return str(given.number(tree))

    def _unknown(self, name: str, span: Span) -> BadValue:
        names = [*self.arrays, *self._slots]
        notes = did_you_mean(name, names)
        notes.append(f"the {self._kind}s are {listing(self._slots)}" if names else f"the program has no {self._kind}s")
        return BadValue(span, f"the program has no {self._kind} `{name}`", *notes)


_NUMBER = "write an exact number such as -1, 1/3 or 0.25, or the name of a constant"


def _is_member(text: str, slot: Slot) -> bool:
    return isinstance(slot.type, DomType) and text in slot.type.values


def _allowed_numbers(slot: Slot, numbers: Iterable[Fraction], span: Span) -> Iterator[Value]:
    wanted = list(numbers)
    match slot.type:
        case BaseType.REAL:
            yield from wanted
        case BaseType.INT if all(number.denominator == 1 for number in wanted):
            yield from wanted
        case DomType(values=values) if set(wanted) <= set(values):
            yield from wanted
        case _:
            yield from _allowed_values(slot, [*map(str, wanted)], span, "in this range")


def _allowed_values(slot: Slot, texts: Sequence[str], span: Span, which: str = "") -> Iterator[Value]:
    """Yield the values written as `texts`; raise BadValue for a string that is not a value of the type of `slot`.

    The error points to `span`. Unless `which` is empty, its message ends with this text in parentheses.
    """
    read = slot_reader(slot.name, slot.type, True, CellPool())
    for text in texts:
        cell = read(text)
        if isinstance(cell, Diagnostic):
            raise BadValue(span, cell.message + (f" ({which})" if which else ""), *cell.notes)
        assert cell is not None
        assert cell.value is not None
        yield cell.value
