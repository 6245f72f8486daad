"""Quotients of exponential polynomials with positive denominators, their sums and products."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm

from dipc.algebra.exppoly import ExpPoly, watch_degrees

# --- Quotients of exponential polynomials with positive denominators --------------------------------------------------
#
# Discrete noise, the exponential mechanism, `choose` and loops lead out of the ring, into its field of fractions, but
# only over denominators that are positive for every eps > 0. So the sign of a quotient is that of its numerator.


class Quotient:
    """numerator/denominator with denominator(eps) > 0 for every eps > 0; immutable, in lowest terms.

    `==` is equality of functions. Integers, fractions and ring elements may stand on either side of an operator.
    """

    __slots__ = ("denominator", "numerator")

    def __init__(self, numerator: ExpPoly, denominator: ExpPoly) -> None:
        """The caller guarantees denominator(eps) > 0 for every eps > 0."""
        self.numerator, self.denominator = _normal(*_reduced(numerator, denominator))

    @classmethod
    def coprime(cls, numerator: ExpPoly, denominator: ExpPoly) -> Quotient:
        """As `Quotient`, for parts that the caller knows to have no common divisor."""
        result = cls.__new__(cls)
        result.numerator, result.denominator = _normal(numerator, denominator)
        return result

    @classmethod
    def of(cls, value: ExpPoly | Fraction | int | Quotient) -> Quotient:
        """The value as a quotient."""
        if isinstance(value, Quotient):
            return value
        return cls.coprime(value if isinstance(value, ExpPoly) else ExpPoly.constant(value), ExpPoly.one())

    def is_zero(self) -> bool:
        """Whether this is the zero function."""
        return self.numerator.is_zero()

    def in_ring(self) -> ExpPoly | None:
        """The same function as a ring element, or None if it is not one."""
        return self.numerator if self.denominator == 1 else None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Quotient | ExpPoly | Fraction | int):
            return NotImplemented
        other = Quotient.of(other)
        return self.numerator == other.numerator and self.denominator == other.denominator

    def __hash__(self) -> int:
        return hash(self.numerator) if self.denominator == 1 else hash((self.numerator, self.denominator))

    def __repr__(self) -> str:
        return f"Quotient(({self.numerator}) / ({self.denominator}))"

    def __add__(self, other: Quotient | ExpPoly | Fraction | int) -> Quotient:
        other = Quotient.of(other)
        if self.denominator == other.denominator:
            return Quotient(self.numerator + other.numerator, self.denominator)
        # Of the sum's parts only what the denominators share can have a common divisor (Henrici 1956).
        shared = positive_divisor(self.denominator, other.denominator)
        if shared is None:
            above = self.numerator * other.denominator + other.numerator * self.denominator
            return Quotient.coprime(above, self.denominator * other.denominator)
        left, right = self.denominator.exact_quotient(shared), other.denominator.exact_quotient(shared)
        above, shared = _reduced(self.numerator * right + other.numerator * left, shared)
        return Quotient.coprime(above, left * right * shared)

    __radd__ = __add__

    def __neg__(self) -> Quotient:
        return Quotient.coprime(-self.numerator, self.denominator)

    def __sub__(self, other: Quotient | ExpPoly | Fraction | int) -> Quotient:
        return self + (-other)

    def __rsub__(self, other: Quotient | ExpPoly | Fraction | int) -> Quotient:
        return (-self) + other

    def __mul__(self, other: Quotient | ExpPoly | Fraction | int) -> Quotient:
        other = Quotient.of(other)
        above, below = _reduced(self.numerator, other.denominator)
        more, under = _reduced(other.numerator, self.denominator)
        return Quotient.coprime(above * more, below * under)

    __rmul__ = __mul__

    def over_positive(self, divisor: Quotient) -> Quotient:
        """self/divisor; the caller guarantees divisor(eps) > 0 for every eps > 0."""
        above, below = _reduced(self.numerator, divisor.numerator)
        more, under = _reduced(divisor.denominator, self.denominator)
        return Quotient.coprime(above * more, below * under)

    def scaled(self, factor: Fraction) -> Quotient:
        """f(factor·eps), for factor > 0."""
        # Polynomials without a common divisor in Q[x, y] have none in Q[x, y^(1/n)] either.
        return Quotient.coprime(self.numerator.scaled(factor), self.denominator.scaled(factor))

    def enclosure(self, eps: Fraction, digits: int = 30) -> tuple[Fraction, Fraction]:
        """Rationals lo <= f(eps) <= hi for eps > 0, hi - lo at most 10^-digits times the larger of |lo|, |hi|."""
        low, high = self.numerator.enclosure(eps, digits + 1)
        under, over = self.denominator.enclosure(eps, digits + 1)
        corners = [low / under, low / over, high / under, high / over]
        return min(corners), max(corners)


def _normal(numerator: ExpPoly, denominator: ExpPoly) -> tuple[ExpPoly, ExpPoly]:
    """Both times the positive unit c·e^{q·eps} that makes the form unique: the denominator ends in 1·e^0 or -1·e^0."""
    exponent, coefficient = denominator.lowest()
    if not exponent and abs(coefficient) == 1:
        return numerator, denominator
    unit = ExpPoly.term(1 / abs(coefficient), 0, -exponent)
    return numerator * unit, denominator * unit


def _reduced(numerator: ExpPoly, denominator: ExpPoly) -> tuple[ExpPoly, ExpPoly]:
    """Both without their common divisor; `denominator` is positive for every eps > 0, and stays so."""
    if numerator.is_zero():
        return numerator, ExpPoly.one()
    divisor = positive_divisor(numerator, denominator)
    if divisor is None:
        return numerator, denominator
    return numerator.exact_quotient(divisor), denominator.exact_quotient(divisor)


def positive_divisor(value: ExpPoly, positive: ExpPoly) -> ExpPoly | None:
    """A greatest common divisor that is positive where `positive` is, everywhere; None if it is a unit."""
    divisor = value.common_divisor(positive)
    if divisor.is_unit():
        return None
    # What divides a function without positive zeros has none either: its sign at 1 is its sign everywhere.
    return divisor if divisor.sign_at_one() > 0 else -divisor


#: A probability in closed form.
Closed = ExpPoly | Quotient


def fraction_of(value: Closed) -> tuple[ExpPoly, ExpPoly]:
    """Numerator and denominator of a closed form; the latter is positive for every eps > 0."""
    return (value.numerator, value.denominator) if isinstance(value, Quotient) else (value, ExpPoly.one())


# --- Sums and products of many closed forms, in the ring as long as they can be ---------------------------------------
#

#: Of so many factors the product is tried.
_FEW = 4


def simplest(value: Closed) -> Closed:
    """The same function, as an exponential polynomial where it is one."""
    if isinstance(value, Quotient):
        ring = value.in_ring()
        return value if ring is None else ring
    return value


def total(values: Iterable[Closed]) -> Closed:
    """The sum. Numerators over the same denominator are added first: reducing a quotient costs more than a sum."""
    ring = ExpPoly.zero()
    numerators: dict[ExpPoly, ExpPoly] = {}
    for value in values:
        if not isinstance(value, Quotient):
            ring = ring + value
        elif value.denominator in numerators:
            numerators[value.denominator] = numerators[value.denominator] + value.numerator
        else:
            numerators[value.denominator] = value.numerator
    result: Closed = ring
    for denominator, numerator in sorted(numerators.items(), key=lambda item: len(item[0])):
        result = result + Quotient(numerator, denominator)
    return simplest(result)


def product(values: Iterable[Closed]) -> Closed:
    """The product; of nothing, 1. Raises LimitReached where common divisors of too high a degree are to be found."""
    factors = list(values)
    watch_product(factors)
    result: Closed = ExpPoly.one()
    for factor in factors:
        result = result * factor
    return simplest(result)


def watch_product(factors: Sequence[Closed]) -> None:
    """Raises LimitReached where a product of many factors is sure to do so in the end, unless half of it cancels."""
    if len(factors) <= _FEW:
        return
    above = below = Fraction(0)
    unit = 1
    for factor in factors:
        more, under = fraction_of(factor)
        unit = lcm(unit, more.unit, under.unit)
        watch_degrees(int(above * unit / 2), int(under.span * unit / 2))
        watch_degrees(int(more.span * unit / 2), int(below * unit / 2))
        above, below = above + more.span, below + under.span
