"""Unites paths of programs without noise whose guards together are one conjunction, such as those of a maximum.

A group of states that agree in all but their guards has regions U = U1 + U2 + ... in the space of the inputs. Let H be
a conjunction implied by every one of them, so that U lies in H. Let A be a state through which every path to the group
leads, with H inside the region of A. The leaves of the chain below A partition the region of A: comparisons of inputs
branch into exact complements. So if H contradicts every leaf that is not in the group, H is U, boundaries included;
nothing holds only almost everywhere here. If the test fails the paths stay apart.

A facet of a convex union is a facet of some member, and the members write all their facets down. So H is sought among
what the members say themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from dipc.chain.constraints import Constraint, ConstraintSet, as_difference, constraint_set, negation
from dipc.chain.entailment import contradict, entails
from dipc.chain.irredundant import irredundant
from dipc.chain.state import State
from dipc.chain.transitions import Transitions
from dipc.chain.unite import Dominators, leaves_below
from dipc.linear.differences import ORIGIN, Difference, Graph, Weight, graph_of, greatest_bounds

_MOST_LEAVES = 4000
_MOST_CANDIDATES = 20_000
#: Groups that are not one conjunction are tried pair by pair up to this size.
_MOST_PAIRED = 8

_START = ORIGIN - 1
_ZERO = Fraction(0)
_NOWHERE: Weight = (_ZERO, 0)


def alike_in_values(batch: Sequence[int], states: Mapping[int, State]) -> list[list[int]]:
    """The batch in groups that agree in all but their guards; for states without noises."""
    groups: dict[int, list[list[int]]] = {}
    for node in batch:
        state = states[node]
        alike = groups.setdefault(state.fingerprint ^ state.guards.fingerprint, [])
        for group in alike:
            if states[group[0]].values == state.values:
                group.append(node)
                break
        else:
            alike.append([node])
    return [group for alike in groups.values() for group in alike]


class GuardUniter:
    """Unites the states of one chain as it grows."""

    def __init__(self, transitions: Transitions, states: Mapping[int, State], dominators: Dominators) -> None:
        self._transitions = transitions
        self._states = states
        self._dominators = dominators
        self._numbers = _Numbers()

    def united(self, group: Sequence[int]) -> list[tuple[list[int], ConstraintSet]]:
        """Disjoint parts of the group, each with the one conjunction that is exactly the union of its regions.

        States that are in no part stay as they are. Every part has at least two members.
        """
        members = {node: _Member(self._states[node].guards.items, self._numbers) for node in group}
        whole = self._union(list(group), members)
        if whole is not None:
            return [(list(group), whole)]
        if not 2 < len(group) <= _MOST_PAIRED:
            return []
        parts: list[tuple[list[int], ConstraintSet]] = []
        rest = list(group)
        while rest:
            first = rest.pop(0)
            for other in rest:
                both = self._union([first, other], members)
                if both is not None:
                    rest.remove(other)
                    parts.append(([first, other], both))
                    break
        return parts

    def _union(self, group: list[int], members: Mapping[int, _Member]) -> ConstraintSet | None:
        above = group[0]
        for node in group[1:]:
            above = self._dominators.common(above, node)
        own = set(group)
        leaves = [leaf for leaf in leaves_below(self._transitions, above) if leaf not in own]
        if len(leaves) > _MOST_LEAVES:
            return None
        candidates = dict.fromkeys(number for node in group for number in members[node].numbers)
        if len(candidates) > _MOST_CANDIDATES:
            return None
        regions = [members[node] for node in group]
        common = [number for number in candidates if all(region.implies(number) for region in regions)]
        hull = irredundant([self._numbers.items[number] for number in common])
        if not all(entails(hull, item) for item in self._states[above].guards.items):
            return None
        opposites = {self._numbers.of(negation(item)) for item in hull}
        for leaf in leaves:
            there = self._states[leaf].guards.items
            if opposites.isdisjoint(map(self._numbers.of, there)) and not contradict([*hull, *there]):
                return None
        return constraint_set(hull)


class _Numbers:
    """Numbers for constraints, equal ones having the same: hashing one is expensive, and each is looked up many
    times."""

    def __init__(self) -> None:
        self.items: list[Constraint] = []
        self.differences: list[Difference | None] = []
        self._by_value: dict[Constraint, int] = {}
        #: With the object itself: an identity means something only as long as its object lives.
        self._by_identity: dict[int, tuple[Constraint, int]] = {}

    def of(self, item: Constraint) -> int:
        met = self._by_identity.get(id(item))
        if met is not None:
            return met[1]
        number = self._by_value.setdefault(item, len(self.items))
        if number == len(self.items):
            self.items.append(item)
            found = as_difference(item)
            self.differences.append(found if found is None or found[2][0] else (*found[:2], (_ZERO, found[2][1])))
        self._by_identity[id(item)] = (item, number)
        return number


class _Member:
    """The region of one state, ready to be asked what it implies."""

    def __init__(self, items: Sequence[Constraint], numbers: _Numbers) -> None:
        self._items = items
        self._all = numbers
        self.numbers = dict.fromkeys(map(numbers.of, items))
        differences = [numbers.differences[number] for number in self.numbers]
        known = [difference for difference in differences if difference is not None]
        self._only_differences = len(known) == len(differences)
        self._downwards = _turned(known)
        self._below: dict[int, dict[int, Weight] | None] = {}
        self._point = _point(known)

    def implies(self, number: int) -> bool:
        """Whether every point of the region satisfies the constraint; exact where all are differences."""
        if number in self.numbers:
            return True
        asked = self._all.differences[number]
        if asked is None or not self._only_differences:
            return entails(self._items, self._all.items[number])
        if self._point is None:
            return True
        upper, lower, enough = asked
        high, low = self._point.get(upper), self._point.get(lower)
        # A point of the region that does not satisfy it is found much faster than a proof that there is none.
        if high is None or low is None:
            return False
        # Most are the same 0, which need not be subtracted from itself.
        apart = _ZERO if high[0] is low[0] else high[0] - low[0]
        if (apart, high[1] - low[1]) < enough:
            return False
        if upper not in self._below:
            self._below[upper] = greatest_bounds(self._downwards, upper)
        best = self._below[upper]
        return best is None or (lower in best and best[lower] >= enough)


def _turned(differences: Iterable[Difference]) -> Graph:
    """The graph of the differences by their upper ends: from x it leads to all y with a bound on x - y."""
    return graph_of((lower, upper, weight) for upper, lower, weight in differences)


def _point(differences: Sequence[Difference]) -> dict[int, Weight] | None:
    """A solution: by variable w + s·δ for an infinitesimal δ > 0, as (w, s). None if there is none."""
    graph = graph_of(differences)
    graph[_START] = [(variable, _NOWHERE) for variable in graph]
    return greatest_bounds(graph, _START)
