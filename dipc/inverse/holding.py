"""The exact set of eps at which several obligations hold together, from the sets where each of them fails."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cmp_to_key

from dipc.algebra.limits import Limits
from dipc.inverse.solution import Span
from dipc.obligations.verdict import EndPoint
from dipc.sign import FailureRegion, Interval, RegionEnd, Root
from dipc.sign.budget import Budget
from dipc.sign.digits import root_cell
from dipc.sign.optimum.shared_root import order
from dipc.sign.root import refine_within

#: A rational eps, an isolated root, or None for infinity.
Place = Fraction | Root | None


@dataclass(frozen=True, slots=True)
class Cut:
    """A cut of the line of eps just before a place, or just after it."""

    place: Place
    after: bool


#: What lies between two cuts.
Stretch = tuple[Cut, Cut]


def stretches(regions: Iterable[FailureRegion]) -> Iterator[Stretch]:
    """The regions without their punctures."""
    for region in regions:
        inner = [RegionEnd(root, closed=False) for root in region.punctures]
        for lower, upper in zip([region.lower, *inner], [*inner, region.upper], strict=True):
            yield Cut(lower.value, not lower.closed), Cut(upper.value, upper.closed)


def cuts(interval: Interval) -> Stretch:
    """The interval as what lies between two cuts."""
    return Cut(interval.lower, not interval.lower_closed), Cut(interval.upper, interval.upper_closed)


def outside(failing: Iterable[Stretch], interval: Interval, limits: Limits) -> list[Stretch]:
    """The maximal parts of the interval that no stretch covers, increasing. Raises LimitReached."""
    whole = cuts(interval)
    comparison = CutOrder(limits)
    first = whole[0]
    found: list[Stretch] = []

    def by_start(one: Stretch, other: Stretch) -> int:
        return comparison(one[0], other[0])

    for lower, upper in sorted(failing, key=cmp_to_key(by_start)):
        if comparison(first, lower) < 0:
            found.append((first, lower))
        if comparison(first, upper) < 0:
            first = upper
    if comparison(first, whole[1]) < 0:
        found.append((first, whole[1]))
    return found


class CutOrder:
    """The order of cuts: the sign of the first minus the second, exactly."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def __call__(self, first: Cut, second: Cut) -> int:
        return self.places(first.place, second.place) or first.after - second.after

    def places(self, first: Place, second: Place) -> int:
        """The order of places."""
        match first, second:
            case None, None:
                return 0
            case None, _:
                return 1
            case _, None:
                return -1
            case Fraction(), Fraction():
                return (first > second) - (first < second)
            case Root(), Fraction():
                return self._against(first, second)
            case Fraction(), Root():
                return -self._against(second, first)
            case Root(), Root():
                return order(first, second, Budget(self._limits))
        raise AssertionError

    def _against(self, root: Root, value: Fraction) -> int:
        """The sign of root - value; a root that is not known to be rational is none."""
        budget = Budget(self._limits)
        while not root.is_exact and root.lower < value < root.upper:
            root = refine_within(root, root.width / 16, budget)
        if root.is_exact:
            return (root.lower > value) - (root.lower < value)
        return 1 if root.lower >= value else -1


def span_between(start: Cut, end: Cut, digits: int, limits: Limits) -> Span:
    """What lies between two cuts. The ends get more digits than asked for where they would look like one place, and
    are not. Raises LimitReached."""
    found = Span(
        _point(start.place, digits, limits, included=not start.after),
        _point(end.place, digits, limits, included=end.after),
    )
    if found.is_point and CutOrder(limits).places(start.place, end.place):
        return span_between(start, end, 2 * digits, limits)
    return found


def _point(place: Place, digits: int, limits: Limits, *, included: bool) -> EndPoint:
    match place:
        case None:
            return EndPoint(Fraction(0), None, False)
        case Fraction():
            return EndPoint(place, place, included)
        case Root():
            return EndPoint(*root_cell(place, digits, limits), included)
