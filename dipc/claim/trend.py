"""Whether a claim expression falls as a distance grows: decided where it is one closed form, else put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from dipc.claim.surface import Growth, Surface
from dipc.lang.ast import Binary, BinaryOp, Call, Eps, Expr, Name, Number, Unary, UnaryOp
from dipc.sign import Interval

_GREEK = {"α": "alpha", "β": "beta", "γ": "gamma"}


@dataclass(frozen=True, slots=True)
class Trend:
    """What is proved of an expression, for all eps of the intervals and all values >= 0 of the unknowns.

    `falls` and `rises` are about one unknown, and weak: both hold of what does not depend on it. False says nothing;
    `growth` is a place where a closed form was proved to grow. `continuous` says that no divisor is ever 0.
    """

    falls: bool = False
    rises: bool = False
    nonnegative: bool = False
    nonpositive: bool = False
    positive: bool = False
    continuous: bool = True
    growth: Growth | None = None

    @property
    def constant(self) -> bool:
        return self.falls and self.rises


def trend(tree: Expr, unknown: str, names: Mapping[str, Fraction | None], intervals: Sequence[Interval]) -> Trend:
    """How the value changes with `unknown`. `names` gives the numbers that other names stand for, None for unknowns."""
    return _Analysis(unknown, names, intervals).of(tree)


@dataclass(frozen=True, slots=True)
class _Analysis:
    unknown: str
    names: Mapping[str, Fraction | None]
    intervals: Sequence[Interval]

    def of(self, node: Expr) -> Trend:
        surface = self._surface(node)
        if surface is not None:
            return self._exact(surface)
        match node:
            case Unary(op=UnaryOp.NEGATE, operand=operand):
                return _negated(self.of(operand))
            case Binary(op=op, left=left, right=right):
                return self._binary(op, self.of(left), right)
            case Call(function="exp", arguments=(inner,)):
                found = self.of(inner)
                return Trend(found.falls, found.rises, True, False, True, found.continuous)
            case Call(function="abs", arguments=(inner,)):
                return _absolute(self.of(inner))
            case Call(function="min" | "max" as function, arguments=arguments):
                return _selected(function, [self.of(argument) for argument in arguments])
        return Trend(continuous=False)

    def _exact(self, surface: Surface) -> Trend:
        falls, rises = surface.falls(self.unknown), (-surface).falls(self.unknown)
        nonnegative = surface.nonnegative(self.intervals)
        positive = all(c > 0 for c in surface.terms.values()) and any(
            all(j == 0 for _, j, _ in factors) for _, _, factors in surface.terms
        )
        return Trend(
            falls is True,
            rises is True,
            nonnegative,
            (-surface).nonnegative(self.intervals),
            positive,
            growth=falls if isinstance(falls, Growth) else None,
        )

    def _binary(self, op: BinaryOp, left: Trend, tree: Expr) -> Trend:
        if op is BinaryOp.POWER:
            return _power(left, tree)
        right = self.of(tree)
        match op:
            case BinaryOp.ADD:
                return _sum(left, right)
            case BinaryOp.SUBTRACT:
                return _sum(left, _negated(right))
            case BinaryOp.MULTIPLY:
                return _product(left, right)
            case BinaryOp.DIVIDE:
                return _product(left, _inverse(right))
        return Trend(continuous=False)

    # --- closed forms ------------------------------------------------------------------------------

    def _surface(self, node: Expr) -> Surface | None:
        """The expression as one surface, None where it is none."""
        match node:
            case Number(value=value):
                return Surface.number(value)
            case Eps():
                return Surface.eps()
            case Name(name=name):
                name = name if name in self.names else _GREEK.get(name, name)
                if name not in self.names:
                    return None
                known = self.names[name]
                return Surface.unknown(name) if known is None else Surface.number(known)
            case Unary(op=UnaryOp.NEGATE, operand=operand):
                inner = self._surface(operand)
                return None if inner is None else -inner
            case Binary(op=op, left=left, right=right):
                return self._combined(op, self._surface(left), right)
            case Call(function="exp", arguments=(argument,)):
                inner = self._surface(argument)
                return None if inner is None else inner.exponential()
        return None

    def _combined(self, op: BinaryOp, left: Surface | None, tree: Expr) -> Surface | None:
        right = self._surface(tree)
        if left is None or right is None:
            return None
        match op:
            case BinaryOp.ADD:
                return left + right
            case BinaryOp.SUBTRACT:
                return left + -right
            case BinaryOp.MULTIPLY:
                return left * right
            case BinaryOp.DIVIDE:
                inverse = right.inverse()
                return None if inverse is None else left * inverse
            case BinaryOp.POWER if isinstance(tree, Number):
                result: Surface | None = Surface.number(Fraction(1))
                for _ in range(int(tree.value)):
                    result = None if result is None else result * left
                return result
        return None


# --- rules -----------------------------------------------------------------------------------------


def _negated(it: Trend) -> Trend:
    return Trend(it.rises, it.falls, it.nonpositive, it.nonnegative, False, it.continuous)


def _sum(left: Trend, right: Trend) -> Trend:
    return Trend(
        left.falls and right.falls,
        left.rises and right.rises,
        left.nonnegative and right.nonnegative,
        left.nonpositive and right.nonpositive,
        left.nonnegative and right.nonnegative and (left.positive or right.positive),
        left.continuous and right.continuous,
    )


def _product(left: Trend, right: Trend) -> Trend:
    """|left|·|right| falls where both do, and is taken with the sign that both together have."""
    if left.nonpositive and not left.nonnegative:
        return _negated(_product(_negated(left), right))
    if right.nonpositive and not right.nonnegative:
        return _negated(_product(left, _negated(right)))
    continuous = left.continuous and right.continuous
    if left.nonnegative and right.nonnegative:
        both = left.positive and right.positive
        return Trend(
            left.falls and right.falls,
            left.rises and right.rises,
            True,
            (left.nonpositive or right.nonpositive),
            both,
            continuous,
        )
    if right.nonnegative and right.constant:
        return Trend(left.falls, left.rises, continuous=continuous)
    if left.nonnegative and left.constant:
        return Trend(right.falls, right.rises, continuous=continuous)
    constant = left.constant and right.constant
    return Trend(constant, constant, continuous=continuous)


def _inverse(it: Trend) -> Trend:
    if not it.positive:
        # A divisor without the unknown is 0 nowhere, or the claim is refused.
        return Trend(it.constant, it.constant, it.nonnegative, it.nonpositive, it.nonnegative, it.constant)
    return Trend(it.rises, it.falls, True, False, True, it.continuous)


def _power(base: Trend, exponent: Expr) -> Trend:
    if not isinstance(exponent, Number):
        return Trend(continuous=False)
    result = Trend(True, True, True, False, True, base.continuous)
    for _ in range(int(exponent.value)):
        result = _product(result, base)
    return result


def _absolute(it: Trend) -> Trend:
    if it.nonnegative:
        return it
    if it.nonpositive:
        return _negated(it)
    return Trend(it.constant, it.constant, True, False, False, it.continuous)


def _selected(function: str, found: Sequence[Trend]) -> Trend:
    some, every = (any, all) if function == "max" else (all, any)
    return Trend(
        all(it.falls for it in found),
        all(it.rises for it in found),
        some(it.nonnegative for it in found),
        every(it.nonpositive for it in found),
        some(it.positive for it in found),
        all(it.continuous for it in found),
    )
