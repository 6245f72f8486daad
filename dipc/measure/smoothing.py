"""Adding independent noise to a variable: convolution of a piecewise function with a Laplace or one-sided density.

On the scale X = eps·x the density of one-sided noise of rate a is a·e^{-aX} on X >= 0, and a Laplace density is the
mean of the right- and the left-sided ones, so smoothing needs one tail integral for each side and stays in the class
of pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import flint

from dipc.algebra.effort import Meter
from dipc.measure.pieces import Chains, Piece, Piecewise, RingTerms, Terms, add_value, tilted_antiderivative


class Support(IntEnum):
    """Where noise around 0 has its mass."""

    LEFT = -1
    BOTH = 0
    RIGHT = 1

    def reflected(self) -> Support:
        """The side of the negated noise."""
        return Support(-self)


def density(side: Support, rate: int, mean: int) -> Piecewise:
    """The density of X = eps·x: Laplace at `mean` for BOTH, exponential from `mean` on to the right or to the left."""
    if side is Support.BOTH:
        return Piecewise.laplace(rate, mean)
    falling = Piece.of_terms({(0, side * rate * mean, 0, -side * rate): flint.fmpq(rate)})
    return Piecewise((mean,), (Piece.zero(), falling) if side is Support.RIGHT else (falling, Piece.zero()))


def smoothed(function: Piecewise, side: Support, rate: int, meter: Meter) -> Piecewise:
    """X -> the integral of function(C)·density(X - C) over C, for the density at mean 0.

    The function must be bounded. If it is the density of C, the result is the density of C + noise. Raises
    LimitReached before a long computation.
    """
    sides = (Support.RIGHT, Support.LEFT) if side is Support.BOTH else (side,)
    pieces = [(piece.chains(), piece.bits) for piece in function.pieces]
    total, *more = [_tail(pieces, function.breaks, one, rate, meter) for one in sides]
    for tail in more:
        for terms, part in zip(total, tail, strict=True):
            for exponents, c in part.items():
                terms[exponents] = terms[exponents] - c if exponents in terms else -c
    weight = flint.fmpq(sides[0] * rate, len(sides))
    return Piecewise(function.breaks, tuple([Piece.of_terms(terms).scaled(weight) for terms in total]))


def _tail(
    pieces: Sequence[tuple[Chains, int]], breaks: Sequence[int], side: Support, rate: int, meter: Meter
) -> list[Terms]:
    """By pieces, e^{-rate·X} times the integral of function(C)·e^{rate·C} from -∞ to X for RIGHT; for LEFT,
    e^{rate·X} times that of function(C)·e^{-rate·C} from +∞ to X."""
    tilt = side * rate
    last = len(breaks)
    found: dict[int, Terms] = {}
    constant: RingTerms = {}
    for i in range(last + 1) if side is Support.RIGHT else range(last, -1, -1):
        chains, bits = pieces[i]
        grown = tilted_antiderivative(chains, tilt, bits, meter)
        near, far = (i - 1, i) if side is Support.RIGHT else (i, i - 1)
        if 0 <= near < last:
            add_value(constant, grown, breaks[near], -1, tilt)
        # An antiderivative has no constant of its own; this one makes the integral continuous.
        found[i] = grown | {(k, q, 0, -tilt): c for (k, q), c in constant.items()}
        if 0 <= far < last:
            add_value(constant, grown, breaks[far], 1, tilt)
    return [found[i] for i in range(last + 1)]
