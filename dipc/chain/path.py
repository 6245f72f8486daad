"""The path that leads to a state, told by the comparisons taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dipc.chain.edge import Comparison, Edge
from dipc.chain.state import State
from dipc.chain.text import comparison_text, value_text
from dipc.syntax.core import CoreProgram, Value

if TYPE_CHECKING:
    import networkx as nx

_MOST_SHOWN = 8


def path_notes(
    program: CoreProgram,
    graph: nx.DiGraph[int],
    states: Mapping[int, State],
    node: int,
    dom_inputs: Mapping[int, Value],
) -> tuple[str, ...]:
    """Sentences that say how `node` is reached: the finite-domain inputs, then the comparisons on one path."""
    notes: list[str] = []
    if dom_inputs:
        named = [f"{program.slots[slot].name} = {value_text(value)}" for slot, value in dom_inputs.items()]
        notes.append("the inputs are " + ", ".join(named[:_MOST_SHOWN]) + (", ..." if len(named) > _MOST_SHOWN else ""))
    taken: list[str] = []
    while True:
        before = next(iter(graph.predecessors(node)), None)
        if before is None:
            break
        edges: tuple[Edge, ...] = graph.edges[before, node]["edges"]
        if isinstance(edges[0], Comparison):
            taken.append(_decision(program, states[before], edges[0]))
        node = before
    taken.reverse()
    if taken:
        earlier = len(taken) - _MOST_SHOWN
        shown = taken[max(0, earlier) :]
        where = f"on the path (after {earlier} earlier decisions) where " if earlier > 0 else "on the path where "
        notes.append(where + ", then ".join(shown))
    return tuple(notes)


def _decision(program: CoreProgram, state: State, edge: Comparison) -> str:
    names = {noise.id: noise.shown for noise in state.noises}
    text = comparison_text(
        edge.difference,
        edge.op.value,
        names.__getitem__,
        lambda slot: program.slots[slot].name,
    )
    line = program.source.excerpt(program.instructions[edge.at].span).line
    return f"`{text}` is {'true' if edge.holds else 'false'} (line {line})"
