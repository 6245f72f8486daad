"""Expressions of claims and rates in one constant, whose values are left open: with quotients of polynomials in it.

    eps = scale(m)·e

In the program's rates and in the claim eps often comes with the number of queries, as in Lap(eps/(2*m), q[i]) and
m*exp(-alpha*eps/(2*m)). In the unit e, for a scale such as m, the number is in neither exponent nor rate any more, and
beta is a polynomial in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.parametric import Factors, Parametric
from dipc.lang import ast
from dipc.lang.tree import GREEK
from dipc.sources.every_number.ratio import Ratio, shifted, sign_from
from dipc.sources.every_number.uniform import NotUniform

#: The greatest power.
MOST_DEGREE = 8

#: Summands of one expression after multiplying out, and factors of a power.
MOST_SUMMANDS = 1_000
MOST_FACTORS = 200

_EPS = "eps"
_DISTANCES = ("alpha", "gamma", "dd")
_ZERO = Fraction(0)

#: Σ ratio·Π U^j·e^{r·U·eps} by the unknowns with their powers and rates; that of eps itself is e^{r·eps}. No ratio is
#: 0, and no factor has j = r = 0.
Summands = dict[Factors, Ratio]


class OtherScale(NotUniform):
    """An exponent has this multiple of eps, which is not the same for every number: in another unit it may be."""

    def __init__(self, reason: str, rate: Ratio) -> None:
        super().__init__(reason)
        self.rate = rate


@dataclass(frozen=True, slots=True)
class InNumber:
    """Evaluates expressions about `what`, with these values of `names`, for every value of the parameter."""

    what: str
    parameter: str
    names: Mapping[str, Summands]
    scale: Ratio
    #: What was divided by: it must not be 0.
    divisors: list[Ratio] = field(default_factory=list)

    def value(self, tree: ast.Expr) -> Summands:
        """Raises NotUniform for what is no such expression, OtherScale where it may be one in another unit."""
        match tree:
            case ast.Number(value=number):
                return constant(number)
            case ast.Eps():
                return {((_EPS, 1, _ZERO),): self.scale}
            case ast.Name(name=name):
                return self._name(name)
            case ast.Unary(op=ast.UnaryOp.NEGATE, operand=operand):
                return _scaled(self.value(operand), Ratio.constant(-1))
            case ast.Binary(op=ast.BinaryOp.ADD, left=left, right=right):
                return _plus(self.value(left), self.value(right))
            case ast.Binary(op=ast.BinaryOp.SUBTRACT, left=left, right=right):
                return _plus(self.value(left), _scaled(self.value(right), Ratio.constant(-1)))
            case ast.Binary(op=ast.BinaryOp.MULTIPLY, left=left, right=right):
                return self._times(self.value(left), self.value(right))
            case ast.Binary(op=ast.BinaryOp.DIVIDE, left=left, right=right):
                return self._times(self.value(left), self._inverse(self.value(right)))
            case ast.Binary(op=ast.BinaryOp.POWER, left=left, right=ast.Number(value=count)):
                return self._power(self.value(left), int(count))
            case ast.Call(function="exp", arguments=(argument,)):
                return self._exponential(argument)
            case ast.Call(function="min" | "max" | "abs"):
                raise NotUniform(f"{self.what} has a minimum, a maximum or an absolute value")
            case _:
                raise self._refused()

    def lesser(self, tree: ast.Expr, start: int) -> Summands:
        """The value of an expression that is nowhere greater, for numbers from `start` on: without summands that are at
        least 0 and that may be such expressions in another unit. Raises as `value` does for all others."""
        try:
            return self.value(tree)
        except OtherScale:
            match tree:
                case ast.Binary(op=ast.BinaryOp.ADD, left=left, right=right):
                    return _plus(self.lesser(left, start), self.lesser(right, start))
                case ast.Binary(op=ast.BinaryOp.SUBTRACT, left=left, right=right):
                    return _plus(self.lesser(left, start), _scaled(self.value(right), Ratio.constant(-1)))
                case _ if self._is_positive(tree, start):
                    return {}
            raise

    def _is_positive(self, tree: ast.Expr, start: int) -> bool:
        """Whether an expression is seen to be at least 0 for numbers from `start` on."""
        match tree:
            case ast.Number(value=number):
                return number >= 0
            case ast.Eps() | ast.Call(function="exp"):
                return True
            case ast.Name(name=name):
                known = GREEK.get(name, name)
                if known == self.parameter:
                    return start >= 0
                value = self.names.get(known, {})
                return known in _DISTANCES or (value.keys() == {()} and value[()].is_positive_from(start))
            case ast.Binary(op=ast.BinaryOp.ADD | ast.BinaryOp.MULTIPLY | ast.BinaryOp.DIVIDE, left=left, right=right):
                return self._is_positive(left, start) and self._is_positive(right, start)
            case ast.Binary(op=ast.BinaryOp.POWER, left=left):
                return self._is_positive(left, start)
        return False

    def require_divisors(self, start: int) -> None:
        """Raises NotUniform where something that was divided by may be 0 for a number from `start` on."""
        for divisor in self.divisors:
            if not sign_from(divisor.numerator, start) or not sign_from(divisor.denominator, start):
                raise NotUniform(f"{self.what} divides by something that may be 0 for some `{self.parameter}`")

    def _refused(self) -> NotUniform:
        return NotUniform(f"{self.what} is no polynomial in `{self.parameter}`")

    def _name(self, name: str) -> Summands:
        known = name if name in self.names else GREEK.get(name, name)
        if known == self.parameter:
            return {(): Ratio.number()}
        if known not in self.names:
            raise NotUniform(f"{self.what} depends on `{name}`")
        return self.names[known]

    def _times(self, left: Summands, right: Summands) -> Summands:
        if len(left) * len(right) > MOST_SUMMANDS:
            raise NotUniform(f"{self.what} is too long when multiplied out")
        total: Summands = {}
        for one, a in left.items():
            for other, b in right.items():
                total = _plus(total, {_merged(one, other): a * b})
        return total

    def _power(self, base: Summands, count: int) -> Summands:
        if count > MOST_FACTORS:
            raise self._refused()
        result = constant(Fraction(1))
        for _ in range(count):
            result = self._times(result, base)
        return result

    def _inverse(self, divisor: Summands) -> Summands:
        if any(name != _EPS for factors in divisor for name, _, _ in factors):
            raise NotUniform(f"{self.what} divides by a distance that is left open")
        match list(divisor.items()):
            case [(factors, ratio)] if not any(j for _, j, _ in factors):
                self.divisors.append(ratio)
                return {tuple((name, 0, -r) for name, _, r in factors): Ratio.constant(1) / ratio}
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
        return {tuple(sorted(rates)): Ratio.constant(1)}


def constant(value: Fraction) -> Summands:
    """A number."""
    return {(): Ratio.constant(value)} if value else {}


def summands(value: Parametric) -> Summands | None:
    """A polynomial in unknowns in which neither eps nor the parameter occurs; None for another function."""
    if value.denominator != ExpPoly.one():
        return None
    total: Summands = {}
    for k, q, factors, c in value.terms():
        if k or q or any(r for _, _, r in factors):
            return None
        total[factors] = Ratio.constant(c)
    return total


def polynomial(evaluation: InNumber, tree: ast.Expr, start: int, *, lesser: bool = False) -> dict[int, Parametric]:
    """By power of the parameter less `start`, the coefficients of the expression, or with `lesser` of one that is
    nowhere greater, functions of e. Raises NotUniform where it is no polynomial, for all numbers from `start` on."""
    found = evaluation.lesser(tree, start) if lesser else evaluation.value(tree)
    evaluation.require_divisors(start)
    collected: dict[int, dict[Factors, dict[tuple[int, Fraction], Fraction]]] = {}
    for factors, ratio in found.items():
        value = ratio.polynomial()
        if value is None:
            raise NotUniform(f"{evaluation.what} is no polynomial in `{evaluation.parameter}`")
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
            ExpPoly.one(),
        )
        for power, by_factors in collected.items()
    }


def rate_of(evaluation: InNumber, tree: ast.Expr) -> Ratio:
    """The multiple of eps that a rate is. Raises NotUniform where it is none."""
    match list(evaluation.value(tree).items()):
        case [((("eps", 1, r),), ratio)] if not r:
            return ratio
    raise NotUniform("a rate is no multiple of eps", tree.span)


def _plus(left: Summands, right: Summands) -> Summands:
    total = dict(left)
    for factors, ratio in right.items():
        total[factors] = total[factors] + ratio if factors in total else ratio
    return {factors: ratio for factors, ratio in total.items() if not ratio.is_zero()}


def _scaled(value: Summands, factor: Ratio) -> Summands:
    return {factors: ratio * factor for factors, ratio in value.items()}


def _merged(left: Factors, right: Factors) -> Factors:
    total = {name: (j, r) for name, j, r in left}
    for name, j, r in right:
        before = total.get(name, (0, _ZERO))
        total[name] = before[0] + j, before[1] + r
    return tuple(sorted((name, j, r) for name, (j, r) in total.items() if j or r))
