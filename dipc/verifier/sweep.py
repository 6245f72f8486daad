"""The probability of an order of independent noises, by one sweep from -∞ to ∞.

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

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from math import comb
from typing import TypeVar

from dipc.verifier.budget import Budget
from dipc.verifier.downsets import Downsets, Set

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
