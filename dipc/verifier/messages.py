"""Probabilities of normal noises that are compared with each other in a tree, by messages from center to center.

A message is the integral over a center as a function of its parent's value. It is computed as a sum over nodes, which
are values of the center. An integral over the whole line is a sum by the trapezoid rule. An integral over a half-line
is a sum with the weights of `half_weight`. FORMAT.md states and proves the error, lemma N1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, gcd, lcm
from operator import mul

from dipc.verifier.reading import NotDerived
from dipc.verifier.reals import root_around
from dipc.verifier.signs import Pair, decay_bits, growth_bits
from dipc.verifier.taylor import MOST_GROWTH, Expansion, Series, pi_ends, root_ends
from dipc.verifier.trees import Center, Form, NearLeaf, Spread, Tree, number_between

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The most ends of the line of a center, and the most places of a center.
MOST_ENDS, MOST_PLACES = 60, 10_000


def series(tree: Tree, cell: Expansion) -> Series:
    """Return the Taylor polynomial on `cell` of a quadrature sum for the probability of `tree`.

    The sum is within 2^-accuracy of the probability for each eps of `cell`, by lemma N1. If the event bounds one value
    alone, the probability itself is expanded. Raises NotDerived if the integral is too hard, for example if it needs
    too many nodes, and NotShown if the precision of `cell` does not suffice.
    """
    bounds = tree.bounds
    if bounds is None:
        return _Sum(tree, cell).total()
    if len(bounds) > 1 and sum(bounds.values()) <= 0:
        return cell.constant((0, 0))
    low, high = tree.square.inverse.root.ends(cell.bits + 32)
    sides = []
    for d in bounds.values():
        away, d = abs(d) * (cell.middle + cell.radius) * (high - low), d * low
        sides.append(cell.normal(d * cell.middle, d * cell.radius, tree.root.spread.size, away))
    return cell.all(sides)


def bits_on_disk(tree: Tree, disk: Fraction) -> int | None:
    """Return an n such that the quadrature sum for `tree` is at most 2^n wherever |Im eps| <= `disk`, by lemma N1.

    Return None if n is too large.
    """
    plan = _Plan.from_tree(tree)
    grown = (_most_scale(tree) * disk) ** 2 * plan.spread / 2
    return None if grown > MOST_GROWTH else plan.bits + growth_bits(grown)


def drift(tree: Tree, accuracy: int) -> Fraction:
    """Return the constant c of lemma N1, for a `tree` with one center whose integral is over the whole line.

    The lemma is about the quadrature sum that `series` computes with this `accuracy`. Where |Im eps| <= ν, the error of
    the sum divided by the bound of the sum (see `bits_on_disk`) is at most e^{c·ν} times as large as for real eps.
    """
    root, total = tree.root, _ZERO
    for leaf, count in root.leaves:
        a, d = (max(abs(form[place]) for form in leaf.forms) for place in (0, 2))
        total += count * a * d * _most_scale(tree) / leaf.spread.size
    if not total:
        return _ZERO
    plan = _Plan.from_tree(tree)
    return total * Fraction(629, 100) / (plan.steps(plan.accuracy(accuracy))[0] * plan.curvatures[0])


def _most_scale(tree: Tree) -> Fraction:
    return _ZERO if tree.fixed else tree.square.inverse.root.ends(64)[1]


# === ends and bounds ===========================================================================


@dataclass(frozen=True, slots=True)
class _Ends:
    """The points at which the integral over a center with the value t is cut into integrals over half-lines.

    The fixed points are t = u·eps for each u in `still`. The others move with x, the value of the center's parent: they
    are t = x - u·eps for each u in `moving`.
    """

    still: tuple[Fraction, ...]
    moving: tuple[Fraction, ...]

    def moves(self, slope: Fraction, above: Fraction) -> list[Fraction]:
        """Return the offsets w of the grids of nodes t = k·h + w·eps of a center, for all integers k.

        There is one offset for each point at which the integral is cut, so that this point is itself a node. `above` is
        the offset of the parent's nodes. If the integral is not cut, the only offset is `slope`·`above`, where `slope`
        times the parent's value is the mean of the center.
        """
        return [*self.still, *(above - u for u in self.moving)] or [slope * above]

    @property
    def integrals(self) -> int:
        """The greatest number of integrals over half-lines that add up to the message of the center."""
        return max(1, 2 * (len(self.still) + len(self.moving)))


@dataclass(frozen=True, slots=True)
class _Plan:
    """The centers of a tree, parents first, with everything for lemma N1 that does not depend on eps.

    For each center, `parents` has the index of its parent (-1 at the root), and `ends` the points at which its integral
    is cut. `moves` has the pairs (offset w of its nodes, offset of its parent's nodes). `curvatures` has a sum of a²/v
    over the normal laws in the integrand: v is the variance, and a the change of the law's argument as the center grows
    by 1. If the imaginary part of eps is at most ν, the quadrature sum is at most 2^`bits`·e^{ν²·`spread`/2}.
    """

    centers: tuple[Center, ...]
    parents: tuple[int, ...]
    ends: tuple[_Ends, ...]
    moves: tuple[frozenset[tuple[Fraction, Fraction]], ...]
    curvatures: tuple[Fraction, ...]
    bits: int
    spread: Fraction

    @staticmethod
    @lru_cache(maxsize=64)
    def from_tree(tree: Tree) -> _Plan:
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
        bits = sum(
            1
            + bool(e.still or e.moving)
            + (e.integrals - 1).bit_length()
            + sum(n for leaf, n in c.leaves if leaf.upper)
            for c, e in zip(centers, ends, strict=True)
        )
        return _Plan(tuple(centers), tuple(parents), tuple(ends), tuple(moves), tuple(curvatures), bits, spread)

    def accuracy(self, wanted: int) -> int:
        """Return the accuracy of each center's integrals, in bits, with which the sum has the accuracy `wanted`."""
        return wanted + self.bits + (len(self.centers) - 1).bit_length() + 3

    def steps(self, accuracy: int) -> list[Fraction]:
        """Return the step h of each center with which each of its integrals has an error of at most 2^-`accuracy`.

        Raises NotDerived if the standard deviations of Gaussian noises differ too much from each other.
        """
        steps: list[Fraction] = []
        for center, ends, curvature in zip(self.centers, self.ends, self.curvatures, strict=True):
            # 2π² > 19.73, and a quarter of it for half a line.
            turn = Fraction(1973, 400 if ends.still or ends.moving else 100) / curvature
            step = _root_below(turn / (Fraction(7, 10) * (accuracy + 1)))
            steps.append(min(step, _root_below(6 * center.spread.size)))
        for numbers in (range(1, len(steps)), range(len(steps) - 1, 0, -1), range(1, len(steps))):
            for number in numbers:
                if self.ends[number].moving:
                    # An end that moves with the parent is a place of both.
                    steps[number] = steps[self.parents[number]] = min(steps[number], steps[self.parents[number]])
        for step, ends, curvature in zip(steps, self.ends, self.curvatures, strict=True):
            turn = Fraction(1973, 400 if ends.still or ends.moving else 100) / curvature
            if not step or decay_bits(turn / step**2) < accuracy:
                raise NotDerived("the standard deviations of Gaussian noises differ too much")
        return steps


def _factors(center: Center) -> list[tuple[Sequence[Form], Fraction]]:
    """Return a pair for each factor of the integrand over `center`: (its linear forms, count/variance).

    The factors are the density of the center, with count 1, and the probability of each group of equal leaves, with the
    number of leaves as count.
    """
    result: list[tuple[Sequence[Form], Fraction]] = [(((_ONE, -center.slope, _ZERO),), 1 / center.spread.size)]
    return result + [(leaf.forms, count / leaf.spread.size) for leaf, count in center.leaves]


def _cut(centers: Sequence[Center], parents: Sequence[int]) -> list[_Ends]:
    """Return, for each of `centers`, the points at which its integral is cut; `parents` has their parents' indices.

    A point must be fixed, or move exactly as the parent's value does. Raises NotDerived for other points, and if there
    are too many points.
    """
    handed: list[set[Fraction]] = [set() for _ in centers]
    result: list[_Ends] = []
    for number in reversed(range(len(centers))):
        still, moving, above = handed[number], set[Fraction](), set[Fraction]()
        for a, b, d in centers[number].edges:
            if a and b and a != -b:
                raise NotDerived(
                    "two Gaussian noises are compared, directly or through others, with different ratios of "
                    "coefficients"
                )
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
            raise NotDerived("the first center must not have a parent")
        result.append(_Ends(tuple(sorted(still)), tuple(sorted(moving))))
    return result[::-1]


def _root_below(x: Fraction) -> Fraction:
    """Return a lower bound of √`x` that is at most an eighth less than √`x`.

    It has at most four significant bits, so that multiples of different bounds often coincide.
    """
    low = root_around(x, 24)[0]
    rest = max(0, low.numerator.bit_length() - 4)
    return Fraction(low.numerator >> rest << rest, low.denominator)


# === weights ===================================================================================


@lru_cache(maxsize=20_000)
def half_weight(n: int, bits: int) -> Pair:
    """Return an enclosure of σ(`n`) = 1/2 + Si(πn)/π, the weight of node n of a half-line, in units of 2^-`bits`.

    The enclosure is a few units wide. Raises NotDerived if it is not found.
    """
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
                raise NotDerived("the weight of a node of an integral could not be computed")
            term = term[0] * ahead * over // square[1], -(-term[1] * ahead * over // square[0])
        away = (max(0, low - 2) << work) // high_pi, -((-(high + 2) << work) // low_pi)
        low, high = (over - away[1], over - away[0]) if n % 2 == 0 else (over + away[0], over + away[1])
    return low >> work - bits, -(-high >> work - bits)


# === sums ======================================================================================


@dataclass(frozen=True, slots=True)
class _Table:
    """The values of one factor of the integrand at the nodes of a center and of its parent.

    The nodes of the center are t = k·h + w·eps for integers k, and those of the parent x = j·h' + w'·eps for integers
    j. The argument of the factor is a linear form of t, x and eps, where eps is expanded around its middle as middle +
    radius·u. The argument equals (`first`·k + `second`·j)·`unit` + `start` + `slope`·u, with an error of at most
    `away`. `known` has the values by the integer `first`·k + `second`·j. The factor is the normal distribution function
    with this `variance`, or its density if `density`.
    """

    known: dict[int, Series]
    unit: Fraction
    first: int
    second: int
    start: Fraction
    slope: Fraction
    away: Fraction
    variance: Fraction
    density: bool


class _Sum:
    """The quadrature sum for the probability of a tree: the sum of the integrand over the nodes of all its centers.

    The message of a center has, for each node of its parent, the sum over the center's own nodes and those of all
    centers below it.
    """

    def __init__(self, tree: Tree, cell: Expansion) -> None:
        self._plan, self._cell = _Plan.from_tree(tree), cell
        self._scale = tree.square.inverse.root.ends(cell.bits + 32)
        plan, low, high = self._plan, *self._scale
        accuracy = plan.accuracy(cell.accuracy)
        self._steps = plan.steps(accuracy)
        self._reaches: list[Fraction] = []
        for center, parent, moves in zip(plan.centers, plan.parents, plan.moves, strict=True):
            far = root_ends(Fraction(14, 10) * center.spread.size * (accuracy + 1), 64)
            reach = Fraction(far[1], 1 << 64)
            if decay_bits(reach**2 / (2 * center.spread.size)) < accuracy:
                reach *= 1 + Fraction(1, 16)
            if decay_bits(reach**2 / (2 * center.spread.size)) < accuracy:
                raise NotDerived("the standard deviations of Gaussian noises differ too much")
            reach += max(abs(w - center.slope * x) for w, x in moves) * cell.radius * high
            reach += max(abs(w) + abs(center.slope * x) for w, x in moves) * (cell.middle + cell.radius) * (high - low)
            # The outermost places of the parent are up to a step farther.
            above = self._reaches[parent] + self._steps[parent] if self._reaches else _ZERO
            self._reaches.append(reach + abs(center.slope) * above)
        self._known: dict[tuple[int, Fraction, Fraction], list[Series]] = {}

    def total(self) -> Series:
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
        """Return the integral over center `number`, and over all centers below it, at each node of its parent.

        This integral is a function of the parent's value x, made of several formulas. The formula that holds around x =
        `u`·eps is used at all nodes. `above` is the offset of the parent's nodes.
        """
        key = number, above, u
        if key in self._known:
            return self._known[key]
        center, ends = self._plan.centers[number], self._plan.ends[number]
        total = [Series([0] * self._cell.terms, 0)] * len(self._places(self._plan.parents[number], above))
        cuts = {v: (False, v) for v in ends.still} | {u - v: (True, v) for v in ends.moving}
        for low, high, near in center.stretches(cuts, ends.still, u):
            piece = sum(v < number_between(low, high) for v in ends.still)
            start, end = low if low is None else cuts[low], high if high is None else cuts[high]
            # The integral below the upper end minus that below the lower end, or the integral above the lower end.
            sides: list[tuple[tuple[bool, Fraction] | None, int, int]] = [(end, 1, -1)] if end else []
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
        self,
        number: int,
        above: Fraction,
        stretch: tuple[tuple[NearLeaf, ...], int],
        cut: tuple[bool, Fraction] | None,
        side: int,
    ) -> list[Series]:
        """Return, for each node of the parent of center `number`, one integral over this center.

        The nodes of the parent are k·h + `above`·eps for integers k, where h is the step of the parent.

        The integral is below the `cut` (`side` -1), above it (1), or over the whole line (`cut` None). A cut is (False,
        u) at the point u·eps, or (True, u) at the parent's value minus u·eps.

        Different formulas for the integrand hold on different parts of the line, and one of them is integrated.
        `stretch` describes the part where this formula holds: (the leaves with their nearest bounds on this part, the
        number of fixed cuts below it).
        """
        cell, center, ends = self._cell, self._plan.centers[number], self._plan.ends[number]
        moving = cut is not None and cut[0]
        move = ends.moves(center.slope, above)[0]
        if cut is not None:
            move = above - cut[1] if moving else cut[1]
        mine, theirs = self._places(number, move), self._places(self._plan.parents[number], above)
        step = self._steps[number]
        factors = [([self._table(number, (_ONE, -center.slope, _ZERO), (move, above), center.spread, density=True)], 1)]
        for leaf in stretch[0]:
            tables = [self._table(number, form, (move, above), leaf.spread, density=False) for form in leaf.forms]
            factors.append((tables, leaf.count))
        alone = [each for each in factors if not any(table.second for table in each[0])]
        paired = [each for each in factors if any(table.second for table in each[0])]
        # The step over the deviation, a factor that `_factor` leaves out of the density.
        low, high = root_ends(step * step / center.spread.size, cell.bits + 8)
        width = cell.constant((low >> 8, -(-high >> 8)))
        borders = [None, *ends.still, None]
        inner = number_between(borders[stretch[1]], borders[stretch[1] + 1])
        below = [self._message(c, move, inner) for c, parent in enumerate(self._plan.parents) if parent == number]
        values = []
        for index, k in enumerate(mine):
            own = [self._factor(tables, count, k, 0) for tables, count in alone]
            values.append(cell.product([*own, *(message[index] for message in below)]))
        weights: list[Pair] | None = None
        if not moving:
            weights = None if cut is None else [half_weight(side * k, cell.bits) for k in mine]
            if not paired:
                return [cell.times(width, self._weighted(values, weights))] * len(theirs)
        result = []
        for j in theirs:
            if moving:
                weights = [half_weight(side * (k - j), cell.bits) for k in mine]
            products = [
                cell.product([value, *(self._factor(tables, count, k, j) for tables, count in paired)])
                for k, value in zip(mine, values, strict=True)
            ]
            result.append(cell.times(width, self._weighted(products, weights)))
        return result

    def _weighted(self, values: Sequence[Series], weights: Sequence[Pair] | None) -> Series:
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
        self, number: int, form: Form, moves: tuple[Fraction, Fraction], spread: Spread, *, density: bool
    ) -> _Table:
        parent = self._plan.parents[number]
        a, b = form[0] * self._steps[number], form[1] * (self._steps[parent] if number else _ONE)
        below = lcm(a.denominator, b.denominator)
        unit = Fraction(gcd(int(a * below), int(b * below)), below) or _ONE
        (low, high), cell = self._scale, self._cell
        off = form[2] + form[0] * moves[0] + form[1] * moves[1]
        away, off = abs(off) * (cell.middle + cell.radius) * (high - low), off * low
        start, slope = off * cell.middle, off * cell.radius
        return _Table({}, unit, int(a / unit), int(b / unit), start, slope, away, spread.size, density)

    def _factor(self, tables: Sequence[_Table], count: int, k: int, j: int) -> Series:
        """Return a factor of the integrand at node `k` of the center and node `j` of its parent.

        For a leaf, `tables` has a table for each of its bounds, and the leaf's probability is taken to the power
        `count`. For the center's density, `tables` has one table, and the factor 1/√v, with the variance v, is left
        out.
        """
        cell, result = self._cell, []
        for table in tables:
            key = table.first * k + table.second * j
            if key not in table.known:
                start = key * table.unit + table.start
                series = cell.normal(start, table.slope, table.variance, table.away, density=table.density)
                table.known[key] = cell.power(series, count) if count > 1 and len(tables) == 1 else series
            result.append(table.known[key])
        if len(result) == 1:
            return result[0]
        return cell.power(cell.all(result), count)
