"""Obligations: that a bound is at least what is required, for all values of one variable in some intervals.

Whatever a question is about (a row of a table, a class of inputs, every m), it comes to finitely many of these. They
are plain values: equal ones are decided once, by whichever executor, and kept in one cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dipc.algebra.quotient import Closed
from dipc.measure.event import Event
from dipc.sign.interval import Interval
from dipc.sign.piecewise import BetaForm


@dataclass(frozen=True, slots=True)
class Share:
    """weight · Π Pr[event], for independent events; `weight` None is 1."""

    weight: Closed | None
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """constant + Σ shares as a function of the variable: the probability of an answer, or a proved lower bound of it.

    It is measured when it is decided (`measured`), so that equal bounds are measured once and by whoever decides.
    """

    shares: tuple[Share, ...]
    constant: Fraction = Fraction(0)


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
