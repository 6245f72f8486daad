"""Loops that some run cannot leave: the program would not end with probability 1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dipc.chain.affine import Affine
from dipc.chain.codes import Code
from dipc.chain.edge import Comparison
from dipc.chain.fault import Fault
from dipc.chain.flow import Flow, slots_in
from dipc.chain.state import Mark, State
from dipc.lang.display import show_value

if TYPE_CHECKING:
    import networkx as nx

_MOST_STATES = 3
_MOST_VALUES = 8


def trapped(graph: nx.DiGraph[int], ends: frozenset[int]) -> frozenset[int]:
    """A bottom strongly connected component without one of `ends`, empty if there is none.

    Without one every run ends almost surely: from each of the finitely many states an end can be reached, by choices
    that are possible again whenever the state is.
    """
    import networkx as nx

    for component in nx.strongly_connected_components(graph):
        bottom = all(goal in component for node in component for goal in graph.successors(node))
        if bottom and ends.isdisjoint(component):
            return frozenset(component)
    return frozenset()


def recurrent_comparison(graph: nx.DiGraph[int]) -> bool:
    """Whether a comparison that branches lies on a cycle.

    What it found is then known, and it would not branch again, had elimination not given up. Weights would be wrong.
    """
    import networkx as nx

    return any(
        any(isinstance(edge, Comparison) for edge in graph.edges[node, goal]["edges"])
        for component in nx.strongly_connected_components(graph)
        for node in component
        for goal in graph.successors(node)
        if goal in component
    )


def trapped_fault(flow: Flow, states: Mapping[int, State], trap: frozenset[int]) -> Fault:
    """What to say about a trap: the outermost `while` in it, and the values that keep it going."""
    program = flow.program
    labels = {states[node].label for node in trap}
    heads = sorted(labels & program.loops.keys())
    head = heads[0] if heads else min(labels)
    span = program.loops[head] if heads else program.instructions[head].span
    touched = 0
    for label in labels:
        touched |= flow.reads[label] | flow.writes[label]
    held: dict[str, None] = {}
    for node in sorted(trap):
        if states[node].label == head:
            held[_values(flow, states[node], touched)] = None
    shown = [text for text in held if text][:_MOST_STATES]
    more = len(held) - len(shown)
    trouble = "no way out"
    if shown:
        trouble += f" with {' or '.join(f'`{text}`' for text in shown)}" + (f" or {more} more" if more else "")
    return Fault(
        Code.ENDLESS_LOOP,
        "this `while` can go on forever",
        span,
        trouble,
        "a program must end with probability 1: let every round have a chance to make the condition false",
    )


def _values(flow: Flow, state: State, touched: int) -> str:
    texts: list[str] = []
    for slot in slots_in(touched):
        value = state.values[slot]
        if not isinstance(value, Mark | Affine):
            texts.append(f"{flow.program.slots[slot].name} = {show_value(value)}")
    return ", ".join(texts[:_MOST_VALUES]) + (", ..." if len(texts) > _MOST_VALUES else "")
