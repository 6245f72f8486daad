"""A lower bound of an answer's probability from upper bounds of all the others'.

An answer that is given by several exits, where one takes over as another one fades, is bounded badly exit by exit. If
all outputs are finite, its probability is 1 less that of the exits to other answers, and each of these never decreases
in its slacks: at upper bounds of the slacks, or without a half-space whose slack has none, it is at most that.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dipc.algebra.combine import product, total
from dipc.algebra.quotient import Closed
from dipc.chain.affine import Affine
from dipc.chain.constraints import Constraint
from dipc.chain.entailment import contradict
from dipc.measure import event as exact
from dipc.measure.measure import Measurer
from dipc.sources.every_input.exits import Exit, Part
from dipc.sources.every_input.halfspaces import Moving, best_bound, single_bound
from dipc.sources.every_input.lower import Distances, is_constant, slack_of


def complement_bound(
    others: Sequence[Exit],
    guards: Sequence[Constraint],
    walls: Sequence[Moving],
    distances: Distances,
    measurer: Measurer,
) -> Closed | None:
    """1 - Σ Pr[exit] at most, for all inputs behind the walls (which satisfy the guards), if `others` are all exits to
    other answers; a function as in `Lower`. None where a weight depends on eps alone and a distance is open.

    Raises Undecided past a limit of measuring.
    """
    shares: list[Closed] = []
    for found in others:
        if contradict([*guards, *found.guards]):
            continue
        if distances.is_open and found.weight is not None and not is_constant(found.weight):
            return None
        factors = [] if found.weight is None else [found.weight]
        # A noise on integers depends on eps alone; leaving it out makes the event only more probable.
        parts = [part for part in found.parts if part.continuous or not distances.is_open]
        factors += [measurer.measure(_widest(part, walls, distances)) for part in parts]
        shares.append(product(factors))
    return 1 - total(shares)


def _widest(part: Part, walls: Sequence[Moving], distances: Distances) -> exact.Event:
    constraints = []
    for half in part.halfspaces:
        assert not half.radius, "outputs are finite"
        greatest = _greatest(half.slack, walls, distances)
        if greatest is not None:
            constraints.append(exact.Constraint(half.coefficients, greatest))
    return exact.Event(part.noises, tuple(constraints))


def _greatest(slack: Affine, walls: Sequence[Moving], distances: Distances) -> Fraction | None:
    """An upper bound of the slack, a multiple of the distance where one is open; None where there is none."""
    for bounding in (single_bound, best_bound):
        bound = bounding(-slack, walls, distances.alpha)
        if bound is not None:
            # -slack >= base + distance·slope, so that slack <= -base - distance·slope.
            found = slack_of(bound, 0, distances)
            if not distances.is_open:
                return -found.base
            if found.base >= 0:
                return -found.slope
    return None
