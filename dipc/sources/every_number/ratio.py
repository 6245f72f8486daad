"""Quotients of polynomials in the number of queries, and where they are positive or do not fall."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint

from dipc.algebra.exppoly import to_fmpq, to_fraction

#: A polynomial in the number, with rational coefficients.
Polynomial = Any


@dataclass(frozen=True, slots=True, eq=False)
class Ratio:
    """numerator / denominator without common factors, the denominator with 1 for its leading coefficient."""

    numerator: Polynomial
    denominator: Polynomial

    @staticmethod
    def of(numerator: Polynomial, denominator: Polynomial) -> Ratio:
        """The reduced quotient. ZeroDivisionError for the denominator 0."""
        if not denominator:
            raise ZeroDivisionError
        common = numerator.gcd(denominator)
        numerator, denominator = numerator // common, denominator // common
        leading = denominator[denominator.degree()]
        return Ratio(numerator / leading, denominator / leading)

    @staticmethod
    def constant(value: Fraction | int) -> Ratio:
        return Ratio(flint.fmpq_poly([to_fmpq(value)]), _ONE)

    @staticmethod
    def number() -> Ratio:
        """The number of queries itself."""
        return Ratio(flint.fmpq_poly([0, 1]), _ONE)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ratio):
            return NotImplemented
        return bool(self.numerator == other.numerator and self.denominator == other.denominator)

    def __hash__(self) -> int:
        return hash((self.numerator.degree(), self.denominator.degree()))

    def __reduce__(self) -> tuple[Any, ...]:
        parts = [[to_fraction(c) for c in part.coeffs()] for part in (self.numerator, self.denominator)]
        return _of_coefficients, tuple(parts)

    def __add__(self, other: Ratio) -> Ratio:
        numerator = self.numerator * other.denominator + other.numerator * self.denominator
        return Ratio.of(numerator, self.denominator * other.denominator)

    def __mul__(self, other: Ratio) -> Ratio:
        return Ratio.of(self.numerator * other.numerator, self.denominator * other.denominator)

    def __truediv__(self, other: Ratio) -> Ratio:
        """The quotient. ZeroDivisionError for zero."""
        return Ratio.of(self.numerator * other.denominator, self.denominator * other.numerator)

    def inverse(self) -> Ratio:
        """A multiple of 1/this, with 1 for the leading coefficients. ZeroDivisionError for zero."""
        leading = self.numerator[self.numerator.degree()]
        return Ratio.of(self.denominator, self.numerator / leading)

    def is_zero(self) -> bool:
        return not self.numerator

    def constant_value(self) -> Fraction | None:
        """The value where it is the same for every number, else None."""
        if self.denominator.degree() > 0 or self.numerator.degree() > 0:
            return None
        return to_fraction(self.numerator[0])

    def polynomial(self) -> Polynomial | None:
        """The polynomial that it is, None where it is none."""
        return self.numerator if self.denominator.degree() == 0 else None

    def at(self, number: int) -> Fraction:
        """The value for one number. ZeroDivisionError where it has none."""
        return to_fraction(self.numerator(flint.fmpq(number))) / to_fraction(self.denominator(flint.fmpq(number)))

    def is_positive_from(self, start: int) -> bool:
        """True only where it is positive for every number from `start` on."""
        return sign_from(self.numerator, start) * sign_from(self.denominator, start) > 0

    def never_falls_from(self, start: int) -> bool:
        """True only where it is defined for every number from `start` on, and never less for a greater one."""
        slope = self.numerator.derivative() * self.denominator - self.numerator * self.denominator.derivative()
        return bool(sign_from(self.denominator, start)) and (not slope or sign_from(slope, start, zero=True) > 0)


def _of_coefficients(numerator: list[Fraction], denominator: list[Fraction]) -> Ratio:
    """The ratio that was pickled: FLINT's polynomials are not."""
    return Ratio(*(flint.fmpq_poly([to_fmpq(c) for c in part]) for part in (numerator, denominator)))


_ONE: Polynomial = flint.fmpq_poly([1])


def sign_from(polynomial: Polynomial, start: int, *, zero: bool = False) -> int:
    """1 or -1 where a polynomial has this sign for all numbers from `start` on by the signs of its coefficients in
    powers of the number less `start`, 0 where these do not say so. With `zero` it may be 0 at the start."""
    coefficients = shifted(polynomial, start)
    if not coefficients or not (zero or coefficients[0]):
        return 0
    for sign in (1, -1):
        if all(sign * c >= 0 for c in coefficients):
            return sign
    return 0


def shifted(polynomial: Polynomial, start: int) -> list[Fraction]:
    """The coefficients in powers of the number less `start`."""
    return [to_fraction(c) for c in polynomial(flint.fmpq_poly([start, 1])).coeffs()]


#: The ratio 1.
ONE = Ratio.constant(1)
