"""Where a claim fails, to as many digits as asked for, and by how much at most: the shortfall is 1 - beta - Pr."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.limits import Limits
from dipc.obligations.decide_cells import DecisionInCells, FailsInCells
from dipc.obligations.failure import Failure, end_point, failures
from dipc.obligations.verdict import EndPoint, FailureInterval, Worst
from dipc.sign import RegionEnd, Root, arrange
from dipc.sign.digits import number_cell, root_cell
from dipc.sign.optimum import Far, Peak, Ratio, highest, peaks
from dipc.sign.piecewise import BetaForm


def failing_intervals(
    bound: ClosedForm, beta: BetaForm, found: Iterable[DecisionInCells], digits: int, limits: Limits
) -> tuple[FailureInterval, ...]:
    """The exact set of eps with bound < 1 - beta, as its maximal intervals, increasing, for what was found on each
    interval; the regions are known.

    Ends that are no rational numbers are cut off after `digits` significant digits, `high` one unit of the last digit
    more; each interval has its worst eps and the shortfall there, in the same form. Raises LimitReached.
    """
    return tuple(
        FailureInterval(
            _end_point(failure.region.lower, digits, limits),
            _end_point(failure.region.upper, digits, limits),
            _worst(failure, digits, limits),
        )
        for part in found
        if isinstance(part, FailsInCells)
        for failure in _failures(bound, beta, part, limits)
    )


def _failures(bound: ClosedForm, beta: BetaForm, found: FailsInCells, limits: Limits) -> list[Failure]:
    functions = [*beta.conditions(), *[cell.obligation for cell in found.cells if not cell.obligation.is_zero()]]
    arrangement = found.arrangement or arrange(functions, found.interval, limits)
    return failures(bound.value, beta, arrangement, functions, limits)


def _worst(failure: Failure, digits: int, limits: Limits) -> Worst:
    samples: dict[int, Fraction] = {}
    candidates: list[Peak] = []
    for stretch in failure.stretches:
        ratio = Ratio.of(-stretch.numerator, stretch.denominator)
        for peak in peaks(ratio, stretch.lower, stretch.upper, limits):
            samples[id(peak)] = stretch.sample
            candidates.append(peak)
    best = highest(candidates, digits)
    assert best is not None, "where a claim fails there is a shortfall"
    chosen = next((peak for peak in best.peaks if peak.attained), best.peaks[0])
    shortfall = None if chosen.value is None else number_cell(chosen.value, digits)
    return Worst(_place(chosen, samples[id(chosen)], digits, limits), shortfall, chosen.attained)


def _place(peak: Peak, sample: Fraction, digits: int, limits: Limits) -> tuple[Fraction, Fraction] | None:
    match peak.at:
        case Fraction():
            return peak.at, peak.at
        case Root():
            at = peak.value.at if peak.value is not None else peak.at
            return root_cell(at, digits, limits) if isinstance(at, Root) else (at, at)
        case Far.ZERO:
            return Fraction(0), Fraction(0)
        case Far.INFINITY:
            return None
        case Far.EVERYWHERE:
            return sample, sample


def _end_point(end: RegionEnd, digits: int, limits: Limits) -> EndPoint:
    return end_point(end, lambda root: root_cell(root, digits, limits))
