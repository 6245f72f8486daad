"""Difference constraints over continuous noises: forests by message passing, cycles split first."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import factorial, gcd, lcm, prod
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import flint

from dipc.algebra.exppoly import Closed
from dipc.algebra.limits import Limits, Meter, OutsideFragment
from dipc.frozen import LazyModule, frozen
from dipc.measure.event import Event
from dipc.measure.pieces import Piecewise, SizedPiecewise, integral_of_product, watch_product_of
from dipc.noise.law import SideRates

if TYPE_CHECKING:
    from dipc.measure import lattice, power_series
else:
    lattice = LazyModule("dipc.measure.lattice")
    power_series = LazyModule("dipc.measure.power_series")

# --- Difference -------------------------------------------------------------------------------------------------------
#
# Difference systems: constraints Z_i - Z_j >= w and bounds on single Z_i, over independent Laplace noises, all real or
# all integer.
#
# Any set of constraints with at most two noises each becomes one by rescaling the noises (a noise of rate a at mean m
# times s is one of rate a/|s| at mean s·m), unless two noises are compared in two proportions. What does not depend on
# means and constants is worked out once, in an `EventShape`: the rows of a table share it. Lengths are integers from
# here on. Integer noises are only ever negated, not rescaled; between them Z_i - Z_j > w is Z_i - Z_j >= w' for the
# next integer w'.

#: The index that stands for the constant 0 in the inequalities of a system.
ORIGIN = -1

#: `lower[i, j]` = w stands for Z_i - Z_j >= w, where Z of ORIGIN is 0.
Inequalities = dict[tuple[int, int], int]


@frozen
class DifferenceSystem:
    """Noise i is Laplace with rate `rates[i]` (times eps) and mean `means[i]`; `lower` holds what must be true of them.

    Means and inequalities count lengths in multiples of `unit`; it is None for integer noises, whose unit is 1.
    """

    rates: tuple[Fraction, ...]
    means: tuple[int, ...]
    lower: Inequalities
    unit: Fraction | None

    @property
    def is_integer(self) -> bool:
        """Whether the noises are integers."""
        return self.unit is None

    def leaves_room(self, closed_walk: int) -> bool:
        """Whether 0 >= w, the sum of the inequalities around a cycle, leaves more than a null set: among integers w = 0
        does, as it fixes differences to what has positive mass.
        """
        return closed_walk < self.is_integer

    def is_null(self) -> bool:
        """Whether two inequalities on the same two noises leave no room, so that the measure is 0."""
        lower = self.lower
        return any((j, i) in lower and not self.leaves_room(w + lower[j, i]) for (i, j), w in lower.items())


@frozen
class EventShape:
    """An event except for its means and constants: all that is needed to turn those into a difference system.

    `rows[n]` = (i, j, factor) says that constraint n is Z_i - Z_j >= factor·constant·unit; None that it has no noise.
    """

    rates: tuple[Fraction, ...]
    mean_factors: tuple[int, ...]
    rows: tuple[tuple[int, int, int] | None, ...]
    unit: Fraction
    whole: bool

    def system(self, event: Event) -> DifferenceSystem | None:
        """The system whose measure is that of an event of this shape, or None if the measure is plainly 0."""
        means, rows, unit = self.lengths(event)
        lower: Inequalities = {}
        for row, constraint in zip(rows, event.constraints, strict=True):
            if row is None:
                if constraint.constant < 0:
                    return None
                continue
            i, j, w = row
            known = lower.get((i, j))
            if known is None or known < w:
                lower[i, j] = w
        system = DifferenceSystem(self.rates, means, lower, unit)
        return None if system.is_null() else system

    def lengths(self, event: Event) -> tuple[tuple[int, ...], Sequence[tuple[int, int, int] | None], Fraction | None]:
        """The means of an event of this shape, for each constraint (i, j, w) where it is Z_i - Z_j >= w, and the unit
        of both; None for integer noises.
        """
        means = [noise.mean.as_integer_ratio() for noise in event.noises]
        constants = [constraint.constant.as_integer_ratio() for constraint in event.constraints]
        whole = 1 if self.whole else lcm(*{d for _, d in means}, *{d for _, d in constants})
        rows: list[tuple[int, int, int] | None] = []
        for row, (p, q), constraint in zip(self.rows, constants, event.constraints, strict=True):
            if row is None:
                rows.append(None)
            elif self.whole:
                # The least integer w that is at least, or if strict above, the bound.
                i, j, factor = row
                whole_bound, rest = divmod(factor * p, q * self.unit.denominator)
                rows.append((i, j, whole_bound + (constraint.strict or rest > 0)))
            else:
                i, j, factor = row
                rows.append((i, j, factor * p * (whole // q)))
        if self.whole:
            scaled = tuple([f // self.unit.denominator * p for f, (p, _) in zip(self.mean_factors, means, strict=True)])
        else:
            scaled = tuple([f * p * (whole // q) for f, (p, q) in zip(self.mean_factors, means, strict=True)])
        return scaled, rows, None if self.whole else self.unit / whole


def event_shape(event: Event) -> EventShape:
    """The shape of an event; events that differ in means and constants only have the same one.

    Raises OutsideFragment for a constraint over three or more noises, for noises compared in two proportions, for
    integer noises compared in another one than 1 or -1, and for noise that is not all Laplace or all discrete Laplace.
    """
    whole_numbers = bool(event.noises) and event.noises[0].law.whole
    for noise in event.noises:
        if noise.law.whole is not whole_numbers or noise.law.sides(noise.rate) != SideRates(noise.rate, noise.rate):
            raise OutsideFragment("one event mixes Laplace and discrete Laplace noise")
    scales = _scales(event)
    if whole_numbers and any(abs(s) != 1 for s in scales):
        raise OutsideFragment("multiples of integer noises other than 1 and -1 are compared")
    rows: list[tuple[int, int, Fraction] | None] = []
    for constraint in event.constraints:
        match constraint.coefficients:
            case ():
                rows.append(None)
                continue
            case ((i, c),):
                slope, j = c / scales[i], ORIGIN
            case ((i, c), (j, d)):
                slope = c / scales[i]
                if d / scales[j] != -slope:
                    raise OutsideFragment(
                        "two noises are compared in two different proportions, which is not covered yet"
                    )
            case more:
                raise OutsideFragment(f"one constraint relates {len(more)} noises; only two are covered yet")
        # Up to the constant this is slope·(Z_i - Z_j).
        rows.append((i, j, -1 / slope) if slope > 0 else (j, i, 1 / slope))
    whole = lcm(*(s.denominator for s in scales), *(row[2].denominator for row in rows if row is not None))
    return EventShape(
        tuple(n.rate / abs(s) for n, s in zip(event.noises, scales, strict=True)),
        tuple(int(s * whole) for s in scales),
        tuple(None if row is None else (row[0], row[1], int(row[2] * whole)) for row in rows),
        Fraction(1, whole),
        whole_numbers,
    )


def _scales(event: Event) -> list[Fraction]:
    """Factors s_i such that in Z_i = s_i·X_i every constraint of a spanning forest is one on a difference."""
    links: list[list[tuple[int, Fraction]]] = [[] for _ in event.noises]
    for constraint in event.constraints:
        if len(constraint.coefficients) == 2:
            (i, c), (j, d) = constraint.coefficients
            links[i].append((j, -d / c))
            links[j].append((i, -c / d))
    scales: dict[int, Fraction] = {}
    for start in range(len(links)):
        if start in scales:
            continue
        scales[start] = Fraction(1)
        queue = deque([start])
        while queue:
            i = queue.popleft()
            for j, ratio in links[i]:
                if j not in scales:
                    scales[j] = scales[i] * ratio
                    queue.append(j)
    return [scales[i] for i in range(len(links))]


def neighbors(count: int, pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """For each of `count` noises, the noises that an inequality relates it to, in increasing order."""
    result: list[set[int]] = [set() for _ in range(count)]
    for i, j in pairs:
        if ORIGIN not in (i, j):
            result[i].add(j)
            result[j].add(i)
    return [sorted(n) for n in result]


def components(count: int, pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """The noises that share constraints, directly or not, in increasing order; a noise without any is left out."""
    pairs = list(pairs)
    adjacent = neighbors(count, pairs)
    bounded = {i for pair in pairs for i in pair if i != ORIGIN}
    seen: set[int] = set()
    result = []
    for start in sorted(bounded):
        if start in seen:
            continue
        seen.add(start)
        members = [start]
        for i in members:
            for j in adjacent[i]:
                if j not in seen:
                    seen.add(j)
                    members.append(j)
        result.append(sorted(members))
    return result


# --- Canonical forms of trees of difference constraints ---------------------------------------------------------------
#
# The measure of a tree does not change when all noises are translated together, when each is translated with the
# constraint that ties it to its parent, when all are reflected, or when children are listed in another order; and over
# the reals it only has eps rescaled when all lengths are stretched. So the 3^m rows of a table need few different
# integrals.

#: rate, mean, (has low, low), (has high, high) of the noise; the same two pairs for Z - Z_parent; number of children.
NodeKey = tuple[int, int, int, int, int, int, int, int, int, int, int]

#: Nodes in preorder.
TreeKey = tuple[NodeKey, ...]

_Pair = tuple[int, int]


class CanonicalTree(NamedTuple):
    """A rooted tree of noises in preorder with integer rates, means and bounds, the root's mean at 0; the noises are
    integers themselves if `whole`.

    Its measure as a function of eps, taken at `stretch`·eps, is that of the system it was made from.
    """

    nodes: TreeKey
    stretch: Fraction
    whole: bool


def slopes_of(tree: CanonicalTree) -> int:
    """How many exponents of X a product of all messages may have: each noise gives one or none, like rates add up."""
    return prod([1 + count for count in Counter(node[0] for node in tree.nodes[1:]).values()])


@frozen
class _Step:
    """One noise of a rooted tree: where its parent is among the steps (-1: it is the root), and which inequalities hold
    its bounds and its tie to the parent (None: there is none).
    """

    noise: int
    rate: int
    parent: int
    bound_low: _Pair | None
    bound_high: _Pair | None
    tie_low: _Pair | None
    tie_high: _Pair | None


@frozen
class _Rooting:
    """A choice of root and of reflection (sign -1); steps come after their parents."""

    sign: int
    steps: tuple[_Step, ...]


@frozen
class TreeShape:
    """A tree of difference constraints except for its lengths, with the rootings that can give the canonical form."""

    rate_unit: Fraction
    rootings: tuple[_Rooting, ...]

    def canonical(self, means: Sequence[int], lower: Inequalities, unit: Fraction | None) -> CanonicalTree:
        """The canonical form for these lengths, in multiples of `unit`; None: noises are integers. Isomorphic systems
        (see above) have equal `nodes`.
        """
        nodes, length = min([_canonical(rooting, means, lower, unit is None) for rooting in self.rootings])
        if unit is None:
            return CanonicalTree(nodes, self.rate_unit, True)
        return CanonicalTree(nodes, length * self.rate_unit * unit if length else Fraction(1), False)


def tree_shape(rates: Sequence[Fraction], members: Sequence[int], pairs: Iterable[_Pair]) -> TreeShape | None:
    """The shape of the connected noises `members` under inequalities on `pairs`, or None if these form a cycle."""
    related = frozenset(pairs)
    adjacent = neighbors(len(rates), related)
    if sum(len(adjacent[i]) for i in members) != 2 * (len(members) - 1):
        return None
    whole = lcm(*(rates[i].denominator for i in members))
    unit = Fraction(gcd(*(rates[i].numerator * (whole // rates[i].denominator) for i in members)), whole)
    whole_rates = {i: int(rates[i] / unit) for i in members}
    rootings = [
        _rooting(root, sign, whole_rates, adjacent, related) for root in _centers(members, adjacent) for sign in (1, -1)
    ]
    # Lengths cannot make up for a difference that is there without them.
    no_means, no_lengths = [0] * len(rates), dict.fromkeys(related, 0)
    bare = [_canonical(rooting, no_means, no_lengths, True)[0] for rooting in rootings]
    least = min(bare)
    return TreeShape(unit, tuple(r for r, nodes in zip(rootings, bare, strict=True) if nodes == least))


def _centers(members: Sequence[int], adjacent: Sequence[Sequence[int]]) -> list[int]:
    """The one or two middle nodes of the tree, by peeling leaves."""
    degree = {i: len(adjacent[i]) for i in members}
    left = len(members)
    layer = [i for i in members if degree[i] <= 1]
    while left > 2:
        left -= len(layer)
        following = []
        for i in layer:
            for j in adjacent[i]:
                degree[j] -= 1
                if degree[j] == 1:
                    following.append(j)
        layer = following
    return layer


def _rooting(
    root: int, sign: int, rates: dict[int, int], adjacent: Sequence[Sequence[int]], related: frozenset[_Pair]
) -> _Rooting:
    steps: list[_Step] = []
    order = [(root, ORIGIN, -1)]
    for noise, above, parent in order:
        position = len(steps)
        order.extend((j, noise, position) for j in adjacent[noise] if j != above)
        # Reflected, a lower inequality is an upper one.
        sides = [(noise, ORIGIN), (ORIGIN, noise)][::sign]
        ties = [(noise, above), (above, noise)][::sign] if above != ORIGIN else []
        present = [pair if pair in related else None for pair in (*sides, *ties)]
        present += [None] * (4 - len(present))
        steps.append(_Step(noise, rates[noise], parent, *present))
    return _Rooting(sign, tuple(steps))


def _canonical(rooting: _Rooting, means: Sequence[int], lower: Inequalities, whole: bool) -> tuple[TreeKey, int]:
    """The nodes of the canonical form, and the length that is its unit (0 if it has no lengths); 1 if `whole`."""
    sign = rooting.sign
    origins: list[int] = []
    rows: list[list[int]] = []
    lengths: list[int] = []
    for step in rooting.steps:
        row = [step.rate, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        mean = means[step.noise] * sign
        # The noise is measured from its origin, which lies from that of its parent as far as the tie says.
        if step.parent < 0:
            origin = mean
        else:
            origin = origins[step.parent]
            if step.tie_low is not None:
                row[6] = 1
                offset = lower[step.tie_low]
                origin += offset
                if step.tie_high is not None:
                    row[8], row[9] = 1, -lower[step.tie_high] - offset
            elif step.tie_high is not None:
                row[8] = 1
                origin -= lower[step.tie_high]
        origins.append(origin)
        row[1] = mean - origin
        if step.bound_low is not None:
            row[2], row[3] = 1, lower[step.bound_low] - origin
        if step.bound_high is not None:
            row[4], row[5] = 1, -lower[step.bound_high] - origin
        rows.append(row)
        lengths += (row[1], row[3], row[5], row[9])
    unit = 1 if whole else gcd(*lengths)
    children: list[list[TreeKey]] = [[] for _ in rows]
    tree: TreeKey = ()
    for position in range(len(rows) - 1, -1, -1):
        row, below = rows[position], children[position]
        if unit > 1:
            for column in (1, 3, 5, 9):
                row[column] //= unit
        row[10] = len(below)
        tree = (tuple(row),)  # type: ignore[assignment]
        if below:
            below.sort()
            for child in below:
                tree += child
        if position:
            children[rooting.steps[position].parent].append(tree)
    return tree, unit


# --- Partial orders of noises with one law: linear extensions, counted by order ideals --------------------------------
#
# The n! orders of independent, identically distributed continuous noises are equally likely and ties have measure 0. So
# the probability that comparisons Z_i >= Z_j hold is the share of orders that extend them. An extension places the
# noises from the least upwards; what is placed at any time is an order ideal (with a noise, it holds all below), so the
# number of extensions is that of paths from the empty ideal to the full one. A grid of 4 by 4 has 70 ideals and 24 024
# extensions; 6 by 6 has 924 ideals.


def order_measure(system: DifferenceSystem, most: int) -> Fraction | None:
    """The measure of a system that only compares real noises of one law, which all occur in it, exactly.

    None for other systems, and where more than `most` order ideals would be looked at.
    """
    if system.is_integer or len(set(system.rates)) > 1 or len(set(system.means)) > 1:
        return None
    if any(ORIGIN in pair or w for pair, w in system.lower.items()):
        return None
    size = len(system.rates)
    below = [0] * size
    for i, j in system.lower:
        below[i] |= 1 << j
    # Ideals of this many noises, as bit sets, and the orders in which each can be filled.
    ideals, seen = {0: 1}, 1
    for _ in range(size):
        larger: dict[int, int] = {}
        for ideal, orders in ideals.items():
            for i, needed in enumerate(below):
                if not ideal >> i & 1 and needed & ideal == needed:
                    larger[ideal | 1 << i] = larger.get(ideal | 1 << i, 0) + orders
        ideals = larger
        seen += len(ideals)
        if seen > most:
            return None
    # Where two noises are each above the other there is no order.
    return Fraction(ideals.get((1 << size) - 1, 0), factorial(size))


# --- The measure of a tree of difference constraints by message passing from the leaves -------------------------------
#
# The message of a noise to its parent is, as a function of the parent's value, the measure of everything below it: one
# integral, or one sum over integers, of a one-variable piecewise function. The cost is polynomial in the number of
# noises wherever the closed form itself is.

#: Functions on the reals, on the integers, on the reals near one eps, or the sizes of those on the reals.
_Function = TypeVar("_Function", Piecewise, "lattice.LatticePiecewise", "power_series.SeriesPiecewise", SizedPiecewise)

#: A density with this rate and mean.
_Laplace = Callable[[int, int], _Function]


def tree_measure(tree: CanonicalTree, limit: Limits) -> Closed:
    """Pr[all constraints of a canonical tree hold], exactly, as a function of the tree's own eps (before `stretch`).

    Raises LimitReached when the closed form has too many terms or takes too many steps.
    """
    meter = Meter(limit)
    if tree.whole:
        return _product(_at_root(tree.nodes, lattice.LatticePiecewise.laplace, meter), meter).integral(meter)
    return integral_of_product(_at_root(tree.nodes, Piecewise.laplace, meter), meter)


def tree_series(tree: CanonicalTree, ring: power_series.SeriesRing, limit: Limits) -> flint.arb_series:
    """The Taylor series of the same at the center of the ring, as long and as precise as FLINT is set to: each
    coefficient is enclosed. Raises LimitReached where one integrand has too many terms.
    """
    assert not tree.whole, "integers have no series here"
    meter = Meter(limit)
    return power_series.integral_of_series(_at_root(tree.nodes, ring.laplace, meter), meter)


def watch_size(tree: CanonicalTree, limit: Limits) -> None:
    """Raises LimitReached where `tree_measure` is expected to go through more terms than there may be steps, at a small
    part of what they take.
    """
    meter = Meter(limit)
    if tree.whole:
        meter.spend(_STEPS_OF_ONE * terms_of_integers(tree))
    elif len(tree.nodes) > _FEW_NOISES:
        watch_product_of(_at_root(tree.nodes, SizedPiecewise.laplace, meter), meter)


#: For how many steps one coefficient of a denominator counts.
_STEPS_OF_ONE = 50

#: So many noises take few steps (less than 50 000 in 1 500 random trees): to estimate these takes as long as they do.
_FEW_NOISES = 6


def terms_of_integers(tree: CanonicalTree) -> int:
    """About how many coefficients the denominators of a tree over integers have together: those of each exponent have
    the degree of all rates in e^eps.
    """
    return slopes_of(tree) * sum([node[0] for node in tree.nodes])


def _at_root(nodes: TreeKey, laplace: _Laplace[_Function], meter: Meter) -> list[tuple[_Function, int]]:
    """The density of the root on its bounds, and all messages, to powers."""
    sizes = _subtree_sizes(nodes)
    messages: dict[TreeKey, _Function] = {}
    for position in range(len(nodes) - 1, 0, -1):
        subtree = nodes[position : position + sizes[position]]
        if subtree not in messages:
            has_low, low, has_high, high = nodes[position][6:10]
            weight = _product(_factors(nodes, sizes, position, messages, laplace), meter)
            # P -> the measure of all Z with Z - P in the range that ties Z to its parent.
            messages[subtree] = weight.window_integral(low if has_low else None, high if has_high else None, meter)
    return _factors(nodes, sizes, 0, messages, laplace)


def _subtree_sizes(nodes: TreeKey) -> list[int]:
    """For each node in preorder, the number of nodes of its subtree."""
    sizes = [1] * len(nodes)
    for position in range(len(nodes) - 1, -1, -1):
        child = position + 1
        for _ in range(nodes[position][-1]):
            sizes[position] += sizes[child]
            child += sizes[child]
    return sizes


def _factors(
    nodes: TreeKey,
    sizes: list[int],
    position: int,
    messages: dict[TreeKey, _Function],
    laplace: _Laplace[_Function],
) -> list[tuple[_Function, int]]:
    """The density of a noise on its bounds and the messages of its children, equal ones as one power."""
    rate, mean, has_low, low, has_high, high = nodes[position][:6]
    own = laplace(rate, mean).restricted(low if has_low else None, high if has_high else None)
    counts: dict[TreeKey, int] = {}
    child = position + 1
    for _ in range(nodes[position][-1]):
        subtree = nodes[child : child + sizes[child]]
        counts[subtree] = counts.get(subtree, 0) + 1
        child += sizes[child]
    result = [(own, 1)]
    result += [(messages[subtree], count) for subtree, count in counts.items()]
    return result


def _product(factors: list[tuple[_Function, int]], meter: Meter) -> _Function:
    total: _Function | None = None
    for factor, count in factors:
        power = factor.to_power(count, meter)
        total = power if total is None else total.times(power, meter)
    assert total is not None, "there are factors"
    return total


# --- Difference constraints with cycles: eliminate noises from the cycles until only trees remain ---------------------
#
# A noise Z on a cycle lies between lower bounds Z_j + w and upper bounds Z_i - w. In turn each lower bound is the
# greatest and each upper bound the least, l and u say: up to a null set the cases are disjoint. In a case the other
# bounds are implied by constraints that do not mention Z, and [l <= Z <= u] = [l <= u]·([Z <= u] - [Z <= l]). So Z is
# left hanging from one other noise, off the cycle, and measures add up with signs. Among integers, where ties have
# mass, the first of equal bounds is the one, and Z <= l is Z < l.


def reduced(system: DifferenceSystem) -> DifferenceSystem | None:
    """The system without implied inequalities (it may fall apart), or None if its measure is 0. Cubic in the noises."""
    nodes = range(ORIGIN, len(system.rates))
    longest = dict(system.lower)
    for k in nodes:
        into = [(i, longest[i, k]) for i in nodes if (i, k) in longest]
        out = [(j, longest[k, j]) for j in nodes if (k, j) in longest]
        for i, first in into:
            for j, second in out:
                known = longest.get((i, j))
                if known is None or known < first + second:
                    longest[i, j] = first + second
        # A closed walk of length w says 0 >= w: for w > 0 this is impossible, for w = 0 it fixes a difference.
        if any(not system.leaves_room(longest.get((i, i), -1)) for i in nodes):
            return None
    if any(longest.get((i, i), -1) == 0 for i in nodes):
        # Integers with fixed differences: inequalities may imply each other.
        return system
    # All closed walks are negative. So a longest path with as many steps as possible repeats no noise and none of its
    # steps can be replaced by two: what is removed is implied by what stays, and the order of removal does not matter.
    kept = {
        (i, j): w
        for (i, j), w in system.lower.items()
        if longest[i, j] == w
        and not any(
            longest[i, k] + longest[k, j] >= w
            for k in nodes
            if k not in (i, j) and (i, k) in longest and (k, j) in longest
        )
    }
    return replace(system, lower=kept)


def split(system: DifferenceSystem) -> list[tuple[int, DifferenceSystem]]:
    """Systems with signs ±1 whose signed measures add up to that of a reduced, connected system with a cycle.

    Each has one noise less on its cycles, so that splitting ends. Empty if the measure is 0.
    """
    noise, above, below = _cheapest(system)
    lower = system.lower
    systems = []
    least: list[int | None] = [*above] or [None]
    greatest: list[int | None] = [*below] or [None]
    for u, l in product(least, greatest):
        case = {
            pair: w
            for pair, w in lower.items()
            if not (pair[1] == noise and pair[0] in above) and not (pair[0] == noise and pair[1] in below)
        }
        if u is not None:
            for position, i in enumerate(above):
                # The upper bound of u is at most that of i.
                tie = system.is_integer and position < above.index(u)
                _add(case, i, u, lower[i, noise] - lower[u, noise] + tie)
        if l is not None:
            for position, j in enumerate(below):
                # The lower bound of l is at least that of j.
                tie = system.is_integer and position < below.index(l)
                _add(case, l, j, lower[noise, j] - lower[noise, l] + tie)
        if u is None or l is None or u == l:
            _hang(case, lower, noise, u, l)
            systems.append((1, case))
            continue
        _add(case, u, l, lower[u, noise] + lower[noise, l])
        under_u, under_l = dict(case), dict(case)
        under_u[u, noise] = lower[u, noise]
        under_l[l, noise] = -lower[noise, l] + system.is_integer
        systems += [(1, under_u), (-1, under_l)]
    signed = [(sign, reduced(replace(system, lower=case))) for sign, case in systems]
    return [(sign, system) for sign, system in signed if system is not None]


def _hang(case: Inequalities, lower: Inequalities, noise: int, u: int | None, l: int | None) -> None:
    """Keep the inequalities of `noise` with u above and l below it."""
    if u is not None:
        case[u, noise] = lower[u, noise]
    if l is not None:
        case[noise, l] = lower[noise, l]


def _add(case: Inequalities, i: int, j: int, w: int) -> None:
    """Require Z_i - Z_j >= w besides."""
    if i != j:
        case[i, j] = max(case.get((i, j), w), w)


def _cheapest(system: DifferenceSystem) -> tuple[int, list[int], list[int]]:
    """The noise on a cycle that splits into the fewest systems, with the noises above and below it to which it is tied
    on that cycle.
    """
    adjacent = neighbors(len(system.rates), system.lower)
    best: tuple[int, int, list[int], list[int]] | None = None
    for noise in range(len(system.rates)):
        for group in _reunited(noise, adjacent):
            above = [i for i in group if (i, noise) in system.lower]
            below = [j for j in group if (noise, j) in system.lower]
            cost = 2 * len(above) * len(below) or len(above) + len(below)
            if best is None or cost < best[0]:
                best = (cost, noise, above, below)
    assert best is not None, "a connected system that is no tree has a cycle"
    return best[1:]


def _reunited(noise: int, adjacent: list[list[int]]) -> list[list[int]]:
    """The groups of two or more neighbors of a noise that are connected without it: it lies on cycles with those."""
    without = [(i, j) for i, row in enumerate(adjacent) for j in row if noise not in (i, j)]
    groups = []
    for members in components(len(adjacent), without):
        group = [i for i in adjacent[noise] if i in members]
        if len(group) > 1:
            groups.append(group)
    return groups
