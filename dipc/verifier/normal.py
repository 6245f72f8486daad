"""Probabilities of events over normal noises, which have no closed form: sums over nodes with proved errors.

A *star* is an event over connected noises: a tree over normal noises, perhaps with Laplace noises (`trees.py`), or an
event over integers (`summed.py`). FORMAT.md states and proves the lemmas: the error of sums over nodes (N1, N6 to N8),
their Taylor polynomials (N2), Φ in fixed point (N3), and the tails (N4).

All numbers are integer multiples of 2^-bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import prod
from typing import Any

from dipc.verifier import kinked, messages
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
from dipc.verifier.noise import Family, NoiseFamily, Normal, is_whole
from dipc.verifier.reading import Budget, NotDerived, Rejected
from dipc.verifier.reals import Ends, Number
from dipc.verifier.signs import Curve, decay_bits, exp_minus, growth_bits, positive_on_unit, prove_at_infinity
from dipc.verifier.summed import Summed, read_summed, summed_of
from dipc.verifier.taylor import MOST_GROWTH, Expansion, NotShown, Series, root_ends
from dipc.verifier.trees import Spread, Tree, needed, read_tree, tree_of

_ZERO, _ONE = Fraction(0), Fraction(1)


#: The most terms of a series, and the most bits of an accuracy.
MOST_TERMS, MOST_BITS = 200, 2_000

#: The logarithms to base 2 of the radii of the disks of Cauchy's estimate, over the radius of the cell.
_DISKS = (1, 2, 3, 4, 5)

# === stars =====================================================================================

#: The coefficients of a half-space by noise, and its constant.
Row = tuple[tuple[tuple[int, int], ...], Fraction]

#: Connected noises: their laws, and the half-spaces that connect them.
Hanging = tuple[tuple[tuple[NoiseFamily, Fraction], ...], tuple[Row, ...]]


def hanging_together(laws: Mapping[int, tuple[NoiseFamily, Fraction]], rows: Iterable[Row]) -> list[Hanging]:
    """Group the half-spaces `rows` that share noises, directly or through others.

    `laws` has the law of each noise by its number. Each group is (the laws of its noises, its half-spaces), in which
    its noises are numbered from 0 upward.
    """
    result: list[Hanging] = []
    for noises, members in connected(rows, lambda row: (i for i, _ in row[0])):
        place = {i: index for index, i in enumerate(sorted(noises))}
        said = sorted((tuple((place[i], a) for i, a in form), d) for form, d in members)
        result.append((tuple(laws[i] for i in place), tuple(said)))
    return result


def without_implied(hanging: Hanging) -> list[Hanging]:
    """Return the event `hanging` in connected groups, without half-spaces that others imply.

    An event with integer noise is returned unchanged, as one group.
    """
    laws, rows = hanging
    if any(is_whole(family) for family, _ in laws):
        return [hanging]
    kept = needed(_merged(laws, rows)[1])
    return hanging_together(dict(enumerate(laws)), [rows[place] for place in kept])


def star_of(hanging: Hanging) -> Hub:
    """Return the connected half-spaces `hanging`, over normal, Laplace or integer noises, as a star.

    Raises NotDerived if they do not form a tree of values, or if the event is the product of several independent
    events.
    """
    parts = without_implied(hanging)
    if not parts:
        raise NotDerived("an event over Gaussian noise compares nothing")
    if len(parts) > 1:
        raise NotDerived("a comparison of Gaussian noises is implied by the others")
    ((laws, rows),) = parts
    if any(is_whole(family) for family, _ in laws):
        return summed_of(laws, rows)
    normal = {family for family, _ in laws if isinstance(family, Normal)}
    others = {family for family, _ in laws} - normal
    if len(normal) > 1 or (others and normal != {Normal(fixed=False)}):
        raise NotDerived(
            "Gaussian noise is compared with noise whose scale differs by a factor that is irrational or depends on eps"
        )
    if others - {Family.LAPLACE}:
        raise NotDerived("Gaussian noise is compared with noise that is not Laplace noise")
    (family,) = normal
    spreads, merged = _merged(laws, rows)
    return tree_of(spreads, merged, fixed=family.fixed, square=family.square)


def _merged(
    laws: Sequence[tuple[NoiseFamily, Fraction]], rows: Sequence[Row]
) -> tuple[list[Spread], list[tuple[dict[int, Fraction], Fraction]]]:
    """Return (laws of independent values, the half-spaces `rows` over these values).

    `laws` has the laws of the noises in `rows`. Normal noises whose coefficients are proportional in all half-spaces
    are one value, since their sum is normal.
    """
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


# === sums ======================================================================================

#: An event over connected noises.
Hub = Tree | Summed

#: Independent stars, sorted.
Stars = tuple[Hub, ...]


def in_order(stars: Iterable[Hub]) -> Stars:
    """Return `stars` in the order in which certificates list them."""
    return tuple(sorted(stars, key=star_order))


def star_order(star: Hub) -> tuple[int, Any]:
    """Return the key by which `star` is sorted among stars."""
    return (Tree, Summed).index(type(star)), star


@dataclass(frozen=True)
class Enclosed:
    """The sum Σ weight·Π Pr[star], where each star is an event over connected noises.

    `terms` has the weight of each product of independent stars. The sum is a probability or a bound of one. Its values
    are known only by enclosures.
    """

    terms: Mapping[Stars, Closed]

    def __hash__(self) -> int:
        return hash(frozenset(self.terms))

    def equals(self, other: Enclosed, budget: Budget) -> bool:
        """True if this sum and `other` have equal stars and weights, term by term. Charges its work to `budget`."""
        return self.terms.keys() == other.terms.keys() and all(
            equal_closed(weight, other.terms[stars], budget) for stars, weight in self.terms.items()
        )


#: A probability: a closed form, or a sum over stars.
Probability = Closed | Enclosed


def _is_exact(star: Hub) -> bool:
    return isinstance(star, Tree) and star.bounds is not None


def sum_of(terms: Iterable[tuple[Stars, Closed]], budget: Budget) -> Probability:
    """Return Σ weight·Π Pr[star] over the pairs (stars, weight) of `terms`: a closed form if no star remains.

    If a star bounds one value on two sides, its probability is written as the sum of those of its two bounds, minus 1.
    Charges its work to `budget`.
    """
    total: dict[Stars, Closed] = {}
    waiting = [*terms][::-1]
    while waiting:
        stars, weight = waiting.pop()
        star = next((star for star in stars if isinstance(star, Tree) and len(star.bounds or ()) > 1), None)
        if star is None:
            known = total.get(stars)
            total[stars] = weight if known is None else add_closed(known, weight, budget)
            continue
        assert isinstance(star, Tree)
        bounds = star.bounds or {}
        if sum(bounds.values()) > 0:
            rest = [*stars]
            rest.remove(star)
            rows = [({0: _ONE if positive else -_ONE}, d) for positive, d in bounds.items()]
            sides = [tree_of([star.root.spread], [row], fixed=star.fixed, square=star.square) for row in rows]
            waiting.append((tuple(rest), (times(weight[0], -1), weight[1])))
            waiting += [(in_order((*rest, side)), weight) for side in reversed(sides)]
    left = {stars: weight for stars, weight in total.items() if weight[0]}
    return Enclosed(left) if left.keys() - {()} else left.get((), ({}, ONE))


def _terms(value: Probability) -> Iterable[tuple[Stars, Closed]]:
    return value.terms.items() if isinstance(value, Enclosed) else [((), value)]


def total_of(values: Iterable[Probability], budget: Budget) -> Probability:
    """Return the sum of `values`. Charges its work to `budget`."""
    return sum_of((term for value in values for term in _terms(value)), budget)


def product_of(value: Probability, factor: Closed, budget: Budget) -> Probability:
    """Return `value` times `factor`. Charges its work to `budget`."""
    return sum_of([(stars, multiply_closed(weight, factor, budget)) for stars, weight in _terms(value)], budget)


def complement(value: Probability, budget: Budget) -> Probability:
    """Return 1 - `value`. Charges its work to `budget`."""
    opposite = [(stars, (times(above, -1), below)) for stars, (above, below) in _terms(value)]
    return sum_of([*opposite, ((), (ONE, ONE))], budget)


def same(left: Probability, right: Probability, budget: Budget) -> bool:
    """True if the probabilities `left` and `right` are equal; sums over stars must be equal term by term.

    Charges its work to `budget`.
    """
    if isinstance(left, Enclosed) or isinstance(right, Enclosed):
        return isinstance(left, Enclosed) and isinstance(right, Enclosed) and left.equals(right, budget)
    return equal_closed(left, right, budget)


def read_enclosed(value: object) -> Enclosed:
    """Read a sum over stars from its JSON `value`. Raises Rejected if it is malformed."""
    terms: dict[Stars, Closed] = {}
    for weight, factors in read.listed(read.tuple_of(read_ring, read.listed(_read_star, 100)), 10_000)(value):
        stars = tuple(factors)
        if stars in terms or stars != in_order(stars):
            raise Rejected("the stars of each summand must be in order, and no two summands may have the same stars")
        if not weight:
            raise Rejected("a weight is 0")
        terms[stars] = weight, ONE
    if terms.keys() <= {()}:
        raise Rejected("it lists no star")
    return Enclosed(terms)


def _read_star(value: object) -> Hub:
    return read_summed(value) if isinstance(value, dict) and "values" in value else read_tree(value)


# === sums over nodes ===========================================================================


#: The most series that are kept for later cells.
MOST_KEPT = 20_000


@dataclass(frozen=True)
class Cell(Expansion):
    """An interval of eps, from middle - radius to middle + radius, on which values of sums over stars are enclosed.

    The nodes of each integral, and the terms of each sum over integers, are chosen for an error of at most 2^-accuracy.
    """

    def star(self, star: Hub) -> Series:
        """Return the Taylor polynomial in eps of the quadrature sum for the probability of `star`.

        The polynomial is stored in `budget.kept`, since a later part of the check may need it again. Raises NotDerived
        if the sum needs too much work, and NotShown if the precision of the cell does not suffice.
        """
        kept, key = self.budget.kept, (star, self.middle, self.radius, self.terms, self.accuracy)
        known: Series | None = kept.get(key)
        if known is None:
            known = self._series(star)
            if len(kept) < MOST_KEPT:
                kept[key] = known
        return known

    def _series(self, star: Hub) -> Series:
        if star.fixed:
            cell = replace(self, middle=_ONE, radius=_ZERO, terms=1)
            series = star.series(cell) if isinstance(star, Summed) else cell.star(replace(star, fixed=False))
            return Series(series.coefficients + [0] * (self.terms - 1), series.error)
        if isinstance(star, Summed):
            return star.series(self)
        return kinked.series(star, self) if star.is_kinked else messages.series(star, self)

    # --- what has to be positive --------------------------------------------------------------

    def polynomial(self, total: Enclosed) -> tuple[Series, Fraction]:
        """Return (a Taylor polynomial, a bound), where the probability of each star is replaced by a quadrature sum.

        The polynomial is that of `total` after this replacement, and has its own error bound for everything else. The
        second item bounds by how much the replacement changes `total`. Raises NotDerived if a sum needs too much work.
        Raises NotShown if a weight has a denominator, or if the precision of the cell does not suffice.
        """
        result = Series([0] * self.terms, 0)
        away = _ZERO
        for stars, (weight, below) in total.terms.items():
            if below != ONE:
                raise NotShown
            product = self.ring(weight)
            for star in stars:
                product = self.times(product, self.star(star))
            result = self.plus(result, product)
            integrals = sum(not _is_exact(star) for star in stars)
            away += majorant(weight, self.middle, self.radius) * 2 * integrals / (1 << self.accuracy)
        return result, away

    def disks(self, total: Enclosed) -> Iterator[tuple[Fraction, Fraction, Fraction]]:
        """Yield (ratio, radius, bound) for several disks of complex eps around the middle of the cell.

        The radius of a disk is that of the cell divided by the ratio. On the disk, the absolute value of `total` is at
        most the bound, if probabilities are replaced by their quadrature sums.
        """
        for larger in _DISKS:
            ratio = Fraction(1, 1 << larger)
            disk, most = self.radius / ratio, _ZERO
            for stars, (weight, _) in total.terms.items():
                bits = [self._bits(star, disk) for star in stars]
                if None in bits:
                    break
                most += majorant(weight, self.middle, disk) * (1 << sum(each or 0 for each in bits))
            else:
                yield ratio, disk, most

    def _bits(self, star: Hub, disk: Fraction) -> int | None:
        if isinstance(star, Summed):
            return star.disk_bits(self.middle, disk)
        if not star.is_kinked:
            return messages.bits_on_disk(star, disk)
        middle, disk = (_ONE, _ZERO) if star.fixed else (self.middle, disk)
        return kinked.bits_on_disk(star, middle, disk, self.accuracy)

    def shows(self, total: Enclosed) -> bool:
        """True only if the sum `total` is positive on the cell. False proves nothing.

        In a cell that starts at eps = 0, the sum may be 0 there.
        """
        for bound in (total, next_to_zero(total)):
            if bound is None:
                continue
            touching = self.radius and self.middle == self.radius and at_zero(bound) == 0
            if self.is_positive_from_zero(bound) if touching else self.is_positive(bound):
                return True
        return False

    def is_positive(self, total: Enclosed) -> bool:
        """True only if the sum `total` is positive on all of the cell, by lemma N2."""
        try:
            outside = _ZERO
            if self.radius:
                remainders = [most * ratio**self.terms / (1 - ratio) for ratio, _, most in self.disks(total)]
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
        """True only if `total`, which is 0 at eps = 0, is positive on (0, middle + radius], by lemma N2 around 0."""
        around = replace(self, middle=_ZERO, radius=self.middle + self.radius)
        try:
            trees = {star for stars in total.terms for star in stars if isinstance(star, Tree)}
            drift = max((messages.drift(star, self.accuracy) for star in trees), default=_ZERO)
            outside = _ONE
            for ratio, disk, most in around.disks(total):
                if drift * disk <= MOST_GROWTH:
                    # A bound of the distance between the sum over nodes and the true sum, as a multiple of the latter.
                    away = Fraction(max(map(len, total.terms)) << growth_bits(drift * disk), 1 << self.accuracy)
                    outside = min(outside, most * (ratio**self.terms + 2 * away * ratio) / (1 - ratio))
            if outside >= 1:
                return False
            polynomial, _ = around.polynomial(total)
        except (NotShown, NotDerived):
            return False
        wrong = polynomial.error + int(outside * (1 << self.bits)) + 1
        # The polynomial divided by u, whose value at u = 0 is an error alone.
        _, first, *rest = polynomial.coefficients
        return positive_on_unit([first - wrong, *rest], self.budget)

    def enclosure(self, total: Enclosed) -> tuple[Fraction, Fraction]:
        """Return rationals below and above the sum `total` at the middle of the cell.

        Raises Rejected if none are found.
        """
        try:
            polynomial, away = replace(self, radius=_ZERO, terms=1).polynomial(total)
        except NotDerived as ended:
            raise Rejected(str(ended)) from None
        except NotShown:
            raise Rejected("the value of a sum over Gaussian noises needs numbers that are too large") from None
        off = Fraction(polynomial.error, 1 << self.bits) + away
        middle = Fraction(polynomial.coefficients[0], 1 << self.bits)
        return middle - off, middle + off


def majorant(function: Ring, middle: Fraction, radius: Fraction) -> Fraction:
    """Return an upper bound of |`function`| on the disk of complex eps with this `radius` around `middle`.

    Raises NotShown if the bound is too large.
    """
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


# === proofs ====================================================================================


def is_number(total: Enclosed) -> bool:
    """True if the sum `total` does not depend on eps."""
    return all(weight[0].keys() <= {(0, _ZERO)} for weight in total.terms.values()) and all(
        star.fixed for stars in total.terms for star in stars
    )


def at_zero(total: Enclosed) -> Fraction | None:
    """Return the limit of the sum `total` at eps = 0 if it is known as a rational, otherwise None."""
    result = _ZERO
    for stars, (weight, below) in total.terms.items():
        known = [star.at_zero for star in stars]
        if None in known or below != ONE:
            return None
        result += sum((c for (k, _), c in weight.items() if not k), _ZERO) * prod(each or _ZERO for each in known)
    return result


def next_to_zero(total: Enclosed) -> Enclosed | None:
    """Return a lower bound of the sum `total`, with normal noises instead of discrete ones, or None.

    The bound holds for every eps and is close to the sum for small eps. The result is None if the sum has no discrete
    noises. It is also None if the weight of a probability with discrete noises has coefficients of both signs.
    """
    result: list[tuple[Stars, Closed]] = []
    if not any(isinstance(star, Summed) for stars in total.terms for star in stars):
        return None
    for stars, weight in total.terms.items():
        events = [star for star in stars if isinstance(star, Summed)]
        others = [star for star in stars if not isinstance(star, Summed)]
        signs = {c > 0 for c in weight[0].values()}
        if events and len(signs) > 1:
            return None
        try:
            others += [_normal_bound(event, above=signs == {False}) for event in events]
        except NotDerived:
            if signs == {True}:
                continue  # it is at least 0
            others = [star for star in stars if not isinstance(star, Summed)]  # they are at most 1
        result.append((in_order(others), weight))
    value = sum_of(result, Budget())
    return value if isinstance(value, Enclosed) else Enclosed({(): value})


@lru_cache(maxsize=1_000)
def _normal_bound(event: Summed, *, above: bool) -> Tree:
    """Return a tree over normal noises whose probability is an upper bound of that of `event`, or a lower bound.

    It is an upper bound if `above` is true. Raises NotDerived if there is no such tree.
    """
    laws, rows = event.continuous_bound(1 if above else -1)
    star = star_of((tuple(laws), tuple(rows)))
    assert not isinstance(star, Summed), "the noises are normal"
    return star


def tails_are_positive(total: Enclosed, start: Fraction, budget: Budget) -> bool:
    """True only if the sum `total` is positive on [`start`, inf), by lemma N4.

    The tail of a half-space is the probability that it fails. A product of stars with a positive weight is at least 1
    minus the tails of all its half-spaces. A star of one half-space with a negative weight is exactly 1 minus its tail.
    Charges its work to `budget`.
    """
    plain: Ring = {}
    # Sums over integers have the bound e^(-r·eps²)/2, which is more than erfc(√r·eps)/2: the two do not cancel.
    tails: dict[tuple[Number | Fraction, bool], Ring] = {}
    for stars, (weight, below) in total.terms.items():
        signs = {c > 0 for c in weight.values()}
        rates = [star.tails for star in stars]
        if below != ONE or (stars and len(signs) > 1):
            return False
        exact = len(stars) == 1 and _is_exact(stars[0])
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
        # erfc(√r·eps) <= e^(-r·eps²) <= e^(-r·start·eps); a rational r is the rate of e^(-r·eps).
        fall = rate if isinstance(rate, Fraction) else rate.ends(64)[0] * start
        plain = add(plain, {(k, q - fall): c / 2 for (k, q), c in weight.items() if c < 0})
    if not plain or start <= 0:
        return False
    curve = Curve.from_ring(plain, budget)
    try:
        prove_at_infinity(curve, start * curve.scale, 1, budget)
    except Rejected:
        return False
    return True


def _normal_tails_are_positive(
    tails: Sequence[tuple[Number | Fraction, Ring]], start: Fraction, budget: Budget
) -> bool:
    """True only if Σ c·erfc(√r·eps)/2 is positive on [`start`, inf), for the pairs (r, c) of `tails`.

    The proof makes the sum smaller: e^(-r·eps²) replaces erfc(√r·eps) in summands with c < 0. Charges its work to
    `budget`.
    """
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
    # The sum times eps·e^(least·eps²), in units of 2^-bits; √π < 2.
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


def read_sizes(value: object) -> tuple[int, int]:
    """Read (accuracy in bits, number of terms of series) from the JSON `value`. Raises Rejected for other values."""
    accuracy, terms = read.tuple_of(read.up_to(MOST_BITS), read.up_to(MOST_TERMS))(value)
    if accuracy < 8 or terms < 2:
        raise Rejected("the accuracy must be at least 8, and the number of terms at least 2")
    return accuracy, terms


def complementary(square: Number, *, fixed: bool) -> Enclosed:
    """Return erfc(√`square`·eps), or erfc(√`square`) if `fixed`, as a sum over stars.

    It is 2 - 2·Pr[L <= eps], where L is normal with the variance 1/(2·`square`).
    """
    if not square.factor:
        return Enclosed({(): (ONE, ONE)})
    spread = Spread(False, 1 / (2 * square.factor))
    star = tree_of([spread], [({0: _ONE}, _ONE)], fixed=fixed, square=Number(_ONE, square.powers).inverse)
    return Enclosed({(): (constant(2), ONE), (star,): (constant(-2), ONE)})
