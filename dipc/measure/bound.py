"""Sums of weighted probabilities of events, and their measures."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from time import perf_counter
from typing import Any

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.combine import product, total
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Undecided
from dipc.algebra.quotient import Closed
from dipc.measure.event import Event
from dipc.measure.measure import Measurer


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
        known = self._hash
        if known is None:
            known = hash((self.shares, self.constant))
            object.__setattr__(self, "_hash", known)
        return known

    def __reduce__(self) -> tuple[Any, ...]:
        # Names hash differently in each process.
        return Bound, (self.shares, self.constant)


#: Bounds and events that are remembered at a time: a table may have millions.
_REMEMBERED = 200_000


class BoundMeasurer:
    """Bounds in closed form; equal functions are the same ClosedForm object.

    `measured` counts the events measured, in so many `seconds`; equal ones are measured once.
    """

    def __init__(self, measurer: Measurer | None = None) -> None:
        self.measurer = measurer or Measurer()
        self.measured = 0
        self.seconds = 0.0
        self._bounds: dict[Bound, ClosedForm | Undecided] = {}
        self._events: dict[Event, Closed | Undecided] = {}
        self._products: dict[tuple[int, ...], Closed] = {}
        self._interned: dict[Closed, ClosedForm] = {}

    def measure(self, bound: Bound) -> ClosedForm:
        """The bound, for every value of its variable. Raises Undecided past a limit."""
        found = self._bounds.get(bound)
        if found is None:
            try:
                values = [self._share(share) for share in bound.shares]
                found = self.intern(total([ExpPoly.constant(bound.constant), *values] if bound.constant else values))
            except Undecided as undecided:
                found = _remembered(undecided)
            if len(self._bounds) >= _REMEMBERED:
                self._bounds.clear()
            self._bounds[bound] = found
        if isinstance(found, Undecided):
            raise _remembered(found)
        return found

    def event(self, event: Event) -> Closed:
        """The measure of one event. Raises Undecided past a limit."""
        found = self._events.get(event)
        if found is None:
            begun = perf_counter()
            self.measured += 1
            try:
                found = self.intern(self.measurer.measure(event)).value
            except Undecided as undecided:
                found = _remembered(undecided)
            self.seconds += perf_counter() - begun
            if len(self._events) >= _REMEMBERED:
                self._events.clear()
            self._events[event] = found
        if isinstance(found, Undecided):
            raise _remembered(found)
        return found

    def intern(self, value: Closed) -> ClosedForm:
        """The one object for this function."""
        form = self._interned.get(value)
        if form is None:
            form = self._interned[value] = ClosedForm(value)
        return form

    def _share(self, share: Share) -> Closed:
        factors = [] if share.weight is None else [self.intern(share.weight).value]
        factors += [self.event(event) for event in share.events]
        if len(factors) == 1:
            return factors[0]
        # By identity, which is that of functions here.
        key = tuple(sorted(map(id, factors)))
        known = self._products.get(key)
        if known is None:
            known = self._products[key] = product(factors)
        return known


def _remembered(undecided: Undecided) -> Undecided:
    """The same without the frames it was raised through, which would keep all that they hold alive."""
    return undecided.with_traceback(None)
