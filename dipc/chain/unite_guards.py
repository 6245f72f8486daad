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

from collections.abc import Mapping, Sequence

from dipc.chain.constraints import Constraint, ConstraintSet, constraint_set
from dipc.chain.entailment import contradict_each, entails
from dipc.chain.irredundant import irredundant
from dipc.chain.leaves import Leaves
from dipc.chain.state import State
from dipc.chain.unite import Dominators
from dipc.linear.differences import Weight, greatest_bounds, turned_graph_of

_MOST_LEAVES = 4000
_MOST_CANDIDATES = 20_000
#: Groups that are not one conjunction are tried pair by pair up to this size.
_MOST_PAIRED = 8


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

    def __init__(self, leaves: Leaves, states: Mapping[int, State], dominators: Dominators) -> None:
        self._leaves = leaves
        self._states = states
        self._dominators = dominators

    def united(self, group: Sequence[int]) -> list[tuple[list[int], ConstraintSet]]:
        """Disjoint parts of the group, each with the one conjunction that is exactly the union of its regions.

        States that are in no part stay as they are. Every part has at least two members.
        """
        members = {node: _Member(self._states[node].guards) for node in group}
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
        others = [self._states[leaf].guards for leaf in self._leaves.below(above) if leaf not in own]
        if len(others) > _MOST_LEAVES:
            return None
        regions = [members[node] for node in group]
        # Of the i² constraints of a running maximum of i, these are the few to ask each region about.
        known = [region.uppers for region in regions if region.uppers is not None]
        uppers = set.intersection(*known) if known else None
        candidates = dict.fromkeys(
            item
            for node in group
            for item in self._states[node].guards.items
            if uppers is None or item.bound is None or item.bound[0] in uppers
        )
        if len(candidates) > _MOST_CANDIDATES:
            return None
        hull = irredundant([item for item in candidates if all(region.implies(item) for region in regions)])
        if not all(entails(hull, item) for item in self._states[above].guards.items):
            return None
        return constraint_set(hull) if contradict_each(hull, ((other,) for other in others)) else None


class _Member:
    """The region of one state, which is not empty, ready to be asked what it implies."""

    def __init__(self, guards: ConstraintSet) -> None:
        self._guards = guards
        differences = [item.bound for item in guards.items if item.bound is not None]
        self._downwards = turned_graph_of(differences)
        self._below: dict[int, dict[int, Weight] | None] = {}
        #: The x for which x - y is bounded from below for some y, if that is exact: all guards are differences.
        self.uppers: set[int] | None = None
        if len(differences) == len(guards.items):
            self.uppers = {upper for upper, below in self._downwards.items() if below}

    def implies(self, item: Constraint) -> bool:
        """Whether every point of the region satisfies the constraint; exact where all are differences."""
        if item.bound is None or self.uppers is None:
            return item in self._guards.keys or entails(self._guards.items, item)
        upper, lower, enough = item.bound
        if upper not in self._below:
            self._below[upper] = greatest_bounds(self._downwards, upper)
        best = self._below[upper]
        return best is None or (lower in best and best[lower] >= enough)
