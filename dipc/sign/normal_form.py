"""From an exponential polynomial in eps to an integer polynomial in t and e^{-t} with the same sign."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

from dipc.algebra.exppoly import ExpPoly
from dipc.sign.budget import Budget
from dipc.sign.polynomial import Polynomial


@dataclass(frozen=True, slots=True)
class NormalForm:
    """f(eps) = factor · eps^power · e^{exponent·eps} · F(t, e^{-t}) with t = scale·eps, for all eps.

    factor > 0 and scale > 0, so f and F have the same sign at every eps > 0. F's coefficients have no common
    divisor, and its exponents neither: equal F on equal intervals of t is an equal sign problem.
    """

    polynomial: Polynomial
    scale: Fraction
    factor: Fraction
    power: int
    exponent: Fraction


def normal_form(f: ExpPoly, budget: Budget) -> NormalForm:
    """The normal form of f, which must not be zero. Raises LimitReached for too high powers of eps."""
    unit, terms = f.integer_terms()
    assert terms
    top = max(j for _, j, _ in terms)
    power = min(k for k, _, _ in terms)
    degree = max(k for k, _, _ in terms) - power
    budget.check_power(degree)
    step = gcd(*(top - j for _, j, _ in terms))
    scale = Fraction(step, unit) if step else Fraction(1)
    step = step or 1
    up, down = scale.numerator, scale.denominator
    common = lcm(*(int(c.q) for _, _, c in terms))
    # eps^k = (t/scale)^k; everything is multiplied by common·up^degree to be an integer.
    powers = [down**k * up ** (degree - k) for k in range(degree + 1)]
    raw = [((top - j) // step, k - power, int(c.p) * (common // int(c.q)) * powers[k - power]) for k, j, c in terms]
    content = gcd(*(c for _, _, c in raw))
    return NormalForm(
        polynomial=Polynomial.of((j, k, c // content) for j, k, c in raw),
        scale=scale,
        factor=Fraction(content, common * up**degree),
        power=power,
        exponent=Fraction(top, unit),
    )
