"""Integer inequalities against trying all integers of a box."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dipc.algebra.limits import LimitReached, Limits
from dipc.linear.halfspace import Halfspace, equation, sorted_terms
from dipc.linear.program import Infeasible, integer_minimum, integer_solution, solution
from tests.linear.systems import boxed, satisfied
from tests.patience import examples

F = Fraction
RADIUS = 3
BRANCHES = Limits().branches

integer_forms = st.dictionaries(st.integers(0, 2), st.integers(-4, 4).map(F), max_size=3).map(sorted_terms)
integer_halfspaces = st.builds(Halfspace, integer_forms, st.fractions(-6, 6, max_denominator=3), st.booleans())
equations = st.builds(equation, integer_forms, st.integers(-5, 5).map(F)).map(list)
integer_systems = st.lists(st.one_of(integer_halfspaces.map(lambda item: [item]), equations), max_size=4).map(
    lambda parts: [item for part in parts for item in part]
)


def in_the_box(system: list[Halfspace]) -> list[dict[int, Fraction]]:
    values = [F(value) for value in range(-RADIUS, RADIUS + 1)]
    points = (dict(enumerate(choice)) for choice in product(values, repeat=3))
    return [point for point in points if satisfied(system, point)]


@settings(max_examples=examples(4))
@given(integer_systems)
def test_an_integer_point_is_found_where_there_is_one(system: list[Halfspace]) -> None:
    within = [*system, *boxed(3, RADIUS)]
    expected = in_the_box(system)
    found = integer_solution(within, frozenset(range(3)), BRANCHES)
    assert (found is None) is (not expected)
    assert found is None or found in expected


@settings(max_examples=examples(4))
@given(integer_systems)
def test_without_a_box_only_what_no_box_has_is_denied(system: list[Halfspace]) -> None:
    try:
        found = integer_solution(system, frozenset(range(3)), 30)
    except LimitReached:
        return
    if found is None:
        assert not in_the_box(system)
    else:
        assert satisfied(system, found)
        assert all(found[key].denominator == 1 for key in range(3))


@settings(max_examples=examples(4))
@given(integer_systems, integer_forms)
def test_the_least_value_over_integers(system: list[Halfspace], goal: tuple[tuple[int, Fraction], ...]) -> None:
    form = Halfspace(goal, F(1))
    expected = [form.value(point) for point in in_the_box(system)]
    found = integer_minimum(form, [*system, *boxed(3, RADIUS)], frozenset(range(3)), BRANCHES)
    assert (found is None) is (not expected)
    if found is not None:
        value, point = found
        assert value == form.value(point) == min(expected)
        assert point in [{key: other[key] for key in point} for other in in_the_box(system)]


def test_equations_that_no_branching_would_settle() -> None:
    """x = y and x + y = 2z + 1: the solutions of the relaxation are a line."""
    system = [
        *equation([(0, F(1)), (1, F(-1))], F(0)),
        *equation([(0, F(1)), (1, F(1)), (2, F(-2))], F(-1)),
    ]
    assert not isinstance(solution(system), Infeasible)
    assert integer_solution(system, frozenset(range(3)), BRANCHES) is None
    assert integer_solution(system, frozenset({0, 1}), BRANCHES) is not None


def test_integers_far_away() -> None:
    """13x - 8y = 10^12 with y >= 0."""
    system = [*equation([(0, F(13)), (1, F(-8))], F(-(10**12))), Halfspace(((1, F(1)),), F(0))]
    found = integer_solution(system, frozenset({0, 1}), BRANCHES)
    assert found is not None
    assert 13 * found[0] - 8 * found[1] == 10**12


def test_reals_beside_integers_are_strict() -> None:
    """0 < r < x/2 < 1 has x = 1; with x <= r as well nothing is left."""
    system = [
        Halfspace(((1, F(1)),), F(0), True),
        Halfspace(((0, F(1, 2)), (1, F(-1))), F(0), True),
        Halfspace(((0, F(-1, 2)),), F(1), True),
    ]
    found = integer_solution(system, frozenset({0}), BRANCHES)
    assert found is not None
    assert found[0] == 1
    assert 0 < found[1] < F(1, 2)
    assert integer_solution([*system, Halfspace(((0, F(-1)), (1, F(1))), F(0))], frozenset({0}), BRANCHES) is None


def test_past_the_limit_nothing_is_said() -> None:
    half = [Halfspace(((0, F(1)),), F(-1, 2))]
    assert integer_solution(half, frozenset({0}), BRANCHES) == {0: 1}
    with pytest.raises(LimitReached, match=r"more than 0 cases \(limit `branches`\)"):
        integer_solution(half, frozenset({0}), 0)
