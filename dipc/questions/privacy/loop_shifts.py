"""What a shift of the noises costs in runs of a loop, for every number of queries.

A uniform program (`questions.every_number.uniform`) runs through finitely many heads of its loop, up to the names of
noises. A path of it is a sequence of steps from head to head, each with inequalities between forms of the noises alive
at the head, of those drawn in the step, and of the inputs of its index. A constant shift of all noises of a path that
satisfies what a move of the inputs asks for maps the noises on this path into those on it at the other input, at a cost
of Σ c·|shift| (see `alignment`), with c = rate for Laplace noise (`Law.shift_cost`).

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

What is known of the noises at a head is forgotten: that only adds paths.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice, product

from dipc.algebra.limits import LimitReached, Limits
from dipc.linear.halfspace import Halfspace, sorted_terms
from dipc.linear.program import Least, minimum
from dipc.noise.law import Law
from dipc.questions.every_number.in_number import ONE, Ratio
from dipc.questions.every_number.normal_form import Rates, rate_of_mark
from dipc.questions.privacy.adjacency import Distance, Within
from dipc.questions.privacy.loop_paths import Change, Coordinate, LoopPaths, Way

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The number of queries for which plans cost least, and how many of the first may have better ones.
_MANY, _FIRST = 1_000, 20


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class _Place:
    """A head, None before the loop, and whether no input is left to move."""

    head: int | None
    spent: bool


@dataclass(frozen=True, slots=True)
class _Step:
    """A way for one extreme move of the inputs, from a place to another one, or to the exit (None)."""

    start: _Place
    way: Way
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
        found = [_Plan(units, paths.low).bound(outline, number) for outline in outlines]
        known = tuple(dict.fromkeys(bound for bound in found if bound is not None))
        return None if None in found else known

    def alone(number: int) -> Fraction | None:
        found = bounds(number)
        return None if found is None else max((bound.at(number) for bound in found), default=_ZERO)

    found = bounds(_MANY)
    return None if found is None else LoopCost(found, least, alone).greatest()


# --- what may happen ------------------------------------------------------------------------------------------


def _steps(paths: LoopPaths, within: Within, shared: Mapping[Coordinate, Fraction], start: _Place) -> Iterator[_Step]:
    """All steps from the start on."""
    pending, seen = [start], {start}
    while pending:
        place = pending.pop()
        for way in paths.from_head(place.head):
            for move, spent in _moves(way, within, place.spent):
                goal = None if way.goal is None else _Place(way.goal, spent)
                yield _Step(place, way, {**shared, **move}, goal)
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


def _outlines(steps: Sequence[_Step], most: int) -> Iterator[list[_Step]]:
    """The steps that paths with one outline may have. Raises LimitReached for more than `most` outlines."""
    import networkx as nx

    graph: nx.DiGraph[_Place] = nx.DiGraph()
    graph.add_nodes_from(step.start for step in steps)
    graph.add_edges_from((step.start, step.goal) for step in steps if step.goal is not None)
    component = {place: at for at, places in enumerate(nx.strongly_connected_components(graph)) for place in places}
    inside: dict[int, list[_Step]] = {}
    leaving: dict[int, list[_Step]] = {}
    for step in steps:
        here = component[step.start]
        stays = step.goal is not None and component[step.goal] == here
        (inside if stays else leaving).setdefault(here, []).append(step)

    def onwards(at: int, taken: tuple[_Step, ...]) -> Iterator[list[_Step]]:
        known = (*taken, *inside.get(at, ()))
        for step in leaving.get(at, ()):
            if step.goal is None:
                yield [*known, step]
            else:
                yield from onwards(component[step.goal], (*known, step))

    found = list(islice(onwards(component[steps[0].start], ()), most + 1)) if steps else []
    if len(found) > most:
        raise LimitReached("paths", f"the loop's heads are connected by more than {most} paths")
    yield from found


# --- what it costs --------------------------------------------------------------------------------------------


def shift_cost(law: Law, rates: Rates | None, rate: Fraction) -> Ratio:
    """The c(m) such that a shift of such noise by t costs at most c(m)·eps·|t|; with `rates` its rate is the one that
    stands for the mark `rate`. Raises Missing where the law has no such cost."""
    if rates is None:
        return Ratio.constant(law.shift_cost(rate))
    assert law.scales, "other rates have no marks"
    # rate·eps·N has one law for every rate.
    return rate_of_mark(rates, rate) * Ratio.constant(law.shift_cost(_ONE))


@dataclass(frozen=True, slots=True)
class _Units:
    """Functions of the number of which all costs of shifts are multiples: by law and rate, or mark, the place of such a
    function and the multiple."""

    functions: tuple[Ratio, ...]
    of_drawn: Mapping[tuple[Law, Fraction], tuple[int, Fraction]]

    @staticmethod
    def of(paths: LoopPaths, rates: Rates | None) -> _Units:
        functions: list[Ratio] = []
        places: dict[tuple[Law, Fraction], tuple[int, Fraction]] = {}
        drawn = {each for way in paths.all for each in way.drawn}
        for law, mark in sorted(drawn, key=lambda each: (each[1], each[0].keyword)):
            ratio = shift_cost(law, rates, mark)
            unit = ONE if ratio.constant_value() is not None else ratio
            multiples = [(ratio / function).constant_value() for function in functions]
            place = next((at for at, multiple in enumerate(multiples) if multiple is not None), len(functions))
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
        for at, step in enumerate(steps):
            self._add(at, step)
        count = Fraction(number - self.low + 1)
        most = {
            self._unknown(name, unit): factor * self.units.functions[unit].at(number)
            for unit in units
            for name, factor in (("base", _ONE), ("slope", count))
        }
        found = minimum(Halfspace(sorted_terms(most), _ZERO), self.system, self.unknowns.values())
        if not isinstance(found, Least):
            return None
        iterations = Ratio.number() + Ratio.constant(1 - self.low)
        total = Ratio.constant(0)
        for unit, function in enumerate(self.units.functions):
            base, slope = (Ratio.constant(found.point[self._unknown(name, unit)]) for name in ("base", "slope"))
            total = total + function * (base + iterations * slope)
        return total

    def _add(self, at: int, step: _Step) -> None:
        """What one step asks for."""
        alive = [self._unknown("alive", step.start, place) for place in range(step.way.alive)]
        drawn = [self._unknown("drawn", at, place) for place in range(len(step.way.drawn))]
        shifts = (*alive, *drawn)
        for change in step.way.slacks:
            self._require(_shifted(change, shifts), change.by(step.move))
        for change in step.way.outputs:
            self._require_zero(_shifted(change, shifts), change.by(step.move))
        costs: list[dict[int, Fraction]] = [{} for _ in self.units.functions]
        for shift, (law, rate) in zip(drawn, step.way.drawn, strict=True):
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
            if step.way.is_iteration:
                cost[self._unknown("slope", unit)] = _ONE
            end = self._unknown("base", unit) if step.goal is None else self._unknown("potential", unit, step.goal)
            cost[end] = cost.get(end, _ZERO) + _ONE
            self._require(cost)
        if step.goal is not None:
            for place, noise in enumerate(step.way.carried):
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
    found: dict[int, Fraction] = {}
    for place, c in change.noises:
        found[shifts[place]] = found.get(shifts[place], _ZERO) + c
    return found
