"""Variables that are read before anything could have assigned them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from dipc.lang.ast import Role
from dipc.lang.codes import Code
from dipc.lang.core import (
    BoolType,
    Branch,
    BranchComparison,
    Const,
    DomType,
    Exit,
    Instruction,
    IntType,
    Jump,
    Read,
    ReadElement,
    RealType,
    Slot,
)
from dipc.lang.display import show_value, show_values
from dipc.lang.findings import Findings
from dipc.lang.tree import walk


def report_unassigned(instructions: Sequence[Instruction], slots: Sequence[Slot], findings: Findings) -> None:
    """Report the variables that are read where no path assigns them before, each at the first such read.

    Where only some paths assign it, the chain finds out.
    """
    initial = 0
    for slot in slots:
        if slot.role is Role.INPUT or slot.initial is not None:
            initial |= 1 << slot.index
    for label, assigned in _reached(instructions, initial):
        for read in _reads(instructions[label]):
            among = (read.slot,) if isinstance(read, Read) else read.slots
            if not assigned & _bits(among):
                _report(read, slots[among[0]], findings)


def _reached(instructions: Sequence[Instruction], initial: int) -> Iterator[tuple[int, int]]:
    """The labels that can be reached, each with the set of slots (as bits) that some path to it assigns."""
    joined = {0: initial}
    backward = True
    while backward:
        backward = False
        for label, assigned in _pass(instructions, joined):
            after = assigned | _written(instructions[label])
            for target in _jumps(instructions[label]):
                known = joined.get(target)
                new = after if known is None else known | after
                if new != known:
                    joined[target] = new
                    backward = backward or target <= label
    return _pass(instructions, joined)


def _pass(instructions: Sequence[Instruction], joined: dict[int, int]) -> Iterator[tuple[int, int]]:
    """One walk in the order of the labels; `joined` may grow meanwhile."""
    falling: int | None = None
    for label, instruction in enumerate(instructions):
        if label in joined:
            falling = joined[label] if falling is None else falling | joined[label]
        if falling is None:
            continue
        yield label, falling
        if isinstance(instruction, Branch | BranchComparison | Jump | Exit):
            falling = None
        else:
            falling |= _written(instruction)


def _jumps(instruction: Instruction) -> tuple[int, ...]:
    match instruction:
        case Branch(Const(value), then, otherwise):
            return (then if value else otherwise,)
        case Branch(then=then, otherwise=otherwise) | BranchComparison(then=then, otherwise=otherwise):
            return (then, otherwise)
        case Jump(target):
            return (target,)
        case _:
            return ()


def _written(instruction: Instruction) -> int:
    match instruction:
        case Branch() | BranchComparison() | Jump() | Exit():
            return 0
        case _:
            return _bits(instruction.target.slots)


def _bits(slots: tuple[int, ...]) -> int:
    """The set of the slots of one scalar, or of one array: those follow one another."""
    return ((1 << len(slots)) - 1) << slots[0]


def _reads(instruction: Instruction) -> Iterator[Read | ReadElement]:
    return (part for part in walk(instruction) if isinstance(part, Read | ReadElement))


def _report(read: Read | ReadElement, slot: Slot, findings: Findings) -> None:
    if isinstance(read, Read):
        message = f"`{slot.name}` is read before it is assigned"
    else:
        message = f"`{read.array}` is read before any of its elements is assigned"
    findings.report(
        Code.UNASSIGNED,
        read.span,
        message,
        label="no value yet",
        notes=(f"assign it first, or give it an initial value where it is declared: `: {_initialized(slot)};`",),
        secondary=((slot.span, "declared here"),),
        once=slot.span,
    )


def _initialized(slot: Slot) -> str:
    """The type of `slot` with a plausible initial value."""
    match slot.type:
        case BoolType():
            return "bool = false"
        case IntType():
            return "int = 0"
        case RealType():
            return "real = 0"
        case DomType(values, name):
            return f"{name or show_values(slot.type)} = {show_value(values[0])}"
        case _:
            assert_never(slot.type)
