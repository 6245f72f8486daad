"""Sums of independent integers, against the weight of every sum."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import pytest

from dipc.algebra.absorption import Factor, SumOfIncrements
from dipc.algebra.exppoly import Closed, ExpPoly, Quotient, total
from dipc.algebra.limits import LimitReached, Limits

R = ExpPoly.term(1, 0, Fraction(-1))
HALF = ExpPoly.constant(Fraction(1, 2))
FACTORS: list[Factor] = [
    ((0, HALF), (1, HALF)),
    ((0, Quotient(R, 1 + R)), (1, Quotient(ExpPoly.ONE, 1 + R))),
    ((0, Quotient(ExpPoly.ONE, 1 + R)), (2, Quotient(R, 1 + R))),
    ((1, Quotient(R, 1 + R + R * R)), (2, Quotient(R * R, 1 + R + R * R)), (4, Quotient(ExpPoly.ONE, 1 + R + R * R))),
    ((0, 1 - R), (3, R)),
    ((0, R),),
    ((2, ExpPoly.ONE),),
]


@pytest.mark.parametrize("seed", range(20))
def test_against_all_sums(seed: int) -> None:
    chance = random.Random(seed)
    factors = {factor: chance.randint(1, 3) for factor in chance.sample(FACTORS, chance.randint(1, 3))}
    each: dict[int, Closed] = {}
    for choice in product(*[factor for factor, count in factors.items() for _ in range(count)]):
        weight: Closed = ExpPoly.ONE
        for _, share in choice:
            weight = weight * share
        number = sum(value for value, _ in choice)
        each[number] = each.get(number, ExpPoly.ZERO) + weight
    found = SumOfIncrements(factors, Limits())
    for _ in range(4):
        wanted = [number for number in range(14) if chance.random() < chance.choice((0.2, 0.8))]
        assert found.weight(wanted) == total(each[number] for number in wanted if number in each)
    assert found.weight(range(100)) == total(each.values())


def test_of_nothing() -> None:
    assert SumOfIncrements({}, Limits()).weight([0]) == 1
    assert SumOfIncrements({}, Limits()).weight([1]) == 0


def test_past_a_limit() -> None:
    with pytest.raises(LimitReached):
        SumOfIncrements({FACTORS[1]: 300, FACTORS[2]: 300}, Limits(steps=10**5)).weight(range(300, 900))
