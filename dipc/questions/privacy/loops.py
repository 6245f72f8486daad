"""What a shift of the noises costs in runs of a loop, for every number of queries.

A uniform program runs through finitely many heads of its loop, up to the names of noises (`loop_runs`). A path of it is
a sequence of steps from head to head, each with inequalities between forms of the noises alive at the head, of those
drawn in the step, and of the inputs of its index. A constant shift of all noises of a path that satisfies what a move
of the inputs asks for maps the noises on this path into those on it at the other input, at a cost of Σ c·|shift| (see
`alignment`), with c = rate for Laplace noise (`Law.shift_cost`).

**Plans.** An adversary chooses a path and extreme moves of the inputs. The noises that are alive at a head are shifted
by what a plan says for that head, the others of a step by what is cheapest for it. With potentials P of the heads, such
that a step from g to h costs at most P(h) - P(g) + slope, a run of n iterations costs at most its potential at the end,
which is at most base, and n·slope. Shifts, potentials, base and slope are unknowns of one linear program: its solution
is the proof, and nothing is believed of how it was found. At other moves of the ball the shifts of a path are the same
averages of those at the extreme moves as the moves are: conditions are linear, and costs convex.

**Outlines.** A plan may depend on the path: on the steps that lead from one strongly connected component of heads to
another, and to the exit, with the moves there. There are finitely many such outlines, each with a plan of its own, and
the cost is at most that of the costliest.

**Rates that depend on m.** Rates that are multiples of each other have potentials, a base and a slope together: those
of a rate r(m) cost at most r(m)·(base + n·slope), for every m.

"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice, product

from dipc.algebra.limits import LimitReached, Limits
from dipc.chain.constraints import Affine, centered
from dipc.chain.state import NoiseVar, State
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace, sorted_terms
from dipc.linear.program import Least, minimum
from dipc.noise.law import Law
from dipc.program.program import Program
from dipc.questions.every_number.in_number import ONE, Ratio
from dipc.questions.every_number.loop_runs import Automaton, LoopRuns, Side, initial, key_of, stripped
from dipc.questions.every_number.normal_form import LoopText, Rates, rate_of_mark, with_enough_iterations
from dipc.questions.every_number.uniform import NotUniform, uniform_loop
from dipc.questions.privacy.adjacency import Distance, Within
from dipc.text import ast
from dipc.text.core import RealType

_ZERO, _ONE = Fraction(0), Fraction(1)

#: An input of the loop's index, by its array, or one that all iterations share, by its slot.
Coordinate = str | int


@frozen
class Change:
    """What a shift and a move change of a form: over noises, first those alive at the head, then those drawn since, and
    over inputs."""

    noises: tuple[tuple[int, Fraction], ...]
    inputs: tuple[tuple[Coordinate, Fraction], ...]

    def by(self, move: Mapping[Coordinate, Fraction]) -> Fraction:
        """What the move changes."""
        return sum((c * move.get(key, _ZERO) for key, c in self.inputs), _ZERO)


@frozen
class LoopPath:
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


@frozen
class LoopPaths:
    """All paths of a uniform program, whose loop begins at `low`. `inputs` are the ones that all iterations share;
    `only_answers` says that each output is one of an iteration."""

    steps: Automaton[LoopPath]
    inputs: tuple[int, ...]
    low: int
    only_answers: bool

    def from_head(self, head: int | None) -> tuple[LoopPath, ...]:
        """The paths from a head, or from the beginning."""
        return self.steps.before if head is None else (*self.steps.iterations[head], *self.steps.endings[head])

    @property
    def all(self) -> Iterator[LoopPath]:
        """All paths."""
        yield from self.steps.before
        for head in range(len(self.steps.iterations)):
            yield from self.from_head(head)

    @property
    def are_independent(self) -> bool:
        """Whether iterations have nothing in common, each is executed, and nothing else has a part in the outputs."""
        ends = (*self.steps.before, *(path for paths in self.steps.endings for path in paths))
        return (
            len(self.steps.iterations) == 1
            and not self.inputs
            and all(not (path.slacks or path.outputs) for path in ends)
            and all(
                path.goal is not None and not path.carried for path in (*self.steps.before, *self.steps.iterations[0])
            )
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

    assert isinstance(loop.low, ast.Number), "a uniform loop begins at a given index"
    before = int(loop.low.value) - 1

    def explored(count: int) -> LoopPaths:
        return _Paths(single.instance(before + count), loop, arrays, count).paths()

    return with_enough_iterations(explored, text.program.limits.iterations)[0]


class _Paths(LoopRuns[State, LoopPath]):
    """The paths of one program, given with more iterations than there are steps to its last head."""

    def __init__(self, program: Program, loop: ast.For, arrays: frozenset[str], count: int) -> None:
        """Raises NotUniform where the loop cannot be made out in the instructions, or an input is not real."""
        core = program.core
        if any(not isinstance(core.slots[slot].type, RealType) for slot in core.inputs):
            raise NotUniform("an input is not real")
        super().__init__(program, loop, arrays, count, {})

    def paths(self) -> LoopPaths:
        """Raises NotUniform with what is not covered, TooFew where the program has too few iterations, LimitReached."""
        shared = tuple(slot for slot in self._core.inputs if self._array_of(slot) is None)
        only_answers = all(self._array_of(slot) is not None for slot in self._core.outputs)
        return LoopPaths(self.automaton(), shared, self.low, only_answers)

    def _before(self) -> Iterator[LoopPath]:
        return self._paths(initial(self._own.flow, {}), self._own.head(0), 0, None)

    def _iteration(self, node: State, iteration: int) -> Iterator[LoopPath]:
        return self._paths(node, self._own.head(iteration + 1), iteration + 1, iteration)

    def _ending(self, node: State) -> Iterator[LoopPath]:
        return self._paths(node.at(self._own.head(self._own.count)), None, 0, None)

    def _paths(self, start: State, goal: int | None, following: int, iteration: int | None) -> Iterator[LoopPath]:
        """The paths from a state to the instruction `goal`, the head of iteration `following`, or to the exit."""
        for end in self._runs(self._own.flow, stripped(start), goal):
            yield self._path(start, end, following, iteration)

    def _path(self, start: State, state: State, following: int, iteration: int | None) -> LoopPath:
        if state.guards.items:
            raise NotUniform("inputs are compared without noise")
        alive = _alive(self._own, start)
        known = {noise.id for noise in start.noises}
        drawn = [noise for noise in state.noises if noise.id not in known]
        numbers = {noise: position for position, noise in enumerate([*alive, *(noise.id for noise in drawn)])}
        by_id = {noise.id: noise for noise in state.noises}

        def change(form: Affine) -> Change:
            return self._change(form, numbers, by_id, iteration)

        ended = state.label == self._own.flow.exit_label
        outputs = []
        for slot in self._core.outputs:
            value, array = state.values[slot], self._array_of(slot)
            here = self._is_at(slot, iteration) if array is not None else ended
            if here and isinstance(value, Affine) and (value.noises or value.inputs):
                outputs.append(change(value))
        return LoopPath(
            tuple(change(item.form) for item in state.constraints.items),
            tuple(outputs),
            len(alive),
            tuple((noise.law, noise.rate) for noise in drawn),
            None if ended else self._number(key_of(self._own, state), state, following),
            () if ended else tuple([numbers[noise] for noise in _alive(self._own, state)]),
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


def _alive(side: Side, state: State) -> tuple[int, ...]:
    """The noises in what later iterations may read, in the order in which a head is told by."""
    result: dict[int, None] = {}
    for slot in side.live:
        value = state.values[slot]
        if isinstance(value, Affine):
            result.update(dict.fromkeys(noise for noise, _ in value.noises))
    return tuple(result)


#: The number of queries for which plans cost least, and how many of the first may have better ones.
_MANY, _FIRST = 1_000, 20


@frozen
class LoopCost:
    """The loss is at most eps times the greatest of the `bounds`, functions of the number of queries, from `least` on.
    Some numbers may have better plans: `alone` gives the bound of that for one number, if there is one."""

    bounds: tuple[Ratio, ...]
    least: int
    alone: Callable[[int], Fraction | None] = field(default=lambda _: None, repr=False)

    def at(self, number: int) -> Fraction:
        """The greatest of the bounds for one number."""
        return max((bound.at(number) for bound in self.bounds), default=_ZERO)

    @property
    def supremum(self) -> Fraction | None:
        """A bound for all numbers together; None where there is none, or it is not known. It is that of the first few
        numbers, each by its own plan, or of the others."""
        most = end = _ZERO
        for number in range(self.least, self.least + _FIRST):
            ends = [bound.supremum_from(number) for bound in self.bounds]
            known = [end for end in ends if end is not None]
            if len(known) < len(ends):
                return None
            end = max(known, default=_ZERO)
            if end <= most or self.is_constant:
                break
            alone = self.alone(number)
            most = max(most, self.at(number) if alone is None else min(alone, self.at(number)))
        return max(most, end)

    @property
    def is_constant(self) -> bool:
        """Whether the bound is the same for every number."""
        return len(self.bounds) == 1 and self.bounds[0].constant_value() is not None

    def greatest(self) -> LoopCost:
        """The same without bounds that are seen never to be greater than another one."""
        kept: list[Ratio] = []
        for place, bound in enumerate(self.bounds):
            others = (*kept, *self.bounds[place + 1 :])
            if not any((other - bound).is_nonnegative_from(self.least) for other in others):
                kept.append(bound)
        return replace(self, bounds=tuple(kept))

    def text(self, parameter: str) -> str:
        """The bound as people write it."""
        texts = [bound.text(parameter, "") for bound in self.bounds]
        return texts[0] if len(texts) == 1 else f"max({', '.join(texts)})"


@frozen
class _Place:
    """A head, None before the loop, and whether no input is left to move."""

    head: int | None
    spent: bool


@frozen
class _Step:
    """A path for one extreme move of the inputs, from a place to another one, or to the exit (None)."""

    start: _Place
    path: LoopPath
    move: Mapping[Coordinate, Fraction]
    goal: _Place | None


def loop_cost(paths: LoopPaths, rates: Rates | None, within: Within, least: int, limits: Limits) -> LoopCost | None:
    """What shifts cost at most, for all adjacent real inputs; None where no plan will do. The distance is not HAMMING,
    and all rates are positive from `least` on. Raises LimitReached past the paths that there may be, NotConfirmed."""
    units = _Units.of(paths, rates)
    outlines = [
        outline
        for shared, spent in _shared_moves(paths.inputs, within)
        for outline in _outlines(list(_steps(paths, within, shared, _Place(None, spent))), limits.paths)
    ]

    def bounds(number: int) -> tuple[Ratio, ...] | None:
        """Those of plans that cost least for one number."""
        ratios = [_Plan(units, paths.low).bound(outline, number) for outline in outlines]
        known = tuple(dict.fromkeys(bound for bound in ratios if bound is not None))
        return None if None in ratios else known

    def alone(number: int) -> Fraction | None:
        ratios = bounds(number)
        return None if ratios is None else max((bound.at(number) for bound in ratios), default=_ZERO)

    ratios = bounds(_MANY)
    return None if ratios is None else LoopCost(ratios, least, alone).greatest()


# --- what may happen ------------------------------------------------------------------------------------------


def _steps(paths: LoopPaths, within: Within, shared: Mapping[Coordinate, Fraction], start: _Place) -> Iterator[_Step]:
    """All steps from the start on."""
    pending, seen = [start], {start}
    while pending:
        place = pending.pop()
        for path in paths.from_head(place.head):
            for move, spent in _moves(path, within, place.spent):
                goal = None if path.goal is None else _Place(path.goal, spent)
                yield _Step(place, path, {**shared, **move}, goal)
                if goal is not None and goal not in seen:
                    seen.add(goal)
                    pending.append(goal)


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


def _moves(path: LoopPath, within: Within, spent: bool) -> Iterator[tuple[dict[Coordinate, Fraction], bool]]:
    """Extreme moves of the inputs of one index; by L1 one input at all moves."""
    names = sorted(
        {key for change in (*path.slacks, *path.outputs) for key, _ in change.inputs if isinstance(key, str)}
    )
    ends = (within.radius, -within.radius)
    if within.distance is Distance.LINF:
        for values in product(ends, repeat=len(names)):
            yield dict(zip(names, values, strict=True)), spent
        return
    yield {}, spent
    for name in names if not spent else ():
        for end in ends:
            yield {name: end}, True


def _outlines(steps: Sequence[_Step], most: int) -> Iterator[list[_Step]]:
    """The steps that paths with one outline may have. Raises LimitReached for more than `most` outlines."""
    import networkx as nx

    graph: nx.DiGraph[_Place] = nx.DiGraph()
    graph.add_nodes_from(step.start for step in steps)
    graph.add_edges_from((step.start, step.goal) for step in steps if step.goal is not None)
    component = {
        place: position for position, places in enumerate(nx.strongly_connected_components(graph)) for place in places
    }
    inside: dict[int, list[_Step]] = {}
    leaving: dict[int, list[_Step]] = {}
    for step in steps:
        here = component[step.start]
        stays = step.goal is not None and component[step.goal] == here
        (inside if stays else leaving).setdefault(here, []).append(step)

    def onwards(position: int, taken: tuple[_Step, ...]) -> Iterator[list[_Step]]:
        known = (*taken, *inside.get(position, ()))
        for step in leaving.get(position, ()):
            if step.goal is None:
                yield [*known, step]
            else:
                yield from onwards(component[step.goal], (*known, step))

    stepses = list(islice(onwards(component[steps[0].start], ()), most + 1)) if steps else []
    if len(stepses) > most:
        raise LimitReached("paths", f"the loop's heads are connected by more than {most} paths")
    yield from stepses


# --- what it costs --------------------------------------------------------------------------------------------


def shift_cost(law: Law, rates: Rates | None, rate: Fraction) -> Ratio:
    """The c(m) such that a shift of such noise by t costs at most c(m)·eps·|t|; with `rates` its rate is the one that
    stands for the mark `rate`. Raises Missing where the law has no such cost."""
    if rates is None:
        return Ratio.constant(law.shift_cost(rate))
    assert law.scales, "other rates have no marks"
    # rate·eps·N has one law for every rate.
    return rate_of_mark(rates, rate) * Ratio.constant(law.shift_cost(_ONE))


@frozen
class _Units:
    """Functions of the number of which all costs of shifts are multiples: by law and rate, or mark, the place of such a
    function and the multiple."""

    functions: tuple[Ratio, ...]
    of_drawn: Mapping[tuple[Law, Fraction], tuple[int, Fraction]]

    @staticmethod
    def of(paths: LoopPaths, rates: Rates | None) -> _Units:
        functions: list[Ratio] = []
        places: dict[tuple[Law, Fraction], tuple[int, Fraction]] = {}
        drawn = {each for path in paths.all for each in path.drawn}
        for law, mark in sorted(drawn, key=lambda each: (each[1], each[0].keyword)):
            ratio = shift_cost(law, rates, mark)
            unit = ONE if ratio.constant_value() is not None else ratio
            multiples = [(ratio / function).constant_value() for function in functions]
            place = next(
                (position for position, multiple in enumerate(multiples) if multiple is not None), len(functions)
            )
            if place == len(functions):
                functions.append(unit)
            multiple = (ratio / functions[place]).constant_value()
            assert multiple is not None, "one is a multiple of the other"
            places[law, mark] = place, multiple
        return _Units(tuple(functions), places)


@dataclass(slots=True)
class _Plan:
    """The linear program for a plan; its unknowns are numbered by what they are."""

    units: _Units
    low: int
    unknowns: dict[Hashable, int] = field(default_factory=dict)
    system: list[Halfspace] = field(default_factory=list)

    def bound(self, steps: Sequence[_Step], number: int) -> Ratio | None:
        """The bound of the cost of all runs with these steps, a function of the number that is as small as it can be
        for this one; None where no plan will do. Raises NotConfirmed."""
        units = range(len(self.units.functions))
        for unit in units:
            self._require({self._unknown("slope", unit): _ONE})
        for position, step in enumerate(steps):
            self._add(position, step)
        count = Fraction(number - self.low + 1)
        most = {
            self._unknown(name, unit): factor * self.units.functions[unit].at(number)
            for unit in units
            for name, factor in (("base", _ONE), ("slope", count))
        }
        least = minimum(Halfspace(sorted_terms(most), _ZERO), self.system, self.unknowns.values())
        if not isinstance(least, Least):
            return None
        iterations = Ratio.number() + Ratio.constant(1 - self.low)
        total = Ratio.constant(0)
        for unit, function in enumerate(self.units.functions):
            base, slope = (Ratio.constant(least.point[self._unknown(name, unit)]) for name in ("base", "slope"))
            total = total + function * (base + iterations * slope)
        return total

    def _add(self, position: int, step: _Step) -> None:
        """What one step asks for."""
        alive = [self._unknown("alive", step.start, place) for place in range(step.path.alive)]
        drawn = [self._unknown("drawn", position, place) for place in range(len(step.path.drawn))]
        shifts = (*alive, *drawn)
        for change in step.path.slacks:
            self._require(_shifted(change, shifts), change.by(step.move))
        for change in step.path.outputs:
            self._require_zero(_shifted(change, shifts), change.by(step.move))
        costs: list[dict[int, Fraction]] = [{} for _ in self.units.functions]
        for shift, (law, rate) in zip(drawn, step.path.drawn, strict=True):
            unit, multiple = self.units.of_drawn[law, rate]
            size = shift
            if law.least is not None:
                self._require({shift: _ONE})
            else:
                size = self._unknown("size", shift)
                self._require({size: _ONE, shift: _ONE})
                self._require({size: _ONE, shift: -_ONE})
            costs[unit][size] = costs[unit].get(size, _ZERO) - multiple
        for unit, cost in enumerate(costs):
            if step.start.head is not None:
                cost[self._unknown("potential", unit, step.start)] = -_ONE
            if step.path.is_iteration:
                cost[self._unknown("slope", unit)] = _ONE
            end = self._unknown("base", unit) if step.goal is None else self._unknown("potential", unit, step.goal)
            cost[end] = cost.get(end, _ZERO) + _ONE
            self._require(cost)
        if step.goal is not None:
            for place, noise in enumerate(step.path.carried):
                kept = {self._unknown("alive", step.goal, place): _ONE}
                kept[shifts[noise]] = kept.get(shifts[noise], _ZERO) - _ONE
                self._require_zero(kept)

    def _unknown(self, *what: Hashable) -> int:
        return self.unknowns.setdefault(what, len(self.unknowns))

    def _require(self, terms: Mapping[int, Fraction], constant: Fraction = _ZERO) -> None:
        self.system.append(Halfspace(sorted_terms({key: c for key, c in terms.items() if c}), constant))

    def _require_zero(self, terms: Mapping[int, Fraction], constant: Fraction = _ZERO) -> None:
        self._require(terms, constant)
        self._require({key: -c for key, c in terms.items()}, -constant)


def _shifted(change: Change, shifts: Sequence[int]) -> dict[int, Fraction]:
    """What the change is of the unknown shifts."""
    result: dict[int, Fraction] = {}
    for place, c in change.noises:
        result[shifts[place]] = result.get(shifts[place], _ZERO) + c
    return result
