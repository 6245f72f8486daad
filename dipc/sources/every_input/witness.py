"""Inputs that refute a claim: proposed by corners and linear programs, decided by the ordinary engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice

from dipc.chain.affine import Affine
from dipc.claim.claim import Given
from dipc.ideal.distance import Distances
from dipc.ideal.ideal import Ideal, Region
from dipc.ideal.linear import Arithmetic
from dipc.lang.core import Value
from dipc.obligations.verdict import Verdict
from dipc.sources.check import check
from dipc.sources.every_input.corner import Corner, least
from dipc.sources.every_input.describe import input_texts
from dipc.sources.every_input.halfspaces import Moving
from dipc.sources.outcome import RowResult
from dipc.tables.cells import value_text

_ZERO = Fraction(0)

#: Inputs that are tried for one class, and steps towards an edge that the class does not contain.
MOST_TRIED = 12
_HALVINGS = 8


class Witnesses:
    """Tries inputs of one program under one claim."""

    def __init__(self, ideal: Ideal, distances: Distances, beta: Given, alpha: Given, gamma: Given, eps: Given) -> None:
        self._ideal = ideal
        self._distances = distances
        self._beta, self._alpha, self._gamma, self._eps = beta, alpha, gamma, eps

    def decided(self, inputs: Sequence[Mapping[int, Value]], gamma: Fraction | None = None) -> Sequence[RowResult]:
        """The claim at these inputs, with their det and dd: what `check` says of the table with these rows.

        `gamma` takes the place of the claim's where that is left open.
        """
        rows = [self._row(found) for found in inputs]
        chosen = self._gamma if gamma is None else gamma
        given = self._ideal.program
        return check(given, rows, beta=self._beta, alpha=self._alpha, gamma=chosen, eps=self._eps).rows

    def first_refuting(
        self, proposed: Iterator[Mapping[int, Value]], gamma: Fraction | None = None, *, finite: bool = False
    ) -> RowResult | None:
        """The first of the inputs at which the claim is refuted; None if there is none among the first few.

        With `finite` inputs whose dd is infinite are passed over: a gamma that grows with it is no number there.
        """
        for count in (1, MOST_TRIED):
            batch = [inputs for inputs in islice(proposed, count) if not finite or self.distance(inputs) is not None]
            for row in self.decided(batch, gamma) if batch else ():
                if row.verdict is Verdict.INACCURATE:
                    return row
        return None

    def distance(self, inputs: Mapping[int, Value]) -> Fraction | None:
        """dd at an input; None is infinity."""
        return self._distances.at([inputs[slot] for slot in self._ideal.program.core.inputs])

    def _row(self, inputs: Mapping[int, Value]) -> dict[str, str]:
        core = self._ideal.program.core
        values = [inputs[slot] for slot in core.inputs]
        row: dict[str, str] = dict(input_texts(core, inputs))
        for slot, value in zip(core.outputs, self._ideal.values(values), strict=True):
            row[core.slots[slot].name] = value_text(value)
        distance = self.distance(inputs)
        row["dd"] = "inf" if distance is None else str(distance)
        return row


def candidates(
    region: Region,
    walls: Sequence[Moving],
    slacks: Sequence[Affine],
    slots: Sequence[int],
    finite: Mapping[int, Value],
    corner: Corner | None,
    alphas: Sequence[Fraction],
) -> Iterator[Mapping[int, Value]]:
    """Inputs near which the probability may be least: the corner, and where single slacks are least; then points on
    the way from an inner point of the region to them, because the edge itself may belong to another region."""
    ends: list[dict[int, Fraction]] = []
    for alpha in alphas:
        proposed = [corner.at(alpha)] if corner is not None else []
        if corner is None:
            proposed += [u for slack in slacks if (u := least(walls, Moving(slack, _ZERO), slots, alpha)) is not None]
            middle = _middle(proposed)
            proposed = [middle, *proposed] if middle is not None else proposed
        for point in proposed:
            if point not in ends:
                ends.append(point)
                yield {**finite, **point}
    inner = Arithmetic(frozenset()).point(region.guards) or {}
    for end in ends[:4]:
        for halving in range(_HALVINGS):
            share = Fraction(1, 2**halving)
            near = {slot: value + share * (inner.get(slot, value) - value) for slot, value in end.items()}
            yield {**finite, **near}


def _middle(points: Sequence[Mapping[int, Fraction]]) -> dict[int, Fraction] | None:
    """The mean of the points: in a convex set with them."""
    if not points:
        return None
    share = Fraction(1, len(points))
    return {slot: share * sum((point[slot] for point in points), _ZERO) for slot in points[0]}
