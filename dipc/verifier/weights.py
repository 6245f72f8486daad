"""Weights of the states of a run without `while`, as polynomials with integer coefficients over known denominators.

A weight is numerator/(unit·Π factors). The numerator is Σ c·eps^k·e^{q·eps/scale} with integers c and q. The factors
are the denominators of the steps. Most weights that are added have one denominator, so that only their numerators are
added. A factor that divides the numerator is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm

from dipc.verifier.functions import ONE, Closed, Integral, Ring, common_multiple, integer_quotient, integral, multiply
from dipc.verifier.reading import Budget

#: The most different denominators, and the most bits of an exponent.
MOST_FACTORS, MOST_EXPONENT_BITS = 6, 30


@dataclass(frozen=True, slots=True)
class _Weight:
    """The function numerator/(unit·Π factor^power) over the `factors` of `Weights`.

    `unit` is an integer, and `powers` has the power of each factor, in the order of the factors.
    """

    numerator: Integral
    unit: int
    powers: tuple[int, ...]


@dataclass
class Weights:
    """An arithmetic of the weights of one run; exponents are multiples of 1/`scale`.

    `factors` are the different denominators in the weights of the run's steps, each divided by the common factor of its
    coefficients.
    """

    scale: int
    factors: Sequence[Integral]
    budget: Budget
    _steps: dict[int, _Weight] = field(default_factory=dict)

    @staticmethod
    def from_steps(steps: Sequence[Sequence[tuple[int, Closed]]], budget: Budget) -> Weights | None:
        """Return the arithmetic of the weights in `steps`, lists of (goal, weight) by state.

        Charges its work to `budget`. Return None if there are too many exponents or denominators, or if they are too
        long.
        """
        distinct = {id(weight): weight for row in steps for _, weight in row}
        budget.spend(sum(map(len, steps)) + 20 * len(distinct))
        rings = [ring for weight in distinct.values() for ring in weight]
        scale = common_multiple((q.denominator for ring in rings for _, q in ring), budget)
        if scale.bit_length() > MOST_EXPONENT_BITS:
            return None
        if any((q.numerator * scale).bit_length() > MOST_EXPONENT_BITS for ring in rings for _, q in ring):
            return None
        factors: list[Integral] = []
        parts: dict[int, tuple[Integral, int, int | None]] = {}
        for number, (above, below) in distinct.items():
            budget.spend(8 * (len(above) + len(below)))
            unit, numerator = integral(above, scale, budget)
            factor = None
            if below != ONE:
                other, divisor = integral(below, scale, budget)
                common = gcd(*divisor.values())
                divisor = {key: c // common for key, c in divisor.items()}
                ratio = Fraction(other, unit * common)
                numerator = {key: c * ratio.numerator for key, c in numerator.items()}
                unit = ratio.denominator
                if divisor not in factors:
                    factors.append(divisor)
                factor = factors.index(divisor)
            parts[number] = numerator, unit, factor
        if len(factors) > MOST_FACTORS:
            return None
        result = Weights(scale, factors, budget)
        for number, (numerator, unit, factor) in parts.items():
            powers = tuple(int(place == factor) for place in range(len(factors)))
            result._steps[number] = _Weight(numerator, unit, powers)
        return result

    def certainty(self) -> _Weight:
        return _Weight({(0, 0): 1}, 1, (0,) * len(self.factors))

    def times(self, weight: _Weight, step: Closed) -> _Weight:
        """Return `weight` times `step`, which must be the weight of one step of the run."""
        own = self._steps[id(step)]
        if own.numerator == {(0, 0): 1} and own.unit == 1 and not any(own.powers):
            return weight
        powers = tuple([a + b for a, b in zip(weight.powers, own.powers, strict=True)])
        return _Weight(self._product(weight.numerator, own.numerator), weight.unit * own.unit, powers)

    def plus(self, one: _Weight, other: _Weight) -> _Weight:
        """Return the sum of the weights `one` and `other`, without factors that divide its numerator."""
        powers = one.powers
        if powers != other.powers:
            powers = tuple(map(max, one.powers, other.powers))
            one, other = self._expanded(one, powers), self._expanded(other, powers)
        unit = lcm(one.unit, other.unit)
        mine, theirs = unit // one.unit, unit // other.unit
        self.budget.spend(len(one.numerator) + len(other.numerator), unit.bit_length())
        total = {key: c * mine for key, c in one.numerator.items()}
        for key, c in other.numerator.items():
            total[key] = total.get(key, 0) + c * theirs
        return self._shortened({key: c for key, c in total.items() if c}, unit, powers)

    def closed(self, weight: _Weight) -> Closed:
        """Return `weight` as a quotient of functions of eps."""
        below: Ring = ONE
        for factor, power in zip(self.factors, weight.powers, strict=True):
            for _ in range(power):
                below = multiply(below, self._ring(factor, 1), self.budget)
        return self._ring(weight.numerator, weight.unit), below

    def _ring(self, numerator: Integral, unit: int) -> Ring:
        self.budget.spend(8 * len(numerator), unit.bit_length())
        return {(k, Fraction(q, self.scale)): Fraction(c, unit) for (q, k), c in numerator.items()}

    def _expanded(self, weight: _Weight, powers: Sequence[int]) -> _Weight:
        numerator = weight.numerator
        for factor, power, own in zip(self.factors, powers, weight.powers, strict=True):
            for _ in range(power - own):
                numerator = self._product(numerator, factor)
        return _Weight(numerator, weight.unit, tuple(powers))

    def _shortened(self, numerator: Integral, unit: int, powers: tuple[int, ...]) -> _Weight:
        left = list(powers)
        for place, factor in enumerate(self.factors):
            while left[place]:
                quotient = integer_quotient(numerator, factor, self.budget)
                if quotient is None:
                    break
                numerator = quotient
                left[place] -= 1
        if unit > 1:
            common = gcd(unit, *numerator.values())
            if common > 1:
                unit //= common
                numerator = {key: c // common for key, c in numerator.items()}
        return _Weight(numerator, unit, tuple(left))

    def _product(self, one: Integral, other: Integral) -> Integral:
        if len(other) > len(one):
            one, other = other, one
        bits = _bits(one) + _bits(other)
        self.budget.spend(2 * len(one) * len(other), bits)
        result: Integral = {}
        for (q, k), c in other.items():
            for (p, j), d in one.items():
                key = q + p, k + j
                result[key] = result.get(key, 0) + c * d
        return {key: c for key, c in result.items() if c}


def _bits(polynomial: Mapping[tuple[int, int], int]) -> int:
    return max((c.bit_length() for c in polynomial.values()), default=0)
