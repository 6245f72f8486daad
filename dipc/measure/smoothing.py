"""Adding independent noise to a variable: convolution of a piecewise function with a Laplace or one-sided density.

On the scale X = eps·x the density of one-sided noise of rate a is a·e^{-aX} on X >= 0, and a Laplace density is the
mean of the right- and the left-sided ones, so smoothing needs one tail integral for each side and stays in the class
of pieces.
"""

from __future__ import annotations

from enum import IntEnum

import flint

from dipc.algebra.effort import Meter
from dipc.measure.pieces import Piece, Piecewise, RingTerms, Terms, add_value, constant_terms


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
    weight = flint.fmpq(rate, len(sides))
    tails = [_tail(function, one, rate, meter) for one in sides]
    pieces = []
    for parts in zip(*tails, strict=True):
        total = parts[0]
        for part in parts[1:]:
            for exponents, c in part.items():
                total[exponents] = total.get(exponents, flint.fmpq(0)) + c
        pieces.append(Piece.of_terms({exponents: c * weight for exponents, c in total.items()}))
    return Piecewise(function.breaks, tuple(pieces))


def _tail(function: Piecewise, side: Support, rate: int, meter: Meter) -> list[Terms]:
    """By pieces, e^{-rate·X} times the integral of function(C)·e^{rate·C} from -∞ to X for RIGHT; for LEFT,
    e^{rate·X} times that of function(C)·e^{-rate·C} from X to +∞."""
    tilt = side * rate
    last = len(function.breaks)
    found = {}
    constant: RingTerms = {}
    for i in range(last + 1) if side is Support.RIGHT else range(last, -1, -1):
        piece = function.pieces[i]
        grown = Piece(piece.poly, piece.low_y, piece.low_X + tilt, piece.bits).antiderivative(meter)
        if side is Support.LEFT:
            grown = {exponents: -c for exponents, c in grown.items()}
        near, far = (i - 1, i) if side is Support.RIGHT else (i, i - 1)
        if 0 <= near < last:
            add_value(constant, grown, function.breaks[near], -1)
        # An antiderivative has no constant of its own; this one makes the integral continuous.
        found[i] = {(k, q, n, l - tilt): c for (k, q, n, l), c in (grown | constant_terms(constant)).items()}
        if 0 <= far < last:
            add_value(constant, grown, function.breaks[far], 1)
    return [found[i] for i in range(last + 1)]
