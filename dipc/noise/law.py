"""The interface of a law of noise: a law states each property, or refuses with the name of the missing one.

A law has one parameter, its rate a > 0, a multiple of eps. Noise is added to a mean: N below is centered, and X = eps·N
is N scaled by eps. A property that a law does not state is refused: a rule that needs it is not used, and the question
stays undecided with the reason. No property is inherited from another law.
"""

from __future__ import annotations

from abc import ABC
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Protocol, TypeAlias

from dipc.algebra.limits import NoClosedForm, OutsideFragment
from dipc.algebra.reals import Real
from dipc.frozen import frozen

if TYPE_CHECKING:
    from dipc.algebra.exppoly import Quotient
    from dipc.noise.lazy import LazyReal, RandomBits

__all__ = ["DensityPiece", "Draws", "Law", "Measure", "Missing", "NoClosedForm", "SideRates"]


#: The terms (k, q, c) of a function Σ c·eps^k·e^{q·eps}.
Normalizer: TypeAlias = tuple[tuple[int, Fraction, Fraction], ...]

#: The function 1.
ONE_TERM: Normalizer = ((0, Fraction(0), Fraction(1)),)


class Missing(OutsideFragment):
    """Raised if a law does not have a property that a method needs; the reason names the property."""


@frozen
class DensityPiece:
    """A piece of the density of X = eps·N, on the interval from eps·`lower` to eps·`upper`.

    On this interval the density is the sum of c·X^n·e^{s·X} over the (c, n, s) in `terms`. An end that is None is
    infinite; each term vanishes towards an infinite end.
    """

    lower: Fraction | None
    upper: Fraction | None
    terms: tuple[tuple[Fraction, int, Fraction], ...]


@frozen
class SideRates:
    """Rates of a law whose density (or mass) decays exponentially on each side of 0.

    The density of N, or its mass at integers, is proportional to e^{`left`·eps·x} for x < 0 and to e^{-`right`·eps·x}
    for x > 0. The density is continuous at 0 if neither rate is None. A side without mass has the rate None.
    """

    left: Fraction | None
    right: Fraction | None


class Measure(Enum):
    """The method that computes probabilities for a law's noise: closed forms, integrals, or sums over integers.

    Integrals (over normal densities) and sums give enclosures. An event over noises of several laws is measured by
    the one of their methods that comes last in this list.
    """

    CLOSED_FORM = 0
    INTEGRALS = 1
    SUMS = 2


class Draws(Protocol):
    """A source of independent draws, which each method returns as an array of `size` floats."""

    def uniform(self, size: int) -> Any:
        """Return `size` uniform draws on [0, 1)."""

    def exponential(self, size: int) -> Any:
        """Return `size` draws with density e^{-x} on [0, inf)."""

    def exponential_pairs(self, size: int) -> Any:
        """Return two rows of `size` exponential draws each."""

    def laplace(self, size: int) -> Any:
        """Return `size` draws with density e^{-|x|}/2."""

    def truncated_laplace(self, low: float, high: float, size: int) -> Any:
        """Return `size` draws with density proportional to e^{-|x|} on [`low`, `high`]."""

    def normal(self, size: int) -> Any:
        """Return `size` draws with density e^{-x²/2}/√(2π)."""

    def discrete_normal(self, deviation: float, size: int) -> Any:
        """Return `size` draws of integers i with mass proportional to e^{-i²/(2·`deviation`²)}."""


class Law(ABC):
    """The distribution of a noise N with mean 0, with the properties that proof rules ask for.

    A comment above each attribute says what the attribute means. A law without parameters has no state, so all its
    instances are equal.
    """

    #: The word for the law in programs, and its name in sentences, where "noise" follows.
    keyword: ClassVar[str]
    name: ClassVar[str]

    #: The law's name in certificates; None where the checker does not know the law.
    checker_name: ClassVar[str | None] = None

    #: Whether draws and means are integers; otherwise they are real, and the law has a density.
    whole: ClassVar[bool] = False

    #: Whether a draw is written with a mean, as `Lap(rate, mean)`; otherwise the mean is 0, as for `Expo(rate)`.
    takes_mean: ClassVar[bool] = True

    #: Whether a draw is written with the standard deviation, `Gauss(1/(a*eps), mean)`, in place of the rate a·eps.
    by_deviation: ClassVar[bool] = False

    #: Whether a draw is written with the two ends of its support, as `TLap(rate, mean, low, high)`.
    takes_ends: ClassVar[bool] = False

    #: Whether a draw is written with a rate or a deviation; otherwise the rate is 1, and nothing depends on it.
    takes_rate: ClassVar[bool] = True

    #: A lower bound of N; None where N is unbounded below or no bound is stated.
    least: Fraction | None = None

    #: An upper bound of N; None where N is unbounded above or no bound is stated.
    greatest: Fraction | None = None

    #: Whether the total mass is 1.
    is_probability: ClassVar[bool] = True

    #: Whether the density (mass) is positive everywhere from `least` on.
    is_positive: ClassVar[bool] = False

    #: Whether -N has the law of N.
    symmetric: bool = False

    #: Whether the density never increases with the distance from 0, on its support.
    unimodal: ClassVar[bool] = False

    #: Whether the logarithm of the density, or mass, is concave on its support.
    log_concave: ClassVar[bool] = False

    #: Whether there is a density, and the law of rate·eps·N depends neither on the rate nor on eps.
    scales: bool = False

    #: Whether N itself has the same law for every eps; the rate is then not a multiple of eps.
    fixed: bool = False

    #: The method that computes probabilities.
    measure: ClassVar[Measure] = Measure.CLOSED_FORM

    #: Whether E[e^{t·N}] <= e^{t²·s²/2} for every real t, where s is the deviation.
    is_subgaussian: ClassVar[bool] = False

    #: For a subgaussian law, a weight w with Pr[N >= x] <= w·e^{-x²/(2·s²)} for x >= 0; if w < 1, also for sums.
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
        """Whether the law's probabilities have closed forms."""
        return self.measure is Measure.CLOSED_FORM

    @property
    def is_checked(self) -> bool:
        """Whether the checker of certificates knows the law."""
        return self.checker_name is not None

    @property
    def identity(self) -> str:
        """A text that identifies the law: different laws have different texts."""
        return self.keyword

    def with_deviation(self, factor: Real, *, fixed: bool) -> tuple[Law, Fraction]:
        """A law of this kind and a rate that give the standard deviation `factor`/eps, or `factor` if `fixed`."""
        self._lacks("a standard deviation as its parameter")

    def with_ends(self, low: Fraction, high: Fraction) -> Law:
        """The law with the support [`low`, `high`], where `low` < `high`."""
        self._lacks("ends as its parameters")

    def times(self, factor: Fraction) -> Law:
        """The law of factor·N, for `factor` > 0, whose rate is the rate of N divided by `factor`."""
        if factor != 1 and not self.scales and not self.by_deviation:
            self._lacks("a known law of its multiples")
        return self

    # --- measures -------------------------------------------------------------------------------------

    def pieces(self, rate: Fraction) -> tuple[DensityPiece, ...]:
        """The pieces of a function that is `normalizer` times the density of X = eps·N for this `rate`.

        The function is 0 outside of the pieces.
        """
        self._lacks("a density made of powers and exponentials")

    def normalizer(self, rate: Fraction) -> Normalizer:
        """The integral of `pieces` over the line for this `rate`: a function of eps, positive for every eps > 0."""
        return ONE_TERM

    def sides(self, rate: Fraction) -> SideRates:
        """The rates at which the density (or mass) decays on each side of 0, for the law's `rate`."""
        self._lacks("an exponential on each side of its mean")

    def normal_variance(self, rate: Fraction) -> Fraction:
        """The variance of eps·N for a normal noise N with this `rate`, in multiples of `normal_unit` squared.

        If the law is `fixed`, so that N has the same law for every eps, it is the variance of N itself. For a discrete
        law it is the v for which the mass at k is proportional to e^{-k²/(2v)}.
        """
        self._lacks("a normal density")

    @property
    def normal_unit(self) -> Real:
        """The unit of standard deviations: variances are rational multiples of its square."""
        self._lacks("a density or a mass like that of a normal law")

    def laplace_rate(self, rate: Fraction) -> Fraction | None:
        """The number a if the density for this `rate` is that of Laplace noise, (a·eps/2)·e^{-a·eps·|x|}.

        None for other laws.
        """
        del rate
        return None

    def central_mass(self, rate: Fraction, reach: int) -> tuple[Quotient, Quotient] | None:
        """A lower and an upper bound of Pr[|N| <= `reach`] for an integer N with this `rate`.

        None if the law states no such bounds. They are functions of eps that are close to each other for small eps.
        """
        del rate, reach
        return None

    def deviation(self, rate: Fraction) -> tuple[Fraction, Fraction]:
        """A lower and an upper bound of the standard deviation for this `rate`, in multiples of 1/eps.

        If the law is fixed, they bound the deviation itself.
        """
        self._lacks("a known standard deviation")

    # --- bounds ---------------------------------------------------------------------------------------

    def tail_bound(self, rate: Fraction, reach: Fraction, *, upward: bool, strict: bool) -> tuple[Fraction, Fraction]:
        """(q, w) with Pr[N > `reach`] <= w·e^{-q·eps} for every eps > 0, for this `rate` and `reach` >= 0.

        Unless `upward`, the bound is one of Pr[N < -reach]. With `strict` it holds for Pr[N >= reach], or Pr[N <=
        -reach].
        """
        self._lacks("a bound of its tails by an exponential in eps")

    def greatest_density(self, rate: Fraction) -> Fraction:
        """An upper bound of the density of eps·N for the noise N of this `rate`.

        For integer noise N it is a bound of the density of eps·N', where N' has the law `continuous_neighbour`.
        """
        self._lacks("a bound of its density")

    def continuous_neighbour(self) -> tuple[Law, Fraction]:
        """Return a law with a density and a distance d: its noise N' can be coupled with N so that |N - N'| < d.

        N' has the rate of N. A law with a density is its own neighbour, at the distance 0.
        """
        if self.whole:
            self._lacks("a law on the reals near it")
        return self, Fraction(0)

    def variation_bound(self, disk: Fraction) -> Fraction:
        """A bound of the squared total variation of the density, for complex eps with |eps - e| <= `disk`·e, e > 0.

        It is an upper bound for every e > 0. On each of these disks the density (or mass) is analytic in eps.
        """
        self._lacks("a bound at complex eps")

    def shift_cost(self, rate: Fraction) -> Fraction:
        """A number c such that the density (mass) at x is at most e^{c·eps·|t|} times the density at x + t.

        The inequality holds for this `rate`, for every eps > 0, all x of the support, and all t for which x + t is
        not below `least` and not above `greatest`. Where both limits are known, no t but 0 satisfies this condition
        for all x.
        """
        self._lacks("a finite cost of shifts: the ratio of its densities at two places has no bound")

    # --- drawing and writing --------------------------------------------------------------------------

    def draw_floats(self, draws: Draws, rate: float, size: int) -> Any:
        """Draw N `size` times from `draws`: floats, or integers of 64 bits if the law is `whole`.

        `rate` is the rate at one eps.
        """
        self._lacks("a sampler")

    def rate_at(self, rate: Fraction, eps: Fraction) -> Fraction:
        """The rate at one `eps`, as `draw_exactly` takes it, for a `rate` in multiples of eps."""
        return rate * eps

    def draw_exactly(self, bits: RandomBits, rate: Fraction) -> int | LazyReal:
        """Draw once, exactly, with `bits`: N if the law is `whole`, else rate·N. `rate` is the rate at one eps."""
        self._lacks("an exact sampler")

    def draw_text(self, scale: str, mean: str, low: str = "", high: str = "") -> str:
        """The program text of a draw, from the texts of its parameters.

        `scale` is the text of the rate or standard deviation, `mean` that of the mean, `low` and `high` those of the
        ends.
        """
        return f"{self.keyword}({scale}, {mean})" if self.takes_mean else f"{self.keyword}({scale})"

    def shown(self, rate: Fraction, mean: str) -> str:
        """The program text of a draw with the rate `rate`·eps and the mean `mean`."""
        return self.draw_text(self.scale_text(rate), mean)

    @property
    def scale_word(self) -> str:
        """The word for the law's one parameter: "rate" or "deviation"."""
        return "deviation" if self.by_deviation else "rate"

    def scale_text(self, rate: Fraction) -> str:
        """The text of the rate `rate`·eps, such as `4*eps/9`, or of the standard deviation, such as `9/(4*eps)`."""
        if self.by_deviation:
            below = "eps" if rate.numerator == 1 else f"({rate.numerator}*eps)"
            return f"{rate.denominator}/{below}"
        times = "" if rate.numerator == 1 else f"{rate.numerator}*"
        return f"{times}eps" if rate.denominator == 1 else f"{times}eps/{rate.denominator}"

    @property
    def usage(self) -> str:
        """A sentence about the parameters of the law, with an example, as a note of a diagnostic."""
        what, first = ("standard deviation, s/eps or s,", "2/eps") if self.by_deviation else ("rate in eps", "eps/2")
        also, example = (" and a mean", ", 0") if self.takes_mean else ("", "")
        return f"`{self.keyword}` takes a {what}{also}, for example `{self.keyword}({first}{example})`"

    def _lacks(self, what: str) -> NoReturn:
        raise Missing(f"{self.name} noise does not have {what}")


class Weighted(Law):
    """The measure whose density is eps^`power`·x^`power` times the density of `law` at x; not a probability.

    The measure of an event is the expected value of (eps·N)^power where the event holds. It has pieces wherever the
    law has, and no other property.
    """

    is_probability = False

    def __init__(self, law: Law, power: int) -> None:
        self.law = law
        self.power = power
        self.keyword = f"{law.keyword}^{power}"  # type: ignore[misc]
        self.name = f"weighted {law.name}"  # type: ignore[misc]
        self.whole = law.whole  # type: ignore[misc]

    def normalizer(self, rate: Fraction) -> Normalizer:
        return self.law.normalizer(rate)

    def pieces(self, rate: Fraction) -> tuple[DensityPiece, ...]:
        return tuple(
            [
                DensityPiece(each.lower, each.upper, tuple([(c, n + self.power, s) for c, n, s in each.terms]))
                for each in self.law.pieces(rate)
            ]
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return Weighted, (self.law, self.power)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Weighted) and (self.law, self.power) == (other.law, other.power)

    def __hash__(self) -> int:
        return hash((self.law, self.power))
