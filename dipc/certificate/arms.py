"""Betas that are the least of the greatest of several closed forms, as the checker reads them in the claim."""

from __future__ import annotations

from collections.abc import Sequence

from dipc.algebra.closed_form import ClosedForm
from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Undecided
from dipc.sign.interval import Interval
from dipc.sign.piecewise import over_positive
from dipc.verifier import claims
from dipc.verifier.functions import Ring

#: ((a, b), (c,)) for min(max(a, b), c).
Least = tuple[tuple[ClosedForm, ...], ...]


def least_of(read: claims.Least, intervals: Sequence[Interval]) -> Least | None:
    """The same with the engine's functions; None where a denominator is not known to have one sign, for every eps or on
    these intervals."""
    result: list[tuple[ClosedForm, ...]] = []
    for part in read:
        arms: list[ClosedForm] = []
        for above, below in part:
            try:
                quotient = over_positive(_exact(above), _exact(below), intervals)
            except Undecided:
                return None
            if quotient is None:
                return None
            arms.append(ClosedForm(quotient))
        result.append(tuple(arms))
    return tuple(result)


def _exact(terms: Ring) -> ExpPoly:
    return ExpPoly.from_terms((k, q, c) for (k, q), c in terms.items())
