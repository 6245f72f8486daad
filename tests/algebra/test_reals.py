"""Numbers made of roots, logarithms and powers of e, against mpmath at 50 digits."""

from __future__ import annotations

import random
from fractions import Fraction

import mpmath
import pytest

from dipc.algebra.reals import ONE, ZERO, NotReal, Real

F = Fraction


def grown(chance: random.Random, depth: int) -> tuple[Real, mpmath.mpf]:
    """A number, twice."""
    if not depth:
        value = F(chance.randint(-6, 9) or 1, chance.randint(1, 5))
        return Real.from_rational(value), mpmath.mpf(value.numerator) / value.denominator
    one, value = grown(chance, depth - 1)
    match chance.randint(0, 6):
        case 0:
            other, more = grown(chance, depth - 1)
            return one * other, value * more
        case 1:
            other, more = grown(chance, depth - 1)
            return one + other, value + more
        case 2:
            return abs(one).sqrt(), mpmath.sqrt(abs(value))
        case 3:
            return (ONE + abs(one)).log(), mpmath.log(1 + abs(value))
        case 4 if abs(value) < 20:
            return one.exp(), mpmath.exp(value)
        case 5 if abs(value) < 5:
            return one.erfc(), mpmath.erfc(value)
    return (one, value) if not one.sign else (ONE / one, 1 / value)


@pytest.mark.parametrize("seed", range(80))
def test_numbers_are_enclosed(seed: int) -> None:
    chance = random.Random(seed)
    with mpmath.workdps(50):
        try:
            number, value = grown(chance, chance.randint(1, 4))
        except NotReal:  # the sign of a sum that is 0 is not seen
            return
        low, high = number.enclosure(160)
        slop = mpmath.mpf(10) ** -40 * (1 + abs(value))
        assert mpmath.mpf(low.numerator) / low.denominator - slop <= value
        assert value <= mpmath.mpf(high.numerator) / high.denominator + slop
        assert (number.sign > 0) == (value > slop) or abs(value) < slop


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (Real.from_rational(8).sqrt(), Real.from_rational(2) * Real.from_rational(2).sqrt()),
        (Real.from_rational(2).sqrt() * Real.from_rational(3).sqrt(), Real.from_rational(6).sqrt()),
        (Real.from_rational(2).sqrt() + Real.from_rational(2).sqrt(), Real.from_rational(8).sqrt()),
        (Real.from_rational(3).log().exp(), Real.from_rational(3)),
        ((Real.from_rational(3).log() / Real.from_rational(2)).exp(), Real.from_rational(3).sqrt()),
        (Real.from_rational(F(1, 3)).log(), -Real.from_rational(3).log()),
        (Real.from_rational(2).exp() * Real.from_rational(-2).exp(), ONE),
        (ONE + Real.from_rational(2).sqrt() - ONE, Real.from_rational(2).sqrt()),
        (Real.from_rational(0).exp(), ONE),
        (ONE.log(), ZERO),
    ],
)
def test_equal_numbers_are_equal(left: Real, right: Real) -> None:
    assert left == right
    assert str(left) == str(right)


def test_powers() -> None:
    assert Real.from_rational(F(2, 3)).power(-3).rational == F(27, 8)
    assert Real.from_rational(2).power(1000).rational == 2**1000
    with pytest.raises(NotReal, match="at most 1000"):
        Real.from_rational(2).power(1001)


def test_what_is_no_number() -> None:
    with pytest.raises(NotReal):
        Real.from_rational(-1).sqrt()
    with pytest.raises(NotReal):
        ZERO.log()
