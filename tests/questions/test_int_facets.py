"""Facets of regions of int inputs, against the nearest inputs of a grid."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import pytest

from dipc.chain.state import Affine, Constraint, constraint
from dipc.program.ideal import Region
from dipc.program.metric import Norm
from dipc.rules.facets import FacetMetric, _is_unimodular, choices
from dipc.rules.halfspaces import at_alpha
from dipc.text.ast import CompareOp

_OPS = (CompareOp.GE, CompareOp.GE, CompareOp.LE, CompareOp.GT)


def guard(chance: random.Random, places: int, negated: set[int], *, unit: bool) -> Constraint:
    """A random bound of int inputs; if `unit`, of one input or of a difference, where some inputs are `negated`."""
    slots = sorted(chance.sample(range(places), chance.choice([1, 2, 2])))
    sign = chance.choice([1, -1])
    form = Affine.input(slots[0]).scaled(Fraction(0))
    for position, slot in enumerate(slots):
        c = sign * (-1) ** (position + (slot in negated)) if unit else chance.choice([1, -1, 2, -2, 3])
        form += Affine.input(slot).scaled(Fraction(c))
    return constraint(form.shifted(Fraction(chance.randint(-4, 4))), chance.choice(_OPS), whole=True)


def compared(seed: int) -> bool:
    """Compare one random rival with a grid; return whether it has facets by unimodular bounds."""
    chance = random.Random(f"facets of ints {seed}")
    places, unit = chance.choice([2, 3, 3]), chance.random() < 0.7
    negated = {place for place in range(places) if chance.random() < 0.4}
    guards = tuple([guard(chance, places, negated, unit=unit) for _ in range(chance.randint(2, 4))])
    norm = chance.choice([Norm.LINF, Norm.LINF, Norm.LINF, Norm.L1])

    def has(point: tuple[int, ...]) -> bool:
        values = {slot: Fraction(value) for slot, value in enumerate(point)}
        return all(each.form.evaluate(values) >= 0 for each in guards)

    rivals = [point for point in product(range(-7, 8), repeat=places) if has(point)]
    sets = choices(Region((), ()), [Region(guards, ())], FacetMetric(norm), slanted=True)
    if not rivals or sets == ((),):
        return False
    for _ in range(15):
        point = tuple(chance.randint(-3, 3) for _ in range(places))
        moves = ([Fraction(abs(a - b)) for a, b in zip(point, rival, strict=True)] for rival in rivals)
        distance = min(map(norm.combined, moves))
        # Inputs beyond the grid may be nearer than a greater distance.
        if 0 < distance <= 4:
            values = {slot: Fraction(value) for slot, value in enumerate(point)}
            behind = [all(at_alpha(f, distance).closure().contains(values) for f in facets) for facets in sets]
            assert any(behind), (seed, guards, norm, point, distance)
    return norm is Norm.LINF and _is_unimodular(guards)


@pytest.mark.parametrize("seeds", [range(10), pytest.param(range(10, 300), marks=pytest.mark.slow)])
def test_far_inputs_are_behind_the_facets_of_one_set(seeds: range) -> None:
    assert sum(map(compared, seeds)) >= len(seeds) // 5
