"""Pr >= 1 - beta for a beta in cells: one sign decision for each cell, and exact failure sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import LimitReached, Limits
from dipc.algebra.quotient import Closed
from dipc.obligations.failure import failures, slack
from dipc.sign import (
    Arrangement,
    Decision,
    Fails,
    FailureRegion,
    Holds,
    Interval,
    arrange,
    decide_nonnegative,
    sign_at,
)
from dipc.sign.budget import Budget
from dipc.sign.piecewise import FormCell, PiecewiseForm
from dipc.sign.witness import simplest_in_gap


@dataclass(frozen=True, slots=True)
class CellDecision:
    """On `cell`, Pr >= 1 - beta holds exactly where `obligation` >= 0.

    `decision` is about the whole hull of the cell: where it holds there, it holds on the cell.
    """

    cell: FormCell
    obligation: ExpPoly
    decision: Decision


@dataclass(frozen=True, slots=True)
class HoldsInCells:
    """Pr >= 1 - beta on the whole interval: each cell's decision is Holds; where one is not, because the obligation
    is negative just outside the cell, the `arrangement` of the conditions of beta and of all obligations has no gap
    at whose sample Pr < 1 - beta."""

    interval: Interval
    cells: tuple[CellDecision, ...]
    arrangement: Arrangement | None


@dataclass(frozen=True, slots=True)
class FailsInCells:
    """Pr < 1 - beta at `witness`, the simplest rational that was found, and exactly on the union of the `regions`;
    these are None past a limit, and the `arrangement` also where there is one cell, whose decision says all."""

    interval: Interval
    witness: Fraction
    regions: tuple[FailureRegion, ...] | None
    cells: tuple[CellDecision, ...]
    arrangement: Arrangement | None


DecisionInCells = HoldsInCells | FailsInCells


def decide_cells(probability: Closed, beta: PiecewiseForm, interval: Interval, limits: Limits) -> DecisionInCells:
    """Whether Pr >= 1 - beta at all eps of the interval. Never wrong; raises LimitReached.

    Theorem. Let beta be continuous on the interval, and P the functions on whose signs beta's cells depend together
    with the obligations of all cells. Between neighboring roots of P the claim holds everywhere or nowhere. If it
    fails at a root or at an end of the interval, then by continuity also next to it, so one sample between any two
    roots decides all.
    """
    cells = tuple([_decided(probability, beta, cell, limits) for cell in beta.cells(interval, limits)])
    if all(isinstance(found.decision, Holds) for found in cells):
        return HoldsInCells(interval, cells, None)
    if len(cells) == 1 and isinstance(only := cells[0].decision, Fails):
        return FailsInCells(interval, only.witness, only.regions, cells, None)
    functions = list(beta.conditions())
    functions += [found.obligation for found in cells if not found.obligation.is_zero()]
    try:
        arrangement = arrange(functions, interval, limits)
    except LimitReached:
        witness = _witness(probability, beta, cells, limits)
        if witness is None:
            raise
        return FailsInCells(interval, witness, None, cells, None)
    fails = [_fails_at(probability, beta, sample, limits) for sample in arrangement.samples]
    if not any(fails):
        return HoldsInCells(interval, cells, arrangement)
    witness = _simplest_witness(probability, beta, arrangement, fails, limits)
    regions = [failure.region for failure in failures(probability, beta, arrangement, functions, limits)]
    return FailsInCells(interval, witness, tuple(regions), cells, arrangement)


def failing_regions(
    probability: ClosedForm, beta: PiecewiseForm, interval: Interval, limits: Limits
) -> tuple[FailureRegion, ...]:
    """Where Pr < 1 - beta on the interval. Raises LimitReached."""
    decision = decide_cells(probability.value, beta, interval, limits)
    if not isinstance(decision, FailsInCells):
        return ()
    if decision.regions is None:
        raise LimitReached(None, "the roots of too large functions were to be put in order")
    return decision.regions


def holds_in_cells(probability: Closed, beta: PiecewiseForm, interval: Interval, limits: Limits) -> bool:
    """Whether Pr >= 1 - beta at all eps of the interval: `decide_cells` for those who do not ask where it fails."""
    cells = beta.cells(interval, limits)
    for cell in cells:
        decision = _decided(probability, beta, cell, limits).decision
        if isinstance(decision, Fails):
            if len(cells) == 1 or _fails_at(probability, beta, decision.witness, limits):
                return False
            # Negative just outside the cell, as it seems: that needs a closer look.
            return isinstance(decide_cells(probability, beta, interval, limits), HoldsInCells)
    return True


def _decided(probability: Closed, beta: PiecewiseForm, cell: FormCell, limits: Limits) -> CellDecision:
    obligation, _ = slack(probability, beta, cell.sample)
    return CellDecision(cell, obligation, decide_nonnegative(obligation, cell.hull, limits))


def _fails_at(probability: Closed, beta: PiecewiseForm, eps: Fraction, limits: Limits) -> bool:
    return sign_at(slack(probability, beta, eps)[0], eps, limits) < 0


def _witness(
    probability: Closed, beta: PiecewiseForm, decisions: Sequence[CellDecision], limits: Limits
) -> Fraction | None:
    """An eps at which the claim fails, among those at which a cell's form fails on its hull."""
    found = [decision.witness for part in decisions if isinstance(decision := part.decision, Fails)]
    return next((eps for eps in found if _fails_at(probability, beta, eps, limits)), None)


def _simplest_witness(
    probability: Closed, beta: PiecewiseForm, arrangement: Arrangement, fails: Sequence[bool], limits: Limits
) -> Fraction:
    """A rational at which the claim fails, the simplest of those that are found in the gaps where it does."""
    if arrangement.interval.is_point:
        return arrangement.interval.lower

    def is_negative(eps: Fraction, budget: Budget) -> bool:
        return _fails_at(probability, beta, eps, budget.limits)

    found = [
        simplest_in_gap(arrangement.interval, *arrangement.gap(gap), is_negative, Budget(limits))
        for gap, there in enumerate(fails)
        if there
    ]
    return min(found, key=lambda eps: (eps.denominator, eps.numerator))
