"""The typed program: what the chain is built from."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from dipc.diagnostics.source import Source, Span
from dipc.lang.ast import ClaimDecl, IdealDecl
from dipc.lang.core import DomType, Instruction, Slot
from dipc.lang.metric import CoreMetric


@dataclass(frozen=True)
class CoreProgram:
    """A typed program. `inputs` and `outputs` index `slots`, in declaration order (arrays by increasing index);
    `loops` are the spans of `while` statements, by the label of their condition (empty: loop-free); `domains` are the
    named ones."""

    name: str
    source: Source
    constants: dict[str, Fraction]
    slots: tuple[Slot, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    instructions: tuple[Instruction, ...]
    loops: dict[int, Span]
    claim: ClaimDecl | None
    ideal: IdealDecl | None
    domains: dict[str, DomType] = field(default_factory=dict)
    metric: CoreMetric | None = None
