"""Expressions in the number of queries m: quotients of polynomials in m, and exponentials of such quotients times eps.

In the program's rates and in the claim, eps often occurs together with m, as in Lap(eps/(2*m), q[i]) and
m*exp(-alpha*eps/(2*m)). A variable e replaces eps:

    eps = scale(m)·e

For a suitable scale such as m, exponents and rates that are written in e do not contain m, and beta is a polynomial in
m.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import flint

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.numbers import to_fmpq, to_fraction
from dipc.algebra.parametric import Factors, Parametric, merged_factors
from dipc.claims import conditions
from dipc.claims.expression import DISTANCES, ClaimExpression
from dipc.claims.expression import summands as summands_of
from dipc.frozen import frozen
from dipc.questions.every_number.uniform import NotUniform
from dipc.sign.interval import Interval
from dipc.text import ast
from dipc.text.ast import GREEK
from dipc.text.diagnostic import SourceText

#: The number of starts that are tried to prove that values never fall, or never rise, from a start on.
_LATER = 20

#: A polynomial in the number, with rational coefficients.
Polynomial = Any


@frozen(eq=False)
class RationalFunction:
    """A quotient of two polynomials in m without common factors; the denominator's leading coefficient is 1."""

    numerator: Polynomial
    denominator: Polynomial

    @staticmethod
    def reduced(numerator: Polynomial, denominator: Polynomial) -> RationalFunction:
        """Return the reduced quotient of `numerator` and `denominator`. Raises ZeroDivisionError for a divisor 0."""
        if not denominator:
            raise ZeroDivisionError
        if denominator == _ONE:
            return RationalFunction(numerator, _ONE)
        common = numerator.gcd(denominator)
        numerator, denominator = numerator // common, denominator // common
        leading = denominator[denominator.degree()]
        return RationalFunction(numerator / leading, denominator / leading)

    @staticmethod
    def constant(value: Fraction | int) -> RationalFunction:
        return RationalFunction(flint.fmpq_poly([to_fmpq(value)]), _ONE)

    @staticmethod
    def number() -> RationalFunction:
        """Return the function whose value is m."""
        return RationalFunction(flint.fmpq_poly([0, 1]), _ONE)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RationalFunction):
            return NotImplemented
        return bool(self.numerator == other.numerator and self.denominator == other.denominator)

    def __hash__(self) -> int:
        return hash((self.numerator.degree(), self.denominator.degree()))

    def __reduce__(self) -> tuple[Any, ...]:
        coefficients = [[to_fraction(c) for c in poly.coeffs()] for poly in (self.numerator, self.denominator)]
        return _of_coefficients, tuple(coefficients)

    def __add__(self, other: RationalFunction) -> RationalFunction:
        numerator = self.numerator * other.denominator + other.numerator * self.denominator
        return RationalFunction.reduced(numerator, self.denominator * other.denominator)

    def __sub__(self, other: RationalFunction) -> RationalFunction:
        return self + other * RationalFunction.constant(-1)

    def __mul__(self, other: RationalFunction) -> RationalFunction:
        return RationalFunction.reduced(self.numerator * other.numerator, self.denominator * other.denominator)

    def __truediv__(self, other: RationalFunction) -> RationalFunction:
        return RationalFunction.reduced(self.numerator * other.denominator, self.denominator * other.numerator)

    def inverse(self) -> RationalFunction:
        """Return c/f for this function f, with the constant c for which both leading coefficients of the result are 1.

        Raises ZeroDivisionError if f is 0.
        """
        leading = self.numerator[self.numerator.degree()]
        return RationalFunction.reduced(self.denominator, self.numerator / leading)

    def is_zero(self) -> bool:
        return not self.numerator

    def constant_value(self) -> Fraction | None:
        """Return the value if the function is constant, else None."""
        if self.denominator.degree() > 0 or self.numerator.degree() > 0:
            return None
        return to_fraction(self.numerator[0])

    def polynomial(self) -> Polynomial | None:
        """Return the numerator if the denominator is constant, else None."""
        return self.numerator if self.denominator.degree() == 0 else None

    def value_at(self, number: int) -> Fraction:
        """Return the value at m = `number`; raise ZeroDivisionError if there is none."""
        return to_fraction(self.numerator(flint.fmpq(number))) / to_fraction(self.denominator(flint.fmpq(number)))

    def has_sign_from(self, start: int) -> bool:
        """Return True only if the function is defined and not 0 for every m >= `start`."""
        return bool(sign_from(self.numerator, start) and sign_from(self.denominator, start))

    def is_positive_from(self, start: int) -> bool:
        """Return True only if the function is positive for every m >= `start`."""
        return sign_from(self.numerator, start) * sign_from(self.denominator, start) > 0

    def is_nonnegative_from(self, start: int) -> bool:
        """Return True only if the function is at least 0 for every m >= `start`."""
        signs = sign_from(self.numerator, start, zero=True), sign_from(self.denominator, start)
        return self.is_zero() or signs[0] * signs[1] > 0

    def supremum_from(self, start: int) -> Fraction | None:
        """Return the greater of 0 and the supremum over m >= `start`; None if it is infinite or not known."""
        before = Fraction(0)
        for number in range(start, start + _LATER):
            if self.never_falls_from(number):
                degrees = self.numerator.degree() - self.denominator.degree()
                if degrees > 0:
                    return None
                # The denominator's leading coefficient is 1.
                end = to_fraction(self.numerator[self.numerator.degree()]) if not degrees else Fraction(0)
                return max(before, end)
            if (self * RationalFunction.constant(-1)).never_falls_from(number):
                return max(before, self.value_at(number))
            before = max(before, self.value_at(number))
        return None

    def never_falls_from(self, start: int) -> bool:
        """Return True only if the function is defined and nondecreasing for m >= `start`."""
        slope = self.numerator.derivative() * self.denominator - self.numerator * self.denominator.derivative()
        return bool(sign_from(self.denominator, start)) and (not slope or sign_from(slope, start, zero=True) > 0)

    def text(self, name: str, what: str = "eps") -> str:
        """Return the product of this function and `what` as people write it, such as eps/(2*m) or (3*m + 1)*eps/2.

        `name` is printed for m. If `what` is empty, only the function is printed: (m + 1)/2.
        """
        if self.is_zero():
            return "0"
        coefficients = [to_fraction(c) for poly in (self.numerator, self.denominator) for c in poly.coeffs()]
        scale = Fraction(lcm(*(c.denominator for c in coefficients)))
        scale /= gcd(*(int(c * scale) for c in coefficients))
        above, below = (_polynomial_text(poly * to_fmpq(scale), name) for poly in (self.numerator, self.denominator))
        divisor = "" if below == "1" else f"/({below})" if {" ", "*"} & set(below) else f"/{below}"
        factors = [] if above == "1" and what else [f"({above})" if " " in above and (what or divisor) else above]
        return "*".join([*factors, *([what] if what else [])]) + divisor


def common_unit(ratios: Sequence[RationalFunction]) -> RationalFunction | None:
    """Return the first of the functions `ratios` if all of them are rational multiples of it, else None."""
    if not ratios or any((ratio / ratios[0]).constant_value() is None for ratio in ratios):
        return None
    return ratios[0]


def _polynomial_text(polynomial: Polynomial, name: str) -> str:
    text = ""
    for power in range(polynomial.degree(), -1, -1):
        c = int(to_fraction(polynomial[power]))
        if not c:
            continue
        sign = ("-" if c < 0 else "") if not text else (" - " if c < 0 else " + ")
        factors = [str(abs(c))] if abs(c) != 1 or not power else []
        if power:
            factors.append(name if power == 1 else f"{name}^{power}")
        text += sign + "*".join(factors)
    return text or "0"


def _of_coefficients(numerator: list[Fraction], denominator: list[Fraction]) -> RationalFunction:
    return RationalFunction(*(flint.fmpq_poly([to_fmpq(c) for c in shares]) for shares in (numerator, denominator)))


_ONE: Polynomial = flint.fmpq_poly([1])


def sign_from(polynomial: Polynomial, start: int, *, zero: bool = False) -> int:
    """Return 1 or -1 if `polynomial` is proved to have this sign for all m >= `start`, and 0 without a proof.

    The proof is that all its coefficients in powers of (m - `start`) have this sign. With `zero` the polynomial may be
    0 at m = `start`.
    """
    coefficients = shifted(polynomial, start)
    if not coefficients or not (zero or coefficients[0]):
        return 0
    for sign in (1, -1):
        if all(sign * c >= 0 for c in coefficients):
            return sign
    return 0


def shifted(polynomial: Polynomial, start: int) -> list[Fraction]:
    """Return the coefficients of `polynomial` in powers of (m - `start`)."""
    return [to_fraction(c) for c in polynomial(flint.fmpq_poly([start, 1])).coeffs()]


#: The function 1.
ONE = RationalFunction.constant(1)


#: The greatest power of the number.
MOST_DEGREE = 8

#: The greatest number of summands of an expression after multiplying out, and of factors of a power.
MOST_SUMMANDS = 1_000
MOST_FACTORS = 200

_EPS = "eps"
_ZERO = Fraction(0)

#: The sum Σ ratio·Π U^j·e^{r·U·eps}, keyed by the unknowns with their powers and rates; for the unknown eps the factor
#: is eps^j·e^{r·eps}. No ratio is 0, and no factor has j = r = 0.
Summands = dict[Factors, RationalFunction]


class OtherScale(NotUniform):
    """Raised if an exponent such as eps/m contains m; a variable in place of eps, such as eps/m, may avoid this.

    `rate` is the multiple of eps in this exponent, a function of m.
    """

    def __init__(self, reason: str, rate: RationalFunction) -> None:
        super().__init__(reason)
        self.rate = rate


@frozen
class InNumber:
    """An evaluator that writes an expression as a sum of terms in e and in the constant `parameter`, called m.

    The variable e replaces eps: eps = `scale`·e, where `scale` is a function of m such as m itself. `what` describes
    the expression in error messages. `names` maps the names that may occur in the expression to their values.
    `divisors` collects the functions of m by which something was divided.
    """

    what: str
    parameter: str
    names: Mapping[str, Summands]
    scale: RationalFunction
    #: The divisors met so far, which must not be 0.
    divisors: list[RationalFunction] = field(default_factory=list)

    def value(self, tree: ast.Expr) -> Summands:
        """Return the value of `tree` as a sum of terms in m and e, where eps = scale·e.

        Raises NotUniform if it is not such a sum, and OtherScale if it may become one with another scale.
        """
        match tree:
            case ast.Number(value=number):
                return constant(number)
            case ast.Eps():
                return {((_EPS, 1, _ZERO),): self.scale}
            case ast.Name(name=name):
                return self._name(name)
            case ast.Unary(op=ast.UnaryOp.NEGATE, operand=operand):
                return _scaled(self.value(operand), RationalFunction.constant(-1))
            case ast.Binary(op=ast.BinaryOp.ADD, left=left, right=right):
                return _plus(self.value(left), self.value(right))
            case ast.Binary(op=ast.BinaryOp.SUBTRACT, left=left, right=right):
                return _plus(self.value(left), _scaled(self.value(right), RationalFunction.constant(-1)))
            case ast.Binary(op=ast.BinaryOp.MULTIPLY, left=left, right=right):
                return self._times(self.value(left), self.value(right))
            case ast.Binary(op=ast.BinaryOp.DIVIDE, left=left, right=right):
                return self._times(self.value(left), self._inverse(self.value(right)))
            case ast.Binary(op=ast.BinaryOp.POWER, left=left, right=right):
                return self._power(self.value(left), self.value(right))
            case ast.Call(function="exp", arguments=(argument,)):
                return self._exponential(argument)
            case ast.Call(function="min" | "max" | "abs"):
                raise NotUniform(f"{self.what} has a minimum, a maximum or an absolute value")
            case _:
                raise self._refused()

    def lesser(self, tree: ast.Expr, start: int) -> Summands:
        """Return a lower bound of `tree` for all m >= `start`, as a sum of terms in m and e, where eps = scale·e.

        Some summands of `tree` are such sums only with another scale. They are left out if they are proved to be at
        least 0. Raises NotUniform if the rest is not such a sum, and OtherScale if it may become one with another
        scale.
        """
        total: Summands = {}
        for term in summands_of(tree):
            try:
                total = _plus(total, self.value(term))
            except OtherScale:
                if not self._is_proved_nonnegative(term, start):
                    raise
        return total

    def _is_proved_nonnegative(self, tree: ast.Expr, start: int) -> bool:
        names = {name: Parametric.unknown(name) for name in DISTANCES}
        names[self.parameter] = Parametric.number(start) + Parametric.unknown(self.parameter)
        for name, value in self.names.items():
            if value.keys() == {()} and value[()].is_positive_from(start):
                names[name] = Parametric.unknown(name)
        expression = ClaimExpression(self.what, SourceText("", ""), tree)
        found = conditions.trend(expression, self.parameter, names, [Interval.POSITIVE])
        return found.nonnegative and found.continuous

    def _refused(self) -> NotUniform:
        return NotUniform(f"{self.what} is not a polynomial in `{self.parameter}`")

    def _name(self, name: str) -> Summands:
        known = name if name in self.names else GREEK.get(name, name)
        if known == self.parameter:
            return {(): RationalFunction.number()}
        if known not in self.names:
            raise NotUniform(f"{self.what} depends on `{name}`")
        return self.names[known]

    def _times(self, left: Summands, right: Summands) -> Summands:
        if len(left) * len(right) > MOST_SUMMANDS:
            raise NotUniform(f"{self.what} has too many terms when multiplied out")
        total: Summands = {}
        for one, a in left.items():
            for other, b in right.items():
                factors = merged_factors(one, other)
                total[factors] = total[factors] + a * b if factors in total else a * b
        return {factors: ratio for factors, ratio in total.items() if not ratio.is_zero()}

    def _power(self, base: Summands, exponent: Summands) -> Summands:
        known = exponent.get((), RationalFunction.constant(0)).constant_value()
        count = None if known is None or exponent.keys() - {()} else known
        if count is None or count.denominator != 1 or abs(count) > MOST_FACTORS:
            raise self._refused()
        result = constant(Fraction(1))
        for _ in range(abs(int(count))):
            result = self._times(result, base)
        return result if count >= 0 else self._inverse(result)

    def _inverse(self, divisor: Summands) -> Summands:
        if any(name != _EPS for factors in divisor for name, _, _ in factors):
            raise NotUniform(f"{self.what} divides by a distance that is left open")
        match list(divisor.items()):
            case [(factors, ratio)] if not any(j for _, j, _ in factors):
                self.divisors.append(ratio)
                return {tuple((name, 0, -r) for name, _, r in factors): RationalFunction.constant(1) / ratio}
        raise self._refused()

    def _exponential(self, argument: ast.Expr) -> Summands:
        rates: list[tuple[str, int, Fraction]] = []
        for factors, ratio in self.value(argument).items():
            match factors:
                case (("eps", 1, r),) if not r:
                    name = _EPS
                case (("eps", 1, r), (other, 1, s)) | ((other, 1, s), ("eps", 1, r)) if not r and not s:
                    name = other
                case _:
                    raise self._refused()
            rate = ratio.constant_value()
            if rate is None:
                raise OtherScale(self._refused().reason, ratio / self.scale)
            rates.append((name, 0, rate))
        return {tuple(sorted(rates)): RationalFunction.constant(1)}


def constant(value: Fraction) -> Summands:
    """Return the number `value` as a sum with at most one term."""
    return {(): RationalFunction.constant(value)} if value else {}


def summands(value: Parametric) -> Summands | None:
    """Return `value` as a sum of terms if it is a polynomial in its unknowns and does not contain eps, else None."""
    if value.denominator != ExpPoly.ONE:
        return None
    total: Summands = {}
    for k, q, factors, c in value.terms():
        if k or q or any(r for _, _, r in factors):
            return None
        total[factors] = RationalFunction.constant(c)
    return total


def polynomial(evaluation: InNumber, tree: ast.Expr, start: int, *, lesser: bool = False) -> dict[int, Parametric]:
    """Return `tree` as a polynomial in m - `start`: a mapping from each power to its coefficient, a function of e.

    `evaluation` evaluates `tree` in terms of m and of a variable e, where eps = scale(m)·e; its class explains this.
    With `lesser` the polynomial is only a lower bound of `tree`. Raises NotUniform unless such a polynomial, valid for
    all m >= `start`, is found.
    """
    terms = evaluation.lesser(tree, start) if lesser else evaluation.value(tree)
    what, parameter = evaluation.what, evaluation.parameter
    if not all(divisor.has_sign_from(start) for divisor in evaluation.divisors):
        raise NotUniform(f"{what} divides by something that may be 0 for some `{parameter}`")
    collected: dict[int, dict[Factors, dict[tuple[int, Fraction], Fraction]]] = {}
    for factors, ratio in terms.items():
        value = ratio.polynomial()
        if value is None:
            raise NotUniform(f"{what} is not a polynomial in `{parameter}`")
        if value.degree() > MOST_DEGREE:
            raise NotUniform(f"beta has a degree of more than {MOST_DEGREE} in the number of queries")
        own = next(((k, q) for name, k, q in factors if name == _EPS), (0, _ZERO))
        others = tuple(factor for factor in factors if factor[0] != _EPS)
        for power, c in enumerate(shifted(value, start)):
            if c:
                collected.setdefault(power, {}).setdefault(others, {})[own] = c
    return {
        power: Parametric(
            {
                others: ExpPoly.from_terms([(k, q, c) for (k, q), c in terms.items()])
                for others, terms in by_factors.items()
            },
            ExpPoly.ONE,
        )
        for power, by_factors in collected.items()
    }


def rate_of(evaluation: InNumber, tree: ast.Expr) -> RationalFunction:
    """Return the function of m by which eps is multiplied in the rate `tree`; `evaluation` evaluates `tree`.

    Raises NotUniform if `tree` is not such a multiple of eps.
    """
    match list(evaluation.value(tree).items()):
        case [((("eps", 1, r),), ratio)] if not r:
            return ratio
    raise NotUniform("a rate is not a multiple of eps", tree.span)


def _plus(left: Summands, right: Summands) -> Summands:
    total = dict(left)
    for factors, ratio in right.items():
        total[factors] = total[factors] + ratio if factors in total else ratio
    return {factors: ratio for factors, ratio in total.items() if not ratio.is_zero()}


def _scaled(value: Summands, factor: RationalFunction) -> Summands:
    return {factors: ratio * factor for factors, ratio in value.items()}
