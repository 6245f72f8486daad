"""The transitions of a growing chain, against networkx."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from dipc.chain.chain import Transitions

ACTIONS = st.lists(st.tuples(st.sampled_from(["connect", "remove"]), st.integers(0, 5), st.integers(0, 5)), max_size=30)


@given(ACTIONS)
def test_they_are_the_graph_that_networkx_builds(actions: list[tuple[str, int, int]]) -> None:
    ours = Transitions()
    graph: nx.DiGraph[int] = nx.DiGraph()
    for state in range(6):
        ours.add(state)
        graph.add_node(state)
    for action, one, two in actions:
        if one not in graph or two not in graph:
            continue
        if action == "remove":
            ours.remove(one)
            graph.remove_node(one)
        else:
            known = graph.edges[one, two]["edges"] if graph.has_edge(one, two) else ()
            graph.add_edge(one, two, edges=(*known, None))
            ours.connect(one, two, (None,))
    made = ours.as_networkx()
    assert list(made) == list(graph)
    assert {node: dict(after) for node, after in made.adjacency()} == {n: dict(a) for n, a in graph.adjacency()}
    for state in graph:
        assert set(ours.successors(state)) == set(graph.successors(state))
        assert set(ours.predecessors(state)) == set(graph.predecessors(state))
