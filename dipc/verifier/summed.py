"""Probabilities of discrete normal noises, and discrete Laplace noises among them, as sums over integers.

Noises whose coefficients are proportional in all half-spaces form one value, a sum of their multiples. An event is a
tree of such values, with half-spaces a·k + d >= 0 over one value, and a·k + b·l + d >= 0 over two. From the leaves to
the root, each value passes on, for every value of its parent, the sum over its compatible values. Every noise is cut
off where its tail is small. FORMAT.md states and proves the error, lemma N8.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import accumulate
from math import floor, gcd, isqrt
from operator import sub
from typing import Any

from dipc.verifier import reading as read
from dipc.verifier.functions import by_direction
from dipc.verifier.noise import Family, Law, NoiseFamily, Normal
from dipc.verifier.reading import NotDerived, Rejected
from dipc.verifier.reals import UNIT, Number, read_number
from dipc.verifier.signs import decay_bits
from dipc.verifier.taylor import Expansion, NotShown, Series
from dipc.verifier.trees import tail_rates

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The most values of noises and sums in one event, the most noises, and the greatest depth of a tree.
MOST_VALUES, MOST_NOISES, DEEPEST = 20_000, 200, 20

#: The numbers (a, b, d) of a·k + b·l + d >= 0, for a value k and its parent's value l.
Limit = tuple[int, int, int]


@dataclass(frozen=True, slots=True, order=True)
class Mass:
    """The law of a noise on the integers: discrete Laplace with the rate `size` if `laplace`, or discrete normal.

    The square of a normal deviation is size·square. Rates are multiples of eps, and squares of deviations multiples of
    1/eps², unless the law is `fixed`: then it does not depend on eps.
    """

    laplace: bool
    size: Fraction
    fixed: bool
    square: Number = UNIT

    @staticmethod
    def from_law(family: NoiseFamily, size: Fraction) -> Mass:
        """Return the law `family` with the rate or variance `size`, in the form of this class.

        Raises NotDerived if the law is not on the integers.
        """
        if isinstance(family, Normal) and family.whole:
            return Mass(False, size, family.fixed, family.square)
        if family is Family.DISCRETE_LAPLACE:
            return Mass(True, size, False)
        raise NotDerived("discrete Gaussian noise is compared with noise that is not on integers")

    def reach(self, eps: Fraction, bits: int, *, on_disk: bool) -> int:
        """Return a K with Pr[|N| > K] <= 2^-`bits` for this noise N at all values of eps that are at least `eps`.

        With `on_disk`, the K is large enough for lemma N8 (FORMAT.md) on disks around these eps, too.
        """
        eps = _ONE if self.fixed else eps
        if self.laplace:
            # 2·e^{-rate·eps·(K + 1)}.
            return int(Fraction(7, 10) * (bits + 2) / (self.size * eps)) + 1
        q = eps * eps / (2 * self.size * self.square.ends(64)[1])
        # On the disk the rest of Θ must be at most 1/32.
        cases = [(q, bits), (q / 4, 5)] if on_disk and not self.fixed else [(q, bits)]
        reach = 0
        for fall, wanted in cases:
            reach = max(reach, isqrt(int(Fraction(7, 10) * (wanted + 2) / fall)))
            # 2·e^{-q(K+1)²}/(1 - e^{-q(2K+3)}), and 1/(1 - e^{-x}) <= 1 + 1/x.
            while decay_bits(fall * (reach + 1) ** 2) < wanted + 1 + int(1 / (fall * (2 * reach + 3)) + 2).bit_length():
                reach += 1 + reach // 16
        return reach

    def masses(self, cell: Expansion, reach: int) -> list[Series]:
        """Return the probabilities of the values 0 to K = `reach` as series on `cell`.

        For normal noise, each probability is conditional on |value| <= K.
        """
        if self.fixed and cell.terms > 1:
            masses = self.masses(replace(cell, middle=_ONE, radius=_ZERO, terms=1), reach)
            return [Series(each.coefficients + [0] * (cell.terms - 1), each.error) for each in masses]
        one = cell.constant((1 << cell.bits,) * 2)
        if self.laplace:
            z = cell.exponential(-self.size)
            front = cell.times(cell.minus(one, z), cell.inverse(cell.plus(one, z)))
            return list(accumulate([z] * reach, cell.times, initial=front))
        eps, moved = (_ONE, _ZERO) if self.fixed else (cell.middle, cell.radius)
        low, high = self.square.inverse.root.ends(cell.bits + 32)
        bells = [
            cell.normal(k * low * eps, k * low * moved, self.size, k * (eps + moved) * (high - low), density=True)
            for k in range(reach + 1)
        ]
        inverse = cell.inverse(cell.sum([*bells, *bells[1:]]))
        return [cell.times(bell, inverse) for bell in bells]


@dataclass(frozen=True, slots=True, order=True)
class Summed:
    """A tree of sums of integer noises, and the event that all its values are within their limits.

    The value at the root is a sum of multiples of independent `noises`, each law with its factor. `limits` has the
    half-spaces over this value and its parent, and `branches` each tree below it with the number of times that it
    occurs.
    """

    noises: tuple[tuple[Mass, int], ...]
    limits: tuple[Limit, ...]
    branches: tuple[tuple[Summed, int], ...]

    @property
    def everything(self) -> Iterator[tuple[Summed, int]]:
        """The tree itself and all trees below it, each with its count."""
        yield self, 1
        for branch, count in self.branches:
            yield from ((below, count * times) for below, times in branch.everything)

    @property
    def fixed(self) -> bool:
        """True if the probability does not depend on eps."""
        return all(mass.fixed for mass, _ in self._noises)

    @property
    def at_zero(self) -> None:
        """None always, as the limit of the probability at eps = 0 is not known."""

    @property
    def _noises(self) -> Iterator[tuple[Mass, int]]:
        for branch, count in self.everything:
            yield from ((mass, count) for mass, _ in branch.noises)

    @property
    def tails(self) -> list[Number | Fraction] | None:
        """The rates of bounds whose sum is at least the probability that a half-space of the event fails, or None.

        A bound is e^{-r·eps²}/2 if the rate r is a Number, and e^{-q·eps}/2 if the rate q is a Fraction. The result is
        None if a half-space has no positive slack, or if a law does not depend on eps.
        """
        if any(mass.fixed for mass, _ in self._noises):
            return None
        result: list[Number | Fraction] = []
        laws, rows = self.continuous_bound(0)
        for form, d in rows:
            if d < 0:
                return None
            variances: dict[Number, Fraction] = {}
            rates: list[Fraction] = []
            for (family, size), c in ((laws[i], c) for i, c in form):
                if isinstance(family, Normal):
                    variances[family.square] = variances.get(family.square, _ZERO) + size * c * c
                else:
                    rates.append(size / abs(c))
            # Integers less than -d are at most -(d + 1).
            result += 2 * tail_rates(d + 1, variances, rates)
        return result

    def continuous_bound(self, side: int) -> tuple[list[Law], list[tuple[Any, Fraction]]]:
        """Return (laws, half-spaces) over continuous noises, whose probability bounds that of this event.

        It is an upper bound for `side` = 1, and a lower bound for `side` = -1. Each discrete normal noise is within 3/2
        of a normal one, and each discrete Laplace noise within 1 of a Laplace one; the half-spaces are moved
        accordingly. For `side` = 0 they are unchanged.
        """
        laws: list[Law] = []
        rows: list[tuple[tuple[tuple[int, int], ...], Fraction]] = []
        apart: list[Fraction] = []

        def add(branch: Summed, above: Sequence[tuple[int, int]]) -> None:
            mine = []
            for mass, c in branch.noises:
                mine.append((len(laws), c))
                laws.append((Family.LAPLACE if mass.laplace else Normal(mass.fixed, mass.square), mass.size))
                apart.append(_ONE if mass.laplace else Fraction(3, 2))
            for a, b, d in branch.limits:
                form = [*((i, a * c) for i, c in mine), *((i, b * c) for i, c in above if b)]
                rows.append((tuple(form), d + side * sum((abs(c) * apart[i] for i, c in form), _ZERO)))
            for below, count in branch.branches:
                for _ in range(count):
                    add(below, mine)

        add(self, ())
        return laws, rows

    def disk_bits(self, middle: Fraction, disk: Fraction) -> int | None:
        """Return an n such that the sum of `series` is at most 2^n for complex eps with |eps - `middle`| <= `disk`.

        Return None if `disk` is more than half of `middle`, where lemma N8 says nothing.
        """
        if self.fixed:
            return 0
        # A factor of 3 for each noise.
        return 8 * sum(count for _, count in self._noises) // 5 + 1 if 2 * disk <= middle else None

    def series(self, cell: Expansion) -> Series:
        """Return the Taylor polynomial on `cell` of a finite sum that approximates the event's probability.

        The sum leaves out noises with values beyond some K. Its error is at most 2^-accuracy on `cell`. Raises
        NotDerived if the sum has too many terms, and NotShown if `cell` reaches eps = 0 or its precision does not
        suffice.
        """
        least = cell.middle - cell.radius
        if least <= 0:
            raise NotShown
        wanted = cell.accuracy + 2 + sum(count for _, count in self._noises).bit_length()
        reach = {mass: mass.reach(least, wanted, on_disk=bool(cell.radius)) for mass, _ in self._noises}
        # A sum takes the number of values of one noise times that of all noises before it.
        sizes = 0
        for branch, _ in self.everything:
            before = 1
            for mass, c in branch.noises:
                sizes += (2 * reach[mass] + 1) * (max(1, before))
                before += 2 * abs(c) * reach[mass]
            sizes += before
        if sizes > MOST_VALUES:
            raise NotDerived(f"a sum over discrete Gaussian noise has more than {MOST_VALUES} terms")
        values = _values(self, cell, {mass: mass.masses(cell, k) for mass, k in reach.items()})
        most = len(values) // 2
        low, high = _range_within_limits(self.limits, 0, most)
        return cell.sum(values[low + most : high + most + 1])


def _values(branch: Summed, cell: Expansion, masses: Mapping[Mass, Sequence[Series]]) -> list[Series]:
    """Return the probabilities on `cell` of the values of `branch` with all branches below it within limits.

    The list has a probability for each integer value, from the least possible one to the greatest. The event is that
    `branch` has this value, and that the values of all branches below it are within their limits. `masses` has the
    probabilities of 0, 1, 2, … by each law.
    """
    values = _law(branch.noises, cell, masses)
    most = len(values) // 2
    low, high = _range_within_limits([limit for limit in branch.limits if not limit[1]], 0, most)
    for below, count in branch.branches:
        theirs = _values(below, cell, masses)
        reach = len(theirs) // 2
        zero = cell.constant((0, 0))
        # The sums up to each value; the error of a difference is that of its own terms.
        sums = list(accumulate(theirs, cell.plus, initial=zero))
        for value in range(low, high + 1):
            first, last = _range_within_limits(below.limits, value, reach)
            given = _difference(sums[first + reach], sums[last + reach + 1]) if first <= last else zero
            values[value + most] = cell.times(values[value + most], cell.power(given, count))
    return values


def _law(noises: Sequence[tuple[Mass, int]], cell: Expansion, masses: Mapping[Mass, Sequence[Series]]) -> list[Series]:
    """Return the probabilities on `cell` of the values of Σ c·N, from the least one, over (law of N, c) in `noises`.

    `masses` has the probabilities of 0, 1, 2, … by each law.
    """
    total: list[Series] = []
    for mass, c in noises:
        half = masses[mass]
        spread = len(half) - 1
        if not total and abs(c) == 1:
            total = [*reversed(half[1:]), *half]
            continue
        total = total or [cell.constant((1 << cell.bits,) * 2)]
        most = len(total) // 2
        products: list[list[Series]] = [[] for _ in range(2 * (most + abs(c) * spread) + 1)]
        for k in range(-spread, spread + 1):
            for index, value in enumerate(total, start=(k + spread) * abs(c)):
                products[index].append(cell.times(value, half[abs(k)]))
        total = [cell.sum(each) for each in products]
    return total


def _difference(first: Series, last: Series) -> Series:
    """Return `last` - `first` for two partial sums, where `last` contains all terms of `first`."""
    return Series(list(map(sub, last.coefficients, first.coefficients)), last.error - first.error)


def _range_within_limits(limits: Sequence[Limit], other: int, most: int) -> tuple[int, int]:
    low, high = -most, most
    for a, b, d in limits:
        if a > 0:
            low = max(low, -((b * other + d) // a))
        else:
            high = min(high, (b * other + d) // -a)
    return (low, high) if low <= high else (1, 0)


# === from events ===============================================================================

#: The coefficients of a half-space Σ c·value + d >= 0 by the number of the value, and d.
_Row = tuple[dict[int, int], int]

#: The noises of each value with their multiples, and half-spaces over the values.
_Values = tuple[list[list[tuple[Mass, int]]], list[_Row]]


def summed_of(
    laws: Sequence[tuple[NoiseFamily, Fraction]], rows: Sequence[tuple[Sequence[tuple[int, int]], Fraction]]
) -> Summed:
    """Return the event of the half-spaces `rows` over integer noises with these `laws`.

    Raises NotDerived if they do not form a tree.
    """
    masses = [Mass.from_law(*law) for law in laws]
    nearest: dict[tuple[tuple[int, int], ...], int] = {}
    for form, constant in rows:
        unit = gcd(*(c for _, c in form))
        key = tuple(sorted((i, c // unit) for i, c in form))
        nearest[key] = min(floor(constant / unit), nearest.get(key, floor(constant / unit)))
    listed = [(dict(form), d) for form, d in sorted(nearest.items())]
    try:
        return _tree(*_values_of(masses, listed, united=False))
    except NotDerived:
        return _tree(*_values_of(masses, listed, united=True))


def _values_of(masses: Sequence[Mass], rows: Sequence[_Row], *, united: bool) -> _Values:
    """Return (values, the half-spaces `rows` over these values), where each value is a sum of noises from `masses`.

    If `united` is true, the noises of a value are those whose coefficients are proportional in all half-spaces.
    Otherwise each value is one noise.
    """
    values: list[list[tuple[Mass, int]]] = []
    combined: list[_Row] = [({}, d) for _, d in rows]
    for direction, members in by_direction(form.items() for form, _ in rows).items():
        for together in [members] if united else [[member] for member in members]:
            unit = gcd(*(c for _, c in together))
            for place, ratio in direction:
                combined[place][0][len(values)] = int(unit * ratio)
            values.append([(masses[i], abs(c) // unit) for i, c in together])
    return values, combined


def _tree(values: Sequence[Sequence[tuple[Mass, int]]], rows: Sequence[_Row]) -> Summed:
    """Return the tree of `values` and half-spaces `rows` in a normal form.

    The form depends neither on the order of the noises nor on their signs.
    """
    own: list[list[Limit]] = [[] for _ in values]
    pairs: dict[int, dict[int, list[Limit]]] = {i: {} for i in range(len(values))}
    for row, d in rows:
        match list(row.items()):
            case [(i, a)]:
                own[i].append((a, 0, d))
            case [(i, a), (j, b)]:
                pairs[i].setdefault(j, []).append((a, b, d))
                pairs[j].setdefault(i, []).append((b, a, d))
            case _:
                raise NotDerived("a comparison relates more than two sums of discrete Gaussian noises")
    seen: list[int] = [0]
    for i in seen:
        seen += [j for j in pairs[i] if j not in seen]
    if sum(map(len, pairs.values())) != 2 * (len(values) - 1) or len(seen) != len(values):
        raise NotDerived("the comparisons of discrete Gaussian noises form a cycle")

    @cache
    def branch(i: int, above: int | None, signs: tuple[int, int]) -> Summed:
        """Return the branch of value number `i`, whose parent is value number `above` (None: it is the root).

        `signs` has a factor 1 or -1 for each of the two values, by which they are multiplied. This changes no law,
        since the noises are symmetric.
        """
        limits = own[i] + (pairs[i][above] if above is not None else [])
        below = Counter(min(branch(j, i, (sign, signs[0])) for sign in (1, -1)) for j in pairs[i] if j != above)
        return Summed(
            tuple(sorted(values[i])),
            tuple(sorted((signs[0] * a, signs[1] * b, d) for a, b, d in limits)),
            tuple(sorted(below.items())),
        )

    degree = max(len(each) for each in pairs.values())
    middles = [i for i, each in pairs.items() if len(each) == degree]
    _depth(pairs, middles[0])
    return min(branch(i, None, (sign, 1)) for i in middles for sign in (1, -1))


def _depth(pairs: Mapping[int, Iterable[int]], root: int) -> None:
    seen, layer = {root}, [root]
    for _ in range(DEEPEST // 2):
        layer = [j for i in layer for j in pairs[i] if j not in seen]
        seen |= {*layer}
    if layer:
        raise NotDerived("comparisons of discrete Gaussian noises form too long a chain")


# === as they are written =======================================================================


def read_summed(value: Mapping[str, Any]) -> Summed:
    """Read an event over integer noises from its JSON `value`. Raises Rejected if it is malformed."""
    (root,) = read.fields(value, {"values": read.anything})
    event = _read_branch(root, 0)
    if any(b for _, b, _ in event.limits):
        raise Rejected("the first value must not have a parent")
    if sum(len(branch.noises) * count for branch, count in event.everything) > MOST_NOISES:
        raise Rejected("an event has too many integer noises")
    return event


_LIMITS = read.listed(read.tuple_of(read.integer, read.integer, read.integer), 100)


def _read_branch(value: object, depth: int) -> Summed:
    if depth > DEEPEST:
        raise Rejected("the values of an event are nested too deeply")
    noises, limits, below = read.tuple_of(
        read.listed(_read_mass, MOST_NOISES), _LIMITS, read.listed(read.items, MOST_NOISES)
    )(value)
    if not noises or any(not a for a, _, _ in limits):
        raise Rejected("a value must be a sum of noises, and its coefficient in each limit must not be 0")
    branches = []
    for item in below:
        count, branch = read.tuple_of(read.up_to(MOST_NOISES), lambda one: _read_branch(one, depth + 1))(item)
        if not count:
            raise Rejected("a branch must occur at least once")
        branches.append((branch, count))
    return Summed(tuple(noises), tuple(limits), tuple(branches))


def _read_mass(value: object) -> tuple[Mass, int]:
    stated = read.items(value, 5)
    kind = read.one_of("discrete-laplace", "discrete-normal")
    table = (read.integer, kind, read.rational, read.boolean, *[read_number] * (len(stated) - 4))
    c, kind, size, fixed, *square = read.tuple_of(*table)(stated)
    mass = Mass(kind == "discrete-laplace", size, fixed, *square)
    if c <= 0 or size <= 0 or (mass.laplace and (fixed or square)):
        raise Rejected("a noise must have a positive variance or rate, and a positive factor")
    return mass, c
