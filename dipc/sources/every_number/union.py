"""Union bounds for every m: how often each term occurs, and whether the sum stays below beta.

All runs in agreement are walks through a finite automaton (see `lockstep`). Take the cycles out of a walk with n
iterations, one after the other, until a path is left that comes to no head twice, with k iterations: the n - k others
lead from heads to heads of the same component, one with a head of the path. The sum of their terms is at most n - k
times that of the most probable one of these. So the walk has at most

    fixed + (n - k)·repeated,

where n = m - low + 1 for a loop from low to m. A run that exits earlier has no more.

That this is at most beta(m) for every m >= start is shown coefficient by coefficient of the polynomial in m - start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from dipc.algebra.limits import LimitReached
from dipc.sources.every_number.comparison_terms import Term
from dipc.sources.every_number.lockstep import Automaton, Transition
from dipc.sources.every_number.uniform import NotUniform


@dataclass(frozen=True, slots=True)
class Sum:
    """At most `fixed` + (m - `once`) · `repeated`: terms that may go wrong in a run of the loop up to m >= once."""

    fixed: tuple[Term, ...]
    repeated: tuple[Term, ...]
    once: int


def plus(left: Sum, right: Sum) -> Sum:
    """A sum that is both together, for m from the greater of both `once` on."""
    if left.once > right.once:
        left, right = right, left
    # fixed + (m - once)·repeated = fixed + (later - once)·repeated + (m - later)·repeated
    fixed = (*left.fixed, *(left.repeated * (right.once - left.once)), *right.fixed)
    return Sum(_sorted(fixed), _sorted((*left.repeated, *right.repeated)), right.once)


def sums(automaton: Automaton, low: int, paths: int) -> frozenset[Sum]:
    """Sums such that each run in agreement of a loop from `low` to m, if m is at least every `once`, has one of them as
    an upper bound of its terms (at any eps, that with the most probable iteration of a cycle).

    Raises NotUniform where there is no run in agreement at all, LimitReached past `paths` paths.
    """
    found: set[Sum] = set()
    cycles = _on_cycles(automaton)
    for fixed, once, visited in _paths(automaton, paths):
        loops = {step.terms: None for head in visited for step in cycles[head]}
        for repeated in loops or [()]:
            found.add(Sum(_sorted(fixed), _sorted(repeated), once + low - 1))
    if not found:
        raise NotUniform("no run gives the ideal's answer")
    return frozenset(found)


def _on_cycles(automaton: Automaton) -> Mapping[int, tuple[Transition, ...]]:
    """By head the iterations that lead from some head of its component to another, or the same."""
    import networkx as nx

    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(len(automaton.iterations)))
    graph.add_edges_from(
        (head, step.goal) for head, steps in enumerate(automaton.iterations) for step in steps if step.goal is not None
    )
    found: dict[int, tuple[Transition, ...]] = {}
    for component in nx.strongly_connected_components(graph):
        inside = tuple(
            step for head in sorted(component) for step in automaton.iterations[head] if step.goal in component
        )
        found |= dict.fromkeys(component, inside)
    return found


def _paths(automaton: Automaton, most: int) -> Iterator[tuple[tuple[Term, ...], int, tuple[int, ...]]]:
    """By path that comes to no head twice: its terms, how many iterations it has, and the heads on it."""
    pending: list[tuple[tuple[Term, ...], int, tuple[int, ...]]] = [(automaton.before, 0, (0,))]
    count = 0
    while pending:
        terms, once, visited = pending.pop()
        count += 1
        if count > most:
            raise LimitReached("paths", f"the loop's heads are connected by more than {most} paths")
        here = visited[-1]
        for ending in automaton.endings[here]:
            yield (*terms, *ending.terms), once, visited
        for step in automaton.iterations[here]:
            if step.goal is None:
                yield (*terms, *step.terms), once + 1, visited
            elif step.goal not in visited:
                pending.append(((*terms, *step.terms), once + 1, (*visited, step.goal)))


def _sorted(terms: tuple[Term, ...]) -> tuple[Term, ...]:
    key: Callable[[Term], str] = repr
    return tuple(sorted(terms, key=key))
