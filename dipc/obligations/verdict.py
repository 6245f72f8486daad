"""What was found about one obligation: the verdict, the counterexample, and the exact set of eps where it fails."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

from dipc.algebra.decimals import exact_text, magnitude, outward


class Verdict(StrEnum):
    """`accurate` comes with a proof, `inaccurate` with a counterexample, `undecided` with a reason."""

    ACCURATE = "accurate"
    INACCURATE = "inaccurate"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class EndPoint:
    """One end of an interval of eps, exact (`low == high`) or isolated: low <= end <= high. `high` None is infinity,
    with `low` meaningless then."""

    low: Fraction
    high: Fraction | None
    included: bool

    @property
    def infinite(self) -> bool:
        return self.high is None

    @property
    def exact(self) -> bool:
        return self.low == self.high

    def as_json(self) -> dict[str, Any]:
        """`eps` is [low, high], twice the same for an exact end and `inf` for infinity."""
        return {"eps": ["inf", "inf"] if self.high is None else _pair(self.low, self.high), "included": self.included}


@dataclass(frozen=True, slots=True)
class Worst:
    """Where on a failing interval the shortfall 1 - beta - Pr is largest, and how large it is there: enclosures
    (low, high), exact where both are equal.

    Unless `attained` the shortfall only approaches this as eps approaches that: an end that is not included, 0, or,
    where `eps` is None, infinity. `shortfall` None is infinity (a beta that is negative without bound).
    """

    eps: tuple[Fraction, Fraction] | None
    shortfall: tuple[Fraction, Fraction] | None
    attained: bool

    def as_json(self) -> dict[str, Any]:
        """The JSON object; `inf` stands for infinity."""
        return {
            "eps": ["inf", "inf"] if self.eps is None else _pair(*self.eps),
            "shortfall": ["inf", "inf"] if self.shortfall is None else _pair(*self.shortfall),
            "attained": self.attained,
        }


@dataclass(frozen=True, slots=True)
class FailureInterval:
    """A maximal interval of eps on which the claim fails, inside the interval that was asked about. `worst` is given
    where so many digits were asked for."""

    start: EndPoint
    end: EndPoint
    worst: Worst | None = None
    #: The JSON object once it was made: thousands of rows may share one interval.
    _json: dict[str, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    def as_json(self) -> dict[str, Any]:
        """The JSON object."""
        if not self._json:
            self._json.update(start=self.start.as_json(), end=self.end.as_json())
            if self.worst is not None:
                self._json["worst"] = self.worst.as_json()
        return self._json


def _pair(low: Fraction, high: Fraction) -> list[str]:
    """An enclosure as texts: a rational twice, else decimal numbers around it with little more digits than it has."""
    if low == high:
        return [str(low), str(low)]
    digits = magnitude(high) - magnitude(high - low) + 3
    return [exact_text(end) for end in outward(low, high, max(3, digits))]


@dataclass(frozen=True, slots=True)
class Counterexample:
    """An eps at which the claim fails, with rigorous enclosures (lo, hi) of Pr and of the required 1 - beta.

    Guarantees probability[1] < required[0]: the enclosures are disjoint.
    """

    eps: Fraction
    probability: tuple[Fraction, Fraction]
    required: tuple[Fraction, Fraction]

    @property
    def margin(self) -> tuple[Fraction, Fraction]:
        """Enclosure of the shortfall, required - probability; both ends are positive."""
        return self.required[0] - self.probability[1], self.required[1] - self.probability[0]

    def as_json(self) -> dict[str, Any]:
        """The JSON object; every text is exactly the number, decimal where it is a decimal number."""
        return {
            "eps": str(self.eps),
            "probability": [exact_text(end) for end in self.probability],
            "required": [exact_text(end) for end in self.required],
        }

    def __getitem__(self, key: str) -> Any:
        return self.as_json()[key]
