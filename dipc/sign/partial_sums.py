"""Functions of eps and of an integer k that are nowhere negative because of their partial sums.

Lemma. Let f(eps, j) = Σ_p j^p·Σ_n c_{p,n}(eps)·exp(-s_n·j·eps) with s_0 < s_1 < … < s_N. If every partial sum C_{p,n} =
c_{p,0} + … + c_{p,n} is at least 0 at some eps > 0, then f(eps, j) >= 0 for all j >= 0.

Proof. Write w_n = exp(-s_n·j·eps), which falls with n. By summation by parts the inner sum is Σ_{n < N} C_{p,n}·(w_n -
w_{n+1}) + C_{p,N}·w_N, a sum of products of numbers that are at least 0. ∎

Consequence: if there is only one slope s_0, f is nowhere negative as soon as the coefficient of each power of j is.
This covers claims whose beta falls exactly as fast as the probability of a wrong answer, which `never_negative` leaves
open.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import LimitReached, Limits
from dipc.algebra.parametric import Parametric
from dipc.sign.chart import is_nowhere_negative
from dipc.sign.interval import Interval
from dipc.sign.polynomial import power_and_rate, started_at


def has_nonnegative_partial_sums(value: Parametric, start: int, intervals: Iterable[Interval], limits: Limits) -> bool:
    """Return True only if `value` >= 0 is proved for all integers k >= `start` and eps in `intervals`.

    `value` is a function of eps and k alone with the denominator 1, and `start` >= 0. First, `start` + k is put in
    place of k. Then, for each p, the coefficients of k^p·e^{-b·k·eps} are added in the order of increasing b. The proof
    is that all these partial sums are nowhere negative. False proves nothing; the result is False, too, if a sign takes
    more work than `limits` allow.
    """
    coefficients: dict[int, dict[Fraction, ExpPoly]] = {}
    for factors, coefficient in started_at(value, start).numerator.items():
        power, slope = power_and_rate(factors)
        coefficients.setdefault(power, {})[slope] = coefficient
    every = tuple(intervals)
    try:
        for by_slope in coefficients.values():
            partial = ExpPoly.ZERO
            for slope in sorted(by_slope):
                partial += by_slope[slope]
                if not is_nowhere_negative(partial, every, limits):
                    return False
    except LimitReached:
        return False
    return True
