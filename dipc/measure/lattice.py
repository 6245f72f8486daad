"""Measure linear constraints over integer noises, by sums of piecewise exponential polynomials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from math import comb, factorial, lcm

import flint
from flint.utils.flint_exceptions import DomainError

from dipc.algebra.exppoly import ExpPoly, Quotient
from dipc.algebra.limits import LimitReached, Limits, Meter, OutsideFragment, Undecided, weight
from dipc.algebra.numbers import to_fmpq
from dipc.frozen import frozen
from dipc.linear.halfspace import Halfspace, sorted_terms, tightened
from dipc.measure.event import Event
from dipc.measure.pieces import Piece, Piecewise, Terms, Windows
from dipc.measure.summands import (
    Elimination,
    Summands,
    closed_form,
    constant_one,
    geometric_sum,
    power_sum,
    substituted,
    summed,
)
from dipc.noise.law import DensityPiece, SideRates

# --- Piecewise exponential polynomials on the integers, over products of cyclotomic polynomials -----------------------
#
# Let y = e^{eps}. A function of an integer x is written N(x)/Π Φ_d(y)^{m_d}, where Φ_d is the cyclotomic polynomial and
# the pieces of N are Σ c·y^q·x^n·y^{l·x} with integer q and l. Piece i holds at breaks[i-1] <= x < breaks[i].
#
# The class is closed under products, shifts by integers and sums over ranges. The sum of x^n·y^{lx} is a polynomial in
# x for l = 0; otherwise it is a polynomial in x times y^{lx} over (y^|l| - 1)^{n+1} (`geometric_sum`). As y^a - 1 is
# the product of Φ_d(y) over the divisors d of a, one denominator serves all pieces. Each Φ_d is irreducible, so trial
# division finds every common divisor of the denominator and the pieces. For y > 1 every Φ_d(y) is positive: Φ_d has no
# real zero above 1, and its leading coefficient is 1.

#: The highest degree of a denominator; beyond it, constraints are measured by elimination, which expands none.
MOST_DEGREE = 20_000

#: A quotient of at most this degree in e^eps is computed, however many terms it has.
_MOST_DENSE = 5_000_000

#: A piece with at most this many values for each power of x is summed value by value.
_FEW_VALUES = 4

#: The item d: m means Φ_d(y)^m, with the cyclotomic polynomial Φ_d.
Powers = Mapping[int, int]

#: A sum of terms: those under (w, m) are divided by (y^w - 1)^m, those under (0, 0) by nothing.
_Sum = dict[tuple[int, int], Terms]


@frozen
class LatticePiecewise:
    """A piecewise function of an integer x: `numerator`(x) divided by Π Φ_d(e^eps)^m over the items d: m of `poles`.

    Φ_d is the cyclotomic polynomial; comments of this room write y for e^eps. Piece number i of the numerator holds at
    b[i-1] <= x < b[i], where b are the breaks of the numerator. No factor Φ_d of the denominator divides all pieces.
    """

    numerator: Piecewise[Piece]
    poles: Powers = field(default_factory=dict)

    @classmethod
    def constant(cls, value: Piece) -> LatticePiecewise:
        return cls(Piecewise.constant(value))

    @classmethod
    def laplace(cls, rate: int, mean: int) -> LatticePiecewise:
        """Return the probability that discrete Laplace noise with this `mean` is x, as a function of the integer x.

        The rate of the noise is `rate`·eps. The probability of x is (y^a - 1)/(y^a + 1)·y^{-a|x - mean|}, where a is
        `rate` and y = e^eps.
        """
        left = Terms({(0, rate - rate * mean, 0, rate): flint.fmpq(1), (0, -rate * mean, 0, rate): flint.fmpq(-1)})
        right = {(0, q + 2 * rate * mean, n, -l): c for (_, q, n, l), c in left.items()}
        # y^a + 1 = (y^2a - 1)/(y^a - 1).
        poles = {d: 1 for d in _divisors(2 * rate) if rate % d}
        return cls(Piecewise((mean,), (Piece.of_terms(left), Piece.of_terms(right))), poles)

    @classmethod
    def sum_of_laplace(cls, rate: int, count: int, meter: Meter) -> LatticePiecewise:
        """Return the masses of the sum of `count` independent discrete Laplace noises of one `rate` and mean 0.

        `meter` raises LimitReached before a long computation.

        Let k be `count` and z = y^{-rate} with y = e^eps. The sum is the difference of two sums of k geometric
        variables. So its mass at x >= 0 is (1 - z)^{2k}·Σ_j C(x + j + k - 1, k - 1)·C(j + k - 1, k - 1)·z^{2j + x}. By
        Vandermonde's identity the first binomial is Σ_i C(x, i)·C(j + k - 1, k - 1 - i). By Euler's transformation of
        hypergeometric series

            Σ_j C(j + k - 1, k - 1 - i)·C(j + k - 1, k - 1)·t^j = (1 - t)^{i + 1 - 2k}·p_i(t)

        for p_i(t) = Σ_j C(k - 1 - i, j)·C(k - 1, i + j)·t^j. Hence with t = z² the mass is (1 - z)/(1 + z)^{2k -
        1}·z^x·Σ_i C(x, i)·(1 - z²)^i·p_i(z²).
        """
        k = count
        bits = 2 * k * k.bit_length()
        meter.size(2 * k * k * weight(bits))
        meter.product(k, 2 * k * k, 0, bits)
        minus = flint.fmpz_poly([1, 0, -1])
        # For each power of x its coefficient, a polynomial in z, times (k - 1)!.
        by_power = [flint.fmpz_poly([])] * k
        falling = flint.fmpz_poly([1])  # x·(x - 1)···(x - i + 1)
        for i in range(k):
            even = [comb(k - 1 - i, j) * comb(k - 1, i + j) for j in range(k - i)]
            spread = flint.fmpz_poly([even[q // 2] if q % 2 == 0 else 0 for q in range(2 * len(even) - 1)])
            share = spread * minus**i * (factorial(k - 1) // factorial(i))
            by_power = [total + share * falling[n] for n, total in enumerate(by_power)]
            falling *= flint.fmpz_poly([-i, 1])
        whole = factorial(k - 1)
        right: Terms = {}
        for n, in_z in enumerate(by_power):
            # Multiply by (1 - z), and numerator and denominator by y^{rate·(2k - 1)}.
            for q, c in enumerate((in_z * flint.fmpz_poly([1, -1])).coeffs()):
                right[0, rate * (2 * k - 1 - q), n, -rate] = flint.fmpq(c, whole)
        left = {(p, q, n, -l): (-c if n % 2 else c) for (p, q, n, l), c in right.items()}
        poles = {d: 2 * k - 1 for d in _divisors(2 * rate) if rate % d}
        return cls(Piecewise((0,), (Piece.of_terms(left), Piece.of_terms(right))), poles)

    @classmethod
    def of_noises(cls, noises: Sequence[Windows], meter: Meter) -> LatticePiecewise:
        """Return the masses of the sum of independent discrete Laplace `noises` with mean 0.

        Each is given by the density of Laplace noise with the same rate. `meter` raises LimitReached before a long
        computation.
        """
        by_rate = {_rate(noise): noise for noise in noises}
        # Add up the noises of the most frequent rate at once.
        ((most, count), *others) = Counter(map(_rate, noises)).most_common()
        masses = cls.sum_of_laplace(most, count, meter)
        for rate, count in others:
            for _ in range(count):
                masses = masses.smoothed(by_rate[rate], meter)
        return masses

    def size(self) -> int:
        """Return the sum of the sizes of all pieces of the numerator, as `Piece.size` measures them."""
        return self.numerator.size()

    def restricted(self, low: int | None, high: int | None) -> LatticePiecewise:
        """Return this function times the indicator of `low` <= x <= `high`, where an end that is None is infinite."""
        return LatticePiecewise(self.numerator.restricted(low, None if high is None else high + 1), self.poles)

    def times(self, other: LatticePiecewise, meter: Meter) -> LatticePiecewise:
        """Return the product of this function and `other`; `meter` counts the work and raises LimitReached."""
        return LatticePiecewise(self.numerator.times(other.numerator, meter), _added(self.poles, other.poles))

    def to_power(self, exponent: int, meter: Meter) -> LatticePiecewise:
        """Return this function to the power `exponent` >= 1; `meter` counts the work and raises LimitReached."""
        return LatticePiecewise(
            self.numerator.to_power(exponent, meter), {d: m * exponent for d, m in self.poles.items()}
        )

    def shifted(self, offset: int) -> LatticePiecewise:
        """Return the function x -> f(x + `offset`), where f is this function."""
        return LatticePiecewise(_shifted(self.numerator, offset), self.poles)

    def plus(self, other: LatticePiecewise, meter: Meter) -> LatticePiecewise:
        """Return the sum of this function and `other`; `meter` counts the work and raises LimitReached."""
        poles = {d: max(self.poles.get(d, 0), other.poles.get(d, 0)) for d in {*self.poles, *other.poles}}
        left, right = (
            _times(f.numerator, _product({d: m - f.poles.get(d, 0) for d, m in poles.items()}), meter)
            for f in (self, other)
        )
        return _reduced(left.plus(right, meter), poles, meter)

    def reflected(self) -> LatticePiecewise:
        """Return the function x -> f(-x), where f is this function."""
        pieces = [
            Piece.of_terms({(k, q, n, -l): (-c if n % 2 else c) for (k, q, n, l), c in piece.terms().items()})
            for piece in reversed(self.numerator.pieces)
        ]
        # The condition b <= -x < b' is 1 - b' <= x < 1 - b.
        breaks = tuple([1 - b for b in reversed(self.numerator.breaks)])
        return LatticePiecewise(Piecewise(breaks, tuple(pieces)), self.poles)

    def smoothed(self, noise: Windows, meter: Meter) -> LatticePiecewise:
        """Return the function x -> Σ_c f(c)·Pr[N = x - c], where f is this function and N is discrete Laplace noise.

        N has the rate of Laplace noise with the density `noise`, and mean 0. This function must be bounded. If it has
        the masses of a variable C, the result has the masses of C + N. `meter` raises LimitReached. Raises
        OutsideFragment if the common denominator has a degree beyond `MOST_DEGREE`.
        """
        rate = _rate(noise)
        upward = self.weighed_below(rate, 0, meter)
        downward = self.reflected().weighed_below(rate, -1, meter).reflected()
        mass = flint.fmpz_poly([-1, *[0] * (rate - 1), 1])  # y^a - 1, over y^a + 1 = (y^2a - 1)/(y^a - 1)
        both = upward.plus(downward, meter)
        poles = _added(both.poles, {d: 1 for d in _divisors(2 * rate) if rate % d})
        return _reduced(_times(both.numerator, mass, meter), poles, meter)

    def weighed_below(self, rate: int, high: int, meter: Meter) -> LatticePiecewise:
        """Return the function x -> Σ f(c)·e^{-`rate`·eps·(x - c)} over c <= x + `high`, where f is this function.

        `meter` raises LimitReached.
        """
        # The weights make the summand decay at -∞. At +∞ it may grow, because no sum reaches there.
        return self.tilted(rate).window_integral(None, high, meter).tilted(-rate)

    def tilted(self, rate: int) -> LatticePiecewise:
        """Return the function x -> f(x)·e^{`rate`·eps·x}, where f is this function."""
        return LatticePiecewise(self.numerator.tilted(rate), self.poles)

    def window_integral(self, low: int | None, high: int | None, meter: Meter) -> LatticePiecewise:
        """Return the function x -> Σ f(z) over x + `low` <= z <= x + `high`, where f is this function.

        An end that is None is unbounded; else `low` <= `high`. This function must decay at both ends. `meter` raises
        LimitReached. Raises OutsideFragment if the common denominator has a degree beyond `MOST_DEGREE`.
        """
        grown, (*constants, total) = self._indefinite_sums()
        more = _poles_of(grown)
        sums = [
            _numerator_over(more, each, meter).plus(_numerator_over(more, c, meter))
            for each, c in zip(grown, constants, strict=True)
        ]
        below = Piecewise(self.numerator.breaks, tuple(sums))
        upper = Piecewise((), (_numerator_over(more, total, meter),)) if high is None else _shifted(below, high)
        numerator = upper if low is None else upper.plus(_shifted(below, low - 1).times_term(-1, 0), meter)
        return _reduced(numerator, _added(self.poles, more), meter)

    def integral(self, meter: Meter) -> Quotient:
        """Return the sum of this function over all integers. The function must decay at both ends.

        `meter` raises LimitReached. Raises OutsideFragment if the degree of the common denominator exceeds
        `MOST_DEGREE`.
        """
        total = self._sum_of_all()
        more = _poles_of([total])
        piecewise = _reduced(Piecewise((), (_numerator_over(more, total, meter),)), _added(self.poles, more), meter)
        terms = piecewise.numerator.pieces[0].terms()
        above = ExpPoly.from_integer_exponents({(0, q): c for (_, q, _, _), c in terms.items()})
        below = ExpPoly.from_integer_exponents({(0, q): c for q, c in _coefficients(_product(piecewise.poles)).items()})
        # The remaining poles have no divisor in common with the numerator.
        return Quotient.coprime(above, below)

    def _sum_of_all(self) -> _Sum:
        breaks = self.numerator.breaks
        total: _Sum = {}
        for piece, low, high in zip(self.numerator.pieces, (None, *breaks), (*breaks, None), strict=True):
            terms = piece.terms()
            highest = max((n for _, _, n, _ in terms), default=0)
            if low is not None and high is not None and high - low <= _FEW_VALUES * (1 + highest):
                for x in range(low, high):
                    _add_value(total, {(0, 0): terms}, x, 1)
                continue
            grown = _indefinite_sum(piece)
            if high is not None:
                _add_value(total, grown, high - 1, 1)
            if low is not None:
                _add_value(total, grown, low - 1, -1)
        return total

    def _indefinite_sums(self) -> tuple[list[_Sum], list[_Sum]]:
        """Return a list of indefinite sums, one for each piece, and a list of constants, which has one more item.

        An indefinite sum is a function S with S(x) - S(x - 1) equal to the piece. At an x of piece number i, the sum of
        this function from -∞ to x is the indefinite sum at x plus constant number i. The last constant is the sum over
        all integers, if the function decays.
        """
        grown = [_indefinite_sum(piece) for piece in self.numerator.pieces]
        constants: list[_Sum] = [{}]
        for b, (before, after) in zip(self.numerator.breaks, pairwise(grown), strict=True):
            constant = {group: dict(terms) for group, terms in constants[-1].items()}
            _add_value(constant, before, b - 1, 1)
            _add_value(constant, after, b - 1, -1)
            constants.append(constant)
        # The indefinite sum of the last piece vanishes at +∞, so its constant is the total.
        return grown, [*constants, constants[-1]]


def _rate(noise: Windows) -> int:
    return abs(noise[0].slope)


def _poles_of(sums: list[_Sum]) -> Powers:
    """Return a common denominator of `sums`, as the powers d -> m of a product Π Φ_d(e^eps)^m.

    Φ_d is the cyclotomic polynomial number d. Raises OutsideFragment if the denominators together have a higher degree
    than `MOST_DEGREE`.
    """
    groups = {key for each in sums for key in each}
    if sum(w * m for w, m in groups) > MOST_DEGREE:
        raise OutsideFragment("rates of integer noise differ too much: their common unit makes polynomials too long")
    result: dict[int, int] = {}
    for w, m in groups:
        for d in _divisors(w):
            result[d] = max(result.get(d, 0), m)
    return result


def _times(function: Piecewise[Piece], factor: flint.fmpz_poly, meter: Meter) -> Piecewise[Piece]:
    constant = _in_y(factor)
    return Piecewise(function.breaks, tuple([piece.times(constant, meter) for piece in function.pieces]))


def _added(left: Powers, right: Powers) -> Powers:
    return {d: left.get(d, 0) + right.get(d, 0) for d in {*left, *right}}


def _indefinite_sum(piece: Piece) -> _Sum:
    """Return a function S with S(x) - S(x - 1) equal to `piece`.

    S is a sum with parts for each factor e^{l·eps·x} that occurs in `piece`. At an end where this factor tends to 0,
    its part of S tends to 0, too.
    """
    # For each power and slope of x its coefficient, a polynomial in y, which is multiplied as a whole.
    before: dict[tuple[int, int], dict[int, flint.fmpq]] = {}
    for (_, q, n, l), c in piece.terms().items():
        before.setdefault((n, l), {})[q] = c
    sums: dict[tuple[int, int], dict[tuple[int, int, int], flint.fmpq_poly]] = {}
    for (n, l), by_power in before.items():
        low = min(by_power)
        factor = flint.fmpq_poly([by_power.get(q, 0) for q in range(low, max(by_power) + 1)])
        w = abs(l)
        if not l:
            for power, f in power_sum(n):
                _add_product(sums, (0, 0), (power, 0, low), factor, to_fmpq(f))
            continue
        for (power, s, m), share in _geometric_sum(n, l > 0):
            _add_product(sums, (w, m), (power, l, low + w * (m - s)), factor, share)
    return {
        group: _collected(
            ((0, low + q, n, l), c)
            for (n, l, low), poly in polys.items()
            for q, c in enumerate(poly.coeffs())
            if c != 0
        )
        for group, polys in sums.items()
    }


def _add_product(
    sums: dict[tuple[int, int], dict[tuple[int, int, int], flint.fmpq_poly]],
    group: tuple[int, int],
    key: tuple[int, int, int],
    factor: flint.fmpq_poly,
    by: flint.fmpq,
) -> None:
    terms = sums.setdefault(group, {})
    product = factor * by
    terms[key] = terms[key] + product if key in terms else product


def _collected(terms: Iterable[tuple[tuple[int, int, int, int], flint.fmpq]]) -> Terms:
    result: Terms = {}
    for exponents, c in terms:
        result[exponents] = result.get(exponents, 0) + c
    return result


@cache
def _geometric_sum(n: int, growing: bool) -> tuple[tuple[tuple[int, int, int], flint.fmpq], ...]:
    return tuple([(exponents, to_fmpq(factor)) for exponents, factor in geometric_sum(n, growing)])


def _add_value(total: _Sum, grown: _Sum, x: int, sign: int) -> None:
    for group, terms in grown.items():
        coefficients = total.setdefault(group, {})
        for (_, q, n, l), c in terms.items():
            key = (0, q + l * x, 0, 0)
            coefficients[key] = coefficients.get(key, 0) + c * (sign * x**n)


def _numerator_over(poles: Powers, numerator: _Sum, meter: Meter) -> Piece:
    """Return `numerator`, a sum of fractions, times the denominator Π Φ_d(e^eps)^m over the items d: m of `poles`.

    Φ_d is the cyclotomic polynomial number d. The denominator must be a multiple of the denominator of each fraction,
    so that the result has none. `meter` raises LimitReached.
    """
    total = Piece.zero()
    for (w, m), terms in numerator.items():
        cofactor = _product({d: k - m if w and w % d == 0 else k for d, k in poles.items()})
        total = total.plus(Piece.of_terms(terms).times(_in_y(cofactor), meter))
    return total


def _shifted(function: Piecewise[Piece], offset: int) -> Piecewise[Piece]:
    if not offset:
        return function
    pieces = []
    for piece in function.pieces:
        terms: Terms = {}
        for (_, q, n, l), c in piece.terms().items():
            for m in range(n + 1):
                key = (0, q + l * offset, m, l)
                terms[key] = terms.get(key, 0) + c * (comb(n, m) * offset ** (n - m))
        pieces.append(Piece.of_terms(terms))
    return Piecewise(tuple([b - offset for b in function.breaks]), tuple(pieces))


def _reduced(numerator: Piecewise[Piece], poles: Powers, meter: Meter) -> LatticePiecewise:
    """Return the function `numerator` / Π Φ_d(e^eps)^m, the product over (d, m) in `poles`, without common factors.

    `meter` raises LimitReached.
    """
    pieces, left = numerator.pieces, dict[int, int]()
    for d, m in poles.items():
        divisor = _in_y(_cyclotomic(d))
        while m:
            longest = max(pieces, key=lambda piece: piece.degrees[1])
            if longest.degrees[1] > _MOST_DENSE:
                if not longest.folded(d).is_multiple(divisor):
                    break
                # Usually no coefficient of such a quotient is 0.
                meter.room(longest.degrees[1])
            try:
                pieces = tuple([piece.exact_quotient(divisor) for piece in pieces])
            except DomainError:
                break
            m -= 1
        if m:
            left[d] = m
    return LatticePiecewise(_merge_points(Piecewise(numerator.breaks, pieces)), left)


def _merge_points(function: Piecewise[Piece]) -> Piecewise[Piece]:
    """Return `function` with fewer pieces, but equal at every integer.

    A piece that holds at a single integer is removed if a neighboring piece has the same value there.
    """
    breaks, pieces = list(function.breaks), list(function.pieces)
    position = 1
    while position < len(breaks):
        x = breaks[position - 1]
        if breaks[position] == x + 1:
            here = _value(pieces[position], x)
            if here == _value(pieces[position - 1], x):
                del breaks[position - 1], pieces[position]
                continue
            if here == _value(pieces[position + 1], x):
                del breaks[position], pieces[position]
                continue
        position += 1
    return Piecewise(tuple(breaks), tuple(pieces))


def _value(piece: Piece, x: int) -> Terms:
    total: _Sum = {}
    _add_value(total, {(0, 0): piece.terms()}, x, 1)
    return Piece.of_terms(total[0, 0]).terms()


@cache
def _divisors(number: int) -> tuple[int, ...]:
    return tuple([d for d in range(1, number + 1) if number % d == 0])


@cache
def _cyclotomic(d: int) -> flint.fmpz_poly:
    return flint.fmpz_poly.cyclotomic(d)


def _product(powers: Powers) -> flint.fmpz_poly:
    total = flint.fmpz_poly([1])
    for d, m in powers.items():
        total *= _cyclotomic(d) ** m
    return total


def _coefficients(poly: flint.fmpz_poly) -> dict[int, flint.fmpq]:
    return {q: flint.fmpq(c) for q, c in enumerate(poly.coeffs()) if c != 0}


def _in_y(poly: flint.fmpz_poly) -> Piece:
    return Piece.of_terms({(0, q, 0, 0): c for q, c in _coefficients(poly).items()})


# --- The measure of any set of linear constraints over independent integer noises, one noise at a time ----------------
#
# The discrete counterpart of `polyhedral_measure`. The sum over x_v of a summand, between the greatest lower bound and
# the least upper bound, is F(least upper) - F(greatest lower - 1) for an indefinite sum F. There is one case for each
# choice of these bounds; of equal bounds the first counts. Where a coefficient of x_v is not ±1, the other variables
# are first split into residue classes, so that every bound is an integer.

_ZERO, _HALF, _ONE = Fraction(0), Fraction(1, 2), Fraction(1)


def lattice_measure(event: Event, limits: Limits | None = None) -> Quotient:
    """Return the exact probability, for every eps > 0, that all constraints of `event` hold.

    All noises must be discrete Laplace. Raises OutsideFragment for other laws, and LimitReached if the work exceeds
    `limits`.
    """
    return _Summation(event, limits or Limits()).total()


@frozen
class LatticeTrend:
    """The probability of an event with a parameter k in its constants, as a formula for all large enough integers k.

    The probability is the sum of `summands`, in which k is the variable with the index `place`, times the product of (1
    - e^{-d·eps})/(1 + e^{-d·eps}) over d in `rates`.
    """

    summands: Summands
    place: int
    rates: tuple[Fraction, ...]


class Unsettled(Undecided):
    """Raised by `lattice_trend` if no single formula holds for every integer k at or above the given start.

    The reason is an inequality in k that holds for some of these k and fails for others. `enough` is the start to try
    next: for k >= `enough`, the first inequality of this kind always holds or always fails. Another one may still
    change.
    """

    def __init__(self, enough: int) -> None:
        super().__init__("the probability follows another formula at small distances")
        self.enough = enough


def lattice_trend(event: Event, slopes: Sequence[Fraction], start: int, limits: Limits | None = None) -> LatticeTrend:
    """Return the probability of `event` with k·slope added to each constraint's constant, for integers k >= `start`.

    `slopes` has the slope of each constraint. All noises must be discrete Laplace, and `start` >= 0. Raises Unsettled
    if `start` is too small, and LimitReached if the work exceeds `limits`. Raises OutsideFragment if the probability
    depends on the residue class of k, or for other laws.
    """
    return _Summation(event, limits or Limits()).trend(slopes, start)


class _Summation(Elimination):
    """The sum over integer noises; all half-spaces have coprime integer coefficients and integer constants."""

    power = 0
    what = "a sum"

    def __init__(self, event: Event, limits: Limits) -> None:
        assert all(n.law.whole and n.mean.denominator == 1 for n in event.noises)
        for noise in event.noises:
            if noise.law.sides(noise.rate) != SideRates(noise.rate, noise.rate):
                raise OutsideFragment("the mass of an integer noise falls at different rates on its two sides")
        super().__init__(event.noises, limits)
        self._event = event
        #: The variable k of `trend`, at least `_start`, which is not summed over.
        self._parameter: int | None = None
        self._start = 0

    def total(self) -> Quotient:
        system = self._system([_ZERO] * len(self._event.constraints))
        used = frozenset(v for c in system for v, _ in c.coefficients)
        result = closed_form(self.integral(constant_one(len(self.noises) + 1), system, used, used))
        for v in used:
            decay = ExpPoly.term(1, 0, -self.noises[v].rate)
            result = result * Quotient(1 - decay, 1 + decay)
        return result

    def trend(self, slopes: Sequence[Fraction], start: int) -> LatticeTrend:
        self._parameter = parameter = len(self.noises)
        self._start = start
        system = self._system(slopes)
        used = frozenset(v for c in system for v, _ in c.coefficients) - {parameter}
        system.append(Halfspace(((parameter, _ONE),), Fraction(-start)))
        summands = self.integral(constant_one(len(self.noises) + 1), system, used, used)
        return LatticeTrend(summands, parameter, tuple([self.noises[v].rate for v in sorted(used)]))

    def _system(self, slopes: Sequence[Fraction]) -> list[Halfspace]:
        """Return the constraints of the event as inequalities over integers, with slope·k added to each left side.

        The parameter k is the last variable, after the noises, and `slopes` has the slope of each constraint.
        """
        return [
            tightened(replace(c, coefficients=sorted_terms({**dict(c.coefficients), len(self.noises): slope})))
            for c, slope in zip(self._event.constraints, slopes, strict=True)
        ]

    def closed(self, half: Halfspace) -> Halfspace:
        return tightened(half)

    def relaxed(self, half: Halfspace) -> Halfspace:
        return Halfspace(half.coefficients, half.constant + _HALF, strict=True)

    def density(self, v: int) -> Sequence[DensityPiece]:
        # The mass without its constant factor: total() multiplies by it.
        rate = self.noises[v].rate
        return DensityPiece(_ZERO, None, ((_ONE, 0, -rate),)), DensityPiece(None, _ZERO, ((_ONE, 0, rate),))

    def antiderivative(self, summands: Summands, v: int) -> Summands:
        return summed(summands, v)

    def effort(self, v: int, system: Sequence[Halfspace]) -> tuple[int, ...]:
        sizes = [abs(int(c)) for h in system if (c := h.coefficient(v))]
        return max(sizes, default=0), len(sizes), v

    def involved(self, v: int, system: Sequence[Halfspace]) -> frozenset[int]:
        return frozenset(self._partners(v, system)[0]) | {v}

    def _partners(self, v: int, system: Sequence[Halfspace]) -> tuple[Sequence[int], int]:
        """Return (variables, modulus) such that bounds of `v` are integers for each choice of residues of variables.

        The residues are modulo modulus. `system` has the half-spaces that bound `v`. Raises OutsideFragment if the
        parameter k is one of the variables: its residues have different sums, which must not be added up.
        """
        mixed = [(h, c) for h in system if abs(c := h.coefficient(v)) > 1]
        partners = {w for h, here in mixed for w, c in h.coefficients if w != v and c % here}
        if self._parameter in partners:
            raise OutsideFragment("the probability depends on the residue class of the distance")
        return sorted(partners), lcm(*(int(abs(c)) for _, c in mixed))

    def cases(
        self, v: int, summands: Summands, system: Sequence[Halfspace]
    ) -> Iterator[tuple[Summands, list[Halfspace]]]:
        """Yield (summands', system') for each combination of residues of the variables that `v` is divided from.

        summands' and system' are `summands` and `system` with modulus·x_w + r_w in place of the variable x_w, for each
        of these variables x_w and its residue r_w.
        """
        partners, modulus = self._partners(v, system)
        if modulus ** len(partners) > self.limits.classes:
            raise LimitReached("classes", f"a constraint needs more than {self.limits.classes} residue classes")
        for residues in product(range(modulus), repeat=len(partners)):
            inside, classes = summands, list(system)
            for w, residue in zip(partners, residues, strict=True):
                inside = substituted(inside, w, {w: modulus}, residue, 0)
                classes = [tightened(h.substituted(w, {w: Fraction(modulus)}, Fraction(residue))) for h in classes]
            yield inside, classes

    def finished(self, summands: Summands, system: Sequence[Halfspace]) -> Summands:
        """Return `summands`. Raises Unsettled unless every half-space of `system` holds for all integers k >= K.

        K is the start that was given to `lattice_trend`, and k is the only variable in `system`.
        """
        for h in system:
            ((_, sign),) = h.coefficients
            if sign < 0:
                raise Unsettled(int(h.constant) + 1)
            if h.constant < -self._start:
                raise Unsettled(-int(h.constant))
        return summands
