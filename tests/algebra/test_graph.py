"""Strongly connected components against those of networkx."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from dipc.algebra.graph import in_topological_order, strongly_connected

NODES = st.integers(0, 9)
GRAPHS = st.dictionaries(NODES, st.lists(NODES, max_size=4), max_size=10)


@given(GRAPHS)
def test_components_are_found_and_those_that_lead_nowhere_else_come_first(graph: dict[int, list[int]]) -> None:
    whole: nx.DiGraph[int] = nx.DiGraph()
    whole.add_nodes_from(graph)
    whole.add_edges_from((node, goal) for node, out in graph.items() for goal in out)
    components = list(strongly_connected(graph))
    assert sorted(map(sorted, components)) == sorted(map(sorted, nx.strongly_connected_components(whole)))
    position = {node: k for k, component in enumerate(components) for node in component}
    assert all(position[goal] <= position[node] for node, out in graph.items() for goal in out)


@given(GRAPHS)
def test_in_topological_order_each_component_comes_before_what_it_leads_to(graph: dict[int, list[int]]) -> None:
    reached, pending = {0}, [0]
    while pending:
        new = set(graph.get(pending.pop(), ())) - reached
        reached |= new
        pending += new
    below = {node: graph.get(node, []) for node in sorted(reached)}
    components = list(in_topological_order(below, 0))
    assert sorted(node for component in components for node in component) == sorted(reached)
    position = {node: k for k, component in enumerate(components) for node in component}
    assert all(position[goal] >= position[node] for node, out in below.items() for goal in out)


def test_a_long_cycle_and_a_long_path_need_no_recursion() -> None:
    n = 50_000
    path = {k: [k + 1] for k in range(n)}
    assert [len(component) for component in strongly_connected(path)] == [1] * (n + 1)
    assert [len(component) for component in strongly_connected({**path, n: [0]})] == [n + 1]
