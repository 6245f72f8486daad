"""A uniform program and its ideal, iteration by iteration, for every number of iterations at once.

**Agreement.** Run the program and, beside it, its ideal at the same input. Where the program compares noisy values, one
outcome is the one that agrees with the ideal's iteration: it is implied by A·N + s >= 0 with a slack s that is not
negative for the inputs that take the ideal this way. As long as every comparison turns out so, the program goes through
the states found here, and writes what the ideal writes. So the error has at most the probability of the sum, over the
comparisons (and real outputs) met in agreement, of Pr[A·N + s < 0]: one term for each, whatever else is random.

**Closure.** In a uniform program an iteration depends on the iterations before it through the scalars that are still
read: finite values, and forms over noises. Two heads of the loop with the same scalars (noises renamed) have the same
iterations to come, up to the index. If from the start on only finitely many such heads are reached, these are all
there are for any m, and the terms of an iteration are those of one of finitely many transitions between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dipc.algebra.limits import LimitReached
from dipc.chain.affine import Affine
from dipc.chain.answers import finite_values
from dipc.chain.constraints import Constraint
from dipc.chain.entailment import contradict
from dipc.chain.state import Mark, State
from dipc.chain.symbolic import is_symbolic
from dipc.ideal.ideal import Ideal, Region
from dipc.lang.core import IntType, Type, Value
from dipc.lang.core_program import CoreProgram
from dipc.sources.every_input.classes import finite_cases
from dipc.sources.every_input.evidence import ClaimedDistances
from dipc.sources.every_input.facets import Metric, facets
from dipc.sources.every_input.halfspaces import Moving
from dipc.sources.every_number.comparison_terms import NoisyOutcome, Term, ball, noisy_outcome_of
from dipc.sources.every_number.loop_heads import (
    Key,
    TooFew,
    entered,
    initial,
    key_of,
    plain_value,
    require_defined,
    side_of,
    steps,
    stripped,
)
from dipc.sources.every_number.uniform import NotUniform, Uniform

_ZERO = Fraction(0)

_BARE = "an output may be left without a value"


@dataclass(frozen=True, slots=True)
class Transition:
    """One iteration in agreement (or what follows the loop): its `terms`, and the head it leads to; None: the exit."""

    goal: int | None
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Automaton:
    """All iterations of all runs in agreement. Head 0 is where the loop begins, with `before` having happened;
    `iterations` are by head, and `endings` what happens if the loop ends there."""

    before: tuple[Term, ...]
    iterations: tuple[tuple[Transition, ...], ...]
    endings: tuple[tuple[Transition, ...], ...]


@dataclass(frozen=True, slots=True)
class _Node:
    """Both runs at the head of the loop before one iteration."""

    program: State
    ideal: State
    iteration: int


class Lockstep:
    """Explores the runs in agreement of one program, given with more iterations than there are steps to its last head.

    `shape` is the uniform program that `ideal` and its program are for some number of iterations.
    """

    def __init__(
        self,
        ideal: Ideal,
        shape: Uniform,
        metric: Metric,
        distances: ClaimedDistances,
        finite: Mapping[int, Value],
    ) -> None:
        """`finite` are the values of the finite inputs that are of no iteration, by slot. Raises NotUniform where the
        loops cannot be made out in the instructions, and for inputs that are whole, LimitReached where those of an
        iteration have too many values."""
        self._core = ideal.program.core
        self._limits = ideal.program.limits
        self._ideal = ideal.core
        self._metric = metric
        self._distances = distances
        self._shape = shape
        count = int(self._core.constants[shape.parameter]) - shape.low + 1
        if any(isinstance(_type(self._core, slot), IntType) for slot in self._core.inputs):
            raise NotUniform("an input is an int")
        arrays = shape.arrays
        self._own = side_of(ideal.program.flow, shape.loop.span, count, arrays)
        self._other = side_of(ideal.flow, shape.ideal_loop.span, count, arrays)
        self._inputs = dict(zip(ideal.core.inputs, self._core.inputs, strict=True))
        own = [slot for slot in ideal.finite_inputs if slot not in finite]
        indices = range(shape.low, shape.low + count)
        #: By iteration the values of its finite inputs.
        self._entries = [finite_cases(ideal, [slot for slot in own if self._is_at(slot, index)]) for index in indices]
        self._finite = {**{slot: finite_values(self._core.slots[slot])[0] for slot in own}, **finite}
        self._outputs = list(zip(self._core.outputs, self._ideal.outputs, strict=True))
        arrays_out = [own for own, _ in self._outputs if self._array_of(own) is not None]
        self._bare = any(self._core.slots[own].initial is None for own in arrays_out)
        if self._bare and not all(any(self._is_at(own, index) for index in indices) for own in arrays_out):
            raise NotUniform(_BARE)
        self._keys: dict[Key, int] = {}
        self._pending: list[_Node] = []

    def automaton(self) -> Automaton:
        """Everything that runs in agreement can do.

        Raises NotUniform with the reason where that is not covered, TooFew where the program has too few iterations,
        LimitReached past one of the program's limits.
        """
        require_defined(self._own, self._finite, self._limits.states, self._entries)
        before = self._begin()
        iterations: list[tuple[Transition, ...]] = []
        endings: list[tuple[Transition, ...]] = []
        while self._pending:
            node = self._pending.pop(0)
            if len(iterations) >= self._limits.heads:
                most = self._limits.heads
                raise LimitReached("heads", f"the head of the loop is reached in more than {most} states")
            if node.iteration + 1 >= self._own.count:
                raise TooFew
            iterations.append(tuple(self._iteration(node)))
            endings.append(tuple(self._ending(node)))
        return Automaton(before, tuple(iterations), tuple(endings))

    # --- parts of a run -----------------------------------------------------------------------------------

    def _begin(self) -> tuple[Term, ...]:
        there = {slot: self._finite[own] for slot, own in self._inputs.items() if own in self._finite}
        ideal, _ = self._only_way(initial(self._other.flow, there), self._other.head(0), "before")
        found = list(self._runs(initial(self._own.flow, self._finite), (), self._own.head(0)))
        if len(found) != 1 or ideal.label != self._other.head(0) or found[0][0].label != self._own.head(0):
            raise NotUniform("there is more than one way to the loop")
        ((program, terms),) = found
        self._number(_Node(stripped(program), stripped(ideal), 0))
        return terms

    def _iteration(self, node: _Node) -> Iterator[Transition]:
        index = node.iteration + self._shape.low
        here = [pair for pair in self._outputs if self._is_at(pair[0], index)]
        finite = [other for own, other in here if not is_symbolic(_type(self._core, own))]
        for entry in self._entries[node.iteration]:
            there = {slot: entry[own] for slot, own in self._inputs.items() if own in entry}
            ways = list(self._ways(entered(node.ideal, there), self._other.head(node.iteration + 1)))
            # Two inputs that go different ways have different answers, whatever comes later: each facet is one to
            # another. Finite inputs that differ can only be nearer.
            if len({tuple(plain_value(state.values[slot]) for slot in finite) for state, _ in ways}) < len(ways):
                raise NotUniform("two ways through an iteration of the ideal leave the same answer there")
            begun = entered(node.program, entry)
            for ideal, guards in ways:
                for program, terms in self._runs(begun, guards, self._own.head(node.iteration + 1)):
                    compared = self._compared(program, ideal, guards, here)
                    yield self._transition(program, ideal, guards, (*terms, *compared), node.iteration + 1)

    def _transition(
        self,
        program: State,
        ideal: State,
        guards: Sequence[Constraint],
        terms: tuple[Term, ...],
        iteration: int,
    ) -> Transition:
        ended = program.label == self._own.flow.exit_label
        if ended is not (ideal.label == self._other.flow.exit_label):
            raise NotUniform("the program and its ideal do not end in the same iteration")
        if ended and self._bare:
            raise NotUniform(_BARE)
        if ended:
            return Transition(None, (*terms, *self._final(program, ideal, guards)))
        return Transition(self._number(_Node(stripped(program), stripped(ideal), iteration)), terms)

    def _ending(self, node: _Node) -> Iterator[Transition]:
        end = self._own.count
        ideal, _ = self._only_way(node.ideal.at(self._other.head(end)), self._other.flow.exit_label, "after")
        for program, terms in self._runs(node.program.at(self._own.head(end)), (), self._own.flow.exit_label):
            yield Transition(None, (*terms, *self._final(program, ideal, ())))

    def _number(self, node: _Node) -> int:
        key = (key_of(self._own, node.program), key_of(self._other, node.ideal))
        if key not in self._keys:
            self._keys[key] = len(self._keys)
            self._pending.append(node)
        return self._keys[key]

    # --- the ideal ----------------------------------------------------------------------------------------

    def _only_way(self, state: State, goal: int, where: str) -> tuple[State, tuple[Constraint, ...]]:
        found = list(self._ways(state, goal))
        if len(found) != 1:
            raise NotUniform(f"the ideal compares inputs {where} its loop")
        return found[0]

    def _ways(self, state: State, goal: int) -> Iterator[tuple[State, tuple[Constraint, ...]]]:
        """All ways of the ideal from `state` to the label `goal`, or to the exit, with what they need of the inputs."""
        flow = self._other.flow
        pending = [state]
        while pending:
            state = pending.pop()
            if state.label in (goal, flow.exit_label):
                yield state, tuple([self._moved(guard) for guard in state.guards.items])
            else:
                pending += steps(flow, state)

    def _moved(self, guard: Constraint) -> Constraint:
        return replace(guard, form=self._form(guard.form), difference=self._form(guard.difference))

    def _form(self, form: Affine) -> Affine:
        """A form of the ideal over the program's inputs."""
        return Affine((), tuple(sorted((self._inputs[slot], c) for slot, c in form.inputs)), form.constant)

    # --- the program ---------------------------------------------------------------------------------------

    def _runs(self, state: State, guards: Sequence[Constraint], goal: int) -> Iterator[tuple[State, tuple[Term, ...]]]:
        """The runs in agreement from `state` to the label `goal`, or to the exit, for inputs with these guards: more
        than one where the program compares inputs on its own."""
        flow = self._own.flow
        moving = facets(Region(tuple(guards), ()), (), self._metric)
        pending: list[tuple[State, tuple[Term, ...]]] = [(state, ())]
        while pending:
            state, terms = pending.pop()
            if state.label in (goal, flow.exit_label):
                yield state, terms
                continue
            successors = steps(flow, state)
            if len(successors) == 1:
                pending.append((successors[0], terms))
            elif any(after.constraints != state.constraints for after in successors):
                chosen, term = self._agreeing(state, successors, moving)
                pending.append((chosen, (*terms, term)))
            else:
                pending += [(after, terms) for after in successors if not contradict([*guards, *after.guards.items])]

    def _agreeing(self, state: State, successors: Sequence[State], moving: Sequence[Moving]) -> tuple[State, Term]:
        """The outcome of a noisy comparison that the ideal's way decides for noise 0, and the term for the other."""
        best: tuple[State, NoisyOutcome] | None = None
        static = [Moving(guard.form, _ZERO) for guard in state.guards.items]
        for after in successors:
            new = [item for item in after.constraints.items if item not in state.constraints.keys]
            if len(new) == 1 and after.guards == state.guards:
                flip = noisy_outcome_of(new[0].form, after.noises, (*moving, *static), self._distances)
                if flip is not None and (best is None or flip.margin > best[1].margin):
                    best = after, flip
        if best is None:
            span = self._core.instructions[state.label].span
            raise NotUniform("a noisy comparison is not decided by the ideal's way through the iteration", span)
        return best[0], best[1].term

    # --- outputs ------------------------------------------------------------------------------------------

    def _final(self, program: State, ideal: State, guards: Sequence[Constraint]) -> list[Term]:
        """The terms for the outputs that do not belong to one index."""
        pairs = [pair for pair in self._outputs if self._array_of(pair[0]) is None]
        return self._compared(program, ideal, guards, pairs)

    def _compared(
        self, program: State, ideal: State, guards: Sequence[Constraint], pairs: Sequence[tuple[int, int]]
    ) -> list[Term]:
        """The terms for these outputs; raises NotUniform where they differ in agreement."""
        terms: list[Term] = []
        moving = facets(Region(tuple(guards), ()), (), self._metric)
        for own, other in pairs:
            mine, theirs = program.values[own], ideal.values[other]
            found: Sequence[Term] | None = None
            if Mark.UNASSIGNED in (mine, theirs):
                raise NotUniform(_BARE)
            if not is_symbolic(_type(self._core, own)):
                found = () if plain_value(mine) == plain_value(theirs) else None
            elif isinstance(mine, Affine) and isinstance(theirs, Affine):
                found = ball(mine, self._form(theirs), program.noises, moving, self._distances)
            if found is None:
                name = self._array_of(own) or self._core.slots[own].name
                raise NotUniform(f"without noise the program does not give the ideal's `{name}`")
            terms += found
        return terms

    def _array_of(self, slot: int) -> str | None:
        """The array that goes up to the parameter and has this slot as an element."""
        name, bracket, _ = self._core.slots[slot].name.partition("[")
        return name if bracket and name in self._shape.arrays else None

    def _is_at(self, slot: int, index: int) -> bool:
        array = self._array_of(slot)
        return array is not None and self._core.slots[slot].name == f"{array}[{index}]"


def _type(core: CoreProgram, slot: int) -> Type:
    return core.slots[slot].type
