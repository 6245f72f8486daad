"""Constraints on integers, one-sided noises, and other coordinates."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dipc.chain.state import (
    Affine,
    change_coordinates,
    constraint,
    constraint_set,
    contradict,
    decided,
    entails,
    equality,
    irredundant,
    offsets,
)
from dipc.text.ast import CompareOp

F = Fraction
X, u = Affine.noise, Affine.input
VARIABLES = [X(0), X(1), u(0)]
POINTS = list(itertools.product(range(-2, 3), repeat=3))
INEQUALITIES = st.sampled_from([CompareOp.GE, CompareOp.GT, CompareOp.LT, CompareOp.LE])


def value_at(form, point):
    parts = [(form.constant, 1), *((c, point[i]) for i, c in form.noises), *((c, point[2]) for _, c in form.inputs)]
    return sum(factor * value for factor, value in parts)


def holds(item, point):
    assert not item.strict
    return value_at(item.form, point) >= 0


@st.composite
def linear(draw):
    form = Affine.number(draw(st.sampled_from([F(n, 3) for n in range(-6, 7)])))
    for variable in draw(st.lists(st.sampled_from(VARIABLES), min_size=1, max_size=3, unique=True)):
        form += variable.scaled(draw(st.sampled_from([F(1), F(-1), F(1), F(-1), F(2), F(-3, 2), F(1, 2)])))
    return form


@given(linear(), INEQUALITIES)
def test_constraints_are_closed_with_coprime_integers_and_mean_what_was_written(form, op):
    item, opposite = constraint(form, op, whole=True), constraint(form, op, whole=True).negation
    for known in (item, opposite):
        assert all(c.denominator == 1 for _, c in (*known.form.noises, *known.form.inputs))
        assert known.form.constant.denominator == 1
    assert opposite.negation == item
    compare = {">=": F.__ge__, ">": F.__gt__, "<": F.__lt__, "<=": F.__le__}[op.value]
    for point in POINTS:
        truth = compare(F(value_at(form, point)), F(0))
        assert holds(item, point) is truth
        assert holds(opposite, point) is not truth


@given(linear())
def test_equality_is_two_closed_constraints_or_impossible(form):
    both = equality(form, whole=True)
    for point in POINTS:
        truth = value_at(form, point) == 0
        assert truth is (both is not None and all(holds(item, point) for item in both))


@given(st.lists(st.tuples(linear(), INEQUALITIES), max_size=4), linear(), INEQUALITIES)
def test_decisions_are_true_of_every_integer_point(facts, form, op):
    known = [constraint(fact, how, whole=True) for fact, how in facts]
    question = constraint(form, op, whole=True)
    answer = decided(
        question,
        constraint_set(item for item in known if item.form.noises),
        constraint_set(item for item in known if not item.form.noises),
    )
    impossible = contradict(known)
    kept = irredundant(list(dict.fromkeys(known)))
    for point in POINTS:
        inside = all(holds(item, point) for item in known)
        assert inside is all(holds(item, point) for item in kept)
        assert not (inside and impossible)
        if inside and answer is not None:
            assert holds(question, point) is answer


def fact(form, op=CompareOp.GE):
    return constraint(form, op, whole=True)


@pytest.mark.parametrize(
    ("facts", "question", "answer"),
    [
        ([fact(X(0) - X(1), CompareOp.GT)], fact((X(0) - X(1)).shifted(F(-1))), True),
        ([fact(X(0) - X(1), CompareOp.GT)], fact((X(0) - X(1)).shifted(F(-3, 2))), None),
        ([fact(X(0) - X(1))], fact(X(0) - X(1), CompareOp.GT), None),
        (
            [fact(X(0) - X(1)), fact(X(1) - X(0))],
            fact(X(0) - X(1), CompareOp.GT),
            False,
        ),
        ([fact(X(0).scaled(F(2)).shifted(F(-1)))], fact(X(0).shifted(F(-1))), True),
        (
            [fact(X(0).shifted(F(-1, 3))), fact(X(0).shifted(F(-2, 3)), CompareOp.LE)],
            fact(X(0)),
            False,
        ),
    ],
)
def test_integer_decisions(facts, question, answer):
    if contradict(facts):
        assert answer is False
    else:
        assert decided(question, constraint_set(facts)) is answer


def test_comparisons_of_shifted_noises_are_differences_in_other_coordinates():
    """X[i] + q[i] in order: transitivity is found, though each comparison has four variables."""
    shifted = [X(i) + u(i) for i in range(12)]
    facts = [constraint(shifted[i + 1] - shifted[i], CompareOp.GE) for i in range(11)]
    assert entails(facts, constraint(shifted[11] - shifted[0], CompareOp.GE))
    assert not entails(facts, constraint((shifted[11] - shifted[0]).shifted(F(-1)), CompareOp.GE))
    assert contradict([*facts, constraint(shifted[11] - shifted[0], CompareOp.LT)])
    by = offsets(facts)
    assert all(not item.form.inputs for item in change_coordinates(facts, by))
    assert change_coordinates(change_coordinates(facts, by), by, -1) == facts
    assert not offsets([constraint(X(0) - X(1), CompareOp.GE), constraint(X(0) - u(0), CompareOp.GE)])
