"""Measures of difference systems: against the naive integrator, closed forms, partitions, and sampling."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, permutations, product
from math import factorial, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import LimitReached, Limits, Meter
from dipc.linear.halfspace import Halfspace
from dipc.measure import forest
from dipc.measure.event import Event, Noise
from dipc.measure.forest import event_shape, reduced
from dipc.measure.measure import Measurer, measure
from tests.measure.linear_extensions import measure_by_linear_extensions
from tests.patience import at_most, examples
from tests.strategies.events import (
    SCALES,
    above,
    changed,
    difference_events,
    event,
    halfspace,
    laplace,
    negated,
    order_events,
    permuted,
    stretched,
    tree_events,
)


def terms(*triples: tuple[int, Fraction | int, Fraction | int]) -> ExpPoly:
    """Σ c·eps^k·e^{q·eps} over (k, q, c)."""
    return ExpPoly.from_terms(triples)


def ring(f: object) -> ExpPoly:
    assert isinstance(f, ExpPoly)
    return f


def chain(noises: list[Noise], order: tuple[int, ...] | None = None) -> Event:
    """The noises in falling order."""
    order = order or tuple(range(len(noises)))
    return event(noises, *(above(i, j) for i, j in pairwise(order)))


def star(means: list[Fraction | int], tops: int, rate: Fraction = Fraction(1, 4)) -> Event:
    """A threshold at 0 with twice the rate; the last `tops` of the noises lie above it, the others below."""
    noises = [laplace(2 * rate), *(laplace(rate, mean) for mean in means)]
    first = len(noises) - tops
    return event(noises, *(above(i, 0) if i >= first else above(0, i) for i in range(1, len(noises))))


# --- against the naive integrator ----------------------------------------------------------------------


@given(tree_events(4))
def test_trees_agree_with_linear_extensions(e: Event) -> None:
    assert measure(e) == measure_by_linear_extensions(e)


@settings(max_examples=examples(5))
@given(tree_events(5, scaled=False, two_sided=False))
def test_larger_trees_agree_with_linear_extensions(e: Event) -> None:
    assert measure(e) == measure_by_linear_extensions(e)


@given(order_events(4))
def test_orders_with_cycles_agree_with_linear_extensions(e: Event) -> None:
    assert measure(e) == measure_by_linear_extensions(e)


POSETS = {
    "K_{2,2}": (4, [(0, 2), (0, 3), (1, 2), (1, 3)]),
    "K_{3,2}": (5, [(i, j) for i in range(3) for j in (3, 4)]),
    "diamond": (4, [(0, 1), (0, 2), (1, 3), (2, 3)]),
    "fence that closes": (4, [(0, 1), (2, 1), (2, 3), (0, 3)]),
    "two diamonds that share a corner": (5, [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (2, 4)]),
    "all pairs": (4, [(i, j) for i in range(4) for j in range(i)]),
    "a cycle with a tail": (5, [(0, 2), (0, 3), (1, 2), (1, 3), (2, 4)]),
}


@pytest.mark.parametrize("name", POSETS)
def test_posets_with_cycles(name: str) -> None:
    size, pairs = POSETS[name]
    noises = [laplace([1, 2, 1, Fraction(1, 2), 1][i], [0, 1, 1, 0, 1][i]) for i in range(size)]
    e = event(noises, *(above(i, j) for i, j in pairs))
    assert measure(e) == measure_by_linear_extensions(e)


def linear_extensions(size: int, pairs: list[tuple[int, int]]) -> int:
    return sum(all(order[i] > order[j] for i, j in pairs) for order in permutations(range(size)))


@pytest.mark.parametrize(
    ("size", "pairs"),
    [
        (6, [(i, j) for i in range(3) for j in range(3, 6)]),
        (6, [(0, 3), (0, 4), (1, 4), (1, 5), (2, 5), (2, 3)]),
        (7, [(0, 3), (0, 4), (1, 4), (1, 5), (2, 5), (2, 3), (3, 6), (4, 6)]),
        (7, [(i, j) for i in range(7) for j in range(i)]),
        (6, [(0, 2), (1, 2), (0, 3), (1, 3), (2, 4), (3, 4), (2, 5), (3, 5)]),
    ],
    ids=["K_{3,3}", "crown", "crown with a bottom", "all pairs", "stacked"],
)
def test_like_noises_count_linear_extensions(size: int, pairs: list[tuple[int, int]]) -> None:
    e = event([laplace(Fraction(3, 7), 2) for _ in range(size)], *(above(i, j) for i, j in pairs))
    assert measure(e) == Fraction(linear_extensions(size, pairs), factorial(size))


def test_all_pairs_are_one_chain() -> None:
    """Implied comparisons are dropped, so a total order of 12 is a single integral."""
    measurer = Measurer()
    noises = [laplace(1, i % 3) for i in range(12)]
    pairs = event(noises, *(above(i, j) for j in range(12) for i in range(j)))
    assert measurer.measure(pairs) == measure(chain(noises))
    assert measurer.integrals == 1


# --- partitions ----------------------------------------------------------------------------------------


@given(difference_events(4), st.data())
def test_a_half_space_and_its_complement_sum_to_the_rest(e: Event, data: st.DataObject) -> None:
    """Offsets are arbitrary, so that orders alone do not decide and the naive integrator gives up."""
    i, j = data.draw(st.permutations(range(len(e.noises))))[:2]
    cut = above(i, j, data.draw(st.sampled_from([Fraction(0), Fraction(1), Fraction(-1, 2)])))
    measurer = Measurer()
    inside = ring(measurer.measure(event(e.noises, *e.constraints, cut)))
    outside = ring(measurer.measure(event(e.noises, *e.constraints, negated(cut))))
    whole = ring(measurer.measure(e))
    assert inside + outside == whole
    for f in (inside, outside, whole):
        low, high = f.enclosure(Fraction(2, 3))
        assert 0 <= low <= high <= 1


@pytest.mark.parametrize("size", [2, 3, 4])
def test_the_orders_of_unlike_noises_sum_to_one(size: int) -> None:
    noises = [laplace([1, Fraction(1, 2), 1, 3][i], [0, 1, 1, Fraction(-1, 3)][i]) for i in range(size)]
    measurer = Measurer()
    total = ExpPoly.ZERO
    for order in permutations(range(size)):
        total = total + ring(measurer.measure(chain(noises, order)))
    assert total == 1


def test_the_sides_of_a_threshold_sum_to_one() -> None:
    noises = [laplace(Fraction(1, 2)), laplace(Fraction(1, 4), 1), laplace(Fraction(1, 4), -1), laplace(1, 1)]
    sides = product(*([above(0, i), above(i, 0)] for i in (1, 2, 3)))
    assert sum((ring(measure(event(noises, *chosen))) for chosen in sides), ExpPoly.ZERO) == 1


def test_the_winners_of_a_race_sum_to_one() -> None:
    noises = [laplace([1, 2, 1, Fraction(1, 2), 1][i], i % 3) for i in range(5)]
    winners = (event(noises, *(above(i, j) for j in range(5) if j != i)) for i in range(5))
    assert sum((ring(measure(e)) for e in winners), ExpPoly.ZERO) == 1


def test_ranges_of_a_difference_sum_to_one() -> None:
    noises = [laplace(1), laplace(Fraction(1, 2), 1), laplace(1, 1)]
    cuts = [Fraction(-2), Fraction(-1, 2), Fraction(1)]
    total = ExpPoly.ZERO
    for low, high in zip([None, *cuts], [*cuts, None], strict=True):
        ends = [above(0, 1, low)] if low is not None else []
        ends += [negated(above(0, 1, high))] if high is not None else []
        total = total + ring(measure(event(noises, *ends, above(1, 2))))
    assert total == measure(event(noises, above(1, 2)))


# --- closed forms --------------------------------------------------------------------------------------


@pytest.mark.parametrize("x1", [Fraction(-1), Fraction(-3, 2), Fraction(-10)])
@pytest.mark.parametrize("x2", [Fraction(1), Fraction(1, 3), Fraction(7)])
@pytest.mark.parametrize("gamma", [Fraction(1), Fraction(2, 5)])
def test_example_4_term_by_term(x1: Fraction, x2: Fraction, gamma: Fraction) -> None:
    """NumericSparse with two queries x1 < 0 < x2: the output is (bottom, z) with |z - x2| < gamma (section 5.1)."""
    noises = [laplace(Fraction(4, 9)), laplace(Fraction(2, 9), x1), laplace(Fraction(2, 9), x2)]
    noises.append(laplace(Fraction(1, 9), x2))
    e = event(noises, above(0, 1), above(2, 0), halfspace({3: 1}, gamma - x2), halfspace({3: -1}, x2 + gamma))
    ninth = Fraction(1, 9)
    p1 = terms(
        (0, 0, 1),
        (0, 2 * ninth * x1, Fraction(-2, 3)),
        (0, -2 * ninth * x2, Fraction(-2, 3)),
        (0, 4 * ninth * x1, Fraction(1, 6)),
        (0, -4 * ninth * x2, Fraction(1, 6)),
        (0, ninth * (6 * x1 - 2 * x2), Fraction(-1, 48)),
        (0, -ninth * (6 * x2 - 2 * x1), Fraction(-1, 48)),
        (0, 2 * ninth * (x1 - x2), Fraction(1, 4)),
    )
    p2 = 1 - terms((0, -ninth * gamma, 1))
    measured = ring(measure(e))
    assert measured == p1 * p2
    assert measured.terms() == (p1 * p2).terms()


def test_one_query_of_sparse() -> None:
    """Threshold 0, query 1, c = 1: Pr[top] = 1 - 2/3·e^{-eps/4} + 1/6·e^{-eps/2}."""
    expected = terms((0, 0, 1), (0, Fraction(-1, 4), Fraction(-2, 3)), (0, Fraction(-1, 2), Fraction(1, 6)))
    assert ring(measure(star([1], tops=1))).terms() == expected.terms()


@pytest.mark.parametrize("size", [2, 3, 5, 8])
def test_a_tie_among_like_noises_is_even(size: int) -> None:
    noises = [laplace(Fraction(1, 2), 3) for _ in range(size)]
    assert measure(event(noises, *(above(0, j) for j in range(1, size)))) == Fraction(1, size)


def test_independent_parts_multiply() -> None:
    noises = [laplace(1), laplace(2, 1), laplace(1, 1), laplace(Fraction(1, 2)), laplace(5)]
    left = event(noises, above(0, 1))
    right = event(noises, above(2, 3), halfspace({3: 1}, 1))
    both = event(noises, *left.constraints, *right.constraints)
    assert measure(both) == ring(measure(left)) * ring(measure(right))
    assert measure(event(noises)) == 1


def test_null_events() -> None:
    noises = [laplace(1), laplace(2, 1), laplace(1, 1)]
    assert measure(event(noises, halfspace({}, -1))) == 0
    assert measure(event(noises, halfspace({}, 0))) == 1
    assert measure(event(noises, above(0, 1), above(1, 2), above(2, 0))) == 0
    assert measure(event(noises, above(0, 1, 1), above(1, 0, -1))) == 0
    assert measure(event(noises, above(0, 1, 1), above(1, 2, 1), above(2, 0, -2))) == 0
    assert measure(event(noises, above(0, 1, 1), above(1, 2, 1), above(2, 0, -1))) == 0
    assert measure(event(noises, halfspace({0: 1}, -1), halfspace({0: -2}, 2))) == 0
    assert measure(event(noises, halfspace({0: 1}, -1), above(1, 0), halfspace({1: -1}, 1))) == 0
    assert measure(event(noises, halfspace({0: 1}, -2), above(1, 0), halfspace({1: -1}, 1), above(2, 1))) == 0


# --- cycles --------------------------------------------------------------------------------------------


def test_equal_parallel_ways_do_not_remove_each_other() -> None:
    """0 >= 1 + 1 follows from 0 >= 2 + 1 and 2 >= 1, and from 0 >= 3 and 3 >= 1 + 1, but not the other way round."""
    noises = [laplace(1)] * 4
    e = event(noises, above(0, 1, 1), above(0, 2, 1), above(2, 1), above(0, 3), above(3, 1, 1))
    system = event_shape(e).system(e)
    assert system is not None
    smaller = reduced(system)
    assert smaller is not None
    assert set(smaller.lower) == {(0, 2), (2, 1), (0, 3), (3, 1)}


@given(difference_events(5))
def test_what_is_implied_is_dropped_and_nothing_else(e: Event) -> None:
    shape = event_shape(e)
    system = shape.system(e)
    if system is None:
        return
    smaller = reduced(system)
    if smaller is None:
        assert measure(e) == 0
        return
    assert smaller.lower.items() <= system.lower.items()
    assert closure(smaller.lower, len(e.noises)) == closure(system.lower, len(e.noises))
    for pair in smaller.lower:
        others = {key: w for key, w in smaller.lower.items() if key != pair}
        assert closure(others, len(e.noises)) != closure(system.lower, len(e.noises))


def closure(lower: dict[tuple[int, int], int], size: int) -> dict[tuple[int, int], int]:
    """The longest walks, for systems without cycles."""
    best = dict(lower)
    for _ in range(size + 1):
        for (i, j), w in list(best.items()):
            for (k, l), v in lower.items():
                if j == k and i != l and best.get((i, l), w + v - 1) < w + v:
                    best[i, l] = w + v
    return best


def test_a_ring_of_bounded_differences() -> None:
    """Three noises with all differences between -1 and 1 in one sense of going round."""
    around = [above(0, 1, -1), above(1, 2, -1), above(2, 0, -1)]
    noises = [laplace(1), laplace(2, 1), laplace(1, 1)]
    total = ring(measure(event(noises, *around)))
    for sides in product((0, 1), repeat=3):
        if any(sides):
            cut = [negated(c) if side else c for c, side in zip(around, sides, strict=True)]
            total = total + ring(measure(event(noises, *cut)))
    assert total == 1


def test_splitting_is_limited() -> None:
    pairs = [(i, j) for i in range(4) for j in range(4, 8) if (i + j) % 4]
    e = event([laplace(1, i) for i in range(8)], *(above(i, j) for i, j in pairs))
    measure(e)
    with pytest.raises(LimitReached) as stopped:
        measure(e, Limits(trees=3))
    assert stopped.value.limit == "trees"
    assert "more than 3 orderings" in stopped.value.reason


# --- sampling ------------------------------------------------------------------------------------------


SAMPLED = [
    (star([-1, 1, -1, 1], tops=2), Fraction(2)),
    (chain([laplace(1, 1), laplace(2), laplace(Fraction(1, 2), 1)]), Fraction(1)),
    (event([laplace(1)] * 3, above(0, 1, -1), above(1, 2, -1), above(2, 0, -1)), Fraction(1)),
    (
        event(
            [laplace(1), laplace(2, 1), laplace(1, -1), laplace(Fraction(1, 2))],
            *(above(i, j, Fraction(-3, 2)) for i in range(4) for j in range(4) if i != j),
        ),
        Fraction(1, 2),
    ),
    (
        event(
            [laplace(1), laplace(1, 1), laplace(2, 1)],
            halfspace({0: 2, 1: 1}, 1),
            halfspace({1: -1, 2: -3}, 4),
            halfspace({2: 1}),
        ),
        Fraction(3, 2),
    ),
]


@pytest.mark.parametrize(("e", "eps"), SAMPLED, ids=["star", "chain", "ring", "all within 3/2", "scaled"])
def test_sampling_does_not_contradict(e: Event, eps: Fraction) -> None:
    """The exact probability lies in a Clopper-Pearson interval of confidence 1 - 1e-9."""
    count = 200_000
    generator = np.random.default_rng(20211)
    columns = [generator.laplace(float(n.mean), 1 / float(n.rate * eps), count) for n in e.noises]
    holds = np.ones(count, dtype=bool)
    for constraint in e.constraints:
        side = sum(float(c) * columns[i] for i, c in constraint.coefficients) + float(constraint.constant)
        holds &= side >= 0
    hits = int(holds.sum())
    assert 0 < hits < count
    low, high = ring(measure(e)).enclosure(eps)
    assert beta.ppf(0.5e-9, hits, count - hits + 1) <= low <= high <= beta.ppf(1 - 0.5e-9, hits + 1, count - hits)


# --- canonical forms -----------------------------------------------------------------------------------


@given(tree_events(5), st.data())
def test_isomorphic_systems_share_their_integrals(e: Event, data: st.DataObject) -> None:
    """Renamed, rescaled, translated, reflected and stretched together."""
    size = len(e.noises)
    order = data.draw(st.permutations(range(size)))
    scales = data.draw(st.lists(st.sampled_from(SCALES), min_size=size, max_size=size))
    zeros = data.draw(
        st.lists(st.sampled_from([Fraction(0), Fraction(2), Fraction(-1, 3)]), min_size=size, max_size=size)
    )
    factor = data.draw(st.sampled_from([Fraction(1), Fraction(2), Fraction(3, 5)]))
    measurer = Measurer()
    expected = ring(measurer.measure(e))
    before = measurer.integrals
    moved = stretched(changed(permuted(e, order), scales, zeros), factor)
    assert measurer.measure(moved) == expected.scaled(factor)
    assert measurer.integrals == before


def test_a_common_factor_of_rates_and_lengths_is_one_integral() -> None:
    measurer = Measurer()
    for factor in (1, 2, Fraction(1, 3)):
        noises = [laplace(Fraction(1, 2) * factor, 0), laplace(Fraction(1, 4) * factor, 1)]
        measured = ring(measurer.measure(event(noises, above(1, 0))))
        assert measured == ring(measure(star([1], tops=1))).scaled(Fraction(factor))
    assert measurer.integrals == 1


def test_different_systems_are_told_apart() -> None:
    measurer = Measurer()
    one, other = [laplace(1), laplace(1, 1)], [laplace(1), laplace(1, 2)]
    assert measurer.measure(event(one, above(0, 1))) != measurer.measure(event(one, above(1, 0)))
    assert measurer.measure(event(one, above(0, 1), above(1, 0, -2))) != measurer.measure(event(one, above(0, 1)))
    assert measurer.measure(event(other, above(0, 1))) != measurer.measure(event(one, above(0, 1)))


def test_the_order_of_independent_parts_does_not_matter() -> None:
    """The very same result, so that whoever remembers results by identity finds it."""
    noises = [laplace(1), laplace(2, 1), laplace(1, 1), laplace(Fraction(1, 2))]
    measurer = Measurer()
    e = event(noises, above(0, 1), above(2, 3))
    assert measurer.measure(e) is measurer.measure(permuted(e, [2, 3, 0, 1]))


def test_the_rows_of_a_table_need_few_integrals() -> None:
    """All 3^6 inputs of a sparse vector in {-1, 0, 1}: the leaves of a star are only counted."""
    measurer = Measurer()
    for means in product((-1, 0, 1), repeat=6):
        measurer.measure(star([*means], tops=1))
    assert measurer.integrals == 3 * 21


@given(st.lists(tree_events(3), min_size=2, max_size=5))
def test_memory_does_not_change_results(events: list[Event]) -> None:
    kept, forgetful = Measurer(), Measurer(remembered=3)
    for e in events * 2:
        assert kept.measure(e) == forgetful.measure(e) == measure(e)


def test_forgetting_bounds_what_is_kept() -> None:
    measurer = Measurer(remembered=50)
    for i in range(1, 40):
        measurer.measure(star([1, i, i + 1], tops=1))
    assert measurer.integrals >= 39
    assert len(measurer._trees) + len(measurer._products) < 20


# --- growth and limits ---------------------------------------------------------------------------------


@pytest.fixture
def meters(monkeypatch: pytest.MonkeyPatch) -> list[Meter]:
    """The meters of all integrals made in the test."""
    made: list[Meter] = []

    def recorded(limit: Limits) -> Meter:
        made.append(Meter(limit))
        return made[-1]

    monkeypatch.setattr(forest, "Meter", recorded)
    return made


SHAPES = {
    "all alike but one": lambda m: star([-1] * (m - 1) + [1], tops=1),
    "three kinds": lambda m: star([i % 3 - 1 for i in range(m)], tops=1),
    "chain": lambda m: chain([laplace(1, i % 2) for i in range(m)]),
}


@pytest.mark.parametrize("name", SHAPES)
def test_the_work_grows_polynomially(name: str, meters: list[Meter]) -> None:
    sizes = (10, 20, 40, 80)
    lengths = [len(ring(measure(SHAPES[name](m)))) for m in sizes]
    steps = [meter.steps for meter in meters]
    assert len(steps) == len(sizes)
    assert all(length <= 4 * m for length, m in zip(lengths, sizes, strict=True))
    exponents = [log2(later / sooner) for sooner, later in pairwise(steps)]
    assert max(exponents) <= 3.2, exponents


PRIMES = [p for p in range(2, 300) if all(p % d for d in range(2, p))]


def unlike_star(m: int) -> Event:
    return star([Fraction(1, p) for p in PRIMES[:m]], tops=1)


def unlike_rates(m: int) -> Event:
    noises = [laplace(1), *(laplace(Fraction(1, p), Fraction(1, p)) for p in PRIMES[:m])]
    return event(noises, *(above(0, i + 1) for i in range(m)))


def unlike_chain(m: int) -> Event:
    return chain([laplace(1, Fraction(1, p)) for p in PRIMES[:m]])


def unlike_ranges(m: int) -> Event:
    ranges: list[Halfspace] = []
    for i in range(m - 1):
        ranges += [above(i, i + 1, -1), above(i + 1, i, -2)]
    return event([laplace(1, Fraction(1, p)) for p in PRIMES[:m]], *ranges)


@pytest.mark.parametrize(
    ("shape", "m"),
    [
        (unlike_star, 30),
        (unlike_star, 60),
        (unlike_rates, 30),
        (unlike_rates, 60),
        (unlike_chain, 60),
        (unlike_ranges, 60),
    ],
)
def test_closed_forms_of_exponential_length_are_refused_soon(shape: Callable[[int], Event], m: int) -> None:
    """2^m terms and more, exactly: no algorithm writes that down."""
    with pytest.raises(LimitReached), at_most(20_000_000):
        measure(shape(m))


def test_a_product_of_exponential_length_is_refused_soon() -> None:
    """Independent pairs with incommensurable means: each factor is short, the product is not."""
    noises: list[Noise] = []
    comparisons: list[Halfspace] = []
    for i, p in enumerate(PRIMES[:40]):
        noises += [laplace(1), laplace(Fraction(1, 2), Fraction(1, p))]
        comparisons.append(above(2 * i, 2 * i + 1))
    with pytest.raises(LimitReached), at_most(20_000_000):
        measure(event(noises, *comparisons))


def test_what_was_refused_once_is_refused_at_once() -> None:
    measurer = Measurer(Limits(terms=100))
    for _ in range(3):
        with pytest.raises(LimitReached) as stopped:
            measurer.measure(unlike_star(12))
        assert stopped.value.limit == "terms"
        assert "more than 100 terms" in stopped.value.reason
    assert measurer.integrals == 1


def test_a_short_enough_one_is_not_refused() -> None:
    assert len(ring(measure(unlike_star(10)))) == 2**9 + 2
