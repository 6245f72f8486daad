"""det at one input: the ideal run as the ordinary program that it is."""

from __future__ import annotations

from collections.abc import Sequence

from dipc.algebra.limits import LimitReached
from dipc.chain.affine import Affine
from dipc.chain.codes import Code
from dipc.chain.fault import Fault
from dipc.chain.flow import Flow
from dipc.chain.state import Mark, SlotValue, initial_state
from dipc.chain.step import step
from dipc.chain.symbolic import is_symbolic
from dipc.lang.core import Value
from dipc.lang.display import show_value


class Unassigned(Exception):
    """An output was never assigned; `name` is the user's name for it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def execute(flow: Flow, inputs: Sequence[Value], most_steps: int) -> tuple[Value, ...]:
    """The outputs of a deterministic program for `inputs`, both in their order.

    Raises DiagnosticError, which names the input, for a fault and an endless loop, Unassigned for an output that was
    not assigned, LimitReached after `most_steps` turns of loops.
    """
    program = flow.program
    given = dict(zip(program.inputs, inputs, strict=True))
    notes = _input_notes(flow, given)
    values: list[SlotValue] = []
    for slot in program.slots:
        value = given.get(slot.index, slot.initial)
        if value is None:
            values.append(Mark.UNASSIGNED)
        elif is_symbolic(slot.type):
            assert not isinstance(value, str | bool)
            values.append(Affine.number(value))
        else:
            values.append(value)
    state = initial_state(flow.entry, tuple(values))
    visited = {state}  # only where control goes back: nothing else can repeat
    while state.label != flow.exit_label:
        label = state.label
        try:
            ((state, _),) = step(flow, state)
        except Fault as fault:
            raise fault.diagnosed(program.source, *notes) from None
        if state.label <= label:
            if state in visited:
                raise _endless(flow, state.label).diagnosed(program.source, *notes)
            visited.add(state)
            if len(visited) > most_steps:
                raise LimitReached("states", f"the ideal takes more than {most_steps} turns of its loops")
    return tuple(_output(flow, state.values[slot], slot) for slot in program.outputs)


def _output(flow: Flow, value: SlotValue, slot: int) -> Value:
    if isinstance(value, Mark):
        raise Unassigned(flow.program.slots[slot].name)
    if isinstance(value, Affine):
        assert value.is_number
        return value.constant
    return value


def _endless(flow: Flow, label: int) -> Fault:
    program = flow.program
    loop = program.loops.get(label, program.instructions[label].span)
    return Fault(
        Code.ENDLESS_LOOP,
        "this `while` goes on forever",
        loop,
        "no way out",
        "the ideal must end for every input: let the loop's condition become false",
    )


def _input_notes(flow: Flow, given: dict[int, Value]) -> tuple[str, ...]:
    if not given:
        return ()
    shown = ", ".join(f"{flow.program.slots[slot].name} = {show_value(value)}" for slot, value in given.items())
    return (f"this happens at the input {shown}",)
