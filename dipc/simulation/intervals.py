"""Confidence intervals for probabilities, from counts."""

from __future__ import annotations

from fractions import Fraction


def clopper_pearson(count: int, runs: int, error: float) -> tuple[float, float]:
    """The two-sided Clopper-Pearson interval: whatever the probability of an event is, an interval made in this way
    from how often it happened in `runs` independent runs misses it with probability at most `error`."""
    from scipy.special import betainccinv, betaincinv

    # The second function counts from above, so that an error near 0 is not lost against 1.
    low = float(betaincinv(count, runs - count + 1, error / 2)) if count else 0.0
    high = float(betainccinv(count + 1, runs - count, error / 2)) if count < runs else 1.0
    return low, high


def error_of_each(confidence: Fraction, intervals: int) -> float:
    """The error allowed for each interval so that all of them are right with `confidence` (Bonferroni)."""
    return float((1 - confidence) / max(1, intervals))
