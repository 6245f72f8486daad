"""Run by run, the simulation of the text agrees with the execution of the instructions on the same random numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dipc.simulation.expressions import Batch, BatchExpressions, SimulatedForm, declared
from dipc.simulation.runs import BatchStatements, NoiseSource
from dipc.text import ast
from dipc.text.diagnostic import SourceText
from dipc.text.parser import parse
from dipc.text.statements import lower
from tests.simulation.programs import INPUTS, programs
from tests.simulation.scalar import run

RUNS = 16

KINDS = {"Lap(", "DLap(", "Expo(", "Exp(", "choose", "while", "for ", "exit", "else", "not (", "a[a[", "abs(", "true"}


class Recorder(NoiseSource):
    def __init__(self, seed):
        super().__init__(seed)
        self.last = None

    def uniform(self, size):
        self.last = super().uniform(size)
        return self.last


class Recording(BatchStatements):
    """Remembers what was drawn for which run."""

    def __init__(self, expressions, noise):
        super().__init__(expressions, noise, 10_000)
        self.noise = noise
        self.tapes = [[] for _ in range(expressions.batch.size)]

    def _around(self, mean, values, runs):
        self.noise.last = values
        return super()._around(mean, values, runs)

    def _sample(self, target, distribution, runs):
        super()._sample(target, distribution, runs)
        for at, value in zip(runs.tolist(), self.noise.last.tolist(), strict=True):
            self.tapes[at].append(value)


def number(value, at):
    """The value of a number in run `at`."""
    if not isinstance(value, SimulatedForm):
        return value
    return value.constant + sum(c * Fraction(float(draw.values[at])) for draw, c in value.terms)


def simulated(text, inputs, eps, seed=0, runs=RUNS):
    """The final values of each run, by name, and its tape."""
    source = SourceText("random.dip", text)
    tree = parse(source)
    scope = declared(tree, source, {})
    batch = Batch(scope, runs, inputs)
    statements = Recording(BatchExpressions(scope, eps, batch), Recorder(seed))
    statements.block(tree.body, np.arange(runs))
    finals = []
    for at in range(runs):
        values = {}
        for variable in scope.variables.values():
            for offset in range(variable.size):
                column = batch.cell(variable, offset).peek()
                values[variable.element_name(offset)] = number(column.values[column.codes[at]], at)
        finals.append((values, statements.tapes[at]))
    return finals


def agree(found, expected):
    if found is None or expected is None or isinstance(found, str | bool):
        return found == expected
    return abs(found - expected) <= Fraction(1, 10**9) * (1 + abs(expected))


@given(programs(), INPUTS, st.sampled_from([Fraction(1, 2), Fraction(3)]), st.integers(0, 10**6))
def test_every_run_ends_in_the_same_values(text, inputs, eps, seed):
    source = SourceText("random.dip", text)
    program = lower(parse(source), source)
    for values, tape in simulated(text, inputs, eps, seed):
        expected = run(program, inputs, eps, tape)
        assert values.keys() == expected.keys()
        wrong = {name: (values[name], expected[name]) for name in values if not agree(values[name], expected[name])}
        assert not wrong, text


def test_the_strategy_uses_every_kind_of_statement_and_expression():
    seen = set()

    @settings(max_examples=30, phases=[Phase.generate], database=None)
    @given(programs())
    def collect(text):
        seen.update(word for word in KINDS if word in text.split("r[2] <-", 1)[1])

    collect()
    assert seen == KINDS


def test_roles_are_those_of_the_text():
    source = SourceText("x.dip", "program p; input a[2..3] : real; output o : bool; var v : {0..1}; o <- a[2] > a[3]")
    scope = declared(parse(source), source, {})
    assert [name for name, _, _ in scope.of_role(ast.Role.INPUT)] == ["a[2]", "a[3]"]
    assert [name for name, _, _ in scope.of_role(ast.Role.OUTPUT)] == ["o"]
