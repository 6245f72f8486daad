"""The diagnostic for an ideal that is a partial function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dipc.diagnostics.diagnostic import Diagnostic
from dipc.lang.core import Value
from dipc.lang.core_program import CoreProgram
from dipc.lang.display import show_value


def undefined(program: CoreProgram, output: str, inputs: Mapping[int, Value] | Sequence[Value]) -> Diagnostic:
    """Says that the ideal leaves `output` unassigned, and names an input where it does.

    `inputs` are values of all inputs, by slot or in order; those left out may have any value.
    """
    ideal = program.ideal
    assert ideal is not None
    by_slot = inputs if isinstance(inputs, Mapping) else dict(zip(program.inputs, inputs, strict=True))
    shown = [f"{program.slots[slot].name} = {show_value(by_slot[slot])}" for slot in program.inputs if slot in by_slot]
    where = f"at the input {', '.join(shown)}" if shown else "at every input"
    return Diagnostic(
        "E1102",
        f"the ideal is partial: `{output}` is undefined {where}",
        program.source.excerpt(ideal.span),
        f"`{output}` gets no value",
        (f"assign `{output}` on every path, or declare it with an initial value",),
    )
