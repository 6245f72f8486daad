"""Confidence intervals for the loss log(p/p') from how often an event happened: those of DP-Finder (Bichsel, Gehr,
Drachsler-Cohen, Tsankov and Vechev 2018, sections 4.3 to 4.5)."""

from __future__ import annotations

from math import inf, log, sqrt


def hoeffding(first: float, second: float, runs: int, confidence: float) -> tuple[float, float]:
    """From shares of so many independent runs: by Hoeffding's inequality for each share, with half of the error. The
    loss lies in the interval with at least this confidence."""
    width = sqrt(log(4 / (1 - confidence)) / (2 * runs))
    return _between(first, width, second, width)


def clt(first: float, second: float, runs: int, confidence: float) -> tuple[float, float]:
    """The same by the central limit theorem for each share: approximate. Infinite where an event never happened, of
    which it says nothing."""
    if not first or not second:
        return -inf, inf
    z = _deviations((1 - confidence) / 2)
    return _between(first, z * sqrt(first * (1 - first) / runs), second, z * sqrt(second * (1 - second) / runs))


def multidimensional_clt(
    first: float, second: float, correlation: float, runs: int, confidence: float
) -> tuple[float, float]:
    """By the central limit theorem for both shares together, from runs with the same noises at both inputs, to first
    order: approximate, and narrow where the correlation is large. Infinite where an event never happened."""
    if not first or not second:
        return -inf, inf
    odds, others = (1 - first) / first, (1 - second) / second
    variance = (odds + others - 2 * correlation * sqrt(odds * others)) / runs
    width = _deviations(1 - confidence) * sqrt(max(0.0, variance))
    center = log(first / second)
    return center - width, center + width


def _deviations(error: float) -> float:
    """Standard deviations beyond which, on either side, a normal variable lies with this probability."""
    from scipy.special import ndtri

    return -float(ndtri(error / 2))


def _between(first: float, width: float, second: float, other: float) -> tuple[float, float]:
    """log(p/p') for p and p' within these widths; infinite where one of them may be 0."""
    low = log((first - width) / (second + other)) if first > width else -inf
    high = log((first + width) / (second - other)) if second > other else inf
    return low, high
