from __future__ import annotations

import re
from collections import Counter
from fractions import Fraction

import pytest

import dipc
from dipc.algebra.exppoly import Quotient
from dipc.chain.explore import explore
from dipc.outcome.outcome import render
from dipc.outcome.program import Dtmc, StateView, build, dot_text, outcome

SPARSE = "benchmarks/sparse.dip"


def chain(path: str, inputs: dict[str, str] | None, **constants: int) -> Dtmc:
    program = dipc.load(path, **constants)
    core, weights = program.core, program.choices.weights
    found = explore(core, {}, display=True, possible=weights.possible)
    if inputs is None:
        return build(found, None, weights)
    values = {core.slots[slot].index: Fraction(inputs[core.slots[slot].name]) for slot in core.inputs}
    return build(found, values, weights)


@pytest.fixture(scope="module")
def sparse() -> Dtmc:
    return chain(SPARSE, {"q[1]": "-1", "q[2]": "1"}, m=2)


def test_the_steps_from_every_state_sum_to_exactly_one(sparse: Dtmc) -> None:
    for state, steps in zip(sparse.states, sparse.steps, strict=True):
        if state.line is None:
            assert steps == ()
            continue
        total = Quotient.convert(0)
        for step in steps:
            assert step.probability is not None
            total = total + step.probability.value
        assert total == 1


def test_the_product_along_the_paths_is_the_probability_of_the_output(sparse: Dtmc) -> None:
    """The chain and `Program.probability` agree exactly, exit by exit."""
    reached: dict[int, Quotient] = {0: Quotient.convert(1)}
    for number, steps in enumerate(sparse.steps):
        for step in steps:
            assert step.probability is not None
            assert step.goal > number
            weight = reached[number] * step.probability.value
            reached[step.goal] = reached.get(step.goal, Quotient.convert(0)) + weight
    by_output: dict[tuple[str, ...], Quotient] = {}
    for number, state in enumerate(sparse.states):
        if state.line is None:
            values = dict(state.values)
            key = (values["out[1]"], values["out[2]"])
            by_output[key] = by_output.get(key, Quotient.convert(0)) + reached[number]
    expected = dipc.load(SPARSE, m=2).outcomes({"q": [-1, 1]})
    assert len(expected) == len(by_output) == 3
    for one in expected:
        key = (str(one.output["out[1]"]), str(one.output["out[2]"]))
        assert by_output[key] == one.probability.value


def test_figure_4() -> None:
    """Algorithm 1 at its lines 10 to 12: the same values, parameters and conditions as in the paper's boxes."""
    found = chain("tests/golden/files/figure4.dip", {"q1": "0", "q2": "1"})
    line = {state.line: state for state in found.states}  # the last state at each line
    before = line[21]
    assert before.statement == "b <- r2 >= rT"
    assert dict(before.values) == {"q1": "0", "q2": "1", "o1_1": "0", "o1_2": "0", "T": "0", "b": "false"}
    assert [*before.noises] == [
        "rT ~ Lap(4*eps/9, 0)",
        "r1 ~ Lap(2*eps/9, 0)",
        "r2 ~ Lap(2*eps/9, 1)",
    ]
    assert before.constraints == ("r1 < rT",)
    steps = found.steps[found.states.index(before)]
    assert [step.outcome for step in steps] == ["r2 >= rT", "r2 < rT"]
    after = [found.states[step.goal] for step in steps]
    assert [state.constraints for state in after] == [("r1 < rT", "r2 >= rT"), ("r1 < rT", "r2 < rT")]
    assert [dict(state.values)["b"] for state in after] == ["true", "false"]
    p, q = (step.probability for step in steps)
    assert p is not None
    assert q is not None
    assert p.value + q.value == 1
    assert str(p) == "1 - 7*exp(-2*eps/9)/8 + exp(-4*eps/9)/3 - exp(-2*eps/3)/24"


def test_open_inputs_give_symbols_and_no_numbers() -> None:
    found = chain("tests/golden/files/figure4.dip", None)
    assert all(step.probability is None or step.certain for steps in found.steps for step in steps)
    assert "r1 ~ Lap(2*eps/9, q1)" in render(outcome(found, "p"))


def test_quotients_are_shown_with_whole_coefficients(sparse: Dtmc) -> None:
    quotients = [
        str(step.probability)
        for steps in sparse.steps
        for step in steps
        if step.probability is not None and step.probability.numerator_and_denominator()[1] is not None
    ]
    assert quotients == [
        "(24 - 32*exp(-eps/4) + 14*exp(-eps/2) - exp(-eps))/(24 - 16*exp(-eps/4) + 4*exp(-eps/2))",
        "(16*exp(-eps/4) - 10*exp(-eps/2) + exp(-eps))/(24 - 16*exp(-eps/4) + 4*exp(-eps/2))",
    ]


@pytest.mark.parametrize(
    ("rate", "keyword", "text"),
    [
        ("1", "Lap", "r ~ Lap(eps, 0)"),
        ("1/4", "Lap", "r ~ Lap(eps/4, 0)"),
        ("4/9", "Lap", "r ~ Lap(4*eps/9, 0)"),
        ("3", "DLap", "r ~ DLap(3*eps, 0)"),
        ("2", "Expo", "r ~ Expo(2*eps)"),
    ],
)
def test_noises(rate: str, keyword: str, text: str) -> None:
    kind = "int" if keyword == "DLap" else "real"
    program = dipc.load(f"program p; output b : bool; var r : {kind}; r <- {keyword}({rate}*eps); b <- r > 0")
    dtmc = build(explore(program.core, {}, display=True), {}, program.choices.weights)
    assert text in {noise for state in dtmc.states for noise in state.noises}


# --- DOT -----------------------------------------------------------------------------------------------

STRING = r'"(?:[^"\\]|\\.)*"'
ATTRIBUTES = rf"(?: \[\w+={STRING}(?:, \w+=\w+)?\])?"


def statements(dot: str) -> Counter[str]:
    """The statements of a DOT text by kind; fails on a line that is not well-formed."""
    lines = dot.splitlines()
    assert re.fullmatch(rf"digraph {STRING} \{{", lines[0])
    assert lines[-1] == "}"
    kinds: Counter[str] = Counter()
    for line in lines[1:-1]:
        for kind, pattern in (
            ("default", r'  (?:node|edge) \[(?:shape=box, )?fontname="monospace"\];'),
            ("edge", rf"  s\d+ -> s\d+{ATTRIBUTES};"),
            ("node", rf"  s\d+{ATTRIBUTES};"),
        ):
            if re.fullmatch(pattern, line):
                kinds[kind] += 1
                break
        else:
            raise AssertionError(line)
    return kinds


def test_dot_has_a_node_for_each_state_and_an_edge_for_each_step(sparse: Dtmc) -> None:
    kinds = statements(dot_text(sparse, "sparse", Fraction(1)))
    assert kinds == {"default": 2, "node": len(sparse.states), "edge": sparse.step_count}


@pytest.mark.parametrize("name", ['say "hi"', "back\\slash", 'end\\"', "two\nlines", "tab\t", "}; evil ["])
def test_dot_strings_cannot_be_broken_out_of(name: str) -> None:
    state = StateView(None, None, "exit", ((name, name + "!"),), (), (name,))
    assert statements(dot_text(Dtmc((state,), ((),)), name)) == {"default": 2, "node": 1}


def test_certain_steps_carry_no_label(sparse: Dtmc) -> None:
    assert "  s0 -> s1;" in dot_text(sparse, "sparse").splitlines()
