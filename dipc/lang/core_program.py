"""The typed program: what the chain is built from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.source import Source, Span
from dipc.lang.ast import ClaimDecl, ClaimedInputs, IdealDecl
from dipc.lang.codes import Code
from dipc.lang.core import DomType, Instruction, Slot
from dipc.lang.metric import CoreMetric


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
