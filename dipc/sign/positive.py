"""Denominators of beta: admitted where they are proved to have one sign for every eps > 0."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Undecided
from dipc.algebra.quotient import Closed, Quotient
from dipc.sign import Interval, isolate_roots, sign_at


def over_positive(numerator: ExpPoly, denominator: ExpPoly, intervals: Sequence[Interval] = ()) -> Closed | None:
    """numerator/denominator, None where the denominator is not proved to have one sign for every eps > 0, or for every
    one of the intervals."""
    if denominator == 1:
        return numerator
    sign = _sign(denominator) or _sign_on(denominator, intervals)
    if sign == 0:
        return None
    quotient = Quotient(numerator * sign, denominator * sign)
    ring = quotient.in_ring()
    return quotient if ring is None else ring


def _sign(value: ExpPoly) -> int:
    """1 or -1 where `value` has that sign for every eps > 0, proved; 0 where that is not known."""
    signs = {1 if c > 0 else -1 for _, _, c in value.terms()}
    if len(signs) == 1:
        return signs.pop()
    try:
        return 0 if isolate_roots(value, Interval.positive()) else sign_at(value, Fraction(1))
    except Undecided:
        return 0


def _sign_on(value: ExpPoly, intervals: Sequence[Interval]) -> int:
    """1 or -1 where `value` has that sign on all intervals, proved; 0 where that is not known, and for none."""
    signs = set()
    for interval in intervals:
        try:
            if not interval.is_point and isolate_roots(value, interval):
                return 0
            signs.add(sign_at(value, _inside(interval)))
        except Undecided:
            return 0
    return signs.pop() if len(signs) == 1 else 0


def _inside(interval: Interval) -> Fraction:
    if interval.is_point or interval.upper is None:
        return interval.lower if interval.is_point else interval.lower + 1
    return (interval.lower + interval.upper) / 2
