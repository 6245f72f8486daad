"""How the probability of a row depends on gamma: in steps, or strictly growing, or in a way that is not known.

Pr never falls as gamma grows. The events of the row's exits are known before gamma is: linear constraints on noises,
and balls |value - answer| <= gamma.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dipc.algebra.combine import product
from dipc.algebra.quotient import Closed
from dipc.chain.event import EventTemplate
from dipc.exits.probability import ExitShare, Probabilities
from dipc.lang.core import IntType
from dipc.measure.event import Family
from dipc.metric.nearness import Nearness
from dipc.tables.cells import Cell
from dipc.tables.table import Row


@dataclass(frozen=True, slots=True)
class Steps:
    """Pr changes only where gamma is a natural number (only with `integers`) or one of the `jumps`, increasing, and
    has there the value that it keeps up to the next change."""

    integers: bool
    jumps: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True)
class Smooth:
    """Every ball is around a value with continuous noise, and no noise is discrete: see `grows_up_to`."""


def course_of(probabilities: Probabilities, row: Row) -> Steps | Smooth | None:
    """How Pr of the row's outputs depends on gamma; None where that is not known. Raises Undecided."""
    program = probabilities.program
    nearness = Nearness(program)
    if not nearness.plain:
        return Steps(False, nearness.distances(row.inputs, row.outputs))
    exits = [event for event, _ in probabilities.exits(row.inputs, row.outputs)]
    if not any(_balls(event) for event in exits):
        return Steps(False, _jumps(probabilities, row, exits))
    slots = {slot for event in exits for slot in _balls(event)}
    if all(isinstance(program.slots[slot].type, IntType) for slot in slots):
        return Steps(True, _jumps(probabilities, row, exits))
    discrete = any(
        noise.family is Family.DISCRETE_LAPLACE for event in exits for part in event.components for noise in part.noises
    )
    # An output without noise that is right lies in every ball.
    return None if discrete or any(_jumps(probabilities, row, exits)) else Smooth()


def largest_distance(probabilities: Probabilities, row: Row) -> Fraction | None:
    """The gamma from which on nothing changes, where answers have distances of the `metric` block's own; None where
    they have the product distance."""
    nearness = Nearness(probabilities.program)
    return None if nearness.plain else max(nearness.distances(row.inputs, row.outputs), default=Fraction(0))


def grows_up_to(probabilities: Probabilities, row: Row, gamma: Cell, larger: Cell) -> bool:
    """Whether Pr at every smaller gamma is less than at this one, for every eps; True is proved, for a Smooth row.

    Theorem. Let E(g) be the noises of one exit that satisfy all its constraints and its balls of radius g. If the
    measure of E(s) is not 0, and not that of E(t) for some t > s, then that of every E(g) with g < s is less.

    Proof. The constraints are linear in the noises and g together, so E(g) contains λE(a) + (1-λ)E(b) for
    g = λa + (1-λ)b. So for each direction the support function of E(g) is concave in g, and it never falls. Say E(g)
    has the measure of E(s), for some g < s. The sets are closed and convex, the densities are positive where the noises
    range, which is convex, and the measure is not 0: so E(g) = E(s). Then the support functions do not grow from g to
    s, and being concave they do not grow after s: E(t) = E(s). ∎
    """
    pairs = zip(
        probabilities.shares(row.inputs, row.outputs, gamma),
        probabilities.shares(row.inputs, row.outputs, larger),
        strict=True,
    )
    for now, then in pairs:
        measure = _measure(probabilities, now)
        if not measure.is_zero() and measure != _measure(probabilities, then):
            return True
    return False


def _measure(probabilities: Probabilities, share: ExitShare) -> Closed:
    return product(probabilities.measurer.event(factor.event) for factor in share.factors)


def _balls(event: EventTemplate) -> set[int]:
    """The outputs with noise that have a ball."""
    return {slot for part in event.components for slot in part.balls}


def _jumps(probabilities: Probabilities, row: Row, exits: Sequence[EventTemplate]) -> tuple[Fraction, ...]:
    """The distances of outputs without noise from the answers."""
    program = probabilities.program
    reals = {
        slot: cell.value
        for slot, cell in zip(program.inputs, row.inputs, strict=True)
        if isinstance(cell.value, Fraction)
    }
    answers = {
        slot: cell.value
        for slot, cell in zip(program.outputs, row.outputs, strict=True)
        if cell is not None and isinstance(cell.value, Fraction)
    }
    return tuple(sorted({abs(form.at(reals) - answers[slot]) for event in exits for slot, form in event.points}))


def settled_at_zero(probabilities: Probabilities, row: Row) -> Fraction | None:
    """A gamma from which on Pr has, as eps goes to 0, one limit: that of every larger gamma, and no smaller gamma has a
    greater one. None where answers have distances of the `metric` block's own. Raises Undecided.

    With X = eps·x the noises have a joint limit in distribution, of independent Laplace or exponential noises, whether
    they are continuous or discrete. An exit's event is A·X <= eps·(b + gamma·g) with no row of A zero, so its
    probability goes to that of A·X <= 0: the X on the edge of that have measure 0. Only for outputs without noise
    does gamma decide alone, up to the largest of their distances from the answers.
    """
    if not Nearness(probabilities.program).plain:
        return None
    exits = [event for event, _ in probabilities.exits(row.inputs, row.outputs)]
    return max((Fraction(1), *_jumps(probabilities, row, exits)))
