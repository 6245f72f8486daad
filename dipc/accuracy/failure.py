"""The exact set of eps where a claim fails, as intervals whose ends are isolated."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from fractions import Fraction

from dipc.accuracy.outcome import EndPoint, FailureInterval
from dipc.exact.limits import Undecided
from dipc.exact.sign import FailureRegion, RegionEnd, Root, SignLimits, refine

#: Isolated ends are known to this part of their size.
PRECISION = Fraction(1, 10**15)


def failure_intervals(regions: Iterable[FailureRegion], limits: SignLimits) -> list[FailureInterval]:
    """The maximal intervals of failure, increasing. Where the claim holds with equality at a single point between two
    of them, that point is an end of both and belongs to neither."""
    intervals = []
    for region in regions:
        inner = [_root(root, limits) for root in region.punctures]
        starts = [_end(region.lower, limits), *inner]
        ends = [*inner, _end(region.upper, limits)]
        intervals += [FailureInterval(start, end) for start, end in zip(starts, ends, strict=True)]
    return intervals


def _end(end: RegionEnd, limits: SignLimits) -> EndPoint:
    match end.value:
        case None:
            return EndPoint(Fraction(0), None, False)
        case Fraction():
            return EndPoint(end.value, end.value, end.closed)
        case Root():
            return _root(end.value, limits)


def _root(root: Root, limits: SignLimits) -> EndPoint:
    """The root as an end that does not belong to the interval: the claim holds there, with equality."""
    with suppress(Undecided):  # the isolating interval that is known already is right, only wider
        root = refine(root, root.upper * PRECISION, limits)
    return EndPoint(root.lower, root.upper, False)
