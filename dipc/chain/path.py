"""The path that leads to a state, told by the comparisons and the choices taken."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from dipc.chain.edge import Choice, Comparison, Deterministic, Edge
from dipc.chain.state import State
from dipc.chain.text import comparison_text
from dipc.lang.core import Value
from dipc.lang.core_program import CoreProgram
from dipc.lang.display import show_value

if TYPE_CHECKING:
    import networkx as nx

_MOST_SHOWN = 8


def path_notes(
    program: CoreProgram,
    graph: nx.DiGraph[int],
    states: Mapping[int, State],
    start: int,
    node: int,
    dom_inputs: Mapping[int, Value],
) -> tuple[str, ...]:
    """Sentences that say how `node` is reached from `start`: the finite-domain inputs, then the events on one path."""
    import networkx as nx

    notes: list[str] = []
    if dom_inputs:
        named = [f"{program.slots[slot].name} = {show_value(value)}" for slot, value in dom_inputs.items()]
        notes.append("the inputs are " + ", ".join(named[:_MOST_SHOWN]) + (", ..." if len(named) > _MOST_SHOWN else ""))
    taken: list[str] = []
    for before, after in pairwise(nx.shortest_path(graph, start, node)):
        edges: tuple[Edge, ...] = graph.edges[before, after]["edges"]
        if not isinstance(edges[0], Deterministic):
            taken.append(_decision(program, states[before], edges[0]))
    if taken:
        earlier = len(taken) - _MOST_SHOWN
        shown = taken[max(0, earlier) :]
        where = f"on the path (after {earlier} earlier decisions) where " if earlier > 0 else "on the path where "
        notes.append(where + ", then ".join(shown))
    return tuple(notes)


def _decision(program: CoreProgram, state: State, edge: Comparison | Choice) -> str:
    line = program.source.excerpt(program.instructions[edge.at].span).line
    if isinstance(edge, Choice):
        return f"`{program.slots[edge.slot].name}` becomes {show_value(edge.value)} (line {line})"
    names = {noise.id: noise.shown for noise in state.noises}
    text = comparison_text(
        edge.difference,
        edge.op.value,
        names.__getitem__,
        lambda slot: program.slots[slot].name,
    )
    return f"`{text}` is {'true' if edge.holds else 'false'} (line {line})"
