"""`dipc dtmc`: show the parametrized Markov chain of a program."""

from __future__ import annotations

import sys
from fractions import Fraction
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

    from dipc.chain.explore import explore
    from dipc.chain.symbolic import is_symbolic
    from dipc.chain.view import view
    from dipc.cli.inputs import parse_input, parse_output
    from dipc.exits.load import load_source
    from dipc.report import dtmc_dot, dtmc_text
    from dipc.report.dtmc import build

    program = load_source(read_source(program_path), constants)
    core, weights = program.core, program.choices.weights
    slots = {core.slots[index].name: core.slots[index] for index in core.inputs}
    open_inputs = not inputs
    if open_inputs and eps is not None:
        note = "give `--input`, or leave `--eps` out: without values for the inputs there are no numbers"
        raise DiagnosticError(Diagnostic("E0801", "`--eps` without `--input`", notes=(note,)))
    values = parse_input(inputs, core, reals=not open_inputs)
    wanted = parse_output(outputs, core)
    finite = {slots[name].index: value for name, value in values.items() if not is_symbolic(slots[name].type)}
    real = {
        slots[name].index: value
        for name, value in values.items()
        if slots[name].index not in finite and isinstance(value, Fraction)
    }
    wanted_slots = {core.slots[index].name: index for index in core.outputs}
    with ProgressBar(f"exploring {core.name}") as progress:
        chain = explore(
            program.flow,
            finite,
            {wanted_slots[name]: value for name, value in wanted.items()} or None,
            display=True,
            possible=weights.possible,
        )
        progress.stage(f"measuring the steps of {core.name}")
        shown = build(view(chain, None if open_inputs else real), weights, program.measurer)
    constants_text = ", ".join(f"{name} = {value}" for name, value in core.constants.items())
    title = core.name + (f" with {constants_text}" if constants_text else "")
    if form == "dot":
        write_text(target, dtmc_dot.render(shown, title, eps))
    else:
        look = look_of(sys.stdout) if target is None else Look()
        write_text(target, dtmc_text.render(shown, title, look, eps))
    return ExitCode.ACCURATE
