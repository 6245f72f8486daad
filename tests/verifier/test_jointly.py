"""Bounds of slacks that cannot all be worst at once, against the probabilities at points of a box."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction

import pytest

from dipc.certificate.answers import _Merges
from dipc.verifier.bounds import Comparison, Law, Part, Way, at_bounds, merged, vertex_values
from dipc.verifier.classes import ClassFacts, DistanceLine, Kind, Required, slack_key
from dipc.verifier.functions import ONE, Closed
from dipc.verifier.noise import Family
from dipc.verifier.normal import Enclosed
from dipc.verifier.probability import Probabilities
from dipc.verifier.program import Machine
from dipc.verifier.reading import Budget, NotDerived
from dipc.verifier.syntax import read_program

FIXED = Required(DistanceLine(Fraction(0)), DistanceLine(Fraction(0)), None)
PROBABILITIES = Probabilities(
    Machine.compile(read_program("program p; output o : bool = true;", Budget()), {}, Budget()), Budget()
)
LAWS: list[Law] = [
    (Family.LAPLACE, Fraction(1)),
    (Family.LAPLACE, Fraction(1, 2)),
    (Family.DISCRETE_LAPLACE, Fraction(1)),
]
EPS = 0.7


def tails(ways: list[Way], known: ClassFacts) -> Closed:
    bound = at_bounds(ways, replace(known, kind=Kind.TAILS), FIXED, PROBABILITIES, Budget())
    assert not isinstance(bound, Enclosed)
    return bound


def value(function: Closed) -> float:
    above, below = (
        sum(float(c) * EPS**k * math.exp(float(q) * EPS) for (k, q), c in part.items()) for part in function
    )
    return above / below


def weight(number: Fraction) -> Closed:
    return {(0, Fraction(0)): number}, ONE


def comparison(law: Law, slot: int, constant: int) -> Comparison:
    """The comparison N + u[slot] + constant >= 0."""
    whole = law[0] is Family.DISCRETE_LAPLACE
    return Comparison.from_coefficients({0: Fraction(1)}, {slot: Fraction(1)}, Fraction(constant), 0, whole)


def probability(part: Part, point: list[int]) -> float:
    (found,), ((family, rate),) = part.comparisons, part.laws
    slack = found.constant + sum((c * point[slot] for slot, c in found.inputs), Fraction(0))
    # Symmetric noise: N and -N have one law.
    z = math.exp(-float(rate) * EPS)
    if family is Family.LAPLACE:
        tail = z ** abs(float(slack)) / 2
        return 1 - tail if slack >= 0 else tail
    return 1 - z ** float(slack + 1) / (1 + z) if slack >= 0 else z ** float(-slack) / (1 + z)


def sum_at(ways: list[Way], point: list[int]) -> float:
    return sum(value(way.weight) * math.prod(probability(part, point) for part in way.parts) for way in ways)


def random_ways(chance: random.Random, number: int) -> list[Way]:
    """Ways by comparisons of inputs, each with noise of its own or with its opposite."""
    known = [
        Part((law,), (comparison(law, slot, chance.randint(-1, 1)),)) for slot, law in enumerate(chance.sample(LAWS, 3))
    ]
    found = []
    for _ in range(number):
        parts = []
        for part in chance.sample(known, chance.randint(1, 3)):
            opposite = part.comparisons[0].opposite()
            assert opposite is not None
            parts.append(part if chance.random() < 0.5 else Part(part.laws, (opposite,)))
        found.append(Way(weight(chance.choice([Fraction(1), Fraction(1, 2), Fraction(1, 3)])), (), tuple(parts)))
    return found


def shown(ways: list[Way], low: list[int], high: list[int], chance: random.Random, kind: Kind) -> ClassFacts:
    """Bounds of the slacks in the box, some from one side only, and of sums of two or three slacks."""
    slacks: dict[object, DistanceLine] = {}

    def add(inputs: dict[int, Fraction], constant: Fraction) -> None:
        least = constant + sum((c * (low[slot] if c > 0 else high[slot]) for slot, c in inputs.items()), Fraction(0))
        keyed = slack_key(inputs, constant, 0)
        if keyed is not None:
            slacks[keyed[0]] = DistanceLine(least / keyed[1])

    for way in ways:
        for part in way.parts:
            (found,) = part.comparisons
            for side in (1, -1):
                if chance.random() < 0.9:
                    add({slot: side * c for slot, c in found.inputs}, side * found.constant)
        rates = [(part.laws[0][1], part.comparisons[0]) for part in way.parts]
        for first in range(len(rates)):
            for among in (rates, rates[:first] + rates[first + 1 :]):
                total: dict[int, Fraction] = {}
                for rate, found in among:
                    for slot, c in found.inputs:
                        total[slot] = total.get(slot, Fraction(0)) - rate * c
                add(total, -sum((rate * found.constant for rate, found in among), Fraction(0)))
    return ClassFacts(1, {}, (), (), kind, FIXED, None, None, slacks)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(40))
def test_no_point_of_a_box_is_below(seed: int) -> None:
    chance = random.Random(seed)
    ways = random_ways(chance, chance.randint(1, 4))
    low = [chance.randint(-3, 2) for _ in range(3)]
    high = [least + chance.randint(0, 3) for least in low]
    points = [[chance.randint(a, b) for a, b in zip(low, high, strict=True)] for _ in range(20)]
    united = merged(ways, _Merges(60)(ways), Budget())
    for point in points:
        assert sum_at(united, point) == pytest.approx(sum_at(ways, point), abs=1e-12)
    for several in (ways, united):
        known = shown(several, low, high, chance, Kind.VERTICES)
        vertices = [value(each) for each in vertex_values(several, known, FIXED, PROBABILITIES, Budget())]
        others = value(tails(several, known))
        for point in points:
            assert sum_at(several, point) >= min(vertices) - 1e-12
            assert 1 - sum_at(several, point) >= others - 1e-12


def test_tails_together_are_better_than_one_by_one() -> None:
    """Each of the two is 0 somewhere, but never both at once."""
    law = LAWS[0]
    parts = tuple(
        Part(
            (law,), (Comparison.from_coefficients({0: Fraction(1)}, {slot: Fraction(-1)}, Fraction(0), 0, whole=False),)
        )
        for slot in (0, 1)
    )
    way = Way(weight(Fraction(1)), (), parts)
    slacks = {}
    for inputs, least in (
        ({0: Fraction(1)}, Fraction(0)),
        ({1: Fraction(1)}, Fraction(0)),
        ({0: Fraction(1), 1: Fraction(1)}, Fraction(2)),
    ):
        keyed = slack_key(inputs, Fraction(0), 0)
        assert keyed is not None
        slacks[keyed[0]] = DistanceLine(least / keyed[1])
    known = ClassFacts(1, {}, (), (), Kind.TAILS, FIXED, None, None, slacks)
    assert value(tails([way], known)) == pytest.approx(1 - math.exp(-2 * EPS) / 4)


def test_what_is_not_independent_or_twice_is_refused() -> None:
    law = LAWS[0]
    one = Part((law,), (comparison(law, 0, 0),))
    twice = Way(weight(Fraction(1)), (), (one, one))
    pair = Way(weight(Fraction(1)), (), (Part((law,), (comparison(law, 0, 0), comparison(law, 1, 0))),))
    known = ClassFacts(1, {}, (), (), Kind.VERTICES, FIXED)
    for way in (twice, pair):
        with pytest.raises(NotDerived):
            list(vertex_values([way], known, FIXED, PROBABILITIES, Budget()))


def test_ways_with_other_weights_are_merged_with_what_is_more() -> None:
    law = LAWS[0]
    one, other = Part((law,), (comparison(law, 0, 0),)), Part((LAWS[1],), (comparison(LAWS[1], 1, 0),))
    opposite = one.comparisons[0].opposite()
    assert opposite is not None
    ways = [
        Way(weight(Fraction(2, 3)), (), (one, other)),
        Way(weight(Fraction(1, 3)), (), (Part((law,), (opposite,)), other)),
    ]
    found = merged(ways, [(1, 0)], Budget())
    assert [value(way.weight) for way in found] == pytest.approx([1 / 3, 1 / 3])
    assert sorted(len(way.parts) for way in found) == [1, 2]
    for point in ([0, 0], [2, -1], [-1, 3]):
        assert sum_at(found, point) == pytest.approx(sum_at(ways, point))
