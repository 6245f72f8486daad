"""An upper bound of the probability of other answers, for comparisons that cannot all be worst together.

For Laplace noise N of mean 0, the probability of a *tail* is Pr[N >= σ] = exp(-rate·eps·σ)/2 for σ >= 0. A product of
tails depends on the sum of rate·σ over them alone. If that sum is at least V over the class, the product is at most one
tail at σ = V/rate times 1/2 for each other tail. A bound of each tail by itself may be poor, because its σ can be 0 at
an input where another σ is large. For integer noise and integers σ >= 0, a tail is exp(-rate·eps·σ)/(1 +
exp(-rate·eps)).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dipc.algebra.exppoly import Closed, ExpPoly
from dipc.chain.state import Affine, combination
from dipc.decide.obligation import Bound, Share
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Noise
from dipc.measure.measure import measure
from dipc.noise.laws import law_of
from dipc.rules.centered_exits import NoiseComponent
from dipc.rules.complement import widest
from dipc.rules.goal import Goal, Rule, is_constant, joint_evidence
from dipc.rules.halfspaces import has_gamma
from dipc.rules.rule import Bounds, Derivation

_ZERO, _ONE = Fraction(0), Fraction(1)

#: A comparison whose probability at a slack -v, for v >= 0, is exp(-v·eps)/2.
_TAIL = NoiseComponent((Noise(law_of("Lap"), _ONE, _ZERO),), (Affine.noise(0),))


def joint_tails(goal: Goal) -> Bounds | None:
    """Return the bound 1 - Σ weight·Pr over the exits to wrong answers, with the product of tails in each exit bounded.

    A tail is the probability that one noise exceeds its mean by at least a given amount. The exits are those of `goal`
    to answers other than that of its class. The result is None if these exits are not known, if no exit has two tails,
    or if a distance is open and a weight depends on eps.
    """
    distances = goal.required
    shares: list[Share] = []
    totals: list[Affine] = []
    for centered in goal.other_exits or ():
        if distances.is_open and centered.weight is not None and not is_constant(centered.weight):
            return None
        components = [component for component in centered.parts if component.scales or not distances.is_open]
        tails = [component for component in components if is_tail(component) and _is_far(component, goal)]
        amount = goal.slack_bound(total_of(tails)) if len(tails) > 1 else None
        if amount is None or not distances.is_nonnegative(amount):
            tails = []
        events = [widest(component, goal)[0] for component in components if component not in tails]
        weight: Closed = ExpPoly.ONE if centered.weight is None else centered.weight
        if tails:
            assert amount is not None
            totals.append(amount.form)
            base, slope = distances.level(amount)
            weight = weight * front_of(tails) * 2
            events.append(_TAIL.event([(-base, -slope)]))
        shares.append(Share(-weight, tuple(events)))
    if not totals:
        return None
    return Bounds((Bound(tuple(shares), _ONE),), joint_evidence(goal, totals, Derivation.TAILS))


JOINT_TAILS = Rule("the tails of all other answers together", joint_tails, of_others=True)


def is_tail(component: NoiseComponent) -> bool:
    """Return True if the probability of `component` is a tail of a single noise wherever its slack is at most 0.

    The tail is an exponential function of the slack.
    """
    if len(component.noises) != 1 or len(component.halfspaces) != 1 or not component.noises[0].law.exponential_tails:
        return False
    (half,) = component.halfspaces
    ((_, c),) = half.noises
    if has_gamma(half) or component.noises[0].mean:
        return False
    numbers = [half.constant, *[factor for _, factor in half.inputs]]
    return component.continuous or (abs(c) == 1 and all(number.denominator == 1 for number in numbers))


def _is_far(component: NoiseComponent, goal: Goal) -> bool:
    """Return True if the slack of `component` is proved to be at most 0 for all inputs of the class of `goal`."""
    slack = goal.slack_bound(-component.halfspaces[0])
    return slack is not None and goal.required.is_nonnegative(slack)


def total_of(tails: Sequence[NoiseComponent]) -> Affine:
    """Return Σ rate·σ over all `tails` as a form of the inputs.

    Here σ is how far beyond its mean a noise must be for the comparison of a tail to hold, and rate is the rate of this
    noise.
    """
    summands = []
    for component in tails:
        (half,) = component.halfspaces
        ((_, c),) = half.noises
        # The probability is proportional to e^(rate·slack·eps) where the slack is at most 0.
        rate = component.noises[0].rate / abs(c)
        summands.append((-rate, half.noiseless))
    return combination(summands, _ZERO)


def front_of(tails: Sequence[NoiseComponent]) -> Closed:
    """Return the product of the probabilities that `tails` have, each at slack 0."""
    function: Closed = ExpPoly.ONE
    for component in tails:
        function = function * measure(Event(component.noises, (Halfspace(((0, _ONE),), _ZERO),)))
    return function
