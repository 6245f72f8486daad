"""The roots of several functions in one order, common ones once."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import LimitReached
from dipc.sign.chart import arrange, coprime_base, isolate_roots, sign_at
from dipc.sign.interval import Interval

EPS = ExpPoly.term(1, 1, 0)
EXP = ExpPoly.term(1, 0, 1)

#: Irreducible functions with one root each, which are close together.
FACTORS = [EPS - 1, EXP - 2, EXP - 3, 2 * EPS - 3, EXP - EPS - 2, EPS + EXP, EPS, EXP * EPS - 3, EPS - Fraction(7, 10)]


def test_common_roots_are_found_once() -> None:
    found = arrange([(EXP - 2) * (EPS - 1), (EXP - 2) * (EXP - 3), (EXP - 2) ** 3], Interval.POSITIVE)
    assert len(found.roots) == 3
    # log 2, 1, log 3
    assert [found.vanishes(f, r) for f in range(3) for r in range(3)] == [
        True, True, False, True, False, True, True, False, False
    ]  # fmt: skip
    assert found.gap(0) == (None, found.roots[0])
    assert found.gap(3) == (found.roots[2], None)


def test_a_point_is_its_own_sample() -> None:
    found = arrange([EPS - 1, EXP - 2], Interval.closed(1, 1))
    assert (found.samples, found.roots) == ((1,), ())


def test_ends_are_not_inside() -> None:
    found = arrange([EPS - 1, EPS - 2, EXP - 4], Interval.closed(1, 2))
    assert len(found.roots) == 1
    assert all(1 < sample < 2 for sample in found.samples)


def test_nothing_has_one_gap() -> None:
    found = arrange([], Interval.open(1, 2))
    assert (found.roots, found.samples) == ((), (Fraction(3, 2),))
    assert arrange([EXP, 3 * EXP, EPS], Interval.POSITIVE).roots == ()


def test_too_many_different_exponents_are_refused() -> None:
    fine = ExpPoly.term(1, 0, Fraction(1, 10**20))
    with pytest.raises(LimitReached, match="too many different exponents"):
        arrange([fine * EPS - 1, EXP - fine], Interval.POSITIVE)


@given(st.lists(st.lists(st.sampled_from(FACTORS), min_size=1, max_size=3), min_size=1, max_size=4))
def test_arrangements_against_single_functions(products: list[list[ExpPoly]]) -> None:
    functions = []
    for factors in products:
        value = ExpPoly.ONE
        for factor in factors:
            value = value * factor
        functions.append(value)
    interval = Interval.POSITIVE
    found = arrange(functions, interval)
    assert len(found.samples) == len(found.roots) + 1
    for left, right in pairwise(found.roots):
        assert left.upper <= right.lower
    for (low, high), root in zip(pairwise(found.samples), found.roots, strict=True):
        assert low < high
        assert low <= root.lower
        assert root.upper <= high
    for at, function in enumerate(functions):
        assert sum(found.vanishes(at, root) for root in range(len(found.roots))) == len(
            isolate_roots(function, interval)
        )
        assert all(sign_at(function, sample) for sample in found.samples)


@given(st.lists(st.lists(st.sampled_from(FACTORS), min_size=1, max_size=4), min_size=1, max_size=4))
def test_bases_are_coprime(products: list[list[ExpPoly]]) -> None:
    functions = []
    for factors in products:
        value = ExpPoly.ONE
        for factor in factors:
            value = value * factor
        functions.append(value)
    base, divisors = coprime_base(functions)
    for at, first in enumerate(base):
        assert all(first.common_divisor(second).is_unit() for second in base[:at])
    for function, own in zip(functions, divisors, strict=True):
        rest = function
        for at in own:
            shared = rest.common_divisor(base[at])
            while not shared.is_unit():
                rest = rest.exact_quotient(shared)
                shared = rest.common_divisor(base[at])
        assert rest.is_unit()
        assert all(function.common_divisor(base[at]).is_unit() for at in range(len(base)) if at not in own)
