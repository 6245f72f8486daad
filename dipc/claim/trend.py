"""Whether a claim expression falls as a distance grows: decided where it is one closed form, else put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from dipc.algebra.exppoly import ExpPoly
from dipc.algebra.limits import Undecided
from dipc.algebra.parametric import Parametric
from dipc.claim.expression import ClaimExpression
from dipc.diagnostics.diagnostic import DiagnosticError
from dipc.lang.ast import Binary, BinaryOp, Call, Expr, Number, Unary, UnaryOp
from dipc.sign import Fails, Holds, Interval, decide_nonnegative
from dipc.sign.divisors import sign_throughout

#: A function with more summands is looked at part by part.
MOST_TERMS = 400

#: Values of the unknowns at which a growing function is looked for.
_SAMPLES = (Fraction(0), Fraction(1), Fraction(1, 2), Fraction(5))


@dataclass(frozen=True, slots=True)
class Growth:
    """Where a function grows with the unknown `name`: at this value and eps or, if only that is known, where value·eps
    is `product`."""

    name: str
    value: Fraction | None
    eps: Fraction | None
    product: Fraction | None

    def __str__(self) -> str:
        if self.product is not None:
            return f"where {self.name}*eps = {self.product}"
        return f"at {self.name} = {self.value}, eps = {self.eps}"


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


def trend(of: ClaimExpression, unknown: str, names: Mapping[str, Parametric], intervals: Sequence[Interval]) -> Trend:
    """How the value changes with `unknown`. `names` gives what all names stand for: numbers, or unknowns."""
    return _Analysis(of, unknown, names, intervals).of(of.tree)


@dataclass(frozen=True, slots=True)
class _Analysis:
    whole: ClaimExpression
    unknown: str
    names: Mapping[str, Parametric]
    intervals: Sequence[Interval]

    def of(self, node: Expr) -> Trend:
        value = self._value(node)
        if value is not None:
            return self._exact(value)
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

    def _value(self, node: Expr) -> Parametric | None:
        """The expression as one function whose numerator is not too long, None where it is none."""
        try:
            value = replace(self.whole, tree=node).value(self.names, self.intervals)
        except DiagnosticError:
            return None
        if not isinstance(value, Parametric) or sum(map(len, value.numerator.values())) > MOST_TERMS:
            return None
        return value

    def _exact(self, value: Parametric) -> Trend:
        below = sign_throughout(self.intervals)(value.denominator)
        if not below:
            # It is 0 nowhere, but has both signs.
            free = self.unknown not in value.unknowns()
            return Trend(free, free)
        above = value if below > 0 else -value
        falls, rises = _falls(above, self.unknown), _falls(-above, self.unknown)
        summands = list(above.terms())
        positive = all(c > 0 for *_, c in summands) and any(
            all(j == 0 for _, j, _ in factors) for _, _, factors, _ in summands
        )
        return Trend(
            falls is True,
            rises is True,
            _nonnegative(above, self.intervals),
            _nonnegative(-above, self.intervals),
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


# --- signs of one function -------------------------------------------------------------------------


def _nonnegative(value: Parametric, intervals: Sequence[Interval]) -> bool:
    """True only if the numerator is >= 0 for all eps of the intervals and all unknowns >= 0."""
    if all(c > 0 for *_, c in value.terms()):
        return True
    if value.is_flat():
        return all(_holds(value.numerator_flat(), interval) for interval in intervals)
    return any(
        all(_holds(part, Interval.positive()) for part in _along(value, name).values()) for name in value.unknowns()
    )


def _falls(value: Parametric, name: str) -> bool | Growth:
    """Whether the numerator never grows with the unknown `name`, whatever eps > 0 and the other unknowns are.

    True is proved. A Growth is a place where it does grow, proved as well. False says nothing.
    """
    parts = _along(value, name)
    failed: list[Fraction] = []
    unsettled = False
    for part in parts.values():
        try:
            decision = decide_nonnegative(-part.derivative(), Interval.positive())
        except Undecided:
            unsettled = True
            continue
        if isinstance(decision, Fails):
            failed.append(decision.witness)
    if not failed and not unsettled:
        return True
    if len(parts) == 1 and failed:
        return Growth(name, None, None, failed[0])
    return _growth(value, name)


def _along(value: Parametric, name: str) -> dict[object, ExpPoly]:
    """With t = U·eps, the numerator is Σ (a factor that is >= 0, free of t) · (its exponential polynomial in t)."""
    parts: dict[object, list[tuple[int, Fraction, Fraction]]] = {}
    for k, q, factors, c in value.terms():
        j, r = next(((j, r) for other, j, r in factors if other == name), (0, Fraction(0)))
        rest = (k - j, q, tuple(factor for factor in factors if factor[0] != name))
        parts.setdefault(rest, []).append((j, r, c))
    return {rest: ExpPoly.from_terms(terms) for rest, terms in parts.items()}


def _growth(value: Parametric, name: str) -> bool | Growth:
    """A Growth at one of a few values of the unknowns; False if there is none."""
    others = sorted(value.unknowns() - {name})
    for values in product(_SAMPLES, repeat=1 + min(len(others), 2)):
        at = {other: Fraction(1) for other in others} | dict(zip([name, *others], values, strict=False))
        try:
            decision = decide_nonnegative(-_slope(value, name, at), Interval.positive())
        except Undecided:
            continue
        if isinstance(decision, Fails):
            return Growth(name, at[name], decision.witness, None)
    return False


def _slope(value: Parametric, name: str, at: Mapping[str, Fraction]) -> ExpPoly:
    """The derivative of the numerator by `name` at these values of all unknowns, as a function of eps."""
    slope = value.derivative(name).substituted({other: Parametric.number(number) for other, number in at.items()})
    assert slope is not None, "a number may always stand for an unknown"
    return slope.numerator_flat()


def _holds(function: ExpPoly, interval: Interval) -> bool:
    try:
        return isinstance(decide_nonnegative(function, interval), Holds)
    except Undecided:
        return False


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
