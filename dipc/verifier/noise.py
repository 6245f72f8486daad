"""The laws of noise: independent and centered, each with a positive rate, a multiple of eps.

- `laplace`: density (rate·eps/2)·e^{-rate·eps·|x|};
- `one-sided`: density rate·eps·e^{-rate·eps·x} for x >= 0;
- `discrete-laplace`: mass (1-r)/(1+r)·r^|i| at every integer i, with r = e^{-rate·eps}.

Normal and discrete normal noise have their variance in place of the rate (`normal.py`, `summed.py`). Uniform and
truncated Laplace noise have two ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from dipc.verifier.functions import Ring, collected
from dipc.verifier.reals import UNIT, Number

_ZERO, _ONE = Fraction(0), Fraction(1)


class Family(StrEnum):
    """The laws of noise with a rate: Laplace, one-sided exponential and discrete Laplace."""

    LAPLACE = "laplace"
    ONE_SIDED = "one-sided"
    DISCRETE_LAPLACE = "discrete-laplace"


@dataclass(frozen=True, slots=True, order=True)
class Normal:
    """Normal noise X, with a variance in place of the rate.

    The variance is a multiple of `square`. It is the variance of X if `fixed` is true, and otherwise that of eps·X. If
    `whole` is true, X is an integer, with masses proportional to the density of a normal variable of this variance.
    """

    fixed: bool
    square: Number = UNIT
    whole: bool = False


#: The term c·e^{slope·eps·x} for `low` <= x <= `high`, as (low, high, c, slope).
Window = tuple[Fraction, Fraction, Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class Bounded:
    """A law of noise X on [low, high], where low < high.

    Its density is proportional to e^{-rate·eps·|x|} if it is `laplace`, and otherwise to 1, whatever the rate is.
    """

    low: Fraction
    high: Fraction
    laplace: bool

    def windows(self, rate: Fraction) -> list[Window]:
        """Return a multiple of the density of Y = eps·X at the given `rate`, as a list of terms.

        `rate` is a multiple of eps. A term (low, high, c, slope) is the function of y that is c·e^{slope·y} for eps·low
        <= y <= eps·high, and 0 elsewhere. The density is the sum of the terms, divided by `normalizer`. The intervals
        of two terms share at most an end point.
        """
        if not self.laplace:
            return [(self.low, self.high, _ONE, _ZERO)]
        below = (self.low, min(self.high, _ZERO), rate, rate)
        above = (max(self.low, _ZERO), self.high, rate, -rate)
        return [window for window in (below, above) if window[0] < window[1]]

    def normalizer(self, rate: Fraction) -> Ring:
        """Return the integral of the sum of `windows` at the given `rate`, a positive function of eps.

        A term c·e^{slope·y} on eps·[low, high] has the integral c/slope·(e^{slope·high·eps} - e^{slope·low·eps}), or
        c·(high - low)·eps if the slope is 0.
        """
        terms = []
        for low, high, c, slope in self.windows(rate):
            if slope:
                terms += [(0, slope * high, c / slope), (0, slope * low, -c / slope)]
            else:
                terms.append((1, _ZERO, c * (high - low)))
        return collected(terms)


#: The kind of a law, which has a rate or a variance in addition.
NoiseFamily = Family | Normal | Bounded

#: A law with its rate.
Law = tuple[NoiseFamily, Fraction]


def is_whole(family: NoiseFamily) -> bool:
    """True if noise of the law `family` takes integer values."""
    return family.whole if isinstance(family, Normal) else family is Family.DISCRETE_LAPLACE
