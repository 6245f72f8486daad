"""Orders of independent noises, and the sweep that measures them.

Events as orders: on suitable scales every constraint is a bound on one noise or a plain comparison Y_i >= Y_j.

A noise X becomes Y = scale·X + zero. Scales and zeros that turn every constraint on two noises into a comparison exist
where the constraints hang together like a tree, and on every cycle that says nothing new about distances. A range of a
difference, a <= D <= b, is none; but its probability is that of D >= a less that of D >= b.

The downward closed, connected sets of an order, and what is left of each when a greatest variable is taken away.

The probability of an order of independent noises, by one sweep from -∞ to ∞.

For a downward closed set S let F_S(X) be the probability that all of S lie below X, in order and within their bounds.
The greatest of them is, but for ties of probability 0, some i that nothing in S must exceed, so

    F_S' = Σ_i density_i · F_{S without i},    F_S(-∞) = 0,    F_∅ = 1,

and F of independent sets is a product. Between two points where no density changes its form all these functions are
Σ c·eps^k·e^{q·eps}·T^n·e^{l·T}, where T = eps·(x - base) counts from the left end: lengths are integers, rates are
integers, and eps stands for the least unit of their product. The probability is what F of everything tends to.

For integer noises derivatives are differences, integrals are sums, and ties are broken by a fixed rank: among equal
variables a greater rank counts as greater. Geometric series have denominators 1 - e^{-d·eps}, kept as `poles`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import product
from math import ceil, comb, prod
from typing import TypeVar

from dipc.verifier.noise import Constraint, Event, Family, Noise
from dipc.verifier.reading import Budget

# === comparisons ===============================================================================

#: The most conjunctions that ranges of differences are split into.
MOST_CONJUNCTIONS = 64

#: The most bits of a number on a scale that is not the noise's own.
MOST_BITS = 2_048


#: X_i + d·X_j as ((i, 1), (j, d)).
_Difference = tuple[tuple[int, Fraction], tuple[int, Fraction]]

#: (scale, zero) of a noise.
_Scale = tuple[Fraction, Fraction]


class NoOrder(Exception):
    """The event is no order of its noises; `why` is half a sentence for the report."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@dataclass(frozen=True, slots=True)
class Variable:
    """A noise on its new scale: rate·eps is the rate at which its density decays on both sides of `mean`.

    `factor` is what the density has at the mean, as a multiple of rate·eps. It is cut off outside low <= Y <= high,
    None for infinity.
    """

    rate: Fraction
    mean: Fraction
    factor: Fraction
    low: Fraction | None
    high: Fraction | None

    def reflected(self) -> Variable:
        """-Y."""
        low, high = (None if end is None else -end for end in (self.high, self.low))
        return Variable(self.rate, -self.mean, self.factor, low, high)


#: For each variable, those that must not be greater.
Below = dict[int, frozenset[int]]


@dataclass(frozen=True, slots=True)
class Order:
    """Noises that hang together, by number: on their scales `below` says all that is said of two of them."""

    below: Below
    _noises: tuple[Noise, ...]
    _scales: dict[int, _Scale]
    _about: dict[int, list[Constraint]]

    def rate(self, i: int) -> Fraction:
        """The rate of noise i on its scale."""
        scale = self._scales[i][0]
        return self._noises[i].rate if abs(scale) == 1 else self._noises[i].rate / abs(scale)

    def variable(self, i: int) -> Variable:
        """Noise i with its bounds."""
        scale, zero = self._scales[i]
        noise = self._noises[i]
        whole = noise.family is Family.DISCRETE_LAPLACE
        mean, factor = scale * noise.mean + zero, Fraction(1, 2)
        lows: list[Fraction] = []
        highs: list[Fraction] = []
        if noise.family is Family.ONE_SIDED:
            (lows if scale > 0 else highs).append(mean)
            factor = Fraction(1)
        for constraint in self._about[i]:
            if len(constraint.coefficients) == 1:
                c = constraint.coefficients[i]
                end = -constraint.constant / c
                if whole:
                    end = Fraction(ceil(end) if c > 0 else -ceil(-end))
                (lows if c / scale > 0 else highs).append(scale * end + zero)
        return Variable(self.rate(i), mean, factor, max(lows, default=None), min(highs, default=None))


@dataclass(frozen=True, slots=True)
class Conjunction:
    """Independent orders; the event's probability is the sum of sign·Π Pr[order] over its conjunctions."""

    sign: int
    orders: tuple[Order, ...]


def conjunctions(event: Event) -> list[Conjunction]:
    """The event's conjunctions, none if it is plainly impossible; noises that nothing is said of are left out.

    Raises NoOrder where no scales do.
    """
    whole = {noise.family is Family.DISCRETE_LAPLACE for noise in event.noises}
    if len(whole) > 1:
        raise NoOrder("integer and continuous noises are in one event")
    result = []
    for sign, constraints in _one_sided(event.constraints, whole == {True}):
        about: dict[int, list[Constraint]] = {}
        for constraint in constraints:
            for i in constraint.coefficients:
                about.setdefault(i, []).append(constraint)
        scales: dict[int, _Scale] = {}
        orders = []
        for start in about:
            if start not in scales:
                members = _scales(start, about)
                scales.update(members)
                below = {i: _below(i, scale > 0, about[i]) for i, (scale, _) in members.items()}
                orders.append(Order(below, event.noises, members, about))
        result.append(Conjunction(sign, tuple(orders)))
    return result


def _one_sided(constraints: tuple[Constraint, ...], whole: bool) -> Iterator[tuple[int, list[Constraint]]]:
    """Signed conjunctions in which no difference is bounded on both sides, nor twice on one side."""
    lows: dict[_Difference, Fraction] = {}
    highs: dict[_Difference, Fraction] = {}
    single = []
    for constraint in constraints:
        match sorted(constraint.coefficients.items()):
            case []:
                if constraint.constant < 0:
                    return
            case [_]:
                single.append(constraint)
            case [(i, c), (j, d)]:
                form = ((i, Fraction(1)), (j, d / c))
                end = -constraint.constant / c
                if whole and abs(d) != abs(c):
                    raise NoOrder("a constraint weighs two integer noises differently")
                if c > 0:
                    end = Fraction(ceil(end)) if whole else end
                    lows[form] = max(lows.get(form, end), end)
                else:
                    end = -Fraction(ceil(-end)) if whole else end
                    highs[form] = min(highs.get(form, end), end)
            case more:
                raise NoOrder(f"a constraint relates {len(more)} noises")
    choices: list[list[tuple[int, Constraint]]] = []
    for form in {**lows, **highs}:
        low, high = lows.get(form), highs.get(form)
        if low is None:
            assert high is not None
            choices.append([(1, Constraint({i: -c for i, c in form}, high))])
            continue
        choices.append([(1, Constraint(dict(form), -low))])
        if high is not None:
            if high < low:
                return
            choices[-1].append((-1, Constraint(dict(form), -(high + 1 if whole else high))))
    if prod(len(choice) for choice in choices) > MOST_CONJUNCTIONS:
        raise NoOrder(f"ranges of differences split it into more than {MOST_CONJUNCTIONS} cases")
    for chosen in product(*choices):
        yield prod(sign for sign, _ in chosen), single + [constraint for _, constraint in chosen]


def _scales(start: int, about: dict[int, list[Constraint]]) -> dict[int, _Scale]:
    """(scale, zero) of all noises that hang together with `start`: at the border of a constraint Y_i = Y_j."""
    found = {start: (Fraction(1), Fraction(0))}
    used: set[int] = set()
    waiting = [start]
    for here in waiting:
        scale, zero = found[here]
        if max(x.bit_length() for x in (*scale.as_integer_ratio(), *zero.as_integer_ratio())) > MOST_BITS:
            raise NoOrder(f"on one scale its numbers have more than {MOST_BITS} bits")
        for constraint in about[here]:
            if len(constraint.coefficients) == 1 or id(constraint) in used:
                continue
            used.add(id(constraint))
            ((other, d),) = [term for term in constraint.coefficients.items() if term[0] != here]
            # c·X_here + d·X_other + constant = 0 gives Y_here as a function of X_other.
            c = constraint.coefficients[here]
            expected = (-scale * d / c, zero - scale * constraint.constant / c)
            if other not in found:
                found[other] = expected
                waiting.append(other)
            elif found[other] != expected:
                raise NoOrder("a cycle of constraints bounds distances")
    return found


def _below(i: int, upright: bool, about: list[Constraint]) -> frozenset[int]:
    """What must not be greater than variable i, whose scale is positive or not."""
    return frozenset(
        j
        for constraint in about
        if len(constraint.coefficients) == 2 and (constraint.coefficients[i] > 0) == upright
        for j in constraint.coefficients
        if j != i
    )


# === downsets ==================================================================================

#: Variables looked at, counted once for each set that they are in.
MOST_WORK = 1_000_000

#: A set of variables: bit i stands for variable i.
Set = int


@dataclass(frozen=True, slots=True)
class Last:
    """A variable that may be the greatest of a set, with the connected parts of the others."""

    variable: int
    parts: tuple[Set, ...]


@dataclass(frozen=True, slots=True)
class Downsets:
    """`lasts[s]` are the possible greatest variables of s; smaller sets come first, and the last one is everything.

    A set is downward closed: with a variable it has all that must not be greater. What its greatest variable leaves is
    so as well. Parts that are not connected say nothing of each other.
    """

    lasts: dict[Set, tuple[Last, ...]]
    whole: Set


def downsets(below: Below, most: int) -> Downsets | None:
    """The sets that taking away greatest variables leads to; None where they are more than `most`, or take too long.

    The variables are 0, 1, ...
    """
    count = len(below)
    above = [0] * count
    near = [0] * count
    for i, lower in below.items():
        for j in lower:
            above[j] |= 1 << i
            near[i] |= 1 << j
            near[j] |= 1 << i
    whole = (1 << count) - 1
    lasts: dict[Set, tuple[Last, ...]] = {}
    waiting = [whole]
    work = 0
    while waiting:
        here = waiting.pop()
        if here in lasts:
            continue
        if len(lasts) >= most:
            return None
        found = []
        for i in range(count):
            if here >> i & 1 and not above[i] & here:
                work += here.bit_count()
                if work > MOST_WORK:
                    return None
                parts = _connected(here & ~(1 << i), near)
                found.append(Last(i, parts))
                waiting.extend(parts)
        lasts[here] = tuple(found)
    return Downsets(dict(sorted(lasts.items(), key=lambda item: item[0].bit_count())), whole)


def _connected(members: Set, near: list[Set]) -> tuple[Set, ...]:
    parts = []
    while members:
        part = edge = members & -members
        while edge:
            i = edge.bit_length() - 1
            edge &= ~(1 << i)
            fresh = near[i] & members & ~part
            part |= fresh
            edge |= fresh
        parts.append(part)
        members &= ~part
    return tuple(parts)


def reflected(below: Below) -> Below:
    """What must not be greater among the variables -Y."""
    above: dict[int, set[int]] = {i: set() for i in below}
    for i, lower in below.items():
        for j in lower:
            above[j].add(i)
    return {i: frozenset(higher) for i, higher in above.items()}


# === sweep =====================================================================================

#: Π (1 - e^{-d·eps})^m over pairs (d, m), sorted.
Poles = tuple[tuple[int, int], ...]

#: c·eps^k·e^{q·eps}·T^n·e^{l·T}/poles by (k, q, n, l, poles).
Function = dict[tuple[int, int, int, int, Poles], Fraction]

#: c·eps^k·e^{q·eps}/poles by (k, q, poles).
Value = dict[tuple[int, int, Poles], Fraction]

#: Steps of a budget that the making of one term takes, without poles and with them.
_STEPS = 5
_WHOLE_STEPS = 15

_ZERO = Fraction(0)
_ONE: Function = {(0, 0, 0, 0, ()): Fraction(1)}


@dataclass(frozen=True, slots=True)
class Density:
    """factor·e^{-rate·eps·|Y - mean|} for low <= Y < end, None for infinity, and 0 elsewhere; lengths and rates are
    integers."""

    rate: int
    mean: int
    factor: Fraction
    low: int | None
    end: int | None

    def points(self) -> Iterable[int]:
        """Where the density changes its form."""
        return (p for p in (self.low, self.mean, self.end) if p is not None)

    def on(self, left: int | None, right: int | None) -> tuple[int, int] | None:
        """(q, l) with the density factor·e^{q·eps + l·T} on the interval, None where it is 0 there."""
        if self.low is not None and (left is None or left < self.low):
            return None
        if self.end is not None and (right is None or right > self.end):
            return None
        slope = -self.rate if left is not None and left >= self.mean else self.rate
        base = right if left is None else left
        assert base is not None
        return slope * (base - self.mean), slope


@dataclass(slots=True)
class Sweep:
    """One sweep over densities by variable. `whole`: the variables are integers, in the order of their ranks, and no
    variable has one of greater rank below it."""

    densities: list[Density]
    sets: Downsets
    whole: bool
    budget: Budget
    step: str
    _ends: dict[Set, Value] = field(default_factory=dict)
    _known: dict[tuple[Set, int], Function] = field(default_factory=dict)
    _products: dict[tuple[tuple[Set, ...], int], Function] = field(default_factory=dict)

    def probability(self) -> Value:
        """The limit of F of everything at infinity."""
        points = sorted({p for density in self.densities for p in density.points()})
        for left, right in zip([None, *points], [*points, None], strict=True):
            self._cross(left, right)
        return self._ends[self.sets.whole]

    def _cross(self, left: int | None, right: int | None) -> None:
        """All functions on one interval, from their values at its left end to those at its right end."""
        forms = [density.on(left, right) for density in self.densities]
        self._known.clear()
        self._products.clear()
        ends: dict[Set, Value] = {}
        for here in self.sets.lasts:
            change = self._change(here, forms, len(forms))
            grown = (_summed if self.whole else _integral)(change, left is None)
            for (k, q, poles), c in self._ends.get(here, {}).items():
                _increase(grown, (k, q, 0, 0, poles), c)
            self._spend(2 * len(change) + 2 * len(grown), _bits(grown))
            self._known[here, 0] = grown
            width = 0 if left is None or right is None else right - left
            ends[here] = self._value(grown, width) if right is not None else _limit(grown)
        self._ends = ends

    def _change(self, here: Set, forms: list[tuple[int, int] | None], ranks: int) -> Function:
        """The derivative of F, or what variables of ranks below `ranks` at this very place add to it."""
        total: Function = {}
        for last in self.sets.lasts[here]:
            form = forms[last.variable]
            if form is None or last.variable >= ranks:
                continue
            factor = self.densities[last.variable].factor
            rest = self._product(last.parts, forms, last.variable if self.whole else 0)
            self._spend(len(rest))
            for (k, q, n, l, poles), c in rest.items():
                _increase(total, (k, q + form[0], n, l + form[1], poles), c * factor)
        return total

    def _product(self, parts: tuple[Set, ...], forms: list[tuple[int, int] | None], ranks: int) -> Function:
        """Π F over independent sets, counting those at this very place if their rank is below `ranks`."""
        known = self._products.get((parts, ranks))
        if known is None:
            if len(parts) > 1:
                known = self._times(self._product(parts[:-1], forms, ranks), self._product(parts[-1:], forms, ranks))
            elif parts:
                known = self._below(parts[0], forms, ranks)
            else:
                known = _ONE
            self._products[parts, ranks] = known
        return known

    def _below(self, here: Set, forms: list[tuple[int, int] | None], ranks: int) -> Function:
        known = self._known.get((here, ranks))
        if known is None:
            known = dict(self._known[here, 0])
            for key, c in self._change(here, forms, ranks).items():
                _increase(known, key, c)
            self._known[here, ranks] = known
        return known

    def _times(self, f: Function, g: Function) -> Function:
        self._spend(len(f) * len(g), _bits(f) + _bits(g))
        result: Function = {}
        for (k, q, n, l, poles), c in f.items():
            for (k2, q2, n2, l2, poles2), d in g.items():
                _increase(result, (k + k2, q + q2, n + n2, l + l2, joined_poles(poles, poles2)), c * d)
        return result

    def _spend(self, terms: int, bits: int = 0) -> None:
        """Count the making of so many terms."""
        self.budget.spend((_WHOLE_STEPS if self.whole else _STEPS) * terms, self.step, bits)

    def _value(self, f: Function, width: int) -> Value:
        """f at the distance `width` from the left end."""
        result: Value = {}
        for (k, q, n, l, poles), c in f.items():
            # A continuous T is eps·width; integers are not scaled.
            key = (k if self.whole else k + n, q + l * width, poles)
            total = result.get(key, _ZERO) + (c * width**n if n else c)
            if total:
                result[key] = total
            else:
                result.pop(key, None)
        return result


def _increase(f: Function, key: tuple[int, int, int, int, Poles], c: Fraction) -> None:
    total = f.get(key, _ZERO) + c
    if total:
        f[key] = total
    else:
        f.pop(key, None)


_P = TypeVar("_P", int, Fraction)


def joined_poles(left: tuple[tuple[_P, int], ...], right: tuple[tuple[_P, int], ...]) -> tuple[tuple[_P, int], ...]:
    """The product of two products of poles."""
    if not left or not right:
        return left or right
    powers = dict(left)
    for d, m in right:
        powers[d] = powers.get(d, 0) + m
    return tuple(sorted(powers.items()))


def _bits(f: Function) -> int:
    return max((c.numerator.bit_length() + c.denominator.bit_length() for c in f.values()), default=0)


def _limit(f: Function) -> Value:
    """f at infinity, where it tends to a limit: densities decay."""
    assert all(l < 0 or (l == 0 and n == 0) for _, _, n, l, _ in f)
    return {(k, q, poles): c for (k, q, n, l, poles), c in f.items() if l == 0}


# --- integrals -------------------------------------------------------------------------------------


def _integral(f: Function, from_infinity: bool) -> Function:
    """T -> the integral of f from 0, or from -∞ where f decays, to T."""
    result: Function = {}
    for (k, q, n, l, poles), c in f.items():
        if l == 0:
            _increase(result, (k, q, n + 1, 0, poles), c / (n + 1))
            continue
        # By parts: the integral of T^n·e^{lT} is T^n·e^{lT}/l less n/l times that of T^(n-1)·e^{lT}.
        factor = c / l
        for power in range(n, -1, -1):
            _increase(result, (k, q, power, l, poles), factor)
            if power:
                factor *= Fraction(-power, l)
        if not from_infinity:
            _increase(result, (k, q, 0, 0, poles), -factor)
    return result


# --- sums ------------------------------------------------------------------------------------------


def _summed(f: Function, from_infinity: bool) -> Function:
    """T -> the sum of f over the integers from 0, or from -∞ where f decays, to T - 1."""
    result: Function = {}
    for (k, q, n, l, poles), c in f.items():
        if l == 0:
            for power, factor in power_sum(n):
                _increase(result, (k, q, power, 0, poles), c * factor)
            continue
        for power, shift, order, multiple in geometric_sum(n, l > 0):
            moved, divided = q - shift * abs(l), joined_poles(poles, ((abs(l), order),))
            _increase(result, (k, moved, power, l, divided), c * multiple)
            if power == 0 and not from_infinity:
                _increase(result, (k, moved, 0, 0, divided), -c * multiple)
    return result


@cache
def power_sum(n: int) -> tuple[tuple[int, Fraction], ...]:
    """The polynomial S with S(t+1) - S(t) = t^n and S(0) = 0, as pairs (power, coefficient)."""
    # (t+1)^(n+1) - t^(n+1) = Σ_{j<=n} C(n+1, j)·t^j.
    total = {n + 1: Fraction(1, n + 1)}
    for j in range(n):
        for power, c in power_sum(j):
            total[power] = total.get(power, _ZERO) - comb(n + 1, j) * c / (n + 1)
    return tuple((power, c) for power, c in total.items() if c)


@cache
def geometric_sum(n: int, growing: bool) -> tuple[tuple[int, int, int, int], ...]:
    """p = Σ c·t^power·z^shift/(1 - z)^order with e^l·p(t+1) - p(t) = t^n, where z = e^{-|l|}; l > 0 if `growing`.

    Then e^{lt}·p(t) sums t^n·e^{lt}.
    """
    # The coefficient of t^j: (e^l - 1)·p_j = [j = n] - e^l·Σ_{m>j} C(m, j)·p_m. For l > 0, 1/(e^l - 1) = z/(1-z) and
    # e^l/(e^l - 1) = 1/(1-z); for l < 0 they are -1/(1-z) and -z/(1-z).
    first, onward = ((1, 1), (0, -1)) if growing else ((0, -1), (1, 1))
    parts: dict[int, dict[tuple[int, int], int]] = {n: {(first[0], 1): first[1]}}
    for j in range(n - 1, -1, -1):
        parts[j] = {}
        for m in range(j + 1, n + 1):
            for (shift, order), times in parts[m].items():
                key = (shift + onward[0], order + 1)
                parts[j][key] = parts[j].get(key, 0) + onward[1] * comb(m, j) * times
    return tuple((j, shift, order, times) for j, part in parts.items() for (shift, order), times in part.items())
