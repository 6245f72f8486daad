"""Events as a certificate writes them: linear constraints over independent noises, with rational numbers.

A record is

    {"noises": [[family, "rate", "mean"], ...], "constraints": [[[[noise, "coefficient"], ...], "constant"], ...],
     "value": function}

A constraint stands for Σ coefficient·X[noise] + constant >= 0. Rates are multiples of eps. The families are

- `laplace`: density (rate·eps/2)·e^{-rate·eps·|x - mean|};
- `one-sided`: density rate·eps·e^{-rate·eps·(x - mean)} for x >= mean;
- `discrete-laplace`: mass (1-r)/(1+r)·r^|i - mean| at every integer i, with r = e^{-rate·eps}, for an integer mean.

Normal noise, which no record has, is there with its variance in the place of the rate: `normal` is that of eps·X, and
`fixed-normal` that of X (`normal.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

from dipc.verifier.reading import Rejected, items, rational

#: The most noises and constraints of one event that are read.
MOST_NOISES = 1_000
MOST_CONSTRAINTS = 5_000


class Family(StrEnum):
    """The laws of noise; the module says what each means."""

    LAPLACE = "laplace"
    ONE_SIDED = "one-sided"
    DISCRETE_LAPLACE = "discrete-laplace"
    NORMAL = "normal"
    FIXED_NORMAL = "fixed-normal"

    @property
    def is_normal(self) -> bool:
        """Whether its rate is a variance."""
        return self in (Family.NORMAL, Family.FIXED_NORMAL)


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


def read_event(noises: Any, constraints: Any, step: str) -> Event:
    """The event of a record's fields; raises Rejected for what is malformed."""
    listed = [_noise(data, step) for data in items(noises, step, MOST_NOISES)]
    limits = [_constraint(data, len(listed), step) for data in items(constraints, step, MOST_CONSTRAINTS)]
    return Event(tuple(listed), tuple(limits))


def _noise(data: Any, step: str) -> Noise:
    if not isinstance(data, list) or len(data) != 3 or not isinstance(data[0], str):
        raise Rejected(step, "a noise is a list of a family, a rate and a mean")
    if data[0] not in list(Family):
        raise Rejected(step, f"`{data[0][:40]}` is no family of noise")
    noise = Noise(Family(data[0]), rational(data[1], step), rational(data[2], step))
    if noise.family.is_normal:
        raise Rejected(step, "normal noise has no exponential tails")
    if noise.rate <= 0:
        raise Rejected(step, "a rate is positive")
    if noise.family is Family.DISCRETE_LAPLACE and noise.mean.denominator != 1:
        raise Rejected(step, "the mean of integer noise is an integer")
    return noise


def _constraint(data: Any, noises: int, step: str) -> Constraint:
    if not isinstance(data, list) or len(data) != 2 or not isinstance(data[0], list) or len(data[0]) > noises:
        raise Rejected(step, "a constraint is a list of coefficients and a constant")
    coefficients: dict[int, Fraction] = {}
    for term in data[0]:
        if not isinstance(term, list) or len(term) != 2 or type(term[0]) is not int or not 0 <= term[0] < noises:
            raise Rejected(step, "a coefficient is a list of the number of a noise and a rational")
        if term[0] in coefficients:
            raise Rejected(step, "a constraint names a noise twice")
        coefficients[term[0]] = rational(term[1], step)
        if not coefficients[term[0]]:
            raise Rejected(step, "a coefficient is 0")
    return Constraint(coefficients, rational(data[1], step))
