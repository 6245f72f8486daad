"""Integer polynomials that are positive on [0, 1]: by partial sums, else by Bernstein's coefficients and bisection."""

from __future__ import annotations

from itertools import accumulate

from dipc.verifier.budget import Budget

_MOST_HALVINGS = 40


def positive_on_unit(coefficients: list[int], budget: Budget, step: str) -> bool:
    """True only if Σ coefficients[n]·x^n > 0 for all 0 <= x <= 1. False says nothing."""
    # The powers of x decrease from 1 to 0, so the value is a mean of the partial sums.
    if min(accumulate(coefficients)) > 0:
        return True
    stack = [(0, coefficients)]
    while stack:
        halvings, polynomial = stack.pop()
        degree = len(polynomial) - 1
        # Both ends must be positive, or it is not true.
        if polynomial[0] <= 0 or sum(polynomial) <= 0 or halvings > _MOST_HALVINGS:
            return False
        bits = max(map(int.bit_length, polynomial)) + degree
        budget.spend(degree * degree // 8 + 4, step, bits)
        # (1 + y)^degree·polynomial(1/(1 + y)) for y >= 0 covers 0 < x <= 1.
        if min(_shifted(polynomial[::-1])) >= 0:
            continue
        left = [c << degree - n for n, c in enumerate(polynomial)]
        stack += [(halvings + 1, left), (halvings + 1, _shifted(left))]
    return True


def _shifted(coefficients: list[int]) -> list[int]:
    """The coefficients of p(x + 1): sums, sums of sums and so on."""
    row = coefficients[::-1]
    result: list[int] = []
    while row:
        row = list(accumulate(row))
        result.append(row.pop())
    return result
