"""Tables as CSV files."""

from __future__ import annotations

import csv
from typing import TextIO

from dipc.lang.core_program import CoreProgram
from dipc.tables.table import CLAIM_COLUMNS, Table


def write_table(program: CoreProgram, table: Table, stream: TextIO) -> None:
    """Write `table` as CSV that `read_table` reads back as the same rows: inputs, outputs and its claim columns."""
    columns = [name for name in CLAIM_COLUMNS if name in table.columns]
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*(program.slots[slot].name for slot in (*program.inputs, *program.outputs)), *columns])
    for row in table.rows:
        claim = {"alpha": row.alpha, "beta": row.beta, "gamma": row.gamma, "dd": row.dd}
        cells = [*row.inputs, *row.outputs, *(claim[name] for name in columns)]
        writer.writerow(["" if cell is None else cell.text for cell in cells])
