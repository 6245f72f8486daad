"""The worst move of unbounded inputs, against moves that are tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dipc
from dipc.algebra.limits import LimitReached, Limits
from dipc.linear.halfspace import Halfspace, sorted_terms
from dipc.linear.shifts import least_shift
from dipc.program.clipped import EVERYTHING, Clipped
from dipc.program.program import Program
from dipc.questions.privacy.adjacency import Distance, Neighborhood
from dipc.questions.privacy.boxes import extreme_moves
from tests.patience import examples

F = Fraction

#: Vertices that are looked at.
MOST = 4_096
RATES = {0: F(1), 1: F(1, 2)}

numbers = st.integers(-2, 2).map(F)
#: t are the keys 0 and 1, moves the keys 10 and 11.
moving = st.builds(
    lambda terms, moves, c: Halfspace(sorted_terms({**terms, **moves}), c),
    st.dictionaries(st.integers(0, 1), numbers, max_size=2),
    st.dictionaries(st.integers(10, 11), numbers, max_size=2),
    st.integers(0, 2).map(F),
)


def worst_shift(
    rates: Mapping[int, Fraction],
    inequalities: Sequence[Halfspace],
    equations: Sequence[Halfspace],
    kinds: str,
    within: Neighborhood,
    most: int = MOST,
) -> tuple[dict[int, Fraction], Fraction | None]:
    """The costliest of the extreme moves of inputs of these `kinds`, r for a real and i for an int, and its cost."""
    inputs = " ".join(f"input x{n} : {'int' if kind == 'i' else 'real'};" for n, kind in enumerate(kinds))
    loaded = dipc.load(f"program free; {inputs} output o : real; o <- Lap(eps)")
    box = Clipped(Program(loaded.core, Limits(vertices=most)), (EVERYTHING,) * len(kinds))
    forms = [[{k - 10: c for k, c in item.coefficients if k >= 10} for item in f] for f in (inequalities, equations)]
    worst: tuple[dict[int, Fraction], Fraction] = {}, F(-1)
    for move in extreme_moves(*forms, box, within):
        at = {10 + place: step for place, step in move.items()}
        halves = [[item.with_values(at) for item in items] for items in (inequalities, equations)]
        found = least_shift(rates, *halves)
        if found is None:
            return at, None
        worst = max(worst, (at, found.cost), key=lambda each: each[1])
    return worst


@settings(max_examples=examples(4))
@given(
    st.lists(moving, max_size=3),
    st.lists(moving, max_size=1),
    st.sampled_from([Distance.L1, Distance.LINF]),
    st.sampled_from(["rr", "ri", "ir", "ii"]),
)
def test_no_move_of_the_ball_is_worse(
    inequalities: list[Halfspace], equations: list[Halfspace], distance: Distance, kinds: str
) -> None:
    within = Neighborhood(distance, F(2))
    move, worst = worst_shift(RATES, inequalities, equations, kinds, within)
    if worst is None:
        assert within.relates((F(0), F(0)), (move[10], move[11]))
        return
    steps = [[F(n, 1 if kind == "i" else 2) for n in (range(-2, 3) if kind == "i" else range(-4, 5))] for kind in kinds]
    for tried in product(*steps):
        if within.relates((F(0), F(0)), tried):
            at = dict(zip((10, 11), tried, strict=True))
            halves = [[item.with_values(at) for item in items] for items in (inequalities, equations)]
            found = least_shift(RATES, *halves)
            assert found is not None
            assert found.cost <= worst


def test_one_noisy_comparison() -> None:
    """Lap(eps, x) >= 0: a move by 1 costs 1, as in the Laplace mechanism."""
    row = Halfspace(((0, F(1)), (10, F(1))), F(0))
    assert worst_shift({0: F(1)}, [row], [], "r", Neighborhood(Distance.LINF, F(1))) == ({10: -1}, 1)
    fixed = Halfspace(((10, F(1)),), F(0))
    assert worst_shift({0: F(1)}, [fixed], [], "r", Neighborhood(Distance.L1, F(1)))[1] is None


@pytest.mark.parametrize("queries", [2, 3, 4, 12])
def test_above_threshold_costs_what_it_is_known_to(queries: int) -> None:
    """The sparse vector technique costs eps for moves of at most 1.

    All queries but the last are below a noisy threshold of rate 1/2, the last one is above it, and the rates are 1/4.
    Each input has one sign, so that twelve queries have one vertex.
    """
    rates = {0: F(1, 2), **{i: F(1, 4) for i in range(1, queries + 1)}}
    columns = {i: 9 + i for i in range(1, queries + 1)}
    # Each query has its own noise, so that its key among the noises must not be that of an input.
    noises = {0: 0, **{i: -i for i in range(1, queries + 1)}}
    rows = [Halfspace(sorted_terms({0: F(1), noises[i]: F(-1), columns[i]: F(-1)}), F(0)) for i in range(1, queries)]
    rows.append(Halfspace(sorted_terms({0: F(-1), noises[queries]: F(1), columns[queries]: F(1)}), F(0)))
    rates = {noises[i]: rate for i, rate in rates.items()}
    _, worst = worst_shift(rates, rows, [], "r" * queries, Neighborhood(Distance.LINF, F(1)), most=1)
    assert worst == min(F(queries, 4), F(1))


def test_too_many_vertices() -> None:
    """Twenty inputs, each with its own factor in one of two rows, have more than a million extreme moves."""
    keys = range(10, 30)
    ones = Halfspace(((0, F(1)), *((key, F(1)) for key in keys)), F(0))
    mixed = Halfspace(((0, F(1)), *((key, F(9 - key)) for key in keys)), F(0))
    with pytest.raises(LimitReached, match="vertices"):
        worst_shift({0: F(1)}, [ones, mixed], [], "r" * 20, Neighborhood(Distance.LINF, F(1)))
