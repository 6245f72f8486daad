"""`dipc dtmc`: show the parametrized Markov chain of a program."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from dipc.cli.arguments import define_option, output_option, parse_definitions, positive_option, program_argument
from dipc.cli.exits import ExitCode
from dipc.cli.output import check_distinct, check_target, write_text
from dipc.cli.progress import ProgressBar
from dipc.cli.terminal import look_of
from dipc.diagnostics.diagnostic import Diagnostic, DiagnosticError
from dipc.diagnostics.files import read_source
from dipc.report.page import Look

_EPILOG = """
\b
Examples:
  dipc dtmc sparse.dip -D m=2 --input "q[1]=-1,q[2]=1"
  dipc dtmc sparse.dip --input "q=(-1,0,1)" --format dot | dot -Tsvg -O
"""


@click.command(epilog=_EPILOG)
@program_argument
@click.option(
    "--input", "inputs", metavar="NAME=VALUE,…", multiple=True, help="The input; by default real inputs stay symbols."
)
@click.option("--output", "outputs", metavar="NAME=VALUE,…", multiple=True, help="Only the paths to these outputs.")
@click.option("--eps", "eps_text", metavar="VALUE", help="Show each probability also as a number at this eps.")
@define_option
@click.option("--format", "form", type=click.Choice(["text", "dot"]), default="text", help="text by default.")
@output_option
def dtmc(
    program_path: Path,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    eps_text: str | None,
    definitions: tuple[str, ...],
    form: str,
    target: Path | None,
) -> ExitCode:
    """Show a program's Markov chain: what each state knows of the noises drawn so far, and the exact probability of
    each step, given what is known."""
    check_target(target)
    check_distinct({"-o": target}, program_path)
    constants = parse_definitions(definitions)
    eps = None if eps_text is None else positive_option("--eps", eps_text)

    from dipc.chain.symbolic import is_symbolic
    from dipc.cli.inputs import parse_input, parse_output
    from dipc.exits.load import load_source
    from dipc.report import dtmc_dot, dtmc_text
    from dipc.report.dtmc import chain_at

    program = load_source(read_source(program_path), constants, eps)
    core = program.core
    open_inputs = not inputs
    if open_inputs and eps is not None:
        note = "give `--input`, or leave `--eps` out: without values for the inputs there are no numbers"
        raise DiagnosticError(Diagnostic("E0801", "`--eps` without `--input`", notes=(note,)))
    values = parse_input(inputs, core, reals=not open_inputs)
    symbolic = {core.slots[index].name for index in core.inputs if is_symbolic(core.slots[index].type)}
    finite = {name: value for name, value in values.items() if name not in symbolic}
    reals = {name: value for name, value in values.items() if name in symbolic}
    with ProgressBar(f"exploring {core.name}"):
        shown = chain_at(program, None if open_inputs else reals, parse_output(outputs, core), finite)
    constants_text = ", ".join(f"{name} = {value}" for name, value in core.constants.items())
    title = core.name + (f" with {constants_text}" if constants_text else "")
    title += "" if core.only_at is None else f", only at eps = {core.only_at}"
    if form == "dot":
        write_text(target, dtmc_dot.render(shown, title, eps))
    else:
        look = look_of(sys.stdout) if target is None else Look()
        write_text(target, dtmc_text.render(shown, title, look, eps))
    return ExitCode.ACCURATE
