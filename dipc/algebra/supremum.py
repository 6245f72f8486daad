"""The answer to: how large does a closed form get?"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Supremum:
    """The least upper bound of a function on an interval: `low` <= it <= `high`, both None where it is infinite, and
    equal where it is rational. `eps` encloses a place where it is `attained` or approached: None is infinity, (0, 0)
    the limit at 0."""

    low: Fraction | None
    high: Fraction | None
    eps: tuple[Fraction, Fraction] | None
    attained: bool | None
