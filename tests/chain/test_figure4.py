"""Figure 4 of the paper: the states of Algorithm 1 around its lines 10 and 11."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dipc.algebra.exppoly import ClosedForm, Quotient
from dipc.algebra.limits import Limits
from dipc.chain.explore import explore
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Noise
from dipc.measure.measure import measure
from dipc.noise.laplace import LAPLACE
from dipc.outcome.program import build
from dipc.program.weights import check_choices
from dipc.text.ast import Role
from tests.chain.programs import BOOL, REAL, Writer, integers, op, read

F = Fraction


def algorithm_1():
    """The paper counts from 1, the chain from 0; the jump over the else branch makes up for it from line 10 on."""
    bit = integers(0, 1)
    writer = Writer(
        ("q1", REAL, Role.INPUT, None),
        ("q2", REAL, Role.INPUT, None),
        ("o1_1", bit, Role.OUTPUT, None),
        ("o2_1", REAL, Role.OUTPUT, None),
        ("o1_2", bit, Role.OUTPUT, None),
        ("o2_2", REAL, Role.OUTPUT, None),
        ("T", integers(0, 0), Role.VAR, None),
        ("rT", REAL, Role.VAR, None),
        ("r1", REAL, Role.VAR, None),
        ("r2", REAL, Role.VAR, None),
        ("b", BOOL, Role.VAR, None),
    )
    q1, q2, o11, o21, o12, o22, T, rT, r1, r2, b = range(11)
    return writer.program(
        [
            ("set", T, 0),
            ("set", o11, 0),
            ("set", o12, 0),
            ("lap", rT, F(4, 9), ({}, read(T))),
            ("lap", r1, F(2, 9), ({q1: 1}, 0)),
            ("compare", b, ({r1: 1, rT: -1}, 0), ">="),
            (
                "if",
                read(b),
                [("set", o11, 1), ("lap", o21, F(1, 9), ({q1: 1}, 0))],
                [
                    ("lap", r2, F(2, 9), ({q2: 1}, 0)),
                    ("compare", b, ({r2: 1, rT: -1}, 0), ">="),
                    ("if", read(b), [("set", o12, 1), ("lap", o22, F(1, 9), ({q2: 1}, 0))], []),
                ],
            ),
            ("exit",),
        ]
    )


@pytest.fixture(scope="module")
def program():
    return algorithm_1()


@pytest.fixture(scope="module")
def chain(program):
    return explore(program, {}, display=True)


def shown_at(chain, inputs=None):
    return build(chain, inputs, check_choices(chain.flow.program, Limits()).weights)


def described(state):
    return (
        state.label,
        ", ".join(f"{name}:{value}" for name, value in state.values),
        ", ".join(state.noises),
        ", ".join(state.constraints),
    )


def test_the_states_of_figure_4(chain):
    found = [described(state) for state in shown_at(chain).states]
    before = "rT ~ Lap(4*eps/9, 0), r1 ~ Lap(2*eps/9, q1)"
    after = f"{before}, r2 ~ Lap(2*eps/9, q2)"
    low = "q1:q1, q2:q2, o1_1:0, o1_2:0, T:0, b:false"
    high = "q1:q1, q2:q2, o1_1:0, o1_2:0, T:0, b:true"
    assert [state for state in found if state[0] in (10, 11, 12)] == [
        (10, low, before, "r1 < rT"),
        (11, low, after, "r1 < rT"),
        (12, high, after, "r1 < rT, r2 >= rT"),
        (12, low, after, "r1 < rT, r2 < rT"),
    ]


def test_the_whole_chain(chain):
    shown = shown_at(chain, {0: F(-1), 1: F(3)})
    assert [state.label for state in shown.states] == [
        0,
        1,
        2,
        3,
        4,
        5,
        6,
        6,
        7,
        8,
        10,
        11,
        12,
        12,
        13,
        14,
        *[None] * 3,
    ]
    before = "rT ~ Lap(4*eps/9, 0), r1 ~ Lap(2*eps/9, -1)"
    exits = [described(state)[1:] for state in shown.states if state.label is None]
    assert exits == [
        (
            "q1:-1, q2:3, o1_1:1, o1_2:0, T:0, b:true",
            f"{before}, o2_1 ~ Lap(eps/9, -1)",
            "r1 >= rT",
        ),
        (
            "q1:-1, q2:3, o1_1:0, o1_2:0, T:0, b:false",
            f"{before}, r2 ~ Lap(2*eps/9, 3)",
            "r1 < rT, r2 < rT",
        ),
        (
            "q1:-1, q2:3, o1_1:0, o1_2:1, T:0, b:true",
            f"{before}, r2 ~ Lap(2*eps/9, 3), o2_2 ~ Lap(eps/9, 3)",
            "r1 < rT, r2 >= rT",
        ),
    ]
    assert [(state.line, state.statement) for state in shown.states if state.label == 11] == [(12, "b <- . >= .")]


def test_the_transition_probabilities_p_and_q_are_quotients_of_measures(chain):
    shown = shown_at(chain, {0: F(-1), 1: F(3)})
    (number,) = [number for number, state in enumerate(shown.states) if state.label == 11]
    above, below = sorted(shown.steps[number], key=lambda step: step.outcome, reverse=True)
    assert (above.outcome, below.outcome) == ("r2 >= rT", "r2 < rT")
    threshold, first, second = (Noise(LAPLACE, rate, F(0)) for rate in (F(4, 9), F(2, 9), F(2, 9)))
    given = Event((threshold, first), (Halfspace(((0, F(1)), (1, F(-1))), F(1)),))
    for step, sign in ((above, 1), (below, -1)):
        joint = Event(
            (threshold, first, second), (*given.constraints, Halfspace(((0, F(-sign)), (2, F(sign))), F(3 * sign)))
        )
        quotient = Quotient.convert(measure(joint)).divide_by_positive(Quotient.convert(measure(given)))
        assert not step.certain
        assert step.probability == ClosedForm(quotient)
    every = [step for steps in shown.steps for step in steps]
    certain = [step for step in every if step.certain]
    assert len(certain) == len(every) - 4
    assert all(step.outcome == "" and step.probability.value == 1 for step in certain)


def test_the_probabilities_out_of_every_state_sum_to_one(chain):
    for steps in shown_at(chain, {0: F(-1), 1: F(3)}).steps:
        assert not steps or sum((step.probability.value for step in steps), start=Quotient.convert(0)) == 1


def test_guards_are_decided_by_the_inputs_when_they_are_given():
    writer = Writer(
        ("q1", REAL, Role.INPUT, None),
        ("q2", REAL, Role.INPUT, None),
        ("out", integers(0, 2), Role.OUTPUT, F(0)),
    )
    program = writer.program(
        [("ifcompare", ({0: 1, 1: -1}, F(1, 2)), "=", [("set", 2, 1)], [("set", 2, op("+", read(2), read(2)))])]
    )
    chain = explore(program, {}, display=True)
    assert sorted(state.constraints for state in shown_at(chain).states if state.label is None) == [
        ("q1 + 1/2 < q2",),
        ("q1 + 1/2 = q2",),
        ("q1 + 1/2 > q2",),
    ]
    shown = shown_at(chain, {0: F(0), 1: F(1, 2)})
    assert [state.label for state in shown.states] == [0, 1, None]
    assert [(step.certain, step.outcome) for steps in shown.steps for step in steps] == [
        (True, "q1 + 1/2 = q2"),
        (True, ""),
    ]
