"""Exponential polynomials with unknowns that are left open: alpha, gamma, dd, the number of queries.

Claim expressions are evaluated to them. A number in the place of an unknown, an unknown that grows without bound, a
function of the product unknown·eps alone, a polynomial in an unknown: all are views of the one value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import comb

from dipc.algebra.exppoly import ExpPoly

#: Terms of one claim expression after multiplying out, bits of its numbers on the way, and of those that it comes to:
#: the latter are printed, and Python prints no integer of more than 4300 digits.
TERM_LIMIT = 100_000
BIT_LIMIT = 100_000
RESULT_BIT_LIMIT = 13_000

#: Unknowns U, each with the power j and the rate r of U^j·e^{r·U·eps}, by name; none has j = r = 0.
Factors = tuple[tuple[str, int, Fraction], ...]

#: Where there is no unknown.
FLAT: Factors = ()


class TooLarge(Exception):
    """A product or power beyond the limits."""


@dataclass(frozen=True, slots=True)
class Parametric:
    """numerator / denominator as functions of eps > 0 and of unknowns, numbers >= 0.

    The numerator is Σ coefficient(eps)·Π U^j·e^{r·U·eps}; no coefficient is zero. The denominator depends on no unknown
    and is not the zero function. Two with the same denominator are the same function exactly if they are equal.
    """

    numerator: dict[Factors, ExpPoly]
    denominator: ExpPoly

    @staticmethod
    def of(value: ExpPoly) -> Parametric:
        return Parametric({} if value.is_zero() else {FLAT: value}, _ONE)

    @staticmethod
    def number(value: Fraction | int) -> Parametric:
        return Parametric.of(ExpPoly.constant(value))

    @staticmethod
    def unknown(name: str) -> Parametric:
        """The unknown itself."""
        return Parametric({((name, 1, _NONE),): _ONE}, _ONE)

    # --- looking ----------------------------------------------------------------------------------

    def unknowns(self) -> frozenset[str]:
        """The names of the unknowns that it depends on."""
        return frozenset(name for factors in self.numerator for name, _, _ in factors)

    def is_flat(self) -> bool:
        """Whether it depends on no unknown."""
        return self.numerator.keys() <= {FLAT}

    def flat(self) -> ExpPoly | None:
        """The value where it is an exponential polynomial that depends on no unknown, else None."""
        return self.numerator_flat() if self.denominator == _ONE and self.is_flat() else None

    def numerator_flat(self) -> ExpPoly:
        """The numerator of a value that depends on no unknown."""
        assert self.is_flat()
        return self.numerator.get(FLAT, _ZERO)

    def constant(self) -> Fraction | None:
        """The value where it is a rational number, else None."""
        flat = self.flat()
        if flat is None:
            return None
        terms = flat.terms()
        if not terms:
            return Fraction(0)
        (k, q, c), *more = terms
        return None if more or k or q else c

    def terms(self) -> Iterator[tuple[int, Fraction, Factors, Fraction]]:
        """(k, q, factors, c) for the summands c·eps^k·e^{q·eps}·Π U^j·e^{r·U·eps} of the numerator."""
        return ((k, q, factors, c) for factors, value in self.numerator.items() for k, q, c in value.terms())

    def bits(self) -> int:
        """Of the longest integer in a coefficient or an exponent."""
        terms = [*self.terms(), *((k, q, FLAT, c) for k, q, c in self.denominator.terms())]
        numbers = [number for _, q, factors, c in terms for number in (q, c, *(r for _, _, r in factors))]
        return max((max(abs(n.numerator), n.denominator).bit_length() for n in numbers), default=0)

    # --- arithmetic -------------------------------------------------------------------------------

    def __neg__(self) -> Parametric:
        return Parametric({factors: -value for factors, value in self.numerator.items()}, self.denominator)

    def __add__(self, other: Parametric) -> Parametric:
        if self.denominator == other.denominator:
            left, right, denominator = self.numerator, other.numerator, self.denominator
        else:
            left = _times(self.numerator, {FLAT: other.denominator})
            right = _times(other.numerator, {FLAT: self.denominator})
            denominator = _product(self.denominator, other.denominator)
        total = dict(left)
        for factors, value in right.items():
            total[factors] = total[factors] + value if factors in total else value
        return Parametric(_pruned(total), denominator)

    def __mul__(self, other: Parametric) -> Parametric:
        return Parametric(_times(self.numerator, other.numerator), _product(self.denominator, other.denominator))

    def __truediv__(self, other: Parametric) -> Parametric | None:
        """The quotient, None where the divisor depends on an unknown in another way than as c·e^{(q + r·U)·eps}.
        ZeroDivisionError for zero."""
        if not other.numerator:
            raise ZeroDivisionError
        (factors, divisor), *more = other.numerator.items()
        if more or any(j for _, j, _ in factors):
            return None
        numerator = _times(self.numerator, {tuple((name, 0, -r) for name, _, r in factors): other.denominator})
        if divisor.is_unit():
            ((_, q, c),) = divisor.terms()
            return Parametric(_times(numerator, {FLAT: ExpPoly.term(1 / c, 0, -q)}), self.denominator)
        return Parametric(numerator, _product(self.denominator, divisor))

    def power(self, exponent: int) -> Parametric:
        """The power, for exponent >= 0."""
        if exponent == 0:
            return Parametric.number(1)
        if len(self.numerator) > 1:
            result = self
            for _ in range(exponent - 1):
                result = result * self
            return result
        return Parametric(
            {
                tuple((name, j * exponent, r * exponent) for name, j, r in factors): _power(value, exponent)
                for factors, value in self.numerator.items()
            },
            _power(self.denominator, exponent),
        )

    def exponential(self) -> Parametric | None:
        """exp of this, where this is eps·(q + Σ r·U) with rational q and r, else None."""
        rate = Fraction(0)
        rates: list[tuple[str, int, Fraction]] = []
        if self.denominator != _ONE:
            return None
        for k, q, factors, c in self.terms():
            if k != 1 or q or len(factors) > 1 or any(j != 1 or r for _, j, r in factors):
                return None
            if factors:
                rates.append((factors[0][0], 0, c))
            else:
                rate = c
        return Parametric({tuple(sorted(rates)): ExpPoly.term(1, 0, rate)}, _ONE)

    # --- unknowns ---------------------------------------------------------------------------------

    def substituted(self, values: Mapping[str, Parametric]) -> Parametric | None:
        """The same function with values in the place of some unknowns; None where it is then none of this kind.

        The values are numbers >= 0, or take such values wherever they are asked about.
        """
        numbers = {name: number for name, value in values.items() if (number := value.constant()) is not None}
        collected: dict[Factors, list[tuple[int, Fraction, Fraction]]] = {}
        for k, q, factors, c in self.terms():
            for name, j, r in factors:
                if name in numbers:
                    q, c = q + r * numbers[name], c * numbers[name] ** j
            left = tuple(factor for factor in factors if factor[0] not in numbers)
            collected.setdefault(left, []).append((k, q, c))
        numerator = _pruned({factors: ExpPoly.from_terms(terms) for factors, terms in collected.items()})
        result = Parametric(numerator, self.denominator)
        return result if values.keys() == numbers.keys() else result._with_functions(values)

    def _with_functions(self, values: Mapping[str, Parametric]) -> Parametric | None:
        total = Parametric({}, self.denominator)
        for factors, coefficient in self.numerator.items():
            left = tuple(factor for factor in factors if factor[0] not in values)
            summand = Parametric({left: coefficient}, self.denominator)
            for name, j, r in factors:
                if name in values:
                    exponent = values[name] * Parametric.of(ExpPoly.term(r, 1))
                    exponential = exponent.exponential()
                    if exponential is None:
                        return None
                    summand = summand * values[name].power(j) * exponential
            total = total + summand
        return total

    def derivative(self, name: str) -> Parametric:
        """The derivative by an unknown."""
        collected: dict[Factors, list[tuple[int, Fraction, Fraction]]] = {}
        for k, q, factors, c in self.terms():
            j, r = next(((j, r) for other, j, r in factors if other == name), (0, _NONE))
            lower = ((name, j - 1, r),) if j > 1 or (j and r) else ()
            less = tuple(sorted((*(factor for factor in factors if factor[0] != name), *lower)))
            collected.setdefault(less, []).append((k, q, c * j))
            collected.setdefault(factors, []).append((k + 1, q, c * r))
        numerator = {factors: ExpPoly.from_terms(terms) for factors, terms in collected.items()}
        return Parametric(_pruned(numerator), self.denominator)

    def limit(self) -> Parametric | None:
        """The limit for unknowns that all grow without bound, in any way, for every eps > 0; None if there is none."""
        if any(r >= 0 for factors in self.numerator for _, _, r in factors):
            return None
        return Parametric({FLAT: self.numerator[FLAT]} if FLAT in self.numerator else {}, self.denominator)

    def in_product(self) -> ExpPoly | None:
        """The function g with this = g(U·eps) for the only unknown U; None where this is not of this kind.

        Such a function is Σ c·(U·eps)^j·e^{r·U·eps} with rational c; g is Σ c·t^j·e^{r·t}.
        """
        if self.denominator != _ONE or len(self.unknowns()) > 1:
            return None
        terms: list[tuple[int, Fraction, Fraction]] = []
        for k, q, factors, c in self.terms():
            j, r = factors[0][1:] if factors else (0, _NONE)
            if k != j or q:
                return None
            terms.append((j, r, c))
        return ExpPoly.from_terms(terms)

    def powers(self, name: str) -> dict[int, Parametric] | None:
        """By power, the coefficients of this as a polynomial in the unknown, none zero; None where it is none."""
        found: dict[int, dict[Factors, ExpPoly]] = {}
        for factors, value in self.numerator.items():
            power = 0
            for other, j, r in factors:
                if other == name:
                    if r:
                        return None
                    power = j
            found.setdefault(power, {})[tuple(factor for factor in factors if factor[0] != name)] = value
        return {power: Parametric(numerator, self.denominator) for power, numerator in found.items()}


_NONE = Fraction(0)
_ZERO = ExpPoly.zero()
_ONE = ExpPoly.one()


def _pruned(values: dict[Factors, ExpPoly]) -> dict[Factors, ExpPoly]:
    return {factors: value for factors, value in values.items() if not value.is_zero()}


def _times(left: dict[Factors, ExpPoly], right: dict[Factors, ExpPoly]) -> dict[Factors, ExpPoly]:
    total: dict[Factors, ExpPoly] = {}
    for one, a in left.items():
        for other, b in right.items():
            factors = _merged(one, other)
            product = _product(a, b)
            total[factors] = total[factors] + product if factors in total else product
    return _pruned(total)


def _merged(left: Factors, right: Factors) -> Factors:
    if not left or not right:
        return left or right
    total = {name: (j, r) for name, j, r in left}
    for name, j, r in right:
        before = total.get(name, (0, _NONE))
        total[name] = (before[0] + j, before[1] + r)
    return tuple(sorted((name, j, r) for name, (j, r) in total.items() if j or r))


def _product(left: ExpPoly, right: ExpPoly) -> ExpPoly:
    if len(left) * len(right) > TERM_LIMIT:
        raise TooLarge
    return left * right


def _power(value: ExpPoly, exponent: int) -> ExpPoly:
    count = len(value)
    if count and comb(exponent + count - 1, count - 1) > TERM_LIMIT:
        raise TooLarge
    bits = max((max(abs(c.numerator), c.denominator).bit_length() for _, _, c in value.terms()), default=0)
    if bits * exponent > BIT_LIMIT and bits > 1:
        raise TooLarge
    return value**exponent
