from __future__ import annotations

import operator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dipc.simulation.expressions import (
    RunColumn,
    Undefined,
    apply,
    constant,
    distinct,
    gathered,
    split,
    truth_column,
    truth_mask,
    zip_columns,
)


@st.composite
def columns(draw, size):
    table = draw(st.lists(st.integers(-3, 3), min_size=1, max_size=6))
    codes = draw(st.lists(st.integers(0, len(table) - 1), min_size=size, max_size=size))
    return RunColumn([Fraction(value) for value in table], np.array(codes, dtype=np.intp))


def plain(column):
    return [column.values[code] for code in column.codes]


sizes = st.integers(1, 12)


@given(sizes.flatmap(lambda n: st.lists(columns(n), min_size=1, max_size=4)))
def test_joined(parts):
    whole = zip_columns(parts)
    assert plain(whole) == list(zip(*map(plain, parts), strict=True))
    used = set(whole.codes.tolist())
    assert used == set(range(len(whole.values)))


@given(sizes.flatmap(lambda n: st.tuples(columns(n), columns(n))))
def test_apply(pair):
    calls = []

    def function(a, b):
        calls.append((a, b))
        return a * b

    assert plain(apply(function, *pair)) == list(map(operator.mul, *map(plain, pair)))
    assert set(calls) == set(zip(*map(plain, pair), strict=True))


def test_apply_calls_once_for_each_combination_and_says_where_there_is_no_result():
    calls = []
    column = RunColumn([Fraction(1), Fraction(0), Fraction(5)], np.array([0, 2, 1, 0, 1]))

    def inverse(value):
        calls.append(value)
        return 1 / value

    with pytest.raises(Undefined) as caught:
        apply(inverse, column)
    assert caught.value.position == 2
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert calls == [1, 0]
    # What no run has is not computed: the table may hold values that make no sense here.
    assert plain(apply(inverse, column.select(np.array([0, 1, 3])))) == [1, Fraction(1, 5), 1]


@given(sizes.flatmap(columns))
def test_split_and_gathered_are_inverse(column):
    parts = [(positions, constant(value, len(positions))) for value, positions in split(column)]
    together = np.sort(np.concatenate([positions for positions, _ in parts]))
    assert together.tolist() == list(range(len(column)))
    assert all((np.diff(positions) > 0).all() for positions, _ in parts)
    assert plain(gathered(parts, len(column))) == plain(column)


@given(sizes.flatmap(columns), st.data())
def test_gathered_of_any_parts(column, data):
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(column), max_size=len(column))), dtype=bool)
    parts = [(at, column.select(at)) for at in (np.flatnonzero(mask), np.flatnonzero(~mask)) if len(at)]
    assert plain(gathered(parts, len(column))) == plain(column)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=20), st.sampled_from([31, 10**12]))
def test_distinct_of_small_and_of_huge_tables(codes, bound):
    present, places = distinct(np.array(codes, dtype=np.intp), bound)
    assert present.tolist() == sorted(set(codes))
    assert present[places].tolist() == codes


def test_truths():
    mask = np.array([True, False, True])
    assert truth_mask(truth_column(mask)).tolist() == mask.tolist()
    assert truth_mask(constant(True, 2)).tolist() == [True, True]


def test_many_columns_of_many_values_join_without_overflow():
    size = 1000
    generator = np.random.default_rng(0)
    parts = [RunColumn(list(range(50)), generator.integers(0, 50, size)) for _ in range(40)]
    assert plain(zip_columns(parts)) == list(zip(*map(plain, parts), strict=True))
