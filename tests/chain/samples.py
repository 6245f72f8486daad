"""Random noises, inputs and choices for a program, and the walk through a chain that they make."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

from dipc.chain.state import Choice, Comparison, ExponentialWeight
from dipc.noise.discrete_laplace import DISCRETE_LAPLACE
from dipc.noise.one_sided import ONE_SIDED
from dipc.text.ast import BaseType, Role
from dipc.text.core import SampleNoise

SAMPLES = 12


def value_at(form, noises, inputs):
    return (
        sum((factor * noises[noise] for noise, factor in form.noises), form.constant)
        + sum(factor * inputs[slot] for slot, factor in form.inputs)
    )  # fmt: skip


def located(state, noises, inputs):
    """The values of a state's (or an exit's) noises, by id, when they are `noises` off their means."""
    return {noise.id: value_at(noise.mean, {}, inputs) + noises[noise.id] for noise in state.noises}


def holds(item, noises, inputs):
    value = value_at(item.form, noises, inputs)
    assert value or item.whole or not item.form.noises, "the samples are generic: no continuous noise ties"
    return value > 0 or (value == 0 and not item.strict)


def all_hold(state, noises, inputs):
    """Whether constraints and guards of a state (or an exit) hold."""
    there = located(state, noises, inputs)
    return all(holds(item, there, inputs) for item in (*state.constraints.items, *state.guards.items))


def matching(chain, noises, inputs):
    return [exit_state for exit_state in chain.exits if all_hold(exit_state, noises, inputs)]


def walk(chain, noises, inputs, choose):
    """The node where the chain ends: at each comparison exactly one outcome must hold."""
    node = chain.initial
    while chain.graph.out_degree(node):
        state = chain.states[node]
        steps = [(goal, edge) for goal in chain.graph[node] for edge in chain.graph.edges[node, goal]["edges"]]
        if isinstance(steps[0][1], Choice):
            # In the order of the options: equal values share one successor.
            options = {option(chain.flow.program, edge): goal for goal, edge in steps}
            node = options[choose(len(options), steps[0][1].label)]
        elif isinstance(steps[0][1], Comparison):
            there = located(state, noises, inputs)
            (node,) = [goal for goal, edge in steps if all(holds(item, there, inputs) for item in edge.known)]
        else:
            ((node, _),) = steps
    return node


def option(program, edge):
    """The option with a positive weight that a choice took."""
    if isinstance(edge.weight, ExponentialWeight):
        return edge.weight.index
    weights = [weight for _, weight in program.instructions[edge.label].arms if weight.value]
    return next(index for index, weight in enumerate(weights) if weight is edge.weight)


def tape(seed):
    """Choices by label and round, the same for the same seed: a chain leaves out choices that nothing reads."""
    rounds = Counter()

    def choose(count, label):
        rounds[label] += 1
        return random.Random(f"{seed} {label} {rounds[label]}").randrange(count)

    return choose


def samples(program, seed, dom_inputs, count=SAMPLES):
    """Offsets of noises from their means, by label, with inputs.

    The offsets are all different and near small multiples of 1/2, so that every order occurs.
    """
    generator = random.Random(seed)
    draws = {
        label: instruction.law
        for label, instruction in enumerate(program.instructions)
        if isinstance(instruction, SampleNoise)
    }
    for _ in range(count):
        inputs = dict(dom_inputs)
        for slot in program.inputs:
            if program.slots[slot].type is BaseType.REAL:
                inputs[slot] = Fraction(generator.randint(-3, 3), 2)
            elif program.slots[slot].type is BaseType.INT:
                inputs[slot] = Fraction(generator.randint(-2, 2))
        noises = {}
        for label, family in draws.items():
            noise = Fraction(generator.randint(-6, 6), 2) + Fraction(generator.randint(-999, 999), 100_003)
            if family == ONE_SIDED:
                noise = abs(noise)
            elif family == DISCRETE_LAPLACE:
                noise = Fraction(generator.randint(-3, 3))
            noises[label] = noise
        yield noises, inputs


def dom_input(program):
    """The slot of the one input of a finite type."""
    (slot,) = [slot.index for slot in program.slots if slot.role is Role.INPUT and not slot.is_symbolic]
    return slot
