"""Heads of a loop that is unrolled: what iterations to come depend on, and that no run leaves a domain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dipc.algebra.limits import LimitReached
from dipc.chain.affine import Affine
from dipc.chain.fault import Fault
from dipc.chain.flow import Flow, slots_in
from dipc.chain.state import Mark, NoiseVar, SlotValue, State, initial_state
from dipc.chain.step import step
from dipc.chain.symbolic import is_symbolic
from dipc.diagnostics.source import Span
from dipc.lang.ast import Role
from dipc.lang.core import Value
from dipc.sources.every_number.uniform import NotUniform

#: What the two runs know at the head of the loop: all that later iterations depend on.
Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """The program, or its ideal: where its loop is, and which of its scalars are alive at the loop's head or end.

    One iteration leaves what is alive unchanged, adds to it, or takes away from it, variable by variable, and does so
    alike each time: what is alive before one iteration is alive before any number of them.
    """

    flow: Flow
    start: int
    width: int
    count: int
    live: tuple[int, ...]
    scalars: frozenset[int]

    def head(self, iteration: int) -> int:
        return self.flow.landing[self.start + iteration * self.width]


class TooFew(Exception):
    """More iterations are needed to see all heads of the loop."""


def side_of(flow: Flow, loop: Span, count: int, arrays: frozenset[str]) -> Side:
    """The loop in the instructions: those whose text is inside it, the same number for each iteration."""
    program = flow.program
    labels = [
        label
        for label, instruction in enumerate(program.instructions)
        if loop.start <= instruction.span.start < loop.end
    ]
    if not labels or len(labels) % count or labels[-1] - labels[0] + 1 != len(labels):
        raise NotUniform("the loop's iterations are not instructions of the same kind", loop)
    start, width = labels[0], len(labels) // count
    scalars = [slot.index for slot in program.slots if slot.name.partition("[")[0] not in arrays]
    observed = [slot for slot in program.outputs if slot in scalars]
    live = flow.live(observed)
    kept = {slot for label in (start, start + len(labels)) for slot in slots_in(live[flow.landing[label]])}
    if any(flow.landing[start + k * width] != start + k * width for k in range(count)):
        raise NotUniform("the loop begins with a jump", loop)
    return Side(flow, start, width, count, tuple(sorted(kept.intersection(scalars))), frozenset(scalars))


def steps(flow: Flow, state: State) -> list[State]:
    """The states that may come next. Raises NotUniform where the instruction cannot be executed."""
    try:
        return [successor.state for successor in step(flow, state)]
    except Fault as fault:
        raise NotUniform(fault.message, fault.span) from None


def initial(flow: Flow, finite: Mapping[int, Value]) -> State:
    """The beginning of a run with these values of the finite inputs, and all others left open."""
    values: list[SlotValue] = []
    for slot in flow.program.slots:
        if slot.role is Role.INPUT:
            values.append(finite[slot.index] if slot.index in finite else Affine.input(slot.index))
        elif slot.initial is None:
            values.append(Mark.UNASSIGNED)
        elif is_symbolic(slot.type):
            assert isinstance(slot.initial, Fraction)
            values.append(Affine.number(slot.initial))
        else:
            values.append(slot.initial)
    return initial_state(flow.entry, tuple(values))


def stripped(state: State) -> State:
    """The state without what is known of noises and inputs: fewer comparisons are then decided, which only adds ways
    and terms."""
    return replace(initial_state(state.label, state.values), noises=state.noises)


def entered(state: State, entry: Mapping[int, Value]) -> State:
    """The state with these values of inputs."""
    for slot, value in entry.items():
        state = state.assign(slot, value, state.label)
    return state


def key_of(side: Side, state: State) -> Key:
    """The values that later iterations may read, with the noises in them numbered by their first occurrence."""
    numbers: dict[int, int] = {}
    parameters: list[object] = []
    by_id: Mapping[int, NoiseVar] = {noise.id: noise for noise in state.noises}
    values: list[object] = []

    def plain(form: Affine) -> tuple[object, ...]:
        if any(slot not in side.scalars for slot, _ in form.inputs):
            raise NotUniform("a value that depends on the input of one iteration is used in a later one")
        return form.inputs, form.constant

    for slot in side.live:
        value = state.values[slot]
        if not isinstance(value, Affine):
            values.append(plain_value(value))
            continue
        for noise, _ in value.noises:
            if noise not in numbers:
                numbers[noise] = len(numbers)
                drawn = by_id[noise]
                parameters.append((drawn.family, drawn.rate, plain(drawn.mean)))
        values.append((plain(value), tuple((numbers[noise], c) for noise, c in value.noises)))
    return tuple(values), tuple(parameters)


def plain_value(value: SlotValue) -> object:
    """A finite value, or none; true is not the number 1."""
    return isinstance(value, bool), value


def require_defined(
    side: Side, finite: Mapping[int, Value], states: int, entries: Sequence[Sequence[Mapping[int, Value]]] = ()
) -> None:
    """Raises NotUniform where a run of the program, in agreement or not, would leave a domain, or where this is not
    known for every number of iterations; TooFew where the program has too few iterations; LimitReached where more than
    `states` states would have to be looked at. `entries` are by iteration the values of its own finite inputs."""
    flow, end = side.flow, side.count
    heads = {side.head(iteration): iteration for iteration in range(end)}
    seen: set[Key] = set()
    pending = [initial(flow, finite)]
    for _ in range(states):
        if not pending:
            return
        state = pending.pop(0)
        if state.label == flow.exit_label:
            continue
        iteration = heads.get(state.label)
        if iteration is not None:
            key = key_of(side, state)
            if key in seen:
                continue
            if iteration + 1 >= end:
                raise TooFew
            seen.add(key)
            state = stripped(state)
            pending.append(state.at(side.head(end)))
            for entry in entries[iteration] if entries else [{}]:
                pending += steps(flow, entered(state, entry))
            continue
        pending += steps(flow, state)
    raise LimitReached("states", f"the program has more than {states} states to look at")
