"""The least cost of a shift, against shifts that are tried and moves that are tried."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dipc.algebra.limits import LimitReached
from dipc.linear.halfspace import Halfspace, sorted_terms
from dipc.linear.shifts import least_shift, moves_of_all, moves_of_one, proved_cost, worst_shift
from tests.patience import examples

F = Fraction

numbers = st.integers(-2, 2).map(F)
forms = st.builds(
    lambda terms, c: Halfspace(sorted_terms(terms), c), st.dictionaries(st.integers(0, 1), numbers, max_size=2), numbers
)
#: Vertices that are looked at.
MOST = 4_096
RATES = {0: F(1), 1: F(1, 2)}


@settings(max_examples=examples(4))
@given(st.lists(forms, max_size=4), st.lists(forms, max_size=1))
def test_no_shift_that_is_tried_costs_less(inequalities: list[Halfspace], equations: list[Halfspace]) -> None:
    found = least_shift(RATES, inequalities, equations)
    if found is not None:
        assert all(item.value(found.shift) >= 0 for item in inequalities)
        assert all(item.value(found.shift) == 0 for item in equations)
        y, z = found.inequality_multipliers, found.equation_multipliers
        assert proved_cost(RATES, inequalities, equations, y, z) == found.cost
    for first, second in product([F(n, 2) for n in range(-6, 7)], repeat=2):
        tried = {0: first, 1: second}
        fits = all(item.value(tried) >= 0 for item in inequalities)
        if fits and all(item.value(tried) == 0 for item in equations):
            assert found is not None
            assert found.cost <= abs(first) + abs(second) / 2


#: t are the keys 0 and 1, moves the keys 10 and 11.
moving = st.builds(
    lambda terms, moves, c: Halfspace(sorted_terms({**terms, **moves}), c),
    st.dictionaries(st.integers(0, 1), numbers, max_size=2),
    st.dictionaries(st.integers(10, 11), numbers, max_size=2),
    st.integers(0, 2).map(F),
)


@settings(max_examples=examples(4))
@given(st.lists(moving, max_size=3), st.lists(moving, max_size=1), st.booleans())
def test_no_move_of_the_ball_is_worse(inequalities: list[Halfspace], equations: list[Halfspace], sums: bool) -> None:
    cube = moves_of_all([10, 11], F(2), inequalities, equations, MOST)
    move, worst = worst_shift(RATES, inequalities, equations, moves_of_one([10, 11], F(2)) if sums else cube)
    assert _is_in_ball(sums, move[10], move[11])
    if worst is None:
        return
    for first, second in product([F(n, 2) for n in range(-4, 5)], repeat=2):
        if _is_in_ball(sums, first, second):
            at = [_substitute(item, first, second) for item in inequalities]
            found = least_shift(RATES, at, [_substitute(item, first, second) for item in equations])
            assert found is not None
            assert found.cost <= worst.cost


def _is_in_ball(sums: bool, first: Fraction, second: Fraction) -> bool:
    return (abs(first) + abs(second) if sums else max(abs(first), abs(second))) <= 2


def _substitute(item: Halfspace, first: Fraction, second: Fraction) -> Halfspace:
    constant = item.constant + item.coefficient(10) * first + item.coefficient(11) * second
    return Halfspace(tuple([(key, c) for key, c in item.coefficients if key < 10]), constant)


def test_one_noisy_comparison() -> None:
    """Lap(eps, x) >= 0: a move by 1 costs 1, as in the Laplace mechanism."""
    row = Halfspace(((0, F(1)), (10, F(1))), F(0))
    move, worst = worst_shift({0: F(1)}, [row], [], moves_of_all([10], F(1), [row], [], MOST))
    assert worst is not None
    assert (worst.cost, move) == (1, {10: -1})


@pytest.mark.parametrize("queries", [2, 3, 4, 12])
def test_above_threshold_costs_what_it_is_known_to(queries: int) -> None:
    """The sparse vector technique costs eps for moves of at most 1.

    All queries but the last are below a noisy threshold of rate 1/2, the last one is above it, and the rates are 1/4.
    Each input has one sign, so that twelve queries have one vertex.
    """
    rates = {0: F(1, 2), **{i: F(1, 4) for i in range(1, queries + 1)}}
    rows = [Halfspace(((0, F(1)), (i, F(-1)), (100 + i, F(-1))), F(0)) for i in range(1, queries)]
    rows.append(Halfspace(((0, F(-1)), (queries, F(1)), (100 + queries, F(1))), F(0)))
    moves = moves_of_all([100 + i for i in range(1, queries + 1)], F(1), rows, [], most=1)
    _, worst = worst_shift(rates, rows, [], moves)
    assert worst is not None
    assert worst.cost == min(F(queries, 4), F(1))


def test_impossible_shifts_and_wrong_multipliers() -> None:
    fixed = Halfspace((), F(-1))
    assert least_shift({0: F(1)}, [fixed]) is None
    assert worst_shift({0: F(1)}, [Halfspace(((10, F(1)),), F(0))], [], moves_of_one([10], F(1)))[1] is None
    row = Halfspace(((0, F(1)),), F(-1))
    assert proved_cost({0: F(1)}, [row], [], [F(1)], []) == 1
    assert proved_cost({0: F(1)}, [row], [], [F(2)], []) is None
    assert proved_cost({0: F(1)}, [row], [], [F(-1)], []) is None
    assert proved_cost({0: F(1)}, [row], [], [], []) is None


def test_too_many_vertices() -> None:
    keys = range(10, 30)
    rows = [Halfspace(((0, sign), *((key, F(1)) for key in keys)), F(0)) for sign in (F(1), F(-1))]
    mixed = [rows[0], Halfspace(((0, F(1)), *((key, F(-1)) for key in keys)), F(0))]
    with pytest.raises(LimitReached, match="vertices"):
        worst_shift({0: F(1)}, mixed, [], moves_of_all(list(keys), F(1), mixed, [], MOST))
