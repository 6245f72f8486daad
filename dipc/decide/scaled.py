"""Write obligations for all eps > 0 in one scale and order, so that many inputs have equal obligations.

1. Noise that scales with 1/eps has the same probabilities at t·eps if all constants of its half-spaces are divided by
   t. So an obligation for all eps > 0 is equivalent to one whose constants and means are divided by t, and whose beta
   and weights are taken at eps/t. The scale t is the greatest rate of beta.
2. The noises of an event are independent, and may be renumbered; so may its half-spaces.
3. An event becomes larger if the constants of its half-spaces increase. So a bound whose weights are not negative
   becomes smaller, or stays equal, if each constant is replaced by a lesser one. The lesser one is the least constant
   of the bound itself, or the least of those that several bounds have in its place.

Suppose that alpha is dd(u), and beta a function of alpha·eps. Then all rows of a noisy maximum have the same obligation
with the least constants, because the least constant is a multiple of dd(u). The same is true of programs that compare
noisy values with one threshold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from dipc.algebra.exppoly import fraction_of
from dipc.decide.obligation import Obligation
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event
from dipc.measure.measure import Bound
from dipc.sign.interval import Interval
from dipc.sign.piecewise import BetaForm

_ZERO = Fraction(0)


def scaled_obligation(obligation: Obligation, *, least: bool) -> Obligation | None:
    """Return `obligation` with its variable rescaled and its noises sorted, so that many inputs give equal results.

    The result is equivalent to `obligation`. It is None unless the obligation is about all eps > 0, its beta is one
    closed form, and all noises scale with 1/eps. If `least` is True, all constants of an event are replaced by the
    least of them; the result then implies `obligation`, if no weight of the bound is negative.
    """
    bound, beta = obligation.bound, obligation.beta
    if obligation.intervals != (Interval.POSITIVE,) or beta.closed is None or not bound.is_of_conjunctions:
        return None
    value = beta.closed.value
    scale = max([abs(rate) for poly in fraction_of(value) for _, rate, _ in poly.terms()], default=_ZERO)
    noises = [noise for share in bound.shares for event in share.conjunctions for noise in event.noises]
    if not scale or not all(noise.law.scales for noise in noises):
        return None
    shares = []
    for share in bound.shares:
        events = [_scaled_event(event, scale, least) for event in share.conjunctions]
        weight = None if share.weight is None else share.weight.scaled(1 / scale)
        shares.append(replace(share, weight=weight, events=tuple(sorted(events, key=repr))))
    return Obligation(Bound(tuple(shares), bound.constant), BetaForm(value.scaled(1 / scale)), obligation.intervals)


def _scaled_event(event: Event, scale: Fraction, least: bool) -> Event:
    if not event.constraints:
        return event
    constants = [item.constant / scale for item in event.constraints]
    if least:
        constants = [min(constants)] * len(constants)
    mentions: list[list[tuple[Fraction, tuple[Fraction, ...], bool, Fraction]]] = [[] for _ in event.noises]
    for item, constant in zip(event.constraints, constants, strict=True):
        side = tuple(sorted([c for _, c in item.coefficients]))
        for position, c in item.coefficients:
            mentions[position].append((c, side, item.strict, constant))
    keys = [
        (
            noise.law.identity,
            noise.rate,
            noise.mean / scale,
            sorted([mention[:3] for mention in mine]),
            sorted([mention[3] for mention in mine]),
        )
        for noise, mine in zip(event.noises, mentions, strict=True)
    ]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    place = {position: index for index, position in enumerate(order)}
    noises = tuple([replace(event.noises[position], mean=event.noises[position].mean / scale) for position in order])
    constraints = [
        Halfspace(tuple(sorted([(place[position], c) for position, c in item.coefficients])), constant, item.strict)
        for item, constant in zip(event.constraints, constants, strict=True)
    ]
    return Event(noises, tuple(sorted(constraints, key=lambda item: (item.coefficients, item.strict, item.constant))))


def constants_of(bound: Bound) -> list[Fraction]:
    """Return the constants of all half-spaces of `bound`, in order.

    Every event of the bound must be a conjunction of half-spaces.
    """
    return [item.constant for share in bound.shares for event in share.conjunctions for item in event.constraints]


def with_least_constants(bounds: Sequence[Bound]) -> Bound | None:
    """Return a bound that is at most each of `bounds`, which must differ only in the constants of their half-spaces.

    Each half-space has the least of its constants. The result is None if the bounds differ in anything else. Their
    weights must not be negative.
    """
    shapes = {with_constants(bound, [_ZERO] * len(constants_of(bound))) for bound in bounds}
    if len(shapes) != 1:
        return None
    return with_constants(bounds[0], [min(column) for column in zip(*map(constants_of, bounds), strict=True)])


def with_constants(bound: Bound, constants: Iterable[Fraction]) -> Bound:
    """Return `bound` with `constants` in place of the constants of its half-spaces, in order.

    Every event of the bound must be a conjunction of half-spaces.
    """
    left = iter(constants)
    shares = []
    for share in bound.shares:
        events = [
            Event(event.noises, tuple([replace(item, constant=next(left)) for item in event.constraints]))
            for event in share.conjunctions
        ]
        shares.append(replace(share, events=tuple(events)))
    return Bound(tuple(shares), bound.constant)
