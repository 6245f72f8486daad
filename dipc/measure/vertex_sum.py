"""Measure linear constraints over continuous noises as a sum over the vertices of polyhedra.

On the scale X = eps·x the density of a noise is exponential on each side of its mean. So an event is a union of
polyhedra, one for each choice of sides, on which e^{L·X} is integrated. Let P be such a polyhedron, pointed, and let
the integral over it converge. Let exactly as many facets meet in each vertex as there are noises. Then

    ∫_P e^{L·X} dX = Σ over its vertices v of e^{L·v}·|det E_v|·Π 1/(-L·e)

The e are the directions of the edges at v, which are the columns of E_v, and no L·e may be 0 (Brion 1988, Lawrence
1991). For unbounded polyhedra see Barvinok, *Integer Points in Polyhedra*, chapter 8: both sides are values of one
rational function times exponentials, and the integrand falls along each edge to infinity. So the measure of n
constraints over k noises has at most C(n + k, k) terms. Integrating one noise after the other takes one step for every
flag of faces instead.

*Sides.* Consider a vertex with the constraints T tight and the noises Z at their means. Every other noise, those of F,
is on one side of its mean. A noise of Z may be on both sides: the polyhedra of both choices have this vertex. The edges
that leave a tight constraint are the same in all these polyhedra. The edge along z in Z with sign s has the direction
s·(1 at z, -M·A_z on F), where M is the inverse of (A restricted to T, F) and A_z is the column of z. So the sum over
all choices is a product over Z of Σ_s 1/(-L·e), with |det E_v| = |det M|.

*Vertices with more facets.* The hyperplanes are moved by τ·s for generic s. For all small τ > 0 the polyhedra satisfy
the condition above, and signs of a + τ·b tell which bases are vertices. As τ -> 0 the integrals tend to the integrals
over the original polyhedra, by dominated convergence, and each term tends to its value at τ = 0.

*Edges along which the density is constant.* The rates are changed to a + δ·r for generic r. The sum over the vertices
is analytic in δ near 0, where the integral converges. So its value at 0 is the sum of the terms' coefficients of δ^0:
the poles of single terms cancel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb

import flint

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import LimitReached, Limits, NotApplicable, OutsideFragment
from dipc.algebra.numbers import to_fmpq, to_fraction
from dipc.frozen import frozen
from dipc.measure.event import Event

#: Powers modulo this prime serve as generic numbers. `NotApplicable` tells if they are not, and others are tried.
_PRIME = 1_000_003
_TRIES = 20

_ZERO, _ONE = flint.fmpq(0), flint.fmpq(1)

#: The first Taylor coefficients of a function of δ.
_Series = list[flint.fmpq]


@frozen
class _Sides:
    """The density of a noise, where X is the noise minus its `mean`: an exponential on each side of 0.

    The density is `scale`·e^{`left`·X} for X < 0 and `scale`·e^{-`right`·X} for X > 0. A `left` or `right` of None
    means that the density is 0 on that side.
    """

    mean: flint.fmpq
    scale: flint.fmpq
    left: flint.fmpq | None
    right: flint.fmpq | None


def corners_at_most(event: Event) -> int:
    """Return an upper bound of the number of terms of `vertex_measure` for `event`."""
    noises = {i for c in event.constraints for i, _ in c.coefficients}
    return comb(len(event.constraints) + len(noises), len(noises))


def vertex_measure(event: Event, limits: Limits | None = None) -> ExpPoly:
    """Return the exact probability, for every eps > 0, that all constraints of `event` hold.

    The noises must be continuous, with an exponential density on each side, and each constraint must mention a noise.
    Raises OutsideFragment for other noises. Raises LimitReached, before the work, if there may be more terms than the
    field `cells` of `limits` allows.
    """
    most = (limits or Limits()).cells
    if corners_at_most(event) > most:
        raise LimitReached(
            "cells",
            f"{len(event.constraints)} linear tests of {len(event.noises)} noises have more than {most} corners: "
            "use fewer tests, or fewer noises in each",
        )
    used = sorted({i for c in event.constraints for i, _ in c.coefficients})
    index = {i: position for position, i in enumerate(used)}
    noises = [_sides(event, i) for i in used]
    rows: list[list[flint.fmpq]] = []
    for c in event.constraints:
        row = [_ZERO] * len(used)
        for i, x in c.coefficients:
            row[index[i]] = row[index[i]] + to_fmpq(x)
        rows.append(row)
    constants = [to_fmpq(c.constant) for c in event.constraints]
    for seed in range(_TRIES):
        try:
            arrangement = _Arrangement(noises, rows, constants, seed)
            return ExpPoly.from_terms((k, to_fraction(q), to_fraction(c)) for k, q, c in arrangement.terms())
        except NotApplicable:
            continue
    raise OutsideFragment("no generic perturbation of the constraints was found")


def _sides(event: Event, i: int) -> _Sides:
    noise = event.noises[i]
    if noise.law.whole or not noise.law.scales:
        raise OutsideFragment("a noise is not continuous, or does not scale with 1/eps")
    sides = noise.law.sides(noise.rate)
    left, right = (None if rate is None else to_fmpq(rate) for rate in (sides.left, sides.right))
    if left is not None and right is not None:
        return _Sides(to_fmpq(noise.mean), left * right / (left + right), left, right)
    scale = left if left is not None else right
    assert scale is not None, "a noise has a density on one side at least"
    return _Sides(to_fmpq(noise.mean), scale, left, right)


class _Arrangement:
    """The hyperplanes where constraints are equalities or noises are at their means, slightly displaced.

    Each hyperplane is displaced by a generic multiple of a small number τ, so that only as many hyperplanes as there
    are noises meet in one vertex. Rates are changed by generic multiples of a small number δ, so that the density is
    not constant on any edge.
    """

    def __init__(
        self,
        noises: Sequence[_Sides],
        rows: Sequence[Sequence[flint.fmpq]],
        constants: Sequence[flint.fmpq],
        seed: int,
    ) -> None:
        self._noises, self._rows, self._constants = noises, rows, constants
        generic = iter([flint.fmpq(pow(seed + 2, k, _PRIME)) for k in range(20, 20 + len(rows) + 3 * len(noises))])
        self._moved_rows = [next(generic) for _ in rows]
        self._moved_means = [next(generic) for _ in noises]
        self._changes = [(next(generic), next(generic)) for _ in noises]
        self._scale = _ONE
        for noise in noises:
            self._scale = self._scale * noise.scale

    def terms(self) -> Iterator[tuple[int, flint.fmpq, flint.fmpq]]:
        """Yield (k, q, c) for each term c·eps^k·e^{q·eps} of the probability, vertex by vertex."""
        every = range(len(self._noises))
        for size in range(min(len(self._rows), len(self._noises)) + 1):
            for tight in combinations(range(len(self._rows)), size):
                for free in combinations(every, size):
                    yield from self._terms_at(tight, free)

    def _terms_at(self, tight: tuple[int, ...], free: tuple[int, ...]) -> Iterator[tuple[int, flint.fmpq, flint.fmpq]]:
        """Yield (k, q, c) for each term c·eps^k·e^{q·eps} that one vertex adds to the probability.

        At this vertex the constraints with the indices `tight` are equalities, and all noises except those in `free`
        are at their means.
        """
        noises, rows = self._noises, self._rows
        at_means = [z for z in range(len(noises)) if z not in free]
        inverse: flint.fmpq_mat | None = None
        #: The values of the noises, and how these change with τ.
        here = [noise.mean for noise in noises]
        moved = list(self._moved_means)
        volume = _ONE
        if tight:
            matrix = flint.fmpq_mat(len(tight), len(free), [rows[t][f] for t in tight for f in free])
            volume = matrix.det()
            if volume == 0:
                return
            inverse = matrix.inv()
            sides = []
            for t in tight:
                value, moving = -self._constants[t], -self._moved_rows[t]
                for z in at_means:
                    c = rows[t][z]
                    if c != 0:
                        value, moving = value - c * here[z], moving - c * moved[z]
                sides += [value, moving]
            solution = inverse * flint.fmpq_mat(len(tight), 2, sides)
            for position, f in enumerate(free):
                here[f], moved[f] = solution[position, 0], solution[position, 1]
        for t in range(len(rows)):
            if t not in tight:
                slack, moving = self._constants[t], self._moved_rows[t]
                for x, dx, c in zip(here, moved, rows[t], strict=True):
                    if c != 0:
                        slack, moving = slack + c * x, moving + c * dx
                if not _is_positive(slack, moving):
                    return
        yield from self._contribution(tight, free, at_means, inverse, (here, moved), 1 / abs(volume))

    def _contribution(
        self,
        tight: tuple[int, ...],
        free: tuple[int, ...],
        at_means: Sequence[int],
        inverse: flint.fmpq_mat | None,
        point: tuple[Sequence[flint.fmpq], Sequence[flint.fmpq]],
        volume: flint.fmpq,
    ) -> Iterator[tuple[int, flint.fmpq, flint.fmpq]]:
        noises, (here, moved) = self._noises, point
        #: The slopes of the log-density at the free noises, and its value, each with its change by δ.
        slopes: list[tuple[flint.fmpq, flint.fmpq]] = []
        exponent, change = _ZERO, _ZERO
        for f in free:
            off, moving = here[f] - noises[f].mean, moved[f] - self._moved_means[f]
            above = _is_positive(off, moving)
            rate = noises[f].right if above else noises[f].left
            if rate is None:
                return
            more = self._changes[f][above]
            slope = (-rate, -more) if above else (rate, more)
            slopes.append(slope)
            exponent, change = exponent + slope[0] * off, change + slope[1] * off
        #: The factors 1/(a + b·δ) of the edges that leave tight constraints.
        factors: list[list[tuple[flint.fmpq, flint.fmpq]]] = []
        duals: list[tuple[flint.fmpq, flint.fmpq]] = []
        for column in range(len(tight)):
            along, more = _ZERO, _ZERO
            assert inverse is not None
            for position, (steep, steeper) in enumerate(slopes):
                c = inverse[position, column]
                along, more = along + steep * c, more + steeper * c
            duals.append((along, more))
            factors.append([(-along, -more)])
        for z in at_means:
            off, turned = _ZERO, _ZERO
            for t, (along, more) in zip(tight, duals, strict=True):
                c = self._rows[t][z]
                if c != 0:
                    off, turned = off - c * along, turned - c * more
            # Along the edge upwards L·e is -right + off, along the edge downwards -(left + off).
            noise, (more_left, more_right) = noises[z], self._changes[z]
            tails = []
            if noise.right is not None:
                tails.append((noise.right - off, more_right - turned))
            if noise.left is not None:
                tails.append((noise.left + off, more_left + turned))
            factors.append(tails)
        yield from _at_zero(self._scale * volume, factors, exponent, change)


def _is_positive(value: flint.fmpq, moving: flint.fmpq) -> bool:
    """True if `value` + τ·`moving` is positive for all small enough τ > 0. Raises NotApplicable if both are 0."""
    if value != 0:
        return bool(value > 0)
    if moving == 0:
        raise NotApplicable
    return bool(moving > 0)


def _at_zero(
    scale: flint.fmpq,
    factors: Sequence[Sequence[tuple[flint.fmpq, flint.fmpq]]],
    exponent: flint.fmpq,
    change: flint.fmpq,
) -> Iterator[tuple[int, flint.fmpq, flint.fmpq]]:
    """Yield (k, q, c) for the terms c·eps^k·e^{q·eps} of the coefficient of δ^0 in a function of δ.

    The function is `scale`·e^{(`exponent` + `change`·δ)·eps}·Π_i Σ_j 1/(a_ij + b_ij·δ). `factors` has, for each i, the
    pairs (a_ij, b_ij).
    """
    order = sum(any(a == 0 for a, _ in tails) for tails in factors)
    if not order:
        for tails in factors:
            (first, _), *more = tails
            sum_ = 1 / first
            for a, _ in more:
                sum_ = sum_ + 1 / a
            scale = scale * sum_
        if scale != 0:
            yield 0, exponent, scale
        return
    #: The product without the exponential, times δ^order: one δ for each factor with a pole.
    product: _Series = [scale] + [_ZERO] * order
    for tails in factors:
        pole = any(a == 0 for a, _ in tails)
        product = _times(product, _inverses(tails, order, pole=pole), order)
    power = _ONE
    for k in range(order + 1):
        c = product[order - k] * power
        if c != 0:
            yield k, exponent, c
        power = power * change / (k + 1)


def _inverses(tails: Sequence[tuple[flint.fmpq, flint.fmpq]], order: int, *, pole: bool) -> _Series:
    """Return the Taylor coefficients in δ of Σ 1/(a + b·δ) over the pairs (a, b) of `tails`, up to that of δ^`order`.

    If there is a `pole`, that is, some a is 0, the sum is multiplied by δ first.
    """
    total = [_ZERO] * (order + 1)
    for a, b in tails:
        if a == 0:
            if b == 0:
                raise NotApplicable
            total[0] = total[0] + 1 / b
            continue
        c = 1 / a
        for k in range(pole, order + 1):
            total[k] = total[k] + c
            c = -c * b / a
    return total


def _times(left: _Series, right: _Series, order: int) -> _Series:
    total = [_ZERO] * (order + 1)
    for i, a in enumerate(left):
        if a != 0:
            for j in range(order + 1 - i):
                total[i + j] = total[i + j] + a * right[j]
    return total
