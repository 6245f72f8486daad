"""Measure difference constraints over Laplace noises: trees by message passing, cycles by splitting the system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import factorial, gcd, lcm, prod
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import flint

from dipc.algebra.exppoly import Closed
from dipc.algebra.graph import parents_from, spanning_forest
from dipc.algebra.limits import Limits, Meter, OutsideFragment
from dipc.frozen import LazyModule, frozen
from dipc.measure.event import Event
from dipc.measure.pieces import Piece, Piecewise, SizedPiece, integral_of_product, watch_product_of
from dipc.noise.law import SideRates

if TYPE_CHECKING:
    from dipc.measure import lattice, power_series
else:
    lattice = LazyModule("dipc.measure.lattice")
    power_series = LazyModule("dipc.measure.power_series")

# --- Difference -------------------------------------------------------------------------------------------------------
#
# A difference system consists of constraints Z_i - Z_j >= w and of bounds on single Z_i. The noises Z are independent
# Laplace noises, all real or all integer.
#
# Constraints with at most two noises each become a difference system by rescaling the noises, unless two noises are
# compared in two proportions. (A noise of rate a and mean m, times s, is a noise of rate a/|s| and mean s·m.) An
# `EventShape` holds the part that does not depend on means and constants; the rows of a table share one shape. Lengths
# are integers from here on. Integer noises are negated but never rescaled; between them Z_i - Z_j > w is
# Z_i - Z_j >= w' for the next integer w'.

#: The index that stands for the constant 0 in the inequalities of a system.
ORIGIN = -1

#: The item (i, j): w means Z_i - Z_j >= w, where Z of ORIGIN is 0.
Inequalities = dict[tuple[int, int], int]


@frozen
class DifferenceSystem:
    """A conjunction of lower bounds on differences of independent noises Z_0, Z_1, ….

    All noises are Laplace, or all are discrete Laplace. Z_i has the rate `rates[i]`·eps and the mean `means[i]`·`unit`.
    An item (i, j): w of `lower` means Z_i - Z_j >= w·`unit`, where Z_ORIGIN is the constant 0. For integer noises
    `unit` is None, and lengths are multiples of 1.
    """

    rates: tuple[Fraction, ...]
    means: tuple[int, ...]
    lower: Inequalities
    unit: Fraction | None

    @property
    def is_integer(self) -> bool:
        """True if the noises take integer values."""
        return self.unit is None

    def leaves_room(self, closed_walk: int) -> bool:
        """True if inequalities around a cycle, which add up to 0 >= `closed_walk`, can hold with positive probability.

        For example, Z_0 - Z_1 >= 2 and Z_1 - Z_0 >= -3 add up to 0 >= -1. Real noises need `closed_walk` < 0. For
        integer noises `closed_walk` = 0 suffices, since a fixed difference of two integer noises has positive
        probability.
        """
        return closed_walk < self.is_integer


@frozen
class EventShape:
    """An event without the means of its noises and the constants of its constraints.

    Many events, such as those for the lines of a table, have the same shape. The noise X_i of the event is multiplied
    by a factor, so that constraints bound differences of the products Z_i. The rate of Z_i is `rates[i]`·eps, and its
    mean is `mean_factors[i]`·`unit` times the mean of X_i. `rows` has an item for each constraint. If c is the constant
    of the constraint, (i, j, f) means Z_i - Z_j >= f·c·`unit`; None marks a constraint without noises. `whole` says
    whether the noises are integers.
    """

    rates: tuple[Fraction, ...]
    mean_factors: tuple[int, ...]
    rows: tuple[tuple[int, int, int] | None, ...]
    unit: Fraction
    whole: bool

    def system(self, event: Event) -> DifferenceSystem | None:
        """Return the difference system whose probability is that of `event`, which must have this shape.

        None means that the probability is 0: a constraint without noises fails, or two bounds contradict each other.
        """
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
        for (i, j), w in lower.items():
            if (j, i) in lower and not system.leaves_room(w + lower[j, i]):
                return None
        return system

    def lengths(self, event: Event) -> tuple[tuple[int, ...], Sequence[tuple[int, int, int] | None], Fraction | None]:
        """Return (means, rows, unit): the means and bounds of `event`, which must have this shape, as integers.

        The mean of Z_i is means[i]·unit. An item (i, j, w) of rows means that the constraint with this index is Z_i -
        Z_j >= w·unit; None marks a constraint without noises. For integer noises unit is None, and lengths are
        multiples of 1.
        """
        means = [noise.mean.as_integer_ratio() for noise in event.noises]
        constants = [constraint.constant.as_integer_ratio() for constraint in event.constraints]
        whole = 1 if self.whole else lcm(*{d for _, d in means}, *{d for _, d in constants})
        rows: list[tuple[int, int, int] | None] = []
        for row, (p, q), constraint in zip(self.rows, constants, event.constraints, strict=True):
            if row is None:
                rows.append(None)
            elif self.whole:
                # The least integer w >= bound, or w > bound where the constraint is strict.
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
    """Return the shape of `event`: what is left of the event without its means and constants.

    Raises OutsideFragment in four cases:

    * a constraint relates three or more noises;
    * two noises are compared in two different proportions;
    * integer noises are compared in a proportion other than 1 or -1;
    * some noise is neither Laplace nor discrete Laplace, or both kinds occur.
    """
    whole_numbers = bool(event.noises) and event.noises[0].law.whole
    for noise in event.noises:
        if noise.law.whole is not whole_numbers or noise.law.sides(noise.rate) != SideRates(noise.rate, noise.rate):
            raise OutsideFragment("one event mixes Laplace and discrete Laplace noise")
    scales = _scales(event)
    if whole_numbers and any(abs(s) != 1 for s in scales):
        raise OutsideFragment("a comparison multiplies an integer noise by a number other than 1 or -1")
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
                        "two noises are compared with different ratios of coefficients, which is not covered yet"
                    )
            case more:
                raise OutsideFragment(f"one constraint relates {len(more)} noises; only two are covered so far")
        # Up to its constant the constraint is slope·(Z_i - Z_j) >= 0.
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
    """Return a factor s_i for each noise X_i of `event`, so that constraints bound differences of the s_i·X_i.

    For example, the constraint 2·X_0 - 3·X_1 >= c gives the factors 1 and 3/2. If constraints form a cycle, some of
    them may not bound a difference.
    """
    ratios: dict[tuple[int, int], Fraction] = {}
    for constraint in event.constraints:
        if len(constraint.coefficients) == 2:
            (i, c), (j, d) = constraint.coefficients
            ratios[i, j], ratios[j, i] = -d / c, -c / d
    return scales(spanning_forest(range(len(event.noises)), neighbors(len(event.noises), ratios)), ratios)


def scales(parents: Mapping[int, int | None], ratios: Mapping[tuple[int, int], Fraction]) -> list[Fraction]:
    """Return a factor s_i for each node i of a forest, so that s_j = s_i·`ratios`[i, j] where i is the parent of j.

    `parents` has the parents of the nodes 0, 1, …, each before its children; the factor of a root, with the parent
    None, is 1.
    """
    result: dict[int, Fraction] = {}
    for node, parent in parents.items():
        result[node] = Fraction(1) if parent is None else result[parent] * ratios[parent, node]
    return [result[i] for i in range(len(result))]


def neighbors(count: int, pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return, for each of the noises 0 to `count` - 1, the sorted noises that share a pair of `pairs` with it."""
    result: list[set[int]] = [set() for _ in range(count)]
    for i, j in pairs:
        if ORIGIN not in (i, j):
            result[i].add(j)
            result[j].add(i)
    return [sorted(n) for n in result]


def components(count: int, pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the connected components of the graph with the nodes 0 to `count` - 1 and the edges `pairs`, each sorted.

    A pair that contains ORIGIN bounds a single noise and connects nothing. A noise that is in no pair is left out.
    """
    pairs = list(pairs)
    adjacent = neighbors(count, pairs)
    bounded = {i for pair in pairs for i in pair if i != ORIGIN}
    seen: set[int] = set()
    result = []
    for start in sorted(bounded):
        if start in seen:
            continue
        members = parents_from(start, adjacent)
        seen.update(members)
        result.append(sorted(members))
    return result


# --- Canonical forms of trees of difference constraints ---------------------------------------------------------------
#
# The measure of a tree of noises does not change when
#
#   * all noises are translated together,
#   * a noise is translated together with the constraint that ties it to its parent,
#   * all noises are reflected, or
#   * children are listed in another order.
#
# Over the reals, stretching all lengths only rescales eps. So the 3^m rows of a table need few different integrals.

#: Rate, mean, (has low, low) and (has high, high) of a noise Z; both pairs for Z - Z_parent; the number of children.
NodeKey = tuple[int, int, int, int, int, int, int, int, int, int, int]

#: Nodes in preorder.
TreeKey = tuple[NodeKey, ...]

_Pair = tuple[int, int]


class CanonicalTree(NamedTuple):
    """A rooted tree of Laplace noises with bounds, in a normal form.

    Trees that differ only by order, translation, reflection or, for real noises, scale have equal `nodes`. `nodes` has
    a tuple of integers for each noise, parents first. The tuple has the rate and the mean, then the bounds of the noise
    and of its difference from its parent, then the number of children. Each bound comes after a 1 if it exists, else
    after a 0. The root has mean 0. The probability of the tree at eps is that of `nodes` at `stretch`·eps, because
    scaling all lengths rescales eps. `whole` says whether the noises take integer values.
    """

    nodes: TreeKey
    stretch: Fraction
    whole: bool


def slopes_of(tree: CanonicalTree) -> int:
    """Return an upper bound of the number of different exponentials e^{l·X} in the integrand over the root X of `tree`.

    The exponent l of a term is a sum of rates of some of the other noises, and equal sums are counted once.
    """
    return prod([1 + count for count in Counter(node[0] for node in tree.nodes[1:]).values()])


@frozen
class _TreeStep:
    """A `noise` of a rooted tree, by its index, with the bounds on it and on its difference from its parent.

    `rate` is its rate as an integer multiple of `TreeShape.rate_unit`. `parent` is the position of the parent in the
    list of steps, -1 for the root. The other fields are pairs (i, j) under which a `DifferenceSystem` has a bound of
    the noise i minus the noise j, or None if no such bound exists. `bound_low` and `bound_high` bound the noise,
    `tie_low` and `tie_high` its difference from its parent.
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
    """A tree of noises with one of them chosen as the root: the noises as `steps`, each parent before its children.

    If `sign` is -1, every noise is replaced by its negative.
    """

    sign: int
    steps: tuple[_TreeStep, ...]


@frozen
class TreeShape:
    """A tree of noises whose differences are bounded, without the means of the noises and the numbers in the bounds.

    Rates are integer multiples of `rate_unit`. Each of `rootings` chooses a root and a sign of the noises, and so
    writes the tree as a list of nodes. The normal form of the tree is the least of these lists.
    """

    rate_unit: Fraction
    rootings: tuple[_Rooting, ...]

    def canonical(self, means: Sequence[int], lower: Inequalities, unit: Fraction | None) -> CanonicalTree:
        """Return the normal form of this tree for the given `means` and bounds `lower`, both in multiples of `unit`.

        The form does not depend on the order of the noises, on a common translation or on a reflection. For integer
        noises `unit` is None, and lengths are multiples of 1.
        """
        nodes, length = min([_canonical(rooting, means, lower, unit is None) for rooting in self.rootings])
        if unit is None:
            return CanonicalTree(nodes, self.rate_unit, True)
        return CanonicalTree(nodes, length * self.rate_unit * unit if length else Fraction(1), False)


def tree_shape(rates: Sequence[Fraction], members: Sequence[int], pairs: Iterable[_Pair]) -> TreeShape | None:
    """Return the shape of the tree that the noises `members` form, or None if their inequalities contain a cycle.

    `pairs` has a pair (i, j) for each inequality on the noise i minus the noise j, and connects all `members`. `rates`
    has the rate of each noise by its index.
    """
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
    # Nodes are compared by structure before lengths, so only the least rootings without lengths can be least with them.
    no_means, no_lengths = [0] * len(rates), dict.fromkeys(related, 0)
    bare = [_canonical(rooting, no_means, no_lengths, True)[0] for rooting in rootings]
    least = min(bare)
    return TreeShape(unit, tuple(r for r, nodes in zip(rootings, bare, strict=True) if nodes == least))


def _centers(members: Sequence[int], adjacent: Sequence[Sequence[int]]) -> list[int]:
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
    steps: list[_TreeStep] = []
    order = [(root, ORIGIN, -1)]
    for noise, above, parent in order:
        position = len(steps)
        order.extend((j, noise, position) for j in adjacent[noise] if j != above)
        # Reflected, a lower inequality is an upper one.
        sides = [(noise, ORIGIN), (ORIGIN, noise)][::sign]
        ties = [(noise, above), (above, noise)][::sign] if above != ORIGIN else []
        present = [pair if pair in related else None for pair in (*sides, *ties)]
        present += [None] * (4 - len(present))
        steps.append(_TreeStep(noise, rates[noise], parent, *present))
    return _Rooting(sign, tuple(steps))


def _canonical(rooting: _Rooting, means: Sequence[int], lower: Inequalities, whole: bool) -> tuple[TreeKey, int]:
    """Return the nodes of the tree under `rooting`, with means and bounds divided by an integer, and this integer.

    `means` has the mean of each noise. `lower` has the lower bounds of noises and of their differences, under the pairs
    (i, j) that the steps of `rooting` name.

    The mean and the bounds of a noise are stored minus its origin. The origin of the root is its mean; that of a child
    is its parent's, plus a bound of their difference. So adding a number to all noises changes no node.

    If `whole`, the noises are integers, and the returned integer is 1. Otherwise it is the greatest common divisor of
    all means and bounds in the nodes, and 0 if all of them are 0.
    """
    sign = rooting.sign
    origins: list[int] = []
    rows: list[list[int]] = []
    lengths: list[int] = []
    for step in rooting.steps:
        row = [step.rate, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        mean = means[step.noise] * sign
        # Lengths at a noise count from its origin: the origin of its parent plus a bound of the tie between them.
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
# The n! orders of independent, identically distributed continuous noises are equally likely, and ties have measure 0.
# So the probability that comparisons Z_i >= Z_j hold is the fraction of orders that extend them. An extension places
# the noises from the least upwards. The noises placed at any time form an order ideal: a set that contains, with each
# noise, all noises below it. So the number of extensions is the number of paths from the empty ideal to the full one. A
# grid of 4 by 4 has 70 ideals and 24 024 extensions; 6 by 6 has 924 ideals.


def order_measure(system: DifferenceSystem, most: int) -> Fraction | None:
    """Return the exact probability of a `system` that only compares identically distributed real noises, Z_i >= Z_j.

    Return None if `system` has integer noises, different rates or means, bounds on single noises, or a bound other than
    0. Return None also if counting the orders of the noises would pass through more than `most` sets of noises.
    """
    if system.is_integer or len(set(system.rates)) > 1 or len(set(system.means)) > 1:
        return None
    if any(ORIGIN in pair or w for pair, w in system.lower.items()):
        return None
    size = len(system.rates)
    below = [0] * size
    for i, j in system.lower:
        below[i] |= 1 << j
    # The order ideals of one size, as bit sets, each with the number of orders in which it can be filled.
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
    # If comparisons go around a cycle, no path reaches the full ideal.
    return Fraction(ideals.get((1 << size) - 1, 0), factorial(size))


# --- The measure of a tree of difference constraints by message passing from the leaves -------------------------------
#
# The message of a noise to its parent maps the parent's value to the measure of the noise's whole subtree. It is one
# integral, or one sum over integers, of a piecewise function of one variable. The cost is polynomial in the number of
# noises wherever the size of the closed form is.

#: Functions on the reals, on the integers, on the reals near one eps, or the estimated sizes of functions on the reals.
_Function = TypeVar(
    "_Function",
    "Piecewise[Piece]",
    "lattice.LatticePiecewise",
    "Piecewise[power_series.SeriesPiece]",
    "Piecewise[SizedPiece]",
)

#: The density of Laplace noise, from its rate and its mean.
_Laplace = Callable[[int, int], _Function]


def tree_measure(tree: CanonicalTree, limit: Limits) -> Closed:
    """Return the exact probability, as a function of eps, that all constraints of the `nodes` of `tree` hold.

    The field `stretch` is not used: the probability of the tree itself at eps is the value of the result at
    stretch·eps. Raises LimitReached if the closed form would have more terms or take more steps than `limit` allows.
    """
    meter = Meter(limit)
    if tree.whole:
        return _product(_at_root(tree.nodes, lattice.LatticePiecewise.laplace, meter), meter).integral(meter)
    return integral_of_product(_at_root(tree.nodes, Piecewise.laplace, meter), meter)


def tree_series(tree: CanonicalTree, ring: power_series.SeriesRing, limit: Limits) -> flint.arb_series:
    """Return the Taylor series of the function `tree_measure` of `tree`, at the center of `ring`.

    The noises of `tree` must be real. Each coefficient is an enclosure; their number and precision are those that FLINT
    is set to. Raises LimitReached if one integrand has more terms than `limit` allows.
    """
    assert not tree.whole, "integers have no series here"
    meter = Meter(limit)
    return power_series.integral_of_series(_at_root(tree.nodes, ring.laplace, meter), meter)


def watch_size(tree: CanonicalTree, limit: Limits) -> None:
    """Raise LimitReached if `tree_measure` of `tree` is expected to take more steps than `limit` allows.

    The estimate takes a small part of the time of `tree_measure`.
    """
    meter = Meter(limit)
    if tree.whole:
        meter.spend(_STEPS_OF_ONE * terms_of_integers(tree))
    elif len(tree.nodes) > _FEW_NOISES:
        watch_product_of(_at_root(tree.nodes, SizedPiece.laplace, meter), meter)


#: The steps that one coefficient of a denominator counts for.
_STEPS_OF_ONE = 50

#: Trees of at most this many noises are not estimated: they took less than 50 000 steps in each of 1 500 random trees,
#: and an estimate takes as long as the steps do.
_FEW_NOISES = 6


def terms_of_integers(tree: CanonicalTree) -> int:
    """Return an estimate of the number of coefficients in all denominators of the probability of a `tree` of integers.

    The probability is a sum of fractions, one for each exponential in the integrand over the root. As a polynomial in
    e^eps, each denominator has at most the sum of all rates as its degree.
    """
    return slopes_of(tree) * sum([node[0] for node in tree.nodes])


def _at_root(nodes: TreeKey, laplace: _Laplace[_Function], meter: Meter) -> list[tuple[_Function, int]]:
    """Return (function, power) for each factor function^power of the integrand over the noise at the root of `nodes`.

    `nodes` is a tree. `laplace` is a function from the rate and mean of a noise to its density. `meter` counts the
    work, and raises LimitReached.
    """
    sizes = _subtree_sizes(nodes)
    messages: dict[TreeKey, _Function] = {}
    for position in range(len(nodes) - 1, 0, -1):
        subtree = nodes[position : position + sizes[position]]
        if subtree not in messages:
            has_low, low, has_high, high = nodes[position][6:10]
            weight = _product(_factors(nodes, sizes, position, messages, laplace), meter)
            # The function P -> measure of all Z with Z - P in the range that ties Z to its parent.
            messages[subtree] = weight.window_integral(low if has_low else None, high if has_high else None, meter)
    return _factors(nodes, sizes, 0, messages, laplace)


def _subtree_sizes(nodes: TreeKey) -> list[int]:
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
    """Return (function, power) for each factor function^power of the integrand over one noise of the tree `nodes`.

    The noise is at `position` in the list `nodes`. The factors are its density within its bounds, and the messages of
    its children. A message is the probability of a child's subtree as a function of this noise, and `messages` maps the
    nodes of each subtree to its message. `sizes` has the number of nodes of each subtree, and `laplace` makes a density
    from a rate and a mean.
    """
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
    return product_of([factor.to_power(count, meter) for factor, count in factors], meter)


def product_of(factors: Sequence[_Function], meter: Meter) -> _Function:
    """Return the product of `factors`, at least one, in their order; `meter` raises LimitReached."""
    total: _Function = factors[0]
    for factor in factors[1:]:
        total = total.times(factor, meter)
    return total


# --- Difference constraints with cycles: eliminate noises from the cycles until only trees remain ---------------------
#
# A noise Z on a cycle lies between lower bounds Z_j + w and upper bounds Z_i - w. There is one case for each choice of
# the greatest lower bound l and the least upper bound u; up to a null set the cases are disjoint. In each case,
# constraints that do not mention Z imply the other bounds, and [l <= Z <= u] = [l <= u]·([Z <= u] - [Z <= l]). So Z
# hangs from one other noise, off the cycle, and the measures add up with signs. Among integers, ties have positive
# probability: the first of equal bounds is chosen, and Z < l replaces Z <= l.


def reduced(system: DifferenceSystem) -> DifferenceSystem | None:
    """Return `system` without inequalities that others imply, or None if the probability of `system` is 0.

    The remaining inequalities may connect fewer noises. The cost is cubic in the number of noises.
    """
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
        # A closed walk of length w means 0 >= w: this is impossible for w > 0, and fixes a difference for w = 0.
        if any(not system.leaves_room(longest.get((i, i), -1)) for i in nodes):
            return None
    if any(longest.get((i, i), -1) == 0 for i in nodes):
        # Integers with fixed differences: inequalities may imply each other.
        return system
    # All closed walks are negative. So a longest path with as many steps as possible repeats no noise, and none of its
    # steps can be replaced by two. Hence the remaining inequalities imply the removed ones, in any order of removal.
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
    """Return pairs (sign, system') such that the probability of `system` is the sum of sign·(probability of system').

    `system` must be reduced and connected, and have a cycle. In each system', one noise of a cycle is compared with a
    single other noise, so repeated splitting ends. An empty list means probability 0.
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
                # The upper bound from u is at most the upper bound from i.
                tie = system.is_integer and position < above.index(u)
                _add(case, i, u, lower[i, noise] - lower[u, noise] + tie)
        if l is not None:
            for position, j in enumerate(below):
                # The lower bound from l is at least the lower bound from j.
                tie = system.is_integer and position < below.index(l)
                _add(case, l, j, lower[noise, j] - lower[noise, l] + tie)
        if u is None or l is None or u == l:
            _tie_between(case, lower, noise, u, l)
            systems.append((1, case))
            continue
        _add(case, u, l, lower[u, noise] + lower[noise, l])
        under_u, under_l = dict(case), dict(case)
        under_u[u, noise] = lower[u, noise]
        under_l[l, noise] = -lower[noise, l] + system.is_integer
        systems += [(1, under_u), (-1, under_l)]
    signed = [(sign, reduced(replace(system, lower=case))) for sign, case in systems]
    return [(sign, system) for sign, system in signed if system is not None]


def _tie_between(case: Inequalities, lower: Inequalities, noise: int, u: int | None, l: int | None) -> None:
    """Copy the bounds of two differences, `u` - `noise` and `noise` - `l`, from `lower` to `case`.

    An entry (i, j) of `lower` and `case` is a lower bound of the noise i minus the noise j. The entry of (`u`, `noise`)
    bounds `noise` from above, that of (`noise`, `l`) from below. If `u` or `l` is None, its entry is not copied.
    """
    if u is not None:
        case[u, noise] = lower[u, noise]
    if l is not None:
        case[noise, l] = lower[noise, l]


def _add(case: Inequalities, i: int, j: int, w: int) -> None:
    if i != j:
        case[i, j] = max(case.get((i, j), w), w)


def _cheapest(system: DifferenceSystem) -> tuple[int, list[int], list[int]]:
    """Return (noise, above, below): the noise that `split` removes from a cycle of `system`, and the noises around it.

    above has the noises on the cycle that bound the removed noise from above, and below those that bound it from below.
    The noise is chosen so that `split` makes the fewest systems.
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
    assert best is not None, "a connected system that is not a tree has a cycle"
    return best[1:]


def _reunited(noise: int, adjacent: list[list[int]]) -> list[list[int]]:
    """Return each group of at least two neighbors of `noise` that are connected by paths not through `noise`.

    `adjacent` has the neighbors of each noise. Any two neighbors in one group are on a common cycle through `noise`.
    """
    without = [(i, j) for i, row in enumerate(adjacent) for j in row if noise not in (i, j)]
    groups = []
    for members in components(len(adjacent), without):
        group = [i for i in adjacent[noise] if i in members]
        if len(group) > 1:
            groups.append(group)
    return groups
