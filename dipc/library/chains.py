"""The Markov chain of a program, from values given in Python."""

from __future__ import annotations

from collections.abc import Mapping

from dipc.chain.symbolic import is_symbolic
from dipc.exits.program import Program
from dipc.lang.core import Value
from dipc.report.dtmc import Dtmc, chain_at
from dipc.tables.assignment import input_cells, output_cells
from dipc.tables.cells import CellPool


def chain_of(program: Program, given: Mapping[str, object], wanted: Mapping[str, object]) -> Dtmc:
    """The chain at an input, cut where it cannot come to the outputs `wanted`."""
    core, pool = program.core, CellPool()
    finite: dict[str, Value] = {}
    reals: dict[str, Value] = {}
    for slot, cell in zip(core.inputs, input_cells(core, given, pool), strict=True):
        assert cell.value is not None
        (reals if is_symbolic(core.slots[slot].type) else finite)[core.slots[slot].name] = cell.value
    outputs = zip(program.outputs, output_cells(core, wanted, pool), strict=True)
    kept = {name: cell.value for name, cell in outputs if cell is not None and cell.value is not None}
    return chain_at(program, reals, kept, finite)
