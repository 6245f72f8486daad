"""`check` for programs with an `ideal`: it fills in what a table leaves to it, and writes whole tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.exits.probability import Limits
from dipc.exits.program import Program, within
from dipc.ideal.inputs import default_inputs, parse_inputs
from dipc.ideal.table import completed, table_of
from dipc.sources import check as accuracy
from dipc.sources.outcome import Report, RowResult
from dipc.tables.table import Table, read_table

#: What names inputs: one specification, or several that hold together.
InputSpec = str | Sequence[str]


def check(
    program: Program,
    table: object = None,
    *,
    inputs: InputSpec | None = None,
    limits: Limits | None = None,
    **options: Any,
) -> Report:
    """Decide for every row of `table`, or for det at every one of `inputs`, whether the claim holds for every eps.

    `table` is the path of a CSV file, a list of dicts, or a pair (header, rows); without a column dd it gets dd(u)
    from the program's `ideal`. `inputs`, such as "q = -1..1" or the path of a CSV file of inputs, needs an `ideal`.
    With neither, a program whose inputs are all finite is checked at all of them. The other options are those of
    `dipc.sources.check.check`: beta, alpha, gamma, eps, progress and so on.

    Raises DiagnosticError, Interrupted and TypeError as that does.
    """
    program = within(program, limits)
    return accuracy.check(program, prepared(program, table, inputs), **options)


def iter_rows(
    program: Program,
    table: object = None,
    *,
    inputs: InputSpec | None = None,
    limits: Limits | None = None,
    **options: Any,
) -> Iterator[RowResult]:
    """The rows of `check` one by one, as they are decided; the table and the claim are checked first, as a whole."""
    program = within(program, limits)
    return accuracy.iter_rows(program, prepared(program, table, inputs), **options)


def prepared(program: Program, table: object, inputs: InputSpec | None) -> Table:
    """The table to check: the one given, with what the ideal adds to it, or that of det at `inputs`.

    Raises DiagnosticError for what cannot be read, and where neither is given and the program does not do without.
    """
    if table is not None and inputs is not None:
        note = "give inputs alone to have the answers computed, or the table alone"
        raise DiagnosticError(
            Diagnostic("E1114", "a table and inputs are given, and the table has its own", notes=(note,))
        )
    if table is not None:
        return completed(program, read_table(table, program.core))
    if program.core.ideal is None:
        raise DiagnosticError(_nothing_given(program, inputs is not None))
    return table_of(program, default_inputs(program) if inputs is None else parse_inputs(inputs, program))


def table(program: Program, inputs: InputSpec | None = None, *, limits: Limits | None = None) -> Table:
    """The table of det and dd at `inputs`; by default at all inputs, which must be finite then.

    Raises DiagnosticError for a program without an `ideal`, and as `check` does.
    """
    return prepared(within(program, limits), None, inputs)


def _nothing_given(program: Program, wants_inputs: bool) -> Diagnostic:
    if wants_inputs:
        message = f"the program `{program.name}` has no `ideal` block that says what the answers are at these inputs"
        return Diagnostic(
            "E1101", message, notes=("add `ideal { ... }`, or give a table of inputs with their answers: TABLE.csv",)
        )
    return Diagnostic(
        "E1115",
        "neither a table nor inputs are given",
        notes=("give a table of inputs with their answers, TABLE.csv, or an `ideal` block and `--inputs`",),
    )
