"""Sums of exponential polynomials over integers: summands x^n·e^{l·eps·x} and their indefinite sums.

Summing leads out of the ring, but only to products of 1/(1 - e^{-d·eps}) with d > 0, which are positive for every
eps > 0. They are kept formal, as `poles`, and brought over one denominator at the very end.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import comb

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.quotient import Quotient


@dataclass(frozen=True, slots=True)
class Summand:
    """e^{exponent·eps} · Π (1 - e^{-d·eps})^{-m} over poles (d, m) · Π x_v^{powers[v]} · e^{slopes[v]·eps·x_v}."""

    exponent: Fraction
    poles: tuple[tuple[Fraction, int], ...]
    powers: tuple[int, ...]
    slopes: tuple[Fraction, ...]

    def moved(self, exponent: Fraction, poles: tuple[tuple[Fraction, int], ...], variable: int, power: int) -> Summand:
        """Times e^{exponent·eps} and the poles, with another power of one variable."""
        powers = (*self.powers[:variable], power, *self.powers[variable + 1 :])
        return Summand(self.exponent + exponent, merged(self.poles, poles), powers, self.slopes)


#: A linear combination of summands.
Summands = dict[Summand, Fraction]


def merged(
    left: tuple[tuple[Fraction, int], ...], right: tuple[tuple[Fraction, int], ...]
) -> tuple[tuple[Fraction, int], ...]:
    """The product of two products of poles."""
    if not right:
        return left
    powers = dict(left)
    for d, m in right:
        powers[d] = powers.get(d, 0) + m
    return tuple(sorted(powers.items()))


def add_to(total: Summands, more: Summands) -> None:
    """total += more, in place, dropping what cancels."""
    for summand, c in more.items():
        value = total.get(summand, Fraction(0)) + c
        if value:
            total[summand] = value
        else:
            total.pop(summand, None)


def summed(summands: Summands, variable: int) -> Summands:
    """F with F(x) - F(x - 1) the given summands, in one variable; F vanishes at ±∞ where they decay."""
    result: Summands = {}
    for summand, c in summands.items():
        n, slope = summand.powers[variable], summand.slopes[variable]
        if not slope:
            for power, factor in power_sum(n):
                add_to(result, {summand.moved(Fraction(0), (), variable, power): c * factor})
            continue
        for (power, shift, poles), factor in geometric_sum(n, slope > 0):
            d = abs(slope)
            moved = summand.moved(-d * shift, ((d, poles),), variable, power)
            add_to(result, {moved: c * factor})
    return result


@cache
def power_sum(n: int) -> tuple[tuple[int, Fraction], ...]:
    """The polynomial S with S(x) - S(x-1) = x^n and S(0) = 0, as (power, coefficient) pairs."""
    # x^{n+1} - (x-1)^{n+1} = Σ_{j<=n} C(n+1, j)·(-1)^{n-j}·x^j, so S_n follows from the S_j below it.
    total = {n + 1: Fraction(1)}
    for j in range(n):
        for power, c in power_sum(j):
            total[power] = total.get(power, Fraction(0)) - comb(n + 1, j) * (-1) ** (n - j) * c
    return tuple((power, c / (n + 1)) for power, c in sorted(total.items()) if c)


@cache
def geometric_sum(n: int, growing: bool) -> tuple[tuple[tuple[int, int, int], Fraction], ...]:
    """p with p(x) - e^{-l}·p(x-1) = x^n, so that e^{lx}·p(x) sums x^n·e^{lx}; l > 0 if `growing`, else l < 0.

    The keys of its terms are (power of x, s, m) for x^power·e^{-|l|·s}·(1 - e^{-|l|})^{-m}.
    """
    # With G = 1/(1 - e^{-l}) and T p = p(x) - e^{-l}·p(x-1): p_n = G·(x^n + e^{-l}·Σ_{j<n} C(n,j)(-1)^{n-j} p_j).
    # For l < 0, G = -e^{l}/(1 - e^{l}) and e^{-l}·G = -1/(1 - e^{l}).
    sign, first, second = (1, 0, 1) if growing else (-1, 1, 0)
    total = {(n, first, 1): Fraction(sign)}
    for j in range(n):
        for (power, shift, poles), c in geometric_sum(j, growing):
            key = (power, shift + second, poles + 1)
            total[key] = total.get(key, Fraction(0)) + sign * comb(n, j) * (-1) ** (n - j) * c
    return tuple(total.items())


def closed_form(summands: Summands) -> Quotient:
    """The quotient that a combination without variables stands for."""
    highest: dict[Fraction, int] = {}
    for summand in summands:
        for d, m in summand.poles:
            highest[d] = max(highest.get(d, 0), m)
    factors = {d: ExpPoly.one() - ExpPoly.term(1, 0, -d) for d in highest}
    by_poles: dict[tuple[tuple[Fraction, int], ...], list[tuple[int, Fraction, Fraction]]] = {}
    for summand, c in summands.items():
        by_poles.setdefault(summand.poles, []).append((0, summand.exponent, c))
    numerator = ExpPoly.zero()
    for poles, terms in by_poles.items():
        have = dict(poles)
        part = ExpPoly.from_terms(terms)
        for d, m in highest.items():
            part = part * factors[d] ** (m - have.get(d, 0))
        numerator = numerator + part
    denominator = ExpPoly.one()
    for d, m in highest.items():
        denominator = denominator * factors[d] ** m
    return Quotient(numerator, denominator)
