"""What is asked about a law of noise. A law answers, or says in words which property it lacks.

A law has one parameter, its rate a > 0, a multiple of eps. Noise is what is added to a mean: N below is centered, and
scaled by eps X = eps·N. Everything a law does not say is refused: a rule that needs it is not used, and the question
stays undecided with the words of the refusal. No property is taken from another law.
"""

from __future__ import annotations

from abc import ABC
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Protocol

from dipc.algebra.limits import NoClosedForm, OutsideFragment
from dipc.algebra.reals import Real
from dipc.frozen import frozen

if TYPE_CHECKING:
    from dipc.noise.lazy import LazyReal, RandomBits

__all__ = ["Draws", "Law", "Measure", "Missing", "NoClosedForm", "Piece", "Sides"]


class Missing(OutsideFragment):
    """A law does not have the property that was asked for; the reason says which."""


@frozen
class Piece:
    """A piece of the density of X = eps·N: on eps·[lower, upper] (None: without end) it is the sum of c·X^n·e^{s·X}
    over the (c, n, s) of `terms`. Where an end is unbounded, each term vanishes towards it.
    """

    lower: Fraction | None
    upper: Fraction | None
    terms: tuple[tuple[Fraction, int, Fraction], ...]


@frozen
class Sides:
    """The density of N, or its mass at integers, is proportional to e^{left·eps·x} for x < 0, to e^{-right·eps·x} for
    x > 0, and continuous at 0 where there are both; None: there is nothing on that side.
    """

    left: Fraction | None
    right: Fraction | None


class Measure(Enum):
    """How probabilities of events over noise of a law are computed: by closed forms, enclosed by integrals over normal
    densities, or enclosed by sums over integers. What hangs together is measured by the last of its laws'.
    """

    CLOSED_FORM = 0
    INTEGRALS = 1
    SUMS = 2


class Draws(Protocol):
    """Independent draws, as arrays of floats of the size asked for."""

    def uniform(self, size: int) -> Any:
        """Uniform on [0, 1)."""

    def exponential(self, size: int) -> Any:
        """With density e^{-x} on [0, inf)."""

    def exponential_pairs(self, size: int) -> Any:
        """Two rows of those."""

    def laplace(self, size: int) -> Any:
        """With density e^{-|x|}/2."""

    def normal(self, size: int) -> Any:
        """With density e^{-x²/2}/√(2π)."""

    def discrete_normal(self, deviation: float, size: int) -> Any:
        """Integers i with mass proportional to e^{-i²/(2·deviation²)}."""


class Law(ABC):
    """A law of noise. Subclasses have no state: a law is one object."""

    #: How it is written in a program, and what it is called in a sentence: `name` noise.
    keyword: ClassVar[str]
    name: ClassVar[str]

    #: What a certificate calls it; None where the checker does not know it.
    checker_name: ClassVar[str | None] = None

    #: Whether its draws are integers, and its means are; otherwise they are real, and it has a density.
    whole: ClassVar[bool] = False

    #: Whether it is written with a mean, `Lap(rate, mean)`; otherwise the mean is 0, `Expo(rate)`.
    takes_mean: ClassVar[bool] = True

    #: Whether it is written with its standard deviation, `Gauss(1/(a*eps), mean)`, in place of the rate a·eps.
    by_deviation: ClassVar[bool] = False

    #: N is at least this; None where it may be anything, or nothing is said.
    least: ClassVar[Fraction | None] = None

    #: Whether its density (mass) comes to 1 over all values.
    comes_to_one: ClassVar[bool] = True

    #: Whether the density (mass) is positive everywhere from `least` on.
    is_positive: ClassVar[bool] = False

    #: Whether -N has the law of N.
    symmetric: ClassVar[bool] = False

    #: Whether the density does not grow away from 0 (on its support).
    unimodal: ClassVar[bool] = False

    #: Whether the logarithm of the density, or mass, is concave on its support.
    log_concave: ClassVar[bool] = False

    #: Whether it has a density and rate·eps·N a law that depends neither on the rate nor on eps.
    scales: bool = False

    #: Whether N, and not eps·N, has the same law for every eps; its rate is no multiple of eps then.
    fixed: bool = False

    #: How its probabilities are found.
    measure: ClassVar[Measure] = Measure.CLOSED_FORM

    #: Whether E[e^{t·N}] <= e^{t²·s²/2} for every real t and its deviation s.
    is_subgaussian: ClassVar[bool] = False

    #: Of such a law, a w with Pr[N >= x] <= w·e^{-x²/(2·s²)} for x >= 0, and so for sums if it is less than 1.
    subgaussian_weight: ClassVar[Fraction] = Fraction(1)

    #: Whether Pr[N >= s] = Pr[-N >= s] = Pr[N >= 0]·e^{-rate·eps·s} for every s >= 0 (integers, where N is one).
    exponential_tails: ClassVar[bool] = False

    def __reduce__(self) -> str | tuple[Any, ...]:
        return type(self), ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(self.keyword)

    def __repr__(self) -> str:
        return self.identity

    @property
    def has_form(self) -> bool:
        """Whether there are closed forms of its probabilities."""
        return self.measure is Measure.CLOSED_FORM

    @property
    def is_checked(self) -> bool:
        """Whether the checker knows it."""
        return self.checker_name is not None

    @property
    def identity(self) -> str:
        """A text that no other law has."""
        return self.keyword

    def with_deviation(self, factor: Real, *, fixed: bool) -> tuple[Law, Fraction]:
        """The law with this standard deviation, in multiples of 1/eps unless it is `fixed`, and its rate."""
        self._lacks("a standard deviation as its parameter")

    # --- measures -------------------------------------------------------------------------------------

    def pieces(self, rate: Fraction) -> tuple[Piece, ...]:
        """The density of X, outside of whose pieces it is 0."""
        self._lacks("a density made of powers and exponentials")

    def sides(self, rate: Fraction) -> Sides:
        """That the density is exponential on each side."""
        self._lacks("an exponential on each side of its mean")

    def normal_variance(self, rate: Fraction) -> Fraction:
        """The variance of X, or of N where that is fixed, in multiples of the square of `normal_unit`; it is normal, or
        has masses like the density of such a law.
        """
        self._lacks("a normal density")

    @property
    def normal_unit(self) -> Real:
        """What its deviations are taken in multiples of."""
        self._lacks("a density or a mass like that of a normal law")

    def deviation(self, rate: Fraction) -> tuple[Fraction, Fraction]:
        """Rationals around its standard deviation, in multiples of 1/eps unless it is fixed."""
        self._lacks("a known standard deviation")

    # --- bounds ---------------------------------------------------------------------------------------

    def tail_bound(self, rate: Fraction, reach: Fraction, *, upward: bool, strict: bool) -> tuple[Fraction, Fraction]:
        """An exponent q and a weight w with Pr[N > reach] <= w·e^{-q·eps} for every eps > 0, or Pr[N < -reach] where it
        is not `upward`; for reach >= 0. With `strict` also Pr[N >= reach], Pr[N <= -reach].
        """
        self._lacks("a bound of its tails by an exponential in eps")

    def greatest_density(self, rate: Fraction) -> Fraction:
        """At least the density of X everywhere; of an integer N that of eps·N', where N' is the noise `nearby`."""
        self._lacks("a bound of its density")

    def nearby(self) -> tuple[Law, Fraction]:
        """A law with a density and a distance, such that N is always nearer than that to noise N' of that law with the
        same rate, on some common space; 0 for the law itself.
        """
        if self.whole:
            self._lacks("a law on the reals near it")
        return self, Fraction(0)

    def variation(self, disk: Fraction) -> Fraction:
        """At least the square of the total variation of the law at complex eps with |eps - e| <= disk·e, for every
        e > 0; it is analytic in eps there.
        """
        self._lacks("a bound at complex eps")

    def shift_cost(self, rate: Fraction) -> Fraction:
        """A c such that the density (mass) at x is at most e^{c·eps·|t|} times that at x + t, for every eps > 0, all x
        of the support, and all t for which x + t is not below `least`.
        """
        self._lacks("a finite cost of shifts: the ratio of its densities at two places has no bound")

    # --- drawing and writing --------------------------------------------------------------------------

    def drawn(self, draws: Draws, rate: float, size: int) -> Any:
        """So many draws of N, for a rate that eps has been multiplied into: floats, or integers of 64 bits."""
        self._lacks("a sampler")

    def rate_at(self, rate: Fraction, eps: Fraction) -> Fraction:
        """The rate at one eps, for an exact draw."""
        return rate * eps

    def sampled(self, bits: RandomBits, rate: Fraction) -> int | LazyReal:
        """One draw, exactly, for a rate that eps has been multiplied into: N where it is whole, else rate·N."""
        self._lacks("an exact sampler")

    def written(self, scale: str, mean: str) -> str:
        """How a draw is written, with the texts of its rate, or its standard deviation, and its mean."""
        return f"{self.keyword}({scale}, {mean})" if self.takes_mean else f"{self.keyword}({scale})"

    @property
    def scale_word(self) -> str:
        """What its one parameter is."""
        return "deviation" if self.by_deviation else "rate"

    def scale_text(self, rate: Fraction) -> str:
        """The rate rate·eps as it is written, `4*eps/9`, or the standard deviation, `9/(4*eps)`."""
        if self.by_deviation:
            below = "eps" if rate.numerator == 1 else f"({rate.numerator}*eps)"
            return f"{rate.denominator}/{below}"
        times = "" if rate.numerator == 1 else f"{rate.numerator}*"
        return f"{times}eps" if rate.denominator == 1 else f"{times}eps/{rate.denominator}"

    @property
    def usage(self) -> str:
        """How it is used, as a note."""
        what, first = ("standard deviation, s/eps or s,", "2/eps") if self.by_deviation else ("rate in eps", "eps/2")
        also, example = (" and a mean", ", 0") if self.takes_mean else ("", "")
        return f"`{self.keyword}` takes a {what}{also}, for example `{self.keyword}({first}{example})`"

    def _lacks(self, what: str) -> NoReturn:
        raise Missing(f"{self.name} noise does not have {what}")


class Weighted(Law):
    """A law of whose density each value N = x has x^power times as much: what is measured is no probability, but the
    expected value of N^power where an event holds, times eps^power. It has pieces wherever the law has, and no other
    property: neither is it positive, nor does it come to 1.
    """

    comes_to_one = False

    def __init__(self, law: Law, power: int) -> None:
        self.law = law
        self.power = power
        self.keyword = f"{law.keyword}^{power}"  # type: ignore[misc]
        self.name = f"weighted {law.name}"  # type: ignore[misc]
        self.whole = law.whole  # type: ignore[misc]

    def pieces(self, rate: Fraction) -> tuple[Piece, ...]:
        return tuple(
            [
                Piece(each.lower, each.upper, tuple([(c, n + self.power, s) for c, n, s in each.terms]))
                for each in self.law.pieces(rate)
            ]
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Weighted, (self.law, self.power)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Weighted) and (self.law, self.power) == (other.law, other.power)

    def __hash__(self) -> int:
        return hash((self.law, self.power))
