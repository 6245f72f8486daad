"""The chain as built, and its transitions."""

from __future__ import annotations

from collections.abc import Collection, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from dipc.algebra.graph import strongly_connected
from dipc.chain.flow import Flow
from dipc.chain.state import Affine, Comparison, ConstraintSet, Edge, NoiseVar, State
from dipc.frozen import frozen
from dipc.text.core import Value

if TYPE_CHECKING:
    import networkx as nx


# --- Which states lead to which while a chain is built: all that deciding a row asks of its graph ---------------------


@dataclass(slots=True)
class Transitions:
    """The graph of a growing chain: the numbers of its states, in the order of addition, and the edges between them.

    `_after` has, for each state, each successor with the edges to it. `_before` has, for each state, its predecessors
    as keys.
    """

    _after: dict[int, dict[int, tuple[Edge, ...]]] = field(default_factory=dict)
    _before: dict[int, dict[int, None]] = field(default_factory=dict)

    def add(self, state: int) -> None:
        """Add the state number `state` without edges."""
        self._after[state] = {}
        self._before[state] = {}

    def connect(self, source: int, goal: int, edges: tuple[Edge, ...]) -> None:
        """Add `edges` from `source` to `goal`, after the edges that `source` already has to `goal`."""
        after = self._after[source]
        after[goal] = after.get(goal, ()) + edges
        self._before[goal][source] = None

    def remove(self, state: int) -> None:
        """Remove the state number `state` and all its edges."""
        for goal in self._after.pop(state):
            self._before[goal].pop(state, None)
        for source in self._before.pop(state):
            self._after.get(source, {}).pop(state, None)

    def successors(self, state: int) -> Collection[int]:
        return self._after[state].keys()

    def predecessors(self, state: int) -> Collection[int]:
        return self._before[state].keys()

    def edges(self, source: int, goal: int) -> tuple[Edge, ...]:
        """The edges from `source` to its successor `goal`."""
        return self._after[source][goal]

    def trapped(self, ends: Set[int]) -> frozenset[int]:
        """Return a trap, a set of states that no run leaves and that has none of `ends`; empty if there is no trap.

        `ends` are the numbers of the states in which runs end. The trap is a bottom strongly connected component: each
        of its states can reach all its other states, and no state outside. If there is no trap, every run ends almost
        surely: an end can be reached from each of the finitely many states, by choices that are possible whenever a run
        visits the state.
        """
        for component in strongly_connected(self._after):
            bottom = all(goal in component for node in component for goal in self._after[node])
            if bottom and ends.isdisjoint(component):
                return frozenset(component)
        return frozenset()

    @property
    def compares_again(self) -> bool:
        """Whether a comparison with several outcomes lies on a cycle of the chain.

        The weights of exits are correct only if the result is False. It is True only if there were too many constraints
        to decide a comparison. Otherwise a run that comes back to a comparison knows the outcome from its first visit,
        so the comparison has a single outcome.
        """
        return any(
            any(isinstance(edge, Comparison) for edge in self._after[node][goal])
            for component in strongly_connected(self._after)
            for node in component
            for goal in self._after[node]
            if goal in component
        )

    def as_networkx(self) -> nx.DiGraph[int]:
        import networkx as nx

        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_nodes_from(self._after)
        for source, after in self._after.items():
            graph.add_edges_from((source, goal, {"edges": edges}) for goal, edges in after.items())
        return graph


# --- The chain as built: a graph of states and what its exits output --------------------------------------------------


@frozen
class ExitState:
    """An exit: the observed outputs, and the conditions under which runs end with them.

    `node` is the number of the state in the chain. `outputs` has, by slot, the value of each observed output, or None
    if it was never assigned. Up to measure zero a run reaches the exit exactly if the inputs satisfy `guards` and the
    `noises` satisfy `constraints`. Different exits exclude each other.
    """

    node: int
    outputs: dict[int, Value | Affine | None]
    noises: tuple[NoiseVar, ...]
    constraints: ConstraintSet
    guards: ConstraintSet


@dataclass(frozen=True)
class Chain:
    """The Markov chain of a program with its real and int inputs left open; runs start at the state `initial`.

    `flow` describes the program. `states` has the states by number. `transitions` has the edges between these numbers,
    one edge for each outcome of a step. If the chain was explored for certain values of the outputs, `cut` has the
    states at which an output already has another final value; they have no successors. Every other state without
    successors is an end of the program, with its entry in `exits`.
    """

    flow: Flow
    transitions: Transitions
    states: dict[int, State]
    initial: int
    exits: tuple[ExitState, ...]
    cut: frozenset[int]

    @cached_property
    def graph(self) -> nx.DiGraph[int]:
        """The chain as a networkx.DiGraph, made on first use; each edge has a tuple of `Edge` as attribute `edges`."""
        return self.transitions.as_networkx()
