"""The exits partition the noises and the choices, and each tells the truth: against a plain interpreter."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from dipc.chain.explore import explore
from dipc.chain.state import Affine
from dipc.text.ast import Role
from tests.chain.interpreter import run
from tests.chain.programs import running_maximum, sparse
from tests.chain.samples import all_hold, dom_input, located, matching, samples, tape, value_at, walk
from tests.chain.strategies import programs

#: Programs without choices have exits that exclude each other; with choices, the walk decides.
CERTAIN = programs(choices=False)


def check_outputs(program, exit_state, noises, inputs, expected):
    for slot in program.outputs:
        value = exit_state.outputs[slot]
        if isinstance(value, Affine):
            value = value_at(value, located(exit_state, noises, inputs), inputs)
        assert value == expected.get(slot), program.slots[slot].name


def check_partition(program, dom_inputs, seed, **options):
    chain = explore(program, dom_inputs, **options)
    for noises, inputs in samples(program, seed, dom_inputs):
        (found,) = matching(chain, noises, inputs)
        check_outputs(program, found, noises, inputs, run(program, inputs, noises))


@given(CERTAIN, st.integers(0, 2), st.integers())
def test_exactly_one_exit_holds_and_has_the_right_outputs(program, d, seed):
    check_partition(program, {dom_input(program): Fraction(d)}, seed)


@given(CERTAIN, st.integers(0, 2), st.integers())
def test_the_same_without_uniting_and_forgetting(program, d, seed):
    check_partition(program, {dom_input(program): Fraction(d)}, seed, display=True)


@given(programs(), st.integers(0, 2), st.integers(), st.booleans())
def test_a_walk_ends_in_an_exit_that_holds_and_has_the_right_outputs(program, d, seed, display):
    chain = explore(program, {dom_input(program): Fraction(d)}, display=display)
    exits = {exit_state.node: exit_state for exit_state in chain.exits}
    for noises, inputs in samples(program, seed, {dom_input(program): Fraction(d)}, 6):
        found = exits[walk(chain, noises, inputs, tape(seed))]
        assert all_hold(found, noises, inputs)
        check_outputs(program, found, noises, inputs, run(program, inputs, noises, tape(seed)))


def finite(program, exit_state):
    return {slot: value for slot, value in exit_state.outputs.items() if not program.slots[slot].is_symbolic}


@given(CERTAIN, st.integers(0, 2), st.integers(), st.data())
def test_wanted_exits_are_the_matching_ones_of_the_full_chain(program, d, seed, data):
    dom_inputs = {dom_input(program): Fraction(d)}
    full = explore(program, dom_inputs, display=True)
    model = data.draw(st.sampled_from(full.exits))
    dom_outputs = sorted(finite(program, model))
    wanted = {slot: model.outputs[slot] for slot in data.draw(st.sets(st.sampled_from(dom_outputs)))}

    def summary(exits):
        return sorted(
            (
                repr(sorted(exit_state.outputs.items())),
                repr(exit_state.constraints.items),
                repr(exit_state.guards.items),
            )
            for exit_state in exits
            if all(exit_state.outputs[slot] == value for slot, value in wanted.items())
        )

    cut = explore(program, dom_inputs, wanted, display=True, observed=program.outputs)
    assert summary(cut.exits) == summary(full.exits)
    assert len(summary(cut.exits)) == len(cut.exits)
    assert len(cut.states) <= len(full.states)

    united = explore(program, dom_inputs, wanted)
    for noises, inputs in samples(program, seed, dom_inputs):
        (truth,) = matching(full, noises, inputs)
        hit = all(truth.outputs[slot] == value for slot, value in wanted.items())
        assert len(matching(united, noises, inputs)) == hit


@given(programs(), st.integers(0, 2), st.integers(), st.data())
def test_a_walk_towards_wanted_outputs_ends_in_an_exit_just_when_they_come_out(program, d, seed, data):
    dom_inputs = {dom_input(program): Fraction(d)}
    model = data.draw(st.sampled_from(explore(program, dom_inputs).exits))
    wanted = finite(program, model)
    chain = explore(program, dom_inputs, wanted)
    exits = {exit_state.node for exit_state in chain.exits}
    for noises, inputs in samples(program, seed, dom_inputs, 6):
        result = run(program, inputs, noises, tape(seed))
        end = walk(chain, noises, inputs, tape(seed))
        assert (end in exits) == all(result.get(slot) == value for slot, value in wanted.items())
        assert (end in exits) != (end in chain.cut)


@given(CERTAIN, st.integers(0, 2))
def test_uniting_never_leaves_more_exits(program, d):
    dom_inputs = {dom_input(program): Fraction(d)}
    assert len(explore(program, dom_inputs).exits) <= len(explore(program, dom_inputs, display=True).exits)


def test_sparse_partitions():
    for c in (1, 2):
        check_partition(sparse(3, c), {}, c)


def test_running_maximum_partitions():
    for m in (2, 3, 5):
        for draw in ("lap", "dlap", "expo"):
            check_partition(running_maximum(m, draw=draw), {}, m)
            check_partition(running_maximum(m, output_value=True, draw=draw), {}, m)


def test_the_interpreter_tells_apart():
    """The property would notice a wrong output: the interpreter is not constant."""
    program = running_maximum(2)
    assert program.slots[program.outputs[0]].role is Role.OUTPUT
    inputs = {slot: Fraction(0) for slot in program.inputs}
    low, high = ({0: Fraction(a), 3: Fraction(b)} for a, b in ((0, 1), (1, 0)))
    assert run(program, inputs, low)[program.outputs[0]] == 2
    assert run(program, inputs, high)[program.outputs[0]] == 1
