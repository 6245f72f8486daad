"""Union bounds for every m: how often each term occurs, and whether the sum stays below beta.

All runs in agreement are paths of a finite automaton (see `lockstep`). If its only cycles are iterations that
lead from a head to itself, a path with n iterations takes k others, once each, and spends n - k on the spot. The sum of
its terms is linear in how these are shared out, so it is greatest where all are spent on one head: at most

    fixed + (n - k)·repeated,

where n = m - low + 1 for a loop from low to m. A run that exits earlier has no more.

That this is at most beta(m) for every m >= start is shown coefficient by coefficient of the polynomial in m - start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dipc.algebra.limits import LimitReached
from dipc.sources.every_number.comparison_terms import Term
from dipc.sources.every_number.lockstep import Automaton
from dipc.sources.every_number.uniform import NotUniform


@dataclass(frozen=True, slots=True)
class Sum:
    """At most `fixed` + (m - `once`) · `repeated`: terms that may go wrong in a run of the loop up to m >= once."""

    fixed: tuple[Term, ...]
    repeated: tuple[Term, ...]
    once: int


def sums(automaton: Automaton, low: int, paths: int) -> frozenset[Sum]:
    """Sums such that each run in agreement of a loop from `low` to m, if m is at least every `once`, has one of them as
    an upper bound of its terms (at any eps, that with the most probable iteration on the spot).

    Raises NotUniform where the automaton has other cycles, or no run in agreement at all; LimitReached past `paths`
    paths.
    """
    found: set[Sum] = set()
    for fixed, once, visited in _paths(automaton, paths):
        loops = [step.terms for head in visited for step in automaton.iterations[head] if step.goal == head]
        for repeated in loops or [()]:
            found.add(Sum(_sorted(fixed), _sorted(repeated), once + low - 1))
    if not found:
        raise NotUniform("no run gives the ideal's answer")
    return frozenset(found)


def _paths(automaton: Automaton, most: int) -> Iterator[tuple[tuple[Term, ...], int, tuple[int, ...]]]:
    """By path without the iterations on the spot: its terms, how many iterations it has, and the heads on it."""
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
            elif step.goal != here:
                if step.goal in visited:
                    raise NotUniform("the loop comes back to an earlier state, other than at once")
                pending.append(((*terms, *step.terms), once + 1, (*visited, step.goal)))


def _sorted(terms: tuple[Term, ...]) -> tuple[Term, ...]:
    key: Callable[[Term], str] = repr
    return tuple(sorted(terms, key=key))
