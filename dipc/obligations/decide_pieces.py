"""Pr >= 1 - beta for a beta in cells: one sign decision for each cell, and exact failure sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import LimitReached, Limits
from dipc.algebra.quotient import Closed, fraction_of
from dipc.sign import (
    Arrangement,
    Decision,
    Fails,
    FailureRegion,
    Holds,
    Interval,
    RegionEnd,
    Root,
    arrange,
    decide_nonnegative,
    refine,
    sign_at,
    simplest_between,
)
from dipc.sign.piecewise import FormCell, PiecewiseForm

#: How often the ends of a failing gap are refined in search of a simpler counterexample.
_ROUNDS = 6


@dataclass(frozen=True, slots=True)
class CellDecision:
    """On `cell`, Pr >= 1 - beta holds exactly where `obligation` >= 0.

    `decision` is about the whole hull of the cell: where it holds there, it holds on the cell.
    """

    cell: FormCell
    obligation: ExpPoly
    decision: Decision


@dataclass(frozen=True, slots=True)
class HoldsInPieces:
    """Pr >= 1 - beta on the whole interval: each cell's decision is Holds; where one is not, because the obligation
    is negative just outside the cell, the `arrangement` of the conditions of beta and of all obligations has no gap
    at whose sample Pr < 1 - beta."""

    cells: tuple[CellDecision, ...]
    arrangement: Arrangement | None


@dataclass(frozen=True, slots=True)
class FailsInPieces:
    """Pr < 1 - beta at `witness`, the simplest rational that was found, and exactly on the union of the `regions`;
    these are None past a limit, and the `arrangement` also where there is one cell, whose decision says all."""

    witness: Fraction
    regions: tuple[FailureRegion, ...] | None
    cells: tuple[CellDecision, ...]
    arrangement: Arrangement | None


DecisionInPieces = HoldsInPieces | FailsInPieces


def decide_pieces(probability: Closed, beta: PiecewiseForm, interval: Interval, limits: Limits) -> DecisionInPieces:
    """Whether Pr >= 1 - beta at all eps of the interval. Never wrong; raises LimitReached.

    Theorem. Let beta be continuous on the interval, and P the functions on whose signs beta's cells depend together
    with the obligations of all cells. Between neighboring roots of P the claim holds everywhere or nowhere. If it
    fails at a root or at an end of the interval, then by continuity also next to it, so one sample between any two
    roots decides all.
    """
    decisions = [_decided(probability, beta, cell, limits) for cell in beta.cells(interval, limits)]
    if all(isinstance(found.decision, Holds) for found in decisions):
        return HoldsInPieces(tuple(decisions), None)
    if len(decisions) == 1 and isinstance(only := decisions[0].decision, Fails):
        return FailsInPieces(only.witness, only.regions, tuple(decisions), None)
    functions = list(beta.conditions())
    functions += [found.obligation for found in decisions if not found.obligation.is_zero()]
    try:
        arrangement = arrange(functions, interval, limits)
    except LimitReached:
        witness = _witness(probability, beta, decisions, limits)
        if witness is None:
            raise
        return FailsInPieces(witness, None, tuple(decisions), None)
    search = _Search(arrangement, probability, beta, functions, limits)
    if not any(search.fails):
        return HoldsInPieces(tuple(decisions), arrangement)
    return FailsInPieces(search.witness(), tuple(search.regions()), tuple(decisions), arrangement)


def holds_in_pieces(probability: Closed, beta: PiecewiseForm, interval: Interval, limits: Limits) -> bool:
    """Whether Pr >= 1 - beta at all eps of the interval: `decide_pieces` for those who do not ask where it fails."""
    for cell in beta.cells(interval, limits):
        decision = _decided(probability, beta, cell, limits).decision
        if isinstance(decision, Fails):
            if _fails_at(probability, beta, decision.witness, limits):
                return False
            # Negative just outside the cell, as it seems: that needs a closer look.
            return isinstance(decide_pieces(probability, beta, interval, limits), HoldsInPieces)
    return True


def _decided(probability: Closed, beta: PiecewiseForm, cell: FormCell, limits: Limits) -> CellDecision:
    if beta.closed is None:
        obligation = slack(probability, cell.numerator, cell.denominator)
    else:
        obligation = fraction_of(probability + beta.closed.value - 1)[0]  # in lowest terms
    return CellDecision(cell, obligation, decide_nonnegative(obligation, cell.hull, limits))


def slack(probability: Closed, numerator: ExpPoly, denominator: ExpPoly) -> ExpPoly:
    """A function with the sign of Pr - 1 + numerator/denominator wherever the denominator is positive."""
    above, below = fraction_of(probability)
    return (above - below) * denominator + numerator * below


def _fails_at(probability: Closed, beta: PiecewiseForm, eps: Fraction, limits: Limits) -> bool:
    return sign_at(slack(probability, *beta.fraction_at(eps)), eps, limits) < 0


def _witness(
    probability: Closed, beta: PiecewiseForm, decisions: Sequence[CellDecision], limits: Limits
) -> Fraction | None:
    """An eps at which the claim fails, among those at which a cell's form fails on its hull."""
    found = [decision.witness for part in decisions if isinstance(decision := part.decision, Fails)]
    return next((eps for eps in found if _fails_at(probability, beta, eps, limits)), None)


class _Search:
    """The gaps of an arrangement in which the claim fails."""

    def __init__(
        self,
        arrangement: Arrangement,
        probability: Closed,
        beta: PiecewiseForm,
        functions: Sequence[ExpPoly],
        limits: Limits,
    ) -> None:
        self._arrangement = arrangement
        self._probability = probability
        self._beta = beta
        self._limits = limits
        self._functions = functions
        self._obligations = [self._obligation(sample) for sample in arrangement.samples]
        assert all(f.is_zero() or f in functions for f in self._obligations)
        self.fails = [
            sign_at(f, sample, limits) < 0 for f, sample in zip(self._obligations, arrangement.samples, strict=True)
        ]

    def _obligation(self, eps: Fraction) -> ExpPoly:
        return slack(self._probability, *self._beta.fraction_at(eps))

    def _fails_at(self, eps: Fraction, limits: Limits) -> bool:
        return _fails_at(self._probability, self._beta, eps, limits)

    def regions(self) -> list[FailureRegion]:
        """The maximal intervals of failure, increasing, without punctures."""
        arrangement, interval = self._arrangement, self._arrangement.interval
        if interval.is_point:
            point = RegionEnd(interval.lower, closed=True)
            return [FailureRegion(point, point, ())]
        found: list[FailureRegion] = []
        for gap, fails in enumerate(self.fails):
            if not fails:
                continue
            left, right = arrangement.gap(gap)
            lower = self._end(interval.lower, left, closed=interval.lower_closed)
            upper = self._end(interval.upper, right, closed=interval.upper_closed)
            if left is not None and self.fails[gap - 1] and not self._zero(gap, gap - 1):
                lower = found.pop().lower
            found.append(FailureRegion(lower, upper, ()))
        return found

    def _zero(self, gap: int, root: int) -> bool:
        """Whether Pr = 1 - beta at the root on the left of the gap."""
        obligation = self._obligations[gap]
        return obligation in self._functions and self._arrangement.vanishes(self._functions.index(obligation), root)

    def _end(self, end: Fraction | None, root: Root | None, *, closed: bool) -> RegionEnd:
        if root is not None:
            return RegionEnd(root, closed=False)
        return RegionEnd(end, closed and end is not None and self._fails_at(end, self._limits))

    def witness(self) -> Fraction:
        """A rational at which the claim fails, the simplest that is found in any gap."""
        found = [self._simplest(gap) for gap, fails in enumerate(self.fails) if fails]
        return min(found, key=lambda eps: (eps.denominator, eps.numerator))

    def _simplest(self, gap: int) -> Fraction:
        """As simple as any rational of the gap, where that is settled cheaply; else the sample."""
        arrangement, interval = self._arrangement, self._arrangement.interval
        left, right = arrangement.gap(gap)
        if interval.is_point:
            return interval.lower
        try:
            for _ in range(_ROUNDS):
                low = left.lower if left else interval.lower
                high = right.upper if right else interval.upper
                candidate = simplest_between(
                    low,
                    high,
                    lower_closed=left is None and interval.lower_closed,
                    upper_closed=right is None and interval.upper_closed,
                )
                if self._fails_at(candidate, self._limits):
                    return candidate
                left = left and refine(left, left.width / 1024, self._limits)
                right = right and refine(right, right.width / 1024, self._limits)
        except LimitReached:
            pass  # a simpler one is not worth more effort
        return arrangement.samples[gap]
