"""Simple rationals at which something is negative, between neighboring roots."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from dipc.algebra.limits import LimitReached
from dipc.sign.budget import Budget
from dipc.sign.interval import Interval
from dipc.sign.root import Root, refine_within
from dipc.sign.simplest import simplest_between

#: A simpler counterexample is not worth more bits than this.
_WITNESS_BITS = 4096


def simplest_in_gap(
    interval: Interval,
    left: Root | None,
    right: Root | None,
    is_negative: Callable[[Fraction, Budget], bool],
    budget: Budget,
) -> Fraction:
    """A rational of the interval with `is_negative`, at least as simple as any in the gap, unless that takes too much
    precision; then one of the gap between the isolating intervals.

    Everywhere between `left` and `right`, roots or ends of the interval (None), it is negative; and in an isolating
    interval, on either side of its root, everywhere or nowhere. The ends that belong to the interval are asked about.
    """
    low_closed = left is None and interval.lower_closed and is_negative(interval.lower, budget)
    high_closed = (
        right is None and interval.upper is not None and interval.upper_closed and is_negative(interval.upper, budget)
    )
    cheap = budget.with_bits(_WITNESS_BITS)
    halvings = 4
    with suppress(LimitReached):
        while True:
            cheap.check_bits(halvings)
            widest = simplest_between(
                left.lower if left else interval.lower,
                right.upper if right else interval.upper,
                lower_closed=low_closed,
                upper_closed=high_closed,
            )
            # Where the candidate lies in an isolating interval, it may be on the wrong side of the root.
            if is_negative(widest, cheap):
                return widest
            if left and left.lower < widest < left.upper:
                left = replace(left, lower=widest)
                left = refine_within(left, left.width / (1 << halvings), cheap)
            else:
                assert right
                assert right.lower < widest < right.upper
                right = replace(right, upper=widest)
                right = refine_within(right, right.width / (1 << halvings), cheap)
            halvings *= 2
    while True:
        # It is negative at the ends of isolating intervals too, but for roots that are exact.
        low, low_closed = (left.upper, not left.is_exact) if left else (interval.lower, low_closed)
        high, high_closed = (right.lower, not right.is_exact) if right else (interval.upper, high_closed)
        if high is None or low < high or (low == high and low_closed and high_closed):
            return simplest_between(low, high, lower_closed=low_closed, upper_closed=high_closed)
        left = left and refine_within(left, left.width / 4, budget)
        right = right and refine_within(right, right.width / 4, budget)
