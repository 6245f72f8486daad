"""The ring with unknowns left open: its laws, and every view of it against values computed by mpmath to 60 digits."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.parametric import Parametric

DIGITS = 60
NEAR = mpmath.mpf(10) ** -45

small = st.fractions(min_value=-3, max_value=3, max_denominator=4)
at_least_0 = st.fractions(min_value=0, max_value=3, max_denominator=4)
factor = st.tuples(st.integers(0, 2), small)
monomial = st.tuples(st.integers(0, 2), small, small, st.fixed_dictionaries({"a": factor, "g": factor}))
positive = st.sampled_from([ExpPoly.ONE, ExpPoly.term(1, 0, -1) + 2, ExpPoly.term(3, 1, 0) + 1])


def _made(
    monomials: list[tuple[int, Fraction, Fraction, dict[str, tuple[int, Fraction]]]], below: ExpPoly
) -> Parametric:
    total = Parametric.number(0)
    for k, q, c, factors in monomials:
        summand = Parametric.from_exppoly(ExpPoly.term(c, k, q))
        for name, (j, r) in factors.items():
            rate = (Parametric.unknown(name) * Parametric.from_exppoly(ExpPoly.term(r, 1))).exponential()
            assert rate is not None
            summand = summand * Parametric.unknown(name).power(j) * rate
        total = total + summand
    quotient = total / Parametric.from_exppoly(below)
    assert quotient is not None
    return quotient


elements = st.builds(_made, st.lists(monomial, max_size=3), positive)


def value(of: Parametric, eps: Fraction, at: Mapping[str, Fraction]) -> mpmath.mpf:
    """The value of a function by its definition, in floating-point numbers of 60 digits."""
    x = mpmath.mpf(eps.numerator) / eps.denominator

    def sum_of(terms: list[tuple[int, Fraction, tuple[tuple[str, int, Fraction], ...], Fraction]]) -> mpmath.mpf:
        total = mpmath.mpf(0)
        for k, q, factors, c in terms:
            summand = number(c) * x**k * mpmath.exp(number(q) * x)
            for name, j, r in factors:
                u = number(at[name])
                summand *= u**j * mpmath.exp(number(r) * u * x)
            total += summand
        return total

    return sum_of(list(of.terms())) / sum_of([(k, q, (), c) for k, q, c in of.denominator.terms()])


def number(rational: Fraction) -> mpmath.mpf:
    return mpmath.mpf(rational.numerator) / rational.denominator


def is_close(one: mpmath.mpf, other: mpmath.mpf) -> bool:
    return bool(abs(one - other) <= NEAR * (1 + abs(one) + abs(other)))


def same(one: Parametric, other: Parametric) -> bool:
    """Whether they are the same function."""
    return not (one + -other).numerator


points = st.fixed_dictionaries({"a": at_least_0, "g": at_least_0})
some_eps = st.fractions(min_value=Fraction(1, 5), max_value=2, max_denominator=5)


@given(elements, elements, elements)
def test_ring_laws(f: Parametric, g: Parametric, h: Parametric) -> None:
    zero, one = Parametric.number(0), Parametric.number(1)
    assert same(f + g, g + f)
    assert same((f + g) + h, f + (g + h))
    assert same(f * g, g * f)
    assert same((f * g) * h, f * (g * h))
    assert same(f * (g + h), f * g + f * h)
    assert same(f + zero, f)
    assert same(f * one, f)
    assert same(f + -f, zero)
    assert same(f.power(3), f * f * f)


@given(elements, elements, some_eps, points)
def test_arithmetic_is_that_of_the_values(f: Parametric, g: Parametric, eps: Fraction, at: dict[str, Fraction]) -> None:
    with mpmath.workdps(DIGITS):
        left, right = value(f, eps, at), value(g, eps, at)
        assert is_close(value(f + g, eps, at), left + right)
        assert is_close(value(f * g, eps, at), left * right)
        assert is_close(value(-f, eps, at), -left)
        assert is_close(value(f.power(2), eps, at), left**2)


@given(elements, small, small, st.sampled_from([ExpPoly.constant(3), ExpPoly.term(1, 0, -1) + 2]), some_eps, points)
def test_quotients_by_exponentials_of_unknowns(
    f: Parametric, q: Fraction, r: Fraction, below: ExpPoly, eps: Fraction, at: dict[str, Fraction]
) -> None:
    exponent = Parametric.from_exppoly(ExpPoly.term(q, 1)) + Parametric.unknown("a") * Parametric.from_exppoly(
        ExpPoly.term(r, 1)
    )
    exponential = exponent.exponential()
    assert exponential is not None
    divisor = exponential * Parametric.from_exppoly(below)
    quotient = f / divisor
    assert quotient is not None
    with mpmath.workdps(DIGITS):
        assert is_close(value(quotient, eps, at), value(f, eps, at) / value(divisor, eps, at))


@pytest.mark.parametrize("power", [1, 2])
def test_other_divisors_with_unknowns_have_no_quotient(power: int) -> None:
    unknown = Parametric.unknown("a")
    assert Parametric.number(1) / unknown.power(power) is None
    assert Parametric.number(1) / (unknown + Parametric.number(1)) is None
    with pytest.raises(ZeroDivisionError):
        unknown / Parametric.number(0)


@given(elements, some_eps, points)
def test_numbers_for_unknowns(f: Parametric, eps: Fraction, at: dict[str, Fraction]) -> None:
    with mpmath.workdps(DIGITS):
        expected = value(f, eps, at)
        one = f.substituted({"a": Parametric.number(at["a"])})
        assert one is not None
        assert "a" not in one.unknowns()
        assert is_close(value(one, eps, at), expected)
        both = f.substituted({name: Parametric.number(found) for name, found in at.items()})
        assert both is not None
        assert both.is_flat()
        assert is_close(value(both, eps, {}), expected)


@given(elements, elements, small, some_eps, points)
def test_substitution_keeps_sums_and_products(
    f: Parametric, g: Parametric, slope: Fraction, eps: Fraction, at: dict[str, Fraction]
) -> None:
    line = Parametric.number(slope) * Parametric.unknown("g") + Parametric.number(1)
    for by in ({"a": line}, {"a": Parametric.number(at["a"]), "g": Parametric.unknown("b")}):
        here, there = f.substituted(by), g.substituted(by)
        total, product = (f + g).substituted(by), (f * g).substituted(by)
        assert None not in (here, there, total, product)
        assert same(total, here + there)  # type: ignore[arg-type, operator]
        assert same(product, here * there)  # type: ignore[arg-type, operator]
    moved = f.substituted({"a": line})
    assert moved is not None
    with mpmath.workdps(DIGITS):
        assert is_close(value(moved, eps, at), value(f, eps, {**at, "a": slope * at["g"] + 1}))


def test_an_unknown_in_an_exponent_stands_for_linear_functions_only() -> None:
    exponential = (Parametric.unknown("a") * Parametric.from_exppoly(ExpPoly.term(-1, 1))).exponential()
    assert exponential is not None
    assert exponential.substituted({"a": Parametric.unknown("g").power(2)}) is None


@given(elements, some_eps, points)
def test_derivatives(f: Parametric, eps: Fraction, at: dict[str, Fraction]) -> None:
    with mpmath.workdps(DIGITS):
        step = Fraction(1, 10**20)
        above, below = (value(f, eps, {**at, "a": at["a"] + way * step}) for way in (1, -1))
        slope = value(f.derivative("a"), eps, at)
        assert abs((above - below) / (2 * number(step)) - slope) <= mpmath.mpf(10) ** -25 * (
            1 + abs(slope) + abs(above)
        )


@given(elements, some_eps)
def test_limits_are_approached(f: Parametric, eps: Fraction) -> None:
    limit = f.limit()
    if limit is None:
        return
    assert limit.is_flat()
    with mpmath.workdps(DIGITS):
        # The slowest e^{-U·eps/4} with eps >= 1/5 is far below this then.
        far = value(f, eps, {"a": Fraction(4000), "g": Fraction(4000)})
        assert abs(far - value(limit, eps, {})) < mpmath.mpf(10) ** -20


@given(st.lists(st.tuples(small, st.integers(0, 3), small), max_size=4), some_eps, at_least_0)
def test_functions_of_one_product(terms: list[tuple[Fraction, int, Fraction]], eps: Fraction, at: Fraction) -> None:
    f = _made([(j, Fraction(0), c, {"a": (j, r)}) for c, j, r in terms], ExpPoly.ONE)
    g = f.in_product()
    assert g is not None
    with mpmath.workdps(DIGITS):
        t = eps * at
        assert is_close(value(Parametric.from_exppoly(g), t, {}), value(f, eps, {"a": at}))
    assert (f + Parametric.from_exppoly(ExpPoly.term(1, 1))).in_product() is None
    assert (f + Parametric.unknown("a")).in_product() is None
    assert (f + Parametric.unknown("a") * Parametric.unknown("g")).in_product() is None


@given(elements, small, small)
def test_linear_functions_of_one_unknown(f: Parametric, base: Fraction, rate: Fraction) -> None:
    line = Parametric.number(base) + Parametric.number(rate) * Parametric.unknown("a")
    assert line.linear("a") == (base, rate)
    assert line.linear("b") == (None if rate else (base, 0))
    found = f.linear("a")
    if found is None:
        assert f.denominator != ExpPoly.ONE or any(
            k or q or factors not in ((), (("a", 1, 0),)) for k, q, factors, _ in f.terms()
        )
    else:
        assert same(Parametric.number(found[0]) + Parametric.number(found[1]) * Parametric.unknown("a"), f)


@given(elements)
def test_they_pickle_and_copy(f: Parametric) -> None:
    assert pickle.loads(pickle.dumps(f)) == f
    assert copy.deepcopy(f) == f
