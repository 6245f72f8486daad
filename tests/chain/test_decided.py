"""Decisions by longest paths against elimination, and both against points."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dipc.chain.state import (
    Affine,
    constraint,
    constraint_set,
    contradict,
    decided,
    entails,
    graph_entails,
    irredundant,
)
from dipc.chain.uniting import Rows
from dipc.linear.halfspace import difference_graph, greatest_bounds
from dipc.text.ast import CompareOp
from tests.linear.elimination import is_feasible

GE, GT, LT, LE = CompareOp.GE, CompareOp.GT, CompareOp.LT, CompareOp.LE


def X(i):  # noqa: N802 - as in the paper
    return Affine.noise(i)


def u(i):
    return Affine.input(i)


def fact(form, op=GE):
    return constraint(form, op)


VARIABLES = [X(0), X(1), X(2), X(3), u(0), u(1)]
SHIFTS = st.sampled_from([Fraction(n, 2) for n in range(-4, 5)])
INEQUALITIES = st.sampled_from([GE, GT, LT, LE])


@st.composite
def differences(draw):
    left = draw(st.sampled_from(VARIABLES))
    right = draw(st.sampled_from([*VARIABLES, Affine.number(Fraction(0))]).filter(lambda other: other != left))
    return fact((left - right).shifted(draw(SHIFTS)), draw(INEQUALITIES))


@st.composite
def general(draw):
    form = Affine.number(draw(SHIFTS))
    for variable in draw(st.lists(st.sampled_from(VARIABLES), min_size=1, max_size=3, unique=True)):
        form += variable.scaled(Fraction(draw(st.sampled_from([-2, -1, 1, 3]))))
    return fact(form, draw(INEQUALITIES))


@given(st.lists(differences(), max_size=8), differences())
def test_longest_paths_agree_with_elimination(facts, question):
    graph = difference_graph(fact.bound for fact in facts)
    feasible = is_feasible(facts)
    assert contradict(facts) is (not feasible)
    if feasible:
        assert graph_entails(graph, question) is (is_feasible([*facts, question.negation]) is False)


@given(st.lists(st.one_of(differences(), general()), max_size=6), general(), st.integers())
def test_a_decision_is_true_of_every_point(facts, question, seed):
    noisy = constraint_set(fact for fact in facts if fact.form.noises)
    guards = constraint_set(fact for fact in facts if not fact.form.noises)
    answer = decided(question, noisy, guards)
    generator = random.Random(seed)
    for _ in range(40):
        noises = {i: Fraction(generator.randint(-400, 400), 97) for i in range(4)}
        inputs = {i: Fraction(generator.randint(-4, 4), 2) for i in range(2)}
        if all(holds(fact, noises, inputs) for fact in facts) and answer is not None:
            assert holds(question, noises, inputs) is answer


def holds(item, noises, inputs):
    value = sum((factor * noises[i] for i, factor in item.form.noises), item.form.constant)
    value += sum(factor * inputs[i] for i, factor in item.form.inputs)
    return value > 0 or (value == 0 and not item.strict)


@given(st.lists(differences(), max_size=7))
def test_irredundant_is_equivalent_and_minimal(facts):
    unique = list(dict.fromkeys(facts))
    kept = irredundant(unique)
    if not is_feasible(unique):
        assert is_feasible(kept) is False
        return
    for dropped in unique:
        assert entails(kept, dropped)
    for item in kept:
        assert not entails([other for other in kept if other != item], item)


@pytest.mark.parametrize(
    ("facts", "question", "answer"),
    [
        ([], fact(X(0) - X(1)), None),
        ([fact(X(0) - X(1))], fact(X(0) - X(1), GT), True),
        ([fact(X(0) - X(1))], fact(X(1) - X(0)), False),
        ([fact(X(0) - X(1)), fact(X(1) - X(2))], fact(X(0) - X(2)), True),
        ([fact(X(0) - X(1)), fact(X(1) - X(2))], fact(X(2) - X(0)), False),
        (
            [fact(X(0) - X(1)), fact(X(1) - X(2))],
            fact((X(0) - X(2)).shifted(Fraction(-1))),
            None,
        ),
        (
            [fact((X(0) - X(1)).shifted(Fraction(-1)))],
            fact((X(0) - X(1)).shifted(Fraction(-1, 2))),
            True,
        ),
        (
            [fact(X(0).shifted(Fraction(-1))), fact(X(1), LE)],
            fact(X(0) - X(1)),
            True,
        ),
        (
            [fact((X(0) - X(1)).scaled(Fraction(3)))],
            fact((X(0) - X(1)).scaled(Fraction(1, 7))),
            True,
        ),
        ([fact(X(0) - u(0)), fact(X(0) - u(1), LE)], fact(u(1) - u(0), GT), True),
        ([fact(u(0) - u(1)), fact(X(0) - u(0))], fact(X(0) - u(1)), True),
        ([fact(X(0) + X(1)), fact(X(0) - X(1))], fact(X(0)), True),
        ([fact(X(0) - X(1)), fact(X(1))], fact(X(0)), True),
        (
            [
                fact(X(1)),
                fact(X(0) - X(1)),
                fact(X(2) - X(1)),
                fact(X(2), LE),
            ],
            fact(X(0)),
            True,
        ),
        ([fact(X(0) + X(1)), fact(X(0) - X(1))], fact(X(1)), None),
        (
            [fact(X(0).scaled(Fraction(2)) - X(1)), fact(X(1) - X(2))],
            fact(X(0).scaled(Fraction(2)) - X(2)),
            True,
        ),
    ],
)
def test_noise_decisions(facts, question, answer):
    noisy = constraint_set(fact for fact in facts if fact.form.noises)
    guards = constraint_set(fact for fact in facts if not fact.form.noises)
    assert decided(question, noisy, guards) is answer


@pytest.mark.parametrize(
    ("facts", "question", "answer"),
    [
        ([fact(u(0) - u(1))], fact(u(0) - u(1), GT), None),
        ([fact(u(0) - u(1), GT)], fact(u(0) - u(1)), True),
        ([fact(u(0) - u(1))], fact(u(0) - u(1), LT), False),
        ([fact(u(0) - u(1))], fact(u(0) - u(1), LE), None),
        ([fact(u(0) - u(1)), fact(u(1) - u(0))], fact(u(0) - u(1), GT), False),
        ([fact(u(0) - u(1)), fact(u(1) - u(2), GT)], fact(u(0) - u(2), GT), True),
        ([fact(u(0) - u(1)), fact(u(1) - u(2))], fact(u(0) - u(2), GT), None),
    ],
)
def test_guards_heed_strictness(facts, question, answer):
    assert decided(question, constraint_set(facts)) is answer


def test_positive_cycles_end():
    cycle = [fact((X(i) - X((i + 1) % 4)).shifted(Fraction(-1))) for i in range(4)]
    assert contradict(cycle)
    assert contradict([fact(X(0) - X(1)), fact(X(1) - X(2)), fact(X(2) - X(0))])
    assert not contradict([fact(u(0) - u(1)), fact(u(1) - u(0))])
    assert entails(cycle, fact(X(3) - X(2)))


def test_elimination_gives_up_past_its_limit():
    sums = [fact(X(i) + X(j)) for i in range(8) for j in range(i)]
    sums += [fact((X(i) - X(j) - X(k)).shifted(Fraction(1))) for i in range(8) for j in range(i) for k in range(j)]
    assert is_feasible(sums, at_most=20) is None


@given(st.lists(st.one_of(differences(), general()), min_size=1, max_size=9), st.data())
def test_a_row_made_from_another_one_is_as_if_made_at_once(pool, data):
    """Rows grow and shrink at their ends, and several are out at a time: each is that of its own constraints."""
    rows = Rows()
    for _ in range(6):
        asked = data.draw(st.lists(st.lists(st.sampled_from(pool), max_size=8), min_size=1, max_size=3))
        out = [rows.take(items[:-1], items[-1:]) for items in asked]
        for items, row in zip(asked, out, strict=True):
            bounds = [item.bound for item in items if item.bound is not None]
            assert row.items == items
            assert row.others == len(items) - len(bounds)
            turned = [(lower, upper, weight) for upper, lower, weight in bounds]
            assert [dict(graph) for graph in row.graphs] == [difference_graph(turned), difference_graph(bounds)]
            for side in (0, 1):
                for ends in ({0}, {0, 3}):
                    wanted = [item for item in items if item.bound is not None and item.bound[side] in ends]
                    assert list(row.differences(side, ends)) == wanted
        rows.put_back(out)


@given(st.lists(differences(), max_size=9), st.sampled_from([-1, 0, 2, 4]))
def test_the_greatest_bounds_are_those_of_all_walks(facts, start):
    """The bounds agree with those of all walks with as many steps as variables."""
    edges = [fact.bound for fact in facts]
    best = {start: (0, 0)}
    for _ in range(7):
        for upper, lower, (weight, strict) in edges:
            if lower in best:
                best[upper] = max(best.get(upper, (-99, 0)), (best[lower][0] + weight, best[lower][1] + strict))
    again = dict(best)
    for upper, lower, (weight, strict) in edges:
        if lower in best:
            again[upper] = max(again[upper], (best[lower][0] + weight, best[lower][1] + strict))
    assert greatest_bounds(difference_graph(edges), start) == (best if again == best else None)
