"""The parts of a typed program: types, slots, values, expressions and instructions; and their texts.

An expression with resolved names is a concrete value, a linear form, a condition, or a place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import Enum, StrEnum
from fractions import Fraction
from typing import Literal, TypeGuard, assert_never

from dipc.frozen import frozen
from dipc.noise.law import Law
from dipc.text.ast import NEGATED, BaseType, CompareOp, Expr, Role, walk
from dipc.text.diagnostic import Span
from dipc.text.printer import Level, Written, applied, infixed, prefixed

# --- The codes of the diagnostics about names, types and program rules; a published code keeps its meaning ------------


class ProgramCode(StrEnum):
    """The codes E02xx, about names and types, and E03xx, about the rules of the language."""

    UNKNOWN_NAME = "E0201"
    DUPLICATE = "E0202"
    RESERVED = "E0203"
    MISUSED_NAME = "E0204"
    MISMATCH = "E0205"
    INT_MEETS_REAL = "E0206"
    NOT_LINEAR = "E0207"
    NOT_CONSTANT = "E0208"
    DIVISION_BY_ZERO = "E0209"
    NOT_AN_INTEGER = "E0210"
    BAD_DOMAIN = "E0211"
    EPS_MISPLACED = "E0212"
    BAD_RATE = "E0213"
    BAD_WEIGHT = "E0214"
    UNKNOWN_CONSTANT = "E0215"
    TOO_LARGE = "E0216"
    USED_TOO_EARLY = "E0217"
    WRONG_DISTRIBUTION = "E0218"
    OTHER_EPS = "E0219"
    MORE_ERRORS = "E0299"

    INPUT_ASSIGNED = "E0301"
    ASSIGNED_IN_WHILE = "E0302"
    UNASSIGNED = "E0303"
    OUTSIDE_DOMAIN = "E0304"
    OUTSIDE_ARRAY = "E0305"
    TOO_MANY_STATEMENTS = "E0306"
    NO_OUTPUT = "E0307"
    BAD_CLAIM = "E0308"
    BAD_IDEAL = "E0309"
    INPUT_INITIALIZED = "E0310"
    BAD_METRIC = "E0311"
    BAD_PRECONDITION = "E0314"


# --- The parts of a typed program: types, slots, expressions and instructions -----------------------------------------
#
# Constants are substituted, domains enumerated, arrays flattened to slots, `for` unrolled, conditions compiled to
# jumps. A program is a list of labeled instructions (the paper's "finite sequence of labelled statements",
# section 5.2); the label of an instruction is its index. Control falls through to label + 1 unless an
# instruction says otherwise; running off the end is `Exit`.
#
# DOM and bool expressions (`DomExpr`) have concrete values in every state of the chain; real and int expressions
# (`AffineExpr`) are linear in the real (int) slots, with DOM-valued coefficients.

#: A DOM or bool value: an exact rational, an enumerated name, or a truth value.
Value = Fraction | str | bool


# --- types and slots -------------------------------------------------------------------------------


@frozen
class DomType:
    """A finite domain; `values` in declaration order, all names or all rationals, no duplicates."""

    values: tuple[Value, ...]
    name: str | None = None


#: The values of `bool` are `false` and `true`, those of `int` are all integers, and those of `real` all reals.
Type = BaseType | DomType

#: The types whose values are concrete in every state of the chain.
FiniteType = Literal[BaseType.BOOL] | DomType


@frozen
class Slot:
    """A scalar variable: `name` is its text for users (`q[1]`), and `span` its declaration.

    `index` is its position among all slots. `initial` is its value at the start, a rational number for a real or int
    slot; it is None if the slot starts unassigned.
    """

    index: int
    name: str
    role: Role
    type: Type
    initial: Value | None
    span: Span

    @property
    def is_symbolic(self) -> bool:
        """Whether the slot holds forms over noises and inputs: true for real and int slots only."""
        return self.type in (BaseType.REAL, BaseType.INT)


# --- DOM and bool expressions ----------------------------------------------------------------------


@frozen
class Const:
    """A constant value."""

    value: Value


@frozen
class Reference:
    """A variable that an instruction reads or writes: a scalar, or an array element.

    If it depends on the state which element it is, `index` is the expression of the index, `slots` are those of all
    elements of the array `name`, and `low` is its least index. Otherwise `index` is None, `slots` has the one slot, and
    `name` is the text of the variable, such as `q[1]`. A diagnostic points at `span`.
    """

    name: str
    slots: tuple[int, ...]
    span: Span
    index: DomExpr | None = None
    low: int = 0

    @property
    def slot(self) -> int | None:
        """The slot if it is the same in every state, else None."""
        return self.slots[0] if self.index is None else None

    def element(self, point: Value) -> int | None:
        """Return the slot of the element with index `point`; None if the array has no element with this index."""
        if not isinstance(point, Fraction) or point.denominator != 1 or not 0 <= point - self.low < len(self.slots):
            return None
        return self.slots[int(point) - self.low]


class DomOp(Enum):
    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    NEGATE = "neg"
    MIN = "min"
    MAX = "max"
    ABS = "abs"
    COUNT = "count"
    NOT = "not"
    AND = "and"
    OR = "or"
    LT = "<"
    LE = "<="
    EQ = "="
    NE = "!="
    GE = ">="
    GT = ">"


@frozen
class Apply:
    """An operation on concrete values.

    AND and OR evaluate their right side only if the left side alone does not determine the result.
    """

    op: DomOp
    arguments: tuple[DomExpr, ...]
    span: Span


DomExpr = Const | Reference | Apply


# --- real and int expressions ----------------------------------------------------------------------


class ValueKind(Enum):
    """The kinds of values that expressions have; the text of a member, such as "an int", is its name in messages."""

    BOOL = "a truth value"
    NUMBER = "a number"
    NAME = "a domain name"
    INT = "an int"
    REAL = "a real"


NUMERIC = frozenset({ValueKind.NUMBER, ValueKind.INT, ValueKind.REAL})

Term = tuple[DomExpr, Reference]


@frozen
class AffineExpr:
    """The form Σ coefficient · slot + constant over real slots (`kind` REAL) or over int slots (`kind` INT).

    `terms` are the pairs (coefficient, variable). Coefficients and constant are expressions over finite values. A slot
    can occur twice, because it may depend on the state which array element is read. A number that is stored in a real
    or int variable, or is the mean of a noise, is a form without terms and with `kind` NUMBER.
    """

    terms: tuple[Term, ...]
    constant: DomExpr
    span: Span
    kind: ValueKind


# --- comparisons and instructions --------------------------------------------------------------------


@frozen
class LinearComparison:
    """The comparison `difference` `op` 0 of reals or ints; the chain branches on its outcome."""

    difference: AffineExpr
    op: CompareOp


#: An expression of any type; a linear form and a comparison of reals or ints are not parts of other expressions.
AnyExpr = DomExpr | AffineExpr | LinearComparison


@frozen
class Store:
    """The instruction that gives the variable `target` the value of an expression.

    The variable gets an affine form if it is real or int. If it is of a finite type, a run checks that the value is in
    its domain.
    """

    target: Reference
    value: AnyExpr
    span: Span


@frozen
class SampleNoise:
    """The instruction r <- Lap(rate·eps, mean), or another law of noise; rate > 0, in multiples of eps."""

    target: Reference
    law: Law
    rate: Fraction
    mean: AffineExpr
    span: Span


@frozen
class SampleExponential:
    """The instruction x <- Exp(rate·eps, v in values : score), with weight exp(rate·eps·scores[i]) for values[i]."""

    target: Reference
    rate: Fraction
    values: tuple[Value, ...]
    scores: tuple[DomExpr, ...]
    span: Span


@frozen
class SampleChoice:
    """The instruction x <- choose { value : weight, ... }.

    Weights are expressions in eps and rationals only, with names resolved.
    """

    target: Reference
    arms: tuple[tuple[DomExpr, Expr], ...]
    span: Span


@frozen
class Branch:
    """A jump to one of two instructions, given by index: to `then` if the condition holds, else to `otherwise`."""

    condition: DomExpr | LinearComparison
    then: int
    otherwise: int
    span: Span


@frozen
class Jump:
    """A jump to the instruction with the index `target`."""

    target: int
    span: Span


@frozen
class ExitInstruction:
    """The end of the program."""

    span: Span


Instruction = Store | SampleNoise | SampleExponential | SampleChoice | Branch | Jump | ExitInstruction


def variables_read(tree: object) -> Iterator[Reference]:
    """Yield the variables that `tree` reads, an instruction, an expression or a tuple of them, from left to right.

    The variable that an instruction writes is not among them, but its index may read others.
    """
    written = tree.target if isinstance(tree, Store | SampleNoise | SampleExponential | SampleChoice) else None
    return (node for node in walk(tree) if isinstance(node, Reference) and node is not written)


# --- Operations on concrete DOM and bool values: constants are folded here, and chains compute with the same rules ----

#: The most bits of a numerator or denominator. No mechanism needs more, and repeated squaring would exceed any bound.
MAX_BITS = 10_000


class ValueTooLarge(ArithmeticError):
    """Raised for a number of more than MAX_BITS bits."""


def bounded(value: Fraction) -> Fraction:
    """Return `value` itself; raise ValueTooLarge if it has too many digits."""
    if value.numerator.bit_length() > MAX_BITS or value.denominator.bit_length() > MAX_BITS:
        raise ValueTooLarge
    return value


def evaluate(op: DomOp, arguments: Sequence[Value]) -> Value:
    """Return the exact result of the well-typed operation `op` on the values `arguments`.

    Raises ZeroDivisionError, or ValueTooLarge for a number of more than MAX_BITS bits.
    """
    match op:
        case DomOp.NOT:
            return not arguments[0]
        case DomOp.AND:
            return all(arguments)
        case DomOp.OR:
            return any(arguments)
        case DomOp.EQ:
            return arguments[0] == arguments[1]
        case DomOp.NE:
            return arguments[0] != arguments[1]
        case DomOp.COUNT:
            return Fraction(1 if arguments[0] is True else 0)
    numbers = [value for value in arguments if isinstance(value, Fraction)]
    assert len(numbers) == len(arguments), (op, arguments)
    match op:
        case DomOp.LT:
            return numbers[0] < numbers[1]
        case DomOp.LE:
            return numbers[0] <= numbers[1]
        case DomOp.GE:
            return numbers[0] >= numbers[1]
        case DomOp.GT:
            return numbers[0] > numbers[1]
        case DomOp.ADD:
            return bounded(numbers[0] + numbers[1])
        case DomOp.SUBTRACT:
            return bounded(numbers[0] - numbers[1])
        case DomOp.MULTIPLY:
            return bounded(numbers[0] * numbers[1])
        case DomOp.DIVIDE:
            return bounded(numbers[0] / numbers[1])
        case DomOp.NEGATE:
            return -numbers[0]
        case DomOp.MIN:
            return min(numbers)
        case DomOp.MAX:
            return max(numbers)
        case DomOp.ABS:
            return abs(numbers[0])


def power(base: Fraction, exponent: int) -> Fraction:
    """Return `base`^`exponent` for a natural exponent.

    Raises ValueTooLarge before computing a number that is too large.
    """
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if base not in (0, 1, -1) and (bits - 1) * exponent > MAX_BITS:
        raise ValueTooLarge
    if base in (0, 1, -1) and exponent > 1:
        exponent = 2 - exponent % 2
    return bounded(base**exponent)


# --- Core values, types and expressions as text: in diagnostics, in the chain and in listings -------------------------

_SHOWN_VALUES = 8


def show_value(value: Value) -> str:
    """Return the text of `value`, such as `3`, `-1/2` or `true`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def show_multiple(factor: Fraction, of: str = "eps") -> str:
    """Return the text of `factor` times `of`: `eps`, `eps/4`, `2*eps`, `-4*eps/9`."""
    above = of if abs(factor.numerator) == 1 else f"{abs(factor.numerator)}*{of}"
    below = "" if factor.denominator == 1 else f"/{factor.denominator}"
    return f"{'-' if factor < 0 else ''}{above}{below}"


def show_values(type_: DomType) -> str:
    """Return the text of the domain `type_`: `{none, bot, top}`, `{0..3}`, or the first few values of a long list."""
    values = type_.values
    first, last = values[0], values[-1]
    if isinstance(first, Fraction) and isinstance(last, Fraction) and len(values) > 1:
        steps = all(isinstance(v, Fraction) and v == first + i for i, v in enumerate(values[:_SHOWN_VALUES]))
        if steps and first.denominator == 1 and last - first == len(values) - 1:
            return f"{{{first}..{last}}}"
    text = ", ".join(show_value(value) for value in values[:_SHOWN_VALUES])
    return f"{{{text}, ...}}" if len(values) > _SHOWN_VALUES else f"{{{text}}}"


def show_type(type_: Type) -> str:
    """Return the text of `type_`: `bool`, `int`, `real`, `{0..3}`, or `answer = {none, bot, top}` with a name."""
    if isinstance(type_, BaseType):
        return type_.value
    return show_values(type_) if type_.name is None else f"{type_.name} = {show_values(type_)}"


def written(expr: DomExpr) -> Written:
    """Return the text of `expr`, a DOM or bool expression, with as few parentheses as possible."""
    match expr:
        case Const(Fraction() as number) if number < 0:
            return Written(str(number), Level.SUM)
        case Const(Fraction() as number) if number.denominator != 1:
            return Written(str(number), Level.PRODUCT)
        case Const(value):
            return Written(show_value(value))
        case Reference(name=name, index=index):
            return Written(name if index is None else f"{name}[{written(index).text}]")
        case Apply(op, arguments):
            texts = [written(argument) for argument in arguments]
            match op, texts:
                case ((DomOp.MIN | DomOp.MAX | DomOp.ABS), _):
                    return applied(op.value, texts)
                case DomOp.COUNT, [operand]:
                    return Written(f"({operand.text})")
                case _, [operand]:
                    return prefixed("-" if op is DomOp.NEGATE else op.value, operand)
                case _:
                    left, right = texts
                    return infixed(left, op.value, right)
        case _:
            assert_never(expr)


# --- The meaning of an expression with resolved names: a concrete value, a linear form, or a condition ----------------

ZERO = Const(Fraction(0))
ONE = Const(Fraction(1))
MINUS_ONE = Const(Fraction(-1))


def kind_of(type_: Type) -> ValueKind:
    """Return the kind of the values of `type_`; a DOM holds either names or numbers."""
    match type_:
        case BaseType.BOOL:
            return ValueKind.BOOL
        case DomType(values=values):
            return ValueKind.NAME if isinstance(values[0], str) else ValueKind.NUMBER
        case BaseType.INT:
            return ValueKind.INT
        case BaseType.REAL:
            return ValueKind.REAL
        case _:
            assert_never(type_)


@frozen
class Unknown:
    """The meaning of a wrong expression whose mistake has already been reported.

    No further mistake is reported for the expressions that contain it.
    """


UNKNOWN = Unknown()


@frozen
class Concrete:
    """A bool or an element of a DOM (a number or a name), as an expression with a value in every state of the chain."""

    kind: ValueKind
    expr: DomExpr

    @property
    def value(self) -> Value | None:
        """The value if it is the same in every state, else None."""
        return self.expr.value if isinstance(self.expr, Const) else None


@frozen
class Switch:
    """A number, int or real that is `then` if the condition holds, else `otherwise`.

    A switch is the meaning of min, max and abs of reals or ints. It is also the meaning of a comparison of reals or
    ints that is used as a number: 1 if it holds, else 0.
    """

    kind: ValueKind
    condition: Condition
    then: Concrete | AffineExpr | Switch
    otherwise: Concrete | AffineExpr | Switch


@frozen
class Junction:
    """The condition `left and right` or `left or right` in which some part compares reals or ints.

    The right side is evaluated only if the left side alone does not determine the result.
    """

    op: DomOp
    left: Condition
    right: Condition


Condition = Concrete | LinearComparison | Junction
Typed = Unknown | Concrete | AffineExpr | Switch | LinearComparison | Junction


def truth(condition: Condition | Unknown) -> bool | None:
    """Return the value of `condition` if it is the same in every state, else None."""
    if isinstance(condition, Concrete) and isinstance(condition.value, bool):
        return condition.value
    return None


def negation(condition: Condition, span: Span) -> Condition:
    """Return the negation of `condition`, whose place is `span`.

    Only comparisons are negated in the result, so `not (a and b)` becomes `not a or not b`. The comparisons are
    evaluated in the same order.
    """
    match condition:
        case Concrete():
            return Concrete(ValueKind.BOOL, fold(DomOp.NOT, (condition.expr,), span))
        case LinearComparison(op=op):
            return replace(condition, op=NEGATED[op])
        case Junction(op, first, second):
            swapped = DomOp.OR if op is DomOp.AND else DomOp.AND
            return Junction(swapped, negation(first, span), negation(second, span))
        case _:
            assert_never(condition)


def junction(op: DomOp, left: Condition, right: Condition, span: Span) -> Condition:
    """Return the conjunction or disjunction, by `op`, of the conditions `left` and `right`, whose place is `span`.

    The result is simplified if a constant decides one of the two conditions.
    """
    if truth(left) is not None:
        return left if truth(left) is (op is DomOp.OR) else right
    if truth(right) is (op is DomOp.AND):
        return left
    if isinstance(left, Concrete) and isinstance(right, Concrete):
        return Concrete(ValueKind.BOOL, fold(op, (left.expr, right.expr), span))
    return Junction(op, left, right)


def is_condition(typed: Typed) -> TypeGuard[Condition]:
    """Return True if `typed` is a truth value."""
    return (
        typed.kind is ValueKind.BOOL if isinstance(typed, Concrete) else isinstance(typed, LinearComparison | Junction)
    )


def counted(condition: Condition, span: Span) -> Concrete | Switch:
    """Return an expression at `span` that is the number 1 if `condition` holds, else 0."""
    if isinstance(condition, Concrete):
        return Concrete(ValueKind.NUMBER, fold(DomOp.COUNT, (condition.expr,), span))
    return Switch(ValueKind.NUMBER, condition, Concrete(ValueKind.NUMBER, ONE), Concrete(ValueKind.NUMBER, ZERO))


def leaves(value: Concrete | AffineExpr | Switch) -> int:
    """Return the number of expressions that the switches in `value` choose among; 1 without a switch."""
    return leaves(value.then) + leaves(value.otherwise) if isinstance(value, Switch) else 1


def fold(op: DomOp, arguments: tuple[DomExpr, ...], span: Span) -> DomExpr:
    """Return the operation `op` on `arguments` at `span`, computed if they are constants.

    Raises ZeroDivisionError for a division by a constant 0, and ValueTooLarge for a number of more than MAX_BITS bits.
    """
    values = [argument.value for argument in arguments if isinstance(argument, Const)]
    if len(values) == len(arguments):
        return Const(evaluate(op, values))
    if op is DomOp.DIVIDE and arguments[1] == ZERO:
        raise ZeroDivisionError
    return Apply(op, arguments, span)


def plus(left: DomExpr, right: DomExpr, span: Span) -> DomExpr:
    """Return `left` + `right` at `span`, simplified: 0 + x and x + 0 are x, and x + (-y) is x - y."""
    if right == ZERO:
        return left
    if left == ZERO:
        return right
    if isinstance(right, Apply) and right.op is DomOp.NEGATE:
        return fold(DomOp.SUBTRACT, (left, right.arguments[0]), span)
    return fold(DomOp.ADD, (left, right), span)


def times(left: DomExpr, right: DomExpr, span: Span) -> DomExpr:
    """Return the product `left` * `right` at `span`, where a constant factor comes first.

    A factor of 1 is left out, and a factor of -1 becomes a negation.
    """
    if isinstance(right, Const):
        left, right = right, left
    if left == ONE:
        return right
    return fold(DomOp.NEGATE, (right,), span) if left == MINUS_ONE else fold(DomOp.MULTIPLY, (left, right), span)


def scaled(linear: AffineExpr, factor: DomExpr, span: Span) -> AffineExpr:
    """Return `factor` * `linear` at `span`."""
    terms = tuple((times(coefficient, factor, span), read) for coefficient, read in linear.terms)
    constant = linear.constant if linear.constant == ZERO else times(linear.constant, factor, span)
    return AffineExpr(terms, constant, span, linear.kind)


def divided(linear: AffineExpr, divisor: DomExpr, span: Span) -> AffineExpr:
    """Return `linear` / `divisor` at `span`; a constant divisor becomes a factor."""
    if isinstance(divisor, Const):
        return scaled(linear, fold(DomOp.DIVIDE, (ONE, divisor), span), span)
    terms = tuple((fold(DomOp.DIVIDE, (coefficient, divisor), span), read) for coefficient, read in linear.terms)
    constant = linear.constant if linear.constant == ZERO else fold(DomOp.DIVIDE, (linear.constant, divisor), span)
    return AffineExpr(terms, constant, span, linear.kind)


def negated(linear: AffineExpr, span: Span) -> AffineExpr:
    """Return -`linear` at `span`."""
    terms = tuple((fold(DomOp.NEGATE, (coefficient,), span), read) for coefficient, read in linear.terms)
    return AffineExpr(terms, fold(DomOp.NEGATE, (linear.constant,), span), span, linear.kind)


def total(left: AffineExpr, right: AffineExpr, span: Span) -> AffineExpr:
    """Return `left` + `right` at `span`; both are real, or both are int."""
    return AffineExpr(left.terms + right.terms, plus(left.constant, right.constant, span), span, left.kind)


def affine(typed: Concrete | AffineExpr, span: Span) -> AffineExpr:
    """Return `typed`, an expression at `span`, as a linear form, with the constant multiples of each variable added up.

    A multiple that is 0 stays, because the variable is still used there and must have a value.
    """
    if isinstance(typed, Concrete):
        return AffineExpr((), typed.expr, span, typed.kind)
    return replace(typed, terms=gathered(typed.terms), span=span)


def gathered(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Return `terms` with the constant coefficients of each scalar variable added up.

    The variables are in the order of their first occurrence.
    """
    terms = tuple(terms)
    if len(terms) < 2:
        return terms
    sums: dict[object, Term] = {}
    for position, (coefficient, read) in enumerate(terms):
        key = read.slot if read.index is None and isinstance(coefficient, Const) else (position,)
        if key in sums:
            known, first = sums[key]
            sums[key] = (fold(DomOp.ADD, (known, coefficient), read.span), first)
        else:
            sums[key] = (coefficient, read)
    return tuple(sums.values())
