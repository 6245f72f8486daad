"""The laws of noise: independent and centered, each with a positive rate, a multiple of eps.

- `laplace`: density (rate·eps/2)·e^{-rate·eps·|x|};
- `one-sided`: density rate·eps·e^{-rate·eps·x} for x >= 0;
- `discrete-laplace`: mass (1-r)/(1+r)·r^|i| at every integer i, with r = e^{-rate·eps}.

Normal and discrete normal noise have their variance in place of the rate (`normal.py`, `summed.py`).
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
    """Normal noise: its rate is the variance of eps·X, or of X where that is `fixed`, in multiples of `square`. Where
    it is `whole`, its mass at an integer is proportional to the density that a normal X of that variance has there."""

    fixed: bool
    square: Number = UNIT
    whole: bool = False


#: A law, which has one number more.
NoiseFamily = Family | Normal

#: A law with its rate.
Law = tuple[NoiseFamily, Fraction]


def is_whole(family: NoiseFamily) -> bool:
    """Whether such noise is an integer."""
    return family.whole if isinstance(family, Normal) else family is Family.DISCRETE_LAPLACE
