"""Least factors of claims with irrational constants, against the values at 60 digits."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

import dipc

COIN = "program c; output y : {0, 1}; ideal { y <- 1 } y <- choose { 1 : 3/4, 0 : 1/4 }"
APPROACHED = (
    "program s; const t = 11; input x : real; output y : real = 0; ideal { if x > 0 then y <- x end } "
    "var r : real; if x > 0 then r <- x + Lap(eps/2); if r > t then y <- r end end"
)


@pytest.mark.parametrize(
    ("beta", "value"),
    [
        ("exp(-1)", lambda: mpmath.e / 4),
        ("log(3/2)", lambda: 1 / (4 * mpmath.log(1.5))),
        ("sqrt(1/2)", lambda: mpmath.sqrt(2) / 4),
        ("exp(log(2)/3 - 1)", lambda: mpmath.e / 4 / mpmath.cbrt(2)),
        ("exp(-1 - eps) + exp(-2)", lambda: mpmath.e**2 / 4),
    ],
)
@pytest.mark.parametrize("digits", [12, 45])
def test_both_ends_have_the_digits_asked_for(beta: str, value: object, digits: int) -> None:
    least = dipc.tighten(dipc.load(COIN), alpha=0, beta=beta, digits=digits)
    assert least.complete
    assert least.factor is not None
    with mpmath.workdps(60):
        low, high = (mpmath.mpf(end.numerator) / end.denominator for end in least.factor)
        assert callable(value)
        assert low <= value() <= high
        assert high - low < mpmath.mpf(10) ** (1 - digits)


def test_an_exact_multiple_is_a_rational_factor() -> None:
    least = dipc.tighten(dipc.load(COIN), alpha=0, beta="7*exp(-4*log(2))")
    assert least.factor == (Fraction(4, 7), Fraction(4, 7))


@pytest.mark.parametrize("beta", ["exp(-3)", "exp(-3*eps)"])
def test_a_factor_that_inputs_approach(beta: str) -> None:
    """x just above 17 fails where the noise is below -6 or above 17: (e^-3 + e^-8.5)/2."""
    least = dipc.tighten(dipc.load(APPROACHED, eps=1), inputs="all", alpha=0, gamma=17, beta=beta, eps=1)
    assert least.complete
    assert least.attained is False
    assert least.factor is not None
    with mpmath.workdps(60):
        low, high = (mpmath.mpf(end.numerator) / end.denominator for end in least.factor)
        assert low <= (1 + mpmath.exp(-5.5)) / 2 <= high
        assert high - low < mpmath.mpf(10) ** -25
