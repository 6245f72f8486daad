"""Probabilities of normal and Laplace noises around one center, in pieces on which everything is smooth.

A center t is compared with leaves, as in `normal.py`; here both are normal, or Laplace noise, a leaf may be bounded by
lines that meet, and the center by numbers. With t = eps·u, all that is not smooth is at finitely many u. On
the pieces between them the integral is a sum over nodes by a rule whose weights and nodes nobody trusts: FORMAT.md
states and proves what is used, lemmas N6 and N7.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise, product
from math import isqrt
from typing import Any

from dipc.verifier import reading as read
from dipc.verifier.reading import NotDerived, Rejected
from dipc.verifier.reals import Number
from dipc.verifier.signs import growth_bits
from dipc.verifier.taylor import MOST_GROWTH

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The most pieces of one event, and panels of a piece.
MOST_PIECES, MOST_PANELS = 60, 128

#: The most bounds on one side of a leaf of which it is asked whether others imply them.
MOST_LINES = 12

#: The ellipses by which a rule is bounded, and how many panels a piece may have.
_ELLIPSES = (Fraction(3, 2), Fraction(2), Fraction(3), Fraction(4), Fraction(6), Fraction(9), Fraction(14))
_PANELS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, MOST_PANELS)

#: (a, d) of a bound a·t + d·eps.
Line = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True, order=True)
class Spread:
    """The law of a value: Laplace with this rate, or normal with this variance."""

    laplace: bool
    size: Fraction

    def times(self, factor: Fraction) -> Spread:
        """That of a multiple of the value."""
        return Spread(self.laplace, self.size / factor if self.laplace else self.size * factor**2)

    @property
    def peak(self) -> Fraction:
        """At least its density everywhere: 1/√(2π) is less than 2/5."""
        return self.size / 2 if self.laplace else Fraction(2, 5) * root_above(1 / self.size)


def root_above(x: Fraction) -> Fraction:
    """At least √x."""
    shift = max(0, x.denominator.bit_length() - x.numerator.bit_length()) // 2 + 10
    return Fraction(isqrt((x.numerator << 2 * shift) // x.denominator) + 1, 1 << shift)


@dataclass(frozen=True, slots=True, order=True)
class Bounded:
    """L of this law with L + a·t + d·eps >= 0 for each of the `lower` lines, and L <= a·t + d·eps for each `upper`
    one."""

    spread: Spread
    lower: tuple[Line, ...]
    upper: tuple[Line, ...]

    @property
    def lines(self) -> tuple[Line, ...]:
        """All of them."""
        return self.lower + self.upper


@dataclass(frozen=True, slots=True)
class Near:
    """A leaf on a piece: the lines that are the nearest there, each with whether it is not negative."""

    spread: Spread
    lines: tuple[tuple[Line, bool], ...]
    count: int

    @property
    def doublings(self) -> int:
        """Its factor is at most 2^doublings at complex places, times exponentials."""
        return self.count * (len(self.lines) if self.spread.laplace else len(self.lines) - 1)


@dataclass(frozen=True, slots=True)
class Piece:
    """All u between the ends, None for infinity, with the leaves there."""

    low: Fraction | None
    high: Fraction | None
    leaves: tuple[Near, ...]

    @property
    def start(self) -> Fraction:
        """The end that is finite, or 0."""
        return self.low if self.low is not None else self.high if self.high is not None else _ZERO

    @property
    def doublings(self) -> int:
        """Those of all leaves."""
        return sum(leaf.doublings for leaf in self.leaves)


@dataclass(frozen=True, slots=True, order=True)
class Kinked:
    """A center of this law within its `own` bounds a·t + d·eps >= 0, and leaves with how often each occurs. It is
    `fixed` where the deviations do not depend on eps: then 1 stands in place of eps."""

    center: Spread
    own: tuple[Line, ...]
    leaves: tuple[tuple[Bounded, int], ...]
    fixed: bool

    # What is asked of stars, too, and not known here.
    at_zero = None
    doubled = 0
    spread = _ZERO

    @property
    def half_spaces(self) -> Iterator[tuple[int, Line, Spread | None]]:
        """Each with how often it is there, and the law of its leaf."""
        yield from ((1, line, None) for line in self.own)
        yield from ((count, line, leaf.spread) for leaf, count in self.leaves for line in leaf.lines)

    @property
    def tails(self) -> list[Number | Fraction] | None:
        """The half-spaces fail with at most e^{-r·eps²}/2 for each number r, and e^{-q·eps}/2 for each rational q,
        added up; None where one has no positive slack."""
        if self.fixed:
            return None
        result: list[Number | Fraction] = []
        for count, (a, d), spread in self.half_spaces:
            if d <= 0:
                return None
            spreads = [self.center.times(abs(a))] if a else []
            spreads += [] if spread is None else [spread]
            if all(not each.laplace for each in spreads):
                spreads = [Spread(False, sum((each.size for each in spreads), _ZERO))]
            for each in spreads:
                reach = d / len(spreads)
                result += [each.size * reach if each.laplace else Number(reach**2 / (2 * each.size))] * count
        return result

    def pieces(self) -> list[Piece]:
        """Between all places where something is not smooth. Raises NotDerived for too many."""
        low = max((-d / a for a, d in self.own if a > 0), default=None)
        high = min((-d / a for a, d in self.own if a < 0), default=None)
        if (low is not None and high is not None and low >= high) or any(not a and d < 0 for a, d in self.own):
            return []
        kinks = {_ZERO} if self.center.laplace else set()
        for leaf, _ in self.leaves:
            level = [*leaf.lower, *((-a, -d) for a, d in leaf.upper)]
            level += [(_ZERO, _ZERO)] if leaf.spread.laplace else []
            kinks |= {(e - d) / (a - b) for (a, d), (b, e) in combinations(level, 2) if a != b}
        inside = sorted(u for u in kinks if (low is None or low < u) and (high is None or u < high))
        if len(inside) >= MOST_PIECES:
            raise NotDerived(f"comparisons of Gaussian noise fall into more than {MOST_PIECES} pieces")
        pieces: list[Piece] = []
        for start, end in pairwise([low, *inside, high]):
            leaves = self._near(_between(start, end))
            if leaves is None:
                continue
            smooth = not (self.center.laplace and start == 0)
            if pieces and pieces[-1].leaves == leaves and pieces[-1].high == start and smooth:
                start = pieces.pop().low
            pieces.append(Piece(start, end, leaves))
        return [half for piece in pieces for half in _halves(piece)]

    def _near(self, u: Fraction) -> tuple[Near, ...] | None:
        """The leaves around u; None where one has no room."""
        result = []
        for leaf, count in self.leaves:
            nearest = [
                min(lines, key=lambda line: (line[0] * u + line[1], line))
                for lines in (leaf.lower, leaf.upper)
                if lines
            ]
            values = [a * u + d for a, d in nearest]
            if len(nearest) > 1 and sum(values, _ZERO) <= 0:
                return None
            signed = tuple(
                (line, value >= 0 or not leaf.spread.laplace) for line, value in zip(nearest, values, strict=True)
            )
            result.append(Near(leaf.spread, signed, count))
        return tuple(result)

    # --- bounds ---------------------------------------------------------------------------------------

    def bits_on_disk(self, middle: Fraction, disk: Fraction, accuracy: int) -> int | None:
        """An n such that the sum over nodes is at most 2^n for |eps - middle| <= disk, by lemma N7; None where it would
        be too large."""
        total = _ZERO
        for piece in self.pieces():
            ends = [end for end in (piece.low, piece.high) if end is not None] or [_ZERO]
            spread = max(sum((self._weights(piece, lambda a, d, u=u: (a * u + d) ** 2)), _ZERO) for u in ends)
            falls = max(sum(self._rates(piece, lambda a, d, u=u: abs(a * u + d)), _ZERO) for u in ends)
            length = self.reach(piece, middle + disk, accuracy + 10)
            if piece.low is not None and piece.high is not None:
                length = (piece.high - piece.low) * (middle + disk)
            if spread * disk * disk / 2 + falls * disk > MOST_GROWTH:
                return None
            grown = growth_bits(spread * disk * disk / 2) + growth_bits(falls * disk) + piece.doublings
            total += length * self.center.peak * 2 * (1 << grown)
        return max(0, int(total)).bit_length() + 1

    def _weights(self, piece: Piece, of: Any) -> Iterator[Fraction]:
        """of(a, d)/v of the center, as the line t itself, and of the nearest lines of the normal leaves."""
        if not self.center.laplace:
            yield of(_ONE, _ZERO) / self.center.size
        for leaf in piece.leaves:
            if not leaf.spread.laplace:
                yield leaf.count * max(of(a, d) for (a, d), _ in leaf.lines) / leaf.spread.size

    def _rates(self, piece: Piece, of: Any) -> Iterator[Fraction]:
        """The same with rates of Laplace noise."""
        if self.center.laplace:
            yield of(_ONE, _ZERO) * self.center.size
        for leaf in piece.leaves:
            if leaf.spread.laplace:
                yield leaf.count * max(of(a, d) for (a, d), _ in leaf.lines) * leaf.spread.size

    def reach(self, piece: Piece, most: Fraction, accuracy: int) -> Fraction:
        """How far beyond its start a half-line is summed: the rest is at most 2^-(accuracy + 3) for each eps up to
        `most`."""
        wanted = Fraction(7, 10) * (accuracy + 4)
        far = wanted / self.center.size if self.center.laplace else root_above(2 * self.center.size * wanted)
        towards = -piece.start if piece.low is not None else piece.start
        return far + max(_ZERO, towards) * most

    def nodes(self, most: Fraction, accuracy: int) -> Iterator[tuple[Piece, Fraction, Fraction, Fraction, bool]]:
        """Of all pieces (α, β, weight, scaled): at t = α + β·eps the integrand counts so often, or eps times that. The
        sum is within 2^-accuracy of the integral for 0 < eps <= `most`, by lemma N6. Raises NotDerived."""
        pieces = self.pieces()
        accuracy += 2 + len(pieces).bit_length()
        count = accuracy // 4 + 8
        for piece in pieces:
            start = piece.start
            finite = piece.low is not None and piece.high is not None
            if finite:
                assert piece.low is not None, "it is finite"
                assert piece.high is not None, "it is finite"
                length, stretch = piece.high - piece.low, most
            else:
                length, stretch = self.reach(piece, most, accuracy), _ONE
            panels = self._panels(piece, length, stretch, count, accuracy)
            half = length / (2 * panels)
            sign = 1 if piece.low is not None or piece.high is None else -1
            for panel in range(panels):
                for x, weight in _rule(count, accuracy + 64)[0]:
                    s = half * (2 * panel + 1 + x)
                    if finite:
                        yield piece, _ZERO, start + s, half * weight, True
                    else:
                        yield piece, sign * s, start, half * weight, False

    def _panels(self, piece: Piece, length: Fraction, stretch: Fraction, count: int, accuracy: int) -> int:
        """How many panels of the rule are wrong by no more than 2^-accuracy together."""
        curvature = sum(self._weights(piece, lambda a, _: a * a), _ZERO) * stretch**2
        rates = sum(self._rates(piece, lambda a, _: abs(a)), _ZERO) * stretch
        slip = _rule(count, accuracy + 64)[1]
        for panels in _PANELS:
            half = length / (2 * panels)
            whole = length * stretch * self.center.peak
            for ellipse in _ELLIPSES:
                y, over = half * (ellipse - 1 / ellipse) / 2, half * ((ellipse + 1 / ellipse) / 2 - 1)
                grown = growth_bits(y * y * curvature / 2 + rates * over) + piece.doublings
                if grown > 4 * accuracy:
                    continue
                error = slip / (1 - 1 / ellipse) + 9 / ellipse ** (2 * count) / (1 - 1 / ellipse)
                if whole * (1 << grown) * error * (1 << accuracy) <= 1:
                    return panels
        raise NotDerived(f"an integral over Gaussian noise takes more than {MOST_PANELS} panels")


def _between(start: Fraction | None, end: Fraction | None) -> Fraction:
    if start is None:
        return _ZERO if end is None else end - 1
    return start + 1 if end is None else (start + end) / 2


def _halves(piece: Piece) -> list[Piece]:
    """The whole line in two."""
    if piece.low is None and piece.high is None:
        return [Piece(None, _ZERO, piece.leaves), Piece(_ZERO, None, piece.leaves)]
    return [piece]


@lru_cache(maxsize=64)
def _rule(count: int, bits: int) -> tuple[tuple[tuple[Fraction, Fraction], ...], Fraction]:
    """Nodes and weights on [-1, 1], about those of Gauss and Legendre, and a δ with |Σ w·T_j(x) - ∫ T_j| <= δ/2 for the
    Chebyshev polynomials T_j of j < 2·count; the weights are positive, and their sum is less than 5/2."""
    one = 1 << bits
    nodes: list[tuple[int, int]] = []
    for k in range(count):
        x = _root_of_legendre(count, k, bits)
        slope = one
        for _ in range(bits.bit_length()):
            before, now = _legendre(count, x, bits)
            slope = count * ((x * now >> bits) - before << bits) // ((x * x >> bits) - one)
            x -= (now << bits) // slope
        nodes.append((x, (2 * one << 2 * bits) // ((one - (x * x >> bits)) * (slope * slope >> bits))))
    if not all(w > 0 and abs(x) < one for x, w in nodes) or sum(w for _, w in nodes) * 2 > 5 * one:
        raise NotDerived("the nodes of an integral could not be computed")
    # T_0, T_1 and so on at all nodes: each step is off by a unit at most, and what T_j is off by grows as (j + 1)².
    first, second = [one] * count, [x for x, _ in nodes]
    most = _ZERO
    for j in range(2 * count):
        value = sum(w * t for (_, w), t in zip(nodes, first, strict=True)) >> bits
        wanted = _ZERO if j % 2 else Fraction(2 * one, 1 - j * j)
        most = max(most, abs(value - wanted) + 2 * (j + 1) ** 2 + 2)
        first, second = second, [(2 * x * t >> bits) - b for (x, _), t, b in zip(nodes, second, first, strict=True)]
    return tuple((Fraction(x, one), Fraction(w, one)) for x, w in nodes), 2 * most / one


def _root_of_legendre(n: int, k: int, bits: int) -> int:
    """About the k-th root from above: P_0, ..., P_n change signs at x as often as there are roots above it."""
    low, high = -1 << bits, 1 << bits
    for _ in range(20):
        x = (low + high) // 2
        values = [1 << bits, x]
        for j in range(1, n):
            values.append(((2 * j + 1) * (x * values[-1] >> bits) - j * values[-2]) // (j + 1))
        above = sum((a < 0) != (b < 0) for a, b in pairwise(values))
        low, high = (x, high) if above > k else (low, x)
    return low


def _legendre(n: int, x: int, bits: int) -> tuple[int, int]:
    before, now = 1 << bits, x
    for k in range(1, n):
        before, now = now, ((2 * k + 1) * (x * now >> bits) - k * before) // (k + 1)
    return before, now


# === from events ===============================================================================

#: Half-spaces Σ c·value + d·eps >= 0.
_Rows = Sequence[tuple[Mapping[int, Fraction], Fraction]]


def needed(rows: _Rows) -> list[int]:
    """The places of the half-spaces that others do not imply, increasing; all of them where no value t is in each that
    has two, where they leave no room, and where a leaf has more than MOST_LINES.

    The bounds of a leaf leave room where t is in an interval; the center's own count where they cut something off it.
    On what is left of it a bound of a leaf that is nowhere the nearest follows from the nearest.
    """
    everything = list(range(len(rows)))
    values = sorted({value for row, _ in rows for value in row})
    center = next((t for t in values if all(len(row.keys() - {t}) <= 1 for row, _ in rows)), None)
    if center is None:
        return everything
    own: dict[bool, tuple[Fraction, int]] = {}
    sides: dict[tuple[int, bool], list[tuple[Fraction, Fraction, int]]] = {}
    for place, (row, d) in enumerate(rows):
        a = row.get(center, _ZERO)
        for leaf in row.keys() - {center}:
            c = abs(row[leaf])
            sides.setdefault((leaf, row[leaf] > 0), []).append((a / c, d / c, place))
        if len(row) == 1 and a:
            own[a > 0] = min(own.get(a > 0, (d / abs(a), place)), (d / abs(a), place))
    if any(len(lines) > MOST_LINES for lines in sides.values()):
        return everything
    lower = ((lines, sides.get((leaf, False), ())) for (leaf, is_lower), lines in sides.items() if is_lower)
    rooms = [(a + b, d + e) for pair in lower for (a, d, _), (b, e, _) in product(*pair)]
    if any(not a and d <= 0 for a, d in rooms):
        return everything
    low = max((-d / a for a, d in rooms if a > 0), default=None)
    high = min((-d / a for a, d in rooms if a < 0), default=None)
    kept: set[int] = set()
    if True in own and (low is None or -own[True][0] > low):
        low = -own[True][0]
        kept.add(own[True][1])
    if False in own and (high is None or own[False][0] < high):
        high = own[False][0]
        kept.add(own[False][1])
    if low is not None and high is not None and low >= high:
        return everything
    for lines in sides.values():
        meetings = {(e - d) / (a - b) for (a, d, _), (b, e, _) in combinations(lines, 2) if a != b}
        inside = sorted(u for u in meetings if (low is None or low < u) and (high is None or u < high))
        for start, end in pairwise([low, *inside, high]):
            u = _between(start, end)
            kept.add(min(lines, key=lambda line: (line[0] * u + line[1], line))[2])
    return sorted(kept)


def kinked_of(laws: Sequence[Spread], rows: _Rows, *, fixed: bool) -> Kinked:
    """The event of half-spaces over independent values. Raises NotDerived where none of them is the center."""
    centers = [i for i in range(len(laws)) if all(len(row.keys() - {i}) <= 1 for row, _ in rows)]
    if not centers:
        raise NotDerived("comparisons of Gaussian and Laplace noises do not have one of them in common")
    return min(_around(center, laws, rows, fixed=fixed) for center in centers)


def _around(center: int, laws: Sequence[Spread], rows: _Rows, *, fixed: bool) -> Kinked:
    own: set[Line] = set()
    lower: dict[int, set[Line]] = {}
    upper: dict[int, set[Line]] = {}
    for row, d in rows:
        a = row.get(center, _ZERO)
        others = row.keys() - {center}
        if not others:
            own.add((_ONE if a > 0 else -_ONE, d / abs(a)))
        for place in others:
            side = lower if row[place] > 0 else upper
            c = abs(row[place])
            side.setdefault(place, set()).add((a / c, d / c))
    leaves = [(laws[i], lower.get(i, set()), upper.get(i, set())) for i in sorted({*lower, *upper})]
    return min(
        _scaled(
            laws[center],
            _turned(own, sign),
            [(spread, _turned(low, sign), _turned(up, sign)) for spread, low, up in leaves],
            fixed=fixed,
        )
        for sign in (1, -1)
    )


def _turned(lines: set[Line], sign: int) -> set[Line]:
    """For that multiple of the center."""
    return {(sign * a, d) for a, d in lines}


def _scaled(
    center: Spread, own: set[Line], leaves: Sequence[tuple[Spread, set[Line], set[Line]]], *, fixed: bool
) -> Kinked:
    """In the multiples of the leaves in which the greatest coefficient of t is 1, and that of t in which the greatest
    rate is, or the greatest slack."""
    bounded: list[Bounded] = []
    for spread, low, up in leaves:
        size = next(filter(None, (max(abs(line[place]) for line in low | up) for place in (0, 1))), _ONE)
        # -L has the law of L.
        first, second = sorted(tuple(sorted((a / size, d / size) for a, d in side)) for side in (low, up))
        bounded.append(Bounded(spread.times(1 / size), *((first, second) if first else (second, first))))
    moving = [leaf for leaf in bounded if any(a for a, _ in leaf.lines)]
    rates = [each.size for each in (center, *(leaf.spread for leaf in moving)) if each.laplace]
    slacks = [abs(d) for _, d in (*own, *(line for leaf in moving for line in leaf.lines))]
    most = 1 / max(rates) if rates else max(slacks, default=_ONE) or _ONE
    counted: dict[Bounded, int] = {}
    for leaf in bounded:
        if any(a for a, _ in leaf.lines):
            lower, upper = (tuple((a, d / most) for a, d in side) for side in (leaf.lower, leaf.upper))
            leaf = Bounded(leaf.spread.times(1 / most), lower, upper)
        counted[leaf] = counted.get(leaf, 0) + 1
    own_scaled = tuple(sorted((a, d / most) for a, d in own))
    return Kinked(center.times(1 / most), own_scaled, tuple(sorted(counted.items())), fixed)


# === as they are written =======================================================================


_LINES = read.listed(read.tuple_of(read.rational, read.rational), MOST_PIECES)
_SPREAD = read.tuple_of(read.one_of("laplace", "normal"), read.rational)


def read_kinked(value: object, most_leaves: int) -> Kinked:
    """Of a certificate. Raises Rejected."""
    leaf = read.tuple_of(read.up_to(most_leaves), _SPREAD, _LINES, _LINES)
    table: read.Table = {
        "center": _SPREAD,
        "own": _LINES,
        "leaves": read.listed(leaf, most_leaves),
        "fixed": read.boolean,
    }
    center, own, stated, fixed = read.fields(value, table)
    leaves = tuple(
        (Bounded(Spread(kind == "laplace", size), tuple(lower), tuple(upper)), count)
        for count, (kind, size), lower, upper in stated
    )
    if any(each.spread.size <= 0 or not count or not each.lower for each, count in leaves) or center[1] <= 0:
        raise Rejected("a value must have a positive variance or rate, and a leaf must have a bound")
    if any(abs(a) != 1 for a, _ in own):
        raise Rejected("the bounds of the center must be numbers")
    return Kinked(Spread(center[0] == "laplace", center[1]), tuple(own), leaves, fixed)
