"""`dipc tighten`: the least factor of beta with which a claim holds, for one program or for a family."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dipc.cli.arguments import (
    certificate_option,
    claim_options,
    digits_option,
    for_all_option,
    html_option,
    inputs_option,
    limit_option,
    output_option,
    program_argument,
    quiet_option,
)
from dipc.cli.exits import ExitCode
from dipc.cli.families import member_text, members, parse_family, table_path
from dipc.cli.limits import parse_limits
from dipc.cli.output import check_distinct, check_table, check_target, first_line, write_certificate, write_text
from dipc.cli.progress import ProgressBar
from dipc.cli.question import for_all_of
from dipc.cli.scale import scale_options
from dipc.cli.terminal import look_of, write, write_diagnostics
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.files import read_source
from dipc.diagnostics.source import Source
from dipc.report.page import Look

if TYPE_CHECKING:
    from dipc.algebra.limits import Limits
    from dipc.inverse.question import Question
    from dipc.inverse.tighten import Tightest
    from dipc.report.asked import Asked
    from dipc.report.claimed import Statement
    from dipc.report.tighten_data import Member

#: Significant digits unless told otherwise.
DIGITS = 30

_EPILOG = """
\b
Examples:
  dipc tighten sparse.dip table.csv
  dipc tighten sparse.dip table.csv --beta "exp(-alpha*eps/8)" --digits 100
  dipc tighten sparse.dip "sparse_{m}.csv" -D m=1..6 --format csv
  dipc tighten sparse.dip --inputs "q = -1..1" -D m=1..6 --plot factors.svg
  dipc tighten sparse.dip --inputs "q = -1..1" -D m=1..6 -D "c={1,2}"
  dipc tighten sparse.dip --inputs all
  dipc tighten sparse.dip --inputs all --for-all "m >= 3"

\b
The least factor is the supremum of (1 - Pr)/beta over all rows and all eps.
It is exact: every digit shown is one of the number. It is enclosed where only
bounds of probabilities are known.
With ranges in -D each member of the family has its own table: {m} in the
path stands for the value of m, or --inputs asks the program's ideal.

\b
Exit codes: 0 found, 2 bad input, 3 undecided (past a limit, or only
enclosed), 70 internal error.
"""


@click.command(epilog=_EPILOG)
@program_argument
@click.argument("pattern", metavar="[TABLE.csv]", type=Path, required=False)
@inputs_option
@click.option(
    "-D",
    "definitions",
    metavar="name=values",
    multiple=True,
    help="Give a constant another value, or several: m=4, m=1..10 or c={1,2}; may be repeated.",
)
@for_all_option
@claim_options(gamma=" free: any.")
@digits_option(f"Significant digits; {DIGITS} by default.")
@click.option("--format", "form", type=click.Choice(["text", "json", "csv"]), default="text", help="text by default.")
@output_option
@click.option(
    "--plot",
    metavar="FILE.svg|png",
    type=Path,
    help="Draw the factor against eps, or over a family against its constants (needs matplotlib).",
)
@certificate_option
@html_option
@limit_option()
@scale_options
@quiet_option
def tighten(
    program_path: Path,
    pattern: Path | None,
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
    plot: Path | None,
    proof: Path | None,
    html: Path | None,
    limits: tuple[str, ...],
    jobs: str,
    cache: Path | None,
    dask: str | None,
    quiet: bool,
) -> ExitCode:
    """Find the least factor f such that the claim holds with f*beta at every row, and the best 1/κ with integer κ.

    The result is exact: a certified enclosure to as many digits as asked for, with the row and the eps that need it.
    """
    check_table(pattern)
    check_target(target)
    check_target(html, "--html")
    check_target(proof, "--certificate")
    check_distinct(
        {"-o": target, "--plot": plot, "--html": html, "--certificate": proof, "--cache": cache}, program_path, pattern
    )
    definitions, for_all = for_all_of(definitions, for_all)
    family = parse_family(definitions)

    import dipc
    from dipc.report.asked import Asked
    from dipc.report.tighten import render, render_family
    from dipc.report.tighten_data import render_csv, render_json

    if plot is not None:
        from dipc.report.tighten_plot import check_plot

        check_target(plot, "--plot")
        check_plot(plot, family)
    claim = {"beta": beta, "alpha": alpha, "gamma": gamma, "eps": eps}
    digits = digits or DIGITS
    asked = Asked(program_path, inputs, for_all, claim)
    shared = {"jobs": jobs, "cache": cache, "dask": dask}
    run = _Run(read_source(program_path), asked, pattern, parse_limits(limits), shared, digits, quiet)
    ranged = any(len(values) > 1 for values in family.values())
    if ranged and proof is not None:
        notes = ("give one value for each constant",)
        raise DiagnosticError(Diagnostic("E0903", "a family of programs has no certificate", notes=notes))
    found = run.all(family)

    def page(look: Look) -> str:
        if ranged:
            return render_family(found, f"{run.name} ({program_path})", run.statement.beta, look)
        return render(found[0].found, run.statement, look)

    if run.interrupted:
        write(sys.stderr, f"interrupted\n{page(look_of(sys.stderr))}")
        return ExitCode.INTERRUPTED
    match form:
        case "json":
            text = render_json(found, run.name)
        case "csv":
            text = render_csv(found)
        case _:
            text = page(look_of(sys.stdout) if target is None and not quiet else Look())
            text = first_line(text) if quiet else text
    if proof is not None:
        from dipc.certificate.least import certify_factor

        tightest = found[0].found
        answer = first_line(page(Look())).rstrip()
        write_certificate(proof, lambda: certify_factor(tightest, f"dipc {dipc.__version__}"), answer, quiet=quiet)
    if html is not None:
        write_text(html, _page(found, run, asked.command(pattern, definitions, limits, "tighten"), ranged))
        if not quiet:
            write(sys.stderr, f"page written to {html}\n")
    if plot is not None:
        from dipc.report.tighten_plot import write_plot

        write_plot(plot, found, run.name, run.statement.beta)
        if not quiet:
            write(sys.stderr, f"drawn to {plot}\n")
    write_text(target, text)
    write_diagnostics(tuple(dict.fromkeys(warning for member in found for warning in member.found.warnings)))
    return ExitCode.ACCURATE if all(member.found.complete for member in found) else ExitCode.UNDECIDED


def _page(found: Sequence[Member], run: _Run, command: Sequence[str], ranged: bool) -> str:
    import dipc
    from dipc.report.html.text_page import text_page
    from dipc.report.html.tighten_page import tighten_page
    from dipc.report.tighten import render, render_family

    tool = f"dipc {dipc.__version__}"
    if ranged:
        return text_page(render_family(found, run.name, run.statement.beta, Look()), command, tool)
    tightest = found[0].found
    return tighten_page(tightest, render(tightest, run.statement, Look()), command, tool)


class _Run:
    """One program under one claim, loaded anew for each member of a family. `name` and `statement` are those of the
    member that came last; `interrupted` says that Ctrl-C came before all were done."""

    name: str
    statement: Statement

    def __init__(
        self,
        source: Source,
        asked: Asked,
        pattern: Path | None,
        limits: Limits,
        shared: Mapping[str, Any],
        digits: int,
        quiet: bool,
    ) -> None:
        self._source = source
        self._asked = asked
        self._pattern = pattern
        self._limits = limits
        self._shared = shared
        self._digits = digits
        self._progress = ProgressBar("reading the program", silent=quiet)
        self.interrupted = False

    def all(self, family: Mapping[str, tuple[Fraction, ...]]) -> list[Member]:
        """What is found for each member, in order; on Ctrl-C for as many as were done."""
        ranged = any(len(values) > 1 for values in family.values())
        found: list[Member] = []
        with self._progress:
            for constants in members(family):
                try:
                    found.append(self.member(constants, named=ranged))
                except KeyboardInterrupt:
                    if not found:
                        raise
                    self.interrupted = True
                if self.interrupted:
                    break
        return found

    def member(self, constants: Mapping[str, Fraction], *, named: bool) -> Member:
        """What is found for one member; a mistake says, if `named`, which member it is about."""
        from dipc.report.tighten_data import Member

        try:
            return Member(constants, self._found(constants))
        except DiagnosticError as error:
            if not named:
                raise
            note = f"this is the member with {member_text(constants)}"
            raise DiagnosticError(
                *(replace(found, notes=(*found.notes, note)) for found in error.diagnostics)
            ) from None

    def _found(self, constants: Mapping[str, Fraction]) -> Tightest:
        from dipc.exits.load import load_source
        from dipc.obligations.open_engine import open_engine

        program = load_source(self._source, constants, self._asked.claim["eps"]).with_limits(self._limits)
        self._progress.stage(f"tightening {program.name}" + (f" with {member_text(constants)}" if constants else ""))
        path = None if self._pattern is None else table_path(self._pattern, program.constants)
        with ExitStack() as stack:
            engine = open_engine(stack, program.measurer, program.limits, **self._shared)
            return self._tightest(self._asked.question(program, path, engine, self._progress))

    def _tightest(self, question: Question) -> Tightest:
        from dipc.inverse.claims import claims_of
        from dipc.inverse.tighten import tightest

        program = question.program
        self.name = program.name
        self.statement = self._asked.asks(question)
        found = tightest(claims_of(question, self._progress), self._digits)
        self.interrupted = found.interrupted
        return found
