"""Measures as sums over the vertices of polyhedra, against elimination, messages and samples."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import LimitReached, Limits, OutsideFragment
from dipc.measure import polyhedral
from dipc.measure.event import Event, Noise
from dipc.measure.measure import measure
from dipc.measure.polyhedral import polyhedral_measure, value_tree_measure
from dipc.measure.vertex_sum import corners_at_most, vertex_measure
from dipc.noise.law import Weighted
from tests.measure.test_polyhedral import constraint, events, laplace, one_sided, sampled, sums
from tests.patience import examples

#: Rates that are sums and differences of each other: along many edges the density is constant.
LIKE_RATES: tuple[Fraction | int, ...] = (1, 1, 2, Fraction(1, 2), Fraction(3, 2))


@st.composite
def linear_tests(draw: st.DrawFn) -> Event:
    """A few tests of all noises, with small numbers, so that corners and edges coincide."""
    size = draw(st.integers(1, 3))
    noises = tuple(
        draw(st.sampled_from((laplace, one_sided)))(draw(st.sampled_from(LIKE_RATES)), draw(st.integers(-1, 1)))
        for _ in range(size)
    )
    row = st.lists(st.integers(-2, 2), min_size=size, max_size=size).filter(any)
    rows = draw(st.lists(st.tuples(row, st.integers(-1, 1)), min_size=1, max_size=4))
    return Event(noises, tuple(constraint({i: c for i, c in enumerate(cs) if c}, k) for cs, k in rows))


@settings(max_examples=examples(40), deadline=None)
@given(st.one_of(linear_tests(), events(), sums()))
def test_against_elimination(event: Event) -> None:
    try:
        assert vertex_measure(event) == polyhedral_measure(event, Limits(cells=2_000))
    except LimitReached:
        assume(False)


@settings(max_examples=examples(8), deadline=None)
@given(linear_tests(), st.integers(0, 2**32))
def test_against_sampling(event: Event, seed: int) -> None:
    low, high = sampled(event, 0.7, 20_000, seed)
    assert low <= float(vertex_measure(event).enclosure(Fraction(7, 10), 15)[0]) <= high


@settings(max_examples=examples(20), deadline=None)
@given(sums())
def test_against_messages(event: Event) -> None:
    try:
        fast = value_tree_measure(event, Limits())
    except OutsideFragment:
        assume(False)
    else:
        assert fast == vertex_measure(event)


def test_by_hand() -> None:
    """P(N1 + N2 >= 0) and of one that is impossible, repeated, or always so."""
    two = (laplace(1, 0), laplace(1, 0))
    half = constraint({0: 1, 1: 1}, 0)
    assert vertex_measure(Event(two, (half, half))) == ExpPoly.constant(Fraction(1, 2))
    assert vertex_measure(Event(two, (half, constraint({0: -1, 1: -1}, -1)))) == 0
    assert vertex_measure(Event((one_sided(1, 2),), (constraint({0: 1}, 0),))) == 1
    # Of like rates: e^{-eps}·(1/2 + eps/4), where the edge along the sum's level is one of equal density.
    beyond = vertex_measure(Event(two, (constraint({0: 1, 1: 1}, -1),)))
    assert beyond == ExpPoly.from_terms([(0, -1, Fraction(1, 2)), (1, -1, Fraction(1, 4))])


def test_what_is_no_exponential_is_left_to_elimination() -> None:
    weighted = Event((Noise(Weighted(laplace(1, 0).law, 2), Fraction(1), Fraction(0)),), (constraint({0: 1}, 0),))
    with pytest.raises(OutsideFragment):
        vertex_measure(weighted)
    assert measure(weighted) == ExpPoly.constant(1)  # half of E[N²] = 2/eps², times eps²


def test_six_tests_of_six_noises_take_as_many_terms_as_corners(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eliminating one noise after the other takes more than 20 s here."""
    noises = tuple(laplace(Fraction(1, 1 + i), i) for i in range(6))
    rows = [{j: (i * j + i + j) % 5 - 2 for j in range(6)} | {i: 1} for i in range(6)]
    event = Event(noises, tuple(constraint({j: c for j, c in row.items() if c}, 1) for row in rows))
    assert corners_at_most(event) == 924
    monkeypatch.setattr(polyhedral, "polyhedral_measure", None)  # not asked
    low, high = sampled(event, 1.0, 20_000, 6)
    assert low <= float(measure(event).enclosure(Fraction(1), 15)[0]) <= high
    with pytest.raises(LimitReached, match="923 corners"):
        vertex_measure(event, Limits(cells=923))
