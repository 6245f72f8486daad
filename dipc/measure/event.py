"""Events: linear constraints over independent noises, with rational numbers only, and graphs of them.

The vocabulary that the chain and the exact mathematics share. Rates are multiples of eps; means, bounds and
constants are on the program's scale.
"""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from typing import Any, TypeAlias

from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace
from dipc.noise.law import Law


@frozen
class Noise:
    """An independent random variable: its mean plus noise of a law of `dipc.noise` with this rate > 0.

    The mean of integer noise is an integer.
    """

    law: Law
    rate: Fraction
    mean: Fraction


@frozen
class Event:
    """The conjunction of `constraints` over the product of `noises`; their keys are places in it.

    For continuous noises the measure of the open and of the closed half-space is the same.
    """

    noises: tuple[Noise, ...]
    constraints: tuple[Halfspace, ...]
    #: An event has many numbers, and is looked up more often than it is made.
    _hash: int | None = field(default=None, init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        known = self._hash
        if known is None:
            known = hash((self.noises, self.constraints))
            object.__setattr__(self, "_hash", known)
        return known

    def __reduce__(self) -> tuple[Any, ...]:
        # Names hash differently in each process.
        return Event, (self.noises, self.constraints)


@frozen
class RunStep:
    """A step from one node to another, taken where its conditions hold; these are given by index."""

    source: int
    goal: int
    conditions: tuple[int, ...]


@frozen
class RunGraph:
    """The runs to one answer over the product of `noises`, as paths of a graph from its first node to its last.

    Nodes are numbered along all paths. A path holds where all `conditions` of its steps do; almost surely at most one
    path holds. `live` gives for each node the only noise that steps before it and steps after it both mention, None
    where there is none.

    The measure is the probability that some path holds. Conditions are like the constraints of an `Event`.
    """

    noises: tuple[Noise, ...]
    conditions: tuple[Halfspace, ...]
    steps: tuple[RunStep, ...]
    live: tuple[int | None, ...]


#: What has a probability: one conjunction, or the runs to an answer.
Happening: TypeAlias = Event | RunGraph
