"""The sign near infinity: a bound past which the leading term wins."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dipc.sign.budget import Budget
from dipc.sign.exponential import LOG2E_LOW, LOG2E_SCALE
from dipc.sign.polynomial import Layout

_GUARD_BITS = 16
#: Smaller bounds than 2^this are not worth looking for.
_LEAST_EXPONENT = -40


@dataclass(frozen=True, slots=True)
class AtInfinity:
    """F has the strict sign `sign` on [bound, inf).

    The leading term is c·t^degree, the one with e^{-0·t} and the highest power. On [bound, inf) each other term
    divided by t^degree is decreasing in absolute value, and at t = bound these add up to less than |c|.
    """

    degree: int
    bound: Fraction
    sign: int


def at_infinity(layout: Layout, budget: Budget) -> AtInfinity:
    """The sign of F on some interval [bound, inf), with bound a power of 2."""
    degree = max(k for j, k, _ in layout.polynomial.terms if j == 0)
    leading = next(c for j, k, c in layout.polynomial.terms if j == 0 and k == degree)
    others = [(j, k - degree, abs(c)) for j, k, c in layout.polynomial.terms if j or k != degree]
    sign = 1 if leading > 0 else -1
    exponent = 2
    down = _dominates(abs(leading), others, exponent)
    while True:
        budget.spend_interval()
        exponent += -1 if down else 1
        proved = _dominates(abs(leading), others, exponent)
        if proved and (not down or exponent <= _LEAST_EXPONENT):
            break
        if down and not proved:
            exponent += 1
            break
    bound = Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)
    return AtInfinity(degree, bound, sign)


def _dominates(leading: int, others: list[tuple[int, int, int]], exponent: int) -> bool:
    """Whether |leading| > Σ size·B^power·e^{-j·B} at B = 2^exponent is proved, with every term decreasing from B on."""
    limit = leading << _GUARD_BITS
    total = 0
    for j, power, size in others:
        # t^power·e^{-jt} decreases from power/j on.
        if power > 0 and (power << -exponent if exponent < 0 else power) > (j << exponent if exponent > 0 else j):
            return False
        decay = LOG2E_LOW * j
        decay = (decay << exponent if exponent >= 0 else decay >> -exponent) // LOG2E_SCALE
        move = _GUARD_BITS + power * exponent - decay
        # Rounded up to a multiple of 2^-_GUARD_BITS.
        total += (size << move) if move >= 0 else (size >> min(-move, size.bit_length())) + 1
        if total >= limit:
            return False
    return True
