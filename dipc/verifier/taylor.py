"""Taylor polynomials in eps with proved errors: exponentials, and the normal distribution and its density.

All numbers are integer multiples of 2^-bits. FORMAT.md states and proves the facts about the normal distribution, lemma
N3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, reduce
from math import isqrt
from operator import mul

from dipc.verifier.functions import Ring
from dipc.verifier.reading import Budget
from dipc.verifier.signs import Pair, decay_bits, exp_minus, growth_bits

#: The bits of numbers in addition to those of the accuracy.
_GUARD = 64

#: The most that the argument of a series may change over a cell.
_MOST_SLOPE = 6

#: The greatest exponent of a bound at complex eps.
MOST_GROWTH = 2_000

# === fixed point ===============================================================================


@lru_cache(maxsize=256)
def pi_ends(bits: int) -> Pair:
    """Return an enclosure of π in units of 2^-`bits`, by Machin's formula."""
    work = bits + 16

    def arctangent(n: int) -> Pair:
        """Return an enclosure of the arctangent of 1/`n` by its series, which alternates and decreases."""
        total, term, count = 0, (1 << work) // n, 0
        while term:
            total += term // (2 * count + 1) * (-1 if count % 2 else 1)
            term //= n * n
            count += 1
        return total - 2 * count - 2, total + 2 * count + 2

    (a, b), (c, d) = arctangent(5), arctangent(239)
    return (16 * a - 4 * d) >> 16, -(-(16 * b - 4 * c) >> 16)


def root_ends(x: Fraction, bits: int) -> Pair:
    """Return an enclosure of √`x` for `x` >= 0: one unit of 2^-`bits` wide, or exact if √x is a multiple of it."""
    whole, rest = divmod(x.numerator << 2 * bits, x.denominator)
    low = isqrt(whole)
    return low, low + (bool(rest) or low * low != whole)


@lru_cache(maxsize=256)
def peak_ends(bits: int) -> Pair:
    """Return an enclosure of 1/√(2π) in units of 2^-`bits`."""
    low, high = pi_ends(bits + 8)
    one = 1 << 2 * (bits + 8)
    return root_ends(Fraction(one // (2 * high), 1 << bits + 8), bits)[0], root_ends(
        Fraction(-(-one // (2 * low)), 1 << bits + 8), bits
    )[1]


def _density(x: int, bits: int) -> tuple[Pair, int]:
    """Return an enclosure of φ(x·2^-bits), for the integer `x`, and the number of bits of its unit.

    The unit is at most 2^-`bits`, and smaller where φ is small.
    """
    square = Fraction(x * x, 1 << 2 * bits + 1)
    fine = bits + growth_bits(square) // 32 * 32 + 32
    low, high = exp_minus(square, fine)
    least, most = peak_ends(fine)
    return (low * least >> fine, -(-high * most >> fine)), fine


def _distribution(x: int, density: Pair, fine: int, bits: int) -> Pair:
    """Return an enclosure of Φ(x·2^-bits) in units of 2^-bits, for the integer `x`.

    Φ(x) = 1/2 + φ(x)·Σ x^(2n+1)/(1·3·...·(2n+1)), whose terms have the same sign. `density` encloses φ, in units of
    2^-`fine`; x counts units of 2^-`bits`.
    """
    size = abs(x)
    square_low, square_high = size * size >> bits, -(-size * size >> bits)
    low = high = low_term = high_term = size
    n = 1
    # Where x² < (n + 2)/2 each term is at most half of the one before.
    while high_term > 1 or square_high * 2 > (n + 2) << bits:
        n += 2
        low_term = (low_term * square_low >> bits) // n
        high_term = -(-high_term * square_high // (n << bits))
        low, high = low + low_term, high + high_term
    high += 2 * high_term
    low, high = low * density[0] >> fine, -(-high * density[1] >> fine)
    half = 1 << bits - 1
    low, high = half + low, min(half + high, 2 * half)
    return (low, high) if x >= 0 else (2 * half - high, 2 * half - low)


# === series ====================================================================================


@dataclass(frozen=True, slots=True)
class Series:
    """A polynomial in u that approximates a power series, with an error bound, in multiples of 2^-bits.

    The sum of |true - stated| over all coefficients is at most `error`.
    """

    coefficients: list[int]
    error: int

    @property
    def size(self) -> int:
        """The sum of the absolute values of the coefficients."""
        return sum(map(abs, self.coefficients))


class NotShown(Exception):
    """Raised if the precision is not enough to prove a statement."""


@dataclass(frozen=True)
class Expansion:
    """The substitution eps = middle + radius·u for -1 <= u <= 1, and arithmetic of series in u.

    Series have `terms` coefficients, which are multiples of 2^-bits. Integrals are replaced by sums over nodes with an
    error of at most 2^-accuracy.
    """

    middle: Fraction
    radius: Fraction
    terms: int
    accuracy: int
    budget: Budget

    @property
    def bits(self) -> int:
        return self.accuracy + _GUARD

    # --- arithmetic ---------------------------------------------------------------------------

    def constant(self, ends: Pair) -> Series:
        """Return the series of a number between `ends`."""
        return Series([ends[0]] + [0] * (self.terms - 1), ends[1] - ends[0])

    def plus(self, left: Series, right: Series) -> Series:
        return Series(
            [a + b for a, b in zip(left.coefficients, right.coefficients, strict=True)], left.error + right.error
        )

    def minus(self, left: Series, right: Series) -> Series:
        return self.plus(left, Series([-c for c in right.coefficients], right.error))

    def sum(self, each: Sequence[Series]) -> Series:
        """Return the sum of all series in `each`."""
        columns = zip(*(one.coefficients for one in each), strict=True)
        return Series([*map(sum, columns)] or [0] * self.terms, sum(one.error for one in each))

    def all(self, each: Sequence[Series]) -> Series:
        """Return Σ each - (n - 1): the probability that n events all hold, if no two of them fail together.

        `each` has the probabilities of the n events.
        """
        return self.plus(self.sum(each), self.constant((1 - len(each) << self.bits,) * 2))

    def scaled(self, series: Series, factor: Fraction) -> Series:
        """Return `series` times `factor`."""
        coefficients = [c * factor.numerator // factor.denominator for c in series.coefficients]
        return Series(coefficients, int(abs(factor) * series.error) + 1 + self.terms)

    def times(self, left: Series, right: Series) -> Series:
        self.budget.spend(self.terms * self.terms // 16 + 8, self.bits)
        mine, theirs = left.coefficients, right.coefficients[::-1]
        last, bits = self.terms, self.bits
        product = [sum(map(mul, mine[: k + 1], theirs[last - 1 - k :])) >> bits for k in range(last)]
        error = left.size * right.error + left.error * right.size + left.error * right.error
        return Series(product, (error >> bits) + 1 + self.terms)

    def power(self, base: Series, count: int) -> Series:
        result = None
        while count:
            if count % 2:
                result = base if result is None else self.times(result, base)
            count //= 2
            base = self.times(base, base) if count else base
        assert result is not None, "the count is positive"
        return result

    def product(self, each: Sequence[Series]) -> Series:
        """Return the product of all series in `each`."""
        return reduce(self.times, each) if each else self.constant((1 << self.bits,) * 2)

    def inverse(self, series: Series) -> Series:
        """Return the inverse of `series`, whose first coefficient is positive.

        Raises NotShown if the error is too large.

        Let p be the polynomial, p + d the true series, q approximately 1/p, and r = 1 - p·q. The inverse is q/(1 - r
        + d·q). Its distance from q is at most |q|·x/(1 - x), where x = |r| + |d|·|q| < 1, in the norm Σ
        |coefficient|, which is submultiplicative.
        """
        first, *others = series.coefficients
        bits = self.bits
        if first <= series.error:
            raise NotShown
        self.budget.spend(self.terms * self.terms // 8 + 8, bits)
        quotient = [(1 << 2 * bits) // first]
        for n in range(1, self.terms):
            quotient.append(-sum(map(mul, others[:n], reversed(quotient))) // first)
        mine = series.coefficients
        left = [sum(map(mul, mine[: k + 1], quotient[k::-1])) for k in range(self.terms)]
        left[0] -= 1 << 2 * bits
        size = sum(map(abs, quotient))
        away = Fraction(sum(map(abs, left)) + series.error * size, 1 << 2 * bits)
        if away > Fraction(1, 2):
            raise NotShown
        return Series(quotient, int(size * 2 * away) + 1)

    @property
    def eps(self) -> Series:
        """The series of eps itself."""
        line = [int(c * (1 << self.bits)) for c in (self.middle, self.radius)[: self.terms]]
        return Series(line + [0] * (self.terms - len(line)), 2)

    def ring(self, function: Ring) -> Series:
        """Return the series of the exponential polynomial `function`.

        Raises NotShown if an exponent is too large for the precision.
        """
        total = Series([0] * self.terms, 0)
        for (k, q), c in function.items():
            term = self.exponential(q)
            if k:
                term = self.times(term, self.power(self.eps, k))
            total = self.plus(total, self.scaled(term, c))
        return total

    def exponential(self, q: Fraction) -> Series:
        """Return the series of e^{`q`·eps}, whose coefficients are e^{q·middle}·(q·radius)^k/k!.

        Raises NotShown if the exponent is too large for the precision.
        """
        bits, exponent, slope = self.bits, abs(q) * self.middle, q * self.radius
        if growth_bits(exponent) > 4 * bits or abs(slope) > 8 * _MOST_SLOPE:
            raise NotShown
        low, high = exp_minus(exponent, bits + 2 * growth_bits(exponent))
        if q > 0:
            shift = 2 * bits + 2 * growth_bits(exponent)
            low, high = (1 << shift) // high, -(-(1 << shift) // low)
        else:
            low, high = low >> 2 * growth_bits(exponent), -(-high >> 2 * growth_bits(exponent))
        self.budget.spend(4 * self.terms, bits)
        coefficients, above, below = [], 1, 1
        for k in range(self.terms):
            coefficients.append(low * above // below)
            above, below = above * slope.numerator, below * slope.denominator * (k + 1)
        return Series(coefficients, (high - low << growth_bits(abs(slope))) + self.terms)

    def falling(self, rate: Fraction, alpha: Fraction, beta: Fraction) -> Series:
        """Return the series of e^{-rate·(alpha + beta·eps)}, for `rate`, `alpha`, `beta` >= 0.

        Raises NotShown if `alpha` or `beta` is negative, or if the exponent is too large for the precision.
        """
        if min(alpha, beta) < 0:
            raise NotShown
        first = self.constant(exp_minus(rate * alpha, self.bits))
        return self.times(first, self.exponential(-rate * beta)) if beta else first

    def normal(
        self, start: Fraction, slope: Fraction, variance: Fraction, away: Fraction, *, density: bool = False
    ) -> Series:
        """Return the series of Φ((start + slope·u)/√variance), or of φ with `density`.

        The error bound of the series also holds for Φ(y/√`variance`), or φ, for every y that differs from `start` +
        `slope`·u by at most `away`. Raises NotShown if `slope` is too large.
        """
        bits = self.bits
        low, high = root_ends(1 / variance, bits + 8)
        x, s = (number.numerator * low // (number.denominator << 8) for number in (start, slope))
        # A bound of the rounding errors of `x` and `s` together.
        off = 2 + int(((abs(start) + abs(slope)) * (high - low) + away * high) / 256) + 1
        size, far = Fraction(abs(s) + off, 1 << bits), Fraction(max(0, abs(x) - off), 1 << bits)
        self.budget.spend(3 * self.terms + 60 + min(int(far * far), 4_000), bits)
        if far > 4 * size and decay_bits((far * far - 4 * size * far) / 2) > bits:
            return Series([(1 << bits) if x > 0 and not density else 0] + [0] * (self.terms - 1), 1)
        if size > _MOST_SLOPE:
            raise NotShown
        peak, fine = _density(x, bits)
        value = (0, 0) if density else _distribution(x, peak, fine, bits)
        peak = peak[0] >> fine - bits, -(-peak[1] >> fine - bits)
        coefficients, error = [value[0]], value[1] - value[0]
        bell, bell_error = [], 0
        product, square = x * s >> bits, s * s >> bits
        # φ is Σ g_n·u^n, with (n + 1)·g_(n+1) = -(x·s·g_n + s²·g_(n-1)); each wrong by as much as is in `wrong`.
        before, now = 0, peak[0]
        wrong_before, wrong = 0, peak[1] - peak[0]
        for n in range(1, (self.terms if s else 1) + 1):
            bell.append(now)
            bell_error += wrong
            coefficients.append(s * now // (n << bits))
            error += (abs(s) * wrong >> bits) // n + 2
            before, now, wrong_before, wrong = (
                now,
                -(product * now + square * before >> bits) // n,
                wrong,
                ((abs(product) + 1) * wrong + (square + 1) * wrong_before + abs(now) + abs(before) >> bits) // n + 4,
            )
        off = 2 * off << growth_bits(size * size)
        nearby = bell if density else coefficients[: self.terms]
        nearby += [0] * (self.terms - len(nearby))
        return Series(nearby, (bell_error if density else error) + off)
