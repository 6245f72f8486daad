"""Exponential polynomials that are positive for every eps > 0, shown without any evidence."""

from __future__ import annotations

from dipc.verifier.budget import Budget
from dipc.verifier.ring import Ring, derivative

_MOST_DERIVATIVES = 50


def positive_everywhere(function: Ring, budget: Budget) -> bool:
    """True only if the function is > 0 for every eps > 0. False says nothing.

    It is if all its coefficients are positive; and if, times some e^{-q·eps}, its value at 0 is not negative and its
    derivative is > 0. With q the exponent of a negative term, derivatives make such terms vanish one after the other.
    """
    for _ in range(_MOST_DERIVATIVES):
        budget.spend(4 * len(function) + 4, "sign")
        negative = [key for key, c in function.items() if c < 0]
        if not negative:
            return bool(function)
        _, q = min(negative, key=lambda key: (key[0], -key[1]))
        function = {(k, p - q): c for (k, p), c in function.items()}
        if sum(c for (k, _), c in function.items() if not k) < 0:
            return False
        function = derivative(function)
    return False
