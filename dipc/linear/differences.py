"""Difference constraints x - y >= w as a weighted graph; what they entail, by longest paths.

The half-spaces for which feasibility and entailment are a search in a graph, without a linear program. A bound x >= w
is a difference with the variable ORIGIN, which is 0. Weights are pairs (w, s): s counts strict steps, so that
x - y >= w with s > 0 means x - y > w. What closed differences with integer bounds entail of integers is found as well.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from fractions import Fraction

from dipc.linear.halfspace import Terms

ORIGIN = -1

#: Whole numbers are ints: most are 0, and adding up and comparing fractions takes many times as long.
Weight = tuple[int | Fraction, int]
#: (x, y, w): x - y >= w.
Difference = tuple[int, int, Weight]
#: by y, the (x, w) with x - y >= w.
Graph = dict[int, list[tuple[int, Weight]]]

_NOWHERE: Weight = (0, 0)


def difference_ends(terms: Terms | list[tuple[int, Fraction]]) -> tuple[int | None, int | None]:
    """(x, y) when the sum of the terms is x - y, with ORIGIN for one that is missing; else (None, None)."""
    upper: int | None = None
    lower: int | None = None
    for variable, coefficient in terms:
        if coefficient == 1 and upper is None:
            upper = variable
        elif coefficient == -1 and lower is None:
            lower = variable
        else:
            return None, None
    if upper is None and lower is None:
        return None, None
    return (ORIGIN if upper is None else upper), (ORIGIN if lower is None else lower)


def graph_of(differences: Iterable[Difference]) -> Graph:
    """The differences by their lower end; every variable is a key."""
    graph: Graph = {}
    for upper, lower, weight in differences:
        graph.setdefault(lower, []).append((upper, weight))
        graph.setdefault(upper, [])
    return graph


def turned_graph_of(differences: Iterable[Difference]) -> Graph:
    """The same by their upper ends: from x it leads to all y with a bound on x - y."""
    return graph_of((lower, upper, weight) for upper, lower, weight in differences)


def greatest_bounds(
    graph: Graph, start: int, goal: int | None = None, enough: Weight | None = None
) -> dict[int, Weight] | None:
    """By x, the greatest w that the graph entails in x - start >= w; None when the graph is contradictory.

    With `goal` and `enough` the search may stop early: the bound given for `goal` is then at least `enough`, others
    may be smaller than entailed. A contradiction that `start` does not reach is not noticed.
    """
    best: dict[int, Weight] = {start: _NOWHERE}
    steps: dict[int, int] = {start: 0}
    pending = deque([start])
    waiting = {start}
    most = len(graph)
    while pending:
        lower = pending.popleft()
        waiting.discard(lower)
        base, base_strict = best[lower]
        step = steps[lower] + 1
        for upper, (weight, strict) in graph.get(lower, ()):
            found = (base + weight, base_strict + strict)
            known = best.get(upper)
            if known is not None and found <= known:
                continue
            if upper == start or step > most:
                return None
            best[upper] = found
            steps[upper] = step
            if upper == goal and enough is not None and found >= enough:
                return best
            if upper not in waiting and graph.get(upper):
                waiting.add(upper)
                pending.append(upper)
    return best


def is_contradictory(graph: Graph) -> bool:
    """Whether no point satisfies all the differences."""
    # A source that reaches every variable with weight 0: a positive cycle is then noticed wherever it is.
    source = ORIGIN - 1
    widened = dict(graph)
    widened[source] = [(variable, _NOWHERE) for variable in graph]
    return greatest_bounds(widened, source) is None
