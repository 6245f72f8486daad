"""The typed program, what the chain is built from, and its instructions as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import assert_never

from dipc.text.ast import ClaimDecl, ClaimedInputs, IdealDecl
from dipc.text.core import (
    AssignAffine,
    AssignComparison,
    AssignDom,
    Branch,
    BranchComparison,
    Code,
    DomType,
    Exit,
    Instruction,
    Jump,
    SampleChoice,
    SampleExponential,
    SampleNoise,
    Slot,
    Target,
    show_affine,
    show_expression,
    show_multiple,
    show_value,
)
from dipc.text.diagnostic import Diagnostic, DiagnosticError, Source, Span
from dipc.text.metric import CoreMetric
from dipc.text.printer import print_expression

# --- The typed program: what the chain is built from ------------------------------------------------------------------
#


@dataclass(frozen=True)
class CoreProgram:
    """A typed program. `inputs` and `outputs` index `slots`, in declaration order (arrays by increasing index);
    `loops` are the spans of `while` statements, by the label of their condition (empty: loop-free); `domains` are the
    named ones. Where `only_at` is not None, the program means this at that eps alone. `given` are the constants that
    win over the text; the others are computed from them."""

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
    only_at: Fraction | None = None
    given: Mapping[str, Fraction] = field(default_factory=dict)

    @property
    def claimed_inputs(self) -> str | None:
        """The inputs that the claim block is about, as `--inputs` takes them; None where it does not say."""
        for part in () if self.claim is None else self.claim.fields:
            if isinstance(part.value, ClaimedInputs):
                return self.source.text[part.value.span.start : part.value.span.end]
        return None

    def require_meaning(self, eps: Fraction | None) -> None:
        """Raise DiagnosticError where the program is `only_at` another eps than the one asked about; None: several."""
        if self.only_at in (None, eps):
            return
        asked = "others are asked about" if eps is None else f"eps = {eps} is asked about"
        message = f"`{self.name}` is read at eps = {self.only_at} alone, and {asked}"
        notes = ("at another eps its constants and rates are others: ask about one eps at a time",)
        raise DiagnosticError(Diagnostic(Code.OTHER_EPS.value, message, notes=notes))


# --- The instructions of a typed program as text, one a line with its label -------------------------------------------
#


def listing(program: CoreProgram) -> str:
    """Every instruction as `label  text`, labels aligned."""
    width = len(str(len(program.instructions)))
    return "".join(
        f"{label:>{width}}  {show_instruction(instruction, program)}\n"
        for label, instruction in enumerate(program.instructions)
    )


def show_instruction(instruction: Instruction, program: CoreProgram) -> str:
    """One instruction, variables by name and jumps by label."""
    slots = program.slots
    match instruction:
        case AssignDom(target, value):
            return f"{_target(target, program)} <- {show_expression(value, slots)}"
        case AssignAffine(target, affine):
            return f"{_target(target, program)} <- {show_affine(affine, slots)}"
        case AssignComparison(target, text=text):
            return f"{_target(target, program)} <- {text}"
        case SampleNoise(target, law, rate, mean):
            return f"{_target(target, program)} <- {law.written(law.scale_text(rate), show_affine(mean, slots))}"
        case SampleExponential(target, rate, values, scores):
            pairs = zip(values, scores, strict=True)
            arms = ", ".join(f"{show_value(value)} : {show_expression(score, slots)}" for value, score in pairs)
            return f"{_target(target, program)} <- Exp({show_multiple(rate)}, {{{arms}}})"
        case SampleChoice(target, arms):
            shown = ", ".join(f"{show_expression(value, slots)} : {print_expression(weight)}" for value, weight in arms)
            return f"{_target(target, program)} <- choose {{{shown}}}"
        case Branch(condition, then, otherwise):
            return f"if {show_expression(condition, slots)} then {then} else {otherwise}"
        case BranchComparison(then=then, otherwise=otherwise, text=text):
            return f"if {text} then {then} else {otherwise}"
        case Jump(target):
            return f"go to {target}"
        case Exit():
            return "exit"
        case _:
            assert_never(instruction)


def _target(target: Target, program: CoreProgram) -> str:
    return target.name if target.index is None else f"{target.name}[{show_expression(target.index, program.slots)}]"
