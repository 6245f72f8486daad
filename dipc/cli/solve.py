"""`dipc solve`: the least eps, alpha, beta or gamma with which a claim holds."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

import click

from dipc.cli.arguments import (
    certificate_option,
    claim_options,
    define_option,
    digits_option,
    for_all_option,
    html_option,
    inputs_option,
    limit_option,
    output_option,
    parse_definitions,
    program_argument,
    quiet_option,
)
from dipc.cli.exits import ExitCode
from dipc.cli.limits import parse_limits
from dipc.cli.output import check_distinct, check_table, check_target, first_line, write_certificate, write_text
from dipc.cli.progress import ProgressBar
from dipc.cli.question import for_all_of
from dipc.cli.scale import scale_options
from dipc.cli.terminal import look_of, write, write_diagnostics
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.files import read_source
from dipc.report.page import Look

#: Significant digits unless told otherwise.
DIGITS = 30

_EPILOG = """
\b
Examples:
  dipc solve laplace.dip table.csv --for eps --beta 1/10 --gamma 1
  dipc solve laplace.dip table.csv --for gamma --beta 1e-23 --eps 50
  dipc solve sparse.dip --inputs "q = -1..1" --for beta
  dipc solve sparse.dip table.csv --for alpha --beta 1/10 --eps "[20, inf)"
  dipc solve sparse.dip --inputs all --for alpha --beta 1/10

\b
What is asked for holds at every row, and for every eps of --eps:
  eps    the exact set of eps at which the claim holds, and its least
  gamma  the exact tolerance: the least gamma, certified from both sides
  beta   the largest 1 - Pr of all rows, as closed forms in eps
  alpha  the least alpha such that all rows with dd > alpha hold; for every
         real input t/eps, with the least t
Every digit shown is one of the number.

\b
Exit codes: 0 solved, 1 proved to have no solution, 2 bad input,
3 undecided (a limit was reached), 70 internal error.
"""


@click.command(epilog=_EPILOG)
@program_argument
@click.argument("table_path", metavar="[TABLE.csv]", type=Path, required=False)
@click.option("--for", "wanted", type=click.Choice(["eps", "alpha", "beta", "gamma"]), help="What is asked for.")
@inputs_option
@define_option
@for_all_option
@claim_options(gamma=" free: any.", eps="1/2 or ")
@digits_option(f"Significant digits; {DIGITS} by default.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="text by default.")
@output_option
@certificate_option
@html_option
@limit_option()
@scale_options
@quiet_option
def solve(
    program_path: Path,
    table_path: Path | None,
    wanted: str | None,
    inputs: tuple[str, ...],
    definitions: tuple[str, ...],
    for_all: str | None,
    beta: str | None,
    alpha: str | None,
    gamma: str | None,
    eps: str | None,
    digits: int | None,
    form: str,
    target: Path | None,
    proof: Path | None,
    html: Path | None,
    limits: tuple[str, ...],
    jobs: str,
    cache: Path | None,
    dask: str | None,
    quiet: bool,
) -> ExitCode:
    """Find the least eps, alpha, beta or gamma with which a claim holds at every row of a table.

    The answer is exact, or enclosed by two numbers at one of which the claim is proved, and refuted at the other; that
    there is none is proved as well.
    """
    check_table(table_path)
    check_target(target)
    check_target(html, "--html")
    check_target(proof, "--certificate")
    check_distinct({"-o": target, "--html": html, "--certificate": proof, "--cache": cache}, program_path, table_path)
    definitions, for_all = for_all_of(definitions, for_all)
    constants = parse_definitions(definitions)
    if wanted is None:
        notes = ("give `--for eps`, `--for alpha`, `--for beta` or `--for gamma`",)
        raise DiagnosticError(Diagnostic("E1025", "it is not said what to solve for", notes=notes))

    from dipc.exits.load import load_source
    from dipc.inverse.solution import Wanted
    from dipc.inverse.solve import solved
    from dipc.obligations.open_engine import open_engine
    from dipc.report.asked import Asked
    from dipc.report.solve import render, render_json

    progress = ProgressBar(f"reading {program_path}", silent=quiet)
    with progress:
        program = load_source(read_source(program_path), constants, eps).with_limits(parse_limits(limits))
    asked = Asked(program_path, inputs, for_all, {"beta": beta, "alpha": alpha, "gamma": gamma, "eps": eps})
    stack = click.get_current_context().with_resource(ExitStack())
    engine = open_engine(stack, program.measurer, program.limits, jobs=jobs, cache=cache, dask=dask)
    progress.stage(f"reading what {program.name} is asked about")
    with progress:
        question = asked.question(program, table_path, engine, progress)
        progress.stage(f"solving {program.name} for {wanted}")
        found = solved(question, Wanted(wanted), digits or DIGITS, progress)
    if found.interrupted:
        write(sys.stderr, f"interrupted\n{render(found, asked.asks(found.question), look_of(sys.stderr))}")
        return ExitCode.INTERRUPTED
    if proof is not None:
        import dipc
        from dipc.certificate.least import certify_solution
        from dipc.report.solve import headline

        write_certificate(
            proof, lambda: certify_solution(found, f"dipc {dipc.__version__}"), headline(found), quiet=quiet
        )
    if html is not None:
        import dipc
        from dipc.report.html.solve_page import solve_page

        command = (*asked.command(table_path, definitions, limits, "solve"), "--for", wanted)
        text = render(found, asked.asks(found.question), Look())
        write_text(html, solve_page(found, text, command, f"dipc {dipc.__version__}"))
        if not quiet:
            write(sys.stderr, f"page written to {html}\n")
    if form == "json":
        text = render_json(found)
    else:
        statement = asked.asks(found.question)
        look = look_of(sys.stdout) if target is None and not quiet else Look()
        text = render(found, statement, look)
        text = first_line(text) if quiet else text
    write_text(target, text)
    write_diagnostics(found.warnings)
    return {
        "solved": ExitCode.ACCURATE,
        "none": ExitCode.INACCURATE,
        "undecided": ExitCode.UNDECIDED,
    }[found.status]
