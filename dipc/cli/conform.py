"""`dipc conform`: observed outputs of a real implementation against the exact distribution."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from dipc.cli.arguments import (
    define_option,
    limit_option,
    output_option,
    parse_definitions,
    positive_option,
    program_argument,
    quiet_option,
)
from dipc.cli.exits import ExitCode
from dipc.cli.inputs import parse_input
from dipc.cli.limits import parse_limits
from dipc.cli.output import check_distinct, check_target, write_text
from dipc.cli.progress import ProgressBar
from dipc.cli.terminal import look_of, write
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.files import read_source
from dipc.report.page import Look

_EPILOG = """
\b
Examples:
  dipc conform response.dip --input x=1 --eps 1 --counts counts.csv
  dipc conform laplace.dip --input "q=0" --eps 1/2 --samples samples.csv

\b
counts.csv has a column for each output and one, count, for how often it was
observed; samples.csv has a line for each output, in the order in which they
came out. Real outputs need samples: the first tenth chooses the cells in
which the others are counted.

\b
Exit codes: 0 they conform, 1 they do not, 2 bad input, 3 some exact
probability unknown, 70 internal error.
"""


@click.command(epilog=_EPILOG)
@program_argument
@click.option("--input", "inputs", metavar="NAME=VALUE,…", multiple=True, help="A value for every input.")
@click.option("--eps", "eps_text", metavar="VALUE", required=True, help="The eps that it was run at.")
@click.option("--counts", metavar="FILE.csv", type=Path, help="How often each output was observed.")
@click.option("--samples", metavar="FILE.csv", type=Path, help="The outputs that were observed, one by one.")
@define_option
@limit_option("How far the exact engine goes, as for `dipc check`; may be repeated.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="text by default.")
@output_option
@quiet_option
def conform(
    program_path: Path,
    inputs: tuple[str, ...],
    eps_text: str,
    counts: Path | None,
    samples: Path | None,
    definitions: tuple[str, ...],
    limits: tuple[str, ...],
    form: str,
    target: Path | None,
    quiet: bool,
) -> ExitCode:
    """Compare observed outputs of a real implementation with the exact distribution of a program.

    Every exact probability has to lie in the Clopper-Pearson interval around the share observed, and what is impossible
    must not have come out. If the implementation has this distribution, a deviation is reported with probability
    1e-6 at most.
    """
    check_target(target)
    check_distinct({"-o": target}, program_path, counts, samples)
    if (counts is None) == (samples is None):
        note = "counts.csv says how often each output came out; samples.csv has them one by one"
        raise DiagnosticError(Diagnostic("E0801", "give either `--counts` or `--samples`", notes=(note,)))
    constants = parse_definitions(definitions)
    eps = positive_option("--eps", eps_text)

    from dipc.exits.load import load_source
    from dipc.report.conformance import conformance_json, conformance_line, render_conformance
    from dipc.simulation.compare import CONFIDENCE, Agreement
    from dipc.simulation.conform import judge
    from dipc.simulation.observed import read_observed

    program = load_source(read_source(program_path), constants, eps).with_limits(parse_limits(limits))
    values = parse_input(inputs, program.core)
    path = samples if counts is None else counts
    assert path is not None
    observed = read_observed(path, program.core, counted=samples is None)
    with ProgressBar(f"computing the exact probabilities of {program.name}", silent=quiet):
        found = judge(program, values, eps, observed, CONFIDENCE)
    if form == "json":
        text = conformance_json(found)
    elif quiet:
        text = conformance_line(found) + "\n"
    else:
        text = render_conformance(found, look_of(sys.stdout) if target is None else Look())
    write_text(target, text)
    if target is not None and not quiet:
        write(sys.stderr, f"{conformance_line(found)} (written to {target})\n")
    return {
        Agreement.MATCH: ExitCode.ACCURATE,
        Agreement.MISMATCH: ExitCode.INACCURATE,
        Agreement.UNDECIDED: ExitCode.UNDECIDED,
    }[found.agreement]
