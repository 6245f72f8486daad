"""Polynomials in two unknowns that are nowhere negative on a box: by Bernstein's coefficients and bisection.

Where all Bernstein coefficients of a polynomial over a box are not negative, neither is the polynomial there: it is a
sum of them with weights that are not negative. Factors that are positive inside the box are taken out first, since most
claims are met with nothing to spare at its edges.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import lcm

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
    found = [rows[-1]]
    for n, row in enumerate(reversed(rows[:-1]), start=1):
        nothing = [0] * len(row)
        found = [
            [start * a + step * b for a, b in zip(one, other, strict=True)]
            for one, other in zip([*found, nothing], [nothing, *found], strict=True)
        ]
        found[0] = [a + unit**n * c for a, c in zip(found[0], row, strict=True)]
    return found


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
    found = [list(row) for row in rows]
    for first in range(len(found) - 1):
        for i in range(len(found) - 2, first - 1, -1):
            found[i] = [a + b for a, b in zip(found[i], found[i + 1], strict=True)]
    return found


def _halves(rows: _Rows) -> list[_Rows]:
    """Positive multiples of the polynomial over the lower and the upper half of X, each seen as [0, 1]."""
    degree = len(rows) - 1
    lower = [[c << (degree - i) for c in row] for i, row in enumerate(rows)]
    return [lower, _shifted(lower)]
