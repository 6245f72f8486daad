"""Sums and products of many closed forms, in the ring as long as they can be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm

from dipc.algebra.exppoly import ExpPoly, watch_degrees
from dipc.algebra.quotient import Closed, Quotient, fraction_of

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
