"""The sign of a curve next to 0 and towards infinity."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

from dipc.verifier.budget import Budget
from dipc.verifier.curve import Curve
from dipc.verifier.enclosure import powers
from dipc.verifier.positive import positive_on_unit
from dipc.verifier.rejection import Rejected

_GUARD_BITS = 64
#: Taylor coefficients at 0 used beyond the first that is not 0.
_EXTRA_TERMS = 20
MOST_ORDER = 20_000


def prove_near_zero(curve: Curve, order: int, radius: Fraction, sign: int, budget: Budget, step: str) -> None:
    """Raises Rejected unless the curve vanishes at 0 to exactly this order and has this strict sign on (0, radius].

    With the Taylor coefficients a_n, curve(t)/t^order is Σ a_n·t^{n - order} over order <= n <= last, which is shown to
    be larger on [0, radius] than a bound of the rest.
    """
    last = max(order + _EXTRA_TERMS, curve.degree)
    numbers = _derivatives(curve, last, budget, step)
    for n in range(order):
        if numbers[n]:
            raise Rejected(step, f"the Taylor coefficient at 0 of order {n} is not 0")
    if not numbers[order]:
        raise Rejected(step, f"the Taylor coefficient at 0 of order {order} is 0")
    if (numbers[order] > 0) != (sign > 0):
        raise Rejected(step, f"the first Taylor coefficient at 0 does not have the sign {sign}")
    bits = max(0, _GUARD_BITS + factorial(order).bit_length() - numbers[order].bit_length())
    longest = curve.terms[-1][0].bit_length()
    budget.spend(4 * (last - order + 1 + len(curve.terms)), step, bits + last * (_height(radius) + longest))
    tail = _tail(curve, order, last, radius, step)
    coefficients = []
    power, fact = Fraction(1 << bits), factorial(order)
    for n in range(order, last + 1):
        value = sign * numbers[n] * power / fact
        coefficients.append(value.numerator // value.denominator)
        power *= radius
        fact *= n + 1
    above = tail * (1 << bits)
    coefficients[0] -= -(-above.numerator // above.denominator)
    if not positive_on_unit(coefficients, budget, step):
        raise Rejected(step, f"the sign {sign} is not shown up to the radius")


def _derivatives(curve: Curve, last: int, budget: Budget, step: str) -> list[int]:
    """The derivatives of order 0 to `last` at 0: t^k·e^{-jt} contributes n!/(n-k)!·(-j)^{n-k}."""
    longest = curve.terms[-1][0].bit_length()
    budget.spend((last + 1) * len(curve.terms), step, curve.bits + last * longest)
    result = [0] * (last + 1)
    for j, k, c in curve.terms:
        value = c * factorial(k)
        for n in range(k, last + 1):
            result[n] += value
            # n!/(n-k)! grows by (n+1)/(n+1-k)
            value = value * (n + 1) * -j // (n + 1 - k)
            if not value:
                break
    return result


def _tail(curve: Curve, order: int, last: int, radius: Fraction, step: str) -> Fraction:
    """At least Σ |a_n|·radius^{n - order} over n > last.

    t^k·e^{-jt} contributes at most radius^k·Σ (j·radius)^i/i! over i >= first = last + 1 - k: each term is at most
    j·radius/(first + 1) times the one before.
    """
    total = Fraction(0)
    for j, k, c in curve.terms:
        if not j:
            continue
        first = last + 1 - k
        ratio = j * radius / (first + 1)
        if 2 * ratio > 1:
            raise Rejected(step, "the radius is too large for the Taylor series at 0")
        total += 2 * abs(c) * radius ** (k - order) * (j * radius) ** first / factorial(first)
    return total


def prove_at_infinity(curve: Curve, bound: Fraction, sign: int, budget: Budget, step: str) -> None:
    """Raises Rejected unless the curve has this strict sign on [bound, inf), bound > 0.

    The leading term is c·t^degree, the one without e^{-t} and with the highest power. On [bound, inf) each other term
    divided by t^degree is decreasing in absolute value, and at the bound these are less than |c| together.
    """
    constant = [(k, c) for j, k, c in curve.terms if not j]
    if not constant:
        raise Rejected(step, "no term is without e^-t, so none leads towards infinity")
    degree, leading = constant[-1]
    if (leading > 0) != (sign > 0):
        raise Rejected(step, f"the leading term does not have the sign {sign}")
    columns: dict[int, Fraction] = {}
    budget.spend(2 * len(curve.terms), step, curve.bits + curve.degree * _height(bound))
    for j, k, c in curve.terms:
        if j == 0 and k == degree:
            continue
        # t^power·e^{-jt} decreases from power/j on.
        if k - degree > j * bound:
            raise Rejected(step, f"t^{k - degree}·e^(-{j}·t) does not decrease from the bound on")
        columns[j] = columns.get(j, Fraction(0)) + abs(c) * bound ** (k - degree)
    exponents = sorted(columns)
    bits = _GUARD_BITS + max((_log2(x) for x in columns.values()), default=0)
    total = Fraction(0)
    for j, (_, high) in zip(exponents, powers(exponents, bound, bits, budget, step), strict=True):
        total += columns[j] * high
    if not total < abs(leading) << bits:
        raise Rejected(step, "the leading term does not win from the bound on")


def _log2(x: Fraction) -> int:
    return max(0, x.numerator.bit_length() - x.denominator.bit_length() + 1)


def _height(x: Fraction) -> int:
    return x.numerator.bit_length() + x.denominator.bit_length()
