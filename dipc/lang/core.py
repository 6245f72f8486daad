"""What a typed program is made of: types, slots, expressions and instructions.

Constants are substituted, domains enumerated, arrays flattened to slots, `for` unrolled, conditions compiled to
jumps. A program is a list of labelled instructions (the paper's "finite sequence of labelled statements",
section 5.2); the label of an instruction is its index. Control falls through to label + 1 unless an
instruction says otherwise; running off the end is `Exit`.

DOM and bool expressions (`DomExpr`) have concrete values in every state of the chain; real and int expressions
(`AffineExpr`) are linear in the real (int) slots, with DOM-valued coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from dipc.diagnostics.source import Span
from dipc.lang.ast import CompareOp, Expr, Role

#: A DOM or bool value: an exact rational, an enumerated name, or a truth value.
Value = Fraction | str | bool


# --- types and slots -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class BoolType:
    """`false` and `true`."""


@dataclass(frozen=True, slots=True)
class DomType:
    """A finite domain; `values` in declaration order, all names or all rationals, no duplicates."""

    values: tuple[Value, ...]
    name: str | None = None


@dataclass(frozen=True, slots=True)
class IntType:
    """Unbounded integers."""


@dataclass(frozen=True, slots=True)
class RealType:
    """The reals."""


Type = BoolType | DomType | IntType | RealType


@dataclass(frozen=True, slots=True)
class Slot:
    """One scalar variable: `name` is as the user reads it (`q[1]`); `initial` a value of a DOM/bool slot, or a
    rational for a real one, None when it starts unassigned. `span` is its declaration."""

    index: int
    name: str
    role: Role
    type: Type
    initial: Value | None
    span: Span


# --- DOM and bool expressions ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Const:
    """A value that is known."""

    value: Value


@dataclass(frozen=True, slots=True)
class Read:
    """The value of one slot. `span` for the diagnostic when it is unassigned."""

    slot: int
    span: Span


@dataclass(frozen=True, slots=True)
class ReadElement:
    """`array[index]` with an index known only in a state: `slots[index - low]`."""

    array: str
    slots: tuple[int, ...]
    low: int
    index: DomExpr
    span: Span


class DomOp(Enum):
    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    NEGATE = "neg"
    MIN = "min"
    MAX = "max"
    ABS = "abs"
    NOT = "not"
    AND = "and"
    OR = "or"
    LT = "<"
    LE = "<="
    EQ = "="
    NE = "!="
    GE = ">="
    GT = ">"


@dataclass(frozen=True, slots=True)
class Apply:
    """An operation on concrete values; AND and OR evaluate their right side only when the left leaves it open."""

    op: DomOp
    arguments: tuple[DomExpr, ...]
    span: Span


DomExpr = Const | Read | ReadElement | Apply


# --- real and int expressions ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AffineExpr:
    """Σ coefficient · slot + constant over real (or over int) slots. Coefficients and constant are DOM
    expressions; `terms` may name a slot twice (array elements resolve only in a state)."""

    terms: tuple[tuple[DomExpr, Read | ReadElement], ...]
    constant: DomExpr
    span: Span


# --- instructions ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Target:
    """Where an assignment writes: one slot, or an element known only in a state (index is not None)."""

    slots: tuple[int, ...]
    low: int
    index: DomExpr | None
    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class AssignDom:
    """x <- E or b <- B with a concrete value; the executor checks that it lies in the slot's domain."""

    target: Target
    value: DomExpr
    span: Span


@dataclass(frozen=True, slots=True)
class AssignAffine:
    """r <- R or z <- Z."""

    target: Target
    value: AffineExpr
    span: Span


@dataclass(frozen=True, slots=True)
class AssignComparison:
    """b <- R ~ R (or Z ~ Z): the chain branches on `difference` ~ 0 where difference = left - right."""

    target: Target
    difference: AffineExpr
    op: CompareOp
    text: str
    span: Span


class NoiseFamily(Enum):
    LAPLACE = "Lap"
    DISCRETE_LAPLACE = "DLap"
    ONE_SIDED = "Expo"


@dataclass(frozen=True, slots=True)
class SampleNoise:
    """r <- Lap(rate·eps, mean), z <- DLap(rate·eps, mean), r <- Expo(rate·eps); rate > 0, in multiples of eps."""

    target: Target
    family: NoiseFamily
    rate: Fraction
    mean: AffineExpr
    span: Span


@dataclass(frozen=True, slots=True)
class SampleExponential:
    """x <- Exp(rate·eps, v in values : score): weight exp(rate·eps·scores[i]) for values[i]."""

    target: Target
    rate: Fraction
    values: tuple[Value, ...]
    scores: tuple[DomExpr, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class SampleChoice:
    """x <- choose { value : weight, ... }; weights are expressions in eps and rationals only (names resolved)."""

    target: Target
    arms: tuple[tuple[DomExpr, Expr], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Branch:
    """Go to `then` or `otherwise` by a concrete condition."""

    condition: DomExpr
    then: int
    otherwise: int
    span: Span


@dataclass(frozen=True, slots=True)
class BranchComparison:
    """Branch on `difference` ~ 0 with real (int) expressions, without a bool variable."""

    difference: AffineExpr
    op: CompareOp
    then: int
    otherwise: int
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Jump:
    """On to another instruction."""

    target: int
    span: Span


@dataclass(frozen=True, slots=True)
class Exit:
    """The program ends here."""

    span: Span


Instruction = (
    AssignDom
    | AssignAffine
    | AssignComparison
    | SampleNoise
    | SampleExponential
    | SampleChoice
    | Branch
    | BranchComparison
    | Jump
    | Exit
)
