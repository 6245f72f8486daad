"""The law of a sum of independent discrete Laplace noises of different rates, without a common unit of their rates.

With z_j = e^{-a_j·eps} the masses of a noise of rate a_j have the generating function

    (1 - z_j)²/((1 - z_j·w)(1 - z_j/w)),

and those of a sum S of m_j noises of each rate have f(w) = Π_j of it to the power m_j, which is analytic for
max z < |w| < 1/max z, and f(w) = f(1/w). So Pr[S = x] = 1/(2πi)·∮ f(w)·w^{x - 1} dw on a circle of radius r, max z < r
< 1, and for a >= 1

    Pr[S >= a] = 1/(2πi)·∮ f(w)·w^{a - 1}/(1 - w) dw = Σ_i of the residues at z_i,

as f(w) = Π_j ((1 - z_j)²·w/((1 - z_j·w)(w - z_j)))^{m_j} has no pole at 0. Below 1 the symmetry of S helps. Over one
denominator these are polynomials in e^{eps/n} of a degree that grows with the common unit
1/n of the rates, which soon has millions of terms; as they stand there are as many summands as different rates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import comb, lcm

import flint

from dipc.algebra.exppoly import to_fmpq
from dipc.algebra.limits import LimitReached, OutsideFragment
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event
from dipc.noise.law import Sides

#: Sums of more different rates without a common unit are not written out in closed form.
MOST_RATES = 6


@frozen
class LatticeSum:
    """The probability that low <= S <= high (None: unbounded) for the sum S of so many discrete Laplace noises around 0
    of each rate, a multiple of eps; the rates are different."""

    rates: tuple[tuple[Fraction, int], ...]
    low: int | None
    high: int | None

    def series(self, center: Fraction) -> flint.arb_series:
        """The Taylor series in eps at a positive center, as long and precise as FLINT is set to; each coefficient is
        enclosed, by what is not finite where the precision does not tell two rates apart."""
        eps = flint.arb_series([flint.arb(to_fmpq(center)), flint.arb(1)])
        powers = [((eps * flint.arb(to_fmpq(-rate))).exp(), count) for rate, count in self.rates]
        one = flint.arb_series([1])
        total = one if self.low is None else _from(powers, self.low)
        return total if self.high is None else total - _from(powers, self.high + 1)


def _from(powers: Sequence[tuple[flint.arb_series, int]], least: int) -> flint.arb_series:
    """Pr[S >= least]."""
    one = flint.arb_series([1])
    if least < 1:
        return one - _from(powers, 1 - least)
    total = flint.arb_series([0])
    ahead = one
    for z, count in powers:
        ahead = ahead * (one - z) ** (2 * count)
    vanishing = sum(count for _, count in powers) + least - 1
    for place, (here, count) in enumerate(powers):
        # With h = w - z, powers of functions c + d·h; the coefficient of h^(m - 1) in their product is the residue.
        linear = [(here, one, vanishing), (one - here, -one, -1)]
        linear += [(one - z * here, -z, -often) for z, often in powers]
        linear += [(here - z, one, -often) for other, (z, often) in enumerate(powers) if other != place]
        product = [ahead] + [flint.arb_series([0])] * (count - 1)
        for c, d, power in linear:
            if (c.coeffs() or [flint.arb(0)])[0].contains(0):
                return flint.arb_series([flint.arb("nan")] * flint.ctx.cap)
            product = _times_power(product, c, d, power)
        total = total + product[-1]
    return total


def _times_power(
    product: Sequence[flint.arb_series], c: flint.arb_series, d: flint.arb_series, power: int
) -> list[flint.arb_series]:
    """The first coefficients in h of the product times (c + d·h)^power; c is not 0 at the center."""
    base = c**power if power >= 0 else (flint.arb_series([1]) / c) ** -power
    expanded = [base]
    for k in range(1, len(product)):
        # C(power, k) for any integer.
        binomial = comb(power, k) if power >= 0 else (-1) ** k * comb(k - power - 1, k)
        expanded.append(base * (d / c) ** k * binomial)
    return [
        sum((product[i] * expanded[n - i] for i in range(1, n + 1)), product[0] * expanded[n])
        for n in range(len(product))
    ]


def lattice_sum(event: Event) -> LatticeSum:
    """The measure of the event as that of one sum, between two numbers. Raises OutsideFragment for others: half-spaces
    of different forms, multiples of noises, and noises that are no discrete Laplace noises of integer means."""
    if not event.constraints or not event.constraints[0].coefficients:
        raise OutsideFragment("no sum is bounded")
    first = _primitive(event.constraints[0])
    low: int | None = None
    high: int | None = None
    for item in event.constraints:
        terms, constant = _primitive(item)
        if terms == first[0]:
            least = -constant
            low = least if low is None else max(low, least)
        elif terms == tuple([(i, -c) for i, c in first[0]]):
            high = constant if high is None else min(high, constant)
        else:
            raise OutsideFragment("the half-spaces bound different sums")
    rates: Counter[Fraction] = Counter()
    mean = 0
    for i, sign in first[0]:
        noise = event.noises[i]
        sides = noise.law.sides(noise.rate)
        if not noise.law.whole or sides != Sides(noise.rate, noise.rate) or noise.mean.denominator != 1:
            raise OutsideFragment("a noise is no discrete Laplace noise")
        rates[noise.rate] += 1
        mean += sign * int(noise.mean)
    if low is not None and high is not None and low > high:
        raise OutsideFragment("the bounds leave no room")
    return LatticeSum(
        tuple(sorted(rates.items())), None if low is None else low - mean, None if high is None else high - mean
    )


def _primitive(item: Halfspace) -> tuple[tuple[tuple[int, int], ...], int]:
    """The half-space over integers as Σ ±x + constant >= 0. Raises OutsideFragment for other coefficients."""
    size = abs(item.coefficients[0][1]) if item.coefficients else Fraction(0)
    if any(abs(c) != size for _, c in item.coefficients) or not size:
        raise OutsideFragment("a multiple of an integer noise is added")
    constant = item.constant / size
    # Over integers more than -constant is at least the next one.
    whole = -((-constant) // 1) - 1 if item.strict else constant // 1
    return tuple([(i, 1 if c > 0 else -1) for i, c in item.coefficients]), int(whole)


def watch_rates(event: Event, degree: int = 0) -> None:
    """Raises LimitReached, before the work, for a sum of so many different rates that its closed form is too long, if
    it has polynomials of more than this degree in the exponential of their common unit."""
    try:
        rates = [rate for rate, _ in lattice_sum(event).rates]
    except OutsideFragment:
        return
    # Of the factors 1 - z_j·z_i and 1 - z_j/z_i of the denominators.
    unit = lcm(*(rate.denominator for rate in rates))
    most = sum(2 * max(pair) for pair in combinations(rates, 2)) * unit
    if len(rates) > MOST_RATES and most > degree:
        raise LimitReached(
            "steps",
            f"the closed form of a sum of integer noises of {len(rates)} different rates is too long to be written "
            "out: with like rates, or small multiples of one, it is short",
        )
