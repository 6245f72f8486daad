"""Events: linear constraints with rational coefficients on independent noises, and graphs of such constraints.

The chain and the exact mathematics share the classes of this module. Rates are multiples of eps; means, bounds and
constants are in the units of the program.
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
    """An independent random variable: the constant `mean` plus noise that has the `law` and the rate `rate`·eps.

    If the law does not depend on eps, the rate is `rate` itself, which is positive. The mean of integer noise is an
    integer.
    """

    law: Law
    rate: Fraction
    mean: Fraction


@frozen
class Event:
    """The event that all `constraints` hold for the independent `noises`.

    A constraint is a half-space, and refers to a noise by its index in `noises`. For continuous noises the open and the
    closed half-space have the same probability.
    """

    noises: tuple[Noise, ...]
    constraints: tuple[Halfspace, ...]
    #: The cached hash: events have many numbers, and are looked up more often than they are made.
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
    """A step of a `RunGraph`, from the node `source` to the node `goal`.

    A run takes the step only if certain conditions of the graph hold. `conditions` has their indices.
    """

    source: int
    goal: int
    conditions: tuple[int, ...]


@frozen
class RunGraph:
    """The runs of a program to one answer, as paths of a graph from its first node to its last.

    Nodes are integers, which increase along every path. A path holds if all conditions of its `steps` do. The `noises`
    are independent, and almost surely at most one path holds. The measure of the graph is the probability that some
    path holds. A step refers to `conditions` by their indices, and a condition refers to a noise by its index.

    `live` gives for each node the one noise that is mentioned both before and after the node, or None if there is none.
    """

    noises: tuple[Noise, ...]
    conditions: tuple[Halfspace, ...]
    steps: tuple[RunStep, ...]
    live: tuple[int | None, ...]


#: A random event: one conjunction of constraints, or the runs to an answer.
Happening: TypeAlias = Event | RunGraph
