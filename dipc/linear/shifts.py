"""The least weighted sum of absolute values Σ rate·|t| under linear inequalities, which a move d tightens.

    least Σ rate_i·|t_i|  such that  A·t + L·d >= 0  and  C·t + D·d = 0

Both bounds of the least sum have short proofs. The upper bound is a t that satisfies the system. The lower bound is
given by multipliers y >= 0 of the inequalities and z of the equations with |A'y + C'z|_i <= rate_i for every i. They
prove that Σ rate_i·|t_i| >= (A'y + C'z)·t = y·(A·t) + z·(C·t) >= -y·(L·d) - z·(D·d).

The least sum is a convex function of d, so over a polytope it is largest at a vertex.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace, absolute_value_bounds, equation, sorted_terms
from dipc.linear.program import Infeasible, NotConfirmed, Point, Unbounded, minimum

_ZERO = Fraction(0)


@frozen
class Shift:
    """The least `cost` Σ rate·|t| of a translation t, a translation `shift` with this cost, and the proof.

    Multipliers prove that no translation costs less. `inequality_multipliers` has one number for each inequality that t
    has to satisfy, and `equation_multipliers` one for each equation. `proved_cost` checks them.
    """

    cost: Fraction
    shift: Point
    inequality_multipliers: tuple[Fraction, ...]
    equation_multipliers: tuple[Fraction, ...]


def least_shift(
    rates: Mapping[int, Fraction], inequalities: Sequence[Halfspace], equations: Sequence[Halfspace] = ()
) -> Shift | None:
    """The translation t with the least cost Σ `rates`[i]·|t[i]| among those that satisfy the given constraints.

    The constraints on t are `inequalities`, taken with >=, and `equations`. The result is None if it is proved that no
    t satisfies them. Rates must not be negative, and every unknown must have one. The translation, and the proof that
    none costs less, are both checked. Raises NotConfirmed if a check fails.
    """
    size = {key: 1 + max(rates, default=0) + index for index, key in enumerate(sorted(rates))}
    both = [half for item in equations for half in equation(item.coefficients, item.constant)]
    closed = [item.closure() for item in inequalities]
    cost = Halfspace(sorted_terms({size[key]: rate for key, rate in rates.items()}), _ZERO)
    match minimum(cost, [*closed, *both, *absolute_value_bounds(size)], sorted(rates)):
        case Infeasible():
            return None
        case Unbounded():
            raise ValueError("rates are not negative")
        case least:
            start = len(closed)
            weights = least.weights
            y = tuple([weights.get(k, _ZERO) for k in range(start)])
            z = tuple(
                [
                    weights.get(start + 2 * k, _ZERO) - weights.get(start + 2 * k + 1, _ZERO)
                    for k in range(len(equations))
                ]
            )
            point = {key: least.point[key] for key in rates}
            total = sum((rate * abs(point[key]) for key, rate in rates.items()), _ZERO)
            if total != least.value or proved_cost(rates, inequalities, equations, y, z) != total:
                raise NotConfirmed
            return Shift(total, point, y, z)


def proved_cost(
    rates: Mapping[int, Fraction],
    inequalities: Sequence[Halfspace],
    equations: Sequence[Halfspace],
    y: Sequence[Fraction],
    z: Sequence[Fraction],
) -> Fraction | None:
    """The lower bound that multipliers prove for Σ `rates`[i]·|t[i]| over all t with the given constraints, or None.

    The constraints on t are `inequalities` and `equations`. The multipliers are `y` for the inequalities and `z` for
    the equations. The result is None if they prove nothing.
    """
    if len(y) != len(inequalities) or len(z) != len(equations) or any(weight < 0 for weight in y):
        return None
    total: dict[int, Fraction] = {}
    bound = _ZERO
    for weight, item in zip((*y, *z), (*inequalities, *equations), strict=True):
        bound -= weight * item.constant
        for key, c in item.coefficients:
            total[key] = total.get(key, _ZERO) + weight * c
    return bound if all(abs(c) <= rates.get(key, _ZERO) for key, c in total.items()) else None
