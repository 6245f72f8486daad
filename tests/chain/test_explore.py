"""How far the exploration goes: cutting, merging, uniting, limits."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import networkx as nx
import pytest

import dipc
from dipc.algebra.limits import LimitReached, Limits
from dipc.chain.explore import explore
from dipc.chain.flow import analyze
from dipc.chain.state import Mark
from dipc.text.ast import Role
from tests.chain.programs import BOOL, REAL, Writer, const, integers, names, op, read, running_maximum, sparse

F = Fraction


def outputs(program, *values):
    return dict(zip(program.outputs, values, strict=True))


def test_sparse_has_one_exit_for_each_output():
    exits = explore(sparse(3, 1), {}).exits
    assert sorted(tuple(exit_state.outputs.values()) for exit_state in exits) == [
        ("bot", "bot", "bot"),
        ("bot", "bot", "top"),
        ("bot", "top", "none"),
        ("top", "none", "none"),
    ]
    assert sorted(len(exit_state.constraints.items) for exit_state in exits) == [1, 2, 3, 3]


@pytest.mark.parametrize(("m", "c"), [(200, 1), (200, 3), (100, 100)])
def test_exploration_towards_one_output_follows_one_path(m, c):
    program = sparse(m, c)
    tops = [i >= m - c for i in range(m)]
    chain = explore(program, {}, outputs(program, *["top" if top else "bot" for top in tops]))
    (exit_state,) = chain.exits
    assert len(exit_state.constraints.items) == m
    assert len(chain.states) <= len(program.instructions)
    assert len(chain.cut) >= m - 1


@pytest.mark.parametrize(
    ("program", "answer"),
    [(sparse(40, 2), ["bot"] * 38 + ["top"] * 2), (running_maximum(12), [F(7)])],
    ids=["sparse", "running maximum"],
)
def test_states_keep_values_only_while_they_are_asked_for(program, answer):
    """The values of thousands of states that were cut took most of the memory."""
    chain = explore(program, {}, outputs(program, *answer))
    exits = {exit_state.node for exit_state in chain.exits}
    assert exits
    assert chain.cut
    assert {node for node, state in chain.states.items() if state.values} == exits
    assert not any(chain.states[node].constraints.keys for node in chain.cut)


def test_what_cannot_come_out_any_more_is_not_followed():
    program = sparse(30, 30)
    chain = explore(program, {}, outputs(program, "none", *["top"] * 29))
    assert chain.exits == ()
    assert len(chain.states) < 12


def test_an_output_that_nothing_assigns_is_compared_at_once():
    writer = Writer(("out", integers(0, 1), Role.OUTPUT, F(0)), ("r", REAL, Role.VAR, None))
    program = writer.program([("lap", 1, 1, ({}, 0))])
    assert len(explore(program, {}, {0: F(1)}).states) == 1
    assert explore(program, {}, {0: F(1)}).exits == ()
    assert len(explore(program, {}, {0: F(0)}).exits) == 1


def test_an_unassigned_output_is_no_wanted_value():
    writer = Writer(("out", integers(0, 1), Role.OUTPUT, None), ("b", BOOL, Role.INPUT, None))
    program = writer.program([("if", read(1), [("set", 0, 1)], [])])
    assert [exit_state.outputs for exit_state in explore(program, {1: False}).exits] == [{0: None}]
    assert explore(program, {1: False}, {0: F(1)}).exits == ()
    assert len(explore(program, {1: True}, {0: F(1)}).exits) == 1


def noise_read_on_one_side():
    """Both branches end alike but for `x`, which nothing reads, and a noise that nothing compares."""
    writer = Writer(
        ("a", BOOL, Role.INPUT, None),
        ("out", integers(0, 1), Role.OUTPUT, F(0)),
        ("x", integers(0, 9), Role.VAR, F(0)),
        ("r", REAL, Role.VAR, None),
        ("s", REAL, Role.VAR, None),
        ("b", BOOL, Role.VAR, None),
    )
    return writer.program(
        [
            ("lap", 3, 1, ({}, 0)),
            ("compare", 5, ({3: 1}, 0), ">="),
            ("if", read(5), [("set", 2, 5), ("lap", 4, 1, ({}, 0))], []),
            ("set", 1, 1),
        ]
    )


def test_states_that_differ_only_in_what_is_dead_are_united():
    program = noise_read_on_one_side()
    (exit_state,) = explore(program, {0: True}).exits
    assert exit_state.constraints.items == ()
    assert exit_state.noises == ()
    assert len(explore(program, {0: True}, display=True).exits) == 2


def test_display_forgets_nothing():
    program = noise_read_on_one_side()
    for state in explore(program, {0: True}, display=True).states.values():
        assert Mark.FORGOTTEN not in state.values
    assert any(Mark.FORGOTTEN in state.values for state in explore(program, {0: True}).states.values())


def test_equal_states_are_one_node():
    """x <- d; if x = 1 then y <- 0 else y <- 0 end: two ways, one state."""
    writer = Writer(("q", REAL, Role.INPUT, None), ("y", integers(0, 1), Role.OUTPUT, F(1)))
    program = writer.program([("ifcompare", ({0: 1}, 0), "=", [("set", 1, 0)], [("set", 1, 0)]), ("set", 1, 1)])
    chain = explore(program, {}, display=True)
    # Three outcomes of the guard stay apart: what is known of the input differs.
    assert len(chain.exits) == 3
    writer = Writer(("y", integers(0, 1), Role.OUTPUT, F(1)), ("z", integers(0, 1), Role.VAR, F(0)))
    program = writer.program([("set", 1, 0), ("set", 1, op("*", read(1), const(0)))])
    chain = explore(program, {}, display=True)
    assert len(chain.states) == 3
    assert nx.is_directed_acyclic_graph(chain.graph)


def test_a_comparison_that_is_decided_does_not_branch():
    """b1: r1 > r2, b2: r2 > r3, b3: r1 > r3: 6 orders, not 8."""
    writer = Writer(
        *[(f"r{i}", REAL, Role.VAR, None) for i in (1, 2, 3)],
        *[(f"b{i}", BOOL, Role.OUTPUT, None) for i in (1, 2, 3)],
    )
    program = writer.program(
        [("lap", i, 1, ({}, 0)) for i in range(3)]
        + [("compare", 3, ({0: 1, 1: -1}, 0), ">"), ("compare", 4, ({1: 1, 2: -1}, 0), ">")]
        + [("compare", 5, ({0: 1, 2: -1}, 0), ">")]
    )
    found = {tuple(exit_state.outputs.values()) for exit_state in explore(program, {}).exits}
    assert len(found) == 6
    assert (True, True, False) not in found
    assert (False, False, True) not in found


def test_equality_of_noises_is_almost_surely_false():
    writer = Writer(("r", REAL, Role.VAR, None), ("same", BOOL, Role.OUTPUT, None), ("other", BOOL, Role.OUTPUT, None))
    program = writer.program(
        [("lap", 0, 1, ({}, 0)), ("compare", 1, ({0: 1}, 0), "="), ("compare", 2, ({0: 1}, -1), "!=")]
    )
    (exit_state,) = explore(program, {}).exits
    assert exit_state.outputs == {1: False, 2: True}
    assert exit_state.constraints.items == ()


def test_a_comparison_of_a_noise_with_itself_is_decided():
    writer = Writer(("r", REAL, Role.VAR, None), ("b", BOOL, Role.OUTPUT, None), ("s", REAL, Role.VAR, None))
    program = writer.program(
        [("lap", 0, 1, ({}, 0)), ("let", 2, ({0: 1}, F(1, 2))), ("compare", 1, ({2: 1, 0: -1}, 0), ">")]
    )
    (exit_state,) = explore(program, {}).exits
    assert exit_state.outputs == {1: True}


def test_a_resampled_variable_is_another_noise():
    program = sparse(2, 2)
    (exit_state,) = explore(program, {}, outputs(program, "top", "top")).exits
    assert [noise.display_name for noise in exit_state.noises] == ["rT#1", "r#1", "rT#2", "r#2"]
    assert [item.form.noises for item in exit_state.constraints.items] == [
        ((exit_state.noises[0].id, F(-1)), (exit_state.noises[1].id, F(1))),
        ((exit_state.noises[2].id, F(-1)), (exit_state.noises[3].id, F(1))),
    ]


def test_only_observed_outputs_are_told_apart():
    program = sparse(3, 1)
    first = program.outputs[0]
    exits = explore(program, {}, observed=[first]).exits
    assert sorted((exit_state.outputs[first], len(exit_state.constraints.items)) for exit_state in exits) == [
        ("bot", 1),
        ("top", 1),
    ]
    (exit_state,) = explore(program, {}, {first: "bot"}).exits
    assert exit_state.outputs == {first: "bot"}
    assert len(exit_state.constraints.items) == 1


@pytest.mark.parametrize("draw", ["lap", "dlap", "expo"])
@pytest.mark.parametrize("m", [2, 4, 9])
def test_a_running_maximum_has_as_many_exits_as_candidates(m, draw):
    chain = explore(running_maximum(m, draw=draw), {})
    assert len(chain.exits) == m
    assert all(len(exit_state.constraints.items) == m - 1 for exit_state in chain.exits)
    assert len(chain.states) <= 5 * m * m
    assert len(explore(running_maximum(4), {}, display=True).exits) == 8


def test_the_value_of_a_running_maximum_is_united_too():
    assert len(explore(running_maximum(5, output_value=True), {}).exits) == 5


@pytest.mark.parametrize("m", [3, 6, 9])
def test_a_maximum_of_multiples_has_as_many_exits_as_candidates(m):
    """The comparisons are of multiples of two noises, and not of their difference."""
    program = dipc.load(
        f"program p; output out : {{1..{m}}} = 1; var r[1..{m}], best : real;\n"
        f"for i in 1..{m} do r[i] <- Lap(eps) end; best <- r[1];\n"
        f"for i in 2..{m} do if i*r[i] > best then best <- i*r[i]; out <- i end end"
    )
    chain = explore(program.core, {})
    assert sorted(exit_state.outputs[program.core.outputs[0]] for exit_state in chain.exits) == list(range(1, m + 1))
    assert len(chain.states) <= 5 * m * m


def test_paths_whose_union_is_no_conjunction_stay_apart():
    """out says whether r1 is strictly between r2 and r3 or not: the outside is two half-lines."""
    writer = Writer(
        *[(f"r{i}", REAL, Role.VAR, None) for i in (1, 2, 3)],
        ("out", BOOL, Role.OUTPUT, False),
    )
    program = writer.program(
        [("lap", i, 1, ({}, 0)) for i in range(3)]
        + [("ifcompare", ({0: 1, 1: -1}, 0), ">", [("ifcompare", ({2: 1, 0: -1}, 0), ">", [("set", 3, True)], [])], [])]
    )
    exits = explore(program, {}).exits
    assert sorted((exit_state.outputs[3], len(exit_state.constraints.items)) for exit_state in exits) == [
        (False, 1),
        (False, 2),
        (True, 2),
    ]


def test_a_maximum_of_inputs_without_noise_is_united_exactly():
    """The same maximum, but of real inputs without noise: where three are compared ties belong to one side."""
    writer = Writer(
        *[(f"q{i}", REAL, Role.INPUT, None) for i in (1, 2, 3)],
        ("best", REAL, Role.VAR, None),
        ("arg", integers(1, 3), Role.OUTPUT, F(1)),
    )
    statements = [
        ("let", 3, ({0: 1}, 0)),
        *[("ifcompare", ({i: 1, 3: -1}, 0), ">", [("let", 3, ({i: 1}, 0)), ("set", 4, i + 1)], []) for i in (1, 2)],
    ]
    exits = explore(writer.program(statements), {}).exits
    assert len(exits) == 3
    for q in product((F(-1), F(0), F(1)), repeat=3):
        (found,) = [
            exit_state
            for exit_state in exits
            if all(item.holds_at(dict(enumerate(q))) for item in exit_state.guards.items)
        ]
        assert found.outputs == {4: F(q.index(max(q)) + 1)}
    assert all(not exit_state.constraints.items for exit_state in exits)


def test_limits_are_named():
    with pytest.raises(LimitReached) as caught:
        explore(sparse(12, 12), {}, limits=Limits(states=500))
    assert caught.value.limit == "states"
    assert caught.value.reason == "the chain has more than 500 states (limit `states`)"
    with pytest.raises(LimitReached) as caught:
        explore(sparse(12, 12), {}, limits=Limits(values=500))
    assert caught.value.limit == "values"


def test_the_graph_shows_the_chain():
    chain = explore(sparse(2, 1), {})
    assert set(chain.graph) == set(chain.states)
    assert nx.is_directed_acyclic_graph(chain.graph)
    assert [node for node in chain.graph if not chain.graph.in_degree(node)] == [chain.initial]
    leaves = {node for node in chain.graph if not chain.graph.out_degree(node)}
    assert leaves == {exit_state.node for exit_state in chain.exits} | chain.cut


def test_a_program_without_statements_exits_at_once():
    program = Writer(("out", names("a", "b"), Role.OUTPUT, "a")).program([])
    (exit_state,) = explore(program, {}).exits
    assert exit_state.outputs == {0: "a"}


def test_flow_knows_what_may_still_be_assigned_and_what_is_live():
    writer = Writer(("x", integers(0, 1), Role.VAR, F(0)), ("out", integers(0, 1), Role.OUTPUT, F(0)))
    program = writer.program([("if", op("=", read(0), const(1)), [("exit",)], []), ("set", 1, read(0)), ("set", 0, 1)])
    flow = analyze(program)
    assert flow.landing[1] == flow.exit_label == len(program.instructions)
    assert [bin(flow.may_assign[label]) for label in (0, 2, 3, 4)] == ["0b11", "0b11", "0b1", "0b0"]
    live = flow.live([1])
    assert [bin(live[label]) for label in (0, 2, 3, 4)] == ["0b11", "0b1", "0b10", "0b10"]
    assert flow.joins == {4}
    assert flow.forward
