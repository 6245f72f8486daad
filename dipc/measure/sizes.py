"""How long a closed form becomes, before it is expanded: functions as in `pieces.py`, by the sizes of their terms.

Of the terms with one exponent l of X only this is kept: how many there are at most, from which q to which, and their
total degree in eps and X. Terms add up where their exponents are equal, so that there are no more of them than
exponents in the box. That costs a small part of the expansion, and is good where means are generic (twice the terms
with every noise) and where they are multiples of one number (no more terms than multiples).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, lcm
from typing import NamedTuple

from dipc.algebra.limits import Meter, weight


class Size(NamedTuple):
    """At most so many terms c·eps^k·e^{q·eps}·X^n, with low <= q <= high and k + n <= degree."""

    terms: int
    low: int
    high: int
    degree: int

    def times(self, other: Size) -> Size:
        """Of the product."""
        return Size(
            self.terms * other.terms, self.low + other.low, self.high + other.high, self.degree + other.degree
        ).boxed()

    def plus(self, other: Size) -> Size:
        """Of the sum."""
        return Size(
            self.terms + other.terms,
            min(self.low, other.low),
            max(self.high, other.high),
            max(self.degree, other.degree),
        ).boxed()

    def moved(self, offset: int) -> Size:
        """Of the same with every q greater by the offset."""
        return Size(self.terms, self.low + offset, self.high + offset, self.degree)

    def spread(self, more: int = 0) -> Size:
        """Where each power of X is all lower ones too, and the degree is greater by so much."""
        return Size(self.terms * (self.degree + 1), self.low, self.high, self.degree + more).boxed()

    def boxed(self) -> Size:
        """Not more terms than there are exponents."""
        most = (self.high - self.low + 1) * comb(self.degree + 2, 2)
        return self if self.terms <= most else self._replace(terms=most)


#: The sizes of a piece by the exponents l of X; none for the zero function.
SizedPiece = Mapping[int, Size]


def _total(sizes: Iterable[tuple[int, Size]]) -> dict[int, Size]:
    found: dict[int, Size] = {}
    for l, size in sizes:
        found[l] = size.plus(found[l]) if l in found else size
    return found


def _product(left: SizedPiece, right: SizedPiece, meter: Meter) -> SizedPiece:
    meter.spend(len(left) * len(right))
    found = _total((l + k, size.times(other)) for l, size in left.items() for k, other in right.items())
    meter.spend(sum([size.terms for size in found.values()]))
    return found


def _power(piece: SizedPiece, exponent: int, meter: Meter) -> SizedPiece:
    if len(piece) == 2 and all(size.terms == 1 for size in piece.values()):
        (l, one), (k, other) = piece.items()
        meter.spend(exponent)
        found: dict[int, Size] = {}
        for n in range(exponent + 1):
            q, degree = one.low * n + other.low * (exponent - n), one.degree * n + other.degree * (exponent - n)
            found[l * n + k * (exponent - n)] = Size(1, q, q, degree)
        return found
    # Not more than there are products of so many terms in any order.
    most = comb(exponent + sum([size.terms for size in piece.values()]) - 1, exponent) if piece else 0
    result = piece
    for bit in bin(exponent)[3:]:
        result = _product(result, result, meter)
        if bit == "1":
            result = _product(result, piece, meter)
    return {l: size._replace(terms=min(size.terms, most)) for l, size in result.items()}


@dataclass(frozen=True, slots=True)
class SizedPiecewise:
    """As `Piecewise`: `pieces[i]` holds between eps·breaks[i-1] and eps·breaks[i]."""

    breaks: tuple[int, ...]
    pieces: tuple[SizedPiece, ...]

    @classmethod
    def laplace(cls, rate: int, mean: int) -> SizedPiecewise:
        """The density of X = eps·x for x ~ Lap(rate·eps, mean)."""
        q = rate * mean
        return cls((mean,), ({rate: Size(1, -q, -q, 0)}, {-rate: Size(1, q, q, 0)}))

    def restricted(self, low: int | None, high: int | None) -> SizedPiecewise:
        """The function times the indicator of [eps·low, eps·high] (None: unbounded); zero if low >= high."""
        if low is not None and high is not None and low >= high:
            return SizedPiecewise((), ({},))
        breaks, pieces = self.breaks, self.pieces
        if low is not None:
            first = bisect_right(breaks, low)
            breaks, pieces = (low, *breaks[first:]), ({}, *pieces[first:])
        if high is not None:
            last = bisect_left(breaks, high)
            breaks, pieces = (*breaks[:last], high), (*pieces[: last + 1], {})
        return SizedPiecewise(breaks, pieces)

    def piece_before(self, point: int | None) -> SizedPiece:
        """The piece that ends at a point or later; None: the last one."""
        return self.pieces[-1 if point is None else bisect_left(self.breaks, point)]

    def times(self, other: SizedPiecewise, meter: Meter) -> SizedPiecewise:
        """The product. Raises LimitReached."""
        breaks = tuple(sorted({*self.breaks, *other.breaks}))
        pieces = [_product(self.piece_before(b), other.piece_before(b), meter) for b in (*breaks, None)]
        return SizedPiecewise(breaks, tuple(pieces))

    def to_power(self, exponent: int, meter: Meter) -> SizedPiecewise:
        """The function to the power `exponent` >= 1. Raises LimitReached."""
        return SizedPiecewise(self.breaks, tuple([_power(piece, exponent, meter) for piece in self.pieces]))

    def within(self, low: int | None, high: int | None, meter: Meter) -> SizedPiecewise:
        """X -> the integral of the function over the Z with X + eps·low <= Z <= X + eps·high (None: unbounded).
        Raises LimitReached."""
        below: list[SizedPiece] = []
        constant: SizedPiece = {}
        for place, piece in enumerate(self.pieces):
            grown = [(l, size.spread(0 if l else 1)) for l, size in piece.items()]
            meter.spend(sum([size.terms for _, size in grown]))
            if place:
                constant = _total([*constant.items(), *_values(grown, self.breaks[place - 1])])
            below.append(_total([*grown, *constant.items()]))
            if place < len(self.breaks):
                constant = _total([*constant.items(), *_values(grown, self.breaks[place])])
        ends = [
            SizedPiecewise((), (constant,)) if end is None else SizedPiecewise(self.breaks, tuple(below)).shifted(end)
            for end in ((high,) if low is None else (low, high))
        ]
        breaks = tuple(sorted({b for end in ends for b in end.breaks}))
        pieces = [_total([item for end in ends for item in end.piece_before(b).items()]) for b in (*breaks, None)]
        return SizedPiecewise(breaks, tuple(pieces))

    def shifted(self, offset: int) -> SizedPiecewise:
        """X -> f(X + eps·offset)."""
        pieces = [{l: size.spread().moved(l * offset) for l, size in piece.items()} for piece in self.pieces]
        return SizedPiecewise(tuple([b - offset for b in self.breaks]), tuple(pieces))


def _values(terms: Sequence[tuple[int, Size]], point: int) -> list[tuple[int, Size]]:
    """Of the values at X = eps·point, which are constant in X."""
    return [(0, size.moved(l * point)) for l, size in terms]


def watch_product_of(factors: Sequence[tuple[SizedPiecewise, int]], meter: Meter) -> None:
    """Raises LimitReached where all pieces of a product of powers, which is integrated piece by piece, have together
    more terms than there are steps left, where those with long coefficients count for several: the integral of
    e^{l·X} divides by l, and all terms have one denominator in the end."""
    breaks = sorted({b for function, _ in factors for b in function.breaks})
    denominator = 1
    for end in (*breaks, None):
        inside = [(function.piece_before(end), count) for function, count in factors]
        if all(piece for piece, _ in inside):
            product: SizedPiece = {0: Size(1, 0, 0, 0)}
            for piece, count in inside:
                product = _product(product, _power(piece, count, meter), meter)
            for l in product:
                denominator = lcm(denominator, l or 1)
                meter.spend(weight(denominator.bit_length()) - 1)
