"""The sign next to 0: order of vanishing by exact Taylor coefficients, and a radius on which it holds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import factorial

from dipc.sign.budget import Budget
from dipc.sign.polynomial import Layout

#: Taylor coefficients used beyond the first that does not vanish.
_EXTRA_TERMS = 20
_GUARD_BITS = 40
#: Radii above 2^-this are not looked for.
_LEAST_SHIFT = -8


@dataclass(frozen=True, slots=True)
class NearZero:
    """F has the strict sign `sign` on (0, radius], and |F(radius)| >= 2^magnitude.

    Let a_n be the Taylor coefficients of F at 0. Then a_n = 0 for n < order, and all the partial sums of
    Σ a_n·radius^{n - order}, order <= n <= last, have the sign `sign` and are larger than a bound for
    Σ |a_n|·radius^{n - order}, n > last. On (0, radius], F(t)/t^order is a mean of these partial sums, plus the tail.
    """

    order: int
    last: int
    radius: Fraction
    sign: int
    magnitude: int


def near_zero(layout: Layout, budget: Budget) -> NearZero:
    """The sign of F on some interval (0, radius].

    F is not zero, so some Taylor coefficient below the number of (k, j) with k <= degree in t of e^{-j·t} is not 0.
    """
    coefficients = TaylorCoefficients(layout)
    order = 0
    while not coefficients[order]:
        order += 1
        budget.check_taylor_terms(order)
    top = layout.exponents[-1]
    last = max(order + _EXTRA_TERMS, layout.degree)
    numbers = [coefficients[n] for n in range(order, last + 1)]
    # radius = 2^-shift: first 2/top or so, then ever smaller until it is proved, or else larger while it is.
    shift = top.bit_length() - 2 if top else 0
    best = _prove(layout, numbers, order, last, shift)
    step = 1 if best is None else -1
    while True:
        shift += step
        found = _prove(layout, numbers, order, last, shift)
        if step > 0 and found is not None:
            return found
        if step < 0 and (found is None or shift < _LEAST_SHIFT):
            assert best is not None
            return found or best
        best = found
        budget.spend_interval()


class TaylorCoefficients:
    """n! times the n-th Taylor coefficient of F at 0, an integer, computed in order and once."""

    def __init__(self, layout: Layout) -> None:
        self._rows = [
            (k, [-layout.exponents[i] for i in positions], list(coefficients))
            for k, (positions, coefficients) in enumerate(layout.columns)
            if coefficients
        ]
        self._sums: list[list[int]] = [[] for _ in self._rows]
        self._known: list[int] = []

    def __getitem__(self, n: int) -> int:
        while len(self._known) <= n:
            self._known.append(self._next())
        return self._known[n]

    def _next(self) -> int:
        n = len(self._known)
        total = 0
        for (k, exponents, values), sums in zip(self._rows, self._sums, strict=True):
            if n < k:
                continue
            if sums:
                values[:] = map(int.__mul__, values, exponents)
            sums.append(sum(values))
            # t^k·Σ c·e^{-jt} has the n-th derivative n!/(n-k)!·Σ c·(-j)^{n-k} at 0.
            total += sums[-1] * (factorial(n) // factorial(n - k))
        return total


def _prove(layout: Layout, numbers: list[int], order: int, last: int, shift: int) -> NearZero | None:
    """Try the radius 2^-shift."""
    bits = max(0, _GUARD_BITS + factorial(order).bit_length() - abs(numbers[0]).bit_length())
    tail = _tail(layout, order, last, shift, bits)
    if tail is None:
        return None
    fact = factorial(order)
    terms: list[int] = []
    for i, number in enumerate(numbers):
        if i:
            fact *= order + i
        # a_n·radius^{n - order}, rounded down to a multiple of 2^-bits.
        move = bits - shift * i
        terms.append((number << move) // fact if move >= 0 else number // (fact << -move))
    sums = list(accumulate(terms))
    # Every partial sum is too small by less than one unit for each of its terms.
    slack = len(terms) + tail
    low, high = min(sums), max(sums)
    if low > slack:
        sign, size = 1, sums[-1] - slack
    elif high < -slack:
        sign, size = -1, -sums[-1] - slack
    else:
        return None
    radius = Fraction(1, 1 << shift) if shift >= 0 else Fraction(1 << -shift)
    return NearZero(order, last, radius, sign, size.bit_length() - 1 - bits - shift * order)


def _tail(layout: Layout, order: int, last: int, shift: int, bits: int) -> int | None:
    """An upper bound of 2^bits·Σ_{n > last} |a_n|·r^{n - order} with r = 2^-shift; None if r is too large to say.

    The terms c·t^k·e^{-jt} contribute at most |c|·r^k·Σ_{i >= last+1-k} (j·r)^i/i!, and the sum is at most twice its
    first term where j·r is at most half of last + 2 - k.
    """
    top = layout.exponents[-1]
    if not top:
        return 0
    total = 1
    for k, norm in enumerate(layout.norms):
        if not norm:
            continue
        first = last + 1 - k
        reach = top << 1 if shift <= 0 else top << 1 >> shift
        if (reach << -shift if shift < 0 else reach + 1) > first + 1:
            return None
        # norm·r^k·2·(top·r)^first/first! / r^order
        move = bits - shift * (first + k - order)
        numerator = 2 * norm * top**first
        total += (numerator << move if move >= 0 else numerator >> -move) // factorial(first) + 2
    return total
