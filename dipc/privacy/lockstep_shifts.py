"""Alignment for every number of queries: shifts of the noises chosen iteration by iteration.

A uniform program (`dipc.sources.every_number.uniform`) runs through finitely many heads of its loop, up to the names of
noises. Along a path the conditions of an alignment are those of its iterations: each compares forms of the noises that
are alive at the head, of those drawn in the iteration, and of the inputs of its index. Let an adversary choose the path
and extreme moves of the inputs, and let shifts be multiples of the radius. For each head and each choice of shifts of
the noises alive there, the least cost so far is one of finitely many numbers up to the budget: so there are finitely
many tables of such costs, and what the adversary can reach is found by following them. If none is empty, every path
for every number of queries has an alignment within the budget at the vertices of the moves; as the conditions are
linear and costs convex, it has one for every move. What is known of the noises at a head is forgotten: that only adds
paths.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from dipc.algebra.limits import LimitReached
from dipc.chain.affine import Affine
from dipc.chain.state import NoiseVar, State
from dipc.exits.program import Program
from dipc.lang.ast import For
from dipc.lang.core import NoiseFamily, RealType
from dipc.privacy.adjacency import Distance, Within
from dipc.sources.every_number.loop_heads import (
    Key,
    Side,
    TooFew,
    initial,
    key_of,
    require_defined,
    side_of,
    steps,
    stripped,
)
from dipc.sources.every_number.uniform import NotUniform

_ZERO = Fraction(0)

#: Shifts that are tried, in multiples of the radius.
_SHIFTS = tuple(map(Fraction, range(-2, 3)))

#: An input of the loop's index, by its array, or one that all iterations share, by its slot.
Coordinate = str | int


@dataclass(frozen=True, slots=True)
class Change:
    """What a shift and a move change of a form: over noises, first those alive at the head, then those drawn since, and
    over inputs."""

    noises: tuple[tuple[int, Fraction], ...]
    inputs: tuple[tuple[Coordinate, Fraction], ...]


@dataclass(frozen=True, slots=True)
class Way:
    """A path through one iteration, or to the exit (`goal` None): the changes that may not be negative, and those that
    are 0; the rates of the noises drawn on it, and whether they are one-sided; of all its noises those that are alive
    at the goal."""

    slacks: tuple[Change, ...]
    outputs: tuple[Change, ...]
    drawn: tuple[tuple[Fraction, bool], ...]
    goal: int | None
    carried: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LoopPaths:
    """All paths of a uniform program: those up to the loop, by head those through an iteration, and those from there to
    the exit if the loop ends. `inputs` are the ones that all iterations share."""

    before: tuple[Way, ...]
    iterations: tuple[tuple[Way, ...], ...]
    endings: tuple[tuple[Way, ...], ...]
    inputs: tuple[int, ...]


#: The least cost so far, by the shifts of the noises that are alive.
_Costs = Mapping[tuple[Fraction, ...], Fraction]


class LoopExplorer:
    """Finds the paths of one program, given with more iterations than there are steps to its last head."""

    def __init__(self, program: Program, loop: For, low: int, arrays: frozenset[str], count: int) -> None:
        """Raises NotUniform where the loop cannot be made out in the instructions, or an input is not real."""
        self._core, self._limits = program.core, program.limits
        self._low, self._arrays = low, arrays
        if any(not isinstance(self._core.slots[slot].type, RealType) for slot in self._core.inputs):
            raise NotUniform("an input is not real")
        self._side: Side = side_of(program.flow, loop.span, count, arrays)
        self._keys: dict[Key, int] = {}
        self._pending: list[tuple[State, int]] = []

    def paths(self) -> LoopPaths:
        """Raises NotUniform with what is not covered, TooFew where the program has too few iterations, LimitReached."""
        require_defined(self._side, {}, self._limits.states)
        start = initial(self._side.flow, {})
        before = tuple(self._ways(start, (), self._side.head(0), 0, None))
        iterations: list[tuple[Way, ...]] = []
        endings: list[tuple[Way, ...]] = []
        while self._pending:
            state, iteration = self._pending.pop(0)
            if len(iterations) >= self._limits.heads:
                most = self._limits.heads
                raise LimitReached("heads", f"the head of the loop is reached in more than {most} states")
            if iteration + 1 >= self._side.count:
                raise TooFew
            alive = _alive(self._side, state)
            following = self._side.head(iteration + 1)
            iterations.append(tuple(self._ways(state, alive, following, iteration + 1, iteration)))
            last = state.at(self._side.head(self._side.count))
            endings.append(tuple(self._ways(last, alive, None, 0, None)))
        shared = tuple(slot for slot in self._core.inputs if self._array_of(slot) is None)
        return LoopPaths(before, tuple(iterations), tuple(endings), shared)

    def _ways(
        self, start: State, alive: Sequence[int], goal: int | None, next_: int, iteration: int | None
    ) -> Iterator[Way]:
        """The paths from a state to the instruction `goal`, the head of iteration `next_`, or to the exit."""
        flow = self._side.flow
        pending = [stripped(start)]
        for _ in range(self._limits.states):
            if not pending:
                return
            state = pending.pop()
            if state.label == flow.exit_label or state.label == goal:
                yield self._way(start, state, alive, next_, iteration)
            else:
                pending += steps(flow, state)
        raise LimitReached("states", f"an iteration has more than {self._limits.states} states")

    def _way(self, start: State, state: State, alive: Sequence[int], next_: int, iteration: int | None) -> Way:
        if state.guards.items:
            raise NotUniform("inputs are compared without noise")
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
        goal = None if ended else self._number(state, next_)
        carried = () if ended else tuple([numbers[noise] for noise in _alive(self._side, state)])
        return Way(
            tuple(change(item.form) for item in state.constraints.items),
            tuple(outputs),
            tuple((noise.rate, noise.family is NoiseFamily.ONE_SIDED) for noise in drawn),
            goal,
            carried,
        )

    def _change(
        self, form: Affine, numbers: Mapping[int, int], by_id: Mapping[int, NoiseVar], iteration: int | None
    ) -> Change:
        inputs: dict[Coordinate, Fraction] = {}

        def add(terms: Sequence[tuple[int, Fraction]], factor: Fraction) -> None:
            for slot, c in terms:
                array = self._array_of(slot)
                if array is not None and not self._is_at(slot, iteration):
                    raise NotUniform("a value that depends on the input of one iteration is used in another")
                key: Coordinate = slot if array is None else array
                inputs[key] = inputs.get(key, _ZERO) + factor * c

        add(form.inputs, Fraction(1))
        for noise, c in form.noises:
            add(by_id[noise].mean.inputs, c)
        noises = tuple((numbers[noise], c) for noise, c in form.noises)
        return Change(noises, tuple((key, c) for key, c in inputs.items() if c))

    def _number(self, state: State, iteration: int) -> int:
        key = key_of(self._side, state)
        if key not in self._keys:
            self._keys[key] = len(self._keys)
            self._pending.append((state, iteration))
        return self._keys[key]

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


def is_bound(paths: LoopPaths, budget: Fraction, within: Within, most: int) -> bool:
    """Whether shifts show that the program is budget·eps-private for all adjacent inputs and every number of queries.
    False proves nothing. Raises LimitReached past `most` tables."""
    if within.distance is Distance.HAMMING:
        return False
    seen: set[tuple[int | None, bool, frozenset[tuple[tuple[Fraction, ...], Fraction]]]] = set()
    for shared, spent in _shared_moves(paths.inputs, within):
        pending: list[tuple[int | None, bool, dict[tuple[Fraction, ...], Fraction]]] = [(None, spent, {(): _ZERO})]
        seen.clear()
        while pending:
            head, moved, costs = pending.pop()
            ways = paths.before if head is None else (*paths.iterations[head], *paths.endings[head])
            for way in ways:
                for move, after in _moves(way, within, moved):
                    found = _followed(costs, way, {**shared, **move}, budget, within.radius)
                    if not found:
                        return False
                    key = way.goal, after, frozenset(found.items())
                    if way.goal is None or key in seen:
                        continue
                    if len(seen) >= most:
                        raise LimitReached("heads", f"shifts lead to more than {most} tables of costs")
                    seen.add(key)
                    pending.append((way.goal, after, found))
    return True


def _shared_moves(inputs: Sequence[int], within: Within) -> Iterator[tuple[dict[Coordinate, Fraction], bool]]:
    """Extreme moves of the inputs that all iterations share, and whether nothing is left for others."""
    ends = (within.radius, -within.radius)
    if within.distance is Distance.LINF:
        for values in product(ends, repeat=len(inputs)):
            yield dict(zip(inputs, values, strict=True)), False
        return
    yield {}, False
    for slot in inputs:
        for end in ends:
            yield {slot: end}, True


def _moves(way: Way, within: Within, spent: bool) -> Iterator[tuple[dict[Coordinate, Fraction], bool]]:
    """Extreme moves of the inputs of one index; by L1 one input at all moves."""
    names = sorted({key for change in (*way.slacks, *way.outputs) for key, _ in change.inputs if isinstance(key, str)})
    ends = (within.radius, -within.radius)
    if within.distance is Distance.LINF:
        for values in product(ends, repeat=len(names)):
            yield dict(zip(names, values, strict=True)), spent
        return
    yield {}, spent
    for name in names if not spent else ():
        for end in ends:
            yield {name: end}, True


def _followed(
    costs: _Costs, way: Way, move: Mapping[Coordinate, Fraction], budget: Fraction, radius: Fraction
) -> dict[tuple[Fraction, ...], Fraction]:
    """The costs after one way, for the moves chosen: the least by the shifts of what is alive then."""
    found: dict[tuple[Fraction, ...], Fraction] = {}
    slacks = [(change.noises, _of_move(change, move)) for change in way.slacks]
    outputs = [(change.noises, _of_move(change, move)) for change in way.outputs]
    choices = [[s * radius for s in _SHIFTS if s >= 0 or not one_sided] for _, one_sided in way.drawn]
    for fresh in product(*choices):
        more = sum((rate * abs(t) for (rate, _), t in zip(way.drawn, fresh, strict=True)), _ZERO)
        if more > budget:
            continue
        for alive, cost in costs.items():
            if cost + more > budget:
                continue
            shifts = (*alive, *fresh)
            if all(_at(noises, shifts) + moved >= 0 for noises, moved in slacks) and all(
                _at(noises, shifts) + moved == 0 for noises, moved in outputs
            ):
                key = tuple([shifts[at] for at in way.carried])
                found[key] = min(found.get(key, cost + more), cost + more)
    return found


def _of_move(change: Change, move: Mapping[Coordinate, Fraction]) -> Fraction:
    return sum((c * move.get(key, _ZERO) for key, c in change.inputs), _ZERO)


def _at(noises: Sequence[tuple[int, Fraction]], shifts: Sequence[Fraction]) -> Fraction:
    return sum((c * shifts[at] for at, c in noises), _ZERO)
