"""Exact linear programs against vertex enumeration, elimination and z3."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dipc.algebra.limits import LimitReached
from dipc.linear import program
from dipc.linear.halfspace import Halfspace, equation, proved_bound, refutes, weighted_sum
from dipc.linear.program import (
    Infeasible,
    Interiors,
    Least,
    NotConfirmed,
    Simplex,
    Unbounded,
    contradiction,
    implies,
    minimum,
    solution,
)
from tests.linear.systems import boxed, halfspaces, least_at_a_vertex, numbers, satisfied, small, systems
from tests.patience import examples

F = Fraction


def half(constant: object, strict: bool = False, **by_key: object) -> Halfspace:
    terms = sorted((int(name[1:]), F(str(c))) for name, c in by_key.items())
    return Halfspace(tuple(terms), F(str(constant)), strict)


def in_z3(system: list[Halfspace]) -> Any:
    import z3

    solver = z3.SolverFor("QF_LRA")
    for item in system:
        value = z3.Sum([z3.Q(item.constant.numerator, item.constant.denominator)])
        for key, c in item.coefficients:
            value += z3.Q(c.numerator, c.denominator) * z3.Real(f"x{key}")
        solver.add(value > 0 if item.strict else value >= 0)
    return solver.check() == z3.sat


@given(systems(4, 8))
def test_a_system_has_a_point_or_a_proof_that_it_has_none(system: list[Halfspace]) -> None:
    found = solution(system, range(4))
    if isinstance(found, Infeasible):
        assert refutes(system, found.weights)
    else:
        assert satisfied(system, found)
    assert isinstance(found, Infeasible) is not in_z3(system)


@given(systems(3, 5), halfspaces(3))
def test_what_is_implied_holds_wherever_the_system_does(system: list[Halfspace], question: Halfspace) -> None:
    assert implies(system, question) is not in_z3([*system, question.complement()])


@settings(max_examples=examples(8))
@given(systems(2, 4, numbers), halfspaces(2), st.integers(1, 5))
def test_the_minimum_over_a_polygon_is_at_a_vertex(system: list[Halfspace], form: Halfspace, radius: int) -> None:
    closed = [item.closure() for item in (*system, *boxed(2, radius))]
    _matches_vertices(closed, form, 2)


@settings(max_examples=examples(8))
@given(systems(3, 4, small), halfspaces(3, small))
def test_the_minimum_over_a_polyhedron_is_at_a_vertex(system: list[Halfspace], form: Halfspace) -> None:
    _matches_vertices([item.closure() for item in (*system, *boxed(3, 2))], form, 3)


def _matches_vertices(closed: list[Halfspace], form: Halfspace, keys: int) -> None:
    expected = least_at_a_vertex(form, closed, keys)
    if any(not item.coefficients and item.constant < 0 for item in closed):
        expected = None
    match minimum(form, closed, range(keys)):
        case Least(value, point, weights):
            assert value == expected == form.value(point)
            assert proved_bound(form, closed, weights) == value
        case Infeasible():
            assert expected is None
        case Unbounded():
            pytest.fail("a box is bounded")


@given(systems(3, 6), halfspaces(3))
def test_a_form_without_minimum_falls_along_a_ray(system: list[Halfspace], form: Halfspace) -> None:
    found = minimum(form, system, range(3))
    if isinstance(found, Unbounded):
        for step in (F(0), F(1), F(10**40)):
            on_the_ray = {key: found.point[key] + step * found.direction.get(key, F(0)) for key in range(3)}
            assert satisfied(system, on_the_ray)
            assert form.value(on_the_ray) <= form.value(found.point) - step


def test_strict_inequalities_have_an_infimum_that_no_point_attains() -> None:
    found = minimum(half(0, x0=1), [half(-1, strict=True, x0=1)])
    assert isinstance(found, Least)
    assert found.value == 1
    assert isinstance(minimum(half(0, x0=1), [half(0, strict=True, x0=1), half(0, x0=-1)]), Infeasible)


def test_a_degenerate_corner_does_not_cycle() -> None:
    """Beale's example, on which the simplex method without a rule runs in circles."""
    system = [
        half(0, x0="-1/4", x1=60, x2="1/25", x3=-9),
        half(0, x0="-1/2", x1=90, x2="1/50", x3=-3),
        half(1, x2=-1),
        *(half(0, **{f"x{key}": 1}) for key in range(4)),
    ]
    found = minimum(half(0, x0="-3/4", x1=150, x2="-1/50", x3=6), system)
    assert isinstance(found, Least)
    assert found.value == F(-1, 20)


def test_goals_are_met_one_after_the_other() -> None:
    square = [half(0, x0=1), half(0, x1=1), half(2, x0=-1, x1=-1)]
    found = minimum(half(0, x0=-1, x1=-1), square, then=[half(0, x0=1)])
    assert isinstance(found, Least)
    assert found.point == {0: 0, 1: 2}
    found = minimum(half(0, x0=-1, x1=-1), square, then=[half(0, x1=1)])
    assert isinstance(found, Least)
    assert found.point == {0: 2, 1: 0}


@given(systems(2, 3, small), halfspaces(2, small), halfspaces(2, small))
def test_a_later_goal_is_least_where_the_first_one_is(
    system: list[Halfspace], first: Halfspace, second: Halfspace
) -> None:
    closed = [item.closure() for item in (*system, *boxed(2, 2))]
    found = minimum(first, closed, range(2), then=[second])
    if isinstance(found, Least):
        face = [*closed, *equation(first.coefficients, first.constant - found.value)]
        assert second.value(found.point) == least_at_a_vertex(second, face, 2)


def test_the_empty_system_and_constants() -> None:
    assert solution([]) == {}
    assert solution([], [3]) == {3: 0}
    assert contradiction([half(-1)]) == {0: 1}
    assert contradiction([half(0)]) is None
    assert contradiction([half(0, strict=True)]) == {0: 1}
    assert isinstance(minimum(half(0, x0=1), []), Unbounded)
    assert minimum(half(5), []) == Least(F(5), {}, {})


def test_weights_that_prove_nothing_are_refused() -> None:
    system = [half(-1, x0=1), half(0, x0=-1)]
    assert refutes(system, {0: F(1), 1: F(1)})
    assert not refutes(system, {0: F(1), 1: F(2)})
    assert not refutes(system, {0: F(-1), 1: F(-1)})
    assert not refutes(system, {})
    assert proved_bound(half(3, x0=2), system, {0: F(2)}) == 5
    assert proved_bound(half(3, x0=2), system, {0: F(1)}) is None
    assert proved_bound(half(3, x0=2), system, {1: F(-2)}) is None
    with pytest.raises(ValueError, match="must not be negative"):
        weighted_sum(system, {0: F(-1)})


def test_a_solver_that_lies_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wrong points and wrong weights are both found out."""
    possible, impossible = [half(-1, x0=1)], [half(-1, x0=1), half(0, x0=-1)]
    monkeypatch.setattr(Simplex, "contradiction", lambda self, places: {0: F(1)})
    with pytest.raises(NotConfirmed):
        solution(possible)
    with pytest.raises(NotConfirmed):
        Interiors(10).facets([half(0, x0=1), half(1, x0=1)], 0)
    monkeypatch.setattr(Simplex, "contradiction", lambda self, places: None)
    with pytest.raises(NotConfirmed):
        solution(impossible)
    monkeypatch.undo()
    monkeypatch.setattr(Simplex, "minimize", lambda self, goal: {0: F(2)})
    with pytest.raises(NotConfirmed):
        minimum(half(0, x0=1), possible)
    monkeypatch.setattr(Simplex, "minimize", lambda self, goal: None)
    with pytest.raises(NotConfirmed):
        minimum(half(0, x0=1), possible)
    assert program.NotConfirmed().reason


# --- interiors -------------------------------------------------------------------------------------


@given(systems(3, 7, small))
def test_facets_describe_the_same_interior_and_none_follows_from_the_others(system: list[Halfspace]) -> None:
    interiors = Interiors(1_000)
    if not interiors.has_interior(system):
        return
    kept = interiors.facets(system, 0)
    opened = [Halfspace(item.coefficients, item.constant, True) for item in kept]
    for item in system:
        assert implies(opened, Halfspace(item.coefficients, item.constant, bool(item.coefficients)))
    for item in kept:
        if item.coefficient(0):
            others = [other for other in kept if other is not item]
            assert interiors.has_interior([*others, item.complement()])


def test_interiors_stop_at_their_limit() -> None:
    interiors = Interiors(1)
    assert not interiors.has_interior([half(0, x0=1), half(0, x0=-1)])
    with pytest.raises(LimitReached, match="cells"):
        interiors.has_interior([])
    assert interiors.asked == 2
