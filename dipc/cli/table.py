"""`dipc table`: the exact answers at given inputs, as the table that `dipc check` reads."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

import click

from dipc.cli.arguments import (
    define_option,
    inputs_option,
    limit_option,
    output_option,
    parse_definitions,
    positive_option,
    program_argument,
)
from dipc.cli.exits import ExitCode
from dipc.cli.limits import parse_limits
from dipc.cli.output import check_distinct, check_target, write_result
from dipc.cli.progress import ProgressBar
from dipc.diagnostics.files import read_source

_EPILOG = """
\b
Examples:
  dipc table sparse.dip --inputs "q = -1..1" -o table.csv
  dipc table noisy_max.dip -D m=2 --inputs "q[1] = 0, q[2] in {0, 1/2, 1}"
"""


@click.command(epilog=_EPILOG)
@program_argument
@inputs_option
@define_option
@click.option("--eps", metavar="VALUE", help="The one eps that the program is about, where it has such as 1/eps.")
@output_option
@limit_option("Such as rows=N: the most rows to write.")
def table(
    program_path: Path,
    inputs: tuple[str, ...],
    definitions: tuple[str, ...],
    eps: str | None,
    target: Path | None,
    limits: tuple[str, ...],
) -> ExitCode:
    """Write the table of the exact answers: inputs, outputs and the distance to disagreement dd.

    The answers are those of the program's `ideal` block. Inputs that are not named range over their whole domain.
    """
    check_target(target)
    check_distinct({"-o": target}, program_path)
    constants = parse_definitions(definitions)
    at = None if eps is None else positive_option("--eps", eps)

    from dipc.exits.load import load_source
    from dipc.report.table import write_table
    from dipc.sources.question import prepared

    with ProgressBar(f"reading {program_path}") as progress:
        program = load_source(read_source(program_path), constants, at).with_limits(parse_limits(limits))
        progress.stage(f"computing the answers of {program.name}")
        made = prepared(program, None, inputs or None, progress)

    def writer(stream: TextIO) -> None:
        write_table(program.core, made, stream)

    write_result(target, writer)
    return ExitCode.ACCURATE
