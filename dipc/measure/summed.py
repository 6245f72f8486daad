"""Probabilities of events over discrete Gaussian noises, enclosed: sums over integers, with what is left out bounded.

The mass at an integer k is e^{-q·k²}/Θ(q), q = eps²·rate²/(2·κ²), or without eps² where the deviation does not depend
on eps, and Θ(q) = Σ e^{-q·k²}. Noises that matter only through one sum of multiples are one value, whose masses are
convolved. An event is a forest: values within bounds, and pairs of them with half-spaces a·k + b·l + d >= 0. From the
leaves to the root each value hands on, for every value of the next, the sum of what is compatible with it: a difference
of two partial sums. All noises are cut off at ±K. There may be discrete Laplace noises
among them, with masses (1 - z)/(1 + z)·z^|k|, z = e^{-rate·eps}.

**Lemma.** Let |eps - e| <= e/2. Then |arg eps| <= 30°, R = Re eps² >= |eps|²/2 and R >= e²/4, so |arg q| <= 60° and
Re q >= |q|/2. With w = |q|:

  * Where w <= 3, Θ(q) = √(π/q)·Σ e^{-π²n²/q}, and Re 1/q = cos(arg q)/w >= 1/(2w). So |Θ(q)| is at least
    √(π/w)·(1 - 2·Σ_{n>=1} e^{-π²n²/6}) >= √(π/w)·3/5, and 3/5·√(π/3) > 3/5. Also Re q <= 3, so Θ(Re q) is at most
    √(π/Re q)·(1 + 2·Σ e^{-π²n²/3}) <= √(2π/w)·27/25.
  * Where w >= 3, Re q >= 3/2, and Θ(Re q) - 1 = 2·Σ_{n>=1} e^{-n²·Re q} <= 23/50. So |Θ(q)| >= 27/50, and Θ(Re q) is
    at most 73/50.
  * So the total variation Θ(Re q)/|Θ(q)| of the law at complex eps is at most max(√2·27/25·5/3, 73/27) < 14/5, and
    |Θ(q)| > 1/2. Θ has no zeros there, and all is analytic.
  * Beyond |k| = K the variation is at most 2·2·Σ_{k>K} e^{-r·k²} <= 4·e^{-r·(K+1)²}/(1 - e^{-r·(2K+3)}), with
    r = rate²·e²/(8·κ²) <= Re q; for eps = e alone half of that with r = q, as Θ >= 1. That of a discrete Laplace noise
    is at most 2·|z|^{K+1}·|1 - z|/(|1 + z|·(1 - |z|)). There |1 - z|/(1 - |z|) <= |eps|/Re eps <= 2/√3, as
    1 - z = ∫ eps·e^{-eps·x} from 0 to the rate, and |1 + z| >= 1 where |arg z| <= 90°, else |z| <= e^{-2} and
    |1 + z| >= 4/5; so it is at most 3·|z|^{K+1}, with |z| <= e^{-rate·e/2}.
  * So cutting off n noises, which have the variations d_i beyond and at most v_i in all, changes the probability by at
    most Σ d_i·Π_{j≠i} v_j, an analytic function of eps, whose Taylor coefficient k is at most that over (e/2)^k.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, combinations
from math import ceil, comb, floor, gcd, lcm, prod, sqrt

import flint

from dipc.algebra.limits import LimitReached, OutsideFragment
from dipc.algebra.numbers import to_fmpq
from dipc.algebra.reals import Real
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace
from dipc.measure.event import Event, Noise
from dipc.measure.normal import blurred
from dipc.measure.power_series import coefficients, precision
from dipc.noise.law import Measure, SideRates

#: The most values of all noises together, times coefficients of series.
MOST_TERMS = 400_000

#: Bits beyond those of the error of a value.
_GUARD = 16


@frozen
class Theta:
    """The discrete Gaussian with the deviation unit/(rate·eps), or unit/rate where it is `fixed`."""

    rate: Fraction
    unit: Real
    fixed: bool

    #: At least the total variation on the disk.
    variation = Fraction(14, 5)

    def _q(self, eps: flint.arb_series) -> flint.arb_series:
        scale = (flint.arb(to_fmpq(self.rate)) / self.unit.ball()) ** 2 / 2
        return flint.arb_series([scale]) if self.fixed else eps * eps * scale

    def _least_exponent(self, center: Fraction, *, wide: bool) -> float:
        """r, about; what is left out is bounded with balls."""
        size = float(self.rate) / float(self.unit.enclosure()[1]) * (1 if self.fixed else float(center))
        return size**2 / (8 if wide and not self.fixed else 2)

    def reach(self, center: Fraction, wanted: float, *, wide: bool) -> int:
        """A K beyond which about e^-wanted is left out."""
        return ceil(sqrt(wanted / self._least_exponent(center, wide=wide))) + 1

    def tail_variation(self, center: Fraction, reach: int, *, wide: bool) -> flint.arb:
        """An upper bound of the variation beyond |k| = reach."""
        r = (flint.arb(to_fmpq(self.rate)) / self.unit.ball()) ** 2 / (8 if wide and not self.fixed else 2)
        r = r if self.fixed else r * flint.arb(to_fmpq(center)) ** 2
        tail = (-r * (reach + 1) ** 2).exp() / (1 - (-r * (2 * reach + 3)).exp())
        return (4 if wide else 2) * tail

    def at_most(self, edge: int, eps: Fraction) -> flint.arb:
        """Pr[N <= edge] at an eps, to the precision that FLINT is set to. Raises LimitReached."""
        taylor = SummedMeasure((Node(((self, 1),), ((-1, 0, edge),), None, ()),)).series(eps)
        return coefficients(taylor, 1)[0]

    def masses(self, eps: flint.arb_series, center: Fraction, reach: int) -> list[flint.arb_series]:
        """The masses of 0, ..., reach."""
        q = self._q(eps)
        weights = [(q * (-k * k)).exp() for k in range(reach + 1)]
        wide = flint.ctx.cap > 1
        # What is left out of Θ itself: the bound of the variation beyond is twice as much on the disk, as |Θ| > 1/2.
        whole = weights[0] + sum(weights[1:], flint.arb_series([0])) * 2
        left = self.tail_variation(center, reach, wide=wide) / (2 if wide else 1)
        theta = blurred(whole, left, center)
        return [weight / theta for weight in weights]


@frozen
class Geometric:
    """The discrete Laplace law with this rate."""

    rate: Fraction

    #: At least the total variation on the disk: (1 - 3·(1/2)²/2)^(-1/2), of `dipc.measure.measure`.
    variation = Fraction(13, 10)

    def reach(self, center: Fraction, wanted: float, *, wide: bool) -> int:
        """A K beyond which about e^-wanted is left out."""
        return ceil((wanted + 2) / (float(self.rate * center) / (2 if wide else 1)))

    def tail_variation(self, center: Fraction, reach: int, *, wide: bool) -> flint.arb:
        """An upper bound of the variation beyond |k| = reach."""
        return 3 * (-flint.arb(to_fmpq(self.rate * center * (reach + 1) / (2 if wide else 1)))).exp()

    def masses(self, eps: flint.arb_series, center: Fraction, reach: int) -> list[flint.arb_series]:  # noqa: ARG002
        """The masses of 0, ..., reach."""
        z = (eps * -flint.arb(to_fmpq(self.rate))).exp()
        mass = (1 - z) / (1 + z)
        return [mass, *(mass := mass * z for _ in range(reach))]


#: The law of a noise around 0.
Masses = Theta | Geometric


#: a·k + b·l + d >= 0, for a value k and that l of the node that it is handed on to.
Limit = tuple[int, int, int]


@frozen
class Node:
    """A sum of noises, with the factor of each, between its `own` limits.

    Together with the node `parent` (None for a root) it is between `limits`.
    """

    laws: tuple[tuple[Masses, int], ...]
    own: tuple[Limit, ...]
    parent: int | None
    limits: tuple[Limit, ...]


@frozen
class SummedMeasure:
    """The probability of a tree of such values, children first."""

    nodes: tuple[Node, ...]

    def series(self, center: Fraction) -> flint.arb_series:
        """The Taylor series in eps at a positive center, to FLINT's length and precision. Raises LimitReached.

        Each coefficient is enclosed.
        """
        wide = flint.ctx.cap > 1 and not self._fixed
        if flint.ctx.cap > 1 and self._fixed:
            with precision(flint.ctx.prec, 1):
                only = coefficients(self.series(center), 1)
            return flint.arb_series(only)  # its other coefficients are 0
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
            # sums[k]: all below low + k.
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
        """Whether it is the same for every eps."""
        return all(isinstance(law, Theta) and law.fixed for node in self.nodes for law, _ in node.laws)


def _convolved(parts: Sequence[tuple[Sequence[flint.arb_series], int]]) -> list[flint.arb_series]:
    """The masses from -K to K of a sum of independent values with these masses from 0 on, each times a number."""
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
    """The values between these ends that are within the limits, with the value of the other one."""
    for a, b, d in limits:
        if a > 0:
            low = max(low, -((b * other + d) // a))
        else:
            high = min(high, (b * other + d) // -a)
    return (low, high) if low <= high else (high + 1, high)


# --- from events ----------------------------------------------------------------------------------------


def summed_measure(event: Event) -> SummedMeasure | None:
    """The measure of a connected event over integer noises of which one is discrete Gaussian; None if it is empty.

    Raises OutsideFragment where the event is not a forest.
    """
    try:
        return _tree(event, *_sums(event, united=False))
    except OutsideFragment:
        return _tree(event, *_sums(event, united=True))


#: A sum of multiples of noises, and a half-space Σ c·sum + d >= 0 over such sums, by their places.
_Sum = tuple[tuple[int, int], ...]
_Row = tuple[dict[int, int], int]


def _tree(event: Event, sums: Sequence[_Sum], rows: Sequence[_Row]) -> SummedMeasure | None:
    """The measure of half-spaces over these sums; None if it is empty.

    Raises OutsideFragment where they are not a tree.
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
        raise OutsideFragment("discrete Gaussian noises are compared in a circle, which is not covered yet")
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
    """The noises, or sums of multiples of noises, and the half-spaces over them, all in integers.

    Sums are used where `united`: for noises that are in all half-spaces together.
    """
    columns: dict[int, list[tuple[int, int]]] = {}
    constants: list[int] = []
    for row, item in enumerate(event.constraints):
        scale = lcm(*(c.denominator for _, c in item.coefficients))
        # With N = mean + k, c·k + d >= 0, or > 0.
        d = scale * (item.constant + sum((c * event.noises[i].mean for i, c in item.coefficients), Fraction(0)))
        constants.append(ceil(d) - 1 if item.strict else floor(d))
        for i, c in item.coefficients:
            columns.setdefault(i, []).append((row, int(c * scale)))
    alike: dict[tuple[int | None, tuple[tuple[int, Fraction], ...]], list[tuple[int, int]]] = {}
    for i, column in sorted(columns.items()):
        first = column[0][1]
        key = None if united else i, tuple((row, Fraction(c, first)) for row, c in column)
        alike.setdefault(key, []).append((i, first))
    sums: list[_Sum] = []
    rows: list[_Row] = [({}, d) for d in constants]
    for (_, direction), members in alike.items():
        unit = gcd(*(c for _, c in members))
        for row, ratio in direction:
            rows[row][0][len(sums)] = int(ratio * unit)
        sums.append(tuple((i, c // unit) for i, c in members))
    return sums, rows


def _is_empty(limits: Collection[Limit]) -> bool:
    """Whether two of the limits leave no integers between them, of one value or of one combination of two."""
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
    """The noises of a tree with their parents, children first. Raises OutsideFragment for what is none."""
    neighbors: list[list[int]] = [[] for _ in range(count)]
    for i, j in edges:
        neighbors[i].append(j)
        neighbors[j].append(i)
    order: list[tuple[int, int | None]] = [(max(range(count), key=lambda i: len(neighbors[i])), None)]
    seen = {order[0][0]}
    for noise, _ in order:
        for other in neighbors[noise]:
            if other not in seen:
                seen.add(other)
                order.append((other, noise))
    if len(order) < count:
        raise OutsideFragment("discrete Gaussian noises are compared in a circle, which is not covered yet")
    return reversed(order)


# --- Sums over integer noises of many different rates -----------------------------------------------------------------
#
# The law of a sum of independent discrete Laplace noises of different rates, without a common unit of their rates.
#
# With z_j = e^{-a_j·eps} the masses of a noise of rate a_j have the generating function
#
#     (1 - z_j)²/((1 - z_j·w)(1 - z_j/w)),
#
# and those of a sum S of m_j noises of each rate have f(w) = Π_j of it to the power m_j, which is analytic for max z <
# |w| < 1/max z, and f(w) = f(1/w). So Pr[S = x] = 1/(2πi)·∮ f(w)·w^{x - 1} dw on a circle of radius r, max z < r < 1,
# and for a >= 1
#
#     Pr[S >= a] = 1/(2πi)·∮ f(w)·w^{a - 1}/(1 - w) dw = Σ_i of the residues at z_i,
#
# as f(w) = Π_j ((1 - z_j)²·w/((1 - z_j·w)(w - z_j)))^{m_j} has no pole at 0. Below 1 the symmetry of S helps. Over one
# denominator these are polynomials in e^{eps/n} of a degree that grows with the common unit 1/n of the rates, which
# soon has millions of terms; as they stand there are as many summands as different rates.

#: Sums of more different rates without a common unit are not written out in closed form.
MOST_RATES = 6


@frozen
class LatticeSum:
    """The probability that low <= S <= high (None: unbounded) for a sum S of discrete Laplace noises around 0.

    The noises are given by their number for each rate, a multiple of eps; the rates are different.
    """

    rates: tuple[tuple[Fraction, int], ...]
    low: int | None
    high: int | None

    def series(self, center: Fraction) -> flint.arb_series:
        """The Taylor series in eps at a positive center, to FLINT's length and precision.

        Each coefficient is enclosed; the enclosure is not finite where the precision does not separate two rates.
        """
        eps = flint.arb_series([flint.arb(to_fmpq(center)), flint.arb(1)])
        powers = [((eps * flint.arb(to_fmpq(-rate))).exp(), count) for rate, count in self.rates]
        one = flint.arb_series([1])
        total = one if self.low is None else _upper_tail(powers, self.low)
        return total if self.high is None else total - _upper_tail(powers, self.high + 1)


def _upper_tail(powers: Sequence[tuple[flint.arb_series, int]], least: int) -> flint.arb_series:
    """The probability Pr[S >= least]."""
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
    """The first coefficients in h of the product times (c + d·h)^power; c is not 0 at the center."""
    base = c**power if power >= 0 else (flint.arb_series([1]) / c) ** -power
    expanded = [base]
    for k in range(1, len(product)):
        # C(power, k) for any integer.
        binomial = comb(power, k) if power >= 0 else (-1) ** k * comb(k - power - 1, k)
        expanded.append(base * (d / c) ** k * binomial)
    return [
        sum((product[i] * expanded[n - i] for i in range(1, n + 1)), product[0] * expanded[n])
        for n in range(len(product))
    ]


def lattice_sum(event: Event) -> LatticeSum:
    """The measure of the event as the measure of one sum between two numbers.

    Raises OutsideFragment for other events.

    Other events have half-spaces of different forms, multiples of noises, or noises that are not discrete Laplace
    noises with integer means.
    """
    if not event.constraints or not event.constraints[0].coefficients:
        raise OutsideFragment("no sum of noises is bounded")
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
        raise OutsideFragment("the bounds contradict each other")
    return LatticeSum(
        tuple(sorted(rates.items())), None if low is None else low - mean, None if high is None else high - mean
    )


def _primitive(item: Halfspace) -> tuple[tuple[tuple[int, int], ...], int]:
    """The half-space over integers as Σ ±x + constant >= 0. Raises OutsideFragment for other coefficients."""
    size = abs(item.coefficients[0][1]) if item.coefficients else Fraction(0)
    if any(abs(c) != size for _, c in item.coefficients) or not size:
        raise OutsideFragment("a multiple of an integer noise is added")
    constant = item.constant / size
    # Over integers more than -constant is at least the next one.
    whole = -((-constant) // 1) - 1 if item.strict else constant // 1
    return tuple([(i, 1 if c > 0 else -1) for i, c in item.coefficients]), int(whole)


def watch_rates(event: Event, degree: int = 0) -> None:
    """Raise LimitReached, before the work, for a sum with so many different rates that its closed form is too long.

    The limit applies where the polynomials in the exponential of the rates' common unit have a degree above `degree`.
    """
    try:
        rates = [rate for rate, _ in lattice_sum(event).rates]
    except OutsideFragment:
        return
    # Of the factors 1 - z_j·z_i and 1 - z_j/z_i of the denominators.
    unit = lcm(*(rate.denominator for rate in rates))
    most = sum(2 * max(pair) for pair in combinations(rates, 2)) * unit
    if len(rates) > MOST_RATES and most > degree:
        raise LimitReached(
            "steps",
            f"the closed form of a sum of integer noises of {len(rates)} different rates is too long to be written "
            "out: with equal rates, or small multiples of one rate, it is short",
        )
