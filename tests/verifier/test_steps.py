"""Each kind of step, compared with values computed in other ways.

Accepted steps must be true, and plainly true steps must be accepted.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import gcd

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dipc.verifier.functions import Ring
from dipc.verifier.reading import Budget, Exhausted, Rejected
from dipc.verifier.signs import (
    Curve,
    decay_bits,
    exp_minus,
    growth_bits,
    positive_on_unit,
    powers,
    prove_at_infinity,
    prove_near_zero,
    prove_sign,
    sign_of_ring,
)
from tests.sign.oracle import terms_value


def curve_of(sums: dict[tuple[int, int], int]) -> Curve:
    return Curve(tuple((j, k, c) for (j, k), c in sorted(sums.items()) if c))


rationals = st.builds(Fraction, st.integers(1, 400), st.integers(1, 60))

curves = (
    st.dictionaries(
        st.tuples(st.one_of(st.integers(0, 6), st.integers(0, 300)), st.integers(0, 3)),
        st.one_of(st.integers(-9, 9), st.integers(-(10**9), 10**9)),
        min_size=1,
        max_size=6,
    )
    .map(curve_of)
    .filter(lambda curve: bool(curve.terms))
)


def value(curve: Curve, t: Fraction, bits: int = 600) -> mpmath.mpf:
    return terms_value([(k, Fraction(-j), Fraction(c)) for j, k, c in curve.terms], t, bits)


def holds(step: Callable[[], None]) -> bool:
    try:
        step()
    except (Rejected, Exhausted):
        return False
    return True


@given(st.builds(Fraction, st.integers(0, 10**6), st.integers(1, 10**4)), st.integers(0, 400))
def test_exponentials_are_enclosed_tightly(x: Fraction, bits: int) -> None:
    low, high = exp_minus(x, bits)
    with mpmath.workprec(2 * bits + 200):
        exact = mpmath.ldexp(mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator), bits)
        assert low <= exact <= high
    assert low >= 0
    assert high - low <= 3
    with mpmath.workprec(100):
        log2e = mpmath.mpf(x.numerator) / x.denominator / mpmath.log(2)
        assert decay_bits(x) <= log2e <= growth_bits(x)


@given(st.sets(st.integers(0, 200), min_size=1), rationals, st.integers(1, 300))
def test_powers_are_enclosed(exponents: set[int], x: Fraction, bits: int) -> None:
    ordered = sorted(exponents)
    with mpmath.workprec(2 * bits + 200):
        for j, (low, high) in zip(ordered, powers(ordered, x, bits, Budget()), strict=True):
            assert low <= mpmath.ldexp(mpmath.exp(-mpmath.mpf(j * x.numerator) / x.denominator), bits) <= high
            assert high - low <= 8


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=7), st.fractions(0, 1))
def test_a_polynomial_called_positive_is(coefficients: list[int], x: Fraction) -> None:
    if positive_on_unit(coefficients, Budget()):
        assert sum(c * x**n for n, c in enumerate(coefficients)) > 0


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=4), st.integers(1, 9))
def test_a_positive_polynomial_is_called_so(coefficients: list[int], more: int) -> None:
    square = [0] * (2 * len(coefficients) - 1)
    for n, c in enumerate(coefficients):
        for m, d in enumerate(coefficients):
            square[n + m] += c * d
    square[0] += more
    assert positive_on_unit(square, Budget())


@given(curves, rationals, rationals, st.sampled_from([1, -1]), st.integers(0, 60), st.lists(st.fractions(0, 1)))
def test_signs_on_intervals_are_right(
    curve: Curve, lower: Fraction, width: Fraction, sign: int, bits: int, places: list[Fraction]
) -> None:
    upper = lower + width
    if holds(lambda: prove_sign(curve, lower, upper, sign, bits, Budget())):
        for place in (Fraction(0), Fraction(1, 2), Fraction(1), *places):
            assert value(curve, lower + place * width) * sign > 0


@given(rationals, st.integers(1, 12), st.integers(0, 40))
def test_a_sign_that_is_clear_is_found(lower: Fraction, n: int, bits: int) -> None:
    """The function (e^{-t} - c)^2·… is at least the square of a distance."""
    curve = curve_of({(0, 0): n + 1, (1, 0): -n, (2, 1): 3})
    prove_sign(curve, lower, lower + 1, 1, bits, Budget())
    with pytest.raises(Rejected, match="is not shown to have the sign"):
        prove_sign(curve, lower, lower + 1, -1, bits, Budget())


@given(curves, st.integers(0, 8), rationals, st.sampled_from([1, -1]), st.lists(st.fractions(0, 1)))
def test_signs_near_zero_are_right(
    curve: Curve, order: int, radius: Fraction, sign: int, places: list[Fraction]
) -> None:
    if holds(lambda: prove_near_zero(curve, order, radius, sign, Budget())):
        for place in (Fraction(1), Fraction(1, 10**6), *places):
            if place:
                assert value(curve, place * radius) * sign > 0


@given(curves, rationals, st.sampled_from([1, -1]), st.lists(st.fractions(0, 10**4)))
def test_signs_towards_infinity_are_right(curve: Curve, bound: Fraction, sign: int, places: list[Fraction]) -> None:
    if holds(lambda: prove_at_infinity(curve, bound, sign, Budget())):
        for place in (Fraction(0), *places):
            assert value(curve, bound + place) * sign > 0


@given(st.integers(1, 60), st.sampled_from([1, -1]))
def test_ends_that_are_clear_are_found(order: int, sign: int) -> None:
    """The function 1 - Σ_{n < order} t^n/n!·e^{-t} vanishes at 0 to exactly this order."""
    fact = 1
    for n in range(1, order):
        fact *= n
    below, coefficients = 1, {}
    for n in range(order):
        coefficients[1, n] = -sign * fact // below
        below *= n + 1
    curve = curve_of({(0, 0): sign * fact, **coefficients})
    prove_near_zero(curve, order, Fraction(1, 4), sign, Budget())
    prove_at_infinity(curve, Fraction(1024), sign, Budget())
    for wrong in (order - 1, order + 1):
        with pytest.raises(Rejected, match="Taylor coefficient at 0 of order"):
            prove_near_zero(curve, wrong, Fraction(1, 4), sign, Budget())


def ring_of(curve: Curve) -> Ring:
    return {(k, Fraction(-j)): Fraction(c) for j, k, c in curve.terms}


@given(curves, rationals)
def test_derivatives_and_signs_at_points(curve: Curve, t: Fraction) -> None:
    found = value(curve, t)
    assert sign_of_ring(ring_of(curve), t, Budget()) == (found > 0) - (found < 0)
    with mpmath.workprec(400):
        step = mpmath.mpf(2) ** -150
        slope = (value(curve, t + Fraction(1, 2**150)) - found) / step
        assert mpmath.almosteq(value(curve.derivative, t), slope, 1e-20, 1e-20)


def test_a_point_where_the_function_is_zero_exactly() -> None:
    curve = curve_of({(0, 0): -2, (0, 1): 1, (3, 0): 4, (3, 1): -2})
    assert sign_of_ring(ring_of(curve), Fraction(2), Budget()) == 0
    ring = {(1, Fraction(-1, 3)): Fraction(1), (0, Fraction(-1, 3)): Fraction(-2)}
    assert sign_of_ring(ring, Fraction(2), Budget()) == 0


@given(
    curves,
    st.builds(Fraction, st.integers(-9, 9), st.integers(1, 9)),
    st.builds(Fraction, st.integers(1, 9), st.integers(1, 9)),
    rationals,
)
def test_a_curve_has_the_signs_of_its_function(curve: Curve, shift: Fraction, unit: Fraction, eps: Fraction) -> None:
    """The curve is the function times a positive number, for all exponents and coefficients."""
    function = {(k, shift - unit * j): Fraction(c, 7) for j, k, c in curve.terms}
    found = Curve.from_ring(function, Budget())
    assert gcd(*(j for j, _, _ in found.terms)) <= 1
    assert min(j for j, _, _ in found.terms) == 0
    sign = sign_of_ring(function, eps, Budget())
    assert sign_of_ring(ring_of(found), eps * found.scale, Budget()) == sign


def test_a_budget_ends_what_takes_too_long() -> None:
    curve = curve_of({(j, 0): (-1) ** j * 10**30 for j in range(400)})
    with pytest.raises(Exhausted, match="more than the 1000 steps that are permitted"):
        prove_sign(curve, Fraction(1), Fraction(2), 1, 500, Budget(1000))
