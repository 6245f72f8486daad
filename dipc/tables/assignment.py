"""Values of inputs and outputs given from Python, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.names import listing, nearest
from dipc.lang.core import Slot
from dipc.lang.core_program import CoreProgram
from dipc.tables.arrays import arrays_among, by_element
from dipc.tables.cells import BadCell, Cell, CellPool, slot_reader
from dipc.tables.python_source import cell_text


def input_cells(program: CoreProgram, values: Mapping[str, object], pool: CellPool) -> tuple[Cell, ...]:
    """A cell for every input; DiagnosticError for missing and unknown names and for values outside their domain."""
    slots = [program.slots[slot] for slot in program.inputs]
    cells = _cells(slots, "input", values, pool)
    missing = [slot.name for slot, cell in zip(slots, cells, strict=True) if cell is None]
    if missing:
        what = "input" if len(missing) == 1 else "inputs"
        raise DiagnosticError(Diagnostic("E0507", f"no value for the {what} {listing(missing)}"))
    return tuple(cell for cell in cells if cell is not None)


def output_cells(program: CoreProgram, values: Mapping[str, object], pool: CellPool) -> tuple[Cell | None, ...]:
    """A cell for every output, None for the unconstrained ones; DiagnosticError as for inputs."""
    return _cells([program.slots[slot] for slot in program.outputs], "output", values, pool)


def _cells(slots: Sequence[Slot], role: str, values: Mapping[str, object], pool: CellPool) -> tuple[Cell | None, ...]:
    given = by_element(values, arrays_among(slot.name for slot in slots), role)
    known = {slot.name for slot in slots}
    mistakes = [_unknown(name, role, slots) for name in given if name not in known]
    cells: list[Cell | None] = []
    for slot in slots:
        cell = None
        if slot.name in given:
            text = cell_text(given[slot.name], f"{role} {slot.name}")
            read = slot_reader(slot.name, slot.type, False, pool)(text)
            if isinstance(read, BadCell):
                mistakes.append(Diagnostic(read.code, f"{role} `{slot.name}`: {read.message}", notes=read.notes))
            else:
                cell = read
        cells.append(cell)
    if mistakes:
        raise DiagnosticError(*mistakes)
    return tuple(cells)


def _unknown(name: str, role: str, slots: Sequence[Slot]) -> Diagnostic:
    close = nearest(name, [slot.name for slot in slots])
    notes = [f"did you mean `{close}`?"] if close else []
    names = [slot.name for slot in slots]
    notes.append(f"the {role}s are {listing(names)}" if names else f"there are no {role}s")
    return Diagnostic("E0506", f"the program has no {role} `{name}`", notes=tuple(notes))
