"""Measures of integer events whose constants grow with an integer, against the measures at single integers."""

from __future__ import annotations

from fractions import Fraction
from math import exp, prod

import pytest

from dipc.algebra.exppoly import ClosedForm
from dipc.algebra.limits import OutsideFragment
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Noise
from dipc.measure.lattice import LatticeTrend, Unsettled, lattice_measure, lattice_trend
from dipc.noise.discrete_laplace import DISCRETE_LAPLACE

F = Fraction
EPS = 0.75


def noise(rate: F) -> Noise:
    return Noise(DISCRETE_LAPLACE, rate, F(0))


def half(constant: F | int, **terms: int) -> Halfspace:
    return Halfspace(tuple((int(name[1:]), F(c)) for name, c in terms.items()), F(constant))


def evaluate(trend: LatticeTrend, k: int) -> float:
    summed = sum(
        float(c)
        * exp(float(s.exponent + k * s.slopes[trend.place]) * EPS)
        * prod((1 - exp(-float(d) * EPS)) ** -m for d, m in s.poles)
        * k ** s.powers[trend.place]
        for s, c in trend.summands.items()
    )
    return summed * prod((1 - exp(-float(d) * EPS)) / (1 + exp(-float(d) * EPS)) for d in trend.rates)


def settled_trend(event: Event, slopes: list[int]) -> tuple[LatticeTrend, int]:
    """The trend from the first start for which no `Unsettled` is raised, and that start."""
    start = 1
    while True:
        try:
            return lattice_trend(event, [F(slope) for slope in slopes], start), start
        except Unsettled as small:
            start = max(start + 1, small.enough)


@pytest.mark.parametrize(
    ("rates", "constraints", "slopes"),
    [
        ([F(1)], [half(-1, x0=1)], [1]),
        ([F(1)], [half(-1, x0=1), half(2, x0=-1)], [1, 0]),
        ([F(1)], [half(1, x0=-1), half(F(5, 2), x0=1)], [2, 1]),
        ([F(1), F(1, 2)], [half(-1, x0=1, x1=1)], [1]),
        ([F(1), F(1)], [half(-1, x0=1, x1=-1), half(0, x0=1)], [1, 1]),
        ([F(1), F(2), F(1)], [half(0, x0=1, x1=-1), half(-2, x1=1, x2=1)], [1, 1]),
    ],
)
def test_trends_are_the_measures_at_each_value(rates: list[F], constraints: list[Halfspace], slopes: list[int]) -> None:
    noises = tuple(map(noise, rates))
    found, start = settled_trend(Event(noises, tuple(constraints)), slopes)
    for k in (start, start + 1, start + 6):
        moved = [
            Halfspace(c.coefficients, c.constant + k * slope) for c, slope in zip(constraints, slopes, strict=True)
        ]
        expected = ClosedForm(lattice_measure(Event(noises, tuple(moved)))).float(F(3, 4))
        assert evaluate(found, k) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("constraints", "slopes"),
    [
        ([half(-1, x0=2)], [1]),
        ([half(0, x0=2, x1=-1)], [1]),
        ([half(0, x0=1, x1=-2)], [1]),
        ([half(0, x0=3), half(5, x0=-1)], [1, 1]),
        ([half(0, x0=2, x1=3)], [1]),
    ],
)
def test_trends_that_depend_on_a_residue_of_the_distance_are_refused(
    constraints: list[Halfspace], slopes: list[int]
) -> None:
    """Pr[2·x >= 1 - k] has one formula for even k and another for odd k."""
    event = Event((noise(F(1)), noise(F(1))), tuple(constraints))
    for start in (1, 2, 3, 8):
        with pytest.raises(OutsideFragment, match="residue class of the distance"):
            lattice_trend(event, [F(slope) for slope in slopes], start)
