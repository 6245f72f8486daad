"""Functions of eps and of an integer that are proved to be nowhere negative: never one that is negative somewhere."""

from __future__ import annotations

import random
from fractions import Fraction
from math import exp

import pytest

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits
from dipc.algebra.parametric import Parametric
from dipc.sign.interval import Interval
from dipc.sign.partial_sums import has_nonnegative_partial_sums
from dipc.sign.polynomial import NUMBER, never_negative, nowhere_negative, power_and_rate

F = Fraction
ALL = (Interval.POSITIVE,)


def trend(*terms: tuple[F | int, int, int, F | int, F | int]) -> Parametric:
    """The function with the terms (c, e, p, a, b) for c·eps^e·k^p·exp(-(a + b·k)·eps)."""
    total = Parametric.number(0)
    for c, e, p, a, b in terms:
        factors = ((NUMBER, p, -F(b)),) if p or b else ()
        if c:
            total = total + Parametric({factors: ExpPoly.term(c, e, -a)}, ExpPoly.ONE)
    return total


def evaluate(found: Parametric, k: int, eps: float) -> float:
    value = 0.0
    for e, q, factors, c in found.terms():
        power, slope = power_and_rate(factors)
        value += float(c) * eps**e * k**power * exp(float(q - slope * k) * eps)
    return value


@pytest.mark.parametrize(
    ("holds", "start", "terms"),
    [
        (True, 1, [(1, 0, 0, 0, 0), (-1, 0, 0, 0, 1)]),  # 1 - y
        (True, 1, [(1, 0, 0, 1, 0), (-1, 0, 0, 0, 1)]),  # x - y, equal at k = 1
        (True, 2, [(1, 0, 0, 2, 0), (-1, 0, 0, 0, 1)]),
        (False, 1, [(1, 0, 0, 2, 0), (-1, 0, 0, 0, 1)]),
        (True, 0, [(1, 0, 0, 0, 0), (-2, 0, 0, 0, 1), (1, 0, 0, 0, 2)]),  # (1 - y)²
        (True, 1, [(2, 0, 0, 0, F(1, 2)), (-1, 0, 0, 0, 1), (-1, 1, 1, 0, 1)]),  # 2·√y - (1 + k·eps)·y
        (False, 1, [(1, 0, 0, 0, 0), (-1, 1, 0, 0, 0)]),  # 1 - eps
        (True, 1, [(1, 0, 1, 0, 1), (-1, 0, 1, 1, 1)]),  # k·y·(1 - x)
    ],
)
def test_what_is_proved(*, holds: bool, start: int, terms: list[tuple[F | int, int, int, F | int, F | int]]) -> None:
    assert never_negative(trend(*terms), start, ALL) is holds


def test_only_on_an_interval() -> None:
    assert never_negative(trend((1, 0, 0, 0, 0), (-2, 0, 0, 1, 0)), 1, [Interval.closed(1, None)])
    assert not never_negative(trend((1, 0, 0, 0, 0), (-2, 0, 0, 1, 0)), 1, ALL)


def term(chance: random.Random) -> tuple[int, int, int, F, F]:
    rate, slope = chance.choice((0, F(1, 2), 1, 2)), chance.choice((0, F(1, 2), 1, 2))
    return chance.randint(-3, 4), chance.choice((0, 0, 1)), chance.choice((0, 0, 1, 2)), F(rate), F(slope)


def test_nothing_that_is_negative_somewhere_is_proved() -> None:
    chance = random.Random(5)
    proved = 0
    for _ in range(150):
        found = trend(*(term(chance) for _ in range(4)))
        start = chance.randint(0, 3)
        if never_negative(found, start, ALL):
            proved += 1
            for k in (start, start + 1, start + 2, start + 5, start + 40):
                assert min(evaluate(found, k, eps) for eps in (0.001, 0.05, 0.3, 1, 2, 6)) >= -1e-9
    assert proved > 20


@pytest.mark.parametrize(
    ("holds", "start", "terms"),
    [
        (True, 1, [(1, 1, 1, 0, 2), (-1, 0, 1, 0, 2), (1, 0, 1, 1, 2)]),  # k·y²·(eps - 1 + x)
        (False, 1, [(-1, 1, 1, 0, 2), (1, 0, 1, 0, 2), (-1, 0, 1, 1, 2)]),
        (True, 0, [(1, 0, 0, 0, 0), (-2, 0, 0, 0, 1), (1, 0, 0, 0, 2)][:1]),
        (True, 1, [(3, 0, 0, 0, 1), (-2, 0, 0, 0, 2), (-1, 0, 0, 1, 3)]),  # 3·y - 2·y² - x·y³
        (False, 1, [(-2, 0, 0, 0, 1), (3, 0, 0, 0, 2)]),
        (False, 0, [(1, 0, 1, 0, 1), (-1, 0, 0, 0, 1)]),  # (k - 1)·y
        (True, 1, [(1, 0, 1, 0, 1), (-1, 0, 0, 0, 1)]),
    ],
)
def test_partial_sums(*, holds: bool, start: int, terms: list[tuple[F | int, int, int, F | int, F | int]]) -> None:
    assert has_nonnegative_partial_sums(trend(*terms), start, ALL, Limits()) is holds


def test_no_partial_sums_prove_what_is_negative_somewhere() -> None:
    chance = random.Random(6)
    proved = 0
    for _ in range(300):
        found = trend(*(term(chance) for _ in range(3)))
        start = chance.randint(0, 3)
        if has_nonnegative_partial_sums(found, start, ALL, Limits()):
            proved += 1
            for k in (start, start + 1, start + 2, start + 5, start + 40):
                assert min(evaluate(found, k, eps) for eps in (0.001, 0.05, 0.3, 1, 2, 6)) >= -1e-9
    assert proved > 30


def test_polynomials_on_a_box() -> None:
    assert nowhere_negative({(0, 0): F(1), (1, 1): F(-1)}, F(0), F(1))
    assert nowhere_negative({(2, 0): F(1), (1, 1): F(-2), (0, 2): F(2), (0, 0): F(1, 100)}, F(0), F(1))
    assert not nowhere_negative({(2, 0): F(1), (1, 1): F(-2), (0, 2): F(1), (0, 0): F(-1, 100)}, F(0), F(1))
    assert nowhere_negative({(1, 0): F(1), (0, 0): F(-1, 3)}, F(1, 3), F(1))
    assert not nowhere_negative({(1, 0): F(1), (0, 0): F(-1, 3)}, F(1, 4), F(1))
