"""Weights of exits: choices and loops against enumeration, unrolling and plain arithmetic."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dipc.algebra.absorption import absorption_weights
from dipc.algebra.exppoly import ExpPoly
from dipc.chain.explore import explore
from dipc.chain.flow import has_choices
from dipc.chain.state import ExponentialWeight
from dipc.program.exit_weights import NOWHERE, reach
from dipc.text.ast import Role
from tests.chain.interpreter import run
from tests.chain.programs import BOOL, INT, REAL, Writer, const, integers, op, read, running_maximum, sparse
from tests.chain.samples import dom_input, matching, samples
from tests.chain.strategies import programs

F = Fraction


def share(weight):
    """Numbers for weights: those written in place of probabilities, and score + 1 in place of exp(rate·eps·score)."""
    if isinstance(weight, ExponentialWeight):
        return (weight.scores[weight.index] + 1) / sum(score + 1 for score in weight.scores)
    return weight.value


def weights(chain, scale=share):
    """The total weight of the paths to every exit, by its node."""
    found = reach(chain)
    edges = {
        node: [
            (goal, ExpPoly.constant(sum(scale(weight) for weight in chosen) if chosen else F(1)))
            for goal, chosen in steps
        ]
        for node, steps in found.edges.items()
    }
    result = absorption_weights(edges, found.start, found.ends)
    assert set(result) <= {exit_state.node for exit_state in chain.exits} | {NOWHERE}
    return {node: number(weight) for node, weight in result.items() if node != NOWHERE}


def number(weight):
    value = weight if isinstance(weight, ExpPoly) else weight.in_ring()
    terms = value.terms()
    assert all((power, exponent) == (0, 0) for power, exponent, _ in terms)
    return sum((coefficient for _, _, coefficient in terms), F(0))


def fair(chain):
    """Weights of which every choice has the same: what its weights sum to is then known without them."""
    counts = {}
    for node in chain.states:
        edges = [edge for goal in chain.graph[node] for edge in chain.graph.edges[node, goal]["edges"]]
        for edge in edges:
            counts[getattr(edge, "label", None)] = len(edges)
    by_weight = {}
    for _, _, edges in chain.graph.edges(data="edges"):
        for edge in edges:
            if hasattr(edge, "weight"):
                by_weight[id(edge.weight)] = F(1, counts[edge.label])
    return lambda weight: by_weight[id(weight)]


def enumerated(program, inputs, noises, most=64):
    """The probability of each assignment of outputs with equally likely options, from all sequences of choices.

    The second result is the probability that is missing because it takes more than `most` runs.
    """
    found = {}
    pending = [((), F(1))]
    missing = F(0)
    for _ in range(most):
        if not pending:
            break
        prefix, probability = pending.pop(0)
        taken = list(prefix)

        class More(Exception):
            def __init__(self, count):
                self.count = count

        def choose(count, _, taken=taken):
            if not taken:
                raise More(count)
            return taken.pop(0)

        try:
            values = run(program, inputs, noises, choose)
        except More as more:
            pending += [((*prefix, at), probability / more.count) for at in range(more.count)]
            continue
        key = tuple(values.get(slot) for slot in program.outputs if not program.slots[slot].is_symbolic)
        found[key] = found.get(key, F(0)) + probability
    missing = sum((probability for _, probability in pending), F(0))
    return found, missing


@given(programs(size=4), st.integers(0, 2), st.integers())
def test_weights_are_the_probabilities_of_all_ways_to_choose(program, d, seed):
    """For fixed noises: over the exits that hold, weights by outputs are what enumeration gives."""
    dom_inputs = {dom_input(program): F(d)}
    chain = explore(program, dom_inputs)
    by_node = weights(chain, fair(chain))
    for noises, inputs in samples(program, seed, dom_inputs, 3):
        found = {}
        for exit_state in matching(chain, noises, inputs):
            key = tuple(v for s, v in exit_state.outputs.items() if not program.slots[s].is_symbolic)
            found[key] = found.get(key, F(0)) + by_node[exit_state.node]
        assert sum(found.values()) == 1
        expected, missing = enumerated(program, inputs, noises)
        if not missing:
            assert found == expected
        else:
            assert all(found[key] >= value for key, value in expected.items())


def walker(width, up=1, down=1):
    """x walks from 1 until it leaves 1..width-1: the gambler's ruin."""
    writer = Writer(("x", integers(0, width), Role.OUTPUT, F(1)), ("b", BOOL, Role.VAR, None))
    inside = op("and", op(">", read(0), const(0)), op("<", read(0), const(width)))
    flip = ("choose", 1, [(const(True), F(up, up + down)), (const(False), F(down, up + down))])
    move = ("if", read(1), [("set", 0, op("+", read(0), const(1)))], [("set", 0, op("-", read(0), const(1)))])
    return writer.program([("while", inside, [flip, move])])


@pytest.mark.parametrize(("width", "up", "down"), [(2, 1, 1), (5, 1, 1), (6, 2, 1), (9, 1, 3)])
def test_the_gamblers_ruin(width, up, down):
    chain = explore(walker(width, up, down), {})
    found = {exit_state.outputs[0]: weights(chain)[exit_state.node] for exit_state in chain.exits}
    odds = F(down, up)
    won = F(1, width) if odds == 1 else (1 - odds) / (1 - odds**width)
    assert found == {F(width): won, F(0): 1 - won}


def rejection(rounds):
    """Choose among 0, 1, 2 until it is not 2: as a loop, or with the loop unrolled and 2 left over."""
    writer = Writer(("x", integers(0, 2), Role.OUTPUT, F(2)))
    draw = ("choose", 0, [(const(0), F(1, 2)), (const(1), F(1, 4)), (const(2), F(1, 8)), (const(2), F(1, 8))])
    again = op("=", read(0), const(2))
    if rounds is None:
        return writer.program([("while", again, [draw])])
    body = []
    for _ in range(rounds):
        body = [("if", again, [draw, *body], [])]
    return writer.program(body)


def outcome(program):
    chain = explore(program, {})
    by_node = weights(chain)
    return {exit_state.outputs[0]: by_node[exit_state.node] for exit_state in chain.exits}


def test_a_loop_is_the_limit_of_its_unrolling():
    assert outcome(rejection(None)) == {F(0): F(2, 3), F(1): F(1, 3)}
    for rounds in (1, 2, 7):
        unrolled = outcome(rejection(rounds))
        rest = F(1, 4) ** rounds
        assert unrolled == {F(0): F(2, 3) * (1 - rest), F(1): F(1, 3) * (1 - rest), F(2): rest}


def test_values_listed_twice_add_up():
    writer = Writer(("x", integers(0, 2), Role.OUTPUT, F(2)))
    program = writer.program([("choose", 0, [(const(0), F(1, 2)), (const(1), F(1, 6)), (const(0), F(1, 3))])])
    ((_, steps),) = reach(explore(program, {})).edges.items()
    assert sorted([[share(weight) for weight in chosen] for _, chosen in steps]) == [[F(1, 6)], [F(1, 2), F(1, 3)]]
    assert outcome(program) == {F(0): F(5, 6), F(1): F(1, 6)}


def test_choices_that_meet_again_are_one_exit():
    """b is forgotten: both ways to x = 1 lead to one state, whose weight is the sum."""
    writer = Writer(("x", integers(0, 2), Role.OUTPUT, F(0)), ("b", BOOL, Role.VAR, None))
    flip = ("choose", 1, [(const(True), F(1, 3)), (const(False), F(2, 3))])
    step = [flip, ("if", read(1), [("set", 0, op("+", read(0), const(1)))], [])]
    assert outcome(writer.program([*step, *step])) == {F(0): F(4, 9), F(1): F(4, 9), F(2): F(1, 9)}


def test_comparisons_count_once_whatever_was_chosen_before():
    """Three comparisons after a choice, then another choice: weights are those of the choices alone."""
    writer = Writer(
        ("x", integers(0, 3), Role.OUTPUT, F(0)),
        *[(f"b{i}", BOOL, Role.OUTPUT, None) for i in (1, 2, 3)],
        ("r", REAL, Role.VAR, None),
        ("s", REAL, Role.VAR, None),
    )
    pick = ("choose", 0, [(const(0), F(1, 4)), (const(1), F(3, 4))])
    add = ("choose", 0, [(op("+", read(0), const(1)), F(1, 5)), (read(0), F(4, 5))])
    compare = [("compare", i, ({4: 1, 5: -1}, F(shift)), ">") for i, shift in ((1, 0), (2, 1), (3, -1))]
    program = writer.program([("lap", 4, 1, ({}, 0)), ("lap", 5, 1, ({}, 0)), pick, *compare, add])
    chain = explore(program, {})
    by_node = weights(chain)
    expected = {F(0): F(1, 4) * F(4, 5), F(1): F(1, 4) * F(1, 5) + F(3, 4) * F(4, 5), F(2): F(3, 4) * F(1, 5)}
    assert len(chain.exits) == 4 * 3
    for exit_state in chain.exits:
        assert by_node[exit_state.node] == expected[exit_state.outputs[0]]


def test_a_comparison_inside_a_loop_branches_once():
    writer = Writer(
        ("x", integers(0, 1), Role.OUTPUT, F(0)),
        ("b", BOOL, Role.VAR, True),
        ("above", BOOL, Role.OUTPUT, None),
        ("r", REAL, Role.VAR, None),
    )
    body = [
        ("compare", 2, ({3: 1}, 0), ">"),
        ("if", read(2), [("choose", 1, [(const(True), F(1, 2)), (const(False), F(1, 2))])], [("set", 1, const(False))]),
        ("set", 0, op("-", const(1), read(0))),
    ]
    chain = explore(writer.program([("lap", 3, 1, ({}, 0)), ("while", read(1), body)]), {})
    by_node = weights(chain)
    found = {(exit_state.outputs[2], exit_state.outputs[0]): by_node[exit_state.node] for exit_state in chain.exits}
    assert found == {(False, F(1)): F(1), (True, F(1)): F(2, 3), (True, F(0)): F(1, 3)}
    assert all(len(exit_state.constraints.items) == 1 for exit_state in chain.exits)


def test_programs_without_choices_have_exits_of_weight_one():
    for program in (sparse(3, 1), running_maximum(4)):
        chain = explore(program, {})
        assert not has_choices(program)
        assert weights(chain) == {exit_state.node: 1 for exit_state in chain.exits}
    assert has_choices(walker(3))
    nothing = explore(sparse(2, 1), {}, dict.fromkeys(sparse(2, 1).outputs, "top"))
    assert weights(nothing) == {}


def test_cut_states_are_one_end():
    chain = explore(walker(6), {}, {0: F(6)})
    assert chain.cut
    found = reach(chain)
    (exit_state,) = chain.exits
    assert found.ends == {exit_state.node, NOWHERE}
    assert weights(chain) == {exit_state.node: F(1, 6)}
    impossible = explore(rejection(2), {}, {0: F(2)}, possible=lambda weight: weight.value != F(1, 8))
    assert weights(impossible) == {}


def test_certain_steps_are_skipped():
    """The states that are left are those before the choice."""
    assert len(reach(explore(walker(10), {})).edges) == 9


def test_uniting_is_left_to_programs_without_choices():
    writer = Writer(
        *[(f"r{i}", REAL, Role.VAR, None) for i in range(3)],
        ("best", REAL, Role.VAR, None),
        ("arg", integers(0, 2), Role.OUTPUT, F(0)),
        ("coin", BOOL, Role.OUTPUT, True),
    )
    statements = [("lap", i, 1, ({}, 0)) for i in range(3)] + [("let", 3, ({0: 1}, 0))]
    statements += [("ifcompare", ({i: 1, 3: -1}, 0), ">", [("let", 3, ({i: 1}, 0)), ("set", 4, i)], []) for i in (1, 2)]
    assert len(explore(writer.program(statements), {}).exits) == 3
    flip = ("choose", 5, [(const(True), F(1, 2)), (const(False), F(1, 2))])
    chain = explore(Writer.program(copy(writer), [*statements, flip]), {})
    assert len(chain.exits) == 8
    assert set(weights(chain).values()) == {F(1, 2)}


def copy(writer):
    return Writer(*[(slot.name, slot.type, slot.role, slot.initial) for slot in writer.slots])


def test_integer_equality_branches_three_ways():
    writer = Writer(("z", INT, Role.VAR, None), ("n", INT, Role.INPUT, None), ("same", BOOL, Role.OUTPUT, None))
    for how, expected in (("=", [(False, 1), (False, 1), (True, 2)]), ("!=", [(False, 2), (True, 1), (True, 1)])):
        program = Writer.program(copy(writer), [("dlap", 0, 1, ({}, 0)), ("compare", 2, ({0: 2, 1: -2}, 0), how)])
        exits = explore(program, {}).exits
        assert sorted((e.outputs[2], len(e.constraints.items)) for e in exits) == expected
        program = Writer.program(copy(writer), [("dlap", 0, 1, ({}, 0)), ("compare", 2, ({0: 2, 1: -2}, 1), how)])
        (exit_state,) = explore(program, {}).exits
        assert exit_state.outputs == {2: how == "!="}
        assert not exit_state.constraints.items


def test_the_same_knowledge_by_different_comparisons_is_one_state():
    """x is resampled in a loop and compared with r each time: what is known of r is an interval, not a history."""
    writer = Writer(
        ("x", integers(0, 8), Role.OUTPUT, F(0)),
        ("b", BOOL, Role.VAR, True),
        ("r", REAL, Role.VAR, None),
    )
    pick = ("choose", 0, [(const(value), F(1, 9)) for value in range(9)])
    flip = ("choose", 1, [(const(True), F(1, 2)), (const(False), F(1, 2))])
    program = writer.program(
        [
            ("expo", 2, 1),
            ("while", read(1), [pick, ("ifcompare", ({2: 1}, op("-", const(0), read(0))), ">", [flip], [])]),
        ]
    )
    chain = explore(program, {})
    ranges = {frozenset(state.constraints.keys) for state in chain.states.values()}
    # Both ends are among 1..8 or open: that r > 0 is known from the start.
    assert len(ranges) == 10 * 9 // 2
    assert all(len(keys) <= 2 for keys in ranges)
    by_node = weights(chain)
    # Given r between 2 and 3 it is left with x = 0, 1 or 2, equally often.
    inside = {}
    for exit_state in chain.exits:
        if all(
            item.form.noises and item.form.constant + item.form.noises[0][1] * F(5, 2) > 0
            for item in exit_state.constraints.items
        ):
            inside[exit_state.outputs[0]] = inside.get(exit_state.outputs[0], 0) + by_node[exit_state.node]
    assert inside == {F(0): F(1, 3), F(1): F(1, 3), F(2): F(1, 3)}


def test_what_only_follows_from_constraints_does_not_make_them_superfluous():
    """The constraint y = 0 implies x >= 0, but x >= 0 must not be dropped when it is stated again."""
    writer = Writer(
        ("x", INT, Role.VAR, None), ("y", INT, Role.VAR, None), ("out", integers(0, 9), Role.OUTPUT, F(0)),
        ("coin", BOOL, Role.OUTPUT, None),
    )  # fmt: skip
    zero = ("ifcompare", ({1: 1}, 0), "=", [("set", 2, 1)], [])
    positive = ("ifcompare", ({0: 1}, 0), ">=", [zero], [])
    body = [("ifcompare", ({0: 1, 1: -1}, 0), "=", [positive], [])]
    flip = ("choose", 3, [(const(True), 1), (const(False), 1)])
    program = writer.program([("dlap", 0, 1, ({}, 0)), ("dlap", 1, 1, ({}, 0)), *body, flip])
    chain = explore(program, {})
    for x in range(-2, 3):
        for y in range(-2, 3):
            found = matching(chain, {0: F(x), 1: F(y)}, {})
            assert len(found) == 2
            assert {exit_state.outputs[2] for exit_state in found} == {F(int(x == y == 0))}
