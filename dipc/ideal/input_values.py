"""The values that one item of a specification gives to an input."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, floor

from dipc.algebra.rationals import NotExact, parse_rational
from dipc.diagnostics.names import nearest
from dipc.diagnostics.source import Source, Span
from dipc.ideal.input_items import inner
from dipc.lang.core import DomType, IntType, RealType, Slot, Value
from dipc.lang.core_program import CoreProgram
from dipc.tables.cells import BadCell, CellPool, slot_reader

#: The most values of one input.
MOST_VALUES = 1_000_000


class BadValues(Exception):
    """What is wrong with a set of values, and where."""

    def __init__(self, span: Span, message: str, *notes: str) -> None:
        super().__init__(message)
        self.span = span
        self.message = message
        self.notes = notes


def value_set(source: Source, span: Span, slot: Slot, program: CoreProgram) -> tuple[Value, ...]:
    """The values in the text at `span`, all in the domain of the input `slot`, each once, in the order of the text.

    One value, a range `a..b` of integers, a list in braces (or a range in braces), or the name of a domain. Numbers may
    be given by the names of constants. Raises BadValues.
    """
    text = source.text[span.start : span.end]
    within = span
    if text.startswith("{") and text.endswith("}"):
        within = inner(source.text, span.start + 1, span.end - 1)
        text = source.text[within.start : within.end]
        if not text:
            raise BadValues(span, "no values are given", "an input needs at least one value")
        if ".." not in text:
            return _listed(source, within, slot, program)
    elif (domain := program.domains.get(text)) is not None and not _is_value(text, slot):
        return _checked(domain.values, span, slot, f"of `{text}`")
    if ".." in text:
        return _range(source, within, slot, program)
    return (_value(source, within, slot, program),)


def _is_value(text: str, slot: Slot) -> bool:
    return isinstance(slot.type, DomType) and text in slot.type.values


def _listed(source: Source, within: Span, slot: Slot, program: CoreProgram) -> tuple[Value, ...]:
    found: dict[tuple[type, Value], Value] = {}
    start = within.start
    for piece in source.text[within.start : within.end].split(","):
        value = _value(source, inner(source.text, start, start + len(piece)), slot, program)
        found.setdefault((type(value), value), value)
        start += len(piece) + 1
    return tuple(found.values())


def _range(source: Source, within: Span, slot: Slot, program: CoreProgram) -> tuple[Value, ...]:
    text = source.text[within.start : within.end]
    left, _, right = text.partition("..")
    middle = within.start + len(left)
    low = _number(source, inner(source.text, within.start, middle), program)
    high = _number(source, inner(source.text, middle + 2, within.start + 2 + len(left) + len(right)), program)
    if low > high:
        raise BadValues(within, f"the range is empty: {low} is more than {high}", "write the smaller end first")
    if low.denominator != 1 or high.denominator != 1:
        note = "a range is of integers; list other numbers: `{0, 1/2, 1}`"
        raise BadValues(within, "the ends of a range are integers", note)
    first, last = ceil(low), floor(high)
    if last - first >= MOST_VALUES:
        raise BadValues(within, f"the range has {last - first + 1} values", f"at most {MOST_VALUES} are enumerated")
    return _checked((Fraction(value) for value in range(first, last + 1)), within, slot, "in this range")


def _checked(values: Iterator[Fraction] | tuple[Value, ...], span: Span, slot: Slot, which: str) -> tuple[Value, ...]:
    """The values, if all of them are in the domain of `slot`."""
    known = tuple(values)
    if isinstance(slot.type, RealType) and all(isinstance(value, Fraction) for value in known):
        return known
    read = slot_reader(slot.name, slot.type, True, CellPool())
    for value in known:
        bad = read(str(value))
        if isinstance(bad, BadCell):
            raise BadValues(span, f"{bad.message} ({which})", *bad.notes)
    return known


def _value(source: Source, span: Span, slot: Slot, program: CoreProgram) -> Value:
    text = source.text[span.start : span.end]
    if not text:
        raise BadValues(Span(span.start, span.start + 1), "a value is missing", "remove the comma, or write a value")
    if isinstance(slot.type, RealType | IntType) or text in program.constants:
        text = str(_number(source, span, program))
    cell = slot_reader(slot.name, slot.type, True, CellPool())(text)
    if isinstance(cell, BadCell):
        raise BadValues(span, cell.message, *cell.notes)
    assert cell is not None
    assert cell.value is not None
    return cell.value


def _number(source: Source, span: Span, program: CoreProgram) -> Fraction:
    """A number, or a constant with or without a minus sign."""
    text = source.text[span.start : span.end]
    bare = text.removeprefix("-").strip()
    if bare in program.constants:
        value = program.constants[bare]
        return -value if text.startswith("-") else value
    try:
        return parse_rational(text)
    except NotExact as error:
        close = nearest(bare, [*program.constants, *program.domains]) if bare.isidentifier() else None
        notes = [f"did you mean `{close}`?"] if close else []
        notes.append("write an exact number such as -1, 1/3 or 0.25, or the name of a constant")
        shown = text if len(text) <= 40 else text[:37] + "..."
        where = span if text else Span(span.start, span.start + 1)
        raise BadValues(where, f"`{shown}` {error.reason}", *notes) from None
