"""The sign of one factor on an interval of t, from near 0 through the middle to infinity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from dipc.sign.at_infinity import AtInfinity, at_infinity
from dipc.sign.budget import Budget
from dipc.sign.cover import CoverPiece, Crossing, cover
from dipc.sign.factor import rational_root
from dipc.sign.near_zero import NearZero, near_zero
from dipc.sign.polynomial import Layout, Polynomial

#: Intervals that begin above this do not need the sign near 0 to be fast.
_NEAR = Fraction(1, 64)


@dataclass(frozen=True, slots=True)
class FactorSign:
    """The sign of t -> G(t, e^{-t}) between two positive t, `lower` and `upper` (None: infinity).

    `zero` holds the sign from 0 on, `infinity` that from some bound on; `pieces` cover what is between them, inside
    [lower, upper], each beginning where the one before ends. A linear G in t alone has none of them: its
    `rational_root` says all.
    `left` is the sign right after `lower`.
    """

    polynomial: Polynomial
    multiplicity: int
    zero: NearZero | None
    infinity: AtInfinity | None
    pieces: tuple[CoverPiece | Crossing, ...]
    rational_root: Fraction | None
    left: int

    @property
    def crossings(self) -> tuple[Crossing, ...]:
        """The isolated roots."""
        return tuple(piece for piece in self.pieces if isinstance(piece, Crossing))


def factor_sign(
    polynomial: Polynomial,
    multiplicity: int,
    lower: Fraction,
    upper: Fraction | None,
    budget: Budget,
    on_suspicion: Callable[[], None],
) -> FactorSign:
    """The sign of G between `lower` < `upper`; `on_suspicion` as for `cover`.

    G must be linear in t alone or vanish at no rational point.
    """
    root = rational_root(polynomial)
    if root is not None:
        rises = polynomial.terms[-1][2] > 0
        return FactorSign(polynomial, multiplicity, None, None, (), root, 1 if (lower >= root) == rises else -1)
    layout = Layout(polynomial)
    low, high = lower, upper
    zero = infinity = None
    if lower < _NEAR:
        zero = near_zero(layout, budget)
        if zero.radius > lower:
            low = zero.radius
        else:
            zero = None
    if high is None or low < high:
        infinity = at_infinity(layout, budget)
        if high is None or infinity.bound < high:
            high = infinity.bound
        else:
            infinity = None
    pieces: list[CoverPiece | Crossing] = []
    assert high is not None
    if low < high:
        pieces = cover(layout, low, high, budget, on_suspicion)
    signs = _signs_at_joints(zero, pieces, infinity)
    return FactorSign(polynomial, multiplicity, zero, infinity, tuple(pieces), None, signs[0])


def _signs_at_joints(
    zero: NearZero | None, pieces: list[CoverPiece | Crossing], infinity: AtInfinity | None
) -> list[int]:
    """The signs on both sides of the middle; asserts that the parts agree where they meet."""
    ends = [sign for piece in pieces[:1] + pieces[-1:] for sign in piece.end_signs]
    if zero and infinity and not ends:
        assert zero.sign == infinity.sign
    if zero and ends:
        assert zero.sign == ends[0]
    if infinity and ends:
        assert infinity.sign == ends[-1]
    return [*([zero.sign] if zero else []), *ends, *([infinity.sign] if infinity else [])]
