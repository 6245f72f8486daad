"""Limits of a quotient of exponential polynomials at the two ends of the positive numbers, exactly."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction
from math import factorial

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits
from dipc.sign.budget import Budget
from dipc.sign.near_zero import TaylorCoefficients
from dipc.sign.normal_form import normal_form
from dipc.sign.polynomial import Layout


class Infinite(Enum):
    """A limit that is no number."""

    PLUS = 1
    MINUS = -1


Limit = Fraction | Infinite


def leading_at_zero(f: ExpPoly, limits: Limits | None = None) -> tuple[int, Fraction]:
    """(n, c) with f(eps) = c·eps^n·(1 + o(1)) for eps -> 0 and c != 0. f must not be zero. Raises LimitReached."""
    budget = Budget(limits or Limits())
    form = normal_form(f, budget)
    coefficients = TaylorCoefficients(Layout(form.polynomial))
    n = 0
    while not coefficients[n]:
        n += 1
        budget.check_taylor_terms(n)
    return form.power + n, form.factor * Fraction(coefficients[n], factorial(n)) * form.scale**n


def leading_at_infinity(f: ExpPoly) -> tuple[tuple[Fraction, int], Fraction]:
    """((q, k), c) with f(eps) = c·eps^k·e^{q·eps}·(1 + o(1)) for eps -> inf and c != 0. f must not be zero."""
    q, k, c = max((q, k, c) for k, q, c in f.terms())
    return (q, k), c


def limit_at_zero(numerator: ExpPoly, denominator: ExpPoly, limits: Limits | None = None) -> Limit:
    """The limit of numerator/denominator for eps -> 0 from above. The denominator must not be zero."""
    if numerator.is_zero():
        return Fraction(0)
    n, above = leading_at_zero(numerator, limits)
    d, below = leading_at_zero(denominator, limits)
    return _limit((n < d) - (n > d), above / below)


def limit_at_infinity(numerator: ExpPoly, denominator: ExpPoly) -> Limit:
    """The limit of numerator/denominator for eps -> inf. The denominator must not be zero."""
    if numerator.is_zero():
        return Fraction(0)
    n, above = leading_at_infinity(numerator)
    d, below = leading_at_infinity(denominator)
    return _limit((n > d) - (n < d), above / below)


def _limit(growth: int, ratio: Fraction) -> Limit:
    """`growth` says whether the numerator is of the higher (1), the same (0), or the lower order (-1)."""
    if growth == 0:
        return ratio
    if growth < 0:
        return Fraction(0)
    return Infinite.PLUS if ratio > 0 else Infinite.MINUS
