"""The laws of noise: independent and centered, each with a positive rate, a multiple of eps.

- `laplace`: density (rate·eps/2)·e^{-rate·eps·|x|};
- `one-sided`: density rate·eps·e^{-rate·eps·x} for x >= 0;
- `discrete-laplace`: mass (1-r)/(1+r)·r^|i| at every integer i, with r = e^{-rate·eps}.

Normal and discrete normal noise have their variance in place of the rate (`normal.py`, `summed.py`). Uniform and
truncated Laplace noise have two ends (`bounded.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from dipc.verifier.bounded import Bounded
from dipc.verifier.reals import UNIT, Number


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


#: The kind of a law, which has a rate or a variance in addition.
NoiseFamily = Family | Normal | Bounded

#: A law with its rate.
Law = tuple[NoiseFamily, Fraction]


def is_whole(family: NoiseFamily) -> bool:
    """True if noise of the law `family` takes integer values."""
    return family.whole if isinstance(family, Normal) else family is Family.DISCRETE_LAPLACE
