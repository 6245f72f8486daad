"""Where the greatest of some functions is nonnegative: cells with rational ends, on each of which one function is."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dipc.algebra.exppoly import Closed, ExpPoly, Quotient
from dipc.algebra.limits import LimitReached, Limits
from dipc.sign.chart import Decision, Holds, decide_nonnegative, sign_chart
from dipc.sign.interval import Interval
from dipc.sign.roots import Root, refine

#: How often roots are refined until the cells meet, and by how much.
_ROUNDS = 4
_FACTOR = 1 << 20

#: A cell: the number of the function, the interval, and why the function is nonnegative there; None for 0.
Cell = tuple[int, Interval, Decision | None]

#: An end of a stretch; None for infinity.
_End = Fraction | None


def cover(functions: Sequence[Closed], interval: Interval, limits: Limits) -> list[Cell]:
    """Cells one after the other from end to end of the interval, on each of which one of the functions, whose
    denominators are positive, is nonnegative.

    Raises LimitReached where none are found: where functions change their signs at the same irrational eps.
    """
    tops = [f.numerator if isinstance(f, Quotient) else f for f in functions]
    if interval.is_point:
        return [_cell(tops, _nonnegative_at(tops, interval, limits), interval, limits)]
    charts = [None if top.is_zero() else sign_chart(top, interval, limits) for top in tops]
    roots = [() if chart is None else chart.roots for chart in charts]
    signs = [(1,) if chart is None else chart.signs for chart in charts]
    for _ in range(_ROUNDS):
        stretches = [_stretches(interval, *known) for known in zip(roots, signs, strict=True)]
        chosen = _greedy(interval, stretches)
        if chosen is not None:
            return [_cell(tops, at, _between(interval, low, high), limits) for at, low, high in chosen]
        roots = [tuple(refine(root, root.width / _FACTOR, limits) for root in known) for known in roots]
    raise _none()


def _stretches(interval: Interval, roots: Sequence[Root], signs: Sequence[int]) -> list[tuple[Fraction, _End]]:
    """Where a function with these roots and signs between them is nonnegative, but for slivers at the roots."""
    found: list[tuple[Fraction, _End]] = []
    for gap, sign in enumerate(signs):
        if sign < 0:
            continue
        low = roots[gap - 1].upper if gap else interval.lower
        high = roots[gap].lower if gap < len(roots) else interval.upper
        if gap and signs[gap - 1] >= 0:
            low = found.pop()[0]
        found.append((low, high))
    return found


def _greedy(
    interval: Interval, stretches: Sequence[Sequence[tuple[Fraction, _End]]]
) -> list[tuple[int, Fraction, _End]] | None:
    """As few stretches as cover the interval, with the numbers of their functions."""
    result: list[tuple[int, Fraction, _End]] = []
    position = interval.lower
    while True:
        best: tuple[int, _End] | None = None
        for at, known in enumerate(stretches):
            for low, high in known:
                further = high is None or high > position
                if low <= position and further and (best is None or _beyond(high, best[1])):
                    best = at, high
        if best is None:
            return None
        at, end = best
        result.append((at, position, end))
        if end is None or end == interval.upper:
            return result
        position = end


def _beyond(end: _End, other: _End) -> bool:
    return other is not None and (end is None or end > other)


def _between(interval: Interval, low: Fraction, high: _End) -> Interval:
    return Interval(
        low,
        high,
        interval.lower_closed if low == interval.lower else True,
        interval.upper_closed if high == interval.upper else True,
    )


def _cell(tops: Sequence[ExpPoly], at: int, interval: Interval, limits: Limits) -> Cell:
    if tops[at].is_zero():
        return at, interval, None
    decision = decide_nonnegative(tops[at], interval, limits)
    if not isinstance(decision, Holds):
        raise _none()
    return at, interval, decision


def _nonnegative_at(tops: Sequence[ExpPoly], point: Interval, limits: Limits) -> int:
    for at, top in enumerate(tops):
        if top.is_zero() or isinstance(decide_nonnegative(top, point, limits), Holds):
            return at
    raise _none()


def _none() -> LimitReached:
    return LimitReached(
        None, "no cells with rational ends were found on each of which one argument of the max is enough"
    )
