"""Rationals in place of the irrational numbers of a claim, chosen so that the claim becomes stronger.

A claim follows from what was proved if a stronger claim does. So each irrational number is replaced by a rational that
makes the expression smaller, for every eps > 0 and all distances. The rational is a lower bound where the expression
grows with the number, and an upper bound where it falls. If the claim is to be refuted, the expression is made larger
instead. Integer multiples of logarithms in exponents are exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from dipc.verifier.reading import Budget, NotDerived
from dipc.verifier.reals import Number, exact_root, exponential_around
from dipc.verifier.syntax import Apply, Epsilon, Expr, Literal, Name, expression_text, nodes, read_expression

#: The bits of the rationals, the greatest exponent, and the most bits of an exact power.
_BITS, _MOST_POWER, _MOST_BITS = 160, 1_000, 20_000

Ends = tuple[Fraction, Fraction]

#: The numbers that are at least 0 and differ from input to input.
_DISTANCES = ("alpha", "gamma", "dd", "α", "γ")


def rational_bound(text: str, constants: Mapping[str, Fraction], budget: Budget, *, above: bool) -> str:
    """Return an expression without irrational numbers that is nowhere greater than `text`.

    If `above` is true, it is nowhere less than `text` instead. `constants` has the values of the program's constants.
    An expression without irrational numbers is returned unchanged. Charges its work to `budget`. Raises NotDerived
    unless the expression is shown to grow, or to fall, with each irrational number.
    """
    tree = read_expression(text, budget)
    return expression_text(_Rounding(constants).rounded(tree, int(above))) if _has_numbers(tree) else text


def _has_numbers(tree: Expr) -> bool:
    return any(map(_is_number, nodes(tree)))


def _is_number(node: object) -> bool:
    match node:
        case Apply("log" | "sqrt"):
            return True
        case Apply("exp", (inner,)):
            return _shifts(inner)
        case Apply("^", (_, exponent)):
            return any(isinstance(each, Apply) and each.op == "/" for each in nodes(exponent)) or (
                isinstance(exponent, Literal) and Fraction(exponent.value).denominator > 1
            )
    return False


def _shifts(tree: Expr) -> bool:
    match tree:
        case Apply("+" | "-", (left, right)):
            return _shifts(left) or _shifts(right)
        case Apply("neg", (inner,)):
            return _shifts(inner)
        case Apply("*" | "/", (left, right)) if not (_is_constant(left) and _is_constant(right)):
            return _shifts(left) if _is_constant(right) else _shifts(right) if _is_constant(left) else False
        case Literal(value):
            return bool(value)
        case _:
            return _is_constant(tree)


def _is_constant(tree: Expr) -> bool:
    return not any(
        isinstance(node, Epsilon) or (isinstance(node, Name) and node.name in (*_DISTANCES, "inf"))
        for node in nodes(tree)
    )


@dataclass(frozen=True, slots=True)
class _Rounding:
    constants: Mapping[str, Fraction]

    def rounded(self, tree: Expr, side: int) -> Expr:
        """Return an expression that is everywhere at most `tree` if `side` is 0, and at least `tree` if it is 1."""
        if not _has_numbers(tree):
            return tree
        number = self._number(tree)
        if number is not None:
            return _literal(number[side])
        match tree:
            case Apply("neg", (inner,)):
                return Apply("neg", (self.rounded(inner, 1 - side),))
            case Apply("+" | "min" | "max" as op, arguments):
                return Apply(op, tuple(self.rounded(argument, side) for argument in arguments))
            case Apply("-", (left, right)):
                return Apply("-", (self.rounded(left, side), self.rounded(right, 1 - side)))
            case Apply("*" | "/" as op, (left, right)):
                sides = self._sides(op, left, right, side)
                return Apply(op, (self.rounded(left, sides[0]), self.rounded(right, sides[1])))
            case Apply("exp", (inner,)):
                logarithms, rest = self._exponent(inner)
                factor = _product_of_powers(logarithms)[side]
                power = Apply("exp", (self.rounded(rest, side),))
                return power if factor == 1 else Apply("*", (_literal(factor), power))
        raise NotDerived("it is not clear in which direction an irrational number must be rounded")

    def _sides(self, op: str, left: Expr, right: Expr, side: int) -> tuple[int, int]:
        """Return the sides to which `left` and `right`, the operands of `op`, are rounded: 0 for down, 1 for up.

        `op` is a product or a quotient, and `side` the side to which it is rounded. Raises NotDerived if a sign that
        matters is not known.
        """
        signs = self._sign(left), self._sign(right)
        first = side if signs[1] == 1 else 1 - side
        second = side if (signs[0] == 1) is (op == "*") else 1 - side
        exact = not _has_numbers(left), not _has_numbers(right)
        # An operand without irrational numbers needs no direction, and so not the sign of the other operand.
        known = (exact[0] or signs[1] != 0) and (exact[1] or signs[0] != 0)
        both = exact[0] or exact[1] or signs == (1, 1)
        if not known or not both or (op == "/" and not exact[1] and signs[1] != 1):
            raise NotDerived("an irrational number is in a product with a factor of unknown sign")
        return first, second

    def _sign(self, tree: Expr) -> int:
        """Return 1 only if `tree` is nowhere negative, -1 only if it is nowhere positive, otherwise 0."""
        number = self._number(tree)
        if number is not None:
            return 1 if number[0] >= 0 else -1 if number[1] <= 0 else 0
        match tree:
            case Epsilon() | Apply("exp" | "abs" | "erfc"):
                return 1
            case Name(name):
                return 1 if name in (*_DISTANCES, "inf") else 0
            case Apply("neg", (inner,)):
                return -self._sign(inner)
            case Apply("*" | "/", (left, right)):
                return self._sign(left) * self._sign(right)
            case Apply("+" | "min" | "max", arguments):
                signs = {self._sign(argument) for argument in arguments}
                return signs.pop() if len(signs) == 1 else 0
            case Apply("-", (left, right)):
                return self._sign(left) if self._sign(left) == -self._sign(right) else 0
        return 0

    def _number(self, tree: Expr) -> Ends | None:
        """Return rationals around the number `tree`, equal ones if it is rational; None if `tree` is not a number."""
        match tree:
            case Literal(Fraction() as value):
                return value, value
            case Name(name) if name in self.constants:
                return self.constants[name], self.constants[name]
            case Apply("exp", (inner,)) if _is_constant(inner):
                logarithms, rest = self._exponent(inner)
                number, factor = self._number(rest), _product_of_powers(logarithms)
                if number is None:
                    return None
                around = (Fraction(1), Fraction(1)) if not any(number) else exponential_around(*number, _BITS)
                return factor[0] * around[0], factor[1] * around[1]
            case Apply("^", (Apply("sqrt", (inner,)), exponent)):
                return self._number(Apply("^", (inner, Apply("/", (exponent, Literal(Fraction(2)))))))
            case Apply(op, arguments):
                numbers = [self._number(argument) for argument in arguments]
                known = [ends for ends in numbers if ends is not None]
                return _applied(op, known) if len(known) == len(numbers) else None
        return None

    def _exponent(self, tree: Expr) -> tuple[dict[Fraction, Fraction], Expr]:
        """Split the exponent `tree` into Σ q·log(r) and a rest: return q for each rational r, and the rest."""
        match tree:
            case Apply("log", (Apply("sqrt", (inner,)),)):
                return self._times(Apply("log", (inner,)), Fraction(1, 2))
            case Apply("log", (inner,)):
                number = self._number(inner)
                if number is not None and number[0] == number[1] > 0:
                    return {number[0]: Fraction(1)}, Literal(Fraction(0))
            case Apply("neg", (inner,)):
                return self._times(inner, Fraction(-1))
            case Apply("+" | "-" as op, (left, right)):
                logarithms, rest = self._exponent(left)
                others, more = self._times(right, Fraction(1 if op == "+" else -1))
                for base, count in others.items():
                    logarithms[base] = logarithms.get(base, Fraction(0)) + count
                return logarithms, rest if more == Literal(Fraction(0)) else Apply("+", (rest, more))
            case Apply("*" | "/" as op, (left, right)):
                for factor, other in ((right, left), (left, right))[: 2 if op == "*" else 1]:
                    number = self._number(factor)
                    if number is not None and number[0] == number[1] and (op == "*" or number[0]):
                        return self._times(other, number[0] if op == "*" else 1 / number[0])
        return {}, tree

    def _times(self, tree: Expr, factor: Fraction) -> tuple[dict[Fraction, Fraction], Expr]:
        logarithms, rest = self._exponent(tree)
        if rest != Literal(Fraction(0)):
            rest = Apply("*", (_literal(factor), rest))
        return {base: count * factor for base, count in logarithms.items()}, rest


def _literal(value: Fraction) -> Expr:
    size = Literal(abs(value))
    return size if value >= 0 else Apply("neg", (size,))


def _product_of_powers(logarithms: Mapping[Fraction, Fraction]) -> Ends:
    """Return rationals around the product of r^q for the pairs r, q of `logarithms`.

    If the product is shown to be rational, both are equal to it.
    """
    below = above = Fraction(1)
    for base, exponent in logarithms.items():
        size = max(map(int.bit_length, base.as_integer_ratio()))
        if abs(exponent) > _MOST_POWER or size * abs(exponent) > _MOST_BITS:
            raise NotDerived("a power is too high")
        root = exact_root(base, exponent.denominator)
        if root is not None:
            below, above = below * root**exponent.numerator, above * root**exponent.numerator
        else:
            low, high = Number(base).logarithm.ends(_BITS + 64)
            least, most = sorted((low * exponent, high * exponent))
            around = exponential_around(least, most, _BITS)
            below, above = below * around[0], above * around[1]
    return below, above


def _applied(op: str, numbers: list[Ends]) -> Ends | None:
    """Return rationals around the result of the operation `op` on numbers that lie between the ends in `numbers`.

    Return None if the operation is not known or has no result, such as a quotient by a number that may be 0.
    """
    match op, numbers:
        case "neg", [(low, high)]:
            return -high, -low
        case "+", [(low, high), (least, most)]:
            return low + least, high + most
        case "-", [(low, high), (least, most)]:
            return low - most, high - least
        case "*", [one, two]:
            corners = [x * y for x, y in product(one, two)]
            return min(corners), max(corners)
        case "/", [one, (least, most)] if not least <= 0 <= most:
            corners = [x / y for x, y in product(one, (least, most))]
            return min(corners), max(corners)
        case "^", [(low, high), (least, most)] if least == most and abs(least) <= _MOST_POWER and low > 0:
            if least.denominator == 1:
                ends = sorted((low ** int(least), high ** int(least)))
            else:
                ends = sorted(end for x in (low, high) for end in _product_of_powers({x: least}))
            return ends[0], ends[-1]
        case "min" | "max", _:
            pick = min if op == "min" else max
            return pick(low for low, _ in numbers), pick(high for _, high in numbers)
        case "abs", [(low, high)]:
            return (Fraction(0) if low < 0 < high else min(abs(low), abs(high))), max(abs(low), abs(high))
        case "sqrt", [(low, high)] if low >= 0:
            roots = [Number(end).root.ends(_BITS) if end else (Fraction(0), Fraction(0)) for end in (low, high)]
            return roots[0][0], roots[1][1]
        case "log", [(low, high)] if low > 0:
            return Number(low).logarithm.ends(_BITS)[0], Number(high).logarithm.ends(_BITS)[1]
    return None
