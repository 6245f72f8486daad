"""Unite paths whose constraint sets together are one constraint set, such as those of a running maximum.

A group of states that agree in all but their constraints has regions U = U1 + U2 + ... Let E be a conjunction implied
by every one of them, so that U lies in E. Let A be a state through which every path to the group leads, with E inside
the region of A. The leaves of the chain below A partition the region of A (up to measure zero). So if E contradicts
every leaf that is not in the group, E is U: nothing is approximated, and if the test fails the paths stay apart.

Regions are sets of values of the noises, by their ids, where one-sided noises are not negative. A leaf may have drawn
a noise with another mean: the argument does not depend on how the values are distributed. Only the members of a group
must agree on the distributions. The program makes no choices, because paths would then have weights, which would have
to agree as well (see `dipc/program/exit_weights.py`).

In a program without noise, states are united that agree in all but their guards, and regions are sets of inputs.
Comparisons of inputs branch into exact complements, so that E is U with its boundary; nothing holds only almost
everywhere.

A facet of a convex union is a facet of some member, and each facet of a member is one of its constraints. So E is
sought among the constraints of the members.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import reduce

from dipc.algebra.graph import Dominators
from dipc.chain.chain import Transitions
from dipc.chain.flow import Flow
from dipc.chain.state import (
    Constraint,
    ConstraintSet,
    Offsets,
    State,
    change_coordinates,
    constraint_set,
    contradict_each,
    entails,
    irredundant,
    is_input,
    offsets,
)
from dipc.linear.halfspace import Graph, Weight, greatest_bounds

#: The leaves below this many states are kept at once.
_MOST_KEPT = 100


class Leaves:
    """The leaves of a growing chain: the states without successors, the only states that may still get successors.

    The leaves that a state can reach are remembered, and a later search from this state begins at them. So if every
    path passes through one state, the chain below this state is not searched again for each group of paths.
    """

    def __init__(self, transitions: Transitions) -> None:
        self._transitions = transitions
        self._kept: dict[int, list[int]] = {}
        self._instead: dict[int, int] = {}

    def replace(self, leaf: int, whole: int) -> None:
        """Remember that the state `whole` replaces the state `leaf`, which the chain no longer has."""
        self._instead[leaf] = whole

    def below(self, above: int) -> list[int]:
        """Return the leaves that the state `above` can reach."""
        result: list[int] = []
        seen: set[int] = set()
        pending = self._kept.get(above, [above])
        while pending:
            further: list[int] = []
            for node in map(self._current, pending):
                if node in seen:
                    continue
                seen.add(node)
                successors = self._transitions.successors(node)
                if successors:
                    further += successors
                else:
                    result.append(node)
            pending = further
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        self._kept[above] = result
        return result

    def _current(self, node: int) -> int:
        while node in self._instead:
            node = self._instead[node]
        return node


_MOST_LEAVES, _MOST_CANDIDATES = 4000, 20_000
#: Groups without noise that are not one conjunction are tried pair by pair up to this size.
_MOST_PAIRED = 8


#: The indices of x and of y in a `Difference`, which is a bound x - y >= w.
_UPPER, _LOWER = 0, 1

#: The number of last constraints by which a row is found again, and the most constraints by which rows are found.
_LAST, _MOST_KEYS = 4, 16_000


class _Row:
    """A conjunction of constraints; those of the form x - y >= w are also edges of two graphs.

    Here x and y are two variables, or a variable and 0. The edge leads from x to y in `graphs[0]`, and from y to x in
    `graphs[1]`. A row can quickly be changed into a conjunction that begins with the same constraints.
    """

    def __init__(self) -> None:
        self.items: list[Constraint] = []
        #: The number of constraints that are not bounds x - y >= w.
        self.others = 0
        #: The bounds x - y >= w as edges from x to y, and as edges from y to x; and the constraints by x, and by y.
        self.graphs: tuple[Graph, Graph] = (defaultdict(list), defaultdict(list))
        self._by_end: tuple[dict[int, list[Constraint]], ...] = (defaultdict(list), defaultdict(list))
        self.keys: list[int] = []

    def become(self, items: Sequence[Constraint]) -> None:
        pairs = enumerate(zip(self.items, items, strict=False))
        same = next((k for k, (one, other) in pairs if one is not other), min(len(self.items), len(items)))
        while len(self.items) > same:
            self._drop()
        for item in items[same:]:
            self._add(item)

    def _add(self, item: Constraint) -> None:
        self.items.append(item)
        bound = item.bound
        if bound is None:
            self.others += 1
            return
        upper, lower, weight = bound
        self.graphs[_UPPER][upper].append((lower, weight))
        self.graphs[_LOWER][lower].append((upper, weight))
        self._by_end[_UPPER][upper].append(item)
        self._by_end[_LOWER][lower].append(item)

    def _drop(self) -> None:
        bound = self.items.pop().bound
        if bound is None:
            self.others -= 1
            return
        for side, end in enumerate(bound[:2]):
            for by_end in (self.graphs[side], self._by_end[side]):
                by_end[end].pop()
                if not by_end[end]:
                    del by_end[end]

    def differences(self, side: int, ends: Set[int]) -> Sequence[Constraint]:
        """Return, in their order, the constraints x - y >= w whose x (`side` 0) or y (`side` 1) is in `ends`.

        A variable in `ends` is given by its number in `Constraint.bound`.
        """
        if len(ends) == 1:
            (end,) = ends
            return self._by_end[side].get(end, ())
        return [item for item in self.items if (bound := item.bound) is not None and bound[side] in ends]


class Rows:
    """A pool of conjunctions of constraints that no state needs any more; new states reuse them.

    Each conjunction is a `_Row` object, which is quickly changed into one that begins with the same constraints.
    """

    def __init__(self) -> None:
        self._by_key: dict[int, _Row] = {}

    def take(self, items: Sequence[Constraint], more: Sequence[Constraint] = ()) -> _Row:
        """Return a row of the constraints `items` and `more`, for use by one state until `put_back`."""
        keys = [id(item) for item in items[: -_LAST - 1 : -1]]
        row = next((self._by_key[key] for key in keys if key in self._by_key), None) or _Row()
        for key in row.keys:
            self._by_key.pop(key, None)
        row.become([*items, *more])
        row.keys = keys
        return row

    def put_back(self, rows: Iterable[_Row]) -> None:
        """Make `rows`, which no state needs any more, available to later states with similar constraints."""
        if len(self._by_key) > _MOST_KEYS:
            self._by_key.clear()
        for row in rows:
            self._by_key.update(dict.fromkeys(row.keys, row))


class Uniter:
    """A search for groups of states in a growing chain that a single state can replace.

    The states of a group agree in everything but their constraints on noises, or, in a program without noise, in
    everything but their guards. One state replaces the group if a single conjunction is equivalent to the disjunction
    of these constraints, or of these guards.
    """

    def __init__(
        self, flow: Flow, transitions: Transitions, states: Mapping[int, State], dominators: Dominators
    ) -> None:
        self.leaves = Leaves(transitions)
        self._flow = flow
        self._states = states
        self._dominators = dominators
        self._rows = Rows()

    def united(self, group: Sequence[int]) -> list[tuple[list[int], ConstraintSet]]:
        """Return disjoint subsets of the states `group`, each with a conjunction that is the union of its members.

        The conjunction is equivalent to the disjunction of the members' constraints, up to measure zero, or of their
        guards. Every subset has at least two states. States in none of the subsets cannot be united.
        """
        members = [self._states[node] for node in group]
        by: Offsets = {}
        if any(is_input(variable) for member in members for variable in member.constraints.variables):
            by = offsets(item for member in members for item in member.constraints.items)
        regions = {node: self._region(self._states[node], by) for node in group}
        merged = self._merged(list(group), regions, by)
        self._rows.put_back(region.row for region in regions.values())
        return merged

    def _merged(
        self, group: list[int], regions: Mapping[int, _Region], by: Offsets
    ) -> list[tuple[list[int], ConstraintSet]]:
        whole = self._union(group, regions, by)
        if whole is not None:
            return [(group, whole)]
        if self._flow.draws or not 2 < len(group) <= _MOST_PAIRED:
            return []
        merged: list[tuple[list[int], ConstraintSet]] = []
        rest = list(group)
        while rest:
            first = rest.pop(0)
            for other in rest:
                both = self._union([first, other], regions, by)
                if both is not None:
                    rest.remove(other)
                    merged.append(([first, other], both))
                    break
        return merged

    def _region(self, state: State, by: Offsets) -> _Region:
        own, *rest = self._conjunctions(state)
        signs = [item for known in rest for item in change_coordinates(known.items, by)]
        given = [item for item in signs if item.bound is not None or not item.form.noises]
        items = change_coordinates(own.items, by) if by else own.items
        return _Region(items, given, self._rows.take(items, given))

    def _conjunctions(self, state: State) -> tuple[ConstraintSet, ...]:
        """Return the conjunction by which `state` may differ from states of its group, and what else it implies."""
        if not self._flow.draws:
            return (state.guards,)
        return state.constraints, state.guards, self._flow.supports(state.noises)

    def _union(self, group: list[int], regions: Mapping[int, _Region], by: Offsets) -> ConstraintSet | None:
        """Return a conjunction that is equivalent to the disjunction for all states of `group`; None if none is found.

        `regions` has the region of each state, with noises moved by the offsets `by`.
        """
        above = reduce(self._dominators.common, group)
        merged = set(group)
        others = [self._states[leaf] for leaf in self.leaves.below(above) if leaf not in merged]
        hull = None if len(others) > _MOST_LEAVES else _hull([regions[node] for node in group])
        if hull is None:
            return None
        hull = change_coordinates(hull, by, -1)
        rest = [known.items for node in group for known in self._conjunctions(self._states[node])[1:]]
        facts = [*hull, *dict.fromkeys(item for items in rest for item in items)]
        if not all(entails(facts, item) for item in self._conjunctions(self._states[above])[0].items):
            return None
        return constraint_set(hull) if contradict_each(facts, map(self._conjunctions, others)) else None


class _Region:
    """The values of noises, or the inputs, that one state admits; `implied` tests what follows from its constraints.

    In the constraints, each noise is replaced by its sum with an affine form of inputs, the same for all states of a
    group. `offsets` computes these forms. `given` are the constraints that hold before any comparison: the guards of
    the state, and the ranges of its noises. `row` has both kinds.
    """

    def __init__(self, items: Sequence[Constraint], given: Sequence[Constraint], row: _Row) -> None:
        self.given = given
        self.row = row
        self._items = items
        self._best: dict[int, dict[int, Weight] | None] = {}
        #: The x and the y of all constraints x - y >= w; None if some constraint is not of this kind.
        self.ends = None if row.others else (set(row.graphs[_UPPER]), set(row.graphs[_LOWER]))

    def items_from(self, side: int, ends: set[int] | None) -> Iterable[Constraint]:
        if ends is None:
            return self._items
        if not self.row.others and not self.given:
            return self.row.differences(side, ends)
        return [item for item in self._items if (bound := item.bound) is None or bound[side] in ends]

    def implied(self, side: int, items: Iterable[Constraint]) -> list[Constraint]:
        """Return those of `items` that the constraints of the state imply.

        All of them are found if the constraints and `items` are bounds on differences of two variables; otherwise some
        may be missed. Bounds are searched from their x (`side` 0) or their y (`side` 1), the same in every call.
        """
        result: list[Constraint] = []
        for item in items:
            bound = item.bound
            if bound is None or self.ends is None:
                if item in self._items or entails([*self.given, *self._items], item):
                    result.append(item)
                continue
            end, other = bound[:2] if side == _UPPER else bound[1::-1]
            if end not in self._best:
                self._best[end] = greatest_bounds(self.row.graphs[side], end)
            best = self._best[end]
            if best is None or (other in best and best[other] >= bound[2]):
                result.append(item)
        return result


def _hull(regions: Sequence[_Region]) -> list[Constraint] | None:
    """Return a conjunction that each of `regions` implies, without redundant constraints; None if it is too long."""
    # Of the i² constraints of a running maximum of i, these are the few to ask each region about.
    known = [region.ends for region in regions if region.ends is not None]
    shared = [set.intersection(*[ends[side] for ends in known]) if known else None for side in (_UPPER, _LOWER)]
    side = min((_UPPER, _LOWER), key=lambda side: len(shared[side] or ()))
    candidates = dict[Constraint, None]()
    for region in regions:
        candidates.update(dict.fromkeys(region.items_from(side, shared[side])))
    if len(candidates) > _MOST_CANDIDATES:
        return None
    common = list(candidates)
    for region in regions:
        common = region.implied(side, common)
    return [*irredundant(common, list(dict.fromkeys(item for region in regions for item in region.given)))]
