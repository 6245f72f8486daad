"""With the exact measure on top: outputs sum to one, and uniting paths changes no probability."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Undecided
from dipc.chain.event import template
from dipc.chain.explore import explore
from dipc.measure.measure import Measurer
from dipc.text.diagnostic import SourceText
from dipc.text.parser import parse
from dipc.text.statements import lower
from tests.chain.programs import running_maximum, sparse
from tests.chain.samples import dom_input
from tests.chain.strategies import programs

F = Fraction
BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def distribution(program, dom_inputs, inputs, **options):
    """Probability by the values of the DOM outputs."""
    measurer = Measurer()
    found = Counter()
    for exit_state in explore(program, dom_inputs, **options).exits:
        event_template = template(program, exit_state)
        if event_template.guards_hold(inputs):
            outputs = tuple(value for slot, value in exit_state.outputs.items() if not program.slots[slot].is_symbolic)
            events = [part.event(inputs) for part in event_template.components]
            found[outputs] = found.get(outputs, ExpPoly.ZERO) + math.prod(
                (measurer.measure(event) for event in events), start=ExpPoly.ONE
            )
    return {outputs: value for outputs, value in found.items() if value != ExpPoly.ZERO}


def total(found):
    return sum(found.values(), start=ExpPoly.ZERO)


@given(programs(size=6, simple=True), st.integers(0, 2), st.tuples(*[st.sampled_from([F(-1), F(0), F(1, 2)])] * 2))
def test_random_programs_sum_to_one_whether_paths_are_united_or_not(program, d, inputs):
    dom_inputs = {dom_input(program): F(d)}
    real_inputs = dict(zip(program.inputs, inputs, strict=False))
    try:
        united = distribution(program, dom_inputs, real_inputs)
        apart = distribution(program, dom_inputs, real_inputs, display=True)
    except Undecided:
        assume(False)
    assert total(united) == ExpPoly.ONE
    assert united == apart


@pytest.mark.parametrize("program", [sparse(3, 1), sparse(3, 2), running_maximum(4)], ids=["c=1", "c=2", "maximum"])
def test_mechanisms_sum_to_one_whether_paths_are_united_or_not(program):
    inputs = {slot: F(at % 3, 2) for at, slot in enumerate(program.inputs)}
    united = distribution(program, {}, inputs)
    assert total(united) == ExpPoly.ONE
    assert united == distribution(program, {}, inputs, display=True)


#: Normal probabilities have no closed forms: what they sum to is compared in tests/measure.
CLOSED = [path for path in sorted(BENCHMARKS.glob("*.dip")) if not path.stem.startswith("gaussian")]


@pytest.mark.parametrize("path", CLOSED, ids=lambda path: path.stem)
def test_the_benchmark_mechanisms_sum_to_one(path):
    source = SourceText(path.name, path.read_text(encoding="utf-8"))
    program = lower(parse(source), source, {})
    inputs = {slot: F(at % 3 - 1) for at, slot in enumerate(program.inputs)}
    assert total(distribution(program, {}, inputs)) == ExpPoly.ONE
