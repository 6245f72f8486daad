"""Partial orders of noises with one law: against all permutations, the naive integrator and the hook length formula."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import factorial, prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dipc.measure.event import Event
from dipc.measure.forest import DifferenceSystem, order_measure
from dipc.measure.measure import Measurer, measure
from tests.measure.linear_extensions import measure_by_linear_extensions
from tests.patience import examples
from tests.strategies.events import above, event, laplace


def poset(size: int, pairs: set[tuple[int, int]]) -> DifferenceSystem:
    return DifferenceSystem((Fraction(1),) * size, (0,) * size, dict.fromkeys(pairs, 0), Fraction(1))


def grid(side: int) -> Event:
    """Every noise is above its neighbors to the left and below."""
    places = {(i, j): i * side + j for i in range(side) for j in range(side)}
    links = [((i, j), (i + 1, j)) for i, j in places] + [((i, j), (i, j + 1)) for i, j in places]
    constraints = [above(places[q], places[p]) for p, q in links if q in places]
    return event([laplace(Fraction(1, 3), 2)] * side**2, *constraints)


def tableaux(side: int) -> int:
    """The standard Young tableaux of a square, by hook lengths (Frame, Robinson, Thrall 1954)."""
    return factorial(side**2) // prod(i + j + 1 for i in range(side) for j in range(side))


@settings(max_examples=examples(20), deadline=None)
@given(st.data(), st.integers(1, 6))
def test_extensions_are_the_permutations_that_keep_the_order(data: st.DataObject, size: int) -> None:
    nodes = st.integers(0, size - 1)
    pairs = {(i, j) for i, j in data.draw(st.sets(st.tuples(nodes, nodes), max_size=2 * size)) if i != j}
    kept = sum(all(order[i] > order[j] for i, j in pairs) for order in permutations(range(size)))
    assert order_measure(poset(size, pairs), 1000) == Fraction(kept, factorial(size))


@pytest.mark.parametrize("side", [2, 4, 6])
def test_grids_have_the_tableaux_of_the_hook_length_formula(side: int) -> None:
    assert measure(grid(side)) == Fraction(tableaux(side), factorial(side**2))


def test_it_is_the_integral() -> None:
    """The last event is such a poset only after splitting: the noise on top has another law."""
    below = [above(2, 0), above(2, 1), above(3, 0), above(3, 1)]
    four = [laplace(1, 1)] * 4
    assert measure(event(four, *below)) == measure_by_linear_extensions(event(four, *below))
    five = event([*four, laplace(2)], *below, above(4, 3))
    assert measure(five) == measure_by_linear_extensions(five)


@pytest.mark.parametrize(
    "changed",
    [
        {"rates": (Fraction(1), Fraction(2))},
        {"means": (0, 1)},
        {"lower": {(0, 1): 1}},
        {"lower": {(0, 1): 0, (0, -1): 0}},
        {"unit": None},
    ],
)
def test_other_laws_lengths_bounds_and_integers_are_not_for_it(changed: dict[str, object]) -> None:
    given = {"rates": (Fraction(1),) * 2, "means": (0, 0), "lower": {(0, 1): 0}, "unit": Fraction(1)}
    assert order_measure(DifferenceSystem(**given), 10) == Fraction(1, 2)  # type: ignore[arg-type]
    assert order_measure(DifferenceSystem(**{**given, **changed}), 10) is None  # type: ignore[arg-type]


def test_past_so_many_ideals_it_gives_up() -> None:
    antichain = poset(5, set())
    assert order_measure(antichain, 32) == 1
    assert order_measure(antichain, 31) is None


def test_a_grid_needs_no_integral() -> None:
    measurer = Measurer()
    measurer.measure(grid(5))
    assert measurer.integrals == 0
