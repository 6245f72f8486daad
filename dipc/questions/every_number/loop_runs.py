"""The runs of a loop over queries, iteration by iteration, for every number of iterations at once.

This is the only engine for loops, for accuracy (`AgreeingRuns`) and for privacy (`privacy.loops`).

**Heads.** In a uniform program an iteration depends on earlier iterations only through the scalars that it or a later
one reads: finite values, and forms over noises. Two heads of the loop with the same scalars (up to names of noises)
have the same later iterations, except for the index. If only finitely many such heads are reached from the start, these
are all heads for any m, and each iteration is one of finitely many steps between them. Constraints on noises are
dropped at a head, which only adds runs.

The loop is unrolled for some number of iterations and explored. If more iterations are needed to reach all heads, it is
unrolled again.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, Generic, TypeVar

from dipc.algebra.limits import LimitReached
from dipc.chain.event import GAMMA
from dipc.chain.flow import Flow
from dipc.chain.state import (
    Affine,
    Constraint,
    Edge,
    Fault,
    Mark,
    NoiseVar,
    SlotValue,
    State,
    Terms,
    centered,
    contradict,
    initial_state,
    slots_in,
)
from dipc.chain.step import step
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Noise
from dipc.program.ideal import Ideal, Region
from dipc.program.program import Program
from dipc.questions.every_number.bounded_queries import gaps
from dipc.questions.every_number.uniform import NotUniform, UniformLoop, UniformLoops
from dipc.rules.facets import FacetMetric, facets
from dipc.rules.goal import slack_bound
from dipc.rules.halfspaces import best_bound, single_bound
from dipc.rules.input_classes import combinations_of
from dipc.rules.rule import Requirement
from dipc.text.ast import BaseType
from dipc.text.core import Value
from dipc.text.diagnostic import Span

#: The state at a head of the loop, as far as later iterations depend on it.
Key = tuple[object, ...]


@frozen
class LoopSide:
    """The unrolled loop of a program, or of its ideal, and the scalars that matter at its heads.

    `flow` is the program with this loop. The loop is unrolled into `count` iterations of `width` instructions each, and
    begins at the label `start`. `scalars` are all slots that are not array elements. `live` are those scalars that some
    statement after a head may read: the same at each head, because all iterations read and write the same scalars.
    """

    flow: Flow
    start: int
    width: int
    count: int
    live: tuple[int, ...]
    scalars: frozenset[int]

    def head(self, iteration: int) -> int:
        return self.flow.landing[self.start + iteration * self.width]


#: A step from one head of the loop to another, or to the exit.
S = TypeVar("S")
#: A head of the loop with what a question needs to know about its runs.
N = TypeVar("N")


@frozen
class Automaton(Generic[S]):
    """The steps that runs of the loop can take, from head to head.

    `before` are the steps from the program's start to the first head. `iterations` has at index h the steps from head h
    through one iteration. `endings` has at index h the steps from head h to the program's exit, if no iteration
    follows.
    """

    before: tuple[S, ...]
    iterations: tuple[tuple[S, ...], ...]
    endings: tuple[tuple[S, ...], ...]


class LoopRuns(Generic[N, S]):
    """The runs of one loop, from head to head.

    A *node* is a head with what a question needs to know about its runs, and a *step* leads from one node to the next.
    The *key* of a node has the values that later iterations can read. Invariant: nodes with the same key have the same
    later iterations. If `_keeps_means` is False, keys leave out the means of noises drawn in earlier iterations, which
    may then contain inputs.
    """

    _keeps_means: ClassVar[bool] = True

    def __init__(self, program: Program, shape: UniformLoop, finite: Mapping[int, Value]) -> None:
        """Prepare the runs of the loop `shape` in `program`, which has a number for m.

        `finite` has the values of the finite inputs outside the loop. Raises NotUniform if the loop is not found in the
        instructions, LimitReached if the finite inputs of an iteration have too many values.
        """
        self._core, self._limits, self._shape = program.core, program.limits, shape
        self._count = count = int(program.core.constants[shape.parameter]) - shape.low + 1
        self._own = side_of(program.flow, shape.loop.span, count, shape.arrays)
        others = [slot for slot in self._core.inputs if not self._core.slots[slot].is_symbolic]
        others = [slot for slot in others if slot not in finite]
        #: The values of the finite inputs of each iteration.
        self._entries = [
            combinations_of(program, [slot for slot in others if self._is_at(slot, iteration)])
            for iteration in range(count)
        ]
        self._finite = {**{slot: value for entries in self._entries for slot, value in entries[0].items()}, **finite}
        self._keys: dict[Key, int] = {}
        self._pending: list[tuple[N, int]] = []

    def automaton(self) -> Automaton[S]:
        """Return all steps that runs can take.

        Raises NotUniform with the reason if the steps of the loop are not known, TooFew if the loop was unrolled too
        few times, and LimitReached past one of the program's limits.
        """
        before = tuple(self._before())
        iterations: list[tuple[S, ...]] = []
        endings: list[tuple[S, ...]] = []
        while self._pending:
            node, position = self._pending.pop(0)
            if len(iterations) >= self._limits.heads:
                most = self._limits.heads
                raise LimitReached("heads", f"the head of the loop can be reached in more than {most} states")
            if position + 1 >= self._count:
                raise TooFew
            iterations.append(tuple(self._iteration(node, position)))
            endings.append(tuple(self._ending(node)))
        return Automaton(before, tuple(iterations), tuple(endings))

    @abstractmethod
    def _before(self) -> Iterable[S]:
        pass

    @abstractmethod
    def _iteration(self, node: N, iteration: int) -> Iterable[S]:
        pass

    @abstractmethod
    def _ending(self, node: N) -> Iterable[S]:
        pass

    def _key(self, state: State) -> Key:
        return key_of(self._own, state, means=self._keeps_means)

    def _number(self, key: Key, node: N, iteration: int) -> int:
        """Return the index of the head with this `key`; a new head gets the next index, and is explored later.

        The head is that of `node`, and was reached before the given `iteration`.
        """
        if key not in self._keys:
            self._keys[key] = len(self._keys)
            self._pending.append((node, iteration))
        return self._keys[key]

    def _runs(self, flow: Flow, start: State, goal: int | None) -> Iterator[State]:
        pending = [start]
        for _ in range(self._limits.states):
            if not pending:
                return
            state = pending.pop()
            if state.label in (flow.exit_label, goal):
                yield state
            else:
                pending += steps(flow, state, self._takes)
        raise LimitReached("states", f"an iteration has more than {self._limits.states} states")

    def _takes(self, edge: Edge) -> bool:  # noqa: ARG002
        return True

    def _array_of(self, slot: int) -> str | None:
        name, bracket, _ = self._core.slots[slot].name.partition("[")
        return name if bracket and name in self._shape.arrays else None

    def _is_at(self, slot: int, iteration: int | None) -> bool:
        """Return True if `slot` is an array element whose index is that of the given `iteration`, counted from 0.

        The iteration -1 means the index before the first one.
        """
        array = self._array_of(slot)
        index = None if iteration is None else iteration + self._shape.first
        return array is not None and self._core.slots[slot].name == f"{array}[{index}]"


class TooFew(Exception):
    """Raised if the loop was unrolled for too few iterations to reach all of its heads."""


def side_of(flow: Flow, loop: Span, count: int, arrays: frozenset[str]) -> LoopSide:
    """Return the unrolled loop that was written at `loop` in the text, with the scalars that matter at its heads.

    `flow` is the program, in which the loop is unrolled `count` times. `arrays` are the names of the arrays with an
    element for each iteration. Raises NotUniform if the iterations differ in the number of instructions.
    """
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
    return LoopSide(flow, start, width, count, tuple(sorted(kept.intersection(scalars))), frozenset(scalars))


def steps(flow: Flow, state: State, taken: Callable[[Edge], bool] | None = None) -> list[State]:
    """Return the states to which one instruction leads from `state`.

    `flow` is the program. If `taken` is given, only edges that it accepts are followed. Raises NotUniform if the
    instruction fails.
    """
    try:
        return [after.state for after in step(flow, state) if taken is None or taken(after.edge)]
    except Fault as fault:
        raise NotUniform(fault.message, fault.span) from None


def stripped(state: State) -> State:
    """Return `state` without its constraints on noises and inputs.

    Runs that continue from the result include those that continue from `state`. Upper bounds of the error remain valid.
    """
    return replace(initial_state(state.label, state.values), noises=state.noises)


def entered(state: State, entry: Mapping[int, Value]) -> State:
    """Return `state` with input slots set to the values in `entry`."""
    for slot, value in entry.items():
        state = state.assign(slot, value, state.label)
    return state


def key_of(side: LoopSide, state: State, *, means: bool = True) -> Key:
    """Return a key of `state`: the values that later iterations of the loop `side` may read.

    Two states whose values differ only in the names of noises have the same key. With `means` the key includes the
    means of the noises. Raises NotUniform for a value that depends on the inputs of one iteration.
    """
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
    """Return `value` as a key for comparisons, in which True and the number 1 differ."""
    return isinstance(value, bool), value


# --- A uniform program and its ideal, iteration by iteration ----------------------------------------------------------
#
# **Agreement.** Run the program and its ideal side by side at one input. When the program compares noisy values, one
# outcome agrees with the ideal's iteration: it is implied by A·N + s >= 0 with a slack s that is not negative for the
# inputs that take the ideal this way. As long as every comparison has the agreeing outcome, the program goes through
# the states found here, and writes what the ideal writes. The probability of an error is therefore at most the sum of
# Pr[A·N + s < 0] over the comparisons (and real outputs) of such a run: one for each, whatever else is random. These
# events A·N + s >= 0 are the *terms* of the run. Their noises have mean 0, and their slacks are lower bounds of those
# of every input, as multiples of the open distance if there is one.
#
# A head of this pair is a pair of heads.

_ZERO = Fraction(0)
_ONE = Fraction(1)


def failure_decay(event: Event, rate: Callable[[Fraction], Fraction]) -> Fraction | None:
    """Return the rate r at which Pr[not `event`] decays like e^{-r·eps} as eps grows, or None if the event cannot fail.

    The rate of a noise is a multiple of eps. In `event` a noise has this multiple or, if it depends on m, a mark in
    place of the multiple. `rate` returns the multiple in either case. For A·N + s >= 0, r is the least s·rate/|a| over
    the noises whose tail can make the constraint fail, where a is the coefficient of the noise. Raises Undecided for
    noises without exponential tails.
    """
    result = []
    for side in event.constraints:
        for place, c in side.coefficients:
            noise = event.noises[place]
            tails = noise.law.sides(_ONE)
            exponent = tails.left if c > 0 else tails.right
            if exponent is not None:
                result.append(side.constant * exponent * rate(noise.rate) / abs(c))
    return min(result, default=None)


def outcome_event(
    form: Affine, noises: Sequence[NoiseVar], facets: Sequence[Affine], distances: Requirement
) -> Event | None:
    """Return the event `form` >= 0, with the least value of its input part over all inputs that satisfy `facets`.

    The constant of the event's half-space is this least value, and the noises of the event have mean 0. `noises` are
    those that may occur in `form`, and `distances` are the claim's. The result is None if `form` >= 0 can fail without
    noise.
    """
    coefficients, used, slack = _centered(form, noises)
    margin = _margin(slack, facets, distances)
    if margin is None or (distances.is_open and not all(noise.law.scales for noise in used)):
        return None
    return Event(used, (Halfspace(coefficients, margin),))


def ball(
    value: Affine, center: Affine, noises: Sequence[NoiseVar], facets: Sequence[Affine], distances: Requirement
) -> tuple[Event, ...] | None:
    """Return events whose occurrence implies |`value` - `center`| <= gamma for all inputs that satisfy `facets`.

    The result is empty if neither form contains noise, and None if the inequality can fail without noise. `noises` are
    those that may occur in the two forms, and `distances` are the claim's.
    """
    coefficients, used, off = _centered(value - center, noises)
    above, below = [_margin(side + Affine.input(GAMMA), facets, distances) for side in (off, -off)]
    if above is None or below is None or (distances.is_open and not all(noise.law.scales for noise in used)):
        return None
    if not used:
        return ()
    opposite = tuple([(place, -c) for place, c in coefficients])
    return (Event(used, (Halfspace(coefficients, above), Halfspace(opposite, below))),)


def _centered(form: Affine, noises: Sequence[NoiseVar]) -> tuple[Terms, tuple[Noise, ...], Affine]:
    """Split `form` into its noises around 0 and a part that only depends on inputs.

    Return (the coefficients of the noises, these noises with mean 0, the part over inputs). The part over inputs
    includes the means of the noises. `noises` are those that may occur in `form`.
    """
    by_id: Mapping[int, NoiseVar] = {noise.id: noise for noise in noises}
    over = centered(form, {noise.id: noise.mean for noise in noises})
    own = [by_id[noise] for noise, _ in over.noises]
    coefficients = tuple([(index, c) for index, (_, c) in enumerate(over.noises)])
    used = tuple([Noise(noise.law, noise.rate, _ZERO) for noise in own])
    return coefficients, used, over.noiseless


def _margin(slack: Affine, facets: Sequence[Affine], distances: Requirement) -> Fraction | None:
    for bounding in (single_bound, best_bound):
        bound = slack_bound(slack, facets, distances, bounding=bounding)
        if bound is not None and bound.base >= 0 and bound.slope >= 0:
            return bound.slope if distances.is_open else bound.base
    return None


_BARE = "an output may have no value at the end"


@frozen
class AgreeingStep:
    """A step of a run: an iteration, or the statements before or after the loop.

    Program and ideal agree in this step if all events in `terms` occur. `goal` is the index of the head that the step
    leads to, or None if it leads to the exit.
    """

    goal: int | None
    terms: tuple[Event, ...]


@frozen
class _Node:
    program: State
    ideal: State


class AgreeingRuns(LoopRuns[_Node, AgreeingStep]):
    """The runs of a program that agree with its ideal; the loop is unrolled often enough to reach every head."""

    def __init__(
        self,
        ideal: Ideal,
        shape: UniformLoops,
        metric: FacetMetric,
        distances: Requirement,
        finite: Mapping[int, Value],
    ) -> None:
        """Prepare the runs of the program of `ideal`, for the values `finite` of the finite inputs outside the loop.

        `shape` has the loops of the program and its ideal, and `finite` maps slots to values. `metric` is the metric of
        inputs, and `distances` are the claim's. Raises NotUniform if the loops are not found in the instructions, and
        for int inputs; LimitReached if the inputs of an iteration have too many values.
        """
        core = ideal.program.core
        if any(slot.type is BaseType.INT for slot in core.input_slots):
            raise NotUniform("an input is an int")
        super().__init__(ideal.program, shape, finite)
        self._ideal = ideal
        #: Whether dd depends on finite outputs alone.
        self._is_finite = all(not slot.is_symbolic for slot in ideal.metric.decisive(core.output_slots))
        self._metric = metric
        self._distances = distances
        self._other = side_of(ideal.flow, shape.ideal_loop.span, self._count, shape.arrays)
        self._inputs = dict(zip(ideal.core.inputs, core.inputs, strict=True))
        self._outputs = list(zip(core.outputs, ideal.core.outputs, strict=True))
        arrays_out = [own for own, _ in self._outputs if self._array_of(own) is not None]
        self._bare = any(core.slots[own].initial is None for own in arrays_out)
        if self._bare and not all(any(self._is_at(own, index) for index in range(self._count)) for own in arrays_out):
            raise NotUniform(_BARE)

    # --- parts of a run -----------------------------------------------------------------------------------

    def _require_defined(self) -> None:
        """Raise NotUniform unless every run of the program, for every m, assigns only values inside the domains.

        Raises TooFew if the loop was unrolled too few times, and LimitReached past the program's limit of states.
        """
        side, flow, end = self._own, self._own.flow, self._own.count
        heads = {side.head(iteration): iteration for iteration in range(end)}
        seen: set[Key] = set()
        pending = [flow.first_state(self._finite)]
        for _ in range(self._limits.states):
            if not pending:
                return
            state = pending.pop(0)
            if state.label == flow.exit_label:
                continue
            iteration = heads.get(state.label)
            if iteration is None:
                pending += steps(flow, state)
                continue
            key = self._key(state)
            if key in seen:
                continue
            if iteration + 1 >= end:
                raise TooFew
            seen.add(key)
            state = stripped(state)
            pending.append(state.with_label(side.head(end)))
            for entry in self._entries[iteration]:
                pending += steps(flow, entered(state, entry))
        raise LimitReached("states", f"the program has more than {self._limits.states} states")

    def _before(self) -> Iterator[AgreeingStep]:
        self._require_defined()
        there = {slot: self._finite[own] for slot, own in self._inputs.items() if own in self._finite}
        ideal, _ = self._only_run(self._other.flow.first_state(there), self._other.head(0), "before")
        runs = list(self._agreeing(self._own.flow.first_state(self._finite), (), self._own.head(0)))
        if len(runs) != 1 or ideal.label != self._other.head(0) or runs[0][0].label != self._own.head(0):
            raise NotUniform("more than one path leads to the loop")
        ((program, terms),) = runs
        yield AgreeingStep(self._head(program, ideal, 0), terms)

    def _iteration(self, node: _Node, iteration: int) -> Iterator[AgreeingStep]:
        here = [pair for pair in self._outputs if self._is_at(pair[0], iteration)]
        finite = [other for own, other in here if not self._core.slots[own].is_symbolic]
        for entry in self._entries[iteration]:
            there = {slot: entry[own] for slot, own in self._inputs.items() if own in entry}
            runs = list(self._ideal_runs(entered(node.ideal, there), self._other.head(iteration + 1)))
            # Two inputs with different runs have different answers, so that each facet leads to another answer.
            # Inputs that differ in finite inputs can only be nearer.
            if len({tuple(plain_value(state.values[slot]) for slot in finite) for state, _ in runs}) < len(runs):
                raise NotUniform(
                    "different paths through an iteration of the ideal give the same answer for that index"
                )
            begun = entered(node.program, entry)
            for ideal, guards in runs:
                for program, own_terms in self._agreeing(begun, guards, self._own.head(iteration + 1)):
                    terms = (*own_terms, *self._compared(program, ideal, guards, here))
                    ended = program.label == self._own.flow.exit_label
                    if ended is not (ideal.label == self._other.flow.exit_label):
                        raise NotUniform("the program and its ideal do not end in the same iteration")
                    if not ended:
                        yield AgreeingStep(self._head(program, ideal, iteration + 1), terms)
                    elif self._bare:
                        raise NotUniform(_BARE)
                    else:
                        yield AgreeingStep(None, (*terms, *self._terms_outside_arrays(program, ideal, guards)))

    def _ending(self, node: _Node) -> Iterator[AgreeingStep]:
        end = self._own.count
        ideal, _ = self._only_run(node.ideal.with_label(self._other.head(end)), self._other.flow.exit_label, "after")
        for program, terms in self._agreeing(
            node.program.with_label(self._own.head(end)), (), self._own.flow.exit_label
        ):
            yield AgreeingStep(None, (*terms, *self._terms_outside_arrays(program, ideal, ())))

    def _head(self, program: State, ideal: State, iteration: int) -> int:
        node = _Node(stripped(program), stripped(ideal))
        return self._number((key_of(self._own, node.program), key_of(self._other, node.ideal)), node, iteration)

    # --- the ideal ----------------------------------------------------------------------------------------

    def _only_run(self, state: State, goal: int, where: str) -> tuple[State, tuple[Constraint, ...]]:
        result = list(self._ideal_runs(state, goal))
        if len(result) != 1:
            raise NotUniform(f"the ideal compares inputs {where} its loop")
        return result[0]

    def _ideal_runs(self, state: State, goal: int) -> Iterator[tuple[State, tuple[Constraint, ...]]]:
        for end in self._runs(self._other.flow, state, goal):
            guards = [
                replace(guard, form=guard.form.renamed(self._inputs), difference=guard.difference.renamed(self._inputs))
                for guard in end.guards.items
            ]
            yield end, tuple(guards)

    # --- the program ---------------------------------------------------------------------------------------

    def _agreeing(
        self, state: State, guards: Sequence[Constraint], goal: int
    ) -> Iterator[tuple[State, tuple[Event, ...]]]:
        """Yield (end, terms) for each run from `state` that agrees with the ideal, at inputs that satisfy `guards`.

        The run ends at the label `goal`, or at the exit, in the state `end`. It takes place if all events in `terms`
        occur. There are several runs if the program itself compares inputs.
        """
        flow = self._own.flow
        moving = self._facets(guards)
        pending: list[tuple[State, tuple[Event, ...]]] = [(state, ())]
        while pending:
            state, terms = pending.pop()
            if state.label in (goal, flow.exit_label):
                yield state, terms
                continue
            successors = steps(flow, state)
            if len(successors) == 1:
                pending.append((successors[0], terms))
            elif any(after.constraints != state.constraints for after in successors):
                chosen, term = self._outcome(state, successors, moving)
                pending.append((chosen, (*terms, term)))
            else:
                pending += [(after, terms) for after in successors if not contradict([*guards, *after.guards.items])]

    def _facets(self, guards: Sequence[Constraint]) -> tuple[Affine, ...]:
        bounds, outside = gaps(self._ideal, guards)
        region = Region((*guards, *bounds), ())
        # An element is compared in one iteration only, so that moving it a little inwards does not change the answer.
        alone = all(self._array_of(slot) is not None for guard in guards for slot, _ in guard.form.inputs)
        return facets(region, (), self._metric, outside, fixed=self._is_finite and alone)[: len(guards)]

    def _outcome(self, state: State, successors: Sequence[State], moving: Sequence[Affine]) -> tuple[State, Event]:
        """Return (the state that the run reaches without noise, an event under which noise leads to it, too).

        `state` compares noisy values, and the result is one of `successors`. If the event occurs, the comparison has
        the same outcome as without noise, for all inputs at which the forms `moving` of inputs and alpha are at least
        0. Raises NotUniform if these inputs do not determine the outcome without noise.
        """
        found: list[tuple[State, Event]] = []
        static = [guard.form for guard in state.guards.items]
        for after in successors:
            new = [item for item in after.constraints.items if item not in state.constraints.keys]
            if len(new) == 1 and after.guards == state.guards:
                term = outcome_event(new[0].form, after.noises, (*moving, *static), self._distances)
                if term is not None:
                    found.append((after, term))
        if not found:
            span = self._core.instructions[state.label].span
            raise NotUniform(
                "the ideal's path through an iteration does not determine the outcome of a noisy comparison", span
            )
        # The event with the greatest margin fails least.
        return max(found, key=lambda each: each[1].constraints[0].constant)

    # --- outputs ------------------------------------------------------------------------------------------

    def _terms_outside_arrays(self, program: State, ideal: State, guards: Sequence[Constraint]) -> list[Event]:
        pairs = [pair for pair in self._outputs if self._array_of(pair[0]) is None]
        return self._compared(program, ideal, guards, pairs)

    def _compared(
        self, program: State, ideal: State, guards: Sequence[Constraint], pairs: Sequence[tuple[int, int]]
    ) -> list[Event]:
        """Return events under which outputs of `program` and `ideal` are equal, or within gamma if they are real.

        `pairs` has, for each output to compare, its slot in the program and its slot in the ideal. `guards` are
        conditions on inputs under which both states are reached. Raises NotUniform if the outputs would differ even
        without noise.
        """
        terms: list[Event] = []
        moving = self._facets(guards)
        for own, other in pairs:
            mine, theirs = program.values[own], ideal.values[other]
            compared: Sequence[Event] | None = None
            if Mark.UNASSIGNED in (mine, theirs):
                raise NotUniform(_BARE)
            if not self._core.slots[own].is_symbolic:
                compared = () if plain_value(mine) == plain_value(theirs) else None
            elif isinstance(mine, Affine) and isinstance(theirs, Affine):
                compared = ball(mine, theirs.renamed(self._inputs), program.noises, moving, self._distances)
            if compared is None:
                name = self._array_of(own) or self._core.slots[own].name
                raise NotUniform(f"without noise the program gives another `{name}` than the ideal")
            terms += compared
        return terms
