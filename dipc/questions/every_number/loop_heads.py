"""Heads of a loop that is unrolled: what iterations to come depend on, and that no run leaves a domain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Generic, Protocol, TypeVar

from dipc.algebra.limits import LimitReached
from dipc.chain.affine import Affine
from dipc.chain.flow import Flow, slots_in
from dipc.chain.state import Fault, Mark, NoiseVar, SlotValue, State, initial_state, is_symbolic
from dipc.chain.step import step
from dipc.questions.every_number.uniform import NotUniform
from dipc.text.ast import Role
from dipc.text.core import Value
from dipc.text.diagnostic import Span

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


class Step(Protocol):
    """What may happen from one head of the loop to another, whose number is `goal`, or to the exit (None)."""

    @property
    def goal(self) -> int | None: ...


S = TypeVar("S", bound=Step)
N = TypeVar("N")


@dataclass(frozen=True, slots=True)
class Automaton(Generic[S]):
    """All that runs of the loop can do: steps to the head where it begins, by head those of one iteration, and by head
    those to the exit if the loop ends there."""

    before: tuple[S, ...]
    iterations: tuple[tuple[S, ...], ...]
    endings: tuple[tuple[S, ...], ...]


class Heads(Generic[N]):
    """The heads of a loop that were reached, numbered in this order: a node, and before which iteration it was there.
    Nodes with the same key have the same iterations to come."""

    def __init__(self, count: int, most: int) -> None:
        """For a program with `count` iterations, and at most so many heads."""
        self._count = count
        self._most = most
        self._keys: dict[Key, int] = {}
        self._pending: list[tuple[N, int]] = []

    def number(self, key: Key, node: N, iteration: int) -> int:
        """The number of the head."""
        if key not in self._keys:
            self._keys[key] = len(self._keys)
            self._pending.append((node, iteration))
        return self._keys[key]

    def automaton(
        self,
        before: Iterable[S],
        iteration: Callable[[N, int], Iterable[S]],
        ending: Callable[[N], Iterable[S]],
    ) -> Automaton[S]:
        """The automaton with the steps that these give for each head; each finds the numbers of its goals. Raises
        TooFew where the program has too few iterations, LimitReached for too many heads."""
        first = tuple(before)
        iterations: list[tuple[S, ...]] = []
        endings: list[tuple[S, ...]] = []
        while self._pending:
            node, at = self._pending.pop(0)
            if len(iterations) >= self._most:
                raise LimitReached("heads", f"the head of the loop is reached in more than {self._most} states")
            if at + 1 >= self._count:
                raise TooFew
            iterations.append(tuple(iteration(node, at)))
            endings.append(tuple(ending(node)))
        return Automaton(first, tuple(iterations), tuple(endings))


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
                parameters.append((drawn.law, drawn.rate, plain(drawn.mean)))
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
