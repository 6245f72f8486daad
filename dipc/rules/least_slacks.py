"""The least probability of an answer over a class of inputs, or a lower bound of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from math import ceil, gcd, lcm
from typing import TYPE_CHECKING

from dipc.algebra.exppoly import Closed, Quotient
from dipc.chain.state import Affine
from dipc.decide.obligation import Bound, Share
from dipc.frozen import frozen
from dipc.rules.centered_exits import CenteredExit
from dipc.rules.halfspaces import (
    GAMMA,
    Corner,
    SlackBound,
    best_bound,
    corner,
    has_gamma,
    point_at,
    single_bounds,
    slack,
)
from dipc.rules.rule import Bounds, Derivation, Farkas, Requirement, Rule

if TYPE_CHECKING:
    from dipc.rules.goal import Goal


@frozen
class Lower(Bounds):
    """The bound with every slack at its least value, as a single function.

    - `evidence` has the bounds of the slacks, with their proofs.
    - `lost` is the reason why the bound may be less than the least probability. If it is None, the bound is the
      probability of the right answer itself, at the input `corner`, which is behind all facets.
    - `slacks` are the slacks that the bound depends on, as forms of the inputs.
    - `tight` has the indices of the facets that are equalities at the corner.
    """

    evidence: Farkas
    corner: Corner | None
    lost: str | None
    slacks: tuple[Affine, ...]
    tight: frozenset[int]

    @property
    def bound(self) -> Bound:
        return self.functions[0]

    @property
    def attained(self) -> bool:
        """Whether the bound is the probability of the right answer at the corner."""
        return self.lost is None


Bounding = Callable[[Affine, Sequence[Affine], Fraction | None], SlackBound | None]

#: By a half-space of noises or a point, the bound of its slack; None if it has none.
_Slacks = Mapping[Affine, SlackBound | None]


def least_slacks(goal: Goal, exits: Sequence[CenteredExit]) -> Lower:
    """Return the bound Σ weight·Pr over `exits` with each slack at its least behind the facets of `goal`.

    The exits are to the right answer.

    **Lemma.** Pr[A_1·N + s_1 >= 0, …, A_n·N + s_n >= 0] never decreases when a slack grows, as the event, a set of
    values of N, only grows. Exits exclude each other and their weights are not negative. Therefore Σ weight·Pr at lower
    bounds of all slacks, exit by exit, is at most the probability of the answer at every input. ∎

    Every slack is bounded below by weights on the facets (Farkas). If a distance is open, the slacks in the bound have
    to be multiples of it. A lower bound base + distance·slope with base > 0 is therefore lowered to distance·slope, and
    an exit with base < 0 is left out. Exits are also left out if their weight, or one of their integer noises, depends
    on eps alone.
    """
    facets, distances = goal.convex.facets, goal.required
    parts = [[half for component in centered.parts for half in component.halfspaces] for centered in exits]
    every = dict.fromkeys(form for centered, own in zip(exits, parts, strict=True) for form in (*centered.points, *own))
    noisy = dict.fromkeys(chain.from_iterable(parts))
    single = single_bounds(facets)
    slacks = _bounded(every, goal, lambda form, _, alpha: single(form, alpha))
    corner = _corner(noisy, slacks, goal)
    # If one input attains the bounds of all slacks, no slack has a better bound.
    if (corner is None or None in slacks.values()) and len(facets) > 1:
        slacks = _bounded(every, goal, best_bound)
        corner = _corner(noisy, slacks, goal)
    shares: list[Share] = []
    evidence: list[SlackBound] = []
    lost: list[str] = []
    for centered in exits:
        reason = _unusable(centered, slacks, distances)
        if reason is not None:
            lost.append(reason)
            continue
        if centered.in_balls and not distances.gamma_base and not distances.gamma_rate:
            continue  # continuous noise equals a number with probability 0
        bounds = [[_bound_of(half, slacks) for half in component.halfspaces] for component in centered.parts]
        events = [
            component.event(list(map(distances.level, own)))
            for component, own in zip(centered.parts, bounds, strict=True)
        ]
        shares.append(Share(centered.weight, tuple(events)))
        evidence += [_bound_of(point, slacks) for point in centered.points]
        evidence += chain.from_iterable(bounds)
    if distances.is_open and any(bound is not None and bound.base > 0 for bound in map(slacks.get, noisy)):
        lost.append("a slack does not shrink to 0 with the distance")
    if corner is None:
        lost.append("no single input makes every slack the least")
    return Lower(
        (Bound(tuple(shares)),),
        Farkas(Derivation.WAYS, tuple(evidence)),
        corner,
        lost[0] if lost else None,
        tuple(dict.fromkeys(form for form in map(slack, slacks) if form.inputs)),
        _tight(noisy, slacks),
    )


LEAST_SLACKS = Rule("each slack at its least", lambda goal: least_slacks(goal, goal.exits))


def _bounded(halves: Iterable[Affine], goal: Goal, bounding: Bounding) -> _Slacks:
    facets, distances, whole = goal.convex.facets, goal.required, goal.convex.inputs.whole
    return {half: slack_bound(half, facets, distances, whole, bounding=bounding) for half in halves}


def _bound_of(half: Affine, slacks: _Slacks) -> SlackBound:
    bound = slacks[half]
    assert bound is not None, "an exit with a slack that is not bounded is left out"
    return bound


def _unusable(centered: CenteredExit, slacks: _Slacks, distances: Requirement) -> str | None:
    """Return the reason why the exit `centered` cannot be used in the bound, or None if it can.

    `slacks` has the bounds of its slacks, and `distances` the claim's alpha and gamma.
    """
    for point in centered.points:
        bound = slacks[point]
        if bound is None or not distances.is_nonnegative(bound):
            return "an output without noise is not always within gamma of the right answer"
    if distances.is_open:
        if centered.weight is not None and not is_constant(centered.weight):
            return "the weight of a choice does not scale with the distance"
        if not all(component.continuous for component in centered.parts):
            return "noise on integers does not scale with the distance"
        if not all(component.scales for component in centered.parts):
            return "a noise is not proved to scale with eps"
    for component in centered.parts:
        for half in component.halfspaces:
            bound = slacks[half]
            if bound is None:
                return "a slack is not bounded below on the class"
            if distances.is_open and bound.base < 0:
                return "a slack is negative where the distance is small"
    return None


def _tight(noisy: Iterable[Affine], slacks: _Slacks) -> frozenset[int]:
    return frozenset([k for bound in map(slacks.get, noisy) if bound is not None for k in bound.tight])


def _corner(noisy: Iterable[Affine], slacks: _Slacks, goal: Goal) -> Corner | None:
    """Return an input of the class of `goal` at which each slack in `noisy` is equal to its bound, or None.

    `slacks` has the bounds. If alpha is open, the input is a function of alpha, and None is returned if an input is an
    int.
    """
    distances, whole = goal.required, goal.convex.inputs.whole
    found = corner(goal.convex.facets, _tight(noisy, slacks), goal.setting.slots, distances.alpha)
    if found is None or not whole:
        return found
    if distances.alpha is None:
        return None
    point = {**point_at(found, distances.alpha), GAMMA: distances.gamma_base}
    if any(point[slot].denominator != 1 for slot in whole):
        return None
    bounds = [(half, bound) for half in noisy if (bound := slacks[half]) is not None]
    return found if all(half.noiseless.evaluate(point) == bound.base for half, bound in bounds) else None


def slack_bound(
    half: Affine,
    facets: Sequence[Affine],
    distances: Requirement,
    whole: frozenset[int] = frozenset(),
    *,
    bounding: Bounding = best_bound,
) -> SlackBound | None:
    """Return the best lower bound of the slack of `half` that `facets` prove, or None if they prove none.

    `distances` has the claim's alpha and gamma, and `bounding` finds the bound for gamma = 0. If alpha is a number or
    distances are integers, the bound of a form of the int inputs `whole` is rounded up to a value that the form can
    take.
    """
    form = slack(half)
    bound = bounding(form, facets, distances.sharpest)
    if bound is None:
        return None
    base, slope = bound.at_alpha(distances.alpha_base), bound.slope * distances.alpha_rate
    counted = distances.start is not None or not distances.alpha_rate
    if counted and form.inputs and all(slot in whole for slot, _ in form.inputs):
        base = _raised(form, base, slope)
    if not has_gamma(half):
        return SlackBound(form, bound.weights, base, slope)
    return SlackBound(form, bound.weights, base + distances.gamma_base, slope + distances.gamma_rate, 1)


def joint_evidence(goal: Goal, more: Iterable[Affine] = (), derivation: Derivation = Derivation.VERTICES) -> Farkas:
    """Return evidence with bounds from below and above for all slacks of `goal`, and for the forms in `more`.

    It is for a rule whose bounds follow from several slacks at once; `derivation` names the way in which they follow.
    All bounds are proved by the facets of the goal's class.
    """
    forms = dict.fromkeys(side for each in (*goal.forms, *more) for side in (each, -each))
    slacks = [goal.slack_bound(form) for form in forms]
    return Farkas(derivation, tuple([slack for slack in slacks if slack is not None]))


def _raised(form: Affine, bound: Fraction, slope: Fraction) -> Fraction:
    """Return the least value >= `bound` that `form` - `slope`·d can take at integer inputs and integer d.

    At integers, `form` - `slope`·d is the constant of the form plus a multiple of the greatest common divisor of
    `slope` and the form's coefficients.
    """
    numbers = [slope, *[c for _, c in form.inputs]]
    below = lcm(*[c.denominator for c in numbers])
    step = Fraction(gcd(*[int(c * below) for c in numbers]), below)
    return form.constant + step * ceil((bound - form.constant) / step)


def is_constant(weight: Closed) -> bool:
    """Return True if `weight` does not depend on eps."""
    if isinstance(weight, Quotient):
        return False
    return all(k == 0 and q == 0 for k, q, _ in weight.terms())
