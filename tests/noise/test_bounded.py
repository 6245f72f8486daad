"""Uniform and truncated Laplace noise: what the laws state, their probabilities, and their exact draws."""

from __future__ import annotations

import pickle
from fractions import Fraction
from itertools import pairwise
from math import exp, sqrt

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits, OutsideFragment
from dipc.measure.event import Event, Noise
from dipc.measure.measure import Bound, EnclosedForm, Measurer, Share, measure
from dipc.measure.polyhedral import polyhedral_measure, value_tree_measure
from dipc.noise.bounded import Bounded
from dipc.noise.law import Law, Missing
from dipc.noise.lazy import RandomBits
from dipc.noise.truncated_laplace import TruncatedLaplace
from dipc.noise.uniform import Uniform
from dipc.simulation.draws import sampler
from dipc.verifier import noise as checked
from tests.strategies.bounded import bounded_laws, by_quadrature, density, halves, mixed_events, rates
from tests.strategies.events import halfspace

ONE = Fraction(1)
LAWS: list[tuple[Law, Fraction]] = [
    (Uniform(Fraction(-1), Fraction(2)), ONE),
    (Uniform(Fraction(3), Fraction(7, 2)), ONE),
    (TruncatedLaplace(Fraction(-2), Fraction(2)), ONE),
    (TruncatedLaplace(Fraction(-5), Fraction(1, 2)), Fraction(3, 2)),
    (TruncatedLaplace(Fraction(1), Fraction(4)), Fraction(1, 2)),
    (TruncatedLaplace(Fraction(-4), Fraction(0)), ONE),
    (TruncatedLaplace(Fraction(-3), Fraction(-1)), Fraction(2)),
]


def _probability(law: Law, rate: Fraction, low: float, high: float, eps: float) -> float:
    own, places = density(Noise(law, rate, Fraction(0)), eps)
    cuts = sorted({low, high, *(place for place in places if low < place < high)})
    return sum(float(mpmath.quad(own, [a, b])) for a, b in pairwise(cuts))


# --- what the laws state ----------------------------------------------------------------------------------------------


@given(bounded_laws(), rates, st.sampled_from([0.1, 1.0, 7.0]))
def test_the_pieces_over_the_normalizer_are_the_density(law: Bounded, rate: Fraction, eps: float) -> None:
    rate = rate if law.takes_rate else ONE
    own, _ = density(Noise(law, rate, Fraction(0)), eps)
    below = sum(float(c) * eps**k * exp(float(q) * eps) for k, q, c in law.normalizer(rate))
    pieces = law.pieces(rate)
    assert min(piece.lower for piece in pieces if piece.lower is not None) == law.low
    assert max(piece.upper for piece in pieces if piece.upper is not None) == law.high
    for piece in pieces:
        assert piece.lower is not None
        assert piece.upper is not None
        x = float(piece.lower + piece.upper) / 2
        said = sum(float(c) * (x * eps) ** n * exp(float(s) * x * eps) for c, n, s in piece.terms)
        assert said * eps / below == pytest.approx(own(x), rel=1e-9)


@given(bounded_laws(), rates, halves.map(abs), st.booleans(), st.sampled_from([0.05, 1.0, 6.0]))
def test_tails_are_bounded(law: Bounded, rate: Fraction, reach: Fraction, upward: bool, eps: float) -> None:
    rate = rate if law.takes_rate else ONE
    exponent, weight = law.tail_bound(rate, reach, upward=upward, strict=True)
    low, high = (float(reach), float(law.high)) if upward else (float(law.low), float(-reach))
    tail = _probability(law, rate, max(low, float(law.low)), min(high, float(law.high)), eps) if low < high else 0.0
    assert tail <= float(weight) * exp(-float(exponent) * eps) + 1e-9


@given(bounded_laws(), rates, st.sampled_from([0.3, 0.6]), st.floats(0, 2 * np.pi), st.sampled_from([0.1, 1.0, 8.0]))
def test_the_variation_is_bounded_at_complex_eps(law: Law, rate: Fraction, disk: float, angle: float, e: float) -> None:
    """∫|density| over |∫ density|, for the density that is analytic in eps."""
    rate = rate if law.takes_rate else ONE
    eps = e * (1 + disk * np.exp(1j * angle))
    pieces = [(float(p.lower), float(p.upper), float(p.terms[0][2])) for p in law.pieces(rate)]  # type: ignore[arg-type]

    def integral(at: complex) -> complex:
        return sum(complex(mpmath.quad(lambda x, s=s: mpmath.exp(s * at * x), [a, b])) for a, b, s in pieces)

    variation = abs(integral(eps.real)) / abs(integral(eps))
    assert variation**2 <= float(law.variation_bound(Fraction(disk))) + 1e-9


@pytest.mark.parametrize(("law", "rate"), LAWS)
def test_false_properties_are_refused(law: Law, rate: Fraction) -> None:
    for asked in (law.sides, law.greatest_density, law.normal_variance):
        with pytest.raises(Missing):
            asked(rate)
    assert not any((law.is_positive, law.scales, law.exponential_tails, law.is_subgaussian, law.whole))
    assert pickle.loads(pickle.dumps(law)) == law
    assert law.symmetric is (law.least == -law.greatest)  # type: ignore[operator]


@given(bounded_laws(), rates, st.floats(0, 1), st.floats(0, 1), st.sampled_from([0.1, 1.0, 7.0]))
def test_shifts_within_the_support_have_a_cost(law: Law, rate: Fraction, x: float, y: float, eps: float) -> None:
    """The supports are constraints of every exit, so that no shift leaves them."""
    rate = rate if law.takes_rate else ONE
    own, (low, *_, high) = density(Noise(law, rate, Fraction(0)), eps)
    here, there = (low + (high - low) * share for share in (x, y))
    assert own(here) <= exp(float(law.shift_cost(rate)) * eps * abs(there - here)) * own(there) * (1 + 1e-9)


def test_laws_with_other_ends_differ() -> None:
    """Two noises have one law only if their ends are equal, too."""
    laws = {law for law, _ in LAWS}
    assert len(laws) == len(LAWS)
    assert len({law.identity for law in laws}) == len(LAWS)
    assert Uniform(-ONE, ONE) != TruncatedLaplace(-ONE, ONE)
    assert TruncatedLaplace(-ONE, 2 * ONE).times(Fraction(3)) == TruncatedLaplace(-3 * ONE, 6 * ONE)


# --- probabilities ----------------------------------------------------------------------------------------------------


@given(mixed_events(most=2), st.sampled_from([Fraction(1, 3), Fraction(1), Fraction(4)]))
def test_probabilities_are_those_of_quadrature(event: Event, eps: Fraction) -> None:
    low, high = measure(event).enclosure(eps)
    assert float(low) == pytest.approx(by_quadrature(event, float(eps)), abs=2e-9, rel=1e-6)
    assert low <= high


@given(mixed_events(most=4))
def test_messages_and_elimination_agree(event: Event) -> None:
    """The two ways of integration give one function; messages do not cover every event."""
    slow = polyhedral_measure(event, Limits(cells=2_000))
    assert measure(event) == slow
    try:
        fast = value_tree_measure(event, Limits())
    except OutsideFragment:
        return
    assert fast == slow


@given(mixed_events(most=3))
def test_an_event_and_its_parts_add_up(event: Event) -> None:
    """The last comparison holds, or its opposite does, and ties have probability 0."""
    *others, last = event.constraints
    turned = halfspace({i: -c for i, c in last.coefficients}, -last.constant)
    one, other = (measure(Event(event.noises, (*others, item))) for item in (last, turned))
    assert one + other == measure(Event(event.noises, tuple(others)))


def test_sums_of_uniform_noise() -> None:
    """Pr[U_1 + ... + U_n <= x] of Irwin and Hall."""
    noise = Noise(Uniform(Fraction(0), ONE), ONE, Fraction(0))
    for count, point, expected in (
        (2, 1, "1/2"),
        (3, 1, "1/6"),
        (3, Fraction(3, 2), "1/2"),
        (4, 1, "1/24"),
        (5, 1, "1/120"),
    ):
        event = Event((noise,) * count, (halfspace(dict.fromkeys(range(count), -1), point),))
        assert measure(event) == ExpPoly.constant(Fraction(expected))


def test_a_uniform_noise_beside_an_exponential_one() -> None:
    """Pr[Expo(eps) >= Unif(0, w)] = (1 - e^{-w·eps})/(w·eps)."""
    from dipc.algebra.exppoly import Quotient
    from dipc.noise.one_sided import ONE_SIDED

    noises = (Noise(ONE_SIDED, ONE, Fraction(0)), Noise(Uniform(Fraction(0), Fraction(3)), ONE, Fraction(0)))
    found = measure(Event(noises, (halfspace({0: 1, 1: -1}),)))
    assert found == Quotient(ExpPoly.ONE - ExpPoly.term(1, 0, -3), ExpPoly.term(3, 1))


@pytest.mark.parametrize(("law", "rate"), LAWS)
def test_comparisons_at_the_ends_are_certain(law: Law, rate: Fraction) -> None:
    noise = Noise(law, rate, Fraction(1, 2))
    assert law.least is not None
    assert law.greatest is not None
    low, high = law.least + noise.mean, law.greatest + noise.mean
    for strict_below in (halfspace({0: 1}, -low), halfspace({0: -1}, high)):
        assert measure(Event((noise,), (strict_below,))) == 1
        assert (
            measure(Event((noise,), (halfspace({0: -strict_below.coefficients[0][1]}, -strict_below.constant),))) == 0
        )


@given(mixed_events(most=2), st.sampled_from([Fraction(1, 3), Fraction(2)]))
def test_series_enclose_the_closed_form(event: Event, eps: Fraction) -> None:
    """A bound that is not expanded has the same value, and a majorant that is above it."""
    bound = EnclosedForm.from_bound(Bound((Share(None, (event,)),)), Measurer(), Limits())
    low, high = bound.dyadic_enclosure(eps, 60)
    least, most = measure(event).enclosure(eps)
    assert low <= most
    assert least <= high
    assert high - low <= Fraction(1, 2**59)
    assert float(bound.majorant(eps)) >= float(least)


# --- draws ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("law", "rate"), LAWS)
@pytest.mark.parametrize("eps", [Fraction(1, 50), Fraction(1), Fraction(9)])
def test_draws_have_the_law(law: Law, rate: Fraction, eps: Fraction) -> None:
    """Exact draws, and those of floats, fall into four parts of the support as often as their probability says."""
    assert law.least is not None
    assert law.greatest is not None
    ends = [float(law.least + (law.greatest - law.least) * Fraction(n, 4)) for n in range(5)]
    expected = [_probability(law, rate, a, b, float(eps)) for a, b in pairwise(ends)]
    bits, scale = RandomBits(seed=11), law.rate_at(rate, eps)
    exact = []
    for _ in range(1500):
        draw = law.draw_exactly(bits, scale)
        assert not isinstance(draw, int)
        while draw.length < 20:
            draw.refine(bits)
        exact.append(draw.sign * (draw.whole + 0.5) / 2**draw.length / float(scale))
    family = checked.Bounded(law.least, law.greatest, law.keyword == "TLap")
    floats = sampler(family, rate, eps)(np.random.default_rng(7), 6000)
    for drawn in (exact, floats):
        counts, _ = np.histogram(drawn, bins=[ends[0] - 1e-6, *ends[1:4], ends[4] + 1e-6])
        assert sum(counts) == len(drawn)
        for count, p in zip(counts, expected, strict=True):
            assert abs(count - p * len(drawn)) <= 5 * sqrt(len(drawn) * p * (1 - p)) + 1
