"""Sums of integer noises of many different rates, against elimination, messages and convolution."""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dipc
from dipc.algebra.exppoly import ClosedForm
from dipc.algebra.limits import LimitReached, Limits, OutsideFragment
from dipc.algebra.numbers import dyadic
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Noise
from dipc.measure.lattice import lattice_measure
from dipc.measure.measure import Bound, EnclosedForm, Measurer, Share, measure
from dipc.measure.power_series import precision
from dipc.measure.summed import LatticeSum, lattice_sum
from dipc.noise.discrete_laplace import DISCRETE_LAPLACE
from tests.patience import examples

RATES = st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 3), Fraction(2)])


@st.composite
def sum_events(draw: st.DrawFn) -> Event:
    """A sum or difference of at most three noises, some of equal rates, with one or two bounds."""
    size = draw(st.integers(1, 3))
    noises = tuple(Noise(DISCRETE_LAPLACE, draw(RATES), Fraction(draw(st.integers(-2, 2)))) for _ in range(size))
    times = draw(st.sampled_from([Fraction(1), Fraction(2), Fraction(1, 3)]))
    terms = tuple((i, times * draw(st.sampled_from([1, -1]))) for i in range(size))
    turned = tuple((i, -c) for i, c in terms)
    constant = st.sampled_from([Fraction(n, 2) for n in range(-5, 6)])
    halves = [Halfspace(turned if draw(st.booleans()) else terms, draw(constant), draw(st.booleans()))]
    if draw(st.booleans()):
        halves.append(Halfspace(turned, draw(constant) + 5, draw(st.booleans())))
    return Event(noises, tuple(halves))


@settings(max_examples=examples(40), deadline=None)
@given(sum_events(), st.sampled_from([Fraction(1, 4), Fraction(1), Fraction(5)]))
def test_against_elimination(event: Event, eps: Fraction) -> None:
    try:
        found = lattice_sum(event)
    except OutsideFragment:
        # The bounds contradict each other.
        assert lattice_measure(event) == 0
        return
    low, high = ClosedForm(lattice_measure(event)).enclosure(eps, 40)
    with precision(400, 1):
        ball = found.series(eps)[0]
        assert dyadic(ball.lower()) <= high
        assert low <= dyadic(ball.upper())
        assert ball.rad() < 1e-30


@settings(max_examples=examples(10), deadline=None)
@given(sum_events())
def test_derivatives(event: Event) -> None:
    """The second coefficient is a difference quotient."""
    try:
        found = lattice_sum(event)
    except OutsideFragment:
        return
    step = Fraction(1, 2**60)
    with precision(800, 2):
        slope = found.series(Fraction(1))[1]
        here, there = (found.series(1 + side * step)[0] for side in (-1, 1))
        quotient = (there - here) / (2 * flint.arb(flint.fmpq(1, 2**60)))
        assert abs(slope - quotient) < 1e-30


def test_like_rates_and_none() -> None:
    noises = tuple(Noise(DISCRETE_LAPLACE, rate, Fraction(1)) for rate in (Fraction(1), Fraction(2), Fraction(1)))
    terms = tuple((i, Fraction(1)) for i in range(3))
    assert lattice_sum(Event(noises, (Halfspace(terms, Fraction(-3)),))) == LatticeSum(
        ((Fraction(1), 2), (Fraction(2), 1)), 0, None
    )
    other = Halfspace(((0, Fraction(1)), (1, Fraction(1)), (2, Fraction(-1))), Fraction(0))
    for outside in (
        (other, Halfspace(terms, Fraction(0))),
        (Halfspace(((0, Fraction(1)), (1, Fraction(2))), Fraction(0)),),
    ):
        with pytest.raises(OutsideFragment):
            lattice_sum(Event(noises, outside))


def test_twelve_rates() -> None:
    """Too many for a closed form, which says why; enclosed, and as the masses are convolved."""
    rates = [Fraction(1, i) for i in range(2, 14)]
    noises = tuple(Noise(DISCRETE_LAPLACE, rate, Fraction(0)) for rate in rates)
    terms = tuple((i, Fraction(1)) for i in range(12))
    event = Event(noises, (Halfspace(terms, Fraction(2)), Halfspace(tuple((i, -c) for i, c in terms), Fraction(2))))
    with pytest.raises(LimitReached, match="12 different rates"):
        measure(event)
    low, high = EnclosedForm.from_bound(Bound((Share(None, (event,)),)), Measurer(), Limits()).dyadic_enclosure(
        Fraction(1), 100
    )
    x = np.arange(-600, 601)
    sums = np.ones(1)
    for rate in rates:
        z = np.exp(-float(rate))
        sums = np.convolve(sums, (1 - z) / (1 + z) * z ** np.abs(x))
    middle = len(sums) // 2
    assert float(low) == pytest.approx(sums[middle - 2 : middle + 3].sum(), rel=1e-12)
    assert high - low < Fraction(1, 2**99)


_SUM = "program total; output near : bool = false; var x, s : int; s <- DLap(eps/2, 0);" + "".join(
    f"x <- DLap(eps/{i}, 0); s <- s + x;" for i in range(3, 11)
)


def test_claims_about_nine_rates() -> None:
    """A claim that holds on an interval, its counterexample elsewhere, and claims for every eps, decided by tails."""
    program = dipc.load(_SUM + "if s >= -2 and s <= 2 then near <- true end")
    assert dipc.check(program, [{"near": True}], beta="9/10", eps="[3, 8]").verdict is dipc.Verdict.ACCURATE
    assert dipc.check(program, [{"near": True}], beta="9/10").verdict is dipc.Verdict.INACCURATE
    above = dipc.load(_SUM + "if s >= -2 then near <- true end")
    assert dipc.check(above, [{"near": True}], beta="11/20").verdict is dipc.Verdict.ACCURATE
    assert dipc.check(above, [{"near": True}], beta="1/4").verdict is dipc.Verdict.INACCURATE
