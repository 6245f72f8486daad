"""Signs of a polynomial known up to an error, by its Bernstein coefficients and de Casteljau's subdivision."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate, pairwise
from math import comb

from dipc.sign.budget import Budget
from dipc.sign.taylor import TaylorModel

#: Where all coefficients are below this many times the error, more precision is needed, not smaller intervals.
_NOISE = 8


class Shape(Enum):
    """What is known of F on a part of an interval."""

    SIGNED = "signed"
    """F has one strict sign."""
    MONOTONE = "monotone"
    """F' has one strict sign."""
    UNKNOWN = "unknown"
    """The model is too coarse to tell."""


@dataclass(frozen=True, slots=True)
class Subinterval:
    """The part [index, index + 1]·2^-depth of the model's interval, with its length taken as 1.

    `sign` is that of F, of F', or 0, as `shape` says. `left` and `right` are the signs of F at the two ends, or 0 where
    unknown.
    """

    index: int
    depth: int
    shape: Shape
    sign: int
    left: int
    right: int


def sign_by_partial_sums(model: TaylorModel) -> int:
    """The strict sign of F on the model's interval, or 0 where this test does not tell.

    For 0 <= u <= 1 the powers of u decrease, so Σ c_n·u^n is a mean of the partial sums of the c_n.
    """
    coefficients, error = model.coefficients, model.value_error
    sign = 1 if coefficients[0] > 0 else -1
    mirrored = coefficients.copy()
    mirrored[1::2] = [-c for c in mirrored[1::2]]
    if sign > 0:
        proved = min(accumulate(coefficients)) > error and min(accumulate(mirrored)) > error
    else:
        proved = max(accumulate(coefficients)) < -error and max(accumulate(mirrored)) < -error
    return sign if proved else 0


def parts(model: TaylorModel, budget: Budget) -> Iterator[Subinterval]:
    """The model's interval cut into parts from left to right, each with what the model tells of it."""
    coefficients = _to_bernstein(model.coefficients)
    degree = len(coefficients) - 1
    # Values shrink with every halving near a root until they drown in the error; this only makes sure of an end.
    most_halvings = 2 * max(abs(c) for c in coefficients).bit_length() + 8
    # Two units of rounding in the conversion; the derivative with respect to a variable that runs over [0, 1] doubles.
    stack = [(0, 0, coefficients, model.value_error + 2)]
    slope_error = 2 * (model.slope_error + 2 * degree)
    while stack:
        index, depth, values, error = stack.pop()
        low, high = min(values), max(values)
        left, right = _sign(values[0], error), _sign(values[-1], error)
        if low > error or high < -error:
            yield Subinterval(index, depth, Shape.SIGNED, left, left, right)
            continue
        slope = _monotone(values, degree, slope_error, depth, error - model.value_error)
        if slope:
            yield Subinterval(index, depth, Shape.MONOTONE, slope, left, right)
        elif max(high, -low) <= _NOISE * error or depth >= most_halvings or not degree:
            yield Subinterval(index, depth, Shape.UNKNOWN, 0, left, right)
        else:
            budget.spend_interval()
            first, second = _halves(values)
            stack.append((2 * index + 1, depth + 1, second, error + degree))
            stack.append((2 * index, depth + 1, first, error + degree))


def _sign(value: int, error: int) -> int:
    return (value > error) - (value < -error)


def _monotone(values: list[int], degree: int, slope_error: int, depth: int, rounding: int) -> int:
    """The strict sign of F' on the part, or 0.

    The derivative of the polynomial over the part, seen as [0, 1], has the Bernstein coefficients degree·(differences).
    F' differs from it by at most slope_error·2^-depth for the model and 2·degree·rounding for the roundings since.
    """
    bound = (slope_error >> depth) + 1 + 2 * degree * rounding
    rises = values[-1] > values[0]
    least: int | None = None
    for a, b in pairwise(values):
        steepness = b - a if rises else a - b
        if steepness <= 0:
            return 0
        if least is None or steepness < least:
            least = steepness
    if least is None or degree * least <= bound:
        return 0
    return 1 if rises else -1


def _to_bernstein(coefficients: list[int]) -> list[int]:
    """The Bernstein coefficients over x in [0, 1] of Σ c_n·(2x - 1)^n, each within 2."""
    degree = len(coefficients) - 1
    if not degree:
        return coefficients
    # p(v - 1) = q(1 - v) with q(u) = p(-u), and q(1 + w) needs additions only.
    row = [-c if n & 1 else c for n, c in enumerate(coefficients)]
    row.reverse()
    shifted: list[int] = []
    while row:
        row = list(accumulate(row))
        shifted.append(row.pop())
    # Now shifted[n] is the coefficient of w^n, w = -2x. Divided by a binomial it is the n-th difference of the result.
    spare = degree
    differences = [((-c if n & 1 else c) << (n + spare)) // comb(degree, n) for n, c in enumerate(shifted)]
    result = [differences.pop()]
    while differences:
        result = list(accumulate([differences.pop(), *result]))
    return [c >> spare for c in result]


def _halves(values: list[int]) -> tuple[list[int], list[int]]:
    """The coefficients over both halves, each within the error of `values` plus len(values) - 1."""
    left = [values[0]]
    right = [values[-1]]
    row = values
    while len(row) > 1:
        row = [(a + b) >> 1 for a, b in pairwise(row)]
        left.append(row[0])
        right.append(row[-1])
    right.reverse()
    return left, right
