"""The ring of exponential polynomials: f(eps) = Σ c·eps^k·e^{q·eps} with c, q rational and k >= 0.

All output probabilities of programs with continuous noise are elements of the ring (section 5.1 of the paper: they are
definable in Th_exp). Elements are kept as `y^low · P(x, y)` with x = eps, y = e^{eps/unit} and P in Q[x, y], a FLINT
polynomial, so that products and sums run at C speed. As functions of eps, the monomials eps^k·e^{q·eps} are linearly
independent over Q, so two elements are equal as functions exactly if their terms are equal.

The module has their quotients with positive denominators, too: `Closed` is an element of the ring or a quotient.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache
from math import gcd, lcm, prod
from operator import itemgetter
from typing import Any, ClassVar, TypeGuard

import flint
from flint.utils.flint_exceptions import DomainError

from dipc.above import above
from dipc.algebra.limits import LimitReached, Limits
from dipc.algebra.numbers import dyadic, exact_eps, exact_rational, to_fmpq, to_fraction
from dipc.deprecated import former_method
from dipc.frozen import frozen

_CONTEXT = flint.fmpq_mpoly_ctx.get(("x", "y"), flint.Ordering.lex)

#: Common divisors are not computed where both functions have a higher degree than this.
_MOST_DEGREE = 2_000_000

#: Nor where one has a higher degree than this and the other depends on e^eps: the quotient may be dense.
_MOST_DENSE_DEGREE = 20_000_000

#: Two functions of a higher degree than the first over their common unit, and with more than the second times as many
#: powers of y as terms, are sparse: by a common divisor such as 1 - y they would become long.
_SPARSE_DEGREE, _SPARSE_GAPS = 64, 8

#: The number of terms of the series of a quotient that its hash depends on.
_HASHED = 4

#: One term c·eps^k·e^{q·eps} as (k, q, c).
Term = tuple[int, Fraction, Fraction]


@lru_cache(maxsize=1024)
def _power_of_y(exponent: int) -> flint.fmpq_mpoly:
    return _CONTEXT.from_dict({(0, exponent): flint.fmpq(1)})


class ExpPoly:
    """An exponential polynomial Σ c·eps^k·e^{q·eps} with rational c and q. Immutable; `==` is equality of functions.

    Arithmetic is exact. Exponential polynomials form a ring, here called the ring. Either operand of an operator may be
    an integer or a `Fraction`.

    A *unit* of exponential polynomials is an integer n >= 1 such that all exponents q are multiples of 1/n. The
    docstrings of this class write f for the function itself.
    """

    __slots__ = ("_canonical", "_hash", "_low", "_poly", "_unit")

    ZERO: ClassVar[ExpPoly]
    ONE: ClassVar[ExpPoly]

    def __init__(self, poly: flint.fmpq_mpoly, low: int = 0, unit: int = 1, *, canonical: bool = False) -> None:
        """Create y^`low` · `poly`(x, y) with x = eps, y = e^{eps/`unit`} and `unit` >= 1.

        Other classes use `term` and the methods whose names begin with `from`. `canonical` asserts that `unit` is the
        least possible one and that some term of `poly` has the power y^0.
        """
        self._poly = poly
        self._low = low
        self._unit = unit
        self._hash: int | None = None
        self._canonical = canonical

    # --- making -----------------------------------------------------------------------------------

    @classmethod
    def constant(cls, value: Fraction | int) -> ExpPoly:
        return cls(_CONTEXT.constant(to_fmpq(value)))

    @classmethod
    def term(cls, coefficient: Fraction | int, power: int = 0, exponent: Fraction | int = 0) -> ExpPoly:
        """The function `coefficient` · eps^`power` · e^{`exponent`·eps}."""
        unit = exponent.denominator
        return cls(_CONTEXT.from_dict({(power, 0): to_fmpq(coefficient)}), exponent.numerator, unit)

    @classmethod
    def from_terms(cls, terms: Iterable[tuple[int, Fraction | int, Fraction | int]]) -> ExpPoly:
        """The sum Σ c·eps^k·e^{q·eps} over the triples (k, q, c) of `terms`; triples with equal (k, q) are added up."""
        triples = list(terms)
        unit = lcm(*(q.denominator for _, q, _ in triples))
        collected: dict[tuple[int, int], flint.fmpq] = {}
        for k, q, c in triples:
            key = (k, q.numerator * (unit // q.denominator))
            collected[key] = collected.get(key, 0) + to_fmpq(c)
        return cls.from_integer_exponents(collected, unit)

    @classmethod
    def from_integer_exponents(
        cls, collected: Mapping[tuple[int, int], flint.fmpq], unit: int = 1, *, canonical: bool = False
    ) -> ExpPoly:
        """The sum Σ c·eps^k·e^{(j/`unit`)·eps}, where `collected` maps (k, j) to c and j is an integer of any sign.

        `canonical` asserts that `unit` is the least possible one.
        """
        terms = {exponents: c for exponents, c in collected.items() if c != 0}
        low = min((j for _, j in terms), default=0)
        # Over a common denominator, because FLINT would otherwise rewrite all terms for each new denominator.
        whole = lcm(*{int(c.q) for c in terms.values()})
        poly = _CONTEXT.from_dict({(k, j - low): int(c.p) * (whole // int(c.q)) for (k, j), c in terms.items()})
        return cls(poly if whole == 1 else poly * flint.fmpq(1, whole), low, unit, canonical=canonical)

    def __reduce__(self) -> tuple[Any, ...]:
        self._reduce()
        unit, terms = self.integer_terms()
        return _from_integers, (unit, [(k, j, int(c.p), int(c.q)) for k, j, c in terms])

    # --- looking ----------------------------------------------------------------------------------

    def is_zero(self) -> bool:
        """True if this is the zero function."""
        return bool(self._poly.is_zero())

    def terms(self) -> list[Term]:
        """The triples (k, q, c) of the terms c·eps^k·e^{q·eps}, sorted by (k, q).

        Every c is nonzero, and no (k, q) occurs twice.
        """
        unit, terms = self.integer_terms()
        return [(k, Fraction(j, unit), to_fraction(c)) for k, j, c in sorted(terms, key=itemgetter(0, 1))]

    def integer_terms(self) -> tuple[int, list[tuple[int, int, Any]]]:
        """Return a unit n, and the triples (k, j, c) of the terms c·eps^k·e^{(j/n)·eps}, in no particular order.

        Each j is an integer of any sign, and each c an fmpq, a rational number of FLINT.
        """
        return self._unit, [(int(k), int(j) + self._low, c) for (k, j), c in self._poly.terms()]

    def __len__(self) -> int:
        return len(self._poly)

    def degree(self) -> int:
        """The difference of the greatest and the least exponent, in multiples of 1/`unit`."""
        return int(self._poly.degrees()[1])

    def coefficient_bits(self) -> int:
        """An upper bound of the number of bits of each numerator, over the common denominator of all coefficients."""
        coefficients = self._poly.coeffs()
        whole = lcm(*{int(c.q) for c in coefficients})
        return whole.bit_length() + max((int(c.p).bit_length() for c in coefficients), default=0)

    def content(self) -> tuple[int, int]:
        """Return the least common denominator d of all coefficients c, and the greatest common divisor of all d·c."""
        coefficients = [(int(c.p), int(c.q)) for c in self._poly.coeffs()]
        whole = lcm(*[below for _, below in coefficients])
        return whole, gcd(*[numerator * (whole // below) for numerator, below in coefficients])

    def __repr__(self) -> str:
        return f"ExpPoly({self})"

    def __str__(self) -> str:
        texts = [f"({c})*eps^{k}*exp({q}*eps)" for k, q, c in self.terms()]
        return " + ".join(texts) or "0"

    def _reduce(self) -> None:
        """Write the function y^`_low`·`_poly`(eps, y) with y = e^{eps/`_unit`} in its unique form.

        In this form `_unit` is as small as possible, and some term of `_poly` has the power y^0.
        """
        if self._canonical:
            return
        if self._poly.is_zero():
            self._low, self._unit = 0, 1
        else:
            exponents = [int(j) for _, j in self._poly.monoms()]
            least = min(exponents)
            self._low += least
            common = gcd(self._unit, self._low, *(j - least for j in exponents)) if self._unit > 1 else 1
            if least or common > 1:
                self._poly = _CONTEXT.from_dict(
                    {(k, (int(j) - least) // common): c for (k, j), c in self._poly.terms()}
                )
                self._low //= common
                self._unit //= common
        self._canonical = True

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int | Fraction):
            other = ExpPoly.constant(other)
        if not isinstance(other, ExpPoly):
            return NotImplemented
        self._reduce()
        other._reduce()
        return bool(self._unit == other._unit and self._low == other._low and self._poly == other._poly)

    def __hash__(self) -> int:
        if self._hash is None:
            self._reduce()
            monomials = tuple(self._poly.monoms())
            coefficients = self._poly.coeffs()
            if self._low == 0 and monomials in ((), ((0, 0),)):
                # A constant is equal to a rational number, so it hashes like one.
                self._hash = hash(to_fraction(coefficients[0]) if coefficients else 0)
            else:
                ends = tuple(coefficients[:1] + coefficients[-1:])
                self._hash = hash((self._unit, self._low, monomials, ends))
        return self._hash

    def product_box(self, other: ExpPoly) -> int:
        """An upper bound of the number of terms of the product with `other`.

        With y = e^{eps/n} for a common unit n, the product is a polynomial in eps and y, up to a power of y. The bound
        is the number of pairs (power of eps, power of y) up to the degrees of this polynomial.
        """
        (left, _), (right, _), _ = self._aligned(other)
        return prod(int(m) + int(n) + 1 for m, n in zip(left.degrees(), right.degrees(), strict=True))

    # --- arithmetic -------------------------------------------------------------------------------

    def _aligned(self, other: ExpPoly) -> tuple[Any, Any, int]:
        """Write this function and `other` with one variable y = e^{eps/n}, and return ((P, k), (Q, j), n).

        This function is y^k·P and `other` is y^j·Q, where P and Q are polynomials in eps and y.
        """
        if self._unit == other._unit:
            return (self._poly, self._low), (other._poly, other._low), self._unit
        unit = lcm(self._unit, other._unit)
        return self._rescaled(unit), other._rescaled(unit), unit

    def _rescaled(self, unit: int) -> tuple[flint.fmpq_mpoly, int]:
        factor = unit // self._unit
        return (self._poly if factor == 1 else self._poly.inflate([1, factor])), self._low * factor

    def __add__(self, other: ExpPoly | Fraction | int) -> ExpPoly:
        if not isinstance(other, ExpPoly):
            if not isinstance(other, int | Fraction):
                return NotImplemented
            other = ExpPoly.constant(other)
        (left, low), (right, right_low), unit = self._aligned(other)
        if low < right_low:
            right = right * _power_of_y(right_low - low)
        elif right_low < low:
            left, low = left * _power_of_y(low - right_low), right_low
        return ExpPoly(left + right, low, unit)

    __radd__ = __add__

    def __neg__(self) -> ExpPoly:
        return ExpPoly(-self._poly, self._low, self._unit)

    def __sub__(self, other: ExpPoly | Fraction | int) -> ExpPoly:
        return self + (-other)

    def __rsub__(self, other: ExpPoly | Fraction | int) -> ExpPoly:
        return (-self) + other

    def __mul__(self, other: ExpPoly | Fraction | int) -> ExpPoly:
        if not isinstance(other, ExpPoly):
            if not isinstance(other, int | Fraction):
                return NotImplemented
            return ExpPoly(self._poly * to_fmpq(other), self._low, self._unit)
        (left, low), (right, right_low), unit = self._aligned(other)
        return ExpPoly(left * right, low + right_low, unit)

    __rmul__ = __mul__

    def __pow__(self, exponent: int) -> ExpPoly:
        if exponent < 0:
            raise ValueError("an exponential polynomial has no negative powers")
        return ExpPoly(self._poly**exponent, self._low * exponent, self._unit)

    def common_divisor(self, other: ExpPoly) -> ExpPoly:
        """A greatest common divisor of this function and `other`, up to a factor c·e^{q·eps} with c != 0.

        At most one of the two may be zero. Raises LimitReached if the degrees over the common unit are too high, since
        FLINT works on dense polynomials.
        """
        (left, _), (right, _), unit = self._aligned(other)
        check_degrees(int(left.degrees()[1]), int(right.degrees()[1]))
        if max(int(left.degrees()[1]), int(right.degrees()[1])) > _MOST_DENSE_DEGREE:
            # One of the two is a polynomial in eps alone. FLINT's gcd is 0 for some powers of 64 bits and more.
            parts: dict[int, dict[tuple[int, ...], flint.fmpq]] = {}
            for index, poly in enumerate((left, right)):
                for (k, j), c in poly.terms():
                    parts.setdefault(int(j) * 2 + index, {})[int(k), 0] = c
            divisor = _CONTEXT.from_dict({})
            for part in parts.values():
                divisor = divisor.gcd(_CONTEXT.from_dict(part))
            return ExpPoly(divisor, 0, 1)
        return ExpPoly(left.gcd(right), 0, unit)

    def coarse_divisor(self, other: ExpPoly) -> ExpPoly | None:
        """Return a common divisor of this function and `other` that is found quickly, or None.

        Both functions must be sparse (few terms for their degree) and have different least units m and n; otherwise the
        result is None. The divisor is the greatest one, up to a factor c·e^{q·eps}, among those whose exponents are
        multiples of both 1/m and 1/n.
        """
        if self.least_unit == other.least_unit:
            return None
        (left, _), (right, _), unit = self._aligned(other)
        degree = min(int(left.degrees()[1]), int(right.degrees()[1]))
        if degree <= max(_SPARSE_DEGREE, _SPARSE_GAPS * (len(left) + len(right))):
            return None
        shared = gcd(self._unit, other._unit)
        # Σ y^r·f_r(x, y^step) over r < step is a multiple of d(x, y^step) exactly if each f_r is one of d.
        step = unit // shared
        parts: dict[tuple[bool, int], dict[tuple[int, int], flint.fmpq]] = {}
        for is_left, poly in ((True, left), (False, right)):
            for (k, j), c in poly.terms():
                parts.setdefault((is_left, int(j) % step), {})[int(k), int(j) // step] = c
        divisor: ExpPoly | None = None
        for part in parts.values():
            own = ExpPoly.from_integer_exponents(part, shared)
            divisor = own if divisor is None else own.common_divisor(divisor)
        return divisor

    @property
    def least_unit(self) -> int:
        """The least n >= 1 such that all exponents are multiples of 1/n."""
        self._reduce()
        return self._unit

    @property
    def unit(self) -> int:
        """An n >= 1 such that all exponents are multiples of 1/n, not necessarily the least one."""
        return self._unit

    @property
    def span(self) -> Fraction:
        """The difference of the largest and the least exponent; 0 for the zero function."""
        return Fraction(max(0, int(self._poly.degrees()[1])) - self._least_power(), self._unit)

    def bulk(self, unit: int) -> int:
        """The size of this function as a polynomial in eps and e^(eps/`unit`).

        The parameter `unit` is a multiple of the property of this name. The size is the product of the two degrees,
        each plus 1, and of the number of machine words of a coefficient. The work of finding common divisors grows
        approximately in proportion to the size.
        """
        if self._poly.is_zero():
            return 0
        k, j = self._poly.degrees()
        first = self._poly.coefficient(0)
        words = 1 + (int(first.p).bit_length() + int(first.q).bit_length()) // 64
        return (1 + int(k)) * (1 + (int(j) - self._least_power()) * (unit // self._unit)) * words

    def _least_power(self) -> int:
        """The least power of y = e^{eps/unit} in the stored polynomial `_poly`; 0 for the zero polynomial.

        It is 0 after `_reduce`, and may be positive before.
        """
        if self._canonical or self._poly.is_zero():
            return 0
        if self._poly.degrees()[0] == 0:  # the order is lexicographic, so the last term has the least power of y
            return int(self._poly.monomial(len(self._poly) - 1)[1])
        return min(int(j) for _, j in self._poly.monoms())

    def is_unit(self) -> bool:
        """True if the function is c·e^{q·eps} with c != 0: exactly then its inverse is an exponential polynomial."""
        return len(self._poly) == 1 and int(self._poly.monoms()[0][0]) == 0

    def lowest(self) -> tuple[Fraction, Fraction]:
        """Return the exponent q and the coefficient c of the term c·eps^k·e^{q·eps} with the least (q, k).

        The function must not be zero.
        """
        last = len(self._poly) - 1
        if self._poly.degrees()[0] == 0:  # the order is lexicographic
            position, j = last, self._poly.monomial(last)[1]
        else:
            (j, _), position = min(((j, k), index) for index, (k, j) in enumerate(self._poly.monoms()))
        return Fraction(int(j) + self._low, self._unit), to_fraction(self._poly.coefficient(position))

    def ends(self) -> tuple[Term, Term]:
        """Return the terms c·eps^k·e^{q·eps} with the least and the greatest (q, k), each as (k, q, c).

        The function must not be zero.
        """
        unit, terms = self.integer_terms()
        found = [choose(terms, key=itemgetter(1, 0)) for choose in (min, max)]
        (start, end) = [(k, Fraction(j, unit), to_fraction(c)) for k, j, c in found]
        return start, end

    def exact_quotient(self, divisor: ExpPoly) -> ExpPoly:
        """The exponential polynomial g with f = g·`divisor`. Raises ArithmeticError if no such g exists."""
        (left, low), (right, right_low), unit = self._aligned(divisor)
        least = divisor._least_power() * (unit // divisor._unit)
        if least:
            # y^least divides every power of y but not every polynomial in y: take it out first.
            right, right_low = right / _power_of_y(least), right_low + least
        try:
            return ExpPoly(left / right, low - right_low, unit)
        except (DomainError, ZeroDivisionError) as error:
            raise ArithmeticError("the divisor does not divide") from error

    def scaled(self, factor: Fraction) -> ExpPoly:
        """The function eps -> f(`factor`·eps), for `factor` > 0."""
        assert factor > 0
        p, q = factor.numerator, factor.denominator
        unit, low = self._unit * q, self._low * p
        poly = self._poly.inflate([1, p]) if p != 1 else self._poly
        if factor != 1 and poly.degrees()[0] > 0:
            powers = to_fmpq(factor)
            stretched = {(int(k), int(j) + low): c * powers ** int(k) for (k, j), c in poly.terms()}
            return ExpPoly.from_integer_exponents(stretched, unit)
        return ExpPoly(poly, low, unit)

    def derivative(self) -> ExpPoly:
        """The derivative df/deps."""
        by_x = self._poly.derivative("x")
        by_y = self._poly.derivative("y") * _CONTEXT.gen(1) + self._poly * flint.fmpq(self._low)
        return ExpPoly(by_x + by_y * flint.fmpq(1, self._unit), self._low, self._unit)

    # --- values -----------------------------------------------------------------------------------

    def value_is_zero(self, eps: Fraction) -> bool:
        """True if f(`eps`) = 0, exactly, for a rational `eps`.

        For `eps` != 0 the number e^{eps/unit} is transcendental (Lindemann). Hence f(eps) = 0 only if the polynomial
        P(eps, y) in y vanishes identically, where f is y^low·P(eps, y) with y = e^{eps/unit}.
        """
        if eps == 0:
            return sum((c for k, _, c in self.terms() if k == 0), Fraction(0)) == 0
        by_exponent: dict[int, Fraction] = {}
        for (k, j), c in self._poly.terms():
            by_exponent[int(j)] = by_exponent.get(int(j), Fraction(0)) + to_fraction(c) * eps ** int(k)
        return not any(by_exponent.values())

    def sign_at_one(self) -> int:
        """The sign of f(1), which must not be 0."""
        coefficients = self._poly.coeffs()
        first = coefficients[0] > 0
        if all((c > 0) == first for c in coefficients):
            return 1 if first else -1
        unit, terms = self.integer_terms()
        precision = 64
        while True:
            with flint.ctx.workprec(precision):
                ball = _ball_value(unit, terms, Fraction(1))
                if ball > 0:
                    return 1
                if ball < 0:
                    return -1
            precision *= 2

    def enclosure(self, eps: Fraction, digits: int = 30) -> tuple[Fraction, Fraction]:
        """Rationals lo <= f(`eps`) <= hi with hi - lo <= 10^-`digits`·max(|lo|, |hi|).

        lo = hi for a polynomial in eps and where f(eps) = 0. Raises LimitReached if a bound is too large or too small
        to be written out.
        """
        if self.value_is_zero(eps):
            return Fraction(0), Fraction(0)
        unit, terms = self.integer_terms()
        if not any(j for _, j, _ in terms):
            exact = sum((to_fraction(c) * eps**k for k, _, c in terms), Fraction(0))
            return exact, exact
        precision = 64 + 4 * digits
        while True:
            with flint.ctx.workprec(precision):
                ball = _ball_value(unit, terms, eps)
                if 3 * ball.rel_accuracy_bits() > 10 * digits + 6:
                    return dyadic(ball.lower()), dyadic(ball.upper())
            precision *= 2


ExpPoly.ZERO = ExpPoly(_CONTEXT.constant(0))
ExpPoly.ONE = ExpPoly(_CONTEXT.constant(1))


def sum_of(values: Sequence[ExpPoly]) -> ExpPoly:
    """Return the sum of `values`, by adding sums of the two halves; this is fast for long functions of one unit."""
    if len(values) < 2:
        return values[0] if values else ExpPoly.ZERO
    middle = len(values) // 2
    return sum_of(values[:middle]) + sum_of(values[middle:])


def check_degrees(one: int, other: int) -> None:
    """Raise LimitReached if functions of the degrees `one` and `other` are too large for finding a common divisor.

    Both degrees are in multiples of 1/n for one unit n of the two functions.
    """
    degree, larger = sorted((one, other))
    if degree > _MOST_DEGREE or (degree and larger > _MOST_DENSE_DEGREE):
        raise LimitReached(
            None, f"the closed form needs a common divisor of functions of degree {larger}, which is too high"
        )


def _from_integers(unit: int, terms: Iterable[tuple[int, int, int, int]]) -> ExpPoly:
    collected = {(k, j): flint.fmpq(p, q) for k, j, p, q in terms}
    return ExpPoly.from_integer_exponents(collected, unit, canonical=True)


def _ball_value(unit: int, terms: list[tuple[int, int, Any]], eps: Fraction) -> flint.arb:
    """A ball around Σ c·`eps`^k·e^{(j/`unit`)·`eps`} over the (k, j, c) of `terms`, at FLINT's current precision."""
    point = flint.arb(to_fmpq(eps))
    total = flint.arb(0)
    for k, j, c in terms:
        factor = flint.arb(to_fmpq(eps * Fraction(j, unit))).exp() if j else flint.arb(1)
        total += flint.arb(c) * point**k * factor
    return total


# --- Quotients of exponential polynomials with positive denominators --------------------------------------------------
#
# Discrete noise, the exponential mechanism, `choose` and loops lead out of the ring, into its field of fractions, but
# only over denominators that are positive for every eps > 0. So the sign of a quotient is that of its numerator.


class Quotient:
    """An immutable quotient of exponential polynomials, whose `denominator` is positive for every eps > 0.

    The quotient is in lowest terms unless that would make it long: see `ExpPoly.coarse_divisor`. `==` is equality of
    functions. Either operand of an operator may be an integer, a fraction or an `ExpPoly`.
    """

    __slots__ = ("denominator", "known_hash", "numerator")

    def __init__(self, numerator: ExpPoly, denominator: ExpPoly) -> None:
        """Reduce `numerator`/`denominator`; the caller guarantees that `denominator` is positive for every eps > 0."""
        self.known_hash: int | None = None
        self.numerator, self.denominator = _normal(*_reduced(numerator, denominator))

    @classmethod
    def coprime(cls, numerator: ExpPoly, denominator: ExpPoly) -> Quotient:
        """The quotient of `numerator` and `denominator`, which the caller guarantees to have no common divisor.

        The caller also guarantees that `denominator` is positive for every eps > 0.
        """
        result = cls.__new__(cls)
        result.known_hash = None
        result.numerator, result.denominator = _normal(numerator, denominator)
        return result

    @classmethod
    def convert(cls, value: ExpPoly | Fraction | int | Quotient) -> Quotient:
        """Return `value` itself if it is a quotient, otherwise the quotient of `value` and 1."""
        if isinstance(value, Quotient):
            return value
        return cls.coprime(value if isinstance(value, ExpPoly) else ExpPoly.constant(value), ExpPoly.ONE)

    def is_zero(self) -> bool:
        """True if this is the zero function."""
        return self.numerator.is_zero()

    def in_ring(self) -> ExpPoly | None:
        """The quotient as an exponential polynomial, or None if it is not equal to one."""
        return self.numerator if self.denominator == 1 else None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Quotient | ExpPoly | Fraction | int):
            return NotImplemented
        other = Quotient.convert(other)
        if self.denominator == other.denominator:
            return self.numerator == other.numerator
        if not (self._may_reduce or other._may_reduce):
            return False
        return self.numerator * other.denominator == other.numerator * self.denominator

    def __hash__(self) -> int:
        if self.known_hash is None:
            if self.denominator == 1:
                self.known_hash = hash(self.numerator)
            elif self._may_reduce:
                self.known_hash = hash((self._ends, self._first_terms()))
            else:
                self.known_hash = hash((self.numerator, self.denominator))
        return self.known_hash

    @property
    def _may_reduce(self) -> bool:
        units = self.numerator.least_unit, self.denominator.least_unit
        return units[0] != units[1] or self.denominator.degree() > _SPARSE_DEGREE

    @property
    def _ends(self) -> tuple[object, ...]:
        """Two quotients of terms, which are equal for equal functions.

        The terms c·eps^k·e^{q·eps} are ordered by (q, k). The first quotient is the least term of the numerator over
        the least of the denominator, the second is the greatest over the greatest. Each is (power of eps, exponent,
        coefficient). Dividing numerator and denominator by a common divisor changes neither.
        """
        (start, end), (first, last) = (each.ends() for each in (self.numerator, self.denominator))
        return tuple([(k - m, q - r, c / d) for (k, q, c), (m, r, d) in ((start, first), (end, last))])

    def _first_terms(self) -> tuple[object, ...]:
        """The first few terms (q, k, c) of the quotient as a series of c·eps^k·e^{q·eps}, by increasing (q, k).

        It is the iterated Laurent series in e^eps and eps. The series is unique, so that the terms do not depend on
        common divisors of numerator and denominator.
        """
        unit, terms = self.denominator.integer_terms()
        own_unit, rest = self.numerator.integer_terms()
        common = lcm(unit, own_unit)
        (j, k, c), *others = sorted([(j * (common // unit), k, c) for k, j, c in terms], key=itemgetter(0, 1))
        left = {(i * (common // own_unit), n): d for n, i, d in rest}
        result: list[object] = []
        while left and len(result) < _HASHED:
            i, n = min(left)
            d = left.pop((i, n)) / c
            result.append((Fraction(i - j, common), n - k, to_fraction(d)))
            for more, power, factor in others:
                place = i - j + more, n - k + power
                value = left.pop(place, 0) - d * factor
                if value != 0:
                    left[place] = value
        return tuple(result)

    def __repr__(self) -> str:
        return f"Quotient(({self.numerator}) / ({self.denominator}))"

    def __add__(self, other: Quotient | ExpPoly | Fraction | int) -> Quotient:
        other = Quotient.convert(other)
        if self.denominator == other.denominator:
            return Quotient(self.numerator + other.numerator, self.denominator)
        # Only the common divisor of the denominators can share a divisor with the sum's numerator (Henrici 1956).
        shared = positive_divisor(self.denominator, other.denominator)
        if shared is None:
            above = self.numerator * other.denominator + other.numerator * self.denominator
            return Quotient.coprime(above, self.denominator * other.denominator)
        left, right = self.denominator.exact_quotient(shared), other.denominator.exact_quotient(shared)
        above, shared = _reduced(self.numerator * right + other.numerator * left, shared)
        return Quotient.coprime(above, left * right * shared)

    __radd__ = __add__

    def __neg__(self) -> Quotient:
        return Quotient.coprime(-self.numerator, self.denominator)

    def __sub__(self, other: Quotient | ExpPoly | Fraction | int) -> Quotient:
        return self + (-other)

    def __rsub__(self, other: Quotient | ExpPoly | Fraction | int) -> Quotient:
        return (-self) + other

    def __mul__(self, other: Quotient | ExpPoly | Fraction | int) -> Quotient:
        other = Quotient.convert(other)
        above, below = _reduced(self.numerator, other.denominator)
        more, under = _reduced(other.numerator, self.denominator)
        return Quotient.coprime(above * more, below * under)

    __rmul__ = __mul__

    def divide_by_positive(self, divisor: Quotient) -> Quotient:
        """The quotient of this function and `divisor`, which the caller guarantees to be positive for every eps > 0."""
        above, below = _reduced(self.numerator, divisor.numerator)
        more, under = _reduced(divisor.denominator, self.denominator)
        return Quotient.coprime(above * more, below * under)

    def scaled(self, factor: Fraction) -> Quotient:
        """The function eps -> f(`factor`·eps) for this function f and `factor` > 0."""
        # Polynomials without a common divisor in Q[x, y] have none in Q[x, y^(1/n)] either.
        return Quotient.coprime(self.numerator.scaled(factor), self.denominator.scaled(factor))

    def enclosure(self, eps: Fraction, digits: int = 30) -> tuple[Fraction, Fraction]:
        """Rationals lo <= f(`eps`) <= hi for this function f and `eps` > 0.

        hi - lo is at most 10^-`digits` times the larger of |lo| and |hi|.
        """
        low, high = self.numerator.enclosure(eps, digits + 1)
        under, over = self.denominator.enclosure(eps, digits + 1)
        corners = [low / under, low / over, high / under, high / over]
        return min(corners), max(corners)


def _normal(numerator: ExpPoly, denominator: ExpPoly) -> tuple[ExpPoly, ExpPoly]:
    exponent, coefficient = denominator.lowest()
    if not exponent and abs(coefficient) == 1:
        return numerator, denominator
    unit = ExpPoly.term(1 / abs(coefficient), 0, -exponent)
    return numerator * unit, denominator * unit


def _reduced(numerator: ExpPoly, denominator: ExpPoly) -> tuple[ExpPoly, ExpPoly]:
    if numerator.is_zero():
        return numerator, ExpPoly.ONE
    divisor = positive_divisor(numerator, denominator)
    if divisor is None:
        return numerator, denominator
    return numerator.exact_quotient(divisor), denominator.exact_quotient(divisor)


def positive_divisor(value: ExpPoly, positive: ExpPoly) -> ExpPoly | None:
    """A greatest common divisor of `value` and `positive`; None if it is c·e^{q·eps}, which divides every function.

    The divisor is positive for every eps > 0 if `positive` is. For sparse functions of different units it may be a
    smaller common divisor: see `ExpPoly.coarse_divisor`.
    """
    divisor = value.coarse_divisor(positive)
    if divisor is None:
        divisor = value.common_divisor(positive)
    if divisor.is_unit():
        return None
    # A divisor of a function without positive zeros has no positive zero: its sign at 1 is its sign everywhere.
    return divisor if divisor.sign_at_one() > 0 else -divisor


#: A probability in closed form.
Closed = ExpPoly | Quotient


def fraction_of(value: Closed) -> tuple[ExpPoly, ExpPoly]:
    """Return the numerator and the denominator of `value`; the denominator is positive for every eps > 0."""
    return (value.numerator, value.denominator) if isinstance(value, Quotient) else (value, ExpPoly.ONE)


# --- Sums and products of many closed forms, in the ring where possible -----------------------------------------------

#: A product of at most this many factors is computed without an estimate beforehand.
_FEW = 4


def simplest(value: Closed) -> Closed:
    """The closed form `value`, as an exponential polynomial if it is equal to one."""
    if isinstance(value, Quotient):
        ring = value.in_ring()
        return value if ring is None else ring
    return value


def total(values: Iterable[Closed]) -> Closed:
    """The sum of `values`.

    Numerators over equal denominators are added first, since reducing a quotient is the most expensive step.
    """
    ring = ExpPoly.ZERO
    numerators: dict[ExpPoly, ExpPoly] = {}
    for value in values:
        if not isinstance(value, Quotient):
            ring = ring + value
        elif value.denominator in numerators:
            numerators[value.denominator] = numerators[value.denominator] + value.numerator
        else:
            numerators[value.denominator] = value.numerator
    result: Closed = ring
    for denominator, numerator in sorted(numerators.items(), key=lambda item: len(item[0])):
        result = result + Quotient(numerator, denominator)
    return simplest(result)


def product(values: Iterable[Closed]) -> Closed:
    """The product of `values`, 1 for none.

    Raises LimitReached if a common divisor of too high a degree is needed.
    """
    factors = list(values)
    check_product(factors)
    result: Closed = ExpPoly.ONE
    for factor in factors:
        result = result * factor
    return simplest(result)


def check_product(factors: Sequence[Closed]) -> None:
    """Raise LimitReached early if reducing the product of `factors` needs common divisors of too high a degree.

    A product that is refused would exceed the limits on degrees even if half of each degree canceled.
    """
    if len(factors) <= _FEW:
        return
    above = below = Fraction(0)
    unit = 1
    for factor in factors:
        more, under = fraction_of(factor)
        unit = lcm(unit, more.unit, under.unit)
        check_degrees(int(above * unit / 2), int(under.span * unit / 2))
        check_degrees(int(more.span * unit / 2), int(below * unit / 2))
        above, below = above + more.span, below + under.span


# --- The one SymPy symbol of the project, made on first use: importing SymPy takes a third of a second ----------------


@cache
def eps() -> Any:
    """Return the symbol `dipc.eps`, always the same object. `sympy.sympify("eps")` gives an equal symbol."""
    import sympy

    return sympy.Symbol("eps")


# --- Supremum ---------------------------------------------------------------------------------------------------------


@frozen
class Supremum:
    """The least upper bound (supremum) of a function on an interval, and where the function attains or approaches it.

    `low` <= supremum <= `high`. Both are None if the supremum is infinite, and equal if it is rational. `attained`
    tells whether the function has this value somewhere; None if that is not decided. `eps` encloses a place where the
    function attains or approaches the supremum: None for eps toward infinity, and (0, 0) for the limit at 0.
    """

    low: Fraction | None
    high: Fraction | None
    eps: tuple[Fraction, Fraction] | None
    attained: bool | None


# --- Closed forms: probabilities as objects for people, for SymPy and for exact evaluation ----------------------------


class ClosedForm:
    """A function of eps in closed form: an exponential polynomial, or a quotient of two with a positive denominator.

    An exponential polynomial is a sum Σ c·eps^k·exp(q·eps) with rational c and q. The denominator is positive for every
    eps > 0.

    Two closed forms are equal exactly if they are the same function; a constant closed form is equal to its number. `+
    - * /` with closed forms and exact numbers (int, Fraction, Decimal) give closed forms, exactly. `<` and `>` are not
    defined, since neither need hold for every eps: `at_least` decides such a question. `sympy.sympify` reads the text
    of `str()` back.

    If `only_at` is not None the form represents only its value at this eps: its text shows the value, and ValueError is
    raised for another eps.
    """

    __slots__ = ("_text", "only_at", "value")

    def __init__(self, value: Closed, only_at: Fraction | None = None, text: str | None = None) -> None:
        self.value = value
        self.only_at = only_at
        self._text = text

    @classmethod
    def convert(cls, value: ClosedForm | Fraction | int | Decimal) -> ClosedForm:
        """Return the closed form `value` itself, or the constant function `value`. Raises TypeError for floats."""
        if isinstance(value, ClosedForm):
            return value
        return cls(ExpPoly.constant(exact_rational(value, "the number")))

    def __str__(self) -> str:
        if self._text is None:
            numerator, denominator = self.numerator_and_denominator()
            if denominator is not None and self.only_at is not None and all(not q for _, q, _ in denominator.terms()):
                value = sum((c * self.only_at**k for k, _, c in denominator.terms()), Fraction(0))
                numerator, denominator = numerator * (1 / value), None
            self._text = sum_text(numerator, self.only_at)
            if denominator is not None:
                above = self._text if len(numerator) == 1 else f"({self._text})"
                self._text = f"{above}/{_divisor_text(denominator, self.only_at)}"
        return self._text

    def __repr__(self) -> str:
        return f"ClosedForm({self})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ClosedForm):
            return self.value == other.value and self.only_at == other.only_at
        if isinstance(other, int | Fraction | Decimal) and not isinstance(other, bool):
            return self.value == exact_rational(other, "the number")
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.value)  # a constant hashes like the number

    def restricted_to(self, only_at: Fraction | None) -> ClosedForm:
        """A copy of the closed form for its value at the eps `only_at` alone; the closed form itself for None."""
        return self if only_at is None else ClosedForm(self.value, only_at)

    def __neg__(self) -> ClosedForm:
        return ClosedForm(-self.value, self.only_at)

    def __add__(self, other: ClosedForm | Fraction | int | Decimal) -> ClosedForm:
        return self._combine(other, lambda one, two: one + two)

    __radd__ = __add__

    def __sub__(self, other: ClosedForm | Fraction | int | Decimal) -> ClosedForm:
        return self._combine(other, lambda one, two: one - two)

    def __rsub__(self, other: Fraction | int | Decimal) -> ClosedForm:
        return self._combine(other, lambda one, two: two - one)

    def __mul__(self, other: ClosedForm | Fraction | int | Decimal) -> ClosedForm:
        return self._combine(other, lambda one, two: one * two)

    __rmul__ = __mul__

    def __truediv__(self, other: ClosedForm | Fraction | int | Decimal) -> ClosedForm:
        """Divide by `other`. Raises ZeroDivisionError unless `other` is proved not to be 0 for any eps > 0."""
        if not _is_operand(other):
            return NotImplemented
        form: ClosedForm = above("closed form").divided(self, ClosedForm.convert(other))
        return form

    def __rtruediv__(self, other: Fraction | int | Decimal) -> ClosedForm:
        if not _is_operand(other):
            return NotImplemented
        form: ClosedForm = above("closed form").divided(ClosedForm.convert(other), self)
        return form

    def _combine(self, other: object, operation: Callable[[Closed, Closed], Closed]) -> ClosedForm:
        if not _is_operand(other):
            return NotImplemented  # type: ignore[no-any-return]
        form = ClosedForm.convert(other)
        return ClosedForm(simplest(operation(self.value, form.value)), self.shared_eps(form))

    def shared_eps(self, other: ClosedForm) -> Fraction | None:
        """The eps to which this form or `other` is restricted; None if neither is restricted.

        Raises ValueError if they are restricted to different eps.
        """
        if None not in (self.only_at, other.only_at) and self.only_at != other.only_at:
            raise ValueError(
                f"one closed form holds only at eps = {self.only_at}, the other only at eps = {other.only_at}"
            )
        return other.only_at if self.only_at is None else self.only_at

    def __bool__(self) -> bool:
        raise TypeError(
            "a closed form is a function of eps and has no truth value: compare it at an eps, with `.enclosure(…)`"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return ClosedForm, (self.value, self.only_at, self._text)

    def numerator_and_denominator(self) -> tuple[ExpPoly, ExpPoly | None]:
        """Return (numerator, denominator), where a denominator of 1 is returned as None.

        The coefficients of a quotient are coprime integers. The greatest exponent of the denominator is 0, so that it
        grows like a power of eps for large eps.
        """
        if not isinstance(self.value, Quotient):
            return self.value, None
        numerator, denominator = self.value.numerator, self.value.denominator
        if denominator == 1:
            return numerator, None
        whole, common, most = _content(denominator)
        own_whole, own_common = numerator.content()
        below = lcm(whole, own_whole)
        above = gcd(common * (below // whole), own_common * (below // own_whole))
        factor = Fraction(below, above)
        return numerator * ExpPoly.term(factor, 0, -most), _times_term(denominator, factor, -most)

    @property
    def exppoly(self) -> ExpPoly:
        """The function as an exponential polynomial. Raises ValueError if it is a quotient that is not equal to one."""
        numerator, denominator = self.numerator_and_denominator()
        if denominator is not None:
            raise ValueError("the closed form is a quotient, not an exponential polynomial: use `value`")
        return numerator

    @property
    def expr(self) -> Any:
        """The function as a SymPy expression in `dipc.eps` with exact rational numbers.

        If the closed form is restricted to the single eps `only_at`, the expression is its value there, a number.
        """
        numerator, denominator = self.numerator_and_denominator()
        point = self.only_at
        below = None if denominator is None else sympy_terms(denominator, point)
        return sympy_terms(numerator, point) if below is None else sympy_terms(numerator, point) / below

    def _sympy_(self) -> Any:
        return self.expr

    def enclosure(self, eps: Fraction | int | str, digits: int = 30) -> tuple[Fraction, Fraction]:
        """Rationals lo <= f(`eps`) <= hi for this function f and `eps` > 0.

        They agree to approximately `digits` digits.
        """
        point = exact_eps(eps)
        if self.only_at not in (None, point):
            raise ValueError(f"the closed form holds only at eps = {self.only_at}, not at {point}")
        return self.value.enclosure(point, digits)

    at = former_method("at", "enclosure")
    of = classmethod(former_method("of", "convert"))
    parts = former_method("parts", "numerator_and_denominator")

    def float(self, eps: Fraction | int | str) -> float:
        """The float nearest to the value at `eps` > 0, computed from a rigorous enclosure."""
        result: float = above("closed form").nearest_float(self, eps)
        return result

    def at_least(
        self, other: ClosedForm | Fraction | int | Decimal, eps: str | None = None, limits: Limits | None = None
    ) -> Any:
        """Decide whether the function is at least `other` for every eps in the intervals that `eps` lists.

        `eps` is a text such as "(0, 1]"; None is (0, inf). `limits` bound the work. The result's `.verdict` is
        `accurate` (proved), `inaccurate` (refuted at `.counterexample.eps`; `.failing` is the exact set of all eps that
        refute it) or `undecided` (past a limit, with a `.reason`). The result has no truth value, since it has three
        outcomes.
        """
        return above("closed form").at_least(self, ClosedForm.convert(other), eps, limits)

    def sign(self, eps: str | None = None, limits: Limits | None = None) -> tuple[Any, ...]:
        """The signs of the function on the intervals that `eps` lists, as maximal pieces from left to right.

        `eps` is a text such as "(0, 1]"; None is (0, inf). Each piece has a `.sign` (-1, 0 or 1), a `.start` and an
        `.end`. Both ends are given by rationals `.low` and `.high` around them, which are equal for an exact end; a
        `.high` of None is infinity. Raises LimitReached if the work exceeds `limits`.
        """
        result: tuple[Any, ...] = above("closed form").signs(self, eps, limits)
        return result

    def sup(self, eps: str | None = None, digits: int = 30, limits: Limits | None = None) -> Supremum:
        """The supremum of the function over the intervals that `eps` lists, enclosed to `digits` digits.

        `eps` is a text such as "(0, 1]"; None is (0, inf). The result has the place where the supremum is attained or
        approached. Raises LimitReached if the work exceeds `limits`.
        """
        supremum: Supremum = above("closed form").supremum(self, eps, digits, limits)
        return supremum

    def latex(self) -> str:
        r"""The function as mathematics in LaTeX, with eps as `\varepsilon`."""
        text: str = above("formula").latex(self)
        return text

    def _repr_html_(self) -> str:
        text: str = above("page").typeset(self)
        return text

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"


def _is_operand(value: object) -> TypeGuard[ClosedForm | Fraction | int | Decimal]:
    return isinstance(value, ClosedForm | int | Fraction | Decimal) and not isinstance(value, bool)


def sympy_terms(value: ExpPoly, at: Fraction | None = None) -> Any:
    """The function `value` as a SymPy expression in `dipc.eps` with exact numbers, or its value at eps = `at`.

    An `at` of None gives the expression.
    """
    import sympy

    def rational(number: Fraction) -> Any:
        return sympy.Rational(number.numerator, number.denominator)

    point = eps() if at is None else rational(at)
    terms = ordered_terms(value.terms())
    return sympy.Add(*(rational(c) * point**k * sympy.exp(rational(q) * point) for k, q, c in terms))


# Many probabilities share one denominator, so results about denominators are cached.


@lru_cache(maxsize=64)
def _content(denominator: ExpPoly) -> tuple[int, int, Fraction]:
    return *denominator.content(), max(q for _, q, _ in denominator.terms())


@lru_cache(maxsize=64)
def _times_term(denominator: ExpPoly, factor: Fraction, exponent: Fraction) -> ExpPoly:
    return denominator * denominator.term(factor, 0, exponent)


@lru_cache(maxsize=64)
def _divisor_text(denominator: ExpPoly, point: Fraction | None) -> str:
    text = sum_text(denominator, point)
    return text if re.fullmatch(r"eps(\*\*\d+)?", text) else f"({text})"


def ordered_terms(terms: Iterable[tuple[int, Fraction, Fraction]]) -> list[tuple[int, Fraction, Fraction]]:
    """The triples (k, q, c) of `terms` by decreasing q, then by decreasing k.

    The term c·eps^k·e^{q·eps} that dominates for large eps comes first.
    """
    return sorted(terms, key=lambda term: (-term[1], -term[0]))


def terms_at(terms: Iterable[tuple[int, Fraction, Fraction]], eps: Fraction) -> list[tuple[int, Fraction, Fraction]]:
    """Return the sum of `terms` at the point `eps`, without powers of eps.

    A term (k, q, c) is c·eps^k·e^{q·eps}. In the result each has k = 0, since c is multiplied by the number `eps`^k;
    terms with equal q are added up.
    """
    sums: dict[Fraction, Fraction] = {}
    for k, q, c in terms:
        sums[q] = sums.get(q, Fraction(0)) + c * eps**k
    return [(0, q, c) for q, c in sums.items() if c]


def sum_text(value: ExpPoly, point: Fraction | None = None) -> str:
    """The text of `value`, such as `1 - 2*exp(-eps/9)/3 + eps*exp(-2*eps/9)/4`, or of its number at `point`.

    The number at a point has a text such as `1 - 2*exp(-1/18)/3`. Both texts are exact, and `sympy.sympify` reads them.
    Expressions of claims may be written like the text without `point`.
    """
    if point is not None:
        at_point = ordered_terms(terms_at(value.terms(), point))
        return _join_terms((0, str(q * point) if q else "", c.numerator, c.denominator) for _, q, c in at_point)
    # Integers are used because fractions would take most of the time of a long sum.
    unit, terms = value.integer_terms()
    terms.sort(key=itemgetter(1, 0), reverse=True)
    return _join_terms((k, _exponent(j, unit), int(c.p), int(c.q)) for k, j, c in terms)


def _join_terms(terms: Iterable[tuple[int, str, int, int]]) -> str:
    """The text of the sum of `terms`, each given as (k, exponent, numerator, denominator).

    A term is (numerator/denominator)·eps^k·exp(exponent). exponent is a text; if it is empty, the factor exp is left
    out.
    """
    texts: list[str] = []
    for k, exponent, numerator, denominator in terms:
        if texts:
            texts.append(" - " if numerator < 0 else " + ")
        elif numerator < 0:
            texts.append("-")
        factors = [str(abs(numerator))] if abs(numerator) != 1 or not (k or exponent) else []
        if k:
            factors.append("eps" if k == 1 else f"eps**{k}")
        if exponent:
            factors.append(f"exp({exponent})")
        texts.append("*".join(factors) if denominator == 1 else f"{'*'.join(factors)}/{denominator}")
    return "".join(texts) or "0"


def _exponent(j: int, unit: int) -> str:
    if not j:
        return ""
    common = gcd(j, unit)
    times = "" if abs(j) == common else f"{abs(j) // common}*"
    over = "" if unit == common else f"/{unit // common}"
    return f"{'-' if j < 0 else ''}{times}eps{over}"
