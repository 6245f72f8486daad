"""Sums of functions of the normal distribution: their enclosures and signs against mpmath at 50 digits."""

from __future__ import annotations

import random
from fractions import Fraction

import flint
import mpmath
import pytest

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.numbers import to_fmpq
from dipc.algebra.reals import Real
from dipc.measure.power_series import precision
from dipc.sign.normal import NormalBeta, NormalFunction, NormalSum, normal_function

F = Fraction


def exact(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


def some_sum(chance: random.Random, *, plain: bool = True) -> NormalSum:
    terms = []
    for _ in range(chance.randint(1, 3)):
        scale = Real.from_rational(F(chance.randint(1, 6), chance.randint(1, 4)))
        if chance.random() < 0.4:
            scale = scale * Real.from_rational(chance.choice([2, 3])).sqrt()
        function = NormalFunction(scale, exponential=chance.random() < 0.4)
        weight = F(chance.choice([-3, -2, -1, 1, 2, 3]), chance.randint(1, 3))
        terms.append((function, ExpPoly.constant(weight)))
    rest = ExpPoly.term(F(chance.randint(-2, 2)), 0, F(-chance.randint(0, 2), 2)) if plain else ExpPoly.ZERO
    return NormalSum.collect(rest, terms)


def value(total: NormalSum, eps: mpmath.mpc) -> mpmath.mpc:
    def plain_value(function: ExpPoly) -> mpmath.mpc:
        return mpmath.fsum(exact(c) * eps**k * mpmath.exp(exact(q) * eps) for k, q, c in function.terms())

    found = plain_value(total.plain)
    for function, weight in total.terms.items():
        square = function.scale * function.scale
        assert square.rational is not None
        scale = mpmath.sqrt(exact(square.rational))
        found += plain_value(weight) * (
            mpmath.exp(-scale * eps**2) if function.exponential else mpmath.erfc(scale * eps)
        )
    return found


@pytest.mark.parametrize("seed", range(20))
def test_values_and_disks(seed: int) -> None:
    chance = random.Random(seed)
    total, eps = some_sum(chance), F(chance.randint(1, 40), 10)
    with mpmath.workdps(50):
        low, high = total.enclosure(eps, 130)
        slop = mpmath.mpf(10) ** -38
        assert exact(low) - slop <= value(total, exact(eps)) <= exact(high) + slop
        assert high - low < F(1, 2**120)
        for center, radius in ((eps, eps / 2), (F(0), F(2))):
            with flint.ctx.workprec(100):
                most = mpmath.mpf(str(total.majorant(center, radius).mid().str(20, radius=False)))
            for k in range(8):
                point = exact(center) + exact(radius) * mpmath.expjpi(mpmath.mpf(k) / 4)
                assert abs(value(total, point)) <= most * (1 + mpmath.mpf(10) ** -12)


def test_the_series_at_a_center() -> None:
    total = some_sum(random.Random(5))
    with precision(200, 30):
        series = total.series(F(1))
        at = sum(
            (c * flint.arb(to_fmpq(F(1, 8))) ** k if k else c for k, c in enumerate(series.coeffs())), flint.arb(0)
        )
    low, high = total.enclosure(F(9, 8), 60)
    assert abs(float(at) - float(low + high) / 2) < 1e-15


@pytest.mark.parametrize("seed", range(60))
def test_signs_at_the_ends_are_never_wrong(seed: int) -> None:
    chance = random.Random(seed)
    total = some_sum(chance, plain=chance.random() < 0.5)
    with mpmath.workdps(50):
        near = total.positive_from_zero()
        if near is not None:
            assert all(value(total, exact(near * k / 64)) > 0 for k in range(1, 65))
        for start in (F(1, 4), F(1), F(4)):
            if total.positive_to_infinity(start):
                assert all(value(total, exact(start) * (1 + mpmath.mpf(k) / 8)) > 0 for k in range(40))


def test_the_ends_are_seen() -> None:
    """exp(-eps²/2) - erfc(eps/√2) is 0 at 0, positive after it, and small far out."""
    root = Real.from_rational(F(1, 2)).sqrt()
    exponential = NormalFunction(Real.from_rational(F(1, 2)), exponential=True)
    total = NormalSum.collect(ExpPoly.ZERO, [(exponential, ExpPoly.ONE), (NormalFunction(root), ExpPoly.constant(-1))])
    near = total.positive_from_zero()
    assert near is not None
    assert total.positive_to_infinity(F(2))
    assert not total.times(ExpPoly.constant(-1)).positive_to_infinity(F(2))
    assert total.times(ExpPoly.constant(-1)).positive_from_zero() is None
    assert (total + total.times(ExpPoly.constant(-1))).is_zero


def test_texts_are_read_by_sympy() -> None:
    import sympy

    beta = NormalBeta(
        NormalSum.collect(
            ExpPoly.constant(F(1, 3)),
            [
                (f, ExpPoly.constant(c))
                for c, f in normal_function("erfc", Real.from_rational(F(-3, 2)) / Real.from_rational(2).sqrt(), F(1))
                if f is not None
            ],
        )
    )
    found = sympy.sympify(str(beta))
    low, high = beta.enclosure(F(7, 5), 15)
    shown = float(found.subs(sympy.Symbol("eps"), sympy.Rational(7, 5)))
    assert float(low) - 1e-12 <= shown <= float(high) + 1e-12
