"""A test of the likelihood ratio of an exact law against the same program at other eps, with an exact error.

**The statistic.** Each cell of a partition of the outputs has a whole score, about in proportion to the derivative of
the logarithm of its probability by log(eps), and T is the sum of the scores of n samples: the most powerful statistic
for laws of which every noise has a slightly other scale. Scores are chosen before anything is counted.

**Its tail.** Let X be the score of one sample and M(s) = E[e^{sX}], s > 0. With the tilted law q = p·e^{sX}/M(s),
Pr[T >= t] = M(s)^n·e^{-s·t}·E_q[e^{-s(T - t)}; T >= t] <= M(s)^n·e^{-s·t}·π/(1 - e^{-s}), where π is the greatest
probability of a value of T under q. That is (1/2π)·∫ |φ|^n at most, φ being the characteristic function of X under q.
Of D = X - X' one has |φ(θ)|² = E cos(Dθ) <= 1 - θ²·E[D²]/2 + θ⁴·E[D⁴]/24; where θ is larger |φ|² is bounded on short
intervals by its value in the middle and the Lipschitz constant E|D|. All of it is ball arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

import flint

from dipc.algebra.exppoly import to_fmpq
from dipc.frozen import frozen
from dipc.simulation.compare import Agreement

Ends = tuple[Fraction, Fraction]

#: Scores are whole numbers up to this, and at most so many standard deviations.
_SCORES, _DEVIATIONS = 64, 5.0

#: The eps that is compared with: this part more, and less.
STEP = Fraction(1, 100)

_BITS = 128

#: Intervals in which the characteristic function is bounded, near 0 and elsewhere.
_NEAR, _FAR = 400, 1_024


@frozen
class LikelihoodTest:
    """That the statistic of a `part` of the outputs is as far out as it is, upwards or downwards, has a probability of
    `tails` at most under the exact law; `error` is what is called a mismatch. `factor` is by how much the scales of the
    noises, at one factor for all, would have to differ to explain it, to first order; for display."""

    part: str
    tails: tuple[float, float]
    error: float
    factor: float

    @property
    def agreement(self) -> Agreement:
        """Whether the law is one that what was observed is to be expected of."""
        return Agreement.MISMATCH if min(self.tails) <= self.error / 2 else Agreement.MATCH


def scale_test(
    part: str, counts: Sequence[int], laws: Sequence[Ends], more: Sequence[Ends], less: Sequence[Ends], error: float
) -> LikelihoodTest | None:
    """The test for counts of the cells of a partition, with the probabilities of the cells at eps, at (1 + STEP)·eps
    and at (1 - STEP)·eps. None where the law does not depend on eps, or a cell is impossible or nearly so."""
    slopes = []
    for here, above, below in zip(laws, more, less, strict=True):
        p, high, low = (float(each[0]) for each in (here, above, below))
        slopes.append(math.log(high / low) / float(2 * STEP) if p > 0 and high > 0 and low > 0 else 0.0)
    chances = [float(each[0]) for each in laws]
    mean = sum(p * slope for p, slope in zip(chances, slopes, strict=True))
    information = sum(p * (slope - mean) ** 2 for p, slope in zip(chances, slopes, strict=True))
    runs = sum(counts)
    if not information > 1e-9 or not runs:
        return None
    most = min(max(abs(slope - mean) for slope in slopes), _DEVIATIONS * math.sqrt(information))
    scores = [round(max(-most, min(most, slope - mean)) * _SCORES / most) for slope in slopes]
    law = _law_of(scores, laws)
    if len(law) < 2:
        return None
    total = sum(score * count for score, count in zip(scores, counts, strict=True))
    upper = tail(law, runs, total)
    lower = tail({-score: p for score, p in law.items()}, runs, -total)
    seen = sum(count * (slope - mean) for count, slope in zip(counts, slopes, strict=True)) / runs
    return LikelihoodTest(part, (upper, lower), error, math.exp(-seen / information))


def _law_of(scores: Sequence[int], laws: Sequence[Ends]) -> dict[int, Ends]:
    """The probabilities of the scores."""
    law: dict[int, Ends] = {}
    for score, (low, high) in zip(scores, laws, strict=True):
        before = law.get(score, (Fraction(0), Fraction(0)))
        law[score] = before[0] + low, before[1] + high
    return law


def tail(law: Mapping[int, Ends], runs: int, total: int) -> float:
    """An upper bound of Pr[T >= total] for the sum T of so many independent scores with this law."""
    with flint.ctx.workprec(_BITS):
        return _tail(law, runs, total)


def _tail(law: Mapping[int, Ends], runs: int, total: int) -> float:
    floats = {score: float(p[0]) for score, p in law.items()}
    whole = sum(floats.values())
    mean = sum(score * p for score, p in floats.items()) / whole
    if total <= mean * runs:
        return 1.0
    if total > max(law) * runs:
        return 0.0
    if total == max(law) * runs:
        # Each of them has the greatest score.
        return min(1.0, math.nextafter(float((_ball(law[max(law)]) ** runs).upper()), math.inf))
    s = _tilt(floats, total / runs)
    tilt = flint.arb(to_fmpq(Fraction(s)))
    weights = {score: _ball(p) * (tilt * score).exp() for score, p in law.items() if p[1]}
    moment = sum(weights.values(), flint.arb(0))
    bound = (runs * moment.log() - tilt * total).exp()
    tilted = {score: weight / moment for score, weight in weights.items()}
    step = math.gcd(*(score - min(law) for score in law))
    greatest = _greatest({(score - min(law)) // step: q for score, q in tilted.items()}, runs)
    bound *= min(flint.arb(1), greatest / (1 - (-tilt * step).exp()), key=lambda each: float(each.upper()))
    result = float(bound.upper())
    return min(1.0, math.nextafter(result, math.inf))


def _tilt(law: Mapping[int, float], wanted: float) -> float:
    """The s at which the tilted mean is as wanted; about."""
    low, high = 0.0, 1.0
    top = max(law)

    def mean(s: float) -> float:
        weights = {score: p * math.exp(s * (score - top)) for score, p in law.items()}
        return sum(score * w for score, w in weights.items()) / sum(weights.values())

    while mean(high) < wanted and high < 64:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if mean(middle) < wanted else (low, middle)
    return high


def _greatest(law: Mapping[int, flint.arb], runs: int) -> flint.arb:
    """A bound of the probability of any value of the sum of so many scores, whose differences have no common divisor
    but 1."""
    pairs: dict[int, flint.arb] = {}
    for one, p in law.items():
        for two, q in law.items():
            pairs[abs(one - two)] = pairs.get(abs(one - two), flint.arb(0)) + p * q
    second, fourth, absolute = (
        sum((flint.arb(d) ** power * q for d, q in pairs.items()), flint.arb(0)) for power in (2, 4, 1)
    )
    pi = flint.arb.pi()
    half = flint.arb(to_fmpq(Fraction(runs, 2)))
    # Up to here 1 - θ²·E[D²]/2 + θ⁴·E[D⁴]/24 falls.
    last = min(float((6 * second / fourth).sqrt().lower()), math.pi)
    near = min(last, 12 / math.sqrt(float(second.mid()) / 2 * runs))

    def at_most(theta: float) -> flint.arb:
        square = flint.arb(theta) ** 2
        inside = 1 - square * second / 2 + square**2 * fourth / 24
        return (half * inside.log()).exp() if inside > 0 else flint.arb(0)

    width = flint.arb(near) / _NEAR
    area = sum((at_most(near * k / _NEAR) * width for k in range(_NEAR)), flint.arb(0))
    area += at_most(near) * (last - near)
    rest = (pi - last) / _FAR
    for k in range(_FAR if last < math.pi else 0):
        middle = last + rest * (2 * k + 1) / 2
        real = sum((q * (middle * score).cos() for score, q in law.items()), flint.arb(0))
        imaginary = sum((q * (middle * score).sin() for score, q in law.items()), flint.arb(0))
        square = real**2 + imaginary**2 + rest / 2 * absolute
        if not square < 1:
            square = flint.arb(1)
        area += (half * flint.arb(square.upper()).log()).exp() * rest if square > 0 else flint.arb(0)
    return area / pi


def _ball(ends: Ends) -> flint.arb:
    low, high = (flint.arb(to_fmpq(end)) for end in ends)
    return low.union(high)
