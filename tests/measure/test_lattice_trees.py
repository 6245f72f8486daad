"""Integer noises measured by messages, against elimination one by one, and the growth of the work."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dipc.algebra.limits import Limits, Meter, OutsideFragment
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Noise
from dipc.measure.lattice import LatticePiecewise, lattice_measure
from dipc.measure.measure import Measurer, measure
from dipc.measure.pieces import Window, Windows
from dipc.measure.polyhedral import lattice_tree_measure
from dipc.noise.discrete_laplace import DISCRETE_LAPLACE
from tests.patience import examples
from tests.strategies.events import above, halfspace

RATES = [Fraction(1), Fraction(1), Fraction(2), Fraction(1, 2), Fraction(3, 2)]


def noise(rate: Fraction | int = 1, mean: int = 0) -> Noise:
    return Noise(DISCRETE_LAPLACE, Fraction(rate), Fraction(mean))


def density(rate: int) -> Windows:
    return Window(None, 0, Fraction(rate, 2), rate), Window(0, None, Fraction(rate, 2), -rate)


def strictly(c: Halfspace) -> Halfspace:
    return Halfspace(c.coefficients, c.constant, strict=True)


def noisy_max(means: list[int], rate: Fraction | int = 1) -> Event:
    """The first of the noises is the largest, ties included."""
    return Event(tuple(noise(rate, mean) for mean in means), tuple(above(0, i) for i in range(1, len(means))))


def above_threshold(size: int) -> Event:
    """All but the last of the noises lie below the threshold, which has twice their rate."""
    noises = (noise(2), *(noise(1, i % 2) for i in range(size)))
    below = (strictly(above(0, i)) for i in range(1, size))
    return Event(noises, (*below, above(size, 0)))


@st.composite
def differences(draw: st.DrawFn, most: int = 4) -> Event:
    """Ranges of ±X_i ± X_j and bounds, strict or not, on any scale; trees, cycles, and fixed differences."""
    size = draw(st.integers(1, most))
    noises = tuple(noise(draw(st.sampled_from(RATES)), draw(st.integers(-2, 2))) for _ in range(size))
    constraints = []
    for _ in range(draw(st.integers(1, 4))):
        chosen = draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=2, unique=True))
        factor = draw(st.sampled_from([1, 1, 2, Fraction(1, 2)]))
        signed = {i: factor * draw(st.sampled_from([1, -1])) for i in chosen}
        drawn = halfspace(signed, draw(st.sampled_from([0, 0, 1, -1, 2, Fraction(1, 2), Fraction(-3, 2)])))
        constraints.append(strictly(drawn) if draw(st.booleans()) else drawn)
    return Event(noises, tuple(constraints))


@settings(max_examples=examples(10), deadline=None)
@given(differences())
def test_messages_and_elimination_agree(event: Event) -> None:
    assert measure(event) == lattice_measure(event)


def test_cycles_are_split_with_ties_to_the_first_bound() -> None:
    """Two noises between two others: the four-cycle, with ties of both bounds."""
    noises = (noise(), noise(2), noise(1, 1), noise())
    event = Event(noises, (above(0, 1), above(0, 2), above(1, 3), strictly(above(2, 3))))
    measurer = Measurer()
    assert measurer.measure(event) == lattice_measure(event)
    assert measurer.integrals > 1


def test_equal_noises_on_a_cycle() -> None:
    """X_0 = X_1 = X_2, each difference bounded from both sides: Σ_i (mass i)^3, and no inequality is dropped twice."""
    pairs = [(i, j) for i in range(3) for j in range(3) if i != j]
    event = Event((noise(),) * 3, tuple(above(i, j) for i, j in pairs))
    assert measure(event) == lattice_measure(event)
    assert measure(event) != 0


@pytest.mark.parametrize("size", [2, 4])
def test_who_is_the_largest_sums_to_one_with_ties_to_the_first(size: int) -> None:
    noises = tuple(noise(1 + i % 2, i % 3) for i in range(size))
    events = [
        Event(noises, tuple(above(i, j) if i < j else strictly(above(i, j)) for j in range(size) if j != i))
        for i in range(size)
    ]
    assert sum(measure(event) for event in events) == 1


def test_tables_of_integer_noise_share_their_sums() -> None:
    """Translated, reflected and reordered events are one tree; stretched ones are others, between integers."""
    measurer = Measurer()
    for means in ([0, 1, 0, 1], [3, 3, 4, 4], [3, 4, 3, 4]):
        measurer.measure(noisy_max(means))
    least = [halfspace({0: -1, i: 1}) for i in range(1, 4)]
    measurer.measure(Event(tuple(noise(1, -mean) for mean in (0, 1, 1, 0)), tuple(least)))
    assert measurer.integrals == 1
    measurer.measure(noisy_max([0, 2, 0, 2]))
    assert measurer.integrals == 2


def test_incommensurable_rates_are_left_to_elimination(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dipc.measure.lattice.MOST_DEGREE", 100)
    event = Event((noise(Fraction(1, 61)), noise(Fraction(1, 59))), (above(0, 1),))
    with pytest.raises(OutsideFragment):
        Measurer()._differences(event)
    assert measure(event) == lattice_measure(event)


@pytest.mark.parametrize("shape", ["noisy max", "above threshold"])
def test_the_work_is_polynomial(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps counted are products of terms; elimination takes steps that grow with the sixth power."""
    spent = []

    class Counting(Meter):
        def spend(self, steps: int) -> None:
            spent[-1] += steps
            super().spend(steps)

    monkeypatch.setattr("dipc.measure.forest.Meter", Counting)
    for size in (8, 16, 32):
        spent.append(0)
        measure(noisy_max([i % 3 % 2 for i in range(size)]) if shape == "noisy max" else above_threshold(size))
    assert spent[1] < 2**5 * spent[0]
    assert spent[2] < 2**5 * spent[1]


@st.composite
def sums(draw: st.DrawFn) -> Event:
    """Bounds on sums and differences of up to three noises, chains of means, multiples, strict or not."""
    size = draw(st.integers(2, 3))
    noises = tuple(noise(draw(st.sampled_from(RATES)), draw(st.integers(-1, 2))) for _ in range(size))
    constraints = []
    for _ in range(draw(st.integers(1, 3))):
        chosen = draw(st.lists(st.integers(0, size - 1), min_size=2, max_size=size, unique=True))
        factor = draw(st.sampled_from([1, 1, 2, Fraction(1, 2)]))
        signed = {i: factor * draw(st.sampled_from([1, 1, -1])) for i in chosen}
        drawn = halfspace(signed, draw(st.sampled_from([0, 1, -1, 2, Fraction(1, 2)])))
        constraints.append(strictly(drawn) if draw(st.booleans()) else drawn)
    return Event(noises, tuple(constraints))


@settings(max_examples=examples(10), deadline=None)
@given(sums())
def test_sums_by_messages_and_by_elimination_agree(event: Event) -> None:
    try:
        found = lattice_tree_measure(event, Limits())
    except OutsideFragment:
        assume(False)
    assert found == lattice_measure(event)


def test_a_walk_of_noisy_means() -> None:
    """X, X + Y and X + Y + Z, each within bounds: every noise is added to the one before."""
    noises = (noise(1), noise(2, 1), noise(Fraction(1, 2)))
    constraints = []
    for size in (1, 2, 3):
        whole = dict.fromkeys(range(size), 1)
        constraints += [halfspace(whole, 1), halfspace(dict.fromkeys(whole, -1), 2)]
    event = Event(noises, tuple(constraints))
    assert lattice_tree_measure(event, Limits()) == lattice_measure(event)


def test_the_sum_of_like_noises_has_two_pieces() -> None:
    """Elimination splits it into cells without end. Masses of the sum of 8, by their generating function."""
    size, at = 8, 3
    event = Event((noise(1),) * size, tuple(halfspace(dict.fromkeys(range(size), s), -s * at) for s in (1, -1)))
    low, high = measure(event).enclosure(Fraction(1), 20)
    r = math.exp(-1)
    mass = [(1 - r) / (1 + r) * r ** abs(x) for x in range(-60, 61)]
    found = [1.0]
    for _ in range(size):
        found = list(np.convolve(found, mass))
    assert float(low) == pytest.approx(found[size * 60 + at])
    assert float(high) == pytest.approx(found[size * 60 + at])
    shape = LatticePiecewise.laplace(1, 0)
    for _ in range(3):
        shape = shape.smoothed(density(1), Meter(Limits()))
    assert len(shape.numerator.pieces) == 2


@pytest.mark.parametrize("rate", [1, 2, 3, 4])
@pytest.mark.parametrize("count", [1, 2, 3, 6])
def test_sums_of_like_noises_at_once_and_one_after_the_other(rate: int, count: int) -> None:
    meter = Meter(Limits())
    found = LatticePiecewise.sum_of_laplace(rate, count, meter)
    expected = LatticePiecewise.laplace(rate, 0)
    for _ in range(count - 1):
        expected = expected.smoothed(density(rate), meter)
    for low, high in ((0, 0), (-3, 3), (2, 9), (None, -1), (4, None), (-40, 17)):
        assert found.restricted(low, high).integral(meter) == expected.restricted(low, high).integral(meter)
    assert found.integral(meter) == 1


def test_a_sum_of_sixty() -> None:
    """A sum of sixty noises against convolution."""
    noises = tuple(noise(Fraction(1, 2), i % 2) for i in range(60))
    terms = dict.fromkeys(range(60), 1)
    event = Event(noises, (halfspace(terms, -28), halfspace(dict.fromkeys(terms, -1), 35)))
    low, high = measure(event).enclosure(Fraction(1))
    r = math.exp(-0.5)
    masses = (1 - r) / (1 + r) * r ** np.abs(np.arange(-90, 91))
    sums = np.ones(1)
    for _ in range(60):
        sums = np.convolve(sums, masses)
    middle = 60 * 90  # where the sum is that of the means, 30
    assert low <= high
    assert math.isclose(float(low), float(sums[middle - 2 : middle + 6].sum()), rel_tol=1e-9)
