"""What an expression means once its names are resolved: a concrete value, a linear form, a condition, or a place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import assert_never

from dipc.text.ast import CompareOp
from dipc.text.core import (
    AffineExpr,
    Apply,
    BoolType,
    Const,
    DomExpr,
    DomOp,
    DomType,
    IntType,
    Read,
    ReadElement,
    RealType,
    Target,
    Type,
    Value,
    evaluate,
)
from dipc.text.diagnostic import Span

# --- What an expression means once its names are resolved: a concrete value, a linear form, or a condition ------------
#

ZERO = Const(Fraction(0))
ONE = Const(Fraction(1))
MINUS_ONE = Const(Fraction(-1))

Term = tuple[DomExpr, Read | ReadElement]


class Kind(Enum):
    """The kinds of values that never turn into one another; the text is how messages call them."""

    BOOL = "a truth value"
    NUMBER = "a number"
    NAME = "a domain name"
    INT = "an int"
    REAL = "a real"


NUMERIC = frozenset({Kind.NUMBER, Kind.INT, Kind.REAL})


def kind_of(type_: Type) -> Kind:
    """The kind of the values of a type; a DOM holds either names or numbers."""
    match type_:
        case BoolType():
            return Kind.BOOL
        case DomType(values=values):
            return Kind.NAME if isinstance(values[0], str) else Kind.NUMBER
        case IntType():
            return Kind.INT
        case RealType():
            return Kind.REAL
        case _:
            assert_never(type_)


@dataclass(frozen=True, slots=True)
class Unknown:
    """The meaning of an expression that is wrong: what contains it stays silent."""


UNKNOWN = Unknown()


@dataclass(frozen=True, slots=True)
class Concrete:
    """A bool, a DOM number or a domain name: it has a value in every state of the chain."""

    kind: Kind
    expr: DomExpr

    @property
    def value(self) -> Value | None:
        """The value when it is the same in every state."""
        return self.expr.value if isinstance(self.expr, Const) else None


@dataclass(frozen=True, slots=True)
class Linear:
    """A real or int expression, Σ terms + constant; `kind` is REAL or INT, and there is at least one term."""

    kind: Kind
    terms: tuple[Term, ...]
    constant: DomExpr


@dataclass(frozen=True, slots=True)
class Switch:
    """A real or int expression, of the kind `kind`, that is `then` where the condition holds, else `otherwise`: what
    min, max and abs of reals or ints are."""

    kind: Kind
    condition: Condition
    then: Concrete | Linear | Switch
    otherwise: Concrete | Linear | Switch


@dataclass(frozen=True, slots=True)
class Relation:
    """A comparison of reals or of ints: difference ~ 0. `left` and `right` are the two sides for display."""

    difference: Linear
    op: CompareOp
    left: str
    right: str
    span: Span

    @property
    def text(self) -> str:
        """The comparison as people read it, constants substituted."""
        return f"{self.left} {self.op.value} {self.right}"


@dataclass(frozen=True, slots=True)
class Junction:
    """`left and right` or `left or right` where some part compares reals or ints; the right side is looked at only
    when the left leaves the matter open."""

    op: DomOp
    left: Condition
    right: Condition


Condition = Concrete | Relation | Junction
Typed = Unknown | Concrete | Linear | Switch | Relation | Junction

_NEGATED = {
    CompareOp.LT: CompareOp.GE,
    CompareOp.GE: CompareOp.LT,
    CompareOp.GT: CompareOp.LE,
    CompareOp.LE: CompareOp.GT,
    CompareOp.EQ: CompareOp.NE,
    CompareOp.NE: CompareOp.EQ,
}


def truth(condition: Condition | Unknown) -> bool | None:
    """True or False when the condition is the same in every state, else None."""
    if isinstance(condition, Concrete) and isinstance(condition.value, bool):
        return condition.value
    return None


def negation(condition: Condition, span: Span) -> Condition:
    """not `condition`, pushed down to its comparisons; what is looked at and in which order stays the same."""
    match condition:
        case Concrete():
            return Concrete(Kind.BOOL, fold(DomOp.NOT, (condition.expr,), span))
        case Relation(difference, op, left, right, at):
            return Relation(difference, _NEGATED[op], left, right, at)
        case Junction(op, first, second):
            swapped = DomOp.OR if op is DomOp.AND else DomOp.AND
            return Junction(swapped, negation(first, span), negation(second, span))
        case _:
            assert_never(condition)


def junction(op: DomOp, left: Condition, right: Condition, span: Span) -> Condition:
    """left and right, or left or right, settled as far as constants settle it."""
    if truth(left) is not None:
        return left if truth(left) is (op is DomOp.OR) else right
    if truth(right) is (op is DomOp.AND):
        return left
    if isinstance(left, Concrete) and isinstance(right, Concrete):
        return Concrete(Kind.BOOL, fold(op, (left.expr, right.expr), span))
    return Junction(op, left, right)


def leaves(value: Concrete | Linear | Switch) -> int:
    """How many expressions the value is one of."""
    return leaves(value.then) + leaves(value.otherwise) if isinstance(value, Switch) else 1


def fold(op: DomOp, arguments: tuple[DomExpr, ...], span: Span) -> DomExpr:
    """The application, computed when its arguments are constants.

    Raises ZeroDivisionError and ValueTooLarge as `evaluate` does, and ZeroDivisionError for anything over constant 0.
    """
    values = [argument.value for argument in arguments if isinstance(argument, Const)]
    if len(values) == len(arguments):
        return Const(evaluate(op, values))
    if op is DomOp.DIVIDE and arguments[1] == ZERO:
        raise ZeroDivisionError
    return Apply(op, arguments, span)


def plus(left: DomExpr, right: DomExpr, span: Span) -> DomExpr:
    """left + right, without adding a constant 0 or something negated."""
    if right == ZERO:
        return left
    if left == ZERO:
        return right
    if isinstance(right, Apply) and right.op is DomOp.NEGATE:
        return fold(DomOp.SUBTRACT, (left, right.arguments[0]), span)
    return fold(DomOp.ADD, (left, right), span)


def times(left: DomExpr, right: DomExpr, span: Span) -> DomExpr:
    """left * right with a constant in front, without multiplying by a constant 1 or -1."""
    if isinstance(right, Const):
        left, right = right, left
    if left == ONE:
        return right
    return fold(DomOp.NEGATE, (right,), span) if left == MINUS_ONE else fold(DomOp.MULTIPLY, (left, right), span)


def scaled(linear: Linear, factor: DomExpr, span: Span) -> Linear:
    """factor * linear."""
    terms = tuple((times(coefficient, factor, span), read) for coefficient, read in linear.terms)
    constant = linear.constant if linear.constant == ZERO else times(linear.constant, factor, span)
    return Linear(linear.kind, terms, constant)


def divided(linear: Linear, divisor: DomExpr, span: Span) -> Linear:
    """linear / divisor; a constant divisor becomes a factor."""
    if isinstance(divisor, Const):
        return scaled(linear, fold(DomOp.DIVIDE, (ONE, divisor), span), span)
    terms = tuple((fold(DomOp.DIVIDE, (coefficient, divisor), span), read) for coefficient, read in linear.terms)
    constant = linear.constant if linear.constant == ZERO else fold(DomOp.DIVIDE, (linear.constant, divisor), span)
    return Linear(linear.kind, terms, constant)


def negated(linear: Linear, span: Span) -> Linear:
    """-linear."""
    terms = tuple((fold(DomOp.NEGATE, (coefficient,), span), read) for coefficient, read in linear.terms)
    return Linear(linear.kind, terms, fold(DomOp.NEGATE, (linear.constant,), span))


def total(left: Linear, right: Linear, span: Span) -> Linear:
    """left + right, of one kind."""
    return Linear(left.kind, left.terms + right.terms, plus(left.constant, right.constant, span))


def affine(typed: Concrete | Linear, span: Span) -> AffineExpr:
    """The core expression. Constant multiples of one variable are gathered; one that comes to 0 stays, because the
    variable is still used there and has to have a value."""
    if isinstance(typed, Concrete):
        return AffineExpr((), typed.expr, span)
    return AffineExpr(gathered(typed.terms), typed.constant, span)


def gathered(terms: Iterable[Term]) -> tuple[Term, ...]:
    """The terms with the constant coefficients of each scalar variable added up, in order of first occurrence."""
    terms = tuple(terms)
    if len(terms) < 2:
        return terms
    sums: dict[object, Term] = {}
    for position, (coefficient, read) in enumerate(terms):
        key = read.slot if isinstance(read, Read) and isinstance(coefficient, Const) else (position,)
        if key in sums:
            known, first = sums[key]
            sums[key] = (fold(DomOp.ADD, (known, coefficient), read.span), first)
        else:
            sums[key] = (coefficient, read)
    return tuple(sums.values())


# --- The target of a statement, resolved ------------------------------------------------------------------------------
#


@dataclass(frozen=True, slots=True)
class Place:
    """Where a statement writes; `type` None when the statement cannot write there, which has been reported."""

    target: Target
    type: Type | None
