"""The lines of a program that runs pass which end in a wanted output."""

from __future__ import annotations

from dipc.chain.answers import same_value
from dipc.chain.explore import explore
from dipc.chain.symbolic import is_symbolic
from dipc.exits.program import Program
from dipc.lang.core import Value
from dipc.sources.outcome import RowResult
from dipc.tables.assignment import input_cells, output_cells
from dipc.tables.cells import CellPool


def passed_lines(program: Program, row: RowResult) -> frozenset[int]:
    """The numbers, from 1, of the lines with an instruction on some way to the finite outputs of the row at its finite
    inputs. Raises Undecided past a limit."""
    import networkx as nx

    core, pool = program.core, CellPool()
    finite = _finite(program, core.inputs, input_cells(core, row.input, pool))
    wanted = _finite(program, core.outputs, output_cells(core, row.output, pool))
    possible = program.choices.settled().possible
    chain = explore(program.flow, finite, wanted, program.limits, observed=list(wanted), possible=possible)
    ends = [found.node for found in chain.exits if all(same_value(found.outputs[s], v) for s, v in wanted.items())]
    nodes = set(ends).union(*(nx.ancestors(chain.graph, end) for end in ends))
    labels = {chain.states[node].label for node in nodes}
    source, instructions = core.source, core.instructions
    spans = [instructions[label].span for label in labels if label < len(instructions)]
    return frozenset(source.excerpt(span).line for span in spans)


def _finite(program: Program, slots: tuple[int, ...], cells: object) -> dict[int, Value]:
    assert isinstance(cells, tuple | list)
    return {
        slot: cell.value
        for slot, cell in zip(slots, cells, strict=True)
        if cell is not None and cell.value is not None and not is_symbolic(program.core.slots[slot].type)
    }
