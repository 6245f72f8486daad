"""A lower bound of an answer's probability from upper bounds of the probabilities of all other answers.

If an answer has several exits, one of which becomes likely as another becomes unlikely, a bound exit by exit is poor.
If all outputs are finite, the answer's probability is 1 less that of the exits to other answers. Each of these never
decreases in its slacks. It is therefore at most its value at upper bounds of the slacks, without the half-spaces whose
slack has no upper bound.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dipc.algebra.exppoly import ExpPoly
from dipc.chain.state import Affine
from dipc.decide.obligation import Bound, Share
from dipc.measure.event import Event
from dipc.rules.centered_exits import NoiseComponent
from dipc.rules.goal import Goal, Rule, is_constant
from dipc.rules.halfspaces import SlackBound, has_gamma
from dipc.rules.rule import Bounds, Derivation, Farkas

_ONE = ExpPoly.ONE


def complement(goal: Goal) -> Bounds | None:
    """Return the bound 1 - Σ weight·Pr over the exits to wrong answers, with every slack at an upper bound.

    The exits are those of `goal` to answers other than that of its class. The result is None if these exits are not
    known, or if a distance is open and a weight depends on eps.
    """
    distances = goal.required
    if goal.other_exits is None:
        return None
    shares: list[Share] = []
    evidence: list[SlackBound] = []
    for centered in goal.other_exits:
        if distances.is_open and centered.weight is not None and not is_constant(centered.weight):
            return None
        # A component of integer noise depends on eps alone; without it the event is only more probable.
        components = [component for component in centered.parts if component.scales or not distances.is_open]
        bounded = [widest(component, goal) for component in components]
        weight = _ONE if centered.weight is None else centered.weight
        shares.append(Share(-weight, tuple([event for event, _ in bounded])))
        evidence += [slack for _, slacks in bounded for slack in slacks]
    why = Farkas(Derivation.OTHERS, tuple(evidence))
    return Bounds((Bound(tuple(shares), Fraction(1)),), why)


COMPLEMENT = Rule("1 minus the other answers, each slack at its greatest", complement, of_others=True)


def widest(component: NoiseComponent, goal: Goal) -> tuple[Event, tuple[SlackBound, ...]]:
    """Return (an event that contains `component` at every input of the class of `goal`, bounds that prove this).

    In the event, each slack has an upper bound as its value; constraints whose slack has no upper bound are left out.
    Each bound is a lower bound of a negated slack, from the facets of the class. If a distance is open, -slack >=
    base + distance·slope is used only if base >= 0, and the event has the slack -distance·slope.
    """
    distances = goal.required
    kept: list[Affine] = []
    slacks: list[SlackBound] = []
    for half in component.halfspaces:
        assert not has_gamma(half), "outputs are finite"
        bound = goal.slack_bound(-half)
        if bound is not None and (not distances.is_open or bound.base >= 0):
            kept.append(half)
            slacks.append(bound)
    levels = [(-base, -slope) for base, slope in map(distances.level, slacks)]
    return replace(component, halfspaces=tuple(kept)).event(levels), tuple(slacks)
