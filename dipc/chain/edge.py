"""What one step of the chain does."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dipc.chain.affine import Affine
from dipc.chain.constraints import Constraint
from dipc.diagnostics.source import Span
from dipc.lang.ast import CompareOp, Expr
from dipc.lang.core import Value


@dataclass(frozen=True, slots=True)
class Deterministic:
    """The only step possible."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One outcome of a comparison that the constraints leave open: `known` is added to them.

    The probability of the step is the measure of the state's constraints with `known`, divided by that without.
    `difference` `op` 0 is what held or, when not `holds`, failed. A comparison of inputs alone has probability 0 or 1.
    """

    known: tuple[Constraint, ...]
    difference: Affine
    op: CompareOp
    holds: bool
    at: int


@dataclass(frozen=True, slots=True)
class ExponentialWeight:
    """exp(rate·eps·scores[index]) / Σ exp(rate·eps·score) over all `scores`."""

    rate: Fraction
    scores: tuple[Fraction, ...]
    index: int


@dataclass(frozen=True, slots=True)
class ExpressionWeight:
    """The value of an expression of numbers, `eps`, `exp(q*eps)` and + - * / ^, as it stands at `span`."""

    expression: Expr
    span: Span


ChoiceWeight = ExponentialWeight | ExpressionWeight


@dataclass(frozen=True, slots=True)
class Choice:
    """`slot` becomes `value` by a choice that is independent of all noises and of all other choices.

    `weight` is the probability of the step: a description, which the chain does not compute. Where a choice lists a
    value twice, two steps lead to the same state.
    """

    slot: int
    value: Value
    weight: ChoiceWeight
    at: int


Edge = Deterministic | Comparison | Choice

DETERMINISTIC = Deterministic()
