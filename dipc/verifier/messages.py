"""Probabilities of normal noises that are compared with each other in a tree, by messages from center to center.

A message is the integral over a center as a function of its parent's value. It is computed as a sum over nodes, which
are values of the center. An integral over the whole line is a sum by the trapezoid rule. An integral over a half-line
is a sum with the weights of `half_weight`. FORMAT.md states and proves the error, lemma N1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, gcd, lcm
from operator import mul

from dipc.verifier.reading import NotDerived
from dipc.verifier.reals import root_around
from dipc.verifier.signs import Pair, decay_bits, growth_bits
from dipc.verifier.taylor import MOST_GROWTH, Expansion, Series, pi_ends, root_ends
from dipc.verifier.trees import Center, Form, Leaf, Leaves, Spread, Tree, number_between

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
class _Plan:
    """The centers of a tree, parents first, with everything for lemma N1 that does not depend on eps.

    For each center, `parents` has the index of its parent (-1 at the root). With the values t of the center and x of
    its parent, the integral over t is cut at t = u·eps for each u in `still`, and at t = x - u·eps for each u in
    `moving`. `moves` has the pairs (offset w of its nodes, offset of its parent's nodes). `curvatures` has a sum of
    a²/v over the normal laws in the integrand: v is the variance, and a the change of the law's argument as the center
    grows by 1. If the imaginary part of eps is at most ν, the quadrature sum is at most 2^`bits`·e^{ν²·`spread`/2}.
    """

    centers: Sequence[Center]
    parents: Sequence[int]
    still: Sequence[Sequence[Fraction]]
    moving: Sequence[Sequence[Fraction]]
    moves: Sequence[frozenset[tuple[Fraction, Fraction]]]
    curvatures: Sequence[Fraction]
    bits: int
    spread: Fraction

    @staticmethod
    @lru_cache(maxsize=64)
    def from_tree(tree: Tree) -> _Plan:
        centers, parents = [tree.root], [-1]
        for number, center in enumerate(centers):
            centers += center.below
            parents += [number] * len(center.below)
        still, moving = _cut(centers, parents)
        moves: list[frozenset[tuple[Fraction, Fraction]]] = []
        for number, (center, parent) in enumerate(zip(centers, parents, strict=True)):
            above = {w for w, _ in moves[parent]} if moves else {_ZERO}
            # Each point at which the integral is cut is itself a node.
            offsets = ((w, x) for x in above for w in [*still[number], *(x - u for u in moving[number])])
            moves.append(frozenset(offsets) or frozenset((center.slope * x, x) for x in above))
            if len(moves[-1]) > MOST_ENDS:
                raise NotDerived(f"comparisons of Gaussian noise fall into more than {MOST_ENDS} pieces")
        curvatures = [_ZERO] * len(centers)
        handed = [_ZERO] * len(centers)
        spread, bits = _ZERO, 0
        for number in reversed(range(len(centers))):
            center = centers[number]
            factors = _factors(center)
            mine, parents_own, both = (
                sum((weight * max((p * a + q * b) ** 2 for a, b, _ in forms) for forms, weight in factors), _ZERO)
                for p, q in ((1, 0), (0, 1), (1, 1))
            )
            curvatures[number] = mine + handed[number]
            if number:
                handed[parents[number]] += max(parents_own, both + handed[number] if moving[number] else _ZERO)
            for forms, weight in factors:
                spread += weight * max((d + a * w + b * x) ** 2 for a, b, d in forms for w, x in moves[number])
            # Each cut separates two integrals over half-lines.
            cuts = len(still[number]) + len(moving[number])
            bits += 1 + (1 + (2 * cuts - 1).bit_length() if cuts else 0)
            bits += sum(count for leaf, count in center.leaves if leaf.upper)
        return _Plan(centers, parents, still, moving, moves, curvatures, bits, spread)

    def accuracy(self, wanted: int) -> int:
        """Return the accuracy of each center's integrals, in bits, with which the sum has the accuracy `wanted`."""
        return wanted + self.bits + (len(self.centers) - 1).bit_length() + 3

    def steps(self, accuracy: int) -> list[Fraction]:
        """Return the step h of each center with which each of its integrals has an error of at most 2^-`accuracy`.

        Raises NotDerived if the standard deviations of Gaussian noises differ too much from each other.
        """
        steps: list[Fraction] = []
        turns: list[Fraction] = []
        for center, still, moving, curvature in zip(
            self.centers, self.still, self.moving, self.curvatures, strict=True
        ):
            # 2π² > 19.73, and a quarter of it for half a line.
            turns.append(Fraction(1973, 400 if still or moving else 100) / curvature)
            step = _root_below(turns[-1] / (Fraction(7, 10) * (accuracy + 1)))
            steps.append(min(step, _root_below(6 * center.spread.size)))
        for numbers in (range(1, len(steps)), range(len(steps) - 1, 0, -1), range(1, len(steps))):
            for number in numbers:
                if self.moving[number]:
                    # An end that moves with the parent is a place of both.
                    steps[number] = steps[self.parents[number]] = min(steps[number], steps[self.parents[number]])
        if any(not step or decay_bits(turn / step**2) < accuracy for step, turn in zip(steps, turns, strict=True)):
            raise NotDerived("the standard deviations of Gaussian noises differ too much")
        return steps


def _factors(center: Center) -> list[tuple[Sequence[Form], Fraction]]:
    """Return a pair for each factor of the integrand over `center`: (its linear forms, count/variance).

    The factors are the density of the center, with count 1, and the probability of each group of equal leaves, with the
    number of leaves as count.
    """
    result: list[tuple[Sequence[Form], Fraction]] = [(((_ONE, -center.slope, _ZERO),), 1 / center.spread.size)]
    return result + [(leaf.forms, count / leaf.spread.size) for leaf, count in center.leaves]


def _cut(centers: Sequence[Center], parents: Sequence[int]) -> tuple[list[list[Fraction]], list[list[Fraction]]]:
    """Return the points at which the integrals over `centers` are cut, as `still` and `moving` of `_Plan`.

    `parents` has the indices of their parents. A point must be fixed, or move exactly as the parent's value does.
    Raises NotDerived for other points, and if there are too many points.
    """
    handed: list[set[Fraction]] = [set() for _ in centers]
    moved: list[set[Fraction]] = [set() for _ in centers]
    for number in reversed(range(len(centers))):
        still, moving, above = handed[number], moved[number], set[Fraction]()
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
    return list(map(sorted, handed)), list(map(sorted, moved))


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


#: A factor of the integrand over a center, as a function of the node of the center and that of its parent.
_Factor = Callable[[int, int], Series]


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
        center, still = self._plan.centers[number], self._plan.still[number]
        total = [Series([0] * self._cell.terms, 0)] * len(self._places(self._plan.parents[number], above))
        cuts = {v: (False, v) for v in still} | {u - v: (True, v) for v in self._plan.moving[number]}
        for low, high, near in center.stretches(cuts, still, u):
            piece = sum(v < number_between(low, high) for v in still)
            start, end = low if low is None else cuts[low], high if high is None else cuts[high]
            # The integral below the upper end minus that below the lower end, or the integral above the lower end.
            sides: list[tuple[tuple[bool, Fraction] | None, int, int]] = [(end, 1, -1)] if end else []
            if start:
                sides.append((start, -1, -1) if end else (start, 1, 1))
            for cut, sign, side in sides or [(None, 1, 0)]:
                part = self._integral(number, above, (near, piece), cut, side)
                total = list(map(self._cell.plus if sign > 0 else self._cell.minus, total, part))
        self._known[key] = total
        return total

    def _integral(
        self, number: int, above: Fraction, stretch: tuple[Leaves, int], cut: tuple[bool, Fraction] | None, side: int
    ) -> list[Series]:
        """Return, for each node of the parent of center `number`, one integral over this center.

        The nodes of the parent are k·h + `above`·eps for integers k, where h is the step of the parent.

        The integral is below the `cut` (`side` -1), above it (1), or over the whole line (`cut` None). A cut is (False,
        u) at the point u·eps, or (True, u) at the parent's value minus u·eps.

        Different formulas for the integrand hold on different parts of the line, and one of them is integrated.
        `stretch` describes the part where this formula holds: (the leaves with their nearest bounds on this part, the
        number of fixed cuts below it).
        """
        cell, center, still = self._cell, self._plan.centers[number], self._plan.still[number]
        moving = cut is not None and cut[0]
        move = center.slope * above if cut is None else above - cut[1] if moving else cut[1]
        mine, theirs = self._places(number, move), self._places(self._plan.parents[number], above)
        step = self._steps[number]
        density = self._table(number, (_ONE, -center.slope, _ZERO), (move, above), center.spread, density=True)
        alone, paired = ([], [density]) if center.slope else ([density], [])
        for leaf, count in stretch[0]:
            depends = any(b for _, b, _ in leaf.forms)
            (paired if depends else alone).append(self._leaf_probability(number, leaf, (move, above), count))
        # The step over the deviation, a factor that is left out of the density.
        low, high = root_ends(step * step / center.spread.size, cell.bits + 8)
        width = cell.constant((low >> 8, -(-high >> 8)))
        borders = [None, *still, None]
        inner = number_between(borders[stretch[1]], borders[stretch[1] + 1])
        below = [self._message(c, move, inner) for c, parent in enumerate(self._plan.parents) if parent == number]
        values = []
        for index, k in enumerate(mine):
            values.append(cell.product([*(factor(k, 0) for factor in alone), *(message[index] for message in below)]))
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
                cell.product([value, *(factor(k, j) for factor in paired)])
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

    def _leaf_probability(self, number: int, leaf: Leaf, moves: tuple[Fraction, Fraction], count: int) -> _Factor:
        """Return the probability that `count` values meet all bounds of `leaf`, as a function of nodes.

        They are nodes of the center with this `number` and of its parent, with the offsets `moves`.
        """
        if len(leaf.forms) == 1:
            return self._table(number, leaf.forms[0], moves, leaf.spread, count)
        tables = [self._table(number, form, moves, leaf.spread) for form in leaf.forms]
        return lambda k, j: self._cell.power(self._cell.all([table(k, j) for table in tables]), count)

    def _table(
        self,
        number: int,
        form: Form,
        moves: tuple[Fraction, Fraction],
        spread: Spread,
        count: int = 1,
        *,
        density: bool = False,
    ) -> _Factor:
        """Return the probability that `count` normal values are at most `form`, as a function of nodes (k, j).

        Node k of the center with this `number` is t = k·h + w·eps, and node j of its parent x = j·h' + w'·eps, where
        `moves` is (w, w'). The values have the law `spread`. With `density`, the result is the density of this law
        instead, without the factor 1/√v for the variance v. Equal arguments are computed once.
        """
        parent, cell = self._plan.parents[number], self._cell
        a, b = form[0] * self._steps[number], form[1] * (self._steps[parent] if number else _ONE)
        below = lcm(a.denominator, b.denominator)
        unit = Fraction(gcd(int(a * below), int(b * below)), below) or _ONE
        first, second = int(a / unit), int(b / unit)
        # The form is (first·k + second·j)·unit + start + slope·u, with an error of at most `away`.
        low, high = self._scale
        off = form[2] + form[0] * moves[0] + form[1] * moves[1]
        away = abs(off) * (cell.middle + cell.radius) * (high - low)
        start, slope = off * low * cell.middle, off * low * cell.radius
        known: dict[int, Series] = {}

        def value(k: int, j: int) -> Series:
            key = first * k + second * j
            if key not in known:
                series = cell.normal(key * unit + start, slope, spread.size, away, density=density)
                known[key] = cell.power(series, count)
            return known[key]

        return value
