"""An upper bound of the probability of other answers where comparisons cannot all be worst together.

For Laplace noise and distances σ >= 0, Pr[N >= σ] = exp(-rate·eps·σ)/2. A product of such tails depends on Σ rate·σ
alone, and where that sum is at least V over the class, it is at most one tail at V/rate times 1/2 for each other. Each
σ by itself may be 0 somewhere, where another is large.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dipc.algebra.exppoly import ExpPoly
from dipc.chain.affine import Affine, combination
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Family
from dipc.obligations.obligation import Bound, Share
from dipc.sources.every_input.evidence import ClaimedDistances, SlackBound
from dipc.sources.every_input.exits import CenteredExit, NoiseComponent
from dipc.sources.every_input.halfspaces import Moving, best_bound
from dipc.sources.every_input.lower import is_constant, slack_of
from dipc.sources.every_input.upper import widest

_ZERO, _ONE = Fraction(0), Fraction(1)


def joint_bound(
    others: Sequence[CenteredExit],
    facets: Sequence[Moving],
    distances: ClaimedDistances,
    whole: frozenset[int] = frozenset(),
) -> Bound | None:
    """1 - Σ Pr[exit] is at least this for all inputs behind the facets, if `others` are all exits to other answers.
    None where no two tails are put together, or a weight depends on eps alone and a distance is open."""
    shares: list[Share] = []
    joined = False
    for found in others:
        if distances.is_open and found.weight is not None and not is_constant(found.weight):
            return None
        parts = [part for part in found.parts if part.continuous or not distances.is_open]
        tails = [part for part in parts if _is_tail(part, facets, distances)]
        total = _least(tails, facets, distances) if len(tails) > 1 else None
        if total is None:
            tails = []
        events = [widest(part, facets, distances, whole)[0] for part in parts if part not in tails]
        for number, part in enumerate(tails):
            assert total is not None
            (half,) = part.halfspaces
            amount = total.slope if distances.is_open else total.base
            away = max(amount, _ZERO) / _steepness(part) if number == 0 else _ZERO
            events.append(Event(part.noises, (Halfspace(half.coefficients, -away),)))
        joined = joined or bool(tails)
        weight = ExpPoly.one() if found.weight is None else found.weight
        shares.append(Share(-weight, tuple(events)))
    return Bound(tuple(shares), _ONE) if joined else None


def _is_tail(part: NoiseComponent, facets: Sequence[Moving], distances: ClaimedDistances) -> bool:
    """Whether it is one comparison of one Laplace noise that is in its tail for all inputs behind the facets."""
    if len(part.noises) != 1 or len(part.halfspaces) != 1 or part.noises[0].family is not Family.LAPLACE:
        return False
    (half,) = part.halfspaces
    if half.radius or part.noises[0].mean:
        return False
    slack = _bound(-half.slack, facets, distances)
    return slack is not None and slack.base >= 0 and slack.slope >= 0


def _least(parts: Sequence[NoiseComponent], facets: Sequence[Moving], distances: ClaimedDistances) -> SlackBound | None:
    """A lower bound of Σ rate·σ: of how far all of them are in their tails together."""
    forms = [(-_steepness(part), part.halfspaces[0].slack) for part in parts]
    found = _bound(combination(forms, _ZERO), facets, distances)
    return None if found is None or (distances.is_open and found.base < 0) else found


def _steepness(part: NoiseComponent) -> Fraction:
    """The rate with which the probability falls as the slack does."""
    ((_, c),) = part.halfspaces[0].coefficients
    return part.noises[0].rate / abs(c)


def _bound(form: Affine, facets: Sequence[Moving], distances: ClaimedDistances) -> SlackBound | None:
    found = best_bound(form, facets, distances.alpha)
    return None if found is None else slack_of(form, found, 0, distances)
