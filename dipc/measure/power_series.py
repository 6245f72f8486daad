"""Piecewise functions near one eps: their coefficients are power series of balls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb

import flint

from dipc.algebra.limits import LimitReached, Meter
from dipc.algebra.numbers import to_fmpq
from dipc.measure.pieces import Piecewise

#: The coefficients c of Σ c·X^n·e^{l·X} by (n, l).
SeriesTerms = Mapping[tuple[int, int], flint.arb_series]

#: The radius of the disk of Cauchy's estimate, in multiples of its center.
DISK = Fraction(1, 2)

#: The most terms of one integrand.
MOST_TERMS = 4_000


@contextmanager
def precision(bits: int, length: int) -> Iterator[None]:
    """Set FLINT's precision to `bits` and its series to `length` coefficients inside a with block; both are global."""
    before = flint.ctx.cap
    try:
        flint.ctx.cap = length
        with flint.ctx.workprec(bits):
            yield
    finally:
        flint.ctx.cap = before


def coefficients(series: flint.arb_series, length: int) -> Sequence[flint.arb]:
    """Return the first `length` coefficients of `series`, which must be known to that length."""
    assert series.prec >= length, "a series is as long as FLINT was set to"
    balls: list[flint.arb] = list(series.coeffs())
    return balls + [flint.arb(0)] * (length - len(balls))


@dataclass(frozen=True)
class SeriesRing:
    """Functions of eps = `stretch`·(`center` + h), as power series in h.

    A function of eps and X is kept as its terms: an item (n, l): c means c·X^n·e^{l·X}, where the coefficient c is a
    power series in h.
    """

    center: Fraction
    stretch: Fraction
    _powers: dict[int, flint.arb_series] = field(default_factory=dict)

    @property
    def eps(self) -> flint.arb_series:
        return flint.arb_series([flint.arb(to_fmpq(self.center * self.stretch)), flint.arb(to_fmpq(self.stretch))])

    def exponential(self, q: int) -> flint.arb_series:
        """Return the function e^{`q`·eps} as a power series."""
        known = self._powers.get(q)
        if known is None:
            known = self._powers[q] = (self.eps * q).exp()
        return known

    def laplace(self, rate: int, mean: int) -> Piecewise[SeriesPiece]:
        """Return the density of X = eps·x, where x is Laplace noise around `mean` with the rate `rate`·eps."""
        half = flint.arb(rate) / 2
        left = {(0, rate): self.exponential(-rate * mean) * half}
        right = {(0, -rate): self.exponential(rate * mean) * half}
        return Piecewise((mean,), (SeriesPiece(self, left), SeriesPiece(self, right)))


def add(total: dict[tuple[int, int], flint.arb_series], key: tuple[int, int], value: flint.arb_series) -> None:
    """Add `value`, in place, to the coefficient of `total` with this `key`, which is 0 if there is none."""
    known = total.get(key)
    total[key] = value if known is None else known + value


@dataclass(frozen=True)
class SeriesPiece:
    """A function of eps and X near one eps, as its `terms`, whose coefficients are power series of `ring`."""

    ring: SeriesRing
    terms: SeriesTerms

    def zero(self) -> SeriesPiece:
        return SeriesPiece(self.ring, {})

    def is_zero(self) -> bool:
        return not self.terms

    def size(self) -> int:
        return len(self.terms)

    def times(self, other: SeriesPiece, meter: Meter) -> SeriesPiece:  # noqa: ARG002 - as `Piece` does
        """Return the product of this function and `other`. Raises LimitReached; `meter` is not used."""
        result: dict[tuple[int, int], flint.arb_series] = {}
        for (n, l), c in self.terms.items():
            for (m, k), d in other.terms.items():
                add(result, (n + m, l + k), c * d)
        if len(result) > MOST_TERMS:
            raise LimitReached(
                "terms",
                "the closed form is too long, and the power series of one integrand around one eps "
                f"has more than {MOST_TERMS} terms",
            )
        return SeriesPiece(self.ring, result)

    def to_power(self, exponent: int, meter: Meter) -> SeriesPiece:
        """Return this function to the power `exponent` >= 1. Raises LimitReached; `meter` is not used."""
        power = self
        for _ in range(exponent - 1):
            power = power.times(self, meter)
        return power

    def plus(self, other: SeriesPiece) -> SeriesPiece:
        """Return the sum of this function and `other`."""
        result = dict(self.terms)
        for key, c in other.terms.items():
            add(result, key, c)
        return SeriesPiece(self.ring, result)

    def times_term(self, factor: Fraction | int, exponent: int) -> SeriesPiece:
        """Return this function times `factor`·e^{`exponent`·eps}."""
        by = self.ring.exponential(exponent) * flint.arb(to_fmpq(factor)) if exponent else to_fmpq(factor)
        return SeriesPiece(self.ring, {key: c * by for key, c in self.terms.items()})

    def shifted(self, offset: int) -> SeriesPiece:
        """Return the function X -> f(X + eps·`offset`), where f is this function."""
        result: dict[tuple[int, int], flint.arb_series] = {}
        position = self.ring.eps * offset
        for (n, l), c in self.terms.items():
            scaled = c * self.ring.exponential(l * offset)
            for m in range(n, -1, -1):
                add(result, (m, l), scaled * comb(n, m))
                scaled = scaled * position
        return SeriesPiece(self.ring, result)

    def value(self, point: int) -> flint.arb_series:
        """Return the value of this function at X = eps·`point`, as a power series."""
        # Add terms from the greatest exponent down, so that equal differences of exponents share their powers.
        total = flint.arb_series([0])
        position = self.ring.eps * point
        by_power: dict[int, list[int]] = {}
        for n, l in self.terms:
            by_power.setdefault(n, []).append(l)
        for n, exponents in by_power.items():
            exponents.sort(reverse=True)
            sum_ = flint.arb_series([0])
            for l, below in zip(exponents, [*exponents[1:], 0], strict=True):
                sum_ = sum_ + self.terms[n, l]
                if l != below and point:
                    sum_ = sum_ * self.ring.exponential((l - below) * point)
            total = total + sum_ * position**n if n else total + sum_
        return total

    def antiderivative(self) -> SeriesPiece:
        """Return a function without a constant term whose derivative with respect to X is this function."""
        result: dict[tuple[int, int], flint.arb_series] = {}
        for (n, l), c in self.terms.items():
            if not l:
                add(result, (n + 1, 0), c / (n + 1))
                continue
            # By parts: the integral of X^n·e^{lX} is X^n·e^{lX}/l less n/l times that of X^(n-1)·e^{lX}.
            factor = c / l
            for m in range(n, -1, -1):
                add(result, (m, l), factor)
                if m:
                    factor = factor * (-m) / l
        return SeriesPiece(self.ring, result)

    def integrated(
        self,
        start: int | None,
        end: int | None,
        constant: dict[tuple[int, int], flint.arb_series],
        meter: Meter,  # noqa: ARG002 - as `Piece` does
    ) -> SeriesPiece:
        """Return the antiderivative of this function whose value at X = eps·`start` is `constant`[0, 0].

        Change `constant` to the value at X = eps·`end`; it is empty for the value 0. A `start` or `end` of None is
        infinite. `meter` is not used.
        """
        grown = self.antiderivative()
        if start is not None:
            add(constant, (0, 0), -grown.value(start))
        result = grown.plus(SeriesPiece(self.ring, constant))
        if end is not None:
            add(constant, (0, 0), grown.value(end))
        return result


def integral_of_series(factors: Sequence[tuple[Piecewise[SeriesPiece], int]], meter: Meter) -> flint.arb_series:
    """Return, as a power series, the integral over all X of the product of `factors`, pairs (function, power).

    The product must decay at both ends. Few factors change from one piece to the next. So the product on a piece is
    computed from the product on the piece before, by division, if each factor that changes is a single term there.
    `meter` is not used.
    """
    functions = [function.to_power(count, meter) for function, count in factors]
    breaks = sorted({b for function in functions for b in function.breaks})
    total = flint.arb_series([0])
    whole: SeriesPiece | None = None
    inside: list[SeriesPiece] = []
    for index, end in enumerate((*breaks, None)):
        before, inside = inside, [function.piece_before(end) for function in functions]
        if any(piece.is_zero() for piece in inside):
            whole = None
            continue
        whole = _changed(whole, before, inside, meter)
        grown = whole.antiderivative()
        if end is not None:
            total = total + grown.value(end)
        if index:
            total = total - grown.value(breaks[index - 1])
    return total


def _changed(
    whole: SeriesPiece | None, before: Sequence[SeriesPiece], inside: Sequence[SeriesPiece], meter: Meter
) -> SeriesPiece:
    """Return the product of all functions in `inside`.

    `whole` is the product of all functions in `before`, or None if it is not known. `before` has as many items as
    `inside`, most of them equal, so the product is computed from `whole` where that is possible. `meter` is not used.
    """
    changed = [index for index, piece in enumerate(inside) if whole is None or before[index] is not piece]
    if whole is None or any(before[index].size() != 1 for index in changed):
        result = inside[0]
        for piece in inside[1:]:
            result = result.times(piece, meter)
        return result
    for index in changed:
        (((n, l), c),) = before[index].terms.items()
        if n or (c.coeffs() or [flint.arb(0)])[0].contains(0):
            return _changed(None, before, inside, meter)
        inverse = c.inv()
        turned = {(m, k - l): d * inverse for (m, k), d in inside[index].terms.items()}
        whole = whole.times(SeriesPiece(whole.ring, turned), meter)
    return whole
