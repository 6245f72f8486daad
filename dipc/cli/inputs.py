"""The value of `--input`: `q[1]=-1,q[2]=1/3,x=none`, or a whole array at once, `q=(-1, 1/3)`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

from dipc.chain.symbolic import is_symbolic
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.names import listing, nearest
from dipc.diagnostics.source import Source, Span
from dipc.lang.core import BoolType, DomType, IntType, RealType, Slot, Value
from dipc.lang.core_program import CoreProgram
from dipc.tables.cells import BadCell, Cell, CellPool, slot_reader, value_text

_CODE = "E0806"
_ELEMENT = re.compile(r"(.+)\[(-?[0-9]+)\]")


@dataclass(frozen=True, slots=True)
class _Item:
    """One `name = value`, with the places of both."""

    name: str
    name_span: Span
    value: str
    value_span: Span


def parse_input(texts: Sequence[str], program: CoreProgram, *, reals: bool = True) -> dict[str, Value]:
    """The value of every input of `program`, by name, in declaration order; without `reals` the real and int ones are
    not asked for.

    Raises DiagnosticError with all mistakes: unknown, missing and repeated inputs, values outside their domain.
    """
    slots = [program.slots[index] for index in program.inputs]
    asked = [slot for slot in slots if reals or not is_symbolic(slot.type)]
    return _assignments("--input", texts, slots, f"input of {program.name}", asked)


def parse_output(texts: Sequence[str], program: CoreProgram) -> dict[str, Value]:
    """The values of some outputs of `program`, as in `parse_input`."""
    slots = [program.slots[index] for index in program.outputs]
    return _assignments("--output", texts, slots, f"output of {program.name}", [])


def _assignments(
    option: str, texts: Sequence[str], slots: Sequence[Slot], what: str, asked: Sequence[Slot]
) -> dict[str, Value]:
    pool = CellPool()
    known = {slot.name: slot for slot in slots}
    found: dict[str, Value] = {}
    mistakes: list[Diagnostic] = []
    for text in texts:
        source = Source(f"<{option}>", text)

        def complain(message: str, span: Span, *notes: str, source: Source = source) -> None:
            mistakes.append(Diagnostic(_CODE, message, source.excerpt(span), notes=notes))

        for item in _expanded(_items(text, complain), slots, complain):
            slot = known.get(item.name)
            if slot is None:
                complain(f"`{item.name}` is no {what}", item.name_span, *_suggestions(item.name, known))
                continue
            if item.name in found:
                complain(f"`{item.name}` is given twice", item.name_span, "give each one once")
                continue
            cell = slot_reader(slot.name, slot.type, True, pool)(item.value)
            if isinstance(cell, Cell) and cell.value is not None:
                found[item.name] = cell.value
            elif isinstance(cell, BadCell):
                found[item.name] = ""  # only so that it is not called missing as well
                complain(cell.message, item.value_span, *cell.notes)
    if not mistakes:
        mistakes.extend(_missing(option, texts, asked, found))
    if mistakes:
        raise DiagnosticError(*mistakes)
    return {slot.name: found[slot.name] for slot in slots if slot.name in found}


def _missing(option: str, texts: Sequence[str], slots: Sequence[Slot], found: dict[str, Value]) -> Iterator[Diagnostic]:
    missing = [slot for slot in slots if slot.name not in found]
    if not missing:
        return
    source = Source(f"<{option}>", texts[-1] if texts else "")
    end = len(source.text)
    example = ",".join(f"{slot.name}={_example(slot)}" for slot in missing[:3]) + (",…" if len(missing) > 3 else "")
    noun = "input" if len(missing) == 1 else "inputs"
    message = f"no value for the {noun} {listing(slot.name for slot in missing)}"
    note = f"add `{example}`" if texts else f"give `{option} {example}`"
    yield Diagnostic(_CODE, message, source.excerpt(Span(max(0, end - 1), end)) if texts else None, notes=(note,))


def _example(slot: Slot) -> str:
    """Some value of the slot's type."""
    match slot.type:
        case BoolType():
            return "false"
        case DomType(values=values):
            return value_text(values[0])
        case IntType() | RealType():
            return "0"
    assert_never(slot.type)


def _suggestions(name: str, known: Iterable[str]) -> list[str]:
    names = list(known)
    close = nearest(name, names)
    return [
        *([f"did you mean `{close}`?"] if close else []),
        f"there are {listing(names)}" if names else "there are none",
    ]


# --- text ------------------------------------------------------------------------------------------

Complain = Callable[..., None]


def _items(text: str, complain: Complain) -> Iterator[_Item]:
    """The `name = value` pairs of `text`; commas within parentheses do not separate."""
    if not text.strip():
        return
    for start, end in _pieces(text):
        piece = text[start:end]
        if not piece.strip():
            complain("an empty place between commas", Span(start, max(end, start + 1)), "remove one comma")
            continue
        name, equals, value = piece.partition("=")
        if not equals or not name.strip():
            complain("this is no `name=value`", _inner(text, start, end), "write for example `q[1]=-1,q[2]=1/3`")
            continue
        value_start = start + len(name) + 1
        yield _Item(
            "".join(name.split()), _inner(text, start, start + len(name)), value.strip(), _inner(text, value_start, end)
        )


def _expanded(items: Iterable[_Item], slots: Sequence[Slot], complain: Complain) -> Iterator[_Item]:
    """The items, with `q=(-1, 1)` spelled out element by element."""
    for item in items:
        elements = [slot.name for slot in slots if (match := _ELEMENT.fullmatch(slot.name)) and match[1] == item.name]
        if not elements or any(slot.name == item.name for slot in slots):
            yield item
            continue
        if not (item.value.startswith("(") and item.value.endswith(")")):
            complain(
                f"`{item.name}` is an array",
                item.name_span,
                f"give `{elements[0]}` and so on, or all at once: `{item.name}=(0, 0, 0)`",
            )
            continue
        values = item.value[1:-1].split(",")
        if len(values) != len(elements):
            given = f"{len(values)} value{'' if len(values) == 1 else 's'}"
            complain(
                f"{given} for the {len(elements)} elements of `{item.name}`",
                item.value_span,
                f"they are {listing(elements)}",
            )
            continue
        start = item.value_span.start + 1
        for name, value in zip(elements, values, strict=True):
            yield _Item(name, item.name_span, value.strip(), _inner_of(value, start))
            start += len(value) + 1


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    depth = start = 0
    for at, character in enumerate(text):
        if character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
        elif character == "," and depth <= 0:
            yield start, at
            start = at + 1
    yield start, len(text)


def _inner(text: str, start: int, end: int) -> Span:
    """The span of text[start:end] without surrounding blanks, at least one character long."""
    return _inner_of(text[start:end], start)


def _inner_of(piece: str, start: int) -> Span:
    lead = len(piece) - len(piece.lstrip())
    if lead == len(piece):
        return Span(start, start + max(1, len(piece)))
    return Span(start + lead, start + len(piece.rstrip()))
