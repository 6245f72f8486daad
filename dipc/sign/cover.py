"""Cover an interval by pieces on which the sign of F, or of its derivative, is proved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from dipc.sign.bernstein import Shape, Subinterval, parts, sign_by_partial_sums
from dipc.sign.budget import Budget
from dipc.sign.point import magnitude_at, sign_at_point
from dipc.sign.polynomial import Layout
from dipc.sign.taylor import TaylorModel, least_order, needed_bits, taylor_model

#: Bits by which |F| at the left end of a model exceeds the model's unit, at first. Doubled where that is not enough.
_FIRST_BITS = 20
#: A wider model is not tried where it takes more powers than this, and more than this part of the needed bits.
_MOST_TERMS = 64
_TERMS_PER_BIT = Fraction(2, 5)
#: From this many bits on it is time to ask whether there is a multiple root.
_SUSPICIOUS_BITS = 80


@dataclass(frozen=True, slots=True)
class CoverPiece:
    """F has the strict sign `sign` on [lower, upper], proved by a Taylor model of that order with unit 2^-bits.

    If `slope` is not 0, the model proves that F' has the strict sign `slope` there, and F has sign `sign` at both ends.
    """

    lower: Fraction
    upper: Fraction
    sign: int
    slope: int
    order: int
    bits: int

    @property
    def end_signs(self) -> tuple[int, int]:
        """The signs of F at both ends."""
        return self.sign, self.sign


@dataclass(frozen=True, slots=True)
class Crossing:
    """F has exactly one root in [lower, upper], simple and inside.

    F' has the strict sign `slope` on [lower, upper], and F the signs -slope and slope at its ends.
    """

    lower: Fraction
    upper: Fraction
    slope: int
    order: int
    bits: int

    @property
    def end_signs(self) -> tuple[int, int]:
        """The signs of F at both ends."""
        return -self.slope, self.slope


def cover(
    layout: Layout, lower: Fraction, upper: Fraction, budget: Budget, on_suspicion: Callable[[], None]
) -> list[CoverPiece | Crossing]:
    """Pieces and crossings from left to right, each beginning where the one before ends, from `lower` to `upper`.

    Needs 0 < lower < upper, and an F that is 0 at no rational point. It ends if F has simple roots only.
    `on_suspicion` is called, once, when a multiple root is suspected; what it raises ends the search.
    """
    worker = _Worker(layout, budget, on_suspicion)
    worker.solve(lower, upper, _FIRST_BITS)
    _check_joined(worker.result, lower, upper)
    return worker.result


def _check_joined(pieces: list[CoverPiece | Crossing], lower: Fraction, upper: Fraction) -> None:
    """Assert that the pieces cover the interval and agree in sign wherever they meet."""
    position, sign = lower, 0
    for piece in pieces:
        left, right = piece.end_signs
        assert piece.lower == position
        assert left == sign or not sign
        position, sign = piece.upper, right
    assert position == upper


class _Worker:
    def __init__(self, layout: Layout, budget: Budget, on_suspicion: Callable[[], None]) -> None:
        self.layout = layout
        self.budget = budget
        self.on_suspicion: Callable[[], None] | None = on_suspicion
        self.result: list[CoverPiece | Crossing] = []

    def solve(self, lower: Fraction, upper: Fraction, precision: int) -> None:
        """Append the cover of [lower, upper]."""
        magnitude = magnitude_at(self.layout, lower, self.budget)
        while lower < upper:
            bits = precision - magnitude
            end, need, order = self._reach(lower, upper, bits)
            self.budget.check_bits(need)
            self.budget.spend_interval(order * (need + self.layout.exponents[-1].bit_length()))
            model = taylor_model(self.layout, lower, end, bits, need, order)
            sign = sign_by_partial_sums(model)
            if sign:
                self.result.append(CoverPiece(lower, end, sign, 0, model.order, model.bits))
                magnitude = abs(sum(model.coefficients)).bit_length() - model.bits
            else:
                self._subdivide(model, precision)
                if end < upper:
                    magnitude = magnitude_at(self.layout, end, self.budget)
            lower = end

    def _reach(self, lower: Fraction, upper: Fraction, bits: int) -> tuple[Fraction, int, int]:
        """How far a model from `lower` on should go, its need of bits and its order."""
        exponent = lower.numerator.bit_length() - lower.denominator.bit_length() + 3
        while True:
            step = Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)
            end = min(upper, (lower // step + 1) * step)
            need = needed_bits(self.layout, end, bits)
            most = max(_MOST_TERMS, need * _TERMS_PER_BIT.numerator // _TERMS_PER_BIT.denominator)
            order = least_order(self.layout, lower, end, need, most)
            if order is not None:
                return end, need, order
            exponent -= 1

    def _subdivide(self, model: TaylorModel, precision: int) -> None:
        """Append the cover of the model's interval, part by part."""
        unknown: tuple[Fraction, Fraction] | None = None
        width = model.upper - model.lower
        for part in parts(model, self.budget):
            size = width / (1 << part.depth)
            lower = model.lower + part.index * size
            upper = lower + size
            if part.shape is Shape.UNKNOWN:
                unknown = (unknown[0] if unknown else lower, upper)
                continue
            if unknown:
                self._sharpen(*unknown, precision)
                unknown = None
            self.result.append(self._settled(model, part, lower, upper))
        if unknown:
            self._sharpen(*unknown, precision)

    def _settled(
        self, model: TaylorModel, part: Subinterval, lower: Fraction, upper: Fraction
    ) -> CoverPiece | Crossing:
        if part.shape is Shape.SIGNED:
            return CoverPiece(lower, upper, part.sign, 0, model.order, model.bits)
        left = part.left or sign_at_point(self.layout, lower, self.budget)
        right = part.right or sign_at_point(self.layout, upper, self.budget)
        if left == right:
            return CoverPiece(lower, upper, left, part.sign, model.order, model.bits)
        assert left == -part.sign
        assert right == part.sign
        return Crossing(lower, upper, part.sign, model.order, model.bits)

    def _sharpen(self, lower: Fraction, upper: Fraction, precision: int) -> None:
        """Append the cover of a part that the model was too coarse for."""
        if precision >= _SUSPICIOUS_BITS and self.on_suspicion is not None:
            self.on_suspicion()
            self.on_suspicion = None
        self.solve(lower, upper, 2 * precision)
