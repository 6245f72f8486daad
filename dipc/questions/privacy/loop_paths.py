"""The paths of a uniform program through its loop, as what shifts of the noises and moves of the inputs change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from dipc.algebra.limits import LimitReached
from dipc.chain.affine import Affine, centered
from dipc.chain.state import NoiseVar, State
from dipc.noise.law import Law
from dipc.program.program import Program
from dipc.questions.every_number.loop_heads import (
    Automaton,
    Heads,
    Side,
    initial,
    key_of,
    require_defined,
    side_of,
    steps,
    stripped,
)
from dipc.questions.every_number.normal_form import LoopText, with_enough_iterations
from dipc.questions.every_number.uniform import NotUniform, uniform_loop
from dipc.text import ast
from dipc.text.core import RealType

_ZERO = Fraction(0)

#: An input of the loop's index, by its array, or one that all iterations share, by its slot.
Coordinate = str | int


@dataclass(frozen=True, slots=True)
class Change:
    """What a shift and a move change of a form: over noises, first those alive at the head, then those drawn since, and
    over inputs."""

    noises: tuple[tuple[int, Fraction], ...]
    inputs: tuple[tuple[Coordinate, Fraction], ...]

    def by(self, move: Mapping[Coordinate, Fraction]) -> Fraction:
        """What the move changes."""
        return sum((c * move.get(key, _ZERO) for key, c in self.inputs), _ZERO)


@dataclass(frozen=True, slots=True)
class Way:
    """A path through one iteration, to the loop, or from it to the exit (`goal` None): the changes that may not be
    negative, and those that are 0; how many noises are `alive` before it, the laws and rates of those drawn on it; of
    all these noises those that are alive at the goal."""

    slacks: tuple[Change, ...]
    outputs: tuple[Change, ...]
    alive: int
    drawn: tuple[tuple[Law, Fraction], ...]
    goal: int | None
    carried: tuple[int, ...]
    is_iteration: bool


@dataclass(frozen=True, slots=True)
class LoopPaths:
    """All paths of a uniform program, whose loop begins at `low`. `inputs` are the ones that all iterations share;
    `only_answers` says that each output is one of an iteration."""

    ways: Automaton[Way]
    inputs: tuple[int, ...]
    low: int
    only_answers: bool

    def from_head(self, head: int | None) -> tuple[Way, ...]:
        """The ways from a head, or from the beginning."""
        return self.ways.before if head is None else (*self.ways.iterations[head], *self.ways.endings[head])

    @property
    def all(self) -> Iterator[Way]:
        """All ways."""
        yield from self.ways.before
        for head in range(len(self.ways.iterations)):
            yield from self.from_head(head)

    @property
    def are_independent(self) -> bool:
        """Whether iterations have nothing in common, each is executed, and nothing else has a part in the outputs."""
        ends = (*self.ways.before, *(way for ways in self.ways.endings for way in ways))
        return (
            len(self.ways.iterations) == 1
            and not self.inputs
            and all(not (way.slacks or way.outputs) for way in ends)
            and all(way.goal is not None and not way.carried for way in (*self.ways.before, *self.ways.iterations[0]))
        )


def without_claim(text: LoopText) -> LoopText:
    """The program alone, without what is claimed of its accuracy."""
    questions = ast.IdealDecl | ast.ClaimDecl | ast.MetricDecl
    own = tuple(each for each in text.tree.declarations if not isinstance(each, questions))
    return text.with_tree(replace(text.tree, declarations=own))


def loop_paths(text: LoopText) -> LoopPaths:
    """The paths of a program that is uniform, or has several loops that come to one. Raises NotUniform with what is not
    covered, LimitReached."""
    single = text.with_one_loop()
    loop, arrays = uniform_loop(single.tree, single.number)

    def explored(count: int) -> LoopPaths:
        low = int(loop.low.value)  # type: ignore[union-attr]
        return _Explorer(single.instance(low + count - 1), loop, arrays, count).paths()

    return with_enough_iterations(explored, text.program.limits.iterations)[0]


class _Explorer:
    """Finds the paths of one program, given with more iterations than there are steps to its last head."""

    def __init__(self, program: Program, loop: ast.For, arrays: frozenset[str], count: int) -> None:
        """Raises NotUniform where the loop cannot be made out in the instructions, or an input is not real."""
        self._core, self._limits = program.core, program.limits
        self._arrays = arrays
        assert isinstance(loop.low, ast.Number), "a uniform loop begins at a given index"
        self._low = int(loop.low.value)
        if any(not isinstance(self._core.slots[slot].type, RealType) for slot in self._core.inputs):
            raise NotUniform("an input is not real")
        self._side: Side = side_of(program.flow, loop.span, count, arrays)
        self._heads: Heads[State] = Heads(count, self._limits.heads)

    def paths(self) -> LoopPaths:
        """Raises NotUniform with what is not covered, TooFew where the program has too few iterations, LimitReached."""
        require_defined(self._side, {}, self._limits.states)
        start = initial(self._side.flow, {})
        ways = self._heads.automaton(self._ways(start, self._side.head(0), 0, None), self._iteration, self._ending)
        shared = tuple(slot for slot in self._core.inputs if self._array_of(slot) is None)
        only_answers = all(self._array_of(slot) is not None for slot in self._core.outputs)
        return LoopPaths(ways, shared, self._low, only_answers)

    def _iteration(self, state: State, iteration: int) -> Iterator[Way]:
        return self._ways(state, self._side.head(iteration + 1), iteration + 1, iteration)

    def _ending(self, state: State) -> Iterator[Way]:
        return self._ways(state.at(self._side.head(self._side.count)), None, 0, None)

    def _ways(self, start: State, goal: int | None, following: int, iteration: int | None) -> Iterator[Way]:
        """The paths from a state to the instruction `goal`, the head of iteration `following`, or to the exit."""
        flow = self._side.flow
        pending = [stripped(start)]
        for _ in range(self._limits.states):
            if not pending:
                return
            state = pending.pop()
            if state.label in (flow.exit_label, goal):
                yield self._way(start, state, following, iteration)
            else:
                pending += steps(flow, state)
        raise LimitReached("states", f"an iteration has more than {self._limits.states} states")

    def _way(self, start: State, state: State, following: int, iteration: int | None) -> Way:
        if state.guards.items:
            raise NotUniform("inputs are compared without noise")
        alive = _alive(self._side, start)
        known = {noise.id for noise in start.noises}
        drawn = [noise for noise in state.noises if noise.id not in known]
        numbers = {noise: at for at, noise in enumerate([*alive, *(noise.id for noise in drawn)])}
        by_id = {noise.id: noise for noise in state.noises}

        def change(form: Affine) -> Change:
            return self._change(form, numbers, by_id, iteration)

        ended = state.label == self._side.flow.exit_label
        outputs = []
        for slot in self._core.outputs:
            value, array = state.values[slot], self._array_of(slot)
            here = self._is_at(slot, iteration) if array is not None else ended
            if here and isinstance(value, Affine) and (value.noises or value.inputs):
                outputs.append(change(value))
        return Way(
            tuple(change(item.form) for item in state.constraints.items),
            tuple(outputs),
            len(alive),
            tuple((noise.law, noise.rate) for noise in drawn),
            None if ended else self._heads.number(key_of(self._side, state), state, following),
            () if ended else tuple([numbers[noise] for noise in _alive(self._side, state)]),
            iteration is not None,
        )

    def _change(
        self, form: Affine, numbers: Mapping[int, int], by_id: Mapping[int, NoiseVar], iteration: int | None
    ) -> Change:
        over = centered(form, {noise: drawn.mean for noise, drawn in by_id.items()})
        inputs: dict[Coordinate, Fraction] = {}
        for slot, c in over.inputs:
            array = self._array_of(slot)
            if array is not None and not self._is_at(slot, iteration):
                raise NotUniform("a value that depends on the input of one iteration is used in another")
            inputs[slot if array is None else array] = c
        return Change(tuple((numbers[noise], c) for noise, c in over.noises), tuple(inputs.items()))

    def _array_of(self, slot: int) -> str | None:
        name, bracket, _ = self._core.slots[slot].name.partition("[")
        return name if bracket and name in self._arrays else None

    def _is_at(self, slot: int, iteration: int | None) -> bool:
        array = self._array_of(slot)
        index = None if iteration is None else iteration + self._low
        return array is not None and self._core.slots[slot].name == f"{array}[{index}]"


def _alive(side: Side, state: State) -> tuple[int, ...]:
    """The noises in what later iterations may read, in the order in which a head is told by."""
    found: dict[int, None] = {}
    for slot in side.live:
        value = state.values[slot]
        if isinstance(value, Affine):
            found.update(dict.fromkeys(noise for noise, _ in value.noises))
    return tuple(found)
