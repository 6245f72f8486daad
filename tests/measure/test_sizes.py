"""Sizes of functions before they are expanded, against the functions themselves."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest

from dipc.algebra.limits import LimitReached, Limits, Meter
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Noise
from dipc.measure.forest import watch_size
from dipc.measure.measure import BRIEF_WAY, Measurer
from dipc.measure.pieces import Piece, Piecewise, SizedPiece
from dipc.noise.laplace import LAPLACE
from tests.decide.test_decide_by_series import random_event, star

F = Fraction
METER = Meter(Limits())


def is_covered(piece: Piece, size: SizedPiece) -> bool:
    """Whether the piece has at most as many terms as `size` says, with exponents in its boxes."""
    counts: dict[int, int] = {}
    for k, q, n, l in piece.terms():
        counts[l] = counts.get(l, 0) + 1
        bound = size.sizes.get(l)
        if bound is None or not bound.low <= q <= bound.high or k + n > bound.degree:
            return False
    return all(count <= size.sizes[l].terms for l, count in counts.items())


def both(function: Piecewise[Piece], sizes: Piecewise[SizedPiece]) -> bool:
    """Whether `sizes` bound the function between any two breaks."""
    points = [*sorted({*function.breaks, *sizes.breaks}), None]
    pieces = [
        function.pieces[-1 if b is None else next(i for i, c in enumerate((*function.breaks, b)) if c >= b)]
        for b in points
    ]
    return all(is_covered(piece, sizes.piece_before(b)) for piece, b in zip(pieces, points, strict=True))


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(8, 300))])
def test_sizes_are_never_too_small(seed: int) -> None:
    """Along random products, powers, ranges and integrals."""
    chance = random.Random(f"sizes {seed}")

    def density() -> tuple[Piecewise[Piece], Piecewise[SizedPiece]]:
        rate, mean = chance.randint(1, 3), chance.randint(-4, 4)
        low = chance.choice((None, None, chance.randint(-6, 2)))
        high = chance.choice((None, None, chance.randint(-1, 6)))
        return Piecewise.laplace(rate, mean).restricted(low, high), SizedPiece.laplace(rate, mean).restricted(low, high)

    function, sizes = density()
    for _ in range(chance.randint(1, 4)):
        other, its_sizes = density()
        low = chance.randint(-3, 3)
        high = chance.choice((None, low + chance.randint(0, 4)))
        window = chance.choice(((low, high), (None, low)))
        other, its_sizes = other.window_integral(*window, METER), its_sizes.window_integral(*window, METER)
        assert both(other, its_sizes)
        count = chance.choice((1, 1, 2, 3))
        other, its_sizes = other.to_power(count, METER), its_sizes.to_power(count, METER)
        assert both(other, its_sizes)
        function, sizes = function.times(other, METER), sizes.times(its_sizes, METER)
        assert both(function, sizes)
        if chance.random() < 0.4:
            function, sizes = function.window_integral(0, None, METER), sizes.window_integral(0, None, METER)
            assert both(function, sizes)
            own, its_size = density()
            function, sizes = function.times(own, METER), sizes.times(its_size, METER)


def tree_of(means: list[Fraction]) -> Event:
    (share,) = star(means, [F(1, 2)] * len(means)).shares
    return share.events[0]


def is_watched(event: Event) -> bool:
    """Whether the tree of an event is refused before it is expanded."""
    factors = Measurer().factors(event)
    assert factors is not None
    (tree,) = factors
    assert isinstance(tree, tuple)
    try:
        watch_size(tree, replace(Limits(), steps=BRIEF_WAY))
    except LimitReached:
        return True
    return False


def test_generic_means_are_long_and_multiples_of_one_number_are_not() -> None:
    chance = random.Random(1)
    generic = [F(2), *(F(chance.randint(-999, 999), 1000) for _ in range(24))]
    assert is_watched(tree_of(generic))
    assert not is_watched(tree_of(generic[:12]))
    assert not is_watched(tree_of([F(2), *(F(chance.randint(-3, 3)) for _ in range(60))]))
    assert not is_watched(tree_of([F(2), *[F(0)] * 2000]))


def test_what_is_measured_briefly_depends_on_nothing_else() -> None:
    """A tree that was integrated at length is refused all the same."""
    chance = random.Random(2)
    event = tree_of([F(2), *(F(chance.randint(-999, 999), 1000) for _ in range(19))])
    measurer = Measurer()
    assert measurer.measure(event) is not None
    with pytest.raises(LimitReached):
        measurer.brief.measure(event)
    short = random_event(random.Random(3))
    assert measurer.brief.measure(short) == measurer.measure(short)


def test_many_independent_events_are_not_multiplied_out() -> None:
    noises = [Noise(LAPLACE, F(1, i), F(10**6 + i**3, 10**6)) for i in range(1, 31)]
    measurer = Measurer().brief
    halves = [measurer.measure(Event((noise,), (Halfspace(((0, F(1)),), F(0)),))) for noise in noises]
    assert measurer.product(halves[:3]) == halves[0] * halves[1] * halves[2]
    with pytest.raises(LimitReached):
        measurer.product(halves)
