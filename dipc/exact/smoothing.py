"""Adding independent noise to a variable: convolution of a piecewise function with a Laplace or one-sided density.

On the scale X = eps·x the density of one-sided noise of rate a is a·e^{-aX} on X >= 0, and a Laplace density is the mean of
the right- and the left-sided ones, so smoothing needs one tail integral for each side and stays in the class of pieces.
"""

from __future__ import annotations

from enum import IntEnum

import flint

from dipc.exact.exppoly import ExpPoly
from dipc.exact.pieces import Piece, Piecewise


class Side(IntEnum):
    """Where noise around 0 has its mass."""

    LEFT = -1
    BOTH = 0
    RIGHT = 1

    def reflected(self) -> Side:
        """The side of the negated noise."""
        return Side(-self)


def density(side: Side, rate: int, mean: int) -> Piecewise:
    """The density of X = eps·x: Laplace at `mean` for BOTH, exponential from `mean` on to the right or to the left."""
    if side is Side.BOTH:
        return Piecewise.laplace(rate, mean)
    falling = Piece.term(flint.fmpq(rate), (0, side * rate * mean, 0, -side * rate))
    pieces = (Piece.zero(), falling) if side is Side.RIGHT else (falling, Piece.zero())
    return Piecewise((mean,), pieces)


def smoothed(function: Piecewise, side: Side, rate: int) -> Piecewise:
    """X -> the integral of function(C)·density(X - C) over C, for the density at mean 0.

    The function must be bounded. If it is the density of C, the result is the density of C + noise.
    """
    match side:
        case Side.RIGHT:
            return _tail(function, rate, from_left=True)
        case Side.LEFT:
            return _tail(function, rate, from_left=False)
        case Side.BOTH:
            both = _sum(_tail(function, rate, from_left=True), _tail(function, rate, from_left=False))
            half = Piece.term(flint.fmpq(1, 2), (0, 0, 0, 0))
            return both.mapped(lambda piece: piece * half)


def _tail(function: Piecewise, rate: int, *, from_left: bool) -> Piecewise:
    """rate·e^{∓rate·X} times the integral of function(C)·e^{±rate·C} from -∞ to X, or from X to +∞ with the lower signs."""
    sign = 1 if from_left else -1
    grow = Piece.term(flint.fmpq(1), (0, 0, 0, sign * rate))
    shrink = Piece.term(flint.fmpq(rate), (0, 0, 0, -sign * rate))
    tilted = function.mapped(lambda piece: piece * grow)
    order = range(len(tilted.pieces)) if from_left else range(len(tilted.pieces) - 1, -1, -1)
    pieces: dict[int, Piece] = {}
    so_far = ExpPoly.zero()
    for i in order:
        grown = tilted.pieces[i].antiderivative()
        if not from_left:
            grown = -grown
        near, far = (i - 1, i) if from_left else (i, i - 1)
        if 0 <= near < len(tilted.breaks):
            at = tilted.breaks[near]
            grown = grown + Piece.of_ring(so_far - grown.at(at))
        if 0 <= far < len(tilted.breaks):
            so_far = grown.at(tilted.breaks[far])
        pieces[i] = grown * shrink
    return Piecewise(tilted.breaks, tuple(pieces[i] for i in range(len(pieces))))


def _sum(left: Piecewise, right: Piecewise) -> Piecewise:
    """The sum of two functions with the same breaks."""
    assert left.breaks == right.breaks
    return Piecewise(left.breaks, tuple(p + q for p, q in zip(left.pieces, right.pieces, strict=True)))
