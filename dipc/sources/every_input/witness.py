"""Inputs that refute a claim: proposed by corners and linear programs, decided as rows of a table are."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import islice

from dipc.algebra.limits import Undecided
from dipc.chain.affine import Affine
from dipc.claim.claim import resolve_claim
from dipc.claim.options import ClaimOptions
from dipc.ideal.distance import Distances
from dipc.ideal.ideal import Ideal, Region
from dipc.ideal.nearest import inner_point
from dipc.lang.core import Value
from dipc.measure.bound import Bound
from dipc.obligations.decision import Decision
from dipc.obligations.obligation import Obligation
from dipc.obligations.verdict import Verdict
from dipc.sources.every_input.corner import Corner, least
from dipc.sources.every_input.describe import input_texts
from dipc.sources.every_input.evidence import Refuted
from dipc.sources.every_input.halfspaces import Moving
from dipc.sources.every_input.integers import least_near, near_integers
from dipc.sources.outcome import RowResult
from dipc.sources.rows import TableRows
from dipc.sources.source import Posed
from dipc.tables.cells import show_value
from dipc.tables.table import read_table

_ZERO = Fraction(0)

#: Inputs that are tried for one class, and steps towards an edge that the class does not contain.
MOST_TRIED = 13
_HALVINGS = 8


class Witnesses:
    """Tries inputs of one program under one claim."""

    def __init__(self, ideal: Ideal, distances: Distances, options: ClaimOptions) -> None:
        self._ideal = ideal
        self._distances = distances
        self._options = options

    def first_refuting(
        self, proposed: Iterator[Mapping[int, Value]], gamma: Fraction | None = None, *, finite: bool = False
    ) -> Generator[Obligation | Bound, Decision, Refuted | None]:
        """The first of the inputs at which the claim is refuted; None if there is none among the first few.

        `gamma` takes the place of the claim's where that is left open. With `finite` inputs whose dd is infinite are
        passed over: a gamma that grows with it is no number there.
        """
        for inputs in islice(proposed, MOST_TRIED):
            if not finite or self.distance(inputs) is not None:
                row, obligation = yield from self.settle(inputs, gamma)
                if row.verdict is Verdict.INACCURATE:
                    assert obligation is not None
                    return Refuted(row, self._distance_text(inputs), gamma, obligation)
        return None

    def settle(
        self, inputs: Mapping[int, Value], gamma: Fraction | None = None
    ) -> Generator[Obligation | Bound, Decision, tuple[RowResult, Obligation | None]]:
        """The claim at one input, with its det and dd: the row of a table, and what it comes to."""
        program, options = self._ideal.program, self._options
        table = read_table([self._row(inputs)], program.core)
        chosen = options.gamma if gamma is None else gamma
        claim = resolve_claim(
            program.core, table, beta=options.beta, alpha=options.alpha, gamma=chosen, eps=options.eps
        )
        (case,) = TableRows(program, table, claim).cases()
        posed: Sequence[Posed] = ()
        with suppress(Undecided):
            posed = case.posed()
        row = yield from case.settle()
        return row, posed[0].obligation if posed else None

    def distance(self, inputs: Mapping[int, Value]) -> Fraction | None:
        """dd at an input; None is infinity."""
        return self._distances.at([inputs[slot] for slot in self._ideal.program.core.inputs])

    def _row(self, inputs: Mapping[int, Value]) -> dict[str, str]:
        core = self._ideal.program.core
        values = [inputs[slot] for slot in core.inputs]
        row: dict[str, str] = dict(input_texts(core, inputs))
        for slot, value in zip(core.outputs, self._ideal.values(values), strict=True):
            row[core.slots[slot].name] = show_value(value)
        return row | {"dd": self._distance_text(inputs)}

    def _distance_text(self, inputs: Mapping[int, Value]) -> str:
        distance = self.distance(inputs)
        return "inf" if distance is None else str(distance)


def candidates(
    region: Region,
    facets: Sequence[Moving],
    slacks: Sequence[Affine],
    slots: Sequence[int],
    finite: Mapping[int, Value],
    corner: Corner | None,
    alphas: Sequence[Fraction],
    whole: frozenset[int],
) -> Iterator[Mapping[int, Value]]:
    """Inputs near which the probability may be least: the corner, and where single slacks are least; then points on
    the way from an inner point of the region to them, because the edge itself may belong to another region. The inputs
    `whole` are integers."""
    within = [guard.guard for guard in region.guards]
    for point in near_integers(_candidates(region, facets, slacks, slots, corner, alphas, whole), whole, within):
        yield {**finite, **point}


def _candidates(
    region: Region,
    facets: Sequence[Moving],
    slacks: Sequence[Affine],
    slots: Sequence[int],
    corner: Corner | None,
    alphas: Sequence[Fraction],
    whole: frozenset[int],
) -> Iterator[Mapping[int, Fraction]]:
    ends: list[dict[int, Fraction]] = []
    for alpha in alphas:
        proposed = [corner.at(alpha)] if corner is not None else []
        if corner is None:
            for slack in slacks:
                at = least(facets, Moving(slack, _ZERO), slots, alpha)
                if at is not None and any(at[slot].denominator != 1 for slot in whole):
                    # Its neighbours are tried as well.
                    within = [*(guard.guard for guard in region.guards), *(facet.at(alpha) for facet in facets)]
                    integers = least_near(slack, at, whole, within)
                    proposed += [] if integers is None else [integers]
                proposed += [] if at is None else [at]
            middle = _middle(proposed)
            proposed = [middle, *proposed] if middle is not None else proposed
        for point in proposed:
            if point not in ends:
                ends.append(point)
                yield point
    inner = inner_point(region.guards) or {}
    for end in ends[:4]:
        for halving in range(_HALVINGS):
            share = Fraction(1, 2**halving)
            yield {slot: value + share * (inner.get(slot, value) - value) for slot, value in end.items()}


def _middle(points: Sequence[Mapping[int, Fraction]]) -> dict[int, Fraction] | None:
    """The mean of the points: in a convex set with them."""
    if not points:
        return None
    share = Fraction(1, len(points))
    return {slot: share * sum((point[slot] for point in points), _ZERO) for slot in points[0]}
