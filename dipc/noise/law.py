"""The interface of a law of noise: a law states each property, or refuses with the name of the missing one.

A law has one parameter, its rate a > 0, a multiple of eps. Noise is added to a mean: N below is centered, and X = eps·N
is N scaled by eps. A property that a law does not state is refused: a rule that needs it is not used, and the question
stays undecided with the reason. No property is inherited from another law.
"""

from __future__ import annotations

from abc import ABC
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeAlias

from dipc.algebra.limits import NoClosedForm, OutsideFragment
from dipc.algebra.reals import Real
from dipc.frozen import frozen

if TYPE_CHECKING:
    from dipc.algebra.exppoly import Quotient
    from dipc.noise.lazy import LazyReal, RandomBits

__all__ = ["DensityPiece", "Law", "Measure", "Missing", "NoClosedForm", "SideRates"]


#: The terms (k, q, c) of a function Σ c·eps^k·e^{q·eps}.
Normalizer: TypeAlias = tuple[tuple[int, Fraction, Fraction], ...]

#: The function 1.
ONE_TERM: Normalizer = ((0, Fraction(0), Fraction(1)),)


class Missing(OutsideFragment):
    """Raised by a method about a property that the law does not have; the reason names the property."""


@frozen
class DensityPiece:
    """One piece of the density of X = eps·N, for a noise N: an interval of X, and the density on it.

    The interval is from eps·`lower` to eps·`upper`, where None is infinite. On the interval the density is the sum of
    c·X^n·e^{s·X} over all (c, n, s) in `terms`. Towards an infinite end each term vanishes.
    """

    lower: Fraction | None
    upper: Fraction | None
    terms: tuple[tuple[Fraction, int, Fraction], ...]


@frozen
class SideRates:
    """The two rates of a law whose density (or mass, for integer noise) is an exponential on each side of 0.

    The density at x is proportional to e^{`left`·eps·x} for x < 0, and to e^{-`right`·eps·x} for x > 0. It is
    continuous at 0 if neither rate is None. A rate of None means that the density is 0 on this side.
    """

    left: Fraction | None
    right: Fraction | None


class Measure(Enum):
    """The method by which probabilities of a law's noise are computed: closed forms, integrals, or sums over integers.

    INTEGRALS, over normal densities, and SUMS give enclosures. If the noises of an event have laws with different
    methods, the last of these methods is used, in the order CLOSED_FORM, INTEGRALS, SUMS.
    """

    CLOSED_FORM = 0
    INTEGRALS = 1
    SUMS = 2


class Law(ABC):
    """The distribution of a noise N before its mean is added, with the properties that proof rules ask for.

    Most methods take the rate of the noise in multiples of eps, or the rate itself for a law that is `fixed`. A method
    raises Missing if the law does not have the property that the method states.

    - `keyword`, `name`, `checker_name`: the word for the law in programs, in sentences and in certificates. The last is
      None if the checker does not know the law.
    - `parameters`: the arguments from which the class makes the law; equal laws have equal ones.
    - `whole`: N is an integer. Otherwise N is real and has a density.
    - `takes_rate`: a draw is written with a rate or a standard deviation. Otherwise nothing depends on the rate.
    - `by_deviation`: a draw is written with a standard deviation and not with a rate.
    - `takes_mean`, `takes_ends`: a draw is written with a mean, and with the two ends of its support.
    - `least`, `greatest`: bounds of N; None if there is none or none is stated.
    - `is_probability`: the total mass is 1.
    - `is_positive`: the density or mass is positive at every point >= `least`.
    - `symmetric`: -N has the law of N.
    - `unimodal`: on its support, the density never increases with the distance from 0.
    - `log_concave`: the logarithm of the density or mass is concave on its support.
    - `scales`: N has a density, and the law of rate·eps·N is the same for every rate and eps.
    - `fixed`: N has the same law for every eps.
    - `measure`: the method that computes probabilities.
    - `is_subgaussian`: E[e^{t·N}] <= e^{t²·s²/2} for every real t, where s is the standard deviation.
    - `subgaussian_weight`: a w with Pr[N >= x] <= w·e^{-x²/(2·s²)} for every x >= 0. If w < 1, the sums of independent
      noises of this law satisfy the same inequality, with their own s.
    - `exponential_tails`: Pr[N >= x] = Pr[-N >= x] = Pr[N >= 0]·e^{-rate·eps·x} for every x >= 0, or every integer x >=
      0 if N is an integer.
    """

    keyword: ClassVar[str]
    name: ClassVar[str]
    checker_name: ClassVar[str | None] = None
    parameters: tuple[Any, ...] = ()
    whole: ClassVar[bool] = False
    takes_mean: ClassVar[bool] = True
    by_deviation: ClassVar[bool] = False
    takes_ends: ClassVar[bool] = False
    takes_rate: ClassVar[bool] = True
    least: Fraction | None = None
    greatest: Fraction | None = None
    is_probability: ClassVar[bool] = True
    is_positive: ClassVar[bool] = False
    symmetric: bool = False
    unimodal: ClassVar[bool] = False
    log_concave: ClassVar[bool] = False
    scales: bool = False
    fixed: bool = False
    measure: ClassVar[Measure] = Measure.CLOSED_FORM
    is_subgaussian: ClassVar[bool] = False
    subgaussian_weight: ClassVar[Fraction] = Fraction(1)
    exponential_tails: ClassVar[bool] = False

    def __reduce__(self) -> str | tuple[Any, ...]:
        return type(self), self.parameters

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.parameters == other.parameters

    def __hash__(self) -> int:
        return hash((self.keyword, self.parameters))

    def __repr__(self) -> str:
        return self.identity

    @property
    def has_form(self) -> bool:
        """True if the probabilities of events over noise of this law have closed forms."""
        return self.measure is Measure.CLOSED_FORM

    @property
    def is_checked(self) -> bool:
        """True if the checker of certificates knows the law."""
        return self.checker_name is not None

    @property
    def identity(self) -> str:
        """A string that identifies the law, such as `Lap` or `TLap[-1, 1]`."""
        return self.keyword

    def with_deviation(self, factor: Real, *, fixed: bool) -> tuple[Law, Fraction]:
        """Return (law, rate) whose noise has the standard deviation `factor`/eps, or `factor` for every eps if `fixed`.

        The law that is returned has the same class as this law.
        """
        self._lacks("a standard deviation as its parameter")

    def with_ends(self, low: Fraction, high: Fraction) -> Law:
        """Return the law of the same class whose noise has its values in [`low`, `high`], where `low` < `high`."""
        self._lacks("ends as its parameters")

    def times(self, factor: Fraction) -> Law:
        """Return the law of `factor`·N for the noise N of this law, where `factor` > 0.

        The rate of factor·N is the rate of N divided by `factor`.
        """
        if factor != 1 and not self.scales and not self.by_deviation:
            self._lacks("a known law of its multiples")
        return self

    # --- measures -------------------------------------------------------------------------------------

    def pieces(self, rate: Fraction) -> tuple[DensityPiece, ...]:
        """Return pieces of a function that, divided by the result of `normalizer`, is the density of X = eps·N.

        N is the noise for this `rate`, before its mean is added. The function is 0 outside of the pieces.
        """
        self._lacks("a density made of powers and exponentials")

    def normalizer(self, rate: Fraction) -> Normalizer:
        """Return the function of eps by which the function in `pieces` is divided to give the density, for this `rate`.

        The function is positive for every eps > 0. It is returned as its terms, where (k, q, c) means
        c·eps^k·e^{q·eps}.
        """
        return ONE_TERM

    def sides(self, rate: Fraction) -> SideRates:
        """Return the rates at which the density, or mass, decays to the left and to the right of 0.

        The noise has the rate `rate`·eps, and its mean is not added.
        """
        self._lacks("an exponential on each side of its mean")

    def normal_variance(self, rate: Fraction) -> Fraction:
        """The variance of eps·N for normal noise N with this `rate`, as a multiple of the square of `normal_unit`.

        If the law is `fixed`, so that N has the same law for every eps, it is the variance of N itself. For discrete
        noise the v with masses proportional to e^{-k²/(2v)} takes the place of the variance.
        """
        self._lacks("a normal density")

    @property
    def normal_unit(self) -> Real:
        """A number t > 0, such as 1 or exp(1/3): variances of noise of this law are rational multiples of t²."""
        self._lacks("a density or a mass like that of a normal law")

    def laplace_rate(self, rate: Fraction) -> Fraction | None:
        """Return a if the density for this `rate` is (a·eps/2)·e^{-a·eps·|x|}, as for Laplace noise, else None."""
        del rate
        return None

    def central_mass(self, rate: Fraction, reach: int) -> tuple[Quotient, Quotient] | None:
        """Return (lower, upper), bounds of Pr[|N| <= `reach`] as functions of eps, or None if the law states none.

        N is the integer noise with this `rate`, before its mean is added. The two bounds are close to each other for
        small eps.
        """
        del rate, reach
        return None

    def deviation(self, rate: Fraction) -> tuple[Fraction, Fraction]:
        """Return (lower, upper), rational bounds of the standard deviation for this `rate`, in multiples of 1/eps.

        If the law is fixed, the standard deviation does not depend on eps, and the bounds are numbers, not multiples of
        1/eps.
        """
        self._lacks("a known standard deviation")

    # --- bounds ---------------------------------------------------------------------------------------

    def tail_bound(self, rate: Fraction, reach: Fraction, *, upward: bool, strict: bool) -> tuple[Fraction, Fraction]:
        """Return (q, w) such that a tail of the noise N has at most the probability w·e^{-q·eps}, for every eps > 0.

        N has the rate `rate`·eps, and its mean is not added. The tail is N > `reach` if `upward`, else N < -`reach`; if
        `strict`, the bound holds for N >= reach, or N <= -reach, too. `reach` is at least 0.
        """
        self._lacks("a bound of its tails by an exponential in eps")

    def greatest_density(self, rate: Fraction) -> Fraction:
        """An upper bound of the density of eps·N for the noise N with this `rate`, for every eps > 0.

        Integer noise has no density. If the law is one of integer noise, N is the noise of `continuous_neighbor`.
        """
        self._lacks("a bound of its density")

    def continuous_neighbor(self) -> tuple[Law, Fraction]:
        """Return (a law with a density, d), such that noise N' of that law can be coupled with the noise N of this law.

        Coupled means that N and N', with the same rate, are drawn together so that |N - N'| < d. For a law that has a
        density itself, the result is this law and 0.
        """
        if self.whole:
            self._lacks("a law on the reals near it")
        return self, Fraction(0)

    def variation_bound(self, disk: Fraction) -> Fraction:
        """An upper bound of (∫ |p(x)| dx)² for all complex eps with |eps - e| <= `disk`·e, for any e > 0.

        p(x) is the density of the noise, a complex number at complex eps, and the integral is its total variation. For
        integer noise it is a sum over masses. On each of these disks around e, p(x) is analytic in eps. The bound does
        not depend on the rate.
        """
        self._lacks("a bound at complex eps")

    def shift_cost(self, rate: Fraction) -> Fraction:
        """Return c such that the density at x is at most e^{c·eps·|t|} times the density at x + t.

        For integer noise, masses take the place of densities. The inequality holds for noise with this `rate`, for
        every eps > 0, whenever x and x + t are both between `least` and `greatest`.
        """
        self._lacks("a finite cost of shifts: the ratio of its densities at two places has no bound")

    # --- drawing and writing --------------------------------------------------------------------------

    def rate_at(self, rate: Fraction, eps: Fraction) -> Fraction:
        """Return the value at one `eps` of a rate that is `rate` times eps: the number that `draw_exactly` takes.

        If the law is fixed, the rate does not depend on eps, and the result is `rate` itself.
        """
        return rate * eps

    def draw_exactly(self, bits: RandomBits, rate: Fraction) -> int | LazyReal:
        """Draw the noise N exactly from the random `bits`, and return N if the law is `whole`, else `rate`·N.

        `rate` is the value of the rate at one eps. The mean is not added.
        """
        self._lacks("an exact sampler")

    def draw_text(self, scale: str, mean: str, low: str = "", high: str = "") -> str:
        """Return a draw as it is written in a program, such as `Lap(eps/2, x)`.

        `scale` is the text of the rate or of the standard deviation, `mean` that of the mean. `low` and `high` are the
        texts of the ends of the support, for a law that is written with them.
        """
        return f"{self.keyword}({scale}, {mean})" if self.takes_mean else f"{self.keyword}({scale})"

    def shown(self, rate: Fraction, mean: str) -> str:
        """Return the program text of a draw with the rate `rate`·eps and the text `mean`, such as `Lap(eps/2, x)`."""
        return self.draw_text(self.scale_text(rate), mean)

    @property
    def scale_word(self) -> str:
        """The word for the parameter with which a draw is written: "deviation" (standard deviation) or "rate"."""
        return "deviation" if self.by_deviation else "rate"

    def scale_text(self, rate: Fraction) -> str:
        """Return the program text of the rate `rate`·eps, such as `4*eps/9`.

        For a law that is written with its standard deviation, return the text of the deviation, such as `9/(4*eps)`.
        """
        if self.by_deviation:
            below = "eps" if rate.numerator == 1 else f"({rate.numerator}*eps)"
            return f"{rate.denominator}/{below}"
        times = "" if rate.numerator == 1 else f"{rate.numerator}*"
        return f"{times}eps" if rate.denominator == 1 else f"{times}eps/{rate.denominator}"

    @property
    def usage(self) -> str:
        """A sentence that tells the author of a program which parameters a draw has, with an example."""
        what, first = ("standard deviation, s/eps or s,", "2/eps") if self.by_deviation else ("rate in eps", "eps/2")
        also, example = (" and a mean", ", 0") if self.takes_mean else ("", "")
        return f"`{self.keyword}` takes a {what}{also}, for example `{self.keyword}({first}{example})`"

    def _lacks(self, what: str) -> NoReturn:
        raise Missing(f"{self.name} noise does not have {what}")


class Weighted(Law):
    """The measure whose density at x is (eps·x)^`power` times the density of noise N of another `law`.

    Its total mass is not 1: the measure of an event is the expected value of (eps·N)^power, counted as 0 where the
    event fails. Of the properties of a law it states only `pieces` and `normalizer`.
    """

    is_probability = False

    def __init__(self, law: Law, power: int) -> None:
        self.parameters = law, power
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
