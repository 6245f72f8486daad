"""Arbitrary linear constraints: elimination over polyhedra and trees of values, against each other and sampling."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import LimitReached, Limits, OutsideFragment
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Noise
from dipc.measure.measure import measure
from dipc.measure.polyhedral import polyhedral_measure, value_tree_measure
from dipc.noise.laplace import LAPLACE
from dipc.noise.one_sided import ONE_SIDED
from tests.patience import examples

RATES = [Fraction(1), Fraction(2), Fraction(1, 2), Fraction(3)]
FACTORS = [-2, -1, 1, 2, Fraction(1, 2), Fraction(-2, 3)]


def constraint(coefficients: dict[int, Fraction | int], constant: Fraction | int) -> Halfspace:
    return Halfspace(tuple(sorted((i, Fraction(c)) for i, c in coefficients.items())), Fraction(constant))


def laplace(rate: Fraction | int, mean: Fraction | int = 0) -> Noise:
    return Noise(LAPLACE, Fraction(rate), Fraction(mean))


def one_sided(rate: Fraction | int, mean: Fraction | int = 0) -> Noise:
    return Noise(ONE_SIDED, Fraction(rate), Fraction(mean))


@st.composite
def events(draw: st.DrawFn, most: int = 3, rows: int = 3) -> Event:
    size = draw(st.integers(1, most))
    noises = tuple(
        Noise(
            draw(st.sampled_from([LAPLACE, LAPLACE, ONE_SIDED])),
            draw(st.sampled_from(RATES)),
            Fraction(draw(st.integers(-2, 2))),
        )
        for _ in range(size)
    )
    constraints = []
    for _ in range(draw(st.integers(1, rows))):
        chosen = draw(st.sets(st.integers(0, size - 1), min_size=1))
        constraints.append(
            constraint({i: draw(st.sampled_from(FACTORS)) for i in chosen}, draw(st.sampled_from([-2, -1, 0, 1, 2])))
        )
    return Event(noises, tuple(constraints))


def sampled(event: Event, eps: float, count: int, seed: int) -> tuple[float, float]:
    """Clopper-Pearson bounds for the event's probability at confidence 1 - 1e-9."""
    generator = np.random.default_rng(seed)
    columns = [
        generator.laplace(float(n.mean), 1 / (float(n.rate) * eps), count)
        if n.law == LAPLACE
        else float(n.mean) + generator.exponential(1 / (float(n.rate) * eps), count)
        for n in event.noises
    ]
    inside = np.ones(count, dtype=bool)
    for c in event.constraints:
        inside &= sum(float(k) * columns[i] for i, k in c.coefficients) + float(c.constant) >= 0
    hits = int(inside.sum())
    low = 0.0 if hits == 0 else float(beta.ppf(5e-10, hits, count - hits + 1))
    high = 1.0 if hits == count else float(beta.isf(5e-10, hits + 1, count - hits))
    return low, high


@settings(max_examples=examples(8), deadline=None)
@given(events(), st.integers(0, 2**32))
def test_elimination_against_sampling(event: Event, seed: int) -> None:
    low, high = sampled(event, 0.7, 20_000, seed)
    exact = float(polyhedral_measure(event).enclosure(Fraction(7, 10), 15)[0])
    assert low <= exact <= high


@settings(max_examples=examples(8), deadline=None)
@given(events())
def test_trees_of_values_against_elimination(event: Event) -> None:
    try:
        fast = value_tree_measure(event, Limits())
    except OutsideFragment:
        assume(False)
    else:
        assert fast == polyhedral_measure(event)


@st.composite
def sums(draw: st.DrawFn) -> Event:
    """Four or five noises, added up in overlapping ways: chains and trees of means, with values made from values."""
    size = draw(st.integers(4, 5))
    noises = tuple(laplace(draw(st.sampled_from(RATES)), draw(st.integers(-1, 1))) for _ in range(size))
    rows = draw(st.lists(st.sets(st.integers(0, size - 1), min_size=1, max_size=3), min_size=2, max_size=4))
    signs = st.sampled_from([1, 1, 1, -1])
    return Event(noises, tuple(constraint({i: draw(signs) for i in row}, draw(st.integers(0, 1))) for row in rows))


@settings(max_examples=examples(8), deadline=None)
@given(sums())
def test_trees_of_sums_against_elimination(event: Event) -> None:
    try:
        fast = value_tree_measure(event, Limits())
        slow = polyhedral_measure(event, Limits(cells=2_000))
    except (OutsideFragment, LimitReached):
        assume(False)
    else:
        assert fast == slow


@settings(max_examples=examples(8), deadline=None)
@given(events(), events(most=3, rows=1))
def test_a_constraint_and_its_complement_share_the_event(event: Event, cut: Event) -> None:
    c = cut.constraints[0]
    assume(all(i < len(event.noises) for i, _ in c.coefficients))
    opposite = Halfspace(tuple((i, -k) for i, k in c.coefficients), -c.constant)
    parts = [polyhedral_measure(Event(event.noises, (*event.constraints, x))) for x in (c, opposite)]
    assert parts[0] + parts[1] == polyhedral_measure(event)


def test_a_chain_of_means_is_a_tree_of_values() -> None:
    # r1 ~ Lap(1, 0), r2 ~ Lap(2, r1), r3 ~ Lap(1/2, r2), all of them bounded.
    noises = (laplace(1), laplace(2), laplace(Fraction(1, 2)))
    rows = [{0: 1}, {0: 1, 1: 1}, {0: 1, 1: 1, 2: 1}]
    constraints = [constraint(row, 1) for row in rows]
    constraints += [constraint({i: -c for i, c in row.items()}, 2) for row in rows]
    event = Event(noises, tuple(constraints))
    fast = value_tree_measure(event, Limits())
    assert fast == polyhedral_measure(event)
    assert measure(event) == fast


def test_a_value_that_another_is_made_from_is_not_replaced() -> None:
    # X[1] + X[0] may become one value; X[0] + X[3] may not then take the place of X[0].
    rows = [{0: 1, 1: 1, 2: 1}, {1: 1, 3: 1, 4: 1}, {2: 1}, {3: 1}]
    for order in permutations(range(5)):
        event = Event(
            tuple(laplace(1) for _ in range(5)),
            tuple(
                constraint({order[i]: c for i, c in row.items()}, at)
                for row, at in zip(rows, (0, 0, 1, 1), strict=True)
            ),
        )
        if order == (0, 1, 2, 3, 4):
            expected = polyhedral_measure(event)
        assert measure(event) == expected


def test_six_noises_that_matter_only_through_their_sum() -> None:
    noises = tuple(laplace(Fraction(k, 3)) for k in range(1, 7))
    ones = dict.fromkeys(range(6), 1)
    event = Event(noises, (constraint(ones, 1), constraint(dict.fromkeys(ones, -1), 1)))
    low, high = sampled(event, 1.0, 200_000, 7)
    assert low <= float(measure(event).enclosure(Fraction(1), 15)[0]) <= high


def test_the_sum_of_equal_rates_resonates_into_powers_of_eps() -> None:
    # Pr[E1 + E2 + E3 <= 1] for one-sided noise of rate 2: the Erlang law, 1 - e^{-2eps}·(1 + 2eps + 2eps^2).
    event = Event((one_sided(2),) * 3, (constraint({0: -1, 1: -1, 2: -1}, 1),))
    x = ExpPoly.term(1, 1)
    erlang = 1 - ExpPoly.term(1, 0, -2) * (1 + 2 * x + 2 * x**2)
    assert polyhedral_measure(event) == erlang
    assert measure(event) == erlang


def test_the_least_of_two_one_sided_noises() -> None:
    # Pr[E1 <= E2] = a/(a + b).
    assert measure(Event((one_sided(2), one_sided(3)), (constraint({0: -1, 1: 1}, 0),))) == Fraction(2, 5)


def test_a_ring_of_bounded_differences() -> None:
    noises = tuple(laplace(1, i) for i in range(3))
    event = Event(noises, tuple(constraint({i: 1, (i + 1) % 3: -1}, 1 + i) for i in range(3)))
    low, high = sampled(event, 1.0, 200_000, 3)
    assert low <= float(measure(event).enclosure(Fraction(1), 15)[0]) <= high


def test_empty_and_null_events() -> None:
    assert polyhedral_measure(Event((laplace(1),), (constraint({0: 1}, -1), constraint({0: -1}, 1)))) == 0
    assert polyhedral_measure(Event((laplace(1),), ())) == 1
    assert polyhedral_measure(Event((one_sided(1, 2),), (constraint({0: -1}, 2),))) == 0


def test_past_the_limit_it_gives_up_by_name() -> None:
    noises = tuple(laplace(1, i) for i in range(6))
    event = Event(noises, tuple(constraint({i: 1, j: 1, (i + j) % 6: 1}, i - j) for i in range(3) for j in range(3, 6)))
    with pytest.raises(LimitReached) as caught:
        polyhedral_measure(event, Limits(cells=50))
    assert caught.value.limit == "cells"
