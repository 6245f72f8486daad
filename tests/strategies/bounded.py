"""Random events over uniform, truncated Laplace, Laplace and one-sided noise, and their probabilities by quadrature."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import exp, inf

import numpy as np
from hypothesis import strategies as st

from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Noise
from dipc.noise.laplace import LAPLACE
from dipc.noise.law import Law
from dipc.noise.one_sided import ONE_SIDED
from dipc.noise.truncated_laplace import TruncatedLaplace
from dipc.noise.uniform import Uniform

halves = st.integers(-6, 6).map(lambda n: Fraction(n, 2))
rates = st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(1), Fraction(3, 2)])


@st.composite
def bounded_laws(draw: st.DrawFn) -> Law:
    low = draw(halves)
    high = low + draw(st.integers(1, 8)) * Fraction(1, 2)
    return draw(st.sampled_from([Uniform, TruncatedLaplace]))(low, high)


@st.composite
def noises(draw: st.DrawFn, *, bounded: bool = False) -> Noise:
    law = draw(
        bounded_laws() if bounded else st.one_of(bounded_laws(), bounded_laws(), st.sampled_from([LAPLACE, ONE_SIDED]))
    )
    rate = draw(rates) if law.takes_rate else Fraction(1)
    return Noise(law, rate, draw(halves) if law.takes_mean else Fraction(0))


@st.composite
def mixed_events(draw: st.DrawFn, most: int = 3) -> Event:
    """An event of one to three comparisons of one to `most` noises, the first of them bounded."""
    drawn = [draw(noises(bounded=True)), *draw(st.lists(noises(), max_size=most - 1))]
    constraints = []
    for _ in range(draw(st.integers(1, 3))):
        used = draw(st.sets(st.integers(0, len(drawn) - 1), min_size=1))
        factors = [(i, Fraction(draw(st.sampled_from([-2, -1, -1, 1, 1, 2])))) for i in sorted(used)]
        constraints.append(Halfspace(tuple(factors), draw(halves), draw(st.booleans())))
    return Event(tuple(drawn), tuple(constraints))


def density(noise: Noise, eps: float) -> tuple[Callable[[float], float], list[float]]:
    """The density, from its definition, and the places where it is not smooth, the ends of the support among them."""
    mean, rate, law = float(noise.mean), float(noise.rate) * eps, noise.law
    match law:
        case Uniform():
            ends = [mean + float(law.low), mean + float(law.high)]
            return (lambda x: 1 / (ends[1] - ends[0]) if ends[0] <= x <= ends[1] else 0.0), ends
        case TruncatedLaplace():
            low, high = float(law.low), float(law.high)
            cuts = sorted({low, high, min(max(0.0, low), high)})
            mass = sum(abs(exp(-rate * abs(b)) - exp(-rate * abs(a))) for a, b in pairwise(cuts)) / rate
            places = [mean + cut for cut in cuts]
            return (lambda x: exp(-rate * abs(x - mean)) / mass if low <= x - mean <= high else 0.0), places
    if law == LAPLACE:
        return (lambda x: rate / 2 * exp(-rate * abs(x - mean))), [-inf, mean, inf]
    assert law == ONE_SIDED
    return (lambda x: rate * exp(-rate * x) if x >= 0 else 0.0), [0.0, inf]


def _distribution(noise: Noise, eps: float) -> Callable[[float], float]:
    """Pr[N <= x], from its definition."""
    mean, rate, law = float(noise.mean), float(noise.rate) * eps, noise.law

    def laplace(x: float) -> float:
        return exp(rate * x) / 2 if x < 0 else 1 - exp(-rate * x) / 2

    match law:
        case Uniform():
            low, high = mean + float(law.low), mean + float(law.high)
            return lambda x: min(1.0, max(0.0, (x - low) / (high - low)))
        case TruncatedLaplace():
            low, high = float(law.low), float(law.high)
            total = laplace(high) - laplace(low)
            return lambda x: (laplace(min(high, max(low, x - mean))) - laplace(low)) / total
    if law == LAPLACE:
        return lambda x: laplace(x - mean)
    return lambda x: 0.0 if x <= 0 else 1 - exp(-rate * x)


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


def by_quadrature(event: Event, eps: float) -> float:
    """The probability of an event over one or two noises: the second is integrated by its distribution function."""
    first, *others = event.noises
    own, places = density(first, eps)
    below = _distribution(others[0], eps) if others else None
    far = 60 / (float(first.rate) * eps)
    cuts = {place for place in places if abs(place) < inf}
    cuts |= {float(first.mean) - far, float(first.mean) + far} if inf in places else set()
    lines = []
    for item in event.constraints:
        c = dict(item.coefficients)
        lines.append((float(c.get(0, 0)), float(c.get(1, 0)), float(item.constant)))
    corners = [place for place in density(others[0], eps)[1] if abs(place) < inf] if others else []
    for a, b, d in lines:
        if a and not b:
            cuts.add(-d / a)
        if a and b:
            cuts |= {-(b * y + d) / a for y in corners}
        for e, f, g in lines:
            if b and f and a * f != b * e:
                cuts.add((d * f - g * b) / (b * e - a * f))
    low = min(place for place in places if place > -inf) if -inf not in places else float(first.mean) - far
    high = max(place for place in places if place < inf) if inf not in places else float(first.mean) + far
    ends = sorted(cut for cut in cuts if low <= cut <= high)
    # Long intervals are divided: the density may fall by many orders on one.
    pieces = [(a + (b - a) * n / 12, a + (b - a) * (n + 1) / 12) for a, b in pairwise(ends) for n in range(12)]

    def inside(x: float) -> float:
        least, most = -inf, inf
        for a, b, d in lines:
            rest = a * x + d
            if not b:
                if rest < 0:
                    return 0.0
            elif b > 0:
                least = max(least, -rest / b)
            else:
                most = min(most, -rest / b)
        if below is None:
            return own(x)
        if least >= most:
            return 0.0
        upper = 1.0 if most == inf else below(most)
        return own(x) * max(0.0, upper - (0.0 if least == -inf else below(least)))

    total = 0.0
    for a, b in pieces:
        total += (
            (b - a) / 2 * sum(w * inside((a + b) / 2 + (b - a) / 2 * t) for t, w in zip(_NODES, _WEIGHTS, strict=True))
        )
    return total
