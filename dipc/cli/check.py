"""`dipc check`: prove or refute accuracy on a table, or of every program of a directory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import inf
from time import perf_counter
from typing import Any

import click

from dipc.cli.option_table import parameter_of, takes
from dipc.cli.options import asked_of, claims_tested, opened, parse_definitions, parse_input, positive_option
from dipc.cli.output import PAGE, Output, check_target, later
from dipc.cli.terminal import ExitCode, write_diagnostics
from dipc.decide.engine import Engine
from dipc.outcome import rows
from dipc.outcome.outcome import ExitStatus, Outcome
from dipc.outcome.words import UserQuestion
from dipc.questions.question import answer, error_asked, errors, question_of
from dipc.questions.report import Interrupted, Report
from dipc.questions.source import Source
from dipc.text.diagnostic import Diagnostic, DiagnosticError, bad_input

_EPILOG = """
\b
Examples:
  dipc check sparse.dip table.csv
  dipc check sparse.dip table.csv -D m=3 --beta "2*m*exp(-alpha*eps/8)/7"
  dipc check sparse.dip --inputs "q = -1..1"
  dipc check sparse.dip --inputs all
  dipc check noisy.py::answer --inputs all
  dipc check mechanisms/ -j auto
  dipc check laplace.dip table.csv --gamma 2 --format json -o result.json

\b
A program is a file PROG.dip, or the Python function NAME of FILE.py. dipc
reads FILE.py, but does not run the whole file. To test the translation, dipc
runs the function NAME with its helpers and constants.

\b
Each row of TABLE.csv states an input and the right answer. The table has a
column for each input variable and for each output variable. The columns
alpha, beta and gamma, if present, override the options; the column dd holds a
rational number or inf. A program with an `ideal` block needs no table: dipc
computes the right answers and dd for the inputs of --inputs.

\b
Given a directory, dipc checks every program in it that makes a claim. The
inputs are those of --inputs, or those of the table that is next to the program
and has the same name. -j N checks N programs at a time.

\b
Exit codes: 0 accurate, 1 inaccurate, 2 bad input, 3 undecided (or, with
--strict, vacuous), 70 internal error.
"""

#: Significant digits of the ends of failing intervals in the JSON output, by default.
JSON_DIGITS = 15


class _Check(click.Command):
    """The command `dipc check`, where a bare `--strict` is `--strict=all` and takes no value from the next argument."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, ["--strict=all" if argument == "--strict" else argument for argument in args])


@click.command(cls=_Check, epilog=_EPILOG)
@takes(
    "PROG~check TABLE --inputs -D --for-all --beta --alpha --gamma --eps --digits~failing --classes/--no-classes "
    "--closed-form --strict --format=text|json -o --certificate --html --plot~rows --limit -j,--jobs --cache "
    "--dask --quiet,-q --time"
)
def check(**given: Any) -> ExitCode:
    """Prove or refute that a program gives the right answer often enough.

    The distance to disagreement (dd) of an input is the distance to the nearest inputs with a different right answer.
    The claim covers the inputs whose dd is greater than alpha. At these inputs, the answer has to be within gamma of
    the right answer with probability at least 1 - beta, for every eps.

    A row is an input that you list, in TABLE.csv or with --inputs. For each row, dipc proves the claim for every eps,
    shows an eps at which the claim fails, or says why the row is undecided. The arithmetic is exact.
    """
    begun = perf_counter()
    check_target(given["target"])
    if given["program_path"].is_dir():
        return _check_directory(given)
    output, asked, work = opened(given)
    progress = work.progress
    with progress:
        program = work.program()
    # A cache or a cluster that cannot be used is refused here, before a long table is read.
    options = asked.options
    if options.digits is None and output.form == "json":
        options = replace(options, digits=JSON_DIGITS)
    drawn = PAGE.get() is not None or any(given[name] is not None for name in ("html", "plot", "closed_form"))
    if output.form == "text" and not drawn:
        options = replace(options, forms=False)
    engine = options.engine(work.stack, program)
    reading = perf_counter()
    progress.stage(f"reading the rows of {asked.table}" if asked.table else "computing the answers at the inputs")
    with progress:
        source = question_of(program, asked.table, replace(options, as_given=options.keep_proofs, progress=progress))
    reading = perf_counter() - reading
    with progress:
        warning = None if output.quiet else source.size_warning()
        if warning is not None:
            note = 'ask about fewer inputs, or about a grid of them: `--inputs "x in {0, 1}"`'
            write_diagnostics([Diagnostic("W0603", warning, notes=(note,))])
    closed_form, strict = given["closed_form"], given["strict"]
    if options.classes is not None and source.table is None:
        note = "leave `--classes` out: it is about finitely many inputs"
        message = "leave it out: a claim about every real input is decided by classes anyway"
        raise bad_input("E1205", message, note)
    if closed_form is not None and source.total is not None and closed_form > source.total:
        raise DiagnosticError(_no_row(closed_form, source.total, source))
    progress.stage(f"checking {program.name}")
    try:
        with progress:
            report = answer(source, engine, progress)
    except Interrupted as stop:
        return output.deliver(rows.interrupted(stop, source.word))
    if closed_form is not None and closed_form > len(report.rows):
        raise DiagnosticError(_no_row(closed_form, len(report.rows), source))
    effort = replace(report.effort, seconds=perf_counter() - begun, table_seconds=reading)
    report = replace(report, effort=effort)
    outcome = accuracy_outcome(source, engine, report, asked, closed_form, times=given["times"])
    # The least number of vacuous rows for which the claim is refused.
    refused = {None: inf, "rows": 1, "all": report.counts.rows}[strict]
    if report.counts.vacuous >= refused and outcome.standing is ExitStatus.HOLDS:
        outcome = replace(outcome, standing=ExitStatus.OPEN)
    return output.deliver(outcome, asked.command)


_ERROR_EPILOG = """
\b
Examples:
  dipc error laplace.dip --inputs "q = 0..2" --output "out[1]"
  dipc error noisy_max.dip --input "q=(3,1,0)" --at 1
  dipc error laplace.dip table.csv --moment 2 --error "3/eps^2"

\b
The error at a row is the distance of the output from the right answer det(u):
|output - det(u)| for a number, or the distance between finite answers that the
`metric` block gives, such as `output: abs(q[out] - q[out'])`. dipc finds its
mean as a closed form in eps, and as a number at the eps of --at. With --error,
or `error:` in the claim block, dipc decides for every eps whether the mean is
within this bound. There is no certificate: the checker derives probabilities,
not means.

\b
Exit codes: 0 known (or accurate), 1 inaccurate, 2 bad input, 3 undecided,
70 internal error.
"""


@click.command(epilog=_ERROR_EPILOG)
@takes(
    "PROG TABLE --input~error --inputs -D --error --moment --output~error --at~error --alpha~error --eps~error "
    "--format=text|json -o --certificate --html --plot~error --limit -j,--jobs --cache --dask --quiet,-q"
)
def error(**given: Any) -> ExitCode:
    """Find the expected error of a program's answers in closed form, or decide a claim about it."""
    output, asked, work = opened(given)
    point = None if given["at"] is None else positive_option("--at", given["at"])
    progress = work.progress
    with progress:
        program = work.program()
        inputs = [parse_input(given["input_texts"], program.core)] if given["input_texts"] else asked.options.inputs
        options = replace(asked.options, at=point, inputs=inputs, progress=progress)
        question = error_asked(program, asked.table, options)
        engine = work.engine(question.source.program)
        progress.stage(f"what is expected of {program.name}")
        report = errors(question, engine, options)
    return output.deliver(later.errors.outcome(report, question.source), partial(asked.command, "error"))


def accuracy_outcome(
    source: Source,
    engine: Engine,
    report: Report,
    asked: UserQuestion,
    closed_form: int | None = None,
    *,
    times: bool = False,
) -> Outcome:
    """Return the answer about the rows of a table, or about classes of all inputs.

    `source` gives the cases, which `engine` has decided, and `report` has the results; `asked` is the question as the
    user put it. `closed_form` is the number of a row or class whose probability is written out; with `times` the time
    is shown.
    """
    if source.table is not None:
        return rows.outcome(source, engine, report, asked, closed_form, times)
    row = None if closed_form is None else report.rows[closed_form - 1]
    forms = None if row is None else (row, later.written.forms_of(source, engine, row))
    outcome_: Outcome = later.classes.outcome(source, engine, report, asked, forms, times)
    return outcome_


#: The options that are for a single program only.
_ALONE = ["TABLE", "--certificate", "--html", "--plot", "--digits", "--classes", "--closed-form", "--strict", "--dask"]


def _check_directory(given: Mapping[str, Any]) -> ExitCode:
    """Check every program below a directory that makes a claim, and return the worst exit code.

    `given` has the options of the command. Bad input is worse than an inaccurate program, which is worse than an
    undecided one.
    """
    directory = given["program_path"]
    for option in _ALONE:
        if given[parameter_of(option)] is not None:
            message = f"`{option.replace('TABLE', 'TABLE.csv')}` is about one program, not a directory"
            raise bad_input("E0812", message, f"leave it out, or give a program of `{directory}`")
    output, asked = Output.from_options(given), asked_of(given)
    output.check()
    claims = later.suite.claims_below(directory, parse_definitions(asked.definitions), asked.options)
    result = claims_tested(f"checking the programs of {directory}", claims, output, asked.options.jobs)
    return output.deliver(later.suite.directory_outcome(result))


def _no_row(number: int, rows: int, source: Source) -> Diagnostic:
    span = "only row 1" if rows == 1 else f"rows 1 to {rows}"
    return Diagnostic("E0808", f"there is no row {number}", notes=(f"`{source.subject}` has {span}",))
