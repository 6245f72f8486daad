"""`while`: finite chains, loops that end, and loops that do not."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dipc.algebra.limits import LimitReached, Limits
from dipc.chain.explore import explore
from dipc.text.ast import Role
from dipc.text.diagnostic import DiagnosticError, SourceText
from dipc.text.parser import parse
from dipc.text.statements import lower
from tests.chain.programs import BOOL, INT, REAL, Writer, const, integers, op, read
from tests.chain.test_reach import copy, walker, weights
from tests.patience import at_most

F = Fraction


def written(text):
    source = SourceText("loop.dip", text)
    return lower(parse(source), source, {})


def trap(program, dom_inputs=None, **options):
    with pytest.raises(DiagnosticError) as caught:
        explore(program, dom_inputs or {}, **options)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "E0706"
    assert diagnostic.message == "this `while` can go on forever"
    return diagnostic


@given(st.integers(0, 4), st.integers(0, 4), st.booleans())
def test_counting_loops_are_like_unrolled_ones(rounds, inner, display):
    """Both in the outputs and, after a comparison in each round, in the constraints."""
    writer = Writer(
        ("i", integers(0, 9), Role.VAR, F(0)),
        ("j", integers(0, 9), Role.VAR, F(0)),
        ("total", integers(0, 99), Role.OUTPUT, F(0)),
        ("above", integers(0, 9), Role.OUTPUT, F(0)),
        ("r", REAL, Role.VAR, None),
        ("z", INT, Role.VAR, None),
    )
    i, j, total, above, r, z = range(6)

    def increment(slot):
        return ("set", slot, op("+", read(slot), const(1)))

    compare = [
        ("ifcompare", ({r: 1}, op("-", const(0), read(i))), ">", [increment(above)], []),
        ("ifcompare", ({z: 2}, op("-", const(0), read(i))), ">=", [increment(above)], []),
    ]
    draws = [("lap", r, 1, ({}, 0)), ("dlap", z, 1, ({}, 0))]
    count = [("set", j, 0), ("while", op("<", read(j), const(inner)), [increment(total), increment(j)])]
    looped = writer.program([*draws, ("while", op("<", read(i), const(rounds)), [*compare, *count, increment(i)])])
    unrolled = Writer.program(copy(writer), [*draws, *([*compare, *[increment(total)] * inner, increment(i)] * rounds)])

    def summary(program):
        return sorted(
            (repr(exit_state.outputs), sorted(repr(item.form) for item in exit_state.constraints.items))
            for exit_state in explore(program, {}, display=display, observed=[total, above]).exits
        )

    if not display:
        # The unrolled program unites paths, the loop does not: compare those of the loop with all of them.
        assert len(summary(unrolled)) <= len(summary(looped))
    else:
        assert summary(looped) == summary(unrolled)


def test_the_work_grows_with_the_length_of_the_chain():
    with at_most(1_000_000):
        chain = explore(walker(700), {})
    assert len(chain.states) > 700
    assert sorted(exit_state.outputs[0] for exit_state in chain.exits) == [0, 700]


def test_states_that_are_bound_to_become_others_are_left_out():
    short, whole = explore(walker(20), {}), explore(walker(20), {}, display=True)
    assert len(short.states) < 30 < 3 * len(short.states) < len(whole.states)
    by_outputs = [{end.outputs[0]: weights(chain)[end.node] for end in chain.exits} for chain in (short, whole)]
    assert by_outputs[0] == by_outputs[1]
    assert sum(by_outputs[0].values()) == 1


def test_states_are_limited():
    with pytest.raises(LimitReached) as caught:
        explore(walker(700), {}, limits=Limits(states=500))
    assert caught.value.limit == "states"


def test_states_of_a_loop_repeat_although_dead_values_differ():
    writer = Writer(("b", BOOL, Role.VAR, True), ("x", integers(0, 9), Role.VAR, F(0)), ("y", BOOL, Role.OUTPUT, None))
    scratch = ("exp", 1, 1, {value: const(value) for value in range(10)})
    flip = ("choose", 0, [(const(True), 1), (const(False), 1)])
    program = writer.program([("while", read(0), [scratch, ("set", 2, op("<", read(1), const(5))), flip])])
    assert len(explore(program, {}).states) < 25 < len(explore(program, {}, display=True).states)


def test_a_loop_that_nothing_ends_is_shown_with_its_values():
    program = written(
        "program p;\ninput x : {0..2};\noutput y : {0..2} = 0;\nvar b : bool;\n"
        "b <- choose { true : 1/2, false : 1/2 };\n"
        "while b do\n  y <- 1 - y;\n  if y = 3 then b <- false end\nend\n"
    )
    diagnostic = trap(program, {0: F(1)})
    assert (diagnostic.excerpt.line, diagnostic.excerpt.text) == (6, "while b do")
    assert diagnostic.label == "no way out with `y = 0, b = true` or `y = 1, b = true`"
    assert diagnostic.notes == (
        "a program must end with probability 1: let every round have a chance to make the condition false",
        "the inputs are x = 1",
        "on the path where `b` becomes true (line 5)",
    )


def test_the_outermost_of_the_trapped_loops_is_shown():
    text = (
        "program p; output y : {0..1} = 0; var b, c : bool = true;\n"
        "while b do\n  c <- true;\n  while c do\n    c <- choose { true : 1/2, false : 1/2 }\n  end\nend"
    )
    assert trap(written(text)).excerpt.line == 2
    inner = text.replace("c <- choose { true : 1/2, false : 1/2 }", "y <- choose { 0 : 1/2, 1 : 1/2 }")
    assert trap(written(inner)).excerpt.line == 4


@pytest.mark.parametrize("condition", ["true", "x >= 0", "x != 0 or x = 0"])
def test_an_empty_loop_is_a_trap(condition):
    program = written(f"program p; output x : {{0..1}} = 0; while {condition} do end")
    assert trap(program).excerpt.line == 1


def test_a_trap_behind_a_comparison_names_it():
    program = written(
        "program p; input q : real; output y : bool = true; var r : real; r <- Lap(eps, q);\n"
        "while r > q do y <- not y end"
    )
    diagnostic = trap(program)
    assert diagnostic.excerpt.line == 2
    assert diagnostic.notes[-1] == "on the path where `r > q` is true (line 2)"


def test_a_trap_that_noise_excludes_is_none():
    explore(
        written("program p; output y : bool = true; var r : real; r <- Expo(eps); while r < 0 do y <- not y end"), {}
    )
    explore(written("program p; output y : bool; var z : int; z <- DLap(eps, 0); while 2*z = 1 do y <- true end"), {})


def test_a_loop_that_an_exit_leaves_is_none():
    text = (
        "program p; output y : bool = true; while true do y <- choose {true: 1/2, false: 1/2}; if y then exit end end"
    )
    assert len(explore(written(text), {}).exits) == 1
    assert explore(written(text), {}, {0: False}).exits == ()


def test_an_arm_of_weight_zero_does_not_get_anyone_out():
    text = "program p; output y : bool = true; while y do y <- choose { true : 1, false : 0 } end"
    assert trap(written(text)).excerpt.line == 1


def test_a_weight_the_caller_knows_to_be_zero_does_not_get_anyone_out():
    text = "program p; output y : bool = true; while y do y <- choose { true : 1, false : eps - eps } end"
    explore(written(text), {})
    trap(written(text), possible=lambda weight: type(weight).__name__ == "Number")


def test_cut_states_count_as_ways_out():
    text = "program p; output y, out : bool = true; while out do out <- choose {true: 1/2, false: 1/2} end; y <- false"
    assert explore(written(text), {}, {1: True}).exits == ()
