"""`dipc privacy`: prove or refute differential privacy."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path

import click

from dipc.cli.arguments import (
    define_option,
    inputs_option,
    limit_option,
    output_option,
    parse_definitions,
    program_argument,
    quiet_option,
)
from dipc.cli.exits import ExitCode, privacy_exit_code
from dipc.cli.limits import parse_limits
from dipc.cli.output import check_distinct, check_target, write_text
from dipc.cli.scale import scale_options
from dipc.cli.terminal import look_of, write
from dipc.diagnostics.files import read_source
from dipc.report.page import Look

_EPILOG = """
\b
Examples:
  dipc privacy svt.dip --adjacent linf:1 --inputs "q = -1..1"
  dipc privacy svt.dip --adjacent linf:1 --inputs "q = -1..1" --budget "eps/2" --delta 1/10
  dipc privacy response.dip --adjacent hamming:1
  dipc privacy svt.dip --adjacent PAIRS.csv --format json

\b
Exit codes: 0 private, 1 not private, 2 bad input, 3 undecided, 70 internal
error.
"""


@click.command(epilog=_EPILOG)
@program_argument
@click.option(
    "--adjacent",
    "adjacent",
    metavar="DISTANCE|PAIRS.csv",
    required=True,
    help="linf:1 (every input moves by at most 1), l1:1 (the sum of the moves is), hamming:1 (one input differs), or a "
    "CSV file of pairs with a column for each input and one for each input primed.",
)
@inputs_option
@click.option("--budget", metavar="K*eps", help="The privacy budget; eps by default.")
@click.option("--delta", metavar="EXPR", help="The delta, a number or an expression in eps; 0 by default.")
@click.option("--eps", "eps", metavar="INTERVALS", help='Which eps are meant, such as "(0, 1/2]"; all by default.')
@define_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="text by default.")
@output_option
@limit_option()
@scale_options
@quiet_option
def privacy(
    program_path: Path,
    adjacent: str,
    inputs: tuple[str, ...],
    budget: str | None,
    delta: str | None,
    eps: str | None,
    definitions: tuple[str, ...],
    form: str,
    target: Path | None,
    limits: tuple[str, ...],
    jobs: str,
    cache: Path | None,
    dask: str | None,
    quiet: bool,
) -> ExitCode:
    """Prove or refute that a program is differentially private, for every eps.

    For all adjacent inputs u, u', in both orders, and every set S of outputs Pr[P(u) in S] is at most
    e^budget*Pr[P(u') in S] + delta: proved, or refuted by a pair, an output and an eps, or left undecided with the
    reason.
    """
    check_target(target)
    pairs_path = Path(adjacent) if adjacent.strip().endswith(".csv") else None
    check_distinct({"-o": target, "--cache": cache}, program_path, pairs_path)
    constants = parse_definitions(definitions)

    from dipc.exits.load import load_source
    from dipc.obligations.open_engine import open_engine
    from dipc.privacy.check import PrivacyQuestion
    from dipc.privacy.claim import read_claim
    from dipc.report.privacy import PrivacyStatement, privacy_line, render_privacy

    program = load_source(read_source(program_path), constants).with_limits(parse_limits(limits))
    stack = click.get_current_context().with_resource(ExitStack())
    engine = open_engine(stack, program.measurer, program.limits, jobs=jobs, cache=cache, dask=dask)
    question = PrivacyQuestion(program, adjacent, inputs or None, engine)
    report = question.decide(read_claim(program, budget, delta, eps))
    said = tuple((name, str(value)) for name, value in program.core.constants.items())
    statement = PrivacyStatement(str(program_path), program.name, said, definitions)
    look = look_of(sys.stdout) if target is None else Look()
    if form == "json":
        text = json.dumps(report.as_json(), indent=1) + "\n"
    elif quiet:
        text = privacy_line(report) + "\n"
    else:
        text = render_privacy(report, statement, look)
    write_text(target, text)
    if target is not None and not quiet:
        write(sys.stderr, f"{privacy_line(report)} (written to {target})\n")
    return privacy_exit_code(report.verdict)
