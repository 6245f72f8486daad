"""The total weight of all ways to each state: the components of the chain one after the other, cycles by elimination.

Every weight is positive for every eps > 0, and from each component some step leads out, so that a component is left
with probability 1, and no state of it is returned to with probability 1 when others of it are taken out: every division
is by a function that is positive for every eps > 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dipc.verifier.budget import Budget
from dipc.verifier.program import reduced
from dipc.verifier.rejection import NotDerived
from dipc.verifier.ring import ONE, Closed, Ring, add_closed, divided, multiply, multiply_closed, subtract

_STEP = "visits"

#: The largest component that is solved.
MOST_STATES = 2_000

_ONE: Closed = (ONE, ONE)
_NONE: Closed = ({}, ONE)


def visits(steps: Sequence[Sequence[tuple[int, Closed]]], wanted: Iterable[int], budget: Budget) -> dict[int, Closed]:
    """The total weights of the ways from state 0 to the `wanted` states, which no step leads out of.

    Raises NotDerived where a component is never left, or takes too much work.
    """
    goals = set(wanted)
    useful = _leading_to(steps, goals)
    weights: dict[int, Closed] = {0: _ONE}
    for component in _components(steps, budget):
        inside = set(component)
        if len(component) == 1 and not any(goal in inside for goal, _ in steps[component[0]]):
            here = component[0]
            if here not in useful or here not in weights:
                continue
            weight = weights[here] if here in goals else weights.pop(here)
            for goal, step in steps[here]:
                if goal in useful:
                    weights[goal] = _plus(weights.get(goal, _NONE), _times(weight, step, budget), budget)
            continue
        if not any(goal not in inside for here in component for goal, _ in steps[here]):
            raise NotDerived("the program may not end: a loop is never left")
        arriving = {here: weights.pop(here) for here in component if here in weights}
        if arriving and inside & useful:
            for goal, weight in _through(steps, component, arriving, useful, budget).items():
                weights[goal] = _plus(weights.get(goal, _NONE), weight, budget)
    return {goal: weights[goal] for goal in goals if goal in weights}


def _leading_to(steps: Sequence[Sequence[tuple[int, Closed]]], goals: set[int]) -> set[int]:
    before: list[list[int]] = [[] for _ in steps]
    for here, row in enumerate(steps):
        for goal, _ in row:
            before[goal].append(here)
    found = set(goals)
    waiting = list(goals)
    for here in waiting:
        for there in before[here]:
            if there not in found:
                found.add(there)
                waiting.append(there)
    return found


def _components(steps: Sequence[Sequence[tuple[int, Closed]]], budget: Budget) -> list[list[int]]:
    """The strongly connected components of what state 0 leads to, each before those that it leads to (Tarjan)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    waiting: set[int] = set()
    found: list[list[int]] = []
    path = [(0, 0)]
    while path:
        here, at = path.pop()
        budget.spend(3, _STEP)
        if not at:
            order[here] = low[here] = len(order)
            stack.append(here)
            waiting.add(here)
        row = steps[here]
        if at:
            low[here] = min(low[here], low[row[at - 1][0]]) if row[at - 1][0] in waiting else low[here]
        while at < len(row):
            goal = row[at][0]
            at += 1
            if goal not in order:
                path += [(here, at), (goal, 0)]
                break
            if goal in waiting:
                low[here] = min(low[here], order[goal])
        else:
            if low[here] == order[here]:
                component = []
                while True:
                    member = stack.pop()
                    waiting.discard(member)
                    component.append(member)
                    if member == here:
                        break
                found.append(component)
    return found[::-1]


def _through(
    steps: Sequence[Sequence[tuple[int, Closed]]],
    component: list[int],
    arriving: dict[int, Closed],
    useful: set[int],
    budget: Budget,
) -> dict[int, Closed]:
    """What leaves the component towards useful states, where this arrives."""
    if len(component) > MOST_STATES:
        raise NotDerived(f"a loop has more than {MOST_STATES} states")
    rows: dict[int, dict[int, Closed]] = {}
    before: dict[int, set[int]] = {here: set() for here in component}
    for here in component:
        row = rows[here] = {}
        for goal, weight in steps[here]:
            if goal in useful:
                row[goal] = _plus(row.get(goal, _NONE), weight, budget)
                if goal in before:
                    before[goal].add(here)
    source = -1
    rows[source] = dict(arriving)
    for here in arriving:
        before[here].add(source)
    left = set(component)
    while left:
        # Those without a loop of their own first: nothing is divided for them.
        here = min(left, key=lambda at: (at in rows[at], (len(before[at]) - 1) * len(rows[at]), at))
        left.discard(here)
        row = rows.pop(here)
        for goal in row:
            if goal in before:
                before[goal].discard(here)
        if here in row:
            row = _without_return(here, row, budget)
        for there in before.pop(here):
            known = rows[there]
            first = known.pop(here)
            for goal, weight in row.items():
                known[goal] = _plus(known.get(goal, _NONE), _times(first, weight, budget), budget)
                if goal in before:
                    before[goal].add(there)
    return rows[source]


def _without_return(here: int, row: dict[int, Closed], budget: Budget) -> dict[int, Closed]:
    """The weights of the steps from a state when it is left for good: n/(d - r) for n/d where it returns with r/d."""
    common: Ring = ONE
    for _, below in row.values():
        if divided(common, below, budget, _STEP) is None:
            factor = divided(below, common, budget, _STEP)
            common = multiply(common, below, budget, _STEP) if factor is None else below
    above: dict[int, Ring] = {}
    for goal, (top, below) in row.items():
        factor = divided(common, below, budget, _STEP)
        if factor is None:
            raise NotDerived("the weights of a loop have too many denominators")
        above[goal] = multiply(top, factor, budget, _STEP)
    rest = subtract(common, above.pop(here))
    if not rest:
        raise NotDerived("the program may not end: a loop is never left")
    return {goal: _lowest(top, rest, budget) for goal, top in above.items()}


def _lowest(above: Ring, below: Ring, budget: Budget) -> Closed:
    """above/below, as a function of the ring or as one over another where that is easily seen."""
    quotient = divided(above, below, budget, _STEP)
    if quotient is not None:
        return quotient, ONE
    inverse = divided(below, above, budget, _STEP)
    return reduced((ONE, inverse)) if inverse is not None else reduced((above, below))


def _plus(left: Closed, right: Closed, budget: Budget) -> Closed:
    if not left[0]:
        return right
    if not right[0]:
        return left
    above, below = add_closed(left, right, budget, _STEP)
    return (above, ONE) if below == ONE else _lowest(above, below, budget)


def _times(left: Closed, right: Closed, budget: Budget) -> Closed:
    if left == _ONE or right == _ONE:
        return right if left == _ONE else left
    above, below = multiply_closed(left, right, budget, _STEP)
    return (above, ONE) if below == ONE else _lowest(above, below, budget)
