"""Integer polynomials G(t, z) read as functions t -> G(t, e^{-t}) of t > 0."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from dipc.verifier.budget import Budget
from dipc.verifier.enclosure import combination, powers
from dipc.verifier.reading import integer, items, natural, triple
from dipc.verifier.rejection import Rejected
from dipc.verifier.ring import Ring, common_multiple

#: Exponents j and powers k that are read; a longer exponent is a text.
MOST_EXPONENT = 10**12
MOST_LONG_EXPONENT = 10**100
MOST_POWER = 10_000

_FIRST_BITS = 64


def _exponent(value: object, step: str) -> int:
    if isinstance(value, str) and MOST_EXPONENT < integer(value, step) <= MOST_LONG_EXPONENT:
        return integer(value, step)
    return natural(value, step, MOST_EXPONENT)


@dataclass(frozen=True)
class Curve:
    """Σ c·t^k·e^{-j·t} over triples (j, k, c), increasing, c an integer other than 0, no (j, k) twice."""

    terms: tuple[tuple[int, int, int], ...]

    @staticmethod
    def of(sums: dict[tuple[int, int], int]) -> Curve:
        """Of a dictionary (j, k) -> c."""
        return Curve(tuple((j, k, c) for (j, k), c in sorted(sums.items()) if c))

    @staticmethod
    def read(value: object, step: str) -> Curve:
        """Of a list of [j, k, "c"] in this order; at least one."""
        result: list[tuple[int, int, int]] = []
        for item in items(value, step):
            j, k, c = triple(item, step)
            term = (_exponent(j, step), natural(k, step, MOST_POWER), integer(c, step))
            if not term[2]:
                raise Rejected(step, "a term has the coefficient 0")
            if result and term[:2] <= result[-1][:2]:
                raise Rejected(step, "the terms are not in increasing order")
            result.append(term)
        if not result:
            raise Rejected(step, "a factor is 0")
        return Curve(tuple(result))

    @cached_property
    def columns(self) -> tuple[tuple[int, tuple[tuple[int, int], ...]], ...]:
        """For each j, increasing, the pairs (k, c)."""
        found: dict[int, list[tuple[int, int]]] = {}
        for j, k, c in self.terms:
            found.setdefault(j, []).append((k, c))
        return tuple((j, tuple(column)) for j, column in found.items())

    @cached_property
    def degree(self) -> int:
        """The greatest power of t."""
        return max((k for _, k, _ in self.terms), default=0)

    @cached_property
    def bits(self) -> int:
        """Of the longest coefficient."""
        return max((c.bit_length() for _, _, c in self.terms), default=0)

    @cached_property
    def derivative(self) -> Curve:
        """d/dt: t^k·e^{-jt} becomes k·t^{k-1}·e^{-jt} - j·t^k·e^{-jt}."""
        sums: dict[tuple[int, int], int] = {}
        for j, k, c in self.terms:
            for key, value in (((j, k - 1), k * c), ((j, k), -j * c)):
                if value:
                    sums[key] = sums.get(key, 0) + value
        return Curve.of(sums)

    def sign_at(self, t: Fraction, budget: Budget, step: str) -> int:
        """The sign at a rational t > 0."""
        budget.spend(len(self.terms), step, self.bits + self.degree * _height(t))
        return sign_of_sum(
            {j: sum((c * t**k for k, c in column), Fraction(0)) for j, column in self.columns}, t, budget, step
        )


def sign_of_sum(values: dict[int, Fraction], x: Fraction, budget: Budget, step: str) -> int:
    """The sign of Σ values[j]·e^{-j·x}, for rational x > 0 and natural j.

    0 only where all the values are 0: e^{-x} is transcendental (Lindemann).
    """
    exponents = sorted(j for j, value in values.items() if value)
    if not exponents:
        return 0
    common = common_multiple((values[j].denominator for j in exponents), budget, step)
    bits = common.bit_length() + max(values[j].numerator.bit_length() for j in exponents)
    budget.spend(len(exponents), step, bits)
    whole = [int(values[j] * common) for j in exponents]
    if len({value > 0 for value in whole}) == 1:
        return 1 if whole[0] > 0 else -1
    least = exponents[0]
    exponents = [j - least for j in exponents]
    bits = _FIRST_BITS + max(value.bit_length() for value in whole) - whole[0].bit_length()
    while True:
        budget.spend(len(whole), step, bits + max(value.bit_length() for value in whole))
        low, high = combination(whole, powers(exponents, x, bits, budget, step))
        if low > 0:
            return 1
        if high < 0:
            return -1
        bits *= 2


def sign_of_ring(function: Ring, eps: Fraction, budget: Budget, step: str) -> int:
    """The sign of an exponential polynomial at a rational eps > 0; 0 only where it is 0 there, exactly."""
    if not function:
        return 0
    bits = max(_height(c) for c in function.values()) + max(k for k, _ in function) * _height(eps)
    budget.spend(len(function), step, bits)
    unit = common_multiple((q.denominator for _, q in function), budget, step)
    budget.spend(len(function), step, unit.bit_length() + max(_height(q) for _, q in function))
    top = max(q for _, q in function)
    values: dict[int, Fraction] = {}
    for (k, q), c in function.items():
        j = int((top - q) * unit)
        known, term = values.get(j, Fraction(0)), c * eps**k
        budget.spend(1, step, _height(known) + _height(term))
        values[j] = known + term
    return sign_of_sum(values, eps / unit, budget, step)


def product(factors: Iterable[tuple[Curve, int]], budget: Budget, step: str) -> Curve:
    """Π curve^multiplicity, multiplied out."""
    result: dict[tuple[int, int], int] = {(0, 0): 1}
    for curve, multiplicity in factors:
        for _ in range(multiplicity):
            budget.spend(1, step)
            if result == {(0, 0): 1}:
                result = {(j, k): c for j, k, c in curve.terms}
                continue
            bits = curve.bits + max(c.bit_length() for c in result.values())
            budget.spend(len(result) * len(curve.terms) + 1, step, bits)
            sums: dict[tuple[int, int], int] = {}
            for (j, k), c in result.items():
                for i, n, d in curve.terms:
                    key = (i + j, k + n)
                    sums[key] = sums.get(key, 0) + c * d
            result = {key: c for key, c in sums.items() if c}
    return Curve.of(result)


def _height(x: Fraction) -> int:
    return x.numerator.bit_length() + x.denominator.bit_length()
