"""Probabilities of events over normal noises: there is no closed form, so they are sums over nodes with proved errors.

With X = eps·N, or X = N where the deviation does not depend on eps, each noise is normal with a fixed variance, and
eps occurs in the half-spaces Σ c·X + d·eps >= 0 alone. A *star* is an event in which leaves L are compared with one
center t:

    P(eps) = ∫ φ_v0(t)·Π_i p_i(t, eps) dt,   p = Φ(x), or Φ(x) + Φ(x') - 1,   x = (a·t + d·eps)/√v.

Without a center there is one leaf, and P is its p. FORMAT.md states and proves the four lemmas that this rests on: the
trapezoid rule (N1), its Taylor polynomials (N2), Φ in fixed point (N3) and the tails (N4).

Everything is computed with integers that stand for multiples of 2^-bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import comb, isqrt, prod
from typing import Any

from dipc.verifier import reading as read
from dipc.verifier.functions import (
    ONE,
    Closed,
    Ring,
    add,
    add_closed,
    by_direction,
    connected,
    constant,
    equal_closed,
    multiply_closed,
    read_ring,
    times,
)
from dipc.verifier.kinked import Kinked, Near, Spread, kinked_of, needed, read_kinked
from dipc.verifier.noise import Family, NoiseFamily, Normal, is_whole
from dipc.verifier.reading import Budget, NotDerived, Rejected
from dipc.verifier.reals import UNIT, Ends, Number, read_number
from dipc.verifier.signs import decay_bits, exp_minus, growth_bits, positive_on_unit
from dipc.verifier.summed import Summed, read_summed, summed_of
from dipc.verifier.taylor import MOST_GROWTH, Expansion, NotShown, Series, peak_ends, root_ends
from dipc.verifier.trees import Tree, read_tree, tree_of

_ZERO, _ONE = Fraction(0), Fraction(1)


#: The most leaves of an event, terms of a series, and bits of an error.
MOST_LEAVES, MOST_TERMS, MOST_BITS = 500, 200, 2_000

#: The most nodes on each side of a trapezoid sum.
MOST_NODES = 5_000

#: The disks of Cauchy's estimate have 2, 4, ... times the radius of the cell.
_DISKS = (1, 2, 3, 4, 5)

# === stars =====================================================================================

#: (a, d) of a bound a·t + d·eps.
Line = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True, order=True)
class Leaf:
    """L of this variance, L + a·t + d·eps >= 0 for the first line, and L <= a·t + d·eps for the second, where there are
    two."""

    variance: Fraction
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True, order=True)
class Star:
    """Leaves, with how often each occurs, around a center of this variance; the variance 0 and one leaf for none. It is
    `fixed` where the deviations do not depend on eps: then 1 stands in place of eps. Variances are in multiples of
    `square`: eps/√square is what stands in the lines."""

    variance: Fraction
    leaves: tuple[tuple[Leaf, int], ...]
    fixed: bool
    square: Number = UNIT

    def scale(self, bits: int = 64) -> Ends:
        """Rationals around 1/√square."""
        return self.square.inverse.root.ends(bits)

    @property
    def doubled(self) -> int:
        """The number of leaves with two bounds: a factor of 2 for each in every bound at complex eps."""
        return sum(count for leaf, count in self.leaves if len(leaf.lines) > 1)

    @property
    def curvature(self) -> Fraction:
        """1/v0 + Σ a²/v."""
        return 1 / self.variance + sum((n * _greatest(leaf, 0) / leaf.variance for leaf, n in self.leaves), _ZERO)

    @property
    def spread(self) -> Fraction:
        """At least Σ d²/v; 0 where eps is not in it."""
        if self.fixed:
            return _ZERO
        return self.scale()[1] ** 2 * sum((n * _greatest(leaf, 1) / leaf.variance for leaf, n in self.leaves), _ZERO)

    def drift(self, accuracy: int) -> Fraction:
        """At least 2π·D1/(h·V), with D1 = Σ |a·d|/v and the step h: what an error grows with at complex eps."""
        total = _ZERO
        for leaf, count in self.leaves if not self.fixed else ():
            a, d = (max(abs(line[place]) for line in leaf.lines) for place in (0, 1))
            total += count * a * d * self.scale()[1] / leaf.variance
        return total * Fraction(629, 100) / (rule(self, accuracy)[0] * self.curvature) if total else _ZERO

    @property
    def at_zero(self) -> Fraction | None:
        """The limit at eps = 0, where it is known as a rational: by symmetry."""
        if self.fixed:
            return None
        if any(len(leaf.lines) > 1 for leaf, _ in self.leaves):
            return None if self.variance else _ZERO
        if not self.variance:
            return Fraction(1, 2)
        signs = [leaf.lines[0][0] > 0 for leaf, count in self.leaves for _ in range(count)]
        if len(signs) == 1:
            return Fraction(1, 2)
        if any(leaf.variance != leaf.lines[0][0] ** 2 * self.variance for leaf, _ in self.leaves):
            return None
        # All orders of as many equal values are as probable; the center has its place, whoever is below it.
        return Fraction(1, (len(signs) + 1) * comb(len(signs), sum(signs)))

    @property
    def tails(self) -> list[Number] | None:
        """The r of e^{-r·eps²}/2 that the half-spaces fail with at most, each; None where one has no positive slack."""
        if self.fixed:
            return None
        result: list[Number] = []
        for leaf, count in self.leaves:
            for a, d in leaf.lines:
                if d <= 0:
                    return None
                rate = Number(d * d / (2 * (leaf.variance + a * a * self.variance))) * self.square.inverse
                result += [rate] * count
        return result


def _greatest(leaf: Leaf, place: int) -> Fraction:
    return max(line[place] ** 2 for line in leaf.lines)


#: The coefficients of a half-space by noise, and its constant.
Row = tuple[tuple[tuple[int, int], ...], Fraction]

#: Laws and half-spaces of noises that hang together.
Hanging = tuple[tuple[tuple[NoiseFamily, Fraction], ...], tuple[Row, ...]]


def hanging_together(laws: Mapping[int, tuple[NoiseFamily, Fraction]], rows: Iterable[Row]) -> list[Hanging]:
    """The half-spaces by the noises that hang together."""
    result: list[Hanging] = []
    for noises, members in connected(rows, lambda row: (i for i, _ in row[0])):
        place = {i: index for index, i in enumerate(sorted(noises))}
        said = sorted((tuple((place[i], a) for i, a in form), d) for form, d in members)
        result.append((tuple(laws[i] for i in place), tuple(said)))
    return result


def without_implied(hanging: Hanging) -> list[Hanging]:
    """Without the half-spaces over normal and Laplace noises that others imply: what is left may fall apart."""
    laws, rows = hanging
    if any(is_whole(family) for family, _ in laws):
        return [hanging]
    kept = needed(_merged(laws, rows)[1])
    return hanging_together(dict(enumerate(laws)), [rows[place] for place in kept])


def star_of(hanging: Hanging) -> Hub:
    """The star that an event over normal noises, and Laplace noises among them, is, or the tree that one over integer
    noises is. Raises NotDerived for others, and for one that is the product of several."""
    parts = without_implied(hanging)
    if len(parts) > 1:
        raise NotDerived("a comparison of Gaussian noises is implied by the others")
    ((laws, rows),) = parts
    if any(is_whole(family) for family, _ in laws):
        return summed_of(laws, rows)
    normal = {family for family, _ in laws if isinstance(family, Normal)}
    others = {family for family, _ in laws} - normal
    if len(normal) > 1 or (others and normal != {Normal(fixed=False)}):
        raise NotDerived(
            "Gaussian noise with and without eps in its deviation, or with different irrational factors, is compared"
        )
    if others - {Family.LAPLACE}:
        raise NotDerived("Gaussian noise is compared with noise that is not Laplace noise")
    (family,) = normal
    spreads, merged = _merged(laws, rows)
    if others:
        return kinked_of(spreads, merged, fixed=family.fixed)
    variances = [spread.size for spread in spreads]
    try:
        return _plain_star(family, variances, merged)
    except NotDerived:
        return tree_of(variances, merged, fixed=family.fixed, square=family.square)


def _plain_star(
    family: Normal, variances: Sequence[Fraction], merged: Sequence[tuple[Mapping[int, Fraction], Fraction]]
) -> Star:
    """Raises NotDerived where bounds of a leaf are not parallel, or the center has some."""
    if len(variances) == 1:
        leaf = _leaf(variances[0], [(_ZERO, row[0], d) for row, d in merged])
        if leaf is None:
            raise NotDerived("half-spaces over Gaussian noise contradict each other")
        return _star(family, _ZERO, ((leaf, 1),))
    stars = [star for i in range(len(variances)) if (star := _around(i, variances, merged, family)) is not None]
    if not stars:
        raise NotDerived("comparisons of Gaussian noises do not all share one noise, or bound a noise twice")
    return min(stars)


def _merged(
    laws: Sequence[tuple[NoiseFamily, Fraction]], rows: Sequence[Row]
) -> tuple[list[Spread], list[tuple[dict[int, Fraction], Fraction]]]:
    """The laws of independent values, and half-spaces over them: normal noises whose columns are proportional are one
    value, as their sums are normal."""
    values: list[Spread] = []
    merged: list[tuple[dict[int, Fraction], Fraction]] = [({}, d) for _, d in rows]
    for direction, members in by_direction(form for form, _ in rows).items():
        spreads = [
            (Spread(not isinstance(laws[i][0], Normal), laws[i][1]).times(Fraction(abs(c))), c) for i, c in members
        ]
        together = sum((spread.size for spread, _ in spreads if not spread.laplace), _ZERO)
        alone = [(spread, c) for spread, c in spreads if spread.laplace]
        for spread, c in [*alone, *([(Spread(False, together), members[0][1])] if together else [])]:
            for place, ratio in direction:
                merged[place][0][len(values)] = ratio if c > 0 else -ratio
            values.append(spread)
    return values, merged


def _around(
    center: int, variances: Sequence[Fraction], rows: Sequence[tuple[Mapping[int, Fraction], Fraction]], family: Normal
) -> Star | None:
    """The star with this center; None where the half-spaces are none."""
    bounds: dict[int, list[tuple[Fraction, Fraction, Fraction]]] = {}
    for row, d in rows:
        others = row.keys() - {center}
        if len(others) != 1:
            return None
        (place,) = others
        bounds.setdefault(place, []).append((row.get(center, _ZERO), row[place], d))
    leaves: dict[Leaf, int] = {}
    for place, each in bounds.items():
        leaf = _leaf(variances[place], each)
        if leaf is None:
            return None
        leaves[leaf] = leaves.get(leaf, 0) + 1
    # -t has the law of t.
    mirrored = {
        _ordered(leaf.variance, tuple((-a if a else a, d) for a, d in leaf.lines)): n for leaf, n in leaves.items()
    }
    least = min(tuple(sorted(each.items())) for each in (leaves, mirrored))
    # In the multiple of t in which the greatest |d| is 1.
    size = max(abs(d) for leaf, _ in least for _, d in leaf.lines) or _ONE
    scaled = [
        (Leaf(leaf.variance / size**2, tuple((a, d / size) for a, d in leaf.lines)), count) for leaf, count in least
    ]
    return _star(family, variances[center] / size**2, tuple(sorted(scaled)))


def _star(family: Normal, variance: Fraction, leaves: tuple[tuple[Leaf, int], ...]) -> Star:
    moves = any(d for leaf, _ in leaves for _, d in leaf.lines)
    return Star(variance, leaves, family.fixed, family.square if moves else UNIT)


def _leaf(variance: Fraction, bounds: Sequence[tuple[Fraction, Fraction, Fraction]]) -> Leaf | None:
    """The leaf with b·L + a·t + d·eps >= 0 for each (a, b, d); None where two such differ in more than d."""
    nearest: dict[bool, Line] = {}
    for a, b, d in bounds:
        line = a / abs(b), d / abs(b)
        known = nearest.get(b > 0, line)
        if known[0] != line[0]:
            return None
        nearest[b > 0] = min(known, line)
    if len(nearest) > 1:
        # Half-spaces of which none has room would be no probability of this form.
        (a, d), (b, e) = nearest[True], nearest[False]
        if a + b or d + e <= 0:
            return None
    # -L has the law of L.
    return _ordered(variance, tuple(nearest.values()))


def _ordered(variance: Fraction, lines: tuple[Line, ...]) -> Leaf:
    """The leaf in the multiple in which its first number is 1 or -1."""
    first = min(lines)
    size = abs(first[0] or first[1])
    if not size:
        return Leaf(variance, tuple(sorted(lines)))
    return Leaf(variance / size**2, tuple(sorted((a / size, d / size) for a, d in lines)))


# === sums ======================================================================================

#: An event over noises that hang together.
Hub = Star | Kinked | Tree | Summed

#: Independent stars, sorted.
Stars = tuple[Hub, ...]


def in_order(stars: Iterable[Hub]) -> Stars:
    """The stars as they are listed."""
    return tuple(sorted(stars, key=star_order))


def star_order(star: Hub) -> tuple[int, Any]:
    """The key by which stars are sorted."""
    return (Star, Kinked, Tree, Summed).index(type(star)), star


@dataclass(frozen=True)
class Enclosed:
    """Σ weight·Π Pr[star]: a probability that is known by enclosures, or a bound of one."""

    terms: Mapping[Stars, Closed]

    def __hash__(self) -> int:
        return hash(frozenset(self.terms))

    def equals(self, other: Enclosed, budget: Budget) -> bool:
        """Whether all weights are the same, term by term."""
        return self.terms.keys() == other.terms.keys() and all(
            equal_closed(weight, other.terms[stars], budget) for stars, weight in self.terms.items()
        )


#: What a probability is known by.
Probability = Closed | Enclosed


class Sum:
    """A sum of weights times stars on the way."""

    def __init__(self, terms: Mapping[Stars, Closed] | None = None) -> None:
        self._terms: dict[Stars, Closed] = dict(terms or {})

    @classmethod
    def of(cls, value: Probability, budget: Budget) -> Sum:
        """A sum to go on from."""
        result = cls()
        result.include(value, budget)
        return result

    def add(self, stars: Stars, weight: Closed, budget: Budget) -> None:
        """One more summand; without a center Pr[L within two bounds] is the sum of those for each, less 1."""
        for index, star in enumerate(stars):
            if not isinstance(star, Star):
                continue
            leaf, _ = star.leaves[0]
            if not star.variance and len(leaf.lines) > 1:
                rest = (*stars[:index], *stars[index + 1 :])
                for line in leaf.lines:
                    one = replace(star, leaves=((_ordered(leaf.variance, (line,)), 1),))
                    self.add(in_order((*rest, one)), weight, budget)
                self.add(rest, (times(weight[0], -1), weight[1]), budget)
                return
        known = self._terms.get(stars)
        self._terms[stars] = weight if known is None else add_closed(known, weight, budget)

    def include(self, other: Probability, budget: Budget, factor: Closed | None = None) -> None:
        """All of another sum, or this many times as much."""
        for stars, weight in other.terms.items() if isinstance(other, Enclosed) else [((), other)]:
            self.add(stars, weight if factor is None else multiply_closed(weight, factor, budget), budget)

    def opposite(self, budget: Budget) -> Sum:
        """1 less the sum."""
        result = Sum({stars: (times(above, -1), below) for stars, (above, below) in self._terms.items()})
        result.add((), (ONE, ONE), budget)
        return result

    @property
    def value(self) -> Probability:
        """The sum; a closed form where it lists no stars."""
        terms = {stars: weight for stars, weight in self._terms.items() if weight[0]}
        if terms.keys() <= {()}:
            return terms.get((), ({}, ONE))
        return Enclosed(terms)


def same(left: Probability, right: Probability, budget: Budget) -> bool:
    """Whether they are the same, sums over stars term by term."""
    if isinstance(left, Enclosed) or isinstance(right, Enclosed):
        return isinstance(left, Enclosed) and isinstance(right, Enclosed) and left.equals(right, budget)
    return equal_closed(left, right, budget)


def read_enclosed(value: object) -> Enclosed:
    """Of a certificate. Raises Rejected."""
    terms: dict[Stars, Closed] = {}
    for weight, factors in read.listed(read.tuple_of(read_ring, read.listed(_read_star, 100)), 10_000)(value):
        stars = tuple(factors)
        if stars in terms or stars != in_order(stars):
            raise Rejected("its summands must be of different stars, in order")
        if not weight:
            raise Rejected("a weight is 0")
        terms[stars] = weight, ONE
    if terms.keys() <= {()}:
        raise Rejected("it lists no star")
    return Enclosed(terms)


_LEAF = read.tuple_of(
    read.up_to(MOST_LEAVES), read.rational, read.listed(read.tuple_of(read.rational, read.rational), 2)
)


def _read_star(value: object) -> Hub:
    if isinstance(value, dict) and "own" in value:
        return read_kinked(value, MOST_LEAVES)
    if isinstance(value, dict) and "root" in value:
        return read_tree(value)
    if isinstance(value, dict) and "values" in value:
        return read_summed(value)
    table: read.Table = {"center": read.rational, "leaves": read.listed(_LEAF, MOST_LEAVES), "fixed": read.boolean}
    center, stated, fixed, square = read.fields(value, table, {"square": read_number})
    leaves = [(Leaf(variance, tuple(lines)), count) for count, variance, lines in stated]
    if any(leaf.variance <= 0 or not count or not leaf.lines for leaf, count in leaves):
        raise Rejected("a leaf must have a positive variance and a bound")
    star = Star(center, tuple(leaves), fixed, square or UNIT)
    if star.variance < 0 or not leaves:
        raise Rejected("it is not a star")
    if not star.variance and (len(leaves) > 1 or leaves[0][1] > 1 or any(a for a, _ in leaves[0][0].lines)):
        raise Rejected("without a center it must have one leaf, which is compared with nothing")
    return star


# === sums over nodes ===========================================================================


@dataclass(frozen=True)
class Cell(Expansion):
    """An interval of eps on which integrals, and sums over integers, are wrong by at most 2^-accuracy."""

    def star(self, star: Hub) -> Series:
        """The first coefficients in eps of the sum over nodes of a star; without a center the probability itself."""
        if star.fixed:
            cell = replace(self, middle=_ONE, radius=_ZERO, terms=1)
            series = star.series(cell) if isinstance(star, Summed) else cell.star(replace(star, fixed=False))
            return Series(series.coefficients + [0] * (self.terms - 1), series.error)
        match star:
            case Kinked():
                return self._kinked(star)
            case Tree() | Summed():
                return star.series(self)
        scale = star.scale(self.bits + 32)
        if not star.variance:
            return self._leaf(star.leaves[0][0], _ZERO, scale)
        step, nodes = rule(star, self.accuracy)
        total = Series([0] * self.terms, 0)
        for k in range(-nodes, nodes + 1):
            weight = self._mass(k, step, star.variance)
            for leaf, count in star.leaves:
                weight = self.times(weight, self.power(self._leaf(leaf, k * step, scale), count))
            total = self.plus(total, weight)
        return total

    def _mass(self, k: int, step: Fraction, variance: Fraction) -> Series:
        """The step times the density at this many of them."""
        bits = self.bits + 8
        self.budget.spend(50, self.bits)
        low, high = exp_minus((k * step) ** 2 / (2 * variance), bits)
        for each in (root_ends(step * step / variance, bits), peak_ends(bits)):
            low, high = low * each[0] >> bits, -(-high * each[1] >> bits)
        return self.constant((low >> 8, -(-high >> 8)))

    def _kinked(self, event: Kinked) -> Series:
        total, bits = Series([0] * self.terms, 0), self.bits
        one = 1 << bits
        line = [int(c * one) for c in (self.middle, self.radius)][: self.terms]
        eps = Series(line + [0] * (self.terms - len(line)), 2)
        for piece, alpha, beta, weight, scaled in event.nodes(self.middle + self.radius, self.accuracy):
            product = self._at(event.center, alpha, beta)
            for leaf in piece.leaves:
                product = self.times(product, self.power(self._near(leaf, alpha, beta), leaf.count))
            product = self.times(product, eps) if scaled else product
            w = weight.numerator * one // weight.denominator
            coefficients = [c * w >> bits for c in product.coefficients]
            error = (product.error * (w + 1) + product.size >> bits) + 1 + self.terms
            total = self.plus(total, Series(coefficients, error))
        return total

    def _at(self, spread: Spread, alpha: Fraction, beta: Fraction) -> Series:
        """The density at α + β·eps."""
        if spread.laplace:
            sign = -1 if min(alpha, beta) < 0 else 1
            series, factor = self.falling(spread.size, sign * alpha, sign * beta), spread.size / 2
            return Series([int(c * factor) for c in series.coefficients], int(series.error * factor) + 1 + self.terms)
        bits = self.bits
        point, slope = alpha + beta * self.middle, beta * self.radius
        series = self.normal(point, slope, spread.size, _ZERO, density=True)
        low, high = root_ends(1 / spread.size, bits + 8)
        return self.times(series, self.constant((low >> 8, -(-high >> 8))))

    def _near(self, leaf: Near, alpha: Fraction, beta: Fraction) -> Series:
        """The probability of a leaf given the center."""
        total = self.constant((1 - len(leaf.lines) << self.bits,) * 2)
        for (a, d), positive in leaf.lines:
            start, slope = a * alpha, a * beta + d
            if not leaf.spread.laplace:
                point, radius = start + slope * self.middle, slope * self.radius
                total = self.plus(total, self.normal(point, radius, leaf.spread.size, _ZERO))
                continue
            sign = 1 if positive else -1
            tail = self.falling(leaf.spread.size, sign * start, sign * slope)
            half = Series([-sign * c >> 1 for c in tail.coefficients], (tail.error >> 1) + 1 + self.terms)
            total = self.plus(total, half)
            if positive:
                total = self.plus(total, self.constant((1 << self.bits,) * 2))
        return total

    def _leaf(self, leaf: Leaf, t: Fraction, scale: Ends) -> Series:
        """Φ(x), or Φ(x) + Φ(x') - 1, with a number between these for 1/√square."""
        total = None
        for a, d in leaf.lines:
            away = abs(d) * (self.middle + self.radius) * (scale[1] - scale[0])
            d *= scale[0]
            one = self.normal(a * t + d * self.middle, d * self.radius, leaf.variance, away)
            total = one if total is None else self.plus(self.plus(total, one), self.constant((-1 << self.bits,) * 2))
        assert total is not None, "a leaf must have a bound"
        return total

    # --- what has to be positive --------------------------------------------------------------

    def polynomial(self, total: Enclosed) -> tuple[Series, Fraction]:
        """The sum with trapezoid sums for integrals, and how far it is from the true one at most."""
        result = Series([0] * self.terms, 0)
        away = _ZERO
        for stars, (weight, below) in total.terms.items():
            if below != ONE:
                raise NotShown
            product = self.ring(weight)
            for star in stars:
                product = self.times(product, self.star(star))
            result = self.plus(result, product)
            integrals = sum(1 for star in stars if not isinstance(star, Star) or star.variance)
            away += majorant(weight, self.middle, self.radius) * 2 * integrals / (1 << self.accuracy)
        return result, away

    def disks(self, total: Enclosed) -> Iterator[tuple[Fraction, Fraction, Fraction]]:
        """Ratios, a bound of the sum with trapezoid sums on the disk that is this many times larger, and of how far it
        is there from the true one."""
        for larger in _DISKS:
            ratio = Fraction(1, 1 << larger)
            disk = self.radius / ratio
            most = away = _ZERO
            for stars, (weight, _) in total.terms.items():
                # Each star is at most 2·2^doubled·e^{ν²·D2/2} there.
                grown = sum((star.spread for star in stars), _ZERO) * disk * disk / 2
                plain = [star for star in stars if isinstance(star, Star)]
                turned = [star.drift(self.accuracy) * disk for star in plain if star.variance]
                if grown + max(turned, default=_ZERO) > MOST_GROWTH:
                    break
                twice = sum(1 + star.doubled for star in plain) + growth_bits(grown)
                others = [self._bits(star, disk) for star in stars if not isinstance(star, Star)]
                if None in others:
                    break
                twice += sum(bits or 0 for bits in others)
                size = majorant(weight, self.middle, disk) * (1 << twice)
                most += size
                away += sum((size * (1 << growth_bits(turn)) for turn in turned), _ZERO) / (1 << self.accuracy)
            else:
                yield ratio, most, away

    def _bits(self, event: Kinked | Tree | Summed, disk: Fraction) -> int | None:
        if isinstance(event, Summed):
            return event.disk_bits(self.middle, disk)
        if isinstance(event, Tree):
            return event.bits_on_disk(disk)
        return (
            event.bits_on_disk(_ONE, _ZERO, self.accuracy)
            if event.fixed
            else event.bits_on_disk(self.middle, disk, self.accuracy)
        )

    def shows(self, total: Enclosed) -> bool:
        """Whether the sum is shown to be positive on the cell, but at 0."""
        for bound in (total, next_to_zero(total)):
            if bound is None:
                continue
            touching = self.radius and self.middle == self.radius and at_zero(bound) == 0
            if self.is_positive_from_zero(bound) if touching else self.is_positive(bound):
                return True
        return False

    def is_positive(self, total: Enclosed) -> bool:
        """Whether the sum is shown to be positive on all of the cell."""
        try:
            outside = _ZERO
            if self.radius:
                remainders = [most * ratio**self.terms / (1 - ratio) for ratio, most, _ in self.disks(total)]
                outside = min(remainders, default=_ONE)
            if outside >= 1:
                return False
            polynomial, away = self.polynomial(total)
        except (NotShown, NotDerived):
            return False
        wrong = polynomial.error + int((away + outside) * (1 << self.bits)) + 1
        upward = [polynomial.coefficients[0] - wrong, *polynomial.coefficients[1:]]
        downward = [-c if k % 2 else c for k, c in enumerate(upward)]
        return all(positive_on_unit(each, self.budget) for each in (upward, downward))

    def is_positive_from_zero(self, total: Enclosed) -> bool:
        """The same for a sum that is 0 at 0, on (0, radius], by lemma N2 around 0."""
        around = replace(self, middle=_ZERO, radius=self.middle + self.radius)
        try:
            remainders = [
                (most * ratio**self.terms + 2 * away * ratio) / (1 - ratio) for ratio, most, away in around.disks(total)
            ]
            outside = min(remainders, default=_ONE)
            if outside >= 1:
                return False
            polynomial, _ = around.polynomial(total)
        except (NotShown, NotDerived):
            return False
        wrong = polynomial.error + int(outside * (1 << self.bits)) + 1
        # Divided by u: its own value at 0 is that of the errors.
        _, first, *rest = polynomial.coefficients
        return positive_on_unit([first - wrong, *rest], self.budget)

    def enclosure(self, total: Enclosed) -> tuple[Fraction, Fraction]:
        """Around the sum at the middle."""
        try:
            polynomial, away = replace(self, radius=_ZERO, terms=1).polynomial(total)
        except NotDerived as ended:
            raise Rejected(str(ended)) from None
        except NotShown:
            raise Rejected("its numbers are too large") from None
        off = Fraction(polynomial.error, 1 << self.bits) + away
        middle = Fraction(polynomial.coefficients[0], 1 << self.bits)
        return middle - off, middle + off


def majorant(function: Ring, middle: Fraction, radius: Fraction) -> Fraction:
    """At least the absolute value of an exponential polynomial on the disk."""
    total, far = _ZERO, middle + radius
    for (k, q), c in function.items():
        most = max(q * (middle - radius), q * far)
        if most > MOST_GROWTH:
            raise NotShown
        size = (
            Fraction(1 << growth_bits(most))
            if most > 0
            else Fraction(1, 1 << decay_bits(min(-most, Fraction(MOST_GROWTH))))
        )
        total += abs(c) * far**k * size
    return total


def rule(star: Star, accuracy: int) -> tuple[Fraction, int]:
    """The step and the number of nodes on each side of a trapezoid sum that is wrong by at most 2^-accuracy for every
    eps > 0, by lemma N1, where F is 2^doubled. Raises NotDerived for too many nodes."""
    variance, curvature, doubled = star.variance, star.curvature, star.doubled
    # e^-wanted is less than 2^-(accuracy + doubled + 3).
    wanted = Fraction(7, 10) * (accuracy + doubled + 4)
    # 2π² > 19.73.
    step = Fraction(isqrt(int((1 << 40) * Fraction(1973, 100) / (curvature * wanted))), 1 << 20)
    if not step:
        raise NotDerived("deviations of Gaussian noise are too different")
    # Not more than √(6·v0), so that the sum of the densities is at most 2.
    step = min(step, Fraction(isqrt(int((1 << 40) * 6 * variance)), 1 << 20))
    nodes = isqrt(int(2 * variance * wanted / step**2)) + 1
    if nodes > MOST_NODES:
        raise NotDerived(f"an integral over Gaussian noise takes more than {MOST_NODES} nodes on each side")
    folded = decay_bits(Fraction(1973, 100) / (step**2 * curvature))
    cut = decay_bits((nodes * step) ** 2 / (2 * variance))
    # 2F·x/(1 - x) with x <= 1/2, and F·e^{-(nh)²/(2·v0)}.
    if min(folded - 2, cut) < accuracy + doubled + 1 or step**2 > 6 * variance:
        raise NotDerived("no step for an integral over Gaussian noise is fine enough")
    return step, nodes


# === proofs ====================================================================================


def is_number(total: Enclosed) -> bool:
    """Whether all of it is the same for every eps."""
    return all(weight[0].keys() <= {(0, _ZERO)} for weight in total.terms.values()) and all(
        star.fixed for stars in total.terms for star in stars
    )


def at_zero(total: Enclosed) -> Fraction | None:
    """The limit of the sum at 0, where it is known as a rational."""
    result = _ZERO
    for stars, (weight, below) in total.terms.items():
        known = [star.at_zero for star in stars]
        if None in known or below != ONE:
            return None
        result += sum((c for (k, _), c in weight.items() if not k), _ZERO) * prod(each or _ZERO for each in known)
    return result


def next_to_zero(total: Enclosed) -> Enclosed | None:
    """At most the sum, normal noises in place of discrete ones; None without these, or where a weight has no sign."""
    result = Sum()
    if not any(isinstance(star, Summed) for stars in total.terms for star in stars):
        return None
    for stars, weight in total.terms.items():
        events = [star for star in stars if isinstance(star, Summed)]
        others = [star for star in stars if not isinstance(star, Summed)]
        signs = {c > 0 for c in weight[0].values()}
        if events and len(signs) > 1:
            return None
        try:
            others += [_near(event, above=signs == {False}) for event in events]
        except NotDerived:
            if signs == {True}:
                continue  # it is at least 0
            others = [star for star in stars if not isinstance(star, Summed)]  # they are at most 1
        result.add(in_order(others), weight, Budget())
    value = result.value
    return value if isinstance(value, Enclosed) else Enclosed({(): value})


@lru_cache(maxsize=1_000)
def _near(event: Summed, *, above: bool) -> Star | Kinked | Tree:
    """That over normal noises whose probability is at least as great, or at most. Raises NotDerived."""
    laws, rows = event.near(1 if above else -1)
    star = star_of((tuple(laws), tuple(rows)))
    assert not isinstance(star, Summed), "its noises are normal"
    return star


def tails_are_positive(total: Enclosed, start: Fraction, budget: Budget) -> bool:
    """Whether the sum is seen to be positive on [start, inf), by lemma N4: a product of stars with a positive weight is
    at least 1 less the tails of all its half-spaces, one half-space with a negative weight is 1 less its tail."""
    plain: Ring = {}
    # e^(-r·eps²)/2 is what sums over integers fail with at most, and more than erfc(√r·eps)/2: both do not cancel.
    tails: dict[tuple[Number | Fraction, bool], Ring] = {}
    for stars, (weight, below) in total.terms.items():
        signs = {c > 0 for c in weight.values()}
        rates = [star.tails for star in stars]
        if below != ONE or (stars and len(signs) > 1):
            return False
        exact = len(stars) == 1 and isinstance(stars[0], Star) and not stars[0].variance
        if None in rates and signs == {True}:
            continue  # it is at least 0
        plain = add(plain, weight)
        if not stars or (signs == {False} and (None in rates or not exact)):
            continue  # it is at most 1
        for star, each in zip(stars, rates, strict=True):
            for rate in each or ():
                key = rate, isinstance(star, Summed)
                tails[key] = add(tails.get(key, {}), times(weight, -1))
    listed = [(rate, weight) for (rate, _), weight in tails.items() if weight]
    if all(c > 0 for c in plain.values()) and _normal_tails_are_positive(listed, start, budget):
        return True
    for rate, weight in listed:
        # erfc(√r·eps) <= e^(-r·eps²) <= e^(-r·start·eps); a rational is that of e^(-r·eps) itself.
        fall = rate if isinstance(rate, Fraction) else rate.ends(64)[0] * start
        plain = add(plain, {(k, q - fall): c / 2 for (k, q), c in weight.items() if c < 0})
    return positive_from(plain, start, budget)


def _normal_tails_are_positive(
    tails: Sequence[tuple[Number | Fraction, Ring]], start: Fraction, budget: Budget
) -> bool:
    """Whether Σ c·erfc(√r·eps)/2 is seen to be positive on [start, inf), for numbers c; also with e^(-r·eps²)/2 in the
    place of any erfc(√r·eps)/2 with a c < 0."""
    numbers: list[tuple[Ends, Fraction]] = []
    for rate, weight in tails:
        if start <= 0 or isinstance(rate, Fraction) or weight.keys() != {(0, _ZERO)}:
            return False
        numbers.append((rate.ends(64), weight[0, _ZERO]))
    (_, least), greatest = min(numbers, key=lambda number: number[0][1], default=((_ZERO, _ZERO), _ZERO))
    if greatest <= 0:
        return False
    bits = 64
    budget.spend(20 * len(numbers), bits)
    # All of it times eps·e^(least·eps²), in units of 2^-bits: √π < 2.
    edge = least * start * start
    high = root_ends(edge, bits)[1] + root_ends(edge + 2, bits)[1]
    left = greatest * start / 2 * (1 << 2 * bits) / high
    for (low, _), c in numbers:
        if c < 0:
            excess = (low - least) * start * start
            if 2 * excess < 1:
                return False
            left += c * start * exp_minus(excess, bits)[1] / 2
    return left > 0


def positive_from(function: Ring, start: Fraction, budget: Budget) -> bool:
    """Whether it is seen to be positive on [start, inf): what falls slowest is positive there, and greater at the start
    than all negative terms together, each of which falls faster from there on."""
    if not function or start <= 0:
        return False
    (power, slowest) = max(function, key=lambda term: (term[1], term[0]))
    if function[power, slowest] <= 0:
        return False
    bits = 64
    budget.spend(4 * len(function), bits)
    left = function[power, slowest] * (1 << bits)
    for (k, q), c in function.items():
        if c < 0:
            if k - power > (slowest - q) * start:
                return False
            left += c * start ** (k - power) * exp_minus((slowest - q) * start, bits)[1]
    return left > 0


def read_sizes(value: object) -> tuple[int, int]:
    """The accuracy and the number of terms that a certificate states."""
    accuracy, terms = read.tuple_of(read.up_to(MOST_BITS), read.up_to(MOST_TERMS))(value)
    if accuracy < 8 or terms < 2:
        raise Rejected("the accuracy is at least 8, and there are at least 2 terms")
    return accuracy, terms


def complementary(square: Number, *, fixed: bool) -> Enclosed:
    """erfc(√square·eps), or erfc(√square): 2 - 2·Pr[L <= eps], for L with the variance 1/(2·square)."""
    if not square.factor:
        return Enclosed({(): (ONE, ONE)})
    leaf = Leaf(1 / (2 * square.factor), ((_ZERO, _ONE),))
    star = Star(_ZERO, ((leaf, 1),), fixed, Number(_ONE, square.powers).inverse)
    return Enclosed({(): (constant(2), ONE), (star,): (constant(-2), ONE)})
