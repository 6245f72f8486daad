"""Where a claim fails, to as many digits as asked for, and by how much at most: the shortfall is 1 - beta - Pr."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits
from dipc.algebra.quotient import Closed, fraction_of
from dipc.obligations.failure import end_point
from dipc.obligations.verdict import EndPoint, FailureInterval, Worst
from dipc.sign import Arrangement, Interval, RegionEnd, Root, arrange, sign_at
from dipc.sign.digits import number_cell, root_cell
from dipc.sign.optimum import Far, Peak, Ratio, highest, peaks
from dipc.sign.piecewise import BetaForm


def failing_intervals(
    probability: ClosedForm, beta: BetaForm, intervals: Sequence[Interval], digits: int, limits: Limits
) -> tuple[FailureInterval, ...]:
    """The exact set of eps of the intervals with Pr < 1 - beta, as its maximal intervals, increasing.

    Ends that are no rational numbers are cut off after `digits` significant digits, `high` one unit of the last digit
    more; each interval has its worst eps and the shortfall there, in the same form. Raises LimitReached.
    """
    return tuple(
        FailureInterval(
            _end_point(region.lower, digits, limits),
            _end_point(region.upper, digits, limits),
            _worst(region, digits, limits),
        )
        for interval in intervals
        for region in _regions(probability.value, beta, interval, limits)
    )


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A part of a failing interval on which the shortfall is one quotient; `sample` is a rational inside."""

    lower: RegionEnd
    upper: RegionEnd
    numerator: ExpPoly
    denominator: ExpPoly
    sample: Fraction


@dataclass(frozen=True, slots=True)
class _Region:
    """A maximal failing interval."""

    stretches: tuple[_Stretch, ...]

    @property
    def lower(self) -> RegionEnd:
        return self.stretches[0].lower

    @property
    def upper(self) -> RegionEnd:
        return self.stretches[-1].upper


def _regions(probability: Closed, beta: BetaForm, interval: Interval, limits: Limits) -> list[_Region]:
    shortfalls = []
    above, below = fraction_of(probability)
    for cell in beta.cells(interval, limits):
        numerator = (below - above) * cell.denominator - cell.numerator * below
        if not numerator.is_zero():
            shortfalls.append(numerator)
    functions = [*shortfalls, *beta.conditions()]
    arrangement = arrange(functions, interval, limits)
    found: list[_Region] = []
    for gap, sample in enumerate(arrangement.samples):
        numerator, denominator = _shortfall_at(probability, beta, sample)
        if numerator.is_zero() or sign_at(numerator, sample, limits) <= 0:
            continue
        stretch = _Stretch(*_gap_ends(arrangement, gap, numerator, limits), numerator, denominator, sample)
        left = arrangement.gap(gap)[0]
        at_root = gap - 1
        joined = (
            found
            and left is not None
            and found[-1].upper.value == left
            and not arrangement.vanishes(functions.index(numerator), at_root)
        )
        if joined:
            found.append(_joined(found.pop(), stretch))
        else:
            found.append(_Region((stretch,)))
    return found


def _shortfall_at(probability: Closed, beta: BetaForm, eps: Fraction) -> tuple[ExpPoly, ExpPoly]:
    """Numerator and positive denominator of a closed form of the shortfall that is valid around `eps`."""
    above, below = fraction_of(probability)
    numerator, denominator = beta.fraction_at(eps)
    return (below - above) * denominator - numerator * below, below * denominator


def _gap_ends(arrangement: Arrangement, gap: int, numerator: ExpPoly, limits: Limits) -> tuple[RegionEnd, RegionEnd]:
    interval = arrangement.interval
    left, right = arrangement.gap(gap)

    def outer(end: Fraction | None, closed: bool) -> RegionEnd:
        return RegionEnd(end, closed and end is not None and sign_at(numerator, end, limits) > 0)

    return (
        outer(interval.lower, interval.lower_closed) if left is None else RegionEnd(left, closed=False),
        outer(interval.upper, interval.upper_closed) if right is None else RegionEnd(right, closed=False),
    )


def _joined(region: _Region, stretch: _Stretch) -> _Region:
    """The region with what follows after a point at which the claim fails as well."""
    *before, last = region.stretches
    if (last.numerator, last.denominator) == (stretch.numerator, stretch.denominator):
        return _Region((*before, replace(last, upper=stretch.upper)))
    met = RegionEnd(last.upper.value, closed=True)
    return _Region((*before, replace(last, upper=met), replace(stretch, lower=met)))


def _worst(region: _Region, digits: int, limits: Limits) -> Worst:
    samples: dict[int, Fraction] = {}
    candidates: list[Peak] = []
    for stretch in region.stretches:
        ratio = Ratio.of(stretch.numerator, stretch.denominator)
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
