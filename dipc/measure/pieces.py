"""Piecewise exponential polynomials of one variable: densities, products, tails, convolutions.

**Sizes.** The length of a closed form is estimated before it is expanded, from the sizes of its factors. Take all terms
c·eps^k·e^{q·eps}·X^n·e^{l·X} with the same l. A `Size` has only an upper bound of their number, the range of q, and the
greatest k + n. Terms with equal exponents add up, so there are at most as many terms as exponents in that range.

The estimate costs a small part of the expansion. It is close in two cases: each noise doubles the number of terms if
the means are generic, and there are only as many terms as multiples if the means are multiples of one number.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import comb, gcd, lcm, prod
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

import flint
from flint.utils.flint_exceptions import DomainError

from dipc.algebra.exppoly import ExpPoly, sum_of
from dipc.algebra.limits import Meter, weight
from dipc.algebra.numbers import to_fmpq
from dipc.frozen import frozen

# --- One-variable piecewise exponential polynomials, on the scale X = eps·x -------------------------------------------
#
# A piece is Σ c·eps^k·e^{q·eps}·X^n·e^{l·X} with integer q and l. A piecewise function has integer breakpoints b, at
# the points X = eps·b. On that scale a Laplace density of rate a and mean m is (a/2)·e^{-a|X - eps·m|}. The class is
# closed under products, antiderivatives, tail integrals and shifts by eps·c, without any division by eps. Breakpoints
# keep their order for every eps > 0, so one computation serves all eps.
#
# Polynomials are in x = eps, y = e^eps, X and Y = e^X; low powers are factored out, as exponents may be negative. The
# *ring* consists of the sums of c·eps^k·e^{q·eps}.

_CONTEXT = flint.fmpq_mpoly_ctx.get(("x", "y", "X", "Y"), flint.Ordering.lex)
_RING = flint.fmpq_mpoly_ctx.get(("x", "y"), flint.Ordering.lex)

#: Products and powers of at most this many terms are left to FLINT; larger ones are checked against limits first.
_MANY_TERMS = 10_000

#: The exponents (k, q, n, l) of a term c·eps^k·e^{q·eps}·X^n·e^{l·X}, with q and l of any sign.
Exponents = tuple[int, int, int, int]

#: The terms of a piece, as coefficients by exponents, and the terms of a ring element by (k, q). Zeros may occur.
Terms = dict[Exponents, flint.fmpq]
RingTerms = dict[tuple[int, int], flint.fmpq]


class PieceLike(Protocol):
    """The operations of one piece of a `Piecewise` function: a function of eps and X in some form.

    The form may be exact (`Piece`), a power series near one eps, or a bound of the number of terms (`SizedPiece`).
    """

    def zero(self) -> Self:
        """Return the function 0."""

    def is_zero(self) -> bool:
        """True if this is the function 0."""

    def size(self) -> int:
        """Return the number of terms, where a long term may count as several."""

    def times(self, other: Self, meter: Meter) -> Self:
        """Return the product of this function and `other`; `meter` raises LimitReached."""

    def to_power(self, exponent: int, meter: Meter) -> Self:
        """Return this function to the power `exponent` >= 1; `meter` raises LimitReached."""

    def plus(self, other: Self) -> Self:
        """Return the sum of this function and `other`."""

    def times_term(self, factor: Fraction | int, exponent: int) -> Self:
        """Return this function times `factor`·e^{`exponent`·eps}."""

    def shifted(self, offset: int) -> Self:
        """Return the function X -> f(X + eps·`offset`), where f is this function."""

    def integrated(self, start: int | None, end: int | None, constant: dict[Any, Any], meter: Meter) -> Self:
        """Return the antiderivative of this function whose value at X = eps·`start` is `constant`.

        Change `constant` to its value at X = eps·`end`. A `start` or `end` of None is infinite: the antiderivative is
        0 at an infinite `start`, if it has a limit there. `constant` is a sum of terms that do not depend on X, each
        with its coefficient. `meter` raises LimitReached.
        """


P = TypeVar("P", bound=PieceLike)


#: Products of at least this many functions with few terms each are computed slope by slope: their terms are too many to
#: be gone through one by one.
_MANY_FACTORS, _FEW_SLOPES = 8, 4

#: A piece with at most this many polynomials over the ring is multiplied polynomial by polynomial.
_FEW_GROUPS = 16


class Slopes:
    """An exponential polynomial in X, kept as one polynomial in X for each exponent l: the factor of e^{l·X}.

    Coefficients of these polynomials are polynomials in eps and e^eps, so FLINT adds or multiplies all terms with the
    same l and the same power of X in one operation.
    """

    __slots__ = ("_length", "bits", "parts")

    def __init__(
        self, terms: Mapping[int, tuple[int, Mapping[int, flint.fmpq_mpoly]]], bits: int | None = None
    ) -> None:
        #: For each l the lowest power of y, and the polynomials over it by power of X.
        self.parts = {l: (low, powers) for l, (low, powers) in terms.items() if powers}
        self.bits = self._coefficient_bits() if bits is None else bits
        self._length: int | None = None

    def _coefficient_bits(self) -> int:
        """Return an estimate of the bits of the longest coefficient.

        It is the length of the longest numerator of the polynomials' leading coefficients, over their common
        denominator.
        """
        leading = [poly.leading_coefficient() for _, powers in self.parts.values() for poly in powers.values()]
        whole = lcm(*[int(c.q) for c in leading])
        return max([(int(c.p) * (whole // int(c.q))).bit_length() for c in leading], default=0)

    def __len__(self) -> int:
        if self._length is None:
            self._length = sum([len(poly) for _, powers in self.parts.values() for poly in powers.values()])
        return self._length

    def antiderivative(self, meter: Meter) -> Slopes:
        """Return an antiderivative of this function in X without a constant term.

        `meter` counts the work and raises LimitReached.
        """
        # Denominators grow by powers of l, and a large function with long denominators is slow.
        steepest = max(map(abs, self.parts), default=0)
        power = 1 + max((max(powers) for l, (_, powers) in self.parts.items() if l), default=0)
        meter.expansion(len(self), self.bits + power * steepest.bit_length())
        result: dict[int, tuple[int, dict[int, flint.fmpq_mpoly]]] = {}
        for l, (low, powers) in self.parts.items():
            if not l:
                result[l] = low, {n + 1: poly * flint.fmpq(1, n + 1) for n, poly in powers.items()}
                continue
            # The derivative of G(X)·e^{l·X} is (G' + l·G)·e^{l·X}, so G follows from its highest power
            # down.
            grown: dict[int, flint.fmpq_mpoly] = {}
            over = flint.fmpq(1, l)
            for n in range(max(powers), -1, -1):
                rest = grown[n + 1] * -(n + 1) if n + 1 in grown else None
                if n in powers:
                    rest = powers[n] if rest is None else powers[n] + rest
                if rest is not None and len(rest):
                    grown[n] = rest * over
            result[l] = low, grown
        antiderivative = Slopes(result)
        # A value is one polynomial, so each of its terms has the common denominator of all.
        meter.size(len(antiderivative) * weight(antiderivative.bits))
        return antiderivative

    def value(self, point: int) -> ExpPoly:
        """Return f(eps·`point`), where f is this function."""
        values = [ExpPoly(_substitute(powers, point), low + l * point) for l, (low, powers) in self.parts.items()]
        return sum_of(values)

    @property
    def width(self) -> int:
        """The number of coefficients: one for each pair of a factor e^{l·X} and a power of X that occurs with it."""
        return sum([len(powers) for _, powers in self.parts.values()])

    def product(self, other: Slopes) -> Slopes:
        """Return the product of this function and `other`."""
        lowest: dict[int, int] = {}
        for l, (low, _) in self.parts.items():
            for other_l, (other_low, _) in other.parts.items():
                lowest[l + other_l] = min(low + other_low, lowest.get(l + other_l, low + other_low))
        summands: dict[int, dict[int, list[flint.fmpq_mpoly]]] = {l: {} for l in lowest}
        for l, (low, powers) in self.parts.items():
            for other_l, (other_low, others) in other.parts.items():
                by_power, above = summands[l + other_l], low + other_low - lowest[l + other_l]
                for n, poly in powers.items():
                    for m, factor in others.items():
                        by_power.setdefault(n + m, []).append(_times_power(poly * factor, above))
        terms: dict[int, tuple[int, dict[int, flint.fmpq_mpoly]]] = {}
        for l, by_power in summands.items():
            sums = {n: _added_up(several, _RING) for n, several in by_power.items()}
            terms[l] = lowest[l], {n: poly for n, poly in sums.items() if len(poly)}
        return Slopes(terms, self.bits + other.bits)

    def with_constant(self, constant: RingTerms) -> Slopes:
        """Return this function, which must have no term without X, plus `constant`.

        An item (k, q): c of `constant` means c·eps^k·e^{q·eps}.
        """
        if not constant:
            return self
        low = min([q for _, q in constant])
        poly = _RING.from_dict({(k, q - low): c for (k, q), c in constant.items()})
        mine = self.parts.get(0, (low, {}))
        assert 0 not in mine[1], "an antiderivative has no constant of its own"
        return Slopes({**self.parts, 0: _sum(mine, (low, {0: poly}))})

    def plus(self, other: Slopes) -> Slopes:
        """Return the sum of this function and `other`."""
        terms: dict[int, tuple[int, Mapping[int, flint.fmpq_mpoly]]] = dict(self.parts)
        for l, part in other.parts.items():
            terms[l] = _sum(terms[l], part) if l in terms else part
        return Slopes(terms)

    def times(self, factor: flint.fmpq) -> Slopes:
        """Return this function times the number `factor`."""
        return Slopes({l: (low, {n: p * factor for n, p in powers.items()}) for l, (low, powers) in self.parts.items()})

    def times_term(self, factor: flint.fmpq, exponent: int) -> Slopes:
        """Return this function times `factor`·e^{`exponent`·eps}."""
        scaled = self if factor == 1 else self.times(factor)
        return Slopes({l: (low + exponent, powers) for l, (low, powers) in scaled.parts.items()}, scaled.bits)


def _times_power(poly: flint.fmpq_mpoly, exponent: int) -> flint.fmpq_mpoly:
    return poly * _RING.from_dict({(0, exponent): 1}) if exponent else poly


def _substitute(powers: Mapping[int, flint.fmpq_mpoly], point: int) -> flint.fmpq_mpoly:
    """Return the value at X = eps·`point` of the polynomial Σ `powers`[n]·X^n."""
    if not point:
        return powers.get(0, _RING.constant(0))
    return _added_up([poly * _RING.from_dict({(n, 0): point**n}) if n else poly for n, poly in powers.items()], _RING)


def _sum(
    left: tuple[int, Mapping[int, flint.fmpq_mpoly]], right: tuple[int, Mapping[int, flint.fmpq_mpoly]]
) -> tuple[int, dict[int, flint.fmpq_mpoly]]:
    """Return the sum of two polynomials in X, `left` and `right`, in the form in which they are given.

    A pair (q, coefficients) means the polynomial y^q·Σ coefficients[n]·X^n, where y = e^eps.
    """
    low = min(left[0], right[0])
    powers = {n: _times_power(poly, left[0] - low) for n, poly in left[1].items()}
    for n, poly in right[1].items():
        moved = _times_power(poly, right[0] - low)
        powers[n] = powers[n] + moved if n in powers else moved
    return low, {n: poly for n, poly in powers.items() if len(poly)}


def _added_up(polys: Sequence[flint.fmpq_mpoly], context: flint.fmpq_mpoly_ctx) -> flint.fmpq_mpoly:
    if len(polys) < 2:
        return polys[0] if polys else context.constant(0)
    middle = len(polys) // 2
    return _added_up(polys[:middle], context) + _added_up(polys[middle:], context)


class Piece:
    """An exponential polynomial in eps and X: y^`low_y` · Y^`low_X` · `poly`(x, y, X, Y).

    Here x = eps, y = e^eps and Y = e^X. Pieces are immutable. Over a common denominator, no coefficient has more than
    approximately `bits` bits.
    """

    __slots__ = ("_degrees", "_poly", "_slopes", "bits", "low_X", "low_y")

    def __init__(self, poly: flint.fmpq_mpoly | None, low_y: int, low_X: int, bits: int) -> None:
        self._poly = poly
        self._slopes: Slopes | None = None
        self._degrees: tuple[int, ...] | None = None
        self.low_y = low_y
        self.low_X = low_X
        self.bits = bits

    @classmethod
    def of_slopes(cls, slopes: Slopes) -> Piece:
        """Return the exponential polynomial `slopes` as a piece; its `poly` is computed when it is first needed."""
        if not slopes.parts:
            return cls.zero()
        piece = cls(None, min([low for low, _ in slopes.parts.values()]), min(slopes.parts), slopes.bits)
        piece._slopes = slopes
        return piece

    @property
    def poly(self) -> flint.fmpq_mpoly:
        """The polynomial that is left of this function when the lowest powers of e^eps and e^X are factored out."""
        if self._poly is None:
            assert self._slopes is not None
            self._poly = _added_up(
                [
                    poly.project_to_context(_CONTEXT)
                    * _CONTEXT.from_dict({(0, low - self.low_y, n, l - self.low_X): 1})
                    for l, (low, powers) in self._slopes.parts.items()
                    for n, poly in powers.items()
                ],
                _CONTEXT,
            )
        return self._poly

    @property
    def slopes(self) -> Slopes:
        """The same function as `Slopes`, in which each factor e^{l·X} has its own polynomial in X."""
        if self._slopes is not None:
            return self._slopes
        by_l: dict[int, dict[int, dict[tuple[int, ...], Any]]] = {}
        for (k, q, n, l), c in self.poly.terms():
            by_l.setdefault(int(l) + self.low_X, {}).setdefault(int(n), {})[int(k), int(q)] = c
        by_slope = {
            l: (self.low_y, {n: _RING.from_dict(terms) for n, terms in powers.items()}) for l, powers in by_l.items()
        }
        return Slopes(by_slope, self.bits)

    @property
    def by_slopes(self) -> Piece:
        """The same function kept as `Slopes`, so that products and integrals work on all terms with one e^{l·X}."""
        return self if self._slopes is not None or self.is_zero() else Piece.of_slopes(self.slopes)

    @classmethod
    def zero(cls) -> Piece:
        return cls(_CONTEXT.constant(0), 0, 0, 0)

    @classmethod
    def of_terms(cls, terms: Terms) -> Piece:
        """Return the sum of `terms`, where an item (k, q, n, l): c means c·eps^k·e^{q·eps}·X^n·e^{l·X}."""
        terms = {exponents: c for exponents, c in terms.items() if c != 0}
        if not terms:
            return cls.zero()
        low_y = min([e[1] for e in terms])
        low_x = min([e[3] for e in terms])
        # Use a common denominator, because FLINT would otherwise rewrite all terms for each new denominator.
        whole = lcm(*{int(c.q) for c in terms.values()})
        integers: dict[tuple[int, ...], Any] = {
            (k, q - low_y, n, l - low_x): int(c.p) * (whole // int(c.q)) for (k, q, n, l), c in terms.items()
        }
        poly = _CONTEXT.from_dict(integers)
        if whole != 1:
            poly *= flint.fmpq(1, whole)
        return cls(poly, low_y, low_x, max([c.bit_length() for c in integers.values()]))

    def terms(self) -> Terms:
        """Return the terms of this function: an item (k, q, n, l): c means c·eps^k·e^{q·eps}·X^n·e^{l·X}."""
        low_y, low_x = self.low_y, self.low_X
        return {(int(k), int(q) + low_y, int(n), int(l) + low_x): c for (k, q, n, l), c in self.poly.terms()}

    def __len__(self) -> int:
        return len(self.poly) if self._slopes is None else len(self._slopes)

    def is_zero(self) -> bool:
        return not len(self)

    def size(self) -> int:
        """Return the number of terms times a weight that grows with the lengths of exponents and coefficients."""
        return len(self) * self._term_size() if len(self) > 1 else len(self)

    def _term_size(self) -> int:
        return weight(self.bits) + max(self.degrees).bit_length() // 16

    @property
    def degrees(self) -> tuple[int, ...]:
        """The degrees of the polynomial `poly` in eps, e^eps, X and e^X, in this order."""
        if self._degrees is None:
            self._degrees = self._computed_degrees()
        return self._degrees

    def _computed_degrees(self) -> tuple[int, ...]:
        if self._slopes is None:
            return tuple(map(int, self.poly.degrees()))
        groups = [(low, n, poly.degrees()) for low, powers in self._slopes.parts.values() for n, poly in powers.items()]
        return (
            max([int(degrees[0]) for _, _, degrees in groups]),
            max([int(degrees[1]) + low - self.low_y for low, _, degrees in groups]),
            max([n for _, n, _ in groups]),
            max(self._slopes.parts) - self.low_X,
        )

    def _units(self) -> tuple[int, ...]:
        """The greatest common divisor of the exponents of eps in `poly`, and of those of e^eps, of X and of e^X.

        It is 0 for a variable that does not occur. For example, it is 5 for e^eps if the exponents of e^eps are 0, 5
        and 15.
        """
        if self._slopes is None:
            exponents = ((int(k), int(q), int(n), int(l)) for k, q, n, l in self.poly.monoms())
        else:
            exponents = (
                (int(k), int(q) + low - self.low_y, n, l - self.low_X)
                for l, (low, powers) in self._slopes.parts.items()
                for n, poly in powers.items()
                for k, q in poly.monoms()
            )
        units: tuple[int, ...] = (0, 0, 0, 0)
        for each in exponents:
            units = tuple(map(gcd, units, each))
        return units

    def times(self, other: Piece, meter: Meter) -> Piece:
        """Return the product of this function and `other`; `meter` counts the work and raises LimitReached."""
        meter.product(len(self), len(other), self.bits, other.bits)
        most = len(self) * len(other)
        if most > _MANY_TERMS:
            # Like terms are added up, so there are no more terms than exponents.
            box = prod(int(m) + int(n) + 1 for m, n in zip(self.degrees, other.degrees, strict=True))
            size = max(self._term_size(), other._term_size())
            if not meter.has_room(min(most, box) * size):
                units = map(gcd, self._units(), other._units())
                reaches = [int(m) + int(n) for m, n in zip(self.degrees, other.degrees, strict=True)]
                box = prod(reach // unit + 1 if unit else 1 for reach, unit in zip(reaches, units, strict=True))
            meter.room(min(most, box) * size)
        if self._slopes is not None or other._slopes is not None:
            left, right = self.slopes, other.slopes
            if min(left.width, right.width) <= _FEW_GROUPS:
                return Piece.of_slopes(left.product(right))
        return Piece(self.poly * other.poly, self.low_y + other.low_y, self.low_X + other.low_X, self.bits + other.bits)

    def to_power(self, exponent: int, meter: Meter) -> Piece:
        """Return this function to the power `exponent` >= 1; `meter` counts the work and raises LimitReached."""
        if exponent == 1:
            return self
        most = comb(exponent + len(self.poly) - 1, exponent)
        if most <= _MANY_TERMS:
            meter.product(most, len(self.poly), exponent * self.bits, self.bits)
            return Piece(self.poly**exponent, self.low_y * exponent, self.low_X * exponent, self.bits * exponent)
        power = self
        for _ in range(exponent - 1):
            power = power.times(self, meter)
            meter.size(power.size())
        return power

    def plus(self, other: Piece) -> Piece:
        """Return the sum of this function and `other`."""
        if other.is_zero() or self.is_zero():
            return self if other.is_zero() else other
        if self._slopes is not None and other._slopes is not None:
            return Piece.of_slopes(self._slopes.plus(other._slopes))
        low_y, low_x = min(self.low_y, other.low_y), min(self.low_X, other.low_X)
        total = self._shifted(low_y, low_x) + other._shifted(low_y, low_x)
        return Piece(total, low_y, low_x, max(self.bits, other.bits) + 1)

    def times_term(self, factor: Fraction | int, exponent: int) -> Piece:
        """Return this function times `factor`·e^{`exponent`·eps}."""
        number = to_fmpq(factor)
        if self._slopes is not None:
            return Piece.of_slopes(self._slopes.times_term(number, exponent))
        bits = 0 if abs(factor) == 1 else int(number.p).bit_length() + int(number.q).bit_length()
        return Piece(self.poly * number, self.low_y + exponent, self.low_X, self.bits + bits)

    def tilted(self, slope: int) -> Piece:
        """Return this function times e^{`slope`·X}."""
        if self._slopes is not None:
            tilted = {l + slope: part for l, part in self._slopes.parts.items()}
            return Piece.of_slopes(Slopes(tilted, self._slopes.bits))
        return Piece(self.poly, self.low_y, self.low_X + slope, self.bits)

    def exact_quotient(self, divisor: Piece) -> Piece:
        """Return the function g for which g·`divisor` is this function. Raises DomainError if there is none."""
        return Piece(self.poly / divisor.poly, self.low_y - divisor.low_y, self.low_X - divisor.low_X, self.bits)

    def folded(self, modulus: int) -> Piece:
        """Return this function with each power y^q of y = e^eps replaced by y^(q mod `modulus`).

        It is the remainder modulo y^modulus - 1, up to a power of y.
        """
        terms: Terms = {}
        for (k, q, n, l), c in self.terms().items():
            key = (k, q % modulus, n, l)
            terms[key] = terms.get(key, 0) + c
        return Piece.of_terms(terms)

    def is_multiple(self, divisor: Piece) -> bool:
        """True if this function is g·`divisor` for some function g of this form."""
        try:
            self.exact_quotient(divisor)
        except DomainError:
            return False
        return True

    def _shifted(self, low_y: int, low_x: int) -> flint.fmpq_mpoly:
        if (low_y, low_x) == (self.low_y, self.low_X):
            return self.poly
        return self.poly * _CONTEXT.from_dict({(0, self.low_y - low_y, 0, self.low_X - low_x): 1})

    def shifted(self, offset: int) -> Piece:
        """Return the function X -> f(X + eps·`offset`), where f is this function."""
        result: Terms = {}
        for (k, q, n, l), c in self.terms().items():
            for m in range(n + 1):
                key = (k + n - m, q + l * offset, m, l)
                result[key] = result.get(key, 0) + c * (comb(n, m) * offset ** (n - m))
        return Piece.of_terms(result)

    def antiderivative(self, meter: Meter) -> Terms | Slopes:
        """Return a function F without a constant term whose derivative with respect to X is this function.

        F vanishes at -∞ if every exponent l of e^{l·X} is positive, and at +∞ if every l is negative. It is returned as
        terms or as `Slopes`. `meter` counts the work and raises LimitReached.
        """
        if self._slopes is not None or self.poly.degrees()[2]:
            return self.slopes.antiderivative(meter)
        terms = self.terms()
        steepest = max((abs(l) for _, _, _, l in terms), default=0)
        meter.expansion(len(terms), self.bits + steepest.bit_length())
        return {(k, q, 0 if l else 1, l): c / l if l else c for (k, q, _, l), c in terms.items()}

    def integrated(self, start: int | None, end: int | None, constant: RingTerms, meter: Meter) -> Piece:
        """Return the antiderivative of this function whose value at X = eps·`start` is `constant`.

        Change `constant` to its value at X = eps·`end`. An item (k, q): c of `constant` means c·eps^k·e^{q·eps}. A
        `start` or `end` of None is infinite. `meter` raises LimitReached.
        """
        grown = self.antiderivative(meter)
        if start is not None:
            add_value(constant, grown, start, -1)
        if isinstance(grown, Slopes):
            result = Piece.of_slopes(grown.with_constant(constant))
        else:
            result = Piece.of_terms(grown | {(k, q, 0, 0): c for (k, q), c in constant.items()})
        if end is not None:
            add_value(constant, grown, end, 1)
        return result


#: The function that is 1 everywhere.
ONE_PIECE = Piece.of_terms({(0, 0, 0, 0): flint.fmpq(1)})


def add_value(total: RingTerms, function: Terms | Slopes, point: int, sign: int) -> None:
    """Add `sign` times the value of `function` at X = eps·`point` to `total`, in place.

    An item (k, q): c of `total` means c·eps^k·e^{q·eps}.
    """
    if isinstance(function, Slopes):
        value = function.value(point)
        for k, q, c in value.integer_terms()[1]:
            total[k, q] = total[k, q] + sign * c if (k, q) in total else sign * c
        return
    powers = [sign]
    for (k, q, n, l), c in function.items():
        if n and not point:
            continue
        while n >= len(powers):
            powers.append(powers[-1] * point)
        key = (k + n, q + l * point)
        term = c * powers[n]
        total[key] = total[key] + term if key in total else term


@frozen
class Piecewise(Generic[P]):
    """A function of X that is `pieces[i]` between eps·`breaks[i-1]` and eps·`breaks[i]`, for every eps > 0.

    `breaks` strictly increase, and `pieces` has one item more. The value at a breakpoint is undefined, since the
    functions are densities and integrals of densities. X is eps times a value in the program.
    """

    breaks: tuple[int, ...]
    pieces: tuple[P, ...]

    @staticmethod
    def constant(value: P) -> Piecewise[P]:
        return Piecewise((), (value,))

    @staticmethod
    def laplace(rate: int, mean: int) -> Piecewise[Piece]:
        """Return the density of X = eps·x, where x is Laplace noise around `mean` with the rate `rate`·eps."""
        half = flint.fmpq(rate, 2)
        left = Piece.of_terms({(0, -rate * mean, 0, rate): half})
        right = Piece.of_terms({(0, rate * mean, 0, -rate): half})
        return Piecewise((mean,), (left, right))

    @staticmethod
    def of_noises(noises: Sequence[Windows], meter: Meter) -> Piecewise[Piece]:
        """Return the density of the sum of independent `noises`, each given by its density.

        `meter` raises LimitReached before a long computation.
        """
        first, *others = noises
        density = _sum_of([window.density() for window in first], meter)
        for noise in others:
            density = density.smoothed(noise, meter)
        return density

    def restricted(self, low: int | None, high: int | None) -> Piecewise[P]:
        """Return this function times the indicator of [eps·`low`, eps·`high`], where an end that is None is infinite.

        The result is zero if `low` >= `high`.
        """
        breaks, pieces, zero = self.breaks, self.pieces, self.pieces[0].zero()
        if low is not None and high is not None and low >= high:
            return Piecewise((), (zero,))
        if low is not None:
            first = bisect_right(breaks, low)
            breaks, pieces = (low, *breaks[first:]), (zero, *pieces[first:])
        if high is not None:
            last = bisect_left(breaks, high)
            breaks, pieces = (*breaks[:last], high), (*pieces[: last + 1], zero)
        return Piecewise(breaks, pieces).trimmed()

    def piece_before(self, point: int | None) -> P:
        """Return the piece whose interval ends at eps·`point` or contains it; the last piece if `point` is None."""
        return self.pieces[-1 if point is None else bisect_left(self.breaks, point)]

    def trimmed(self) -> Piecewise[P]:
        """Return this function without breakpoints between two zero pieces."""
        breaks, pieces = list[int](), [self.pieces[0]]
        for b, piece in zip(self.breaks, self.pieces[1:], strict=True):
            if piece.is_zero() and pieces[-1].is_zero():
                continue
            breaks.append(b)
            pieces.append(piece)
        return Piecewise(tuple(breaks), tuple(pieces))

    def size(self) -> int:
        """Return the sum of the sizes of all pieces."""
        return sum([piece.size() for piece in self.pieces])

    def _pairs(self, other: Piecewise[P]) -> tuple[tuple[int, ...], list[tuple[P, P]]]:
        """Return (breaks, pairs): the breakpoints of this function and of `other`, and both pieces in each interval."""
        breaks = sorted({*self.breaks, *other.breaks})
        here, there = iter(self.pieces), iter(other.pieces)
        pairs = [(next(here), next(there))]
        for b in breaks:
            left, right = pairs[-1]
            pairs.append((next(here) if b in self.breaks else left, next(there) if b in other.breaks else right))
        return tuple(breaks), pairs

    def times(self, other: Piecewise[P], meter: Meter) -> Piecewise[P]:
        """Return the product of this function and `other`; `meter` counts the work and raises LimitReached."""
        breaks, pairs = self._pairs(other)
        result = Piecewise(breaks, tuple([left.times(right, meter) for left, right in pairs])).trimmed()
        meter.size(result.size())
        return result

    def to_power(self, exponent: int, meter: Meter) -> Piecewise[P]:
        """Return this function to the power `exponent` >= 1; `meter` counts the work and raises LimitReached."""
        return Piecewise(self.breaks, tuple([piece.to_power(exponent, meter) for piece in self.pieces]))

    def plus(self, other: Piecewise[P], meter: Meter) -> Piecewise[P]:
        """Return the sum of this function and `other`; `meter` raises LimitReached if the sum is too long."""
        breaks, pairs = self._pairs(other)
        result = Piecewise(breaks, tuple([left.plus(right) for left, right in pairs]))
        meter.size(result.size())
        return result

    def times_term(self, factor: Fraction | int, exponent: int) -> Piecewise[P]:
        """Return this function times `factor`·e^{`exponent`·eps}."""
        return Piecewise(self.breaks, tuple([piece.times_term(factor, exponent) for piece in self.pieces]))

    def shifted(self, offset: int) -> Piecewise[P]:
        """Return the function X -> f(X + eps·`offset`), where f is this function."""
        if offset == 0:
            return self
        return Piecewise(tuple([b - offset for b in self.breaks]), tuple([p.shifted(offset) for p in self.pieces]))

    def integral_to(self, *, upward: bool, meter: Meter) -> Piecewise[P]:
        """Return the function X -> the integral of this function from -∞ to X if `upward`, else from +∞ to X.

        This function must decay where the integral begins. `meter` raises LimitReached before a long computation.
        """
        ends = (None, *self.breaks, None)
        constant: dict[Any, Any] = {}
        order = range(len(self.pieces))
        grown = [
            self.pieces[i].integrated(*((ends[i], ends[i + 1]) if upward else (ends[i + 1], ends[i])), constant, meter)
            for i in (order if upward else reversed(order))
        ]
        return Piecewise(self.breaks, tuple(grown if upward else reversed(grown)))

    def window_integral(self, low: int | None, high: int | None, meter: Meter) -> Piecewise[P]:
        """Return the function X -> ∫ f(Z) dZ over X + eps·`low` <= Z <= X + eps·`high`, where f is this function.

        A `low` or `high` of None is infinite. f must decay at both ends, and `low` <= `high`. `meter` raises
        LimitReached before a long computation.
        """
        if high is None:
            above = self.times_term(-1, 0).integral_to(upward=False, meter=meter)
            if low is not None:
                return above.shifted(low)
            # The parts below and above X add up to the same constant for every X.
            below = self.integral_to(upward=True, meter=meter)
            return Piecewise.constant(below.pieces[-1].plus(above.pieces[-1]))
        below = self.integral_to(upward=True, meter=meter)
        upper = below.shifted(high)
        return upper if low is None else upper.plus(below.shifted(low).times_term(-1, 0), meter)

    def tilted(self: Piecewise[Piece], slope: int) -> Piecewise[Piece]:
        """Return this function times e^{`slope`·X}."""
        return Piecewise(self.breaks, tuple([piece.tilted(slope) for piece in self.pieces]))

    def smoothed(self: Piecewise[Piece], noise: Windows, meter: Meter) -> Piecewise[Piece]:
        """Return the convolution X -> ∫ f(C)·k(X - C) dC of this function f and the sum k of the windows `noise`.

        If f is the density of a random variable and k that of an independent noise, the result is the density of their
        sum. `meter` raises LimitReached before a long computation.
        """
        return _sum_of([window.smoothed(self, meter) for window in noise], meter)

    def integral(self: Piecewise[Piece], meter: Meter) -> ExpPoly:
        """Return the integral of this function over all X, as a function of eps; it must decay at both ends.

        `meter` raises LimitReached if the computation is too long, often before it begins.
        """
        return integral_of_product([(self, 1)], meter)


def integral_of_product(factors: Sequence[tuple[Piecewise[Piece], int]], meter: Meter) -> ExpPoly:
    """Return the integral over all X of the product of `factors`, pairs (function, power), as a function of eps.

    The product must decay at both ends. It is integrated piece by piece, and no piece is kept: all pieces together are
    often much longer than the integral. `meter` raises LimitReached if the computation is too long, often before it
    begins.
    """
    breaks = sorted({b for function, _ in factors for b in function.breaks})
    total: RingTerms = {}
    values: list[ExpPoly] = []
    for i in range(len(breaks) + 1):
        inside = [f.piece_before(breaks[i] if i < len(breaks) else None) for f, _ in factors]
        if any(piece.is_zero() for piece in inside):
            continue
        product: Piece | None = None
        powers = [piece.to_power(exponent, meter) for piece, (_, exponent) in zip(inside, factors, strict=True)]
        if len(factors) >= _MANY_FACTORS and all(len(power) <= _FEW_SLOPES for power in powers):
            # A product is as wide as its factors together, so those of one slope come first.
            powers = sorted([power.by_slopes for power in powers], key=lambda power: power.slopes.width)
        for power in powers:
            product = power if product is None else product.times(power, meter)
            meter.size(product.size())
        assert product is not None, "the product has factors"
        grown = product.antiderivative(meter)
        for place, sign in ((i, 1), (i - 1, -1)):
            if not 0 <= place < len(breaks):
                continue
            if isinstance(grown, Slopes):
                value = grown.value(breaks[place])
                values.append(value if sign > 0 else -value)
            else:
                add_value(total, grown, breaks[place], sign)
    meter.size(len(total))
    integral = sum_of([*values, ExpPoly.from_integer_exponents(total)])
    meter.size(len(integral))
    return integral


# --- Adding independent noise to a variable: convolution of a piecewise function with a density ----------------------
#
# The density of a noise is a sum of windows: exponentials, each on an interval that may be unbounded. On the scale
# X = eps·x, noise with a Laplace density has two, and one-sided noise has one. A convolution with a window needs one
# tail integral for each end, and is again a piecewise exponential polynomial.


class Window(NamedTuple):
    """A function of X that is `factor`·e^{`slope`·X} on eps·`low` <= X <= eps·`high`, and 0 elsewhere.

    The numbers `low`, `high` and `slope` are integers, and `low` is less than `high`. A `low` or `high` of None is
    infinite, and the function vanishes towards it. The density of a noise is a sum of such functions.
    """

    low: int | None
    high: int | None
    factor: Fraction
    slope: int

    def reflected(self) -> Window:
        """Return the function X -> f(-X), where f is this function."""
        low, high = (None if end is None else -end for end in (self.high, self.low))
        return Window(low, high, self.factor, -self.slope)

    def density(self) -> Piecewise[Piece]:
        """Return this function as a `Piecewise` one."""
        inside = Piecewise.constant(Piece.of_terms({(0, 0, 0, self.slope): to_fmpq(self.factor)}))
        return inside.restricted(self.low, self.high)

    def smoothed(self, function: Piecewise[Piece], meter: Meter) -> Piecewise[Piece]:
        """Return the convolution X -> ∫ `function`(C)·k(X - C) dC, where k is the function that this window describes.

        If `low` or `high` is None, `function` must be bounded. Let F be an antiderivative of function(C)·e^{-slope·C},
        with F = 0 at -∞ if `high` is None, and F = 0 at +∞ if `low` is None. The result is factor·e^{slope·X}·(F(X -
        eps·low) - F(X - eps·high)), where an infinite end adds nothing. `meter` raises LimitReached before a long
        computation.
        """
        tilted = function.tilted(-self.slope)
        tail = tilted.integral_to(upward=self.low is not None, meter=meter).tilted(self.slope)
        ends = [
            tail.times_term(factor, self.slope * end).shifted(-end)
            for end, factor in ((self.low, self.factor), (self.high, -self.factor))
            if end is not None
        ]
        return _sum_of(ends, meter)


#: The density of a noise as a sum of windows.
Windows = tuple[Window, ...]


def _sum_of(functions: Sequence[Piecewise[Piece]], meter: Meter) -> Piecewise[Piece]:
    total, *others = functions
    for other in others:
        total = total.plus(other, meter)
    return total


# --- Sizes ------------------------------------------------------------------------------------------------------------


class Size(NamedTuple):
    """A bound on the terms c·eps^k·e^{q·eps}·X^n that a piece has for one factor e^{l·X}: their number and exponents.

    There are at most `terms` of them, with `low` <= q <= `high` and k + n <= `degree`.
    """

    terms: int
    low: int
    high: int
    degree: int

    def times(self, other: Size) -> Size:
        """Return a size for the product of two functions, one with this size and one with the size `other`."""
        return Size(
            self.terms * other.terms, self.low + other.low, self.high + other.high, self.degree + other.degree
        ).boxed()

    def plus(self, other: Size) -> Size:
        """Return a size for the sum of two functions, one with this size and one with the size `other`."""
        return Size(
            self.terms + other.terms,
            min(self.low, other.low),
            max(self.high, other.high),
            max(self.degree, other.degree),
        ).boxed()

    def shifted(self, offset: int) -> Size:
        """Return a size for the terms after all their exponents q have been increased by `offset`."""
        return Size(self.terms, self.low + offset, self.high + offset, self.degree)

    def spread(self, more: int = 0) -> Size:
        """Return a size for the terms after each power of X has been replaced by all powers up to it.

        For example, an integral of X^n·e^{l·X} has all powers up to X^n. The degree also grows by `more`.
        """
        return Size(self.terms * (self.degree + 1), self.low, self.high, self.degree + more).boxed()

    def boxed(self) -> Size:
        """Return this size with `terms` reduced to the number of exponents (k, q, n) that the other fields allow."""
        most = (self.high - self.low + 1) * comb(self.degree + 2, 2)
        return self if self.terms <= most else self._replace(terms=most)


#: A function with this many terms, whose exponents range over this many multiples of their unit, is not expanded: to
#: find its sign would take longer than by Taylor polynomials.
_MANY_SPARSE_TERMS, _SPARSE_DEGREE = 400, 100_000


def _total(sizes: Iterable[tuple[int, Size]]) -> dict[int, Size]:
    result: dict[int, Size] = {}
    for l, size in sizes:
        result[l] = size.plus(result[l]) if l in result else size
    return result


@frozen
class SizedPiece:
    """Bounds on the terms of a `Piece` f, which is not computed itself.

    `sizes` maps each exponent l to the `Size` of the terms with e^{l·X}; it is empty for the zero function. Each method
    returns bounds for the result of the method of `Piece` with the same name.
    """

    sizes: Mapping[int, Size]

    @staticmethod
    def laplace(rate: int, mean: int) -> Piecewise[SizedPiece]:
        """Return bounds on the terms of the density of X = eps·x, where x is Laplace noise.

        The noise has the mean `mean` and the rate `rate`·eps.
        """
        q = rate * mean
        return Piecewise((mean,), (SizedPiece({rate: Size(1, -q, -q, 0)}), SizedPiece({-rate: Size(1, q, q, 0)})))

    def zero(self) -> SizedPiece:
        return SizedPiece({})

    def is_zero(self) -> bool:
        return not self.sizes

    def size(self) -> int:
        """Return 0: a bound of the terms is short, however many terms it allows."""
        return 0

    def terms(self) -> int:
        """Return an upper bound of the number of terms of f."""
        return sum([size.terms for size in self.sizes.values()])

    def times(self, other: SizedPiece, meter: Meter) -> SizedPiece:
        """Return bounds for the product of f and a function with the bounds `other`.

        `meter` raises LimitReached if the estimate takes too many steps.
        """
        meter.spend(len(self.sizes) * len(other.sizes))
        pairs = [(l + k, size.times(more)) for l, size in self.sizes.items() for k, more in other.sizes.items()]
        result = SizedPiece(_total(pairs))
        meter.spend(result.terms())
        return result

    def to_power(self, exponent: int, meter: Meter) -> SizedPiece:
        """Return bounds for f to the power `exponent` >= 1.

        `meter` raises LimitReached if the estimate takes too many steps.
        """
        if len(self.sizes) == 2 and all(size.terms == 1 for size in self.sizes.values()):
            (l, one), (k, other) = self.sizes.items()
            meter.spend(exponent)
            sizes: dict[int, Size] = {}
            for n in range(exponent + 1):
                q, degree = one.low * n + other.low * (exponent - n), one.degree * n + other.degree * (exponent - n)
                sizes[l * n + k * (exponent - n)] = Size(1, q, q, degree)
            return SizedPiece(sizes)
        # There are at most as many terms as multisets of `exponent` terms of the piece.
        most = comb(exponent + self.terms() - 1, exponent) if self.sizes else 0
        result = self
        for bit in bin(exponent)[3:]:
            result = result.times(result, meter)
            if bit == "1":
                result = result.times(self, meter)
        return SizedPiece({l: size._replace(terms=min(size.terms, most)) for l, size in result.sizes.items()})

    def plus(self, other: SizedPiece) -> SizedPiece:
        """Return bounds for the sum of f and a function with the bounds `other`."""
        return SizedPiece(_total([*self.sizes.items(), *other.sizes.items()]))

    def times_term(self, factor: Fraction | int, exponent: int) -> SizedPiece:  # noqa: ARG002 - as `Piece` does
        """Return bounds for f times `factor`·e^{`exponent`·eps}."""
        return SizedPiece({l: size.shifted(exponent) for l, size in self.sizes.items()}) if exponent else self

    def shifted(self, offset: int) -> SizedPiece:
        """Return bounds for the function X -> f(X + eps·`offset`)."""
        return SizedPiece({l: size.spread().shifted(l * offset) for l, size in self.sizes.items()})

    def integrated(self, start: int | None, end: int | None, constant: dict[int, Size], meter: Meter) -> SizedPiece:
        """Return bounds for the antiderivative of f whose value at X = eps·`start` has the bound `constant`[0].

        Change `constant` to a bound for the value at X = eps·`end`; it is empty for the value 0. A `start` or `end` of
        None is infinite. `meter` raises LimitReached if the estimate takes too many steps.
        """
        grown = [(l, size.spread(0 if l else 1)) for l, size in self.sizes.items()]
        meter.spend(sum([size.terms for _, size in grown]))

        def add_value(point: int) -> None:
            constant.update(_total([*constant.items(), *((0, size.shifted(l * point)) for l, size in grown)]))

        if start is not None:
            add_value(start)
        result = SizedPiece(_total([*grown, *constant.items()]))
        if end is not None:
            add_value(end)
        return result


def _watch_sparse(piece: SizedPiece, low: int | None, high: int | None, meter: Meter) -> None:
    """Raise LimitReached if a `piece` of many terms has exponents of eps far apart at one end of its interval.

    The interval is from eps·`low` to eps·`high`, where None is infinite. The integral of such a piece also has many
    terms, and finding its sign would take too long. `meter` counts the work.
    """
    if piece.terms() < _MANY_SPARSE_TERMS:
        return
    for end in (low, high):
        if end is not None:
            exponents = [exponent + l * end for l, size in piece.sizes.items() for exponent in (size.low, size.high)]
            if max(exponents) - min(exponents) >= _SPARSE_DEGREE:
                meter.spend(meter.limits.steps)


def watch_product_of(factors: Sequence[tuple[Piecewise[SizedPiece], int]], meter: Meter) -> None:
    """Raise LimitReached if the product of `factors`, pairs (function, power), is expected to have too many terms.

    It has too many if all pieces of the product together have more terms than `meter` has steps left. A term with long
    coefficients has a greater weight: each integral of e^{l·X} divides by l, so denominators grow.
    """
    breaks = sorted({b for function, _ in factors for b in function.breaks})
    denominator = 1
    for low, high in pairwise((None, *breaks, None)):
        inside = [(function.piece_before(high), count) for function, count in factors]
        if not any(piece.is_zero() for piece, _ in inside):
            product = SizedPiece({0: Size(1, 0, 0, 0)})
            for piece, count in inside:
                product = product.times(piece.to_power(count, meter), meter)
                _watch_sparse(product, low, high, meter)
            for l in product.sizes:
                denominator = lcm(denominator, l or 1)
                meter.spend(weight(denominator.bit_length()) - 1)
