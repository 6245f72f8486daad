"""Piecewise functions near one eps: their coefficients are power series of balls."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb

import flint

from dipc.algebra.limits import LimitReached, Meter
from dipc.algebra.numbers import to_fmpq
from dipc.measure.pieces import merged, restricted

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

    def laplace(self, rate: int, mean: int) -> SeriesPiecewise:
        """Return the density of X = eps·x, where x is Laplace noise around `mean` with the rate `rate`·eps."""
        half = flint.arb(rate) / 2
        left = {(0, rate): self.exponential(-rate * mean) * half}
        right = {(0, -rate): self.exponential(rate * mean) * half}
        return SeriesPiecewise(self, (mean,), (left, right))

    # --- pieces ---------------------------------------------------------------------------------------

    def value(self, terms: SeriesTerms, point: int) -> flint.arb_series:
        """Return, as a power series, the value at X = eps·`point` of the function with these `terms`."""
        # Add terms from the greatest exponent down, so that equal differences of exponents share their powers.
        total = flint.arb_series([0])
        position = self.eps * point
        by_power: dict[int, list[int]] = {}
        for n, l in terms:
            by_power.setdefault(n, []).append(l)
        for n, exponents in by_power.items():
            exponents.sort(reverse=True)
            sum_ = flint.arb_series([0])
            for l, below in zip(exponents, [*exponents[1:], 0], strict=True):
                sum_ = sum_ + terms[n, l]
                if l != below and point:
                    sum_ = sum_ * self.exponential((l - below) * point)
            total = total + sum_ * position**n if n else total + sum_
        return total

    def shifted(self, terms: SeriesTerms, offset: int) -> SeriesTerms:
        """Return the terms of X -> f(X + eps·`offset`), where f has these `terms`."""
        result: dict[tuple[int, int], flint.arb_series] = {}
        position = self.eps * offset
        for (n, l), c in terms.items():
            scaled = c * self.exponential(l * offset)
            for m in range(n, -1, -1):
                add(result, (m, l), scaled * comb(n, m))
                scaled = scaled * position
        return result


def add(total: dict[tuple[int, int], flint.arb_series], key: tuple[int, int], value: flint.arb_series) -> None:
    """Add `value`, in place, to the coefficient of `total` with this `key`, which is 0 if there is none."""
    known = total.get(key)
    total[key] = value if known is None else known + value


def product(left: SeriesTerms, right: SeriesTerms) -> SeriesTerms:
    """Return the terms of the product of the functions with the terms `left` and `right`. Raises LimitReached."""
    result: dict[tuple[int, int], flint.arb_series] = {}
    for (n, l), c in left.items():
        for (m, k), d in right.items():
            add(result, (n + m, l + k), c * d)
    if len(result) > MOST_TERMS:
        raise LimitReached(
            "terms",
            "the closed form is too long, and the power series of one integrand around one eps "
            f"has more than {MOST_TERMS} terms",
        )
    return result


def difference(left: SeriesTerms, right: SeriesTerms) -> SeriesTerms:
    """Return the terms of f - g, where f has the terms `left` and g the terms `right`."""
    result = dict(left)
    for key, c in right.items():
        add(result, key, -c)
    return result


def antiderivative(terms: SeriesTerms) -> SeriesTerms:
    """Return the terms of a function without a constant term whose derivative with respect to X has these `terms`."""
    result: dict[tuple[int, int], flint.arb_series] = {}
    for (n, l), c in terms.items():
        if not l:
            add(result, (n + 1, 0), c / (n + 1))
            continue
        # By parts: the integral of X^n·e^{lX} is X^n·e^{lX}/l less n/l times that of X^(n-1)·e^{lX}.
        factor = c / l
        for m in range(n, -1, -1):
            add(result, (m, l), factor)
            if m:
                factor = factor * (-m) / l
    return result


@dataclass(frozen=True)
class SeriesPiecewise:
    """A function of X near one eps: `pieces[i]` between eps·`breaks[i-1]` and eps·`breaks[i]`.

    A piece is given as its terms, whose coefficients are power series of `ring`.
    """

    ring: SeriesRing
    breaks: tuple[int, ...]
    pieces: tuple[SeriesTerms, ...]

    def restricted(self, low: int | None, high: int | None) -> SeriesPiecewise:
        """Return this function times the indicator of [eps·`low`, eps·`high`], where an end that is None is infinite.

        The result is zero if `low` >= `high`.
        """
        return SeriesPiecewise(self.ring, *restricted(self.breaks, self.pieces, low, high, {}))

    def piece_before(self, point: int | None) -> SeriesTerms:
        """Return the piece whose interval ends at eps·`point` or contains it; the last piece if `point` is None."""
        return self.pieces[-1 if point is None else bisect_left(self.breaks, point)]

    def times(self, other: SeriesPiecewise, meter: Meter) -> SeriesPiecewise:  # noqa: ARG002 - as `Piecewise` does
        """Return the product of this function and `other`; `meter` is not used."""
        breaks, pairs = merged(self.breaks, self.pieces, other.breaks, other.pieces)
        return SeriesPiecewise(self.ring, breaks, tuple(product(left, right) for left, right in pairs))

    def to_power(self, exponent: int, meter: Meter) -> SeriesPiecewise:
        """Return this function to the power `exponent` >= 1; `meter` is not used."""
        piecewise = self
        for _ in range(exponent - 1):
            piecewise = piecewise.times(self, meter)
        return piecewise

    def window_integral(self, low: int | None, high: int | None, meter: Meter) -> SeriesPiecewise:  # noqa: ARG002
        """Return the function X -> ∫ f(Z) dZ over X + eps·`low` <= Z <= X + eps·`high`, where f is this function.

        A `low` or `high` of None is infinite. `meter` is not used.
        """
        if low is None:
            assert high is not None, "a noise that is compared with its parent has a bound"
            return self._integral(above=False).shifted(high)
        if high is None:
            return self._integral(above=True).shifted(low)
        below = self._integral(above=False)
        upper, lower = below.shifted(high), below.shifted(low)
        breaks, pairs = merged(upper.breaks, upper.pieces, lower.breaks, lower.pieces)
        return SeriesPiecewise(self.ring, breaks, tuple(difference(left, right) for left, right in pairs))

    def _integral(self, *, above: bool) -> SeriesPiecewise:
        """Return the function X -> ∫ f(Z) dZ from -∞ to X, or from X to ∞ if `above`, where f is this function.

        f must decay at both ends.
        """
        sign = -1 if above else 1
        pieces = [{key: c * sign for key, c in antiderivative(piece).items()} for piece in self.pieces]
        order = range(len(pieces) - 1, -1, -1) if above else range(len(pieces))
        # The antiderivatives have no constant terms; these constants make the integral continuous.
        constant = flint.arb_series([0])
        for index in order:
            entered, left = (index, index - 1) if above else (index - 1, index)
            if index != order[0]:
                constant = constant - self.ring.value(pieces[index], self.breaks[entered])
            grown = dict(pieces[index])
            if index != order[0]:
                add(grown, (0, 0), constant)
            if index != order[-1]:
                constant = constant + self.ring.value(pieces[index], self.breaks[left])
            pieces[index] = grown
        return SeriesPiecewise(self.ring, self.breaks, tuple(pieces))

    def shifted(self, offset: int) -> SeriesPiecewise:
        """Return the function X -> f(X + eps·`offset`), where f is this function."""
        if not offset:
            return self
        pieces = tuple(self.ring.shifted(piece, offset) for piece in self.pieces)
        return SeriesPiecewise(self.ring, tuple(b - offset for b in self.breaks), pieces)


def integral_of_series(factors: Sequence[tuple[SeriesPiecewise, int]], meter: Meter) -> flint.arb_series:
    """Return, as a power series, the integral over all X of the product of `factors`, pairs (function, power).

    The product must decay at both ends. Few factors change from one piece to the next. So the product on a piece is
    computed from the product on the piece before, by division, if each factor that changes is a single term there.
    `meter` is not used.
    """
    functions = [function.to_power(count, meter) for function, count in factors]
    ring = functions[0].ring
    breaks = sorted({b for function in functions for b in function.breaks})
    total = flint.arb_series([0])
    whole: SeriesTerms | None = None
    inside: list[SeriesTerms] = []
    for index, end in enumerate((*breaks, None)):
        before, inside = inside, [function.piece_before(end) for function in functions]
        if not all(inside):
            whole = None
            continue
        whole = _changed(whole, before, inside)
        grown = antiderivative(whole)
        if end is not None:
            total = total + ring.value(grown, end)
        if index:
            total = total - ring.value(grown, breaks[index - 1])
    return total


def _changed(whole: SeriesTerms | None, before: Sequence[SeriesTerms], inside: Sequence[SeriesTerms]) -> SeriesTerms:
    """Return the terms of the product of all series in `inside`.

    `whole` is the product of all series in `before`, or None if it is not known. `before` has as many items as
    `inside`, most of them equal, so the product is computed from `whole` where that is possible.
    """
    changed = [index for index, piece in enumerate(inside) if whole is None or before[index] is not piece]
    if whole is None or any(len(before[index]) != 1 for index in changed):
        result = inside[0]
        for piece in inside[1:]:
            result = product(result, piece)
        return result
    for index in changed:
        (((n, l), c),) = before[index].items()
        if n or (c.coeffs() or [flint.arb(0)])[0].contains(0):
            return _changed(None, before, inside)
        inverse = c.inv()
        whole = product(whole, {(m, k - l): d * inverse for (m, k), d in inside[index].items()})
    return whole
