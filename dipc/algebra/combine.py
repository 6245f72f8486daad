"""Sums and products of many closed forms, in the ring as long as they can be."""

from __future__ import annotations

from collections.abc import Iterable

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.quotient import Closed, Quotient


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
    """The product; of nothing, 1."""
    result: Closed = ExpPoly.one()
    for value in values:
        result = result * value
    return simplest(result)
