"""The naive integrator, against formulas worked out by hand, partitions and its own limits.

It is the oracle of the fast engines, so none of them occurs here.
"""

from __future__ import annotations

import ast
from fractions import Fraction
from itertools import permutations
from math import factorial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import LimitReached, OutsideFragment
from dipc.measure.event import Event, Noise
from dipc.noise.laplace import LAPLACE
from dipc.noise.law import Law
from dipc.noise.laws import LAWS
from tests.measure import linear_extensions
from tests.measure.linear_extensions import measure_by_linear_extensions
from tests.patience import examples
from tests.strategies.events import (
    LENGTHS,
    RATES,
    SCALES,
    above,
    changed,
    event,
    halfspace,
    laplace,
    negated,
    order_events,
    permuted,
    tree_events,
)


def terms(*triples: tuple[int, Fraction | int, Fraction | int]) -> ExpPoly:
    """Σ c·eps^k·e^{q·eps} over (k, q, c)."""
    return ExpPoly.from_terms(triples)


def test_it_shares_no_code_with_the_engines_it_judges() -> None:
    source = Path(linear_extensions.__file__).read_text(encoding="utf-8")
    modules = {node.module for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)}
    assert {m for m in modules if m and m.startswith("dipc")} == {
        "dipc.measure.event",
        "dipc.linear.halfspace",  # of which events are made
        "dipc.noise.laplace",
        "dipc.algebra.exppoly",
        "dipc.algebra.limits",
    }


# --- by hand -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("end", [-3, 0, Fraction(1, 2), 2])
@pytest.mark.parametrize("mean", [0, Fraction(1, 3)])
def test_a_noise_above_a_bound(rate: Fraction, end: Fraction | int, mean: Fraction | int) -> None:
    tail = terms((0, -rate * abs(end - mean), Fraction(1, 2)))
    measured = measure_by_linear_extensions(event([laplace(rate, mean)], halfspace({0: 1}, -end)))
    assert measured == (tail if end >= mean else 1 - tail)


@pytest.mark.parametrize("gap", [0, 1, Fraction(5, 2)])
@pytest.mark.parametrize("rate", [1, 2, Fraction(1, 3)])
def test_two_noises_of_the_same_rate(gap: Fraction | int, rate: Fraction | int) -> None:
    """Pr[X >= Y] for X, Y of rate a whose means are d >= 0 apart is 1 - (2 + a·d·eps)·e^{-a·d·eps}/4."""
    d = gap * Fraction(rate)
    expected = 1 - terms((0, -d, Fraction(1, 2)), (1, -d, d / 4))
    assert measure_by_linear_extensions(event([laplace(rate, gap), laplace(rate, 0)], above(0, 1))) == expected


@pytest.mark.parametrize("gap", [0, 1, Fraction(5, 2)])
@pytest.mark.parametrize(("a", "b"), [(1, 2), (Fraction(1, 2), Fraction(1, 4)), (3, Fraction(1, 3))])
def test_two_noises_of_different_rates(gap: Fraction | int, a: Fraction | int, b: Fraction | int) -> None:
    """1 - (a²·e^{-b·d·eps} - b²·e^{-a·d·eps})/(2(a² - b²)) in the same situation with rates a and b."""
    a, b, scale = Fraction(a), Fraction(b), 2 * (Fraction(a) ** 2 - Fraction(b) ** 2)
    expected = 1 - terms((0, -b * gap, a**2 / scale), (0, -a * gap, -(b**2) / scale))
    assert measure_by_linear_extensions(event([laplace(a, gap), laplace(b, 0)], above(0, 1))) == expected


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_every_order_of_like_noises_is_equally_likely(size: int) -> None:
    chain = [above(i, i + 1) for i in range(size - 1)]
    like = [laplace(Fraction(2, 3), 5) for _ in range(size)]
    assert measure_by_linear_extensions(event(like, *chain)) == Fraction(1, factorial(size))


def test_all_pairs_say_no_more_than_a_chain() -> None:
    noises = [laplace(1, 0), laplace(2, 1), laplace(1, Fraction(1, 2))]
    chain = event(noises, above(0, 1), above(1, 2))
    pairs = event(noises, above(0, 1), above(0, 2), above(1, 2))
    assert measure_by_linear_extensions(chain) == measure_by_linear_extensions(pairs)


def test_no_constraints_and_constraints_without_noise() -> None:
    noises = [laplace(1, 0), laplace(2, 1)]
    assert measure_by_linear_extensions(Event((), ())) == 1
    assert measure_by_linear_extensions(event(noises)) == 1
    assert measure_by_linear_extensions(event(noises, halfspace({}, 0), halfspace({}, 2))) == 1
    assert measure_by_linear_extensions(event(noises, halfspace({}, -1))) == 0


def test_contradictions_have_measure_zero() -> None:
    noises = [laplace(1, 0), laplace(2, 1), laplace(1, 1)]
    assert measure_by_linear_extensions(event(noises, above(0, 1), above(1, 2), above(2, 0))) == 0
    assert measure_by_linear_extensions(event(noises, above(0, 1, 1), above(1, 0, -1))) == 0
    assert measure_by_linear_extensions(event(noises, above(0, 1, 1), above(1, 0, 1))) == 0
    assert measure_by_linear_extensions(event(noises, halfspace({0: 1}, -1), halfspace({0: -1}, 1))) == 0
    assert measure_by_linear_extensions(event(noises, halfspace({0: 1}, -1), above(1, 0), halfspace({1: -2}, 2))) == 0


def test_a_range_of_a_difference() -> None:
    """|X - Y| <= 1 for like noises around 0: the tails of two noises of the same rate, twice."""
    inside = event([laplace(1), laplace(1)], above(0, 1, -1), above(1, 0, -1))
    assert measure_by_linear_extensions(inside) == 1 - terms((0, -1, 1), (1, -1, Fraction(1, 2)))


# --- partitions and transformations --------------------------------------------------------------------


@settings(max_examples=examples(5))
@given(st.lists(st.builds(laplace, st.sampled_from(RATES), st.sampled_from(LENGTHS)), min_size=3, max_size=3))
def test_the_orders_of_three_noises_sum_to_one(noises: list[Noise]) -> None:
    total = ExpPoly.ZERO
    for order in permutations(range(3)):
        total = total + measure_by_linear_extensions(
            event(noises, above(order[0], order[1]), above(order[1], order[2]))
        )
    assert total == 1


@settings(max_examples=examples(8))
@given(tree_events(3))
def test_a_half_space_and_its_complement_sum_to_the_rest(e: Event) -> None:
    if e.constraints:
        *rest, last = e.constraints
        inside = measure_by_linear_extensions(e)
        outside = measure_by_linear_extensions(event(e.noises, *rest, negated(last)))
        assert inside + outside == measure_by_linear_extensions(event(e.noises, *rest))


@settings(max_examples=examples(8))
@given(order_events(3), st.permutations(range(3)), st.lists(st.sampled_from(SCALES), min_size=3, max_size=3))
def test_names_and_units_do_not_matter(e: Event, order: list[int], scales: list[Fraction]) -> None:
    size = len(e.noises)
    renamed = permuted(e, [i for i in order if i < size])
    rewritten = changed(renamed, scales[:size], [Fraction(i, 2) for i in range(size)])
    assert measure_by_linear_extensions(rewritten) == measure_by_linear_extensions(e)


# --- refusals ------------------------------------------------------------------------------------------


def test_offsets_that_are_no_order_are_refused() -> None:
    ring = event([laplace(1)] * 3, above(0, 1, -1), above(1, 2, -1), above(2, 0, -1))
    with pytest.raises(OutsideFragment, match="no plain comparisons"):
        measure_by_linear_extensions(ring)


def test_two_proportions_are_refused() -> None:
    with pytest.raises(OutsideFragment):
        measure_by_linear_extensions(event([laplace(1)] * 2, above(0, 1), halfspace({0: 1, 1: -2})))


def test_sums_are_refused() -> None:
    with pytest.raises(OutsideFragment, match="three noises"):
        measure_by_linear_extensions(event([laplace(1)] * 3, halfspace({0: 1, 1: 1, 2: 1})))


@pytest.mark.parametrize("law", [law for law in LAWS if law != LAPLACE])
def test_other_noise_is_refused(law: Law) -> None:
    with pytest.raises(OutsideFragment, match="Laplace"):
        measure_by_linear_extensions(event([Noise(law, Fraction(1), Fraction(0))]))


def test_orders_are_limited() -> None:
    chain = event([laplace(1, i) for i in range(4)], *(above(i, i + 1) for i in range(3)))
    measure_by_linear_extensions(chain, max_orders=200)
    with pytest.raises(LimitReached) as stopped:
        measure_by_linear_extensions(chain, max_orders=10)
    assert "orders" in stopped.value.reason
    assert "more than 10 orders" in stopped.value.reason


def test_five_noises_take_seconds_at_most() -> None:
    """A threshold and four answers, one of them above: 8 terms at most by the formula for the star."""
    noises = [laplace(Fraction(1, 2)), *(laplace(Fraction(1, 4), mean) for mean in (-1, 1, -1, 1))]
    star = event(noises, above(0, 1), above(2, 0), above(0, 3), above(4, 0))
    measured = measure_by_linear_extensions(star)
    low, high = measured.enclosure(Fraction(1))
    assert 0 < low <= high < 1
