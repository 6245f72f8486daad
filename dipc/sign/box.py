"""Functions of two unknowns that are nowhere negative: on a box, and for every integer from some one on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import comb, lcm
from typing import NamedTuple

from dipc.algebra.exppoly import ExpPoly
from dipc.sign.interval import Interval

# --- Polynomials in two unknowns that are nowhere negative on a box: by Bernstein's coefficients and bisection --------
#
# Where all Bernstein coefficients of a polynomial over a box are not negative, neither is the polynomial there: it is a
# sum of them with weights that are not negative. Factors that are positive inside the box are taken out first, since
# most claims are met with nothing to spare at its edges.

#: The coefficient of X^i·W^j in row i.
_Rows = list[list[int]]

#: Boxes that are looked at, and coefficients that a polynomial may have.
_MOST_BOXES = 100
_MOST_COEFFICIENTS = 20_000


def nowhere_negative(terms: Mapping[tuple[int, int], Fraction], low: Fraction, high: Fraction) -> bool:
    """Whether Σ c·X^i·W^j >= 0 for all low < X < high and 0 < W < 1, terms by (i, j): True is proved, False says
    nothing. Requires 0 <= low < high <= 1."""
    kept = {key: c for key, c in terms.items() if c}
    if all(c > 0 for c in kept.values()):
        return True
    first, second = min(i for i, _ in kept), min(j for _, j in kept)
    width, height = max(i for i, _ in kept) - first + 1, max(j for _, j in kept) - second + 1
    if width * height > _MOST_COEFFICIENTS:
        return False
    below = lcm(*[c.denominator for c in kept.values()])
    rows = [[0] * height for _ in range(width)]
    for (i, j), c in kept.items():
        rows[i - first][j - second] = int(c * below)
    if high == 1:
        rows = _without_factor(rows)
    rows = _turned(_without_factor(_turned(rows)))
    return _searched(_moved(rows, low, high))


def _without_factor(rows: _Rows) -> _Rows:
    """The quotient by the highest power of 1 - X."""
    while len(rows) > 1 and not any(sum(column) for column in zip(*rows, strict=True)):
        sums = [rows[0]]
        for row in rows[1:-1]:
            sums.append([a + b for a, b in zip(sums[-1], row, strict=True)])
        rows = sums
    return rows


def _turned(rows: _Rows) -> _Rows:
    """With the unknowns exchanged."""
    return [list(column) for column in zip(*rows, strict=True)]


def _moved(rows: _Rows, low: Fraction, high: Fraction) -> _Rows:
    """A positive multiple of the polynomial with X = low + (high - low)·s for 0 <= s <= 1, by Horner's rule."""
    if low == 0 and high == 1:
        return rows
    unit = lcm(low.denominator, high.denominator)
    start, step = int(low * unit), int((high - low) * unit)
    result = [rows[-1]]
    for n, row in enumerate(reversed(rows[:-1]), start=1):
        nothing = [0] * len(row)
        result = [
            [start * a + step * b for a, b in zip(one, other, strict=True)]
            for one, other in zip([*result, nothing], [nothing, *result], strict=True)
        ]
        result[0] = [a + unit**n * c for a, c in zip(result[0], row, strict=True)]
    return result


def _searched(rows: _Rows) -> bool:
    """Whether the polynomial is not negative on the unit square, in at most so many boxes."""
    pending = [(rows, 0)]
    looked_at = 0
    while pending:
        part, depth = pending.pop()
        looked_at += 1
        if looked_at > _MOST_BOXES:
            return False
        coefficients = _bernstein(part)
        corners = [row[place] for row in (coefficients[0], coefficients[-1]) for place in (0, -1)]
        if min(corners) < 0:
            return False
        if all(c >= 0 for row in coefficients for c in row):
            continue
        across = len(part) > 1 and (depth % 2 == 0 or len(part[0]) == 1)
        sides = _halves(part) if across else [_turned(half) for half in _halves(_turned(part))]
        pending += [(side, depth + 1) for side in sides]
    return True


def _bernstein(rows: _Rows) -> _Rows:
    """The Bernstein coefficients over the unit square, each times its binomial coefficients, which are positive."""
    return _turned(_by_rows(_turned(_by_rows(rows))))


def _by_rows(rows: _Rows) -> _Rows:
    # Σ c_k·s^k with s = t/(1 + t) is Σ b_i·t^i over (1 + t)^n: the reversed polynomial, moved by 1.
    return _shifted(rows[::-1])[::-1]


def _shifted(rows: _Rows) -> _Rows:
    """With X + 1 in the place of X."""
    result = [list(row) for row in rows]
    for first in range(len(result) - 1):
        for i in range(len(result) - 2, first - 1, -1):
            result[i] = [a + b for a, b in zip(result[i], result[i + 1], strict=True)]
    return result


def _halves(rows: _Rows) -> list[_Rows]:
    """Positive multiples of the polynomial over the lower and the upper half of X, each seen as [0, 1]."""
    degree = len(rows) - 1
    lower = [[c << (degree - i) for c in row] for i, row in enumerate(rows)]
    return [lower, _shifted(lower)]


# --- Functions of eps and of an integer k that are nowhere negative, for every k from some one on ---------------------
#
# A trend is Σ c·eps^e·k^p·exp(-(a + b·k)·eps). With k = start + j, X = exp(-eps/q) and W = X^j for a q that makes all
# exponents integers, it is a polynomial in X and W but for powers of eps and of j. For these there are bounds on both
# sides, which get as sharp as one likes as q grows: 1 - X <= eps/q <= (1 - X)/X, and from the geometric sum (1 - W)/(1
# - X) <= j <= X·(1 - W)/((1 - X)·W). What is left is a polynomial on a box (see `box`): X and W are taken for unknowns
# that do not depend on each other.


class Growth(NamedTuple):
    """eps^powers · k^degree · exp(-(rate + slope·k)·eps)."""

    powers: int
    degree: int
    rate: Fraction
    slope: Fraction


#: A sum of these.
Trend = dict[Growth, Fraction]

_ZERO = Fraction(0)
_Polynomial = dict[tuple[int, int], Fraction]

#: By how much q is greater than it has to be, where that matters; digits of the ends of the box.
_REFINED = (1, 2, 4)
_DIGITS = 12
#: The greatest exponents of polynomials.
_MOST_DEGREE = 400


def total(trends: Iterable[Trend]) -> Trend:
    """The sum."""
    result: Trend = {}
    for trend in trends:
        for growth, c in trend.items():
            result[growth] = result.get(growth, _ZERO) + c
    return {growth: c for growth, c in result.items() if c}


def times(left: Trend, right: Trend) -> Trend:
    """The product."""
    return total(
        {Growth(one.powers + two.powers, one.degree + two.degree, one.rate + two.rate, one.slope + two.slope): c * d}
        for one, c in left.items()
        for two, d in right.items()
    )


def of_ring(value: ExpPoly) -> Trend:
    """A function of eps alone."""
    return total({Growth(k, 0, -q, _ZERO): c} for k, q, c in value.terms())


def never_negative(trend: Trend, start: int, intervals: Iterable[Interval]) -> bool:
    """Whether the trend is >= 0 for every integer k >= start >= 0 and every eps of the intervals: True is proved, False
    says nothing."""
    moved = _started_at(trend, start)
    mixed = any(growth.powers or growth.degree for growth in moved)
    return all(
        any(_proved(moved, refined, interval) for refined in (_REFINED if mixed else _REFINED[:1]))
        for interval in intervals
    )


def _started_at(trend: Trend, start: int) -> Trend:
    """With start + k in the place of k."""
    return total(
        {
            Growth(growth.powers, n, growth.rate + start * growth.slope, growth.slope): c
            * comb(growth.degree, n)
            * start ** (growth.degree - n)
        }
        for growth, c in trend.items()
        for n in range(growth.degree + 1)
    )


def _proved(trend: Trend, refined: int, interval: Interval) -> bool:
    if not trend:
        return True
    unit = refined * lcm(*[number.denominator for growth in trend for number in (growth.rate, growth.slope)])
    # A power of X and one of W are taken out, which are positive.
    rate, slope = min(growth.rate for growth in trend), min(growth.slope for growth in trend)
    groups: dict[tuple[int, int], _Polynomial] = {}
    for growth, c in trend.items():
        key = int((growth.rate - rate) * unit), int((growth.slope - slope) * unit)
        if max(key) > _MOST_DEGREE:
            return False
        group = groups.setdefault((growth.powers, growth.degree), {})
        group[key] = group.get(key, _ZERO) + c * unit**growth.powers
    low = _ZERO if interval.upper is None else _exponential(interval.upper / unit)[0]
    high = Fraction(1) if not interval.lower else _exponential(interval.lower / unit)[1]
    if low >= high:
        return False
    return nowhere_negative(_lowered(groups, low, high), low, high)


def _exponential(rate: Fraction) -> tuple[Fraction, Fraction]:
    """Rationals around exp(-rate), from 0 to 1."""
    low, high = ExpPoly.term(1, 0, -rate).enclosure(Fraction(1), _DIGITS)
    return max(low, _ZERO), min(high, Fraction(1))


def _lowered(groups: Mapping[tuple[int, int], _Polynomial], low: Fraction, high: Fraction) -> _Polynomial:
    """A polynomial that is at most a positive multiple of the sum of (eps/q)^e · j^p · group."""
    most_powers, most_degree = max(e for e, _ in groups), max(p for _, p in groups)
    result: _Polynomial = {}
    for (e, p), group in groups.items():
        for part, sign in _by_sign(group, low, high) if e or p else [(group, 1)]:
            # Times (1 - X)^P·X^E·W^P: (1 - X)^(P + e - p)·(1 - W)^p·X^E·W^P for the lower bounds of eps/q and j, and
            # with X^(E - e + p)·W^(P - p) for the upper ones.
            factor = _product(_one_less(most_degree + e - p, 0), _one_less(p, 1))
            by_x, by_w = (most_powers, most_degree) if sign > 0 else (most_powers - e + p, most_degree - p)
            for (i, j), c in _product(part, factor).items():
                key = i + by_x, j + by_w
                result[key] = result.get(key, _ZERO) + c
    return result


def _by_sign(group: _Polynomial, low: Fraction, high: Fraction) -> list[tuple[_Polynomial, int]]:
    """The polynomial as a sum of some that are nowhere negative (1) and some that are nowhere positive (-1)."""
    if nowhere_negative(group, low, high):
        return [(group, 1)]
    if nowhere_negative({key: -c for key, c in group.items()}, low, high):
        return [(group, -1)]
    return [
        ({key: c for key, c in group.items() if c > 0}, 1),
        ({key: c for key, c in group.items() if c < 0}, -1),
    ]


def _one_less(power: int, place: int) -> _Polynomial:
    """(1 - X)^power, or (1 - W)^power at place 1."""
    return {((n, 0) if place == 0 else (0, n)): Fraction((-1) ** n * comb(power, n)) for n in range(power + 1)}


def _product(left: _Polynomial, right: _Polynomial) -> _Polynomial:
    result: _Polynomial = {}
    for (i, j), c in left.items():
        for (k, m), d in right.items():
            result[i + k, j + m] = result.get((i + k, j + m), _ZERO) + c * d
    return result
