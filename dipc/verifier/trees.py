"""Probabilities of normal noises that are compared with each other, in a tree: messages from center to center.

Values, or linear combinations of them, are the centers of a tree: given its parent x a center t is normal around
slope·x, and all half-spaces, and bounds of leaves, are linear in one center and its parent. Each center is summed out
for every place of its parent, by the trapezoid rule, or, from an end of its line on, with weights for half a line.
FORMAT.md states and proves what is used: lemma N9.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise
from math import ceil, floor, gcd, isqrt, lcm
from operator import mul
from typing import Any

from dipc.verifier import reading as read
from dipc.verifier.reading import NotDerived, Rejected
from dipc.verifier.reals import UNIT, Number, read_number
from dipc.verifier.signs import Pair, decay_bits, growth_bits
from dipc.verifier.taylor import MOST_GROWTH, Expansion, Series, pi_ends, root_ends

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The most centers and leaves, ends of the line of a center, and places of one.
MOST_CENTERS, MOST_LEAVES, MOST_ENDS, MOST_PLACES = 60, 500, 60, 10_000

#: (a, b, d) of a·t + b·x + d·eps, for a center t and its parent x.
Form = tuple[Fraction, Fraction, Fraction]


@dataclass(frozen=True, slots=True, order=True)
class Bounded:
    """A normal L of this variance with L + form >= 0 for each `lower` form, and L <= form for each `upper` one."""

    variance: Fraction
    lower: tuple[Form, ...]
    upper: tuple[Form, ...]

    @property
    def forms(self) -> tuple[Form, ...]:
        return self.lower + self.upper


@dataclass(frozen=True, slots=True, order=True)
class Center:
    """A normal value of this variance around slope·x, with x that of its parent, or around 0; forms of `own` are not
    negative; there are leaves, with how often each occurs, and centers below it."""

    slope: Fraction
    variance: Fraction
    own: tuple[Form, ...]
    leaves: tuple[tuple[Bounded, int], ...]
    below: tuple[Center, ...]

    @property
    def edges(self) -> Iterator[Form]:
        """What is 0 where something is not smooth."""
        yield from self.own
        for leaf, _ in self.leaves:
            level = [*leaf.lower, *((-a, -b, -d) for a, b, d in leaf.upper)]
            yield from ((a - e, b - f, d - g) for (a, b, d), (e, f, g) in combinations(level, 2))

    @property
    def doublings(self) -> int:
        """2 to this is at least what probabilities of leaves come to at complex places, times exponentials."""
        return sum(count for leaf, count in self.leaves if leaf.lower and leaf.upper)

    def near(self, t: Fraction, x: Fraction) -> Near | None:
        """The nearest bounds of the leaves around t and x, in units of eps; None where there is no room."""
        result = []
        if any(a * t + b * x + d < 0 for a, b, d in self.own):
            return None
        for leaf, count in self.leaves:
            both = filter(None, (leaf.lower, leaf.upper))
            sides = [min((a * t + b * x + d, (a, b, d)) for a, b, d in side) for side in both]
            if len(sides) > 1 and sides[0][0] + sides[1][0] <= 0:
                return None
            result.append((leaf.variance, tuple(form for _, form in sides), count))
        return tuple(result)


#: The variance of a leaf, its nearest bounds and how often it occurs.
Near = tuple[tuple[Fraction, tuple[Form, ...], int], ...]


@dataclass(frozen=True, slots=True, order=True)
class Tree:
    """The event of a tree. It is `fixed` where the deviations do not depend on eps: then 1 stands in place of eps.
    Variances are in multiples of `square`: eps/√square is what stands in the forms."""

    root: Center
    fixed: bool
    square: Number = UNIT

    # What is asked of stars, too, and not known here.
    at_zero = None
    doubled = 0
    spread = _ZERO

    @property
    def tails(self) -> list[Number] | None:
        """The r of e^{-r·eps²}/2 that the half-spaces fail with at most, each; None where one has no positive slack."""
        if self.fixed:
            return None
        result: list[Number] = []
        stack = [(self.root, _ZERO)]
        for center, above in stack:
            variance = center.slope**2 * above + center.variance
            stack += [(each, variance) for each in center.below]
            rows = [(form, _ZERO, 1) for form in center.own]
            rows += [(form, leaf.variance, count) for leaf, count in center.leaves for form in leaf.forms]
            for (a, b, d), own, count in rows:
                if d <= 0:
                    return None
                whole = own + a * a * variance + 2 * a * b * center.slope * above + b * b * above
                if whole:
                    result += [Number(d * d / (2 * whole)) * self.square.inverse] * count
        return result

    def bits_on_disk(self, disk: Fraction) -> int | None:
        """An n such that the sum over places is at most 2^n wherever |Im eps| <= disk, by lemma N9; None where it would
        be too large."""
        plan = _Plan.of(self)
        scale = _ZERO if self.fixed else self.square.inverse.root.ends(64)[1]
        grown = (scale * disk) ** 2 * plan.spread / 2
        return None if grown > MOST_GROWTH else plan.bits + growth_bits(grown)

    def series(self, cell: Expansion) -> Series:
        """The first coefficients in eps of the sum over places, which is wrong by at most 2^-accuracy for each eps of
        the cell, by lemma N9. Raises NotDerived, NotShown."""
        return _Sum(self, cell).total()


# === ends and bounds ===========================================================================


@dataclass(frozen=True, slots=True)
class _Ends:
    """The line of a center is cut at t = u·eps for each `still` u, and at t = x - u·eps for each `moving` one."""

    still: tuple[Fraction, ...]
    moving: tuple[Fraction, ...]

    def moves(self, slope: Fraction, above: Fraction) -> list[Fraction]:
        """The w of its places t = k·h + w·eps, where those of its parent have this one: an end is a place."""
        return [*self.still, *(above - u for u in self.moving)] or [slope * above]

    def within(self, piece: int) -> Fraction:
        ends = [None, *self.still, None]
        return _between(ends[piece], ends[piece + 1])

    @property
    def integrals(self) -> int:
        """A message is the sum of no more."""
        return max(1, 2 * (len(self.still) + len(self.moving)))


@dataclass(frozen=True, slots=True)
class _Plan:
    """The centers, parents first, with the numbers of these, their ends, the w of their places beside those of their
    parents, and V. A sum over places is at most 2^bits, times e^{ν²·D2/2} with D2 the `spread`."""

    centers: tuple[Center, ...]
    parents: tuple[int, ...]
    ends: tuple[_Ends, ...]
    moves: tuple[frozenset[tuple[Fraction, Fraction]], ...]
    curvatures: tuple[Fraction, ...]
    bits: int
    spread: Fraction

    @staticmethod
    @lru_cache(maxsize=64)
    def of(tree: Tree) -> _Plan:
        """Raises NotDerived."""
        centers, parents = [tree.root], [-1]
        for number, center in enumerate(centers):
            centers += center.below
            parents += [number] * len(center.below)
        ends = _cut(centers, parents)
        moves: list[frozenset[tuple[Fraction, Fraction]]] = []
        for center, parent, each in zip(centers, parents, ends, strict=True):
            above = {w for w, _ in moves[parent]} if moves else {_ZERO}
            moves.append(frozenset((w, x) for x in above for w in each.moves(center.slope, x)))
            if len(moves[-1]) > MOST_ENDS:
                raise NotDerived(f"comparisons of Gaussian noise fall into more than {MOST_ENDS} pieces")
        curvatures = [_ZERO] * len(centers)
        handed = [_ZERO] * len(centers)
        spread = _ZERO
        for number in reversed(range(len(centers))):
            center = centers[number]
            factors = _factors(center)
            mine, parents_own, both = (
                sum((weight * max((p * a + q * b) ** 2 for a, b, _ in forms) for forms, weight in factors), _ZERO)
                for p, q in ((1, 0), (0, 1), (1, 1))
            )
            curvatures[number] = mine + handed[number]
            if number:
                moved = both + handed[number] if ends[number].moving else _ZERO
                handed[parents[number]] += max(parents_own, moved)
            for forms, weight in factors:
                spread += weight * max((d + a * w + b * x) ** 2 for a, b, d in forms for w, x in moves[number])
        bits = sum(2 + e.integrals.bit_length() + c.doublings for c, e in zip(centers, ends, strict=True))
        return _Plan(tuple(centers), tuple(parents), tuple(ends), tuple(moves), tuple(curvatures), bits, spread)


def _factors(center: Center) -> list[tuple[Sequence[Form], Fraction]]:
    """The forms of each, and how often over its variance: of the density, and of the leaves."""
    result: list[tuple[Sequence[Form], Fraction]] = [(((_ONE, -center.slope, _ZERO),), 1 / center.variance)]
    return result + [(leaf.forms, count / leaf.variance) for leaf, count in center.leaves]


def _cut(centers: Sequence[Center], parents: Sequence[int]) -> list[_Ends]:
    """Raises NotDerived for too many ends, and for those of more than one direction."""
    handed: list[set[Fraction]] = [set() for _ in centers]
    result: list[_Ends] = []
    for number in reversed(range(len(centers))):
        still, moving, above = handed[number], set[Fraction](), set[Fraction]()
        for a, b, d in centers[number].edges:
            if a and b and a != -b:
                raise NotDerived("bounds of Gaussian noises meet on lines of more than one direction")
            if a and b:
                moving.add(d / a)
            elif a:
                still.add(-d / a)
            elif b:
                above.add(-d / b)
        if len(still) + len(moving) > MOST_ENDS:
            raise NotDerived(f"comparisons of Gaussian noise fall into more than {MOST_ENDS} pieces")
        if number:
            handed[parents[number]] |= above | {u + v for u in still for v in moving}
        elif moving or above or centers[0].slope:
            raise NotDerived("the first center has no parent")
        result.append(_Ends(tuple(sorted(still)), tuple(sorted(moving))))
    return result[::-1]


def _between(start: Fraction | None, end: Fraction | None) -> Fraction:
    if start is None:
        return _ZERO if end is None else end - 1
    return start + 1 if end is None else (start + end) / 2


def _root_below(x: Fraction) -> Fraction:
    """At most √x, an eighth less at most: multiples of numbers of a few bits are often the same."""
    shift = max(0, x.denominator.bit_length() - x.numerator.bit_length()) // 2 + 24
    root = isqrt((x.numerator << 2 * shift) // x.denominator)
    rest = max(0, root.bit_length() - 4)
    return Fraction(root >> rest << rest, 1 << shift)


# === weights ===================================================================================


@lru_cache(maxsize=20_000)
def half_weight(n: int, bits: int) -> Pair:
    """σ(n) = 1/2 + Si(πn)/π, a few units of 2^-bits wide."""
    if n < 0:
        low, high = half_weight(-n, bits)
        return (1 << bits) - high, (1 << bits) - low
    if not n:
        return 1 << bits - 1, 1 << bits - 1
    work = bits + 16
    if 22 * n < 7 * (bits + 30):
        work += 5 * n  # e^{πn} < 2^{5n}
    low_pi, high_pi = pi_ends(work)
    x, over = (n * low_pi, n * high_pi), 1 << work
    square = x[0] * x[0] >> work, -(-x[1] * x[1] >> work)
    low = high = 0
    if work > bits + 16:
        # Si(x) = Σ (-1)^k·x^(2k+1)/((2k+1)·(2k+1)!).
        term, k = x, 0
        while term[1] > 1 or (2 * k + 2) * (2 * k + 3) << work < 2 * square[1]:
            part = term[0] // (2 * k + 1), -(-term[1] // (2 * k + 1))
            low, high = (low - part[1], high - part[0]) if k % 2 else (low + part[0], high + part[1])
            k += 1
            below = 2 * k * (2 * k + 1)
            term = term[0] * square[0] // (below << work), -(-term[1] * square[1] // (below << work))
        half = over // 2
        low, high = (
            half + (low - 2 << work) // (high_pi if low >= 2 else low_pi),
            half - (-(high + 2) << work) // low_pi,
        )
    else:
        # 1 - (-1)^n·f/π with f = ∫ e^{-xt}/(1 + t²) dt = Σ (-1)^k·(2k)!/x^(2k+1), away by less than the next term.
        term, k = ((1 << 2 * work) // x[1], -(-(1 << 2 * work) // x[0])), 0
        while term[1] > 1:
            low, high = (low - term[1], high - term[0]) if k % 2 else (low + term[0], high + term[1])
            k += 1
            ahead = (2 * k - 1) * 2 * k
            if ahead << work > square[0]:
                raise NotDerived("a weight is not found")
            term = term[0] * ahead * over // square[1], -(-term[1] * ahead * over // square[0])
        away = (max(0, low - 2) << work) // high_pi, -((-(high + 2) << work) // low_pi)
        low, high = (over - away[1], over - away[0]) if n % 2 == 0 else (over + away[0], over + away[1])
    return low >> work - bits, -(-high >> work - bits)


# === sums ======================================================================================


@dataclass(frozen=True, slots=True)
class _Table:
    """What a function of a·t + b·x + d·eps is at places k·h + w·eps and j·h' + w'·eps, by a·h·k + b·h'·j in units."""

    known: dict[int, Series]
    unit: Fraction
    first: int
    second: int
    off: Fraction
    variance: Fraction
    density: bool


class _Sum:
    """The sum over the places of all centers, message by message."""

    def __init__(self, tree: Tree, cell: Expansion) -> None:
        self._plan, self._cell = _Plan.of(tree), cell
        self._scale = tree.square.inverse.root.ends(cell.bits + 32)
        plan, low, high = self._plan, *self._scale
        # Errors of a center, of which others make 2^bits times as much at most.
        accuracy = cell.accuracy + len(plan.centers).bit_length() + 2 + 2 * plan.bits + 3
        self._steps = self._all_steps(accuracy)
        self._reaches: list[Fraction] = []
        for center, parent, moves in zip(plan.centers, plan.parents, plan.moves, strict=True):
            far = root_ends(Fraction(14, 10) * center.variance * (accuracy + 1), 64)
            reach = Fraction(far[1], 1 << 64)
            if decay_bits(reach**2 / (2 * center.variance)) < accuracy:
                reach *= 1 + Fraction(1, 16)
            if decay_bits(reach**2 / (2 * center.variance)) < accuracy:
                raise NotDerived("deviations of Gaussian noise are too different")
            reach += max(abs(w - center.slope * x) for w, x in moves) * cell.radius * high
            reach += max(abs(w) + abs(center.slope * x) for w, x in moves) * (cell.middle + cell.radius) * (high - low)
            # The outermost places of the parent are up to a step farther.
            above = self._reaches[parent] + self._steps[parent] if self._reaches else _ZERO
            self._reaches.append(reach + abs(center.slope) * above)
        self._known: dict[tuple[int, Fraction, Fraction], list[Series]] = {}

    def _all_steps(self, accuracy: int) -> list[Fraction]:
        """Those of all centers, by which each integral is wrong by no more than 2^-accuracy. Raises NotDerived."""
        plan, steps = self._plan, []
        for center, ends, curvature in zip(plan.centers, plan.ends, plan.curvatures, strict=True):
            # 2π² > 19.73, and a quarter of it for half a line.
            turn = Fraction(1973, 400 if ends.still or ends.moving else 100) / curvature
            step = _root_below(turn / (Fraction(7, 10) * (accuracy + 1)))
            steps.append(min(step, _root_below(6 * center.variance)))
        for numbers in (range(1, len(steps)), range(len(steps) - 1, 0, -1), range(1, len(steps))):
            for number in numbers:
                if plan.ends[number].moving:
                    # An end that moves with the parent is a place of both.
                    steps[number] = steps[plan.parents[number]] = min(steps[number], steps[plan.parents[number]])
        for step, ends, curvature in zip(steps, plan.ends, plan.curvatures, strict=True):
            turn = Fraction(1973, 400 if ends.still or ends.moving else 100) / curvature
            if not step or decay_bits(turn / step**2) < accuracy:
                raise NotDerived("deviations of Gaussian noise are too different")
        return steps

    def total(self) -> Series:
        """The probability."""
        (value,) = self._message(0, _ZERO, _ZERO)
        return value

    def _places(self, number: int, move: Fraction) -> range:
        if number < 0:
            return range(1)
        step, middle = self._steps[number], -move * self._cell.middle * self._scale[0]
        first, last = floor((middle - self._reaches[number]) / step), ceil((middle + self._reaches[number]) / step)
        if last - first >= MOST_PLACES:
            raise NotDerived(f"an integral over Gaussian noise takes more than {MOST_PLACES} nodes")
        return range(first, last + 1)

    def _message(self, number: int, above: Fraction, u: Fraction) -> list[Series]:
        """At all places x of the parent that move by above·eps, what is true around x = u·eps."""
        key = number, above, u
        if key in self._known:
            return self._known[key]
        center, ends = self._plan.centers[number], self._plan.ends[number]
        total = [Series([0] * self._cell.terms, 0)] * len(self._places(self._plan.parents[number], above))
        cuts = {v: (False, v) for v in ends.still} | {u - v: (True, v) for v in ends.moving}
        pieces: list[tuple[Any, Any, Near, int]] = []
        for low, high in pairwise([None, *sorted(cuts), None]):
            t = _between(low, high)
            near, piece = center.near(t, u), sum(v < t for v in ends.still)
            if near is None:
                continue
            start, end = low if low is None else cuts[low], high if high is None else cuts[high]
            if pieces and pieces[-1][1:] == (start, near, piece):
                start = pieces.pop()[0]
            pieces.append((start, end, near, piece))
        for start, end, near, piece in pieces:
            # What is below the upper end, less what is below the lower one; or above that.
            sides = [(end, 1, -1)] if end else []
            if start:
                sides.append((start, -1, -1) if end else (start, 1, 1))
            for cut, sign, side in sides or [(None, 1, 0)]:
                part = self._integral(number, above, (near, piece), cut, side)
                total = [
                    Series(
                        [a + sign * b for a, b in zip(x.coefficients, y.coefficients, strict=True)], x.error + y.error
                    )
                    for x, y in zip(total, part, strict=True)
                ]
        self._known[key] = total
        return total

    def _integral(
        self, number: int, above: Fraction, stretch: tuple[Near, int], cut: tuple[bool, Fraction] | None, side: int
    ) -> list[Series]:
        """Over what is below a cut (side -1), above it (1), or over the whole line."""
        cell, center, ends = self._cell, self._plan.centers[number], self._plan.ends[number]
        moving = cut is not None and cut[0]
        move = ends.moves(center.slope, above)[0]
        if cut is not None:
            move = above - cut[1] if moving else cut[1]
        mine, theirs = self._places(number, move), self._places(self._plan.parents[number], above)
        step = self._steps[number]
        factors: list[tuple[list[_Table], int]] = []
        density = center.variance, ((_ONE, -center.slope, _ZERO),), 0
        for variance, forms, count in (density, *stretch[0]):
            factors.append(([self._table(number, form, (move, above), variance, not count) for form in forms], count))
        alone = [each for each in factors if not any(table.second for table in each[0])]
        paired = [each for each in factors if any(table.second for table in each[0])]
        # The step over the deviation, with what the density is without it.
        low, high = root_ends(step * step / center.variance, cell.bits + 8)
        width = cell.constant((low >> 8, -(-high >> 8)))
        below = [self._message(c, move, ends.within(stretch[1])) for c in self._children(number)]
        values = []
        for index, k in enumerate(mine):
            value = width
            for tables, count in alone:
                value = cell.times(value, self._factor(tables, count, k, 0))
            for message in below:
                value = cell.times(value, message[index])
            values.append(value)
        weights: list[Pair] | None = None
        if not moving:
            weights = None if cut is None else [half_weight(side * k, cell.bits) for k in mine]
            if not paired:
                return [self._weighted(values, weights)] * len(theirs)
        result = []
        for j in theirs:
            if moving:
                weights = [half_weight(side * (k - j), cell.bits) for k in mine]
            products = values
            for tables, count in paired:
                products = [
                    cell.times(value, self._factor(tables, count, k, j))
                    for k, value in zip(mine, products, strict=True)
                ]
            result.append(self._weighted(products, weights))
        return result

    def _children(self, number: int) -> Iterator[int]:
        return (child for child, parent in enumerate(self._plan.parents) if parent == number)

    def _weighted(self, values: Sequence[Series], weights: Sequence[Pair] | None) -> Series:
        """Σ weight·value, for weights between -1/8 and 9/8."""
        cell = self._cell
        if weights is None:
            return cell.sum(values)
        cell.budget.spend(len(values) * (cell.terms // 8 + 1), cell.bits)
        lows = [low for low, _ in weights]
        columns = zip(*(value.coefficients for value in values), strict=True)
        coefficients = [sum(map(mul, lows, column)) >> cell.bits for column in columns]
        error = sum(value.error for value in values)
        blurred = sum(value.size * (high - low) for value, (low, high) in zip(values, weights, strict=True))
        return Series(coefficients, error + (error >> 3) + (blurred >> cell.bits) + cell.terms + 2)

    def _table(
        self, number: int, form: Form, moves: tuple[Fraction, Fraction], variance: Fraction, density: bool
    ) -> _Table:
        parent = self._plan.parents[number]
        a, b = form[0] * self._steps[number], form[1] * (self._steps[parent] if number else _ONE)
        below = lcm(a.denominator, b.denominator)
        unit = Fraction(gcd(int(a * below), int(b * below)), below) or _ONE
        off = form[2] + form[0] * moves[0] + form[1] * moves[1]
        return _Table({}, unit, int(a / unit), int(b / unit), off, variance, density)

    def _factor(self, tables: Sequence[_Table], count: int, k: int, j: int) -> Series:
        """The density without 1/√v, or the probability of a leaf so many times."""
        cell, result = self._cell, []
        for table in tables:
            key = table.first * k + table.second * j
            if key not in table.known:
                low, high = self._scale
                off = table.off * low
                away = abs(table.off) * (cell.middle + cell.radius) * (high - low)
                start = key * table.unit + off * cell.middle
                series = cell.normal(start, off * cell.radius, table.variance, away, density=table.density)
                table.known[key] = cell.power(series, count) if count > 1 and len(tables) == 1 else series
            result.append(table.known[key])
        if len(result) == 1:
            return result[0]
        both = cell.plus(cell.plus(*result), cell.constant((-1 << cell.bits,) * 2))
        return cell.power(both, count) if count > 1 else both


# === from half-spaces ==========================================================================

#: A linear form by places, and half-spaces Σ c·value + d·eps >= 0.
_Row = Mapping[int, Fraction]
_Rows = Sequence[tuple[_Row, Fraction]]


def tree_of(variances: Sequence[Fraction], rows: _Rows, *, fixed: bool, square: Number) -> Tree:
    """The event of half-spaces over independent normal values. Raises NotDerived where it is no tree."""
    reason, results = "", []
    for leaves in _independent(rows, len(variances)):
        centers = [place for place in range(len(variances)) if place not in leaves]
        for basis in _bases(centers, rows):
            try:
                results.append(_Basis.of(basis, centers, variances).tree(rows, leaves, variances))
            except NotDerived as refused:
                reason = reason or str(refused)
            else:
                break
    if not results:
        raise NotDerived(reason)
    moves = any(d for _, d in rows)
    return Tree(min(results), fixed, square if moves else UNIT)


def _independent(rows: _Rows, count: int) -> Iterator[frozenset[int]]:
    """Values of which no two are in one half-space: those of one, those that are compared with one other, and those
    between two that hang together without them; by which of the last is looked at first."""
    inside = [[n for n, (row, _) in enumerate(rows) if place in row] for place in range(count)]
    seen = set()
    for first in range(count):
        leaves = {place for place in range(count) if len(inside[place]) == 1}
        taken = {n for place in leaves for n in inside[place]}
        for number in (1, 2):
            for place in [first, *range(count)]:
                others = {other for n in inside[place] for other in rows[n][0]} - leaves - {place}
                if place in leaves or taken.intersection(inside[place]) or len(others) != number:
                    continue
                if number == 2:
                    reached, groups = {min(others)}, [{*row} - leaves for row, _ in rows]
                    groups += [{other for n in inside[leaf] for other in rows[n][0]} - leaves for leaf in leaves]
                    for _ in groups:
                        for group in groups:
                            reached |= group - {place} if reached & (group - {place}) else set()
                    if not others <= reached:
                        continue
                leaves.add(place)
                taken.update(inside[place])
        if leaves not in seen:
            seen.add(frozenset(leaves))
            yield frozenset(leaves)


def _bases(centers: Sequence[int], rows: _Rows) -> Iterator[list[list[Fraction]]]:
    """Forms that all are sums of: the values themselves, and those of the half-spaces."""
    units = [[_ONE if place == other else _ZERO for other in centers] for place in centers]
    yield units
    basis: list[list[Fraction]] = []
    reduced: list[list[Fraction]] = []
    for form in [*sorted(([row.get(place, _ZERO) for place in centers] for row, _ in rows), key=_support), *units]:
        rest = form
        for each in reduced:
            lead = next(n for n, c in enumerate(each) if c)
            rest = [c - rest[lead] / each[lead] * e for c, e in zip(rest, each, strict=True)]
        if any(rest):
            basis.append(form)
            reduced.append(rest)
    yield basis


def _support(form: Sequence[Fraction]) -> tuple[int, Sequence[Fraction]]:
    return sum(map(bool, form)), form


@dataclass(frozen=True, slots=True)
class _Basis:
    """Coordinates: `inverse` has values by them, `precision` is the inverse of their covariances."""

    places: Sequence[int]
    inverse: Sequence[Sequence[Fraction]]
    precision: Sequence[Sequence[Fraction]]

    @staticmethod
    def of(basis: Sequence[Sequence[Fraction]], places: Sequence[int], variances: Sequence[Fraction]) -> _Basis:
        size = range(len(places))
        rows = [[*row, *(_ONE if i == j else _ZERO for j in size)] for i, row in enumerate(basis)]
        for i in size:
            lead = next(n for n in range(i, len(rows)) if rows[n][i])
            rows[i], rows[lead] = rows[lead], rows[i]
            rows[i] = [c / rows[i][i] for c in rows[i]]
            for n in size:
                if n != i and rows[n][i]:
                    rows[n] = [c - rows[n][i] * e for c, e in zip(rows[n], rows[i], strict=True)]
        inverse = [row[len(places) :] for row in rows]
        precision = [
            [
                sum((each[i] * each[j] / variances[k] for k, each in zip(places, inverse, strict=True)), _ZERO)
                for j in size
            ]
            for i in size
        ]
        return _Basis(places, inverse, precision)

    def tree(self, rows: _Rows, leaves: frozenset[int], variances: Sequence[Fraction]) -> Center:
        """Raises NotDerived."""
        groups: list[_Group] = []
        sides: dict[int, tuple[list[_Side], list[_Side]]] = {}
        for row, d in rows:
            columns = zip(
                *([row.get(k, _ZERO) * c for c in each] for k, each in zip(self.places, self.inverse, strict=True)),
                strict=True,
            )
            form = {i: total for i, column in enumerate(columns) if (total := sum(column, _ZERO))}
            mine = [place for place in row if place in leaves]
            if not mine:
                groups.append((None, [(form, d)], []))
            for place in mine:
                size = abs(row[place])
                scaled = {i: c / size for i, c in form.items()}, d / size
                sides.setdefault(place, ([], []))[row[place] < 0].append(scaled)
        groups += [(variances[place], lower, upper) for place, (lower, upper) in sides.items()]
        rooted = _Rooted(self.precision, groups, [{i for form, _ in g[1] + g[2] for i in form} for g in groups])
        rooted.watch()
        return min(rooted.scaled(root) for root in range(len(self.places)))


#: A form in coordinates, and its number; the variance of a leaf, None for half-spaces, with its bounds on both sides.
_Side = tuple[Mapping[int, Fraction], Fraction]
_Group = tuple[Fraction | None, list[_Side], list[_Side]]


@dataclass(frozen=True, slots=True)
class _Rooted:
    """Coordinates as a tree, from any of them on."""

    precision: Sequence[Sequence[Fraction]]
    groups: Sequence[_Group]
    supports: Sequence[set[int]]

    def watch(self) -> None:
        """Raises NotDerived where it is no tree."""
        if any(len(support) > 2 for support in self.supports):
            raise NotDerived("a comparison relates three sums of Gaussian noises")
        if not all(self.supports):
            raise NotDerived("a Gaussian noise is not compared with any other")
        size = len(self.precision)
        if size > MOST_CENTERS:
            raise NotDerived(f"more than {MOST_CENTERS} Gaussian noises are compared with each other")
        reached, pairs = {0}, {(i, j) for i, j in combinations(range(size), 2) if self._are_paired(i, j)}
        for _ in range(size):
            reached |= {i for pair in pairs for i in pair if reached & {*pair}}
        if len(pairs) != size - 1 or len(reached) < size:
            raise NotDerived("Gaussian noises are compared in a circle")

    def _are_paired(self, i: int, j: int) -> bool:
        return bool(self.precision[i][j]) or {i, j} in self.supports

    def _below(self, i: int, parent: int | None) -> list[int]:
        return [j for j in range(len(self.precision)) if j not in (i, parent) and self._are_paired(i, j)]

    def _inverse(self, i: int, parent: int | None) -> Fraction:
        """Of the variance, given the parent."""
        below = (
            self.precision[i][j] ** 2 / self._inverse(j, i) for j in self._below(i, parent) if self.precision[i][j]
        )
        return self.precision[i][i] - sum(below, _ZERO)

    def scaled(self, root: int) -> Center:
        """In multiples in which the greatest number of a form is 1."""
        center = self._center(root, None, _ONE)
        stack, most = [center], _ZERO
        for each in stack:
            stack += each.below
            most = max([most, *(abs(d) for forms, _ in _factors(each)[1:] for _, _, d in forms)])
            most = max([most, *(abs(d) for _, _, d in each.own)])
        return _divided(center, most or _ONE)

    def _center(self, i: int, parent: int | None, above: Fraction) -> Center:
        """The least of those that differ in signs alone; `above` is what the parent is multiplied with."""
        wanted = ({i},) if parent is None else ({i}, {i, parent})
        mine = [g for g, support in zip(self.groups, self.supports, strict=True) if support in wanted]
        inverse = self._inverse(i, parent)
        slope = _ZERO if parent is None else -self.precision[i][parent] / inverse
        plain = self._forms(mine, (i, parent), (_ONE, above))
        meeting = {a / b for a, b, _ in Center(slope, _ONE, *plain, ()).edges if a and b}
        if len(meeting) > 1:
            raise NotDerived("bounds of Gaussian noises meet on lines of more than one direction")
        scales = [-meeting.pop()] if meeting else []
        if not scales:
            ratios = [abs(b / a) for leaf, _ in plain[1] for a, b, _ in leaf.forms if a and b]
            size = above / abs(slope) if slope else 1 / max(ratios, default=_ONE)
            scales = [size, -size]
        return min(
            Center(
                slope * scale / above,
                scale**2 / inverse,
                *self._forms(mine, (i, parent), (scale, above)),
                tuple(sorted(self._center(j, i, scale) for j in self._below(i, parent))),
            )
            for scale in scales
        )

    def _forms(
        self, groups: Sequence[_Group], pair: tuple[int, int | None], scales: tuple[Fraction, Fraction]
    ) -> tuple[tuple[Form, ...], tuple[tuple[Bounded, int], ...]]:
        """The half-spaces and the leaves, in these multiples of a center and its parent."""

        def forms(side: Sequence[_Side]) -> list[Form]:
            i, j = pair
            return [
                (form.get(i, _ZERO) / scales[0], _ZERO if j is None else form.get(j, _ZERO) / scales[1], d)
                for form, d in side
            ]

        own: set[Form] = set()
        leaves: dict[Bounded, int] = {}
        for variance, lower, upper in groups:
            low, high = forms(lower), forms(upper)
            if variance is None:
                own |= {_divided_form(form, next(abs(c) for c in form if c)) for form in low}
                continue
            # In the multiple in which the greatest coefficient is 1; -L has the law of L.
            size = next(filter(None, (max(abs(form[place]) for form in low + high) for place in range(3))), _ONE)
            first, second = sorted(tuple(sorted({_divided_form(f, size) for f in side})) for side in (low, high))
            leaf = Bounded(variance / size**2, *((first, second) if first else (second, first)))
            leaves[leaf] = leaves.get(leaf, 0) + 1
        return tuple(sorted(own)), tuple(sorted(leaves.items()))


def _divided_form(form: Form, size: Fraction) -> Form:
    a, b, d = form
    return a / size, b / size, d / size


def _divided(center: Center, size: Fraction) -> Center:
    """All values divided by that."""

    def divided(forms: Sequence[Form]) -> tuple[Form, ...]:
        return tuple(sorted((a, b, d / size) for a, b, d in forms))

    leaves = (
        (Bounded(leaf.variance / size**2, divided(leaf.lower), divided(leaf.upper)), count)
        for leaf, count in center.leaves
    )
    return Center(
        center.slope,
        center.variance / size**2,
        divided(center.own),
        tuple(sorted(leaves)),
        tuple(sorted(_divided(each, size) for each in center.below)),
    )


# === as they are written =======================================================================

_FORMS = read.listed(read.tuple_of(read.rational, read.rational, read.rational), MOST_LEAVES)
_LEAF = read.tuple_of(read.up_to(MOST_LEAVES), read.rational, _FORMS, _FORMS)


def read_tree(value: object) -> Tree:
    """Of a certificate. Raises Rejected."""
    root, fixed, square = read.fields(value, {"root": lambda x: x, "fixed": read.boolean}, {"square": read_number})
    center = _read_center(root, 0)
    if center.slope or any(b for form in _all_forms(center) for b in form[1:2]):
        raise Rejected("the first center has no parent")
    return Tree(center, fixed, square or UNIT)


def _all_forms(center: Center) -> Iterator[Form]:
    yield from center.own
    for leaf, _ in center.leaves:
        yield from leaf.forms


def _read_center(value: object, depth: int) -> Center:
    if depth > MOST_CENTERS:
        raise Rejected(f"a tree is no deeper than {MOST_CENTERS}")
    below = read.listed(lambda each: _read_center(each, depth + 1), MOST_CENTERS)
    slope, variance, own, stated, children = read.tuple_of(
        read.rational, read.rational, _FORMS, read.listed(_LEAF, MOST_LEAVES), below
    )(value)
    leaves = tuple((Bounded(v, tuple(lower), tuple(upper)), count) for count, v, lower, upper in stated)
    if variance <= 0 or any(leaf.variance <= 0 or not count or not leaf.lower for leaf, count in leaves):
        raise Rejected("a value must have a positive variance, and a leaf must have a bound")
    return Center(slope, variance, tuple(own), leaves, tuple(children))
