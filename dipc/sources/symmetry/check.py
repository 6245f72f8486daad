"""Finite products of inputs as tables of classes (Corollary 13 of the paper)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from dipc.chain.symbolic import is_symbolic
from dipc.claim.theorem import Theorem
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.exits.program import Program
from dipc.ideal.inputs import FiniteInputs, default_inputs, parse_inputs
from dipc.lang.core import BoolType, DomType, Value
from dipc.lang.core_program import CoreProgram
from dipc.sources.report import Report
from dipc.tables.cells import INFINITY, CellPool
from dipc.tables.table import Row, Table

if TYPE_CHECKING:
    from dipc.sources.symmetry.classes import SymmetryClass

#: A product with more inputs than this is decided from its classes unless that is declined.
ROW_BY_ROW = 5_000


@dataclass(frozen=True, slots=True)
class ClassTable:
    """A product of inputs by classes. `table` has a row for each, a representative with det and dd, to be checked with
    `program`; `inputs` is how many inputs there are, `everything` whether these are all that a program with finite
    inputs and outputs has."""

    program: Program
    table: Table
    classes: tuple[SymmetryClass, ...]
    inputs: int
    everything: bool

    def counted(self, report: Report) -> Report:
        """The report on `table` as one on all inputs: each row with the `count` of inputs that it stands for."""
        rows = tuple(replace(row, count=each.count) for row, each in zip(report.rows, self.classes, strict=False))
        report = replace(report, rows=rows, inputs=self.inputs)
        return with_corollary(report) if self.everything else report


def class_table(program: Program, inputs: FiniteInputs, *, as_given: bool = False) -> ClassTable:
    """The classes of `inputs`; see `input_classes`, which says what is raised. `as_given` leaves the types of inputs as
    they are declared: rows are decided more slowly then, but of the very program.

    The verdict, the probability and the counterexample of a row hold for all inputs of its class, and every input is in
    one of them: so the report says of each input exactly what `check` says of it.
    """
    from dipc.sources.symmetry.classes import input_classes

    core = program.core
    values = dict(zip(core.inputs, map(_distinct, inputs.choices), strict=True))
    found = input_classes(program, values)
    pool = CellPool()
    rows = tuple(
        Row(
            number,
            tuple(pool.cell(value) for value in each.inputs),
            tuple(pool.cell(value) for value in each.answer),
            None,
            None,
            None,
            INFINITY if each.dd is None else pool.cell(each.dd),
        )
        for number, each in enumerate(found.classes, start=1)
    )
    table = Table(inputs.name, rows, frozenset({"dd"}), {})
    return ClassTable(
        program if as_given else found.program, table, found.classes, found.inputs, _is_everything(core, values)
    )


def grouped(
    program: Program, table: object, inputs: Any, classes: bool | None, *, as_given: bool = False
) -> ClassTable | None:
    """The classes of the inputs that are asked for, if they are to be decided so: always, never, or, for None, where
    they are many and their classes are not. None where rows are checked one by one. `inputs` is what `parse_inputs`
    reads, None for all inputs of a program that has finitely many.

    Raises DiagnosticError for classes of a table, for inputs that cannot be read, and as `class_table` does.
    """
    if table is not None:
        if classes:
            raise DiagnosticError(_of_a_table())
        return None
    if classes is False or program.core.ideal is None:
        return None
    found = default_inputs(program) if inputs is None else parse_inputs(inputs, program)
    if not isinstance(found, FiniteInputs) or (classes is None and found.count <= ROW_BY_ROW):
        return None
    from dipc.sources.symmetry.classes import TOO_MANY

    try:
        return class_table(program, found, as_given=as_given)
    except DiagnosticError as error:
        # Classes were not asked for by name, and there are too many of them to be worth it: row by row, then.
        if classes is None and all(each.code == TOO_MANY for each in error.diagnostics):
            return None
        raise


def with_corollary(report: Report) -> Report:
    """A report on all inputs of a program with finite inputs and outputs as one by Corollary 13 of the paper: that is
    Theorem 12 (or 10, with gamma fixed) at every input."""
    theorem = report.theorem
    if theorem is None or theorem.name is None:
        return report
    return replace(report, theorem=Theorem("Corollary 13", f"{theorem.decides}, at all inputs", theorem.conditions))


def is_everything(program: Program, table: object, inputs: Any) -> bool:
    """Whether the rows are all inputs of a program with finite inputs and outputs; the arguments are as for `grouped`,
    and were read before."""
    if table is not None or program.core.ideal is None:
        return False
    found = default_inputs(program) if inputs is None else parse_inputs(inputs, program)
    core = program.core
    return isinstance(found, FiniteInputs) and _is_everything(core, dict(zip(core.inputs, found.choices, strict=True)))


def _is_everything(core: CoreProgram, values: Mapping[int, Sequence[Value]]) -> bool:
    """Whether these are all inputs of a program with finite inputs and outputs."""
    if any(is_symbolic(core.slots[slot].type) for slot in core.outputs):
        return False
    for slot in core.inputs:
        match core.slots[slot].type:
            case DomType(values=domain):
                if set(values[slot]) != set(domain):
                    return False
            case BoolType():
                if len(values[slot]) < 2:
                    return False
            case _:
                return False
    return True


def _of_a_table() -> Diagnostic:
    note = 'give `--inputs` in its place, such as `--inputs "q = -1..1"`: det comes from the `ideal` block then'
    return Diagnostic("E1255", "the rows of a table are checked one by one, not in classes", notes=(note,))


def _distinct(values: Sequence[Value]) -> tuple[Value, ...]:
    return tuple(dict.fromkeys(values))
