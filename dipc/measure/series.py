"""Bounds near one eps without their closed forms: Taylor polynomials with proved remainders.

**Lemma.** For complex eps with a positive real part the density (a·eps/2)·e^{-a·eps·|x - mean|} of a Laplace noise has
the total variation |eps|/Re eps, and depends on eps analytically; the half-spaces of an event do not depend on it. So
the measure of an event over n noises is analytic where Re eps > 0, and on the disk |eps - e| <= ρ·e, where |eps|/Re eps
is at most (1 - ρ²)^(-1/2), it is at most (1 - ρ²)^(-n/2).

By Cauchy's estimate the coefficient of (eps - e)^k of a function that is at most M there is at most M/(ρ·e)^k. What a
Taylor polynomial with N coefficients leaves out is at most M·s^N/(1 - s) for |eps - e| <= s·ρ·e.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import flint

from dipc.algebra.exppoly import ExpPoly, dyadic, to_fmpq
from dipc.algebra.limits import Limits, OutsideFragment
from dipc.measure.bound import Bound
from dipc.measure.canonical import CanonicalTree
from dipc.measure.forest import tree_series
from dipc.measure.measure import Measurer
from dipc.measure.series_pieces import SeriesRing, precision

#: The disk of Cauchy's estimate, in parts of its center.
DISK = Fraction(1, 2)

#: The most bits of one value.
MOST_BITS = 50_000

_ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class _Factor:
    """A product of measures of independent trees over so many noises; None is 0."""

    weight: ExpPoly
    trees: tuple[CanonicalTree, ...] | None
    noises: int


@dataclass(frozen=True)
class UnexpandedBound:
    """A bound whose events are trees of Laplace noises, and whose weights are exponential polynomials."""

    constant: Fraction
    factors: tuple[_Factor, ...]
    limits: Limits

    @staticmethod
    def of(bound: Bound, measurer: Measurer, limits: Limits) -> UnexpandedBound:
        """Raises OutsideFragment for others."""
        factors = []
        for share in bound.shares:
            if not isinstance(share.weight, ExpPoly | None):
                raise OutsideFragment("a weight has a denominator")
            found = [measurer.trees(event) for event in share.events]
            trees = [trees for trees in found if trees is not None]
            factors.append(
                _Factor(
                    ExpPoly.one() if share.weight is None else share.weight,
                    tuple(tree for each in trees for tree in each) if len(trees) == len(found) else None,
                    sum(len(event.noises) for event in share.events),
                )
            )
        return UnexpandedBound(bound.constant, tuple(factors), limits)

    def series(self, center: Fraction) -> flint.arb_series:
        """The Taylor series at the center in ball arithmetic, as long and precise as FLINT is set to; each coefficient
        is enclosed. Raises LimitReached."""
        total = flint.arb_series([flint.arb(to_fmpq(self.constant))])
        for factor in self.factors:
            if factor.trees is not None:
                product = series_of(factor.weight, center)
                for tree in factor.trees:
                    product = product * self._tree(tree, center)
                total = total + product
        return total

    def _tree(self, tree: CanonicalTree, center: Fraction) -> flint.arb_series:
        return tree_series(tree._replace(stretch=_ONE), SeriesRing(center, tree.stretch), self.limits)

    def majorant(self, center: Fraction) -> flint.arb:
        """At least the absolute value on the disk around the center."""
        total = abs(flint.arb(to_fmpq(self.constant)))
        inside = flint.arb(to_fmpq(1 - DISK**2))
        for factor in self.factors:
            total += majorant_of(factor.weight, center) / inside.sqrt() ** factor.noises
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
