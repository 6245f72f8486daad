"""Obligations: that a bound is at least what is required, for all values of one variable in some intervals.

Whatever a question is about (a row of a table, a class of inputs, every m), it comes to finitely many of these. They
are plain values: equal ones are decided once, by whichever executor, and kept in one cache.
"""

from __future__ import annotations

from dataclasses import dataclass

from dipc.measure.bound import Bound, Share
from dipc.sign.interval import Interval
from dipc.sign.piecewise import BetaForm

__all__ = ["Bound", "Obligation", "Share"]


@dataclass(frozen=True, slots=True)
class Obligation:
    """`bound` >= 1 - `beta` for every value of the variable in `intervals`, of which there is at least one.

    The variable is eps, or t = distance·eps where a distance is left open: the mathematics is the same.
    """

    bound: Bound
    beta: BetaForm
    intervals: tuple[Interval, ...]

    def __post_init__(self) -> None:
        if not self.intervals:
            raise ValueError("an obligation is about some interval: about none of them it would hold of itself")
