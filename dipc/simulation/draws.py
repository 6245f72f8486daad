"""Draws of many runs at once: the laws of noise that the checker knows, and finite choices, with NumPy's PCG64.

Each law is drawn from its definition in `dipc.verifier.noise`, and shares nothing with the exact draws of `dipc run`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, DivisionByZero, InvalidOperation, Overflow, localcontext
from fractions import Fraction
from math import fsum, isqrt, sqrt
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dipc.verifier.functions import Closed, Ring
from dipc.verifier.noise import Bounded, Family, NoiseFamily, Normal, is_whole

#: Positions in arrays: indices of runs, or codes of values.
Positions = NDArray[np.intp]

#: A function that draws as many numbers from a generator as it is asked to.
Sampler = Callable[[Generator, int], NDArray[Any]]

#: The bounds of rates: beyond these, sums of draws would overflow, or integers would not be exact.
LEAST_RATE, LEAST_WHOLE_RATE, GREATEST_RATE = Fraction(1, 10**150), Fraction(1, 10**13), Fraction(10**150)

#: The deviation above which a discrete normal is drawn by rounding.
_WIDE = 100_000

#: The bits to which an irrational variance is computed.
_BITS = 64


class TooExtreme(ArithmeticError):
    """Raised if the `rate` of noise is too small or too great to draw: below `least` or above GREATEST_RATE."""

    def __init__(self, rate: Fraction, least: Fraction) -> None:
        super().__init__(rate, least)
        self.rate = rate
        self.least = least


def sampler(family: NoiseFamily, rate: Fraction, eps: Fraction) -> Sampler:
    """Return a sampler of noise of the law `family` with this `rate`, at one `eps`.

    Integer noise is drawn in 64 bits. Raises TooExtreme if the rate is too small or too great to be drawn.
    """
    least = LEAST_WHOLE_RATE if is_whole(family) else LEAST_RATE
    if isinstance(family, Normal):
        variance = rate * family.square.ends(_BITS)[0] / (1 if family.fixed else eps**2)
        if not least**2 <= 1 / variance <= GREATEST_RATE**2:
            raise TooExtreme(Fraction(isqrt(int(10**640 / variance)), 10**320), least)
        deviation = sqrt(variance)
        if family.whole:
            return discrete_normal(deviation)
        return lambda source, size: source.standard_normal(size) * deviation
    if isinstance(family, Bounded) and not family.laplace:
        low, high = float(family.low), float(family.high)
        return lambda source, size: source.uniform(low, high, size)
    if not least <= rate * eps <= GREATEST_RATE:
        raise TooExtreme(rate * eps, least)
    scale = float(rate * eps)
    match family:
        case Bounded(low_end, high_end):
            return truncated_laplace(float(low_end), float(high_end), scale)
        case Family.LAPLACE:
            return lambda source, size: source.laplace(size=size) / scale
        case Family.ONE_SIDED:
            return lambda source, size: source.standard_exponential(size) / scale
        case Family.DISCRETE_LAPLACE:
            return lambda source, size: discrete_laplace(source, scale, size)


def discrete_laplace(source: Generator, rate: float, size: int) -> NDArray[np.int64]:
    """Draw `size` integers i with mass proportional to e^{-`rate`·|i|} from `source`.

    Each is the difference of two geometric draws: the integer part X of an exponential draw has Pr[X >= k] =
    e^{-rate·k}.
    """
    first, second = source.standard_exponential((2, size)) / rate // 1
    drawn: NDArray[np.int64] = (first - second).astype(np.int64)
    return drawn


def truncated_laplace(low: float, high: float, rate: float) -> Sampler:
    """Return a sampler of reals with density proportional to e^{-`rate`·|x|} on [`low`, `high`], by inversion."""
    # On each side, |x| is `near` plus a truncated exponential number; where there are two sides, `near` is 0.
    parts = ((1, max(0.0, low), high), (-1, max(0.0, -high), -low))
    sides = [(sign, near, np.expm1((near - far) * rate)) for sign, near, far in parts if near < far]
    whole = sum(fall for *_, fall in sides)

    def draw(source: Generator, size: int) -> NDArray[Any]:
        is_first = source.random(size) * whole >= sides[0][2]
        shares = source.random(size)
        drawn = [sign * (near - np.log1p(shares * fall) / rate) for sign, near, fall in sides]
        chosen: NDArray[Any] = np.where(is_first, drawn[0], drawn[-1])
        return chosen

    return draw


def discrete_normal(deviation: float) -> Sampler:
    """Return a sampler of integers i with mass proportional to e^{-i²/(2·`deviation`²)}.

    Integers in the tails, with a total mass of less than 10^-20, are never drawn. For a large deviation, normal draws
    are rounded; their law differs by less than 10^-10.
    """
    if deviation > _WIDE:
        return lambda source, size: np.rint(source.standard_normal(size) * deviation).astype(np.int64)
    reach = int(10 * deviation) + 2
    values = np.arange(-reach, reach + 1)
    sums = np.cumsum(np.exp(-((values / deviation) ** 2) / 2))
    return lambda source, size: values[np.searchsorted(sums, source.random(size) * sums[-1], side="right")]


# --- finite choices --------------------------------------------------------------------------------

_CONTEXT = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[DivisionByZero, InvalidOperation, Overflow])

#: The rounding error allowed in a weight or a sum of weights; no simulation can notice a smaller error.
_SLACK = Decimal("1e-12")


def shares(weights: Sequence[Closed], eps: Fraction) -> list[float] | None:
    """Return the values of `weights` at `eps`, or None if one is negative, or they do not sum to 1.

    Raises ArithmeticError if a weight has no value, or is too large.
    """
    with localcontext(_CONTEXT):
        values = [_value(above, eps) / _value(below, eps) for above, below in weights]
        if min(values) < -_SLACK or abs(sum(values, Decimal(-1))) > _SLACK:
            return None
        return [max(0.0, float(value)) for value in values]


def _value(function: Ring, eps: Fraction) -> Decimal:
    """Return Σ c·eps^k·e^{q·eps} at `eps`, in the current decimal context; `function` maps each (k, q) to c."""
    terms = [(c * eps**k, q * eps) for (k, q), c in function.items()]
    return sum([_decimal(factor) * _decimal(exponent).exp() for factor, exponent in terms], Decimal(0))


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def places(weights: Sequence[float], uniform: NDArray[np.float64]) -> Positions:
    """Return an index of `weights` for each number in `uniform`, in proportion to the weights.

    [0, 1) is divided into one interval for each weight, in order, with lengths proportional to the weights. The index
    is that of the interval that contains the number. The weights need not sum to 1, and a weight of 0 is never chosen.
    """
    heavy = [index for index, share in enumerate(weights) if share > 0]
    ends = np.cumsum([weights[index] for index in heavy]) / fsum(weights)
    if len(heavy) == 2:
        interval_of: Positions = (uniform >= ends[0]).astype(np.intp)
    else:
        interval_of = np.searchsorted(ends[:-1], uniform, side="right")
    found: Positions = np.array(heavy, dtype=np.intp)[interval_of]
    return found
