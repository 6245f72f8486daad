"""The exits partition the noises, and each tells the truth about the outputs: against a plain interpreter."""

from __future__ import annotations

import random
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from dipc.chain.affine import Affine
from dipc.chain.explore import explore
from dipc.syntax.ast import Role
from dipc.syntax.core import RealType, SampleNoise
from tests.chain.interpreter import run
from tests.chain.programs import running_maximum, sparse
from tests.chain.strategies import programs

SAMPLES = 12


def value_at(form, noises, inputs):
    return (
        sum((factor * noises[noise] for noise, factor in form.noises), form.constant)
        + sum(factor * inputs[slot] for slot, factor in form.inputs)
    )  # fmt: skip


def holds(item, noises, inputs):
    value = value_at(item.form, noises, inputs)
    assert value or not item.form.noises, "the samples are generic: no noise ties"
    return value > 0 or (value == 0 and not item.strict)


def matching(chain, noises, inputs):
    return [
        exit_state
        for exit_state in chain.exits
        if all(holds(item, noises, inputs) for item in (*exit_state.constraints.items, *exit_state.guards.items))
    ]


def samples(program, seed, dom_inputs, count=SAMPLES):
    """Noises by label, all different and near small multiples of 1/2, so that every order comes up; and inputs."""
    generator = random.Random(seed)
    draws = [label for label, instruction in enumerate(program.instructions) if isinstance(instruction, SampleNoise)]
    for _ in range(count):
        inputs = dict(dom_inputs)
        for slot in program.inputs:
            if isinstance(program.slots[slot].type, RealType):
                inputs[slot] = Fraction(generator.randint(-3, 3), 2)
        noises = {
            label: Fraction(generator.randint(-6, 6), 2) + Fraction(generator.randint(-999, 999), 100_003)
            for label in draws
        }
        yield noises, inputs


def check_partition(program, dom_inputs, seed, **options):
    chain = explore(program, dom_inputs, **options)
    for noises, inputs in samples(program, seed, dom_inputs):
        (found,) = matching(chain, noises, inputs)
        expected = run(program, inputs, noises)
        for slot in program.outputs:
            value = found.outputs[slot]
            if isinstance(value, Affine):
                value = value_at(value, noises, inputs)
            assert value == expected.get(slot), program.slots[slot].name


@given(programs(), st.integers(0, 2), st.integers())
def test_exactly_one_exit_holds_and_has_the_right_outputs(program, d, seed):
    check_partition(program, {program.inputs[2]: Fraction(d)}, seed)


@given(programs(), st.integers(0, 2), st.integers())
def test_the_same_without_uniting_and_forgetting(program, d, seed):
    check_partition(program, {program.inputs[2]: Fraction(d)}, seed, display=True)


@given(programs(), st.integers(0, 2), st.integers(), st.data())
def test_wanted_exits_are_the_matching_ones_of_the_full_chain(program, d, seed, data):
    dom_inputs = {program.inputs[2]: Fraction(d)}
    full = explore(program, dom_inputs, display=True)
    model = data.draw(st.sampled_from(full.exits))
    dom_outputs = [slot for slot in program.outputs if not isinstance(program.slots[slot].type, RealType)]
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


@given(programs(), st.integers(0, 2))
def test_uniting_never_leaves_more_exits(program, d):
    dom_inputs = {program.inputs[2]: Fraction(d)}
    assert len(explore(program, dom_inputs).exits) <= len(explore(program, dom_inputs, display=True).exits)


def test_sparse_partitions():
    for c in (1, 2):
        check_partition(sparse(3, c), {}, c)


def test_running_maximum_partitions():
    for m in (2, 3, 5):
        check_partition(running_maximum(m), {}, m)
        check_partition(running_maximum(m, output_value=True), {}, m)


def test_the_interpreter_tells_apart():
    """The property would notice a wrong output: the interpreter is not constant."""
    program = running_maximum(2)
    assert program.slots[program.outputs[0]].role is Role.OUTPUT
    inputs = {slot: Fraction(0) for slot in program.inputs}
    low, high = ({0: Fraction(a), 3: Fraction(b)} for a, b in ((0, 1), (1, 0)))
    assert run(program, inputs, low)[program.outputs[0]] == 2
    assert run(program, inputs, high)[program.outputs[0]] == 1
