"""Tolerances of tests of noisy results, from those of `dipc solve --for gamma`: as Privacy on Beam computes them."""

from __future__ import annotations

from fractions import Fraction
from math import ceil


def integer_tolerance(tolerance: Fraction) -> int:
    """The tolerance of a result that is rounded to an integer: the next one above."""
    return ceil(tolerance)


def partition_level(flakiness: Fraction, partitions: int) -> Fraction:
    """How often one of so many partitions may fail for all of them together to fail no more often than `flakiness`, by
    a union bound."""
    if partitions < 1:
        raise ValueError("there is at least one partition")
    return flakiness / partitions


def mean_tolerance(total: Fraction, count: Fraction, sum_tolerance: Fraction, count_tolerance: Fraction) -> Fraction:
    """How far (noisy sum)/(noisy count) is from total/count at most, where both are within their tolerances.

    The mean fails no more often than the two of them together. Raises ValueError where the noisy count may be 0.
    """
    if count - count_tolerance <= 0:
        raise ValueError("the noisy count may be 0 within its tolerance: the mean has none")
    exact = total / count
    ends = [(total + move * sum_tolerance) / (count + other * count_tolerance) for move in (1, -1) for other in (1, -1)]
    return max(abs(end - exact) for end in ends)
