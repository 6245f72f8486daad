"""What is kept up to date of a growing chain, dominators and leaves, against networkx, which finds them anew."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from dipc.algebra.graph import Dominators
from dipc.chain.chain import Transitions
from dipc.chain.uniting import Leaves


@given(st.data(), st.integers(2, 30))
def test_common_dominators_are_the_nearest(data: st.DataObject, count: int) -> None:
    dominators = Dominators(0)
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_node(0)
    for goal in range(1, count):
        # Most are next to their predecessors, so that ways are long.
        for source in data.draw(st.sets(st.integers(max(0, goal - 4), goal - 1), min_size=1, max_size=3)):
            graph.add_edge(source, goal)
            dominators.connect(source, goal)
    above = nx.immediate_dominators(graph, 0)
    tree = nx.DiGraph((above[node], node) for node in range(1, count))
    tree.add_node(0)
    for left, right in data.draw(st.lists(st.tuples(*2 * [st.integers(0, count - 1)]), max_size=20)):
        assert dominators.common(left, right) == nx.lowest_common_ancestor(tree, left, right)


@given(st.data())
def test_leaves_are_those_of_a_search(data: st.DataObject) -> None:
    transitions = Transitions()
    leaves = Leaves(transitions)
    transitions.add(0)
    ends, made = [0], 1
    for _ in range(data.draw(st.integers(1, 12))):
        match data.draw(st.sampled_from(("grow", "grow", "unite", "ask"))):
            case "grow":
                end = ends.pop(data.draw(st.integers(0, len(ends) - 1)))
                for _ in range(data.draw(st.integers(1, 3))):
                    transitions.add(made)
                    transitions.connect(end, made, (None,))
                    ends.append(made)
                    made += 1
            case "unite":
                transitions.add(made)
                for end in set(data.draw(st.lists(st.sampled_from(ends), min_size=1, max_size=3))) - {0}:
                    for source in list(transitions.predecessors(end)):
                        transitions.connect(source, made, (None,))
                    transitions.remove(end)
                    leaves.replace(end, made)
                    ends.remove(end)
                if transitions.predecessors(made):
                    ends.append(made)
                    made += 1
                else:
                    transitions.remove(made)
        graph = transitions.as_networkx()
        for above in data.draw(st.sets(st.sampled_from(sorted(graph)), max_size=3)):
            below = {node for node in {above} | nx.descendants(graph, above) if not graph.out_degree(node)}
            assert sorted(leaves.below(above)) == sorted(below)
