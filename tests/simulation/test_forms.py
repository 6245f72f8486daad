from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dipc.simulation.expressions import (
    Draw,
    RunColumn,
    SimulatedForm,
    compared,
    divide,
    minus,
    negated,
    plus,
    times,
    truth_mask,
)
from dipc.text.ast import COMPARED, CompareOp

ONE = Fraction(1)
DRAWS = [Draw(serial, np.array([serial + 0.5, -serial - 0.25])) for serial in range(3)]
WHOLE = [Draw(serial, np.array([serial + 1, -serial])) for serial in range(3)]


def forms(draws):
    rationals = st.fractions(-3, 3, max_denominator=4)

    def build(constant, coefficients):
        number = constant
        for draw, coefficient in zip(draws, coefficients, strict=True):
            number = plus(number, times(coefficient, SimulatedForm(Fraction(0), ((draw, ONE),))))
        return number

    return st.builds(build, rationals, st.lists(rationals, min_size=len(draws), max_size=len(draws)))


def value(number, at):
    if isinstance(number, Fraction):
        return number
    return number.constant + sum(c * Fraction(draw.values[at].item()) for draw, c in number.terms)


@given(forms(DRAWS), forms(DRAWS), st.fractions(-2, 2, max_denominator=3), st.integers(0, 1))
def test_arithmetic(left, right, factor, at):
    assert value(plus(left, right), at) == value(left, at) + value(right, at)
    assert value(minus(left, right), at) == value(left, at) - value(right, at)
    assert value(negated(left), at) == -value(left, at)
    assert value(times(factor, left), at) == value(times(left, factor), at) == factor * value(left, at)
    if factor:
        assert value(divide(left, factor), at) == value(left, at) / factor
    assert minus(left, left) == 0
    assert plus(left, right) == plus(right, left)


@given(forms(WHOLE), st.sampled_from(CompareOp))
def test_integers_are_compared_exactly(number, op):
    found = truth_mask(compared(op, RunColumn([number], np.zeros(2, dtype=np.intp)), np.arange(2)))
    assert found.tolist() == [COMPARED[op](value(number, at), 0) for at in range(2)]


def test_huge_integers_are_compared_exactly():
    huge = Fraction(2**80)
    number = SimulatedForm(-huge * 3 - 1, ((WHOLE[2], huge),))
    for more, expected in ((0, [False, False]), (1, [True, False]), (2, [True, False])):
        column = RunColumn([plus(number, Fraction(more))], np.zeros(2, dtype=np.intp))
        assert truth_mask(compared(CompareOp.GE, column, np.arange(2))).tolist() == expected


def test_what_cancels_is_compared_exactly():
    noise = SimulatedForm(Fraction(0), ((DRAWS[0], ONE),))
    third = plus(noise, Fraction(1, 3))
    assert minus(third, noise) == Fraction(1, 3)
    assert minus(times(Fraction(3), divide(noise, Fraction(3))), noise) == 0


@pytest.mark.parametrize(("op", "expected"), [(CompareOp.EQ, False), (CompareOp.NE, True)])
def test_a_real_that_depends_on_a_draw_is_almost_surely_no_given_number(op, expected):
    draw = Draw(0, np.zeros(2))
    column = RunColumn([SimulatedForm(Fraction(0), ((draw, ONE),))], np.zeros(2, dtype=np.intp))
    assert truth_mask(compared(op, column, np.arange(2))).tolist() == [expected] * 2


def test_coefficients_beyond_floats():
    big = Fraction(10) ** 400
    number = SimulatedForm(Fraction(0), ((DRAWS[0], big), (DRAWS[1], -big)))
    column = RunColumn([number, plus(number, big), plus(number, -big * big)], np.array([0, 0, 1, 1, 2, 2]))
    found = truth_mask(compared(CompareOp.GE, column, np.array([0, 1, 0, 1, 0, 1])))
    assert found.tolist() == [False, True, True, True, False, False]
