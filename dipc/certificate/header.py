"""What certificates say of the program, the table and the claim that they are about."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from dipc.certificate.numbers import rational
from dipc.claims.expression import ClaimExpression
from dipc.claims.table import Row, Table
from dipc.program.program import Program
from dipc.text.printer import print_expression


def program_data(program: Program) -> dict[str, Any]:
    """The program with its constants."""
    core = program.core
    return {
        "name": core.name,
        "text": core.source.text,
        "sha256": hashlib.sha256(core.source.text.encode("utf-8", "surrogatepass")).hexdigest(),
        "constants": {name: rational(value) for name, value in core.constants.items()},
        **({} if core.only_at is None else {"only_at": rational(core.only_at)}),
    }


def table_data(program: Program, table: Table) -> dict[str, Any]:
    """The table with the names of its columns."""
    return {
        "name": table.name,
        "sha256": _file_hash(table.name),
        "rows": len(table.rows),
        "inputs": list(program.inputs),
        "outputs": list(program.outputs),
        "dd": "ideal" if "dd" in table.computed else "given",
    }


def expression_text(expression: ClaimExpression | None) -> str | None:
    """A part of a claim, None where it is not given."""
    return None if expression is None else print_expression(expression.tree)


def own_cells(row: Row) -> dict[str, str]:
    """The cells of a row that win over the claim."""
    cells = (("alpha", row.alpha), ("beta", row.beta), ("gamma", row.gamma))
    return {name: cell.text for name, cell in cells if cell is not None}


def _file_hash(name: str) -> str | None:
    """Of the bytes of a file; None where the table is not one."""
    try:
        with Path(name).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return None
