"""Quotients of exponential polynomials with positive denominators.

Discrete noise, the exponential mechanism, `choose` and loops lead out of the ring, into its field of fractions, but
only over denominators that are positive for every eps > 0. So the sign of a quotient is that of its numerator.
"""

from __future__ import annotations

from fractions import Fraction

from dipc.exact.exppoly import ExpPoly


class Quotient:
    """numerator/denominator with denominator(eps) > 0 for every eps > 0; immutable, in lowest terms.

    `==` is equality of functions. Integers, fractions and ring elements may stand on either side of an operator.
    """

    __slots__ = ("denominator", "numerator")

    def __init__(self, numerator: ExpPoly, denominator: ExpPoly) -> None:
        """The caller guarantees denominator(eps) > 0 for every eps > 0."""
        divisor = numerator.common_divisor(denominator)
        numerator, denominator = numerator.exact_quotient(divisor), denominator.exact_quotient(divisor)
        # A divisor of a function without positive zeros has none either: its sign at 1 is its sign everywhere.
        # The unit c·e^{q·eps} is then chosen to make the form unique: the denominator ends in 1·e^0.
        _, exponent, coefficient = min(denominator.terms(), key=lambda term: (term[1], term[0]))
        unit = ExpPoly.term(1 / abs(coefficient), 0, -exponent)
        if denominator.enclosure(Fraction(1), 1)[1] < 0:
            unit = -unit
        self.numerator = numerator * unit
        self.denominator = denominator * unit

    @classmethod
    def of(cls, value: ExpPoly | Fraction | int | Quotient) -> Quotient:
        """The value as a quotient."""
        if isinstance(value, Quotient):
            return value
        return cls(value if isinstance(value, ExpPoly) else ExpPoly.constant(value), ExpPoly.one())

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
        return Quotient(
            self.numerator * other.denominator + other.numerator * self.denominator,
            self.denominator * other.denominator,
        )

    __radd__ = __add__

    def __neg__(self) -> Quotient:
        return self * -1

    def __sub__(self, other: Quotient | ExpPoly | Fraction | int) -> Quotient:
        return self + (-other)

    def __rsub__(self, other: Quotient | ExpPoly | Fraction | int) -> Quotient:
        return (-self) + other

    def __mul__(self, other: Quotient | ExpPoly | Fraction | int) -> Quotient:
        other = Quotient.of(other)
        return Quotient(self.numerator * other.numerator, self.denominator * other.denominator)

    __rmul__ = __mul__

    def over_positive(self, divisor: Quotient) -> Quotient:
        """self/divisor; the caller guarantees divisor(eps) > 0 for every eps > 0."""
        return Quotient(self.numerator * divisor.denominator, self.denominator * divisor.numerator)

    def scaled(self, factor: Fraction) -> Quotient:
        """f(factor·eps), for factor > 0."""
        return Quotient(self.numerator.scaled(factor), self.denominator.scaled(factor))

    def enclosure(self, eps: Fraction, digits: int = 30) -> tuple[Fraction, Fraction]:
        """Rationals lo <= f(eps) <= hi for eps > 0, hi - lo at most 10^-digits times the larger of |lo|, |hi|."""
        low, high = self.numerator.enclosure(eps, digits + 1)
        under, over = self.denominator.enclosure(eps, digits + 1)
        corners = [low / under, low / over, high / under, high / over]
        return min(corners), max(corners)


#: A probability in closed form.
Closed = ExpPoly | Quotient
