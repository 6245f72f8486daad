"""Standard deviations of Gaussian noise as they are written, drawn and shown; discrete Gaussian noise."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dipc.algebra.reals import Real
from dipc.noise.gaussian import DISCRETE_GAUSSIAN, GAUSSIAN
from dipc.noise.law import Missing
from dipc.noise.lazy import RandomBits

F = Fraction


@pytest.mark.parametrize(
    ("factor", "fixed", "text"),
    [
        (Real.from_rational(2), False, "2/eps"),
        (Real.from_rational(F(3, 4)), False, "3/(4*eps)"),
        (Real.from_rational(F(3, 4)), True, "3/4"),
        (Real.from_rational(8).sqrt(), False, "2*sqrt(2)/eps"),
        ((Real.from_rational(2) * Real.from_rational(7).log()).sqrt(), True, "sqrt(2)*sqrt(log(7))"),
    ],
)
def test_a_deviation_is_kept(factor: Real, fixed: bool, text: str) -> None:
    law, rate = GAUSSIAN.with_deviation(factor, fixed=fixed)
    low, high = law.deviation(rate)
    exact = factor.enclosure()
    assert low <= exact[1]
    assert exact[0] <= high
    assert law.scale_text(rate) == text


def test_laws_are_told_apart() -> None:
    root = GAUSSIAN.with_deviation(Real.from_rational(2).sqrt(), fixed=False)[0]
    fixed = GAUSSIAN.with_deviation(Real.from_rational(2), fixed=True)[0]
    laws = [GAUSSIAN, root, fixed, DISCRETE_GAUSSIAN]
    assert len(set(laws)) == len({law.identity for law in laws}) == 4
    assert GAUSSIAN.with_deviation(Real.from_rational(3), fixed=False) == (GAUSSIAN, F(1, 3))


def test_what_is_drawn_exactly() -> None:
    """The mass of the discrete Gaussian at 0, and the refusal of an irrational deviation."""
    bits = RandomBits(seed=3)
    drawn = [DISCRETE_GAUSSIAN.draw_exactly(bits, F(2, 3)) for _ in range(4000)]
    mass = 1 / sum(math.exp(-(i**2) / (2 * 1.5**2)) for i in range(-40, 41))
    assert abs(drawn.count(0) / 4000 - mass) < 5 * math.sqrt(mass * (1 - mass) / 4000)
    assert GAUSSIAN.rate_at(F(1, 2), F(3)) == F(3, 2)
    assert GAUSSIAN.with_deviation(Real.from_rational(2), fixed=True)[0].rate_at(F(1, 2), F(3)) == F(1, 2)
    law, rate = GAUSSIAN.with_deviation(Real.from_rational(2).sqrt(), fixed=False)
    with pytest.raises(Missing, match="irrational"):
        law.rate_at(rate, F(1))
