"""How often each term occurs in a run of a loop up to any number, and whether stated sums bound that.

A run in agreement is a walk through finitely many heads. Take the cycles out of a walk of n iterations, one after the
other, until a path is left that comes to no head twice, with k iterations; each of the n - k others leads from a head
to a head of the same component, one with a head of the path. Their terms are at most n - k times those of the most
probable of these iterations. So the walk has at most fixed + (n - k)·repeated, for n = m - low + 1 iterations of a loop
from low to m; a run that ends earlier has no more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dipc.verifier.agreement import Walks
from dipc.verifier.budget import Budget
from dipc.verifier.rejection import NotDerived
from dipc.verifier.terms import Term

_STEP = "numbers"

#: Paths through the heads of one loop.
MOST_PATHS = 20_000


@dataclass(frozen=True, slots=True)
class Total:
    """At most `fixed` + (m - `once`)·`repeated`, for every m >= once."""

    fixed: tuple[Term, ...]
    repeated: tuple[Term, ...]
    once: int

    def bounds(self, other: Total) -> bool:
        """Whether each term of the other is one of its own, as often."""
        return (
            self.once <= other.once
            and not Counter(other.fixed) - Counter(self.fixed)
            and not Counter(other.repeated) - Counter(self.repeated)
        )


def require_bounded(totals: Iterable[Total], stated: Iterable[Total], budget: Budget) -> None:
    """Raises NotDerived where one of the totals is bounded by none of those stated."""
    known = tuple(dict.fromkeys(stated))
    some = False
    for total in totals:
        some = True
        for one in known:
            budget.spend(20 + 2 * (len(one.fixed) + len(total.fixed) + len(one.repeated)), _STEP)
            if one.bounds(total):
                break
        else:
            raise NotDerived("some runs have other terms than are stated")
    if not some:
        raise NotDerived("no run gives the answer of its `ideal`")


def totals(walks: Walks, low: int, budget: Budget) -> Iterator[Total]:
    """Totals such that each run of the loop from `low` to m has one of them as a bound, if m is at least `once`; at any
    eps, that with the most probable iteration of a cycle. Raises NotDerived."""
    components, cycles = _on_cycles(walks)
    for fixed, once, visited in _paths(walks, budget):
        known = dict.fromkeys(components[head] for head in visited)
        for repeated in dict.fromkeys(terms for component in known for terms in cycles[component]) or [()]:
            budget.spend(50, _STEP)
            yield Total(fixed, repeated, once + low - 1)


def _on_cycles(walks: Walks) -> tuple[Sequence[int], Mapping[int, Sequence[tuple[Term, ...]]]]:
    """By head the number of its component, and by component the different terms of iterations between its heads."""
    goals = [{leg.goal for leg in legs if leg.goal is not None} for legs in walks.iterations]
    reached = [_reached(goals, head) for head in range(len(goals))]
    numbers: list[int] = []
    found: dict[int, Sequence[tuple[Term, ...]]] = {}
    for head in range(len(goals)):
        component = {other for other in reached[head] if head in reached[other]}
        first = min(component, default=head)
        numbers.append(first)
        if first == head:
            legs = [leg for other in sorted(component) for leg in walks.iterations[other] if leg.goal in component]
            found[head] = tuple(dict.fromkeys(leg.terms for leg in legs))
    return numbers, found


def _reached(goals: Sequence[set[int]], head: int) -> set[int]:
    """The heads that one or more iterations lead to from this one."""
    found: set[int] = set()
    waiting = [head]
    while waiting:
        for goal in goals[waiting.pop()] - found:
            found.add(goal)
            waiting.append(goal)
    return found


def _paths(walks: Walks, budget: Budget) -> Iterator[tuple[tuple[Term, ...], int, tuple[int, ...]]]:
    """By path that comes to no head twice: its terms, how many iterations it has, and its heads."""
    waiting: list[tuple[tuple[Term, ...], int, tuple[int, ...]]] = [(walks.before, 0, (0,))]
    count = 0
    while waiting:
        terms, once, visited = waiting.pop()
        count += 1
        budget.spend(20 + 2 * (len(terms) + len(visited)) * (1 + len(walks.iterations[visited[-1]])), _STEP)
        if count > MOST_PATHS:
            raise NotDerived(f"the heads of the loop are connected by more than {MOST_PATHS} paths")
        here = visited[-1]
        for ending in walks.endings[here]:
            yield (*terms, *ending.terms), once, visited
        for leg in walks.iterations[here]:
            if leg.goal is None:
                yield (*terms, *leg.terms), once + 1, visited
            elif leg.goal not in visited:
                waiting.append(((*terms, *leg.terms), once + 1, (*visited, leg.goal)))
