"""Values of claim expressions: quotients of exponential polynomials, with a distance that may grow without bound."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb

from dipc.algebra.exppoly import ExpPoly

#: Terms of one claim expression after multiplying out, bits of its numbers on the way, and of those that it comes to:
#: the latter are printed, and Python prints no integer of more than 4300 digits.
TERM_LIMIT = 100_000
BIT_LIMIT = 100_000
RESULT_BIT_LIMIT = 13_000

#: (power j, rate r) of A^j·e^{r·A·eps}, where A is the distance that is infinite; (0, 0) where none is.
Growth = tuple[int, Fraction]

FLAT: Growth = (0, Fraction(0))


class TooLarge(Exception):
    """A product or power beyond the limits."""


@dataclass(frozen=True, slots=True)
class Form:
    """numerator / denominator as functions of eps. The numerator is Σ coefficient(eps)·A^j·e^{r·A·eps} for the
    infinite distance A; no coefficient is zero. The denominator is not the zero function."""

    numerator: dict[Growth, ExpPoly]
    denominator: ExpPoly

    @staticmethod
    def of(value: ExpPoly) -> Form:
        return Form({} if value.is_zero() else {FLAT: value}, _ONE)

    @staticmethod
    def number(value: Fraction | int) -> Form:
        return Form.of(ExpPoly.constant(value))

    @staticmethod
    def infinite() -> Form:
        """The distance that grows without bound."""
        return Form({(1, Fraction(0)): _ONE}, _ONE)

    def flat(self) -> ExpPoly | None:
        """The value where it is an exponential polynomial that does not depend on an infinite distance, else None."""
        if self.denominator != _ONE or any(growth != FLAT for growth in self.numerator):
            return None
        return self.numerator.get(FLAT, _ZERO)

    def numerator_flat(self) -> ExpPoly:
        """The numerator of a form that does not depend on an infinite distance."""
        assert self.numerator.keys() <= {FLAT}
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

    def bits(self) -> int:
        """Of the longest integer in a coefficient or an exponent."""
        terms = [term for value in (*self.numerator.values(), self.denominator) for term in value.terms()]
        numbers = [number for _, q, c in terms for number in (q, c)] + [r for _, r in self.numerator]
        return max((max(abs(n.numerator), n.denominator).bit_length() for n in numbers), default=0)

    def __neg__(self) -> Form:
        return Form({growth: -value for growth, value in self.numerator.items()}, self.denominator)

    def __add__(self, other: Form) -> Form:
        if self.denominator == other.denominator:
            left, right, denominator = self.numerator, other.numerator, self.denominator
        else:
            left = _times(self.numerator, {FLAT: other.denominator})
            right = _times(other.numerator, {FLAT: self.denominator})
            denominator = _product(self.denominator, other.denominator)
        total = dict(left)
        for growth, value in right.items():
            total[growth] = total[growth] + value if growth in total else value
        return Form(_pruned(total), denominator)

    def __mul__(self, other: Form) -> Form:
        return Form(_times(self.numerator, other.numerator), _product(self.denominator, other.denominator))

    def __truediv__(self, other: Form) -> Form | None:
        """The quotient, None where the divisor depends on an infinite distance. ZeroDivisionError for zero."""
        if not other.numerator:
            raise ZeroDivisionError
        if other.numerator.keys() != {FLAT}:
            return None
        divisor = other.numerator[FLAT]
        inverse = _inverse(divisor)
        numerator = _times(self.numerator, {FLAT: other.denominator})
        if inverse is not None:
            return Form(_times(numerator, {FLAT: inverse}), self.denominator)
        return Form(numerator, _product(self.denominator, divisor))

    def power(self, exponent: int) -> Form:
        if exponent == 0:
            return Form.number(1)
        if len(self.numerator) > 1:
            result = self
            for _ in range(exponent - 1):
                result = result * self
            return result
        denominator = _power(self.denominator, exponent)
        return Form(
            {(j * exponent, r * exponent): _power(value, exponent) for (j, r), value in self.numerator.items()},
            denominator,
        )

    def exponential(self) -> Form | None:
        """exp of this, where this is eps·(q + r·A) with rational q and r, else None."""
        if self.denominator != _ONE:
            return None
        rates = {FLAT: Fraction(0), (1, Fraction(0)): Fraction(0)}
        for growth, value in self.numerator.items():
            terms = value.terms()
            if growth not in rates or len(terms) != 1:
                return None
            ((k, q, rates[growth]),) = terms
            if k != 1 or q:
                return None
        return Form({(0, rates[1, Fraction(0)]): ExpPoly.term(1, 0, rates[FLAT])}, _ONE)

    def limit(self) -> Form | None:
        """The limit for the infinite distance A growing without bound, for every eps > 0; None where there is none."""
        if any(r > 0 or (r == 0 and j > 0) for j, r in self.numerator):
            return None
        return Form({FLAT: self.numerator[FLAT]} if FLAT in self.numerator else {}, self.denominator)


_ZERO = ExpPoly.zero()
_ONE = ExpPoly.one()


def _pruned(values: dict[Growth, ExpPoly]) -> dict[Growth, ExpPoly]:
    return {growth: value for growth, value in values.items() if not value.is_zero()}


def _times(left: dict[Growth, ExpPoly], right: dict[Growth, ExpPoly]) -> dict[Growth, ExpPoly]:
    total: dict[Growth, ExpPoly] = {}
    for (j, r), a in left.items():
        for (k, s), b in right.items():
            growth = (j + k, r + s)
            product = _product(a, b)
            total[growth] = total[growth] + product if growth in total else product
    return _pruned(total)


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


def _inverse(value: ExpPoly) -> ExpPoly | None:
    """1/value where that is in the ring again: a rational times a power of e^eps."""
    terms = value.terms()
    if len(terms) != 1 or terms[0][0]:
        return None
    _, q, c = terms[0]
    return ExpPoly.term(1 / c, 0, -q)
