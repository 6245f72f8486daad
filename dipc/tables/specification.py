"""What is given for inputs or outputs: `q = (0, 1/2)`, `q[2] = -1..1`, `x in {none, top}`, `q = 0`.

One value, a range of integers, a list in braces, the name of a domain, or a vector for an array; a whole array is meant
by its name. What names an element wins over what names its array. Numbers may be written with constants.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.names import listing, nearest
from dipc.diagnostics.source import Source, Span
from dipc.lang import ast
from dipc.lang.core import BoolType, DomType, IntType, RealType, Slot, Value
from dipc.lang.core_program import CoreProgram
from dipc.lang.number_reader import BadValue, NumberReader
from dipc.lang.parser import parse_items
from dipc.tables.cells import BadCell, CellPool, slot_reader

_ELEMENT = re.compile(r"(.+)\[-?[0-9]+\]")


def array_of(name: str) -> str | None:
    """The array that an element belongs to."""
    match = _ELEMENT.fullmatch(name)
    return match[1] if match else None


class Specification:
    """Collects the values that the texts of one option give to the `slots`; `mistakes` has what is wrong with them.

    `kind` is what a slot is called ("input"); with `single` only one value for each is accepted.
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
        """One text, of any number of items."""
        source = Source(f"<{self._option}>", text)
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
            # So that it is not called missing as well.
            self.known.setdefault(slot.name, ())
        for slot, values in zip(targets, self._values(given, item, targets), strict=True):
            if not (weak and slot.name in self._named):
                self.known[slot.name] = values

    def _values(self, given: NumberReader, item: ast.Item, targets: list[Slot]) -> Iterator[tuple[Value, ...]]:
        trees: Sequence[ast.Values] = [item.values] * len(targets)
        if isinstance(item.values, ast.Vector):
            trees = item.values.values
            if array_of(targets[0].name) is None or isinstance(item.target, ast.Element):
                raise BadValue(item.values.span, f"`{targets[0].name}` is no array", "give it one value")
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
        """All in the domain of the slot, each once, in the order of the text."""
        found: dict[tuple[type, Value], Value] = {}
        for value in self._each(given, tree, slot):
            found.setdefault((type(value), value), value)
        if self._single and len(found) > 1:
            note = f"`{slot.name}` has one value here, such as `{slot.name}={next(iter(found.values()))}`"
            raise BadValue(tree.span, f"these are {len(found)} values", note)
        return tuple(found.values())

    def _each(self, given: NumberReader, tree: ast.Values, slot: Slot) -> Iterator[Value]:
        match tree:
            case ast.Listed(values=values):
                for value in values:
                    yield from self._each(given, value, slot)
            case ast.Range():
                yield from _range_in(slot, given.integers(tree), tree.span)
            case ast.Vector():
                raise BadValue(tree.span, "a vector in a vector", "arrays have one index")
            case ast.Name(name=name) if name in self._program.domains and not _is_member(name, slot):
                members = tuple(str(value) for value in self._program.domains[name].values)
                yield from _all_in(slot, members, tree.span, f"of `{name}`")
            case _:
                yield from _all_in(slot, (self._one(given, tree, slot),), tree.span)

    def _one(self, given: NumberReader, tree: ast.Values, slot: Slot) -> str:
        """The canonical text of one value."""
        text = given.text(tree)
        if isinstance(tree, ast.Name | ast.Truth) and text not in self._program.constants:
            if isinstance(slot.type, DomType | BoolType):
                return text
        elif isinstance(slot.type, BoolType) or _is_member(text, slot):
            return text
        return str(given.number(tree))

    def _unknown(self, name: str, span: Span) -> BadValue:
        names = [*self.arrays, *self._slots]
        close = nearest(name, names)
        notes = [f"did you mean `{close}`?"] if close else []
        notes.append(f"the {self._kind}s are {listing(self._slots)}" if names else f"the program has no {self._kind}s")
        return BadValue(span, f"the program has no {self._kind} `{name}`", *notes)


_NUMBER = "write an exact number such as -1, 1/3 or 0.25, or the name of a constant"


def _is_member(text: str, slot: Slot) -> bool:
    return isinstance(slot.type, DomType) and text in slot.type.values


def _range_in(slot: Slot, numbers: Iterable[int], span: Span) -> Iterator[Value]:
    """The numbers, if all of them are in the domain of the slot. Raises BadValue."""
    match slot.type:
        case RealType() | IntType():
            yield from map(Fraction, numbers)
        case DomType(values=values) if set(found := [Fraction(number) for number in numbers]) <= set(values):
            yield from found
        case _:
            yield from _all_in(slot, [*map(str, numbers)], span, "in this range")


def _all_in(slot: Slot, texts: Sequence[str], span: Span, which: str = "") -> Iterator[Value]:
    """The values with these texts, if all of them are in the domain of the slot. Raises BadValue."""
    read = slot_reader(slot.name, slot.type, True, CellPool())
    for text in texts:
        cell = read(text)
        if isinstance(cell, BadCell):
            raise BadValue(span, cell.message + (f" ({which})" if which else ""), *cell.notes)
        assert cell is not None
        assert cell.value is not None
        yield cell.value
