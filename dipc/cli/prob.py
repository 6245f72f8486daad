"""`dipc prob`: all outputs at one input with their exact probabilities."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dipc.cli.arguments import define_option, output_option, parse_definitions, positive_option, program_argument
from dipc.cli.exits import ExitCode
from dipc.cli.output import check_distinct, check_target, write_text
from dipc.cli.progress import ProgressBar
from dipc.cli.terminal import look_of
from dipc.diagnostics.files import read_source
from dipc.report.page import Look

if TYPE_CHECKING:
    from dipc.report.outcomes import Outcomes

_EPILOG = """
\b
Examples:
  dipc prob sparse.dip -D m=2 --input "q[1]=-1,q[2]=1"
  dipc prob noisy_max.dip --input "q=(1, 0, 1/2)" --eps 1/10 --format json
"""


@click.command(epilog=_EPILOG)
@program_argument
@click.option("--input", "inputs", metavar="NAME=VALUE,…", multiple=True, help="A value for every input.")
@click.option("--eps", "eps_text", metavar="VALUE", help="Show each probability also as a number at this eps.")
@define_option
@click.option("--format", "form", type=click.Choice(["text", "json", "latex"]), default="text", help="text by default.")
@output_option
def prob(
    program_path: Path,
    inputs: tuple[str, ...],
    eps_text: str | None,
    definitions: tuple[str, ...],
    form: str,
    target: Path | None,
) -> ExitCode:
    """Show every output at one input with its exact probability, in closed form, for every eps."""
    check_target(target)
    check_distinct({"-o": target}, program_path)
    constants = parse_definitions(definitions)
    eps = None if eps_text is None else positive_option("--eps", eps_text)

    from dipc.cli.inputs import parse_input
    from dipc.exits.load import load_source
    from dipc.report.outcomes import outcomes_at

    with ProgressBar(f"reading {program_path}") as progress:
        program = load_source(read_source(program_path), constants, eps)
        values = parse_input(inputs, program.core)
        progress.stage(f"looking for the outputs of {program.name}")
        found = outcomes_at(program, values, eps, progress)
        progress.stage("writing out closed forms")
        text = _rendered(found, form, target)
    write_text(target, text)
    return ExitCode.ACCURATE


def _rendered(found: Outcomes, form: str, target: Path | None) -> str:
    from dipc.report.outcomes import render_json, render_latex, render_text

    match form:
        case "json":
            return render_json(found)
        case "latex":
            return render_latex(found)
        case _:
            return render_text(found, look_of(sys.stdout) if target is None else Look())
