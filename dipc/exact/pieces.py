"""One-variable piecewise exponential polynomials, on the scale X = eps·x.

A piece is Σ c·eps^k·e^{q·eps}·X^n·e^{l·X} with integer q and l; a piecewise function has integer breakpoints b, each
standing for the point X = eps·b. On that scale a Laplace density of rate a at mean m is (a/2)·e^{-a|X - eps·m|}: the
class is closed under product, antiderivative, tail integral and shift by eps·c, and eps is never divided by
(DESIGN, "scale by eps"). Breakpoints keep their order for every eps > 0, so one computation serves all eps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import comb, factorial, prod
from typing import Any

import flint

from dipc.exact.exppoly import ExpPoly
from dipc.exact.limits import LimitReached

_CONTEXT = flint.fmpq_mpoly_ctx.get(("x", "y", "X", "Y"), flint.Ordering.lex)
_X_POWER = 2

#: Exponents (k, q, n, l) of a term c·eps^k·e^{q·eps}·X^n·e^{l·X}, q and l of any sign.
Exponents = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class TermLimit:
    """The number of terms past which a function is not expanded further."""

    terms: int = 400_000

    def check_product(self, left: int, right: int) -> None:
        """Refuse a product whose factors have this many terms, before it is expanded; raises LimitReached."""
        if left > self.terms or right > self.terms or left * right > 100 * self.terms:
            raise LimitReached(
                "terms", f"the closed form has more than {self.terms} terms (limit `terms`); its expansion was stopped"
            )


class Piece:
    """One exponential polynomial in eps and X: `y^low_y · Y^low_Y · poly(x, y, X, Y)`, immutable."""

    __slots__ = ("low_X", "low_y", "poly")

    def __init__(self, poly: flint.fmpq_mpoly, low_y: int = 0, low_X: int = 0) -> None:
        self.poly = poly
        self.low_y = low_y
        self.low_X = low_X

    @classmethod
    def zero(cls) -> Piece:
        return cls(_CONTEXT.constant(0))

    @classmethod
    def term(cls, coefficient: flint.fmpq, exponents: Exponents) -> Piece:
        k, q, n, l = exponents
        return cls(_CONTEXT.from_dict({(k, 0, n, 0): coefficient}), q, l)

    @classmethod
    def collect(cls, terms: dict[Exponents, Any]) -> Piece:
        if not terms:
            return cls.zero()
        low_y = min(e[1] for e in terms)
        low_x = min(e[3] for e in terms)
        return cls(
            _CONTEXT.from_dict({(k, q - low_y, n, l - low_x): c for (k, q, n, l), c in terms.items()}), low_y, low_x
        )

    @classmethod
    def of_ring(cls, value: ExpPoly) -> Piece:
        """The function constant in X; the ring element must have integer exponents."""
        unit, terms = value.integer_terms()
        assert unit == 1
        return cls.collect({(k, q, 0, 0): c for k, q, c in terms})

    def terms(self) -> list[tuple[Exponents, Any]]:
        return [
            ((int(k), int(q) + self.low_y, int(n), int(l) + self.low_X), c) for (k, q, n, l), c in self.poly.terms()
        ]

    def is_zero(self) -> bool:
        return bool(self.poly.is_zero())

    def __mul__(self, other: Piece) -> Piece:
        return Piece(self.poly * other.poly, self.low_y + other.low_y, self.low_X + other.low_X)

    def __pow__(self, exponent: int) -> Piece:
        return Piece(self.poly**exponent, self.low_y * exponent, self.low_X * exponent)

    def __neg__(self) -> Piece:
        return Piece(-self.poly, self.low_y, self.low_X)

    def __add__(self, other: Piece) -> Piece:
        if self.is_zero():
            return other
        if other.is_zero():
            return self
        low_y, low_x = min(self.low_y, other.low_y), min(self.low_X, other.low_X)
        return Piece(self._at(low_y, low_x) + other._at(low_y, low_x), low_y, low_x)

    def __sub__(self, other: Piece) -> Piece:
        return self + (-other)

    def _at(self, low_y: int, low_x: int) -> flint.fmpq_mpoly:
        if (low_y, low_x) == (self.low_y, self.low_X):
            return self.poly
        return self.poly * _CONTEXT.from_dict({(0, self.low_y - low_y, 0, self.low_X - low_x): flint.fmpq(1)})

    def shifted(self, offset: int) -> Piece:
        """X -> f(X + eps·offset)."""
        if offset == 0 or self.is_zero():
            return self
        collected: dict[Exponents, Any] = {}
        for (k, q, n, l), c in self.terms():
            for i in range(n + 1):
                key = (k + n - i, q + l * offset, i, l)
                collected[key] = collected.get(key, 0) + c * (comb(n, i) * offset ** (n - i))
        return Piece.collect(collected)

    def at(self, point: int) -> ExpPoly:
        """The value at X = eps·point."""
        collected: dict[tuple[int, int], Any] = {}
        for (k, q, n, l), c in self.terms():
            if n and not point:
                continue
            key = (k + n, q + l * point)
            collected[key] = collected.get(key, 0) + (c * point**n if n else c)
        return ExpPoly.from_integer_exponents(collected)

    def antiderivative(self) -> Piece:
        """A function F with dF/dX = f and no constant term: it vanishes at -∞ (at +∞) if every l > 0 (l < 0)."""
        collected: dict[Exponents, Any] = {}
        for (k, q, n, l), c in self.terms():
            if l == 0:
                key = (k, q, n + 1, 0)
                collected[key] = collected.get(key, 0) + c / (n + 1)
                continue
            for i in range(n + 1):
                key = (k, q, n - i, l)
                factor = flint.fmpq((-1) ** i * (factorial(n) // factorial(n - i)), l ** (i + 1))
                collected[key] = collected.get(key, 0) + c * factor
        return Piece.collect(collected)


@dataclass(frozen=True, slots=True)
class Piecewise:
    """`pieces[i]` holds between eps·breaks[i-1] and eps·breaks[i]; breaks strictly increase, one piece more than breaks.

    The value at a breakpoint itself is left open: these are densities and integrals of them.
    """

    breaks: tuple[int, ...]
    pieces: tuple[Piece, ...]

    @classmethod
    def laplace(cls, rate: int, mean: int) -> Piecewise:
        """The density of X = eps·x for x ~ Lap(rate·eps, mean)."""
        half = flint.fmpq(rate, 2)
        left = Piece.term(half, (0, -rate * mean, 0, rate))
        right = Piece.term(half, (0, rate * mean, 0, -rate))
        return cls((mean,), (left, right))

    @classmethod
    def laplace_below(cls, rate: int, mean: int) -> Piecewise:
        """X -> Pr[x·eps <= X], the distribution function of the same noise."""
        half = flint.fmpq(1, 2)
        left = Piece.term(half, (0, -rate * mean, 0, rate))
        right = Piece.collect({(0, 0, 0, 0): flint.fmpq(1), (0, rate * mean, 0, -rate): -half})
        return cls((mean,), (left, right))

    def restricted(self, low: int | None, high: int | None) -> Piecewise:
        """The function times the indicator of [eps·low, eps·high] (None: unbounded); zero if low >= high."""
        if low is None and high is None:
            return self
        if low is not None and high is not None and low >= high:
            return Piecewise((), (Piece.zero(),))
        breaks = sorted({*self.breaks, *(b for b in (low, high) if b is not None)})
        pieces = [
            Piece.zero()
            if (low is not None and (right is not None and right <= low))
            or (high is not None and (left is not None and left >= high))
            else self._piece_before(right)
            for left, right in zip([None, *breaks], [*breaks, None], strict=True)
        ]
        return Piecewise(tuple(breaks), tuple(pieces)).trimmed()

    def _piece_before(self, right: int | None) -> Piece:
        """The piece that holds just left of the point `right` (None: the last one)."""
        if right is None:
            return self.pieces[-1]
        for b, piece in zip(self.breaks, self.pieces, strict=False):
            if right <= b:
                return piece
        return self.pieces[-1]

    def trimmed(self) -> Piecewise:
        """The same function without breakpoints between two zero pieces."""
        breaks, pieces = list[int](), [self.pieces[0]]
        for b, piece in zip(self.breaks, self.pieces[1:], strict=True):
            if piece.is_zero() and pieces[-1].is_zero():
                continue
            breaks.append(b)
            pieces.append(piece)
        return Piecewise(tuple(breaks), tuple(pieces))

    def times(self, other: Piecewise, limit: TermLimit) -> Piecewise:
        """The product; raises LimitReached before it grows past the limit."""
        breaks = sorted({*self.breaks, *other.breaks})
        pieces = []
        i = j = 0
        for right in [*breaks, None]:
            left_piece, right_piece = self.pieces[i], other.pieces[j]
            limit.check_product(len(left_piece.poly), len(right_piece.poly))
            pieces.append(left_piece * right_piece)
            if right is not None:
                i += i < len(self.breaks) and self.breaks[i] == right
                j += j < len(other.breaks) and other.breaks[j] == right
        return Piecewise(tuple(breaks), tuple(pieces)).trimmed()

    def to_power(self, exponent: int, limit: TermLimit) -> Piecewise:
        """The function to a natural power."""
        for piece in self.pieces:
            if piece.is_zero():
                continue
            # A power of t terms has at most C(e + t - 1, e) of them, and no more than fit in its box of degrees.
            box = prod(exponent * int(degree) + 1 for degree in piece.poly.degrees())
            limit.check_product(1, min(box, comb(exponent + len(piece.poly) - 1, exponent)))
        return Piecewise(self.breaks, tuple(piece**exponent for piece in self.pieces))

    def shifted(self, offset: int) -> Piecewise:
        """X -> f(X + eps·offset)."""
        if offset == 0:
            return self
        return Piecewise(tuple(b - offset for b in self.breaks), tuple(p.shifted(offset) for p in self.pieces))

    def mapped(self, change: Callable[[Piece], Piece]) -> Piecewise:
        return Piecewise(self.breaks, tuple(change(p) for p in self.pieces))

    def minus(self, other: Piecewise) -> Piecewise:
        """The difference of two functions."""
        breaks = sorted({*self.breaks, *other.breaks})
        pieces = tuple(self._piece_before(b) - other._piece_before(b) for b in [*breaks, None])
        return Piecewise(tuple(breaks), pieces)

    def integral_below(self) -> tuple[Piecewise, ExpPoly]:
        """X -> the integral from -∞ to X, and the integral over the line. The function must decay at both ends."""
        pieces: list[Piece] = []
        so_far = ExpPoly.zero()
        for i, piece in enumerate(self.pieces):
            grown = piece.antiderivative()
            if i > 0:
                at = self.breaks[i - 1]
                grown = grown + Piece.of_ring(so_far - grown.at(at))
            if i < len(self.breaks):
                so_far = grown.at(self.breaks[i])
            pieces.append(grown)
        if not self.pieces[-1].is_zero():
            # The last piece decays, so what is left of its integral at +∞ is the constant alone.
            so_far = ExpPoly.from_integer_exponents(
                {(k, q): c for (k, q, n, l), c in pieces[-1].terms() if n == 0 and l == 0}
            )
        return Piecewise(self.breaks, tuple(pieces)), so_far

    def integral(self) -> ExpPoly:
        """The integral over the line of a function that decays at both ends."""
        total = ExpPoly.zero()
        last = len(self.breaks)
        for i, piece in enumerate(self.pieces):
            if piece.is_zero():
                continue
            grown = piece.antiderivative()
            if i < last:
                total = total + grown.at(self.breaks[i])
            if i > 0:
                total = total - grown.at(self.breaks[i - 1])
        return total
