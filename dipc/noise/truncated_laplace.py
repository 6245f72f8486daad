"""Truncated Laplace noise: Laplace noise conditioned to low <= x <= high."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from dipc.noise.bounded import Bounded
from dipc.noise.law import DensityPiece, Normalizer

if TYPE_CHECKING:
    from dipc.noise.lazy import LazyReal, RandomBits

_ZERO, _ONE = Fraction(0), Fraction(1)


class TruncatedLaplace(Bounded):
    """The law of `TLap(a*eps, mean, low, high)`: Laplace noise x conditioned on low <= x <= high, then the mean added.

    The density of x is proportional to e^{-a·eps·|x|} on [low, high], and 0 elsewhere.
    """

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
        """The integral of a·e^{-a·|X|} over eps·low <= X <= eps·high, where a is the `rate`: a function of eps.

        It is returned as its terms, where (k, q, c) means c·eps^k·e^{q·eps}. For example, if low < 0 < high, the
        integral is 2 - e^{a·low·eps} - e^{-a·high·eps}.
        """
        terms = []
        for _, near, far in self._sides:
            terms += [(0, -rate * near, _ONE), (0, -rate * far, -_ONE)]
        return tuple(terms)

    def tail_bound(self, rate: Fraction, reach: Fraction, *, upward: bool, strict: bool) -> tuple[Fraction, Fraction]:
        """Return (q, w) such that a tail of the noise N has at most the probability w·e^{-q·eps}, for every eps > 0.

        The tail is N > `reach` if `upward`, else N < -`reach`, for N with the rate `rate`·eps before its mean is added.
        If the ends of the support exclude the tail, q and w are 0. Otherwise, for upward tails, let n = max(0, low).
        For x >= n, Pr[N > x] <= Pr[N > x | N >= n] <= e^{-rate·eps·(x - n)}. `strict` makes no difference, as N has a
        density.
        """
        low, high = (self.low, self.high) if upward else (-self.high, -self.low)
        if reach >= high:
            return _ZERO, _ZERO
        return rate * max(_ZERO, reach - max(_ZERO, low)), _ONE

    def shift_cost(self, rate: Fraction) -> Fraction:
        return rate

    def variation_bound(self, disk: Fraction) -> Fraction:
        """An upper bound of (∫ |p(x)| dx)² for all complex eps with |eps - e| <= `disk`·e, for any e > 0.

        p(x) is the density, a complex number at complex eps, and the integral is its total variation. Proof that it is
        at most |eps|/Re eps:

        1. p(x) is e^{-z·|x|} divided by ∫ e^{-z·|x|} dx, where z = a·eps.
        2. This integral is a sum of one or two differences (e^{-z·near} - e^{-z·far})/z, one for each side of 0, on
           which |x| is between near and far.
        3. |Σ (e^{-z·near} - e^{-z·far})| >= Σ (e^{-near·Re z} - e^{-far·Re z}). For one side this is |1 - e^{-w}| >= 1
           - e^{-Re w}. For two sides near = 0, and it is |2 - v - w| >= 2 - |v| - |w|.
        """
        return 1 / (1 - disk**2)

    def draw_exactly(self, bits: RandomBits, rate: Fraction) -> LazyReal:
        return bits.truncated_laplace(self.low * rate, self.high * rate)

    def draw_text(self, scale: str, mean: str, low: str = "low", high: str = "high") -> str:
        return f"{self.keyword}({scale}, {mean}, {low}, {high})"

    @property
    def usage(self) -> str:
        return "`TLap` takes a rate in eps, a mean and two ends, for example `TLap(eps/2, 0, -10, 10)`"


TRUNCATED_LAPLACE = TruncatedLaplace()
