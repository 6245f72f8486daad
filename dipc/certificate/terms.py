"""Closed forms as plain data: the lists of terms that `dipc.verifier.functions` reads."""

from __future__ import annotations

from fractions import Fraction
from operator import itemgetter
from typing import Any

from dipc.algebra.exppoly import Closed, ExpPoly, Quotient


def ring_data(value: ExpPoly) -> list[list[Any]]:
    """The terms [k, "q", "c"] of Σ c·eps^k·e^{q·eps}, in the order of (q, k)."""
    unit, terms = value.integer_terms()
    exponents = {j: str(Fraction(j, unit)) for j in {j for _, j, _ in terms}}
    ordered = sorted(terms, key=itemgetter(1, 0))
    # A number of FLINT prints at any length, whatever limit Python has.
    return [[k, exponents[j], str(c)] for k, j, c in ordered]


def closed_data(value: Closed) -> list[list[Any]] | dict[str, list[list[Any]]]:
    """The terms, or those of numerator and denominator where the function is a quotient."""
    if isinstance(value, Quotient) and value.denominator != 1:
        return {"numerator": ring_data(value.numerator), "denominator": ring_data(value.denominator)}
    return ring_data(value.numerator if isinstance(value, Quotient) else value)


class FunctionData:
    """`closed_data` of functions of which equal ones mostly are one object, each worked out once."""

    def __init__(self) -> None:
        #: With the functions themselves: an identity means something only as long as its object lives.
        self._known: dict[int, tuple[Closed, Any]] = {}

    def of(self, value: Closed) -> Any:
        """The data, not to be changed."""
        known = self._known.get(id(value))
        if known is None:
            known = self._known[id(value)] = (value, closed_data(value))
        return known[1]
