"""Probabilities that have no closed form, only enclosures."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.numbers import exact_rational
from dipc.measure.bound import UnexpandedBound

#: A value is looked at with so many times the bits of the digits wanted, at most: it may be tiny.
_MOST_TIMES = 16


@dataclass(frozen=True)
class EnclosedForm:
    """A function of eps known by enclosures: `at` gives one at any eps, as narrow as is wanted. `reason` says why it
    has no closed form. Where `only_at` is not None it stands for its value at that eps alone."""

    bound: UnexpandedBound
    reason: str
    only_at: Fraction | None = None

    def at(self, eps: Fraction | int | str, digits: int = 30) -> tuple[Fraction, Fraction]:
        """Rationals (lo, hi) with lo <= value at `eps` <= hi, proved, agreeing to about `digits` digits unless it is
        tiny. eps > 0. Raises Undecided past a limit."""
        point = exact_rational(eps, "eps")
        if point <= 0:
            raise ValueError(f"eps is positive, not {point}")
        if self.only_at not in (None, point):
            raise ValueError(f"it holds at eps = {self.only_at} only, not at {point}")
        bits = 4 * digits
        low, high = self.bound.enclosure(point, bits)
        while (high - low) * 10**digits > abs(low) and bits < _MOST_TIMES * digits:
            bits *= 2
            low, high = self.bound.enclosure(point, bits)
        return low, high

    def standing_for(self, only_at: Fraction | None) -> EnclosedForm:
        """The same function, standing for its value at that eps alone; None: for all its values."""
        return self if only_at is None else EnclosedForm(self.bound, self.reason, only_at)

    def __str__(self) -> str:
        return self.reason


#: A probability as a function of eps.
Probability = ClosedForm | EnclosedForm
