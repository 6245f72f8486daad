"""`dipc check`: prove or refute accuracy on a table."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, TextIO

import click

from dipc.accuracy.files import read_source
from dipc.cli.arguments import define_option, output_option, parse_definitions, program_argument
from dipc.cli.exits import ExitCode
from dipc.cli.limits import NAMES, parse_limits
from dipc.cli.output import check_target, write_result, write_text
from dipc.cli.progress import ProgressBar
from dipc.cli.terminal import look_of, write
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.report.page import Look

if TYPE_CHECKING:
    from dipc.accuracy.outcome import Report
    from dipc.accuracy.program import Program
    from dipc.accuracy.table import Table
    from dipc.report.text import Statement

_EPILOG = """
\b
Examples:
  dipc check sparse.dip table.csv
  dipc check sparse.dip table.csv -D m=3 --beta "2*m*exp(-alpha*eps/8)/7"
  dipc check laplace.dip table.csv --gamma 2 --format json -o result.json

\b
TABLE.csv has a column for each input and output, and a row for each input.
Optional columns alpha, beta and gamma win over the options; dd is the
distance to disagreement (a rational or inf).

\b
Exit codes: 0 accurate, 1 inaccurate, 2 bad input, 3 undecided,
70 internal error.
"""


@click.command(epilog=_EPILOG)
@program_argument
@click.argument("table_path", metavar="TABLE.csv", type=Path)
@define_option
@click.option("--beta", metavar="EXPR", help="The failure probability: in eps, alpha, gamma, the constants and exp.")
@click.option("--alpha", metavar="VALUE|dd", help="The distance to disagreement asked for; dd is each input's own.")
@click.option("--gamma", metavar="VALUE", help="How far real and int outputs may be off; 0 by default.")
@click.option(
    "--eps", metavar="INTERVALS", help='Which eps are meant, such as "(0, 1/2]"; all, "(0, inf)", by default.'
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="text by default.")
@output_option
@click.option("--closed-form", metavar="ROW", type=click.IntRange(min=1), help="Write out the probability of one row.")
@click.option(
    "--limit",
    "limits",
    metavar="NAME=N",
    multiple=True,
    help=f"Give up on a row later, or sooner; NAME is {', '.join([*NAMES][:-1])} or {[*NAMES][-1]}.",
)
@click.option("--quiet", "-q", is_flag=True, help="Print the verdict line only, and no progress.")
@click.option("--time", "times", is_flag=True, help="Say how long it took.")
def check(
    program_path: Path,
    table_path: Path,
    definitions: tuple[str, ...],
    beta: str | None,
    alpha: str | None,
    gamma: str | None,
    eps: str | None,
    form: str,
    target: Path | None,
    closed_form: int | None,
    limits: tuple[str, ...],
    quiet: bool,
    times: bool,
) -> ExitCode:
    """Prove or refute that a program is accurate on a table of its intended answers.

    Each row is decided exactly, for every eps: proved, or refuted by an eps at which it fails, or left undecided with
    the reason.
    """
    begun = perf_counter()
    check_target(target)
    constants = parse_definitions(definitions)

    from dipc.accuracy.check import check as decide
    from dipc.accuracy.load import load_source
    from dipc.accuracy.outcome import Interrupted
    from dipc.accuracy.table import read_table
    from dipc.report.text import interrupted_text, render, verdict_line

    program = load_source(read_source(program_path), constants).with_limits(parse_limits(limits))
    reading = perf_counter()
    table = read_table(table_path, program.core)
    reading = perf_counter() - reading
    if closed_form is not None and closed_form > len(table.rows):
        raise DiagnosticError(_no_row(closed_form, table))
    try:
        with ProgressBar(f"checking {program.core.name}", silent=quiet) as progress:
            report = decide(program, table, beta=beta, alpha=alpha, gamma=gamma, eps=eps, progress=progress)
    except Interrupted as stop:
        write(sys.stderr, interrupted_text(stop.report, stop.done, stop.total, look_of(sys.stderr)))
        return ExitCode.INTERRUPTED
    effort = replace(report.effort, seconds=perf_counter() - begun, table_seconds=reading)
    report = replace(report, effort=effort)
    if form == "json":
        _write_json(report, target)
    elif quiet:
        write_text(target, verdict_line(report) + "\n")
    else:
        statement = _statement(program, table, alpha=alpha, beta=beta, gamma=gamma, program_path=program_path)
        look = look_of(sys.stdout) if target is None else Look()
        write_text(target, render(report, statement, look, closed_form=closed_form, times=times))
    if target is not None and not quiet:
        write(sys.stderr, f"{verdict_line(report)} (written to {target})\n")
    return exit_code(report)


def exit_code(report: Report) -> ExitCode:
    """The exit code that says the verdict."""
    from dipc.accuracy.outcome import Verdict

    match report.verdict:
        case Verdict.ACCURATE:
            return ExitCode.ACCURATE
        case Verdict.INACCURATE:
            return ExitCode.INACCURATE
        case Verdict.UNDECIDED:
            return ExitCode.UNDECIDED


def _write_json(report: Report, target: Path | None) -> None:
    from dipc.report.json import write_json

    def writer(stream: TextIO) -> None:
        write_json(report, stream)

    write_result(target, writer)


def _no_row(number: int, table: Table) -> Diagnostic:
    rows = len(table.rows)
    span = "only row 1" if rows == 1 else f"rows 1 to {rows}"
    return Diagnostic("E0808", f"there is no row {number}", notes=(f"`{table.name}` has {span}",))


def _statement(
    program: Program, table: Table, *, alpha: str | None, beta: str | None, gamma: str | None, program_path: Path
) -> Statement:
    """What is checked, in the words of the command line, the table and the program's claim block."""
    from dipc.report.text import Statement
    from dipc.syntax.core import IntType, RealType

    core = program.core
    types = [core.slots[slot].type for slot in core.outputs]
    return Statement(
        program=f"{core.name} ({program_path})",
        table=table.name,
        constants=tuple((name, str(value)) for name, value in core.constants.items()),
        alpha=_said("alpha", alpha, program, table),
        beta=_said("beta", beta, program, table),
        gamma=_said("gamma", gamma, program, table),
        near=" and ".join(
            word for word, kind in (("real", RealType), ("int", IntType)) if any(isinstance(t, kind) for t in types)
        ),
    )


def _said(name: str, option: str | None, program: Program, table: Table) -> str:
    """What the claim says of `name`, by the order of precedence."""
    from dipc.syntax.printer import print_expression

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
        return "dd(u), the table's column `dd`" if stated == "dd" else f"{stated}; nothing is claimed where dd < alpha"
    return stated
