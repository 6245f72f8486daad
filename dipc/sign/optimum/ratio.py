"""Quotients whose supremum is asked for, in lowest terms."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Limits
from dipc.sign.optimum.shared_root import vanishes_at
from dipc.sign.root import Root


@dataclass(frozen=True, slots=True)
class Ratio:
    """(numerator·common)/(denominator·common) up to a factor that is positive for every eps, where numerator and
    denominator have no common divisor.

    So at no eps > 0 do both of these vanish. Where `common` does, the quotient that was given is 0/0: it has a limit,
    or a pole, but no value.
    """

    numerator: ExpPoly
    denominator: ExpPoly
    common: ExpPoly

    @classmethod
    def of(cls, numerator: ExpPoly, denominator: ExpPoly) -> Ratio:
        """numerator/denominator in lowest terms; the denominator must not be zero. Raises LimitReached.

        The same function always has the same numerator and denominator here.
        """
        if denominator.is_zero():
            raise ValueError("a quotient by the zero function has no values")
        if numerator.is_zero():
            return cls(numerator, ExpPoly.one(), denominator)
        common = ExpPoly.one() if denominator.is_unit() else numerator.common_divisor(denominator)
        if common.is_unit():
            common = ExpPoly.one()
        else:
            numerator, denominator = numerator.exact_quotient(common), denominator.exact_quotient(common)
        # A unit has no sign that changes and no root; this one makes the form unique.
        exponent, coefficient = denominator.lowest()
        unit = ExpPoly.term(1 / coefficient, 0, -exponent)
        return cls(numerator * unit, denominator * unit, common if coefficient > 0 else -common)

    def scaled(self, factor: Fraction) -> Ratio:
        """The same with factor·eps in place of eps, factor > 0."""
        return Ratio(self.numerator.scaled(factor), self.denominator.scaled(factor), self.common.scaled(factor))

    def rate(self) -> Fraction:
        """The greatest rational of which all exponents of numerator and denominator are multiples; 1 without any."""
        exponents = [q for part in (self.numerator, self.denominator) for _, q, _ in part.terms() if q]
        if not exponents:
            return Fraction(1)
        below = lcm(*(q.denominator for q in exponents))
        return Fraction(gcd(*(q.numerator * (below // q.denominator) for q in exponents)), below)

    def slope(self) -> ExpPoly:
        """N'D - ND': the derivative times the square of the denominator, so of the same sign."""
        if self.denominator == 1:
            return self.numerator.derivative()
        return self.numerator.derivative() * self.denominator - self.numerator * self.denominator.derivative()

    def is_gap(self, at: Fraction | Root, limits: Limits | None = None) -> bool:
        """Whether the quotient that was given is 0/0 there."""
        return not self.common.is_unit() and vanishes_at(self.common, at, limits)
