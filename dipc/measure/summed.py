"""Enclose probabilities of events over discrete Gaussian noises, by sums over integers with bounded remainders.

The mass at an integer k is e^{-q·k²}/Θ(q) with Θ(q) = Σ e^{-q·k²} and q = eps²·rate²/(2·κ²). The factor eps² is missing
if the deviation does not depend on eps. Noises that matter only through one sum of multiples are one value, whose
masses are convolved. An event is a forest: values within bounds, and pairs of values with half-spaces a·k + b·l + d >=
0.

From the leaves to the root each value passes a message to the next value. For every outcome of the next value, the
message is the sum of the masses that are compatible with it: a difference of two partial sums. All noises are cut off
at ±K. Discrete Laplace noises may occur, too, with masses (1 - z)/(1 + z)·z^|k| for z = e^{-rate·eps}.

**Lemma.** Let |eps - e| <= e/2, and r = rate²·e²/(8·κ²).

1. The total variation Θ(Re q)/|Θ(q)| of the law at complex eps is less than 14/5, |Θ(q)| > 1/2, and the masses are
   analytic.
2. The variation beyond |k| = K is at most 4·e^{-r·(K+1)²}/(1 - e^{-r·(2K+3)}). For eps = e alone half of that holds,
   with r = q.
3. The variation of a discrete Laplace noise beyond |k| = K is at most 3·|z|^{K+1}, with |z| <= e^{-rate·e/2}.
4. Cutting off n noises, with the variations d_i beyond K and at most v_i in all, changes the probability by at most Σ
   d_i·Π_{j≠i} v_j. The change is an analytic function of eps, whose Taylor coefficient k is at most that over (e/2)^k.

*Proof.* On the disk |arg eps| <= 30°, R = Re eps² >= |eps|²/2 and R >= e²/4. So |arg q| <= 60° and Re q >= |q|/2. Let w
= |q|.

1. Let w <= 3. Then Θ(q) = √(π/q)·Σ e^{-π²n²/q}, and Re 1/q = cos(arg q)/w >= 1/(2w). So |Θ(q)| is at least √(π/w)·(1 -
   2·Σ_{n>=1} e^{-π²n²/6}) >= √(π/w)·3/5, and 3/5·√(π/3) > 3/5. Also Re q <= 3, so Θ(Re q) is at most √(π/Re q)·(1 + 2·Σ
   e^{-π²n²/3}) <= √(2π/w)·27/25. Let w >= 3. Then Re q >= 3/2, and Θ(Re q) - 1 = 2·Σ_{n>=1} e^{-n²·Re q} <= 23/50. So
   |Θ(q)| >= 27/50, and Θ(Re q) is at most 73/50. Together the total variation is at most max(√2·27/25·5/3, 73/27) <
   14/5, and Θ has no zeros.
2. The variation beyond K is at most 2·2·Σ_{k>K} e^{-r·k²}, as |Θ| > 1/2 and r <= Re q. For eps = e alone, Θ >= 1.
3. The variation is at most 2·|z|^{K+1}·|1 - z|/(|1 + z|·(1 - |z|)). Here |1 - z|/(1 - |z|) <= |eps|/Re eps <= 2/√3, as
   1 - z is the integral of eps·e^{-eps·x} from 0 to the rate. If |arg z| <= 90°, then |1 + z| >= 1; otherwise |z| <=
   e^{-2} and |1 + z| >= 4/5.
4. Cauchy's estimate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, combinations
from math import ceil, comb, floor, gcd, lcm, prod, sqrt

import flint

from dipc.algebra.graph import parents_from
from dipc.algebra.limits import LimitReached, OutsideFragment
from dipc.algebra.numbers import to_fmpq
from dipc.algebra.reals import Real
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace, proportional_columns
from dipc.measure.event import Event, Noise
from dipc.measure.normal import blurred
from dipc.measure.power_series import coefficients, precision
from dipc.noise.law import Measure, SideRates

#: The most outcomes of all noises together, times the coefficients of a series.
MOST_TERMS = 400_000

#: The extra bits that a value is computed with, beyond those of its error.
_GUARD = 16


@frozen
class Theta:
    """The discrete Gaussian law with mean 0: the mass at k is proportional to e^{-k²/(2d²)}.

    d is `unit`/(`rate`·eps), or `unit`/`rate` if `fixed`.
    """

    rate: Fraction
    unit: Real
    fixed: bool

    #: An upper bound of the total variation on the disk.
    variation = Fraction(14, 5)

    def reach(self, center: Fraction, wanted: float, *, wide: bool) -> int:
        """Return an integer K such that Pr[|k| > K] is approximately e^-`wanted` at eps = `center`.

        If `wide`, the sum of |mass at k| over |k| > K is as small for all complex eps with |eps - `center`| <=
        `center`/2.
        """
        size = float(self.rate) / float(self.unit.enclosure()[1]) * (1 if self.fixed else float(center))
        least_exponent = size**2 / (8 if wide and not self.fixed else 2)
        return ceil(sqrt(wanted / least_exponent)) + 1

    def tail_variation(self, center: Fraction, reach: int, *, wide: bool) -> flint.arb:
        """Return an upper bound of Σ |mass at k| over all integers k with |k| > `reach`, at eps = `center`.

        If `wide`, the bound holds for all complex eps with |eps - `center`| <= `center`/2.
        """
        r = (flint.arb(to_fmpq(self.rate)) / self.unit.ball()) ** 2 / (8 if wide and not self.fixed else 2)
        r = r if self.fixed else r * flint.arb(to_fmpq(center)) ** 2
        tail = (-r * (reach + 1) ** 2).exp() / (1 - (-r * (2 * reach + 3)).exp())
        return (4 if wide else 2) * tail

    def masses(self, eps: flint.arb_series, center: Fraction, reach: int) -> list[flint.arb_series]:
        """Return the masses at 0, …, `reach` as Taylor series in eps at `center`; `eps` is the series of eps itself."""
        scale = (flint.arb(to_fmpq(self.rate)) / self.unit.ball()) ** 2 / 2
        q = flint.arb_series([scale]) if self.fixed else eps * eps * scale
        weights = [(q * (-k * k)).exp() for k in range(reach + 1)]
        wide = flint.ctx.cap > 1
        # The omitted part of Θ is half the bound of the variation on the disk, which divides by |Θ| > 1/2.
        whole = weights[0] + sum(weights[1:], flint.arb_series([0])) * 2
        left = self.tail_variation(center, reach, wide=wide) / (2 if wide else 1)
        theta = blurred(whole, left, center)
        return [weight / theta for weight in weights]


@frozen
class Geometric:
    """The discrete Laplace law with mean 0: the mass at k is proportional to e^{-`rate`·eps·|k|}."""

    rate: Fraction

    #: An upper bound of the total variation on the disk: (1 - 3·(1/2)²/2)^(-1/2), by `dipc.measure.measure`.
    variation = Fraction(13, 10)

    def reach(self, center: Fraction, wanted: float, *, wide: bool) -> int:
        """Return an integer K such that Pr[|k| > K] is approximately e^-`wanted` at eps = `center`.

        If `wide`, the sum of |mass at k| over |k| > K is as small for all complex eps with |eps - `center`| <=
        `center`/2.
        """
        return ceil((wanted + 2) / (float(self.rate * center) / (2 if wide else 1)))

    def tail_variation(self, center: Fraction, reach: int, *, wide: bool) -> flint.arb:
        """Return an upper bound of Σ |mass at k| over all integers k with |k| > `reach`, at eps = `center`.

        If `wide`, the bound holds for all complex eps with |eps - `center`| <= `center`/2.
        """
        return 3 * (-flint.arb(to_fmpq(self.rate * center * (reach + 1) / (2 if wide else 1)))).exp()

    def masses(self, eps: flint.arb_series, center: Fraction, reach: int) -> list[flint.arb_series]:  # noqa: ARG002
        """Return the masses at 0, …, `reach` as Taylor series in eps at `center`; `eps` is the series of eps itself."""
        z = (eps * -flint.arb(to_fmpq(self.rate))).exp()
        mass = (1 - z) / (1 + z)
        return [mass, *(mass := mass * z for _ in range(reach))]


#: The law of a noise around 0.
Masses = Theta | Geometric


#: The triple (a, b, d) of a·k + b·l + d >= 0, for the value k of a node and the value l of its parent.
Limit = tuple[int, int, int]


@frozen
class Node:
    """A node of the tree of a `SummedMeasure`: a sum k of multiples of noises, and the inequalities for k.

    `laws` has a pair (law, factor) for each noise of the sum. Inequalities are triples (a, b, d), which mean a·k + b·l
    + d >= 0, where l is the sum at the parent. Those of `own` do not depend on l, those of `limits` do. `parent` is the
    parent's index, or None for the root.
    """

    laws: tuple[tuple[Masses, int], ...]
    own: tuple[Limit, ...]
    parent: int | None
    limits: tuple[Limit, ...]


@frozen
class SummedMeasure:
    """The probability that all inequalities of a tree of `nodes` hold; children come before their parents.

    Noises are integers, and at least one is discrete Gaussian.
    """

    nodes: tuple[Node, ...]

    def series(self, center: Fraction) -> flint.arb_series:
        """Return the Taylor series of the probability in eps at `center` > 0; each coefficient is an enclosure.

        The number of coefficients and their precision are those that FLINT is set to. Raises LimitReached.
        """
        wide = flint.ctx.cap > 1 and not self._fixed
        if flint.ctx.cap > 1 and self._fixed:
            with precision(flint.ctx.prec, 1):
                only = coefficients(self.series(center), 1)
            return flint.arb_series(only)  # the other coefficients are 0
        laws = [law for node in self.nodes for law, _ in node.laws]
        wanted = 0.7 * (flint.ctx.prec // 2 if wide else flint.ctx.prec - _GUARD) + 2 * len(laws)
        reach = {law: law.reach(center, wanted, wide=wide) for law in laws}
        terms = 0
        for node in self.nodes:
            sizes = [abs(c) * reach[law] for law, c in node.laws]
            terms += 1 + sum(sizes) + sum(sum(sizes[:k]) * reach[node.laws[k][0]] for k in range(1, len(sizes)))
        if terms * flint.ctx.cap > MOST_TERMS:
            raise LimitReached(None, f"a sum over discrete Gaussian noise takes more than {MOST_TERMS} terms")
        eps = flint.arb_series([flint.arb(to_fmpq(center)), flint.arb(1)])
        masses = {law: law.masses(eps, center, reach[law]) for law in reach}
        values = [_convolved([(masses[law], c) for law, c in node.laws]) for node in self.nodes]
        zero = total = flint.arb_series([0])
        for node, shares in zip(self.nodes, values, strict=True):
            most = len(shares) // 2
            low, high = _allowed_values(node.own, 0, -most, most)
            # The item k of sums is the mass of all outcomes below low + k.
            sums = list(accumulate((shares[k + most] for k in range(low, high + 1)), initial=zero))
            if node.parent is None:
                total = sums[-1]
                break
            other = values[node.parent]
            there = len(other) // 2
            for value in range(-there, there + 1):
                first, last = _allowed_values(node.limits, value, low, high)
                share = sums[last - low + 1] - sums[first - low] if first <= last else zero
                other[value + there] = other[value + there] * share
        left = [law.tail_variation(center, reach[law], wide=wide) for law in laws]
        variations = [flint.arb(to_fmpq(law.variation)) if wide else flint.arb(1) for law in laws]
        everything = prod(variations, start=flint.arb(1))
        error = sum((beyond * everything / v for beyond, v in zip(left, variations, strict=True)), flint.arb(0))
        return blurred(total, error, center)

    @property
    def _fixed(self) -> bool:
        return all(isinstance(law, Theta) and law.fixed for node in self.nodes for law, _ in node.laws)


def _convolved(parts: Sequence[tuple[Sequence[flint.arb_series], int]]) -> list[flint.arb_series]:
    """Return the masses of a sum of independent symmetric integer values at -K, …, K, where K is its greatest value.

    Each of `parts` has the masses of a value at 0, 1, 2, …, and the integer by which the value is multiplied.
    """
    zero = flint.arb_series([0])
    total = [flint.arb_series([1])]
    for half, times in parts:
        spread, most = len(half) - 1, len(total) // 2
        reach = most + abs(times) * spread
        wider = [zero] * (2 * reach + 1)
        for k in range(-spread, spread + 1):
            for value, mass in enumerate(total, start=reach - most + times * k):
                wider[value] = wider[value] + mass * half[abs(k)]
        total = wider
    return total


def _allowed_values(limits: Sequence[Limit], other: int, low: int, high: int) -> tuple[int, int]:
    """Return the least and the greatest k from `low` to `high` that satisfy all inequalities of `limits`.

    A triple (a, b, d) of `limits` means a·k + b·l + d >= 0, where l is `other`. If no k satisfies them, the second
    number is less than the first.
    """
    for a, b, d in limits:
        if a > 0:
            low = max(low, -((b * other + d) // a))
        else:
            high = min(high, (b * other + d) // -a)
    return (low, high) if low <= high else (high + 1, high)


# --- From events ------------------------------------------------------------------------------------------------------


def summed_measure(event: Event) -> SummedMeasure | None:
    """Return the probability of a connected `event` over integer noises as an object that encloses it; None if it is 0.

    At least one noise is discrete Gaussian. Raises OutsideFragment if a constraint relates more than two sums of
    noises, or if the sums are compared in a cycle.
    """
    try:
        return _tree(event, *_sums(event, united=False))
    except OutsideFragment:
        return _tree(event, *_sums(event, united=True))


#: A sum of multiples of noises, and a half-space Σ c·sum + d >= 0 over such sums, numbered by their positions.
_Sum = tuple[tuple[int, int], ...]
_Row = tuple[dict[int, int], int]


def _tree(event: Event, sums: Sequence[_Sum], rows: Sequence[_Row]) -> SummedMeasure | None:
    """Return the probability of the half-spaces `rows` over the `sums` of noises, or None if it is 0.

    `event` has the noises. Raises OutsideFragment if the half-spaces do not form a tree.
    """
    own: list[set[Limit]] = [set() for _ in sums]
    pairs: dict[tuple[int, int], set[Limit]] = {}
    for row, d in rows:
        match sorted(row.items()):
            case [(i, a)]:
                own[i].add((a, 0, d))
            case [(i, a), (j, b)]:
                pairs.setdefault((i, j), set()).add((a, b, d))
            case _:
                raise OutsideFragment("a comparison relates more than two sums of discrete Gaussian noises")
    if len(pairs) != len(sums) - 1:
        raise OutsideFragment("the comparisons of discrete Gaussian noises form a cycle, which is not covered yet")
    laws = [tuple((_masses(event.noises[i]), c) for i, c in each) for each in sums]
    if any(map(_is_empty, [*own, *pairs.values()])):
        return None
    order = list(_from_leaves(len(sums), pairs))
    place = {value: position for position, (value, _) in enumerate(order)}
    nodes = []
    for value, parent in order:
        mine, limits = tuple(sorted(own[value])), set[Limit]()
        if parent is not None:
            limits = pairs[min(value, parent), max(value, parent)]
            limits = limits if value < parent else {(b, a, d) for a, b, d in limits}
        nodes.append(Node(laws[value], mine, None if parent is None else place[parent], tuple(sorted(limits))))
    return SummedMeasure(tuple(nodes))


def _sums(event: Event, *, united: bool) -> tuple[list[_Sum], list[_Row]]:
    """Return (sums, rows): sums of multiples of the noises of `event` minus their means, and its constraints over them.

    All multiples and coefficients are integers. If `united`, noises whose coefficients are proportional in all
    constraints form one sum; otherwise each sum has one noise.
    """
    constants: list[int] = []
    scaled: list[list[tuple[int, Fraction]]] = []
    for item in event.constraints:
        scale = lcm(*(c.denominator for _, c in item.coefficients))
        # With N = mean + k the half-space is c·k + d >= 0, or > 0.
        d = scale * (item.constant + sum((c * event.noises[i].mean for i, c in item.coefficients), Fraction(0)))
        constants.append(ceil(d) - 1 if item.strict else floor(d))
        scaled.append([(i, c * scale) for i, c in item.coefficients])
    sums: list[_Sum] = []
    rows: list[_Row] = [({}, d) for d in constants]
    for direction, members in proportional_columns(scaled, lambda _: not united):
        unit = gcd(*(int(c) for _, c in members))
        for row, ratio in direction:
            rows[row][0][len(sums)] = int(ratio * unit)
        sums.append(tuple((i, int(c) // unit) for i, c in members))
    return sums, rows


def _is_empty(limits: Collection[Limit]) -> bool:
    """True if two items of `limits` bound a·k + b·l from below and from above, and no integer is between the bounds.

    An item is a triple (a, b, d) for a·k + b·l + d >= 0, where k and l are integers.
    """
    nearest: dict[tuple[int, int], int] = {}
    for a, b, d in limits:
        unit = gcd(a, b)
        key = a // unit, b // unit
        nearest[key] = min(d // unit, nearest.get(key, d // unit))
    return any(d + nearest.get((-a, -b), -d) < 0 for (a, b), d in nearest.items())


def _masses(noise: Noise) -> Masses:
    if noise.law.measure is Measure.SUMS:
        return Theta(noise.rate, noise.law.normal_unit, noise.law.fixed)
    sides = noise.law.sides(noise.rate)
    if not noise.law.whole or sides.left is None or sides.left != sides.right:
        raise OutsideFragment(f"{noise.law.name} noise is compared with discrete Gaussian noise, which is not covered")
    return Geometric(sides.left)


def _from_leaves(count: int, edges: Mapping[tuple[int, int], object]) -> Iterator[tuple[int, int | None]]:
    """Yield (node, parent) for each node of the tree with these `edges`, children before parents; the root's is None.

    The nodes are 0 to `count` - 1. Raises OutsideFragment if the edges are not a tree.
    """
    neighbors: list[list[int]] = [[] for _ in range(count)]
    for i, j in edges:
        neighbors[i].append(j)
        neighbors[j].append(i)
    parents = parents_from(max(range(count), key=lambda i: len(neighbors[i])), neighbors)
    if len(parents) < count:
        raise OutsideFragment("the comparisons of discrete Gaussian noises form a cycle, which is not covered yet")
    return reversed(parents.items())


# --- Sums over integer noises of many different rates -----------------------------------------------------------------
#
# This is the law of a sum of independent discrete Laplace noises of different rates, without a common unit of the
# rates.
#
# With z_j = e^{-a_j·eps} the masses of a noise of rate a_j have the generating function
#
#     (1 - z_j)²/((1 - z_j·w)(1 - z_j/w)),
#
# Let S be a sum of m_j noises of each rate. Its generating function f(w) is the product of these functions to the
# powers m_j. It is analytic for max z < |w| < 1/max z, and f(w) = f(1/w). So Pr[S = x] = 1/(2πi)·∮ f(w)·w^{x - 1} dw on
# a circle of radius r with max z < r < 1, and for a >= 1
#
#     Pr[S >= a] = 1/(2πi)·∮ f(w)·w^{a - 1}/(1 - w) dw = Σ_i of the residues at z_i,
#
# as f(w) = Π_j ((1 - z_j)²·w/((1 - z_j·w)(w - z_j)))^{m_j} has no pole at 0. For a < 1 use the symmetry of S. Here
# there is one summand for each rate. Over one denominator the sum would be a polynomial in e^{eps/n}, where 1/n is the
# common unit of the rates, and would soon have millions of terms.

#: The most different rates, without a common unit, of a sum whose closed form is computed.
MOST_RATES = 6


@frozen
class LatticeSum:
    """The probability that `low` <= S <= `high` for a sum S of independent discrete Laplace noises with mean 0.

    A `low` or `high` of None is infinite. `rates` has a pair (rate, number of noises) for each rate that occurs; a rate
    is a multiple of eps.
    """

    rates: tuple[tuple[Fraction, int], ...]
    low: int | None
    high: int | None

    def series(self, center: Fraction) -> flint.arb_series:
        """Return the Taylor series of the probability in eps at `center` > 0; each coefficient is an enclosure.

        The number of coefficients and their precision are those that FLINT is set to. Enclosures are not finite if the
        precision is too low to distinguish two rates.
        """
        eps = flint.arb_series([flint.arb(to_fmpq(center)), flint.arb(1)])
        powers = [((eps * flint.arb(to_fmpq(-rate))).exp(), count) for rate, count in self.rates]
        one = flint.arb_series([1])
        total = one if self.low is None else _upper_tail(powers, self.low)
        return total if self.high is None else total - _upper_tail(powers, self.high + 1)


def _upper_tail(powers: Sequence[tuple[flint.arb_series, int]], least: int) -> flint.arb_series:
    """Return Pr[S >= `least`] for a sum S of independent discrete Laplace noises with mean 0.

    `powers` has the pair (e^{-rate·eps}, number of noises with this rate) for each rate. Functions of eps, such as the
    result, are Taylor series.
    """
    one = flint.arb_series([1])
    if least < 1:
        return one - _upper_tail(powers, 1 - least)
    total = flint.arb_series([0])
    ahead = one
    for z, count in powers:
        ahead = ahead * (one - z) ** (2 * count)
    vanishing = sum(count for _, count in powers) + least - 1
    for place, (here, count) in enumerate(powers):
        # With h = w - z, powers of functions c + d·h; the coefficient of h^(m - 1) in their product is the residue.
        linear = [(here, one, vanishing), (one - here, -one, -1)]
        linear += [(one - z * here, -z, -often) for z, often in powers]
        linear += [(here - z, one, -often) for other, (z, often) in enumerate(powers) if other != place]
        product = [ahead] + [flint.arb_series([0])] * (count - 1)
        for c, d, power in linear:
            if (c.coeffs() or [flint.arb(0)])[0].contains(0):
                return flint.arb_series([flint.arb("nan")] * flint.ctx.cap)
            product = _times_power(product, c, d, power)
        total = total + product[-1]
    return total


def _times_power(
    product: Sequence[flint.arb_series], c: flint.arb_series, d: flint.arb_series, power: int
) -> list[flint.arb_series]:
    """Return the product of a polynomial in h and (`c` + `d`·h)^`power`, up to the degree of the polynomial.

    `product` has the coefficients of the polynomial. They, `c` and `d` are Taylor series in eps, and `c` is not 0.
    """
    base = c**power if power >= 0 else (flint.arb_series([1]) / c) ** -power
    expanded = [base]
    for k in range(1, len(product)):
        # The binomial coefficient of `power` and k, for any integer power.
        binomial = comb(power, k) if power >= 0 else (-1) ** k * comb(k - power - 1, k)
        expanded.append(base * (d / c) ** k * binomial)
    return [
        sum((product[i] * expanded[n - i] for i in range(1, n + 1)), product[0] * expanded[n])
        for n in range(len(product))
    ]


def lattice_sum(event: Event) -> LatticeSum:
    """Return the probability of `event`, whose constraints must all bound one sum of discrete Laplace noises.

    Raises OutsideFragment if the half-spaces bound different sums or contradict each other, if noises are multiplied,
    and if some noise is not discrete Laplace noise with an integer mean.
    """
    if not event.constraints or not event.constraints[0].coefficients:
        raise OutsideFragment("the event does not bound a sum of noises")
    first = _primitive(event.constraints[0])
    low: int | None = None
    high: int | None = None
    for item in event.constraints:
        terms, constant = _primitive(item)
        if terms == first[0]:
            least = -constant
            low = least if low is None else max(low, least)
        elif terms == tuple([(i, -c) for i, c in first[0]]):
            high = constant if high is None else min(high, constant)
        else:
            raise OutsideFragment("the comparisons bound different sums of noises")
    rates: Counter[Fraction] = Counter()
    mean = 0
    for i, sign in first[0]:
        noise = event.noises[i]
        sides = noise.law.sides(noise.rate)
        if not noise.law.whole or sides != SideRates(noise.rate, noise.rate) or noise.mean.denominator != 1:
            raise OutsideFragment("a noise is not discrete Laplace noise with an integer mean")
        rates[noise.rate] += 1
        mean += sign * int(noise.mean)
    if low is not None and high is not None and low > high:
        raise OutsideFragment("the lower bound on a sum of noises is greater than the upper bound")
    return LatticeSum(
        tuple(sorted(rates.items())), None if low is None else low - mean, None if high is None else high - mean
    )


def _primitive(item: Halfspace) -> tuple[tuple[tuple[int, int], ...], int]:
    """Return (signs, constant) such that the half-space `item` over integers x_i is Σ ±x_i + constant >= 0.

    signs has pairs (i, 1 or -1). Raises OutsideFragment if the coefficients differ in size.
    """
    size = abs(item.coefficients[0][1]) if item.coefficients else Fraction(0)
    if any(abs(c) != size for _, c in item.coefficients) or not size:
        raise OutsideFragment("the coefficients of integer noises in a comparison differ in size")
    constant = item.constant / size
    # Over integers, more than -constant means at least the next integer.
    whole = -((-constant) // 1) - 1 if item.strict else constant // 1
    return tuple([(i, 1 if c > 0 else -1) for i, c in item.coefficients]), int(whole)


def watch_rates(event: Event, degree: int = 0) -> None:
    """Raise LimitReached, before the work, if the closed form of the probability of `event` would be too long.

    Only events that bound a single sum of integer noises are examined; all others are accepted. The closed form is too
    long if the noises have many different rates and the degree of its denominator exceeds `degree`. The denominator is
    a polynomial in e^{u·eps}, where the rates are multiples of u.
    """
    try:
        rates = [rate for rate, _ in lattice_sum(event).rates]
    except OutsideFragment:
        return
    # The degree of the factors 1 - z_j·z_i and 1 - z_j/z_i of the denominators.
    unit = lcm(*(rate.denominator for rate in rates))
    most = sum(2 * max(pair) for pair in combinations(rates, 2)) * unit
    if len(rates) > MOST_RATES and most > degree:
        raise LimitReached(
            "steps",
            f"the closed form of a sum of integer noises of {len(rates)} different rates is too long to be written "
            "out: with equal rates, or small multiples of one rate, it is short",
        )
