"""The values of `--input` and `--output`: one for every input, and for some outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from dipc.chain.symbolic import is_symbolic
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.names import listing
from dipc.diagnostics.source import Source, Span
from dipc.lang.core import BoolType, DomType, IntType, RealType, Slot, Value
from dipc.lang.core_program import CoreProgram
from dipc.tables.cells import show_value
from dipc.tables.specification import Specification

_CODE = "E0806"


def parse_input(texts: Sequence[str], program: CoreProgram, *, reals: bool = True) -> dict[str, Value]:
    """The value of every input of `program`, by name, in declaration order; without `reals` the real and int ones are
    not asked for.

    Raises DiagnosticError with all mistakes: unknown, missing and repeated inputs, values outside their domain.
    """
    slots = [program.slots[index] for index in program.inputs]
    asked = [slot for slot in slots if reals or not is_symbolic(slot.type)]
    return _assignments("input", texts, program, slots, asked)


def parse_output(texts: Sequence[str], program: CoreProgram) -> dict[str, Value]:
    """The values of some outputs of `program`, as in `parse_input`."""
    return _assignments("output", texts, program, [program.slots[index] for index in program.outputs], [])


def _assignments(
    kind: str, texts: Sequence[str], program: CoreProgram, slots: Sequence[Slot], asked: Sequence[Slot]
) -> dict[str, Value]:
    found = Specification(program, slots, option=f"--{kind}", kind=kind, code=_CODE, single=True)
    for text in texts:
        found.take(text)
    mistakes = found.mistakes or [
        *_missing(f"--{kind}", texts, [slot for slot in asked if slot.name not in found.known])
    ]
    if mistakes:
        raise DiagnosticError(*mistakes)
    return {slot.name: found.known[slot.name][0] for slot in slots if slot.name in found.known}


def _missing(option: str, texts: Sequence[str], missing: Sequence[Slot]) -> Iterator[Diagnostic]:
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
            return show_value(values[0])
        case IntType() | RealType():
            return "0"
    assert_never(slot.type)
