"""Run by run, the checker's machine and the engine's instructions end in the same values on the same random numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dipc.simulation.batch import Batch
from dipc.simulation.runs import compiled
from dipc.text.diagnostic import SourceText
from dipc.text.parser import parse
from dipc.text.statements import lower
from tests.simulation.programs import INPUTS, programs
from tests.simulation.running import at_run
from tests.simulation.scalar import run

RUNS = 16

KINDS = {"Lap(", "DLap(", "Expo(", "Exp(", "choose", "while", "for ", "exit", "else", "not (", "a[a[", "abs(", "true"}


class Recording(Batch):
    """Remembers what was drawn for which run."""

    def __init__(self, *given):
        super().__init__(*given)
        self.tapes = [[] for _ in range(self.size)]

    def _drawn(self, draw, runs):
        drawn = super()._drawn(draw, runs)
        for at, value in zip(runs.tolist(), drawn.tolist(), strict=True):
            self.tapes[at].append(value)
        return drawn


def agree(found, expected):
    if found is None or expected is None or isinstance(found, str | bool):
        return found == expected
    return abs(found - expected) <= Fraction(1, 10**9) * (1 + abs(expected))


@given(programs(), INPUTS, st.sampled_from([Fraction(1, 2), Fraction(3)]), st.integers(0, 10**6))
def test_every_run_ends_in_the_same_values(text, inputs, eps, seed):
    source = SourceText("random.dip", text)
    program = lower(parse(source), source)
    machine, _ = compiled(program, eps)
    batch = Recording(machine, source, eps, inputs, np.random.default_rng(seed), RUNS)
    batch.run(10_000)
    names = [slot.name for slot in machine.slots]
    for at, tape in enumerate(batch.tapes):
        expected = run(program, inputs, eps, tape)
        found = {name: at_run(batch, names.index(name), at) for name in expected}
        wrong = {name: (found[name], expected[name]) for name in found if not agree(found[name], expected[name])}
        assert not wrong, text


def test_the_strategy_uses_every_kind_of_statement_and_expression():
    seen = set()

    @settings(max_examples=30, phases=[Phase.generate], database=None)
    @given(programs())
    def collect(text):
        seen.update(word for word in KINDS if word in text.split("r[2] <-", 1)[1])

    collect()
    assert seen == KINDS
