"""Closed forms as plain data: the lists of terms that `dipc.verifier.ring` reads."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dipc.exact.exppoly import ExpPoly
from dipc.exact.quotient import Closed, Quotient


def ring_data(value: ExpPoly) -> list[list[Any]]:
    """The terms [k, "q", "c"] of Σ c·eps^k·e^{q·eps}, in the order of (q, k)."""
    unit, terms = value.integer_terms()
    exponents = {j: str(Fraction(j, unit)) for _, j, _ in terms}
    ordered = sorted(terms, key=lambda term: (term[1], term[0]))
    # A number of FLINT prints at any length, whatever limit Python has.
    return [[k, exponents[j], str(c)] for k, j, c in ordered]


def closed_data(value: Closed) -> list[list[Any]] | dict[str, list[list[Any]]]:
    """The terms, or those of numerator and denominator where the function is a quotient."""
    if isinstance(value, Quotient) and value.denominator != 1:
        return {"numerator": ring_data(value.numerator), "denominator": ring_data(value.denominator)}
    return ring_data(value.numerator if isinstance(value, Quotient) else value)
