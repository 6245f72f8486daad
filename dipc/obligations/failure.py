"""The exact set of eps where a claim fails, as intervals whose ends are isolated."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from fractions import Fraction

from dipc.algebra.limits import Limits, Undecided
from dipc.obligations.verdict import EndPoint, FailureInterval
from dipc.sign import FailureRegion, RegionEnd, Root, refine

#: Isolated ends are known to this part of their size.
PRECISION = Fraction(1, 10**15)


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
