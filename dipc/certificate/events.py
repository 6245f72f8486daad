"""Probabilities over normal and integer noise as a certificate has them: sums over events, and their numbers.

The checker reads them (`dipc/verifier/normal.py`), and writes none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dipc.verifier.kinked import Kinked, Line, Spread
from dipc.verifier.normal import Enclosed, Hub, star_order
from dipc.verifier.reals import UNIT, Number
from dipc.verifier.summed import Branch, Summed
from dipc.verifier.trees import Center, Form, Tree


def enclosed_data(value: Enclosed) -> list[Any]:
    """Σ weight·Π Pr[star], summand by summand in the order of its stars."""
    return [
        [[[k, str(q), str(c)] for (k, q), c in sorted(above.items())], [star_data(star) for star in stars]]
        for stars, (above, _) in sorted(value.terms.items(), key=lambda term: [star_order(star) for star in term[0]])
    ]


def star_data(star: Hub) -> dict[str, Any]:
    """An event over noises that hang together."""
    match star:
        case Kinked():
            return kinked_data(star)
        case Tree():
            return tree_data(star)
        case Summed():
            return summed_data(star)
    leaves = [[count, str(leaf.variance), [[str(a), str(d)] for a, d in leaf.lines]] for leaf, count in star.leaves]
    data = {"center": str(star.variance), "leaves": leaves, "fixed": star.fixed}
    return data if star.square == UNIT else {**data, "square": number_data(star.square)}


def kinked_data(event: Kinked) -> dict[str, Any]:
    """A star with kinks."""

    def spread(of: Spread) -> list[str]:
        return ["laplace" if of.laplace else "normal", str(of.size)]

    def lines(of: Sequence[Line]) -> list[list[str]]:
        return [[str(a), str(d)] for a, d in of]

    leaves = [[count, spread(leaf.spread), lines(leaf.lower), lines(leaf.upper)] for leaf, count in event.leaves]
    return {"center": spread(event.center), "own": lines(event.own), "leaves": leaves, "fixed": event.fixed}


def tree_data(event: Tree) -> dict[str, Any]:
    """A tree of centers."""
    data = {"root": _center_data(event.root), "fixed": event.fixed}
    return data if event.square == UNIT else {**data, "square": number_data(event.square)}


def _center_data(center: Center) -> list[Any]:
    def forms(of: Sequence[Form]) -> list[list[str]]:
        return [list(map(str, form)) for form in of]

    leaves = [[count, str(leaf.variance), forms(leaf.lower), forms(leaf.upper)] for leaf, count in center.leaves]
    return [str(center.slope), str(center.variance), forms(center.own), leaves, list(map(_center_data, center.below))]


def summed_data(event: Summed) -> dict[str, Any]:
    """A tree of sums over integers."""
    return {"values": _branch_data(event.root)}


def _branch_data(branch: Branch) -> list[Any]:
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
    """A rational times powers."""
    return [str(number.factor), [[p.function, number_data(p.argument), str(p.exponent)] for p in number.powers]]
