"""The laws of noise: independent and centered, each with a positive rate, a multiple of eps.

- `laplace`: density (rate·eps/2)·e^{-rate·eps·|x|};
- `one-sided`: density rate·eps·e^{-rate·eps·x} for x >= 0;
- `discrete-laplace`: mass (1-r)/(1+r)·r^|i| at every integer i, with r = e^{-rate·eps}.

Normal noise has its variance in the place of the rate (`normal.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from dipc.verifier.reals import UNIT, Number


class Family(StrEnum):
    """Laws of noise; the module says what each means."""

    LAPLACE = "laplace"
    ONE_SIDED = "one-sided"
    DISCRETE_LAPLACE = "discrete-laplace"


@dataclass(frozen=True, slots=True, order=True)
class Normal:
    """Normal noise: its rate is the variance of eps·X, or of X where that is `fixed`, in multiples of `square`."""

    fixed: bool
    square: Number = UNIT


#: A law, which has one number more.
NoiseFamily = Family | Normal

#: A law with its rate.
Law = tuple[NoiseFamily, Fraction]
