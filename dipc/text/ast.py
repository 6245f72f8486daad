"""The abstract syntax of DiPWhile+, and functions that walk its trees.

The language is that of Figure 3 of the paper, with arrays, bounded `for` and named constants.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import Enum
from fractions import Fraction
from functools import cache
from typing import Any, TypeVar, assert_never

from dipc.frozen import frozen
from dipc.noise.law import Law
from dipc.text.diagnostic import Span

# --- The abstract syntax of DiPWhile+ (Figure 3 of the paper, with arrays, bounded `for` and named constants) ---------
#
# Every node is frozen and carries the span it was read from; spans take no part in equality, so
# `parse(print(tree)) == tree` is meaningful. Nothing here is resolved or typed: names are text.


def _span() -> Span:
    return field(compare=False, repr=False, default=Span(0, 0))


# --- expressions -----------------------------------------------------------------------------------


@frozen
class Number:
    """An exact rational literal: `3`, `0.25` (1/4), `1e-23` (10^-23). `text` is the literal as written."""

    value: Fraction
    text: str
    span: Span = _span()


@frozen
class Name:
    """A name used as an expression: a constant, a domain value, a variable of the program, or the variable of a loop.

    In claims it may also be alpha, gamma, dd or inf.
    """

    name: str
    span: Span = _span()


@frozen
class Element:
    """An array element, `name[index]`."""

    name: str
    index: Expr
    span: Span = _span()


@frozen
class Eps:
    """The privacy budget, written `eps` or `ε`."""

    span: Span = _span()


@frozen
class Truth:
    """The truth value `true` or `false`."""

    value: bool
    span: Span = _span()


class UnaryOp(Enum):
    NEGATE = "-"
    NOT = "not"


class BinaryOp(Enum):
    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    POWER = "^"  # with a constant exponent
    AND = "and"
    OR = "or"


class CompareOp(Enum):
    LT = "<"
    LE = "<="
    EQ = "="
    NE = "!="
    GE = ">="
    GT = ">"


#: The test on two numbers for each comparison.
COMPARED: Mapping[CompareOp, Callable[[Any, Any], Any]] = {
    CompareOp.LT: operator.lt,
    CompareOp.LE: operator.le,
    CompareOp.EQ: operator.eq,
    CompareOp.NE: operator.ne,
    CompareOp.GE: operator.ge,
    CompareOp.GT: operator.gt,
}

#: The negation of each comparison.
NEGATED: Mapping[CompareOp, CompareOp] = {
    CompareOp.LT: CompareOp.GE,
    CompareOp.GE: CompareOp.LT,
    CompareOp.GT: CompareOp.LE,
    CompareOp.LE: CompareOp.GT,
    CompareOp.EQ: CompareOp.NE,
    CompareOp.NE: CompareOp.EQ,
}

#: Each comparison with its sides exchanged.
MIRRORED: Mapping[CompareOp, CompareOp] = {
    CompareOp.LT: CompareOp.GT,
    CompareOp.LE: CompareOp.GE,
    CompareOp.EQ: CompareOp.EQ,
    CompareOp.NE: CompareOp.NE,
    CompareOp.GE: CompareOp.LE,
    CompareOp.GT: CompareOp.LT,
}

#: The function of two numbers for each operator.
ARITHMETIC: Mapping[BinaryOp, Callable[[Any, Any], Any]] = {
    BinaryOp.ADD: operator.add,
    BinaryOp.SUBTRACT: operator.sub,
    BinaryOp.MULTIPLY: operator.mul,
    BinaryOp.DIVIDE: operator.truediv,
}


@frozen
class Unary:
    """The expression `-e` or `not e`, where e is the `operand`."""

    op: UnaryOp
    operand: Expr
    span: Span = _span()


@frozen
class Binary:
    """The expression `left op right` for every operator except comparisons."""

    op: BinaryOp
    left: Expr
    right: Expr
    span: Span = _span()


@frozen
class Compare:
    """A single comparison `left op right`; comparisons do not chain."""

    op: CompareOp
    left: Expr
    right: Expr
    span: Span = _span()


@frozen
class Call:
    """A call `min(...)`, `max(...)` or `abs(e)`; in claims and weights also `exp(e)`, and in claims also `log(e)`."""

    function: str
    arguments: tuple[Expr, ...]
    span: Span = _span()


@frozen
class Ranged:
    """The expression `sum(variable in low..high : body)`: the sum over the values low, low+1, ..., high.

    The `function` may also be `min`, `max`, or "count", which counts the values at which the body, a condition, holds.
    """

    function: str
    variable: str
    low: Expr
    high: Expr
    body: Expr
    span: Span = _span()

    def written_out(self, low: int, high: int) -> Expr:
        """Return an expression without the variable, such as `q[1] + q[2]` for the sum of `q[i]`.

        The variable runs from `low` to `high`, and `high` is at least `low`. A count becomes a sum.
        """
        parts = [self._body_with(value) for value in range(low, high + 1)]
        if self.function in ("min", "max"):
            return Call(self.function, tuple(parts), self.span)
        return balanced(BinaryOp.ADD, parts, self.span)

    def _body_with(self, value: int) -> Expr:
        def change(node: Expr) -> Expr | None:
            match node:
                case Ranged(variable=self.variable):  # it hides the variable in its body
                    return replace(node, low=rewritten(node.low, change), high=rewritten(node.high, change))
                case Name(self.variable):
                    return number(value, node.span)
            return None

        return rewritten(self.body, change)


@frozen
class Drawn:
    """A random value drawn inside an expression; `dipc.text.rewriting` replaces it by a variable."""

    distribution: Distribution
    span: Span = _span()


Expr = Number | Name | Element | Eps | Truth | Unary | Binary | Compare | Call | Ranged | Drawn


# --- distributions ---------------------------------------------------------------------------------


@frozen
class NoiseExpr:
    """A law of noise as written, such as `Lap(rate, mean)`.

    `rate` is an expression in `eps`, or None if the law has no rate; `mean` is None if the law has no mean. `ends` are
    the least and the greatest value of the noise, for a law that is written with these values, and None for other laws.
    """

    law: Law
    rate: Expr | None
    mean: Expr | None
    span: Span = _span()
    ends: tuple[Expr, Expr] | None = None


@frozen
class ExponentialMechanism:
    """The exponential mechanism `Exp(rate, variable in domain : score)`, which draws a value of the domain."""

    rate: Expr
    variable: str
    domain: DomainExpr
    score: Expr
    span: Span = _span()


@frozen
class Choose:
    """The choice `choose { value : weight, ... }`, which draws one of the values; `arms` has the pairs."""

    arms: tuple[tuple[Expr, Expr], ...]
    span: Span = _span()


Distribution = NoiseExpr | ExponentialMechanism | Choose


# --- statements ------------------------------------------------------------------------------------


@frozen
class Assign:
    """The statement `target <- value`."""

    target: Name | Element
    value: Expr
    span: Span = _span()


@frozen
class Sample:
    """The statement `target <- Lap(...)`, or a draw from another distribution."""

    target: Name | Element
    distribution: Distribution
    span: Span = _span()


@frozen
class If:
    """The statement `if condition then ... else ... end`."""

    condition: Expr
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]
    span: Span = _span()


@frozen
class While:
    """The statement `while condition do ... end`."""

    condition: Expr
    body: tuple[Statement, ...]
    span: Span = _span()


@frozen
class For:
    """The statement `for variable in low..high do body end`; the body runs for low, low+1, ..., high."""

    variable: str
    low: Expr
    high: Expr
    body: tuple[Statement, ...]
    span: Span = _span()


@frozen
class ExitStatement:
    """The statement `exit`, which ends the program."""

    span: Span = _span()


Statement = Assign | Sample | If | While | For | ExitStatement


# --- domains, types, declarations ------------------------------------------------------------------


@frozen
class Range:
    """The domain `{low..high}` of the integers from `low` to `high`, or the values `low..high by step` in an option.

    With a `step`, the values are `low` and every multiple of the step above it, up to `high`. A domain has no step.
    """

    low: Expr
    high: Expr
    span: Span = _span()
    step: Expr | None = None


@frozen
class ListedDomain:
    """A domain written by its values, such as `{none, bot, top}` or `{0, 1/2, 3}`."""

    values: tuple[Expr, ...]
    span: Span = _span()


@frozen
class NamedDomain:
    """A domain by the name it was declared with."""

    name: str
    span: Span = _span()


DomainExpr = Range | ListedDomain | NamedDomain


class BaseType(Enum):
    BOOL = "bool"
    INT = "int"
    REAL = "real"


@frozen
class BaseTypeExpr:
    """The type `bool`, `int` or `real`."""

    base: BaseType
    span: Span = _span()


TypeExpr = BaseTypeExpr | Range | ListedDomain | NamedDomain


@frozen
class Declarator:
    """A declared name; `low`/`high` are the index bounds of an array, both None for a scalar."""

    name: str
    low: Expr | None
    high: Expr | None
    span: Span = _span()


class Role(Enum):
    INPUT = "input"
    OUTPUT = "output"
    VAR = "var"


@frozen
class ConstDecl:
    """The declaration `const m = 3, c = 1;`."""

    bindings: tuple[tuple[str, Expr], ...]
    span: Span = _span()


@frozen
class DomainDecl:
    """The declaration `domain answer = {none, bot, top};`."""

    name: str
    domain: DomainExpr
    span: Span = _span()


@frozen
class VariableDecl:
    """The declaration `input q[1..m] : real;`, `output out : answer = none;` or `var a, b : bool = false;`."""

    role: Role
    declarators: tuple[Declarator, ...]
    type: TypeExpr
    initial: Expr | None
    span: Span = _span()


@frozen
class IntervalExpr:
    """An interval of eps, such as `(0, inf)`, `[1/2, 3]` or the single value `1/2`.

    A `high` of None means infinity. The interval of a single value includes both ends, which are equal.
    """

    low: Expr
    high: Expr | None
    low_closed: bool
    high_closed: bool
    span: Span = _span()


@frozen
class ClaimField:
    """A line of a claim block, such as `alpha: dd;`, with its `name` and its `value`.

    The value of `eps` is one or more intervals, that of `inputs` is `ClaimedInputs`, and that of every other field an
    expression.
    """

    name: str
    value: Expr | tuple[IntervalExpr, ...] | ClaimedInputs
    span: Span = _span()


@frozen
class ClaimDecl:
    """The block `claim { field: expression; ... }`."""

    fields: tuple[ClaimField, ...]
    span: Span = _span()


@frozen
class IdealDecl:
    """The block `ideal { var ...; statements }`: a program without noise that computes det.

    `declarations` are its own variables. The block `ideal { noiseless }` has `noiseless` True: its statements are those
    of the program without the noise (see `dipc.text.rewriting`).
    """

    declarations: tuple[VariableDecl, ...]
    body: tuple[Statement, ...]
    span: Span = _span()
    noiseless: bool = False


@frozen
class Each:
    """The conditions `for i in low..high: body` in a metric: the body must hold for every value of the variable."""

    variable: str
    low: Expr
    high: Expr
    body: Expr | Each
    span: Span = _span()


@frozen
class MetricField:
    """A line of a metric block, such as `input: linf;`, with its `name` and its `value`.

    In a condition on two inputs, `q'` is the value of q at the second input. In a condition on two answers, `out'` is
    the value of out in the right answer.
    """

    name: str
    value: Expr | Each
    span: Span = _span()


@frozen
class MetricDecl:
    """The block `metric { ... }`, which defines the distances of inputs and of answers."""

    fields: tuple[MetricField, ...]
    span: Span = _span()


@frozen
class RequiresDecl:
    """The declaration `requires condition;`: only inputs that satisfy the condition are inputs of the program.

    `written` is the condition as the user wrote it, if the program was read from a text in another language; else None.
    """

    condition: Expr
    span: Span = _span()
    written: str | None = None


Declaration = ConstDecl | DomainDecl | VariableDecl | RequiresDecl | ClaimDecl | IdealDecl | MetricDecl


# --- values in options -----------------------------------------------------------------------------


@frozen
class ListedValues:
    """A list of values for an input, such as `{0, 1/2, 3..5}`."""

    values: tuple[Expr | Range, ...]
    span: Span = _span()


@frozen
class Vector:
    """A vector `(0, -1..1, {0, 1/2})` with the values of each element of an array."""

    values: tuple[Values, ...]
    span: Span = _span()


Values = Expr | Range | ListedValues | Vector


@frozen
class Item:
    """An item `q = -1..1` or `q[2] in {0, 1}` with the values of a variable, an array or a constant."""

    target: Name | Element
    values: Values
    span: Span = _span()


@frozen
class ClaimedInputs:
    """The inputs `q = -1..1, x in {0, 1}` in a claim block; no items means `all`."""

    items: tuple[Item, ...]
    span: Span = _span()


@frozen
class ProgramTree:
    """The syntax tree of a whole text: `program name; declarations; statements`."""

    name: str
    declarations: tuple[Declaration, ...]
    body: tuple[Statement, ...]
    span: Span = _span()

    @property
    def ideal(self) -> IdealDecl | None:
        """The block `ideal`, or None if there is none."""
        return next((each for each in self.declarations if isinstance(each, IdealDecl)), None)


# --- Walking trees: one walker for the syntax of `dipc.text.ast` and for the typed core -------------------------------
#
# A node is an instance of a dataclass other than Span; its children are the nodes in its fields, in order, those in
# tuples (at any depth) included. So a new kind of node needs nothing here.

#: The declared types of fields without nodes. Fields of other types are visited.
_LEAVES = {"str", "int", "bool", "Fraction", "Span", "Law", "ValueKind", "tuple[int, ...]", "tuple[str, ...]"}


def walk(tree: object) -> Iterator[Any]:
    """Yield every node of `tree`, a tree or a tuple of trees, from left to right, each node before its children."""
    pending: list[Any] = [tree]
    while pending:
        node = pending.pop()
        if node.__class__ is tuple:
            pending += node[::-1]
        elif (fields := _fields(node.__class__)) is not None:
            yield node
            pending += fields(node)


_Tree = TypeVar("_Tree")

#: The names of the Greek letters in a claim.
GREEK = {"α": "alpha", "β": "beta", "γ": "gamma"}


def is_name(node: object, name: str) -> bool:
    """Return True if `node` is the name `name`."""
    return isinstance(node, Name) and node.name == name


def is_condition(expr: Expr) -> bool:
    """Whether the form of `expr` shows that it is a condition; names and elements are none."""
    match expr:
        case Truth() | Compare() | Unary(UnaryOp.NOT):
            return True
        case Binary(op):
            return op in (BinaryOp.AND, BinaryOp.OR)
        case _:
            return False


def occurrences(tree: object, name: str) -> int:
    """Return the number of occurrences of the name `name` in `tree`."""
    return sum(isinstance(node, Name) and node.name == name for node in walk(tree))


def mentions(tree: object, name: str) -> bool:
    """Return True if the name `name` occurs in `tree`; a Greek letter counts as its name in Latin letters."""
    wanted = GREEK.get(name, name)
    return any(isinstance(node, Name | Element) and GREEK.get(node.name, node.name) == wanted for node in walk(tree))


def rewritten(tree: _Tree, change: Callable[[Any], Any]) -> _Tree:
    """Return `tree`, a tree or a tuple of trees, with some of its nodes replaced, as `change` says.

    `change` returns the node that replaces a given node, or None to keep that node and to go on to its children. The
    children of a replacement are not visited.
    """
    if isinstance(tree, tuple):
        children = tuple([rewritten(child, change) for child in tree])
        return tree if all(map(operator.is_, children, tree)) else children  # type: ignore[return-value]
    kind: Any = tree.__class__
    names = _children(kind)
    if names is None:
        return tree
    result = change(tree)
    if result is not None:
        return result  # type: ignore[no-any-return]
    changed = {name: rewritten(child, change) for name in names if (child := getattr(tree, name)) is not None}
    same = all(getattr(tree, name) is child for name, child in changed.items())
    return tree if same else replace(tree, **changed)  # type: ignore[type-var]


@cache
def _children(kind: Any) -> tuple[str, ...] | None:
    known = None if kind is Span else getattr(kind, "__dataclass_fields__", None)
    return None if known is None else tuple([name for name, field in known.items() if field.type not in _LEAVES])


@cache
def _fields(kind: Any) -> Callable[[Any], tuple[Any, ...]] | None:
    match _children(kind):
        case None:
            return None
        case ():
            return lambda _: ()
        case (name,):
            return lambda node: (getattr(node, name),)
        case names:
            return operator.attrgetter(*names[::-1])


def balanced(op: BinaryOp, parts: Sequence[Expr], span: Span) -> Expr:
    """Return the `parts` joined by `op`, as a tree of logarithmic depth at `span`."""
    if len(parts) == 1:
        return parts[0]
    middle = len(parts) // 2
    return Binary(op, balanced(op, parts[:middle], span), balanced(op, parts[middle:], span), span)


def number(value: Fraction | int, span: Span) -> Expr:
    """Return the number `value` at `span` as the parser builds it.

    A negative number is a negation, a fraction a division.
    """
    above, below = (Number(Fraction(n), str(n), span) for n in abs(Fraction(value)).as_integer_ratio())
    node = above if below.value == 1 else Binary(BinaryOp.DIVIDE, above, below, span)
    return Unary(UnaryOp.NEGATE, node, span) if value < 0 else node


def weighing(distribution: Distribution) -> tuple[Expr, ...]:
    """Return the expressions in `distribution` that may contain eps.

    These are the weights of a choice, and the rate of any other distribution. The result is empty for noise without a
    rate.
    """
    match distribution:
        case Choose(arms):
            return tuple(weight for _, weight in arms)
        case NoiseExpr(rate=rate):
            return () if rate is None else (rate,)
        case ExponentialMechanism(rate):
            return (rate,)
    assert_never(distribution)
