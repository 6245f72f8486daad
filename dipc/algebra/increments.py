"""Sums of independent integers whose weights are closed forms, without the weight of every sum.

A sum of many like integers has few different factors Σ weight·u^value, each to a high power. The weight of all sums
from some number on is that of the pairs (i, j) with i + j >= number, for i from some factors and j from the others. The
pairs are cut into rectangles that lie inside, each a product of two sums: polynomials are multiplied as a whole, and
few times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb

from dipc.algebra.absorption import Arithmetic
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits, Meter
from dipc.algebra.quotient import Closed, fraction_of, positive_divisor, simplest

#: The values >= 0 of one integer with their weights, by increasing value.
Factor = tuple[tuple[int, Closed], ...]

#: Values with weights over a common denominator.
_Values = dict[int, ExpPoly]


class SumOfIncrements:
    """The sum of independent integers >= 0; of each factor there are as many as it is mapped to."""

    def __init__(self, factors: Mapping[Factor, int], limits: Limits) -> None:
        """Raises LimitReached where there are too many different ones."""
        self._arithmetic = Arithmetic(Meter(limits))
        self._denominator = ExpPoly.one()
        powers: list[_Values] = [{0: ExpPoly.one()}, {0: ExpPoly.one()}]
        for factor, count in factors.items():
            common, values = _over_common(factor)
            self._denominator = self._denominator * common**count
            powers.append(self._power(values, count))
        powers.sort(key=len)
        first = powers[0]
        for more in powers[1:-1]:
            first = self._product(first, more)
        self._first, self._second = _tree(first), _tree(powers[-1])

    def weight(self, sums: Iterable[int]) -> Closed:
        """The total weight of these sums. Raises LimitReached."""
        total = ExpPoly.zero()
        for low, high in _runs(sorted(sums)):
            if low == high:
                total = total + self._of(low)
            else:
                total = total + self._from(self._first, self._second, low)
                total = total - self._from(self._first, self._second, high + 1)
        self._arithmetic.meter.size(len(total))
        return simplest(self._arithmetic.quotient(total, self._denominator))

    def _of(self, number: int) -> ExpPoly:
        """The numerator of one sum."""
        others = self._second.values
        pairs = [(value, others[number - i]) for i, value in self._first.values.items() if number - i in others]
        return self._sum([self._arithmetic.product(left, right) for left, right in pairs])

    def _from(self, left: _Tree, right: _Tree, least: int) -> ExpPoly:
        """The numerator of all sums from `least` on."""
        if left.low + right.low >= least:
            return self._arithmetic.product(left.total, right.total)
        if left.high + right.high < least:
            return ExpPoly.zero()
        if right.halves is not None and (left.halves is None or len(right.values) > len(left.values)):
            left, right = right, left
        assert left.halves is not None, "one pair is on one side"
        one, other = left.halves
        return self._from(one, right, least) + self._from(other, right, least)

    def _power(self, values: _Values, count: int) -> _Values:
        """The sum of so many integers with these weights."""
        if len(values) > 2:
            half = self._power(values, count // 2) if count > 1 else {0: ExpPoly.one()}
            square = self._product(half, half)
            return self._product(square, values) if count % 2 else square
        (low, first), *rest = values.items()
        if not rest:
            return {low * count: first**count}
        ((high, second),) = rest
        falling, rising = self._powers(first, count), self._powers(second, count)
        return {
            low * (count - k) + high * k: self._arithmetic.product(falling[count - k], rising[k]) * comb(count, k)
            for k in range(count + 1)
        }

    def _powers(self, value: ExpPoly, count: int) -> list[ExpPoly]:
        powers = [ExpPoly.one()]
        for _ in range(count):
            powers.append(self._arithmetic.product(powers[-1], value))
        return powers

    def _product(self, left: _Values, right: _Values) -> _Values:
        found: _Values = {}
        for i, first in left.items():
            for j, second in right.items():
                product = self._arithmetic.product(first, second)
                found[i + j] = found[i + j] + product if i + j in found else product
        return dict(sorted(found.items()))

    def _sum(self, parts: Sequence[ExpPoly]) -> ExpPoly:
        if len(parts) <= 1:
            return parts[0] if parts else ExpPoly.zero()
        middle = len(parts) // 2
        return self._sum(parts[:middle]) + self._sum(parts[middle:])


@dataclass(frozen=True)
class _Tree:
    """Values by increasing number, and the two halves of several."""

    values: _Values
    halves: tuple[_Tree, _Tree] | None

    @property
    def low(self) -> int:
        return next(iter(self.values))

    @property
    def high(self) -> int:
        return next(reversed(self.values))

    @cached_property
    def total(self) -> ExpPoly:
        """The sum of all."""
        if self.halves is None:
            (value,) = self.values.values()
            return value
        one, other = self.halves
        return one.total + other.total


def _tree(values: _Values) -> _Tree:
    if len(values) == 1:
        return _Tree(values, None)
    items = list(values.items())
    middle = len(items) // 2
    return _Tree(values, (_tree(dict(items[:middle])), _tree(dict(items[middle:]))))


def _over_common(factor: Factor) -> tuple[ExpPoly, _Values]:
    """The weights over their least common denominator, which is positive, and that."""
    common = ExpPoly.one()
    for _, weight in factor:
        _, below = fraction_of(weight)
        shared = positive_divisor(below, common)
        common = common * (below if shared is None else below.exact_quotient(shared))
    values: _Values = {}
    for value, weight in factor:
        above, below = fraction_of(weight)
        values[value] = above * common.exact_quotient(below)
    return common, values


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """The first and the last of numbers that follow each other."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs
