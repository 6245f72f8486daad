"""Sums of weighted probabilities of events that are not measured yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, cast

from dipc.algebra.quotient import Closed
from dipc.measure.event import Event


@dataclass(frozen=True, slots=True)
class Share:
    """weight · Π Pr[event], for independent events; `weight` None is 1."""

    weight: Closed | None
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """constant + Σ shares as a function of the variable: the probability of an answer, or a proved lower bound of it.

    It is measured when it is decided, so that equal bounds are measured once and by whoever decides.
    """

    shares: tuple[Share, ...]
    constant: Fraction = Fraction(0)
    #: It is looked up more often than it is made.
    _hash: int | None = field(default=None, init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        if self._hash is None:
            object.__setattr__(self, "_hash", hash((self.shares, self.constant)))
        return cast(int, self._hash)

    def __reduce__(self) -> tuple[Any, ...]:
        # Names hash differently in each process.
        return Bound, (self.shares, self.constant)
