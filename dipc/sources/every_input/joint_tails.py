"""An upper bound of the probability of other answers where comparisons cannot all be worst together.

For Laplace noise and distances σ >= 0, Pr[N >= σ] = exp(-rate·eps·σ)/2. A product of such tails depends on Σ rate·σ
alone, and where that sum is at least V over the class, it is at most one tail at V/rate times 1/2 for each other. Each
σ by itself may be 0 somewhere, where another is large. For integer noise and integers σ >= 0 the tail is
exp(-rate·eps·σ)/(1 + exp(-rate·eps)).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.quotient import Closed, Quotient
from dipc.chain.affine import Affine, combination
from dipc.measure.event import Family
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
) -> tuple[Bound, Sequence[Affine]] | None:
    """1 - Σ Pr[exit] is at least this for all inputs behind the facets, if `others` are all exits to other answers;
    with the sums Σ rate·σ that it depends on. None where no two tails are put together, or a weight depends on eps
    alone and a distance is open."""
    shares: list[Share] = []
    totals: list[Affine] = []
    for found in others:
        if distances.is_open and found.weight is not None and not is_constant(found.weight):
            return None
        parts = [part for part in found.parts if part.continuous or not distances.is_open]
        tails = [part for part in parts if is_tail(part) and _is_far(part, facets, distances)]
        total = _bound(total_of(tails), facets, distances) if len(tails) > 1 else None
        if total is None or (distances.is_open and total.base < 0):
            tails = []
        weight: Closed = ExpPoly.one() if found.weight is None else found.weight
        if tails:
            assert total is not None
            totals.append(total.form)
            amount = total.slope if distances.is_open else total.base
            weight = weight * front_of(tails) * ExpPoly.term(_ONE, 0, -max(amount, _ZERO))
        events = [widest(part, facets, distances, whole)[0] for part in parts if part not in tails]
        shares.append(Share(-weight, tuple(events)))
    return (Bound(tuple(shares), _ONE), totals) if totals else None


def is_tail(part: NoiseComponent) -> bool:
    """Whether it is one comparison of one noise that is in its tail where its slack is not positive."""
    if len(part.noises) != 1 or len(part.halfspaces) != 1 or part.noises[0].family is Family.ONE_SIDED:
        return False
    (half,) = part.halfspaces
    ((_, c),) = half.coefficients
    if half.radius or part.noises[0].mean:
        return False
    return part.continuous or (abs(c) == 1 and _is_whole(half.slack))


def _is_far(part: NoiseComponent, facets: Sequence[Moving], distances: ClaimedDistances) -> bool:
    """Whether the slack is not positive for any input behind the facets."""
    slack = _bound(-part.halfspaces[0].slack, facets, distances)
    return slack is not None and slack.base >= 0 and slack.slope >= 0


def total_of(tails: Sequence[NoiseComponent]) -> Affine:
    """Σ rate·σ: how far all of them are in their tails together."""
    return combination([(-_steepness(part), part.halfspaces[0].slack) for part in tails], _ZERO)


def front_of(tails: Sequence[NoiseComponent]) -> Closed:
    """The product of the tails at σ = 0."""
    found: Closed = ExpPoly.one()
    for part in tails:
        rate = part.noises[0].rate
        found = found * (Fraction(1, 2) if part.continuous else Quotient(ExpPoly.one(), 1 + ExpPoly.term(1, 0, -rate)))
    return found


def _is_whole(form: Affine) -> bool:
    return form.constant.denominator == 1 and all(c.denominator == 1 for _, c in form.inputs)


def _steepness(part: NoiseComponent) -> Fraction:
    """The rate with which the probability falls as the slack does."""
    ((_, c),) = part.halfspaces[0].coefficients
    return part.noises[0].rate / abs(c)


def _bound(form: Affine, facets: Sequence[Moving], distances: ClaimedDistances) -> SlackBound | None:
    found = best_bound(form, facets, distances.alpha)
    return None if found is None else slack_of(form, found, 0, distances)
