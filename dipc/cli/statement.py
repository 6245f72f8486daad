"""What a command is about, in the words of the command line, the table and the program's claim block."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dipc.exits.program import Program
    from dipc.lang.core_program import CoreProgram
    from dipc.report.text import Statement
    from dipc.tables.table import Table


def statement_of(
    program: Program, table: Table, *, alpha: str | None, beta: str | None, gamma: str | None, program_path: Path
) -> Statement:
    """What is checked, in the words of the command line, the table and the program's claim block."""
    from dipc.metric.nearness import Nearness
    from dipc.report.text import Statement

    core = program.core
    return Statement(
        program=f"{core.name} ({program_path})",
        table=table.name,
        constants=tuple((name, str(value)) for name, value in core.constants.items()),
        alpha=_said("alpha", alpha, program, table),
        beta=_said("beta", beta, program, table),
        gamma=_said("gamma", gamma, program, table),
        near=near_outputs(core),
        distance=not Nearness(core).plain,
    )


def near_outputs(core: CoreProgram) -> str:
    """The types of the outputs that are compared within gamma, as a report names them; empty where there are none."""
    from dipc.lang.core import IntType, RealType

    types = [core.slots[slot].type for slot in core.outputs]
    kinds = (("real", RealType), ("int", IntType))
    return " and ".join(word for word, kind in kinds if any(isinstance(found, kind) for found in types))


def _said(name: str, option: str | None, program: Program, table: Table) -> str:
    """What the claim says of `name`, by the order of precedence."""
    from dipc.lang.printer import print_expression

    if name in table.columns:
        return f"the table's column `{name}`"
    claim = program.core.claim
    stated = option
    if stated is None and claim is not None:
        found = next((part for part in claim.fields if part.name == name), None)
        if found is not None and not isinstance(found.value, tuple):
            stated = print_expression(found.value)
    if stated is None:
        stated = "dd" if name == "alpha" and "dd" in table.columns else "0"
    if name == "alpha" and "dd" in table.columns:
        where = "computed from the program's ideal" if "dd" in table.computed else "the table's column `dd`"
        return f"dd(u), {where}" if stated == "dd" else f"{stated}; nothing is claimed where dd < alpha"
    return stated
