"""Truncated Laplace noise: Laplace noise conditioned to low <= x <= high."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from dipc.noise.bounded import Bounded
from dipc.noise.law import DensityPiece, Draws, Normalizer

if TYPE_CHECKING:
    from dipc.noise.lazy import LazyReal, RandomBits

_ZERO, _ONE = Fraction(0), Fraction(1)


class TruncatedLaplace(Bounded):
    """The law of `TLap(a*eps, mean, low, high)`: the density is proportional to e^{-a·eps·|x|} on [low, high]."""

    keyword = "TLap"
    name = "truncated Laplace"
    checker_name = "truncated-laplace"
    unimodal = log_concave = True

    def pieces(self, rate: Fraction) -> tuple[DensityPiece, ...]:
        return tuple(
            [
                DensityPiece(min(sign * near, sign * far), max(sign * near, sign * far), ((rate, 0, -sign * rate),))
                for sign, near, far in self._sides
            ]
        )

    @property
    def _sides(self) -> list[tuple[int, Fraction, Fraction]]:
        parts = ((1, max(_ZERO, self.low), self.high), (-1, max(_ZERO, -self.high), -self.low))
        return [(sign, near, far) for sign, near, far in parts if near < far]

    def normalizer(self, rate: Fraction) -> Normalizer:
        """The integral of a·e^{-a·|X|} over [eps·low, eps·high] as a function of eps, where a is the `rate`.

        If low < 0 < high, this integral is 2 - e^{a·low·eps} - e^{-a·high·eps}.
        """
        terms = []
        for _, near, far in self._sides:
            terms += [(0, -rate * near, _ONE), (0, -rate * far, -_ONE)]
        return tuple(terms)

    def tail_bound(self, rate: Fraction, reach: Fraction, *, upward: bool, strict: bool) -> tuple[Fraction, Fraction]:
        """(q, w) with Pr[N > `reach`] <= w·e^{-q·eps} if `upward`, else Pr[N < -`reach`] <= w·e^{-q·eps}.

        Both are 0 if `reach` is outside of the support. Otherwise, for x >= n = max(0, low), Pr[N > x] <= Pr[N > x |
        N >= n] <= e^{-`rate`·eps·(x - n)}. `strict` does not matter, as N has a density.
        """
        low, high = (self.low, self.high) if upward else (-self.high, -self.low)
        if reach >= high:
            return _ZERO, _ZERO
        return rate * max(_ZERO, reach - max(_ZERO, low)), _ONE

    def shift_cost(self, rate: Fraction) -> Fraction:
        return rate

    def variation_bound(self, disk: Fraction) -> Fraction:
        """An upper bound of the squared total variation for complex eps with |eps - e| <= `disk`·e, for any e > 0.

        The total variation is at most |eps|/Re eps. The density is e^{-a·eps·|x|} over ∫ e^{-a·eps·|x|}. For z =
        a·eps that integral is a sum of one or two (e^{-z·near} - e^{-z·far})/z, and |Σ(e^{-z·near} - e^{-z·far})| >=
        Σ(e^{-near·Re z} - e^{-far·Re z}): with one summand as |1 - e^{-w}| >= 1 - e^{-Re w}, and with two, where near
        = 0, as |2 - v - w| >= 2 - |v| - |w|.
        """
        return 1 / (1 - disk**2)

    def draw_floats(self, draws: Draws, rate: float, size: int) -> Any:
        return draws.truncated_laplace(float(self.low) * rate, float(self.high) * rate, size) / rate

    def draw_exactly(self, bits: RandomBits, rate: Fraction) -> LazyReal:
        return bits.truncated_laplace(self.low * rate, self.high * rate)

    def draw_text(self, scale: str, mean: str, low: str = "low", high: str = "high") -> str:
        return f"{self.keyword}({scale}, {mean}, {low}, {high})"

    @property
    def usage(self) -> str:
        return "`TLap` takes a rate in eps, a mean and two ends, for example `TLap(eps/2, 0, -10, 10)`"


TRUNCATED_LAPLACE = TruncatedLaplace()
