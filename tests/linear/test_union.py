"""Unions of polyhedra against points that are tried."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from dipc.linear.halfspace import Halfspace, convex_union, is_covered
from dipc.linear.program import contradiction
from tests.linear.systems import boxed, halfspaces, systems
from tests.patience import examples

F = Fraction

numbers = st.integers(-2, 2).map(F)
parts = systems(2, 3, numbers)
POINTS = [{0: F(x, 2), 1: F(y, 2)} for x, y in product(range(-8, 9), repeat=2)]


def is_empty(system: Sequence[Halfspace]) -> bool:
    return contradiction(system) is not None


def holds(system: Sequence[Halfspace], point: dict[int, Fraction]) -> bool:
    return all(item.contains(point) for item in system)


@settings(max_examples=examples(4))
@given(parts, st.lists(parts, max_size=3))
def test_what_is_covered(system: list[Halfspace], cover: list[list[Halfspace]]) -> None:
    outside = [at for at in POINTS if holds(system, at) and not any(holds(part, at) for part in cover)]
    assert not (outside and is_covered(system, cover, is_empty))
    assert is_covered(system, [*cover, system], is_empty)


@settings(max_examples=examples(4))
@given(st.lists(parts, min_size=1, max_size=3))
def test_a_union_has_the_points_of_its_parts(cover: list[list[Halfspace]]) -> None:
    union = convex_union(cover, is_empty)
    if union is not None:
        assert all(holds(union, at) is any(holds(part, at) for part in cover) for at in POINTS)


@settings(max_examples=examples(4))
@given(halfspaces(2, numbers), halfspaces(2, numbers))
def test_what_was_cut_is_united(one: Halfspace, two: Halfspace) -> None:
    box = boxed(2, 3)
    pieces = [[*box, one, two], [*box, one, two.complement()], [*box, one.complement()]]
    union = convex_union(pieces, is_empty)
    assert union is not None
    assert all(holds(union, at) is holds(box, at) for at in POINTS)
