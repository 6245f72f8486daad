"""Real numbers built from rationals by products, sums, roots, `exp`, `log` and `erfc`, such as standard deviations.

A number is kept as a product of powers, so that equal numbers mostly have equal representations. It can be enclosed to
any precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt, lcm, prod
from typing import TYPE_CHECKING

from dipc.frozen import frozen

if TYPE_CHECKING:
    import flint

#: The functions of an `Irrational`; `+` adds several numbers, the others take one.
FUNCTIONS = ("exp", "log", "erfc", "+")

#: The first and the greatest precision, in bits, at which a sign is looked for.
_FIRST_BITS, _MOST_BITS = 128, 8192

#: The greatest power of 2 in an enclosure.
_MOST_EXPONENT = 100_000

#: Squares of primes below this are taken out of roots.
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)

#: The greatest exponent of a power that is computed.
_MOST_POWER = 1000


class NotReal(Exception):
    """Raised if an expression is not a real number, such as the square root of -1, or if its sign was not found.

    The message says which.
    """


@frozen
class Irrational:
    """A positive irrational number: `function` ("exp", "log", "erfc", or "+" for a sum) of `arguments`."""

    function: str
    arguments: tuple[Real, ...]

    def __str__(self) -> str:
        if self.function == "+":
            first, *rest = map(str, self.arguments)
            return "(" + first + "".join(f" - {each[1:]}" if each[0] == "-" else f" + {each}" for each in rest) + ")"
        return f"{self.function}({self.arguments[0]})"

    def ball(self) -> flint.arb:
        """An enclosure of the number, at FLINT's current precision."""
        balls = [argument.ball() for argument in self.arguments]
        match self.function:
            case "exp":
                return balls[0].exp()
            case "log":
                return balls[0].log()
            case "erfc":
                return balls[0].erfc()
        total = balls[0]
        for ball in balls[1:]:
            total += ball
        return total


@frozen
class Real:
    """The number `sign`·`base`^(1/`root`)·Π a^p over the pairs (a, p) of `atoms`, with `base` > 0.

    `root` is the least possible power of 2. Zero has the sign 0 and the base 1. Each a is a positive irrational number,
    and p its exponent.
    """

    sign: int
    base: Fraction
    root: int = 1
    atoms: tuple[tuple[Irrational, Fraction], ...] = ()

    @staticmethod
    def from_rational(value: Fraction | int) -> Real:
        if not value:
            return Real(0, Fraction(1))
        return Real(1 if value > 0 else -1, abs(Fraction(value)))

    # --- looking ----------------------------------------------------------------------------------

    @property
    def rational(self) -> Fraction | None:
        """The value as a rational number; None if the representation does not show that it is rational."""
        if not self.sign:
            return Fraction(0)
        return None if self.atoms or self.root != 1 else self.sign * self.base

    @property
    def is_product(self) -> bool:
        """Whether the number is built from rationals, roots, `exp` and `log` without sums."""
        return all(
            atom.function in ("exp", "log") and all(inner.is_product for inner in atom.arguments)
            for atom, _ in self.atoms
        )

    def split(self) -> tuple[Fraction, Fraction, Real]:
        """Return (r, s, t) with rational r and s such that this positive number is r·√s·t.

        If the number contains a root of `base` higher than a square root, r and s are 1, and t is the number itself.
        Otherwise t is the product of the powers of irrational numbers in `atoms`, which is 1 if there are none.
        """
        if self.root == 1:
            return self.base, Fraction(1), Real(1, Fraction(1), 1, self.atoms)
        if self.root != 2:
            return Fraction(1), Fraction(1), self
        outside, inside = Fraction(1), self.base.numerator * self.base.denominator
        for prime in _PRIMES:
            while inside % prime**2 == 0:
                outside, inside = outside * prime, inside // prime**2
        return outside / self.base.denominator, Fraction(inside), Real(1, Fraction(1), 1, self.atoms)

    def ball(self) -> flint.arb:
        """An enclosure of the number, at FLINT's current precision."""
        import flint

        total = flint.arb(flint.fmpq(self.base.numerator, self.base.denominator))
        if self.root > 1:
            total = total ** (flint.arb(1) / self.root)
        for atom, exponent in self.atoms:
            power = flint.arb(flint.fmpq(exponent.numerator, exponent.denominator))
            total *= atom.ball() ** power
        return total * self.sign

    def enclosure(self, bits: int = 128) -> tuple[Fraction, Fraction]:
        """Rationals low <= number <= high, to approximately `bits` bits.

        Raises NotReal for a number that is too large or too small to be written out.
        """
        import flint

        rational = self.rational
        if rational is not None:
            return rational, rational
        with flint.ctx.workprec(bits + 32):
            ball = self.ball()
            ends = []
            for end in (ball.lower(), ball.upper()):
                mantissa, exponent = end.man_exp()
                if abs(int(exponent)) > _MOST_EXPONENT:
                    raise NotReal("this number is too large or too small to be written out")
                ends.append(Fraction(int(mantissa)) * Fraction(2) ** int(exponent))
            return ends[0], ends[1]

    def __str__(self) -> str:
        rational = self.rational
        if rational is not None:
            return str(rational)
        outside, inside, rest = (Fraction(1), Fraction(1), abs(self)) if self.root > 2 else abs(self).split()
        above: list[str] = [] if outside.numerator == 1 else [str(outside.numerator)]
        below: list[str] = [] if outside.denominator == 1 else [str(outside.denominator)]
        if self.root > 2:
            inner: str = str(self.base)
            for _ in range(self.root.bit_length() - 1):
                inner = f"sqrt({inner})"
            above.append(inner)
        elif inside != 1:
            above.append(f"sqrt({inside})")
        for atom, exponent in rest.atoms:
            _factor(atom, exponent, above, below)
        text = "*".join(above) or "1"
        if below:
            text += f"/{below[0]}" if len(below) == 1 else f"/({'*'.join(below)})"
        return f"-{text}" if self.sign < 0 else text

    # --- arithmetic -------------------------------------------------------------------------------

    def __neg__(self) -> Real:
        return Real(-self.sign, self.base, self.root, self.atoms)

    def __abs__(self) -> Real:
        return Real(abs(self.sign), self.base, self.root, self.atoms)

    def __mul__(self, other: Real) -> Real:
        if not self.sign or not other.sign:
            return ZERO
        root = max(self.root, other.root)
        base = self.base ** (root // self.root) * other.base ** (root // other.root)
        exponents = dict(self.atoms)
        for atom, exponent in other.atoms:
            exponents[atom] = exponents.get(atom, Fraction(0)) + exponent
        atoms = sorted(((atom, power) for atom, power in exponents.items() if power), key=lambda each: str(each[0]))
        return _canonical(self.sign * other.sign, base, root, tuple(atoms))

    def __truediv__(self, other: Real) -> Real:
        if not other.sign:
            raise ZeroDivisionError
        return self * Real(other.sign, 1 / other.base, other.root, tuple((atom, -power) for atom, power in other.atoms))

    def power(self, exponent: int) -> Real:
        """The number to the integer power `exponent`. Raises NotReal for an exponent beyond ±1000."""
        if abs(exponent) > _MOST_POWER:
            raise NotReal(f"an exponent must be at most {_MOST_POWER}")
        result = ONE
        for _ in range(abs(exponent)):
            result = result * self
        return result if exponent >= 0 else ONE / result

    def __add__(self, other: Real) -> Real:
        if not self.sign or not other.sign:
            return self if self.sign else other
        ratio = (self / other).rational
        if ratio is not None:
            return other * Real.from_rational(1 + ratio)
        return _total((self, other))

    def __sub__(self, other: Real) -> Real:
        return self + -other

    def sqrt(self) -> Real:
        """The square root. Raises NotReal for a negative number."""
        if self.sign < 0:
            raise NotReal("a negative number has no root")
        if not self.sign:
            return ZERO
        return _canonical(1, self.base, 2 * self.root, tuple((atom, power / 2) for atom, power in self.atoms))

    def exp(self) -> Real:
        rational = self.rational
        if rational is not None:
            return ONE if not rational else Real(1, Fraction(1), 1, ((_E, rational),))
        match self.atoms:
            case ((Irrational(function="+", arguments=terms), power),) if power == 1 and self.root == 1:
                result = ONE
                for term in terms:
                    result = result * (term * Real.from_rational(self.sign * self.base)).exp()
                return result
            # e to the power of c·log(r) is r^c.
            case ((Irrational(function="log", arguments=(inner,)), power),) if power == 1 and self.root == 1:
                above, below = (self.sign * self.base).as_integer_ratio()
                halvings = below.bit_length() - 1
                if abs(above) <= _MOST_POWER and below == 2**halvings <= _MOST_POWER:
                    result = inner.power(above)
                    for _ in range(halvings):
                        result = result.sqrt()
                    return result
        return Real(1, Fraction(1), 1, ((Irrational("exp", (self,)), Fraction(1)),))

    def log(self) -> Real:
        """The logarithm. Raises NotReal if the number is not positive."""
        if self.sign <= 0:
            raise NotReal("a logarithm needs a positive number")
        rational = self.rational
        if rational is not None and rational <= 1:
            return ZERO if rational == 1 else -((ONE / self).log())
        if not self.atoms and self.root > 1:
            return Real.from_rational(self.base).log() / Real.from_rational(self.root)
        match self.atoms:
            case ((atom, power),) if atom == _E and rational is None and self.base == 1:
                return Real.from_rational(power)
        if rational is not None:
            exponent, root = _perfect_power(rational)
            if exponent > 1:
                return Real.from_rational(root).log() * Real.from_rational(exponent)
        return _signed(Irrational("log", (self,)))

    def erfc(self) -> Real:
        """The complementary error function at this number, a positive number."""
        return ONE if not self.sign else Real(1, Fraction(1), 1, ((Irrational("erfc", (self,)), Fraction(1)),))


ZERO, ONE = Real(0, Fraction(1)), Real(1, Fraction(1))
_E = Irrational("exp", (ONE,))


def _canonical(sign: int, base: Fraction, root: int, atoms: tuple[tuple[Irrational, Fraction], ...]) -> Real:
    while root > 1:
        above, below = isqrt(base.numerator), isqrt(base.denominator)
        if above**2 != base.numerator or below**2 != base.denominator:
            break
        base, root = Fraction(above, below), root // 2
    return Real(sign, base, root, atoms)


def _perfect_power(value: Fraction) -> tuple[int, Fraction]:
    """Return (n, r) with r^n = `value` > 1 and n as great as possible."""
    import flint

    most = value.numerator.bit_length()
    for exponent in range(min(most, _MOST_POWER), 1, -1):
        above, below = (int(flint.fmpz(number).root(exponent)) for number in value.as_integer_ratio())
        if above**exponent == value.numerator and below**exponent == value.denominator:
            return exponent, Fraction(above, below)
    return 1, value


def _in_logarithms(value: Real) -> tuple[Fraction, Fraction] | None:
    """Rational numbers (q, r) such that `value` is q·log(r), or None if no such numbers are found."""
    match value.atoms:
        case ((Irrational(function="log", arguments=(inner,)), power),) if power == 1 and value.root == 1:
            return None if inner.rational is None else (value.sign * value.base, inner.rational)
    return None


def _merged_logarithms(numbers: Sequence[Real]) -> list[Real]:
    """Return `numbers` with one logarithm in place of all multiples q·log(a), with rational q and a.

    The new logarithm is the sum of those that it replaces. If it would be too long, `numbers` are returned unchanged.
    """
    logarithms = [known for number in numbers if (known := _in_logarithms(number)) is not None]
    if len(logarithms) < 2:
        return list(numbers)
    scale = lcm(*(factor.denominator for factor, _ in logarithms))
    counts = [(int(factor * scale), base) for factor, base in logarithms]
    size = sum(abs(count) * max(map(int.bit_length, base.as_integer_ratio())) for count, base in counts)
    if size > _MOST_BITS:
        return list(numbers)
    whole = prod((base**count for count, base in counts), start=Fraction(1))
    others = [number for number in numbers if _in_logarithms(number) is None]
    return [*others, Real.from_rational(whole).log() * Real.from_rational(Fraction(1, scale))]


def _total(numbers: Sequence[Real]) -> Real:
    """The sum of `numbers`, in which summands with a rational ratio are merged.

    Two or more remaining summands become one irrational number written as a sum.
    """
    flat: list[Real] = []
    for number in numbers:
        match number:
            case Real(base=base, root=1, atoms=((Irrational(function="+", arguments=inside), power),)) if power == 1:
                flat += [each * Real.from_rational(number.sign * base) for each in inside]
            case _:
                flat.append(number)
    merged: list[Real] = []
    for each in _merged_logarithms(flat):
        for index, other in enumerate(merged):
            ratio = (each / other).rational if other.sign else None
            if ratio is not None:
                merged[index] = other * Real.from_rational(1 + ratio)
                break
        else:
            merged.append(each)
    merged = sorted((each for each in merged if each.sign), key=str)
    if len(merged) < 2:
        return merged[0] if merged else ZERO
    return _signed(Irrational("+", tuple(merged)))


def _signed(atom: Irrational) -> Real:
    """The number `atom`, positive or negative, as a real number with its sign.

    Raises NotReal if the sign is not found.
    """
    import flint

    bits = _FIRST_BITS
    while bits <= _MOST_BITS:
        with flint.ctx.workprec(bits):
            ball = atom.ball()
        if ball > 0:
            return Real(1, Fraction(1), 1, ((atom, Fraction(1)),))
        if ball < 0:
            if atom.function == "+":
                atom = Irrational("+", tuple(sorted((-each for each in atom.arguments), key=str)))
                return Real(-1, Fraction(1), 1, ((atom, Fraction(1)),))
            return -((ONE / atom.arguments[0]).log())
        bits *= 4
    raise NotReal(f"the sign of {atom} was not found: it may be 0")


def _factor(atom: Irrational, exponent: Fraction, above: list[str], below: list[str]) -> None:
    if atom == _E:
        above.append(f"exp({exponent})")
        return
    side, count = (above, exponent) if exponent > 0 else (below, -exponent)
    whole, rest = divmod(count, 1)
    if whole:
        side.append(str(atom) if whole == 1 else f"{atom}^{whole}")
    if rest:
        halvings, inner = 0, str(atom) if rest.numerator == 1 else f"{atom}^{rest.numerator}"
        while 2**halvings < rest.denominator:
            halvings, inner = halvings + 1, f"sqrt({inner})"
        side.append(inner)
