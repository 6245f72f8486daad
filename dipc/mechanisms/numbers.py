"""The numbers of a run on chosen inputs and draws: rationals that trace both, and enclosures of reals.

A `Traced` number knows its gradient, the rate at which it changes with each input and each draw of the run. Every
comparison with another number is kept. Let d be the difference of its sides, and c the gradient of d in some draw.
Numbers in mechanisms are linear in their draws, so moving the draw by -d/c makes the sides equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import flint

#: Changes of a number by variable: an input by its place, a draw by its number.
Variable = tuple[str, int]
Gradient = Mapping[Variable, Fraction]

#: Comparisons met: the difference of the sides, and its gradient.
Trace = list[tuple[Fraction, Gradient]]

#: Bits that enclosures of reals are computed with.
_BITS = 256


class Inconclusive(Exception):
    """Raised if a run ends without an answer, because it exceeds a bound or reaches code that is not run here."""


class Traced(Fraction):
    """A rational number that records how it was computed, in a run of a mechanism.

    `gradient` has its derivatives with respect to the inputs and draws of the run. `trace` collects the comparisons of
    the run. The number is `whole` where Python has an int.
    """

    __slots__ = ("gradient", "trace", "whole")
    gradient: Gradient
    trace: Trace
    whole: bool

    def __new__(cls, value: Fraction | int, gradient: Gradient, trace: Trace, *, whole: bool = False) -> Traced:
        self = super().__new__(cls, value)
        self.gradient, self.trace, self.whole = gradient, trace, whole
        return self

    def __reduce__(self) -> Any:
        return Fraction, (self.numerator, self.denominator)

    def __copy__(self) -> Traced:
        return self

    def __deepcopy__(self, memo: object) -> Traced:
        return self

    @property
    def plain(self) -> Fraction:
        """The number as a Fraction, without gradient and trace."""
        return Fraction(self.numerator, self.denominator)

    def _made(self, value: Fraction, gradient: Gradient, other: object, *, exact: bool = True) -> Traced:
        whole = exact and self.whole and (other.whole if isinstance(other, Traced) else isinstance(other, int))
        return Traced(value, gradient, self.trace, whole=whole)

    # --- arithmetic -------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, int | Fraction):
            return NotImplemented
        return self._made(Fraction.__add__(self, other), _sum(self, other, 1), other)

    def __radd__(self, other: Any) -> Any:
        return self.__add__(other)

    def __sub__(self, other: Any) -> Any:
        if not isinstance(other, int | Fraction):
            return NotImplemented
        return self._made(Fraction.__sub__(self, other), _sum(self, other, -1), other)

    def __rsub__(self, other: Any) -> Any:
        if not isinstance(other, int | Fraction):
            return NotImplemented
        return self._made(Fraction.__rsub__(self, other), _scaled(self.gradient, Fraction(-1)), other)

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, int | Fraction):
            return NotImplemented
        gradient = _scaled(self.gradient, _plain(other))
        if isinstance(other, Traced):
            gradient = _combined(gradient, _scaled(other.gradient, self.plain), 1)
        return self._made(Fraction.__mul__(self, other), gradient, other)

    def __rmul__(self, other: Any) -> Any:
        return self.__mul__(other)

    def __truediv__(self, other: Any) -> Any:
        if not isinstance(other, int | Fraction):
            return NotImplemented
        value = Fraction.__truediv__(self, other)
        below = _plain(other)
        gradient = _scaled(self.gradient, 1 / below)
        if isinstance(other, Traced):
            gradient = _combined(gradient, _scaled(other.gradient, value / below), -1)
        return self._made(value, gradient, other, exact=False)

    def __rtruediv__(self, other: Any) -> Any:
        if not isinstance(other, int | Fraction):
            return NotImplemented
        value = Fraction.__rtruediv__(self, other)
        return self._made(value, _scaled(self.gradient, -value / self.plain), other, exact=False)

    def __neg__(self) -> Traced:
        return self._made(Fraction.__neg__(self), _scaled(self.gradient, Fraction(-1)), 0)

    def __pos__(self) -> Traced:
        return self

    def __abs__(self) -> Traced:
        self._met(0)
        return -self if self.numerator < 0 else self

    def __index__(self) -> int:
        if not self.whole:
            raise TypeError("'float' object cannot be interpreted as an integer")
        return self.numerator

    # --- comparisons ------------------------------------------------------------------------------

    def _met(self, other: Any) -> bool:
        if not isinstance(other, int | Fraction):
            return False
        gradient = _sum(self, other, -1)
        if gradient:
            self.trace.append((self.plain - _plain(other), gradient))
        return True

    def __eq__(self, other: object) -> bool:
        self._met(other)
        return Fraction.__eq__(self, other)

    def __lt__(self, other: Any) -> Any:
        self._met(other)
        return Fraction.__lt__(self, other)

    def __le__(self, other: Any) -> Any:
        self._met(other)
        return Fraction.__le__(self, other)

    def __gt__(self, other: Any) -> Any:
        self._met(other)
        return Fraction.__gt__(self, other)

    def __ge__(self, other: Any) -> Any:
        self._met(other)
        return Fraction.__ge__(self, other)

    def __bool__(self) -> bool:
        self._met(0)
        return self.numerator != 0

    __hash__ = Fraction.__hash__


def _plain(number: int | Fraction) -> Fraction:
    return Fraction(number.numerator, number.denominator)


def _sum(one: Traced, other: int | Fraction, sign: int) -> Gradient:
    return _combined(one.gradient, other.gradient, sign) if isinstance(other, Traced) else one.gradient


def _combined(one: Gradient, other: Gradient, sign: int) -> Gradient:
    result = dict(one)
    for variable, change in other.items():
        total = result.get(variable, 0) + sign * change
        if total:
            result[variable] = Fraction(total)
        else:
            result.pop(variable, None)
    return result


def _scaled(gradient: Gradient, factor: Fraction) -> Gradient:
    if factor == 1:
        return gradient
    return {variable: change * factor for variable, change in gradient.items()} if factor else {}


class RealBall:
    """A real number that is not known to be rational, such as `exp(1/2)`, as a ball around it."""

    __slots__ = ("ball",)

    def __init__(self, ball: flint.arb) -> None:
        self.ball = ball

    @staticmethod
    def from_number(value: Any) -> RealBall:
        """Convert `value`, an int, a Fraction or a `RealBall`; raise the TypeError of `math.exp` for others."""
        if isinstance(value, RealBall):
            return value
        if not isinstance(value, int | Fraction):
            raise TypeError(f"must be real number, not {type(value).__name__}")
        with flint.ctx.workprec(_BITS):
            return RealBall(flint.arb(flint.fmpq(value.numerator, value.denominator)))

    @staticmethod
    def hull(low: Fraction, high: Fraction) -> RealBall:
        """Return a ball that contains both `low` and `high`."""
        with flint.ctx.workprec(_BITS):
            return RealBall(RealBall.from_number(low).ball.union(RealBall.from_number(high).ball))

    def exp(self) -> RealBall:
        with flint.ctx.workprec(_BITS):
            return RealBall(self.ball.exp())

    def log(self) -> RealBall:
        """Return the logarithm. Raises ValueError for a number that may not be positive."""
        with flint.ctx.workprec(_BITS):
            if not self.ball > 0:
                raise ValueError("math domain error")
            return RealBall(self.ball.log())

    def sqrt(self) -> RealBall:
        """Return the square root. Raises ValueError for a number that is certainly negative."""
        with flint.ctx.workprec(_BITS):
            if self.ball < 0:
                raise ValueError("math domain error")
            return RealBall(self.ball.sqrt())

    def may_equal(self, other: Any) -> bool:
        """Return False only if this number and `other` are certainly different."""
        with flint.ctx.workprec(_BITS):
            return bool(self.ball.overlaps(RealBall.from_number(other).ball))

    def _applied(self, other: Any, operation: Any) -> Any:
        if not isinstance(other, int | Fraction | RealBall):
            return NotImplemented
        with flint.ctx.workprec(_BITS):
            return RealBall(operation(self.ball, RealBall.from_number(other).ball))

    def __add__(self, other: Any) -> Any:
        return self._applied(other, lambda a, b: a + b)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._applied(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self._applied(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self._applied(other, lambda a, b: a * b)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self._applied(other, lambda a, b: a / b)

    def __rtruediv__(self, other: Any) -> Any:
        return self._applied(other, lambda a, b: b / a)

    def __neg__(self) -> RealBall:
        return RealBall(-self.ball)

    def _order(self, other: Any) -> int:
        if not isinstance(other, int | Fraction | RealBall):
            raise Inconclusive("a real number is compared with a value that is not a number")
        with flint.ctx.workprec(_BITS):
            difference = self.ball - RealBall.from_number(other).ball
            if difference > 0:
                return 1
            if difference < 0:
                return -1
        raise Inconclusive("two real numbers are too near to each other to be compared")

    def __lt__(self, other: Any) -> bool:
        return self._order(other) < 0

    def __le__(self, other: Any) -> bool:
        return self._order(other) < 0

    def __gt__(self, other: Any) -> bool:
        return self._order(other) > 0

    def __ge__(self, other: Any) -> bool:
        return self._order(other) > 0

    @property
    def text(self) -> str:
        """The number to ten digits."""
        return str(self.ball.str(10, radius=False))
