"""Real numbers that are values of quotients: rational, or known by enclosures as narrow as one likes."""

from __future__ import annotations

from fractions import Fraction

import flint

from dipc.algebra.exppoly import ExpPoly, dyadic, to_fmpq
from dipc.algebra.limits import LimitReached, Limits
from dipc.sign.optimum.shared_root import vanishes_at
from dipc.sign.root import Root, refine
from dipc.sign.simplest import simplest_between

#: Numbers beyond 2 to the power of this or its negative are not written out: an exact one would fill the memory.
_MOST_MAGNITUDE = 300_000

_FIRST_BITS = 64


class Number:
    """numerator/denominator at a rational eps or at an isolated root, where the denominator is not 0; or a rational.

    `low` <= number <= `high` holds always. Enclosures only
    ever become narrower.
    """

    __slots__ = ("_at", "_bits", "_denominator", "_limits", "_numerator", "_unlike", "high", "low")

    def __init__(
        self, numerator: ExpPoly, denominator: ExpPoly, at: Fraction | Root, limits: Limits | None = None
    ) -> None:
        """Raises LimitReached where the number is too large or too small to be written out."""
        self._numerator = numerator
        self._denominator = denominator
        self._at = at
        self._limits = limits or Limits()
        self._bits = _FIRST_BITS
        self._unlike: set[Fraction] = set()
        enclosure = None
        while enclosure is None:
            enclosure = self._enclose()
        self.low, self.high = enclosure
        if self.low <= 0 <= self.high:
            self.is_exactly(Fraction(0))

    @classmethod
    def rational(cls, value: Fraction) -> Number:
        """This rational."""
        return cls(ExpPoly.constant(value), ExpPoly.one(), Fraction(1))

    def __repr__(self) -> str:
        return f"Number({self.low})" if self.exact() is not None else f"Number({float(self.low)}...)"

    def exact(self) -> Fraction | None:
        """The number where it is known to be rational."""
        return self.low if self.low == self.high else None

    @property
    def at(self) -> Fraction | Root:
        """The place, as well as it is known."""
        return self._at

    # --- narrower ---------------------------------------------------------------------------------

    def enclosure(self, digits: int) -> tuple[Fraction, Fraction]:
        """Rationals low <= number <= high with high - low <= 10^-digits·max(|low|, |high|). Raises LimitReached."""
        part = Fraction(1, 10**digits)
        while self.high - self.low > part * max(abs(self.low), abs(self.high)):
            self.narrow()
        return self.low, self.high

    def narrow(self) -> None:
        """Make the enclosure much narrower, once. Raises LimitReached."""
        if self.exact() is not None:
            return
        found = self._enclose()
        if found is not None:
            self.low, self.high = max(self.low, found[0]), min(self.high, found[1])
        if self.exact() is None and self.low <= 0 <= self.high:
            self.is_exactly(Fraction(0))

    def _enclose(self) -> tuple[Fraction, Fraction] | None:
        """An enclosure at the current precision, which it doubles for the next one; None where it was too low."""
        bits, self._bits = self._bits, 2 * self._bits
        if bits > 2 * self._limits.bits:
            raise LimitReached("bits", f"a value was not settled with numbers of {bits} bits")
        if self._denominator == 1 and isinstance(self._at, Fraction):
            terms = self._numerator.terms()
            if not any(q for _, q, _ in terms):
                # A polynomial in eps has a rational value.
                known = sum((c * self._at**k for k, _, c in terms), Fraction(0))
                return known, known
        if isinstance(self._at, Root):
            self._at = refine(self._at, self._at.upper / (1 << bits), self._limits)
            low, high = self._at.lower, self._at.upper
        else:
            low = high = self._at
        with flint.ctx.workprec(bits + 64):
            eps = flint.arb(to_fmpq(low)).union(flint.arb(to_fmpq(high)))
            below = _ball(self._denominator, eps)
            if below.contains(0):
                return None
            ball = _ball(self._numerator, eps) / below
            if not ball.is_finite():
                return None
            ends = ball.lower(), ball.upper()
            if any(abs(_exponent(end)) > _MOST_MAGNITUDE for end in ends):
                if ball.contains(0):
                    return None
                raise LimitReached(None, f"a value near eps = {low.numerator // low.denominator} is too large or small")
            return dyadic(ends[0]), dyadic(ends[1])

    # --- exact questions --------------------------------------------------------------------------

    def is_exactly(self, value: Fraction) -> bool:
        """Whether the number is this rational: decided exactly, by whether numerator - value·denominator vanishes."""
        if not self.low <= value <= self.high:
            return False
        known = self.exact()
        if known is not None:
            return known == value
        if value in self._unlike:
            return False
        if vanishes_at(self._numerator - self._denominator * value, self._at, self._limits):
            self.low = self.high = value
            return True
        self._unlike.add(value)
        return False

    def against(self, value: Fraction) -> int:
        """The sign of number - value, exactly. Raises LimitReached."""
        while self.low <= value <= self.high:
            if self.is_exactly(value):
                return 0
            self.narrow()
        return 1 if self.low > value else -1

    def recognize(self, digits: int = 40) -> None:
        """Find out whether the number is a rational much simpler than others that agree with it to so many digits."""
        low, high = self.enclosure(digits)
        if self.exact() is None and low * high > 0:
            simple = simplest_between(min(abs(low), abs(high)), max(abs(low), abs(high)))
            # Most intervals of this width have no rational with so few bits.
            if simple.denominator.bit_length() + simple.numerator.bit_length() < 3 * digits // 2:
                self.is_exactly(simple if low > 0 else -simple)


def compare(first: Number, second: Number, digits: int) -> tuple[int, bool]:
    """The sign of first - second, and True where it is proved.

    (0, False) means that they agree to more than `digits` significant digits, but are not proved to be equal: that
    happens only where neither is known to be rational. Raises LimitReached.
    """
    if first is second:
        return 0, True
    while True:
        for known, other, sign in ((first.exact(), second, -1), (second.exact(), first, 1)):
            if known is not None:
                return sign * other.against(known), True
        if first.high < second.low:
            return -1, True
        if second.high < first.low:
            return 1, True
        part = Fraction(1, 10 ** (digits + 5))
        if all(n.high - n.low <= part * max(abs(n.low), abs(n.high)) for n in (first, second)):
            first.recognize()
            second.recognize()
            if first.exact() is None and second.exact() is None:
                return 0, False
            continue
        first.narrow()
        second.narrow()


def _ball(f: ExpPoly, eps: flint.arb) -> flint.arb:
    """A ball around the values of f on the ball `eps`, at the current precision."""
    unit, terms = f.integer_terms()
    exponentials: dict[int, flint.arb] = {}
    total = flint.arb(0)
    for k, j, c in terms:
        if j and j not in exponentials:
            exponentials[j] = (eps * flint.arb(flint.fmpq(j, unit))).exp()
        term = flint.arb(c)
        if k:
            term *= eps**k
        if j:
            term *= exponentials[j]
        total += term
    return total


def _exponent(exact: flint.arb) -> int:
    """About the power of 2 of a ball of radius 0; 0 for 0."""
    mantissa, exponent = exact.man_exp()
    return int(exponent) + int(mantissa).bit_length() if mantissa != 0 else 0
