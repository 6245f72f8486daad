"""The checker's exponential polynomials, against the engine's."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dipc.algebra.exppoly import ExpPoly, Quotient
from dipc.certificate.data import closed_data, ring_data
from dipc.verifier import functions as ring
from dipc.verifier.reading import Budget, Exhausted, Rejected
from tests.patience import examples

numbers = st.fractions(min_value=-3, max_value=3, max_denominator=6)
functions = st.lists(st.tuples(st.integers(0, 3), numbers, numbers), max_size=5).map(ExpPoly.from_terms)


def read(value: ExpPoly) -> ring.Ring:
    return ring.read_ring(ring_data(value))


@settings(max_examples=examples(8), deadline=None)
@given(functions, functions, numbers)
def test_arithmetic(f: ExpPoly, g: ExpPoly, c: Fraction) -> None:
    left, right = read(f), read(g)
    assert left == {(k, q): c for k, q, c in f.terms()}
    assert ring.add(left, right) == read(f + g)
    assert ring.subtract(left, right) == read(f - g)
    assert ring.times(left, c) == read(f * c)
    assert ring.multiply(left, right, Budget()) == read(f * g)
    assert ring.derivative(left) == read(f.derivative())
    assert (left == right) == (f == g)
    assert ring.constant(c) == read(ExpPoly.constant(c))


@settings(max_examples=examples(8), deadline=None)
@given(functions, functions, functions)
def test_quotients(f: ExpPoly, g: ExpPoly, h: ExpPoly) -> None:
    # Squares plus 1 are positive.
    one, two = Quotient(f, g * g + 1), Quotient(g, h * h + 1)
    left, right = (ring.read_closed(closed_data(value)) for value in (one, two))
    budget = Budget()
    for mine, engines in (
        (ring.add_closed(left, right, budget), one + two),
        (ring.multiply_closed(left, right, budget), one * two),
    ):
        assert ring.equal_closed(mine, ring.read_closed(closed_data(engines)), budget)
        assert not ring.equal_closed(mine, ring.read_closed(closed_data(engines + 1)), budget)


@settings(max_examples=examples(8), deadline=None)
@given(functions)
def test_what_is_written_is_read(f: ExpPoly) -> None:
    terms = sorted(read(f).items(), key=lambda term: (term[0][1], term[0][0]))
    assert [[k, str(q), str(c)] for (k, q), c in terms] == ring_data(f)


@pytest.mark.parametrize(
    "data",
    [
        None,
        {},
        "0",
        [[0, "0"]],
        [[0, "0", "0"]],
        [[True, "0", "1"]],
        [["0", "0", "1"]],
        [[-1, "0", "1"]],
        [[10**6, "0", "1"]],
        [[0, "2/2", "1"]],
        [[0, "0", "+1"]],
        [[0, "0", "1/0"]],
        [[0, "0", "1/-2"]],
        [[0, "0", "١"]],
        [[0, "0", "1.5"]],
        [[0, "0", 1]],
        [[0, "0", "1"], [0, "0", "-1"]],
        {"numerator": [[0, "0", "1"]], "denominator": []},
        {"numerator": [[0, "0", "1"]]},
        {"numerator": [], "denominator": [[0, "0", "1"]], "more": []},
    ],
)
def test_malformed_functions_are_rejected(data: Any) -> None:
    with pytest.raises(Rejected):
        ring.read_closed(data)


def test_products_are_counted() -> None:
    long = {(k, Fraction(0)): Fraction(1) for k in range(1_000)}
    with pytest.raises(Exhausted, match=r"more than the 100000 steps"):
        ring.multiply(long, long, Budget(100_000))


@settings(max_examples=examples(8), deadline=None)
@given(functions, functions.filter(lambda g: not g.is_zero()))
def test_division(f: ExpPoly, g: ExpPoly) -> None:
    product = read(f * g)
    assert ring.divided(product, read(g), Budget()) == read(f)
    found = ring.divided(read(f), read(g), Budget())
    if found is not None:
        assert ring.multiply(found, read(g), Budget()) == read(f)


def test_division_ends() -> None:
    one, geometric = ring.constant(1), {(0, Fraction(0)): Fraction(1), (0, Fraction(-1, 1000)): Fraction(-1)}
    assert ring.divided(one, geometric, Budget()) is None
    long = {(0, Fraction(0)): Fraction(1), (0, Fraction(-1000)): Fraction(-1)}
    assert ring.divided(long, geometric, Budget()) is None  # it has a million terms
    assert ring.divided({}, geometric, Budget()) == {}
    linear = {(1, Fraction(0)): Fraction(1)}
    assert ring.divided(one, linear, Budget()) is None
