"""Which states lead to which while a chain is built: all that deciding a row asks of its graph."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dipc.chain.edge import Edge

if TYPE_CHECKING:
    import networkx as nx


@dataclass(slots=True)
class Transitions:
    """States by number, in the order in which they were added, with the edges from one to another."""

    _after: dict[int, dict[int, tuple[Edge, ...]]] = field(default_factory=dict)
    _before: dict[int, dict[int, None]] = field(default_factory=dict)

    def add(self, state: int) -> None:
        """Add a state without edges."""
        self._after[state] = {}
        self._before[state] = {}

    def connect(self, source: int, goal: int, edges: tuple[Edge, ...]) -> None:
        """Add edges between two states, behind those that are there."""
        after = self._after[source]
        after[goal] = after.get(goal, ()) + edges
        self._before[goal][source] = None

    def remove(self, state: int) -> None:
        """Take a state away with all its edges."""
        for goal in self._after.pop(state):
            self._before[goal].pop(state, None)
        for source in self._before.pop(state):
            self._after.get(source, {}).pop(state, None)

    def successors(self, state: int) -> Collection[int]:
        """The states that some edge leads to."""
        return self._after[state].keys()

    def predecessors(self, state: int) -> Collection[int]:
        """The states that some edge leads from."""
        return self._before[state].keys()

    def edges(self, source: int, goal: int) -> tuple[Edge, ...]:
        """The edges from one state to one of its successors."""
        return self._after[source][goal]

    def as_networkx(self) -> nx.DiGraph[int]:
        """The same as a networkx.DiGraph, whose edges have the attribute `edges`."""
        import networkx as nx

        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_nodes_from(self._after)
        for source, after in self._after.items():
            graph.add_edges_from((source, goal, {"edges": edges}) for goal, edges in after.items())
        return graph
