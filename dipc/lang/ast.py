"""The abstract syntax of DiPWhile+ (Figure 3 of the paper, with arrays, bounded `for` and named constants).

Every node is frozen and carries the span it was read from; spans take no part in equality, so
`parse(print(tree)) == tree` is meaningful. Nothing here is resolved or typed: names are text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from dipc.diagnostics.source import Span


def _span() -> Span:
    return field(compare=False, repr=False, default=Span(0, 0))


# --- expressions -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Number:
    """An exact rational literal: `3`, `0.25` (1/4), `1e-23` (10^-23). `text` is how it was written."""

    value: Fraction
    text: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Name:
    """A constant, a domain value, a variable, a loop variable, or (in claims) alpha, gamma, dd, inf."""

    name: str
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Element:
    """An array element, `name[index]`."""

    name: str
    index: Expr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Eps:
    """The privacy budget, `eps` or `ε`."""

    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Truth:
    """`true` or `false`."""

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
    POWER = "^"  # only in claims and weights, with a literal natural exponent
    AND = "and"
    OR = "or"


class CompareOp(Enum):
    LT = "<"
    LE = "<="
    EQ = "="
    NE = "!="
    GE = ">="
    GT = ">"


@dataclass(frozen=True, slots=True)
class Unary:
    """`-e` or `not e`."""

    op: UnaryOp
    operand: Expr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Binary:
    """`e op e`, but for comparisons."""

    op: BinaryOp
    left: Expr
    right: Expr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Compare:
    """`e op e`: one comparison; they do not chain."""

    op: CompareOp
    left: Expr
    right: Expr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Call:
    """`min(...)`, `max(...)`, `abs(.)`, in claims and weights `exp(.)`, and in claims `log(.)`."""

    function: str
    arguments: tuple[Expr, ...]
    span: Span = _span()


Expr = Number | Name | Element | Eps | Truth | Unary | Binary | Compare | Call


# --- distributions ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Laplace:
    """`Lap(rate, mean)`; rate is an expression in `eps`."""

    rate: Expr
    mean: Expr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class DiscreteLaplace:
    """`DLap(rate, mean)`."""

    rate: Expr
    mean: Expr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class OneSided:
    """`Expo(rate)`: exponential noise on [0, inf)."""

    rate: Expr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class ExponentialMechanism:
    """`Exp(rate, variable in domain : score)`."""

    rate: Expr
    variable: str
    domain: DomainExpr
    score: Expr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Choose:
    """`choose { value : weight, ... }`."""

    arms: tuple[tuple[Expr, Expr], ...]
    span: Span = _span()


Distribution = Laplace | DiscreteLaplace | OneSided | ExponentialMechanism | Choose


# --- statements ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Assign:
    """`target <- value`."""

    target: Name | Element
    value: Expr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Sample:
    """`target <- Lap(...)` and the other distributions."""

    target: Name | Element
    distribution: Distribution
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class If:
    """`if condition then ... else ... end`."""

    condition: Expr
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class While:
    """`while condition do ... end`."""

    condition: Expr
    body: tuple[Statement, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class For:
    """`for variable in low..high do body end`; the body runs for low, low+1, ..., high."""

    variable: str
    low: Expr
    high: Expr
    body: tuple[Statement, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Exit:
    """`exit`: the program ends here."""

    span: Span = _span()


Statement = Assign | Sample | If | While | For | Exit


# --- domains, types, declarations ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RangeDomain:
    """`{low..high}`, the integers from low to high."""

    low: Expr
    high: Expr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class ListedDomain:
    """`{none, bot, top}` or `{0, 1/2, 3}`."""

    values: tuple[Expr, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class NamedDomain:
    """A domain by the name it was declared with."""

    name: str
    span: Span = _span()


DomainExpr = RangeDomain | ListedDomain | NamedDomain


class BaseType(Enum):
    BOOL = "bool"
    INT = "int"
    REAL = "real"


@dataclass(frozen=True, slots=True)
class BaseTypeExpr:
    """`bool`, `int` or `real`."""

    base: BaseType
    span: Span = _span()


TypeExpr = BaseTypeExpr | RangeDomain | ListedDomain | NamedDomain


@dataclass(frozen=True, slots=True)
class Declarator:
    """One declared name; `low`/`high` are the index bounds of an array, both None for a scalar."""

    name: str
    low: Expr | None
    high: Expr | None
    span: Span = _span()


class Role(Enum):
    INPUT = "input"
    OUTPUT = "output"
    VAR = "var"


@dataclass(frozen=True, slots=True)
class ConstDecl:
    """`const m = 3, c = 1;`"""

    bindings: tuple[tuple[str, Expr], ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class DomainDecl:
    """`domain answer = {none, bot, top};`"""

    name: str
    domain: DomainExpr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class VariableDecl:
    """`input q[1..m] : real;`, `output out : answer = none;`, `var a, b : bool = false;`"""

    role: Role
    declarators: tuple[Declarator, ...]
    type: TypeExpr
    initial: Expr | None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class IntervalExpr:
    """An interval of eps, `(0, inf)`, `[1/2, 3]`; `high` None means inf. A point, `1/2`, is closed with equal ends."""

    low: Expr
    high: Expr | None
    low_closed: bool
    high_closed: bool
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class ClaimField:
    """`alpha: dd;` - one line of a claim block; eps has one or more intervals, inputs have items, the others one
    expression."""

    name: str
    value: Expr | tuple[IntervalExpr, ...] | ClaimedInputs
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class ClaimDecl:
    """`claim { field: expression; ... }`."""

    fields: tuple[ClaimField, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class IdealDecl:
    """`ideal { var ...; statements }`: a deterministic program for det."""

    declarations: tuple[VariableDecl, ...]
    body: tuple[Statement, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Each:
    """`for i in low..high: body` in a metric: one condition for every value of the variable."""

    variable: str
    low: Expr
    high: Expr
    body: Expr | Each
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class MetricField:
    """`input: linf;` - one line of a metric block. In conditions `q'` is the other input's (or the ideal's) `q`."""

    name: str
    value: Expr | Each
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class MetricDecl:
    """`metric { ... }`: how far inputs, and how far answers, are apart."""

    fields: tuple[MetricField, ...]
    span: Span = _span()


Declaration = ConstDecl | DomainDecl | VariableDecl | ClaimDecl | IdealDecl | MetricDecl


# --- what options hold -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Range:
    """`low..high`, the integers from low to high."""

    low: Expr
    high: Expr
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Listed:
    """`{0, 1/2, 3..5}`."""

    values: tuple[Expr | Range, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Vector:
    """`(0, -1..1, {0, 1/2})`: what each element of an array may be."""

    values: tuple[Values, ...]
    span: Span = _span()


Values = Expr | Range | Listed | Vector


@dataclass(frozen=True, slots=True)
class Item:
    """`q = -1..1`, `q[2] in {0, 1}`: what a variable, an array or a constant may be."""

    target: Name | Element
    values: Values
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class ClaimedInputs:
    """`q = -1..1, x in {0, 1}` in a claim block: the inputs that are meant; no items: `all`."""

    items: tuple[Item, ...]
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class LowerBound:
    """`m >= 3`: every integer from 3 on; `least` None is all of them that make sense."""

    name: str
    least: Expr | None
    span: Span = _span()


@dataclass(frozen=True, slots=True)
class Program:
    """`program name; declarations; statements`: a whole text."""

    name: str
    declarations: tuple[Declaration, ...]
    body: tuple[Statement, ...]
    span: Span = _span()
