"""Unites paths whose constraint sets together are one constraint set, such as those of a running maximum.

A group of states that agree in all but their constraints has regions U = U1 + U2 + ... Let E be a conjunction implied
by every one of them, so that U lies in E. Let A be a state through which every path to the group leads, with E inside
the region of A. The leaves of the chain below A partition the region of A (up to measure zero). So if E contradicts
every leaf that is not in the group, E is U: nothing is approximated, and if the test fails the paths stay apart.

All regions are sets of values of the noises, by their ids, where one-sided noises are not negative. That a leaf may
have drawn a noise with another mean is no matter: how the values are distributed has no part in the argument, only that
the members of one group agree on it. Paths differ by comparisons only: where a choice was made on the way, they would
have weights, which have to agree as well (see `reach`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dipc.chain.constraints import Constraint, ConstraintSet, as_difference, constraint_set, form_of, variables_of
from dipc.chain.entailment import contradict, entails
from dipc.chain.irredundant import irredundant
from dipc.chain.nonnegative import nonnegative
from dipc.chain.offsets import Offsets, moved, offsets
from dipc.chain.state import State
from dipc.chain.transitions import Transitions
from dipc.lang.ast import CompareOp
from dipc.linear.differences import ORIGIN, graph_of, greatest_bounds

_MOST_LEAVES = 2000
_MOST_BOUNDS = 300


class Dominators:
    """The dominators of a chain that grows in topological order: a state is expanded after its last predecessor."""

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}
        self._depth: dict[int, int] = {}

    def connect(self, source: int, goal: int) -> None:
        parent = self._parent.get(goal)
        parent = source if parent is None else self.common(parent, source)
        self._parent[goal] = parent
        self._depth[goal] = self._depth.get(parent, 0) + 1

    def common(self, left: int, right: int) -> int:
        """The nearest state through which every path to `left` and every path to `right` leads."""
        while left != right:
            if self._depth.get(left, 0) < self._depth.get(right, 0):
                left, right = right, left
            left = self._parent[left]
        return left


def united(
    group: Sequence[int], transitions: Transitions, states: Mapping[int, State], dominators: Dominators
) -> ConstraintSet | None:
    """The one conjunction that is, up to measure zero, the union of the group's regions; None if none was found."""
    members = [states[node] for node in group]
    by = offsets(item for member in members for item in member.constraints.items)
    hull = _hull([_Region.of(member, by) for member in members])
    if hull is None:
        return None
    hull = moved(hull, by, -1)
    above = group[0]
    for node in group[1:]:
        above = dominators.common(above, node)
    own = set(group)
    leaves = [leaf for leaf in leaves_below(transitions, above) if leaf not in own]
    if len(leaves) > _MOST_LEAVES:
        return None
    signs = nonnegative(noise for member in members for noise in member.noises)
    facts = [*hull, *members[0].guards.items, *signs.items]
    if not all(entails(facts, item) for item in states[above].constraints.items):
        return None
    for leaf in leaves:
        other = states[leaf]
        facts_there = [*other.constraints.items, *other.guards.items, *nonnegative(other.noises).items]
        if not contradict([*facts, *facts_there]):
            return None
    return constraint_set(hull)


@dataclass(frozen=True, slots=True)
class _Region:
    """What a state knows in some coordinates; `given` is about inputs, or true of the noises from the start."""

    constraints: list[Constraint]
    given: list[Constraint]

    @staticmethod
    def of(state: State, by: Offsets) -> _Region:
        signs = moved(nonnegative(state.noises).items, by)
        differences = [item for item in signs if as_difference(item) is not None]
        return _Region(moved(state.constraints.items, by), [*state.guards.items, *differences])


def _hull(members: Sequence[_Region]) -> list[Constraint] | None:
    """A conjunction that every member implies: all common bounds on differences, and what they have word for word.

    It implies whatever constraints all members have in common, without naming what follows from the rest. None when
    it would be too long.
    """
    shared: dict[tuple[int, int], Fraction] | None = None
    for member in members:
        bounds = _entailed(member)
        if bounds is None:
            continue
        if shared is None:
            shared = bounds
        else:
            shared = {pair: min(bound, bounds[pair]) for pair, bound in shared.items() if pair in bounds}
    if shared is None or len(shared) > _MOST_BOUNDS:
        return None
    written: dict[Constraint, Constraint] = {}
    whole: set[int] = set()
    for member in members:
        for item in (*member.constraints, *member.given):
            if item.whole:
                whole.update(variables_of(item.form))
        for item in member.constraints:
            written.setdefault(item, item)
    bounds_as_constraints = [
        _constraint(upper, lower, bound, upper in whole or lower in whole)
        for (upper, lower), bound in shared.items()
        # Integers and reals never meet but in the origin.
        if ORIGIN in (upper, lower) or (upper in whole) is (lower in whole)
    ]
    # What the members say themselves goes first, in their order: `irredundant` drops from the end.
    order = {item: position for position, item in enumerate(written)}
    found = [written.get(item, item) for item in bounds_as_constraints]
    found.sort(key=lambda item: order.get(item, len(order)))
    given = dict.fromkeys(item for member in members for item in member.given)
    kept = [*irredundant(found, list(given))]
    everywhere = set(members[0].constraints).intersection(*(member.constraints for member in members[1:]))
    kept += [item for item in members[0].constraints if item in everywhere and as_difference(item) is None]
    return kept


def _entailed(member: _Region) -> dict[tuple[int, int], Fraction] | None:
    """The greatest bound on upper - lower for every pair with a noise, None when the member's region is empty."""
    items = (*member.constraints, *member.given)
    graph = graph_of(difference for item in items if (difference := as_difference(item)) is not None)
    bounds: dict[tuple[int, int], Fraction] = {}
    for lower in graph:
        best = greatest_bounds(graph, lower)
        if best is None:
            return None
        for upper, (bound, _) in best.items():
            if upper != lower and (_is_noise(upper) or _is_noise(lower)):
                bounds[upper, lower] = bound
    return bounds


def _constraint(upper: int, lower: int, bound: Fraction, whole: bool) -> Constraint:
    terms = [(variable, Fraction(sign)) for variable, sign in ((upper, 1), (lower, -1)) if variable != ORIGIN]
    form = form_of(terms, -bound)
    return Constraint(form, False, form, CompareOp.GE, whole)


def _is_noise(variable: int) -> bool:
    return variable >= 0 and variable % 2 == 0


def leaves_below(transitions: Transitions, above: int) -> list[int]:
    """The states without successors that can be reached from `above`."""
    found: list[int] = []
    seen = {above}
    pending = [above]
    while pending:
        node = pending.pop()
        successors = transitions.successors(node)
        if not successors:
            found.append(node)
        for goal in successors:
            if goal not in seen:
                seen.add(goal)
                pending.append(goal)
    return found
