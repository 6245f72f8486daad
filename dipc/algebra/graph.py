"""Strongly connected components of directed graphs: of every program with a `while`, and of events with many noises.

networkx has them, too, and takes 0.1 s to load, a third of what `dipc check` of one row takes in all.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

S = TypeVar("S", bound=Hashable)


def strongly_connected(graph: Mapping[S, Iterable[S]]) -> Iterator[set[S]]:
    """The strongly connected components of a graph, given by the successors of each node, which may be other nodes
    without successors. No component leads to one that comes after it.

    This is the algorithm of Tarjan (1972), without recursion: a component is complete when the node that was reached
    first of it has no way back to a node reached before.
    """
    number: dict[S, int] = {}
    #: The least number of a node of the same component that was met from here on.
    least: dict[S, int] = {}
    unfinished: list[S] = []
    waiting: set[S] = set()
    for root in graph:
        pending: list[tuple[S, Iterator[S]]] = []
        further = None if root in number else root
        while further is not None or pending:
            if further is not None:
                number[further] = least[further] = len(number)
                unfinished.append(further)
                waiting.add(further)
                pending.append((further, iter(graph.get(further, ()))))
                further = None
            node, successors = pending[-1]
            for goal in successors:
                if goal not in number:
                    further = goal
                    break
                if goal in waiting:
                    least[node] = min(least[node], number[goal])
            else:
                pending.pop()
                if pending:
                    before = pending[-1][0]
                    least[before] = min(least[before], least[node])
                if least[node] == number[node]:
                    component: set[S] = set()
                    while node not in component:
                        component.add(unfinished.pop())
                    waiting -= component
                    yield component


def in_topological_order(graph: Mapping[S, Iterable[S]], start: S) -> Iterator[set[S]]:
    """The strongly connected components of what `start` reaches, which is all of the graph, each before those that it
    leads to; the graph has all of its nodes as keys.
    """
    before = dict.fromkeys(graph, 0)
    for out in graph.values():
        for t in out:
            before[t] += 1
    order = [] if before[start] else [start]
    for s in order:
        for t in graph[s]:
            before[t] -= 1
            if not before[t]:
                order.append(t)
    if len(order) == len(graph):  # without a cycle, as for most programs, this takes a tenth of the time
        for s in order:
            yield {s}
        return
    yield from reversed(list(strongly_connected({start: graph[start], **graph})))
