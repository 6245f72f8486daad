"""Irrational constants of a program or a claim: a rational times powers of logarithms, of e, and of rationals.

Equal objects are equal numbers, but different objects may be the same number, too. Every constant is enclosed by
rationals. Logarithms are enclosed by the series of the inverse hyperbolic tangent, exponentials by their own series,
and roots by those of integers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt

from dipc.verifier import reading as read
from dipc.verifier.reading import NotDerived, Rejected
from dipc.verifier.signs import exp_minus, growth_bits
from dipc.verifier.syntax import Apply, Expr, Literal, nodes

_ZERO, _ONE = Fraction(0), Fraction(1)

#: The greatest exponent, the greatest power of e, and the deepest nesting of numbers.
MOST_POWER, MOST_EXPONENT, DEEPEST = 100, 2_000, 3

#: The greatest n with which log(r^n) is written as n*log(r).
_MOST_EXPONENT_OF_LOG = 1_000
_PRIMES = [p for p in range(2, _MOST_EXPONENT_OF_LOG) if all(p % n for n in range(2, isqrt(p) + 1))]

#: The most factors of a number, and the most bits of a rational.
MOST_FACTORS, MOST_BITS = 4, 4_096

#: The bits computed in addition to those asked for.
_GUARD = 32

Ends = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True, order=True)
class Power:
    """A power of the positive number `argument`, or of its logarithm or exponential.

    `function` is log, exp or root. If it is root, this is a power of `argument` itself, which is then a rational
    number. The argument of a logarithm is above 1.
    """

    function: str
    argument: Number
    exponent: Fraction

    def ends(self, bits: int) -> Ends:
        """Return rationals below and above the power, with a relative distance of approximately 2^-`bits`.

        Raises NotDerived if the power is too large or too small.
        """
        low, high = self.argument.ends(bits + _GUARD)
        if self.function == "exp":
            low, high = sorted((low * self.exponent, high * self.exponent))
            return exponential_around(low, high, bits)
        if self.function == "log":
            low, high = _logarithm(low, bits + _GUARD)[0], _logarithm(high, bits + _GUARD)[1]
        if low <= 0:
            raise NotDerived("a number is too close to 0")
        times = abs(self.exponent.numerator)
        low, high = _rounded(low, bits + _GUARD)[0] ** times, _rounded(high, bits + _GUARD)[1] ** times
        for _ in range(self.exponent.denominator.bit_length() - 1):
            low, high = root_around(low, bits + _GUARD)[0], root_around(high, bits + _GUARD)[1]
        return (low, high) if self.exponent > 0 else (1 / high, 1 / low)


@dataclass(frozen=True, slots=True, order=True)
class Number:
    """A rational times powers of different numbers, in sorted order."""

    factor: Fraction
    powers: tuple[Power, ...] = ()

    def __mul__(self, other: Number) -> Number:
        factor = self.factor * other.factor
        exponents: dict[tuple[str, Number], Fraction] = {}
        for each in (*self.powers, *other.powers) if factor else ():
            key = each.function, each.argument
            exponents[key] = exponents.get(key, _ZERO) + each.exponent
        powers = []
        for (function, argument), exponent in exponents.items():
            if function != "exp" and (abs(exponent) > MOST_POWER or 128 % exponent.denominator):
                raise NotDerived(
                    "a constant contains a power that is too high, or a root other than repeated square roots"
                )
            if function == "root" and exponent.denominator == 1:
                factor *= argument.factor ** int(exponent)
            elif exponent:
                powers.append(Power(function, argument, exponent))
        return Number(factor, tuple(sorted(powers)))

    @property
    def inverse(self) -> Number:
        """The reciprocal of this number. Raises NotDerived for 0."""
        if not self.factor:
            raise NotDerived("a constant divides by 0")
        return Number(1 / self.factor, tuple(Power(p.function, p.argument, -p.exponent) for p in self.powers))

    @property
    def root(self) -> Number:
        """The square root of this number. Raises NotDerived for a negative number."""
        if self.factor < 0:
            raise NotDerived("a root is taken of a negative number")
        above, below = isqrt(self.factor.numerator), isqrt(self.factor.denominator)
        halved = tuple(Power(p.function, p.argument, p.exponent / 2) for p in self.powers)
        if Fraction(above, below) ** 2 == self.factor:
            return Number(Fraction(above, below), halved)
        return Number(_ONE, halved) * Number(_ONE, (Power("root", Number(self.factor), Fraction(1, 2)),))

    @property
    def logarithm(self) -> Number:
        """The logarithm of this number. Raises NotDerived for numbers <= 0, and for numbers too near to 1."""
        if self.factor <= 0:
            raise NotDerived("a logarithm is taken of a number that is not positive")
        if self == UNIT:
            return Number(_ZERO)
        low, high = self.ends(_GUARD)
        if low <= 1 <= high:
            raise NotDerived("a logarithm is too close to 0")
        if high < 1:
            return Number(-_ONE) * self.inverse.logarithm
        exponent, base = (1, self) if self.powers else _perfect_power(self.factor)
        return Number(Fraction(exponent), (Power("log", base, _ONE),))

    @property
    def exponential(self) -> Number:
        """e to the power of this number."""
        base, exponent = (self, _ONE) if self.powers else (UNIT, self.factor)
        return Number(_ONE, (Power("exp", base, exponent),) if exponent else ())

    def ends(self, bits: int) -> Ends:
        """Return rationals below and above the number, with a relative distance of approximately 2^-`bits`.

        Raises NotDerived if the number is too large or too small.
        """
        return _ends(self, bits)


UNIT = Number(_ONE)


def _perfect_power(value: Fraction) -> tuple[int, Number]:
    """Return (n, r) with r^n = `value` > 1 and n <= 1000 as great as possible.

    The logarithm of `value` is n·log(r), and powers of one number have the same r.
    """
    base, whole = value, 1
    for prime in _PRIMES:
        # An integer of b bits other than 1 has no root with an exponent of b or more.
        while prime < base.numerator.bit_length() and (root := exact_root(base, prime)) is not None:
            base, whole = root, whole * prime
    exponent = max(n for n in range(1, min(whole, _MOST_EXPONENT_OF_LOG) + 1) if whole % n == 0)
    return exponent, Number(base ** (whole // exponent))


def exact_root(value: Fraction, exponent: int) -> Fraction | None:
    """Return the rational root of `value` > 0 of degree `exponent`, or None if there is none."""
    above = _whole_root(value.numerator, exponent)
    if above**exponent != value.numerator:
        return None
    below = _whole_root(value.denominator, exponent)
    return Fraction(above, below) if below**exponent == value.denominator else None


def _whole_root(number: int, exponent: int) -> int:
    """Return the greatest integer whose power with `exponent` is at most `number` > 0."""
    root = 1 << -(-number.bit_length() // exponent)
    while root**exponent > number:
        root = ((exponent - 1) * root + number // root ** (exponent - 1)) // exponent
    return root


@lru_cache(maxsize=1_000)
def _ends(number: Number, bits: int) -> Ends:
    low = high = abs(number.factor)
    for each in number.powers:
        least, most = each.ends(bits + _GUARD)
        low, high = _rounded(low * least, bits + _GUARD)[0], _rounded(high * most, bits + _GUARD)[1]
    return (low, high) if number.factor >= 0 else (-high, -low)


def _rounded(x: Fraction, bits: int) -> Ends:
    """Return numbers of approximately `bits` bits below and above the positive number `x`."""
    shift = bits - x.numerator.bit_length() + x.denominator.bit_length()
    unit = Fraction(2) ** -shift
    whole = x // unit
    return whole * unit, (whole + 1) * unit if whole * unit < x else x


def root_around(x: Fraction, bits: int) -> Ends:
    """Return rationals below and above √`x` for `x` > 0, with a relative distance of approximately 2^-`bits`."""
    shift = bits + max(0, x.denominator.bit_length() - x.numerator.bit_length())
    whole = isqrt((x.numerator << 2 * shift) // x.denominator)
    return Fraction(whole, 1 << shift), Fraction(whole + 1, 1 << shift)


def exponential_around(low: Fraction, high: Fraction, bits: int) -> Ends:
    """Return a rational below e^`low` and one above e^`high`, rounded to `bits` bits.

    Raises NotDerived for too large exponents.
    """
    if max(abs(low), abs(high)) > MOST_EXPONENT:
        raise NotDerived("e is raised to too great a power")
    work = bits + 2 * growth_bits(max(abs(low), abs(high)))
    first, last = (exp_minus(abs(x), work) for x in (low, high))
    one = 1 << work
    least = Fraction(first[0], one) if low < 0 else Fraction(one, first[1])
    most = Fraction(last[1], one) if high < 0 else Fraction(one, last[0])
    return _rounded(least, bits)[0], _rounded(most, bits)[1]


def _logarithm(x: Fraction, bits: int) -> Ends:
    """Return rationals around log `x`, to approximately `bits` bits, for `x` >= 1.

    With x = 2^k·y and 1 <= y < 2, log y is 2·artanh((y - 1)/(y + 1)).
    """
    twos = x.numerator.bit_length() - x.denominator.bit_length()
    if Fraction(2) ** twos > x:
        twos -= 1
    if twos < 0:
        raise NotDerived("a logarithm must be of a number of at least 1")
    y = x / 2**twos
    (low, high), (least, most) = (_twice_artanh(z, bits + 16) for z in ((y - 1) / (y + 1), Fraction(1, 3)))
    return low + twos * least, high + twos * most


def _twice_artanh(z: Fraction, bits: int) -> Ends:
    """Return rationals around 2·artanh(`z`) = 2·Σ z^(2n+1)/(2n+1), to approximately `bits` bits, for 0 <= z <= 1/3.

    The rest of the series is less than its last term.
    """
    low = term = (z.numerator << bits) // z.denominator
    square, n = (z * z).numerator, 1
    below = (z * z).denominator
    count = 1
    while term:
        term = term * square // below
        n += 2
        low += term // n
        count += 2
    return Fraction(2 * low, 1 << bits), Fraction(2 * (low + count + 1), 1 << bits)


# === expressions ===============================================================================

#: The functions with irrational values.
FUNCTIONS = ("sqrt", "log", "exp")

#: The number c, and the exponents of the variables.
Monomial = tuple[Number, tuple[Fraction, ...]]


def is_irrational(tree: Expr) -> bool:
    """True if the expression `tree` contains a square root, a logarithm or an exponential."""
    return any(isinstance(node, Apply) and node.op in FUNCTIONS for node in nodes(tree))


def monomial(tree: Expr, plain: Callable[[Expr], tuple[Fraction, tuple[int, ...]]]) -> Monomial:
    """Return (c, exponents of the variables) for the expression `tree`, which is c times powers of the variables.

    c may be irrational. `plain` returns c and the exponents for an expression without square roots, logarithms and
    exponentials. Raises NotDerived if such functions are added or compared.
    """
    if not is_irrational(tree):
        c, degrees = plain(tree)
        return Number(c), tuple(map(Fraction, degrees))
    match tree:
        case Apply("sqrt", (inner,)):
            number, exponents = monomial(inner, plain)
            return number.root, tuple(each / 2 for each in exponents)
        case Apply("log" | "exp" as op, (inner,)):
            number, exponents = monomial(inner, plain)
            if any(exponents):
                raise NotDerived(f"the argument of `{op}` is not a constant")
            return (number.logarithm if op == "log" else number.exponential), exponents
        case Apply("neg", (inner,)):
            number, exponents = monomial(inner, plain)
            return Number(-_ONE) * number, exponents
        case Apply("^", (inner, Literal(Fraction() as power))) if 0 < power <= MOST_POWER:
            number, exponents = monomial(inner, plain)
            result = UNIT
            for _ in range(int(power)):
                result = result * number
            return result, tuple(each * int(power) for each in exponents)
        case Apply("*" | "/" as op, (left, right)):
            (number, exponents), (other, others) = monomial(left, plain), monomial(right, plain)
            if op == "*":
                return number * other, tuple(a + b for a, b in zip(exponents, others, strict=True))
            return number * other.inverse, tuple(a - b for a, b in zip(exponents, others, strict=True))
        case _:
            raise NotDerived("irrational numbers are added, or compared")


# === as they are written =======================================================================


def read_number(value: object, depth: int = 0) -> Number:
    """Read a positive number from its JSON `value`, in its canonical form. Raises Rejected for anything else.

    `depth` says in how many other numbers this number is nested; at most DEEPEST is allowed.
    """
    if depth > DEEPEST:
        raise Rejected("the expression of a constant is nested too deeply")
    stated = read.tuple_of(read.one_of("exp", "log", "root"), read.anything, read.rational)
    factor, powers = read.tuple_of(read.rational, read.listed(stated, MOST_FACTORS))(value)
    if max(factor.numerator.bit_length(), factor.denominator.bit_length()) > MOST_BITS:
        raise Rejected("a constant has too many digits")
    result, stated_powers = Number(factor), []
    for function, argument, exponent in powers:
        inner = read_number(argument, depth + 1)
        if function == "root" and inner.powers:
            raise Rejected("a root must be of a rational number")
        try:
            if function == "log" and inner.ends(_GUARD)[0] <= 1:
                raise Rejected("a logarithm must be of a number above 1")
            stated_powers.append(Power(function, inner, exponent))
            result = result * Number(_ONE, (stated_powers[-1],))
            result.ends(_GUARD)
        except NotDerived as error:
            raise Rejected(error.why) from None
    if factor <= 0 or result != Number(factor, tuple(stated_powers)):
        raise Rejected("a number is not positive, or not in its canonical form")
    return result
