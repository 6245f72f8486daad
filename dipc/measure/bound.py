"""Sums of weighted probabilities of events, and their measures: in closed form, or near one eps by power series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from time import perf_counter
from typing import Any

import flint

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import ExpPoly, dyadic, to_fmpq
from dipc.algebra.limits import Limits, OutsideFragment, Undecided
from dipc.algebra.quotient import Closed, fraction_of, total
from dipc.measure.event import Event
from dipc.measure.forest import CanonicalTree, tree_series
from dipc.measure.measure import Factor, Measurer
from dipc.measure.normal import NormalMeasure
from dipc.measure.power_series import DISK, SeriesRing, precision

# --- Sums of weighted probabilities of events, and their measures -----------------------------------------------------
#


@dataclass(frozen=True, slots=True)
class Share:
    """weight · Π Pr[event], for independent events; `weight` None is 1."""

    weight: Closed | None
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """constant + Σ shares as a function of the variable: the probability of an answer, or a proved lower bound of it.

    It is measured when it is decided, so that equal bounds are measured once and by whoever decides.
    """

    shares: tuple[Share, ...]
    constant: Fraction = Fraction(0)
    #: It is looked up more often than it is made.
    _hash: int | None = field(default=None, init=False, repr=False, compare=False)

    def __hash__(self) -> int:
        known = self._hash
        if known is None:
            known = hash((self.shares, self.constant))
            object.__setattr__(self, "_hash", known)
        return known

    def __reduce__(self) -> tuple[Any, ...]:
        # Names hash differently in each process.
        return Bound, (self.shares, self.constant)


#: Bounds and events that are remembered at a time: a table may have millions.
_REMEMBERED = 200_000


class BoundMeasurer:
    """Bounds in closed form; equal functions are the same ClosedForm object.

    `measured` counts the events measured, in so many `seconds`; equal ones are measured once.
    """

    def __init__(self, measurer: Measurer | None = None) -> None:
        self.measurer = measurer or Measurer()
        self.measured = 0
        self.seconds = 0.0
        self._bounds: dict[Bound, ClosedForm | Undecided] = {}
        self._events: dict[Event, Closed | Undecided] = {}
        self._products: dict[tuple[int, ...], Closed] = {}
        self._interned: dict[Closed, ClosedForm] = {}

    def measure(self, bound: Bound) -> ClosedForm:
        """The bound, for every value of its variable. Raises Undecided past a limit."""
        found = self._bounds.get(bound)
        if found is None:
            try:
                values = [self._share(share) for share in bound.shares]
                found = self.intern(total([ExpPoly.constant(bound.constant), *values] if bound.constant else values))
            except Undecided as undecided:
                found = _remembered(undecided)
            if len(self._bounds) >= _REMEMBERED:
                self._bounds.clear()
            self._bounds[bound] = found
        if isinstance(found, Undecided):
            raise _remembered(found)
        return found

    def event(self, event: Event) -> Closed:
        """The measure of one event. Raises Undecided past a limit."""
        found = self._events.get(event)
        if found is None:
            begun = perf_counter()
            self.measured += 1
            try:
                found = self.intern(self.measurer.measure(event)).value
            except Undecided as undecided:
                found = _remembered(undecided)
            self.seconds += perf_counter() - begun
            if len(self._events) >= _REMEMBERED:
                self._events.clear()
            self._events[event] = found
        if isinstance(found, Undecided):
            raise _remembered(found)
        return found

    def intern(self, value: Closed) -> ClosedForm:
        """The one object for this function."""
        form = self._interned.get(value)
        if form is None:
            form = self._interned[value] = ClosedForm(value)
        return form

    def _share(self, share: Share) -> Closed:
        factors = [] if share.weight is None else [self.intern(share.weight).value]
        factors += [self.event(event) for event in share.events]
        if len(factors) == 1:
            return factors[0]
        # By identity, which is that of functions here.
        key = tuple(sorted(map(id, factors)))
        known = self._products.get(key)
        if known is None:
            known = self._products[key] = self.measurer.product(factors)
        return known


def _remembered(undecided: Undecided) -> Undecided:
    """The same without the frames it was raised through, which would keep all that they hold alive."""
    return undecided.with_traceback(None)


# --- Bounds near one eps without their closed forms: Taylor polynomials with proved remainders ------------------------
#
# A bound is a sum of products. A factor whose closed form is short is expanded from that, a tree of Laplace noises by
# messages that are series themselves (`series_pieces`); it is their product that is too long to be written out.
#
# **Lemma.** The law of each noise depends on eps analytically where Re eps > 0, and the half-spaces of an event do not
# depend on it. So the measure of an event is analytic there, and at most the product of the total variations of its
# noises, at complex eps:
#
#   * The densities (a·eps/2)·e^{-a·eps·|x - mean|} of a Laplace noise and a·eps·e^{-a·eps·(x - mean)} of a one-sided
#   one
#     have the total variation |eps|/Re eps. On the disk |eps - e| <= ρ·e it is at most (1 - ρ²)^(-1/2).
#   * The masses (1 - z)/(1 + z)·z^|x - mean| of a discrete Laplace noise, with z = e^{-a·eps} and a·eps/2 = u + iv,
#   have
#     the total variation |tanh(u + iv)|/tanh u. As |sinh(u + iv)|² = sinh² u + sin² v and |cosh(u + iv)|² = cosh² u -
#     sin² v, its square is (1 + sin² v/sinh² u)/(1 - sin² v/cosh² u). On the disk |v| <= κ·u for κ² = ρ²/(1 - ρ²); with
#     u <= sinh u the numerator is at most 1 + κ² = 1/(1 - ρ²), and with √2·u <= 1 + u²/2 <= cosh u the denominator at
#     least 1 - κ²/2. So the total variation is at most (1 - 3ρ²/2)^(-1/2), where ρ² < 2/3.
#
# By Cauchy's estimate the coefficient of (eps - e)^k of a function that is at most M there is at most M/(ρ·e)^k. What a
# Taylor polynomial with N coefficients leaves out is at most M·s^N/(1 - s) for |eps - e| <= s·ρ·e.

#: The most bits of one value.
MOST_BITS = 50_000

_ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class _Product:
    """A weight times measures of independent events over so many noises; `factors` None is 0.

    The square of the product of the total variations of the noises is at most `variation` on the disk, but for normal
    ones, whose factors know bounds of their own.
    """

    weight: ExpPoly
    factors: tuple[Factor, ...] | None
    noises: int
    variation: Fraction


@dataclass(frozen=True)
class UnexpandedBound:
    """A bound whose weights are exponential polynomials, as a sum of products that are not multiplied out."""

    constant: Fraction
    products: tuple[_Product, ...]
    limits: Limits

    @staticmethod
    def of(bound: Bound, measurer: Measurer, limits: Limits) -> UnexpandedBound:
        """Raises OutsideFragment for other weights, LimitReached where one factor is too long for itself."""
        products = []
        for share in bound.shares:
            if not isinstance(share.weight, ExpPoly | None):
                raise OutsideFragment("a weight has a denominator")
            found = [measurer.factors(event) for event in share.events]
            factors = [factors for factors in found if factors is not None]
            noises = [noise for event in share.events for noise in event.noises]
            products.append(
                _Product(
                    ExpPoly.one() if share.weight is None else share.weight,
                    tuple(factor for each in factors for factor in each) if len(factors) == len(found) else None,
                    len(noises),
                    prod((noise.law.variation(DISK) for noise in noises if not noise.law.is_normal), start=_ONE),
                )
            )
        return UnexpandedBound(bound.constant, tuple(products), limits)

    def series(self, center: Fraction) -> flint.arb_series:
        """The Taylor series at the center in ball arithmetic, as long and precise as FLINT is set to; each coefficient
        is enclosed. Raises LimitReached."""
        total = flint.arb_series([flint.arb(to_fmpq(self.constant))])
        for each in self.products:
            if each.factors is not None:
                product = series_of(each.weight, center)
                for factor in each.factors:
                    product = product * self._factor(factor, center)
                total = total + product
        return total

    def _factor(self, factor: Factor, center: Fraction) -> flint.arb_series:
        if isinstance(factor, CanonicalTree):
            return tree_series(factor._replace(stretch=_ONE), SeriesRing(center, factor.stretch), self.limits)
        if isinstance(factor, NormalMeasure):
            return factor.series(center)
        above, below = fraction_of(factor)
        divisor = series_of(below, center)
        if (divisor.coeffs() or [flint.arb(0)])[0].contains(0):
            # It is not 0, and more bits will tell.
            return flint.arb_series([flint.arb("nan")] * flint.ctx.cap)
        return series_of(above, center) / divisor

    def majorant(self, center: Fraction) -> flint.arb:
        """At least the absolute value on the disk around the center."""
        total = abs(flint.arb(to_fmpq(self.constant)))
        for each in self.products:
            most = majorant_of(each.weight, center) * flint.arb(to_fmpq(each.variation)).sqrt()
            for factor in each.factors or ():
                if isinstance(factor, NormalMeasure):
                    most *= factor.majorant(center)
            total += most
        return total.upper()

    def enclosure(self, eps: Fraction, bits: int) -> tuple[Fraction, Fraction]:
        """Rationals lo <= value <= hi at a positive eps, apart by 2^-bits at most. Raises LimitReached."""
        work = 2 * bits + 64
        while work <= MOST_BITS:
            with precision(work, 1):
                (ball,) = self.series(eps).coeffs() or [flint.arb(0)]
                if ball.is_finite() and ball.rad() < flint.arb(2) ** -(bits + 2):
                    return dyadic(ball.lower()), dyadic(ball.upper())
            work *= 2
        raise OutsideFragment(f"its value takes numbers of more than {MOST_BITS} bits")


def series_of(function: ExpPoly, center: Fraction) -> flint.arb_series:
    """The Taylor series of an exponential polynomial at the center, as `UnexpandedBound.series`."""
    eps = flint.arb_series([flint.arb(to_fmpq(center)), flint.arb(1)])
    total = flint.arb_series([0])
    for k, q, c in function.terms():
        term = (eps * flint.arb(to_fmpq(q))).exp() * flint.arb(to_fmpq(c))
        total = total + (term * eps**k if k else term)
    return total


def majorant_of(function: ExpPoly, center: Fraction) -> flint.arb:
    """At least its absolute value on the disk around the center."""
    total = flint.arb(0)
    far = flint.arb(to_fmpq(center * (1 + DISK)))
    for k, q, c in function.terms():
        most = max(q * center * (1 - DISK), q * center * (1 + DISK))
        total += abs(flint.arb(to_fmpq(c))) * far**k * flint.arb(to_fmpq(most)).exp()
    return total.upper()


def left_out(majorant: flint.arb, share: Fraction, length: int) -> flint.arb:
    """At least what a Taylor polynomial with so many coefficients leaves out, up to this share of the disk's radius."""
    return (majorant * flint.arb(to_fmpq(share)) ** length / flint.arb(to_fmpq(1 - share))).upper()


def coefficients(series: flint.arb_series, length: int) -> Sequence[flint.arb]:
    """So many coefficients."""
    found = list(series.coeffs())
    return found + [flint.arb(0)] * (length - len(found))
