"""The exact set of eps where a claim fails: where the slack bound - 1 + beta is negative."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits, Undecided
from dipc.algebra.quotient import Closed, fraction_of
from dipc.obligations.verdict import EndPoint, FailureInterval
from dipc.sign import Arrangement, FailureRegion, RegionEnd, Root, refine, sign_at
from dipc.sign.piecewise import PiecewiseForm

#: Isolated ends are known to this part of their size.
PRECISION = Fraction(1, 10**15)


def slack(bound: Closed, beta: PiecewiseForm, eps: Fraction) -> tuple[ExpPoly, ExpPoly]:
    """Numerator and denominator of a closed form of bound - 1 + beta that is valid at `eps` and on beta's cell there;
    the denominator is positive at `eps`."""
    if beta.closed is not None:
        return fraction_of(bound + beta.closed.value - 1)  # in lowest terms
    above, below = fraction_of(bound)
    numerator, denominator = beta.fraction_at(eps)
    return (above - below) * denominator + numerator * below, below * denominator


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a failing interval on which the slack is one quotient; `sample` is a rational inside."""

    lower: RegionEnd
    upper: RegionEnd
    numerator: ExpPoly
    denominator: ExpPoly
    sample: Fraction


@dataclass(frozen=True, slots=True)
class Failure:
    """A maximal failing interval."""

    stretches: tuple[Stretch, ...]

    @property
    def region(self) -> FailureRegion:
        """The interval alone."""
        return FailureRegion(self.stretches[0].lower, self.stretches[-1].upper, ())


def failures(
    bound: Closed, beta: PiecewiseForm, arrangement: Arrangement, functions: Sequence[ExpPoly], limits: Limits
) -> list[Failure]:
    """Where the claim fails, increasing; the arrangement is that of the `functions`, which are the slacks of all cells
    of beta, but for those that are zero, and beta's conditions."""
    found: list[Failure] = []
    for gap, sample in enumerate(arrangement.samples):
        numerator, denominator = slack(bound, beta, sample)
        if numerator.is_zero() or sign_at(numerator, sample, limits) >= 0:
            continue
        stretch = Stretch(*_gap_ends(arrangement, gap, numerator, limits), numerator, denominator, sample)
        left = arrangement.gap(gap)[0]
        joined = (
            found
            and left is not None
            and found[-1].stretches[-1].upper.value == left
            and not arrangement.vanishes(functions.index(numerator), gap - 1)
        )
        found.append(_joined(found.pop(), stretch) if joined else Failure((stretch,)))
    return found


def _gap_ends(arrangement: Arrangement, gap: int, numerator: ExpPoly, limits: Limits) -> tuple[RegionEnd, RegionEnd]:
    interval = arrangement.interval
    left, right = arrangement.gap(gap)

    def outer(end: Fraction | None, closed: bool) -> RegionEnd:
        return RegionEnd(end, closed and end is not None and sign_at(numerator, end, limits) < 0)

    return (
        outer(interval.lower, interval.lower_closed) if left is None else RegionEnd(left, closed=False),
        outer(interval.upper, interval.upper_closed) if right is None else RegionEnd(right, closed=False),
    )


def _joined(failure: Failure, stretch: Stretch) -> Failure:
    """The interval with what follows after a point at which the claim fails as well."""
    *before, last = failure.stretches
    if (last.numerator, last.denominator) == (stretch.numerator, stretch.denominator):
        return Failure((*before, replace(last, upper=stretch.upper)))
    met = RegionEnd(last.upper.value, closed=True)
    return Failure((*before, replace(last, upper=met), replace(stretch, lower=met)))


def failure_intervals(regions: Iterable[FailureRegion], limits: Limits) -> list[FailureInterval]:
    """The maximal intervals of failure, increasing. Where the claim holds with equality at a single point between two
    of them, that point is an end of both and belongs to neither."""

    def enclose(root: Root) -> tuple[Fraction, Fraction]:
        with suppress(Undecided):  # the isolating interval that is known already is right, only wider
            root = refine(root, root.upper * PRECISION, limits)
        return root.lower, root.upper

    intervals = []
    for region in regions:
        # The claim holds at a root, with equality: as an end it does not belong to the interval.
        inner = [EndPoint(*enclose(root), False) for root in region.punctures]
        starts = [end_point(region.lower, enclose), *inner]
        ends = [*inner, end_point(region.upper, enclose)]
        intervals += [FailureInterval(start, end) for start, end in zip(starts, ends, strict=True)]
    return intervals


def end_point(end: RegionEnd, enclose: Callable[[Root], tuple[Fraction, Fraction]]) -> EndPoint:
    """The end of an interval of failure, a root as `enclose` encloses it."""
    match end.value:
        case None:
            return EndPoint(Fraction(0), None, False)
        case Fraction():
            return EndPoint(end.value, end.value, end.closed)
        case Root():
            return EndPoint(*enclose(end.value), end.closed)
