"""The runs of a loop over queries, iteration by iteration, for every number of iterations at once: the one engine for
loops, of accuracy (`agreement`) and of privacy (`privacy.loops`).

**Heads.** In a uniform program an iteration depends on the iterations before it through the scalars that are still
read: finite values, and forms over noises. Two heads of the loop with the same scalars (noises renamed) have the same
iterations to come, up to the index. If from the start on only finitely many such heads are reached, these are all there
are for any m, and each iteration is one of finitely many steps between them. What is known of noises at a head is
forgotten, which only adds runs.

The loop is looked at as it is unrolled for some number of iterations; where more are needed to see all heads, there are
too few, and it is unrolled anew.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, Generic, Protocol, TypeVar

from dipc.algebra.limits import LimitReached
from dipc.chain.constraints import Affine
from dipc.chain.flow import Flow, slots_in
from dipc.chain.state import Fault, Mark, NoiseVar, SlotValue, State, initial_state, is_symbolic
from dipc.chain.step import step
from dipc.frozen import frozen
from dipc.program.program import Program
from dipc.questions.every_number.uniform import NotUniform
from dipc.rules.input_classes import combinations_of
from dipc.text import ast
from dipc.text.ast import Role
from dipc.text.core import Value
from dipc.text.diagnostic import Span

#: What the two runs know at the head of the loop: all that later iterations depend on.
Key = tuple[object, ...]


@frozen
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


@frozen
class Automaton(Generic[S]):
    """All that runs of the loop can do: steps to the head where it begins, by head those of one iteration, and by head
    those to the exit if the loop ends there."""

    before: tuple[S, ...]
    iterations: tuple[tuple[S, ...], ...]
    endings: tuple[tuple[S, ...], ...]


class LoopRuns(Generic[N, S]):
    """The runs of one loop, from head to head. What a head is to a question is a node, and what may happen from one to
    the next its step; nodes with the same key have the same iterations to come. Where a question does not ask for the
    means of noises that are carried on, these may be inputs of an iteration before."""

    _keeps_means: ClassVar[bool] = True

    def __init__(
        self, program: Program, loop: ast.For, arrays: frozenset[str], count: int, finite: Mapping[int, Value]
    ) -> None:
        """For a program with `count` iterations of the loop, at these values of the finite inputs that are of none, by
        slot. Raises NotUniform where the loop cannot be made out in the instructions, LimitReached where the finite
        inputs of an iteration have too many values."""
        assert isinstance(loop.low, ast.Number), "a uniform loop begins at a given index"
        self.low = int(loop.low.value)
        self._core, self._limits, self._arrays, self._count = program.core, program.limits, arrays, count
        self._own = side_of(program.flow, loop.span, count, arrays)
        others = [slot for slot in self._core.inputs if not is_symbolic(self._core.slots[slot].type)]
        others = [slot for slot in others if slot not in finite]
        #: By iteration the values of its finite inputs.
        self._entries = [
            combinations_of(program, [slot for slot in others if self._is_at(slot, iteration)])
            for iteration in range(count)
        ]
        self._finite = {**{slot: value for entries in self._entries for slot, value in entries[0].items()}, **finite}
        self._keys: dict[Key, int] = {}
        self._pending: list[tuple[N, int]] = []

    def automaton(self) -> Automaton[S]:
        """Everything that runs can do.

        Raises NotUniform with the reason where that is not covered, TooFew where the program has too few iterations,
        LimitReached past one of the program's limits.
        """
        require_defined(self._own, self._finite, self._limits.states, self._entries, means=self._keeps_means)
        before = tuple(self._before())
        iterations: list[tuple[S, ...]] = []
        endings: list[tuple[S, ...]] = []
        while self._pending:
            node, position = self._pending.pop(0)
            if len(iterations) >= self._limits.heads:
                most = self._limits.heads
                raise LimitReached("heads", f"the head of the loop is reached in more than {most} states")
            if position + 1 >= self._count:
                raise TooFew
            iterations.append(tuple(self._iteration(node, position)))
            endings.append(tuple(self._ending(node)))
        return Automaton(before, tuple(iterations), tuple(endings))

    @abstractmethod
    def _before(self) -> Iterable[S]:
        """The steps to the first head."""

    @abstractmethod
    def _iteration(self, node: N, iteration: int) -> Iterable[S]:
        """The steps from a head that is reached before an iteration; each has the number of its goal."""

    @abstractmethod
    def _ending(self, node: N) -> Iterable[S]:
        """The steps to the exit if the loop ends at this head."""

    def _key(self, state: State) -> Key:
        """That of the program's state at a head."""
        return key_of(self._own, state, means=self._keeps_means)

    def _number(self, key: Key, node: N, iteration: int) -> int:
        """The number of a head, in the order in which they are reached."""
        if key not in self._keys:
            self._keys[key] = len(self._keys)
            self._pending.append((node, iteration))
        return self._keys[key]

    def _runs(self, flow: Flow, start: State, goal: int | None) -> Iterator[State]:
        """The ends of all runs from a state to the instruction `goal`, or to the exit."""
        pending = [start]
        for _ in range(self._limits.states):
            if not pending:
                return
            state = pending.pop()
            if state.label in (flow.exit_label, goal):
                yield state
            else:
                pending += steps(flow, state)
        raise LimitReached("states", f"an iteration has more than {self._limits.states} states")

    def _array_of(self, slot: int) -> str | None:
        """The array that goes up to the parameter and has this slot as an element."""
        name, bracket, _ = self._core.slots[slot].name.partition("[")
        return name if bracket and name in self._arrays else None

    def _is_at(self, slot: int, iteration: int | None) -> bool:
        """Whether a slot is the element of an iteration (-1: that of the index before the first one), or None: of no
        one."""
        array = self._array_of(slot)
        index = None if iteration is None else iteration + self.low
        return array is not None and self._core.slots[slot].name == f"{array}[{index}]"


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


def key_of(side: Side, state: State, *, means: bool = True) -> Key:
    """The values that later iterations may read, with the noises in them numbered by their first occurrence, and unless
    this is not asked for with their means. Raises NotUniform for what depends on the inputs of one iteration."""
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
                parameters.append((drawn.law, drawn.rate, plain(drawn.mean) if means else None))
        values.append((plain(value), tuple((numbers[noise], c) for noise, c in value.noises)))
    return tuple(values), tuple(parameters)


def plain_value(value: SlotValue) -> object:
    """A finite value, or none; true is not the number 1."""
    return isinstance(value, bool), value


def require_defined(
    side: Side,
    finite: Mapping[int, Value],
    states: int,
    entries: Sequence[Sequence[Mapping[int, Value]]] = (),
    *,
    means: bool = True,
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
            key = key_of(side, state, means=means)
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
