"""Sums of products of powers and exponentials in several variables, integrated or summed over one variable at a time.

A sum over integers of exponential polynomials is an exponential polynomial times factors 1/(1 - e^{-d·eps}) with d > 0,
which are positive for every eps > 0. A summand lists these factors as `poles`; `closed_form` brings them over one
denominator.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from math import comb, factorial
from typing import NamedTuple, TypeVar

from dipc.algebra.exppoly import ExpPoly, Quotient

_ZERO = Fraction(0)

#: The pairs (d, m) of a product Π (1 - e^{-d·eps})^{-m}.
Poles = tuple[tuple[Fraction, int], ...]

_T = TypeVar("_T")
_Number = Fraction | int


class Summand(NamedTuple):
    """A term that is integrated or summed over variables x_v: a product of powers and exponentials.

    It is eps^`power` · e^{`exponent`·eps} · Π (1 - e^{-d·eps})^{-m} over the pairs (d, m) of `poles`, times Π
    x_v^{`powers`[v]}·e^{`slopes`[v]·u·x_v} over all v. For integer variables u = eps. For real variables u = 1, and a
    variable is eps times a value in the program.
    """

    power: int
    exponent: Fraction
    poles: Poles
    powers: tuple[int, ...]
    slopes: tuple[Fraction, ...]


#: A linear combination of summands.
Summands = dict[Summand, Fraction]


def constant_one(width: int) -> Summands:
    """Return the constant function 1 of `width` variables as summands."""
    return {Summand(0, _ZERO, (), (0,) * width, (_ZERO,) * width): Fraction(1)}


def replaced(items: tuple[_T, ...], position: int, value: _T) -> tuple[_T, ...]:
    """Return `items` with `value` in place of the item at `position`."""
    return (*items[:position], value, *items[position + 1 :])


def _merged(left: Poles, right: Poles) -> Poles:
    if not right:
        return left
    powers = dict(left)
    for d, m in right:
        powers[d] = powers.get(d, 0) + m
    return tuple(sorted(powers.items()))


def add_to(total: Summands, more: Mapping[Summand, Fraction]) -> None:
    """Add `more` to `total` in place, and drop summands whose coefficients become 0."""
    for summand, c in more.items():
        value = total.get(summand, _ZERO) + c
        if value:
            total[summand] = value
        else:
            total.pop(summand, None)


def times_exponential(summands: Summands, v: int, factor: Fraction, slope: Fraction, exponent: Fraction) -> Summands:
    """Return `summands` times `factor`·e^{`slope`·u·x}·e^{`exponent`·eps}, where x is the variable with the index `v`.

    u is 1 for real variables and eps for integers, as in `Summand`.
    """
    return {
        s._replace(exponent=s.exponent + exponent, slopes=replaced(s.slopes, v, s.slopes[v] + slope)): c * factor
        for s, c in summands.items()
    }


def times_affine(summands: Summands, slopes: Mapping[int, _Number], constant: _Number, power: int) -> Summands:
    """Return `summands` times the form Σ `slopes`[w]·x_w + eps^`power`·`constant`.

    `power` is 1 for real variables, which are multiples of eps, and 0 for integers.
    """
    result: Summands = {}
    for s, c in summands.items():
        if constant:
            add_to(result, {s._replace(power=s.power + power): c * constant})
        for w, slope in slopes.items():
            add_to(result, {s._replace(powers=replaced(s.powers, w, s.powers[w] + 1)): c * slope})
    return result


def substituted(summands: Summands, v: int, slopes: Mapping[int, _Number], constant: _Number, power: int) -> Summands:
    """Return `summands` with the form Σ `slopes`[w]·x_w + eps^`power`·`constant` in place of the variable x_`v`.

    The form may contain x_v itself. `power` is 1 for real variables, which are multiples of eps, and 0 for integers.
    """
    result: Summands = {}
    for s, c in summands.items():
        n, slope = s.powers[v], s.slopes[v]
        moved = list(s.slopes)
        moved[v] = _ZERO
        for w, by in slopes.items():
            moved[w] += slope * by
        expanded: Summands = {
            Summand(s.power, s.exponent + slope * constant, s.poles, replaced(s.powers, v, 0), tuple(moved)): c
        }
        for _ in range(n):
            expanded = times_affine(expanded, slopes, constant, power)
        add_to(result, expanded)
    return result


def antiderivative(summands: Summands, v: int) -> Summands:
    """Return an antiderivative of `summands` in the real variable with the index `v`, without a constant.

    It vanishes at ∞, or at -∞, if the summands decay there.
    """
    grown: Summands = {}
    for s, c in summands.items():
        n, slope = s.powers[v], s.slopes[v]
        if not slope:
            add_to(grown, {s._replace(powers=replaced(s.powers, v, n + 1)): c / (n + 1)})
            continue
        for i in range(n + 1):
            factor = Fraction((-1) ** i * (factorial(n) // factorial(n - i))) / slope ** (i + 1)
            add_to(grown, {s._replace(powers=replaced(s.powers, v, n - i)): c * factor})
    return grown


def summed(summands: Summands, variable: int) -> Summands:
    """Return F with F(x) - F(x - 1) equal to `summands`, as functions of the variable x with the index `variable`.

    F vanishes at infinity, on each side where the summands decay.
    """
    result: Summands = {}
    for summand, c in summands.items():
        n, slope = summand.powers[variable], summand.slopes[variable]
        if not slope:
            for power, factor in power_sum(n):
                powers = replaced(summand.powers, variable, power)
                add_to(result, {summand._replace(powers=powers): c * factor})
            continue
        for (power, shift, poles), factor in geometric_sum(n, slope > 0):
            d = abs(slope)
            grown = summand._replace(
                exponent=summand.exponent - d * shift,
                poles=_merged(summand.poles, ((d, poles),)),
                powers=replaced(summand.powers, variable, power),
            )
            add_to(result, {grown: c * factor})
    return result


@cache
def power_sum(n: int) -> tuple[tuple[int, Fraction], ...]:
    """Return the polynomial S with S(x) - S(x - 1) = x^`n` and S(0) = 0, as pairs (power of x, coefficient)."""
    # x^{n+1} - (x-1)^{n+1} = Σ_{j<=n} C(n+1, j)·(-1)^{n-j}·x^j, so S_n follows from the S_j below it.
    total = {n + 1: Fraction(1)}
    for j in range(n):
        for power, c in power_sum(j):
            total[power] = total.get(power, Fraction(0)) - comb(n + 1, j) * (-1) ** (n - j) * c
    return tuple((power, c / (n + 1)) for power, c in sorted(total.items()) if c)


@cache
def geometric_sum(n: int, growing: bool) -> tuple[tuple[tuple[int, int, int], Fraction], ...]:
    """Return a polynomial p in x with p(x) - e^{-l}·p(x - 1) = x^`n`.

    Then S(x) = e^{lx}·p(x) has S(x) - S(x - 1) = x^n·e^{lx}. Here l > 0 if `growing`, else l < 0. A pair ((k, s, m), c)
    of the result means the term c·x^k·e^{-|l|·s}·(1 - e^{-|l|})^{-m}.
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
    """Return the sum of `summands`, which have no variables and no powers of eps left, as a quotient."""
    highest: dict[Fraction, int] = {}
    for summand in summands:
        for d, m in summand.poles:
            highest[d] = max(highest.get(d, 0), m)
    factors = {d: ExpPoly.ONE - ExpPoly.term(1, 0, -d) for d in highest}
    by_poles: dict[tuple[tuple[Fraction, int], ...], list[tuple[int, Fraction, Fraction]]] = {}
    for summand, c in summands.items():
        by_poles.setdefault(summand.poles, []).append((0, summand.exponent, c))
    numerator = ExpPoly.ZERO
    for poles, terms in by_poles.items():
        have = dict(poles)
        poly = ExpPoly.from_terms(terms)
        for d, m in highest.items():
            poly = poly * factors[d] ** (m - have.get(d, 0))
        numerator = numerator + poly
    denominator = ExpPoly.ONE
    for d, m in highest.items():
        denominator = denominator * factors[d] ** m
    return Quotient(numerator, denominator)
