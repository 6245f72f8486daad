"""`dipc check`: prove or refute accuracy on a table."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TextIO

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
)
from dipc.cli.exits import ExitCode, exit_code
from dipc.cli.limits import parse_limits
from dipc.cli.output import check_distinct, check_table, check_target, write_result, write_text
from dipc.cli.progress import ProgressBar
from dipc.cli.question import for_all_of
from dipc.cli.scale import scale_options
from dipc.cli.terminal import look_of, write, write_diagnostics
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.files import read_source
from dipc.report.page import Look

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dipc.report.answered import Answered
    from dipc.sources.report import Report
    from dipc.sources.source import Source

_EPILOG = """
\b
Examples:
  dipc check sparse.dip table.csv
  dipc check sparse.dip table.csv -D m=3 --beta "2*m*exp(-alpha*eps/8)/7"
  dipc check sparse.dip --inputs "q = -1..1"
  dipc check sparse.dip --inputs all
  dipc check mechanisms/ -j auto
  dipc check laplace.dip table.csv --gamma 2 --format json -o result.json

\b
TABLE.csv has a column for each input and output, and a row for each input.
Optional columns alpha, beta and gamma win over the options; dd is the
distance to disagreement (a rational or inf).
A program with an `ideal` block needs no table: the answers at the --inputs,
and dd, are computed.
Of a directory every program that makes a claim is checked, with the table
beside it of the same name or the --inputs; -j is how many at a time.

\b
Exit codes: 0 accurate, 1 inaccurate, 2 bad input, 3 undecided (or, with
--strict, vacuous), 70 internal error.
"""

#: Significant digits of the ends of failing intervals in the JSON output, unless told otherwise.
JSON_DIGITS = 15


class _Check(click.Command):
    """`--strict` alone means `--strict=all`, whatever comes next."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, ["--strict=all" if argument == "--strict" else argument for argument in args])


@click.command(cls=_Check, epilog=_EPILOG)
@program_argument
@click.argument("table_path", metavar="[TABLE.csv]", type=Path, required=False)
@inputs_option
@define_option
@for_all_option
@claim_options(gamma=" free: any.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="text by default.")
@output_option
@digits_option("Give the failing eps to N digits, with the worst eps and its shortfall; 15 in JSON.")
@certificate_option
@html_option
@click.option("--plot", metavar="FILE.svg|png", type=Path, help="Draw Pr and 1 - beta over eps (needs matplotlib).")
@click.option(
    "--classes/--no-classes",
    "classes",
    default=None,
    help="Decide inputs with equal obligations once; by default where --inputs are thousands.",
)
@click.option(
    "--closed-form",
    metavar="ROW",
    type=click.IntRange(min=1),
    help="Write out the probability of a row; JSON has all.",
)
@click.option(
    "--strict",
    metavar="[=all|rows]",
    type=click.Choice(["all", "rows"]),
    help="Exit 3 where every row holds vacuously; with rows, where any does.",
)
@limit_option()
@scale_options
@click.option("--quiet", "-q", is_flag=True, help="Print the verdict line only, and no progress.")
@click.option("--time", "times", is_flag=True, help="Say how long it took.")
def check(
    program_path: Path,
    table_path: Path | None,
    inputs: tuple[str, ...],
    definitions: tuple[str, ...],
    for_all: str | None,
    beta: str | None,
    alpha: str | None,
    gamma: str | None,
    eps: str | None,
    form: str,
    target: Path | None,
    digits: int | None,
    proof: Path | None,
    html: Path | None,
    plot: Path | None,
    classes: bool | None,
    closed_form: int | None,
    strict: str | None,
    limits: tuple[str, ...],
    jobs: str,
    cache: Path | None,
    dask: str | None,
    quiet: bool,
    times: bool,
) -> ExitCode:
    """Prove or refute that a program is accurate on a table of its intended answers.

    Each row is decided exactly, for every eps: proved, or refuted by an eps at which it fails, or left undecided with
    the reason.
    """
    begun = perf_counter()
    check_target(target)
    if program_path.is_dir():
        from dipc.cli.check_directory import check_directory

        alone: dict[str, object] = {"TABLE.csv": table_path, "--certificate": proof, "--html": html, "--plot": plot}
        alone |= {
            "--digits": digits,
            "--classes": classes is not None,
            "--closed-form": closed_form,
            "--strict": strict,
            "--dask": dask,
        }
        definitions, for_all = for_all_of(definitions, for_all)
        return check_directory(
            program_path,
            {"beta": beta, "alpha": alpha, "gamma": gamma, "eps": eps},
            inputs=inputs,
            definitions=definitions,
            for_all=for_all,
            limits=limits,
            form=form,
            target=target,
            jobs=jobs,
            cache=cache,
            quiet=quiet,
            alone=alone,
        )
    check_table(table_path)
    check_target(proof, "--certificate")
    check_target(html, "--html")
    written = {"-o": target, "--certificate": proof, "--html": html, "--plot": plot, "--cache": cache}
    check_distinct(written, program_path, table_path)
    if plot is not None:
        from dipc.report.picture import check_picture

        check_target(plot, "--plot")
        check_picture(plot)
    definitions, for_all = for_all_of(definitions, for_all)
    constants = parse_definitions(definitions)

    from dipc.exits.load import load_source
    from dipc.obligations.open_engine import open_engine
    from dipc.report.answered import Answered
    from dipc.report.asked import Asked
    from dipc.report.text import interrupted_text, verdict_line
    from dipc.sources.check import answer
    from dipc.sources.question import question
    from dipc.sources.report import Interrupted

    progress = ProgressBar(f"reading {program_path}", silent=quiet)
    with progress:
        program = load_source(read_source(program_path), constants, eps).with_limits(parse_limits(limits))
    claim: dict[str, Any] = {"beta": beta, "alpha": alpha, "gamma": gamma, "eps": eps}
    asked = Asked(program_path, inputs, for_all, claim)
    # A cache or a cluster that cannot be used is refused before a long table is read.
    stack = click.get_current_context().with_resource(ExitStack())
    engine = open_engine(
        stack,
        program.measurer,
        program.limits,
        jobs=jobs,
        cache=cache,
        dask=dask,
        digits=JSON_DIGITS if digits is None and form == "json" else digits,
        keep_proofs=proof is not None or html is not None,
    )
    reading = perf_counter()
    progress.stage(f"reading the rows of {table_path}" if table_path else "computing the answers at the inputs")
    with progress:
        source = question(
            program,
            table_path,
            inputs=inputs or None,
            for_all=for_all,
            classes=classes,
            as_given=proof is not None or html is not None,
            progress=progress,
            **claim,
        )
    reading = perf_counter() - reading
    if classes is not None and source.table is None:
        raise DiagnosticError(_classes_already())
    if closed_form is not None and source.total is not None and closed_form > source.total:
        raise DiagnosticError(_no_row(closed_form, source.total, source))
    progress.stage(f"checking {program.core.name}")
    word = "class" if source.table is None else "row"
    try:
        with progress:
            report = answer(source, engine, progress)
    except Interrupted as stop:
        write(sys.stderr, interrupted_text(stop.report, stop.done, stop.total, look_of(sys.stderr), word))
        return ExitCode.INTERRUPTED
    if closed_form is not None and closed_form > len(report.rows):
        raise DiagnosticError(_no_row(closed_form, len(report.rows), source))
    if proof is not None and report.evidence is None:
        raise DiagnosticError(_no_certificate(verdict_line(report)))
    effort = replace(report.effort, seconds=perf_counter() - begun, table_seconds=reading)
    report = replace(report, effort=effort)
    look = look_of(sys.stdout) if target is None else Look()
    text = Answered(source, engine, report, asked, look, closed_form, times=times)
    # First what may fail: a verdict that was printed is not taken back.
    if html is not None:
        _write_page(text, asked.command(table_path, definitions, limits), html, quiet=quiet)
    if plot is not None:
        _write_plot(text, plot, quiet=quiet)
    if proof is not None:
        _write_certificate(report, proof, quiet=quiet)
    if form == "json":
        _write_json(report, target)
    else:
        write_text(target, text.line() + "\n" if quiet else text.page())
    if target is not None and not quiet:
        write(sys.stderr, f"{text.line()} (written to {target})\n")
    write_diagnostics(report.warnings)
    return exit_code(report.verdict, vacuous=_is_refused(report, strict))


def _is_refused(report: Report, strict: str | None) -> bool:
    """Whether so many rows hold vacuously as `--strict` does not accept."""
    counts = report.counts
    return strict is not None and counts.vacuous >= (1 if strict == "rows" else counts.rows)


def _write_json(report: Report, target: Path | None) -> None:
    from dipc.report.json import write_json

    def writer(stream: TextIO) -> None:
        write_json(report, stream)

    write_result(target, writer)


def _certificate(report: Report) -> str:
    import dipc
    from dipc.certificate.write import certify

    return certify(report, f"dipc {dipc.__version__}")


def _write_certificate(report: Report, path: Path, *, quiet: bool) -> None:
    text = _certificate(report)
    write_text(path, text)
    if not quiet:
        write(sys.stderr, f"certificate of {len(text)} bytes written to {path}: `dipc verify {path}` checks it\n")


def _write_page(answered: Answered, command: Sequence[str], path: Path, *, quiet: bool) -> None:
    import dipc
    from dipc.report.html.check_page import check_page

    report = answered.report
    proofs = None if report.evidence is None else _certificate(report)
    write_text(path, check_page(answered, command, f"dipc {dipc.__version__}", proofs))
    if not quiet:
        write(sys.stderr, f"page written to {path}\n")


def _write_plot(answered: Answered, path: Path, *, quiet: bool) -> None:
    from dipc.report.curves import curves_of
    from dipc.report.curves_plot import MOST, draw

    report, source = answered.report, answered.source
    curves = curves_of(source, report.rows, answered.word, answered.engine, MOST)
    draw(path, curves, f"{report.program}: {report.verdict}")
    if not quiet:
        write(sys.stderr, f"drawn to {path}\n")


def _no_certificate(answer: str) -> Diagnostic:
    notes = (
        "a claim that is only enclosed has one where it is decided",
        f"without --certificate the answer is {answer}",
    )
    return Diagnostic("E0903", "this check has no certificate", notes=notes)


def _no_row(number: int, rows: int, source: Source) -> Diagnostic:
    span = "only row 1" if rows == 1 else f"rows 1 to {rows}"
    return Diagnostic("E0808", f"there is no row {number}", notes=(f"`{source.about}` has {span}",))


def _classes_already() -> Diagnostic:
    note = "leave `--classes` out: it is about finitely many inputs"
    return Diagnostic("E1205", "the rows of a claim about every real input are classes anyway", notes=(note,))
