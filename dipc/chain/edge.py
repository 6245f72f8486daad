"""What one step of the chain does."""

from __future__ import annotations

from dataclasses import dataclass

from dipc.chain.affine import Affine
from dipc.chain.constraints import Constraint
from dipc.syntax.ast import CompareOp


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


Edge = Deterministic | Comparison

DETERMINISTIC = Deterministic()
