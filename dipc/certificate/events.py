"""The data of probabilities over normal and integer noise: sums over events, and their numbers.

The checker reads this data (`dipc/verifier/normal.py`), and does not write any.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dipc.verifier.normal import Enclosed, Hub, star_order
from dipc.verifier.reals import UNIT, Number
from dipc.verifier.summed import Summed
from dipc.verifier.trees import Center, Form, Spread, Tree


def enclosed_data(value: Enclosed) -> list[Any]:
    """Return the JSON data of `value`, the sum of weight·Π Pr[star]. A star is an event over connected noises."""
    return [
        [[[k, str(q), str(c)] for (k, q), c in sorted(above.items())], [star_data(star) for star in stars]]
        for stars, (above, _) in sorted(value.terms.items(), key=lambda term: [star_order(star) for star in term[0]])
    ]


def star_data(star: Hub) -> dict[str, Any]:
    """Return `star`, an event over connected noises, as JSON data."""
    return tree_data(star) if isinstance(star, Tree) else summed_data(star)


def tree_data(event: Tree) -> dict[str, Any]:
    """Return `event`, which compares noises along a tree, as JSON data."""
    data = {"root": _center_data(event.root), "fixed": event.fixed}
    return data if event.square == UNIT else {**data, "square": number_data(event.square)}


def _center_data(center: Center) -> list[Any]:
    def spread(of: Spread) -> list[str]:
        return ["laplace" if of.laplace else "normal", str(of.size)]

    def forms(of: Sequence[Form]) -> list[list[str]]:
        return [list(map(str, form)) for form in of]

    leaves = [[count, spread(leaf.spread), forms(leaf.lower), forms(leaf.upper)] for leaf, count in center.leaves]
    return [str(center.slope), spread(center.spread), forms(center.own), leaves, list(map(_center_data, center.below))]


def summed_data(event: Summed) -> dict[str, Any]:
    """Return `event`, about sums of integer noises along a tree, as JSON data."""
    return {"values": _branch_data(event)}


def _branch_data(branch: Summed) -> list[Any]:
    noises = []
    for mass, c in branch.noises:
        kind = "discrete-laplace" if mass.laplace else "discrete-normal"
        square = [] if mass.square == UNIT else [number_data(mass.square)]
        noises.append([str(c), kind, str(mass.size), mass.fixed, *square])
    return [
        noises,
        [list(map(str, limit)) for limit in branch.limits],
        [[n, _branch_data(b)] for b, n in branch.branches],
    ]


def number_data(number: Number) -> list[Any]:
    """Return the JSON data of the real number `number`: a rational factor, and powers of values of functions."""
    return [str(number.factor), [[p.function, number_data(p.argument), str(p.exponent)] for p in number.powers]]
