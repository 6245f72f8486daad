"""Exact draws from random bits: coins, geometric numbers, and reals whose binary digits are drawn on demand.

Nothing here is rounded. A real number is an interval that is halved with fresh random bits as often as necessary, so
comparisons are those of the ideal numbers. The coins of probability e^{-x} for rational x, and the integers made of
them, are those of Canonne, Kamath and Steinke (2020). Normal numbers are those of Karney (2016).
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from hashlib import shake_256
from itertools import count as counted
from math import ceil, floor, isqrt, lcm

import flint

# --- Random bits ------------------------------------------------------------------------------------------------------

_HALF = Fraction(1, 2)

#: Bytes read from the operating system at a time.
_AT_ONCE = 64


class RandomBits:
    """A source of independent fair random bits, from the operating system, or determined by a `seed`.

    Bits from a seed are reproducible, so they give no privacy. `drawn` counts the bits used so far.
    """

    def __init__(self, seed: int | None = None) -> None:
        self._bytes: Callable[[int], bytes] = os.urandom
        if seed is not None:
            blocks = counted()
            self._bytes = lambda size: shake_256(f"{seed}/{next(blocks)}".encode()).digest(size)
        self._pool = 0
        self._left = 0
        self.drawn = 0

    def take(self, count: int) -> int:
        """Draw an integer that is uniform among 0, …, 2^`count` - 1."""
        while self._left < count:
            self._pool |= int.from_bytes(self._bytes(_AT_ONCE), "little") << self._left
            self._left += 8 * _AT_ONCE
        value = self._pool & ((1 << count) - 1)
        self._pool >>= count
        self._left -= count
        self.drawn += count
        return value

    def uniform_below(self, bound: int) -> int:
        """Draw an integer that is uniform among 0, …, `bound` - 1, for `bound` >= 1."""
        length = (bound - 1).bit_length()
        while True:
            value = self.take(length)
            if value < bound:
                return value

    def bernoulli_exp(self, above: int, below: int) -> bool:
        """Return True with probability e^{-`above`/`below`}, else False, for `above` >= 0 and `below` > 0.

        The method is Algorithm 1 of Canonne, Kamath and Steinke (2020).
        """
        while above > below:
            if not self._bernoulli_exp_small(1, 1):
                return False
            above -= below
        return self._bernoulli_exp_small(above, below)

    def _bernoulli_exp_small(self, above: int, below: int) -> bool:
        """Return True with probability e^{-x}, else False, for x = `above`/`below` <= 1.

        Coins that succeed with the probabilities x, x/2, x/3, … are drawn until one fails. The number of successes is
        even with probability Σ (-x)^k/k! = e^{-x}.
        """
        trials = 1
        while self.uniform_below(below * trials) < above:
            trials += 1
        return trials % 2 == 1

    def geometric(self, above: int, below: int) -> int:
        """Draw an integer N >= 0 with Pr[N >= k] = e^{-k·`above`/`below`} for every k >= 0, for `above`, `below` > 0.

        The method is a part of Algorithm 2 of Canonne, Kamath and Steinke (2020).
        """
        while True:
            remainder = self.uniform_below(below)
            if self.bernoulli_exp(remainder, below):
                break
        quotient = 0
        while self._bernoulli_exp_small(1, 1):
            quotient += 1
        return (remainder + below * quotient) // above

    def two_sided(self, above: int, below: int) -> int:
        """Draw an integer N with Pr[N = k] proportional to e^{-|k|·`above`/`below`}, for `above`, `below` > 0.

        The method is Algorithm 2 of Canonne, Kamath and Steinke (2020).
        """
        while True:
            size = self.geometric(above, below)
            negative = self.take(1)
            if size or not negative:
                return -size if negative else size

    def discrete_normal(self, variance: Fraction) -> int:
        """Draw an integer N with Pr[N = k] proportional to e^{-k²/(2·`variance`)}, for `variance` > 0.

        The method is Algorithm 3 of Canonne, Kamath and Steinke (2020).
        """
        scale = isqrt(variance.numerator // variance.denominator) + 1
        while True:
            value = self.two_sided(1, scale)
            excess = (abs(value) - variance / scale) ** 2 / (2 * variance)
            if self.bernoulli_exp(excess.numerator, excess.denominator):
                return value

    def sign(self) -> int:
        """Draw 1 or -1, each with probability 1/2."""
        return 1 - 2 * self.take(1)

    def exponential(self) -> LazyReal:
        """Draw a real number with density e^{-x}."""
        return LazyExponential(1)

    def laplace(self) -> LazyReal:
        """Draw a real number with density e^{-|x|}/2."""
        return LazyExponential(self.sign())

    def normal(self) -> LazyReal:
        """Draw a real number with density e^{-x²/2}/√(2π), by Algorithm N of Karney (2016)."""
        while True:
            whole = 0
            while self.bernoulli_exp(1, 2):
                whole += 1
            if not all(self.bernoulli_exp(1, 2) for _ in range(whole * (whole - 1))):
                continue
            rest = LazyUniform(1)
            # Accepted with probability e^{-x·whole - x²/2}.
            accepted = all(_bernoulli_exp_of(rest, self) for _ in range(whole))
            if accepted and _bernoulli_exp_of_product(_HALF, (rest, rest), self):
                return LazyUniform(self.sign(), rest.whole + (whole << rest.length), rest.length)

    def uniform(self, low: Fraction, high: Fraction) -> LazyReal:
        """Draw a real number with a uniform density on [`low`, `high`], for `low` < `high`."""
        sides = _sides(low, high)
        sign, near, length = sides[self._place([length for _, _, length in sides])]
        return LazyLine(sign, near, length, LazyUniform(1))

    def truncated_laplace(self, low: Fraction, high: Fraction) -> LazyReal:
        """Draw a real number with density proportional to e^{-|x|} on [`low`, `high`], for `low` < `high`.

        0 cuts [low, high] into one or two intervals. In each of them x runs over [0, c], measured from the end nearer
        to 0. If every c is at most 1, x is drawn uniformly and accepted with probability e^{-x}. Otherwise one of the
        intervals is chosen with equal probability, x is exponential, and accepted if x < c. Each proposal is accepted
        with a probability above 3/10.
        """
        sides = _sides(low, high)
        is_short = all(length <= 1 for _, _, length in sides)
        while True:
            lengths = [length if is_short else Fraction(1) for _, _, length in sides]
            sign, near, length = sides[self._place(lengths)]
            if is_short:
                share = LazyUniform(1)
                if _bernoulli_exp_of_product(length, (share,), self):
                    return LazyLine(sign, near, length, share)
            else:
                beyond = LazyExponential(1)
                if beyond.is_below_number(length, self):
                    return LazyLine(sign, near, Fraction(1), beyond)

    def _place(self, weights: Sequence[Fraction]) -> int:
        if len(weights) == 1:
            return 0
        unit = lcm(*(weight.denominator for weight in weights))
        whole = [int(weight * unit) for weight in weights]
        drawn, place = self.uniform_below(sum(whole)), 0
        while drawn >= whole[place]:
            drawn, place = drawn - whole[place], place + 1
        return place


def _sides(low: Fraction, high: Fraction) -> list[tuple[int, Fraction, Fraction]]:
    parts = ((1, max(Fraction(0), low), high), (-1, max(Fraction(0), -high), -low))
    return [(sign, near, far - near) for sign, near, far in parts if near < far]


# --- A choice among finitely many values, by a uniform number with as many bits as necessary --------------------------

#: The integer parts of enclosures of t·2^bits: low <= t·2^bits <= high.
Threshold = Callable[[int], tuple[int, int]]

#: Slots for each value in the first look-up, as a power of two, and the number of bits drawn at a time after it.
_SPARE, _MORE = 4, 16


class Inversion:
    """A discrete distribution on the indices 0, …, n, from which indices are drawn exactly.

    Index i has probability t(i+1) - t(i), where 0 = t(0) <= t(1) <= … <= t(n+1) = 1 is its distribution function. A
    uniform number is drawn bit by bit until its bits show that it lies between t(i) and t(i+1) for some i.
    """

    def __init__(self, thresholds: Sequence[Threshold]) -> None:
        """Prepare draws from the distribution with the distribution function t(1), …, t(n).

        Each of the `thresholds` is a function that encloses one t(i): given a number of bits b, it returns integers
        (low, high) with low <= t(i)·2^b <= high.
        """
        self._thresholds = thresholds
        self._bits = len(thresholds).bit_length() + _SPARE
        ends = [(0, 0), *[threshold(self._bits) for threshold in thresholds], (1 << self._bits, 1 << self._bits)]
        self._first = [-1] * (1 << self._bits)
        for value in range(len(thresholds) + 1):
            for slot in range(ends[value][1], ends[value + 1][0]):
                self._first[slot] = value

    def draw(self, bits: RandomBits) -> int:
        """Draw an index of the distribution from the random `bits`. Few bits suffice almost always."""
        uniform = bits.take(self._bits)
        value = self._first[uniform]
        return value if value >= 0 else self._refine(uniform, bits)

    def _refine(self, uniform: int, bits: RandomBits) -> int:
        length = self._bits
        while True:
            uniform, length = uniform << _MORE | bits.take(_MORE), length + _MORE
            # Count the thresholds at or below the interval [uniform, uniform + 1] / 2^length; the next must be above
            # it.
            low = bisect_right(self._thresholds, uniform, key=lambda threshold: threshold(length)[0])
            reached = not low or self._thresholds[low - 1](length)[1] <= uniform
            if reached and (low == len(self._thresholds) or uniform + 1 <= self._thresholds[low](length)[0]):
                return low


# --- Reals whose digits are drawn on demand ---------------------------------------------------------------------------


class LazyReal(ABC):
    """A random real number `sign`·x with x >= 0, whose binary digits are drawn when they are needed.

    `length` digits of x after the binary point have been drawn so far. The digits of x up to there form the integer
    `whole`: whole/2^length <= x <= (whole + 1)/2^length. A length of -1 means that no digit has been drawn. More digits
    are drawn until a comparison is decided. The number is never rounded to a float.
    """

    __slots__ = ("length", "sign", "whole")

    def __init__(self, sign: int) -> None:
        self.sign = sign
        self.whole = 0
        #: -1 before the first digits, when x is not bounded above.
        self.length = -1

    @abstractmethod
    def refine(self, bits: RandomBits) -> None:
        """Draw more binary digits of this number from the random `bits`."""

    def is_below_number(self, number: Fraction, bits: RandomBits) -> bool:
        """True if the absolute value of this number is below `number`, decided by digits drawn from `bits`.

        The two numbers are equal with probability 0, so the draws end almost surely.
        """
        while True:
            if self.length >= 0:
                if Fraction(self.whole, 1 << self.length) >= number:
                    return False
                if Fraction(self.whole + 1, 1 << self.length) <= number:
                    return True
            self.refine(bits)

    def __float__(self) -> float:
        raise TypeError(
            "a lazy real cannot be rounded: compare it, or give the run a grid to round its outputs down to"
        )


#: Digits of the integer part and of the fraction that are drawn first, and the digits drawn at a time after that.
_WHOLE_DIGITS, _FIRST_DIGITS, _NEXT_DIGITS = 3, 4, 6


class LazyExponential(LazyReal):
    """A random number x with density e^{-x}, or -x if the sign is negative.

    The binary digits of x are independent: the digit with the value 2^-j is 1 with probability 1/(1 + e^{2^-j}).
    """

    __slots__ = ()

    def refine(self, bits: RandomBits) -> None:
        if self.length < 0:
            self.length = _FIRST_DIGITS
            first, overflow = _leading_digits(), 1 << (_WHOLE_DIGITS + _FIRST_DIGITS)
            digits = first.draw(bits)
            while digits == overflow:  # the excess over this bound has the same law
                self.whole += overflow
                digits = first.draw(bits)
            self.whole += digits
        else:
            self.length += _NEXT_DIGITS
            self.whole = self.whole << _NEXT_DIGITS | _digits_until(self.length).draw(bits)


class LazyUniform(LazyReal):
    """A random number ±x, where x is uniform on the interval from `whole`/2^`length` to (`whole` + 1)/2^`length`.

    By default this interval is [0, 1].
    """

    __slots__ = ()

    def __init__(self, sign: int, whole: int = 0, length: int = 0) -> None:
        super().__init__(sign)
        self.whole, self.length = whole, length

    def refine(self, bits: RandomBits) -> None:
        self.whole = self.whole << _NEXT_DIGITS | bits.take(_NEXT_DIGITS)
        self.length += _NEXT_DIGITS

    def is_below(self, other: LazyUniform, bits: RandomBits) -> bool:
        """True if this number is below the random number `other`, decided by digits of both drawn from `bits`.

        Both are between 0 and 1. They must not be the same object, as then the comparison would not end.
        """
        while True:
            length = max(self.length, other.length)
            one, two = self.whole << length - self.length, other.whole << length - other.length
            if one + (1 << length - self.length) <= two:
                return True
            if two + (1 << length - other.length) <= one:
                return False
            (self if self.length < other.length else other).refine(bits)


class LazyLine(LazyReal):
    """The random number sign·(offset + scale·x) for a given random x >= 0, where offset >= 0 and scale > 0.

    To refine this number, digits of x are drawn.
    """

    __slots__ = ("_inner", "_offset", "_scale")

    def __init__(self, sign: int, offset: Fraction, scale: Fraction, inner: LazyReal) -> None:
        super().__init__(sign)
        self._offset, self._scale, self._inner = offset, scale, inner

    def refine(self, bits: RandomBits) -> None:
        length = _FIRST_DIGITS if self.length < 0 else self.length + _NEXT_DIGITS
        while True:
            inner = self._inner
            if inner.length >= 0:
                low = self._offset + self._scale * Fraction(inner.whole, 1 << inner.length)
                high = low + self._scale / (1 << inner.length)
                # The number is almost surely not `high`.
                if floor(low * (1 << length)) == ceil(high * (1 << length)) - 1:
                    self.whole, self.length = floor(low * (1 << length)), length
                    return
            inner.refine(bits)


def _bernoulli_exp_of(x: LazyUniform, bits: RandomBits) -> bool:
    """Return True with probability e^{-x} for a random number `x` in [0, 1], else False, with digits drawn from `bits`.

    The method is von Neumann's: draw uniform numbers u1, u2, … as long as x > u1 > u2 > …. The number of draws that
    continue this sequence is even with probability e^{-x}.
    """
    length, last = 0, x
    while (following := LazyUniform(1)).is_below(last, bits):
        length, last = length + 1, following
    return length % 2 == 0


def _bernoulli_exp_of_product(share: Fraction, factors: Sequence[LazyUniform], bits: RandomBits) -> bool:
    """Return True with probability e^{-p}, else False, where p is `share` times the product of the `factors`.

    `share` is positive and at most 1, and the factors are in [0, 1]. Coins that succeed with the probabilities p, p/2,
    p/3, … are drawn from `bits` until one fails. The number of successes is even with probability e^{-p}.
    """
    above, below, trials = share.numerator, share.denominator, 1
    while bits.uniform_below(below * trials) < above and all(LazyUniform(1).is_below(x, bits) for x in factors):
        trials += 1
    return trials % 2 == 1


# --- The digits of exponential numbers, in groups ---------------------------------------------------------------------


@cache
def _leading_digits() -> Inversion:
    """The distribution of the leading binary digits, three before the point and four after, of an exponential number.

    The number X has density e^{-x}. Index i < 128 means i/16 <= X < (i + 1)/16, and the last index, 128, means X >= 8.
    """
    size = 1 << (_WHOLE_DIGITS + _FIRST_DIGITS)
    return Inversion([_distribution_threshold(value, _FIRST_DIGITS, None) for value in range(1, size + 1)])


@cache
def _digits_until(length: int) -> Inversion:
    """The distribution of the next `_NEXT_DIGITS` binary digits of a number with density e^{-x}, read as one integer.

    The last of these digits has the value 2^-`length`. They are independent of all digits before them.
    """
    size = 1 << _NEXT_DIGITS
    return Inversion([_distribution_threshold(value, length, size) for value in range(1, size)])


def _distribution_threshold(value: int, length: int, most: int | None) -> Threshold:
    """Return a function that encloses t = Pr[X < `value`/2^`length`], where X has density e^{-x}.

    Unless `most` is None, t is the conditional probability given that X < `most`/2^`length`. For a number of bits b the
    function returns integers (low, high) with low <= t·2^b <= high.
    """

    @cache
    def enclosed(bits: int) -> tuple[int, int]:
        with flint.ctx.workprec(2 * bits + length + 64):
            share = (flint.arb(-value) / 2**length).expm1()
            share = -share if most is None else share / (flint.arb(-most) / 2**length).expm1()
            scaled = share * flint.arb(2) ** bits
            return int(scaled.lower().floor().fmpz()), int(scaled.upper().ceil().fmpz())

    return enclosed
