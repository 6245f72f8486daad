"""Events as a certificate writes them: linear constraints over independent noises, with rational numbers.

A record is

    {"noises": [[family, "rate", "mean"], ...], "constraints": [[[[noise, "coefficient"], ...], "constant"], ...],
     "value": function}

A constraint stands for Σ coefficient·X[noise] + constant >= 0. Rates are multiples of eps. The families are

- `laplace`: density (rate·eps/2)·e^{-rate·eps·|x - mean|};
- `one-sided`: density rate·eps·e^{-rate·eps·(x - mean)} for x >= mean;
- `discrete-laplace`: mass (1-r)/(1+r)·r^|i - mean| at every integer i, with r = e^{-rate·eps}, for an integer mean.

Normal noise, which no record has, is there with its variance in the place of the rate (`normal.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from dipc.verifier import reading as read
from dipc.verifier.reading import Rejected
from dipc.verifier.reals import UNIT, Number

#: The most noises and constraints of one event that are read.
MOST_NOISES = 1_000
MOST_CONSTRAINTS = 5_000


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


@dataclass(frozen=True, slots=True)
class Noise:
    """An independent random variable; rate > 0."""

    family: Family
    rate: Fraction
    mean: Fraction


@dataclass(frozen=True, slots=True)
class Constraint:
    """Σ coefficient·X[noise] + constant >= 0; no coefficient is 0."""

    coefficients: dict[int, Fraction]
    constant: Fraction


@dataclass(frozen=True, slots=True)
class Event:
    """The conjunction of the constraints over the product of the noises."""

    noises: tuple[Noise, ...]
    constraints: tuple[Constraint, ...]


def numbers_of(event: Event) -> Iterator[Fraction]:
    """All numbers of the event."""
    for noise in event.noises:
        yield noise.rate
        yield noise.mean
    for constraint in event.constraints:
        yield from constraint.coefficients.values()
        yield constraint.constant


def read_event(value: object) -> Event:
    """The event of a record; raises Rejected for what is malformed."""
    noises, constraints = read.fields(
        value,
        {
            "noises": read.listed(_noise, MOST_NOISES),
            "constraints": read.listed(read.tuple_of(read.coefficients, read.rational), MOST_CONSTRAINTS),
        },
    )
    found = tuple(noises)
    limits = []
    for sizes, constant in constraints:
        if not all(i < len(found) and c for i, c in sizes.items()):
            raise Rejected("a coefficient is 0, or of a noise that is not there")
        limits.append(Constraint(sizes, constant))
    return Event(found, tuple(limits))


def _noise(data: object) -> Noise:
    family, rate, mean = read.tuple_of(read.one_of(*Family), read.rational, read.rational)(data)
    if rate <= 0:
        raise Rejected("a rate is positive")
    if family == Family.DISCRETE_LAPLACE and mean.denominator != 1:
        raise Rejected("the mean of integer noise is an integer")
    return Noise(Family(family), rate, mean)
