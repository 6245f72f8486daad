from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dipc.simulation.batch import NOTHING, Batch, distinct, positions_of, split
from dipc.simulation.runs import compiled
from dipc.verifier.execution import Affine
from dipc.verifier.program import Operation, Place
from tests.simulation.running import typed

TEXT = "program p; var x[1..4] : int; var r : real; output o : bool = true; r <- Lap(eps, 0)"


def batch(size):
    machine, source = compiled(typed(TEXT), Fraction(1))
    return Batch(machine, source, Fraction(1), {}, np.random.default_rng(0), size)


def column(of, values):
    """The codes of values, or one code where there is one value."""
    codes = [of.code_of(value) for value in values]
    return np.array(codes, dtype=np.intp) if len(codes) > 1 else codes[0]


@st.composite
def columns(draw, size, count):
    one = st.integers(-3, 3).map(Fraction)
    return [
        draw(st.lists(one, min_size=n, max_size=n)) for n in [draw(st.sampled_from([1, size])) for _ in range(count)]
    ]


SIZES = st.integers(2, 12)


@given(SIZES.flatmap(lambda n: st.tuples(st.just(n), columns(n, 3))))
def test_combinations(given_):
    size, parts = given_
    of = batch(size)
    groups, owners = of.combined([column(of, part) for part in parts])
    assert len(set(groups)) == len(groups)
    full = [part * size if len(part) == 1 else part for part in parts]
    found = [groups[0 if owners is None else owners[at]] for at in range(size)]
    assert found == list(zip(*full, strict=True))
    assert (owners is None) == all(len(part) == 1 for part in parts)


@given(SIZES.flatmap(lambda n: st.tuples(st.just(n), columns(n, 3))))
def test_operations(given_):
    """The codes of x[1]*x[2] - x[3] in all runs, read from the slots."""
    size, parts = given_
    of = batch(size)
    for slot, part in enumerate(parts):
        of.slots[slot] = column(of, part)
    one, two, three = (Place((slot,), 0, None) for slot in range(3))
    codes = of.value(Operation("-", (Operation("*", (one, two)), three)), np.arange(size))
    full = [part * size if len(part) == 1 else part for part in parts]
    found = [of.table[codes if isinstance(codes, int) else codes[at]] for at in range(size)]
    assert found == [a * b - c for a, b, c in zip(*full, strict=True)]


def test_codes_tell_truth_values_from_numbers():
    of = batch(2)
    assert of.code_of(None) == NOTHING
    assert len({of.code_of(value) for value in (True, Fraction(1), False, Fraction(0), "true")}) == 5
    assert of.code_of(Fraction(2, 2)) == of.code_of(Fraction(1))
    form = Affine(Fraction(1), ((0, Fraction(1)),))
    assert of.code_of(form) == of.code_of(Affine(Fraction(1), ((0, Fraction(1)),)))


@given(st.lists(st.integers(0, 30), min_size=1, max_size=20), st.sampled_from([31, 10**12]))
def test_distinct_of_small_and_of_huge_tables(codes, bound):
    present, places = distinct(np.array(codes, dtype=np.intp), bound)
    assert present.tolist() == sorted(set(codes))
    assert present[places].tolist() == codes


@given(st.lists(st.integers(0, 30), min_size=1, max_size=40))
def test_positions(codes):
    parts = dict(split(np.array(codes, dtype=np.intp), 31))
    assert {code: part.tolist() for code, part in parts.items()} == {
        code: [at for at, each in enumerate(codes) if each == code] for code in sorted(set(codes))
    }
    assert [part.tolist() for part in positions_of(np.array([0, 0, 1]), 2)] == [[0, 1], [2]]


def test_many_columns_of_many_values_join_without_overflow():
    size = 1000
    generator, of = np.random.default_rng(0), batch(size)
    parts = [[Fraction(int(value)) for value in generator.integers(0, 50, size)] for _ in range(40)]
    groups, owners = of.combined([column(of, part) for part in parts])
    assert [groups[owner] for owner in owners] == list(zip(*parts, strict=True))
