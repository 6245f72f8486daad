"""Unites paths whose constraint sets together are one constraint set, such as those of a running maximum."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dipc.chain.chain import Leaves
from dipc.chain.constraints import (
    Constraint,
    ConstraintSet,
    Offsets,
    constraint_set,
    contradict_each,
    entails,
    form_of,
    irredundant,
    is_input,
    moved,
    offsets,
    variables_of,
)
from dipc.chain.state import State, nonnegative
from dipc.linear.differences import ORIGIN, Difference, Weight, graph_of, greatest_bounds, turned_graph_of
from dipc.text.ast import CompareOp

# --- Unites paths whose constraint sets together are one constraint set, such as those of a running maximum -----------
#
# A group of states that agree in all but their constraints has regions U = U1 + U2 + ... Let E be a conjunction implied
# by every one of them, so that U lies in E. Let A be a state through which every path to the group leads, with E inside
# the region of A. The leaves of the chain below A partition the region of A (up to measure zero). So if E contradicts
# every leaf that is not in the group, E is U: nothing is approximated, and if the test fails the paths stay apart.
#
# All regions are sets of values of the noises, by their ids, where one-sided noises are not negative. That a leaf may
# have drawn a noise with another mean is no matter: how the values are distributed has no part in the argument, only
# that the members of one group agree on it. Paths differ by comparisons only: where a choice was made on the way, they
# would have weights, which have to agree as well (see `reach`).

_MOST_LEAVES = 2000
_MOST_BOUNDS = 300


class Dominators:
    """The dominators of a chain that grows in topological order: a state is expanded after its last predecessor."""

    def __init__(self, first: int) -> None:
        self._parent: dict[int, int] = {first: first}
        #: A state further up, by which long ways up take a logarithmic number of steps (Myers 1983).
        self._jump: dict[int, int] = {first: first}
        self._depth: dict[int, int] = {first: 0}

    def connect(self, source: int, goal: int) -> None:
        known = self._parent.get(goal)
        parent = source if known is None else self.common(known, source)
        jump = self._jump[parent]
        even = self._depth[parent] - self._depth[jump] == self._depth[jump] - self._depth[self._jump[jump]]
        self._parent[goal] = parent
        self._jump[goal] = self._jump[jump] if even else parent
        self._depth[goal] = self._depth[parent] + 1

    def common(self, left: int, right: int) -> int:
        """The nearest state through which every path to `left` and every path to `right` leads."""
        parent, jump, depth = self._parent, self._jump, self._depth
        if depth[left] < depth[right]:
            left, right = right, left
        while depth[left] > depth[right]:
            left = jump[left] if depth[jump[left]] >= depth[right] else parent[left]
        while left != right:
            # States of one depth jump equally far.
            up = parent if jump[left] == jump[right] else jump
            left, right = up[left], up[right]
        return left


def united(
    group: Sequence[int], leaves: Leaves, states: Mapping[int, State], dominators: Dominators
) -> ConstraintSet | None:
    """The one conjunction that is, up to measure zero, the union of the group's regions; None if none was found."""
    members = [states[node] for node in group]
    known = frozenset[int]().union(*(member.constraints.variables for member in members))
    by: Offsets = {}
    if any(map(is_input, known)):
        by = offsets(item for member in members for item in member.constraints.items)
    hull = _hull([_Region.of(member, by) for member in members])
    if hull is None:
        return None
    hull = moved(hull, by, -1)
    above = group[0]
    for node in group[1:]:
        above = dominators.common(above, node)
    own = set(group)
    others = [states[leaf] for leaf in leaves.below(above) if leaf not in own]
    if len(others) > _MOST_LEAVES:
        return None
    signs = nonnegative(noise for member in members for noise in member.noises)
    facts = [*hull, *members[0].guards.items, *signs.items]
    if not all(entails(facts, item) for item in states[above].constraints.items):
        return None
    there = ((other.constraints, other.guards, nonnegative(other.noises)) for other in others)
    return constraint_set(hull) if contradict_each(facts, there) else None


@dataclass(frozen=True, slots=True)
class _Region:
    """What a state knows in some coordinates; `given` is about inputs, or true of the noises from the start."""

    constraints: list[Constraint]
    given: list[Constraint]

    def differences(self) -> Iterator[Difference]:
        """What is known of differences."""
        return (item.bound for item in (*self.constraints, *self.given) if item.bound is not None)

    @staticmethod
    def of(state: State, by: Offsets) -> _Region:
        signs = moved(nonnegative(state.noises).items, by)
        differences = [item for item in signs if item.bound is not None]
        return _Region(moved(state.constraints.items, by), [*state.guards.items, *differences])


def _hull(members: Sequence[_Region]) -> list[Constraint] | None:
    """A conjunction that every member implies: all common bounds on differences, and what they have word for word.

    It implies whatever constraints all members have in common, without naming what follows from the rest. None when
    it would be too long.
    """
    shared = _shared_bounds(members)
    if shared is None or len(shared) > _MOST_BOUNDS:
        return None
    items = [item for member in members for item in (*member.constraints, *member.given)]
    whole = {variable for item in items if item.whole for variable in variables_of(item.form)}
    bounds_as_constraints = [
        _constraint(upper, lower, bound, upper in whole or lower in whole)
        for (upper, lower), bound in shared.items()
        # Integers and reals never meet but in the origin.
        if ORIGIN in (upper, lower) or (upper in whole) is (lower in whole)
    ]
    # What the members say themselves goes first, in their order: `irredundant` drops from the end.
    asked = set(bounds_as_constraints)
    written: dict[Constraint, Constraint] = {}
    for member in members:
        for item in member.constraints:
            if item in asked:
                written.setdefault(item, item)
    order = {item: position for position, item in enumerate(written)}
    found = [written.get(item, item) for item in bounds_as_constraints]
    found.sort(key=lambda item: order.get(item, len(order)))
    given = dict.fromkeys(item for member in members for item in member.given)
    kept = [*irredundant(found, list(given))]
    others = [item for item in members[0].constraints if item.bound is None]
    kept += [item for item in others if all(item in member.constraints for member in members[1:])]
    return kept


#: By (upper, lower) a bound on their difference from below.
_Bounds = dict[tuple[int, int], int | Fraction]


def _shared_bounds(members: Sequence[_Region]) -> _Bounds | None:
    """The least of the members' greatest bounds on upper - lower, for every pair with a noise on which each has one.

    Members that are found to be empty are left out; None when all are.
    """
    shared: _Bounds | None = None
    for member in members:
        bounds = _all_bounds(member) if shared is None else _bounds(member, shared)
        if bounds is None:
            continue
        if shared is None:
            shared = bounds
        else:
            shared = {pair: min(bound, bounds[pair]) for pair, bound in shared.items() if pair in bounds}
    return shared


def _all_bounds(member: _Region) -> _Bounds | None:
    """The greatest bounds for all pairs with a noise, None when the member's region is empty."""
    graph = graph_of(member.differences())
    bounds: _Bounds = {}
    for lower in graph:
        best = greatest_bounds(graph, lower)
        if best is None:
            return None
        for upper, (bound, _) in best.items():
            if upper != lower and (_is_noise(upper) or _is_noise(lower)):
                bounds[upper, lower] = bound
    return bounds


def _bounds(member: _Region, pairs: Iterable[tuple[int, int]]) -> _Bounds | None:
    """The greatest bounds for these pairs where there are any; None only when the member's region is empty."""
    uppers, lowers = {upper for upper, _ in pairs}, {lower for _, lower in pairs}
    bounds: _Bounds = {}
    # The pairs of a maximum have one upper end, those of a minimum one lower end.
    if len(uppers) < len(lowers):
        graph = turned_graph_of(member.differences())
        for upper in uppers:
            below = greatest_bounds(graph, upper)
            if below is None:
                return None
            bounds |= {(upper, lower): bound for lower, (bound, _) in below.items()}
    else:
        graph = graph_of(member.differences())
        for lower in lowers:
            above = greatest_bounds(graph, lower)
            if above is None:
                return None
            bounds |= {(upper, lower): bound for upper, (bound, _) in above.items()}
    return bounds


def _constraint(upper: int, lower: int, bound: int | Fraction, whole: bool) -> Constraint:
    terms = [(variable, Fraction(sign)) for variable, sign in ((upper, 1), (lower, -1)) if variable != ORIGIN]
    form = form_of(terms, Fraction(-bound))
    return Constraint(form, False, form, CompareOp.GE, whole)


def _is_noise(variable: int) -> bool:
    return variable != ORIGIN and not is_input(variable)


# --- Unites paths of programs without noise whose guards together are one conjunction, such as those of a maximum -----
#
# A group of states that agree in all but their guards has regions U = U1 + U2 + ... in the space of the inputs. Let H
# be a conjunction implied by every one of them, so that U lies in H. Let A be a state through which every path to the
# group leads, with H inside the region of A. The leaves of the chain below A partition the region of A: comparisons of
# inputs branch into exact complements. So if H contradicts every leaf that is not in the group, H is U, boundaries
# included; nothing holds only almost everywhere here. If the test fails the paths stay apart.
#
# A facet of a convex union is a facet of some member, and the members write all their facets down. So H is sought among
# what the members say themselves.

_MOST_GUARD_LEAVES = 4000
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
        if len(others) > _MOST_GUARD_LEAVES:
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
