"""Connected nodes of graphs, and strongly connected components and dominators of directed graphs, such as programs.

networkx can compute components too, but takes 0.1 s to load, a third of the time of `dipc check` for one row.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

S = TypeVar("S", bound=Hashable)


def strongly_connected(graph: Mapping[S, Iterable[S]]) -> Iterator[set[S]]:
    """Yield the strongly connected components of `graph`; no component leads to a later one.

    `graph` gives the successors of each node; a successor that is not a key has no successors. The algorithm is that
    of Tarjan (1972), without recursion: a component is complete when its first node has no path back to a node
    reached before.
    """
    number: dict[S, int] = {}
    #: The least number among the nodes of the same component that a node is known to reach.
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
    """The strongly connected components of `graph`, each before the components that it leads to.

    `start` must reach every node, and every node must be a key.
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


def parents_from(root: int, adjacent: Mapping[int, Iterable[int]] | Sequence[Iterable[int]]) -> dict[int, int | None]:
    """Return the parent of each node that `root` reaches, with the nearest nodes first; the root's is None.

    `adjacent` has the neighbors of each node.
    """
    parents: dict[int, int | None] = {root: None}
    order = [root]
    for node in order:
        for other in adjacent[node]:
            if other not in parents:
                parents[other] = node
                order.append(other)
    return parents


def spanning_forest(
    nodes: Iterable[int], adjacent: Mapping[int, Iterable[int]] | Sequence[Iterable[int]]
) -> dict[int, int | None]:
    """Return the parent of each of `nodes` in trees that span the graph, each parent before its children.

    The first node of each connected component is the root of a tree, with the parent None. `adjacent` has the neighbors
    of each node.
    """
    parents: dict[int, int | None] = {}
    for node in nodes:
        if node not in parents:
            parents |= parents_from(node, adjacent)
    return parents


class Dominators:
    """The dominators of the nodes of a growing graph: the nodes that every path from `first` to a node passes.

    A node may get successors only after all edges to this node were added.
    """

    def __init__(self, first: int) -> None:
        self._parent: dict[int, int] = {first: first}
        #: A dominator further up. With these, each dominator is found in a logarithmic number of steps (Myers 1983).
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

    def above(self, node: int) -> int:
        """Return the last node before `node` that every path to `node` passes."""
        return self._parent[node]

    def common(self, left: int, right: int) -> int:
        """Return the last node that every path to `left` and every path to `right` passes."""
        parent, jump, depth = self._parent, self._jump, self._depth
        if depth[left] < depth[right]:
            left, right = right, left
        while depth[left] > depth[right]:
            left = jump[left] if depth[jump[left]] >= depth[right] else parent[left]
        while left != right:
            # Nodes of one depth jump equally far.
            up = parent if jump[left] == jump[right] else jump
            left, right = up[left], up[right]
        return left
